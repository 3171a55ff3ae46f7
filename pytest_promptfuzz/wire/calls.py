"""What a run saw on the wire: `Call` and `WireFault`, errors in words; `CallGate`, which calls out wait for."""

from __future__ import annotations

import contextvars
import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.providers.requests import Response, Usage
    from pytest_promptfuzz.storage.answers import AnswerStore


# What went wrong on the wire, in the words of ``TargetError.kind``.


_SHOWN = 300

STREAM = "text/event-stream"
"""The content type of a streamed answer."""

KEEPING = frozenset({307, 308})
"""Redirections that keep method and body."""

_PROXY_REFUSES = 407

_BY_KIND = {
    "bad-request": 400,
    "authentication": 401,
    "billing": 402,
    "not-found": 404,
    "refused": 422,
    "rate-limit": 429,
    "timeout": 504,
}

# By name, through the bases: the classes are httpx's or httpx2's, and we import neither.
_BY_CLASS = {
    "TimeoutException": "timeout",
    "TimeoutError": "timeout",
    "DecodingError": "malformed",
    "UnicodeError": "malformed",
    "TransportError": "connection",
    "OSError": "connection",
}
# Of the transport's own errors, those that another try meets again.
_LASTING = {"UnsupportedProtocol", "LocalProtocolError", "DecodingError", "TooManyRedirects"}

NOT_RECORDED = "not-recorded"
NEVER_SENT = frozenset(
    {
        "budget",
        "unpriced",
        "not-allowed",
        "not-simulated",
        NOT_RECORDED,
        "sealed",
        "unattributed",
        "interrupted",
    }
)
"""Kinds of faults of calls that did not leave."""


def status_of_kind(kind: str) -> int:
    """The HTTP status of a failure that a provider reports inside an answer of status 200.

    >>> status_of_kind("rate-limit"), status_of_kind("server")
    (429, 500)
    """
    return _BY_KIND.get(kind, 500)


def kind_of_exception(error: BaseException) -> str:
    """The kind of an exception that a transport raised: ``timeout``, ``malformed`` or ``connection``."""
    for each in type(error).__mro__:
        if each.__name__ in _BY_CLASS:
            return _BY_CLASS[each.__name__]
    return "connection"


def may_pass(error: BaseException) -> bool:
    """Whether what a transport raised may be gone the next time: not a mistake, and not a certificate."""
    names = {each.__name__ for each in type(error).__mro__}
    if not names & {"TransportError", "OSError"} or names & _LASTING:
        return False
    return "CERTIFICATE" not in str(error).upper()


def describe_exception(error: BaseException, url: str = "") -> str:
    """An exception as a sentence: its class, what it says, and what may mend it.

    Args:
        error: What the transport raised.
        url: What was asked: where a proxy stands before it, that is said.
    """
    said = " ".join(str(error).split())
    name = type(error).__name__
    text = f"{name}: {said[:_SHOWN]}" if said else name
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return f"{text}. If the certificate is to be trusted, let SSL_CERT_FILE name a file with it."
    proxy = _proxy_before(url) if kind_of_exception(error) == "connection" else ""
    return f"{text} (by way of the proxy that {proxy} names)" if proxy else text


def _proxy_before(url: str) -> str:
    """The environment variable that names a proxy for this address; empty where none does."""
    import os
    from urllib.parse import urlsplit
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # it is there, undocumented

    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass_environment(parts.hostname):
        return ""
    names = (f"{parts.scheme}_proxy", "all_proxy")
    return next((each for name in names for each in (name.upper(), name) if os.environ.get(each)), "")


def describe_page(body: bytes) -> str:
    """A web page in the place of a model's answer, as a sentence; empty for what is none.

    >>> describe_page(b"<!doctype html><title>Sign in</title>")[:48]
    "The answer is a web page, 'Sign in', and no JSON"
    """
    start = body[:4000].lstrip()
    if not start[:200].lower().startswith((b"<!doctype html", b"<html")):
        return ""
    title = re.search(rb"<title[^>]*>(.{1,80}?)</title>", start, re.IGNORECASE | re.DOTALL)
    named = f", {' '.join(title[1].decode('utf-8', 'replace').split())!r}," if title else ""
    return (
        f"The answer is a web page{named} and no JSON: a proxy or the network's sign-in page may answer in the model's "
        "place, or the base URL be wrong."
    )


