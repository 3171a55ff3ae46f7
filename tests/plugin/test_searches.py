"""Tests that are searches, `@robust(search=…)`, in real pytest processes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.server.faults import NotFound
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.recordings.checks import check
from tests.plugin.conftest import INI, PROMPT
from tests.plugin.reported import CONFTEST, fresh, reports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Brittle as soon as its last rule does not say "choice" any more.
BRITTLE = """
def said(prompt):
    text = prompt.format(ticket=TICKET)
    return "BILLING" if "choice" in text else "OTHER"
"""
BODIES = """
import openai
import pytest

shared = openai.OpenAI()

def asked(prompt):
    return {"model": "m", "messages": [{"role": "user", "content": str(prompt.format(ticket=TICKET))}]}

def checked(prompt):
    assert "choice" in prompt.text

@robust(TRIAGE, search=True, queries=60)
def test_sync(prompt):
    shared.chat.completions.create(**asked(prompt))
    checked(prompt)

@pytest.mark.asyncio
@robust(TRIAGE, search={"method": "sweep", "batch": 8}, queries=60)
async def test_async(prompt):
    async with openai.AsyncOpenAI() as client:  # its connections end with the test's loop
        await client.chat.completions.create(**asked(prompt))
    checked(prompt)

@robust(TRIAGE, inputs=[TICKET, "The app crashes at once."], search=True, queries=60)
def test_declared(response, prompt):
    assert response.text
    checked(prompt)

@robust(mutate="role:user", search=True, queries=60)
def test_on_the_wire():
    found = shared.chat.completions.create(**asked(TRIAGE))
    return found.choices[0].message.content

@pytest.mark.parametrize("ticket", [TICKET, "The app crashes at once."], ids=["a", "b"])
@robust(TRIAGE, search=True, queries=20)
def test_each(prompt, llm, ticket):
    return llm(prompt.format(ticket=ticket)).text
"""
FOUND = {"test_sync", "test_async", "test_declared"}
NONE = {"test_on_the_wire", "test_each[a]", "test_each[b]"}


@pytest.fixture
def alone(
    pytester: pytest.Pytester, project: Callable[..., pytest.RunResult]
) -> Callable[..., pytest.RunResult]:
    """As ``project``, with the reports of the run kept."""
    pytester.makeconftest(CONFTEST)
    return project


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def live(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, server: ModelServer):
    """Run all bodies, or other ones, against the server."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    pytester.makeconftest(CONFTEST)
    pytester.makefile(".ini", pytest=INI.replace("= simulated", "= openai:gpt-5-mini"))

    def run(*arguments: str, source: str = BODIES) -> pytest.RunResult:
        pytester.makepyfile(test_it=PROMPT + source)
        return pytester.runpytest("-p", "no:cacheprovider", *arguments)

    return run


def only(pytester: pytest.Pytester) -> dict:
    (found,) = reports(pytester).values()
    return found


def test_a_change_that_breaks_an_assertion_fails_the_test_and_is_shown_first(pytester, alone) -> None:
    result = alone(
        BRITTLE
        + "@robust(TRIAGE, search=True)\ndef test_it(prompt):\n    assert said(prompt) == 'BILLING', 'another label'\n",
        "--junitxml=found.xml",
    )
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines_random(
        [
            r"The smallest change that breaks it",
            r"   prompt +- Do not explain your \[-choice-\]\{\+.*\+\}",
            r"   why +AssertionError: another label",
            r"   found +from trial \w{12}; breaks the test each time",
            r"Brittle: query \d+ of 200 found a change that breaks the test; \d+ more made it smaller \(sweep, \d+",
            r"     >       assert said\(prompt\) == 'BILLING', 'another label'",
            r"test_it.py::test_it +brittle +0 .*",
            r"Searched: test_it.py::test_it: query \d+ of 200 found a change that breaks the test",
            r"FAILED test_it.py::test_it - brittle: query \d+ of 200 found a change.*",
        ]
    )
    report = only(pytester)
    assert (report["verdict"], report["reason"]) == ("brittle", "counterexample-found")
    assert (report["score"], report["trials"]) == (None, [])
    (found,) = report["counterexamples"]
    assert (found["minimal"], found["repeats"]) == (True, [6, 6])
    searched = report["searched"]
    assert searched["found"]["id"] == found["id"]
    assert 0 < searched["found_at"] <= searched["queries"] <= searched["budget"] == 200
    names = {each.get("name"): each.get("value") for each in ET.parse("found.xml").iter("property")}
    assert names["promptfuzz_counterexample"] == found["id"]
    assert names["promptfuzz_search_queries"] == str(searched["queries"])
    assert "promptfuzz_score" not in names
    assert "promptfuzz_threshold" not in names


