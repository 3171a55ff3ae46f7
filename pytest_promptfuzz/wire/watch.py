"""`Watch`: one run on the wire: what it is told, how its calls go out, and the log of what it saw."""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
import weakref
from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.storage.answers import exchange_key
from pytest_promptfuzz.storage.claims import Claims, claim_in
from pytest_promptfuzz.storage.recordings.places import BESIDE, SHRINKING
from pytest_promptfuzz.storage.redaction import DEFAULT, Redaction
from pytest_promptfuzz.wire.calls import KEEPING, CallOrder
from pytest_promptfuzz.wire.network import Network

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from pytest_promptfuzz.providers.requests import Response, WireRequest
    from pytest_promptfuzz.storage.answers import AnswerStore, MemoryStore, StoredAnswer
    from pytest_promptfuzz.storage.claims import Turn
    from pytest_promptfuzz.storage.recordings.cassette import Cassette
    from pytest_promptfuzz.wire.calls import Call, CallGate, Price, WireFault
    from pytest_promptfuzz.wire.in_flight import InFlight
    from pytest_promptfuzz.wire.network import Unseen
    from pytest_promptfuzz.wire.traces import EarlyCall, OngoingCall, Trace


class SimulatedBackend(NamedTuple):
    """The simulated model, answering in the provider's place.

    Attributes:
        model: Answers requests: ``answer(request, *, sample)``.
        version: Part of every key, so that its answers are never taken for a provider's. It names whatever
            changes an answer: ``simulated-2?noise=0.2&seed=3``.
    """

    model: Any
    version: str


class RecordedRun(NamedTuple):
    """One run of a test: a sample of its baseline, or a trial.

    Attributes:
        case: Which example or input of the test, from 0.
        trial: The trial's ID; empty in a baseline; one of ``BESIDE`` for what is no trial of a plan.
        operators: Of the trial's mutation, for messages.
        unscored: Whether it is a control that the test does not name.
    """

    case: int = 0
    trial: str = ""
    operators: tuple[str, ...] = ()
    unscored: bool = False

    @property
    def spare(self) -> bool:
        """Whether the verdict does without it: that it has no answer leaves no gap in a recording."""
        return self.trial == SHRINKING or self.unscored

    def shown(self, repeat: int) -> str:
        """As people call it: ``the baseline``, ``trial 7e589339239b (typo@1)``."""
        if self.trial in BESIDE:
            return BESIDE[self.trial]
        if self.trial:
            again = f", asked again ({repeat})" if repeat else ""
            return f"trial {self.trial} ({', '.join(self.operators)}){again}"
        return f"sample {repeat} of the baseline" if repeat else "the baseline"


UNNAMED = RecordedRun()


@dataclass(slots=True)
class RunSettings:
    """What one run is told: which it is, and where its answers come from and go to.

    Attributes:
        store: Where answers are kept between runs; ``None`` keeps none.
        fresh: What this test was answered; the repeat run is served from it whatever the store may do.
        tape: What is recorded of its test; ``None`` for nothing.
        recorded: The keys of the answers that its test was given from the recording, so far.
        part: Which run of its test it is.
        repeat: Which sample of the baseline is served, from 0.
        read: Whether answers of ``store`` are served; ``fresh`` always is.
        ignore: JSON paths of request bodies that are left out of keys.
        redaction: What is hidden before anything is stored, shown or hashed.
        recorded_under: What was hidden when the test's recording was made, where that is not ``redaction``: the rules
            may be older.
        concurrent: Other trials run at the same time, so that a call from a thread that lost its context
            cannot be told to be this trial's.
        sealed: Nothing is asked that ``fresh`` does not hold, so that a repeat run is free: a call that
            would have to be made is refused, and is a fault of the kind ``sealed``.
        apart: It sees calls of ours in the background: no call that has lost its context is one of them.
        case: Which example or input of its test it is of, from 0.
    """

    store: AnswerStore | None = None
    fresh: MemoryStore | None = None
    tape: Cassette | None = None
    recorded: Container[str] = frozenset()
    part: RecordedRun = UNNAMED
    repeat: int = 0
    read: bool = True
    ignore: tuple[str, ...] = ()
    redaction: Redaction = DEFAULT
    recorded_under: Redaction | None = None
    concurrent: bool = False
    sealed: bool = False
    apart: bool = False
    case: int = 0

    @property
    def keying(self) -> Redaction:
        """What is hidden before keys are computed."""
        return self.recorded_under or self.redaction

    @property
    def readable(self) -> AnswerStore | None:
        """The store, if it may serve the run: it is not to be asked anew, and nothing else has to serve it."""
        alone = self.tape is not None and self.tape.alone
        return self.store if self.read and not alone else None

    def keyed(self, secrets: tuple[str, ...]) -> Redaction:
        """What is hidden before the key of a request is computed that carries these credentials."""
        keying = self.recorded_under or self.redaction
        return keying.with_values(secrets) if secrets and keying.rules.credentials else keying

    def hiding(self, secrets: tuple[str, ...], *, keyed: bool) -> tuple[Redaction, Redaction]:
        """What is hidden of a request that carries these credentials, and what before its key is computed.

        Args:
            secrets: The credentials.
            keyed: Whether they count for the key.
        """
        redaction = self.redaction.with_values(secrets) if secrets else self.redaction
        if not keyed:
            return redaction, self.keying
        return redaction, redaction if self.keying is self.redaction else self.keyed(secrets)


