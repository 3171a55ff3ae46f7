"""A factorial study of a prompt: every combination of two levels of some factors, or a balanced fraction of them.

>>> design = factorial(
...     "Please classify the review.",
...     {"tone": ("Please classify", "Classify"), "case": (None, "upper-case")},
... )
>>> design.variants[1]
'Classify the review.'
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, combinations, pairwise
from typing import TYPE_CHECKING, TypeAlias

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine.edits import (
    Edit,
    Ref,
    Tokens,
    apply_edits,
    compose_edits,
    replace,
    touched_words,
)
from pytest_promptfuzz.mutations.engine.mutation import PRESERVES, Mutation, severity_of
from pytest_promptfuzz.mutations.engine.operator import Operator
from pytest_promptfuzz.mutations.engine.registry import changed_draft, find
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.text.word_diffs import opcodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.engine.mutation import Dimension, Preserves, Relation


# What a factor of a design does at one of its levels: nothing, an operator's change, or one that the user gives.


@dataclass(frozen=True, slots=True)
class Variant:
    """A piece of a prompt as the user words it at one level of a factor; never read as an operator's name.

    Attributes:
        text: The piece.
    """

    text: str


Given: TypeAlias = "str | Variant | Operator | Mapping[str, str] | Callable[[str], str] | None"

_SPACED = "[A-Za-z\u00aa-\u052f]"  # letters of scripts that part words by spaces
_SEVERITY = 0.4  # that of a rewording: what the user gives is taken for one


@dataclass(frozen=True, slots=True)
class FactorLevel:
    """One level of a factor.

    Attributes:
        factor: The factor's name.
        place: What it is called in messages: ``factor 'tone', level 1``.
        root: What an operator's draws descend from.
        operator: What changes the prompt, when an operator does.
        pieces: Texts and what replaces them, when the user gives these.
        function: The user's function of the whole text, when there is one.
    """

    factor: str
    place: str
    root: bytes = b""
    operator: Operator | None = None
    pieces: tuple[tuple[str, str], ...] = ()
    function: Callable[[str], str] | None = None

    @property
    def changes(self) -> bool:
        """Whether it does anything."""
        return bool(self.operator or self.pieces or self.function)

    @property
    def ids(self) -> tuple[str, ...]:
        """What a mutation's ``operators`` say of it."""
        if not self.changes:
            return ()
        return self.operator.ids if self.operator is not None else (f"{self.factor}@given",)

    @property
    def dimension(self) -> Dimension:
        """That of its operator; what the user gives is semantic."""
        return self.operator.dimension if self.operator is not None else "semantic"

    @property
    def severity(self) -> float:
        """That of its operator, or of a rewording."""
        return self.operator.severity if self.operator is not None else _SEVERITY

    @property
    def preserves(self) -> Preserves:
        """That of its operator; whether the user's own change keeps the meaning is for the user to say."""
        return self.operator.preserves if self.operator is not None else "conditional"

    @property
    def relation(self) -> Relation:
        """That of its operator, or invariance."""
        return self.operator.relation if self.operator is not None else "invariance"

    def edits(self, draft: Draft, *, after: str = "") -> tuple[Edit, ...]:
        """What it does to a prompt.

        Args:
            draft: The prompt, or what other levels have made of it.
            after: What these were, for messages; empty for the prompt itself.

        Raises:
            UsageError: It does nothing there.
        """
        if self.operator is not None:
            purpose = f"factorial:{self.factor}:{self.operator.id}"
            rng = Rng(self.root, purpose, intensity=self.operator.intensity)
            for edits in self.operator.proposals(draft, rng):
                if apply_edits(draft.text, edits) != draft.text:
                    return edits
            where = f" after {after}" if after else ""
            raise UsageError(
                f"{self.place}: the operator {str(self.operator)!r} does not fit this prompt{where}. Choose another "
                "one, or give the two wordings yourself."
            )
        if self.function is not None:
            return self._called(draft.text)
        return self._pieces(draft, after)

    def _called(self, text: str) -> tuple[Edit, ...]:
        assert self.function is not None
        made = self.function(text)
        if not isinstance(made, str) or not made.strip():
            raise UsageError(f"{self.place}: the function returned {made!r:.80}; return the changed text.")
        if made == text:
            raise UsageError(
                f"{self.place}: the function returned the text unchanged; a level must change it."
            )
        return _differences(text, made)

    def _pieces(self, draft: Draft, after: str) -> tuple[Edit, ...]:
        text = draft.text
        edits: list[Edit] = []
        for old, new in self.pieces:
            found = _places(text, old)
            if len(found) != 1:
                where = f" after {after}" if after else ""
                raise UsageError(
                    f"{self.place}: {old!r} stands {len(found)} times in the prompt{where}; give a piece that stands"
                    " there exactly once."
                )
            start = found[0]
            if any(start < end and first < start + len(old) for first, end in draft.walls):
                raise UsageError(f"{self.place}: {old!r} reaches into a message that may not change.")
            edits.append(replace(start, start + len(old), new))
        edits.sort()
        for one, other in pairwise(edits):
            if other.start < one.end:
                raise UsageError(
                    f"{self.place}: {text[one.start : one.end]!r} and {text[other.start : other.end]!r} overlap;"
                    " give pieces apart from each other."
                )
        return tuple(edits)


