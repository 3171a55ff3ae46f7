"""Connections: shared while they serve, closed when they no longer do, one loop's never used in another."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest

from pytest_promptfuzz.targets.resolution import as_request, connected, resolve

pytest.importorskip("openai")
pytest.importorskip("anthropic")

ASK = as_request("Hi")
SCHEMES = ("openai", "anthropic")
LATE = 60.0  # seconds: nobody waits for such an answer


@pytest.mark.parametrize("scheme", SCHEMES)
def test_calls_one_after_the_other_share_a_connection(keys: Any, scheme: str) -> None:
    target = resolve(f"{scheme}:m")
    for _ in range(3):
        target.send(ASK)
    assert len(keys.connections) == 1
    target.close()
    target.send(ASK)
    assert len(keys.connections) == 2
    target.close()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_forgotten_target_closes_its_connections(keys: Any, scheme: str) -> None:
    target = resolve(f"{scheme}:m")
    target.send(ASK)
    client = target._clients._current.client
    assert not client.is_closed()
    del target
    gc.collect()
    # An unclosed socket would be a ResourceWarning, and those are errors here.
    assert client.is_closed()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_another_key_makes_another_client(keys: Any, scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = resolve(f"{scheme}:m")
    target.send(ASK)
    first = target._clients._current.client
    monkeypatch.setenv(f"{scheme.upper()}_API_KEY", "sk-other-1")
    target.send(ASK)
    assert first.is_closed()
    assert "sk-other-1" in str(keys.last.headers)
    target.close()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_threads_share_a_target(keys: Any, scheme: str) -> None:
    target = resolve(f"{scheme}:m")
    answers: list[str] = []

    def work() -> None:
        answers.append(target.parse(target.send(ASK)).text)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert answers == ["SPAM"] * 6
    target.close()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_calls_of_one_loop_overlap_in_one_client(
    keys: Any, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = resolve(f"{scheme}:m")
    made = []
    original = target._client
    monkeypatch.setattr(target, "_client", lambda *a, **k: made.append(original(*a, **k)) or made[-1])
    keys.delay = LATE
    begin = keys.begin

    def begun() -> None:
        begin()
        if keys.now > 4:
            keys.over.set()

    monkeypatch.setattr(keys, "begin", begun)

    async def many() -> list[Any]:
        keys.over.clear()
        keys.peak = 0
        return await asyncio.gather(*(target.asend(ASK) for _ in range(8)))

    for loop in (1, 2):
        assert len(asyncio.run(many())) == 8
        assert keys.peak > 4
        assert len(made) == loop
    assert all(each.is_closed() for each in made)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_calls_that_do_not_overlap_share_held_connections(keys: Any, scheme: str) -> None:
    target = resolve(f"{scheme}:m")

    async def ask(times: int) -> None:
        for _ in range(times):
            await target.asend(ASK)

    async def held() -> None:
        async with connected(target):
            async with connected(target):
                await ask(2)
            await asyncio.gather(ask(1))
            client = target._clients._leases.get().client
            assert not client.is_closed()
        assert client.is_closed()

    asyncio.run(ask(2))
    assert len(keys.connections) == 2
    for loop in (1, 2):
        asyncio.run(held())
        assert len(keys.connections) == 2 + loop


def test_calls_that_are_cancelled_close_held_connections(keys: Any) -> None:
    target = resolve("openai:m")
    keys.delay = LATE

    async def held() -> None:
        async with connected(target):
            calls = [asyncio.ensure_future(target.asend(ASK)) for _ in range(3)]
            await asyncio.sleep(0.05)
            for each in calls:
                each.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert target._clients._leases.get() is None

    asyncio.run(held())
    gc.collect()  # an unclosed socket would be a ResourceWarning


def test_held_connections_of_another_key_are_closed(keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    target = resolve("openai:m")

    async def held() -> None:
        async with connected(target):
            await target.asend(ASK)
            first = target._clients._leases.get().client
            monkeypatch.setenv("OPENAI_API_KEY", "sk-other-1")
            await target.asend(ASK)
            assert first.is_closed()
            last = target._clients._leases.get().client
        assert last.is_closed()

    asyncio.run(held())
    assert "sk-other-1" in str(keys.last.headers)


def test_only_the_held_target_s_connections_outlive_a_call(keys: Any) -> None:
    one, other = resolve("openai:m"), resolve("openai:m")

    async def held() -> None:
        async with connected(one), connected("simulated"):
            await other.asend(ASK)
            assert other._clients._leases.get() is None
            assert one._clients._leases is None  # nothing was asked of it, and nothing is loaded for it

    asyncio.run(held())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_loop_that_was_dropped_in_mid_call_leaves_nothing_to_the_next(keys: Any, scheme: str) -> None:
    target = resolve(f"{scheme}:m")
    keys.delay = LATE

    async def cancelled() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(target.asend(ASK), 0.05)

    asyncio.run(cancelled())
    keys.delay = 0.0
    assert target.parse(asyncio.run(target.asend(ASK))).text == "SPAM"
    gc.collect()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_trio(keys: Any, scheme: str) -> None:
    trio = pytest.importorskip("trio")
    target = resolve(f"{scheme}:m")
    texts: list[str] = []

    async def one() -> None:
        texts.append(target.parse(await target.asend(ASK)).text)

    async def many() -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(one)
        with trio.move_on_after(0.05) as scope:
            keys.delay = LATE
            await target.asend(ASK)
        assert scope.cancelled_caught

    trio.run(many)
    assert texts == ["SPAM"] * 3
    gc.collect()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_cancelled_scope_still_closes_the_client(
    keys: Any, scheme: str, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    anyio = pytest.importorskip("anyio")
    pytest.importorskip(backend)
    target = resolve(f"{scheme}:m")
    finished = []
    original = target._client

    def watched(*args: Any, **options: Any) -> Any:
        client = original(*args, **options)
        close = client.close

        async def closing() -> None:
            await anyio.lowlevel.checkpoint()
            await close()
            finished.append(client)

        client.close = closing
        return client

    monkeypatch.setattr(target, "_client", watched)
    keys.delay = LATE

    async def cancelled() -> None:
        with anyio.move_on_after(0.1) as scope:
            await target.asend(ASK)
        assert scope.cancel_called

    anyio.run(cancelled, backend=backend)
    assert len(finished) == 1
