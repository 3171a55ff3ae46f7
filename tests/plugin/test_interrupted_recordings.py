"""Recording runs that do not come to their end: what was answered is kept, whatever stopped them, and asked for once."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import openai  # noqa: F401 - loaded once, and not anew for each run
import pytest

from pytest_promptfuzz.server.model_server import ModelServer
from tests import warm
from tests.plugin.conftest import PROMPT, RECORDED_INI, keep_modules
from tests.plugin.stalling import Stalling, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SOURCE = """
import os
import pytest

@robust(TRIAGE, mutations=3, threshold=0.0)
def test_first(prompt, llm):
    return llm(prompt.format(ticket="I was charged twice."))

def test_stops():
    stop = os.environ.get("STOP")
    if stop == "exit":
        pytest.exit("enough", returncode=0)
    if stop == "ctrl-c":
        raise KeyboardInterrupt
    assert stop != "fail"

@robust(TRIAGE, mutations=3, threshold=0.0)
def test_last(prompt, llm):
    return llm(prompt.format(ticket="The app closes at once."))
"""
CONFTEST = """
import os

def pytest_runtest_logreport(report):
    if os.environ.get("STOP") == "crash" and "test_stops" in report.nodeid:
        raise RuntimeError("a plugin's mistake")
"""
CALLS = 3 + 3  # of each test: its prompt three times, and three mutations


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    for name in ("CI", "PROMPTFUZZ_MODE", "STOP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        yield server


@pytest.fixture
def record(
    pytester: pytest.Pytester, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """Record ``SOURCE`` in this process."""
    keep_modules(pytester, monkeypatch)
    pytester.makefile(".ini", pytest=RECORDED_INI)
    pytester.makepyfile(test_it=PROMPT + SOURCE, conftest=CONFTEST)

    def run(*options: str, stop: str = "") -> pytest.RunResult:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("STOP", stop)
            return pytester.runpytest_inprocess(
                "-p", "no:cacheprovider", "--promptfuzz-mode=record", *options, no_reraise_ctrlc=True
            )

    return run


@pytest.fixture
def spools(pytester: pytest.Pytester) -> Path:
    return pytester.path / ".promptfuzz" / "recording"


def asked(server: ModelServer) -> Counter[str]:
    return Counter(json.dumps(each.body, sort_keys=True) for each in server.requests if each.method == "POST")


@pytest.mark.parametrize(
    ("stop", "options", "status"),
    [
        ("exit", (), 0),
        ("ctrl-c", (), 2),
        ("fail", ("-x",), 1),
        ("fail", ("--maxfail=1",), 1),
        ("crash", (), 3),
    ],
)
def test_what_stops_a_recording_run_costs_nothing_twice(
    record: Callable[..., pytest.RunResult],
    server: ModelServer,
    pytester: pytest.Pytester,
    spools: Path,
    stop: str,
    options: tuple[str, ...],
    status: int,
) -> None:
    stopped = record(*options, stop=stop)
    assert stopped.ret == status, stopped.stdout.str()
    assert server.calls == CALLS, "the last test was not begun"
    recording = pytester.path / "__promptfuzz__" / "test_it.calls.jsonl"
    assert recording.read_bytes().count(b'"test": "test_first"') == 1 + CALLS, (
        "what is complete can be replayed"
    )
    before = asked(server)
    went_on = record()
    went_on.assert_outcomes(passed=3)
    assert "goes on: 6 answers of it are kept" in went_on.stdout.str()
    assert server.calls == 2 * CALLS
    # The three samples of a prompt are the same request: nothing else is asked more than once.
    assert max((asked(server) - before).values()) == max(before.values()) == 3
    assert not list(spools.glob("*.jsonl")), "the recording is complete, and nothing of it waits"
    record().assert_outcomes(passed=3)
    assert server.calls == 4 * CALLS, "a run after one that came to its end asks everything anew"


def test_a_run_that_stops_after_its_last_test_has_come_to_its_end(
    record: Callable[..., pytest.RunResult], server: ModelServer, spools: Path
) -> None:
    record("-x", "-k", "first or stops", stop="fail").assert_outcomes(passed=1, failed=1, deselected=1)
    assert not list(spools.glob("*.jsonl"))
    record("-k", "first").assert_outcomes(passed=1, deselected=2)
    assert server.calls == 2 * CALLS


def test_a_run_of_other_tests_leaves_an_interrupted_recording_to_be_gone_on_with(
    record: Callable[..., pytest.RunResult], server: ModelServer
) -> None:
    record(stop="ctrl-c")
    record("-k", "last").assert_outcomes(passed=1, deselected=2)
    assert server.calls == 2 * CALLS
    record("-k", "first").assert_outcomes(passed=1, deselected=2)
    assert server.calls == 2 * CALLS


@pytest.mark.parametrize("damage", ["empty", "cut", "no-head", "garbage", "folder", "another-release"])
def test_no_spool_that_an_earlier_run_left_is_in_the_way(
    record: Callable[..., pytest.RunResult], server: ModelServer, spools: Path, damage: str
) -> None:
    record("-k", "first or stops", stop="ctrl-c")
    (spool,) = spools.glob("*.spool.jsonl")
    whole = spool.read_bytes()
    head, _, answers = whole.partition(b"\n")
    spool.unlink()
    if damage == "folder":
        spool.mkdir()
    else:
        left = {
            "empty": b"",
            "cut": head[:20],
            "no-head": answers[: answers.index(b"\n") + 9],
            "garbage": b"\x00\xff\n" * 20,
            "another-release": whole.replace(head, _of_version(head, 99)),
        }
        spool.write_bytes(left[damage])
    before = server.calls
    again = record("-k", "first")
    again.assert_outcomes(passed=1, deselected=2)
    kept = 1 if damage == "no-head" else 0
    assert server.calls == before + CALLS - kept
    said = again.stdout.str()
    assert ("set aside as" in said) == (damage in {"folder", "another-release"})
    assert len(list(spools.glob("*.unread-1"))) == said.count("set aside as")
    assert not list(spools.glob("*.spool.jsonl")), "it was recorded"


WORKERS = """
import os
from pathlib import Path