def describe_status(status: int, body: bytes, url: str = "") -> str:
    """An error answer as a sentence: the status and the provider's own message, or which proxy refused.

    Args:
        status: The HTTP status.
        body: Of the answer.
        url: What was asked.
    """
    if status == _PROXY_REFUSES:
        proxy = _proxy_before(url)
        named = f" that {proxy} names" if proxy else ""
        return f"HTTP {status}: the proxy{named} asks for a user and a password."
    if page := describe_page(body):
        return f"HTTP {status}: {page}"
    said = body.decode("utf-8", "replace")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        error = value.get("error", value)
        if isinstance(error, dict):
            error = error.get("message", error)
        said = error if isinstance(error, str) else said
    said = " ".join(said.split())
    return f"HTTP {status}: {said[:_SHOWN]}" if said else f"HTTP {status}"


Price: TypeAlias = "Callable[[], float | None]"
"""Looks up what a call cost, in US dollars, ``None`` where that is not known. The list of prices is slow to load."""


class CallOrder(NamedTuple):
    """Where a call stands in the program of a run, whatever the clock says.

    Attributes:
        number: Which request of the run it is, from 0.
        on_line: Whether the body's own thread or task made it, so that it follows all such calls before it.
        after: The number of the last such call that was made before the thread or task of this one was begun; -1 for
            none, and where that cannot be told.
    """

    number: int = 0
    on_line: bool = True
    after: int = -1


FIRST = CallOrder()


@dataclass(frozen=True, slots=True)
class Call:
    """One model call that was answered.

    Attributes:
        texts: Every text of the request: messages, instructions, system, input, tool results.
        digest: ``request_digest`` of it.
        nth: Which identical request of the trial, from 0.
        hit: Whether it was answered from a store.
        response: The answer as read; ``None`` for what is not text (embeddings) and for a stream that was
            left before its end.
        seconds: From request to the end of the answer; 0.0 for a hit.
        answered_in: The same, for a hit when it was first asked; ``None`` where that was not kept.
        provider: ``openai``, ``anthropic``, ``compatible``, ``simulated``, or an in-process target's name.
        host: The host, with its port where it has one.
        model: The model as asked for.
        price: Looks up its cost; ``None`` for a call that went through no gate.
        order: Where it stands in the program of its run.
        url: Where it went, without secrets.
        body: The request's body as it was sent.
        paid: Whether it may have cost something: no in-process target answered it.
    """

    texts: tuple[str, ...]
    digest: str
    nth: int
    hit: bool
    response: Response | None
    seconds: float
    provider: str
    host: str
    model: str
    price: Price | None = None
    answered_in: float | None = None
    order: CallOrder = FIRST
    url: str = ""
    body: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    paid: bool = True

    @property
    def cost(self) -> float | None:
        """What it cost in US dollars; ``None`` where that is not known."""
        return None if self.price is None else self.price()


class WireFault(NamedTuple):
    """Something that went wrong on the wire and says nothing about the prompt.

    Attributes:
        kind: As ``TargetError.kind``, or ``unattributed``: a call that could not be told to be this trial's.
        status: HTTP status, where there was one.
        message: One sentence, redacted.
        digest: ``request_digest`` of the request.
        recovered: Whether the same request was answered later in the same trial.
        nth: Which identical request of the trial.
        begun: Whether its streamed answer had begun, so that it is among the calls as well.
        waiting: Whether it ended while the call waited for its turn, before anything was sent.
        hit: Whether it is a refusal that the store kept: no call was made.
    """

    kind: str
    status: int | None
    message: str
    digest: str
    recovered: bool = False
    nth: int = 0
    begun: bool = False
    waiting: bool = False
    hit: bool = False

    @property
    def sent(self) -> bool:
        """Whether the call left: it was neither kept, nor refused before, nor cancelled while it waited."""
        return not (self.hit or self.waiting or self.kind in NEVER_SENT)