def _places(text: str, piece: str) -> list[int]:
    """Where a piece stands; as whole words where it begins or ends with a letter: no ``as`` in ``Please``."""
    begins = f"(?<!{_SPACED})" if re.match(_SPACED, piece[:1]) else ""
    ends = f"(?!{_SPACED})" if re.match(_SPACED, piece[-1:]) else ""
    return [match.start() for match in re.finditer(begins + re.escape(piece) + ends, text)]


def _differences(old: str, new: str) -> tuple[Edit, ...]:
    """Edits in whole words that make ``new`` of ``old``."""
    before, after = (re.findall(r"\S+|\s+", text) for text in (old, new))
    places = [0, *accumulate(map(len, before))]
    codes = opcodes(before, after)
    return tuple(
        replace(places[a], places[b], "".join(after[c:d])) for tag, a, b, c, d in codes if tag != "equal"
    )


def read_levels(factor: str, pair: object, text: str, root: bytes) -> tuple[FactorLevel, FactorLevel]:
    """The two levels of a factor as the user writes them.

    Args:
        factor: Its name.
        pair: The low and the high level. None leaves the prompt alone; a string is an operator as in ``operators=``;
            so are an ``Operator``, a mapping of pieces to replacements and a function of the text. Two strings, or
            two ``Variant``, are a piece of the prompt and what replaces it.
        text: The prompt's text.
        root: What operators' draws descend from.

    Raises:
        UsageError: It is no such pair, or neither level does anything.
    """
    where = f"factor {factor!r}"
    if isinstance(pair, str | bytes) or not isinstance(pair, tuple | list) or len(pair) != 2:
        raise UsageError(
            f"{where}: {pair!r:.80} is no pair; give (low level, high level), None for no change."
        )
    low, high = pair
    places = (f"{where}, level 0", f"{where}, level 1")
    if isinstance(low, str | Variant) and isinstance(high, str | Variant):
        wordings = isinstance(low, Variant) or isinstance(high, Variant) or len(_places(text, low)) == 1
        if wordings or not _operators(low, high):
            return _worded(factor, places, low, high)
    if isinstance(low, Variant) or isinstance(high, Variant):
        raise UsageError(
            f"{where}: a Variant goes with another one: the piece that stands in the prompt comes first."
        )
    levels = (_level(factor, places[0], low, root), _level(factor, places[1], high, root))
    if not any(level.changes for level in levels):
        raise UsageError(
            f"{where}: neither level changes anything; give an operator or a wording for one of them."
        )
    return levels


def _operators(*names: str | Variant) -> bool:
    for name in names:
        try:
            find(str(name))
        except UsageError:
            return False
    return True


def _worded(
    factor: str, places: tuple[str, str], low: str | Variant, high: str | Variant
) -> tuple[FactorLevel, FactorLevel]:
    old, new = (each.text if isinstance(each, Variant) else each for each in (low, high))
    if not isinstance(old, str) or not isinstance(new, str) or not old:
        raise UsageError(
            f"{places[0]}: {old!r:.80} is no piece of a prompt; give the words that stand there."
        )
    if old == new:
        raise UsageError(f"factor {factor!r}: both levels are {old!r}; word them differently.")
    return FactorLevel(factor, places[0]), FactorLevel(factor, places[1], pieces=((old, new),))


