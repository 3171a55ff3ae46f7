"""Operators that replace words by synonyms, or by words that mean nearly the same, more or less."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from pytest_promptfuzz.errors import UsageError, not_among
from pytest_promptfuzz.mutations.analysis.spared_text import data_spans, field_spans, merged, own_words
from pytest_promptfuzz.mutations.analysis.word_context import Context, fits
from pytest_promptfuzz.mutations.engine.edits import Edit, replace
from pytest_promptfuzz.mutations.engine.operator import Operator, operator
from pytest_promptfuzz.text.expressions import like

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Word
    from pytest_promptfuzz.mutations.analysis.lexicon import Forms, Kind, Lexicon, WordReading
    from pytest_promptfuzz.mutations.engine.mutation import Preserves
    from pytest_promptfuzz.randomness import Rng

    Fit = Callable[[WordReading, Context], int]


SHARE = 0.34
"""The share of the words that have a substitute which one mutation replaces."""

_make = tuple.__new__  # what `Site(...)` does, without a Python frame in between
_ARTICLES = frozenset(["a", "an"])
_COUNTING = frozenset(["a", "an", "each", "every", "another"])


class Vocabulary(Protocol):
    """What says which words may be replaced, and by what."""

    def hits(self, found: Sequence[Word]) -> list[tuple[int, tuple[WordReading, ...]]]:
        """The words it knows: their numbers and their readings."""


class Site(NamedTuple):
    """A place to act.

    Attributes:
        word: The word.
        article: The ``a`` or ``an`` before it.
        alternatives: What may stand for it here.
        noun: Whether it names something, so that it is replaced everywhere or nowhere.
    """

    word: Word
    article: Word | None
    alternatives: tuple[str, ...]
    noun: bool


def sites(draft: Draft, vocabulary: Vocabulary, *, fit: Fit = fits, data: bool = False) -> list[list[Site]]:
    """Places where a word may be replaced, in groups: all places of a noun are one group.

    Args:
        draft: Where.
        vocabulary: What knows words.
        fit: Whether a reading fits a place: see :func:`pytest_promptfuzz.mutations.analysis.word_context.fits`.
        data: Whether words of data (``Review: It broke.``) may be replaced.
    """
    found_words = draft.words
    hits = vocabulary.hits(found_words)
    if not hits:
        return []
    starts, ends = draft.starts, draft.once(_ends)
    known = draft.once(own_words)
    closed = draft.once(_named_fields) if data else draft.once(_closed)
    barred = 0  # the first closed span that may hold the word
    named = draft.once(_named)
    groups: dict[str, list[Site]] = {}
    nouns: set[str] = set()
    for index, readings in hits:
        word = found_words[index]
        start, end, form, lower = word
        first = start in starts
        if form != lower and not (first and form[1:] == lower[1:]):
            continue  # a name, a title or a shout
        while barred < len(closed) and closed[barred][1] <= start:
            barred += 1
        if barred == len(closed) or closed[barred][0] >= end:
            context = Context(draft, index, first, end in ends)
            allowed, verb, noun = _fitting(readings, context, fit)
            if not known.isdisjoint(
                allowed
            ):  # a word that the prompt uses already means something else there
                allowed = tuple(each for each in allowed if each not in known)
            if allowed and (verb or lower not in named):  # not what a slot is called: "Question: {question}"
                before = context.before
                article = found_words[index - 1] if before in _ARTICLES else None
                if before in _COUNTING or (noun and index > 1):
                    allowed = _counted(found_words, index, allowed)
                elif lower.startswith("avoid") and not context.after.endswith("ing"):
                    allowed = tuple(each for each in allowed if not each.startswith("refrain"))
                if allowed:
                    groups.setdefault(lower, []).append(_make(Site, (word, article, allowed, noun)))
                    if noun:
                        nouns.add(lower)
    return _apart([found_words[index][3] for index, _ in hits], groups, nouns)


def _fitting(
    readings: Sequence[WordReading], context: Context, fit: Fit
) -> tuple[tuple[str, ...], bool, bool]:
    """What may stand for a word in its place, whether it is a verb only, and whether it may be a noun."""
    allowed: tuple[str, ...] = ()
    verb, noun = True, False
    for reading in readings:
        how = fit(reading, context)
        if how:
            allowed += reading.alternatives if how == 2 else reading.single
            if reading.pos != "verb":
                verb = False
                noun = noun or reading.pos == "noun"
    return allowed, verb, noun


def _counted(found: Sequence[Word], index: int, nouns: tuple[str, ...]) -> tuple[str, ...]:
    """Those that take the ``a`` before them, or before the adjective before them ("a brief rationale")."""
    if found[index - 1].lower not in _COUNTING and found[index - 2].lower not in _COUNTING:
        return nouns
    from pytest_promptfuzz.data.english_words import UNCOUNTED

    return tuple(each for each in nouns if each not in UNCOUNTED)


def _ends(draft: Draft) -> frozenset[int]:
    """Where sentences end."""
    return frozenset([sentence.end for sentence in draft.sentences])


def _closed(draft: Draft) -> tuple[tuple[int, int], ...]:
    """Where no word is replaced: the names of fields, and data (``Review: It broke.``)."""
    return merged((*draft.once(field_spans), *draft.once(data_spans)))


def _named_fields(draft: Draft) -> tuple[tuple[int, int], ...]:
    """The names of fields."""
    return merged(draft.once(field_spans))


def _apart(known: list[str], groups: dict[str, list[Site]], nouns: set[str]) -> list[list[Site]]:
    """The groups: all places of a noun that is replaced everywhere, each place of another word by itself.

    Args:
        known: Every word of the draft that the vocabulary knows, repeated as it is there.
        groups: The places of each word.
        nouns: Those of the words that name something.
    """
    found: list[list[Site]] = []
    for form, group in groups.items():
        if form not in nouns:
            found += [[site] for site in group]
        elif known.count(form) == len(group):  # else it is meant elsewhere too
            found.append(group)
    return found


def _named(draft: Draft) -> str:
    """All protected text, in lower case."""
    return " ".join([draft.text[start:end] for start, end in draft.spans]).lower()


def replaced(site: Site, new: str) -> Edit:
    """The edit that puts ``new`` in a place, its article with it."""
    word, article = site.word, site.article
    if article is not None:
        from pytest_promptfuzz.mutations.analysis.lexicon import an_before

        right = an_before(new)
        if right != article.lower:
            return replace(article.start, word.end, f"{like(article.form[0], right)} {new}")
    return replace(word.start, word.end, like(word.form, new))


def substitutions(groups: Sequence[Sequence[Site]], rng: Rng) -> Iterator[list[Edit]]:
    """Endless mutations that replace a share of the groups."""
    for drawn in rng.draws(groups, SHARE):
        edits: list[Edit] = []
        for group in drawn:
            shared = group[0].alternatives
            if len(group) > 1:
                shared = tuple(each for each in shared if all(each in site.alternatives for site in group))
            if shared:
                new = rng.choice(shared)
                edits += [replaced(site, new) for site in group]
        yield sorted(edits)


class Replacing:
    """What an operator that replaces the words of a vocabulary proposes.

    Args:
        vocabulary: Called when it is needed.
    """

    def __init__(self, vocabulary: Callable[[], Vocabulary]) -> None:
        self.vocabulary = vocabulary

    def __call__(self, draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        """See :class:`pytest_promptfuzz.mutations.engine.operator.Operator`."""
        return substitutions(draft.once(self._sites), rng)

    def _sites(self, draft: Draft) -> list[list[Site]]:
        return sites(draft, self.vocabulary())


def vocabulary_of(operator: Operator) -> Vocabulary | None:
    """The vocabulary of an operator that replaces words by one; ``None`` where it does something else."""
    if operator.propose is synonym.propose:
        return _own_vocabulary()
    return operator.propose.vocabulary() if isinstance(operator.propose, Replacing) else None


@cache
def _own_vocabulary() -> Vocabulary:
    from pytest_promptfuzz.mutations.analysis.lexicon import forms

    return forms()


def _own_sites(draft: Draft) -> list[list[Site]]:
    return sites(draft, _own_vocabulary())


@operator(
    "synonym",
    dimension="semantic",
    severity=0.4,
    version=3,
    preserves="yes",
    languages=("en",),
    sources=("S1", "S3", "S5"),
    example=("Provide a concise overview.", "Provide a succinct overview."),
    trusted=True,
)
def synonym(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Some words replaced by synonyms that are safe in prompts (a third of the words that have one)."""
    return substitutions(draft.once(_own_sites), rng)


