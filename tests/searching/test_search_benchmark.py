"""What benchmarks/search/ judges searches by: the statistics, the lexicon that it reads, how sentences are split."""

from __future__ import annotations

import doctest
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_promptfuzz.searching.methods import METHODS

FOLDER = Path(__file__).parents[2] / "benchmarks" / "search"
sys.path.insert(0, str(FOLDER))

import paired  # noqa: E402 (beside the scripts of the benchmark)
import sentences  # noqa: E402
from victims import Linear, Remembered  # noqa: E402
from wordnet import Database, wordnet  # noqa: E402

HEADER = "  1 This is a licence.  \n"
DATA = {
    # offset: words, kind and pointers; offsets are worked out below
    "adj": [
        ("s", ["fine", "all_right(p)"], [("&", 1, "a"), ("+", 0, "n")]),
        ("a", ["good"], [("!", 0, "a")]),
        ("a", ["hearty", "good"], [("^", 1, "a")]),
    ],
    "noun": [("n", ["meal"], [("~", 1, "n")]), ("n", ["Dinner", "tea"], [("@", 0, "n")])],
    "verb": [],
    "adv": [],
}


@pytest.fixture
def database(tmp_path):
    """A WordNet of five synsets."""
    for name, synsets in DATA.items():
        lengths = [len(_line(0, *each, [0] * len(synsets))) for each in synsets]
        offsets = [len(HEADER) + sum(lengths[:number]) for number in range(len(synsets))]
        lines = [_line(offset, *each, offsets) for offset, each in zip(offsets, synsets, strict=True)]
        (tmp_path / f"data.{name}").write_text(HEADER + "".join(lines))
        senses = {}
        for offset, (_, words, _) in zip(offsets, synsets, strict=True):
            for word in words:
                senses.setdefault(word.partition("(")[0].lower(), []).append(offset)
        index = [
            f"{word} {name[0]} {len(found)} 1 @ {len(found)} 0 {' '.join(f'{each:08}' for each in found)}  \n"
            for word, found in senses.items()
        ]
        (tmp_path / f"index.{name}").write_text(HEADER + "".join(index))
    return tmp_path


def _line(offset, kind, words, pointers, offsets):
    """A line of a data file, as long whatever the offsets are."""
    said = "".join(
        f" {symbol} {offsets[target] if pos != 'n' or kind == 'n' else 0:08} {pos} 0000"
        for symbol, target, pos in pointers
    )
    return f"{offset:08} 00 {kind} {len(words):02x} {' '.join(f'{word} 0' for word in words)} {len(pointers):03}{said} | a gloss\n"


def test_a_wordnet_is_read_in_its_own_format(database):
    lexicon = wordnet(database)
    assert lexicon.synonyms("fine", "adjective", "en") == ("all right",)
    assert lexicon.near("fine", "adjective", "en") == ("good",)
    assert lexicon.wider("tea", "noun", "en") == ("meal",)
    assert lexicon.narrower("meal", "noun", "en") == ("dinner", "tea")
    assert lexicon.synonyms("fine", "noun", "en") == ()
    assert lexicon.synonyms("fine", "adjective", "de") == ()


def test_only_the_first_senses_are_asked(database):
    assert wordnet(database, senses=1).synonyms("good", "adjective", "en") == ()
    assert wordnet(database, senses=2).synonyms("good", "adjective", "en") == ("hearty",)
    assert len(Database(database, "adj").senses("good")) == 2


def test_a_missing_wordnet_is_said(tmp_path):
    with pytest.raises(SystemExit, match="apt-get install wordnet-base"):
        wordnet(tmp_path)


def test_the_examples_of_the_statistics():
    assert doctest.testmod(paired).failed == 0


def test_mcnemar_looks_only_at_where_two_searches_differ():
    first, second = [True] * 100 + [True] * 9 + [False], [True] * 100 + [False] * 9 + [True]
    assert paired.mcnemar(first, second) == pytest.approx(2 * (1 + 10) / 1024)
    assert paired.mcnemar(first, second) == paired.mcnemar(second, first)
    assert paired.mcnemar([True, False] * 5, [False, True] * 5) == 1