def _level(factor: str, place: str, given: object, root: bytes) -> FactorLevel:
    if given is None:
        return FactorLevel(factor, place)
    if isinstance(given, Operator):
        return FactorLevel(factor, place, root, operator=given)
    if isinstance(given, str):
        try:
            return FactorLevel(factor, place, root, operator=find(given))
        except UsageError as error:
            raise UsageError(
                f"{place}: {error} To reword a piece of the prompt give both wordings: (what stands there, what"
                " replaces it)."
            ) from None
    if isinstance(given, Mapping):
        if not given or not all(
            isinstance(k, str) and k and isinstance(v, str) and k != v for k, v in given.items()
        ):
            raise UsageError(f"{place}: {given!r:.80}; map pieces of the prompt to other wordings.")
        return FactorLevel(factor, place, pieces=tuple(given.items()))
    if callable(given):
        return FactorLevel(factor, place, function=given)
    raise UsageError(
        f"{place}: {given!r:.80} is {type(given).__name__}; give an operator, a mapping of wordings, a function of the"
        " text, or None."
    )


def carried(first: Sequence[Edit], second: Sequence[Edit]) -> tuple[Edit, ...] | None:
    """Edits over a text as edits over what ``first`` makes of it; None where the two concern the same words.

    Args:
        first: Edits over the text.
        second: Others over it. What they move may hold what ``first`` has changed, which then moves along.
    """
    refs = [part for edit in second for part in edit.parts if isinstance(part, Ref)]
    for edit in first:
        inside = [ref for ref in refs if _within(edit, ref)]
        if any(_meets(edit, *ref) for ref in refs if ref not in inside):
            return None
        if any(_meets(edit, other.start, other.end) for other in second) and len(inside) != 1:
            return None
    return tuple(
        Edit(
            _moved(edit.start, first, opens=True),
            _moved(edit.end, first, opens=edit.start == edit.end),
            tuple(
                part
                if isinstance(part, str)
                else Ref(_moved(part.start, first, opens=True), _moved(part.end, first))
                for part in edit.parts
            ),
        )
        for edit in second
    )


def _within(edit: Edit, ref: Ref) -> bool:
    """Whether an edit lies in a reference, an insertion not at its border."""
    if edit.start == edit.end:
        return ref.start < edit.start < ref.end
    return ref.start <= edit.start and edit.end <= ref.end


def _meets(edit: Edit, start: int, end: int) -> bool:
    """Whether an edit and a span share a character, or one of them is a place inside the other."""
    return edit.start < end and start < edit.end


def _moved(position: int, edits: Sequence[Edit], *, opens: bool = False) -> int:
    """Where a position stands after the edits; behind what is inserted there if something opens at it."""
    moved = position
    for edit in edits:
        if edit.end < position or (edit.end == position and (opens or edit.start < edit.end)):
            size = sum(len(part) if isinstance(part, str) else part.end - part.start for part in edit.parts)
            moved += size - (edit.end - edit.start)
    return moved


# Two-level designs: which runs, what is confounded with what, and the effects that orthogonal contrasts give.
#
# Generators of fractions are those of Box, Hunter and Hunter, "Statistics for Experimenters" (table of 2^(k-p) designs
# of highest resolution); the same stand in the NIST/SEMATECH e-Handbook of Statistical Methods, section 5.3.3.4.7.


MOST_FACTORS = 8
"""The most factors of one design: 256 runs in full."""

GENERATORS: dict[tuple[int, int], tuple[str, ...]] = {
    (3, 1): ("AB",),
    (4, 1): ("ABC",),
    (5, 1): ("ABCD",),
    (5, 2): ("AB", "AC"),
    (6, 1): ("ABCDE",),
    (6, 2): ("ABC", "BCD"),
    (6, 3): ("AB", "AC", "BC"),
    (7, 1): ("ABCDEF",),
    (7, 2): ("ABCD", "ABDE"),
    (7, 3): ("ABC", "BCD", "ACD"),
    (7, 4): ("AB", "AC", "BC", "ABC"),
    (8, 1): ("ABCDEFG",),
    (8, 2): ("ABCD", "ABEF"),
    (8, 3): ("ABC", "ABD", "BCDE"),
    (8, 4): ("BCD", "ACD", "ABC", "ABD"),
}
"""By (k, p): the last p factors are set by products of the first ones, A to H being the factors in order."""