_NAMES: dict[Kind, tuple[str, float, Preserves, str]] = {
    "synonym": ("synonym", 0.4, "conditional", "synonyms"),
    "near": ("near-synonym", 0.5, "no", "near-synonyms"),
    "wider": ("hypernym", 0.6, "no", "wider words"),
    "narrower": ("hyponym", 0.6, "no", "narrower words"),
}


def synonyms_from(lexicon: Lexicon, *, kind: Kind = "synonym", name: str | None = None) -> Operator:
    """An operator that replaces words by what another lexicon offers, in English prompts.

    Context is handled as by ``synonym``: part of speech, inflection, a/an, names and shouts, protected text, names of
    fields and words of logic. Substitutes must be frequent words. No lexicon knows which sense a prompt means, so even
    synonyms preserve the meaning on condition only, and no plan draws on the operator unasked.

    Args:
        lexicon: What is asked; see :class:`pytest_promptfuzz.mutations.analysis.lexicon.Lexicon`.
        kind: ``synonym``, ``near``, ``wider`` or ``narrower``.
        name: The operator's; by default the kind's and the lexicon's, like ``hypernym-wordnet``.

    Raises:
        UsageError: An unknown kind, or a name that is not in kebab-case.
    """
    from pytest_promptfuzz.mutations.analysis.lexicon import LexiconReadings

    if kind not in _NAMES:
        raise UsageError(f"synonyms_from: {not_among(f'kind={kind!r}', kind, _NAMES)}")
    word, severity, preserves, what = _NAMES[kind]
    asked = LexiconReadings(lexicon, kind)
    return Operator(
        name or f"{word}-{lexicon.name}",
        Replacing(lambda: asked),
        "semantic",
        severity,
        preserves=preserves,
        languages=("en",),
        sources=("S3",),
        summary=f"Some words replaced by {what} of the lexicon {lexicon.name} {lexicon.version} "
        "(a third of the words that have one).",
        trusted=True,
        default=False,
    )


