"""``promptfuzz serve``: the local model server, or a recording proxy, as a command."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_promptfuzz.errors import PromptfuzzError, UsageError, continued
from pytest_promptfuzz.server.faults import KINDS, parse_fault
from pytest_promptfuzz.server.http import log_line
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.server.proxy import Attachment, Proxy, announced, new_token
from pytest_promptfuzz.storage.disk_store import ResponseStore
from pytest_promptfuzz.storage.redaction import DEFAULT, Redaction
from pytest_promptfuzz.targets.simulated import SimulatedModel
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunSettings, Watch, watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType, TracebackType

    from typing_extensions import Self

    from pytest_promptfuzz.server.model_server import RecordedRequest


def serve(argv: Sequence[str]) -> int:
    """Serve the simulated model until Ctrl-C or SIGTERM.

    Args:
        argv: The command's arguments, without its name.

    Returns:
        0 after it was stopped, 2 for arguments or a port that cannot be used, or without httpx for ``--proxy``.
    """
    parser = _parser()
    try:
        options = parser.parse_args(list(argv))
    except SystemExit as stop:  # --help
        return stop.code if isinstance(stop.code, int) else 2
    except _WrongArgumentsError as wrong:
        sys.stderr.write(f"{parser.format_usage()}{parser.prog}: error: {wrong}\n")
        return _ended(str(wrong), as_json="--json" in argv)
    say = _Speaker(as_json=options.json)
    try:
        if options.proxy is not None:
            return _record(options, say)
        only = [name for name in ("redact", "endpoint") if getattr(options, name)]
        if only:
            raise UsageError(f"--{only[0]} is for a recording proxy. Add --proxy URL.")
        if options.latency_ms < 0:
            raise UsageError(
                f"--latency-ms {options.latency_ms:g} is out of range. Write a number of 0 or more."
            )
        if not 0 <= options.noise <= 1:
            raise UsageError(f"--noise {options.noise:g} is out of range. Write a number from 0 to 1.")
        _check_port(options.port)
        model = SimulatedModel(seed=options.seed, noise=options.noise)
        server = ModelServer(
            model,
            latency=options.latency_ms / 1000,
            faults=[parse_fault(each) for each in options.fault],
            port=options.port,
            on_request=say.recorded if options.log else None,
        ).start()
    except PromptfuzzError as error:
        sys.stderr.write(f"promptfuzz serve: {continued(error)}\n")
        return _ended(continued(error), as_json=options.json)
    stopped = threading.Event()
    # Before anything is announced: whoever reads it may stop the server at once.
    with _stopping(stopped), contextlib.ExitStack() as end:
        end.callback(server.stop)
        _announce(server, model.version, say)
        # Waiting in steps lets Windows deliver Ctrl-C.
        while not stopped.wait(0.5):
            pass
    say(f"Stopped after {server.calls} calls.", {"stopped": True, "calls": server.calls})
    return 0


def _ended(why: str, *, as_json: bool) -> int:
    """Say to programs as well why nothing is served; returns the exit code."""
    if as_json:
        _Speaker(as_json=True)("", {"error": why, "exit_code": 2})
    return 2


def _check_port(port: int) -> None:
    if not 0 <= port <= 65535:
        raise UsageError(f"--port {port} is out of range. Write a port from 0 to 65535.")


def _record(options: argparse.Namespace, say: _Speaker) -> int:
    from pytest_promptfuzz.providers.custom_protocol import parse_endpoints
    from pytest_promptfuzz.providers.formats import configure
    from pytest_promptfuzz.storage.redaction import Redaction

    given = [name for name in ("latency_ms", "noise", "seed", "fault") if getattr(options, name)]
    if given:
        name = given[0].replace("_", "-")
        raise UsageError(
            f"--{name} is for the simulated model, but --proxy asks the provider. Leave one of them out."
        )
    _check_port(options.port)
    configure(parse_endpoints("\n".join(options.endpoint)))
    stopped = threading.Event()
    with (
        _stopping(stopped),
        Recorder(
            options.proxy,
            options.port,
            options.cache_dir,
            say.asked if options.log else None,
            Redaction(tuple(options.redact)),
        ) as recorder,
    ):
        say(
            f"Recording {recorder.upstream} into {options.cache_dir}; Ctrl-C stops it.\n"
            f"Point an application at it as its base URL: {recorder.url}",
            {
                "ready": True,
                "url": recorder.url,
                "port": recorder.port,
                "upstream": recorder.upstream,
                "cache_dir": options.cache_dir,
            },
        )
        while not stopped.wait(0.5):
            pass
    say(
        f"Stopped after {recorder.calls} calls, {recorder.hits} of them answered from the local cache.",
        {"stopped": True, "calls": recorder.calls, "hits": recorder.hits},
    )
    return 0


def _announce(server: ModelServer, version: str, say: _Speaker) -> None:
    say(
        f"Serving the simulated model {version} on {server.url}; Ctrl-C stops it.\n"
        "It is simulated: no provider is asked. Point an application at it with\n"
        f"  OPENAI_BASE_URL={server.openai_url}\n"
        f"  ANTHROPIC_BASE_URL={server.anthropic_url}",
        {
            "ready": True,
            "url": server.url,
            "port": server.port,
            "openai_url": server.openai_url,
            "anthropic_url": server.anthropic_url,
            "key": "any",
            "model": version,
        },
    )


class _WrongArgumentsError(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    """Raises its errors: programs are told them as JSON."""

    def error(self, message: str) -> NoReturn:
        raise _WrongArgumentsError(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="promptfuzz serve",
        description="promptfuzz serve: serve the simulated model on 127.0.0.1, with latency and faults; with --proxy, "
        "record a provider.",
        epilog="exit codes: 0: stopped, 2: wrong usage or environment",
    )
    parser.add_argument("--port", type=int, default=8080, help="TCP port; 0: any free port (8080)")
    parser.add_argument("--latency-ms", type=float, default=0.0, help="milliseconds before each answer (0)")
    parser.add_argument("--noise", type=float, default=0.0, help="share of answers that differ, 0 to 1 (0)")
    parser.add_argument("--seed", type=int, default=0, help="number that chooses the answers that differ (0)")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="NAME:SETTINGS",
        help="a fault to simulate, such as rate-limit:times=2,retry-after=1; repeat the option for more. Names: "
        f"{', '.join(KINDS)}",
    )
    parser.add_argument(
        "--proxy",
        metavar="URL",
        help="serve no model: pass requests on to this base URL, and serve stored answers where there are any",
    )
    parser.add_argument(
        "--cache-dir",
        metavar="DIR",
        default=".promptfuzz",
        help="with --proxy: folder of the local cache (.promptfuzz)",
    )
    parser.add_argument(
        "--redact",
        action="append",
        default=[],
        metavar="PATTERN",
        help="with --proxy: hide text that matches this regular expression; repeat the option for more",
    )
    parser.add_argument(
        "--endpoint",
        action="append",
        default=[],
        metavar="LINE",
        help="with --proxy: address of a model that the plugin does not know, a line of promptfuzz_endpoints; repeat "
        "the option for more",
    )
    parser.add_argument("--log", action="store_true", help="print a line for each request")
    parser.add_argument(
        "--json",
        action="store_true",
        help="write JSON instead of text, a line each: where it serves, once it does; requests with --log; the end",
    )
    return parser


@contextlib.contextmanager
def _stopping(stopped: threading.Event) -> Iterator[None]:
    """Have Ctrl-C and SIGTERM set an event; handlers belong to the main thread, elsewhere Ctrl-C alone counts."""

    def stop(signum: int, frame: FrameType | None) -> None:
        del signum, frame
        stopped.set()

    main = threading.current_thread() is threading.main_thread()
    # SIGINT as well: a shell's background job starts with it ignored.
    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)} if main else {}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class _Speaker:
    """Writes to standard output, at once: text, or the same as JSON on one line.

    Args:
        as_json: Whether it is JSON.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._json = as_json

    def __call__(self, text: str, value: Mapping[str, Any]) -> None:
        line = json.dumps(value) if self._json else text
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def asked(self, method: str, path: str, status: int | None) -> None:
        """A request was answered, or not: a connection was dropped."""
        self(
            log_line(method, path, status or "dropped"),
            {"method": method, "path": path, "status": status or None},
        )

    def recorded(self, record: RecordedRequest, status: int) -> None:
        """A request of the model server was answered."""
        self.asked(record.method, record.path, status)


