"""What the plugin keeps: run-wide settings and the session, made on first need; a test's result."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.embedding.models import Configured
from pytest_promptfuzz.embedding.models import configure as configure_models
from pytest_promptfuzz.plugin.accepting import check_update
from pytest_promptfuzz.plugin.choosing import Choice, read_choice
from pytest_promptfuzz.plugin.commanded import RESULTS
from pytest_promptfuzz.plugin.ending import Ending
from pytest_promptfuzz.plugin.gone import Gone
from pytest_promptfuzz.plugin.limiting import forget_run, make_limits, read_profiles, read_tables
from pytest_promptfuzz.plugin.modes import check_mode, check_shared, chosen_mode
from pytest_promptfuzz.plugin.options import check_overrides, read_overrides, read_patterns, read_settings
from pytest_promptfuzz.plugin.pinning import Pins
from pytest_promptfuzz.plugin.recording import SPOOLS, Written
from pytest_promptfuzz.plugin.updating import Updates
from pytest_promptfuzz.wire.audit import Beforehand, innermost

if TYPE_CHECKING:
    from pathlib import Path
    from warnings import WarningMessage

    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.plugin.lookahead import LookAhead
    from pytest_promptfuzz.plugin.recording import ItemSessions
    from pytest_promptfuzz.reporting.model import TestReport, TestSummary
    from pytest_promptfuzz.targets.function import CallableTarget
    from pytest_promptfuzz.targets.model import Target
    from pytest_promptfuzz.wire.redact import Redaction


_MOMENT = 0.5  # seconds that a worker's own Ctrl-C is given to be heard of


@dataclass(slots=True)
class State:
    """One pytest session's state. The session is made when the first robust test runs, so that loading stays light."""

    config: pytest.Config
    settings: dict[str, Any]
    overrides: dict[str, Any]
    patterns: tuple[str, ...]
    choice: Choice
    reports: dict[str, TestSummary] = field(default_factory=dict)
    expected: dict[str, TestReport] = field(default_factory=dict)
    let_through: dict[str, str] = field(default_factory=dict)
    accepted: Updates = field(default_factory=Updates)
    gone: Gone = field(default_factory=Gone)
    pins: Pins = field(default_factory=Pins)
    ending: Ending = field(default_factory=Ending)
    unmutated: dict[str, None] = field(default_factory=dict)
    interrupted: dict[str, TestReport] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    mode_reason: str = ""
    written: Written = field(default_factory=Written)
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
            from pytest_promptfuzz.plugin.redacting import hide, redaction_of

            hide(report, redaction_of(self._items.session))

    def hide_in_warning(self, warning: WarningMessage) -> None:
        """Take what is not to be shown out of a warning, once any test has had to do with models."""
        if self._items is not None:
            from pytest_promptfuzz.plugin.redacting import hide_in_warning, redaction_of

            hide_in_warning(warning, redaction_of(self._items.session))

    def redaction(self) -> Redaction:
        """What is hidden: shapes of keys, configured patterns, the environment's credentials, what the project says.

        Raises:
            UsageError: A hook failed, or offered something else than functions.
        """
        from pytest_promptfuzz.plugin.offering import offered_redactors
        from pytest_promptfuzz.wire.redact import Redaction
        from pytest_promptfuzz.wire.secrets import of_environment

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
            from pytest_promptfuzz.evaluating.unseen import written_in
            from pytest_promptfuzz.plugin.recording import ItemSessions
            from pytest_promptfuzz.wire.custom import configure
            from pytest_promptfuzz.wire.gate import LateGate
            from pytest_promptfuzz.wire.network_guard import earlier
            from pytest_promptfuzz.wire.recordings.library import Recordings
            from pytest_promptfuzz.wire.stores import open_store, password_of

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
        from pytest_promptfuzz.targets.resolve import resolve

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
