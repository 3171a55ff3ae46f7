"""The unmutated prompt asked once more: whether it reaches the goal by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.evaluating.allowance import Ends
from pytest_promptfuzz.evaluating.classify import infrastructure_error
from pytest_promptfuzz.evaluating.instability import in_one_line
from pytest_promptfuzz.evaluating.judge import shown, subject_of
from pytest_promptfuzz.evaluating.objectives import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_promptfuzz.evaluating.repeating import Asked
    from pytest_promptfuzz.running.run import Run


def steady(asked: Asked, runs: Iterable[Run], where: str, reached: Callable[[Answer], bool]) -> int:
    """How many of the runs were answered; none may reach the goal.

    Args:
        asked: The case.
        runs: Of the unmutated prompt, not the first.
        where: The test, for messages.
        reached: Whether an answer reaches the goal.

    Raises:
        Ends: One does.
        UsageError: The body returned something that cannot be compared.
    """
    told = 0
    for run in runs:
        answer = _answer(asked, run, where)
        if answer is None:
            continue
        told += 1
        if reached(answer):
            raise Ends(
                "noisy",
                f"asked again, the unmutated prompt reached the goal itself ({answer.value or answer.why!r:.80}), so "
                "that no change can be blamed. Make the target's answers steadier (temperature 0), or choose an "
                "objective that its noise does not reach",
            )
    return told


def _answer(asked: Asked, run: Run, where: str) -> Answer | None:
    """What the unmutated prompt was answered this time; ``None`` where nothing can be told of it."""
    error, judge = run.exception, asked.judge
    if infrastructure_error(run) or (error is not None and judge.skips(error)):
        return None
    subject = subject_of(run, where, asked.baseline.run)
    if error is not None:  # the test's own check fails on the unmutated prompt
        return Answer(shown(subject), "deviation", 0.0, in_one_line(error))
    if subject is None or judge.oracle_only:  # its own checks passed, and that is all there is to see
        return Answer(shown(subject))
    found = judge.compare(asked.baseline.subject, subject)
    return Answer(shown(subject), found.outcome, found.similarity, found.explanation)
