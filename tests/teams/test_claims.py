"""Who asks the same at the same moment: one asks, the others wait, and nobody waits for the dead."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import pytest

from pytest_promptfuzz.server.faults import Slow
from pytest_promptfuzz.storage import claims
from pytest_promptfuzz.storage import claims as claiming
from pytest_promptfuzz.storage.answers import MemoryStore, StoredAnswer
from pytest_promptfuzz.storage.claims import Both, Claims
from pytest_promptfuzz.storage.disk_store import ResponseStore
from pytest_promptfuzz.storage.redis_store import RedisAddress, RedisStore
from tests import warm

ANSWER = StoredAnswer("https://example.org/v1/responses", {}, 200, "application/json", "{}", created=0.0)
HOLD = """
import sys, time
from pytest_promptfuzz.storage.stores import open_store
store = open_store(sys.argv[1], sys.argv[2])
store.get("a-0-0")
print("taken" if store.claim("a-0-0").take() else "not", flush=True)
time.sleep(600)
"""


def elsewhere(url, folder):
    """Another process that claims ``a-0-0``, and goes on holding it."""
    process = warm.Popen([sys.executable, "-c", HOLD, url, str(folder)], stdout=subprocess.PIPE, text=True)
    said = process.stdout.readline().strip()
    process.stdout.close()
    return process, said


def killed(process):
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def local(tmp_path):
    with ExitStack() as stack:

        def make():
            store = ResponseStore(tmp_path / ".promptfuzz")
            stack.callback(store.close)
            store.get("a-0-0")
            return store

        yield make


@pytest.fixture
def shared(redis_server):
    with ExitStack() as stack:

        def make(lease="15s", notes=None):
            address = RedisAddress.of(f"{redis_server.url}?lease={lease}")
            store = RedisStore(address, warn=None if notes is None else notes.append)
            stack.callback(store.close)
            return store

        yield make


@pytest.mark.parametrize("where", ["local", "shared"])
def test_a_claim_is_one_s_until_it_is_released(request, where):
    make = request.getfixturevalue(where)
    one, other = make(), make()
    first, second, another = one.claim("a-0-0"), other.claim("a-0-0"), other.claim("b-0-0")
    assert first.take()
    assert first.take(), "asked again, it is still ours"
    assert not second.take()
    assert another.take()
    second.release()
    assert not other.claim("a-0-0").take(), "who does not hold it cannot give it back"
    first.release()
    first.release()
    assert second.take()
    assert not first.take()
    second.release()
    another.release()


def test_a_dead_process_holds_nothing_of_the_local_store(local, tmp_path):
    process, said = elsewhere("", tmp_path / ".promptfuzz")
    assert said == "taken"
    claim = local().claim("a-0-0")
    assert not claim.take()
    killed(process)
    assert claim.take()
    claim.release()


def test_a_dead_host_s_claim_ends_with_its_lease(shared, redis_server, tmp_path):
    process, said = elsewhere(f"{redis_server.url}?lease=600s", tmp_path / "far")
    assert said == "taken"
    claim = shared().claim("a-0-0")
    assert not claim.take()
    killed(process)
    assert not claim.take()
    with redis_server.client() as client:
        assert 0 < client.pttl("promptfuzz:claim:a-0-0") <= 600_000
        client.pexpire("promptfuzz:claim:a-0-0", 1)  # as if the time were over
    until(claim.take)
    claim.release()


def test_a_claim_is_renewed_while_it_is_held(shared, redis_server):
    claim = shared("4s").claim("a-0-0")
    assert claim.take()
    other = shared().claim("a-0-0")
    with redis_server.client() as client:
        lived = 0
        last = client.pttl("promptfuzz:claim:a-0-0")
        while lived < 2:
            time.sleep(0.1)
            now = client.pttl("promptfuzz:claim:a-0-0")
            assert now > 0, "the claim was not renewed"
            lived += now > last
            last = now
    assert not other.take()
    claim.release()
    assert other.take()
    other.release()


def test_a_claim_that_was_lost_is_not_taken_from_the_next(shared, redis_server):
    late, next_one = shared().claim("a-0-0"), shared().claim("a-0-0")
    assert late.take()
    with redis_server.client() as client:
        client.delete("promptfuzz:claim:a-0-0")  # as if it had expired
        assert next_one.take()
        late.release()
        assert client.exists("promptfuzz:claim:a-0-0")
        next_one.release()
        assert not client.exists("promptfuzz:claim:a-0-0")


def test_what_renews_claims_ends_with_the_store(shared):
    before = set(threading.enumerate())
    store = shared()
    claim = store.claim("a-0-0")
    assert claim.take()
    assert [each.name for each in set(threading.enumerate()) - before] == ["promptfuzz-claims"]
    store.close()
    assert set(threading.enumerate()) == before
    assert store.claim("b-0-0").take()
    store.close()
    assert set(threading.enumerate()) == before


def test_what_renews_claims_ends_when_nothing_is_claimed(shared):
    before = set(threading.enumerate())
    claim = shared("1s").claim("a-0-0")
    assert claim.take()
    claim.release()
    for _ in range(600):
        if set(threading.enumerate()) == before:
            break
        time.sleep(0.05)
    assert set(threading.enumerate()) == before


def test_without_a_server_everything_is_ours(shared, redis_server):
    notes: list[str] = []
    store = shared(notes=notes)
    redis_server.stop()
    claim = store.claim("a-0-0")
    assert claim.take()
    claim.release()
    assert len(notes) == 1
    assert "is not used from here on" in notes[0]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_said_once(local, monkeypatch, number):
    def refuse(file, place):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(claims, "_lock", refuse)
    store = local()
    claim, other = store.claim("a-0-0"), store.claim("a-0-0")
    assert claim.take()
    assert not other.take(), "within the process claims still hold"
    claim.release()
    assert other.take()
    other.release()
    assert len(store.notes) == 1
    assert "Calls in flight cannot be claimed" in store.notes[0]


def test_closing_one_store_of_a_process_keeps_the_claims_of_the_other(local, tmp_path):
    one, other = local(), local()
    mine, theirs = one.claim("a-0-0"), other.claim("b-0-0")
    assert mine.take()
    assert theirs.take()
    theirs.release()
    other.close()
    process, said = elsewhere("", tmp_path / ".promptfuzz")
    killed(process)
    assert said == "not"
    mine.release()


def test_what_is_released_is_free_though_more_is_held(local, tmp_path):
    store = local()
    released, kept = store.claim("a-0-0"), store.claim("b-0-0")
    assert released.take()
    assert kept.take()
    released.release()
    process, said = elsewhere("", tmp_path / ".promptfuzz")
    killed(process)
    assert said == "taken"
    kept.release()


def test_two_claims_are_one():
    class Fake:
        def __init__(self, *answers):
            self.answers = list(answers)
            self.released = 0

        def take(self):
            return self.answers.pop(0)

        def release(self):
            self.released += 1

    first, second = Fake(False, True), Fake(False, True)
    both = Both(first, second)
    assert not both.take()
    assert second.answers == [False, True], "the second is not asked for without the first"
    assert not both.take()
    assert both.take()
    both.release()
    assert (first.released, second.released) == (1, 1)


def waited(turn):
    while (delay := turn.delay()) > 0:
        time.sleep(delay)


def test_who_waits_is_given_what_the_other_was_answered(local):
    one, other = local(), local()
    holder = Claims()
    waited(holder.turn("a-0-0", one.claim("a-0-0"), lambda: one.get("a-0-0")))
    waiting = Claims()
    turn = waiting.turn("a-0-0", other.claim("a-0-0"), lambda: other.get("a-0-0"))
    assert turn.delay() > 0
    one.put("a-0-0", ANSWER)
    holder.release("a-0-0")
    waited(turn)
    assert turn.answer == ANSWER
    assert one.claim("a-0-0").take(), "who was given an answer holds nothing"


def test_who_waits_for_a_failure_asks_itself(local):
    one, other = local(), local()
    holder, waiting = Claims(), Claims()
    waited(holder.turn("a-0-0", one.claim("a-0-0"), lambda: None))
    turn = waiting.turn("a-0-0", other.claim("a-0-0"), lambda: None)
    assert turn.delay() > 0
    holder.release_all()
    waited(turn)
    assert turn.answer is None
    assert not one.claim("a-0-0").take(), "and others wait for it"
    waiting.release_all()


def test_nobody_waits_for_ever(local, monkeypatch):
    one = local()
    held = one.claim("a-0-0")
    assert held.take()
    monkeypatch.setattr(claiming, "PATIENCE", 0.0)
    turn = Claims().turn("a-0-0", local().claim("a-0-0"), lambda: None)
    waited(turn)
    assert turn.answer is None
    held.release()


def test_a_store_without_claims_keeps_nobody_waiting():
    assert claiming.claim_in(MemoryStore(), "a-0-0") is None
    assert Claims().turn("a-0-0", None, lambda: ANSWER).answer is None


SUITE = """
@robust(TRIAGE, mutations=2, threshold=0.0)
def test_call(prompt, llm):
    return llm(prompt.format(ticket=TICKETS[0]))
