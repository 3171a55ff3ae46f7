"""`explain`: which words, sentences, messages and operators go with deviations, from trials that were made."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine.edits import Tokens, touched_places, touched_spans, touches
from pytest_promptfuzz.prompts.messages import layout
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.results.trials import cluster
from pytest_promptfuzz.stats.intervals import share_interval
from pytest_promptfuzz.stats.significance import tails_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.stats.intervals import Interval

    Finding = Literal["matters", "beside", "open", "few"]


# What breaks go with: of many parts that trials touch, those whose trials break more often than the others do.
#
# Under the hypothesis that no part matters, a trial's answers have nothing to do with what it touches, so that they may
# be exchanged between trials. All parts are tested at once with step-down minP (Westfall and Young 1993), each by its
# own p, as exact as is cheap: the probability that anything is claimed where nothing matters is at most ``ALPHA``,
# whatever parts there are and however they overlap.


Part = TypeVar("Part", bound="Hashable")

ALPHA = 0.05
DRAWS = 1999
_MANY = 400  # trials from which half as many draws must do


@dataclass(frozen=True, slots=True)
class TouchedTrial(Generic[Part]):
    """A trial: what it touches, and how often it broke.

    Attributes:
        touched: The parts that it touches.
        broken: How many of its answers deviate, 0 to ``asked``.
        asked: How many there are, 1 or more.
    """

    touched: frozenset[Part]
    broken: int
    asked: int


@dataclass(frozen=True, slots=True)
class Share:
    """How often answers deviate.

    Attributes:
        trials: How many trials that is over.
        broken: How many of their answers deviate.
        asked: How many answers they have.
    """

    trials: int
    broken: int
    asked: int

    @property
    def share(self) -> float | None:
        """In [0, 1]; ``None`` without a trial."""
        return self.broken / self.asked if self.asked else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's, 95 %, over trials: answers to the same change say less than those to different ones."""
        return share_interval(self.broken / self.asked, self.trials) if self.trials else None

    @classmethod
    def of(cls, trials: Iterable[TouchedTrial[Part]]) -> Share:
        """Over these trials."""
        chosen = list(trials)
        return cls(len(chosen), sum(each.broken for each in chosen), sum(each.asked for each in chosen))


@dataclass(frozen=True, slots=True)
class Cause(Generic[Part]):
    """A part, or several that the same trials touch, which nothing can tell apart.

    Attributes:
        parts: Which, in the order they were given.
        touching: The trials that touch it.
        others: The trials that do not.
        p: Adjusted for all parts that were tested; 1 where it was not.
        finding: ``matters``; ``beside``: so often touched together with what matters more that nothing shows of its
            own; ``open``: nothing is shown; ``few``: so few trials tell that nothing could be.
        lift: How far the touching trials break more often than by chance, in standard deviations.
    """

    parts: tuple[Part, ...]
    touching: Share
    others: Share
    p: float
    finding: Finding
    lift: float


def causes(
    trials: Sequence[TouchedTrial[Part]], parts: Sequence[Part], *, seed: int = 0, alpha: float = ALPHA
) -> list[Cause[Part]]:
    """The parts, those that matter first, then those that trials touching them break most often.

    Args:
        trials: What was asked.
        parts: What they may touch, each once.
        seed: Of the permutations.
        alpha: The probability that anything is claimed where nothing matters, in (0, 1).
    """
    groups: dict[int, list[Part]] = {}
    for part in parts:
        mask = sum(1 << place for place, each in enumerate(trials) if part in each.touched)
        groups.setdefault(mask, []).append(part)
    values = _values(trials)
    masks = [mask for mask in groups if smallest_p(values, mask.bit_count()) <= alpha]
    p_values = _adjusted(values, masks, seed) if masks else {}
    found: list[Cause[Part]] = []
    for mask, same in groups.items():
        touching = [each for place, each in enumerate(trials) if mask >> place & 1]
        others = [each for place, each in enumerate(trials) if not mask >> place & 1]
        p = p_values.get(mask, 1.0)
        finding: Finding = "few" if mask not in p_values else "matters" if p <= alpha else "open"
        lift = _lift(values, mask)
        found.append(Cause(tuple(same), Share.of(touching), Share.of(others), p, finding, lift))
    found.sort(key=worst_first)
    return _of_their_own(found, trials, seed, alpha)


