"""What goes wrong on the way, as the real SDKs meet it over real HTTP: one kind, one sentence, no key."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import traceback
from typing import Any

import pytest
from provider_answers import CHAT, KEY

from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, StoreError, TargetError
from pytest_promptfuzz.providers.requests import failure, hide, status_kind
from pytest_promptfuzz.targets.resolution import as_request, resolve

pytest.importorskip("openai")
pytest.importorskip("anthropic")

SCHEMES = ("openai", "openai-responses", "anthropic")
ASK = as_request("Hi")
NOW = {"retry_after_ms": "1", "retry_after": "0"}


def ask(target: Any, how: str) -> dict[str, Any]:
    return target.send(ASK) if how == "sync" else asyncio.run(target.asend(ASK))


def failed(target: Any, how: str) -> TargetError:
    with pytest.raises(TargetError) as caught:
        ask(target, how)
    error = caught.value
    shown = str(error) + repr(target) + "".join(traceback.format_exception(error))
    assert KEY not in shown
    assert target.name in str(error)
    return error


KINDS = {
    400: "bad-request",
    401: "authentication",
    402: "billing",
    403: "authentication",
    404: "not-found",
    408: "timeout",
    413: "bad-request",
    418: "refused",
    422: "refused",
    429: "rate-limit",
    500: "server",
    503: "server",
    529: "rate-limit",
}


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_statuses_become_kinds(keys: Any, scheme: str, how: str) -> None:
    target = resolve(f"{scheme}:m", max_retries=1)
    body = {"type": "error", "error": {"type": "some_error", "message": f"It says {KEY} is odd."}}
    for status, kind in KINDS.items():
        keys.script.clear()
        keys.arrived.clear()
        for _ in range(2):
            keys.answer(status, body, **NOW)
        error = failed(target, how)
        assert (error.kind, error.status) == (kind, status)
        assert "It says *** is odd." in str(error)
        assert f"127.0.0.1 answered {status}" in str(error)
        assert len(keys.arrived) == (2 if status in {408, 429} or status >= 500 else 1)
    target.close()


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_passes_is_retried_four_times(keys: Any, scheme: str, how: str) -> None:
    keys.answer(429, {}, **NOW)
    keys.answer(500, {}, **NOW)
    keys.answer(529, {}, **NOW)
    keys.answer(503, {}, **NOW)
    target = resolve(f"{scheme}:m")
    assert target.parse(ask(target, how)).text == "SPAM"
    assert len(keys.arrived) == 5


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_dropped_connection(keys: Any, scheme: str, how: str) -> None:
    keys.answer(0, b"")
    assert failed(resolve(f"{scheme}:m", max_retries=0), how).kind == "connection"


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_body_cut_short(keys: Any, scheme: str, how: str) -> None:
    keys.answer(200, json.dumps(CHAT).encode()[:50], content_length="400")
    assert failed(resolve(f"{scheme}:m", max_retries=0), how).kind == "connection"


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_nobody_there(keys: Any, scheme: str, how: str) -> None:
    target = resolve(f"{scheme}:m", base_url="http://127.0.0.1:9/v1", max_retries=0)
    error = failed(target, how)
    assert error.kind == "connection"
    assert "base URL" in str(error)


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_answer_in_time(keys: Any, scheme: str, how: str) -> None:
    keys.delay = 60.0
    error = failed(resolve(f"{scheme}:m", timeout=0.05, max_retries=0), how)
    assert error.kind == "timeout"
    assert "Raise timeout=" in str(error)


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_answer_that_is_no_json_object(keys: Any, scheme: str, how: str) -> None:
    target = resolve(f"{scheme}:m", max_retries=0)
    for body in (b'{"choices": [', b"<html>Gateway</html>", b"", b"[1]", b"NaN", b"\xff\xfe", b"[" * 99999):
        keys.answer(200, body)
        error = failed(target, how)
        assert error.kind == "malformed"
        assert len(str(error)) < 250
    target.close()


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai:m", "OPENAI_API_KEY"),
        ("openai-responses:m", "OPENAI_API_KEY"),
        ("anthropic:m", "ANTHROPIC_API_KEY"),
    ],
)
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_is_named(
    no_keys: None, monkeypatch: pytest.MonkeyPatch, name: str, variable: str, value: str | None
) -> None:
    if value is not None:
        monkeypatch.setenv(variable, value)
    target = resolve(name)
    target.prepare(ASK)
    for how in ("sync", "async"):
        with pytest.raises(ConfigurationError, match=f"{variable} is not set"):
            ask(target, how)


@pytest.mark.parametrize("key", ["sk-secret\nX-Evil: 1", "sk-secrét", "sk-\x00secret"])
def test_a_key_that_no_header_can_carry(keys: Any, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    if "\x00" not in key:
        monkeypatch.setenv("OPENAI_API_KEY", key)
        target = resolve("openai:m")
    else:
        target = resolve("openai:m", api_key=key)
    with pytest.raises(ConfigurationError, match="characters that no key has") as caught:
        ask(target, "sync")
    assert "secr" not in str(caught.value)


def test_a_missing_package_names_the_extra() -> None:
    script = """
