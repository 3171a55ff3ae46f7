"""The unmutated prompt asked once more: what an objective sees of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.evaluating.classify import infrastructure_error
from pytest_promptfuzz.evaluating.instability import in_one_line
from pytest_promptfuzz.evaluating.judge import shown, subject_of
from pytest_promptfuzz.evaluating.objectives import Answer

if TYPE_CHECKING:
    from pytest_promptfuzz.evaluating.repeating import Asked
    from pytest_promptfuzz.running.run import Run


def unmutated_answer(asked: Asked, run: Run, where: str) -> Answer | None:
    """What the unmutated prompt was answered this time; ``None`` where nothing can be told of it.

    Args:
        asked: The case.
        run: Of the unmutated prompt, not the first.
        where: The test, for messages.

    Raises:
        UsageError: The body returned something that cannot be compared.
    """
    error, judge = run.exception, asked.judge
    if infrastructure_error(run, baseline=None) or (error is not None and judge.skips(error)):
        return None
    subject = subject_of(run, where)
    if error is not None:  # the test's own check fails on the unmutated prompt
        return Answer(shown(subject), "deviation", 0.0, in_one_line(error))
    if subject is None or judge.oracle_only:
        return None if subject is None else Answer(shown(subject))
    found = judge.compare(asked.baseline.subject, subject)
    return Answer(shown(subject), found.outcome, found.similarity, found.explanation)
