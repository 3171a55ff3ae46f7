"""The answers of one case, by number, and what every two of them are to each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import PartError, TargetError
from pytest_promptfuzz.evaluating.judge import shown, subject_of
from pytest_promptfuzz.scoring.matrix import CREDITS, Matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_promptfuzz.evaluating.judge import Judge
    from pytest_promptfuzz.running.run import Run


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a run came to: what it is compared by, the same as plain data, and whether the body failed."""

    subject: Any
    value: Any
    failed: bool


@dataclass(slots=True)
class _Credits:
    """The credit of two answers by number, each pair of texts compared once.

    It knows nothing of the matrix that asks it, so that what a test leaves behind is gone with its last use.
    """

    judge: Judge
    answers: list[_Answer] = field(default_factory=list)
    _compared: dict[tuple[int, int], int | None] = field(default_factory=dict)

    def __call__(self, one: int, other: int) -> int | None:
        first, second = self.answers[one], self.answers[other]
        if first.failed != second.failed:
            return CREDITS["deviation"]
        if not self.by_text(one, other):
            return CREDITS["equivalent"] if first.value == second.value else CREDITS["deviation"]
        # Equal answers are many, and compared once.
        pair = (self._first_like(one), self._first_like(other))
        if pair not in self._compared:
            self._compared[pair] = CREDITS.get(self.compare(*pair))
        return self._compared[pair]

    def compare(self, one: int, other: int) -> str:
        """The outcome of two answers; ``error`` where a part of the user's own or a judge failed, as a trial says."""
        try:
            return self.judge.likeness(self.answers[one].subject, self.answers[other].subject)
        except (PartError, TargetError):
            return "error"

    def by_text(self, one: int, other: int) -> bool:
        """Whether two runs are compared by what they answered; otherwise one failed, or there is nothing to compare."""
        both = self.answers[one], self.answers[other]
        told = all(each.subject is not None for each in both) and not self.judge.oracle_only
        return told and both[0].failed == both[1].failed

    def _first_like(self, number: int) -> int:
        value = self.answers[number].value
        return next(place for place, each in enumerate(self.answers) if each.value == value)


class Answers:
    """Answers of one case, compared only where a score asks for a pair.

    Args:
        judge: Compares them.
        baseline: The run that shows which calls the others are matched with.

    Attributes:
        judge: As above.
        matrix: Their credits.
    """

    def __init__(self, judge: Judge, baseline: Run) -> None:
        self.judge = judge
        self._baseline = baseline
        self._credits = _Credits(judge)
        self.matrix = Matrix(self._credits)

    def add(self, run: Run) -> int:
        """The number of the answer of a run."""
        subject = None if self.judge.oracle_only else subject_of(run, self.judge.where, self._baseline)
        answers = self._credits.answers
        answers.append(_Answer(subject, shown(subject), run.exception is not None))
        return len(answers) - 1

    def value(self, number: int) -> Any:
        """An answer as plain data; ``None`` where nothing is compared."""
        return self._credits.answers[number].value

    def aside(self, hide: Callable[[Any], Any]) -> Answers:
        """The same answers as they would be stored, compared without asking a judge."""
        other = Answers(replace(self.judge, bench=None), self._baseline)
        for each in self._credits.answers:
            value = hide(each.value)
            same = value == each.value
            other._credits.answers.append(_Answer(each.subject if same else value, value, each.failed))
        return other

    def stored(self, value: Any, *, failed: bool) -> int:
        """The number of an answer that was stored as plain data."""
        self._credits.answers.append(_Answer(value, value, failed))
        return len(self._credits.answers) - 1

    def between(self, one: int, other: int) -> int | None:
        """The credit of two answers, the first of which is what the other is compared with, in tenths."""
        return self._credits(one, other)

    def failed(self, numbers: Iterable[int]) -> int:
        """In how many of these runs the body failed."""
        return sum(self._credits.answers[number].failed for number in numbers)

    def ahead(self) -> None:
        """Have a judge asked at once about all pairs that a look at the answers asks for."""
        bench = self.judge.bench
        if bench is None or self.judge.oracle_only:
            return
        matrix = self.matrix
        again = [*matrix.baseline, *(each for answers in matrix.repeated.values() for each in answers)]
        pairs = [*combinations(sorted(again), 2)]
        pairs += [(one, other) for one in matrix.baseline for answers in matrix.mutated for other in answers]
        with bench.ahead():
            for one, other in pairs:
                if self._credits.by_text(one, other):
                    self._credits.compare(one, other)