# What a live model call passes on its way out: it may wait, be refused, and be made again.
#
# The wire only asks; who decides is given to each ``Watch`` (``running.limits``). Nothing here sleeps, so that one gate
# serves threads and event loops alike.


class Outgoing(NamedTuple):
    """A model call about to leave the process.

    Attributes:
        url: Where it goes, without credentials.
        host: The host, with its port where it has one.
        model: The model as asked for.
        size: Bytes of its body.
        bound: The most tokens that its answer may have, as the request itself says; ``None`` if it does not.
        words: Characters of all its texts.
    """

    url: str
    host: str
    model: str
    size: int
    bound: int | None
    words: int


class Passage(Protocol):
    """One call's way through a gate. After a failure that is to be tried again, it starts over with ``delay``."""

    def delay(self) -> float:
        """Seconds to sleep before asking this again; 0.0 once the call may be made.

        Raises:
            TargetError: The call may not be made at all: the budget is spent, say.
        """
        ...

    def answered(self, status: int, headers: Mapping[str, str], *, lasting: bool = False) -> bool:
        """The provider answered; whether the call is to be made again. ``lasting`` is what no other try mends."""
        ...

    def failed(self, *, passing: bool) -> bool:
        """No answer came; whether the call is to be made again. ``passing`` is what another try might mend."""
        ...

    def begun(self) -> None:
        """A streamed answer has begun: the call is not made again, and its end may be a long time off."""
        ...

    def settled(self, usage: Usage | None, words: int) -> Price:
        """The answer is here: its tokens where the provider says, and the characters of its text.

        Returns:
            What looks up its cost, ``None`` where price or tokens are not known.
        """
        ...

    def left(self) -> None:
        """Whoever asked went away: the call was cancelled or interrupted. After ``settled``, nothing."""
        ...

    def tries(self) -> str:
        """What a last failure adds to its message, ``" (tried 4 times)"``; empty after a first try."""
        ...


class CallGate(Protocol):
    """Lets model calls out."""

    def enter(self, outgoing: Outgoing) -> Passage:
        """The passage of one call. Nothing is waited for or counted yet."""
        ...

    def spares(self, calls: Sequence[Outgoing]) -> bool:
        """Whether calls that may turn out to be needless can be made, and as much again be asked after them."""
        ...


class LateGate:
    """A gate that is made when the first call leaves: a run from the store loads nothing for it.

    Args:
        make: Makes it.

    Attributes:
        made: The gate, once there is one.
    """

    def __init__(self, make: Callable[[], CallGate]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.made: CallGate | None = None

    def enter(self, outgoing: Outgoing) -> Passage:
        """The passage of one call."""
        return self._gate().enter(outgoing)

    def spares(self, calls: Sequence[Outgoing]) -> bool:
        """Whether calls that may turn out to be needless can be made."""
        return self._gate().spares(calls)

    def _gate(self) -> CallGate:
        with self._lock:
            if self.made is None:
                self.made = self._make()
        return self.made


# Where models that help to make mutations keep their answers, and which gate their calls pass.
#
# It stands apart from what asks them, so that a run in which none helps does not load that.


helper_store: contextvars.ContextVar[AnswerStore | None] = contextvars.ContextVar(
    "promptfuzz_helper_store", default=None
)
helper_gate: contextvars.ContextVar[CallGate | None] = contextvars.ContextVar(
    "promptfuzz_helper_gate", default=None
)


@contextmanager
def answers_kept_in(store: AnswerStore | None, gate: CallGate | None = None) -> Iterator[None]:
    """Have the models that help keep their answers in ``store`` inside the block, if it is one.

    Their calls pass ``gate`` on their way out.

    An operator's own ``store=`` comes first.
    """
    token = helper_store.set(store if store is not None else helper_store.get())
    passed = helper_gate.set(gate if gate is not None else helper_gate.get())
    try:
        yield
    finally:
        helper_store.reset(token)
        helper_gate.reset(passed)
