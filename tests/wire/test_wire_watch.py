from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from pytest_promptfuzz.providers.requests import Response
from pytest_promptfuzz.storage.answers import MemoryStore, StoredAnswer
from pytest_promptfuzz.wire.calls import Call, WireFault
from pytest_promptfuzz.wire.watch import (
    RunRoute,
    RunSettings,
    SimulatedBackend,
    Watch,
    attributed,
    current,
    watching,
)

ANSWER = StoredAnswer("u", {}, 200, "application/json", "{}", 0.0)


def call(digest: str = "d", nth: int = 0, *, hit: bool = False) -> Call:
    return Call(("text",), digest, nth, hit, Response("r"), 0.1, "openai", "host", "m")


def test_identical_calls_are_numbered_and_a_failed_one_gives_its_number_back() -> None:
    watch = Watch()
    assert [watch.reserve("a"), watch.reserve("a"), watch.reserve("b"), watch.reserve("a")] == [0, 1, 0, 2]
    watch.release("a", 1)
    assert [watch.reserve("a"), watch.reserve("a")] == [1, 3]
    watch.release("never", 7)


def test_threads_never_get_the_same_number() -> None:
    watch = Watch()
    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(lambda _: watch.reserve("d"), range(200))) == list(range(200))


def test_a_fault_is_recovered_by_the_same_request_only() -> None:
    watch = Watch()
    watch.fault(WireFault("rate-limit", 429, "slow down", "d"))
    watch.fault(WireFault("server", 500, "oops", "e"))
    watch.record(call("other"))
    watch.record(call("d", nth=1))
    assert len(watch.unrecovered()) == 2
    watch.record(call("d"))
    assert [fault.digest for fault in watch.unrecovered()] == ["e"]
    assert [fault.recovered for fault in watch.faults] == [True, False]
    watch.fault(WireFault("timeout", None, "again", "d"))
    assert len(watch.unrecovered()) == 2, "a later fault is not recovered by an earlier answer"


def test_a_stream_that_has_begun_recovers_nothing() -> None:
    watch = Watch()
    watch.fault(WireFault("server", 500, "oops", "d"))
    place = watch.begin(call())
    assert watch.texts == ("text",)
    assert len(watch.unrecovered()) == 1
    watch.complete(place, None, 1.0, whole=False)
    assert len(watch.unrecovered()) == 1
    watch.complete(place, Response("whole"), 1.0)
    assert watch.unrecovered() == ()
    assert watch.calls[place].response == Response("whole")


def test_what_is_served_and_what_is_kept() -> None:
    store, fresh = MemoryStore(), MemoryStore()
    watch = Watch(RunSettings(store=store, fresh=fresh, repeat=2))
    assert watch.lookup("d", 0) is None
    watch.keep("d", 0, ANSWER)
    watch.keep("refusal", 0, ANSWER, durable=False)
    assert store.get("d-2-0") == fresh.get("d-2-0") == ANSWER
    assert store.get("refusal-2-0") is None
    assert Watch(RunSettings(store=store, repeat=2)).lookup("d", 0) == ANSWER
    control = MemoryStore()
    Watch(RunSettings(store=store, fresh=control, repeat=2)).lookup("d", 0)
    assert Watch(RunSettings(fresh=control, repeat=2, sealed=True)).lookup("d", 0) == ANSWER
    assert Watch(RunSettings(store=store, repeat=2, read=False)).lookup("d", 0) is None
    assert Watch(RunSettings(store=store, fresh=fresh, repeat=2, read=False)).lookup("d", 0) == ANSWER
    assert Watch(RunSettings(store=store)).lookup("d", 0) is None, "another repeat is another sample"


def test_backend() -> None:
    assert Watch().backend == "live"
    assert Watch(route=RunRoute(simulated=SimulatedBackend(None, "simulated-1"))).backend == "simulated-1"


def test_watching_is_restored_whatever_happens() -> None:
    watch = Watch()
    with pytest.raises(ZeroDivisionError), watching(watch):
        1 / (current.get() is not watch or attributed() != (watch, ()))
    assert current.get() is None
    assert attributed() == (None, ())


def in_a_bare_thread() -> tuple:
    found = []
    thread = threading.Thread(target=lambda: found.append(attributed()))
    thread.start()
    thread.join()
    return found[0]


def test_a_lost_context_falls_back_to_the_only_trial_and_is_counted() -> None:
    watch = Watch()
    with watching(watch), watching(watch):
        assert in_a_bare_thread() == (watch, ())
    assert watch.unattributed == 1
    assert in_a_bare_thread() == (None, ())


def test_a_kept_context_is_not_counted() -> None:
    watch = Watch()
    with watching(watch), ThreadPoolExecutor(1) as pool:
        assert pool.submit(copy_context().run, attributed).result() == (watch, ())
    assert watch.unattributed == 0


def test_a_concurrent_trial_never_takes_a_strangers_call() -> None:
    one, two = Watch(RunSettings(concurrent=True)), Watch(RunSettings(concurrent=True))
    with watching(one):
        assert in_a_bare_thread() == (None, (one,))
        with watching(two):
            assert in_a_bare_thread() == (None, (one, two))
    assert one.unattributed == two.unattributed == 0, "who refuses the call counts it"


def test_notes_are_said_once() -> None:
    watch = Watch()
    watch.note("a")
    watch.note("a")
    assert watch.notes == ["a"]
