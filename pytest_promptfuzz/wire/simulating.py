"""What the simulated model answers in a provider's place: in the provider's protocol, or in a configured one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.targets.formats.roles import spoken
from pytest_promptfuzz.targets.model import Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.wire.custom import Endpoint, Steps
    from pytest_promptfuzz.wire.exchange import Exchange

NOT_SIMULATED = "not-simulated"


def simulated(
    exchange: Exchange, model: Any, method: str, content: bytes, headers: Mapping[str, str]
) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers and body of the simulated model's answer.

    Args:
        exchange: The call.
        model: The simulated model.
        method: Of the request.
        content: Its body, without content encoding.
        headers: Its headers.

    Raises:
        TargetError: ``not-simulated``: a configured protocol that does not say where its answers have their text.
    """
    from pytest_promptfuzz.targets.serving import answer_http

    if exchange.endpoint is not None:
        return _configured(exchange.endpoint, exchange.wire.body, model, exchange.sample)
    status, given, payload = answer_http(
        method, exchange.path, content, model, headers=dict(headers), sample=exchange.sample
    )
    return status, given, payload if isinstance(payload, bytes) else b"".join(payload)


def _configured(
    endpoint: Endpoint, body: dict[str, Any], model: Any, sample: int
) -> tuple[int, Mapping[str, str], bytes]:
    from pytest_promptfuzz.targets.serving.contract import compact

    if endpoint.answer is None:
        raise TargetError(
            f"The simulated model does not know where an answer of {endpoint.glob} has its text.",
            kind=NOT_SIMULATED,
        )
    if body.get("stream") is True:
        raise TargetError(f"The simulated model does not stream as {endpoint.glob} does.", kind=NOT_SIMULATED)
    messages = tuple(
        {"role": each.role, "content": "\n".join(each.texts)} for each in spoken(body, endpoint.places)
    )
    if not messages:
        raise TargetError(f"The request to {endpoint.glob} holds no text at its paths.", kind=NOT_SIMULATED)
    response = model.answer(Request(messages), sample=sample)
    answer = compact(_holding(response.text, endpoint.answer)).encode()
    return 200, {"content-type": "application/json"}, answer


def _holding(text: str, steps: Steps) -> Any:
    """The smallest JSON value in which a path leads to a text."""
    value: Any = text
    for kind, name in reversed(steps):
        if kind == "key":
            value = {name: value}
        else:
            value = [*[None] * (int(name) if kind == "index" and int(name) > 0 else 0), value]
    return value