# The recording proxy outside pytest: one upstream, the store of answers, and what was asked so far.


class Recorder:
    """Passes requests on to a provider and stores the answers, under the keys that a test's own calls have.

    The n-th identical request is the n-th sample, as within a trial; a new recorder counts anew, so that an application
    that is run again is answered from the store. While a test run is attached, the requests are its own.

    Args:
        upstream: The provider's base URL.
        port: The TCP port; 0 for any that is free.
        directory: Of the store.
        on_request: Called with method, path and status after each request.
        redaction: What is hidden before anything is stored.

    Attributes:
        calls: Model calls so far.
        hits: Those answered from the store.

    Raises:
        UsageError: ``upstream`` is no base URL.
        ConfigurationError: Neither httpx2 nor httpx is installed, or the port is taken.
    """

    def __init__(
        self,
        upstream: str,
        port: int,
        directory: str,
        on_request: Callable[[str, str, int], None] | None = None,
        redaction: Redaction = DEFAULT,
    ) -> None:
        self.upstream = upstream
        self.calls = self.hits = 0
        self._on_request = on_request
        self._folder = Path(directory)
        self._store = ResponseStore(self._folder)
        self._watch = Watch(RunSettings(store=self._store, redaction=redaction))
        self._token = new_token()
        self._proxy = Proxy(
            port=port,
            upstream=upstream,
            watch=self._watch,
            on_request=self._asked,
            attachment=Attachment(self._token),
        )
        self._lock = threading.Lock()
        self._end = contextlib.ExitStack()

    @property
    def port(self) -> int:
        """The TCP port that it listens on."""
        return self._proxy.port

    @property
    def url(self) -> str:
        """The base URL for the application."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opened:
            opened.callback(self._store.close)
            opened.enter_context(intercepting())
            opened.enter_context(watching(self._watch))
            opened.enter_context(self._proxy)
            opened.enter_context(announced(self._folder, self._proxy.port, self.upstream, self._token))
            self._end = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.close()

    def _asked(self, method: str, path: str, status: int) -> None:
        with self._lock:
            self.calls, self.hits = len(self._watch.calls), self._watch.hits
        if self._on_request is not None:
            self._on_request(method, path, status)
