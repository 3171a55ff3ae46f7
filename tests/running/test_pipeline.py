"""Work in the background: its order, how much at once, and how it stops."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import CancelledError
from contextvars import ContextVar
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.running.pipeline import Pipeline, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WAIT = 20.0
HERE: ContextVar[str] = ContextVar("here", default="nowhere")


@pytest.fixture
def pipeline() -> Iterator[Callable[..., Pipeline]]:
    """Make pipelines that are stopped at the end."""
    made: list[Pipeline] = []

    def make(limit: int = 1, **options) -> Pipeline:
        made.append(Pipeline(limit, **options))
        return made[-1]

    yield make
    for each in made:
        each.stop()


class Gate:
    """Works that wait until they are let go, and what they saw."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.begun: list[str] = []
        self.most = 0
        self.now = 0
        self.first = threading.Event()

    def work(self, name: str, *order: int) -> Work[str]:
        async def do() -> str:
            self.begun.append(name)
            self.now += 1
            self.most = max(self.most, self.now)
            self.first.set()
            try:
                while not self.open.is_set():  # noqa: ASYNC110 - opened by another thread
                    await asyncio.sleep(0.005)
            finally:
                self.now -= 1
            return name

        return Work(order, do)


def test_the_most_urgent_is_done_first_and_equals_in_turn(pipeline):
    gate, line = Gate(), pipeline(1)
    line.add([gate.work("first", 9)])
    assert gate.first.wait(WAIT)
    line.add([gate.work("late", 2, 0), gate.work("a", 1, 5), gate.work("b", 1, 5)])
    last = gate.work("now", 0)
    line.add([last])
    gate.open.set()
    assert line.result(last) == "now"
    line.add([end := gate.work("end", 7)])
    assert line.result(end) == "end"
    assert gate.begun == ["first", "now", "a", "b", "late", "end"]


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_at_once_than_the_limit(pipeline, limit):
    gate, line = Gate(), pipeline(limit)
    works = [gate.work(str(number), number) for number in range(3 * limit)]
    line.add(works)
    assert gate.first.wait(WAIT)
    gate.open.set()
    assert [line.result(work) for work in works] == [str(number) for number in range(3 * limit)]
    assert gate.most == limit


def test_a_pause_begins_nothing_and_lets_what_is_under_way_end(pipeline):
    gate, line = Gate(), pipeline(1)
    gate.open.set()
    line.add([first := gate.work("first", 0)])
    line.result(first)
    line.pause()
    line.add([second := gate.work("second", 0)])
    line.add([third := gate.work("third", 0)])
    with pytest.raises(TimeoutError):
        second.done.result(timeout=0.2)
    assert gate.begun == ["first"]
    line.resume()
    assert (line.result(second), line.result(third)) == ("second", "third")


def test_what_a_work_raises_is_raised_where_its_result_is_asked_for(pipeline):
    async def fail() -> None:
        raise LookupError("nothing there")

    line, gate = pipeline(1), Gate()
    gate.open.set()
    line.add([bad := Work((0,), fail), good := gate.work("good", 1)])
    with pytest.raises(LookupError, match="nothing there"):
        line.result(bad)
    assert line.result(good) == "good"


def test_a_stop_cancels_what_was_not_begun_and_ends_the_thread(pipeline):
    gate, line = Gate(), pipeline(1)
    under_way, waiting = gate.work("under way", 0), gate.work("waiting", 1)
    line.add([under_way, waiting])
    assert gate.first.wait(WAIT)
    line.stop()  # the gate is shut: it is given a moment, and then cancelled
    for work in (under_way, waiting):
        with pytest.raises((CancelledError, asyncio.CancelledError)):
            work.done.result(timeout=0)
    assert gate.begun == ["under way"]
    assert not [each for each in threading.enumerate() if each.name == "promptfuzz-calls"]


def test_a_stop_gives_what_is_under_way_a_moment(pipeline):
    ended = threading.Event()

    async def short() -> str:
        ended.set()
        await asyncio.sleep(0.05)
        return "done"

    line = pipeline(1)
    line.add([work := Work((0,), short)])
    assert ended.wait(WAIT)
    line.stop()
    assert work.done.result(timeout=0) == "done"


def test_work_after_a_stop_begins_a_thread_anew(pipeline):
    gate, line = Gate(), pipeline(1)
    gate.open.set()
    line.stop()  # nothing was begun
    for name in ("one", "two"):
        line.add([work := gate.work(name, 0)])
        assert line.result(work) == name
        line.stop()


def test_a_cancelled_work_is_not_begun(pipeline):
    gate, line = Gate(), pipeline(1)
    line.add([gate.work("first", 0)])
    assert gate.first.wait(WAIT)
    line.add([unwanted := gate.work("unwanted", 1), last := gate.work("last", 2)])
    assert unwanted.done.cancel()
    gate.open.set()
    assert line.result(last) == "last"
    assert gate.begun == ["first", "last"]


def test_each_work_has_a_context_of_its_own(pipeline):
    seen: list[str] = []

    async def look() -> None:
        seen.append(HERE.get())
        HERE.set("a work")

    line = pipeline(1)
    token = HERE.set("where it was handed in")
    try:
        for _ in range(2):
            line.add([work := Work((0,), look)])
            line.result(work)
    finally:
        HERE.reset(token)
    assert seen == ["nowhere", "nowhere"]


def test_the_thread_holds_what_it_is_to_hold_while_it_lives(pipeline):
    held: list[str] = []

    @contextlib.contextmanager
    def inside() -> Iterator[None]:
        held.append(threading.current_thread().name)
        yield
        held.append("over")

    gate, line = Gate(), pipeline(1, inside=inside)
    gate.open.set()
    line.add([work := gate.work("one", 0)])
    line.result(work)
    assert held == ["promptfuzz-calls"]
    line.stop()
    assert held == ["promptfuzz-calls", "over"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_nobody_waits_for_a_thread_that_has_ended(pipeline):
    line, gate = pipeline(1), Gate()

    async def leave() -> None:
        raise SystemExit

    line.add([last := Work((0,), leave)])
    with pytest.raises(SystemExit):
        line.result(last)
    line._thread.join(WAIT)
    with pytest.raises(RuntimeError, match="has ended"):
        line.result(gate.work("never", 0))
    line._thread = None
