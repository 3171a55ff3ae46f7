"""Declarative tests: ``inputs=`` and ``response``; the body only checks."""

from __future__ import annotations

import json

import pytest

from pytest_promptfuzz.server.model_server import ModelServer

INPUTS = """
TICKETS = [
    "I was charged twice for my subscription this month and want a refund.",
    "The app crashes whenever I open the settings.",
]
LABELS = ["BILLING", "TECHNICAL", "ACCOUNT", "OTHER"]
SEEN = []
"""
LOG = INPUTS + "import json\nfrom pathlib import Path\ndef log(**what):\n    SEEN.append(what)\n"
DUMP = """
def test_dump():
    Path("seen.json").write_text(json.dumps(SEEN))
"""


def seen(pytester: pytest.Pytester) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads((pytester.path / "seen.json").read_text())
    return found


def test_the_body_checks_each_response_once_and_all_inputs_share_the_mutations(pytester, project):
    result = project(
        LOG
        + """
@robust(TRIAGE, inputs=TICKETS, mutations=4)
def test_labels(response, prompt, input, tmp_path):
    assert response.text in LABELS
    assert tmp_path.is_dir()
    log(input=input, sent=str(prompt))
"""
        + DUMP
    )
    result.assert_outcomes(passed=2)
    assert "10 calls to the simulated model" in " ".join(result.outlines)
    rows = seen(pytester)
    assert len(rows) == 10
    by_input = {}
    for row in rows:
        assert row["input"] in row["sent"]
        by_input.setdefault(row["input"], []).append(row["sent"].replace(row["input"], "…"))
    first, second = by_input.values()
    assert first == second
    assert len(set(first)) == 5


@pytest.mark.parametrize(
    "inputs",
    [
        "TICKETS",
        "tuple(TICKETS)",
        "[{'ticket': each} for each in TICKETS]",
        "{'charged': TICKETS[0], 'crash': {'ticket': TICKETS[1]}}",
    ],
)
def test_kinds_of_inputs(project, inputs):
    result = project(
        INPUTS
        + f"""
@robust(TRIAGE, inputs={inputs}, mutations=3)
def test_labels(response):
    assert response.text in LABELS
"""
    )
    result.assert_outcomes(passed=1)
    assert "8 calls to the simulated model" in " ".join(result.outlines)


def test_a_prompt_without_slots_needs_no_inputs(project):
    result = project(
        """
@robust("Classify as BILLING or OTHER, answer with the label only. Ticket: I was charged twice.", mutations=3)
def test_label(response):
    assert response.text == "BILLING"
"""
    )
    result.assert_outcomes(passed=1)
    assert "4 calls to the simulated model" in " ".join(result.outlines)


def test_one_verdict_over_all_inputs_and_failures_name_theirs(project):
    result = project(
        INPUTS
        + """
@robust(TRIAGE, inputs={"charged": TICKETS[0], "crash": TICKETS[1]}, mutations=4, threshold=0.9, seed=3)
def test_labels(response, prompt, input):
    assert "crash" not in input or str(prompt).startswith(str(TRIAGE)[:40]), "changed at its start"
"""
    )
    result.assert_outcomes(failed=1)
    shown = result.stdout.str()
    assert ", input 'crash'" in shown
    assert "input 'charged'" not in shown
    assert "changed at its start" in shown


def test_what_the_body_returns_is_compared(project):
    result = project(
        INPUTS
        + """
@robust(TRIAGE, inputs=TICKETS, mutations=3, threshold=1.0)
def test_same(response):
    return "always the same"

@robust(TRIAGE, inputs=TICKETS[:1], mutations=3, threshold=1.0)
def test_prompt_itself(response, prompt):
    return str(prompt)
"""
    )
    result.assert_outcomes(passed=1, failed=1)


