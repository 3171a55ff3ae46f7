"""Budget, limits and prices of a whole run, over a real server, with and without xdist."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from pytest_promptfuzz.server.faults import RateLimited, StatusFault
from tests import warm
from tests.plugin.conftest import summary_of

REPLY = """
import openai
import pytest

@robust(TRIAGE, mutations=4)
@pytest.mark.parametrize("number", range({tests}))
def test_reply(prompt, number):
    with openai.OpenAI(api_key="any") as client:
        messages = [{{"role": "user", "content": f"{{prompt.format(ticket=TICKET)}} {{number}}"}}]
        answer = client.chat.completions.create(model="mine-1", messages=messages, max_tokens={bound})
        return answer.choices[0].message.content
"""
LIVE = ("-o", "promptfuzz_target=")


@pytest.fixture(autouse=True)
def online(promptfuzz_server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_server.openai_url)


def reply(tests=1, bound=50):
    return REPLY.format(tests=tests, bound=bound)


def test_a_spent_budget_is_inconclusive_and_said(project, promptfuzz_server):
    result = project(reply(3), *LIVE, "--promptfuzz-max-calls=7")
    result.assert_outcomes(passed=1, errors=2)
    assert promptfuzz_server.calls == 7
    assert set(summary_of(result).values()) == {"pass", "inconclusive"}
    result.stdout.fnmatch_lines(
        ["*The budget is spent: --promptfuzz-max-calls is 7, and 7 calls were made (*"]
    )
    result.stdout.fnmatch_lines(["*The budget was spent before these could be judged: *[[]2], *[[]1]*"])


def test_stored_answers_are_free(project, promptfuzz_server):
    project(reply(), *LIVE).assert_outcomes(passed=1)
    assert promptfuzz_server.calls == 5
    result = project(reply(), *LIVE, "--promptfuzz-max-calls=0", "--promptfuzz-max-cost=0")
    result.assert_outcomes(passed=1)
    assert promptfuzz_server.calls == 5
    result.stdout.fnmatch_lines(["*5 stored answers;*"])


def test_nothing_may_be_asked(project, promptfuzz_server):
    result = project(reply(), *LIVE, "--promptfuzz-max-calls=0")
    result.assert_outcomes(errors=1)
    assert promptfuzz_server.calls == 0
    result.stdout.fnmatch_lines(["*ConfigurationError: *test_reply[[]0]*Nothing may be asked of a model*"])


@pytest.mark.parametrize("cap", ["tokens", "cost"])
def test_a_budget_of_zero_asks_nothing_and_is_named(project, pytester, promptfuzz_server, cap):
    pytester.makepyprojecttoml('[tool.promptfuzz.prices]\n"*" = { input = 1, output = 1 }\n')
    result = project(reply(), *LIVE, f"--promptfuzz-max-{cap}=0")
    result.assert_outcomes(errors=1)
    assert promptfuzz_server.calls == 0
    zero = "0, 0 are" if cap == "tokens" else "$0, $0.0000 is"
    said = " ".join(result.stdout.str().split())
    assert f"The budget is spent: --promptfuzz-max-{cap} is {zero} spent, and this call may take" in said


def test_a_body_over_the_providers_limit_is_a_mistake_that_is_named(project, promptfuzz_server):
    promptfuzz_server.fail(StatusFault(status=413, message="The body is larger than 32 MB.", times=None))
    result = project(reply(), *LIVE)
    result.assert_outcomes(errors=1)
    assert promptfuzz_server.calls == 1
    result.stdout.fnmatch_lines(
        ["*ConfigurationError: *test_reply[[]0]*HTTP 413: The body is larger than 32 MB (*"]
    )


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--promptfuzz-max-calls=-1", "is not a whole number of 0 or more"),
        ("--promptfuzz-max-cost=-0.5", "is not a number of 0 or more"),
        ("--promptfuzz-max-cost=nan", "is not a number of 0 or more"),
        ("--promptfuzz-rpm=0", "is not a whole number of 1 or more"),
        ("--promptfuzz-judge-repeats=16", "is not a whole number from 1 to 15"),
        ("--promptfuzz-attempts=x", "is not a whole number of 1 or more"),
    ],
)
def test_wrong_values_are_refused(project, option, said):
    result = project(reply(), option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{option.partition('=')[0]}*{said}*"])


def test_own_prices_give_the_cost_and_hold_the_budget(project, pytester, promptfuzz_server):
    pytester.makepyprojecttoml('[tool.promptfuzz.prices]\n"mine-*" = { input = 1000, output = 2000 }\n')
    result = project(reply(), *LIVE)
    result.assert_outcomes(passed=1)
    (line,) = (each for each in result.outlines if "tokens in" in each)
    tokens_in, tokens_out = (
        int(each.replace(",", "")) for each in re.search(r"([\d,]+) tokens in, ([\d,]+) out", line).groups()
    )
    assert f"${(tokens_in * 1000 + tokens_out * 2000) / 1e6:.4f}" in line
    promptfuzz_server.reset()
    # A call may take about 0.4 dollars: its 250 bytes, and 50 tokens of an answer.
    result = project(reply(), *LIVE, "--promptfuzz-max-cost=0.5", "--promptfuzz-mode=live")
    result.assert_outcomes(errors=1)
    assert 1 <= promptfuzz_server.calls < 5
    result.stdout.fnmatch_lines(["*The budget is spent: --promptfuzz-max-cost is $0.5,*"])


def test_a_cost_without_a_price_is_an_error_before_the_call(project, promptfuzz_server):
    result = project(reply(), *LIVE, "--promptfuzz-max-cost=1")
    result.assert_outcomes(errors=1)
    assert promptfuzz_server.calls == 0
    result.stdout.fnmatch_lines(["*no price is known of the model 'mine-1'*tool.promptfuzz.prices*"])


def test_an_unknown_cost_is_said(project):
    said = " ".join(project(reply(), *LIVE).stdout.str().split())
    assert "cost not known" in said


def test_a_wrong_table_stops_the_run(project, pytester):
    pytester.makepyprojecttoml('[tool.promptfuzz.limits]\n"*" = { rps = 3 }\n')
    result = project(reply())
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*tool.promptfuzz.limits*unknown key 'rps'*"])


def test_tries_are_set_and_counted(project, promptfuzz_server):
    promptfuzz_server.fail(RateLimited(times=1, retry_after=0.01))
    result = project(reply(), *LIVE, "--promptfuzz-attempts=2")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*1 call made again*"])
    promptfuzz_server.reset()
    promptfuzz_server.fail(RateLimited(times=None, retry_after=0.01))
    project(reply(), *LIVE, "--promptfuzz-attempts=1", "--promptfuzz-mode=live").assert_outcomes(errors=1)
    assert promptfuzz_server.calls == 1


def test_workers_share_one_budget_and_leave_nothing_behind(project, pytester, promptfuzz_server):
    result = project(reply(4), *LIVE, "--promptfuzz-max-calls=12", "-n2")
    assert promptfuzz_server.calls == 12
    outcomes = result.parseoutcomes()
    assert outcomes["errors"] >= 2
    result.stdout.fnmatch_lines(["*The budget was spent before these could be judged*"])
    assert list(pytester.path.glob(".promptfuzz/limits/*.db*")) == []


CHILD = """
import sys, time
from pathlib import Path
from pytest_promptfuzz.running.limits import lanes
from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings
from pytest_promptfuzz.running.limits.budget import SharedLedger
from pytest_promptfuzz.providers.requests import Usage
from pytest_promptfuzz.wire.calls import Outgoing

