"""The targets against the local model server: every protocol, tools included, sync and async."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.targets.resolution import as_request, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("openai")
pytest.importorskip("anthropic")

CLASSIFY = [
    {"role": "system", "content": "Classify the message as SPAM or HAM. Answer with the label only."},
    {"role": "user", "content": "Win money now, click this free prize offer!!!"},
]
LOOKUP = {
    "type": "function",
    "function": {
        "name": "lookup_order",
        "description": "Look up an order by its number.",
        "parameters": {"type": "object", "properties": {"order_number": {"type": "string"}}},
    },
}


@pytest.fixture
def server(no_keys: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-local-1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-local-1")
    monkeypatch.setenv("PROMPTFUZZ_API_KEY", "sk-local-1")
    with ModelServer(key="sk-local-1") as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.anthropic_url)
        yield running


@pytest.mark.parametrize("scheme", ["openai", "openai-responses", "anthropic", "compatible"])
def test_all_protocols_give_the_same_answers(server: ModelServer, scheme: str) -> None:
    target = resolve(f"{scheme}:m@{server.openai_url}" if scheme == "compatible" else f"{scheme}:m")
    request = as_request(CLASSIFY, temperature=0)
    first = target.parse(target.send(request))
    second = target.parse(asyncio.run(target.asend(request)))
    target.close()
    assert first.text == second.text == "SPAM"
    assert first.usage.input_tokens
    assert first.usage.output_tokens
    assert first.finish_reason in {"stop", "completed", "end_turn"}
    assert server.calls == 2


@pytest.mark.parametrize("scheme", ["openai", "openai-responses", "anthropic"])
def test_all_protocols_give_the_same_tool_calls(server: ModelServer, scheme: str) -> None:
    target = resolve(f"{scheme}:m")
    request = as_request("Please look up order number A-1234 for me.", tools=[LOOKUP])
    (call,) = target.parse(target.send(request)).tool_calls
    target.close()
    assert (call.name, call.arguments) == ("lookup_order", {"order_number": "A-1234"})
    assert call.id
