"""WordNets as lexicons for synonyms: installed, listed and read (``promptfuzz lexicon``)."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import importlib.util
import lzma
import os
import re
import shutil
import sqlite3
import sys
import tarfile
import tempfile
import threading
import warnings
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from pytest_promptfuzz.comparing.meaning import cosine
from pytest_promptfuzz.data.english_words import FREQUENT
from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzWarning, UsageError, nearest, unstopped
from pytest_promptfuzz.files import copy_unpacked
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.mutations.analysis.lexicon import Kind, PartOfSpeech


# The lexicons on this machine: where they lie, installing, listing and removing them. All of it through ``wn``.
#
# ``wn`` has one data directory and one setting for threads in the whole process. The application under test may use it
# as well, so both are set for the length of our own questions only.


FOLDER_VARIABLE = "PROMPTFUZZ_LEXICONS"
_DATABASE = "wn.db"
_MAX_LEXICON = 2 * 1024**3  # bytes, unpacked; the largest known has a quarter of that
_MEND = "wordnets need the package wn: pip install 'pytest-promptfuzz[wordnet]'"
_NAME = expression(r"[A-Za-z][\w.+-]*(?::[\w.+-]+)?")
_FILE = expression(r"[/\\]|\.(?:xml|gz|xz|tar|tgz)\Z")
_lock = threading.RLock()
_checked: set[Path] = set()


@dataclass(frozen=True, slots=True)
class Installed:
    """A lexicon on this machine.

    Attributes:
        name: ``id:version``, as :func:`pytest_promptfuzz.assistance.lexicons` takes it.
        label: What it calls itself.
        language: Its language, a BCP 47 code.
        license: Its licence, as it says.
        missing: Lexicons it rests on that are not installed: without them no wider and narrower words.
    """

    name: str
    label: str
    language: str
    license: str
    missing: tuple[str, ...] = ()


def lexicon_folder() -> Path:
    """Where lexicons are kept: ``PROMPTFUZZ_LEXICONS``, or ``promptfuzz/lexicons`` in the user's folder of caches."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        caches = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "promptfuzz" / "lexicons"


def has_wn() -> bool:
    """Whether the extra is installed; nothing is imported to find out."""
    return importlib.util.find_spec("wn") is not None


@contextmanager
def wordnets(folder: Path) -> Iterator[Any]:
    """The module ``wn``, looking into ``folder`` while the block lasts.

    Raises:
        ConfigurationError: ``wn`` is not installed, or the folder or the database in it cannot be used.
    """
    if not has_wn():
        raise ConfigurationError(_MEND)
    with _lock:
        wn = importlib.import_module("wn")
        before = wn.config.database_path.parent, wn.config.allow_multithreading
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _check_database(folder / _DATABASE)
            wn.config.data_directory = folder
            # Connections are kept by wn and used by whichever thread asks; it must be told before the first is made.
            wn.config.allow_multithreading = True
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", wn.WnWarning
                )  # what a lexicon lacks is said when it is missed
                yield wn
        except (OSError, sqlite3.DatabaseError, wn.DatabaseError, wn.ConfigurationError) as error:
            raise ConfigurationError(
                f"the lexicons in {folder} cannot be used: {' '.join(str(error).split())}. Repair or remove that "
                f"folder and install them again, or name another one in {FOLDER_VARIABLE}."
            ) from error
        finally:
            wn.config.data_directory, wn.config.allow_multithreading = before


def _check_database(path: Path) -> None:
    """Refuse what is no database of lexicons; ``wn`` would leave its connection open."""
    if path.exists() and path not in _checked:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("SELECT id FROM lexicons LIMIT 1").fetchall()
        _checked.add(path)


def listed_lexicons(folder: Path | None = None) -> list[Installed]:
    """The installed lexicons, by name.

    Raises:
        ConfigurationError: As :func:`wordnets`.
    """
    folder = folder or lexicon_folder()
    if not has_wn():
        raise ConfigurationError(_MEND)
    if not (folder / _DATABASE).exists():
        return []
    with wordnets(folder) as wn:
        return sorted((_described(wn, each) for each in wn.lexicons()), key=lambda each: each.name)