def test_nothing_found_passes_and_makes_up_no_score(pytester, alone) -> None:
    result = alone(
        "@robust(TRIAGE, search=True, queries=40)\ndef test_it(prompt):\n    return len(prompt.format(ticket='x')) > 0"
    )
    result.assert_outcomes(passed=1)
    report = only(pytester)
    assert (report["verdict"], report["reason"]) == ("pass", "none-found")
    assert report["explanation"] == "No counterexample in 30 queries (sweep)."
    assert (report["score"], report["bounds"], report["searched"]["queries"]) == (None, [0.0, 1.0], 30)
    assert report["counterexamples"] == []
    rows = [line.split() for line in result.outlines if line.startswith(("test ", "test_it.py::test_it "))]
    assert rows[0] == ["test", "verdict", "calls", "hits", "time", "tokens"]
    assert rows[1][1:3] == ["pass", "0"]
    result.stdout.fnmatch_lines(["Searched: test_it.py::test_it: no counterexample in 30 queries (sweep)"])
    result.stdout.no_fnmatch_line("*for every answer*")  # a label that is always right is no news


def test_inputs_share_the_budget_and_the_first_counterexample_ends_the_search(pytester, alone) -> None:
    result = alone(
        """
        def app(text):
            return "BILLING" if "choice" in text or "crash" in text else "OTHER"

        @robust(TRIAGE, inputs={"a": "It crashes", "b": TICKET, "c": "?"}, search=True, queries=120, target=app)
        def test_it(response):
            pass
        """
    )
    result.assert_outcomes(failed=1)
    report = only(pytester)
    asked = report["searched"]
    assert "found a change that breaks the test on input 'b'; " in report["explanation"]
    assert 40 < asked["found_at"] <= 80
    assert asked["queries"] <= asked["budget"] == 120
    assert report["counterexamples"][0]["minimal"]  # with what the third input did not need
    assert report["counterexamples"][0]["case"] == 1
    assert report["spent"]["calls"] == asked["queries"]
    assert "1 more input was not searched, because the search had ended" in report["notes"]


def test_an_objective_and_limits_of_the_marks_own(pytester, alone) -> None:
    result = alone(
        """
        import pytest

        pytestmark = pytest.mark.robust(TRIAGE, queries=100)
        WORDS = ("below", "support", "exactly", "explain", "choice", "only")

        def sure(prompt):
            gone = sum(word not in prompt.text for word in WORDS)
            prompt.format(ticket=TICKET)
            return {"OTHER": gone / 6, "BILLING": 1 - gone / 6}

        @robust(search="greedy", objective="confidence", max_words=1, operators=["synonym"])
        def test_one_word(prompt):
            return sure(prompt)

        def another(baseline, answer):
            return answer["OTHER"] > 0.3

        @robust(search={"method": "beam", "repeats": 0, "max_seconds": 60}, objective=another, queries=300)
        def test_own(prompt):
            return sure(prompt)

        @robust(search=False, mutations=2, compare=False)
        def test_none(prompt, llm):
            llm(prompt.format(ticket=TICKET))
        """
    )
    result.assert_outcomes(passed=2, failed=1)
    row = next(line for line in result.outlines if line.startswith("test_it.py::test_own"))
    assert row.split()[1:9] == ["brittle", "-", "-", "-", "-", "-", "-", "-"]
    found = {name.partition("::")[2]: each for name, each in reports(pytester).items()}
    one, own = found["test_one_word"]["searched"], found["test_own"]["searched"]
    assert found["test_none"]["searched"] is None
    assert (one["method"], one["objective"]) == ("greedy", "confidence")
    assert one["budget"] == 100  # the module's
    assert one["loss"] == pytest.approx(1 / 6, abs=1e-4)
    assert len([kind for kind, _ in one["nearest"]["diff"] if kind == "+"]) == 1
    assert (own["method"], own["objective"], own["budget"]) == ("beam", "another", 300)
    assert found["test_own"]["counterexamples"][0]["repeats"] == [1, 1]