Term = tuple[str, ...]
"""Factors whose levels are multiplied: one is a main effect, two are an interaction."""


@dataclass(frozen=True, slots=True)
class TwoLevel:
    """The runs of a full or fractional 2^k design.

    Attributes:
        factors: The names, in order.
        generators: For each factor that a fraction sets by others: its name and theirs. Empty in a full design.
        signs: One row a run, one sign (-1 or 1) a factor; the first factor changes fastest (standard order).
    """

    factors: Term
    generators: tuple[tuple[str, Term], ...]
    signs: tuple[tuple[int, ...], ...]

    @property
    def defining_relation(self) -> tuple[Term, ...]:
        """The products of factors that are 1 in every run, shortest first; empty in a full design."""
        words = self._words()
        return tuple(
            sorted((self._term(word) for word in words), key=lambda term: (len(term), self._places(term)))
        )

    @property
    def resolution(self) -> int | None:
        """The length of the shortest word of the defining relation; None in a full design.

        At III main effects are confounded with interactions of two, at IV these among themselves, at V neither.
        """
        return min(map(len, self.defining_relation), default=None)

    def aliases(self, term: Sequence[str]) -> tuple[Term, ...]:
        """The effects that a fraction cannot tell from that of ``term``, shortest first."""
        mask = self._mask(term)
        found = (self._term(word ^ mask) for word in self._words() if word != mask)
        return tuple(sorted(found, key=lambda other: (len(other), self._places(other))))

    def contrast(self, term: Sequence[str]) -> tuple[int, ...]:
        """The sign of ``term`` in each run: the product of its factors' signs."""
        places = [index for index in range(len(self.factors)) if self._mask(term) >> index & 1]
        return tuple(math.prod(row[index] for index in places) for row in self.signs)

    def effect(self, term: Sequence[str], values: Sequence[float]) -> float:
        """The mean of the values where ``term`` is 1, less the mean where it is -1: ``2/N * sum(sign * value)``.

        Args:
            term: Names of factors, each once.
            values: One number a run, in the order of the runs.

        Raises:
            UsageError: An unknown factor, not one finite number a run, or a term that no run changes.
        """
        numbers = _checked(values, len(self.signs))
        signs = self.contrast(term)
        if len(set(signs)) < 2:
            raise UsageError(
                f"effect: {' × '.join(term) or 'no factor'} has the same sign in every run, so that it cannot be"
                " estimated; run more of the design."
            )
        return math.fsum(sign * value for sign, value in zip(signs, numbers, strict=True)) * 2 / len(signs)

    def terms(self, order: int) -> tuple[Term, ...]:
        """The products of ``order`` factors that change from run to run, in order."""
        words = self._words()
        return tuple(term for term in combinations(self.factors, order) if self._mask(term) not in words)

    def _mask(self, term: Sequence[str]) -> int:
        mask = 0
        for name in term:
            if name not in self.factors:
                raise UsageError(
                    f"There is no factor {name!r} in this design. Known: {', '.join(self.factors)}."
                )
            bit = 1 << self.factors.index(name)
            if mask & bit:
                raise UsageError(f"The factor {name!r} is named twice in {' × '.join(term)}; name it once.")
            mask |= bit
        return mask

    def _term(self, mask: int) -> Term:
        return tuple(name for index, name in enumerate(self.factors) if mask >> index & 1)

    def _places(self, term: Term) -> tuple[int, ...]:
        return tuple(map(self.factors.index, term))

    def _words(self) -> set[int]:
        words = {0}
        for name, term in self.generators:
            word = self._mask((name, *term))
            words |= {word ^ other for other in words}
        return words - {0}


