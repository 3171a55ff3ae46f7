"""`Session`: what evaluations share: the store, the embedder, limits, the mode; a watch for each run."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz.errors import NotRecordedError, UsageError, not_among
from pytest_promptfuzz.judging.models import find_entailment, find_model
from pytest_promptfuzz.running.run import Crew
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.storage.recordings.places import EMBEDDER, SHRINKING
from pytest_promptfuzz.storage.redaction import DEFAULT, Redaction
from pytest_promptfuzz.wire.calls import NOT_RECORDED, LateGate
from pytest_promptfuzz.wire.network import Network
from pytest_promptfuzz.wire.watch import RecordedRun, RunRoute, RunSettings, SimulatedBackend, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence
    from pathlib import Path

    from pytest_promptfuzz.comparing.meaning import Embedder, Entailment
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.storage.answers import AnswerStore
    from pytest_promptfuzz.targets.simulated import SimulatedTarget
    from pytest_promptfuzz.wire.calls import CallGate
    from pytest_promptfuzz.wire.cassettes import Tape
    from pytest_promptfuzz.wire.network import AllowedHosts, Unfollowed

Mode = Literal["auto", "record", "record-missing", "replay", "live"]
MODES: tuple[Mode, ...] = ("auto", "record", "record-missing", "replay", "live")
CONCURRENCY = 8
RECORDED_SAMPLES = 3
ACCEPTED_SAMPLES = 4
"""How often the unmutated prompt is asked before its answers are accepted. Three others, as a recording has them, could
never prove that three have changed (p is 0.1 at least)."""


def check_mode(mode: str, where: str) -> Mode:
    """The mode, if there is one of that name.

    Raises:
        UsageError: An unknown mode.
    """
    for known in MODES:
        if mode == known:
            return known
    raise UsageError(f"{where}: {not_among(f'mode {mode!r}', mode, MODES)}")


@dataclass(slots=True)
class Session:
    """What evaluations share.

    Attributes:
        store: Where answers are kept between runs; ``None`` keeps them for one test only.
        mode: ``auto`` serves stored answers and calls for the rest; ``record`` calls, and records;
            ``record-missing`` serves what is recorded, and records the rest; ``replay`` serves
            what is recorded, and nothing else; ``live`` always calls.
        embedder: For the semantic tier; ``None`` where it is not installed.
        entailment: Tells whether one claim follows from another; ``None`` where no model is installed.
        concurrency: The most runs at once, for bodies that can overlap.
        gate: What live calls pass: limits, retries, the budget. By default they are tried up to four times, at the
            provider's speed; ``None`` lets them out as they are.
        tape: The recording of the test that this is the session of; ``None`` for none.
        redaction: What is hidden before anything is stored, shown or hashed.
        secrets: The credentials that were seen, for whoever shows what a test says; in memory only.
        speculate: Whether calls of sync bodies may be made before they ask.
        crew: Makes them.
        tests: How many tests share the error that is allowed to a session; see ``stats.repeats.ALPHA``.
        allowed: What tests may reach beside this machine where they are replayed or simulated.
        astray: What was not followed and belongs to no one test.
        earlier: Tells what was begun before the test that runs, and may be used by it.
    """

    store: AnswerStore | None = None
    mode: Mode = "auto"
    embedder: Embedder | None = None
    entailment: Entailment | None = None
    concurrency: int = CONCURRENCY
    gate: CallGate | None = field(default_factory=lambda: LateGate(_limits))
    tape: Tape | None = None
    redaction: Redaction = DEFAULT
    secrets: set[str] = field(default_factory=set)
    speculate: bool = True
    crew: Crew = field(default_factory=Crew)
    tests: int = 1
    allowed: AllowedHosts | None = None
    astray: list[Unfollowed] = field(default_factory=list)
    earlier: Callable[[], Iterable[Unfollowed]] = tuple

    @property
    def records(self) -> bool:
        """Whether this run writes recordings."""
        return self.mode in {"record", "record-missing"}

    @property
    def baseline_runs(self) -> int:
        """How often the unmutated prompt is asked: a recording holds samples enough to tell noise from change."""
        if (
            self.records
        ):  # again as many as the recording holds, so that recording again takes nothing out of it
            had = 0 if self.tape is None else self.tape.samples
            return max(RECORDED_SAMPLES, min(ACCEPTED_SAMPLES, had))
        return 1 if self.tape is None else max(1, min(RECORDED_SAMPLES, self.tape.samples))

    @property
    def first_sample(self) -> int:
        """The number of the first sample that is asked of each prompt."""
        return 0

    @property
    def recorded(self) -> Container[str]:
        """The keys of the answers that the recording has given, so far."""
        return frozenset() if self.tape is None else self.tape.served

    @property
    def keying(self) -> Redaction:
        """What is hidden before keys are computed: of a recorded test, what was hidden when it was recorded."""
        return self.redaction if self.tape is None else self.redaction.under(self.tape.rules)

    def test(self, network: Network | None = None, *, read: bool = True) -> TestWatches:
        """The watches of one test: they share the answers that the repeat run is served from.

        Args:
            network: The test's; ``None`` for one of their own.
            read: Whether stored answers may serve it, if the mode lets them.
        """
        case = self.tape.begin() if self.tape is not None else 0
        network = network if network is not None else self.network()
        return TestWatches(self, network, case, read=read and self.mode != "live")

    def network(self, *, simulated: bool = False) -> Network:
        """What a test may reach beside its model calls, and where it is noted what it reached.

        Args:
            simulated: Whether the simulated model answers in every provider's place, so that nothing has to leave.
        """
        confined = "a replayed test" if self.mode == "replay" else "a simulated test" if simulated else ""
        return Network(self.allowed, confined=confined, astray=self.astray, earlier=self.earlier)

    def apart(
        self, network: Network, *, repeat: int = 0, read: bool = True, ignore: Sequence[str] = ()
    ) -> Watch:
        """A watch for a call that is made before its run has come to it; the run's own watch adopts what it saw."""
        told = RunSettings(
            store=self.store,
            fresh=MemoryStore(),
            tape=self.tape,
            repeat=repeat,
            read=read and self.mode != "live",
            ignore=tuple(ignore),
            redaction=self.redaction,
            recorded_under=self.keying,
            apart=True,
        )
        return Watch(told, RunRoute(self.gate), network=network, secrets=self.secrets)


