"""What the plugin keeps: run-wide settings and the session, made on first need; a test's result."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import ConfigurationError, StoreError, UsageError, unstopped
from pytest_promptfuzz.evaluating.pyproject import PROFILES, read_tool
from pytest_promptfuzz.judging.models import Configured
from pytest_promptfuzz.judging.models import configure as configure_models
from pytest_promptfuzz.plugin.marks import PlanChoice, read_choice
from pytest_promptfuzz.plugin.options import (
    check_mode,
    check_overrides,
    check_shared,
    chosen_mode,
    read_overrides,
    read_patterns,
    read_settings,
)
from pytest_promptfuzz.plugin.output.session_finish import Ending
from pytest_promptfuzz.plugin.replays import RESULTS, PinKeeper
from pytest_promptfuzz.plugin.snapshots import Gone, Updates, check_update
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wire.network import Beforehand, innermost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from warnings import WarningMessage

    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.plugin.lookahead import LookAhead
    from pytest_promptfuzz.providers.requests import Target
    from pytest_promptfuzz.reporting.model import TestReport, TestSummary
    from pytest_promptfuzz.running.limits.budget import Prices
    from pytest_promptfuzz.running.limits.limits import SessionLimits
    from pytest_promptfuzz.storage.redaction import Redaction
    from pytest_promptfuzz.targets.resolution import CallableTarget
    from pytest_promptfuzz.wire.recordings import Recordings


# From options and pyproject.toml to the limits of a session, shared between the workers of pytest-xdist.


RUN = "testrunuid"  # what xdist calls the name that all workers of a run share
_STALE = 24 * 3600.0


def read_tables(root: Path) -> dict[str, Any]:
    """``[tool.promptfuzz]`` of the project's pyproject.toml; empty where there is none.

    Raises:
        pytest.UsageError: The file cannot be read, or limits and prices in it are wrong.
    """
    try:
        return read_tool(root)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def read_profiles(tables: Mapping[str, Any]) -> dict[str, Profile]:
    """The project's own profiles in ``[tool.promptfuzz]``, by name.

    Raises:
        pytest.UsageError: One of them is wrong.
    """
    if "profiles" not in tables:
        return {}
    from pytest_promptfuzz.comparing.profiles import profiles_from

    try:
        return profiles_from(tables["profiles"], PROFILES)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def make_limits(state: State) -> SessionLimits:
    """The gate of this process; the workers of one run share what they count."""
    from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings, rules_and_prices

    rules, prices = rules_and_prices(state.tables)
    settings = Settings.of(state.settings, rules=rules, prices=prices, prefix="--promptfuzz-", dry=state.dry)
    run = getattr(state.config, "workerinput", {}).get(RUN)
    if run is None:
        return SessionLimits(settings, told=_line(state))
    from pytest_promptfuzz.running.limits.budget import SharedLedger

    return SessionLimits(settings, ledger=SharedLedger(shared_file(state, run), state.warnings.append))


def _line(state: State) -> Callable[[str], None] | None:
    """Writes a line to the terminal while a test runs; ``None`` where there is none, or it is to be quiet."""
    from pytest_promptfuzz.plugin.output.progress import Screen

    manager = state.config.pluginmanager
    reporter = manager.getplugin("terminalreporter")
    if reporter is None or state.config.get_verbosity() < 0:
        return None
    screen = Screen(reporter, manager.getplugin("capturemanager"))
    return lambda text: screen.write(f"\npromptfuzz: {safe(text)}\n")


def prices_of(state: State) -> Prices:
    """What calls cost, the user's own prices first."""
    from pytest_promptfuzz.running.limits.budget import Prices
    from pytest_promptfuzz.running.limits.limits import rules_and_prices

    return Prices(rules_and_prices(state.tables)[1])


def shared_file(state: State, run: str) -> Path:
    """Where the workers of a run keep their books together."""
    file: Path = state.config.rootpath / state.settings["cache_dir"] / "limits" / f"{run}.db"
    return file


