"""A run beside the run before it (``gate="no-worse"``): which trials are the same, and what to say where none are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.scoring.gates import tells
from pytest_promptfuzz.scoring.paired import Paired
from pytest_promptfuzz.scoring.repeats import ALPHA
from pytest_promptfuzz.scoring.robustness import Robustness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.job import Job
    from pytest_promptfuzz.scoring.score import TrialOutcome
    from pytest_promptfuzz.scoring.trial import Trial

    Key = tuple[str, str, int]
    Outcomes = Mapping[Key, TrialOutcome]

_POINT = "so the gate is 'point'"


def keyed(trials: Iterable[Trial], names: Sequence[str]) -> dict[Key, TrialOutcome]:
    """The outcomes that score and gate are of, by input, trial and sample.

    Args:
        trials: Of all cases.
        names: How each case is called; empty names stand for its number.
    """
    return {
        (named(trial.case, names), trial.id, trial.sample): trial.outcome
        for trial in trials
        if trial.mutation.relation == "invariance"
    }


def named(case: int, names: Sequence[str]) -> str:
    """How a case is called, run after run.

    >>> named(1, ["", ""]), named(1, [])
    ('1', '1')
    """
    return (names[case] if case < len(names) else "") or str(case)


def outcomes_of(before: Robustness | Mapping[str, Any], where: str) -> Outcomes:
    """The outcomes of a result, or of a report of one.

    Raises:
        UsageError: It is neither.
    """
    if isinstance(before, Robustness):
        return keyed(before.trials, before.cases)
    try:
        return {
            (named(each["case"], before["inputs"]), each["id"], each["sample"]): each["outcome"]
            for each in before["trials"]
            if each["relation"] == "invariance"
        }
    except (KeyError, TypeError, IndexError):
        raise UsageError(
            f"{where}: before= must be the result of a run, or its JSON report, not {before!r:.60}."
        ) from None


@dataclass(frozen=True, slots=True)
class Before:
    """A run before, or that there is none.

    Attributes:
        outcomes: Its outcomes; ``None`` where none is stored.
        store: How to have one that is stored, for messages.
    """

    outcomes: Outcomes | None = None
    store: str = "keep a result and give it as before="


NOTHING = Before()
"""There is no run before."""


def paired_of(job: Job) -> Paired | None:
    """The trials of a test beside those of the run before; ``None`` where it is not to be held against one."""
    if job.contract.gate != "no-worse" or job.before.outcomes is None:
        return None
    return Paired.of(job.before.outcomes, keyed(job.trials, job.names), alpha=ALPHA / job.session.tests)


def said_of(job: Job) -> list[str]:
    """That the verdict is of one trial; why a test whose gate is ``no-worse`` is not held against the run before."""
    if job.only is not None:
        return [f"only trial {job.only} was run: the verdict covers it alone"]
    if job.contract.gate != "no-worse":
        return []
    found, store = paired_of(job), job.before.store
    if found is None:
        why = f"there is no stored run to compare with, {_POINT}; {store}"
    elif not found.pairs:
        why = f"the stored run made none of these trials (another prompt, plan or seed), {_POINT}; {store}"
    elif not tells(found):
        why = (
            f"{found.pairs} trials could not show that a run is worse (p is at least {found.least:.2g}, and the "
            f"significance level is {found.alpha:.2g}), {_POINT}; more mutations could"
        )
    else:
        return []
    return [f"gate='no-worse': {why}"]