def test_a_failing_baseline_is_an_ordinary_failure_that_names_its_input(project):
    result = project(
        INPUTS
        + """
@robust(TRIAGE, inputs=TICKETS, mutations=3)
def test_labels(response, input):
    assert "crash" not in input
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*The unmutated prompt fails on input 2 (*The app crashes*) (asked twice): nothing was mutated.*"]
    )


def test_part_input_mutates_each_input(pytester, project):
    result = project(
        LOG
        + """
@robust(TRIAGE, inputs=TICKETS, mutations=3, part="input")
def test_labels(response, prompt):
    log(sent=str(prompt))
"""
        + DUMP
    )
    result.assert_outcomes(passed=2)
    rows = [row["sent"] for row in seen(pytester)]
    assert len(set(rows)) == 8
    template = rows[0].partition("I was charged")[0]
    assert all(row.startswith(template) for row in rows)


def test_async_bodies_fixtures_parameters_and_methods(project):
    result = project(
        INPUTS
        + """
import pytest

@pytest.fixture
def labels():
    return LABELS

@pytest.mark.asyncio
@robust(TRIAGE, inputs=TICKETS, mutations=2)
async def test_async(response, labels):
    assert response.text in labels

@pytest.mark.parametrize("prompt", [str(TRIAGE), "Classify as BILLING, TECHNICAL or OTHER: {text}"])
@robust(inputs=TICKETS, mutations=2, fixtures="fresh")
def test_parametrized(response, prompt, labels, tmp_path):
    assert response.text in labels
    (tmp_path / "made").mkdir()

@robust(TRIAGE, mutations=2)
class TestAll:
    @robust(inputs=TICKETS)
    def test_method(self, response):
        assert response.text in LABELS

    @robust(inputs=TICKETS[:1])
    def test_other(self, response, subtests):
        for label in LABELS:
            with subtests.test(label=label):
                assert response.text in LABELS
"""
    )
    result.assert_outcomes(passed=5)


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_what_a_function_answered_is_shown_where_the_check_fails(project, kind):
    result = project(
        f"""
def application(prompt):
    return "low" if prompt.isupper() else "high"

@robust("Rate the mood of the text.", operators=["upper-case"], mutations=1, target=application)
{"@__import__('pytest').mark.asyncio" if kind == "async def" else ""}
{kind} test_mood(response):
    assert response == "high"
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*baseline   high", "*response   low"])


def test_a_function_as_target_is_asked_by_the_plugin(project):
    result = project(
        INPUTS
        + """
def application(prompt):
    return "BILLING" if "charged" in prompt.lower() else "OTHER"

@robust(TRIAGE, inputs=TICKETS, target=application, mutations=3)
def test_labels(response):
    assert response in LABELS
"""
    )
    result.assert_outcomes(passed=1)
    # Whether the function answers the unmutated prompt alike is seen by asking it twice.
    assert "10 calls made" in " ".join(result.outlines)


def test_switched_off_the_body_checks_the_baselines_only(pytester, project):
    result = project(
        LOG
        + """
import pytest

@robust(TRIAGE, inputs=TICKETS, mutations=4)
def test_labels(response, input):
    log(input=input, text=response.text)

@pytest.mark.asyncio
@robust(TRIAGE, inputs=TICKETS, mutations=4)
async def test_async(response, input):
    log(input=input, text=response.text)
"""
        + DUMP,
        "--promptfuzz=off",
    )
    result.assert_outcomes(passed=3)
    rows = seen(pytester)
    assert len(rows) == 4
    assert len({row["input"] for row in rows}) == 2


BAD = [
    ("@robust(TRIAGE, inputs=[])", "response", "inputs= is empty"),
    ("@robust(TRIAGE)", "response", "the slot 'ticket', and nothing is put in"),
    ("@robust(TRIAGE, inputs='one text')", "response", "inputs= is one text; write a list"),
    ("@robust(TRIAGE, inputs=(x for x in TICKETS))", "response", "inputs= is a generator"),
    ("@robust(TRIAGE, inputs={'one', 'two'})", "response", "must be a list of texts*not*set"),
    ("@robust(TRIAGE, inputs={'ticket': 'x'})", "response", "which is one input"),
    ("@robust(TRIAGE, inputs=[{'tiket': 'x'}])", "response", "input 1*no slot 'tiket'*Did you mean 'ticket'"),
    ("@robust(TRIAGE, inputs={'a': {}})", "response", "input 'a'*no value for the slot 'ticket'"),
    ("@robust(TRIAGE, inputs=[7])", "response", "input 1 (7) is of type int"),
    ("@robust('{a} or {b}: classify it.', inputs=['x'])", "response", "the prompt has 2 slots (a, b)"),
    ("@robust('Say hello to the man.', inputs=['x'])", "response", "has no slot to put them in"),
    ("@robust(TRIAGE, inputs=TICKETS)", "prompt, llm", "take the argument `response`"),
    (
        "@robust(TRIAGE, inputs=TICKETS, mutate='app.PROMPT')",
        "response",
        "mutate= names what a test's body gives",
    ),
    ("@robust(inputs=TICKETS)", "response", "the test has no prompt"),
    ("", "response", "only declarative tests have the fixture `response`"),
    ("@robust(TRIAGE)", "prompt, input", "only declarative tests have the fixture `input`"),
]


@pytest.mark.parametrize(("mark", "arguments", "message"), BAD, ids=[each[2][:30] for each in BAD])
def test_bad_declarations_say_what_to_write(project, mark, arguments, message):
    result = project(f"{INPUTS}\n{mark}\ndef test_it({arguments}):\n    pass\n", "-rA")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{message}*".replace("[", "[[]")])


def test_a_declarative_test_needs_a_target(project):
    result = project(
        INPUTS + "@robust(TRIAGE, inputs=TICKETS)\ndef test_it(response):\n    pass\n",
        "-o",
        "promptfuzz_target=",
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no model to call*"])


def test_a_fixture_cannot_read_the_response(project):
    result = project(
        INPUTS
        + """
import pytest

@pytest.fixture
def text(response):
    return response.text

@robust(TRIAGE, inputs=TICKETS)
def test_it(response, text):
    pass
"""
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*a fixture cannot read it*"])


def test_a_fixture_of_the_users_own_named_response_is_left_alone(project):
    result = project(
        """
import pytest

@pytest.fixture
def response():
    return "mine"

def test_it(response):
    assert response == "mine"
"""
    )
    result.assert_outcomes(passed=1)


def test_parameters_go_into_each_request(project, monkeypatch):
    pytest.importorskip("openai")
    declared = (
        INPUTS
        + """
@robust(TRIAGE, inputs=TICKETS, mutations=3, controls=0, target="openai:gpt", parameters={"temperature": 0.25})
def test_declared(response):
    assert response.text
"""
    )
    called = """
@robust(TRIAGE, mutations=3, controls=0, target="openai:gpt", parameters={"temperature": 0.5, "seed": 7}, threshold=0)
def test_called(prompt, llm):
    return llm(prompt.format(ticket=TICKETS[0]), seed=8).text
"""
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        project(declared + called).assert_outcomes(passed=2)
        asked = [(each.body.get("temperature"), each.body.get("seed")) for each in server.requests]
        assert sorted(asked, key=str) == [(0.25, None)] * 8 + [(0.5, 8)] * 4
        planned = project(declared, "--promptfuzz-dry-run")
        assert "8 calls, 8 of them stored" in " ".join(planned.outlines)


@pytest.mark.parametrize(
    ("mark", "body", "message"),
    [
        (
            "parameters=[1]",
            "response",
            'parameters=[[]1] is no mapping of names; write parameters={"temperature": 0}.',
        ),
        ("parameters={'model': 'x'}", "response", "parameters has 'model', which is not for the test to say"),
        ("parameters={'seed': 1}, target=str", "response", "parameters= are for models"),
    ],
)
def test_parameters_that_cannot_be(project, mark, body, message):
    result = project(
        f"""
@robust("Classify as BILLING or OTHER. Ticket: I was charged twice.", mutations=3, {mark})
def test_label({body}):
    assert response
"""
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{message}*"])


def test_parameters_of_calls_that_the_test_makes_itself_are_refused(project):
    result = project(
        """
@robust(TRIAGE, mutations=3, parameters={"temperature": 0})
def test_label(prompt):
    return "BILLING"
"""
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*parameters= is for requests that the plugin makes*"])
