"""What is sent below the SDK is what the SDK sends, and what goes wrong is told alike."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from pytest_promptfuzz import TargetError
from pytest_promptfuzz.targets.resolution import as_request, resolve
from pytest_promptfuzz.targets.sdk import retried_below

pytest.importorskip("openai")
pytest.importorskip("httpx2")

# What names the program that asks, and what every HTTP client writes by itself.
OWN = {"user-agent", "accept-encoding", "connection", "content-length", "host"}
REQUESTS = [
    as_request("Is it warm in Zürich? 🌡"),
    as_request(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}], temperature=0
    ),
    as_request("Hi", extra_headers={"X-Team": "blue"}, top_k=3),
]


def ask(target: Any, request: Any, *, below: bool) -> Any:
    async def one() -> Any:
        retried_below.set(below)
        return await target.asend(request)

    return asyncio.run(one())


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-2")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: yes\nX-Team: red")


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("request_", REQUESTS)
@pytest.mark.parametrize(
    "name", ["openai:gpt-5-mini", "openai-responses:gpt-5-mini", "compatible:m@{url}/v1?api-version=1"]
)
def test_the_request_is_the_sdks(keys, name, request_) -> None:
    target = resolve(name.format(url=keys.url))
    answers = [ask(target, request_, below=below) for below in (False, True)]
    sdk, direct = keys.arrived
    assert answers[0] == answers[1]
    assert (sdk.path, sdk.body) == (direct.path, direct.body)
    assert "x-stainless-lang" in sdk.headers
    assert not any(each.startswith("x-stainless") for each in direct.headers)
    theirs = {k: v for k, v in sdk.headers.items() if not k.startswith("x-stainless") and k not in OWN}
    assert theirs == {k: v for k, v in direct.headers.items() if k not in OWN}
    assert direct.headers["authorization"].startswith("Bearer ")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 429, 500, 503])
@pytest.mark.parametrize(
    "body", [{"error": {"message": "No such thing.", "type": "x"}}, b"<html>no</html>", b""]
)
def test_errors_are_told_as_the_sdks(keys, status, body) -> None:
    target = resolve("openai:gpt-5-mini", max_retries=0)
    told = []
    for below in (False, True):
        keys.answer(status, body)
        with pytest.raises(TargetError) as caught:
            ask(target, REQUESTS[0], below=below)
        told.append((caught.value.kind, caught.value.status, str(caught.value)))
    assert told[0] == told[1]


def test_lost_connections_and_waiting_too_long_are_told_as_the_sdks(keys) -> None:
    for options, spoil in (({}, "drop"), ({"timeout": 0.2}, "wait")):
        target = resolve("openai:gpt-5-mini", max_retries=0, **options)
        told = []
        for below in (False, True):
            keys.delay = 60.0 if spoil == "wait" else 0.0
            if spoil == "drop":
                keys.answer(0, b"")
            with pytest.raises(TargetError) as caught:
                ask(target, REQUESTS[0], below=below)
            told.append((caught.value.kind, str(caught.value)))
        assert told[0] == told[1]


def test_the_sdk_is_not_loaded(keys) -> None:
    code = """
import asyncio, sys
from pytest_promptfuzz.targets.sdk import retried_below
from pytest_promptfuzz.targets.resolution import as_request
from pytest_promptfuzz.targets.resolution import resolve
async def one():
    retried_below.set(True)
    await resolve("openai:gpt-5-mini").asend(as_request("Hi"))
asyncio.run(one())
assert "openai" not in sys.modules and "httpx2" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert len(keys.arrived) == 1
