"""Outcomes of a run's trials, a letter each: equivalent, minor, deviation, or ``?`` without an outcome.

``{"0": {"07ebbef8af45": "EE"}}`` has for each input, by its name (by its number where it has none), the outcome of each
trial by its ID, a letter for each sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.scoring.score import TrialOutcome

    Key = tuple[str, str, int]
    Outcomes = Mapping[Key, TrialOutcome]

Letters = Mapping[str, Mapping[str, str]]
"""By input and trial."""

_LETTERS = {"equivalent": "E", "minor": "M", "deviation": "D"}
_OUTCOMES: Mapping[str, TrialOutcome] = {
    "E": "equivalent",
    "M": "minor",
    "D": "deviation",
    "?": "undecided",
}


def letters_of(outcomes: Iterable[tuple[Key, str]]) -> dict[str, dict[str, str]]:
    """Outcomes by input, trial and sample, in order, as letters.

    >>> letters_of([(("0", "07ebbef8af45", 0), "equivalent"), (("0", "07ebbef8af45", 1), "error")])
    {'0': {'07ebbef8af45': 'E?'}}
    """
    found: dict[str, dict[str, str]] = {}
    for (case, trial, _), outcome in outcomes:
        of = found.setdefault(case, {})
        of[trial] = of.get(trial, "") + _LETTERS.get(outcome, "?")
    return found


def outcomes_of(letters: Letters) -> Outcomes:
    """The outcomes that letters stand for, by input, trial and sample."""
    return {
        (case, trial, sample): _OUTCOMES[letter]
        for case, trials in letters.items()
        for trial, found in trials.items()
        for sample, letter in enumerate(found)
    }


def are_letters(value: Any) -> bool:
    """Whether a value has the shape of them."""
    return isinstance(value, Mapping) and all(
        isinstance(trials, Mapping)
        and all(isinstance(found, str) and set(found) <= set(_OUTCOMES) for found in trials.values())
        for trials in value.values()
    )
