"""WordNets as lexicons of the operators that replace words."""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.assisting.lexicons import Installed, found, lexicon_folder, listed, unpacked, wordnets
from pytest_promptfuzz.embedding.embedder import cosine
from pytest_promptfuzz.errors import PromptfuzzWarning, UsageError
from pytest_promptfuzz.mutations.lexicon.frequent import FREQUENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_promptfuzz.embedding.embedder import Embedder
    from pytest_promptfuzz.mutations.lexicon.lexicon import Kind, PartOfSpeech

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
        known = listed(folder)
        if len(known) != 1:
            raise UsageError(
                f"{str(name)!r} holds {len(known)} lexicons ({', '.join(each.name for each in known)}); install it "
                "with promptfuzz lexicon install FILE, and name the one you mean."
            )
        return WordNet(known[0], folder, senses=senses, frequent=frequent, embedder=embedder, top=top)
    return WordNet(found(name), None, senses=senses, frequent=frequent, embedder=embedder, top=top)


class WordNet:
    """The :class:`pytest_promptfuzz.mutations.lexicon.lexicon.Lexicon` that :func:`wordnet` makes.

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
