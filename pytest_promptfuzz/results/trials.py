"""`Trial`: one mutation and what became of it; `Spent`: what runs took."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_promptfuzz.providers.requests import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.comparing.comparison import Comparison
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.stats.scores import TrialOutcome


_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class TrialError:
    """Why a trial says nothing about the prompt.

    ``kind`` is ``not-exercised``, ``skipped``, ``configuration``, ``budget``, or a kind of ``TargetError``. ``code`` is
    that of the note that ``message`` was made from; empty where somebody else wrote it.
    """

    kind: str
    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class OracleFailure:
    """An assertion or another exception of the body, on a mutation that passed on the baseline."""

    type: str
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run of the body took.

    Attributes:
        calls: Model calls sent, repeated ones included.
        hits: Stored answers.
        recorded: Those of them that a recording held.
        seconds: By the clock.
        usage: Tokens.
        retries: Calls that repeated a failed one.
        cost: US dollars, of the calls whose price is known; ``None`` if none is.
        unpriced: Live calls whose price is not known.
        speculated: Calls that were made before the body asked.
        unused: Those of them that it did not ask for.
        judge_calls: Calls of a judge among them.
        judge_hits: Stored answers of a judge among them.
        saved: Calls that trials would have made that were not needed, were none of them in the store.
        controls: Controls that were asked though the test names none.
    """

    calls: int = 0
    hits: int = 0
    seconds: float = 0.0
    usage: Usage = Usage()
    retries: int = 0
    cost: float | None = None
    unpriced: int = 0
    speculated: int = 0
    unused: int = 0
    judge_calls: int = 0
    judge_hits: int = 0
    saved: int = 0
    controls: int = 0
    recorded: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            self.hits + other.hits,
            self.seconds + other.seconds,
            Usage(
                _sum(self.usage.input_tokens, other.usage.input_tokens),
                _sum(self.usage.output_tokens, other.usage.output_tokens),
            ),
            self.retries + other.retries,
            _sum(self.cost, other.cost),
            self.unpriced + other.unpriced,
            self.speculated + other.speculated,
            self.unused + other.unused,
            self.judge_calls + other.judge_calls,
            self.judge_hits + other.judge_hits,
            self.saved + other.saved,
            self.controls + other.controls,
            self.recorded + other.recorded,
        )


def _sum(one: _Number | None, two: _Number | None) -> _Number | None:
    return two if one is None else one if two is None else one + two


@dataclass(frozen=True, slots=True)
class Trial:
    """One mutation, its response and its outcome.

    Attributes:
        mutation: What was changed.
        outcome: The worst of oracle and comparison, or ``error``.
        value: What the body returned (or the last response's text), as plain JSON-able data.
        comparison: Against the baseline; ``None`` for oracle-only tests and errors.
        failure: The oracle's failure, if any.
        error: Why the trial does not count, if it does not.
        case: Which example or input it belongs to, from 0.
        sample: Which answer to the mutation it is, from 0.
        again: Outcomes of the same mutation when it was asked again to tell change from noise; they are not scored.
    """

    mutation: Mutation
    outcome: TrialOutcome
    value: Any = None
    comparison: Comparison | None = None
    failure: OracleFailure | None = None
    error: TrialError | None = None
    spent: Spent = field(default=Spent())
    case: int = 0
    sample: int = 0
    again: tuple[TrialOutcome, ...] = ()

    @property
    def id(self) -> str:
        """A hash of prompt and edits."""
        return self.mutation.id

    @property
    def similarity(self) -> float | None:
        """0..1 for Eq. 2: the comparison's, 0 for a failed oracle, 1 for one that only passed."""
        if self.outcome in {"error", "undecided", "not-needed"}:
            return None
        if self.failure is not None:
            return 0.0
        return 1.0 if self.comparison is None else self.comparison.similarity


def scorable(
    groups: Iterable[Sequence[Trial]],
) -> list[list[tuple[TrialOutcome, float, float | None]]]:
    """Of each trial of each group its outcome, its severity, and its similarity if it has one."""
    return [
        [(trial.outcome, trial.mutation.severity, trial.similarity) for trial in group] for group in groups
    ]


def cluster(mutation: Mutation) -> str:
    """The operators of a mutation without their versions, which mutations that are alike share."""
    return "+".join(each.partition("@")[0] for each in mutation.operators)


# What a test that searches for a counterexample asked, and how near it came.


@dataclass(frozen=True, slots=True)
class Searched:
    """The search of one test, over all of its inputs.

    Attributes:
        method: The method's name.
        objective: What was looked for, by name.
        queries: How often a prompt was asked, unmutated ones included.
        budget: How often it might have been.
        errors: How many of the queries got no answer.
        places: How many places of the prompts could change; those of several inputs are added up.
        found_at: By how many queries the goal was reached first; 0 where it was not.
        loss: How near the best came to the goal, in [0, 1]; 1 is there.
        nearest: Where the goal was not reached, the trial that came nearest; ``None`` where none came nearer than the
            unmutated prompt.
        found: The trial of the counterexample; ``None`` without one.
        known: Whether that was known before: it was asked again, and its input was not searched.
    """

    method: str
    objective: str
    queries: int
    budget: int
    errors: int
    places: int
    found_at: int
    loss: float
    nearest: Trial | None = None
    found: Trial | None = None
    known: bool = False
