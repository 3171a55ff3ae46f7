"""What is recorded a second time: changed answers, patterns that were added, other models, runs at the same time."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import openai  # noqa: F401 - loaded once, and not anew for each run
import pytest

from pytest_promptfuzz.providers.requests import Request, Response, ToolCall
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.recordings.checks import check
from pytest_promptfuzz.storage.recordings.entries import RecordedExchange, from_line
from tests import warm
from tests.plugin.conftest import PROMPT, RECORDED_INI, keep_modules
from tests.plugin.stalling import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Run = Callable[..., pytest.RunResult]

LLM = """
import os
import pytest

@robust(TRIAGE, mutations=int(os.environ.get("MUTATIONS", "4")), threshold=0.0, controls=0, ignore=["$.user"])
def test_it(prompt, llm):
    return llm(prompt.format(ticket=TICKET), user="CUST-4711")

def test_stops():
    if os.environ.get("STOP"):
        raise KeyboardInterrupt
"""
TOOL = """
import os, httpx

@robust(TRIAGE, mutations=3, threshold=0.0, controls=0)
def test_it(prompt):
    given = {"role": "user", "content": prompt.format(ticket=TICKET)}
    body = {"model": "claude", "max_tokens": 9, "messages": [given]}
    answer = httpx.post(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json=body).json()
    (called,) = [each["input"] for each in answer["content"] if each["type"] == "tool_use"]
    assert called["id"] == os.environ["WANTED"]
    return called["id"]