def forget_run(state: State, run: str) -> None:
    """Delete the books of a run that has ended, and those that a killed one left a day ago."""
    file = shared_file(state, run)
    for each in file.parent.glob("*.db*"):
        try:
            if each.name.startswith(run) or time.time() - each.stat().st_mtime > _STALE:
                each.unlink()
        except OSError:  # another run is doing the same, or may do what this one may not
            continue


# Recordings and pytest's items: which session an item runs in, when its recording is complete, when it is written.


SPOOLS = "recording"
"""The folder, in that of stored answers, of what a recording run has been answered so far."""


@dataclass(slots=True)
class ItemSessions:
    """Gives each item a session with a recording of its own.

    Attributes:
        session: What all items share.
        recordings: The project's; ``None`` where none are used.
    """

    session: Session
    recordings: Recordings | None

    def of(self, item: pytest.Item) -> Session:
        """The session of an item, the same until its test is over.

        Raises:
            ConfigurationError: This run records, and cannot write.
        """
        if self.recordings is None:
            return self.session
        found = item.stash.get(SESSION, None)
        if found is None:
            test = item.nodeid.partition("::")[2] or item.name
            try:
                if self.recordings.records:
                    from pytest_promptfuzz.files import check_inside
                    from pytest_promptfuzz.storage.recordings.files import recording_of

                    check_inside(recording_of(item.path), item.config.rootpath)
                tape = self.recordings.tape(item.path, test, item.nodeid)
            except StoreError as error:
                item.stash[UNWRITTEN] = True
                raise ConfigurationError(f"{item.nodeid} cannot be recorded: {error}") from None
            found = item.stash[SESSION] = replace(self.session, tape=tape)
        return found


@dataclass(slots=True)
class RecordingSummary:
    """What a recording run has to say at its end.

    Attributes:
        done: A sentence for each recording that was written.
        incomplete: Why a test is not recorded, by test.
        cut_short: Whether the run did not come to its end, or could not write all that was answered. The answers of
            the tests that it recorded are then kept for the next recording run, which goes on with it.
    """

    done: list[str] = field(default_factory=list)
    incomplete: dict[str, str] = field(default_factory=dict)
    cut_short: bool = False
    _ended: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)

    def see(self, report: pytest.TestReport) -> None:
        """A phase of a test is over."""
        self._seen.add(report.nodeid)
        self._ended.update(filter(None, [getattr(report, "promptfuzz_recorded", "")]))
        if hasattr(report, "promptfuzz_unwritten"):
            self.cut_short = True
        if hasattr(report, "promptfuzz_unrecorded"):
            self.incomplete[report.nodeid] = report.promptfuzz_unrecorded
        elif report.when == "call":
            self.incomplete.pop(report.nodeid, None)

    def write(
        self, session: pytest.Session, folder: Path, warn: Callable[[str], None], *, whole: bool
    ) -> None:
        """The session of the process that prints is over: put what is recorded into its files.

        Args:
            session: The session.
            folder: That of stored answers.
            warn: Called with each sentence on what is wrong.
            whole: Whether pytest came to its end; one that was told to stop after its last test did.
        """
        from pytest_promptfuzz.wire.recordings import write_finished

        stopped = session.shouldfail or session.shouldstop
        items = getattr(session, "items", None) or []  # the process that starts workers has none
        left = bool(stopped) and not (items and all(each.nodeid in self._seen for each in items))
        over = set() if self.cut_short or left or not whole else self._ended
        self.done.extend(write_finished(folder / SPOOLS, warn, over=over))
        if self._ended and not over:
            self.done.append(
                "the recording run did not come to its end: record again to go on; what was answered is kept, and is "
                "not asked for again"
            )

    def lines(self) -> list[str]:
        """What the summary shows."""
        missing = [f"not recorded: {test}: {why}" for test, why in self.incomplete.items()]
        return [*self.done, *missing]