def two_level(factors: Sequence[str], fraction: float | Fraction = 1) -> TwoLevel:
    """A full or fractional 2^k design.

    Args:
        factors: 1 to 8 names.
        fraction: 1 for all ``2**k`` runs, else 1/2, 1/4, 1/8 or 1/16 of them.

    Raises:
        UsageError: Too many factors, a fraction that is no power of two, or one that leaves too few runs to tell the
            factors apart.
    """
    k = len(factors)
    if not 1 <= k <= MOST_FACTORS:
        raise UsageError(f"factors: {k} of them; a design has 1 to {MOST_FACTORS}.")
    p = _halvings(fraction)
    if p and (k, p) not in GENERATORS:
        possible = [f"1/{2**q}" for q in range(1, k) if (k, q) in GENERATORS]
        raise UsageError(
            f"fraction={fraction}: {k} factors cannot be told apart in so few runs; give"
            f" {' or '.join(['1', *possible])}."
        )
    generators = tuple(
        (factors[k - p + index], tuple(factors["ABCDEFGH".index(letter)] for letter in word))
        for index, word in enumerate(GENERATORS[k, p] if p else ())
    )
    rows: list[tuple[int, ...]] = []
    for run in range(2 ** (k - p)):
        row = [1 if run >> index & 1 else -1 for index in range(k - p)]
        for _, term in generators:
            row.append(math.prod(row[factors.index(name)] for name in term))
        rows.append(tuple(row))
    return TwoLevel(tuple(factors), generators, tuple(rows))


def _halvings(fraction: float | Fraction) -> int:
    """How often a design is halved: 0 for 1, 1 for 1/2."""
    if isinstance(fraction, int | float | Fraction) and not isinstance(fraction, bool) and 0 < fraction <= 1:
        inverse = 1 / Fraction(fraction)
        if inverse.denominator == 1 and inverse.numerator & (inverse.numerator - 1) == 0:
            return inverse.numerator.bit_length() - 1
    raise UsageError(f"fraction={fraction!r}: give 1, 1/2, 1/4, 1/8 or 1/16.")


def _checked(values: Sequence[float], runs: int) -> list[float]:
    if isinstance(values, str | bytes) or not hasattr(values, "__len__") or len(values) != runs:
        raise UsageError(f"values: give one number for each of the {runs} runs, in their order.")
    for number, value in enumerate(values):
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float | Fraction)
            or not math.isfinite(value)
        ):
            raise UsageError(f"values: run {number} has {value!r}; give a finite number for every run.")
    return [float(value) for value in values]


__all__ = ["Design", "FactorialRun", "Variant", "factorial"]


@dataclass(frozen=True, slots=True)
class FactorialRun:
    """One combination of levels.

    Attributes:
        levels: For each factor -1 (its first level) or 1 (its second).
        text: The prompt of this run.
        mutation: What makes it of the original; None if it is the original.
        adapted: The factors whose change had to be made anew on what the others had made, because both concern the
            same words; elsewhere a factor changes the same words in every run.
    """

    levels: Mapping[str, int]
    text: str
    mutation: Mutation | None
    adapted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Design:
    """The runs of a factorial study, and what can be learned from them.

    Attributes:
        original: The prompt's text.
        runs: In standard order: the first factor changes fastest, all at their first level to begin with (in a
            fraction the last factors follow from the others).
        layout: The signs, generators and contrasts.
    """

    original: str
    runs: tuple[FactorialRun, ...]
    layout: TwoLevel
    _study: _Study = field(repr=False, compare=False)

    @property
    def factors(self) -> tuple[str, ...]:
        """The names of the factors."""
        return self.layout.factors

    @property
    def mutations(self) -> list[Mutation]:
        """The mutations of the runs, for ``mutations=``; the original is the baseline and is not among them."""
        return [run.mutation for run in self.runs if run.mutation is not None]

    @property
    def variants(self) -> tuple[str, ...]:
        """The text of each run."""
        return tuple(run.text for run in self.runs)

    @property
    def resolution(self) -> int | None:
        """That of a fraction: 3, 4 … as in III, IV; None in a full design."""
        return self.layout.resolution

    @property
    def defining_relation(self) -> tuple[Term, ...]:
        """The products of factors that are 1 in every run of a fraction."""
        return self.layout.defining_relation

    @property
    def aliases(self) -> dict[Term, tuple[Term, ...]]:
        """For each main effect and interaction of two: the effects a fraction cannot tell it from. Empty if full."""
        if self.resolution is None:
            return {}
        terms = [term for order in (1, 2) for term in combinations(self.factors, order)]
        return {term: self.layout.aliases(term) for term in terms}

    def main_effects(self, values: Sequence[float]) -> dict[str, float]:
        """How much each factor moves the value: the mean at its second level less the mean at its first.

        In a fraction this is the sum of the effect and of its :attr:`aliases`.

        Args:
            values: One number a run, in the order of :attr:`runs`.

        Raises:
            UsageError: Not one finite number for each run.
        """
        return {name: self.layout.effect((name,), values) for name in self.factors}

    def interactions(self, values: Sequence[float], order: int = 2) -> dict[Term, float]:
        """How much the effect of a factor depends on others: the contrast of the product of their signs.

        Half the difference between a factor's effect at the second and at the first level of another, for two.

        Args:
            values: One number a run, in the order of :attr:`runs`.
            order: How many factors, 2 to all of them. What a fraction confounds with the mean is left out.

        Raises:
            UsageError: Not one finite number for each run, or an order out of range.
        """
        if type(order) is not int or not 2 <= order <= max(2, len(self.factors)):
            raise UsageError(f"order={order!r}: give 2 to {len(self.factors)}, the number of factors.")
        return {term: self.layout.effect(term, values) for term in self.layout.terms(order)}

    def followed(
        self, run: FactorialRun, factors: Mapping[str, tuple[Given, Given]]
    ) -> tuple[FactorialRun, ...]:
        """One run with more done to it: a run for each level of each new factor that changes something.

        Args:
            run: One of this design, say the best.
            factors: New factors, as for :func:`factorial`: ``{"examples": ("few-shot-before", "few-shot-after")}``.

        Raises:
            UsageError: The run is of another design, a name is taken, or a level does nothing there.
        """
        if run not in self.runs:
            raise UsageError("followed: that run is not of this design; give one of its runs.")
        taken = [name for name in factors if name in self.factors]
        if taken:
            raise UsageError(
                f"followed: there is a factor {taken[0]!r} already; give the new one another name."
            )
        study = self._study
        chosen = study.chosen(run.levels)
        found: list[FactorialRun] = []
        for name, pair in factors.items():
            for sign, level in zip((-1, 1), read_levels(name, pair, run.text, study.root), strict=True):
                if level.changes:
                    found.append(study.run({**run.levels, name: sign}, chosen, then=level))
        return tuple(found)


