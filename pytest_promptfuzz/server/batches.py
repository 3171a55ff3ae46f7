"""The providers' batch interfaces on the local model server: files, batches, results, as far as clients use them."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.providers.anthropic_messages import ANTHROPIC_MESSAGES
from pytest_promptfuzz.providers.bodies import HttpAnswer
from pytest_promptfuzz.providers.openai_chat import OPENAI_CHAT
from pytest_promptfuzz.providers.openai_embeddings import PATH as EMBEDDINGS_PATH
from pytest_promptfuzz.providers.openai_responses import OPENAI_RESPONSES
from pytest_promptfuzz.providers.router import error_answer
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.providers.wire_format import WireFormat
    from pytest_promptfuzz.server.http import HttpRequest


_JSON = {"content-type": "application/json"}
_LINES = {"content-type": "application/x-jsonl"}
_ENDPOINTS = tuple("/v1" + path for path in (OPENAI_CHAT.path, OPENAI_RESPONSES.path, EMBEDDINGS_PATH))
_OPENAI = expression(r"/v1/(files|batches)(?:/([\w-]+))?(?:/(content|cancel))?/?")
_ANTHROPIC = expression(r"/v1/messages/batches(?:/([\w-]+))?(?:/(results|cancel))?/?")


@dataclass(slots=True)
class _Batch:
    id: str
    form: WireFormat
    requests: list[dict[str, Any]]
    about: dict[str, Any]
    created: float = field(default_factory=time.time)
    polls: int = 0
    cancelled: bool = False
    done: dict[str, tuple[int, Any]] | None = None
    errors: list[dict[str, Any]] = field(default_factory=list)


class Batches:
    """Batches of one server.

    Args:
        ask: Answers one request: ``(path, body) -> Answer``.

    Attributes:
        polls: How often a batch is still in progress when its status is asked, before it ends.
        fails: A text; requests that hold it are answered with the provider's error.
        expires: A text; requests that hold it are not answered in time.
        most_bytes: The largest batch that is taken, as both providers have it.
        submitted: The number of requests of each batch that was taken, in order.
    """

    def __init__(self, ask: Callable[[str, bytes], HttpAnswer]) -> None:
        self.polls = 1
        self.fails = ""
        self.expires = ""
        self.most_bytes = 200_000_000
        self.submitted: list[int] = []
        self._ask = ask
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, _Batch] = {}

    def answer(self, request: HttpRequest) -> HttpAnswer | None:
        """The answer to a request of the batch interfaces; ``None`` for any other."""
        path = request.path.partition("?")[0]
        anthropic = _ANTHROPIC.fullmatch(path)
        try:
            if anthropic:
                return self._anthropic(request, anthropic[1], anthropic[2])
            if found := _OPENAI.fullmatch(path):
                return self._openai(request, *found.groups())
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if request.method != "POST":
                raise  # no body was read
            form = ANTHROPIC_MESSAGES if anthropic else OPENAI_CHAT
            return error_answer(form, 400, f"The body is not what is expected: {error!r}.")
        return None

    def forget(self) -> None:
        """Lose every batch and file, as if they had never arrived."""
        self._batches.clear()
        self._files.clear()

    def lose_last(self) -> None:
        """Lose the latest batch, as if it had not arrived."""
        self._batches.popitem()

    # OpenAI's

    def _openai(
        self, request: HttpRequest, kind: str, identity: str | None, action: str | None
    ) -> HttpAnswer:
        if kind == "files":
            return self._file(request, identity, action)
        if identity is None:
            if request.method == "POST":
                return self._create(request)
            listed = [_openai_batch(each) for each in self._listed(OPENAI_CHAT)]
            return _ok({"object": "list", "data": listed, "has_more": False})
        batch = self._batches.get(identity)
        if batch is None:
            return error_answer(OPENAI_CHAT, 404, f"No batch found with id '{identity}'.")
        if action == "cancel":
            batch.cancelled = True
        else:
            self._advance(batch)
        return _ok(_openai_batch(batch))

    def _file(self, request: HttpRequest, identity: str | None, action: str | None) -> HttpAnswer:
        if identity is not None:
            data = self._files.get(identity)
            if data is None:
                return error_answer(OPENAI_CHAT, 404, f"No such File object: {identity}")
            return (
                HttpAnswer(200, _LINES, data)
                if action == "content"
                else _ok({"id": identity, "object": "file"})
            )
        parts = _multipart(request)
        if len(parts.get("file", b"")) > self.most_bytes:
            return error_answer(OPENAI_CHAT, 413, "The file is too large.")
        if parts.get("purpose") != b"batch" or "file" not in parts:
            return error_answer(OPENAI_CHAT, 400, "A file and the purpose 'batch' are needed.")
        name = self._keep(parts["file"])
        about = {"object": "file", "bytes": len(parts["file"]), "created_at": int(time.time())}
        more = {"filename": "batch.jsonl", "purpose": "batch", "status": "processed"}
        return _ok({"id": name, **about, **more})

    def _create(self, request: HttpRequest) -> HttpAnswer:
        asked = json.loads(request.body)
        data = self._files.get(str(asked.get("input_file_id")))
        if data is None or asked.get("endpoint") not in _ENDPOINTS:
            return error_answer(OPENAI_CHAT, 400, "Unknown input_file_id or endpoint.")
        requests = [json.loads(line) for line in data.splitlines() if line.strip()]
        models = {each["body"].get("model") for each in requests}
        names = {each["custom_id"] for each in requests}
        elsewhere = {each["url"] for each in requests} - {asked["endpoint"]}
        batch = self._begin(OPENAI_CHAT, requests, asked)
        if len(models) > 1 or elsewhere:
            batch.errors = [{"code": "mismatched_model", "message": "One model and one endpoint a batch."}]
        elif len(names) < len(requests):
            batch.errors = [{"code": "duplicate_custom_id", "message": "A custom_id occurs twice."}]
        return _ok(_openai_batch(batch))

    # Anthropic's

    def _anthropic(self, request: HttpRequest, identity: str | None, action: str | None) -> HttpAnswer:
        if identity is None:
            if request.method != "POST":
                listed = [_anthropic_batch(each) for each in self._listed(ANTHROPIC_MESSAGES)]
                return _ok({"data": listed, "has_more": False, "first_id": None, "last_id": None})
            if len(request.body) > self.most_bytes:
                return error_answer(ANTHROPIC_MESSAGES, 413, "The batch is too large.")
            requests = json.loads(request.body).get("requests") or []
            names = {each["custom_id"]: each["params"] for each in requests}
            if len(names) < len(requests) or not all(re.fullmatch(r"[\w-]{1,64}", each) for each in names):
                return error_answer(ANTHROPIC_MESSAGES, 400, "calls: custom_id must be unique and short.")
            return _ok(_anthropic_batch(self._begin(ANTHROPIC_MESSAGES, requests, {})))
        batch = self._batches.get(identity)
        if batch is None:
            return error_answer(ANTHROPIC_MESSAGES, 404, f"Batch {identity} not found.")
        if action == "results":
            if batch.done is None:
                return error_answer(ANTHROPIC_MESSAGES, 400, "The batch has not ended.")
            lines = (json.dumps(_anthropic_result(name, *each)) for name, each in batch.done.items())
            return HttpAnswer(200, _LINES, "".join(f"{line}\n" for line in lines).encode())
        if action == "cancel":
            batch.cancelled = True
        else:
            self._advance(batch)
        return _ok(_anthropic_batch(batch))

    # Both

    def _listed(self, form: WireFormat) -> list[_Batch]:
        return [each for each in reversed(self._batches.values()) if each.form is form]

    def _begin(self, form: WireFormat, requests: list[dict[str, Any]], about: dict[str, Any]) -> _Batch:
        prefix = "batch" if form is OPENAI_CHAT else "msgbatch"
        batch = _Batch(f"{prefix}_{len(self._batches) + 1:04d}", form, requests, about)
        self._batches[batch.id] = batch
        self.submitted.append(len(requests))
        return batch

    def _advance(self, batch: _Batch) -> None:
        batch.polls += 1
        if batch.done is not None or (batch.polls <= self.polls and not batch.cancelled):
            return
        batch.done = {}
        # The last first: nothing promises that results come in the order of requests.
        for number, each in enumerate(reversed(batch.requests) if not batch.errors else ()):
            text = json.dumps(each, ensure_ascii=False)
            if batch.cancelled and number:  # one was under way
                batch.done[each["custom_id"]] = 0, "canceled"
            elif self.expires and self.expires in text:
                batch.done[each["custom_id"]] = 0, "expired"
            elif self.fails and self.fails in text:
                answer = error_answer(batch.form, 500, "The model failed.")
                batch.done[each["custom_id"]] = answer.status, json.loads(_whole(answer))
            else:
                path, body = (
                    (each["url"], each["body"])
                    if batch.form is OPENAI_CHAT
                    else ("/v1" + batch.form.path, each["params"])
                )
                answer = self._ask(path, json.dumps(body).encode())
                batch.done[each["custom_id"]] = answer.status, json.loads(_whole(answer))
        if batch.form is OPENAI_CHAT:
            self._write(batch)

    def _write(self, batch: _Batch) -> None:
        lines: dict[bool, list[str]] = {True: [], False: []}
        for name, (status, body) in (batch.done or {}).items():
            line: dict[str, Any] = {
                "id": f"batch_req_{name}",
                "custom_id": name,
                "response": None,
                "error": None,
            }
            if status:
                line["response"] = {"status_code": status, "request_id": f"req_{name}", "body": body}
            else:
                line["error"] = {"code": f"batch_{body}", "message": f"This request was {body}."}
            lines[status == 200].append(json.dumps(line) + "\n")
        if lines[True]:
            batch.about["output_file_id"] = self._keep("".join(lines[True]).encode())
        if lines[False]:
            batch.about["error_file_id"] = self._keep("".join(lines[False]).encode())

    def _keep(self, data: bytes) -> str:
        name = f"file-{len(self._files) + 1:04d}"
        self._files[name] = data
        return name


def _openai_batch(batch: _Batch) -> dict[str, Any]:
    done = batch.done or {}
    expired = any(each == (0, "expired") for each in done.values())
    ended = (
        "failed"
        if batch.errors
        else "cancelled"
        if batch.cancelled
        else "expired"
        if expired
        else "completed"
    )
    working = "cancelling" if batch.cancelled else "in_progress" if batch.polls else "validating"
    answered = sum(status == 200 for status, _ in done.values())
    counts = {"total": len(batch.requests), "completed": answered, "failed": len(done) - answered}
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.about["endpoint"],
        "errors": {"object": "list", "data": batch.errors}
        if batch.errors and batch.done is not None
        else None,
        "input_file_id": batch.about["input_file_id"],
        "completion_window": batch.about.get("completion_window", "24h"),
        "status": working if batch.done is None else ended,
        "output_file_id": batch.about.get("output_file_id"),
        "error_file_id": batch.about.get("error_file_id"),
        "created_at": int(batch.created),
        "request_counts": counts,
        "metadata": batch.about.get("metadata"),
    }


def _anthropic_batch(batch: _Batch) -> dict[str, Any]:
    done = [_anthropic_result("", *each)["result"]["type"] for each in (batch.done or {}).values()]
    counts = {name: done.count(name) for name in ("succeeded", "errored", "canceled", "expired")}
    working = "canceling" if batch.cancelled else "in_progress"
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": working if batch.done is None else "ended",
        "request_counts": {"processing": len(batch.requests) - len(done), **counts},
        "created_at": _at(batch.created),
        "expires_at": _at(batch.created + 86400),
        "ended_at": None if batch.done is None else _at(time.time()),
        "archived_at": None,
        "cancel_initiated_at": _at(time.time()) if batch.cancelled else None,
        "results_url": None if batch.done is None else f"/v1/messages/batches/{batch.id}/results",
    }


def _anthropic_result(name: str, status: int, body: Any) -> dict[str, Any]:
    if status == 200:
        return {"custom_id": name, "result": {"type": "succeeded", "message": body}}
    if status:
        return {"custom_id": name, "result": {"type": "errored", "error": body}}
    return {"custom_id": name, "result": {"type": body}}


def _at(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _ok(value: object) -> HttpAnswer:
    return HttpAnswer(200, _JSON, json.dumps(value).encode())


def _whole(answer: HttpAnswer) -> bytes:
    return answer.payload if isinstance(answer.payload, bytes) else b"".join(answer.payload)


def _multipart(request: HttpRequest) -> dict[str, bytes]:
    """The parts of a form by name."""
    boundary = request.headers.get("content-type", "").partition("boundary=")[2].strip('"').encode()
    parts: dict[str, bytes] = {}
    for part in request.body.split(b"--" + boundary) if boundary else ():
        head, separator, data = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]*)"', head)
        if separator and name:
            parts[name[1].decode()] = data.removesuffix(b"\r\n")
    return parts
