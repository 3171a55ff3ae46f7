"""Searches that end before their time in real pytest processes: Ctrl-C, a test's timeout, and what cannot be asked ahead."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.server.model_server import ModelServer
from tests import warm
from tests.plugin.conftest import INI, PROMPT
from tests.plugin.reported import CONFTEST, reports

if TYPE_CHECKING:
    from pathlib import Path

SOON = 120  # seconds: nothing here is about speed, only about ending without help
WAITS = """
import time

def said(prompt):
    # Answers at once until something is known, then as if it never would.
    gone = sum(word not in prompt.format(ticket=TICKET) for word in {words})
    if gone and len(SEEN) > {after}:
        (FOLDER / "ready").touch()
        time.sleep(600)
    SEEN.append(gone)
    return {{"OTHER": gone / 5, "BILLING": 1 - gone / 5}}
"""
HEAD = """
from pathlib import Path

FOLDER = Path(__file__).parent
SEEN = []
"""


def interrupted(folder: Path, source: str, *options: str) -> tuple[int, str]:
    """Run pytest until the body says that it is ready, press Ctrl-C, and have its end."""
    (folder / "pytest.ini").write_text(INI, encoding="utf-8")
    (folder / "test_it.py").write_text(PROMPT + HEAD + source, encoding="utf-8")
    with warm.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env={**os.environ, "COLUMNS": "160"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as child:
        limit = time.monotonic() + SOON
        while not (folder / "ready").exists() and time.monotonic() < limit and child.poll() is None:
            time.sleep(0.01)
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=SOON)
    return child.returncode, output


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_what_came_nearest_is_shown_after_ctrl_c(tmp_path: Path) -> None:
    source = WAITS.format(words=["choice", "exactly"], after=12) + textwrap.dedent(
        """
        @robust(TRIAGE, search={"batch": 1}, objective="confidence")
        def test_it(prompt):
            return said(prompt)
        """
    )
    code, output = interrupted(tmp_path, source)
    assert code == 2, output
    assert "interrupted: test_it.py::test_it" in output
    assert "Inconclusive: it was interrupted after " in output
    assert "; the nearest came to 0." in output
    assert "What came nearest" in output
    assert "INTERNALERROR" not in output


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_what_was_found_fails_the_test_after_ctrl_c(tmp_path: Path) -> None:
    source = WAITS.format(words=["choice", "exactly", "below", "support"], after=12) + textwrap.dedent(
        """
        @robust(TRIAGE, search={"method": "random", "batch": 4}, queries=400)
        def test_it(prompt):
            assert said(prompt)["OTHER"] == 0

        def test_not_begun():
            (FOLDER / "begun").touch()
        """
    )
    code, output = interrupted(tmp_path, source)
    assert code == 2, output
    assert "A change that breaks it" in output
    assert "FAILED test_it.py::test_it - brittle: query " in output
    assert "shrinking ended early: it was interrupted" in output
    assert not (tmp_path / "begun").exists()


def test_a_timeout_of_the_tests_own_keeps_what_was_found(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pytest_timeout")
    monkeypatch.setenv("COLUMNS", "160")
    pytester.makeini(INI)
    pytester.makeconftest(CONFTEST)
    source = WAITS.format(words=["choice", "exactly", "below", "support"], after=12) + textwrap.dedent(
        """
        import pytest

        @pytest.mark.timeout(12)
        @robust(TRIAGE, search={"method": "random", "batch": 4}, queries=400)
        def test_it(prompt):
            assert said(prompt)["OTHER"] == 0
        """
    )
    pytester.makepyfile(test_it=PROMPT + HEAD + source)
    result = pytester.runpytest_forked("-p", "no:cacheprovider", "-o", "timeout_method=signal")
    result.assert_outcomes(failed=1)
    (report,) = reports(pytester).values()
    assert report["reason"] == "counterexample-found"
    assert "shrinking ended early: the test's time is up" in report["notes"]


def test_a_search_cannot_be_asked_ahead(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(INI.replace("= simulated", "= openai:m"), encoding="utf-8")
    source = """
    @robust(TRIAGE, search=True, queries=20)
    def test_calls(prompt, llm):
        return llm(prompt.format(ticket=TICKET)).text

    @robust(TRIAGE, inputs=[TICKET], search=True, queries=20)
    def test_declared(response):
        assert response.text

    @robust(TRIAGE, inputs=[TICKET], mutations=2)
    def test_plan(response):
        assert response.text
    """
    (tmp_path / "test_it.py").write_text(PROMPT + textwrap.dedent(source), encoding="utf-8")
    with ModelServer() as server:
        done = warm.run(
            [sys.executable, "-m", "pytest_promptfuzz.cli", "prefill", "--dry-run", "."],
            cwd=tmp_path,
            env={
                **os.environ,
                "COLUMNS": "200",
                "OPENAI_API_KEY": "none",
                "OPENAI_BASE_URL": server.openai_url,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert server.calls == 0
    for name in ("test_calls", "test_declared"):
        said = next(line for line in done.stdout.splitlines() if f"::{name}" in line)
        assert "a search chooses each request from earlier answers" in said, done.stdout
    assert "::test_plan" not in done.stdout


def test_a_search_explains_nothing_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(INI, encoding="utf-8")
    (tmp_path / "test_it.py").write_text(PROMPT + NEARER, encoding="utf-8")
    done = warm.run(
        [sys.executable, "-m", "pytest_promptfuzz.cli", "explain", "test_it.py::test_it"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stdout
    assert "test_it.py::test_it: a search chooses " in " ".join(done.stdout.split())


NEARER = """
@robust(TRIAGE, search={"method": "greedy"}, objective="confidence", queries=90)
def test_it(prompt):
    gone = sum(word not in prompt.format(ticket=TICKET) for word in ("choice", "exactly"))
    return {"OTHER": gone / 5, "BILLING": 1 - gone / 5}
"""


def shown(folder: Path, *, terminal: bool) -> str:
    """What a run writes, to a terminal or to a pipe."""
    import pty

    (folder / "pytest.ini").write_text(INI, encoding="utf-8")
    (folder / "test_it.py").write_text(PROMPT + NEARER, encoding="utf-8")
    ours, theirs = pty.openpty() if terminal else os.pipe()
    with warm.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=folder,
        env={**os.environ, "COLUMNS": "120", "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.STDOUT,
    ) as child:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # a terminal whose other side is closed
                break
            if not part:
                break
            written += part
        assert child.wait(SOON) == 0, written.decode()
    os.close(ours)
    return written.decode("utf-8", "replace")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_shows_how_far_a_search_is_and_a_pipe_does_not(tmp_path: Path) -> None:
    on_terminal = shown(tmp_path, terminal=True)
    assert "/90 queries, best 0.00" in on_terminal
    assert re.search(r"[1-9]\d*/90 queries, best 0\.\d\d", on_terminal)
    assert "/90 queries, best" not in shown(tmp_path, terminal=False)
