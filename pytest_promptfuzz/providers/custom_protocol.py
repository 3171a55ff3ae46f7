"""``promptfuzz_endpoints``: models with a protocol of their own, and where their JSON holds prompt and answer."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pytest_promptfuzz.errors import TargetError, UsageError
from pytest_promptfuzz.providers.bodies import events, raise_provider_error
from pytest_promptfuzz.providers.formats import known_call_fields, parse_shape, request_texts
from pytest_promptfuzz.providers.requests import Response
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.json_paths import child, parse_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.providers.formats import Steps


# Where others' protocols keep them; known formats are read as such before.
_TEXTS = ("prompt", "inputs", "query", "question", "text", "message")
_ANSWERS = (
    "text",
    "answer",
    "output",
    "response",
    "completion",
    "generated_text",
    "result",
    "content",
    "message",
)
_FAILED = {"error", "failed", "failure"}
_KEYS = ("text", "system", "answer")
# What is to be said of protocols of others, by the end of their path.
_PROTOCOLS = {
    r":(streamG|g)enerateContent$": "text=$.contents[*].parts[*].text system=$.systemInstruction.parts[*].text "
    "answer=$.candidates[0].content.parts[*].text",
    r"/model/[^/]+/converse$": "text=$.messages[*].content[*].text system=$.system[*].text "
    "answer=$.output.message.content[0].text",
    r"/api/generate$": "text=$.prompt system=$.system answer=$.response",
    r"/api/chat$": "answer=$.message.content",
    r"/v2/chat$": "answer=$.message.content[0].text",
    r"/completions$": "text=$.prompt answer=$.choices[0].text",
}
# Of the same: what is new in each answer, whatever it says.
_OLLAMA_FIELDS = (
    *("$.created_at", "$.total_duration", "$.load_duration", "$.prompt_eval_count", "$.prompt_eval_duration"),
    *("$.eval_count", "$.eval_duration", "$.message.tool_calls[*].id"),
)
_GEMINI_FIELDS = (
    "responseId",
    "usageMetadata",
    "createTime",
    "candidates[*].content.parts[*].functionCall.id",
)
_CALL_FIELDS = {
    r":(streamG|g)enerateContent$": tuple(f"{at}.{name}" for at in ("$", "$[*]") for name in _GEMINI_FIELDS),
    r"/model/[^/]+/converse$": (
        *("$.usage", "$.metrics.latencyMs"),
        "$.output.message.content[*].toolUse.toolUseId",
    ),
    r"/api/(generate|chat)$": _OLLAMA_FIELDS,
    r"/v[12]/chat$": ("$.id", "$.generation_id", "$.usage", "$.message.tool_calls[*].id"),
    r"/completions$": ("$.id", "$.created", "$.usage", "$.system_fingerprint", "$.timings"),
}
_OTHER_PATHS = expression(
    r"/completions$|/realtime$|:(generateContent|streamGenerateContent|rawPredict|streamRawPredict)$"
    r"|/model/[^/]+/(invoke|converse)[\w-]*$"
)
# A word of a line: a quoted name in a path may hold spaces.
_WORD = expression(r"""(?:\["(?:[^"\\]|\\.)*"\]|\['(?:[^'\\]|\\.)*'\]|\S)+""")
_CONTINUED = expression(rf"\s*(?:{'|'.join(_KEYS)})=")
_NOT_IN_A_GLOB = expression(r"[\s\[\]*?]")
_LONGEST_PATH = 48  # of a line to be pasted: a longer one would not stay on one line of the terminal
_SYSTEM = expression(r"system|instruction|context|preamble", re.IGNORECASE)
_NOT_SAID = {"model", "role", "type", "id", "user", "format", "version", "name"}


