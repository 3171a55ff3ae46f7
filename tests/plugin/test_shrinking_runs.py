"""Brittle tests show the smallest edit that breaks them: all kinds of bodies, recorded, replayed, within a budget."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz import Counterexample, Response
from pytest_promptfuzz.server.faults import Unauthorized
from pytest_promptfuzz.server.model_server import ModelServer
from tests import warm
from tests.in_process import promptfuzz
from tests.plugin.reported import CONFTEST, fresh, reports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.providers.requests import Request

HEAD = '''
import anthropic
import openai
import pytest
from pytest_promptfuzz import Prompt, robust

SORT = Prompt("""You sort the tickets of a shop that sells garden tools to people in many countries.

Rate the urgency of the ticket. Write the answer as one word: high, medium or low. Do not explain it.

Ticket: {ticket}""")
TICKET = "No hurry."
LOUD = {"operators": ["upper-case"], "mutations": 4}
'''
BODIES = {
    "sync": """
CLIENT = openai.OpenAI()

@robust(SORT, **LOUD)
def test_sync(prompt):
    text = str(prompt.format(ticket=TICKET))
    messages = [{"role": "user", "content": text}]
    return CLIENT.chat.completions.create(model="m", messages=messages).choices[0].message.content
""",
    "async": """
@pytest.mark.asyncio
@robust(SORT, **LOUD)
async def test_async(prompt):
    async with openai.AsyncOpenAI() as client:
        answer = await client.responses.create(model="m", input=str(prompt.format(ticket=TICKET)))
        assert answer.output_text == "high"
""",
    "declared": """
@robust(SORT, inputs={"calm": TICKET, "loud": "It burns."}, **LOUD)
def test_declared(response, input):
    assert response.text
""",
    "wire": """
@robust(mutate="role:system", **LOUD)
def test_wire():
    with anthropic.Anthropic() as client:
        messages = [{"role": "user", "content": TICKET}]
        said = client.messages.create(model="m", max_tokens=50, system=str(SORT.format(ticket=TICKET)), messages=messages)
    return said.content[0].text
""",
    "llm": """
@pytest.mark.parametrize("prompt", [SORT, Prompt("Say high. {ticket}")], ids=["sort", "say"])
@robust(**LOUD)
def test_llm(prompt, llm):
    assert llm(prompt.format(ticket=TICKET)).text == "high"