@dataclass(slots=True)
class RunRoute:
    """How the calls of one run go out.

    Attributes:
        gate: What live calls pass on their way out; ``None`` lets them out as they are.
        in_flight: Looks on what the requests say, and puts other words in their place.
        simulated: Answers instead of the network.
        notebook: Takes the calls that would have to be made, none of which is; ``None`` where they are.
        trace: The requests in order, where somebody wants to know.
        early: Calls made early for this run, by digest and index.
        given_up: By digest, what a request met the last time it was tried.
    """

    gate: CallGate | None = None
    in_flight: InFlight | None = None
    simulated: SimulatedBackend | None = None
    notebook: Notebook | None = None
    trace: Trace | None = None
    early: dict[tuple[str, int], EarlyCall] = field(default_factory=dict)
    given_up: dict[str, Exception] = field(default_factory=dict)


class CallLog:
    """What one run saw of the wire. Safe to use from several threads.

    Attributes:
        calls: Answered calls in the order in which they were answered.
        faults: What went wrong, in order.
        notes: Sentences the person must see.
        refused: Connections that it must not make, a sentence each.
        unattributed: Calls from threads that had lost their context. Above 0 the trials of this test are to
            run in sequence; with ``concurrent`` the calls were refused, and this trial must be run again.
        retries: Calls that were made once more after a failure, by the gate's decision.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.faults: list[WireFault] = []
        self.notes: list[str] = []
        self.refused: list[str] = []
        self.unattributed = 0
        self.retries = 0
        self._line: tuple[int, Any] | None = None
        self._asked = 0
        self._key = object()
        self._lock = threading.RLock()

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text seen in an answered request, in order."""
        with self._lock:
            return tuple(text for call in self.calls for text in call.texts)

    @property
    def hits(self) -> int:
        """Calls answered from a store."""
        with self._lock:
            return sum(call.hit for call in self.calls)

    @property
    def misses(self) -> int:
        """Calls that were really made."""
        with self._lock:
            return sum(not call.hit for call in self.calls)

    def begin_line(self) -> None:
        """The body begins here: the calls of this thread, and in it of this task, are made one after the other."""
        task = _task()
        # Not the task itself: its result is the run, which holds this watch.
        self._line = threading.get_ident(), None if task is None else weakref.ref(task)
        _passed.set(None)

    def order_here(self) -> CallOrder:
        """Where a call that is made here stands in the program of the run."""
        on_line = self._line is None or _is_on(*self._line)
        passed = _passed.get()
        with self._lock:
            number = self._asked
            self._asked += 1
        if on_line:
            _passed.set((self._key, number))
        return CallOrder(number, on_line, passed[1] if passed is not None and passed[0] is self._key else -1)

    def record(self, call: Call) -> None:
        """Add an answered call, and mark earlier faults of the same request as recovered."""
        with self._lock:
            self.calls.append(call)
            self._recover(call)

    def begin(self, call: Call) -> int:
        """Add a call whose streamed answer has only begun; returns its place, for ``complete``."""
        with self._lock:
            self.calls.append(call)
            return len(self.calls) - 1

    def complete(
        self,
        place: int,
        response: Response | None,
        seconds: float,
        *,
        price: Price | None = None,
        whole: bool = True,
    ) -> None:
        """Fill in the answer of a call added by ``begin``; ``whole=False`` if it was left before its end."""
        with self._lock:
            call = replace(
                self.calls[place], response=response, seconds=seconds, answered_in=seconds, price=price
            )
            self.calls[place] = call
            if whole:
                self._recover(call)

    def fault(self, fault: WireFault) -> None:
        """Add a fault."""
        with self._lock:
            self.faults.append(fault)

    def led_on(self, digest: str, nth: int) -> None:
        """Take back the fault of a redirection: the application's library follows it."""
        with self._lock:
            self.faults[:] = [
                each
                for each in self.faults
                if (each.digest, each.nth) != (digest, nth) or each.status not in KEEPING
            ]

    def note(self, text: str) -> None:
        """Add a sentence the person must see, once."""
        with self._lock:
            if text not in self.notes:
                self.notes.append(text)

    def refuse(self, text: str) -> None:
        """Add a connection that it must not make, and say so."""
        self.refused.append(text)
        self.note(text)

    def unrecovered(self) -> tuple[WireFault, ...]:
        """The faults after which the same request was never answered: the last of each request."""
        with self._lock:
            last = {(each.digest, each.nth): each for each in self.faults if not each.recovered}
            return tuple(last.values())

    def asked(self) -> Counter[str]:
        """How often each request was asked, by digest; one that was retried until it was answered was asked once."""
        with self._lock:
            asked = Counter(call.digest for call in self.calls)
            open_ = {(each.digest, each.nth) for each in self.faults if not each.recovered}
        asked.update(digest for digest, _ in open_)
        return asked

    def retried(self) -> None:
        """Count a call that is made once more."""
        with self._lock:
            self.retries += 1

    def lost_context(self) -> None:
        """Count a call from a thread that had lost its context."""
        with self._lock:
            self.unattributed += 1

    def _recover(self, call: Call) -> None:
        for index, fault in enumerate(self.faults):
            if (fault.digest, fault.nth) == (call.digest, call.nth) and not fault.recovered:
                self.faults[index] = fault._replace(recovered=True)


