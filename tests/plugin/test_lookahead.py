"""The calls of declarative tests are made ahead, many at once, and change nothing but the time it takes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.server.faults import ServerError
from pytest_promptfuzz.server.model_server import ModelServer
from tests import warm
from tests.plugin.reported import CONFTEST, fresh, reports, threads_left

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = '''
import pytest
from pytest_promptfuzz import Prompt, robust

LABELS = ["BILLING", "TECHNICAL", "ACCOUNT", "OTHER"]
TICKETS = ["I was charged twice this month and want a refund.", "The app crashes whenever I open the settings."]

def triage(shop):
    return Prompt(f"""You work for a {shop}. Classify the ticket into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.
Answer with the label only.

Ticket:
""" + "{ticket}")
'''
TEST = """
{mark}
@robust(triage("{shop}"), inputs=TICKETS, mutations=3, threshold=0.9)
{kind}def test_{shop}(response, input, prompt):
    {check}
"""
SHOPS = ("bakery", "bank", "library", "museum", "school")
PASSES = "assert response.text in LABELS"


def suite(
    checks: dict[str, str] | None = None, *, marks: dict[str, str] | None = None, kind: str = ""
) -> str:
    checks, marks = checks or {}, marks or {}
    mark = "@pytest.mark.asyncio" if kind else ""
    return HEAD + "".join(
        TEST.format(shop=shop, check=checks.get(shop, PASSES), mark=marks.get(shop, mark), kind=kind)
        for shop in SHOPS
    )


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(latency=0.02) as running:
        yield running


@pytest.fixture
def live(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, server: ModelServer):
    """Run a suite against the server in a process of its own."""
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    pytester.makeconftest(CONFTEST)
    pytester.makefile(
        ".ini",
        pytest="[pytest]\npromptfuzz_target = openai:gpt-5-mini\nfilterwarnings = error\n"
        "asyncio_default_fixture_loop_scope = function\n",
    )

    def run(source: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=source)
        return pytester.runpytest("-p", "no:cacheprovider", *arguments)

    return run


def spent_ahead(result: pytest.RunResult) -> int:
    line = next((each for each in result.outlines if "made ahead for tests" in each), "promptfuzz: 0")
    return int(line.split()[1])


BRITTLE = 'assert response.text in LABELS and str(prompt).startswith("You work")'


def test_reports_are_the_same_with_and_without_look_ahead_sync_and_async(pytester, live, server):
    checks = {"bank": BRITTLE, "museum": "return response.text.lower()"}
    seen = []
    for kind in ("", "async "):
        for window in ("0", "2", "20"):
            server.reset()
            result = live(suite(checks, kind=kind), f"--promptfuzz-lookahead={window}")
            outcomes = result.parseoutcomes()
            assert outcomes == {"passed": 4, "failed": 1}, result.stdout.str()
            noise = [each["noise"] for each in reports(pytester).values() if each["noise"]]
            again = sum(2 * (each["baselines"] - 1) + each["repeats"] for each in noise)
            assert again > 0  # the brittle one, before it is called so
            assert server.calls == 5 * 2 * 4 + again
            assert spent_ahead(result) == 0
            found = reports(pytester)
            seen.append(found)
            fresh(pytester)
    assert len(seen[0]) == 5
    for each in seen[1:]:
        assert each == seen[0]


def test_calls_overlap_up_to_the_concurrency_and_baselines_come_first(live, server):
    live(suite(), "--promptfuzz-concurrency=6").assert_outcomes(passed=5)
    assert 3 < server.peak <= 6
    originals = [each.text.count("You work for a ") for each in server.requests]
    assert sum(originals[:10]) >= 8
    assert len(server.requests) == 40


def test_without_look_ahead_the_calls_of_a_batch_overlap(live, server):
    live(suite(), "--promptfuzz-lookahead=0", "--promptfuzz-concurrency=3").assert_outcomes(passed=5)
    assert 1 < server.peak <= 3


def test_one_call_at_a_time_if_asked(live, server):
    live(suite(), "--promptfuzz-concurrency=1").assert_outcomes(passed=5)
    assert server.peak == 1


def test_a_second_run_makes_no_call_and_no_thread(pytester, live, server):
    live(suite()).assert_outcomes(passed=5)
    server.reset()
    pytester.makeconftest(
        CONFTEST
        + """
class Refusing(threading.Thread):
    def start(self):
        assert not self.name.startswith("promptfuzz")
        super().start()