import pytest

NAME = os.environ.get("PYTEST_XDIST_WORKER", "main")
HERE = Path(__file__).parent
(HERE / f"{NAME}.pid").write_text(str(os.getpid()))

def pytest_configure():
    # pytest-xdist would interrupt workers after five seconds, and kill them after ten: nothing does that here.
    from execnet.gateway_base import WorkerGateway
    from xdist.workermanage import NodeManager
    def wait_for_it(gateway):
        gateway._execpool.trigger_shutdown()
        gateway._execpool.waitall(2000.0)
    WorkerGateway._terminate_execution = wait_for_it
    NodeManager.EXIT_TIMEOUT = 2000

@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    busy = HERE / f"{NAME}.busy"
    if item.name != "test_stops":
        busy.touch()
    try:
        return (yield)
    finally:
        busy.unlink(missing_ok=True)

def pytest_unconfigure():
    (HERE / f"{NAME}.ended").touch()
"""


def stored(spools: Path) -> Counter[str]:
    """How often each request is answered on disk."""
    lines = [line for spool in spools.glob("*.spool.jsonl") for line in spool.read_bytes().splitlines()]
    found = [json.loads(line) for line in lines if line.endswith(b"}")]
    return Counter(json.dumps(each["request"], sort_keys=True) for each in found if "request" in each)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("who", ["ctrl-c", "worker"])
def test_workers_lose_nothing_and_end_with_who_started_them(
    pytester: pytest.Pytester, server: ModelServer, monkeypatch: pytest.MonkeyPatch, spools: Path, who: str
) -> None:
    """Ctrl-C that reaches the process alone that started the workers; that process killed; a worker killed."""
    pytester.makefile(".ini", pytest=RECORDED_INI)
    pytester.makepyfile(test_it=PROMPT + SOURCE, conftest=WORKERS)
    here, model = pytester.path, Stalling(5)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n2", "--promptfuzz-mode=record"]
    with ModelServer(model) as stalling:
        monkeypatch.setenv("OPENAI_BASE_URL", stalling.openai_url)
        monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # this test may run in a worker itself
        with (
            warm.Popen(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run,
            contextlib.ExitStack() as ended,
        ):
            ended.callback(model.go_on.set)
            ended.callback(run.kill)
            until(lambda: stalling.calls > 5 and stored(spools).total() == 5)
            name = min(here.glob("gw*.busy")).stem if who == "worker" else "main"
            number = signal.SIGINT if who == "ctrl-c" else signal.SIGKILL
            os.kill(int((here / f"{name}.pid").read_text()), number)
            if who == "main":
                until(lambda: (here / "gw0.ended").exists() and (here / "gw1.ended").exists())
            if who == "worker":
                model.go_on.set()
            output, _ = run.communicate(timeout=1800)
            answered = stalling.answered  # before the call that was under way is let go
        if who == "ctrl-c":
            assert run.returncode == 2, output
            assert "KeyboardInterrupt" in output
            assert (here / "gw0.ended").exists(), output
            assert (here / "gw1.ended").exists(), output
        if who != "worker":
            assert answered == 5, "nobody waited for calls that were under way"
        kept = stored(spools)
        assert kept.total() >= 5
        model.begin_anew(stalling)
        again = warm.run(command, cwd=here, capture_output=True, text=True, check=False)
        second = asked(stalling)
    assert again.returncode == 0, again.stdout
    recording = (here / "__promptfuzz__" / "test_it.calls.jsonl").read_bytes().splitlines()
    need = Counter(
        json.dumps(each["request"], sort_keys=True)
        for each in map(json.loads, recording)
        if "request" in each
    )
    assert need.total() == 2 * CALLS
    assert second == need - kept


def _of_version(head: bytes, version: int) -> bytes:
    from pytest_promptfuzz.storage.recordings.entries import sealed, unsealed

    return sealed({**unsealed(head + b"\n"), "version": version}).rstrip(b"\n")