"""
CALLS = 3


def start(pytester, *arguments):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return warm.Popen(command, cwd=pytester.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def until(condition):
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_two_runs_on_one_store_that_ask_the_same_at_once_pay_once(pytester, suite, models):
    suite(SUITE)
    models.fail(Slow(times=None, seconds=1.0))
    both = [start(pytester), start(pytester)]
    for each in both:
        out, _ = each.communicate(timeout=300)
        assert each.returncode == 0, out
    assert models.calls == CALLS


@pytest.mark.parametrize("where", ["local", "redis"])
def test_who_waits_for_a_run_that_is_killed_asks_once(pytester, suite, models, request, where):
    suite(SUITE)
    folders = [".promptfuzz", ".promptfuzz"]
    store = []
    if where == "redis":
        folders = ["one", "two"]
        server = request.getfixturevalue("redis_server")
        store = [f"--promptfuzz-store={server.url}?lease=600s"]
    models.fail(Slow(seconds=600.0))
    first = start(pytester, *store, f"--promptfuzz-cache-dir={folders[0]}")
    until(lambda: models.calls == 1)
    second = start(pytester, *store, f"--promptfuzz-cache-dir={folders[1]}")
    time.sleep(3)
    assert models.calls == 1, "the second waits for the first"
    killed(first)
    first.stdout.close()
    if where == "redis":
        with server.client() as client:
            for name in client.keys("promptfuzz:claim:*"):
                client.pexpire(name, 1)  # as if the time were over
    out, _ = second.communicate(timeout=300)
    assert second.returncode == 0, out
    assert models.calls == 1 + CALLS


STREAMS = """
import openai

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_left(prompt):
    client = openai.OpenAI()
    asked = [{"role": "user", "content": prompt.format(ticket=TICKETS[0])}]
    stream = client.chat.completions.create(model="gpt-5-mini", messages=asked, stream=True)
    kept.append(stream)
    return next(iter(stream)).id and "begun"

kept = []

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_same(prompt):
    client = openai.OpenAI()
    asked = [{"role": "user", "content": prompt.format(ticket=TICKETS[0])}]
    stream = client.chat.completions.create(model="gpt-5-mini", messages=asked, stream=True)
    return "".join(each.choices[0].delta.content or "" for each in stream if each.choices)
"""


def test_a_stream_that_is_left_open_keeps_no_other_run_waiting(pytester, suite, models):
    suite(STREAMS)
    result = pytester.runpytest_forked("-v", "-W", "ignore", timeout=600)
    result.stdout.fnmatch_lines(["test_it.py::test_same PASSED*"])