def install_lexicon(source: str, folder: Path | None = None) -> list[Installed]:
    """Install a lexicon.

    Args:
        source: A file in WN-LMF (``.xml``, also ``.gz``, ``.xz``, or packed in a ``.tar.xz``), or the name of a
            published lexicon (``oewn:2024``, ``omw-fr:1.4``), which is downloaded: the only use of the network here.
        folder: Where to; :func:`lexicon_folder` by default.

    Returns:
        What is new; empty if all of it was there.

    Raises:
        UsageError: No such file, no lexicon in it, or no lexicon of that name.
        ConfigurationError: The download fails, or as :func:`wordnets`.
    """
    folder = folder or lexicon_folder()
    path = Path(source).expanduser()
    is_file = path.exists() or _FILE.search(source) is not None
    if is_file and not path.is_file() and not path.is_dir():
        raise UsageError(f"there is no file {source!r}.")
    with wordnets(folder) as wn:
        before = {each.specifier() for each in wn.lexicons()}
        if is_file:
            _add(wn, path)
        else:
            _download(wn, source)
        return [_described(wn, each) for each in wn.lexicons() if each.specifier() not in before]


def remove_lexicon(name: str, folder: Path | None = None) -> list[str]:
    """Remove a lexicon, or all versions of one.

    Args:
        name: ``oewn:2024``, or ``oewn`` for every version.
        folder: Where it lies; :func:`lexicon_folder` by default.

    Returns:
        The names of those removed.

    Raises:
        UsageError: There is none of that name.
        ConfigurationError: As :func:`wordnets`.
    """
    folder = folder or lexicon_folder()
    known = [each.name for each in listed_lexicons(folder)]
    chosen = [each for each in known if name in {each, each.partition(":")[0]}]
    if not chosen:
        raise UsageError(f"no lexicon {name!r} is installed. {_known(name, known)}")
    with wordnets(folder) as wn:
        for each in chosen:
            wn.remove(each, progress_handler=None)
    return chosen


def found(name: str, folder: Path | None = None) -> Installed:
    """The installed lexicon of a name; without a version the last one by name.

    Raises:
        UsageError: It is not installed; says how to install it.
        ConfigurationError: As :func:`wordnets`.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(
            f"a lexicon is named like 'oewn:2024', or given as a Path to its file, not {name!r}."
        )
    known = listed_lexicons(folder)
    chosen = [each for each in known if name in {each.name, each.name.partition(":")[0]}]
    if not chosen:
        others = f" Installed: {', '.join(each.name for each in known)}." if known else ""
        raise UsageError(
            f"the lexicon {name!r} is not installed. Install it: promptfuzz lexicon install {name}{others}"
        )
    return chosen[-1]


def unpacked(path: Path) -> Path:
    """A folder with the lexicons of one file, made when the file is first met and found by its content after that.

    Raises:
        UsageError: The file is missing or no WN-LMF lexicon.
        ConfigurationError: As :func:`wordnets`.
    """
    if not has_wn():
        raise ConfigurationError(_MEND)
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise UsageError(f"the lexicon {str(path)!r} cannot be read: {error.strerror or error}.") from None
    files = lexicon_folder() / "files"
    folder = files / f"{digest}-{importlib.import_module('wn').__version__}"
    if (folder / _DATABASE).exists():
        return folder
    files.mkdir(parents=True, exist_ok=True)
    # Several processes may meet the file at once: each reads it for itself, and the database appears whole.
    scratch = Path(tempfile.mkdtemp(prefix="new-", dir=files))
    try:
        with wordnets(scratch) as wn:
            _add(wn, path)
        folder.mkdir(exist_ok=True)
        shutil.copyfile(scratch / _DATABASE, scratch / "whole.db")
        (scratch / "whole.db").replace(folder / _DATABASE)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def _add(wn: Any, path: Path) -> None:
    """Add a file's lexicons; whatever is wrong with the file is one message."""
    with tempfile.TemporaryDirectory(prefix="promptfuzz-") as scratch:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", DeprecationWarning
                )  # of tarfile; wn checks the members itself
                plain = _decompressed(path, Path(scratch))
                project = importlib.import_module("wn.project")
                files = [each for each in project.iterpackages(plain) if each.type == "wordnet"]
                if files:
                    wn.add(plain, progress_handler=None)
        except (sqlite3.DatabaseError, wn.DatabaseError):
            raise
        except Exception as error:
            # Broken XML, another XML, a broken archive: wn and the libraries below it raise many types.
            reason = " ".join(str(error).replace(scratch, "").split()) or type(error).__name__
            raise UsageError(f"{str(path)!r} is no lexicon in WN-LMF: {unstopped(reason)}.") from error
    if not files:
        raise UsageError(f"{str(path)!r} holds no lexicon in WN-LMF.")


