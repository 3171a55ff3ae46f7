"""`WireFormat`: what one provider's protocol says of itself. The defaults are those of most providers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pytest_promptfuzz.providers.bodies import InvalidBodyError, event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_promptfuzz.providers.bodies import Model
    from pytest_promptfuzz.providers.requests import Request, Response


# Where text stands inside messages, items and parts. "source", "data": text documents; "variables": those of a stored
# prompt; "output", "content": tool results and nested parts.
_INSIDE = ("content", "text", "output", "source", "variables", "refusal", "title", "context")
_DEPTH = 12
# "developer" is what newer OpenAI models call "system".
_ROLE_OF = {"system": "system", "developer": "system", "user": "user"}
_TEXT_PARTS = ("text", "input_text")
_ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
}
_ERROR_CODES = {401: "invalid_api_key", 404: "not_found", 429: "rate_limit_exceeded"}


class BodyText(NamedTuple):
    """A text in a request's body: ``owner[key]``, at the JSON path ``path``."""

    owner: Any
    key: Any
    path: str

    @property
    def text(self) -> str:
        """The text as it is there now."""
        return str(self.owner[self.key])


class WordlessAnswer(NamedTuple):
    """What is answered at a path whose answers are no words: vectors, counts of tokens.

    Attributes:
        field: What an answer has to hold.
        kind: The type of it.
        answer: What the local server answers, from the request's body and the model; ``None`` where it does not.
    """

    field: str
    kind: type
    answer: Callable[[Mapping[str, Any], Model], dict[str, Any]] | None = None


