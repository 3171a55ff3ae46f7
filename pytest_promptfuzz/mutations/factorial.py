"""A factorial study of a prompt: every combination of two levels of some factors, or a balanced fraction of them.

>>> design = factorial(
...     "Please classify the review.",
...     {"tone": ("Please classify", "Classify"), "case": (None, "upper-case")},
... )
>>> design.variants[1]
'Classify the review.'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.composition import compose_edits
from pytest_promptfuzz.mutations.compound import changed_draft
from pytest_promptfuzz.mutations.draft import Draft
from pytest_promptfuzz.mutations.edits import Edit, Ref
from pytest_promptfuzz.mutations.levels import Given, Level, Variant, carried, read_levels
from pytest_promptfuzz.mutations.measuring import Tokens, touched_words
from pytest_promptfuzz.mutations.mutation import PRESERVES, Mutation, severity_of
from pytest_promptfuzz.mutations.rng import root_key
from pytest_promptfuzz.mutations.two_level import Term, TwoLevel, two_level
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

__all__ = ["Design", "Run", "Variant", "factorial"]


@dataclass(frozen=True, slots=True)
class Run:
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
    runs: tuple[Run, ...]
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

    def followed(self, run: Run, factors: Mapping[str, tuple[Given, Given]]) -> tuple[Run, ...]:
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
        found: list[Run] = []
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
    runs: list[Run] = []
    seen: dict[str, Run] = {}
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
    levels: Mapping[str, tuple[Level, Level]]
    root: bytes
    alone: Mapping[str, tuple[Edit, ...]]  # by the place of a level: what it does to the original

    @classmethod
    def of(
        cls, prompt: Prompt, source: Prompt | None, levels: Mapping[str, tuple[Level, Level]], root: bytes
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

    def chosen(self, signs: Mapping[str, int]) -> list[Level]:
        """The levels of a run that change something, in order of application."""
        picked = [pair[signs[name] > 0] for name, pair in self.levels.items()]
        return sorted((each for each in picked if each.changes), key=self._rank)

    def _rank(self, level: Level) -> int:
        """0 for the user's wordings, 1 for other rewordings, 2 for what moves text."""
        if level.operator is None:
            return 0
        edits = self.alone[level.place]
        return 2 if any(isinstance(part, Ref) for edit in edits for part in edit.parts) else 1

    def run(self, signs: Mapping[str, int], chosen: Sequence[Level], *, then: Level | None = None) -> Run:
        """The run of some levels; ``then`` is applied to what they have made."""
        edits: tuple[Edit, ...] = ()
        adapted: list[str] = []
        done: list[Level] = []
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
        return Run(dict(signs), text, mutation, tuple(adapted))

    def _mutation(self, edits: tuple[Edit, ...], levels: Sequence[Level]) -> Mutation:
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
