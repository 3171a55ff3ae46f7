"""Request and Response: what goes to a model and what comes back, whoever speaks to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; ``None`` where the provider does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the model asks for; ``arguments`` is the parsed JSON object."""

    name: str
    arguments: dict[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a model.

    Attributes:
        messages: Chat messages, ``{"role": ..., "content": ...}`` in the OpenAI style; ``system`` included.
        parameters: Anything else for the request body (``temperature``, ``max_tokens``, ``tools`` ...).
    """

    messages: tuple[dict[str, Any], ...]
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """What a model answered. ``str(response)`` is its text.

    Attributes:
        text: The answer's text, all text blocks joined.
        tool_calls: Tools the model asks to be called, in order.
        usage: Tokens, where the provider says.
        model: The model as answered by the provider, not as asked for.
        finish_reason: The provider's own word (``stop``, ``end_turn``, ``length``, ``max_tokens`` ...).
        latency: Seconds from request to the end of the answer; 0.0 from the store.
        cached: Whether it came from the store.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = ""
    latency: float = 0.0
    cached: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class WireRequest:
    """An HTTP request as a provider's SDK would send it, built without the SDK.

    Attributes:
        url: Absolute, without credentials; for in-process targets ``promptfuzz://name/version``.
        body: The JSON body.
        headers: Only those that change the answer (``anthropic-version``, ``anthropic-beta``,
            ``openai-beta``).
    """

    url: str
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


@runtime_checkable
class Target(Protocol):
    """Something that answers prompts.

    ``prepare`` builds the wire request without importing an SDK; ``parse`` reads a stored or fresh answer
    body; ``send`` and ``asend`` ask, and return the answer's raw JSON body. They raise ``TargetError`` or
    ``ConfigurationError``.
    """

    @property
    def name(self) -> str:
        """How the target is named in options and reports, ``openai:gpt-5-mini``."""
        ...

    def prepare(self, request: Request) -> WireRequest:
        """The wire request, as the SDK would send it."""
        ...

    def parse(self, body: dict[str, Any]) -> Response:
        """The response in a stored or fresh answer body."""
        ...

    def send(self, request: Request) -> dict[str, Any]:
        """Ask, and return the raw answer body."""
        ...

    async def asend(self, request: Request) -> dict[str, Any]:
        """Ask, and return the raw answer body."""
        ...
