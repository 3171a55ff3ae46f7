"""A helper for generators that yield questions: another generator answers each question."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

Question = TypeVar("Question")
Answer = TypeVar("Answer")
Result = TypeVar("Result")
Step = TypeVar("Step")
Sent = TypeVar("Sent")


def relayed(
    asking: Generator[Question, Answer, Result],
    answer: Callable[[Question], Generator[Step, Sent, Answer]],
) -> Generator[Step, Sent, Result]:
    """Have every question of a generator answered, and return what it returns.

    An exception that keeps a question from being answered is raised in ``asking``, where the question was asked.

    Args:
        asking: Yields questions, and is sent the answer to each.
        answer: Answers one question; what it yields is yielded here, and what it is sent comes from here.
    """
    try:
        question = next(asking)
        while True:
            try:
                told = yield from answer(question)
            except Exception as error:  # noqa: BLE001 - whoever asked may know what to do without an answer
                question = asking.throw(error)
            else:
                question = asking.send(told)
    except StopIteration as stop:
        return cast("Result", stop.value)
    finally:
        asking.close()