""",
}
FOUND = [["-", "garden"], ["+", "GARDEN"]]
BRITTLE = {
    "sync": ["test_sync"],
    "async": ["test_async"],
    "declared": ["test_declared"],
    "wire": ["test_wire"],
    "llm": ["test_llm[sort]"],
}


class Gardener:
    """A model that a loud garden confuses."""

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        del sample
        text = " ".join(str(each["content"]) for each in request.messages)
        return Response("low" if "GARDEN" in text else "high", model="m")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Gardener()) as running:
        yield running


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, server: ModelServer):
    """Run bodies against the server in a process of its own: ``run("sync", "--option")``."""
    monkeypatch.delenv("PROMPTFUZZ_SHRINK")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("CI", raising=False)
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
    pytester.makeconftest(CONFTEST)
    pytester.makefile(
        ".ini",
        pytest="[pytest]\npromptfuzz_target = openai:m\nfilterwarnings = error\n"
        "asyncio_default_fixture_loop_scope = function\n",
    )

    def started(bodies: str, *arguments: str) -> pytest.RunResult:
        written = "".join(BODIES.get(each, each) for each in bodies.split("+"))
        pytester.makepyfile(test_it=HEAD + written)
        return pytester.runpytest("-p", "no:cacheprovider", *arguments)

    return started


def found(pytester: pytest.Pytester) -> dict[str, list[Any]]:
    return {
        name.partition("::")[2]: each["counterexamples"]
        for name, each in reports(pytester).items()
        if each["verdict"] == "brittle"
    }


def changed(each: dict[str, Any]) -> list[list[str]]:
    return [piece for piece in each["diff"] if piece[0] != "="]


def check(pytester: pytest.Pytester, names: list[str]) -> None:
    shrunk = found(pytester)
    assert sorted(shrunk) == sorted(names)
    for (one,) in shrunk.values():
        assert changed(one) == FOUND
        assert one["minimal"]
        assert (one["baseline"], one["answer"]) in (("high", "low"), (None, "low"), ("high", None))
        assert one["repeats"][0] == one["repeats"][1] >= 3
        assert Counterexample.from_json(one).id == one["id"]


@pytest.mark.parametrize("body", BODIES)
def test_all_kinds_of_bodies(pytester, run, server, body) -> None:
    result = run(body)
    check(pytester, BRITTLE[body])
    result.stdout.fnmatch_lines(
        [
            "The smallest change that breaks it*",
            "   prompt     *[[]-garden-]{+GARDEN+} tools to people in many countries.",
            "   baseline   high",
            "   response   low",
            "   shrunk     from trial *; breaks the test each time",
            "",
            "Brittle*",
        ]
    )
    assert server.calls == sum(each["spent"]["calls"] for each in reports(pytester).values())
    first = found(pytester)
    server.reset()
    # What is known by now would be asked in the place of what found it.
    shutil.rmtree(pytester.path / ".promptfuzz" / "counterexamples")
    run(body)
    assert server.calls == 0
    assert found(pytester) == first


def test_how_calls_are_made_changes_nothing(pytester, run, server) -> None:
    seen = []
    for arguments in (
        ("--promptfuzz-concurrency=1",),
        (),
        ("--promptfuzz-speculate=off", "--promptfuzz-lookahead=0"),
        ("-n", "1"),
    ):
        fresh(pytester)
        run("sync+async+declared+wire", *arguments).assert_outcomes(failed=4)
        check(pytester, ["test_sync", "test_async", "test_declared", "test_wire"])
        seen.append(found(pytester))
    assert seen[0] == seen[1] == seen[2] == seen[3]


def test_a_replay_finds_what_was_recorded(pytester, run, server) -> None:
    run("sync+declared+wire", "--promptfuzz-mode=record").assert_outcomes(failed=3)
    first = found(pytester)
    fresh(pytester)
    server.reset()
    run("sync+declared+wire", "--promptfuzz-mode=replay").assert_outcomes(failed=3)
    assert found(pytester) == first
    assert server.calls == 0
    assert not any("shr" in note for each in reports(pytester).values() for note in each["notes"])
    verified = promptfuzz("cache", "verify")
    assert verified.returncode == 0, verified.stdout


def test_a_recording_without_them_says_so_and_fails_nothing_more(pytester, run, server) -> None:
    run("sync+declared+wire", "--promptfuzz-mode=record", "--promptfuzz-shrink=off").assert_outcomes(failed=3)
    before = {name: (each["verdict"], each["score"]) for name, each in reports(pytester).items()}
    fresh(pytester)
    server.reset()
    run("sync+declared+wire", "--promptfuzz-mode=replay").assert_outcomes(failed=3)
    after = reports(pytester)
    assert {name: (each["verdict"], each["score"]) for name, each in after.items()} == before
    for each in after.values():
        notes = [note for note in each["notes"] if "shr" in note]
        assert notes == ["not shrunk: the recording has no answers for it; record the test again"]
        (whole,) = each["counterexamples"]
        assert not whole["minimal"]
        assert whole["id"] == whole["trial"]
    assert server.calls == 0


def test_the_budget_ends_it_and_the_test_fails_as_it_would(pytester, run, server) -> None:
    run("sync", "--promptfuzz-shrink=0").assert_outcomes(failed=1)
    without = server.calls
    fresh(pytester)
    server.reset()
    run("sync", f"--promptfuzz-max-calls={without + 3}").assert_outcomes(failed=1)
    assert server.calls == without + 3
    ((one,),) = found(pytester).values()
    assert not one["minimal"]
    (report,) = reports(pytester).values()
    assert any("shrinking ended early" in note and "max-calls" in note for note in report["notes"])


def test_a_provider_that_fails_ends_it_and_the_recording_is_whole(pytester, run, monkeypatch) -> None:
    refused = Unauthorized(times=None, when=lambda body: "GARDEN" in body and "TICKETS" not in body)
    with ModelServer(Gardener(), faults=[refused]) as failing:
        monkeypatch.setenv("OPENAI_BASE_URL", failing.openai_url)
        run("sync", "--promptfuzz-mode=record").assert_outcomes(failed=1)
        first = reports(pytester)["test_it.py::test_sync"]
        assert failing.calls == first["spent"]["calls"]
    (one,) = first["counterexamples"]
    assert not one["minimal"]
    assert any("shrinking ended early" in note and "401" in note for note in first["notes"])
    fresh(pytester)
    run("sync", "--promptfuzz-mode=replay").assert_outcomes(failed=1)
    again = reports(pytester)["test_it.py::test_sync"]
    assert (again["verdict"], again["score"]) == ("brittle", first["score"])
    assert [each["prompt"] for each in again["counterexamples"]] == [one["prompt"]]
    assert "not shrunk: the recording has no answers for it; record the test again" in again["notes"]


def test_the_mark_wins_and_options_are_read(pytester, run, server) -> None:
    off = BODIES["sync"].replace("**LOUD", 'shrink="off", **LOUD')
    few = BODIES["llm"].replace("@robust(**LOUD", "@robust(shrink=4, **LOUD")
    run(f"{off}+{few}", "--promptfuzz-shrink=60")
    shrunk = found(pytester)
    assert shrunk["test_sync"] == []
    (one,) = shrunk["test_llm[sort]"]
    assert one["calls"] <= 4
    assert not one["minimal"]
    for setting in ("promptfuzz_shrink = off", "promptfuzz_shrink = 0"):
        pytester.makefile(".ini", pytest=f"[pytest]\npromptfuzz_target = openai:m\n{setting}\n")
        run("sync")
        assert found(pytester)["test_sync"] == []
    pytester.makefile(".ini", pytest="[pytest]\npromptfuzz_target = openai:m\n")
    pytester.makepyprojecttoml("[tool.promptfuzz]\nshrink = 0\n")
    run("sync")
    assert found(pytester)["test_sync"] == []


@pytest.mark.parametrize("value", ["-1", "yes", "1.5", "True"])
def test_an_option_that_is_no_number_is_told(run, value) -> None:
    result = run("sync", f"--promptfuzz-shrink={value}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*--promptfuzz-shrink*{value}*whole number of 0 or more, or off*"])


@pytest.mark.parametrize("value", ["-1", '"yes"', "True"])
def test_a_mark_that_is_no_number_is_told(run, value) -> None:
    result = run(BODIES["sync"].replace("**LOUD", f"shrink={value}, **LOUD"))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*shrink=*is not a number of queries*"])


@pytest.mark.with_plugins("hypothesispytest")
def test_examples_of_hypothesis_are_not_shrunk_and_say_so(pytester, run) -> None:
    body = """