lanes.WINDOW = 1.0
gate = SessionLimits(Settings(rule=lanes.LaneRule(rpm=4)), ledger=SharedLedger(Path(sys.argv[1]), print))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(8):
    ticket = gate.enter(Outgoing("http://h/", "h", "m", 10, None, 10))
    while (delay := ticket.delay()) > 0:
        time.sleep(delay)
    print(time.monotonic(), flush=True)
    ticket.answered(200, {})
    ticket.settled(Usage(1, 1), 1)
"""


def test_two_processes_keep_one_rate_and_share_it(tmp_path):
    running = [
        warm.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path / "books.db")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for each in running:
        assert each.stdout.readline() == "ready\n"
    for each in running:
        each.stdin.write("go\n")
        each.stdin.flush()
    left = []
    for number, each in enumerate(running):
        output, _ = each.communicate()
        left += [(float(line), number) for line in output.split()]
    left.sort()
    assert len(left) == 16
    times = [moment for moment, _ in left]
    # The moment is printed a little after the gate opened, so a whole second (the guard of a window) is left for that.
    assert all(later - earlier > 1.0 for earlier, later in zip(times, times[4:], strict=False))
    first_half = [number for _, number in left[:8]]
    assert 2 <= first_half.count(0) <= 6


DECLARED = """
@robust(TRIAGE, mutations=4, inputs=["I was charged twice.", "The parcel is late."], target={target!r})
def test_declared(response):
    assert response.text

