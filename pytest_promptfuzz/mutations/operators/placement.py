"""Operators that move whole parts of a prompt: the context, the output instructions, and what stands side by side.

The other positional operators move a sentence or a text where every word around it stays right by itself. These move
parts with all that belongs to them, and turn the words that point from one to another.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.analysis.answer_shape import shown_answers
from pytest_promptfuzz.mutations.analysis.order import order_counts
from pytest_promptfuzz.mutations.analysis.prompt_parts import Part, goes_on, parts_of, pointers, turned
from pytest_promptfuzz.mutations.engine.edits import Edit, Ref, reorder
from pytest_promptfuzz.mutations.engine.operator import Operator, operator
from pytest_promptfuzz.prompts.slots import Slots
from pytest_promptfuzz.text.expressions import expression, like

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.mutations.analysis.prompt_parts import PartRole
    from pytest_promptfuzz.randomness import Rng


def _numbers(parts: Sequence[Part], role: PartRole) -> list[int]:
    return [number for number, part in enumerate(parts) if part.role == role]


def _before(parts: Sequence[Part], role: PartRole, other: PartRole) -> list[int]:
    """The order in which the parts of one role stand right before the first of another."""
    moving = _numbers(parts, role)
    rest = [number for number in range(len(parts)) if number not in moving]
    at = next((index for index, number in enumerate(rest) if parts[number].role == other), len(rest))
    return [*rest[:at], *moving, *rest[at:]]


def _after(parts: Sequence[Part], role: PartRole, other: PartRole) -> list[int]:
    """The order in which the parts of one role stand right after the last of another."""
    moving = _numbers(parts, role)
    rest = [number for number in range(len(parts)) if number not in moving]
    at = max((index + 1 for index, number in enumerate(rest) if parts[number].role == other), default=0)
    return [*rest[:at], *moving, *rest[at:]]


def _first(parts: Sequence[Part], role: PartRole) -> list[int]:
    moving = _numbers(parts, role)
    return [*moving, *(number for number in range(len(parts)) if number not in moving)]


def _last(parts: Sequence[Part], role: PartRole) -> list[int]:
    moving = _numbers(parts, role)
    return [*(number for number in range(len(parts)) if number not in moving), *moving]


def _rearranged(draft: Draft, parts: Sequence[Part], order: Sequence[int]) -> list[Edit]:
    """The parts in an order, a blank line between them; nothing where they stand so, or a word would point wrongly."""
    if list(order) == sorted(order) or goes_on(draft, parts):
        return []
    found = pointers(draft, parts)
    if found is None:
        return []
    swaps = sorted(turned(draft, found, order))
    newline = "\r\n" if "\r\n" in draft.text else "\n"
    pieces: list[str | Ref] = []
    for place, number in enumerate(order):
        if place:
            gap = draft.text[parts[place - 1].end : parts[place].start]
            pieces.append(gap if gap.count("\n") > 1 else newline * 2)
        pieces += _with_swaps(parts[number], swaps)
    return [Edit(parts[0].start, parts[-1].end, tuple(pieces))]


def _with_swaps(part: Part, swaps: Sequence[tuple[int, int, str]]) -> Iterator[str | Ref]:
    position = part.start
    for start, end, word in swaps:
        if part.start <= start < part.end:
            yield Ref(position, start)
            yield word
            position = end
    yield Ref(position, part.end)


def _placed(
    draft: Draft, role: PartRole, order: Callable[[Sequence[Part]], list[int]]
) -> Iterator[list[Edit]]:
    """Each section that holds parts of a role and others, with its parts in an order."""
    for parts in draft.once(parts_of):
        if len({part.role for part in parts}) > 1 and _numbers(parts, role):
            edits = _rearranged(draft, parts, order(parts))
            if edits:
                yield edits


# ``Here is the text:`` above a text, once the text stands first.
_HERE = expression(r"\A(?P<word>Here)(?= (?:is|are)\b)")
_DOWN = expression(r"\b(?:following|below)\b", re.IGNORECASE | re.ASCII)


def _inverted(draft: Draft) -> Iterator[list[Edit]]:
    """The data that a prompt begins with, put before the sentence that introduces it."""
    for parts in draft.once(parts_of):
        if not parts or parts[0].role != "context" or not parts[0].items:
            continue
        first = parts[0]
        said = draft.free[first.start : first.lead]
        match = _HERE.search(said) or _DOWN.search(said)
        if match is None or "\n" in said:
            continue
        start, end = first.start + match.start(), first.start + match.end()
        stop = first.start + len(said.rstrip(" \t:."))
        newline = "\r\n" if "\r\n" in draft.text else "\n"
        lead: tuple[str | Ref, ...] = (
            Ref(first.start, start),
            like(match[0], "above"),
            Ref(end, stop),
            ".",
        )
        data = Ref(first.items[0][0], first.end)
        yield [Edit(first.start, first.end, (data, newline * 2, *lead))]


def _context_to_start(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    yield from _placed(draft, "context", lambda parts: _first(parts, "context"))
    yield from _inverted(draft)


def _context_to_middle(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    return _placed(draft, "context", lambda parts: _before(parts, "context", "output"))


def _context_to_end(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    return _placed(draft, "context", lambda parts: _last(parts, "context"))


def _output_to_start(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    return _placed(draft, "output", lambda parts: _first(parts, "output"))


def _output_to_middle(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    return _placed(draft, "output", lambda parts: _after(parts, "output", "context"))


def _output_to_end(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    return _placed(draft, "output", lambda parts: _last(parts, "output"))


def _keys_reordered(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    shown = draft.once(shown_answers)
    spans = [span for _, _, span in shown[0].shape.pairs] if shown else []
    inner = shown[0].shape.pairs[0][1] if len(spans) == 1 else None
    spans = _inner_spans(inner) or spans
    return _orders(spans, rng)


def _inner_spans(shape: object) -> list[tuple[int, int]]:
    """The pairs of the one object that a list holds, where the whole has a single key."""
    items = getattr(shape, "items", ())
    pairs = getattr(items[0], "pairs", ()) if isinstance(items, tuple) and len(items) == 1 else ()
    return [span for _, _, span in pairs]


def _orders(spans: Sequence[tuple[int, int]], rng: Rng) -> Iterator[list[Edit]]:
    """The spans from last to first, then in random orders; never as they stand."""
    if len(spans) < 2:
        return
    kept = list(range(len(spans)))
    yield [reorder(spans, kept[::-1])]
    while True:
        order = rng.shuffled(kept)
        yield [reorder(spans, order)] if order != kept else []


def _side_by_side(draft: Draft) -> list[tuple[tuple[int, int], ...]]:
    """What stands side by side in each part, where nothing speaks of an order; of data, what fills a slot each."""
    if draft.once(order_counts):
        return []
    return [
        part.items
        for parts in draft.once(parts_of)
        for part in parts
        if len(part.items) > 1
        and (part.role == "task" or all(Slots([draft.text[slice(*each)]]).names for each in part.items))
    ]


def _items_shuffled(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    groups = draft.once(_side_by_side)
    while groups:
        items = rng.choice(groups)
        order = rng.shuffled(range(len(items)))
        yield [reorder(items, order)] if order != sorted(order) else []


def _items_reversed(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    groups = draft.once(_side_by_side)
    if groups:
        yield [reorder(items, range(len(items) - 1, -1, -1)) for items in groups]
    if len(groups) > 1:
        for items in groups:
            yield [reorder(items, range(len(items) - 1, -1, -1))]


def _moves(
    name: str,
    propose: Callable[[Draft, Rng], Iterator[list[Edit]]],
    severity: float,
    summary: str,
    example: tuple[str, str],
    touches: tuple[str, ...] = (),
) -> Operator:
    return operator(
        name,
        dimension="structural",
        severity=severity,
        preserves="conditional",
        languages=("en",),
        touches=touches,
        sources=("S2",),
        summary=summary,
        example=example,
        trusted=True,
        default=False,
    )(propose)


_GIVEN = "You are given the following case:\n{case}"
_TASK = "Sum up the case."
_FORM = 'Respond in this JSON format:\n{"a": <x>, "b": <y>}'
_CASE = f"{_GIVEN}\n\n{_TASK}\n\n{_FORM}"

context_to_start = _moves(
    "context-to-start",
    _context_to_start,
    0.7,
    "S2's Context: what the prompt works on, put first; if it is, before the sentence that introduces it.",
    (_CASE, f"{{case}}\n\nYou are given the above case.\n\n{_TASK}\n\n{_FORM}"),
)
context_to_middle = _moves(
    "context-to-middle",
    _context_to_middle,
    0.7,
    "S2's Context: what the prompt works on, put between the task and the output instructions.",
    (_CASE, f"{_TASK}\n\n{_GIVEN}\n\n{_FORM}"),
)
context_to_end = _moves(
    "context-to-end",
    _context_to_end,
    0.7,
    "S2's Context: what the prompt works on, put last, with the words that point at it.",
    (_CASE, f"{_TASK}\n\n{_FORM}\n\n{_GIVEN}"),
)
output_to_start = _moves(
    "output-to-start",
    _output_to_start,
    0.6,
    "S2's Output Instructions: put first, with the structure they show.",
    (_CASE, f"{_FORM}\n\n{_GIVEN}\n\n{_TASK}"),
)
output_to_middle = _moves(
    "output-to-middle",
    _output_to_middle,
    0.6,
    "S2's Output Instructions: put between the context and the task, with the structure they show.",
    (_CASE, f"{_GIVEN}\n\n{_FORM}\n\n{_TASK}"),
)
output_to_end = _moves(
    "output-to-end",
    _output_to_end,
    0.6,
    "S2's Output Instructions: put last, with the structure they show.",
    (f"{_FORM}\n\n{_GIVEN}\n\n{_TASK}", _CASE),
)
output_keys_reorder = _moves(
    "output-keys-reorder",
    _keys_reordered,
    0.4,
    "S2's Output Instructions: the keys of the structure that the prompt shows in another order.",
    (_CASE, _CASE.replace('"a": <x>, "b": <y>', '"b": <y>, "a": <x>')),
    ("code", "json"),
)
items_shuffle = _moves(
    "items-shuffle",
    _items_shuffled,
    0.6,
    "S2's Reordering: documents, fields or list items in a random order; not where a prompt speaks of an order.",
    (
        "Cover these points:\n- the cause\n- the cost\n\n{report}",
        "Cover these points:\n- the cost\n- the cause\n\n{report}",
    ),
)
items_reverse = _moves(
    "items-reverse",
    _items_reversed,
    0.6,
    "S2's Reordering: documents, fields or list items from last to first; not where a prompt speaks of an order.",
    (
        "Cover these points:\n- the cause\n- the cost\n\n{report}",
        "Cover these points:\n- the cost\n- the cause\n\n{report}",
    ),
)
