"""`Exchange`: one model call on the wire: looked up, answered, recorded, stored. It knows no HTTP library."""

from __future__ import annotations

import functools
import gzip
import json
import zlib
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_promptfuzz.clocks import monotonic, now
from pytest_promptfuzz.errors import TargetError, UsageError
from pytest_promptfuzz.files import MAX_BODY, shown
from pytest_promptfuzz.providers.bodies import events
from pytest_promptfuzz.providers.formats import (
    has_text,
    is_json,
    parse_answer,
    parse_stream,
    places_of,
    spoken,
    summary_of,
    wordless_at,
)
from pytest_promptfuzz.providers.requests import Response, WireRequest, status_kind
from pytest_promptfuzz.storage.answers import (
    HiddenRequest,
    StoredAnswer,
    counted_headers,
    exchange_key,
    hidden_and_digest,
    nearest_difference,
    request_difference,
    request_digest,
)
from pytest_promptfuzz.storage.redaction import credentials, is_refusal, storable
from pytest_promptfuzz.storage.secrets import RULES
from pytest_promptfuzz.wire.calls import (
    NOT_RECORDED,
    STREAM,
    Call,
    WireFault,
    describe_exception,
    describe_page,
    describe_status,
    kind_of_exception,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.providers.formats import ConfiguredEndpoint
    from pytest_promptfuzz.providers.requests import Target
    from pytest_promptfuzz.storage.redaction import Redaction
    from pytest_promptfuzz.wire.calls import Passage, Price
    from pytest_promptfuzz.wire.watch import Watch


# What ``ask`` expects to see on the wire: two layers of one call know of each other by it.


@dataclass(slots=True)
class Prepared:
    """The request that ``ask`` expects to see on the wire, having found no answer, and what became of it there.

    Attributes:
        wire: The request.
        digest: Its ``request_digest``.
        nth: Its index among identical requests of the run.
        seen: Whether it was seen.
        hit: Whether it was answered from a store after all.
        seconds: How long the call took, where it was made early.
    """

    wire: WireRequest
    digest: str
    nth: int
    seen: bool = False
    hit: bool = False
    seconds: float | None = None

    def difference(self, sent: WireRequest, url: str, ignore: Sequence[str]) -> str:
        """What the person must know if another request was sent than was prepared."""
        paths: list[Any] = request_difference(self.wire, sent, ignore=ignore)
        shown = ", ".join(paths[:8]) + (" and more" if len(paths) > 8 else "")
        return (
            f"The request to {url} was prepared otherwise than the SDK sent it, at {shown}: its answer is stored under "
            "what was sent, and found again only through the SDK. Please report this with the SDK's version."
        )


prepared: ContextVar[Prepared | None] = ContextVar("promptfuzz_prepared", default=None)


# A request's body that is read, or changed, on its way.


# Headers that say something of the body's bytes; the first three are ours to write anew.
_ABOUT_THE_BODY = (
    "content-length",
    "transfer-encoding",
    "content-encoding",
    "content-md5",
    "digest",
    "content-digest",
    "repr-digest",
)
_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": functools.partial(gzip.compress, mtime=0),
    "deflate": zlib.compress,
}


def passed_on(watch: Watch, url: str, headers: Mapping[str, str]) -> None:
    """Say of a request to a model that its body cannot be read, and so is neither stored nor changed."""
    kind, encoding = headers.get("content-type", ""), headers.get("content-encoding", "")
    if encoding not in {"", "identity"}:
        most = shown(MAX_BODY)
        why = (
            f"is encoded with {encoding}, which cannot be undone here (or is more than {most} once unpacked)"
        )
    elif is_json(headers):
        why = "holds no readable JSON object"
    else:
        why = f"is no JSON but {kind.partition(';')[0].strip() or 'of no named type'}"
    said = f"A request to {watch.settings.redaction.url(url)} {why}. It was passed on as it is, unseen."
    watch.note(said)
    if watch.route.in_flight is not None:
        watch.route.in_flight.unreadable.append(said)


def mutated(watch: Watch, url: str, headers: Mapping[str, str], body: dict[str, Any]) -> dict[str, Any]:
    """The body that is asked for a request's own, where its watch mutates what is asked and nobody signed it."""
    if watch.route.in_flight is None:
        return body
    if not _is_signed(url, headers):
        return watch.route.in_flight.rewritten(body, url)
    said = (
        f"The request to {watch.settings.redaction.url(url)} is signed, and its signature would not fit another body: "
        "it cannot be changed on the wire. Name what is mutated by an argument of the test or a dotted path, or let "
        "the application ask through promptfuzz_proxy, which sends an API key instead (docs/other-programs.md)."
    )
    for each in spoken(body, url, places_of(url)):
        if each.role == watch.route.in_flight.role:
            watch.route.in_flight.signed.update(dict.fromkeys(each.texts, said))
    return body