import sys
sys.modules["openai"] = sys.modules["anthropic"] = None
from pytest_promptfuzz.errors import ConfigurationError
from pytest_promptfuzz.targets.resolution import as_request
from pytest_promptfuzz.targets.resolution import resolve
for name in ("openai:m", "anthropic:m"):
    try:
        resolve(name, api_key="k").send(as_request("Hi"))
    except ConfigurationError as error:
        print(error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, second = ran.stdout.splitlines()
    assert "pip install 'pytest-promptfuzz[openai]'" in first
    assert "pip install 'pytest-promptfuzz[anthropic]'" in second


def test_another_hosts_server_never_gets_the_openai_key(keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    target = resolve(f"compatible:m@{keys.url}/v1")
    ask(target, "sync")
    assert KEY not in str(keys.last.headers)
    monkeypatch.setenv("PROMPTFUZZ_API_KEY", "pf-key-1")
    ask(target, "async")
    assert keys.last.headers["authorization"] == "Bearer pf-key-1"
    assert "pf-key-1" not in repr(target) + repr(target.prepare(ASK))


def test_an_anthropic_token_takes_the_keys_place(keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-1")
    target = resolve("anthropic:m")
    ask(target, "sync")
    assert keys.last.headers["authorization"] == "Bearer token-1"
    assert target.prepare(ASK).headers == {"anthropic-version": keys.last.headers["anthropic-version"]}
    assert "anthropic-beta" not in keys.last.headers


def test_a_warning_that_is_an_error_is_no_mystery(keys: Any) -> None:
    from anthropic.resources.messages.messages import DEPRECATED_MODELS

    target = resolve(f"anthropic:{next(iter(DEPRECATED_MODELS))}")
    with pytest.raises(ConfigurationError, match="deprecated"):
        ask(target, "sync")
    with pytest.warns(DeprecationWarning, match="deprecated"):
        ask(target, "sync")


def test_an_error_of_ours_from_below_the_sdk_comes_out_as_itself() -> None:
    ours = StoreError("No recording.")
    wrapped = ConnectionError("Connection error.")
    wrapped.__cause__ = ours
    assert failure(wrapped, name="t", host="h", retries=0, secrets=[]) is ours


def test_what_is_not_the_sdks_is_left_alone() -> None:
    error = ZeroDivisionError("x")
    assert failure(error, name="t", host="h", retries=0, secrets=[]) is error
    assert not isinstance(error, PromptfuzzError)


def test_every_status_has_a_kind() -> None:
    assert {status_kind(status) for status in range(400, 600)} == {
        "authentication",
        "bad-request",
        "billing",
        "connection",
        "not-found",
        "rate-limit",
        "refused",
        "server",
        "timeout",
    }
    assert {status for status in range(400, 500) if status_kind(status) == "bad-request"} == {400, 413}


def test_what_a_provider_says_of_its_account_is_no_refusal_of_a_request() -> None:
    said = {
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.": "billing",
        "You have reached your specified API usage limits. You will regain access on 2026-12-01.": "billing",
        '{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}': "billing",
        '{"error": {"code": "billing_hard_limit_reached", "message": "Billing hard limit reached"}}': "billing",
        "Your newly created team doesn't have any credits yet.": "billing",
        "Insufficient Balance": "billing",
        '{"code": "Arrearage", "message": "Access denied, please make sure your account is in good standing."}': "billing",
        '{"error": {"message": "blocked", "code": "blocked_api_access"}}': "billing",
        "Please enable billing on your project in Google AI Studio.": "billing",
        "Payment required: add a payment method.": "billing",
        "Your free trial has expired.": "billing",
        "No active subscription.": "billing",
        "Your credits have been exhausted.": "billing",
        "API key not valid. Please pass a valid API key.": "authentication",
        "Your account is not active.": "authentication",
        "The access token has expired.": "authentication",
        "This credential is only authorized for use with another product.": "authentication",
        '{"error": {"code": "unsupported_country_region_territory"}}': "authentication",
        "Gemini is not available in your region.": "authentication",
        "Incorrect API key provided: xa***zz.": "authentication",
        "Organization has been restricted.": "authentication",
        "User location is not supported for the API use.": "authentication",
        '{"__type": "UnrecognizedClientException"}': "authentication",
        '{"__type": "ThrottlingException", "message": "Rate exceeded"}': "rate-limit",
        "Rate limit reached: tokens per minute.": "rate-limit",
        "The model is currently overloaded.": "rate-limit",
    }
    for text, kind in said.items():
        assert status_kind(400, text) == status_kind(413, text) == kind, text
    for text in (
        "Invalid request.",
        "This model's maximum context length is 8192 tokens.",
        "The response was filtered due to the prompt triggering content management policy.",
        "messages.1: all messages must have non-empty content",
        "Classify the ticket as BILLING or ACCOUNT: I was charged twice, and want my credit back.",
        "Invalid value for 'payment': I want to end my subscription.",
    ):
        assert status_kind(400, text) == "bad-request", text
    quota = "You exceeded your current quota, please check your plan. Please retry in 12 s."
    assert (status_kind(429, quota), status_kind(403, quota)) == ("rate-limit", "billing")
    assert status_kind(429, "insufficient_quota") == "billing"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Incorrect API key provided: sk-proj-ab12****wxyz. You can",
            "Incorrect API key provided: *** You can",
        ),
        ("Authorization: Bearer abc.def failed", "Authorization: *** failed"),
        ("no such key: limit", "no such key: limit"),
        ("line\x1b[31m\nnext\u2028", "line [31m next"),
    ],
)
def test_hidden(text: str, expected: str) -> None:
    assert hide(text, []) == expected


def test_a_key_of_any_shape_is_hidden() -> None:
    assert hide("hunter2 is no key, hunter2", ["", "hunter2"]) == "*** is no key, ***"


def test_hiding_is_quick_on_hostile_text() -> None:
    assert len(hide("sk-" * 500_000, ["sk"])) <= 301
    assert len(hide("key9" + "a" * 1_000_000, [])) <= 301