@dataclass(slots=True)
class TestWatches:
    """Makes the watches of one test's runs.

    Attributes:
        network: The test's.
        embedding: Of the calls for embeddings; ``None`` where no provider is asked for them.
    """

    __test__ = False  # not a test class, whatever pytest makes of its name

    session: Session
    network: Network
    case: int = 0
    read: bool = True
    fresh: MemoryStore = field(default_factory=MemoryStore)
    embedding: Watch | None = None
    _embedder: Embedder | None = None

    def watch(
        self,
        route: RunRoute | None = None,
        *,
        repeat: int = 0,
        control: bool = False,
        ignore: Sequence[str] = (),
        concurrent: bool = False,
        mutation: Mutation | None = None,
        spare: bool = False,
    ) -> Watch:
        """A watch for one run.

        Args:
            route: How its calls go out, but for the gate, which is the session's.
            repeat: Which sample is asked for, from 0: how often the same prompt was asked in this case before.
            control: Serve what the baseline was answered, and refuse to ask anything else.
            ignore: JSON paths left out of keys.
            concurrent: Whether other runs overlap this one.
            mutation: The trial's; ``None`` for the baseline.
            spare: Whether the verdict does without it.
        """
        session, tape = self.session, None if control else self.session.tape
        part = (
            RecordedRun(self.case)
            if mutation is None
            else RecordedRun(self.case, mutation.id, mutation.operators)
        )
        told = RunSettings(
            store=None if control else session.store,
            fresh=self.fresh,
            tape=tape,
            recorded=session.recorded,
            part=RecordedRun(self.case, SHRINKING) if spare else part,
            repeat=session.first_sample + repeat,
            read=self.read,
            ignore=tuple(ignore),
            redaction=session.redaction,
            recorded_under=session.keying,
            concurrent=concurrent,
            sealed=control,
        )
        route = route if route is not None else RunRoute()
        route.gate = session.gate
        watch = Watch(told, route, network=self.network, secrets=session.secrets)
        if tape is not None:
            tape.watched(self.case, watch)
        return watch

    def beside(self, name: str) -> Watch:
        """A watch for what helps to compare the answers: no run of the application, and none of its calls.

        Args:
            name: Who is asked, one of ``part.BESIDE``.
        """
        watch = self.watch()
        watch.settings.part, watch.settings.apart = RecordedRun(self.case, name), True
        watch.network = self.session.network()
        return watch

    def embedder(self) -> Embedder | None:
        """What embeds the answers of this test; a provider is asked under a watch of the test's own."""
        embedder = self.session.embedder
        if embedder is None:
            return None
        from pytest_promptfuzz.judging.meaning import AskingEmbedder

        if self.embedding is None and isinstance(embedder, AskingEmbedder):
            self.embedding = self.beside(EMBEDDER)
            self._embedder = embedder.under(self.embedding)
        return self._embedder or embedder

    def again(self) -> TestWatches:
        """The watches of the same runs made anew: nothing that is stored serves them."""
        if self.session.tape is not None:
            self.session.tape.forget(self.case)
        return TestWatches(self.session, self.network, self.case, read=False)

    def done(self, plan: dict[str, Any] | None = None, *, failed: bool = False) -> None:
        """Every run was made.

        Args:
            plan: What the mutations are recorded as.
            failed: Whether the unmutated prompt failed, so that none was tried.
        """
        if self.session.tape is not None:
            self.session.tape.done(self.case, plan, failed=failed)


