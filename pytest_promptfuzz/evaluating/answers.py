"""The answers of one case, by number, and what every two of them are to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import PartError, TargetError
from pytest_promptfuzz.evaluating.judge import shown, subject_of
from pytest_promptfuzz.scoring.matrix import CREDITS, Matrix

if TYPE_CHECKING:
    from pytest_promptfuzz.evaluating.judge import Judge
    from pytest_promptfuzz.running.run import Run


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a run came to: what it is compared by, the same as plain data, and whether the body failed."""

    subject: Any
    value: Any
    failed: bool


@dataclass(slots=True)
class Answers:
    """Answers of one case, compared only where a score asks for a pair.

    Attributes:
        judge: Compares them.
        matrix: Their credits.
    """

    judge: Judge
    matrix: Matrix = field(init=False)
    _answers: list[_Answer] = field(default_factory=list)
    _compared: dict[tuple[int, int], int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.matrix = Matrix(self._credit)

    def add(self, run: Run) -> int:
        """The number of the answer of a run."""
        subject = None if self.judge.oracle_only else subject_of(run, self.judge.where)
        value = shown(subject)
        answer = _Answer(subject, value, run.exception is not None)
        self._answers.append(answer)
        return len(self._answers) - 1

    def _credit(self, one: int, other: int) -> int | None:
        first, second = self._answers[one], self._answers[other]
        if first.failed != second.failed:
            return CREDITS["deviation"]
        if self.judge.oracle_only or first.subject is None or second.subject is None:
            return CREDITS["equivalent"] if first.value == second.value else CREDITS["deviation"]
        # Equal answers are many, and compared once.
        pair = (self._first_like(one), self._first_like(other))
        if pair not in self._compared:
            try:
                outcome: str = self.judge.compare(first.subject, second.subject).outcome
            except (PartError, TargetError):  # a part of the user's own, or a judge; of a trial it is said
                outcome = "error"
            self._compared[pair] = CREDITS.get(outcome)
        return self._compared[pair]

    def _first_like(self, number: int) -> int:
        value = self._answers[number].value
        return next(place for place, each in enumerate(self._answers) if each.value == value)