def test_every_way_of_asking_through_real_clients_and_a_rerun_is_free(pytester, live, server) -> None:
    live().assert_outcomes(failed=3, passed=3)
    first = {name.partition("::")[2]: each for name, each in reports(pytester).items()}
    assert {name for name, each in first.items() if each["reason"] == "counterexample-found"} == FOUND
    assert {name for name, each in first.items() if each["reason"] == "none-found"} == NONE
    for name in FOUND:
        (found,) = first[name]["counterexamples"]
        assert "choice" not in found["prompt"]
        assert found["minimal"]
    asked = {name: each["searched"] for name, each in first.items()}
    assert asked["test_sync"]["found_at"] == asked["test_async"]["found_at"]
    assert asked["test_on_the_wire"]["queries"] == 50  # ten are held back to make sure of a find
    made = server.calls
    assert made == sum(each["spent"]["calls"] for each in first.values())
    for kept in (pytester.path / ".promptfuzz" / "counterexamples").glob("*"):
        kept.unlink()  # what is known would end the searches that found it
    live().assert_outcomes(failed=3, passed=3)
    assert server.calls == made
    again = {name.partition("::")[2]: each["searched"] for name, each in reports(pytester).items()}
    assert {name: {**each, "found": None} for name, each in again.items()} == {
        name: {**each, "found": None} for name, each in asked.items()
    }


def test_workers_search_as_one_process_does(pytester, live) -> None:
    live().assert_outcomes(failed=3, passed=3)
    alone = {name: (each["reason"], each["searched"]["queries"]) for name, each in reports(pytester).items()}
    fresh(pytester)
    result = live("-n", "1")
    result.assert_outcomes(failed=3, passed=3)
    assert {
        name: (each["reason"], each["searched"]["queries"]) for name, each in reports(pytester).items()
    } == alone
    result.stdout.re_match_lines_random([r"   prompt +- Do not explain your \[-choice-\]\{\+.*\+\}"])


def test_what_was_recorded_is_searched_without_the_network(pytester, live, server) -> None:
    live("--promptfuzz-mode=record").assert_outcomes(failed=3, passed=3)
    recorded = {
        name: (each["reason"], each["searched"]["queries"]) for name, each in reports(pytester).items()
    }
    made = server.calls
    (recording,) = pytester.path.rglob("*.calls.jsonl")
    assert not check(recording).problems
    fresh(pytester)
    result = live("--promptfuzz-mode=replay")
    result.assert_outcomes(failed=3, passed=3)
    assert {
        name: (each["reason"], each["searched"]["queries"]) for name, each in reports(pytester).items()
    } == recorded
    assert server.calls == made
    changed = BODIES.replace("queries=20", "queries=25")
    result = live("--promptfuzz-mode=replay", "-k", "test_each", source=changed)
    result.assert_outcomes(errors=2, deselected=4)
    result.stdout.fnmatch_lines(["*NotRecordedError*"])
    assert server.calls == made


ONE = """
@robust(TRIAGE, search=True, queries=30)
def test_it(prompt, llm):
    return llm(prompt.format(ticket=TICKET)).text
"""


def test_a_target_that_fails_in_mid_search_proves_nothing(pytester, live, server) -> None:
    asked: list[str] = []

    def late(body: str) -> bool:
        asked.append(body)
        return len(asked) > 6

    server.fail(NotFound(times=None), when=late)
    result = live(source=ONE)
    result.assert_outcomes(errors=1)
    report = only(pytester)
    assert (report["verdict"], report["reason"]) == ("inconclusive", "errors-decide")
    assert re.match(
        r"Too few queries were answered: \d+ of \d+ queries got no answer; the last: ", report["explanation"]
    )
    assert report["searched"]["errors"] >= 8