"""
CALLS = 3 + 4  # of the test: its prompt three times, and four mutations


class Model:
    """Says what it is told to; each answer has an ID of its own."""

    version = "m-1"

    def __init__(self) -> None:
        self.text = "BILLING"
        self.tool_calls: tuple[ToolCall, ...] = ()

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        del request, sample
        return Response(self.text, self.tool_calls, model=self.version)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    for name in ("CI", "PROMPTFUZZ_MODE", "STOP", "MUTATIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ModelServer(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        yield server


@pytest.fixture
def run(pytester: pytest.Pytester, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Run:
    del server
    keep_modules(pytester, monkeypatch)
    pytester.makefile(".ini", pytest=RECORDED_INI)
    pytester.makepyfile(test_it=PROMPT + LLM)

    def run(mode: str, *options: str, **environment: str) -> pytest.RunResult:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            return pytester.runpytest_inprocess(
                "-p", "no:cacheprovider", f"--promptfuzz-mode={mode}", *options, no_reraise_ctrlc=True
            )

    return run


@pytest.fixture
def recording(pytester: pytest.Pytester) -> Path:
    return pytester.path / "__promptfuzz__" / "test_it.calls.jsonl"


def answers(path: Path) -> list[str]:
    """The texts that are recorded."""
    lines = map(from_line, path.read_bytes().splitlines(keepends=True)[1:])
    bodies = [json.loads(each.answer.body) for each in lines if isinstance(each, RecordedExchange)]
    return [each["choices"][0]["message"]["content"] for each in bodies]


def said(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())


def test_other_arguments_of_a_tool_are_recorded_whatever_they_are_called(
    run: Run, recording: Path, model: Model, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(test_it=PROMPT + TOOL)
    for order in ("order-1", "order-2"):
        model.text, model.tool_calls = "", (ToolCall("refund", {"id": order}),)
        recorded = run("record", WANTED=order)
        recorded.assert_outcomes(passed=1)
        assert "answered as before" not in said(recorded)
        assert recording.read_text().count(order) == 3 + 3
        run("replay", WANTED=order).assert_outcomes(passed=1)
    assert "(6 answered as before)" in said(run("record", WANTED="order-2"))


@pytest.mark.parametrize("mode", ["record", "record-missing"])
@pytest.mark.parametrize("way", ["pattern", "hook"])
def test_what_is_hidden_from_now_on_leaves_the_recording(
    run: Run, recording: Path, pytester: pytest.Pytester, mode: str, way: str
) -> None:
    run("record")
    assert recording.read_text().count("CUST-4711") == CALLS
    if way == "pattern":
        pytester.makefile(".ini", pytest=RECORDED_INI + "promptfuzz_redact =\n    CUST-\\d+\n")
    else:
        pytester.makeconftest(
            "def pytest_promptfuzz_redactors(config):\n"
            "    return [lambda text, name: '[customer]' if name == 'user' else text]\n"
        )
    again = run(mode)
    again.assert_outcomes(passed=2)
    assert "CUST-4711" not in recording.read_text()
    assert "answered as before" not in said(again)
    clean = recording.read_bytes()
    kept = run("record")
    assert f"({CALLS} answered as before)" in said(kept)
    assert recording.read_bytes() == clean


def test_what_an_interrupted_run_left_is_not_served_once_something_in_it_is_hidden(
    run: Run, recording: Path, pytester: pytest.Pytester, server: ModelServer
) -> None:
    run("record", STOP="1")
    pytester.makefile(".ini", pytest=RECORDED_INI + "promptfuzz_redact =\n    CUST-\\d+\n")
    run("record").assert_outcomes(passed=2)
    assert server.calls == 2 * CALLS
    assert "CUST-4711" not in recording.read_text()


def test_record_asks_again_what_an_interrupted_run_took_from_the_recording(
    run: Run, recording: Path, model: Model, server: ModelServer
) -> None:
    run("record")
    model.text = "OTHER"
    missing = run("record-missing", STOP="1", MUTATIONS="5")
    assert server.calls == CALLS + 1
    assert f"1 call made, {CALLS + 1} answers recorded: {CALLS} answers were recorded already" in said(
        missing
    )
    again = run("record", MUTATIONS="5")
    assert server.calls == 2 * CALLS + 1, "only what was asked of the model since is not asked again"
    assert "1 answer was kept from a run that was interrupted" in said(again)
    assert answers(recording) == ["OTHER"] * (CALLS + 1)


def test_answers_under_a_former_name_are_said_to_be_recorded_already(
    run: Run, pytester: pytest.Pytester, server: ModelServer
) -> None:
    run("record")
    pytester.makepyfile(test_it=PROMPT + LLM.replace("test_it", "test_with_another_name"))
    renamed = said(run("record-missing"))
    assert server.calls == CALLS
    assert f"0 calls made, {CALLS} answers recorded: {CALLS} answers were recorded already" in renamed
    assert "interrupted" not in renamed


def test_where_another_model_is_asked_for_everything_nothing_is_said_to_be_recorded(
    run: Run, recording: Path, model: Model, server: ModelServer
) -> None:
    run("record")
    model.version = "m-2"
    missing = said(run("record-missing", MUTATIONS="5"))
    assert server.calls == CALLS + 1 + CALLS + 1, "one that is missing, and then all"
    assert "m-1" not in recording.read_text()
    assert "from its recording" not in missing
    assert "recorded already" not in missing


def test_what_another_model_answered_is_not_carried_along(
    run: Run, recording: Path, model: Model, pytester: pytest.Pytester
) -> None:
    """A test that asks less at times keeps its other answers, but none of the model that was there before."""
    source = LLM.replace(
        "    return llm", "    if os.environ.get('MORE'):\n        llm('Hello.')\n    return llm"
    )
    pytester.makepyfile(test_it=PROMPT + source)
    run("record", MORE="1")
    run("record-missing")
    assert len(answers(recording)) > CALLS
    lines = recording.read_bytes().splitlines(keepends=True)
    recording.write_bytes(b"".join(lines[:-1]))  # the last trial is missing
    model.version = "m-2"
    run("record-missing")
    assert "m-1" not in recording.read_text()
    assert len(answers(recording)) == CALLS


def test_answers_of_an_input_that_was_changed_do_not_stay(
    run: Run, recording: Path, server: ModelServer, pytester: pytest.Pytester
) -> None:
    source = (
        PROMPT
        + LLM.replace("test_stops", "test_other")
        + LLM.partition("import pytest")[2].partition("def test_stops")[0].replace("test_it", "test_stays")
    )
    pytester.makepyfile(test_it=source)
    run("record")
    before, calls = recording.read_text(), server.calls
    pytester.makepyfile(
        test_it=source.replace("format(ticket=TICKET)", "format(ticket='The app crashes.')", 1)
    )
    changed = said(run("record-missing"))
    assert server.calls == calls + CALLS
    assert f"recorded 1 test, {CALLS} answers ({CALLS} of a changed input removed): " in changed
    assert len(answers(recording)) == 2 * CALLS
    assert "The app crashes." in recording.read_text()
    run("replay").assert_outcomes(passed=3)
    pytester.makepyfile(test_it=source)
    run("record-missing")
    assert "The app crashes." not in recording.read_text()
    assert len(recording.read_text().splitlines()) == len(before.splitlines())


def test_what_a_run_did_not_ask_for_stays_and_is_counted(
    run: Run, recording: Path, pytester: pytest.Pytester
) -> None:
    source = LLM.replace(
        "    return llm", "    if os.environ.get('MORE'):\n        llm('Hello.')\n    return llm"
    )
    pytester.makepyfile(test_it=PROMPT + source)
    run("record", MORE="1")
    lines = recording.read_bytes().splitlines(keepends=True)
    recording.write_bytes(b"".join(lines[:-1]))  # the last trial is missing
    shown = said(run("record-missing"))
    more = len(lines) - 2 - CALLS
    assert more > 0
    total = CALLS + more
    assert (
        f"recorded 1 test, {total} answers ({total - 1} recorded before, {more} of them not asked for now): "
        in shown
    )
    assert len(answers(recording)) == total
    run("replay", MORE="1").assert_outcomes(passed=2)


MEANWHILE = """
import os, time
from pathlib import Path

