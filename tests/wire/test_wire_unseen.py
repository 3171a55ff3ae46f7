"""What the interceptor cannot follow is noticed where it begins."""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
import urllib.request

import pytest

from pytest_promptfuzz.testing.server import ModelServer
from pytest_promptfuzz.wire.custom import configure, parse_endpoints
from pytest_promptfuzz.wire.endpoints import exempt
from pytest_promptfuzz.wire.intercept import intercepting
from pytest_promptfuzz.wire.watch import Watch, watching

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture
def server(parrot):
    with ModelServer(parrot) as running:
        yield running


def by_urllib(url: str) -> int:
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(url, data=json.dumps(BODY).encode(), headers=headers)
    with urllib.request.urlopen(request) as answer:
        return answer.status


def by_requests(url: str) -> int:
    return pytest.importorskip("requests").post(url, json=BODY, timeout=9).status_code


def by_urllib3(url: str) -> int:
    return pytest.importorskip("urllib3").PoolManager().request("POST", url, json=BODY).status


def by_aiohttp(url: str) -> int:
    aiohttp = pytest.importorskip("aiohttp")

    async def main() -> int:
        base, _, path = url.rpartition("/v1/")
        async with (
            aiohttp.ClientSession(base + "/v1/") as session,
            session.request("post", path, json=BODY) as answer,
        ):
            return answer.status

    return asyncio.run(main())


WAYS = {"urllib": by_urllib, "requests": by_requests, "urllib3": by_urllib3, "aiohttp": by_aiohttp}


@pytest.mark.parametrize("way", WAYS)
def test_a_model_asked_through_another_library_is_noticed_and_goes_its_way(server, way) -> None:
    watch = Watch()
    with intercepting(), watching(watch):
        assert WAYS[way](f"{server.openai_url}/chat/completions") == 200
    (seen,) = watch.unseen
    assert seen.by in ({way, "requests"} if way == "urllib3" else {way})
    assert (seen.what, seen.asks_model) == ("POST 127.0.0.1/v1/chat/completions", True)
    assert watch.calls == []
    # Outside a run, and for an address that is seen otherwise, nothing is noted.
    with intercepting():
        WAYS[way](f"{server.openai_url}/chat/completions")
    port = int(server.url.rpartition(":")[2])
    with intercepting(), watching(watch), exempt("127.0.0.1", port):
        WAYS[way](f"{server.openai_url}/chat/completions")
    assert len(watch.unseen) == 1


def test_connections_that_stay_open_are_noticed(server) -> None:
    aiohttp = pytest.importorskip("aiohttp")

    async def main() -> None:
        async with aiohttp.ClientSession() as session:
            for path in ("v1/realtime?model=m", "chatter"):
                with pytest.raises(aiohttp.WSServerHandshakeError):
                    await session.ws_connect(f"{server.url}/{path}")

    watch = Watch()
    with intercepting(), watching(watch):
        asyncio.run(main())
    assert [(str(each), each.asks_model, each.is_websocket) for each in watch.unseen] == [
        ("aiohttp (WebSocket 127.0.0.1/v1/realtime)", True, True),
        ("aiohttp (WebSocket 127.0.0.1/chatter)", False, True),
    ]


def test_other_requests_ask_no_model(server) -> None:
    watch = Watch()
    with intercepting(), watching(watch):
        with urllib.request.urlopen(f"{server.openai_url}/models"):
            pass
        with pytest.raises(urllib.error.HTTPError):
            by_urllib(f"{server.url}/search?messages")
    assert [(each.what, each.asks_model) for each in watch.unseen] == [("POST 127.0.0.1/search", False)]


def test_configured_addresses_are_those_of_models(server) -> None:
    watch = Watch()
    configure(parse_endpoints("*/search text=$.q"))
    try:
        with intercepting(), watching(watch), pytest.raises(urllib.error.HTTPError):
            by_urllib(f"{server.url}/search")
    finally:
        configure(())
    assert [each.asks_model for each in watch.unseen] == [True]


@pytest.mark.parametrize("arguments", [[sys.executable, "-c", "secret"], (sys.executable,), sys.executable])
def test_processes_are_noticed_by_name(arguments) -> None:
    watch = Watch()
    with intercepting(), watching(watch):
        subprocess.run(arguments, check=False, stdin=subprocess.DEVNULL, capture_output=True)
    assert [str(each) for each in watch.unseen] == [f"subprocess ({sys.executable.rpartition('/')[2]})"]


def test_everything_is_restored() -> None:
    before = http.client.HTTPConnection.putrequest, subprocess.Popen.__init__
    with intercepting():
        assert http.client.HTTPConnection.putrequest is not before[0]
        assert subprocess.Popen.__init__ is not before[1]
    assert (http.client.HTTPConnection.putrequest, subprocess.Popen.__init__) == before