def test_a_few_lost_queries_are_said_and_do_not_decide(pytester, live, server) -> None:
    server.fail(NotFound(), next=3, when=lambda body: "Classify the support" not in body)
    live(source=ONE).assert_outcomes(passed=1)
    report = only(pytester)
    errors = report["searched"]["errors"]
    assert errors == 3
    assert (
        report["explanation"] == f"No counterexample in 20 queries (sweep); {errors} of them got no answer."
    )


def test_a_baseline_that_varies_is_noise_and_no_counterexample(pytester, alone) -> None:
    result = alone(
        """
        RUNS = []

        def app(text):
            RUNS.append(text)
            return "BILLING" if len(RUNS) % 2 else "OTHER"

        @robust(TRIAGE, inputs=[TICKET], search=True, target=app)
        def test_it(response):
            pass
        """
    )
    result.assert_outcomes(errors=1)
    report = only(pytester)
    assert (report["verdict"], report["reason"]) == ("noisy", "baseline-mixed")
    assert (
        "the model answered the unmutated prompt first 'BILLING' and then 'OTHER'." in report["explanation"]
    )
    assert report["searched"]["queries"] <= 2
    shown = result.stdout.str()
    assert "place" not in shown.partition("Searched for")[2].partition("\n\n")[0]
    assert "NOISY test_it.py::test_it - the search tells nothing: the model answered" in shown


@pytest.mark.parametrize(("second", "noise"), [("awful", True), ("great", False)])
def test_a_plain_failure_says_whether_the_answers_differed(alone, second: str, noise: bool) -> None:
    result = alone(
        f"""
        TEXTS = iter(["great", {second!r}])

        @robust(TRIAGE, search=True)
        def test_it(prompt, llm):
            llm("Classify the sentiment of the text as positive or negative.\\n\\nText: " + next(TEXTS))
            assert False
        """
    )
    result.assert_outcomes(failed=1)
    shown = " ".join(result.stdout.str().split())
    assert "(asked twice): nothing was mutated." in shown
    assert ("The two answers differ: the model is noisy" in shown) == noise


def test_a_check_that_fails_by_itself_is_noise_as_well(pytester, alone) -> None:
    result = alone(
        """
        RUNS = []

        @robust(TRIAGE, search=True)
        def test_it(prompt, llm):
            llm(prompt.format(ticket=TICKET), seed=len(RUNS) // 2)
            RUNS.append(prompt)
            assert len(RUNS) < 3 or prompt.text != TRIAGE.text
        """
    )
    result.assert_outcomes(errors=1)
    assert only(pytester)["verdict"] == "noisy"


def test_a_session_without_calls_left_proves_nothing(pytester, live, server) -> None:
    live("--promptfuzz-max-calls=12", source=ONE).assert_outcomes(errors=1)
    report = only(pytester)
    assert (report["verdict"], report["reason"]) == ("inconclusive", "budget-spent")
    assert "The budget was spent after" in report["explanation"]
    assert server.calls <= 12


def test_time_that_is_spent_before_anything_was_asked_proves_nothing(pytester, alone) -> None:
    alone(
        """
        @robust(TRIAGE, search={"max_seconds": 1e-9}, queries=50)
        def test_it(prompt):
            return prompt.format(ticket=TICKET)[:1]
        """
    ).assert_outcomes(errors=1)
    report = only(pytester)
    assert (report["verdict"], report["reason"]) == ("inconclusive", "budget-spent")
    assert report["explanation"] == "No changed prompt was asked: max_seconds=1e-09 was reached."


ASSERTS = (
    BRITTLE
    + "@robust(TRIAGE, search=True{more})\ndef test_it(prompt):\n    assert said(prompt) == 'BILLING'\n"
)