def test_an_interval_is_about_what_theory_says():
    first, second = [1.0] * 60 + [0.0] * 40, [1.0] * 50 + [0.0] * 50
    mean, low, high = paired.bootstrap(first, second)
    assert mean == pytest.approx(0.1)
    assert low == pytest.approx(0.1 - 1.96 * 0.03, abs=0.012)  # sqrt(0.1 * 0.9 / 100)
    assert high == pytest.approx(0.1 + 1.96 * 0.03, abs=0.012)
    assert paired.bootstrap(first, second) == (mean, low, high)


def test_no_sentence_is_learnt_from_and_attacked(tmp_path):
    file = tmp_path / "reviews.txt"
    file.write_text("".join(f"Sentence {number % 190}.\t{number % 2}\n" for number in range(200)) + "\n")
    read = sentences.read([file])
    assert len(read) == 190
    parts = sentences.split(read)
    assert parts == sentences.split(read)
    texts = [each.text for part in (parts.learnt, parts.tuning, parts.attacked) for each in part]
    assert sorted(texts) == sorted(each.text for each in read)
    assert len(parts.attacked) > 75


@pytest.mark.parametrize(
    ("lines", "said"), [("no label\n", "reviews.txt:1: no tab"), ("One.\t1\n", "two labels")]
)
def test_a_file_that_teaches_nothing_is_refused(tmp_path, lines, said):
    (tmp_path / "reviews.txt").write_text(lines)
    with pytest.raises(SystemExit, match=said):
        sentences.read(sentences.files_in([tmp_path]))


def test_a_text_is_asked_about_once(tmp_path):
    class Counting:
        name, labels = "counting", ["no", "yes"]

        def __init__(self):
            self.texts = []

        def shares(self, texts):
            self.texts += texts
            return [[len(text) / 10, 1 - len(text) / 10] for text in texts]

    inner = Counting()
    victim = Remembered(inner, tmp_path / "answers.jsonl")
    assert victim.shares(["a", "bb", "a"]) == [[0.1, 0.9], [0.2, 0.8], [0.1, 0.9]]
    assert victim.shares(["bb"]) == [[0.2, 0.8]]
    assert inner.texts == ["a", "bb"]
    again = Remembered(inner, tmp_path / "answers.jsonl")
    assert again.shares(["bb", "a"]) == [[0.2, 0.8], [0.1, 0.9]]
    assert (again.asked, inner.texts) == (0, ["a", "bb"])
    assert len((tmp_path / "answers.jsonl").read_text().splitlines()) == 2
    assert json.loads((tmp_path / "answers.jsonl").read_text().splitlines()[0]) == ["a", [0.1, 0.9]]


def test_the_linear_victim_learns():
    pytest.importorskip("sklearn")
    learnt = [
        sentences.Labelled(f"{word} {thing}", label)
        for word, label in (("good", "1"), ("bad", "0"))
        for thing in ("phone", "meal", "place", "case")
    ]
    victim = Linear(learnt)
    ((bad, good),) = victim.shares(["a good coat"])
    assert victim.labels == ["0", "1"]
    assert good > 0.5 > bad
    assert good + bad == pytest.approx(1)


def test_the_benchmark_runs(database, tmp_path):
    pytest.importorskip("sklearn")
    data = tmp_path / "reviews.txt"
    data.write_text(
        "".join(
            f"{start} {thing} was {word}.\t{label}\n"
            for start in ("The new", "Their", "I say that this")
            for thing in ("meal", "phone", "place", "service", "food")
            for word, label in (("quick and good", 1), ("slow and bad", 0))
        )
    )
    wanted = [
        "--victims",
        "linear",
        "simulated",
        "--only",
        "sentences",
        "prompts",
        "parts",
        "--sentences",
        "12",
    ]
    written = tmp_path / "results.json"
    done = subprocess.run(
        [
            sys.executable,
            FOLDER / "run.py",
            data,
            *wanted,
            "--wordnet",
            database,
            "--seeds",
            "0",
            "--json",
            written,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(written.read_text())
    assert list(found) == [
        "sentences: linear, confidence",
        "sentences: linear, label only",
        "prompts: simulated model, label only",
        "parts: linear, confidence",
    ]
    for scene, methods in found.items():
        assert scene.startswith("parts") or list(methods) == list(METHODS)
        for (results,) in methods.values():
            assert 2 <= len(results) <= 12
            for found_at, queries, first, words, text in results:
                assert 0 <= found_at <= queries <= 200
                assert words <= first
                assert bool(text) == bool(words) == bool(found_at)
    assert "| as published |" in done.stdout
    assert "**simulated model, label only**, " in done.stdout
