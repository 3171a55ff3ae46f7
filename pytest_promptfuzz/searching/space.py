"""`Space`: what a search may change: places of a prompt, what may stand at each, and limits."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, quoted
from pytest_promptfuzz.mutations.analysis.draft import draft_of
from pytest_promptfuzz.mutations.analysis.word_context import fits
from pytest_promptfuzz.mutations.engine.edits import Edit, Tokens, apply_edits, replace, touched_words
from pytest_promptfuzz.mutations.engine.mutation import PRESERVES, Mutation, severity_of
from pytest_promptfuzz.mutations.engine.selection import strata_of
from pytest_promptfuzz.mutations.operators.synonyms import replaced, sites, vocabulary_of
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.randomness import Rng, root_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.mutations.analysis.lexicon import WordReading
    from pytest_promptfuzz.mutations.analysis.word_context import Context
    from pytest_promptfuzz.mutations.engine.operator import Operator
    from pytest_promptfuzz.mutations.engine.selection import Selection
    from pytest_promptfuzz.prompts.messages import MutatedPart

    Spans = tuple[tuple[int, int], ...]


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
class SearchPlace:
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
class SearchLimits:
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
        places: Sequence[SearchPlace],
        limits: SearchLimits | None = None,
        source: Prompt | None = None,
    ) -> None:
        self.original = original
        self.places = tuple(places)
        self.source = source
        self._limits = SearchLimits() if limits is None else limits
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
    def _of(place: SearchPlace, number: int) -> tuple[Edit, ...]:
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


# The space of a prompt: what operators would do to it, place by place.


TOP = 10
"""How many choices a place has at most (K of S3)."""
_DRAWS = 40  # proposals of an operator that are looked at
_WHOLE = 3  # of which so many are taken that change several places at once


def space_of(
    prompt: str | Prompt,
    *,
    operators: Selection = None,
    part: str | Sequence[str] | MutatedPart | None = None,
    limits: SearchLimits | None = None,
    top: int = TOP,
    any_sense: bool = False,
    seed: int = 0,
    where: str = "search",
) -> Space:
    """What a search may change in a prompt.

    Each word that operators would change is a place, with what they would put there; a change of several words that an
    operator makes at once (upper case, another order) is a place of its own. Protected spans stay, as everywhere.

    Args:
        prompt: Whose places.
        operators: What may be done, as for a plan; by default what a plan draws on.
        part: Which text may change: see :meth:`pytest_promptfuzz.prompts.prompt.Prompt.limited`.
        limits: What must be kept.
        top: How many choices a place has at most, 1 or more; operators take turns.
        any_sense: Take a word's substitutes whatever part of speech it is in its place; by default only where the words
            around leave one reading.
        seed: Of what operators draw.
        where: What is asked for, for messages.

    Raises:
        UsageError: A bad argument; an operator whose mutations are not to leave the answer as it is; or nothing that
            could be changed.
    """
    if type(top) is not int or top < 1:
        raise UsageError(f"{where}: top={top!r}; give an int from 1.")
    whole = as_prompt(prompt) if part is None else as_prompt(prompt).limited(part)
    chosen = [each for stratum in strata_of(operators) for each in stratum.operators]
    other = [each for each in chosen if each.relation != "invariance"]
    if other:
        raise UsageError(
            f"{where}: {other[0].name!r} is not meant to leave the answer as it is ({other[0].relation}), so that "
            "nothing it does could be a counterexample; leave it out of operators=."
        )
    draft = draft_of(whole)
    found: dict[Spans, list[list[Choice]]] = {}
    for each in chosen:
        if each.suits(draft):
            for spans, choices in _offers(draft, each, Rng(root_key(seed, draft.text), each.id), any_sense):
                kept = [one for one in choices if _within(one.edits, whole.bounds)]
                if kept:
                    found.setdefault(spans, []).append(kept)
    places = [
        SearchPlace(
            spans if _is_word(draft, spans) else (),
            _mixed(several, draft.text, top),
            wide=spans[0][0] == spans[0][1],
        )
        for spans, several in sorted(found.items())
    ]
    if not places:
        raise UsageError(
            f"{where}: no operator finds anything to change in {quoted(draft.text)}. Name more with operators=, a "
            "lexicon's among them, or let another part= change."
        )
    return Space(draft.text, places, limits, whole if isinstance(prompt, Prompt) else None)


def _offers(
    draft: Draft, operator: Operator, rng: Rng, any_sense: bool
) -> Iterator[tuple[Spans, list[Choice]]]:
    """What an operator would do, by place."""
    vocabulary = vocabulary_of(operator)
    if vocabulary is None:
        yield from _drawn(draft, operator, rng)
        return
    for group in sites(draft, vocabulary, fit=_any if any_sense else fits, data=True):
        shared = [new for new in group[0].alternatives if all(new in site.alternatives for site in group)]
        spans = tuple(sorted((site.word.start, site.word.end) for site in group))
        yield (
            spans,
            [Choice(tuple(sorted(replaced(site, new) for site in group)), operator) for new in shared],
        )


def _drawn(draft: Draft, operator: Operator, rng: Rng) -> Iterator[tuple[Spans, list[Choice]]]:
    """The same for an operator that can only be asked for proposals: one place at a time, if it knows intensity."""
    with contextlib.suppress(UsageError):
        operator = operator.at(1)
    words: dict[Spans, list[Choice]] = {}
    whole: dict[tuple[Edit, ...], None] = {}
    rng = rng.child("one", intensity=1 if operator.intensity is not None else None)
    for edits in islice(operator.proposals(draft, rng), _DRAWS):
        spans = () if len(edits) > 1 else _word_of(draft, edits[0])
        if spans:
            choice = Choice(edits, operator)
            if choice not in words.setdefault(spans, []):
                words[spans].append(choice)
        elif len(whole) < _WHOLE:
            whole.setdefault(edits)
    yield from words.items()
    for edits in whole:
        # A place by what it covers: the empty span at its beginning keeps it apart from the word there.
        yield ((edits[0].start, edits[0].start), (edits[-1].end, edits[-1].end)), [Choice(edits, operator)]


def _word_of(draft: Draft, edit: Edit) -> Spans:
    """The word that an edit is inside; nothing where it is in none, or in several."""
    tokens = draft.tokens
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        if start <= edit.start and edit.end <= end:
            inner = next(
                (word for word in draft.words if word.start <= edit.start and edit.end <= word.end), None
            )
            return ((inner.start, inner.end),) if inner is not None else ((start, end),)
    return ()


def _is_word(draft: Draft, spans: Spans) -> bool:
    """Whether a place is a free word, at one or several places, rather than what a change of several words covers."""
    return spans[0][0] < spans[0][1] and all(draft.is_free(start, end) for start, end in spans)


def _mixed(several: Sequence[list[Choice]], text: str, top: int) -> tuple[Choice, ...]:
    """The first choices of each operator in turn, none of which makes the same text as another."""
    found: dict[tuple[tuple[int, int, str], ...], Choice] = {}
    for choice in chain.from_iterable(zip_longest(*several)):
        if choice is not None:
            key = tuple((edit.start, edit.end, edit.replacement(text)) for edit in choice.edits)
            found.setdefault(key, choice)
    return tuple(islice(found.values(), top))


def _within(edits: Sequence[Edit], bounds: Sequence[tuple[int, int]] | None) -> bool:
    return bounds is None or all(
        any(start <= each.start and each.end <= end for start, end in bounds) for each in edits
    )


def _any(reading: WordReading, context: Context) -> int:  # noqa: ARG001 (as `fits`)
    """Take every reading; only words for words, since a phrase seldom stands where a word did."""
    return 1