class WireFormat:
    """The protocol in which one kind of model is asked over HTTP: JSON in, JSON or server-sent events out.

    A format is a subclass in a module of its own, and its instance stands in ``formats.FORMATS``. What a subclass
    leaves out is as OpenAI's chat completions have it, which most providers copy; streams it has none then.

    Attributes:
        provider: Whose it is, as reports name who answered.
        host: The domain under which that provider answers.
        path: How the path of a request ends whose answer is words. Hosts put prefixes of their own before it.
        wordless: The ends of its other paths.
        system_fields: The fields of a request's body that hold what the system says.
        fields: Its other fields that hold texts: of messages, as a rule.
        answer_field: The field of an answer that holds a list of what the model says.
        bounds: The fields of a request that bound the tokens of its answer.
        version_headers: Headers, in lower case, that choose a version: they are part of what is asked.
        key_headers: Headers, in lower case, that may carry the key.
        call_fields: JSON paths, in answers and events of streams, of what is new with each call and says nothing:
            IDs, times, counts. None leads into what a model wrote: arguments of tools, texts, data.
        limit_headers: How the headers are called that tell of limits: ``what`` is ``limit``, ``remaining`` or
            ``reset``, ``kind`` is ``requests`` or ``tokens``.
    """

    provider: ClassVar[str] = ""
    host: ClassVar[str] = ""
    path: ClassVar[str] = ""
    wordless: ClassVar[Mapping[str, WordlessAnswer]] = {}
    system_fields: ClassVar[tuple[str, ...]] = ()
    fields: ClassVar[tuple[str, ...]] = ("messages",)
    answer_field: ClassVar[str] = ""
    bounds: ClassVar[tuple[str, ...]] = ("max_tokens",)
    version_headers: ClassVar[tuple[str, ...]] = ()
    key_headers: ClassVar[tuple[str, ...]] = ("authorization",)
    call_fields: ClassVar[tuple[str, ...]] = ()
    limit_headers: ClassVar[str] = "x-ratelimit-{what}-{kind}"

    # Recognising a request.

    def has_words(self, path: str) -> bool:
        """Whether a path, without a slash at its end, is one of this format whose answers are words."""
        return bool(self.path) and path.endswith(self.path)

    def wordless_at(self, path: str) -> WordlessAnswer | None:
        """What is answered at a path of this format whose answers are no words; ``None`` for any other path."""
        return next((found for end, found in self.wordless.items() if path.endswith(end)), None)

    # Reading a request on its way, and rewriting what one role says in it. A body of any shape is read as far as it
    # can be. Each field is read by itself: the body that is given may hold no other.

    def texts(self, body: Mapping[str, Any]) -> Iterator[str]:
        """Every human text of a request, in order: of all roles, of tools, of documents."""
        for field in (*self.system_fields, *self.fields):
            yield from texts_below(body.get(field))

    def messages(self, body: Mapping[str, Any]) -> Iterator[tuple[str, list[BodyText]]]:
        """What the system (``system``) and the user (``user``) say, message by message, and where it stands."""
        for field in self.system_fields:
            yield "system", content_texts(body, field, f"$.{field}")
        for field in self.fields:
            yield from message_texts(body, field)

    # The client's half: a request out, an answer in.

    def build_body(self, request: Request, model: str) -> dict[str, Any]:
        """The JSON body of a request, as the provider's SDK sends it.

        Raises:
            UsageError: The request cannot be said in this format.
        """
        raise NotImplementedError

    def parse(self, body: dict[str, Any]) -> Response:
        """The response in an answer's body.

        Raises:
            TargetError: ``malformed`` or ``not-text``, naming what was there instead; or the provider's own error.
        """
        raise NotImplementedError

    def fold(self, raw: bytes) -> dict[str, Any] | None:
        """The body that a streamed answer would have had unstreamed; ``None`` unless the stream came to its end.

        Raises:
            TargetError: An event that is none of this format, or that reports an error.
        """
        del raw
        return None

    def announces(self, event: dict[str, Any]) -> bool:
        """Whether an event of a stream holds nothing of the answer yet.

        Raises:
            TargetError: It reports an error.
        """
        del event
        return False

    # The server's half: a request in, an answer out.

    def read_request(self, body: Mapping[str, Any]) -> Request:
        """The request in a body, its messages and tools in the style of chat completions.

        Raises:
            InvalidBodyError: For what the provider answers with status 400.
        """
        raise NotImplementedError

    def encode_answer(self, response: Response, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body of a whole answer to a request's body."""
        raise NotImplementedError

    def stream_answer(self, response: Response, body: Mapping[str, Any]) -> Iterator[bytes]:
        """The answer to a request's body as server-sent events.

        Raises:
            InvalidBodyError: The format has no streams.
        """
        del response, body
        raise InvalidBodyError("This format has no streams.", param="stream")

    def error_body(
        self, status: int, message: str, *, param: str | None = None, request_id: str = ""
    ) -> dict[str, Any]:
        """The body of an answer of status 400 or more."""
        del request_id
        kind = _ERROR_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
        return {"error": {"message": message, "type": kind, "param": param, "code": _ERROR_CODES.get(status)}}

    def fault_body(self, label: str, message: str) -> dict[str, Any]:
        """An error that an answer of status 200 reports in the place of an answer."""
        return {"error": {"type": label, "message": message}}

    def fault_event(self, label: str, message: str) -> bytes:
        """An error that a stream reports."""
        return event(self.fault_body(label, message))

    def model_entry(self, name: str) -> dict[str, Any]:
        """A model, as the list of models has it."""
        return {"id": name, "object": "model", "created": 0, "owned_by": "pytest-promptfuzz"}

    def model_list(self, entry: dict[str, Any]) -> dict[str, Any]:
        """The list of models, of which there is one."""
        return {"object": "list", "data": [entry]}


def texts_below(value: Any, depth: int = _DEPTH) -> Iterator[str]:
    """Every text in a message or a list of them; no names, no tool schemas, no images."""
    if isinstance(value, str):
        yield value
    elif depth <= 0:
        return
    elif isinstance(value, list):
        for each in value:
            yield from texts_below(each, depth - 1)
    elif isinstance(value, dict):
        for key in _INSIDE:
            if key == "variables" and isinstance(value.get(key), dict):
                yield from texts_below(list(value[key].values()), depth - 1)
            else:
                yield from texts_below(value.get(key), depth - 1)
        if value.get("type") == "text" and "data" in value:
            yield from texts_below(value["data"], depth - 1)


def message_texts(body: Mapping[str, Any], field: str) -> Iterator[tuple[str, list[BodyText]]]:
    """Role and texts of each message of the system or the user in a list of messages."""
    items = body.get(field)
    for index, item in enumerate(items if isinstance(items, list) else ()):
        said = item.get("role") if isinstance(item, dict) else None
        role = _ROLE_OF.get(said) if isinstance(said, str) else None
        if role is not None:
            yield role, content_texts(item, "content", f"$.{field}[{index}].content")


def content_texts(owner: Mapping[str, Any], key: str, path: str) -> list[BodyText]:
    """The texts of a message's content, which is a text or a list of parts; tool results are nobody's words."""
    content = owner.get(key)
    if isinstance(content, str):
        return [BodyText(owner, key, path)] if content.strip() else []
    return [
        BodyText(part, "text", f"{path}[{index}].text")
        for index, part in enumerate(content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") in _TEXT_PARTS
        if isinstance(part.get("text"), str) and part["text"].strip()
    ]