def _decompressed(path: Path, scratch: Path) -> Path:
    """A file without its compression; ``wn`` would leave a broken one open and its beginning behind."""
    if path.is_dir() or tarfile.is_tarfile(path):
        return path
    with path.open("rb") as file:
        magic = file.read(6)
    opener = gzip.open if magic[:2] == b"\x1f\x8b" else lzma.open if magic == b"\xfd7zXZ\x00" else None
    if opener is None:
        return path
    plain = scratch / "lexicon.xml"
    with opener(path, "rb") as source, plain.open("wb") as target:
        copy_unpacked(cast("BinaryIO", source), target, _MAX_LEXICON)
    return plain


def _download(wn: Any, name: str) -> None:
    projects = sorted({each["id"] for each in wn.projects()})
    try:
        information = wn.config.get_project_info(name)
    except wn.Error as error:
        bare = name.partition(":")[0]
        hint = "" if bare in projects else " " + nearest(bare, projects)
        raise UsageError(f"no lexicon {name!r} is published: {unstopped(error)}.{hint}") from None
    try:
        wn.download(name, progress_handler=None)
    except (sqlite3.DatabaseError, wn.DatabaseError):
        raise
    except Exception as error:
        # No network, a proxy, a status of the server, a broken file: wn lets the errors of its libraries through.
        cause = error.__cause__ or error
        where = next(iter(information["resource_urls"]), name)
        raise ConfigurationError(
            f"the lexicon {name!r} could not be downloaded ({type(cause).__name__}: {' '.join(str(cause).split())}). "
            f"Fetch {where} where there is a network, and install the file: promptfuzz lexicon install FILE"
        ) from error


def _described(wn: Any, lexicon: Any) -> Installed:
    return Installed(
        lexicon.specifier(),
        lexicon.label,
        lexicon.language,
        lexicon.license,
        _missing(wn, lexicon.specifier()),
    )


