"""Targets asked through the store: the same key with and without an SDK."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import replace

import pytest

from pytest_promptfuzz.errors import ConfigurationError, TargetError, UsageError
from pytest_promptfuzz.providers.formats import parse_answer
from pytest_promptfuzz.providers.requests import Request, WireRequest
from pytest_promptfuzz.server.faults import Malformed, RateLimited, Unauthorized
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.storage.disk_store import ResponseStore
from pytest_promptfuzz.targets.resolution import resolve
from pytest_promptfuzz.targets.simulated import SimulatedTarget
from pytest_promptfuzz.wire.target_calls import aask, ask
from pytest_promptfuzz.wire.watch import RunSettings, Watch

HELLO = Request(({"role": "user", "content": "hello"},))
NAMES = ["openai:m", "openai-responses:m", "anthropic:m"]


@pytest.fixture
def server(parrot, monkeypatch):
    with ModelServer(parrot) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.anthropic_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-0123456789")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
        yield running


@pytest.fixture
def target(request, server):
    made = resolve(request.param, max_retries=0)
    yield made
    made.close()


def put(how: str, target, request: Request, watch: Watch):
    return ask(target, request, watch) if how == "sync" else asyncio.run(aask(target, request, watch))


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("target", NAMES, indirect=True)
def test_a_second_run_is_served_under_the_same_key(server, target, how) -> None:
    store = MemoryStore()
    first, second = Watch(RunSettings(store=store)), Watch(RunSettings(store=store))
    live = [put(how, target, HELLO, first), put(how, target, HELLO, first)]
    again = [put(how, target, HELLO, second), put(how, target, HELLO, second)]
    assert server.calls == 2
    assert store.stats().misses == 2  # the transport under the target does not look again
    assert [each.text for each in live] == ["hello #0", "hello #1"]
    assert [(each.cached, each.latency > 0) for each in live] == [(False, True)] * 2
    assert again == [replace(each, cached=True, latency=0.0) for each in live]
    assert [(call.hit, call.nth, call.texts) for call in first.calls] == [
        (False, 0, ("hello",)),
        (False, 1, ("hello",)),
    ]
    assert [(call.hit, call.nth, call.texts) for call in second.calls] == [
        (True, 0, ("hello",)),
        (True, 1, ("hello",)),
    ]
    assert first.notes == second.notes == []


def test_a_stored_answer_needs_no_sdk(server, tmp_path) -> None:
    program = (
        "import sys\n"
        "from pytest_promptfuzz.providers.requests import Request\n"
        "from pytest_promptfuzz.targets.resolution import resolve\n"
        "from pytest_promptfuzz.wire.target_calls import ask\n"
        "from pytest_promptfuzz.storage.disk_store import ResponseStore\n"
        "from pytest_promptfuzz.wire.watch import RunSettings, Watch\n"
        f"store = ResponseStore({str(tmp_path / 'made')!r})\n"
        "for name in ('openai:m', 'openai-responses:m', 'anthropic:m'):\n"
        "    target = resolve(name)\n"
        "    print(ask(target, Request(({'role': 'user', 'content': 'hello'},)), Watch(RunSettings(store=store))))\n"
        "    target.close()\n"
        "store.close()\n"
        "print([name for name in ('openai', 'anthropic', 'httpx2', 'httpx', 'torch', 'numpy') if name in sys.modules])"
    )

    def run() -> list[str]:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert run()[:3] == ["hello #0"] * 3
    server.stop()
    assert run() == ["hello #0"] * 3 + ["[]"]


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("target", NAMES, indirect=True)
@pytest.mark.parametrize(("fault", "kind"), [(Unauthorized(), "authentication"), (Malformed(), "malformed")])
def test_a_failure_is_a_fault_once_and_an_error(server, target, how, fault, kind) -> None:
    server.fail(fault)
    watch = Watch(RunSettings(store=MemoryStore()))
    with pytest.raises(TargetError) as caught:
        put(how, target, HELLO, watch)
    assert caught.value.kind == kind
    assert [each.kind for each in watch.unrecovered()] == [kind]
    assert watch.settings.store.stats().writes == 0
    assert put(how, target, HELLO, watch).text.startswith("hello")
    assert watch.unrecovered() == ()


def test_retries_of_the_target_are_one_call(server) -> None:
    target = resolve("openai:m", max_retries=2)
    server.fail(RateLimited(retry_after=0.01), next=2)
    watch = Watch()
    assert ask(target, HELLO, watch).text == "hello #0"
    target.close()
    assert (len(watch.faults), watch.unrecovered(), [call.nth for call in watch.calls]) == (2, (), [0])


def test_a_missing_key_is_no_fault(server, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    watch = Watch()
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        ask(resolve("openai:m"), HELLO, watch)
    assert watch.faults == watch.calls == []


@pytest.mark.parametrize("how", ["sync", "async"])
def test_the_simulated_target_is_stored_and_says_who_it_is(tmp_path, how) -> None:
    store = ResponseStore(tmp_path / ".promptfuzz")
    question = Request(
        ({"role": "user", "content": "Answer POSITIVE or NEGATIVE.\n\nText: I love this phone."},)
    )
    target = SimulatedTarget(noise=0.5, seed=3)
    seen = []
    for hit in (False, True):
        watches = [Watch(RunSettings(store=store, repeat=repeat)) for repeat in range(3)]
        responses = [put(how, target, question, watch) for watch in watches for _ in range(2)]
        seen.append([each.text for each in responses])
        calls = [call for watch in watches for call in watch.calls]
        assert {(call.provider, call.hit) for call in calls} == {("simulated", hit)}
        assert {call.texts for call in calls} == {(question.messages[0]["content"],)}
        assert {each.cached for each in responses} == {hit}
    assert seen[0] == seen[1]
    # Which draw is made depends on repeat and call alone, not on what was asked before.
    other = [
        put(how, SimulatedTarget(noise=0.5, seed=3), question, Watch(RunSettings(repeat=repeat)))
        for repeat in (2, 1, 0)
    ]
    assert [each.text for each in other] == seen[0][4::-2]
    key = next(iter(store._cache.iterkeys()))
    assert store.get(key).backend == target.prepare(question).url.removeprefix("promptfuzz://")
    store.close()


class Own:
    """A user's target with an HTTP client of its own, which nobody else sees."""

    name = "own:m"

    def __init__(self, url: str) -> None:
        self.url = f"{url}/chat/completions"

    def prepare(self, request: Request) -> WireRequest:
        return WireRequest(self.url, {"model": "m", "messages": list(request.messages)})

    def parse(self, body: dict):
        return parse_answer(self.url, body)

    def send(self, request: Request) -> dict:
        data = json.dumps(self.prepare(request).body).encode()
        sent = urllib.request.Request(self.url, data, {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(sent) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            error.close()
            raise TargetError(f"HTTP {error.code}", kind="rate-limit", status=error.code) from None

    async def asend(self, request: Request) -> dict:
        return await asyncio.to_thread(self.send, request)


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_target_with_a_client_of_its_own_is_recorded_here(server, how) -> None:
    store, target = MemoryStore(), Own(server.openai_url)
    for hit in (False, True):
        watch = Watch(RunSettings(store=store))
        response = put(how, target, HELLO, watch)
        assert (response.text, response.cached) == ("hello #0", hit)
        assert [(call.hit, call.seconds > 0) for call in watch.calls] == [(hit, not hit)]
    server.fail(RateLimited())
    watch = Watch()
    with pytest.raises(TargetError):
        put(how, target, HELLO, watch)
    assert [(each.kind, each.status) for each in watch.unrecovered()] == [("rate-limit", 429)]


def test_an_answer_that_is_no_json_is_refused(server) -> None:
    class Odd(Own):
        def send(self, request: Request) -> dict:
            return {"choices": {1, 2}}

    with pytest.raises(UsageError, match="own:m"):
        ask(Odd(server.openai_url), HELLO, Watch())


@pytest.mark.parametrize("target", ["openai:m"], indirect=True)
def test_a_request_prepared_otherwise_than_sent_is_loud(server, target, monkeypatch) -> None:
    prepare = type(target).prepare

    class Wrong(type(target)):
        def prepare(self, request: Request) -> WireRequest:
            wire = prepare(self, request)
            return replace(wire, body={**wire.body, "temperature": 0.5})

        def send(self, request: Request) -> dict:
            return target.send(request)

    wrong, store = Wrong("m", max_retries=0), MemoryStore()
    for hit in (False, True):
        watch = Watch(RunSettings(store=store))
        response = ask(wrong, HELLO, watch)
        assert (response.text, response.cached, response.latency > 0) == ("hello #0", hit, not hit)
        assert len(watch.notes) == 1
        assert "$.body.temperature" in watch.notes[0]
    assert server.calls == 1


@pytest.mark.parametrize("target", ["openai:m"], indirect=True)
def test_a_sealed_watch_asks_nothing_new_and_says_what_differs(server, target) -> None:
    fresh = MemoryStore()
    baseline = ask(target, HELLO, Watch(RunSettings(fresh=fresh)))
    control = Watch(RunSettings(fresh=fresh, sealed=True))
    assert ask(target, HELLO, control).text == baseline.text
    with pytest.raises(TargetError):
        ask(target, Request(HELLO.messages, {"user": "id-2"}), control)
    assert [(each.kind, "$.body.user" in each.message) for each in control.faults] == [("sealed", True)]
    assert not control.faults[0].sent
    assert server.calls == 1
