"""Measures of quality that a study takes beside those of a judge: entity match, ROUGE-L, and functions of users."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_promptfuzz.comparing.formats import data_text
from pytest_promptfuzz.comparing.metrics import entity_f1, rouge_l
from pytest_promptfuzz.errors import UsageError, not_among

if TYPE_CHECKING:
    from collections.abc import Callable


QualityMeasure: TypeAlias = "Callable[[Any, Any], float]"
"""A function of an answer and of the expected one, as plain data, that returns a number; the more the better."""


def entity_match(answer: Any, expected: Any) -> float:
    """Entity F1 of an answer that holds a JSON object, 0 to 1; 0 for one that holds none.

    Raises:
        UsageError: The expected answer is no mapping of slots.

    >>> entity_match('Here: {"name": "Ada", "plan": "free"}', {"name": "Ada", "plan": "pro"})
    0.5
    """
    wanted, found = _slots(expected, "measures"), _mapping(answer)
    return 0.0 if found is None else entity_f1(wanted, found).f1


def rouge_match(answer: Any, expected: Any) -> float:
    """ROUGE-L F1 of an answer with the expected one, 0 to 1."""
    return rouge_l(str(expected), str(answer))


MEASURES: dict[str, QualityMeasure] = {"entity-match": entity_match, "rouge-l": rouge_match}


def check_measures(given: Any, where: str) -> dict[str, QualityMeasure]:
    """Measures by name: names of ours, or a mapping of names to functions.

    Raises:
        UsageError: There is none of that name, or it is no function.
    """
    if isinstance(given, Mapping):
        if not all(isinstance(name, str) and callable(measure) for name, measure in given.items()):
            raise UsageError(
                f"{where}: measures={given!r:.60}; map names to functions of an answer and the expected one."
            )
        return dict(given)
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) for each in given):
        raise UsageError(f"{where}: measures={given!r:.60}; give a list of names: {', '.join(MEASURES)}.")
    for name in given:
        if name not in MEASURES:
            raise UsageError(f"{where}: {not_among(f'the measure {name!r}', name, MEASURES)}")
    return {name: MEASURES[name] for name in given}


def check_expected(measures: Mapping[str, QualityMeasure], expected: Any, where: str) -> None:
    """See that measures can hold answers against an expected one, before any is asked for.

    Raises:
        UsageError: The expected answer is no mapping of slots, and ``entity-match`` needs one.
    """
    if expected is not None and entity_match in measures.values():
        _slots(expected, where)


def measured_pair(
    measures: Mapping[str, QualityMeasure], expected: Any, before: Any, after: Any
) -> dict[str, tuple[float, float]]:
    """What each measure gives two answers; nothing of an input without an expected answer.

    Raises:
        UsageError: A measure returned no number.
    """
    if expected is None:
        return {}
    found = {}
    for name, measure in measures.items():
        pair = (measure(before, expected), measure(after, expected))
        for number in pair:
            if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):
                raise UsageError(f"measures: {name} returned {number!r:.60}; return a number.")
        found[name] = (round(float(pair[0]), 6), round(float(pair[1]), 6))
    return found


def _slots(expected: Any, where: str) -> Mapping[str, Any]:
    wanted = _mapping(expected)
    if wanted is None:
        raise UsageError(
            f"{where}: entity-match needs expected= as a mapping of slots; {expected!r:.60} is none."
        )
    return wanted


def _mapping(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, str):
        read = data_text.parse(value)
        value = data_text.embedded(value) if read is data_text.MISSING else read
    return value if isinstance(value, Mapping) else None
