"""`State`: the settings of a pytest run, and the session of evaluations, made on first need."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import PromptfuzzError, UsageError
from pytest_promptfuzz.evaluating.settings import PROFILES, read_tool
from pytest_promptfuzz.judging.models import Configured
from pytest_promptfuzz.judging.models import configure as configure_models
from pytest_promptfuzz.plugin.former_tests import FormerTests
from pytest_promptfuzz.plugin.limits import RUN_OF_WORKERS, forget_run, make_limits
from pytest_promptfuzz.plugin.marks import PlanChoice, read_choice
from pytest_promptfuzz.plugin.options import (
    check_mode,
    check_overrides,
    check_shared,
    chosen_mode,
    place_of,
    read_overrides,
    read_patterns,
    read_settings,
)
from pytest_promptfuzz.plugin.recordings import SPOOLS, ItemSessions, run_of
from pytest_promptfuzz.wire.network import Beforehand, innermost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from warnings import WarningMessage

    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.providers.requests import Target
    from pytest_promptfuzz.storage.redaction import Redaction
    from pytest_promptfuzz.targets.resolution import CallableTarget

NO_TARGET = (
    "no model to call. Add --promptfuzz-target=openai:gpt-5-mini (or simulated, which needs no key). To keep it, set "
    "promptfuzz_target in the ini file, or target= in @robust."
)


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


SESSION_OF_RUN = pytest.StashKey["Callable[[Session], Session]"]()
"""What makes the session of this process into that of a study's run, which uses no recordings."""


TODAY = pytest.StashKey[str]()
"""The day on which the run began: a test may freeze the clock of its application."""


def _today() -> str:
    """The day as the authors of tests read a calendar, in the time zone of the machine."""
    return datetime.now().astimezone().date().isoformat()


_MOMENT = 0.5  # seconds that a worker's own Ctrl-C is given to be heard of


@dataclass(slots=True)
class State:
    """One pytest session's state. The session is made when the first robust test runs, so that loading stays light."""

    config: pytest.Config
    settings: dict[str, Any]
    overrides: dict[str, Any]
    patterns: tuple[str, ...]
    choice: PlanChoice
    warnings: list[str] = field(default_factory=list)
    mode_reason: str = ""
    tables: dict[str, Any] = field(default_factory=dict)
    profiles: dict[str, Profile] = field(default_factory=dict)
    following: pytest.Item | None = None
    tests: int = 1
    beforehand: Beforehand = field(default_factory=innermost)
    _items: ItemSessions | None = None
    _endings: list[Callable[[], None]] = field(default_factory=list)
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
            config.stash[STATE] = state
            config.stash[TODAY] = _today()
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

    def hide_secrets(self, report: pytest.TestReport, *, robust: bool) -> None:
        """Take what is not to be shown out of a test's report, once any test has had to do with models.

        Args:
            report: It.
            robust: Whether the test is; what ends it before its body, in a fixture say, is hidden, too.
        """
        if self._items is not None:
            from pytest_promptfuzz.plugin.output.redaction import hide, redaction_of

            hide(report, redaction_of(self._items.session))
        elif robust and not report.passed:
            from pytest_promptfuzz.plugin.output.redaction import hide

            hide(report, self.redaction())

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
            from pytest_promptfuzz.providers.formats import configure
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
                gate=LateGate(
                    functools.partial(make_limits, self.config, self.settings, self.tables, self.folder, warn)
                ),
                secrets=set(filter(None, [password_of(shared or "")])),
                tests=max(1, self.tests),
                allowed=self.settings["allow_hosts"],
                earlier=lambda: earlier(self.beforehand.known()),
            )
            made = self.config.stash.get(SESSION_OF_RUN, None)
            if made is not None:
                session = made(session)
            former = FormerTests.of(self.config).in_recordings()
            recordings = Recordings(
                mode,
                self.folder / SPOOLS,
                cache=store,
                warn=warn,
                redaction=session.redaction,
                run=run_of(self.config, self.folder) if mode.startswith("record") else "",
                former=former,
            )
            self._items = ItemSessions(session, None if mode == "live" or made is not None else recordings)
            if hasattr(self.config, "workerinput"):
                over = threading.Event()
                self.when_over(over.set)
                _end_with_starter(self.config, over)
        return self._items

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

    def reach(self, following: pytest.Item | None) -> None:
        """The run has come to an item, and knows which one follows."""
        self.following = following
        self.beforehand.reach()

    def when_over(self, ending: Callable[[], None]) -> None:
        """Have something called once no further test will run."""
        self._endings.append(ending)

    def finish(self) -> None:
        """No further test will run: stop what makes calls."""
        while self._endings:
            self._endings.pop()()
        if self._items is not None:
            self._items.session.crew.stop()

    def target_of(self, item: pytest.Item, named: Any) -> Target | CallableTarget | None:
        """As :meth:`target`. Where an item is replayed, the simulated model goes by the version that was recorded."""
        from pytest_promptfuzz.evaluating.session import simulated_of

        target = self.target(named)
        simulated = simulated_of(target) if self.settings["mode"] == "replay" else None
        tape = self.session_of(item).tape if simulated is not None else None
        return target if simulated is None or tape is None else simulated.as_version(tape.simulated_version)

    def target_name(self, item: pytest.Item) -> str | None:
        """Whom a test asks, as its report names it; empty where none is named, ``None`` where its mark is wrong."""
        from pytest_promptfuzz.plugin.marks import merged

        try:
            named = merged(item)[1].get("target")
        except UsageError:
            return None
        try:
            target = self.target(named)
            name = target.name if target is not None else ""
        except PromptfuzzError:
            name = str(named or self.settings["target"])
        from pytest_promptfuzz.plugin.output.redaction import redaction_of

        hidden = self.redaction() if self._items is None else redaction_of(self._items.session)
        return str(hidden.json(name, names=False))

    def check_target(self) -> None:
        """Refuse an unknown target of the run, before the first test; a worker of xdist leaves it to its starter.

        Raises:
            pytest.UsageError: There is no such model.
        """
        name, place = self.settings["target"], place_of("target", self.config)
        if not name or hasattr(self.config, "workerinput"):
            return
        from pytest_promptfuzz.targets.resolution import check_name

        try:
            check_name(name)
        except UsageError as error:
            raise pytest.UsageError(f"{place}: {str(error).removeprefix('target=')}") from None

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
        run = self.config.stash.get(RUN_OF_WORKERS, None)
        if run is not None:
            forget_run(self.folder, run)
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
