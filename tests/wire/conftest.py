"""What the tests of the wire share: a model whose answers tell what it was asked, and how often."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.providers.requests import Request, Response, ToolCall, Usage


class Parrot:
    """Answers with the last user text and the number of identical requests before this one."""

    version = "parrot-1"

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        content = request.messages[-1]["content"]
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        usage = Usage(input_tokens=7, output_tokens=3)
        if content == "weather":
            calls = (ToolCall("get_weather", {"city": "Oslo"}, "call_1"),)
            return Response("", tool_calls=calls, usage=usage, finish_reason="tool_calls")
        return Response(f"{content} #{sample}", usage=usage, finish_reason="stop")


@pytest.fixture
def parrot() -> Parrot:
    return Parrot()