class Endpoint(NamedTuple):
    """One configured endpoint.

    Attributes:
        glob: Of host and path, ``*/generate``.
        text: The JSON path of what the user says in a request; ``None`` are the usual places.
        system: That of what the system says.
        answer: The JSON path of the answer's text; ``None`` are the usual places.
    """

    glob: str
    text: Steps | None = None
    system: Steps | None = None
    answer: Steps | None = None

    @classmethod
    def parse(cls, line: str) -> Endpoint:
        """The endpoint written as ``GLOB [text=$.path] [system=$.path] [answer=$.path]``.

        Raises:
            UsageError: It is not written so.
        """
        glob, *words = _WORD.findall(line)
        if "/" not in glob:
            raise UsageError(f"{glob!r} is no address. Write HOST/PATH text=$.prompt answer=$.output.text.")
        given: dict[str, Steps] = {}
        for word in words:
            key, equals, path = word.partition("=")
            if not equals or key not in _KEYS or key in given:
                raise UsageError(
                    f"{line!r}: {word!r} is not one of text=$.path, system=$.path, answer=$.path, each at most once."
                )
            try:
                given[key] = parse_path(path)
            except UsageError:
                raise UsageError(
                    f"{line!r}: {path!r} is no JSON path. Write $.name, $[0] or $.items[*].text."
                ) from None
        return cls(glob, **given)

    def places(self, body: dict[str, Any]) -> Iterator[tuple[str, Any, Any, str]]:
        """Role, owner, key and JSON path of each text of a request."""
        for role, steps in (("system", self.system), ("user", self.text)):
            for owner, key, path in _found(body, steps, "$") if steps is not None else ():
                yield role, owner, key, path
        if self.text is None:
            for name in _TEXTS:
                if isinstance(body.get(name), str) and body[name].strip():
                    yield "user", body, name, f"$.{name}"

    def read(self, body: Any) -> Response:
        """The response in an answer.

        Raises:
            TargetError: ``malformed``: there is no text where it should be; or what the endpoint reports instead.
        """
        if self.answer is not None:
            texts = self._texts(body)
            if not any(each.strip() for each in texts):
                _raise_reported(body)
                raise TargetError(
                    f"The answer holds no text at the path given for {self.glob}.", kind="malformed"
                )
            return Response("".join(texts), model=_model(body))
        _raise_reported(body)
        known_shape = parse_shape(body) if isinstance(body, dict) else None
        if known_shape is not None:
            return known_shape
        inner = body[0] if isinstance(body, list) and body else body
        known = inner if isinstance(inner, dict) else {}
        texts = [known[key] for key in _ANSWERS if isinstance(known.get(key), str)]
        if texts:
            return Response(next((each for each in texts if each.strip()), texts[0]), model=_model(body))
        return Response(json.dumps(body, ensure_ascii=False, sort_keys=True), model=_model(body))

    def read_stream(self, raw: bytes) -> Response:
        """The response in a stream: its events' texts, where each is JSON, else the events themselves.

        Raises:
            TargetError: An error that an event reports, or ``malformed``: none has text where it should be.
        """
        said = []
        for data in events(raw):
            if data.strip() == "[DONE]":
                continue
            try:
                body = json.loads(data)
            except (ValueError, RecursionError):
                said.append(data)
                continue
            _raise_reported(body)
            said += self._texts(body) if self.answer is not None else [self._piece(body)]
        if self.answer is not None and not any(each.strip() for each in said):
            raise TargetError(
                f"The stream holds no text at the path given for {self.glob}.", kind="malformed"
            )
        return Response("".join(said))

    def _texts(self, body: Any) -> list[str]:
        """The texts of an answer, or a piece of it, at the path that is given."""
        steps = (("key", ""), *(self.answer or ()))
        return [str(owner[key]) for owner, key, _ in _found({"": body}, steps, "", blank=True)]

    def _piece(self, body: Any) -> str:
        """The text of one event."""
        choices = body.get("choices") if isinstance(body, dict) else None
        delta = (
            choices[0].get("delta")
            if isinstance(choices, list) and choices and isinstance(choices[0], dict)
            else None
        )
        if choices == [] or isinstance(delta, dict):  # chat completions
            content = delta.get("content") if isinstance(delta, dict) else None
            return content if isinstance(content, str) else json.dumps(content) if content else ""
        try:
            return self.read(body).text
        except TargetError:
            return json.dumps(body, ensure_ascii=False, sort_keys=True)


def parse_endpoints(text: str) -> tuple[Endpoint, ...]:
    """The endpoints in a setting, one a line; a line that begins with ``text=`` and the like continues the one before.

    Raises:
        UsageError: A line that is none.
    """
    lines: list[str] = []
    for line in filter(str.strip, text.splitlines()):
        if lines and _CONTINUED.match(line):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return tuple(map(Endpoint.parse, lines))