# Words replaced by others of a nearby sense: almost the same, wider, narrower. None of them keeps the meaning.
#
# They are there for searches of the worst case and for studies of how much a word matters, and are drawn on only when
# named.


@cache
def _forms(sense: Literal["near", "wider", "narrower"]) -> Forms:
    """The forms of the words of a sense; built once."""
    from pytest_promptfuzz.mutations.analysis.lexicon import Forms, narrower, near, wider

    return Forms({"near": near, "wider": wider, "narrower": narrower}[sense]())


def _sense(
    name: str,
    sense: Literal["near", "wider", "narrower"],
    others: str,
    example: tuple[str, str],
    *sources: str,
    severity: float = 0.6,
) -> Operator:
    """The operator that replaces words by ``others``."""
    return operator(
        name,
        dimension="semantic",
        severity=severity,
        version=2,
        preserves="no",
        languages=("en",),
        sources=sources,
        summary=f"Some words replaced by {others} (a third of the words that have one).",
        example=example,
        trusted=True,
        default=False,
    )(Replacing(lambda: _forms(sense)))


near_synonym = _sense(
    "near-synonym",
    "near",
    "others of almost the same sense",
    ("Explain the main idea.", "Describe the main idea."),
    "S3",
    severity=0.5,
)
hypernym = _sense(
    "hypernym",
    "wider",
    "wider ones",
    ("Write a poem about the car.", "Write a poem about the vehicle."),
    "S3",
    "S4",
)
hyponym = _sense(
    "hyponym",
    "narrower",
    "narrower ones",
    ("Write a letter about the vehicle.", "Write a letter about the car."),
    "S3",
    "S4",
)