def test_the_trial_that_was_found_is_run_for_a_debugger(pytester, alone) -> None:
    source = ASSERTS.format(more="")
    alone(source).assert_outcomes(failed=1)
    found = only(pytester)["counterexamples"][0]["id"]
    result = alone(source, f"--promptfuzz-trial={found}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([">       assert said(prompt) == 'BILLING'", "FAILED *AssertionError*"])
    result = alone(source, "--promptfuzz-trial=abcabcabcabc")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [f"*--promptfuzz-trial=abcabcabcabc was searched for again*found trial {found}.*"]
    )


def test_options_that_are_not_for_searches(pytester, alone) -> None:
    source = ASSERTS.format(more=", part='both', queries=60")
    alone(source, "--promptfuzz=off").assert_outcomes(passed=1)
    for option in (
        "--promptfuzz-stop=never",
        "--promptfuzz-gate=confident",
        "--promptfuzz-override=mutations=2",
    ):
        alone(source, option).assert_outcomes(failed=1)
        assert only(pytester)["searched"]["budget"] == 60
    result = alone(source.replace("'BILLING'\n", "said(prompt)\n"), "--promptfuzz-update")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*wrote 1 snapshot in *"])
    result = alone(source, "--promptfuzz-dry-run")
    result.stdout.re_match_lines_random(
        [r"test_it.py::test_it: at most 60 calls; .*", r".*a search ends when it finds a change.*"]
    )
    planned = "\n@robust(TRIAGE, mutations=4)\ndef test_plan(prompt):\n    return prompt.text\n"
    result = alone(source + planned, "--promptfuzz-dry-run")
    result.stdout.re_match_lines_random(
        [
            r"test_it.py::test_plan: at least \d+ calls; .*",
            r"2 robust tests: at least \d+ calls, and at most 60 of searches; .*",
        ]
    )


def test_the_runs_own_budget_is_for_marks_that_name_none(pytester, alone) -> None:
    source = "@robust(TRIAGE, search=True{more})\ndef test_it(prompt):\n    return len(prompt.format(ticket='x')) > 0"
    alone(source.format(more=""), "--promptfuzz-queries=30").assert_outcomes(passed=1)
    assert only(pytester)["searched"]["budget"] == 30
    alone(source.format(more=", queries=20"), "--promptfuzz-queries=30").assert_outcomes(passed=1)
    assert only(pytester)["searched"]["budget"] == 20
    (pytester.path / "pyproject.toml").write_text("[tool.promptfuzz]\nqueries = 25\n", encoding="utf-8")
    alone(source.format(more="")).assert_outcomes(passed=1)
    assert only(pytester)["searched"]["budget"] == 25
    result = alone(source.format(more=""), "--promptfuzz-queries=0")
    result.stderr.fnmatch_lines(["*--promptfuzz-queries*0*"])


def test_a_strict_xfail_is_satisfied_by_what_is_found(alone) -> None:
    source = ASSERTS.format(more="").replace("@robust", "@pytest.mark.xfail(strict=True)\n@robust")
    alone("import pytest\n" + source).assert_outcomes(xfailed=1)


FIXABLE = """
from pathlib import Path

def app(text):
    fixed = Path(__file__).with_name("fixed").exists()
    return "BILLING" if fixed or "choice" in text or "crash" in text else "OTHER"

@robust(TRIAGE, inputs=["It crashes", TICKET], search=True, queries=100, target=app)
def test_it(response):
    pass
"""


def test_what_was_found_is_asked_first_and_ends_the_next_search(pytester, alone) -> None:
    alone(FIXABLE).assert_outcomes(failed=1)
    first = only(pytester)
    found = first["counterexamples"][0]["id"]
    result = alone(FIXABLE)
    result.assert_outcomes(failed=1)
    again = only(pytester)
    assert [each["id"] for each in again["counterexamples"]] == [found]
    assert again["searched"]["found"]["id"] == found
    assert (again["verdict"], again["reason"]) == ("brittle", "counterexample-found")
    assert again["explanation"].startswith("A known counterexample still breaks the test on input ")
    assert again["searched"]["queries"] < first["searched"]["queries"]
    assert (first["searched"]["known"], again["searched"]["known"]) == (False, True)
    shown = " ".join(result.stdout.str().split())
    assert "Brittle: a known counterexample still breaks the test on input " in shown
    assert "test_it: a known counterexample still breaks the test" in shown
    assert "found a change" not in shown
    assert "queries of the search" not in shown
    alone(FIXABLE.replace("search=True", "search=True, max_words=1, max_change_rate=0.01")).assert_outcomes(
        passed=1
    )
    assert only(pytester)["searched"]["queries"] > 2
    result = alone(FIXABLE, f"--promptfuzz-trial={found}")
    result.assert_outcomes(failed=1)
    (pytester.path / "fixed").touch()
    result = alone(FIXABLE)
    result.assert_outcomes(passed=1)
    fixed = only(pytester)
    assert fixed["reason"] == "none-found"
    assert fixed["searched"]["queries"] == 90
    assert any("no longer fails and was removed" in note for note in fixed["notes"])