HERE, CALLED = Path(__file__).parent, []

@robust(TRIAGE, mutations=4, threshold=0.0, controls=0)
def test_it(prompt, llm):
    CALLED.append(prompt)
    if os.environ.get("FIRST") and len(CALLED) == 4:
        (HERE / "in-the-middle").touch()
        while not (HERE / "go-on").exists():
            time.sleep(0.02)
    return llm(prompt.format(ticket=TICKET))
"""


@pytest.mark.parametrize(
    ("other", "workers"), [("record", ()), ("record-missing", ()), ("record-missing", ("-n1",))]
)
def test_runs_at_the_same_time_lose_nothing_that_was_paid_for(
    pytester: pytest.Pytester,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    recording: Path,
    other: str,
    workers: tuple[str, ...],
) -> None:
    """Another run of the same test begins and ends while one is in the middle of it."""
    pytester.makefile(".ini", pytest=RECORDED_INI)
    pytester.makepyfile(test_it=PROMPT + MEANWHILE)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # this test may run in a worker itself
    here, spools = pytester.path, pytester.path / ".promptfuzz" / "recording"
    piped = {"cwd": here, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}

    def command(mode: str) -> list[str]:
        return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--promptfuzz-mode={mode}"]

    first = warm.Popen([*command("record"), *workers], env={**os.environ, "FIRST": "1"}, **piped)
    with first, contextlib.ExitStack() as ended:
        ended.callback(first.kill)
        ended.callback((here / "go-on").touch)
        until((here / "in-the-middle").exists)
        second = warm.run(command(other), check=False, **piped)
        assert len(list(spools.glob("*.spool.jsonl"))) == 1, "that of the run that goes on"
        (here / "go-on").touch()
        output, _ = first.communicate(timeout=1800)
    assert server.calls == 2 * CALLS, "both asked the model"
    for status, shown in ((first.returncode, output), (second.returncode, second.stdout)):
        assert status == 0, shown
        assert f"recorded 1 test, {CALLS} answers" in shown
        assert "goes on" not in shown
    assert len(answers(recording)) == CALLS
    assert not check(recording).problems
    assert not list(spools.glob("*.spool.jsonl")), "nothing is left for a later run to take for its own"
    assert warm.run(command("record"), check=False, **piped).returncode == 0
    assert server.calls == 3 * CALLS