def _is_signed(url: str, headers: Mapping[str, str]) -> bool:
    """Whether a signature covers the body: AWS's and its like, or HTTP message signatures (RFC 9421)."""
    scheme = headers.get("authorization", "").partition(" ")[0].upper()
    return (
        "-HMAC-" in scheme
        or scheme.startswith("AWS4-")
        or "signature-input" in headers
        or "X-Amz-Signature=" in url
    )


def resent(library: Any, request: Any, body: dict[str, Any]) -> tuple[Any, bytes]:
    """A request of the HTTP library with another JSON body and headers that are true of it, and the body's bytes.

    The body is compressed as it was, with gzip or deflate; of other encodings it is sent without.
    """
    content = json.dumps(body, separators=(",", ":")).encode("ascii")
    headers = [(name, value) for name, value in request.headers.multi_items() if name not in _ABOUT_THE_BODY]
    encoding = request.headers.get("content-encoding", "").strip().lower()
    sent = content
    if encoding in _ENCODERS:
        headers.append(("content-encoding", encoding))
        sent = _ENCODERS[encoding](content)
    changed = library.Request(
        request.method, request.url, headers=headers, content=sent, extensions=request.extensions
    )
    return changed, content


IN_PROCESS = "promptfuzz://"


def begin(watch: Watch, url: str, headers: Mapping[str, str], content: bytes) -> Exchange | None:
    """The exchange a model request opens; ``None`` for a (decompressed) body that is no JSON object and passes on."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        passed_on(watch, url, headers)
        return None
    try:
        asked = mutated(watch, url, headers, body)
        wire = WireRequest(url=url, body=asked, headers=counted_headers(headers))
        return Exchange(watch, wire, secrets=credentials(headers, url), rewritten=asked is not body)
    except RecursionError:  # nested deeper than it can be searched
        passed_on(watch, url, headers)
        return None


@dataclass(slots=True)
class _CallProgress:
    """How far a call is: when it was begun or sent, and its place in the watch's calls once a stream has begun."""

    started: float
    sent: bool = False
    place: int | None = None


_OURS = frozenset({NOT_RECORDED, "sealed"})  # faults of calls that no provider saw