threading.Thread = Refusing
"""
    )
    live(suite()).assert_outcomes(passed=5)
    assert server.calls == 0


@pytest.mark.parametrize("arguments", [("-x",), ("--maxfail=1",)])
def test_stopping_early_says_what_was_spent_for_nothing(pytester, live, server, arguments):
    result = live(suite({"bakery": "assert False"}), *arguments, "--promptfuzz-lookahead=2")
    assert result.parseoutcomes() == {"failed": 1}
    # Its own baseline was asked twice and used; what else arrived was for nothing.
    assert spent_ahead(result) == server.calls - 2
    assert server.calls <= 1 + 3 * 2 * 4
    assert threads_left(pytester) == []
    server.reset()
    result = live(suite(), "--promptfuzz-lookahead=0")
    result.assert_outcomes(passed=5)


@pytest.mark.parametrize("cap", ["--promptfuzz-max-calls=0", "--promptfuzz-max-cost=0.01"])
def test_calls_that_the_budget_refused_were_not_made_ahead(live, server, cap):
    source = HEAD + TEST.format(shop="bank", check=PASSES, mark="", kind="").replace(
        "mutations=3", "mutations=3, target='openai:priceless'"
    )
    result = live(source, cap)
    assert server.calls == 0
    result.assert_outcomes(errors=1)
    assert spent_ahead(result) == 0, result.stdout.str()


def test_the_look_ahead_bounds_what_is_at_risk(live, server):
    result = live(suite({"bakery": "assert False"}), "-x", "--promptfuzz-lookahead=0")
    assert result.parseoutcomes() == {"failed": 1}
    # Both inputs' baselines, and the first one's second sample.
    assert server.calls == 3
    assert spent_ahead(result) == 1


def test_tests_that_will_not_run_are_not_asked(live, server):
    marks = {
        "library": "@pytest.mark.skip",
        "museum": "@pytest.mark.skipif(True, reason='no')",
    }
    result = live(suite(marks=marks), "-k", "not school")
    assert result.parseoutcomes() == {"passed": 2, "skipped": 2, "deselected": 1}
    assert server.calls == 2 * 2 * 4
    assert spent_ahead(result) == 0


def test_no_mutation_is_asked_where_the_baseline_cannot_be_had(live, server):
    server.fail(ServerError(status=400, when="You work for a bank"), next=100)
    result = live(suite())
    assert result.parseoutcomes() == {"passed": 4, "errors": 1}
    asked = [each.text for each in server.requests if "bank" in each.text.lower()]
    assert len(asked) <= 4


def test_a_fixture_that_moves_the_server_is_respected(live, server):
    source = suite(dict.fromkeys(SHOPS, PASSES)).replace("response, input", "where, response, input")
    fixture = """
@pytest.fixture
def where(request, promptfuzz_server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_server.openai_url)
    yield promptfuzz_server
    assert promptfuzz_server.calls >= 8
"""
    result = live(source.replace("def triage", fixture + "\ndef triage"))
    result.assert_outcomes(passed=5)
    assert server.calls == 0


OTHER = """
def test_other():
    import time
    from pathlib import Path
    begun = time.time()
    time.sleep(1.0)
    Path("other.json").write_text(f"[{begun}, {time.time()}]")

"""


def test_nothing_is_begun_while_other_tests_run(pytester, live):
    times: list[float] = []
    place = '@robust(triage("bank")'
    with ModelServer(latency=0.05, on_request=lambda *_: times.append(time.time())) as slow:
        os.environ["OPENAI_BASE_URL"] = slow.openai_url  # the fixture `live` puts it back
        source = suite().replace(f"\n{place}", f"{OTHER}\n{place}")
        live(source, "--promptfuzz-concurrency=2").assert_outcomes(passed=6)
    begun, ended = json.loads((pytester.path / "other.json").read_text())
    during = [each for each in times if begun < each < ended]
    assert len(times) == 40
    assert len(during) <= 2  # those under way


def test_workers_of_xdist_each_make_their_own(pytester, live, server):
    result = live(suite(), "-n", "2")
    result.assert_outcomes(passed=5)
    assert server.calls == 40
    assert len(reports(pytester)) == 5
    server.reset()
    fresh(pytester)
    result = live(suite({"bakery": "assert False", "bank": "assert False"}), "-n", "2", "--maxfail=1")
    assert spent_ahead(result) > 0


def test_what_is_recorded_ahead_is_replayed(pytester, live, server, monkeypatch):
    live(suite(), "--promptfuzz-mode=record").assert_outcomes(passed=5)
    # Three samples of each baseline, and the mutations.
    assert server.calls == 5 * 2 * (3 + 3)
    recorded = reports(pytester)
    server.reset()
    fresh(pytester)
    monkeypatch.delenv("OPENAI_API_KEY")
    live(suite(), "--promptfuzz-mode=replay").assert_outcomes(passed=5)
    assert server.calls == 0
    for name, report in reports(pytester).items():
        assert report["verdict"] == recorded[name]["verdict"] == "pass"
        assert [each["response"] for each in report["trials"]] == [
            each["response"] for each in recorded[name]["trials"]
        ]
    live(suite({"bank": "assert len(response.text) > 3"})).assert_outcomes(passed=5)
    assert server.calls == 0  # the recording serves an ordinary run too
    other = suite().replace("You work for", "You are at")
    live(other, "--promptfuzz-mode=replay").assert_outcomes(errors=5)
    assert server.calls == 0


@pytest.mark.with_plugins("rerunfailures")
def test_a_rerun_asks_the_store(live, server):
    checks = {"bakery": "FAILED.append(1)\n    assert len(FAILED) > 2"}
    result = live(suite(checks).replace("LABELS =", "FAILED = []\nLABELS =", 1), "--reruns=1")
    assert result.parseoutcomes()["rerun"] == 1
    assert result.parseoutcomes()["passed"] == 5
    assert server.calls == 40 + 1


def test_an_interrupt_ends_at_once_and_what_was_answered_stays(pytester, live, server):
    live(suite(), "--collect-only")  # writes the files
    with ModelServer(latency=0.5) as slow:
        env = {**os.environ, "OPENAI_BASE_URL": slow.openai_url, "OPENAI_API_KEY": "none"}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--promptfuzz-concurrency=4"]
        with warm.Popen(command, cwd=pytester.path, env=env, stdout=subprocess.PIPE, text=True) as child:
            limit = time.monotonic() + 600
            while slow.answered < 6 and time.monotonic() < limit:
                time.sleep(0.05)
            child.send_signal(signal.SIGINT)
            output, _ = child.communicate()
        assert child.returncode == 2, output
        assert "KeyboardInterrupt" in output
        answered = slow.answered
        assert 6 <= answered < 40
        # The address is part of the key, so the same server has to go on.
        slow.reset()
        again = warm.run(command, cwd=pytester.path, env=env, capture_output=True, text=True, check=False)
        assert "5 passed" in again.stdout
        assert slow.calls <= 40 - answered + 4
    assert threads_left(pytester) == []