@robust(TRIAGE, mutations=4, target={target!r})
def test_body(prompt, llm):
    raise AssertionError("the body must not run")

@robust(TRIAGE, mutations=4)
def test_own(prompt):
    raise AssertionError("the body must not run")
"""


@pytest.mark.parametrize("workers", ["-n0", "-n1"])
def test_a_dry_run_asks_nothing_and_passes_nothing(project, pytester, promptfuzz_server, workers):
    pytester.makepyprojecttoml('[tool.promptfuzz.prices]\n"mine-*" = { input = 1, output = 2 }\n')
    source = DECLARED.format(target=f"compatible:mine-1@{promptfuzz_server.openai_url}")
    result = project(source, "--promptfuzz-dry-run", workers)
    result.assert_outcomes(skipped=3)
    assert promptfuzz_server.calls == 0
    result.stdout.fnmatch_lines_random(
        [
            "*::test_declared: 10 calls, 0 of them stored; about * tokens in; $0.0* to $0.0*",
            "*::test_body: at least 5 calls; about * tokens in; $0.0* to $0.0*",
            "*::test_own: at least 5 calls; about * tokens in; cost not known",
            "3 robust tests: at least 20 calls; about * tokens in; cost not known",
            "No call was made.*",
        ]
    )


def test_a_dry_run_knows_what_the_store_holds_and_its_range_holds_the_cost(
    project, pytester, promptfuzz_server
):
    pytester.makepyprojecttoml('[tool.promptfuzz.prices]\n"mine-*" = { input = 1000, output = 2000 }\n')
    source = DECLARED.format(target=f"compatible:mine-1@{promptfuzz_server.openai_url}")
    source = source.replace("inputs=", "ignore=['$.model'], inputs=")  # keys leave it out here as in the run
    planned = project(source, "--promptfuzz-dry-run", "-k", "declared")
    (line,) = (each for each in planned.outlines if "test_declared: 10 calls" in each)
    low, high = (float(each) for each in re.search(r"\$([\d.]+) to \$([\d.]+)", line).groups())
    run = project(source, "-k", "declared")
    run.assert_outcomes(passed=1, deselected=2)
    (line,) = (each for each in run.outlines if "tokens in" in each)
    assert low <= float(re.search(r"\$([\d.]+)", line)[1]) <= high
    again = project(source, "--promptfuzz-dry-run", "-k", "declared")
    again.stdout.fnmatch_lines(["*test_declared: 10 calls, 10 of them stored; about 0 tokens in; free"])


def test_a_dry_run_guesses_nothing_of_a_prompt_that_only_the_body_shows(project):
    source = """
    @robust(mutate="role:system", mutations=7, target="simulated")
    def test_role(llm):
        raise AssertionError("the body must not run")

    @robust(TRIAGE, mutations=3, part="input", target="simulated")
    def test_input(prompt, llm):
        raise AssertionError("the body must not run")
    """
    unknown = [
        "*::test_role: at least 8 calls; tokens in not known; cost not known",
        "*::test_input: at least 4 calls; tokens in not known; cost not known",
    ]
    both = project(source, "--promptfuzz-dry-run")
    both.assert_outcomes(skipped=2)
    total = "2 robust tests: at least 12 calls; tokens in not known; cost not known"
    both.stdout.fnmatch_lines([*unknown, total])
    known = """
    @robust(TRIAGE, mutations=1, target="simulated")
    def test_known(prompt, llm):
        raise AssertionError("the body must not run")
    """
    total = "3 robust tests: at least 14 calls; about * tokens in, others not known; cost not known"
    project(source + known, "--promptfuzz-dry-run").stdout.fnmatch_lines([*unknown, total])


def test_a_dry_run_is_no_replay(project, pytester, promptfuzz_server, monkeypatch):
    source = DECLARED.format(target=f"compatible:mine-1@{promptfuzz_server.openai_url}")
    project(source, "--promptfuzz-mode=record", "-k", "declared").assert_outcomes(passed=1, deselected=2)
    refused = project(source, "--promptfuzz-dry-run", "--promptfuzz-mode=replay")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    (said,) = [line for line in refused.errlines if line.strip()]
    assert "--promptfuzz-mode=replay calls no model, so --promptfuzz-dry-run has nothing to count" in said
    monkeypatch.setenv("CI", "true")  # where recordings are replayed, if nobody says otherwise
    asked = promptfuzz_server.calls
    planned = project(source, "--promptfuzz-dry-run", "--promptfuzz-cache-dir=none")
    planned.assert_outcomes(skipped=3)
    planned.stdout.fnmatch_lines(
        # Of a recorded test, the unmutated prompt's three samples of each input are asked for.
        ["*::test_declared: 14 calls, 14 of them stored; *", "*::test_own: at least 5 calls; *"]
    )
    assert promptfuzz_server.calls == asked


def test_in_a_dry_run_not_even_a_fixture_asks(project, promptfuzz_server):
    source = """
    import pytest

    @pytest.fixture
    def asked(llm):
        return llm("Hello?")

    @robust(TRIAGE, mutations=2)
    def test_it(prompt, asked, llm):
        return llm(prompt)
    """
    target = f"promptfuzz_target=compatible:mine-1@{promptfuzz_server.openai_url}"
    result = project(source, "--promptfuzz-dry-run", "-o", target)
    result.assert_outcomes(errors=1)
    assert promptfuzz_server.calls == 0
    result.stdout.fnmatch_lines(["*This is a dry run, which asks no model anything*"])


def test_a_dry_run_reckons_with_samples_and_with_functions(project):
    result = project(
        """
        def answer(prompt):
            raise AssertionError("nobody is asked")

        @robust(TRIAGE, mutations=3, samples=2, baseline_runs=4)
        def test_samples(prompt, llm):
            raise AssertionError("the body must not run")

        @robust(TRIAGE, inputs=[TICKET, "No parcel came."], mutations=3, target=answer)
        def test_function(response):
            raise AssertionError("the body must not run")
        """,
        "--promptfuzz-dry-run",
    )
    result.stdout.fnmatch_lines_random(
        [
            "test_it.py::test_samples: at least 10 calls; about * tokens in; free",
            "test_it.py::test_function: 10 calls of the function; about * tokens in; cost not known",
        ]
    )


def test_a_function_is_called_as_often_as_a_dry_run_says(project):
    result = project(
        """
        CALLED = []

        def answer(prompt):
            CALLED.append(prompt)
            return "OTHER"

        @robust(TRIAGE, inputs=[TICKET, "No parcel came."], mutations=3, target=answer)
        def test_function(response):
            assert response == "OTHER"

        def test_afterwards():
            assert len(CALLED) == 10
        """,
        "-p",
        "no:randomly",
    )
    result.assert_outcomes(passed=2)