def ended(item: pytest.Item, report: pytest.TestReport) -> None:
    """An item's call is over: close its recording, or say on its report why it is not complete."""
    if item.stash.get(UNWRITTEN, False):
        report.promptfuzz_unwritten = True  # type: ignore[attr-defined]  # plain data survives xdist
    session = item.stash.get(SESSION, None)
    if session is None:
        return
    del item.stash[SESSION]
    tape = session.tape
    if tape is None:
        return
    why = tape.end()
    if why:
        rest = "" if tape.barred else " What was answered is kept; record again to go on."
        report.promptfuzz_unrecorded = session.redaction.text(f"{unstopped(why)}.{rest}")  # type: ignore[attr-defined]  # for the summary
    if tape.unwritten:
        report.promptfuzz_unwritten = True  # type: ignore[attr-defined]  # as above
    report.promptfuzz_recorded = tape.complete  # type: ignore[attr-defined]  # as above


SESSION = pytest.StashKey["Session"]()
"""The session of an item, until its test is over."""
UNWRITTEN = pytest.StashKey[bool]()
"""Whether the recording of an item could not be begun."""


_MOMENT = 0.5  # seconds that a worker's own Ctrl-C is given to be heard of


@dataclass(slots=True)
class State:
    """One pytest session's state. The session is made when the first robust test runs, so that loading stays light."""

    config: pytest.Config
    settings: dict[str, Any]
    overrides: dict[str, Any]
    patterns: tuple[str, ...]
    choice: PlanChoice
    reports: dict[str, TestSummary] = field(default_factory=dict)
    expected: dict[str, TestReport] = field(default_factory=dict)
    let_through: dict[str, str] = field(default_factory=dict)
    accepted: Updates = field(default_factory=Updates)
    gone: Gone = field(default_factory=Gone)
    pins: PinKeeper = field(default_factory=PinKeeper)
    ending: Ending = field(default_factory=Ending)
    unmutated: dict[str, None] = field(default_factory=dict)
    interrupted: dict[str, TestReport] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    mode_reason: str = ""
    written: RecordingSummary = field(default_factory=RecordingSummary)
    tables: dict[str, Any] = field(default_factory=dict)
    profiles: dict[str, Profile] = field(default_factory=dict)
    run: str | None = None
    forecasts: dict[str, Any] = field(default_factory=dict)
    _items: ItemSessions | None = None
    following: pytest.Item | None = None
    unused_calls: int = 0
    tests: int = 1
    beforehand: Beforehand = field(default_factory=innermost)
    _over: threading.Event = field(default_factory=threading.Event)
    _lookahead: LookAhead | None = None
    _targets: dict[str, Target | CallableTarget] = field(default_factory=dict)

    @classmethod
    def of(cls, config: pytest.Config) -> State:
        """The state of a configuration, read once."""
        state = config.stash.get(STATE, None)
        if state is None:
            tables = read_tables(config.rootpath)
            settings, overrides = read_settings(config, tables), read_overrides(config)
            settings["mode"], reason = chosen_mode(config, settings)
            check_mode(config, settings["mode"], overrides)
            check_update(config, overrides)
            check_shared(config, settings["store"])
            choice = read_choice(config, tables, overrides)
            patterns = read_patterns(config)
            profiles = read_profiles(tables)
            check_overrides(overrides, profiles)
            state = cls(
                config,
                settings,
                overrides,
                patterns,
                choice,
                mode_reason=reason,
                tables=tables,
                profiles=profiles,
            )
            state.accepted.which = config.getoption("promptfuzz_update") or ""
            config.stash[STATE] = state
            state.name_models()
        return state

    @property
    def enabled(self) -> bool:
        """Whether robust tests are mutated at all."""
        return bool(self.config.getoption("promptfuzz") == "on")

    @property
    def updates(self) -> bool:
        """Whether this process writes snapshots."""
        return bool(self.config.getoption("promptfuzz_update")) and not hasattr(self.config, "workerinput")

    @property
    def keeps_finds(self) -> bool:
        """Whether this process keeps the counterexamples of its tests: not of one trial, or of stored answers alone."""
        return not (self.trial or RESULTS in self.config.stash or hasattr(self.config, "workerinput"))

    @property
    def dry(self) -> bool:
        """Whether the run only plans."""
        return bool(self.config.getoption("promptfuzz_dry_run"))

    @property
    def trial(self) -> str | None:
        """The one trial to run, if the command line names one."""
        trial: str | None = self.config.getoption("promptfuzz_trial")
        return trial

    @property
    def session(self) -> Session:
        """Store, embedder, mode and concurrency of this run."""
        return self._sessions.session

    def session_of(self, item: pytest.Item) -> Session:
        """The same, with the recording of an item's test.

        Raises:
            ConfigurationError: This run records, and cannot write.
        """
        return self._sessions.of(item)

    def hide_secrets(self, report: pytest.TestReport) -> None:
        """Take what is not to be shown out of a test's report, once any test has had to do with models."""
        if self._items is not None:
            from pytest_promptfuzz.plugin.output.redaction import hide, redaction_of

            hide(report, redaction_of(self._items.session))

    def hide_in_warning(self, warning: WarningMessage) -> None:
        """Take what is not to be shown out of a warning, once any test has had to do with models."""
        if self._items is not None:
            from pytest_promptfuzz.plugin.output.redaction import hide_in_warning, redaction_of

            hide_in_warning(warning, redaction_of(self._items.session))

    def redaction(self) -> Redaction:
        """What is hidden: shapes of keys, configured patterns, the environment's credentials, what the project says.

        Raises:
            UsageError: A hook failed, or offered something else than functions.
        """
        from pytest_promptfuzz.plugin.marks import offered_redactors
        from pytest_promptfuzz.storage.redaction import Redaction
        from pytest_promptfuzz.storage.secrets import of_environment

        return Redaction(self.patterns, of_environment(os.environ), offered_redactors(self.config))

    @property
    def folder(self) -> Path:
        """Where answers are stored."""
        folder: Path = self.config.rootpath / self.settings["cache_dir"]
        return folder

    @property
    def _sessions(self) -> ItemSessions:
        if self._items is None:
            from pytest_promptfuzz.evaluating import session as sessions
            from pytest_promptfuzz.evaluating.role_prompts import written_in
            from pytest_promptfuzz.providers.custom_protocol import configure
            from pytest_promptfuzz.storage.stores import open_store, password_of
            from pytest_promptfuzz.wire.calls import LateGate
            from pytest_promptfuzz.wire.network_guard import earlier
            from pytest_promptfuzz.wire.recordings import Recordings

            before = configure(self.settings["endpoints"])
            file = written_in(self.config.inipath.name if self.config.inipath else "")

            def restore() -> None:
                """Give the run that goes on around this one its endpoints back."""
                configure(before)
                written_in(file)

            self.config.add_cleanup(restore)
            self.choice.register()
            warn = self.warnings.append
            mode = sessions.check_mode(self.settings["mode"], "--promptfuzz-mode")
            shared = (
                self.settings["store"] if mode != "replay" else None
            )  # a replay asks nothing of the network
            store = open_store(shared, self.folder, warn=warn)
            session = sessions.Session(
                store=store,
                mode=mode,
                embedder=sessions.installed_embedder(
                    self.settings["model"], self.folder, warn, provider=self.settings["embedder"]
                ),
                entailment=sessions.installed_entailment(self.settings["entailment"], self.folder, warn),
                concurrency=self.settings["concurrency"],
                speculate=self.settings["speculate"],
                redaction=self.redaction(),
                gate=LateGate(functools.partial(make_limits, self)),
                secrets=set(filter(None, [password_of(shared or "")])),
                tests=max(1, self.tests),
                allowed=self.settings["allow_hosts"],
                earlier=lambda: earlier(self.beforehand.known()),
            )
            recordings = Recordings(mode, self.folder / SPOOLS, cache=store, warn=warn)
            self._items = ItemSessions(session, None if mode == "live" else recordings)
            if hasattr(self.config, "workerinput"):
                _end_with_starter(self.config, self._over)
        return self._items

    @property
    def lookahead(self) -> LookAhead:
        """What makes the calls of declarative tests; made for the first of them."""
        if self._lookahead is None:
            from pytest_promptfuzz.plugin.lookahead import LookAhead

            self._lookahead = LookAhead(self.settings["lookahead"], self.session)
        return self._lookahead

    def name_models(self) -> None:
        """Let ``compare`` and ``evaluate``, called without this run's session, use its models; until the run ends."""
        named = Configured(
            self.settings["model"],
            self.settings["entailment"],
            provider=self.settings["embedder"] is not None,
            folder=self.folder,
            warn=self.warnings.append,
        )
        before = configure_models(named)

        def restore() -> None:
            """Give the run that goes on around this one its models back."""
            configure_models(before)

        self.config.add_cleanup(restore)

    def reached(self, item: pytest.Item, following: pytest.Item | None) -> None:
        """The run has come to an item, and knows which one follows."""
        self.following = following
        self.beforehand.reach()
        if self._lookahead is not None:
            self._lookahead.reached(item)

    def finish(self) -> None:
        """No further test will run: stop what makes calls, and count those that no test took."""
        self._over.set()
        if self._lookahead is not None:
            self._lookahead.close()
            self.unused_calls += self._lookahead.line.unused
            self._lookahead = None
        if self._items is not None:
            self._items.session.crew.stop()

    def target(self, named: Any) -> Target | CallableTarget | None:
        """The target of a test: what its mark names, else the run's; ``None`` where neither names one."""
        from pytest_promptfuzz.targets.resolution import resolve

        wanted = named if named is not None else self.settings["target"]
        if wanted is None:
            return None
        if not isinstance(wanted, str):
            return resolve(wanted)
        if wanted not in self._targets:
            self._targets[wanted] = resolve(wanted)
        return self._targets[wanted]

    def stop(self) -> None:
        """Let no call wait for its turn any longer, and stop what makes calls ahead."""
        self._over.set()
        limits = self._limits
        if limits is not None:
            limits.stop()
        self.finish()

    @property
    def _limits(self) -> Any:
        """The session's limits, if a call has passed them."""
        return getattr(self._items.session.gate, "made", None) if self._items is not None else None

    def close(self) -> None:
        """Close the store, the limits' books and the targets' clients."""
        self.finish()
        store = self._items.session.store if self._items is not None else None
        close = getattr(store, "close", None)
        if close is not None:
            close()
        limits = self._limits
        if limits is not None:
            limits.close()
        if self.run is not None:
            forget_run(self, self.run)
        for target in self._targets.values():
            close = getattr(target, "close", None)
            if close is not None:
                close()


def _end_with_starter(config: pytest.Config, over: threading.Event) -> None:
    """Have a worker of xdist end its test soon after the process that started it has ended the run.

    A Ctrl-C that only that process hears of closes the connection to its workers. They would notice once their test is
    over; execnet interrupts them after five seconds.

    Args:
        config: The worker's.
        over: Set once the worker ends by itself.
    """
    plugins = config.pluginmanager.get_plugins()
    channel = next(
        (each.channel for each in plugins if hasattr(each, "workerid") and hasattr(each, "channel")), None
    )
    if channel is None:
        return

    def follow() -> None:
        with contextlib.suppress(Exception):  # a connection that broke has ended too
            channel.waitclose()
        if over.wait(_MOMENT):
            return
        if sys.platform == "win32":
            import _thread

            _thread.interrupt_main()
        else:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=follow, name="promptfuzz-starter", daemon=True).start()


STATE = pytest.StashKey[State]()
REPORT = pytest.StashKey["TestReport"]()
UNMUTATED = pytest.StashKey[bool]()