def factorial(
    prompt: str | Prompt,
    factors: Mapping[str, tuple[Given, Given]],
    *,
    fraction: float | Fraction = 1,
    seed: int = 0,
) -> Design:
    """A full or fractional 2^k design over named factors of a prompt, after S5's study of 2×2×2×2 variants.

    What the user words is put in first, then what operators reword, then what they move; within each, in the order of
    the factors. A level changes the same words in every run, unless another level concerns them too.

    Args:
        prompt: What is varied.
        factors: For each of 1 to 8 names its two levels. A level is None (the prompt as it is), an operator or how it
            is written in ``operators=``, a mapping of pieces of the prompt to other wordings, or a function of the
            text. Two strings (or two :class:`Variant`) are a piece that stands in the prompt exactly once, and what
            replaces it.
        fraction: 1, or 1/2, 1/4, 1/8, 1/16 for a fraction with the usual generators.
        seed: What operators draw from.

    Returns:
        The design, a run for each combination; all runs are different texts.

    Raises:
        UsageError: A factor or level that is none of these or does nothing on this prompt, more than 8 factors, a
            fraction that is no power of two, two runs with the same text, a lost slot, or two relations in one run.
    """
    if not isinstance(prompt, str | Prompt):
        raise UsageError(
            f"prompt is {type(prompt).__name__}; give a str or a Prompt (Prompt.from_messages for chat)."
        )
    if not isinstance(factors, Mapping) or not factors:
        raise UsageError(
            f"factors: {factors!r:.80}; give a mapping of at least one name to a pair of levels."
        )
    for name in factors:
        if not isinstance(name, str) or not name.strip() or "@" in name:
            raise UsageError(f"factors: {name!r:.80} is no name; give a text without '@'.")
    if type(seed) is not int:
        raise UsageError(f"seed={seed!r}: give an int.")
    layout = two_level(tuple(factors), fraction)
    whole = as_prompt(prompt)
    root = root_key(seed, whole.text)
    levels = {name: read_levels(name, pair, whole.text, root) for name, pair in factors.items()}
    study = _Study.of(whole, prompt if isinstance(prompt, Prompt) else None, levels, root)
    runs: list[FactorialRun] = []
    seen: dict[str, FactorialRun] = {}
    for row in layout.signs:
        signs = dict(zip(layout.factors, row, strict=True))
        run = study.run(signs, study.chosen(signs))
        other = seen.setdefault(run.text, run)
        if other is not run:
            differing = [name for name in signs if signs[name] != other.levels[name]]
            raise UsageError(
                f"factorial: two runs have the same text, whatever the level of {' and '.join(map(repr, differing))};"
                " give levels that change different words."
            )
        runs.append(run)
    return Design(whole.text, tuple(runs), layout, study)