def _limits() -> CallGate:
    from pytest_promptfuzz.running.limits.limits import SessionLimits

    return SessionLimits()


def simulated_of(target: object) -> SimulatedTarget | None:
    """The target, if it is the simulated one; its modules are not loaded to find out."""
    module = sys.modules.get("pytest_promptfuzz.targets.simulated.target")
    return target if module is not None and isinstance(target, module.SimulatedTarget) else None


def simulated_backend(target: SimulatedTarget | None) -> SimulatedBackend | None:
    """What answers in every provider's place where a test's target is the simulated one."""
    if target is None:
        return None
    return SimulatedBackend(target.model, target.address)


def installed_embedder(
    model: str | None = None,
    folder: Path | None = None,
    warn: Callable[[str], None] = lambda _: None,
    *,
    provider: str | None = None,
) -> Embedder | None:
    """The embedder of the semantic tier, not yet loaded; ``None`` where library or model is missing.

    Args:
        model: A folder that holds the model; ``None`` is all-MiniLM-L6-v2 as installed or downloaded before.
        provider: Who is asked instead, as ``openai:text-embedding-3-small``.
        folder: The project's ``.promptfuzz``, where vectors are kept; ``None`` for nowhere.
        warn: Called with a sentence where they cannot be kept.
    """
    found = find_model(model) if provider is None else None
    if found is not None and found.folder is None:
        return None
    from pytest_promptfuzz.judging.encoders import ProviderEmbedder, embedder_of
    from pytest_promptfuzz.judging.meaning import CachedEmbedder, VectorFile

    vectors = None if folder is None else VectorFile(folder, warn)
    if provider is not None:
        return ProviderEmbedder(provider, vectors)
    embedder = None if found is None else embedder_of(found)
    return None if embedder is None else CachedEmbedder(embedder, vectors)


def installed_entailment(
    model: str | None = None, folder: Path | None = None, warn: Callable[[str], None] = lambda _: None
) -> Entailment | None:
    """What tells entailment, not yet loaded; ``None`` where library or model is missing.

    Args:
        model: A folder that holds the model; ``None`` is what the environment names or what is installed.
        folder: The project's ``.promptfuzz``, where verdicts are kept; ``None`` for nowhere.
        warn: Called with a sentence where they cannot be kept.
    """
    found = find_entailment(model)
    if found.folder is None:
        return None
    from pytest_promptfuzz.judging.encoders import entailment_of
    from pytest_promptfuzz.judging.meaning import CachedEntailment, VectorFile

    entailment = entailment_of(found)
    if entailment is None:
        return None
    return CachedEntailment(entailment, None if folder is None else VectorFile(folder, warn))


# What a replay asked and is not recorded.


_SHOWN_FAULTS = 3


def refuse_unrecorded(tape: Tape | None, runs: Iterable[Run]) -> None:
    """Nothing is concluded from runs that asked what is not recorded.

    Raises:
        NotRecordedError: One of them did; the message has the first few.
    """
    refuse(tape, (run.watch for run in runs))


def refuse(tape: Tape | None, watches: Iterable[Watch]) -> None:
    """As ``refuse_unrecorded``, of what watches saw."""
    if tape is None or not tape.strict:
        return
    found = [fault.message for watch in watches for fault in watch.faults if fault.kind == NOT_RECORDED]
    said = list(dict.fromkeys(found))
    if said:
        rest = len(said) - _SHOWN_FAULTS
        more = f" And {rest} more." if rest > 0 else ""
        raise NotRecordedError(f"{tape.where}: {' '.join(said[:_SHOWN_FAULTS])}{more}")