def smallest_p(values: Sequence[int], touching: int) -> float:
    """The least p that a part could have which so many trials touch, whatever their answers, in (0, 1]."""
    ranked = sorted(values, reverse=True)
    if not 0 < touching < len(ranked):
        return 1.0
    last = ranked[touching - 1]
    ways = math.comb(ranked.count(last), ranked[:touching].count(last))
    return ways / math.comb(len(ranked), touching)


def _values(trials: Sequence[TouchedTrial[Part]]) -> list[int]:
    """The share of each trial's answers that deviate, as whole numbers of one unit."""
    unit = math.lcm(*(each.asked for each in trials)) if trials else 1
    return [each.broken * (unit // each.asked) for each in trials]


def _lift(values: Sequence[int], mask: int) -> float:
    count, touching = len(values), mask.bit_count()
    if not 0 < touching < count:
        return 0.0
    mean = sum(values) / count
    square = sum((each - mean) ** 2 for each in values) / count
    if not square:
        return 0.0
    seen = sum(each for place, each in enumerate(values) if mask >> place & 1)
    return (seen - touching * mean) / math.sqrt(square * touching * (count - touching) / (count - 1))


def _adjusted(values: Sequence[int], masks: Sequence[int], seed: int) -> dict[int, float]:
    """By part, the p of "it does not matter", adjusted for all of them; each touched by some trials and not by all."""
    draws = DRAWS if len(values) <= _MANY else DRAWS // 2
    rng = Rng(root_key(seed, ""), "causes")
    tails = tails_of(values, {mask.bit_count() for mask in masks})
    raw: list[list[float]] = [[] for _ in masks]
    told = [(mask, tails[mask.bit_count()], found) for mask, found in zip(masks, raw, strict=True)]
    for number in range(draws + 1):  # the first is what was seen: all are exchangeable under the hypothesis
        levels = _levels(values if not number else rng.shuffled(values))
        for mask, tail, found in told:
            found.append(tail(sum(step * (mask & level).bit_count() for step, level in levels)))
    order = sorted(zip(masks, raw, strict=True), key=lambda each: (each[1][0], -_lift(values, each[0])))
    least = [2.0] * (draws + 1)
    adjusted: list[float] = []
    for _, found in reversed(order):
        least = list(map(min, least, found))
        adjusted.append(sum(each <= found[0] for each in least) / (draws + 1))
    reached = accumulate(reversed(adjusted), max)
    return {mask: p for (mask, _), p in zip(order, reached, strict=True)}


def _levels(values: Sequence[int]) -> list[tuple[int, int]]:
    """Values by trial as sums of steps: ``(step, the trials that reach it)``, trials as the bits of a number."""
    places: dict[int, int] = {}
    for place, value in enumerate(values):
        if value:
            places[value] = places.get(value, 0) | 1 << place
    levels: list[tuple[int, int]] = []
    reaching, above = 0, 0
    for value in sorted(places, reverse=True):
        if reaching:
            levels.append((above - value, reaching))
        reaching |= places[value]
        above = value
    if reaching:
        levels.append((above, reaching))
    return levels


def _of_their_own(
    found: list[Cause[Part]], trials: Sequence[TouchedTrial[Part]], seed: int, alpha: float
) -> list[Cause[Part]]:
    """Say ``beside`` of what shows nothing of its own in the trials that touch nothing which matters more."""
    ahead: set[Part] = set()
    told: list[Cause[Part]] = []
    for each in found:
        if each.finding != "matters":
            told.append(each)
            continue
        rest = [trial for trial in trials if not trial.touched & ahead]
        if ahead and not _shows(each, rest, seed, alpha):
            told.append(replace(each, finding="beside"))
            continue
        ahead.update(each.parts)
        told.append(each)
    return sorted(told, key=worst_first)


def _shows(cause: Cause[Part], trials: Sequence[TouchedTrial[Part]], seed: int, alpha: float) -> bool:
    values = _values(trials)
    mask = sum(1 << place for place, each in enumerate(trials) if cause.parts[0] in each.touched)
    if smallest_p(values, mask.bit_count()) > alpha:
        return False
    return _adjusted(values, [mask], seed)[mask] <= alpha


_ORDER = {"matters": 0, "beside": 1, "open": 2, "few": 3}


def worst_first(cause: Cause[Part]) -> tuple[int, float]:
    """What matters before what may not, and each by how far it breaks answers."""
    return _ORDER[cause.finding], -cause.lift


Kind = Literal["word", "sentence", "message", "added", "operator", "dimension", "extent"]
_IN_PLACE = ("word", "sentence", "message", "added")
_AS_A_WHOLE = ("extent", "operator", "dimension")
_DECIDED = frozenset({"equivalent", "minor", "deviation"})
_NOT_STORED = frozenset({"not-allowed", "not-recorded"})


class PromptPart(NamedTuple):
    """What a trial may touch.

    Attributes:
        kind: What it is.
        label: Its text or its name; of a message its role, of added text where it stands.
        start: Where it begins in the prompt; -1 for what has no place.
        end: Where it ends.
        number: Which message it is, from 1; 0 of everything else.
        of: How many messages there are.
    """

    kind: Kind
    label: str
    start: int = -1
    end: int = -1
    number: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True)
class Explanation:
    """What matters of one prompt.

    Attributes:
        prompt: Its text.
        causes: Every part that some trial touches, what matters first.
        told: Trials that tell something: mutations with an answer that was judged.
        broken: How many of them deviate.
        wide: How many of them change more than half of the words that any changes.
        wide_broken: How many of those deviate.
        untouched: Words that no such trial touches, as spans.
        missing: Trials without a stored answer.
        unasked: Trials that the test did not need.
        silent: Trials that say nothing for another reason: undecided, or an error.
    """

    prompt: str
    causes: tuple[Cause[PromptPart], ...]
    told: int
    broken: int
    wide: int
    wide_broken: int
    untouched: tuple[tuple[int, int], ...]
    missing: int
    unasked: int
    silent: int

    @property
    def mattering(self) -> list[Cause[PromptPart]]:
        """The causes that are claimed."""
        return [each for each in self.causes if each.finding == "matters"]


@dataclass(slots=True)
class _AskedTrial:
    mutation: Mutation
    inputs: dict[int, list[bool]] = field(default_factory=dict)

    @property
    def broken(self) -> bool:
        """Whether most answers to one of its inputs deviate."""
        return any(2 * sum(each) > len(each) for each in self.inputs.values())


@dataclass(slots=True)
class _Gathered:
    source: Prompt
    asked: dict[str, _AskedTrial] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


def explain(trials: Iterable[Trial], *, seed: int = 0) -> list[Explanation]:
    """What matters, for each prompt that was mutated, in the order of their first trials.

    A mutation is one trial here, however many inputs it was tried on and however often it was asked: it deviates if
    most answers to one of its inputs do. Mutations that must change the answer tell nothing, and are left out.

    Changes of most words tell nothing of a single one: they are left out where words, sentences and messages are held
    against each other, and are a part of their own beside operators and dimensions. Each of the two has half of what
    may be claimed in error: p is twice what it is among its own, so that ``ALPHA`` bounds both together.

    Args:
        trials: What was made of a plan, answered or not.
        seed: Of the permutations.
    """
    prompts: dict[str, _Gathered] = {}
    for trial in trials:
        if trial.mutation.relation == "must-change":
            continue
        mutation = trial.mutation
        source = mutation.source if mutation.source is not None else Prompt(mutation.original)
        found = prompts.setdefault(mutation.original, _Gathered(source))
        outcomes = [each for each in (trial.outcome, *trial.again) if each in _DECIDED]
        if not outcomes:
            found.left_out[_why(trial)] += 1
            continue
        asked = found.asked.setdefault(trial.id, _AskedTrial(mutation))
        asked.inputs.setdefault(trial.case, []).extend(each == "deviation" for each in outcomes)
    return [_explained(text, found, seed) for text, found in prompts.items()]


def _why(trial: Trial) -> str:
    if trial.outcome == "not-needed":
        return "unasked"
    missing = trial.error is not None and trial.error.kind in _NOT_STORED
    return "missing" if missing else "silent"


def _explained(text: str, found: _Gathered, seed: int) -> Explanation:
    places = parts_of(found.source)
    words = [part for part in places if part.kind == "word"]
    tokens = Tokens(text)
    touched = [touched_by(each.mutation, places, tokens) for each in found.asked.values()]
    seen = {part for parts in touched for part in parts}
    half = sum(part in seen for part in words) / 2
    wide = [sum(part.kind == "word" for part in parts) > half for parts in touched]
    narrow: list[TouchedTrial[PromptPart]] = []
    every: list[TouchedTrial[PromptPart]] = []
    for each, parts, is_wide in zip(found.asked.values(), touched, wide, strict=True):
        extent = [_WIDE] if is_wide else []
        whole = frozenset([*extent, *(part for part in parts if part.kind in _AS_A_WHOLE)])
        every.append(TouchedTrial(whole, int(each.broken), 1))
        if not is_wide:
            here = frozenset(part for part in parts if part.kind in _IN_PLACE)
            narrow.append(TouchedTrial(here, int(each.broken), 1))
    known = causes(narrow, _in_order(narrow, places), seed=seed, alpha=ALPHA / 2)
    known += causes(every, _in_order(every, ()), seed=seed, alpha=ALPHA / 2)
    known = [replace(each, p=min(1.0, 2 * each.p)) for each in known]
    return Explanation(
        prompt=text,
        causes=tuple(sorted(known, key=worst_first)),
        told=len(every),
        broken=sum(each.broken for each in every),
        wide=sum(wide),
        wide_broken=sum(each.broken for each, is_wide in zip(every, wide, strict=True) if is_wide),
        untouched=tuple((part.start, part.end) for part in words if part not in seen),
        missing=found.left_out["missing"],
        unasked=found.left_out["unasked"],
        silent=found.left_out["silent"],
    )


_WIDE = PromptPart("extent", "wide")


def _in_order(told: Sequence[TouchedTrial[PromptPart]], places: Sequence[PromptPart]) -> list[PromptPart]:
    """The parts that are touched: those with a place as they stand, the others by kind and name."""
    seen = {part for each in told for part in each.touched}
    order = ("added", *_AS_A_WHOLE)
    named = sorted(
        (part for part in seen if part.start < 0), key=lambda part: (order.index(part.kind), part.label)
    )
    return [*(part for part in places if part in seen), *named]


def parts_of(prompt: Prompt) -> list[PromptPart]:
    """The words, sentences and messages of a prompt, in their order."""
    text = prompt.text
    tokens = Tokens(text)
    parts = [
        PromptPart("word", text[start:end], start, end)
        for start, end in zip(tokens.starts, tokens.ends, strict=True)
    ]
    spans = [(span.start, span.end, span.kind) for span in prompt.spans]
    walls = [(start, end) for start, end, kind in spans if kind in {"separator", "message"}]
    sentences = Draft(text, [(start, end) for start, end, _ in spans], walls=walls).sentences
    if len(sentences) > 1:
        parts += [
            PromptPart("sentence", " ".join(text[each.start : each.end].split()), each.start, each.end)
            for each in sentences
        ]
    pieces = layout(prompt.messages)[1] if prompt.is_chat else ()
    if len(pieces) > 1:
        parts += [
            PromptPart(
                "message",
                str(prompt.messages[each.message]["role"]),
                each.start,
                each.end,
                each.message + 1,
                len(prompt.messages),
            )
            for each in pieces
        ]
    return parts


def touched_by(mutation: Mutation, places: Sequence[PromptPart], tokens: Tokens) -> list[PromptPart]:
    """The parts that a mutation touches.

    Args:
        mutation: Over the text that ``places`` and ``tokens`` are of.
        places: As :func:`parts_of` gives them: the words come first.
        tokens: The words.
    """
    spans = touched_spans(mutation.edits)
    found = [places[place] for place in touched_places(mutation.edits, tokens)]
    found += [
        part for part in places[len(tokens) :] if any(touches(span, (part.start, part.end)) for span in spans)
    ]
    found += [PromptPart("added", where) for where in dict.fromkeys(_added(mutation))]
    found += [PromptPart("operator", name) for name in dict.fromkeys(cluster(mutation).split("+"))]
    return [*found, PromptPart("dimension", mutation.dimension)]


def _added(mutation: Mutation) -> Iterable[str]:
    """Where a mutation adds text and touches none."""
    length = len(mutation.original.rstrip())
    for edit in mutation.edits:
        if edit.start == edit.end and edit.replacement(mutation.original).strip():
            yield (
                "at-start"
                if not mutation.original[: edit.start].strip()
                else "at-end"
                if edit.start >= length
                else "in-between"
            )
