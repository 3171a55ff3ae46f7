"""Which words, sentences, messages, operators and dimensions matter to the answers, from trials that were made."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_promptfuzz.mutations.draft import Draft
from pytest_promptfuzz.mutations.measuring import Tokens
from pytest_promptfuzz.mutations.touching import touched_places, touched_spans, touches
from pytest_promptfuzz.prompts.messages import layout
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.scoring.causes import ALPHA, Told, causes, worst_first
from pytest_promptfuzz.scoring.trial import cluster

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.scoring.causes import Cause
    from pytest_promptfuzz.scoring.trial import Trial

Kind = Literal["word", "sentence", "message", "added", "operator", "dimension", "extent"]
_IN_PLACE = ("word", "sentence", "message", "added")
_AS_A_WHOLE = ("extent", "operator", "dimension")
_DECIDED = frozenset({"equivalent", "minor", "deviation"})
_NOT_STORED = frozenset({"not-allowed", "not-recorded"})


class Part(NamedTuple):
    """What a trial may touch.

    Attributes:
        kind: What it is.
        label: How it is called: its text, or its name.
        start: Where it begins in the prompt; -1 for what has no place.
        end: Where it ends.
    """

    kind: Kind
    label: str
    start: int = -1
    end: int = -1


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
    causes: tuple[Cause[Part], ...]
    told: int
    broken: int
    wide: int
    wide_broken: int
    untouched: tuple[tuple[int, int], ...]
    missing: int
    unasked: int
    silent: int

    @property
    def mattering(self) -> list[Cause[Part]]:
        """The causes that are claimed."""
        return [each for each in self.causes if each.finding == "matters"]


@dataclass(slots=True)
class _Asked:
    mutation: Mutation
    inputs: dict[int, list[bool]] = field(default_factory=dict)

    @property
    def broken(self) -> bool:
        """Whether most answers to one of its inputs deviate."""
        return any(2 * sum(each) > len(each) for each in self.inputs.values())


@dataclass(slots=True)
class _Gathered:
    source: Prompt
    asked: dict[str, _Asked] = field(default_factory=dict)
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
        asked = found.asked.setdefault(trial.id, _Asked(mutation))
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
    narrow: list[Told[Part]] = []
    every: list[Told[Part]] = []
    for each, parts, is_wide in zip(found.asked.values(), touched, wide, strict=True):
        extent = [_WIDE] if is_wide else []
        whole = frozenset([*extent, *(part for part in parts if part.kind in _AS_A_WHOLE)])
        every.append(Told(whole, int(each.broken), 1))
        if not is_wide:
            here = frozenset(part for part in parts if part.kind in _IN_PLACE)
            narrow.append(Told(here, int(each.broken), 1))
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


_WIDE = Part("extent", "more than half of the words")


def _in_order(told: Sequence[Told[Part]], places: Sequence[Part]) -> list[Part]:
    """The parts that are touched: those with a place as they stand, the others by kind and name."""
    seen = {part for each in told for part in each.touched}
    order = ("added", *_AS_A_WHOLE)
    named = sorted(
        (part for part in seen if part.start < 0), key=lambda part: (order.index(part.kind), part.label)
    )
    return [*(part for part in places if part in seen), *named]


def parts_of(prompt: Prompt) -> list[Part]:
    """The words, sentences and messages of a prompt, in their order."""
    text = prompt.text
    tokens = Tokens(text)
    parts = [
        Part("word", text[start:end], start, end)
        for start, end in zip(tokens.starts, tokens.ends, strict=True)
    ]
    spans = [(span.start, span.end, span.kind) for span in prompt.spans]
    walls = [(start, end) for start, end, kind in spans if kind in {"separator", "message"}]
    sentences = Draft(text, [(start, end) for start, end, _ in spans], walls=walls).sentences
    if len(sentences) > 1:
        parts += [
            Part("sentence", " ".join(text[each.start : each.end].split()), each.start, each.end)
            for each in sentences
        ]
    pieces = layout(prompt.messages)[1] if prompt.is_chat else ()
    if len(pieces) > 1:
        parts += [
            Part(
                "message",
                f"{prompt.messages[each.message]['role']} message, {each.message + 1} of {len(prompt.messages)}",
                each.start,
                each.end,
            )
            for each in pieces
        ]
    return parts


def touched_by(mutation: Mutation, places: Sequence[Part], tokens: Tokens) -> list[Part]:
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
    found += [Part("added", where) for where in dict.fromkeys(_added(mutation))]
    found += [Part("operator", name) for name in dict.fromkeys(cluster(mutation).split("+"))]
    return [*found, Part("dimension", mutation.dimension)]


def _added(mutation: Mutation) -> Iterable[str]:
    """Where a mutation adds text and touches none."""
    length = len(mutation.original.rstrip())
    for edit in mutation.edits:
        if edit.start == edit.end and edit.replacement(mutation.original).strip():
            yield (
                "text at the start"
                if not mutation.original[: edit.start].strip()
                else "text at the end"
                if edit.start >= length
                else "text in between"
            )
