"""Answers an HTTP request from a model, in the format of the provider whose path it is."""

from __future__ import annotations

import hmac
import json
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.providers import formats
from pytest_promptfuzz.providers.bodies import HttpAnswer, InvalidBodyError, compact, digest
from pytest_promptfuzz.providers.formats import format_of, wordless_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.providers.bodies import Model
    from pytest_promptfuzz.providers.wire_format import WireFormat


_MODELS = "/models"


def is_served(path: str) -> bool:
    """Whether a path (query string allowed) is one that is answered: a model's, or the list of models."""
    if _is_list(path):
        return True
    wordless = wordless_at(path)
    return format_of(path) is not None if wordless is None else wordless.answer is not None


def speaker(path: str, headers: Mapping[str, str]) -> WireFormat:
    """The format in which a request is answered, errors and lists of models included.

    Args:
        path: With or without a query.
        headers: Of the request, names in lower case.
    """
    told = (each for each in formats.FORMATS if any(name in headers for name in each.version_headers))
    return next(told, None) or format_of(path) or formats.FORMATS[0]


def answer_http(
    method: str,
    path: str,
    body: bytes,
    model: Model,
    *,
    headers: Mapping[str, str] | None = None,
    key: str | None = None,
    sample: int = 0,
) -> HttpAnswer:
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
    form = speaker(path, lower)
    if key is not None and not _let_in(lower, key):
        return error_answer(form, 401, "Incorrect API key provided.")
    if not is_served(path):
        return error_answer(form, 404, f"Invalid URL ({method} {path.split('?', 1)[0]})")
    if _is_list(path):
        return _models(form, method, path, model)
    if method != "POST":
        return error_answer(form, 405, f"Method {method} is not allowed here, use POST.")
    try:
        return _answer(path, _parse(body), model, sample)
    except InvalidBodyError as error:
        return error_answer(form, 400, str(error), param=error.param)


def error_answer(form: WireFormat, status: int, message: str, *, param: str | None = None) -> HttpAnswer:
    """An error in the shape of a format."""
    request_id = f"req_{digest({'status': status, 'message': message})}"
    return _json(status, form.error_body(status, message, param=param, request_id=request_id), request_id)


def _answer(path: str, body: dict[str, Any], model: Model, sample: int) -> HttpAnswer:
    wordless, form = wordless_at(path), format_of(path)
    if wordless is not None and wordless.answer is not None:
        return _json(200, wordless.answer(body, model))
    if form is None:
        raise LookupError(path)  # is_served() says that there is one
    response = model.answer(form.read_request(body), sample=sample)
    if body.get("stream"):
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        headers["x-request-id"] = f"req_{digest(body)}"
        return HttpAnswer(200, headers, form.stream_answer(response, body))
    return _json(200, form.encode_answer(response, body), f"req_{digest(body)}")


def _parse(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidBodyError("We could not parse the JSON body of your request.") from None
    if not isinstance(parsed, dict):
        raise InvalidBodyError("The JSON body of the request must be an object.")
    return parsed


def _let_in(headers: Mapping[str, str], key: str) -> bool:
    names = dict.fromkeys(name for each in formats.FORMATS for name in each.key_headers)
    given = next((headers[name] for name in names if headers.get(name)), "").removeprefix("Bearer ")
    return hmac.compare_digest(given.encode(), key.encode())


def _is_list(path: str) -> bool:
    bare = path.split("?", 1)[0].rstrip("/")
    return bare.endswith(_MODELS) or (f"{_MODELS}/" in bare and format_of(path) is None)


def _models(form: WireFormat, method: str, path: str, model: Model) -> HttpAnswer:
    if method != "GET":
        return error_answer(form, 405, f"Method {method} is not allowed here, use GET.")
    name = str(getattr(model, "version", "")) or "model"
    asked = path.split("?", 1)[0].rstrip("/").rpartition(_MODELS)[2].strip("/")
    if not asked:
        return _json(200, form.model_list(form.model_entry(name)))
    if asked != name:
        return error_answer(form, 404, f"The model '{asked}' does not exist.")
    return _json(200, form.model_entry(name))


def _json(status: int, value: object, request_id: str = "") -> HttpAnswer:
    headers = {"content-type": "application/json"}
    if request_id:
        headers["x-request-id"] = request_id
        headers["request-id"] = request_id
    return HttpAnswer(status, headers, compact(value).encode())
