"""From an HTTP request to a model's HTTP answer, as the provider whose path it is would give it."""

from __future__ import annotations

import hmac
import json
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz.targets.serving import chat, embeddings, messages, responses
from pytest_promptfuzz.targets.serving.contract import Answer, InvalidBodyError, Model, compact, digest

if TYPE_CHECKING:
    from collections.abc import Mapping

Endpoint = Literal["chat", "responses", "input_tokens", "messages", "count_tokens", "embeddings", "models"]

# Suffixes, since hosts put prefixes of their own before them (/openai/deployments/NAME, /api/v1, ...).
SUFFIXES: tuple[tuple[str, Endpoint], ...] = (
    ("/chat/completions", "chat"),
    ("/responses/input_tokens", "input_tokens"),
    ("/responses", "responses"),
    ("/messages/count_tokens", "count_tokens"),
    ("/messages", "messages"),
    ("/embeddings", "embeddings"),
    ("/models", "models"),
)
FORMATS = {"chat": chat, "responses": responses, "messages": messages}
OPENAI_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
}
ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
OPENAI_CODES = {401: "invalid_api_key", 404: "not_found", 429: "rate_limit_exceeded"}


def endpoint(path: str) -> Endpoint | None:
    """Which endpoint a path (query string allowed) is; ``None`` for one that is no model's."""
    bare = path.split("?", 1)[0].rstrip("/")
    for suffix, name in SUFFIXES:
        if bare.endswith(suffix):
            return name
    return "models" if "/models/" in bare else None


def answer_http(
    method: str,
    path: str,
    body: bytes,
    model: Model,
    *,
    headers: Mapping[str, str] | None = None,
    key: str | None = None,
    sample: int = 0,
) -> Answer:
    """Answer one HTTP request from ``model``. Never raises for a bad request: that is an answer as well.

    Args:
        method: ``POST``, or ``GET`` for the list of models.
        path: Path with or without a query; its ending says which endpoint is meant.
        body: The raw request body.
        model: Who answers.
        headers: The request's headers, names in any case; they matter to the shape of errors and to ``key``.
        key: The only API key let in; ``None`` lets everyone in.
        sample: How many identical requests were answered before this one.

    Returns:
        Status, headers (``content-type``, ``x-request-id``) and the payload: bytes, or an iterator of
        server-sent events if the body asks to ``stream``. Errors (400, 401, 404, 405) are shaped as
        the provider's.
    """
    lower = {name.lower(): value for name, value in (headers or {}).items()}
    name = endpoint(path)
    anthropic = name in {"messages", "count_tokens"} or "anthropic-version" in lower
    if key is not None and not _let_in(lower, key):
        return error_answer(401, "Incorrect API key provided.", anthropic=anthropic)
    if name is None:
        return error_answer(404, f"Invalid URL ({method} {path.split('?', 1)[0]})", anthropic=anthropic)
    if name == "models":
        return _models(method, path, model, anthropic=anthropic)
    if method != "POST":
        return error_answer(405, f"Method {method} is not allowed here, use POST.", anthropic=anthropic)
    try:
        return _answer(name, _parse(body), model, sample)
    except InvalidBodyError as error:
        return error_answer(400, str(error), anthropic=anthropic, param=error.param)


def error_answer(status: int, message: str, *, anthropic: bool, param: str | None = None) -> Answer:
    """An error in the shape of the OpenAI or the Anthropic API."""
    request_id = f"req_{digest({'status': status, 'message': message})}"
    shape: dict[str, Any]
    if anthropic:
        kind = ANTHROPIC_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        shape = {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}
    else:
        kind = OPENAI_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
        shape = {
            "error": {"message": message, "type": kind, "param": param, "code": OPENAI_CODES.get(status)}
        }
    return _json(status, shape, request_id)


def _answer(name: Endpoint, body: dict[str, Any], model: Model, sample: int) -> Answer:
    if name == "embeddings":
        return _json(200, embeddings.answer(body, _version(model)))
    if name == "count_tokens":
        response = model.answer(messages.read(body, counting=True))
        return _json(200, {"input_tokens": response.usage.input_tokens or 0})
    if name == "input_tokens":
        response = model.answer(responses.read(body))
        counted = {"object": "response.input_tokens", "input_tokens": response.usage.input_tokens or 0}
        return _json(200, counted)
    form = FORMATS[name]
    request = form.read(body)
    response = model.answer(request, sample=sample)
    if body.get("stream"):
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        headers["x-request-id"] = f"req_{digest(body)}"
        return Answer(200, headers, form.events(response, body))
    return _json(200, form.encode(response, body), f"req_{digest(body)}")


def _parse(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidBodyError("We could not parse the JSON body of your request.") from None
    if not isinstance(parsed, dict):
        raise InvalidBodyError("The JSON body of the request must be an object.")
    return parsed


def _let_in(headers: Mapping[str, str], key: str) -> bool:
    given = (
        headers.get("x-api-key")
        or headers.get("api-key")
        or headers.get("authorization", "").removeprefix("Bearer ")
    )
    return hmac.compare_digest(given.encode(), key.encode())


def _models(method: str, path: str, model: Model, *, anthropic: bool) -> Answer:
    if method != "GET":
        return error_answer(405, f"Method {method} is not allowed here, use GET.", anthropic=anthropic)
    name = _version(model) or "model"
    if anthropic:
        entry: dict[str, Any] = {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "1970-01-01T00:00:00Z",
        }
        whole: dict[str, Any] = {"data": [entry], "has_more": False, "first_id": name, "last_id": name}
    else:
        entry = {"id": name, "object": "model", "created": 0, "owned_by": "pytest-promptfuzz"}
        whole = {"object": "list", "data": [entry]}
    asked = path.split("?", 1)[0].rstrip("/").rpartition("/models")[2].strip("/")
    if not asked:
        return _json(200, whole)
    if asked != name:
        return error_answer(404, f"The model '{asked}' does not exist.", anthropic=anthropic)
    return _json(200, entry)


def _version(model: Model) -> str:
    return str(getattr(model, "version", ""))


def _json(status: int, value: object, request_id: str = "") -> Answer:
    headers = {"content-type": "application/json"}
    if request_id:
        headers["x-request-id"] = request_id
        headers["request-id"] = request_id
    return Answer(status, headers, compact(value).encode())