BODY = """
def NAME(prompt, llm):
    return llm(prompt.format(ticket=TICKET)).text
"""
WRONG = {
    'TRIAGE, search="swep"': "the search method 'swep' is unknown. Did you mean 'sweep'?",
    "TRIAGE, search=3": "the search method 3 is neither a name nor a method",
    'TRIAGE, search={"bach": 3}': "search= has no key 'bach'. Did you mean 'batch'?",
    'TRIAGE, search={"queries": 3}': "search= has no key 'queries'. Write queries= beside search=.",
    "TRIAGE, search=True, queries=0": "queries=0 is not a whole number from 1 to 1,000,000",
    "TRIAGE, search=True, queries=2": "queries=2 buys no changed prompt: each unmutated prompt is asked 2 times first. "
    "Give at least 3",
    "TRIAGE, search=True, max_words=0": "max_words=0 is not a whole number of 1 or more",
    "TRIAGE, search=True, max_change_rate=2": "max_change_rate=2 is not a number above 0 and up to 1",
    'TRIAGE, search=True, objective="deviaton"': "objective='deviaton' is unknown. Did you mean 'deviation'?",
    'TRIAGE, search=True, objective="judge"': "objective='judge' needs judge=",
    'TRIAGE, search=True, objective="confidence"': "Use objective='label' for a target that only names a label",
    "TRIAGE, search=True, objective=lambda *both: True": "the unmutated prompt's answer reaches the goal (<lambda>) already",
    "TRIAGE, search=True, mutations=8": "mutations= is for tests that try a plan of mutations, and search= looks for "
    "one change that breaks the test, with queries=. Keep one of them. To say what may be done to the prompt, write "
    "operators=.",
    "TRIAGE, search=True, threshold=0.9": "threshold= is for tests that try a plan of mutations",
    "TRIAGE, queries=30": "queries= says how to search, and the test is no search; add search=True",
    '"Classify {ticket}", search=True, operators=["sentence-shuffle"]': "no operator finds anything to change",
    'TRIAGE, search=True, operators=["format-json"]': "is not meant to leave the answer as it is",
    "TRIAGE, inputs=['a', 'b'], search=True, queries=5": "queries=5 buys no changed prompt for 2 inputs",
    "TRIAGE, search=True, compare=True": "@given draws many examples, and each would be a search of its own",
}


def test_what_cannot_be_searched_is_said_in_one_message_each(pytester, project) -> None:
    source = "from hypothesis import given, strategies as st\n"
    for number, given in enumerate(WRONG):
        body = BODY
        if "inputs" in given:
            body = "\ndef NAME(response):\n    pass\n"
        elif "compare" in given:
            source += "\n@given(st.sampled_from('ab'))"
            body = BODY.replace("llm)", "llm, letter)")
        source += f"\n@robust({given})" + body.replace("NAME", f"test_{number}")
    result = project(source)
    result.assert_outcomes(errors=len(WRONG))
    said = dict(re.findall(r"^_+ ERROR at \S+ of (test_\d+) _+\n(.*)$", result.stdout.str(), re.MULTILINE))
    for number, (given, message) in enumerate(WRONG.items()):
        assert said[f"test_{number}"].startswith("UsageError: "), given
        assert message in said[f"test_{number}"], given
        assert f"test_it.py::test_{number}" in said[f"test_{number}"], given