from hypothesis import given, settings, strategies

@settings(max_examples=2, database=None)
@given(number=strategies.integers(0, 9))
@robust(SORT, operators=["upper-case"], mutations=1)
def test_given(number, prompt, llm):
    assert llm(prompt.format(ticket=str(number))).text == "high"
"""
    result = run(body)
    report = reports(pytester)["test_it.py::test_given"]
    assert report["counterexamples"] == []
    result.stdout.fnmatch_lines(["*not shrunk: hypothesis draws the arguments*"])


# The mark that it shrinks is a folder, there at once: a file that Ctrl-C finds open would be a warning, and an error.
SLOW = """
import os
import time

@robust(SORT, **LOUD)
def test_slow(prompt, llm):
    text = prompt.text
    if "GARDEN" in text and "TICKETS" not in text:
        os.makedirs("shrinking", exist_ok=True)
        while True:
            time.sleep(0.01)
    return llm(prompt.format(ticket=TICKET)).text

def test_next():
    pass
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_ctrl_c_shows_what_is_smallest_by_then(pytester, run, server) -> None:
    pytester.makepyfile(test_it=HEAD + SLOW)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--promptfuzz-speculate=off"]
    with warm.Popen(
        command, cwd=pytester.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        limit = time.monotonic() + 600
        while (
            not (pytester.path / "shrinking").exists() and time.monotonic() < limit and child.poll() is None
        ):
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate()
    assert child.returncode == 2, output
    assert "A change that breaks it" in output
    assert "shrinking ended early: it was interrupted" in output
    assert "1 failed in" in output
    assert "Ctrl-C" in output
    ((one,),) = found(pytester).values()
    assert (one["minimal"], one["answer"]) == (False, "low")


@pytest.mark.skipif(sys.platform == "win32", reason="SIGALRM")
def test_the_tests_own_timeout_shows_what_is_smallest_by_then(pytester, run) -> None:
    pytest.importorskip("pytest_timeout")
    # The time is up when the test says so: pytest-timeout hears of it by this signal.
    late = SLOW.replace("import time", "import signal").replace(
        "time.sleep(0.01)", "signal.raise_signal(signal.SIGALRM)"
    )
    result = run(late, "--timeout=600", "--timeout-method=signal", "--promptfuzz-speculate=off")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["A change that breaks it", "*shrinking ended early: the test's time is up*"])
