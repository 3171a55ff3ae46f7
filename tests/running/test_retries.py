"""Calls made against calls needed: every fault, through the real SDKs, sync, async and streamed.

Each fault meets each API, mode and form at least once; ``benchmarks/faults.py`` makes all combinations.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import anthropic
import openai
import pytest

from pytest_promptfuzz.running.limits import lanes
from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings
from pytest_promptfuzz.server.faults import (
    BadRequest,
    ContentTypeHtml,
    Dropped,
    DroppedMidBody,
    Forbidden,
    Malformed,
    NotFound,
    Overloaded,
    RateLimited,
    ServerError,
    StatusFault,
    Truncated,
    Unauthorized,
)
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunRoute, RunSettings, Watch, watching

TLS = ssl.create_default_context()
ATTEMPTS = 4
# What another try may mend; a stream of which the application has some of the answer is not asked for again.
PASSING = {
    "rate-limit": RateLimited,
    "overloaded": lambda **more: ServerError(status=529, **more),
    "server": ServerError,
    "unavailable": lambda **more: ServerError(status=503, **more),
    "request-timeout": lambda **more: StatusFault(status=408, **more),
    "conflict": lambda **more: StatusFault(status=409, **more),
    "dropped": Dropped,
    "reported": Overloaded,
}
# Before any of an answer.
EARLY = {
    "reported-early": lambda **more: Overloaded(after=1, label="server_error", **more),
    "cut-at-once": lambda **more: DroppedMidBody(after=0, **more),
    "cut-early": lambda **more: DroppedMidBody(after=1, **more),
    "ended-early": lambda **more: Truncated(after=1, **more),
}
BODY = {"dropped-mid-body": DroppedMidBody, "truncated": Truncated}
# Within the answer; `BODY` applies to whole ones as well.
MIDDLE = {**BODY, "reported-late": lambda **more: Overloaded(after=None, **more)}
LASTING = {
    "unauthorized": Unauthorized,
    "forbidden": Forbidden,
    "not-found": NotFound,
    "bad-request": BadRequest,
    "malformed": Malformed,
    "html": ContentTypeHtml,
}
SHAPES = [
    (api, mode, how)
    for api in ("chat", "responses", "messages")
    for mode in ("sync", "async")
    for how in ("whole", "stream")
]


def pairwise(faults, shapes):
    """Each fault with shapes that have every API, mode and form among them; other ones for the next fault."""
    found = []
    for number, fault in enumerate(faults):
        missing = {(place, part) for shape in shapes for place, part in enumerate(shape)}
        turned = [*shapes[5 * number % len(shapes) :], *shapes[: 5 * number % len(shapes)]]
        while missing:
            best = max(turned, key=lambda shape: len(missing & set(enumerate(shape))))
            missing -= set(enumerate(best))
            found.append(pytest.param(fault, best, id=f"{fault}-{'-'.join(best)}"))
    return found


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(lanes, "FIRST_WAIT", 0.005)
    monkeypatch.setattr(lanes, "FIRST_PAUSE", 0.005)


@pytest.fixture
def server():
    with ModelServer() as running:
        yield running


def ask(server, shape, watch, *, sdk_retries=2, timeout=20.0):
    """One call of an application; the text of its answer, or the exception."""
    api, mode, how = shape
    library, name = (anthropic, "Anthropic") if api == "messages" else (openai, "OpenAI")
    options = {
        "api_key": "any",
        "max_retries": sdk_retries,
        "timeout": timeout,
        "base_url": server.anthropic_url if api == "messages" else server.openai_url,
    }
    messages = [{"role": "user", "content": "Say something."}]
    arguments = {
        "chat": {"model": "m", "messages": messages},
        "responses": {"model": "m", "input": "Say something."},
        "messages": {"model": "m", "messages": messages, "max_tokens": 50},
    }[api] | {"stream": how == "stream"}

    def create(client):
        return {"chat": lambda: client.chat.completions, "responses": lambda: client.responses}.get(
            api, lambda: client.messages
        )().create

    def sync():
        with getattr(library, name)(http_client=library.DefaultHttpxClient(verify=TLS), **options) as client:
            answer = create(client)(**arguments)
            return [str(event) for event in answer] if how == "stream" else [str(answer)]

    async def asynchronous():
        http = library.DefaultAsyncHttpxClient(verify=TLS)
        async with getattr(library, f"Async{name}")(http_client=http, **options) as client:
            answer = await create(client)(**arguments)
            return [str(event) async for event in answer] if how == "stream" else [str(answer)]

    with intercepting(), watching(watch):
        try:
            return "".join(sync() if mode == "sync" else asyncio.run(asynchronous()))
        except Exception as error:
            return error


@pytest.mark.parametrize(("fault", "shape"), pairwise([*PASSING, *BODY], SHAPES))
def test_a_fault_that_passes_costs_one_call_each_time(server, fault, shape):
    # A stream that broke off was delivered in part.
    begun = fault in BODY and shape[2] == "stream"
    kind = {**PASSING, **BODY}[fault]
    server.fail(kind(times=ATTEMPTS - 1))
    watch = Watch(route=RunRoute(gate=SessionLimits()))
    answer = ask(server, shape, watch)
    if begun:
        assert server.calls == 1
        assert len(watch.unrecovered()) == 1
    else:
        assert isinstance(answer, str), answer
        assert (server.calls, server.answered) == (ATTEMPTS, 1)
        assert watch.unrecovered() == ()
        assert watch.retries == ATTEMPTS - 1


@pytest.mark.parametrize(("fault", "shape"), pairwise([*PASSING, *BODY, *LASTING], SHAPES))
def test_a_fault_that_stays_costs_our_tries_and_none_of_the_sdks(server, fault, shape):
    server.fail({**PASSING, **BODY, **LASTING}[fault](times=None))
    watch = Watch(route=RunRoute(gate=SessionLimits()))
    answer = ask(server, shape, watch)
    once = fault in LASTING or (fault in BODY and shape[2] == "stream")
    assert server.calls == (1 if once else ATTEMPTS)
    assert len(watch.unrecovered()) == 1
    if fault in PASSING:
        assert "(try 4 of 4)" in watch.unrecovered()[0].message
        # An OpenAI stream that ends early, and a whole answer that is an error, are no exception in the SDK.
        assert isinstance(answer, Exception) or fault == "reported"


STREAMS = [each for each in SHAPES if each[2] == "stream"]


@pytest.mark.parametrize(("fault", "shape"), pairwise(EARLY, STREAMS))
def test_a_stream_that_breaks_off_before_the_answer_is_asked_for_again(server, fault, shape):
    server.fail(EARLY[fault](times=ATTEMPTS - 1))
    store = MemoryStore()
    watch = Watch(RunSettings(store=store), RunRoute(gate=SessionLimits()))
    assert isinstance(ask(server, shape, watch), str)
    assert (server.calls, server.answered) == (ATTEMPTS, 1)
    assert watch.unrecovered() == ()
    assert [each.recovered for each in watch.faults] == [True] * (ATTEMPTS - 1)
    assert isinstance(
        ask(server, shape, Watch(RunSettings(store=store), RunRoute(gate=SessionLimits()))), str
    )
    assert server.calls == ATTEMPTS  # it is stored as the answer to the first request
    server.reset()
    server.fail(EARLY[fault](times=None))
    watch = Watch(route=RunRoute(gate=SessionLimits()))
    ask(server, shape, watch)
    assert server.calls == ATTEMPTS
    (found,) = watch.unrecovered()
    assert "(try 4 of 4)" in found.message
    assert found.kind == ("server" if fault == "reported-early" else "connection")


@pytest.mark.parametrize(("fault", "shape"), pairwise(MIDDLE, STREAMS))
def test_a_stream_that_breaks_off_within_the_answer_is_an_error_and_stores_nothing(server, fault, shape):
    server.fail(MIDDLE[fault](times=1))
    store = MemoryStore()
    watch = Watch(RunSettings(store=store), RunRoute(gate=SessionLimits()))
    ask(server, shape, watch)
    assert server.calls == 1
    (found,) = watch.unrecovered()
    assert found.begun
    assert found.kind == ("rate-limit" if fault == "reported-late" else "connection")
    assert len(store.answers()) == 0
    assert isinstance(
        ask(server, shape, Watch(RunSettings(store=store), RunRoute(gate=SessionLimits()))), str
    )
    assert (server.calls, len(store.answers())) == (2, 1)


@pytest.mark.parametrize("shape", STREAMS, ids="-".join)
def test_a_stream_is_handed_on_as_it_came(server, shape):
    plain = ask(server, shape, Watch())
    server.reset()
    assert ask(server, shape, Watch(route=RunRoute(gate=SessionLimits()))) == plain


@pytest.mark.parametrize(
    ("label", "shape"), pairwise(["invalid_request_error", "authentication_error"], SHAPES)
)
def test_a_reported_mistake_is_not_tried_again(server, shape, label):
    server.fail(Overloaded(label=label, times=None))
    watch = Watch(route=RunRoute(gate=SessionLimits()))
    ask(server, shape, watch)
    assert server.calls == 1
    (found,) = watch.unrecovered()
    assert found.kind == ("refused" if label.startswith("invalid") else "authentication")


def test_a_reported_overload_makes_the_others_wait(server):
    server.fail(Overloaded())
    gate = SessionLimits()
    assert isinstance(ask(server, ("messages", "sync", "stream"), Watch(route=RunRoute(gate=gate))), str)
    with gate.ledger.open(f"{server.url.removeprefix('http://')}/m") as books:
        assert books.lane.concurrency is not None
        assert books.budget.failures == 1
        assert books.lane.flying == {}


@pytest.mark.parametrize(("attempts", "made"), [(1, 1), (2, 2), (6, 6)])
@pytest.mark.parametrize("fault", [ServerError, Dropped])
def test_the_number_of_tries_is_set(server, fault, attempts, made):
    server.fail(fault(times=None))
    watch = Watch(route=RunRoute(gate=SessionLimits(Settings(attempts=attempts))))
    assert isinstance(ask(server, SHAPES[0], watch, sdk_retries=3), Exception)
    assert server.calls == made


def test_an_application_that_asks_again_by_itself_is_let_out(server):
    server.fail(Dropped(times=None))
    watch = Watch(route=RunRoute(gate=SessionLimits(Settings(attempts=2))))
    for _ in range(2):
        assert isinstance(ask(server, SHAPES[0], watch, sdk_retries=0), Exception)
    assert server.calls == 4


def test_without_a_gate_the_sdk_tries_again_as_ever(server):
    server.fail(ServerError(times=1))
    assert isinstance(ask(server, SHAPES[0], Watch()), str)
    assert server.calls == 2


@pytest.mark.parametrize("said", ["true", "false"])
def test_the_provider_has_the_first_word(server, said):
    class Says(StatusFault):
        def headers(self):
            return {"x-should-retry": said}

    server.fail(Says(status=400 if said == "true" else 500, times=2))
    answer = ask(server, SHAPES[0], Watch(route=RunRoute(gate=SessionLimits())))
    assert server.calls == (3 if said == "true" else 1)
    assert isinstance(answer, str) == (said == "true")


def test_a_long_wait_is_refused_at_once_and_the_next_call_is_not_made(server):
    server.fail(RateLimited(times=None, retry_after=300))
    gate = SessionLimits()
    watch = Watch(route=RunRoute(gate=gate))
    assert isinstance(ask(server, SHAPES[0], watch), Exception)
    (fault,) = watch.unrecovered()
    assert "asks to wait 300 s, longer than 60 s (--promptfuzz-max-wait)" in fault.message
    other = Watch(route=RunRoute(gate=gate))
    assert isinstance(ask(server, SHAPES[0], other), Exception)
    assert server.calls == 1
    (fault,) = other.unrecovered()
    assert fault.kind == "rate-limit"
    assert "refused the calls before this one" in fault.message


class Later(StatusFault):
    def headers(self):
        when = datetime.now(timezone.utc) + timedelta(seconds=2)
        return {"retry-after": format_datetime(when, usegmt=True)}


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_date_to_wait_for_is_honoured(mode):
    arrived = []
    with ModelServer(on_request=lambda _, status: arrived.append((time.time(), status))) as server:
        server.fail(Later(status=429))
        assert isinstance(
            ask(server, ("chat", mode, "whole"), Watch(route=RunRoute(gate=SessionLimits()))), str
        )
    (first, _), (second, status) = arrived
    assert status == 200
    assert second - first >= 0.9  # a date has whole seconds


def test_time_in_the_queue_is_not_the_applications_timeout(server):
    server.fail(RateLimited(retry_after=3.5))
    watch = Watch(route=RunRoute(gate=SessionLimits()))
    started = time.monotonic()
    assert isinstance(ask(server, SHAPES[0], watch, timeout=3.0, sdk_retries=0), str)
    assert time.monotonic() - started >= 3.5
    assert server.calls == 2


def test_a_certificate_is_not_tried_again():
    from pytest_promptfuzz.wire.calls import may_pass

    assert may_pass(ConnectionResetError("reset"))
    assert not may_pass(ssl.SSLError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"))
    assert not may_pass(TypeError("a mistake"))