class Watch(CallLog):
    """The log of one run, with what the run is told and how its calls go out.

    Args:
        settings: What it is told; a run that nothing is stored of by default.
        route: How its calls go out; straight to the network by default.
        network: What it may reach beside its model calls, and what it reached; its test's.
        secrets: The credentials that were seen, its session's.

    Attributes:
        settings: As above.
        route: As above.
        network: As above.
        secrets: As above.
        claims: Calls of it that others wait for, once there are any.
    """

    def __init__(
        self,
        settings: RunSettings | None = None,
        route: RunRoute | None = None,
        *,
        network: Network | None = None,
        secrets: set[str] | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings if settings is not None else RunSettings()
        self.route = route if route is not None else RunRoute()
        self.network = network if network is not None else Network()
        self.secrets = secrets if secrets is not None else set()
        self.claims: Claims | None = None
        self._taken: dict[str, set[int]] = {}

    @property
    def backend(self) -> str:
        """Who answers: ``live``, or the simulated model's version."""
        return self.route.simulated.version if self.route.simulated is not None else "live"

    @property
    def unseen(self) -> list[Unseen]:
        """Requests and processes that its test began and that cannot be followed."""
        return self.network.begun

    def enter(self, digest: str) -> tuple[int, CallOrder]:
        """The index of a request among identical ones, now taken, and where the call stands in the program."""
        return self.reserve(digest), self.order_here()

    def reserve(self, digest: str) -> int:
        """The lowest index not yet taken by an identical request of this trial, now taken."""
        with self._lock:
            taken = self._taken.setdefault(digest, set())
            nth = 0
            while nth in taken:
                nth += 1
            taken.add(nth)
            return nth

    def release(self, digest: str, nth: int) -> None:
        """Give an index back: its request failed, and a retry of it is the same request."""
        with self._lock:
            self._taken.get(digest, set()).discard(nth)
        self.unclaim(exchange_key(digest, self.settings.repeat, nth))

    def unclaim(self, key: str | None = None) -> None:
        """The call whose answer is kept under a key is over; without one, all are."""
        if self.claims is not None and key is None:
            self.claims.release_all()
        elif self.claims is not None and key is not None:
            self.claims.release(key)

    def turn(self, digest: str, nth: int, look: Callable[[], StoredAnswer | None]) -> Turn:
        """The turn of a call that has to be made; those who would find its answer wait for it."""
        key = exchange_key(digest, self.settings.repeat, nth)
        store = self.settings.readable
        with self._lock:
            self.claims = self.claims or Claims()
        return self.claims.turn(key, None if store is None else claim_in(store, key), look)

    def lookup(self, digest: str, nth: int) -> StoredAnswer | None:
        """The stored answer that serves this request, if there is one."""
        told, store = self.settings, self.settings.readable
        key = exchange_key(digest, told.repeat, nth)
        answer = told.fresh.get(key) if told.fresh is not None else None
        if answer is None and told.read and told.tape is not None:
            answer = told.tape.get(key)
        if answer is None and store is not None:
            answer = store.get(key)
        if answer is not None and told.fresh is not None:
            told.fresh.put(key, answer)  # the repeat run is served it as well
        return answer

    def from_recording(self, digest: str, nth: int) -> bool:
        """Whether the stored answer that served this request stands in the recording."""
        return exchange_key(digest, self.settings.repeat, nth) in self.settings.recorded

    def keep(
        self,
        digest: str,
        nth: int,
        answer: StoredAnswer | None,
        *,
        durable: bool = True,
        served: StoredAnswer | None = None,
    ) -> None:
        """Store a fresh, complete answer; ``None`` if it may not be written, ``durable=False`` if not for other runs.

        ``served`` is what the application was given, secrets included: this test's repeat run is served it too.
        """
        told = self.settings
        key = exchange_key(digest, told.repeat, nth)
        if told.fresh is not None and (given := served or answer) is not None:
            told.fresh.put(key, given)
        if answer is not None and told.tape is not None:
            told.tape.keep(key, answer)  # a refusal too: a replay has to give it again
        if answer is not None and durable and told.store is not None:
            told.store.put(key, answer)
        if self.claims is not None:
            self.claims.release(key)

    def keep_refused(self, digest: str, nth: int, answer: StoredAnswer) -> None:
        """Record a request that the provider does not accept: a mutation may be why, and a replay has to repeat it."""
        if self.settings.tape is not None:
            self.settings.tape.keep(exchange_key(digest, self.settings.repeat, nth), answer)


current: ContextVar[Watch | None] = ContextVar("promptfuzz_watch", default=None)
# The last call of the body's own line that is known here. A task or a copied context takes it along when it is begun.
_passed: ContextVar[tuple[object, int] | None] = ContextVar("promptfuzz_passed", default=None)
_active: list[Watch] = []
_active_lock = threading.Lock()


@contextlib.contextmanager
def watching(watch: Watch, *, line: bool = False) -> Iterator[Watch]:
    """Let ``watch`` see the model calls made inside the block, in this context and what inherits it.

    Args:
        watch: Sees them.
        line: Whether the block is a run's body, as of ``begin_line``.
    """
    token = current.set(watch)
    if not watch.settings.apart:
        with _active_lock:
            _active.append(watch)
    if line:
        watch.begin_line()
    try:
        yield watch
    finally:
        with _active_lock:
            # By identity, from the end: the same watch may be entered more than once.
            for index in range(len(_active) - 1, -1, -1):
                if _active[index] is watch:
                    del _active[index]
                    break
            over = not any(each is watch for each in _active)
        if over and not watch.settings.apart:
            watch.unclaim()
        # In a generator fixture set-up and tear-down may run in different contexts.
        with contextlib.suppress(ValueError):
            current.reset(token)


def likely() -> Watch | None:
    """The watch of the running code, or the only one there is; nothing is counted."""
    watch = current.get()
    if watch is not None:
        return watch
    with _active_lock:
        running = {id(each): each for each in _active}
    return next(iter(running.values())) if len(running) == 1 else None


def is_running(watch: Watch) -> bool:
    """Whether a block of ``watching`` holds it."""
    with _active_lock:
        return any(each is watch for each in _active)


def running() -> list[Watch]:
    """The watches of the runs that go on."""
    with _active_lock:
        return [*_active]


def attributed() -> tuple[Watch | None, tuple[Watch, ...]]:
    """Whose call the running code makes.

    Returns:
        The watch, and the watches it might be instead. ``(watch, ())``: known, or nobody else runs.
        ``(None, ())``: no trial is running. ``(None, watches)``: the context is lost and cannot be told.
    """
    watch = current.get()
    if watch is not None:
        return watch, ()
    with _active_lock:
        running = tuple({id(each): each for each in _active}.values())
    if len(running) == 1 and not running[0].settings.concurrent:
        running[0].lost_context()
        return running[0], ()
    return None, running


def _is_on(thread: int, task: weakref.ref[Any] | None) -> bool:
    """Whether the running code is the line that began in this thread and task: nothing of it overlaps itself."""
    if threading.get_ident() != thread:
        return False
    now = _task()
    if task is None:
        return now is None or now is _driven()
    return now is not None and now is task()


def _task() -> Any:
    """The task that is running in this thread; ``None`` for none. Neither library is loaded to find out."""
    for name in ("asyncio", "trio.lowlevel"):
        current_task = getattr(sys.modules.get(name), "current_task", None)
        if current_task is not None:
            with contextlib.suppress(RuntimeError):  # no loop of this kind runs here
                return current_task()
    return None


def _driven() -> Any:
    """The task for which sync code runs a loop in this thread and waits (``asyncio.run``); ``None`` if it is not known.

    Nothing public tells it from the tasks that it begins, and the order of calls must not depend on which of them is
    the first to ask. The loop's own frame holds it; a loop that is written in C has none.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if (
            frame.f_code.co_name == "run_until_complete"
            and frame.f_globals.get("__name__") == "asyncio.base_events"
        ):
            return frame.f_locals.get("future")
        frame = frame.f_back
    return None


# A call that was seen by a watch of its own becomes one of the run that it was made for.


def adopt(watch: Watch, other: Watch, order: CallOrder | None = None) -> None:
    """Let a run have seen what another watch saw of its call.

    Args:
        watch: The run's; the call's index is taken in it.
        other: The call's.
        order: Where the run made the call; by default here.
    """
    for call in other.calls:
        watch.record(replace(call, order=watch.order_here() if order is None else order))
    # Faults know whether they were recovered: a call that is recorded after them would say that they were.
    for fault in other.faults:
        watch.fault(fault)
    for text in other.notes:
        watch.note(text)
    for _ in range(other.retries):
        watch.retried()
    watch.route.given_up.update(other.route.given_up)
    if watch.settings.fresh is not None and other.settings.fresh is not None:
        for key, answer in other.settings.fresh.items():
            watch.settings.fresh.put(key, answer)


# What a run would ask: it goes up to the first call that has no answer yet, which is noted and not made.


_SIMULATED = "simulated/"  # how the backend of the simulated model begins; it costs nothing


class NotYetError(BaseException):
    """Ends a run at a call that has no answer yet; no ``except Exception`` of an application holds it up."""


class Noted(NamedTuple):
    """A call that has no answer yet.

    Attributes:
        wire: The request.
        digest: ``request_digest`` of it.
        nth: Which identical request of the run, from 0.
    """

    wire: WireRequest
    digest: str
    nth: int


@dataclass(slots=True)
class Notebook:
    """What one run would ask.

    Attributes:
        noted: Several where a run makes several calls at once.
    """

    noted: list[Noted] = field(default_factory=list)

    def stop(self, call: OngoingCall, backend: str) -> None:
        """Note a call and end the run, but for a call that costs nothing.

        Args:
            call: The call.
            backend: Who answers it.

        Raises:
            NotYetError: The call was noted.
        """
        if not backend.startswith(_SIMULATED):
            self.noted.append(Noted(call.wire, call.digest, call.nth))
            raise NotYetError
