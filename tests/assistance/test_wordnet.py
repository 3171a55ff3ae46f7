"""WordNets as lexicons, on two small ones of our own: what is asked of them, and what is wrong with them."""

from __future__ import annotations

import gzip
import importlib.util
import shutil
import sys
import tarfile
import threading
import warnings
from pathlib import Path

import pytest
import wn
from wordnet_samples import concepts, write_english, write_french

from pytest_promptfuzz import ConfigurationError, PromptfuzzWarning, UsageError
from pytest_promptfuzz.assistance import wordnet
from pytest_promptfuzz.assistance.lexicons import (
    install_lexicon,
    lexicon_folder,
    listed_lexicons,
    remove_lexicon,
)
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.operators.synonyms import synonyms_from


@pytest.fixture
def folder(folder, tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PROMPTFUZZ_LEXICONS", str(tmp_path / "lexicons"))
    return tmp_path


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with both lexicons, made once."""
    made = tmp_path_factory.mktemp("wordnets")
    install_lexicon(str(write_english(made / "tiny.xml")), made / "lexicons")
    install_lexicon(str(write_french(made / "petit.xml")), made / "lexicons")
    return made


@pytest.fixture
def both(folder, made) -> Path:
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder


def test_the_samples_are_large_enough_to_mean_something() -> None:
    assert len(concepts()) >= 40


@pytest.mark.parametrize(
    ("kind", "lemma", "pos", "words"),
    [
        ("synonyms", "error", "noun", ("mistake", "fault")),
        ("synonyms", "answer", "noun", ("reply", "response")),
        ("synonyms", "car", "noun", ("auto", "automobile")),
        ("synonyms", "write", "verb", ("compose",)),  # indite is rare
        ("synonyms", "summary", "noun", ("abstract",)),  # "sum up" is two words
        ("synonyms", "quickly", "adverb", ("rapidly",)),
        ("synonyms", "carefully", "adverb", ()),
        ("synonyms", "bank", "noun", ()),  # the money, not the river
        ("near", "bank", "noun", ("shore",)),
        ("near", "brief", "adjective", ("short", "succinct", "compact")),
        ("near", "car", "noun", ()),
        ("wider", "dog", "noun", ("animal", "beast")),
        ("wider", "sort", "verb", ("act",)),
        ("wider", "brief", "adjective", ()),
        ("narrower", "dog", "noun", ("puppy",)),  # Rover is a name
        ("narrower", "error", "noun", ("failure", "slip")),
        ("synonyms", "list", "noun", ("listing",)),
        ("synonyms", "list", "verb", ("enumerate",)),  # by part of speech
        ("synonyms", "zyzzyva", "noun", ()),
        ("synonyms", "Error", "noun", ()),
    ],
)
def test_words_by_sense_and_part_of_speech(both, kind, lemma, pos, words) -> None:
    assert getattr(wordnet("tiny"), kind)(lemma, pos, "en") == words


def test_more_senses_and_rare_words_when_asked_for(both) -> None:
    assert wordnet("tiny", senses=2).synonyms("bank", "noun", "en") == ("shore",)
    assert wordnet("tiny", senses=2).near("bank", "noun", "en") == ()
    assert wordnet("tiny", frequent=False).synonyms("write", "verb", "en") == ("compose", "indite")
    versions = [wordnet("tiny", senses=s, frequent=f).version for s in (1, 2) for f in (True, False)]
    assert len(set(versions)) == 4


def test_another_language_takes_its_relations_from_the_lexicon_it_rests_on(both) -> None:
    petit = wordnet("petit-fr")
    assert petit.synonyms("erreur", "noun", "fr") == ("faute",)
    assert petit.wider("chien", "noun", "fr") == ("animal", "bête")
    assert petit.narrower("chien", "noun", "fr") == ("chiot",)
    assert petit.near("bref", "adjective", "fr") == ("court", "succinct")
    assert petit.synonyms("erreur", "noun", "en") == ()
    assert petit.synonyms("erreur", "noun", "fr-CA") == ("faute",)
    assert (petit.name, petit.language) == ("petit-fr", "fr")


def test_without_the_lexicon_it_rests_on_the_lack_is_said_once(folder) -> None:
    install_lexicon(str(write_french(folder / "petit.xml")))
    petit = wordnet("petit-fr")
    assert petit.synonyms("erreur", "noun", "fr") == ("faute",)
    with pytest.warns(
        PromptfuzzWarning, match="knows no wider words without tiny:1; .* lexicon install tiny:1"
    ):
        assert petit.wider("chien", "noun", "fr") == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert petit.narrower("chien", "noun", "fr") == ()


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("synonym", "error", "mistake"),
        ("near", "short", "brief"),
        ("wider", "error", "thing"),
        ("narrower", "text", "report"),
    ],
)
def test_operators_take_words_from_it(both, kind, before, after) -> None:
    prompt = "Write a short text on the error that was made in {city}."
    made = {m.text for m in plan(prompt, 20, operators=synonyms_from(wordnet("tiny"), kind=kind)).mutations}
    assert prompt.replace(before, after) in made
    assert all("{city}" in text for text in made)


class Ranks:
    """Embeds a word as its place in a list of its own: nearer to the first, nearer in the list."""

    name = "ranks-1"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed(self, texts):
        self.asked.append(list(texts))
        order = ["text", "question", "answer", "reply", "response", "query", "report", "account"]
        return [[1.0, order.index(t) / 10 if t in order else 9.0] for t in texts]


def test_an_embedder_ranks_and_keeps_the_best(both) -> None:
    ranks = Ranks()
    lexicon = wordnet("tiny", embedder=ranks, top=4)
    assert lexicon.narrower("text", "noun", "en") == ("question", "answer", "reply", "response")
    assert lexicon.narrower("text", "noun", "en")  # kept
    assert len(ranks.asked) == 1
    assert ranks.asked[0][0] == "text"
    assert lexicon.version.endswith("ranks-1 top 4")
    assert wordnet("tiny").narrower("text", "noun", "en")[:2] == ("summary", "abstract")


def test_a_file_can_be_named_without_installing_it(folder) -> None:
    file = write_english(folder / "tiny.xml")
    for name in (file, str(file), "./tiny.xml"):
        assert wordnet(name).synonyms("error", "noun", "en") == ("mistake", "fault")
    assert listed_lexicons() == []
    kept = list((lexicon_folder() / "files").iterdir())
    assert len(kept) == 1
    # Found by its content: another content is another lexicon, the same one is read once.
    write_english(file, version="2")
    assert wordnet(file).version.startswith("2 ")
    assert len(list((lexicon_folder() / "files").iterdir())) == 2


def test_packed_files(folder) -> None:
    file = write_english(folder / "tiny.xml")
    packed = folder / "tiny.xml.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert wordnet(packed).synonyms("error", "noun", "en") == ("mistake", "fault")
    archive = folder / "tiny.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(file, "tiny/tiny.xml")
    assert [each.name for each in install_lexicon(str(archive))] == ["tiny:1"]
    assert wordnet("tiny").synonyms("error", "noun", "en") == ("mistake", "fault")


def test_installing_listing_and_removing(folder) -> None:
    assert listed_lexicons() == []
    (one,) = install_lexicon(str(write_english(folder / "tiny.xml")))
    assert (one.name, one.label, one.language) == ("tiny:1", "Tiny English", "en")
    assert install_lexicon(str(folder / "tiny.xml")) == []
    install_lexicon(str(write_english(folder / "two.xml", version="2")))
    assert [each.name for each in listed_lexicons()] == ["tiny:1", "tiny:2"]
    assert wordnet("tiny").version.startswith("2 ")
    assert wordnet("tiny:1").version.startswith("1 ")
    assert remove_lexicon("tiny:1") == ["tiny:1"]
    assert remove_lexicon("tiny") == ["tiny:2"]
    assert listed_lexicons() == []


def test_what_is_not_installed_says_how_to_install_it(both) -> None:
    with pytest.raises(
        UsageError, match=r"'oewn:2024' is not installed.*promptfuzz lexicon install oewn:2024.*tiny:1"
    ):
        wordnet("oewn:2024")
    with pytest.raises(UsageError, match="'tiny:9' is not installed"):
        wordnet("tiny:9")
    with pytest.raises(UsageError, match=r"no lexicon 'tinny' is installed\. Did you mean 'tiny:1'"):
        remove_lexicon("tinny")
    with pytest.raises(UsageError, match=r"named like 'oewn:2024'"):
        wordnet("not a name")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not xml at all", "no lexicon in WN-LMF"),
        (b"<html></html>", "no lexicon in WN-LMF"),
        (b"", "no lexicon in WN-LMF"),
        (b"\xff\xfe\x00", "no lexicon in WN-LMF"),
        (b"\x1f\x8b broken gzip", "no lexicon in WN-LMF"),
    ],
)
def test_broken_files_are_one_message(folder, content, message) -> None:
    (folder / "bad.xml").write_bytes(content)
    for use in (lambda: install_lexicon("bad.xml"), lambda: wordnet(folder / "bad.xml")):
        with pytest.raises(UsageError, match=message) as caught:
            use()
        assert "bad.xml" in str(caught.value)
    assert listed_lexicons() == []


def test_a_file_cut_short_leaves_nothing_behind(folder) -> None:
    file = write_english(folder / "tiny.xml")
    file.write_text(file.read_text()[:4000])
    with pytest.raises(UsageError, match="no lexicon in WN-LMF"):
        install_lexicon(str(file))
    assert listed_lexicons() == []
    with pytest.raises(UsageError):
        wordnet(file)
    assert list((lexicon_folder() / "files").iterdir()) == []


def test_a_missing_file_and_a_file_of_two(folder) -> None:
    with pytest.raises(UsageError, match=r"there is no file 'gone\.xml'"):
        install_lexicon("gone.xml")
    with pytest.raises(UsageError, match=r"gone.xml' cannot be read: No such file"):
        wordnet("./gone.xml")
    one, two = (write(folder / f"{write.__name__}.xml") for write in (write_english, write_french))
    inner = two.read_text().partition("<LexicalResource>\n")[2]
    one.write_text(one.read_text().replace("</LexicalResource>\n", inner))
    with pytest.raises(UsageError, match=r"holds 2 lexicons \(petit-fr:1, tiny:1\)"):
        wordnet(one)


@pytest.mark.parametrize("arguments", [{"senses": 0}, {"senses": True}, {"top": 0}, {"top": 1.5}])
def test_bad_arguments(both, arguments) -> None:
    with pytest.raises(UsageError, match="give an int from 1"):
        wordnet("tiny", **arguments)


def test_without_the_extra_the_pip_command(folder, monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    for use in (
        lambda: wordnet("oewn:2024"),
        lambda: wordnet("./x.xml"),
        lambda: install_lexicon("x.xml"),
        listed_lexicons,
    ):
        with pytest.raises(
            (ConfigurationError, UsageError), match=r"pip install 'pytest-promptfuzz\[wordnet\]'|no file"
        ):
            use()


def test_a_damaged_database_says_what_to_do(both) -> None:
    wordnet("tiny").synonyms("error", "noun", "en")
    other = both / "damaged"
    other.mkdir()
    (other / "wn.db").write_bytes(b"SQLite format 3\x00" + b"junk" * 400)
    with pytest.raises(ConfigurationError, match=r"cannot be used: .*PROMPTFUZZ_LEXICONS"):
        listed_lexicons(other)


def test_a_download_that_fails_is_one_message(folder, monkeypatch) -> None:
    import httpx

    def refused(*_: object, **__: object) -> None:
        raise httpx.ConnectError("no route to host")

    monkeypatch.setattr(httpx.Client, "stream", refused)
    with pytest.raises(
        ConfigurationError, match=r"'oewn:2024' could not be downloaded \(ConnectError: no route"
    ) as caught:
        install_lexicon("oewn:2024")
    assert "english-wordnet-2024.xml.gz" in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="Did you mean 'oewn'"):
        install_lexicon("oewnn:2024")
    with pytest.raises(UsageError, match="no such version: '1066'"):
        install_lexicon("oewn:1066")


def test_nothing_but_install_may_use_the_network(both, monkeypatch) -> None:
    import socket

    def refused(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    assert wordnet("tiny").synonyms("error", "noun", "en")
    with pytest.raises(UsageError, match="not installed"):
        wordnet("oewn")


def test_any_thread_may_ask(both) -> None:
    lexicon = wordnet("tiny")
    results: list[object] = []

    def ask(lemma: str) -> None:
        try:
            results.append(lexicon.synonyms(lemma, "noun", "en"))
        except BaseException as error:
            results.append(error)

    threads = [
        threading.Thread(target=ask, args=(lemma,)) for lemma in ["error", "answer", "car", "error"] * 4
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not [each for each in results if isinstance(each, BaseException)]
    assert len(results) == 16


def test_the_applications_own_use_of_wn_is_left_alone(both, monkeypatch) -> None:
    theirs = both / "theirs"
    theirs.mkdir()
    monkeypatch.setattr(wn.config, "_data_directory", wn.config._data_directory)
    monkeypatch.setattr(wn.config, "_dbpath", wn.config._dbpath)
    wn.config.data_directory = theirs
    wn.add(both / "tiny.xml", progress_handler=None)
    remove_lexicon("tiny")
    assert [each.specifier() for each in wn.lexicons()] == ["tiny:1"]
    assert (wn.config.data_directory, wn.config.allow_multithreading) == (theirs, False)


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, Path("/x/promptfuzz/lexicons")),
        ("linux", {"XDG_CACHE_HOME": ""}, Path.home() / ".cache/promptfuzz/lexicons"),
        ("darwin", {}, Path.home() / "Library/Caches/promptfuzz/lexicons"),
        ("win32", {"LOCALAPPDATA": "/l"}, Path("/l/promptfuzz/lexicons")),
        ("linux", {"PROMPTFUZZ_LEXICONS": "~/mine"}, Path.home() / "mine"),
    ],
)
def test_where_lexicons_are_kept(platform, environment, expected, monkeypatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.delenv("PROMPTFUZZ_LEXICONS", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert lexicon_folder() == expected