def is_other_model_path(path: str) -> bool:
    """Whether a path is that of a model that is followed only where it is configured: Gemini's, Bedrock's, realtime.

    >>> is_other_model_path("/model/amazon.nova-lite-v1:0/converse"), is_other_model_path("/v1/responses")
    (True, False)
    """
    return _OTHER_PATHS.search(path) is not None


def call_fields(url: str, body: object) -> tuple[str, ...]:
    """The JSON paths of what is new with each call in an answer, or an event of a stream, and says nothing.

    Of a protocol that nobody knows there are none: any of its fields may be what the application reads.

    Args:
        url: Where it came from.
        body: The answer or event.
    """
    known = known_call_fields(url, body)
    if known is not None:
        return known
    path = urlsplit(url).path
    return next((fields for end, fields in _CALL_FIELDS.items() if re.search(end, path)), ())


def line_for(host: str, path: str, body: dict[str, Any]) -> str:
    """The line that would make requests like one followed.

    >>> line_for("10.0.0.1", "/ask", {"model": "m", "turn": [{"says": "Where is it?"}], "context": "Be brief."})
    '10.0.0.1/ask text=$.turn[*].says system=$.context'

    Args:
        host: Where it goes.
        path: Its path.
        body: Its JSON.
    """
    for end, rest in _PROTOCOLS.items():
        if re.search(end, path):
            place = re.sub(r"[^/]*(:\w+)$", r"*\1", re.sub(r"/model/[^/]+/", "/model/*/", path))
            return f"{host}{_glob(place, kept='*')} {rest}"
    known = Endpoint("")
    found = [] if request_texts(body) or any(known.places(body)) else [*_leaves(body, "$")]
    systems = [each for each in found if _SYSTEM.search(each[0])]
    users = [each for each in found if each not in systems]
    line = f"{host}{_glob(path)}"
    for key, places in (("text", users), ("system", systems)):
        if places:
            line += f" {key}={max(places, key=lambda each: (len(each[1].split()), len(each[1])))[0]}"
    return line


def _glob(path: str, kept: str = "") -> str:
    """A glob that a path matches: without what has a meaning in globs, and short enough for one line."""
    plain = _NOT_IN_A_GLOB.sub(lambda found: found[0] if found[0] in kept else "?", path)
    if len(plain) <= _LONGEST_PATH:
        return plain
    last = plain.rstrip("/").rpartition("/")[2]
    return f"/*/{last}" if len(last) <= _LONGEST_PATH else "/*"


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """The texts of a JSON value that somebody may have said, each with its path, any item's for a list's."""
    if isinstance(value, str) and value.strip():
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            if key not in _NOT_SAID:
                yield from _leaves(each, child(path, key))
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each, f"{path}[*]")


def _raise_reported(body: Any) -> None:
    """Refuse what says of itself that it is an error, and no answer.

    Raises:
        TargetError: The endpoint's own error.
    """
    if not isinstance(body, dict):
        return
    error = body.get("error") or body.get("errors")
    error = error[0] if isinstance(error, list) else error
    failed = (
        error is True
        or False in (body.get("success"), body.get("ok"))
        or _FAILED & {str(body.get(key)).lower() for key in ("status", "type")}
    )
    if isinstance(error, str | dict) or failed:
        said = {key: body[key] for key in ("type", "code", "message", "detail") if body.get(key)}
        said["message"] = said.get("message") or said.pop("detail", None)
        raise_provider_error(error if isinstance(error, dict) or not failed else said)


def _model(body: Any) -> str:
    model = body.get("model") if isinstance(body, dict) else None
    return model if isinstance(model, str) else ""


def _found(value: Any, steps: Steps, path: str, *, blank: bool = False) -> Iterator[tuple[Any, Any, str]]:
    """Owner, key and path of each text that the steps lead to, of those without a letter only if ``blank``."""
    (kind, name), rest = steps[0], steps[1:]
    if isinstance(value, dict):
        keys: list[Any] = [*value] if kind == "every" else [name] if kind == "key" and name in value else []
    elif isinstance(value, list) and kind in {"every", "index"}:
        keys = [*range(len(value))]
        if kind == "index":
            number = int(name)
            keys = [number] if -len(value) <= number < len(value) else []
    else:
        keys = []
    for key in keys:
        here = f"{path}[{key}]" if isinstance(value, list) else child(path, key)
        if rest:
            yield from _found(value[key], rest, here, blank=blank)
        elif isinstance(value[key], str) and (blank or value[key].strip()):
            yield value, key, here