class Exchange:
    """A model call from its request to the end of its answer. Its index is taken on creation.

    Args:
        watch: The trial's.
        wire: The request; its URL may still hold credentials.
        secrets: The credentials this request carries: hidden wherever they appear in what is stored or said.
        parse: Reads an answer body; by default the reader of the URL's wire format.
        rewritten: Whether the body is another than the application's.

    Attributes:
        response: The answer as read, once there is one.
        error: Why there is none, once that is known.
        hidden: The request without anything secret.
        summary: Its texts, and who is asked.
        passage: The call's way through the watch's gate, once it is on it.
        order: Where it stands in the program of its run.
    """

    def __init__(
        self,
        watch: Watch,
        wire: WireRequest,
        *,
        secrets: tuple[str, ...] = (),
        parse: Callable[[dict[str, Any]], Response] | None = None,
        rewritten: bool = False,
    ) -> None:
        self.watch = watch
        self.wire = wire
        backend = self.backend
        self.response: Response | None = None
        self.error: TargetError | None = None
        self.rewritten = rewritten
        self._parse = parse
        watch.secrets.update(secrets)
        # What `ask` looks up before there are headers has to be found under the same key.
        expected = prepared.get()
        self.redaction, self._keying = watch.settings.hiding(secrets, keyed=expected is None)
        self.summary = summary_of(wire.url, wire.body)
        if expected is not None and wire == expected.wire:
            self.hidden, self.digest = HiddenRequest.of(wire, self.redaction), expected.digest
        else:
            self.hidden, self.digest = hidden_and_digest(
                wire,
                ignore=watch.settings.ignore,
                backend=backend,
                redaction=self.redaction,
                keying=self._keying,
            )
        self.nth, self.order = watch.enter(self.digest)
        if watch.route.in_flight is not None:
            watch.route.in_flight.saw(
                self.digest, self.nth, wire, watch.settings.ignore, on_line=self.order.on_line
            )
        self.passage: Passage | None = None
        self._progress = _CallProgress(monotonic())
        if expected is not None:
            self._compare_with(expected)

    @property
    def url(self) -> str:
        """Where it goes, without credentials."""
        return self.hidden.url

    @property
    def endpoint(self) -> ConfiguredEndpoint | None:
        """What was configured of its URL, if anything."""
        return self.summary.endpoint

    @property
    def path(self) -> str:
        """The path of the URL, which tells the wire format."""
        return urlsplit(self.wire.url).path

    @property
    def backend(self) -> str:
        """Which simulated model or function of the application answers; empty for a provider."""
        in_process = self.wire.url.startswith(IN_PROCESS)
        return self.wire.url.removeprefix(IN_PROCESS) if in_process else self.watch.backend

    @property
    def sample(self) -> int:
        """Which draw a simulated model makes: another for each repeat and each identical call of a trial."""
        return (self.watch.settings.repeat << 16) + self.nth

    def stored(self) -> StoredAnswer | None:
        """The stored answer that serves this call; ``None`` where ``ask`` found none a moment ago."""
        expected = prepared.get()
        asked = expected is not None and (expected.digest, expected.nth) == (self.digest, self.nth)
        return None if asked else self.looked_up()

    def found(self) -> StoredAnswer | None:
        """As ``stored``, but for a call that was made early: its answer is met on the wire."""
        return None if (self.digest, self.nth) in self.watch.route.early else self.stored()

    def looked_up(self) -> StoredAnswer | None:
        """The stored answer that serves this call, now; recorded as a hit if there is one that can be read."""
        if (answer := self.watch.lookup(self.digest, self.nth)) is None:
            return None
        if answer.status >= 400:
            self._refused(answer.status, answer.body.encode("utf-8"), hit=True)
            return answer
        try:
            response = self.read(answer.body.encode("utf-8"), streamed=answer.streamed)
        except (TargetError, ValueError, RecursionError) as error:
            self.watch.note(
                f"A stored answer from {self.url} cannot be read ({error}); the model is asked again."
            )
            return None
        if response is not None:
            response = replace(response, latency=0.0, cached=True)
        self.response = response
        if (expected := prepared.get()) is not None:
            expected.hit = True
        self.watch.record(self._call(response, hit=True, seconds=0.0, answered_in=answer.seconds))
        return answer

    def sealed(self) -> TargetError | None:
        """Why this call may not be made, with the paths at which it differs from the nearest that was answered."""
        if self.watch.route.notebook is not None:
            self.watch.route.notebook.stop(self, self.backend)
        told = self.watch.settings
        if told.tape is not None and told.tape.strict:
            missing = told.tape.missing(
                self.wire,
                exchange_key(self.digest, told.repeat, self.nth),
                told.part.trial,
                who=told.part.shown(told.repeat),
                ignore=told.ignore,
                keying=told.keying,
                # Before anything is cut: half a secret would be found no more.
                redaction=told.redaction.with_values(tuple(sorted(self.watch.secrets))),
            )
            self._fault(NOT_RECORDED, missing, None)
            return self.error
        if not self.watch.settings.sealed:
            return None
        known = self.watch.settings.fresh.answers() if self.watch.settings.fresh is not None else []
        near = nearest_difference(known, self.wire, ignore=self.watch.settings.ignore)
        paths = [] if near is None else near.paths
        self._fault("sealed", ", ".join(paths[:5]) or "one more call than before", None)
        return self.error

    def read(self, body: bytes, *, streamed: bool) -> Response | None:
        """The response in a decoded answer body; ``None`` for what is not read as text.

        Raises:
            TargetError: The body is malformed, cut short, or reports an error.
            ValueError: It is not JSON.
        """
        if self.endpoint is not None:
            return self.endpoint.read_stream(body) if streamed else self.endpoint.read(json.loads(body))
        if streamed:
            response = parse_stream(self.path, body)
            if response is None:
                raise TargetError("The stream ended before its end marker.", kind="connection")
            return response
        value = json.loads(body)
        if not isinstance(value, dict):
            raise TargetError(
                f"The answer is a JSON {type(value).__name__}, not an object.", kind="malformed"
            )
        if self._parse is not None:
            return self._parse(value)
        if self.wire.body.get("background") and value.get("status") in {"queued", "in_progress"}:
            return None  # what it will say is asked for later
        wordless = wordless_at(self.path)
        if wordless is None:
            return parse_answer(self.path, value)
        if not isinstance(value.get(wordless.field), wordless.kind):
            raise TargetError(f"The answer has no {wordless.field!r}.", kind="malformed")
        return None

    def refuse_repeat(self, *, asked_again: bool) -> None:
        """Raise what this request met at our last try, if an SDK now asks once more: it is not asked again."""
        error = self.watch.route.given_up.get(self.digest) if asked_again else None
        if error is not None:
            self.release()
            raise error

    def sending(self) -> None:
        """The request leaves now: what went before was waiting, and is not the model's time."""
        self._progress.started = monotonic()
        self._progress.sent = True

    def again(self) -> None:
        """The call has failed, and is made once more under the index that it gave back."""
        self.nth = self.watch.reserve(self.digest)
        self.error = None
        self.watch.retried()

    def begun(self) -> None:
        """A streamed answer has begun: the request arrived, whatever becomes of the stream."""
        self._progress.place = self.watch.begin(self._call(None, hit=False, seconds=0.0))

    def answered(self, status: int, content_type: str, body: bytes, *, seconds: float | None = None) -> None:
        """The whole answer is here, decoded: record it and store it, or find the fault in it."""
        seconds = monotonic() - self._progress.started if seconds is None else seconds
        if status >= 400:
            self._refused(status, body, hit=False)
            return
        if not 200 <= status < 300:
            self.release()  # a redirect: what follows is the answer
            return
        streamed = content_type.lower().startswith(STREAM)
        try:
            text = body.decode("utf-8" if streamed else "utf-8-sig")  # as the SDKs read it
            response = self.read(body, streamed=streamed)
            self._refuse_other_form(streamed=streamed)
        except TargetError as error:
            self._fault(error.kind, str(error), status)
            return
        except (ValueError, RecursionError) as error:
            self._fault("malformed", describe_page(body) or f"The answer is not JSON ({error}).", status)
            return
        if response is not None:
            response = replace(response, latency=seconds)
        self.response = response
        price = None
        if self.passage is not None:
            usage = response.usage if response is not None else None
            price = self.passage.settled(usage, len(response.text) if response is not None else 0)
        self._finish(response, seconds, price=price)
        self._store(status, text, response, seconds, streamed=streamed)

    def _refused(self, status: int, body: bytes, *, hit: bool) -> None:
        said = body.decode("utf-8", "replace")
        kind = status_kind(status, said)
        if kind == "bad-request":
            # What a mutation causes is an answer like any other to whoever replays the test.
            refusal = self._complete(status, self.redaction.text(said))
            self.watch.keep_refused(self.digest, self.nth, refusal)
        self._fault(kind, describe_status(status, body, self.url), status, hit=hit)

    def _refuse_other_form(self, *, streamed: bool) -> None:
        """Refuse a stream that nobody asked for, and a whole answer in its place: no SDK reads them."""
        asked = bool(self.wire.body.get("stream"))
        if asked == streamed or self.endpoint is not None or not has_text(self.path):
            return
        wanted, came = ("a stream", "a whole answer") if asked else ("a whole answer", "a stream")
        raise TargetError(f"The request asks for {wanted}, and {came} came.", kind="malformed")

    def ended(self, body: bytes) -> bool:
        """Whether a stream its reader has closed was at its end: the end marker, or an error."""
        if self.endpoint is not None:
            return b"[DONE]" in body
        try:
            return parse_stream(self.path, body) is not None or "[DONE]" in map(str.strip, events(body))
        except TargetError:
            return True

    def left(self) -> None:
        """The application closed a stream before its end: no fault, and nothing to store."""
        self._finish(None, monotonic() - self._progress.started, whole=False)
        self.watch.unclaim(exchange_key(self.digest, self.watch.settings.repeat, self.nth))
        if self.passage is not None:
            self.passage.left()

    def failed(self, error: BaseException) -> None:
        """The call ended in an exception; interrupts apart it is a fault."""
        name = type(error).__name__
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            self.release()
        elif isinstance(error, Exception):
            self._fault(kind_of_exception(error), describe_exception(error, self.url), None)
        else:
            # Cancelled, by asyncio or trio, or stopped by a plugin's time limit.
            waited = monotonic() - self._progress.started
            what = (
                "before its answer"
                if self._progress.sent
                else "while it waited for its turn under the limits"
            )
            message = f"The call was cancelled after {waited:.1f} s, {what} ({name})."
            self._fault("timeout", message, None, waiting=not self._progress.sent)

    def gave_up(self, error: Exception) -> None:
        """The call ended in an exception and is not made again, whatever the SDK above thinks of it."""
        self.failed(error)
        if self.watch.route.gate is not None:
            self.watch.route.given_up[self.digest] = error

    def _finish(
        self, response: Response | None, seconds: float, *, price: Price | None = None, whole: bool = True
    ) -> None:
        if self._progress.place is None:
            self.watch.record(self._call(response, hit=False, seconds=seconds, price=price))
        else:
            self.watch.complete(self._progress.place, response, seconds, price=price, whole=whole)

    def given(self, target: Target, body: object, seconds: float | None = None) -> Response:
        """What a target answered, and what it is.

        Raises:
            UsageError: It is nothing that JSON can hold.
            TargetError: It cannot be read, or reports an error.
        """
        try:
            text = json.dumps(body, allow_nan=False)
        except (TypeError, ValueError) as error:
            self.release()
            raise UsageError(
                f"The target {target.name!r} answered with what JSON cannot hold ({error}). "
                "send() and asend() return the answer's raw JSON body."
            ) from None
        self.answered(200, "application/json", text.encode("ascii"), seconds=seconds)
        return self.result()

    def result(self) -> Response:
        """The answer.

        Raises:
            TargetError: There is none, and why.
        """
        if self.error is not None:
            raise self.error
        # Not read as text, an embedding for instance: nothing to compare, but it was answered.
        return self.response if self.response is not None else Response("")

    def stopped(self, error: BaseException) -> None:
        """The target raised something in place of an answer."""
        if isinstance(error, TargetError):
            self.refused(error)
        elif isinstance(error, Exception):
            self.release()  # a mistake in the request or the set-up, not a fault of the wire
        else:
            self.failed(error)

    def refused(self, error: TargetError) -> None:
        """The target itself says what went wrong."""
        self._fault(error.kind, str(error), error.status)

    def release(self) -> None:
        """Give the index back: the call was not made, or is made again elsewhere."""
        if self.passage is not None:
            self.passage.left()
        self.watch.release(self.digest, self.nth)

    def _fault(
        self, kind: str, message: str, status: int | None, *, waiting: bool = False, hit: bool = False
    ) -> None:
        # What happened stands first: a short summary cuts the line off.
        tries = self.passage.tries() if self.passage is not None else ""
        where = "" if kind in _OURS else f" ({self.url})"
        said = f"{self.redaction.text(message).removesuffix('.')}{where}{tries}."
        self.error = TargetError(said, kind=kind, status=status)
        begun = self._progress.place is not None
        self.watch.fault(
            WireFault(kind, status, said, self.digest, nth=self.nth, begun=begun, waiting=waiting, hit=hit)
        )
        self.release()

    def _store(
        self, status: int, text: str, response: Response | None, seconds: float, *, streamed: bool
    ) -> None:
        url = self.url
        refusal = is_refusal(text, response)
        body, note = storable(text, self.redaction, url, self.read, streamed=streamed)
        if note:
            self.watch.note(note)
        served = self._complete(status, text, seconds, streamed=streamed)
        kept = None if body is None else replace(served, body=body)
        # Under a key of older rules, only this test would find it: a later release computes another.
        lasting = self._keying.rules is RULES or self._digest(self.redaction) == self.digest
        underway = response is None and bool(self.wire.body.get("background"))
        durable = lasting and not underway and not refusal
        self.watch.keep(self.digest, self.nth, kept, durable=durable, served=served)

    def _digest(self, redaction: Redaction) -> str:
        return request_digest(
            self.wire, ignore=self.watch.settings.ignore, backend=self.backend, redaction=redaction
        )

    def _complete(
        self, status: int, body: str, seconds: float | None = None, *, streamed: bool = False
    ) -> StoredAnswer:
        return StoredAnswer(
            url=self.url,
            request=self.hidden.body,
            status=status,
            content_type=STREAM if streamed else "application/json",
            body=body,
            backend=self.backend,
            headers=self.hidden.headers,
            ignore=self.watch.settings.ignore,
            created=now(),
            seconds=None if seconds is None else round(seconds, 6),
        )

    def _call(
        self,
        response: Response | None,
        *,
        hit: bool,
        seconds: float,
        price: Price | None = None,
        answered_in: float | None = None,
    ) -> Call:
        model = self.wire.body.get("model")
        simulated = self.watch.route.simulated is not None
        return Call(
            texts=self.summary.texts,
            digest=self.digest,
            nth=self.nth,
            hit=hit,
            response=response,
            seconds=seconds,
            provider="simulated" if simulated else self.summary.provider,
            host=self.summary.host,
            model=model if isinstance(model, str) else "",
            price=price,
            answered_in=answered_in if hit else seconds,
            order=self.order,
            url=self.url,
            body=self.wire.body,
            paid=self.summary.paid and not simulated,
        )

    def _compare_with(self, expected: Prepared) -> None:
        expected.seen = True
        if expected.digest != self.digest:
            self.watch.note(expected.difference(self.wire, self.url, self.watch.settings.ignore))