@dataclass(frozen=True, slots=True)
class _Study:
    """What the runs of one design are made from."""

    prompt: Prompt
    source: Prompt | None
    draft: Draft
    levels: Mapping[str, tuple[FactorLevel, FactorLevel]]
    root: bytes
    alone: Mapping[str, tuple[Edit, ...]]  # by the place of a level: what it does to the original

    @classmethod
    def of(
        cls,
        prompt: Prompt,
        source: Prompt | None,
        levels: Mapping[str, tuple[FactorLevel, FactorLevel]],
        root: bytes,
    ) -> _Study:
        spans = prompt.spans
        draft = Draft(
            prompt.text,
            [(start, end) for start, end, _ in spans],
            walls=[(start, end) for start, end, kind in spans if kind in {"separator", "message"}],
            kinds=[kind for _, _, kind in spans],
        )
        alone = {each.place: each.edits(draft) for pair in levels.values() for each in pair if each.changes}
        return cls(prompt, source, draft, levels, root, alone)

    def chosen(self, signs: Mapping[str, int]) -> list[FactorLevel]:
        """The levels of a run that change something, in order of application."""
        picked = [pair[signs[name] > 0] for name, pair in self.levels.items()]
        return sorted((each for each in picked if each.changes), key=self._rank)

    def _rank(self, level: FactorLevel) -> int:
        """0 for the user's wordings, 1 for other rewordings, 2 for what moves text."""
        if level.operator is None:
            return 0
        edits = self.alone[level.place]
        return 2 if any(isinstance(part, Ref) for edit in edits for part in edit.parts) else 1

    def run(
        self, signs: Mapping[str, int], chosen: Sequence[FactorLevel], *, then: FactorLevel | None = None
    ) -> FactorialRun:
        """The run of some levels; ``then`` is applied to what they have made."""
        edits: tuple[Edit, ...] = ()
        adapted: list[str] = []
        done: list[FactorLevel] = []
        for level in [*chosen, *([then] if then is not None else [])]:
            new = carried(edits, self.alone[level.place]) if level is not then else None
            if new is None:
                after = " and ".join(each.place for each in done)
                new = level.edits(changed_draft(self.draft, edits), after=after)
                if level is not then:
                    adapted.append(level.factor)
            edits = compose_edits(self.draft.text, edits, new)
            done.append(level)
        mutation = self._mutation(edits, done) if edits else None
        text = mutation.text if mutation is not None else self.draft.text
        if mutation is not None and set(mutation.prompt.slots) != set(self.prompt.slots):
            lost = sorted({*self.prompt.slots} ^ {*mutation.prompt.slots})
            raise UsageError(
                f"factorial: {' and '.join(each.place for each in done)} lose or add the slot {lost[0]!r}; keep the"
                " prompt's slots."
            )
        return FactorialRun(dict(signs), text, mutation, tuple(adapted))

    def _mutation(self, edits: tuple[Edit, ...], levels: Sequence[FactorLevel]) -> Mutation:
        held = list(dict.fromkeys(each.relation for each in levels if each.relation != "invariance"))
        if len(held) > 1:
            raise UsageError(
                f"factorial: {' and '.join(each.place for each in levels)} ask for two relations, {held[0]!r} and"
                f" {held[1]!r}, and a trial is judged by one; study them apart."
            )
        spared = 1.0
        for each in levels:
            spared *= 1.0 - each.severity
        tokens = Tokens(self.draft.text)
        rate = touched_words(edits, tokens) / (len(tokens) or 1)
        return Mutation(
            self.draft.text,
            edits,
            tuple(id_ for each in levels for id_ in each.ids),
            levels[0].dimension,
            severity_of(1.0 - spared, rate),
            max((each.preserves for each in levels), key=PRESERVES.index),
            held[0] if held else "invariance",
            self.source,
        )