def _missing(wn: Any, name: str) -> tuple[str, ...]:
    """What a lexicon rests on and is not installed; ``Lexicon.requires`` of wn 1.1 fails where there is some."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", wn.WnWarning)
        wn.Wordnet(name)
    told = [str(each.message) for each in caught if issubclass(each.category, wn.WnWarning)]
    return tuple(sorted(set(" ".join(each.rpartition(": ")[2] for each in told).split())))


def _known(name: str, known: list[str]) -> str:
    return nearest(name, known) if known else "There are none: promptfuzz lexicon install NAME|FILE"


TOP = 10
"""How many candidates an embedder keeps, after S3 of docs/operators.md."""

# Satellite adjectives are adjectives of which another one is the head.
_PARTS: dict[PartOfSpeech, tuple[str, ...]] = {
    "noun": ("n",),
    "verb": ("v",),
    "adjective": ("a", "s"),
    "adverb": ("r",),
}
_ALIKE = ("similar", "also")
_WIDER = ("hypernym", "instance_hypernym")
_NARROWER = ("hyponym", "instance_hyponym")


def wordnet(
    name: str | Path,
    *,
    senses: int = 1,
    frequent: bool = True,
    embedder: Embedder | None = None,
    top: int = TOP,
) -> WordNet:
    """A lexicon of an installed WordNet, or of a WN-LMF file.

    Args:
        name: ``"oewn:2024"``, ``"omw-fr"`` (its last version that is installed), or the path of a file: a ``Path``, or
            a string with a slash or a suffix such as ``.xml``.
        senses: How many senses of a word synonyms, wider and narrower words are taken from, from 1; the first is the
            commonest, and those after it supply near-synonyms.
        frequent: Leave out rare words, which neither the table of frequent English words nor the lexicon's own counts
            know. A lexicon in another language that counts nothing keeps all.
        embedder: Puts candidates in the order of their cosine with the word, and keeps the best.
        top: How many an embedder keeps, from 1.

    Raises:
        UsageError: It is not installed (says how to install it), not to be read, or an argument is out of range.
        ConfigurationError: The extra is missing: ``pip install 'pytest-promptfuzz[wordnet]'``.

    Source: BASFuzz (S3) takes synonyms, near-synonyms, hypernyms and hyponyms of a multilingual WordNet, the top 10 by
    cosine.
    """
    for argument, value in (("senses", senses), ("top", top)):
        if type(value) is not int or value < 1:
            raise UsageError(f"wordnet: {argument}={value!r}; give an int from 1.")
    if isinstance(name, Path) or (isinstance(name, str) and re.search(r"[/\\]|\.(?:xml|gz|xz|tar)\Z", name)):
        folder = unpacked(Path(name).expanduser())
        known = listed_lexicons(folder)
        if len(known) != 1:
            raise UsageError(
                f"{str(name)!r} holds {len(known)} lexicons ({', '.join(each.name for each in known)}); install it "
                "with promptfuzz lexicon install FILE, and name the one you mean."
            )
        return WordNet(known[0], folder, senses=senses, frequent=frequent, embedder=embedder, top=top)
    return WordNet(found(name), None, senses=senses, frequent=frequent, embedder=embedder, top=top)


class WordNet:
    """The :class:`pytest_promptfuzz.mutations.analysis.lexicon.Lexicon` that :func:`wordnet` makes.

    Attributes:
        name: In kebab-case, ``oewn``.
        version: The lexicon's, and what else decides its answers.
        language: ISO 639-1 code of its words; questions for another language get nothing.
    """

    def __init__(
        self,
        installed: Installed,
        folder: Path | None,
        *,
        senses: int,
        frequent: bool,
        embedder: Embedder | None,
        top: int,
    ) -> None:
        self._installed = installed
        self._folder = folder
        self._senses = senses
        self._frequent = frequent
        self._embedder = embedder
        self._top = top
        self._known: dict[tuple[Kind, str, PartOfSpeech], tuple[str, ...]] = {}
        self._rare: dict[str, bool] = {}
        self._words: Any = None
        self._told = False
        identifier, _, version = installed.name.partition(":")
        self.name = re.sub(r"[^a-z0-9]+", "-", identifier.lower()).strip("-")
        ranked = f" {embedder.name} top {top}" if embedder is not None else ""
        self.version = f"{version} senses {senses}{'' if frequent else ' rare words'}{ranked}"
        self.language = installed.language.partition("-")[0].lower()

    def __repr__(self) -> str:
        return f"<WordNet {self._installed.name}>"

    def synonyms(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of the same sense, that sense being one of the first ``senses``."""
        return self._answer("synonym", lemma, pos, language)

    def near(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of similar senses, and of the word's own rarer ones."""
        return self._answer("near", lemma, pos, language)

    def wider(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Hypernyms."""
        return self._answer("wider", lemma, pos, language)

    def narrower(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Hyponyms."""
        return self._answer("narrower", lemma, pos, language)

    def _answer(self, kind: Kind, lemma: str, pos: PartOfSpeech, language: str) -> tuple[str, ...]:
        if language.partition("-")[0].lower() != self.language or pos not in _PARTS:
            return ()
        key = (kind, lemma, pos)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._ranked(lemma, self._candidates(kind, lemma, pos))
        return known

    def _ranked(self, lemma: str, candidates: tuple[str, ...]) -> tuple[str, ...]:
        """By cosine with the word, the best of them; of equal ones the first comes first."""
        if self._embedder is None or not candidates:
            return candidates
        own, *others = self._embedder.embed([lemma, *candidates])
        # Rounded, so that the last bits of another machine's arithmetic change nothing.
        near = {word: round(cosine(own, vector), 4) for word, vector in zip(candidates, others, strict=True)}
        return tuple(sorted(candidates, key=lambda word: -near[word])[: self._top])

    def _candidates(self, kind: Kind, lemma: str, pos: PartOfSpeech) -> tuple[str, ...]:
        with self._opened() as (wn, words):
            ordered = _synsets(words, lemma, pos)
            if not ordered:
                return ()
            first, rest = ordered[: self._senses], ordered[self._senses :]
            same = _lemmas(wn, first)
            if kind == "synonym":
                chosen = same
            elif kind == "near":
                chosen = [*_lemmas(wn, _related(first, _ALIKE)), *_lemmas(wn, rest)]
            else:
                self._complete(kind)
                chosen = _lemmas(wn, _related(first, _WIDER if kind == "wider" else _NARROWER))
            unfit = {lemma} if kind == "synonym" else {lemma, *same}
            fit = [each for each in dict.fromkeys(chosen) if each not in unfit and _is_word(each)]
            return tuple(each for each in fit if not self._is_rare(words, each))

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, Any]]:
        """``wn`` and the lexicon in it, for the length of a question."""
        with wordnets(self._folder or lexicon_folder()) as wn:
            if self._words is None:
                # No normaliser: "pèche" and "pêche" are two words, "polish" and "Polish" as well.
                self._words = wn.Wordnet(self._installed.name, normalizer=None, search_all_forms=False)
            yield wn, self._words

    def _is_rare(self, words: Any, word: str) -> bool:
        if not self._frequent or (self.language == "en" and word in FREQUENT):
            return False
        known = self._rare.get(word)
        if known is None:
            counts = sum(count for sense in words.senses(word) for count in sense.counts())
            # A lexicon that has never counted anything cannot tell; only English has a table besides.
            known = self._rare[word] = counts == 0 and (self.language == "en" or self._counted(words))
        return known

    def _counted(self, words: Any) -> bool:
        known = self._rare.get("")
        if known is None:
            some = (sense for _, sense in zip(range(5000), words.senses(), strict=False))
            known = self._rare[""] = any(sense.counts() for sense in some)
        return known

    def _complete(self, kind: Kind) -> None:
        """Say once that a lexicon it takes its relations from is missing: a silent lack would look like none."""
        if self._installed.missing and not self._told:
            self._told = True
            names = " ".join(self._installed.missing)
            warnings.warn(
                f"the lexicon {self._installed.name} knows no {kind} words without {names}; install it: "
                f"promptfuzz lexicon install {names}",
                PromptfuzzWarning,
                stacklevel=5,
            )


def _synsets(words: Any, lemma: str, pos: PartOfSpeech) -> list[Any]:
    """The synsets of a word, the commonest sense first: by the lexicon's counts, else as it orders them."""
    entries = [entry for part in _PARTS[pos] for entry in words.words(lemma, pos=part)]
    senses = [sense for entry in entries for sense in entry.senses()]
    senses.sort(key=lambda sense: -sum(sense.counts()))
    return list(dict.fromkeys(sense.synset() for sense in senses))


def _related(synsets: Iterable[Any], relations: tuple[str, ...]) -> list[Any]:
    return [other for synset in synsets for relation in relations for other in synset.get_related(relation)]


def _lemmas(wn: Any, synsets: Iterable[Any]) -> list[str]:
    result: list[str] = []
    for synset in synsets:
        try:
            result += synset.lemmas()
        except wn.Error:  # inferred from another language's lexicon: a sense without words in this one
            continue
    return result


def _is_word(form: str) -> bool:
    """Whether a lemma is a single word in lower case: no name, phrase, compound with a hyphen or number."""
    return form.isalpha() and form.islower()
