"""What a search may change: places of a prompt, what may stand at each, and the states that choosing makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.edits import Edit, apply_edits, replace
from pytest_promptfuzz.mutations.measuring import Tokens, touched_words
from pytest_promptfuzz.mutations.mutation import PRESERVES, Mutation, severity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_promptfuzz.mutations.operator import Operator
    from pytest_promptfuzz.prompts.prompt import Prompt

State = tuple[int, ...]
"""For each place 0 where it stays as it is, i where its i-th choice stands there, or ``MASKED``, or ``DELETED``."""

MASKED = -1
DELETED = -2
MASK = "[UNK]"
MASKED_BY = "masked@1"
"""What stands for the operator of a state that is masked at a place."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What may be done at a place: edits that belong together, and whose they are."""

    edits: tuple[Edit, ...]
    operator: Operator = field(repr=False)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a search may change a prompt.

    Attributes:
        spans: What is taken out to learn how much it matters; none where there is nothing to take out.
        choices: What may be done there, the likeliest to keep the meaning first; never empty.
        wide: Whether that is no change of a word but of the text at large: another order, another layout.
    """

    spans: tuple[tuple[int, int], ...]
    choices: tuple[Choice, ...]
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """What a changed prompt must keep.

    Attributes:
        change_rate: The share of words that may change, 0 to 1; see ``Mutation.change_rate``.
        words: How many may; ``None`` sets no limit.
        allows: A predicate of the mutation; one that it refuses is never asked about.
    """

    change_rate: float = 1.0
    words: int | None = None
    allows: Callable[[Mutation], bool] | None = field(default=None, compare=False)


class Space:
    """The places of one prompt.

    Args:
        original: The prompt's text.
        places: Where it may change.
        limits: What must be kept.
        source: The prompt that ``original`` is the text of, where it is no plain string.
    """

    def __init__(
        self,
        original: str,
        places: Sequence[Place],
        limits: Limits | None = None,
        source: Prompt | None = None,
    ) -> None:
        self.original = original
        self.places = tuple(places)
        self.source = source
        self._limits = Limits() if limits is None else limits
        self._tokens = Tokens(original)
        self._allowed: dict[State, bool] = {}
        self._states: dict[str, State] = {}

    def __len__(self) -> int:
        """How many places there are."""
        return len(self.places)

    @property
    def start(self) -> State:
        """The state of the unchanged prompt."""
        return (0,) * len(self.places)

    @property
    def most(self) -> int:
        """How many words may change."""
        by_rate = int(self._limits.change_rate * len(self._tokens) + 1e-9)
        return by_rate if self._limits.words is None else min(by_rate, self._limits.words)

    def edits(self, state: State) -> tuple[Edit, ...]:
        """What makes the text of a state, in ascending order; of edits that overlap the earlier place's stand."""
        chosen: list[Edit] = []
        for place, number in zip(self.places, state, strict=True):
            if number:
                wanted = self._of(place, number)
                if not any(_clash(one, other) for one in wanted for other in chosen):
                    chosen += wanted
        return tuple(sorted(chosen))

    def text(self, state: State) -> str:
        """The text of a state."""
        text = apply_edits(self.original, self.edits(state))
        self._states.setdefault(text, state)
        return text

    def state_of(self, text: str) -> State:
        """The first state that had a text; only of texts that were asked for."""
        return self._states[text]

    def words(self, state: State) -> int:
        """How many words of the original a state touches."""
        return touched_words(self.edits(state), self._tokens)

    def settled(self, state: State, order: Iterable[int] | None = None) -> State:
        """A state without the choices that others leave no room for.

        Args:
            state: Any state.
            order: Places, those first whose choices stay where two clash; as they stand by default, which makes the
                same text.
        """
        if not self.crowded:
            return state
        chosen: list[Edit] = []
        kept = list(state)
        for index in range(len(state)) if order is None else order:
            if state[index]:
                wanted = self._of(self.places[index], state[index])
                if any(_clash(one, other) for one in wanted for other in chosen):
                    kept[index] = 0
                else:
                    chosen += wanted
        return tuple(kept)

    @cached_property
    def crowded(self) -> bool:
        """Whether choices of two places may clash."""
        spans = sorted(
            {
                (choice.edits[0].start, choice.edits[-1].end, index)
                for index, place in enumerate(self.places)
                for choice in place.choices
            }
        )
        reached: dict[int, int] = {}
        for start, end, index in spans:
            if any(stop >= start and other != index for other, stop in reached.items()):
                return True
            reached[index] = max(reached.get(index, 0), end)
        return False

    @cached_property
    def wide(self) -> tuple[int, ...]:
        """The places whose choices change the text at large: beside them words may have no room."""
        return tuple(index for index, place in enumerate(self.places) if place.wide)

    def allowed(self, state: State) -> bool:
        """Whether a state keeps within the limits; one that is masked at a place does, since it is only a question."""
        if min(state, default=0) < 0 or not any(state):
            return True
        known = self._allowed.get(state)
        if known is None:
            limits = self._limits
            known = (limits.change_rate >= 1 and limits.words is None) or self.words(state) <= self.most
            if known and limits.allows is not None:
                known = bool(limits.allows(self.mutation(state)))
            self._allowed[state] = known
        return known

    def allows(self, mutation: Mutation) -> bool:
        """Whether a mutation that is part of a state's keeps within the limits as well: a predicate may not like it."""
        return self._limits.allows is None or bool(self._limits.allows(mutation))

    def mutation(self, state: State) -> Mutation:
        """A state as a mutation: as severe, and as doubtful in meaning, as the worst operator that it draws on.

        One that is masked or lacks words is a question, and nothing that an operator makes.
        """
        state = self.settled(state)
        if min(state, default=0) < 0:
            return Mutation(
                self.original,
                self.edits(state),
                (MASKED_BY,),
                "lexical",
                1.0,
                "no",
                "invariance",
                self.source,
            )
        operators = [
            place.choices[number - 1].operator
            for place, number in zip(self.places, state, strict=True)
            if number > 0
        ]
        edits = self.edits(state)
        worst = max(operators, key=lambda each: each.severity)
        rate = touched_words(edits, self._tokens) / (len(self._tokens) or 1)
        return Mutation(
            self.original,
            edits,
            tuple(dict.fromkeys(name for each in operators for name in each.ids)),
            worst.dimension,
            severity_of(worst.severity, rate),
            max((each.preserves for each in operators), key=PRESERVES.index),
            worst.relation,
            self.source,
        )

    @staticmethod
    def _of(place: Place, number: int) -> tuple[Edit, ...]:
        if number > 0:
            return place.choices[number - 1].edits
        if not place.spans:
            return place.choices[0].edits
        return tuple(replace(start, end, MASK if number == MASKED else "") for start, end in place.spans)


def with_choice(state: State, place: int, number: int) -> State:
    """The state with another choice at a place."""
    return (*state[:place], number, *state[place + 1 :])


def _clash(one: Edit, other: Edit) -> bool:
    """Whether two edits cannot both be made."""
    return (one.start < other.end and other.start < one.end) or one[:2] == other[:2]
