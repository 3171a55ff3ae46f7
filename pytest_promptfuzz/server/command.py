"""``promptfuzz serve``: the local model server, or a recording proxy, as a command."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

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
    from collections.abc import Callable, Iterator, Sequence
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
    try:
        options = _parser().parse_args(list(argv))
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    try:
        if options.proxy is not None:
            return _record(options)
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
            on_request=_log if options.log else None,
        ).start()
    except PromptfuzzError as error:
        sys.stderr.write(f"promptfuzz serve: {continued(error)}\n")
        return 2
    stopped = threading.Event()
    # Before anything is announced: whoever reads it may stop the server at once.
    with _stopping(stopped), contextlib.ExitStack() as end:
        end.callback(server.stop)
        _announce(server, model.version)
        # Waiting in steps lets Windows deliver Ctrl-C.
        while not stopped.wait(0.5):
            pass
    _say(f"Stopped after {server.calls} calls.")
    return 0


def _check_port(port: int) -> None:
    if not 0 <= port <= 65535:
        raise UsageError(f"--port {port} is out of range. Write a port from 0 to 65535.")


def _record(options: argparse.Namespace) -> int:
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
            _line if options.log else None,
            Redaction(tuple(options.redact)),
        ) as recorder,
    ):
        _say(f"Recording {recorder.upstream} into {options.cache_dir}; Ctrl-C stops it.")
        _say(f"Point an application at it as its base URL: {recorder.url}")
        while not stopped.wait(0.5):
            pass
    _say(f"Stopped after {recorder.calls} calls, {recorder.hits} of them answered from the local cache.")
    return 0


def _line(method: str, path: str, status: int) -> None:
    _say(log_line(method, path, status))


def _announce(server: ModelServer, version: str) -> None:
    _say(f"Serving the simulated model {version} on {server.url}; Ctrl-C stops it.")
    _say("It is simulated: no provider is asked. Point an application at it with")
    _say(f"  OPENAI_BASE_URL={server.openai_url}")
    _say(f"  ANTHROPIC_BASE_URL={server.anthropic_url}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
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


def _log(record: RecordedRequest, status: int) -> None:
    _say(log_line(record.method, record.path, status or "dropped"))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


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
    def url(self) -> str:
        """The base URL for the application."""
        return f"http://127.0.0.1:{self._proxy.port}"

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
