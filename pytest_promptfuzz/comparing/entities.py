"""Slot filling measured by the entities that were found."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.rouge import rouge_l
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.wire.paths import child, equal

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUGE_AT = 0.7
"""ROUGE-L F1 from which free text counts as found."""


@dataclass(frozen=True, slots=True)
class EntityScore:
    """How well slots were filled.

    Attributes:
        precision: Share of the found entities that are right, 0..1; 1 where none was found and none expected.
        recall: Share of the expected entities that were found, 0..1; the same.
        f1: Their harmonic mean, 0..1.
        wrong: The paths of slots with another value.
        missing: The paths of slots that are not filled and should be.
        spurious: The paths of slots that are filled and should not be.
    """

    precision: float
    recall: float
    f1: float
    wrong: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    spurious: tuple[str, ...] = ()


def entity_f1(
    expected: Mapping[str, Any],
    found: Mapping[str, Any],
    *,
    choices: Collection[str] = (),
    rouge_at: float = ROUGE_AT,
) -> EntityScore:
    """Entity F1 of filled slots.

    An entity is a slot with one value; a slot with a list holds several, matched one to one. Keys count exactly.
    Numbers, booleans and the values of ``choices`` count if they are equal, free text from a ROUGE-L F1 of ``rouge_at``
    on. ``F1 = 2 TP / (|expected| + |found|)``, precision ``TP / |found|``, recall ``TP / |expected|``. ``None`` and
    empty values are slots that are not filled; slots within slots have paths.

    Args:
        expected: The right values by slot: of the baseline, or gold.
        found: The values to be measured.
        choices: Slots, by key, whose values are of a closed set.
        rouge_at: 0..1.

    Raises:
        UsageError: An argument is of the wrong type or out of range.

    Source: the slot-filling measure of enterprise benchmarks of prompt sensitivity: keys exact, choice values exact,
    free text by ROUGE-L F1 of at least 0.7.

    >>> entity_f1({"name": "Ada", "plan": "pro"}, {"name": "Ada", "plan": "free"}, choices=["plan"]).f1
    0.5
    """
    for name, value in (("expected", expected), ("found", found)):
        if not isinstance(value, Mapping):
            raise UsageError(f"entity_f1: {name}={value!r:.80} must be a mapping of slot to value")
    if isinstance(choices, str) or not isinstance(choices, Collection):
        raise UsageError(f"entity_f1: choices={choices!r:.80} must be a list of slots")
    if isinstance(rouge_at, bool) or not isinstance(rouge_at, (int, float)) or not 0 <= rouge_at <= 1:
        raise UsageError(f"entity_f1: rouge_at={rouge_at!r:.80} must be a number from 0 to 1")
    one, two = _slots(expected), _slots(found)
    right = 0
    wrong, missing, spurious = [], [], []
    for path in [*one, *(path for path in two if path not in one)]:
        key, wanted = one.get(path, ("", []))
        _, given = two.get(path, ("", []))
        matched = _matched(wanted, given, 1.0 if key in choices else rouge_at)
        right += matched
        if matched < min(len(wanted), len(given)):
            wrong.append(path)
        if len(given) < len(wanted):
            missing.append(path)
        elif len(wanted) < len(given):
            spurious.append(path)
    n_expected, n_found = (sum(len(values) for _, values in each.values()) for each in (one, two))
    empty = not n_expected and not n_found
    return EntityScore(
        precision=right / n_found if n_found else float(empty),
        recall=right / n_expected if n_expected else float(empty),
        f1=2 * right / (n_expected + n_found) if not empty else 1.0,
        wrong=tuple(wrong),
        missing=tuple(missing),
        spurious=tuple(spurious),
    )


def _slots(value: Mapping[str, Any]) -> dict[str, tuple[str, list[Any]]]:
    """Path to key and values of the slots that are filled."""
    found: dict[str, tuple[str, list[Any]]] = {}
    for path, key, item in _filled(value, "$"):
        found.setdefault(path, (key, []))[1].append(item)
    return found


def _filled(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, Any]]:
    for key, item in value.items():
        here = child(path, str(key))
        for each in item if isinstance(item, list) else [item]:
            if isinstance(each, Mapping):
                yield from _filled(each, here)
            elif each not in (None, "", []):
                yield here, str(key), each


def _matched(wanted: list[Any], given: list[Any], rouge_at: float) -> int:
    """How many values find a partner, the likest first."""
    alike = sorted(
        (-likeness, at, place)
        for at, one in enumerate(wanted)
        for place, two in enumerate(given)
        if (likeness := _likeness(one, two, rouge_at)) >= rouge_at
    )
    used: tuple[set[int], set[int]] = set(), set()
    for _, at, place in alike:
        if at not in used[0] and place not in used[1]:
            used[0].add(at)
            used[1].add(place)
    return len(used[0])


def _likeness(one: Any, two: Any, rouge_at: float) -> float:
    if equal(one, two):
        return 1.0
    if isinstance(one, str) and isinstance(two, str):
        return rouge_l(one, two) if rouge_at < 1 else 0.0
    if isinstance(one, str) or isinstance(two, str):
        return float(_written(one) == _written(two))  # "12" and 12 are one value
    return 0.0


def _written(value: Any) -> str:
    return value.strip().casefold() if isinstance(value, str) else json.dumps(value)
