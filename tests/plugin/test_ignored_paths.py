"""``ignore=``: what of a request may change from run to run, and what may not be left out."""

from __future__ import annotations

import pytest

APP = """
import datetime, itertools, uuid
import openai

client = openai.OpenAI(api_key="none")
days = map(str, itertools.count(1))
SYSTEM = "Classify the ticket as BILLING, TECHNICAL or OTHER. Answer with the label only, and explain nothing."
TICKET = "I was charged twice for my subscription this month."

def part(text):
    return {"type": "text", "text": text}

def ask(system=SYSTEM, **more):
    said = [
        {"role": "system", "content": system if isinstance(system, list) else [part(system)]},
        {"role": "user", "content": [part(TICKET), part("Session " + uuid.uuid4().hex)]},
    ]
    return client.chat.completions.create(model="m", messages=said, **more).choices[0].message.content
"""
HEAD = "import app\nimport uuid\nSESSION = '$.messages[1].content[1].text'\n"


@pytest.fixture
def application(project):
    def run(source: str, *arguments: str):
        return project(HEAD + source, *arguments, app=APP)

    return run


def test_ids_and_dates_are_left_out_of_keys_wherever_they_stand(application):
    source = """
@robust(app.SYSTEM, mutations=3, ignore=[SESSION, "$.metadata.request_id"])
def test_argument(prompt):
    return app.ask(prompt.text, metadata={"request_id": uuid.uuid4().hex, "kind": "support"})

@robust(mutate="role:system", mutations=3, ignore=["$.messages[*].content[1].text", "$.metadata.*"])
def test_wildcards():
    return app.ask(metadata={"request_id": uuid.uuid4().hex, "at": next(app.days)})

@robust(mutate="role:system", mutations=3, ignore=["$.messages[0].content[0]", "$.messages[-1].content[-1]"])
def test_a_day_in_a_part_of_its_own():
    return app.ask([app.part("Today is day " + next(app.days)), app.part(app.SYSTEM)])

@robust(mutate="role:user", mutations=3, ignore=[SESSION])
def test_what_is_left_out_is_not_mutated():
    return app.ask()
"""
    first = application(source)
    first.assert_outcomes(passed=4)
    first.stdout.fnmatch_lines(["4 robust tests: 4 passed; 16 calls *"])
    again = application(source)
    again.assert_outcomes(passed=4)
    again.stdout.fnmatch_lines(["4 robust tests: 4 passed; 0 calls *; 16 stored answers*"])
    recorded = application(source, "--promptfuzz-mode=record")
    recorded.assert_outcomes(passed=4)
    replayed = application(source, "--promptfuzz-mode=replay")
    replayed.assert_outcomes(passed=4)
    replayed.stdout.fnmatch_lines(["4 robust tests: 4 passed; 0 calls *"])


def test_what_is_mutated_cannot_be_left_out(application):
    result = application(
        """
@robust(app.SYSTEM, mutations=2, ignore="$.messages")
def test_argument(prompt):
    return app.ask(prompt.text)

@robust(mutate="role:system", mutations=2, ignore=["$.messages[0]", SESSION])
def test_wire():
    return app.ask()

@robust(mutate="role:system", mutations=2, ignore=["$.messages[2].content[1].text"])
def test_a_path_that_leads_nowhere():
    return app.ask([app.part("Today is day " + next(app.days)), app.part(app.SYSTEM)])
"""
    )
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        [
            "*mutated prompt was sent, and ignore= leaves out the place where it stands*",
            "*: ignore= leaves out the system text that is meant, at $.messages[[]0[]].content[[]0[]].text: *Seen:*",
            "*sent another text at $.messages[[]0[]].content[[]0[]].text*",
        ]
    )


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("messages[0]", "a JSON path starts with '$'"),
        ("$", "would leave out the whole answer"),
        ("$.messages[one]", "cannot read '[[]one[]]'"),
        ("$..id", "cannot read '..id'"),
        ("$.a b", "cannot read ' b'"),
    ],
)
def test_a_path_that_cannot_be_read_is_said(application, path, said):
    result = application(f"""
@robust(app.SYSTEM, mutations=2, ignore=["$.id", {path!r}])
def test_argument(prompt):
    return app.ask(prompt.text)
""")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*ignore='*{said}*"])


def test_a_text_that_call_or_match_names_cannot_be_left_out(application):
    result = application(
        """
@robust(mutate="role:user", match="Session", mutations=2, ignore=[SESSION, "$.id"])
def test_match():
    return app.ask()

@robust(mutate="role:system", call=1, mutations=2, ignore="$.messages[0].content[*].text")
def test_call():
    app.ask("Say hello.")
    return app.ask()

@robust(mutate="role:user", match="Bonjour", mutations=2, ignore="$.messages[1]")
def test_a_match_that_is_nowhere():
    return app.ask()
"""
    )
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        [
            "*ignore= leaves out the user text that is meant, at $.messages[[]1[]].content[[]1[]].text: *",
            "*ignore= leaves out the system text that is meant, at $.messages[[]0[]].content[[]0[]].text: *",
            "*no request of the baseline holds a user text that matches 'Bonjour'. Seen:*",
        ]
    )


def test_paths_that_leave_nothing_out_are_said_once(application):
    result = application(
        """
from pytest_promptfuzz import TargetError

NAMED = ["$.metadata.requestId", "$.metadata.kind", "$.at", "$.items[*].date", "$.none"]
TEAM = "Write a JSON object with the keys team and id for this ticket: {ticket}"

@robust(app.SYSTEM, mutations=3, ignore=[SESSION, *NAMED])
def test_argument(prompt):
    app.ask(prompt.text, metadata={"kind": "support"})
    return {"at": uuid.uuid4().hex, "text": '{"none": 1}'}

@robust(app.SYSTEM, mutations=3, ignore=[SESSION, "$.nowhere"])
def test_a_baseline_that_fails(prompt):
    app.ask(prompt.text)
    raise ValueError("broken")

@robust(app.SYSTEM, mutations=3, ignore="$.nowhere")
def test_a_baseline_that_cannot_be_had(prompt):
    raise TargetError("The provider is down.", kind="server")

@robust(app.SYSTEM, mutations=3, ignore=SESSION)
def test_nothing_to_say(prompt):
    return app.ask(prompt.text)

@robust(TEAM, mutations=2, threshold=0.0, ignore=["$.id", "$.metadata.request_id"])
def test_an_answer(prompt, llm):
    llm(prompt.format(ticket="I was charged twice."), metadata={"request_id": uuid.uuid4().hex})
    return '```json\\n{"team": "BILLING", "id": "%s"}\\n```' % uuid.uuid4().hex
""",
    )
    result.assert_outcomes(passed=3, failed=1, errors=1)
    said = " ".join(result.stdout.str().split())
    assert said.count("ignore= left nothing out at") == 1
    assert (
        "ignore= left nothing out at '$.metadata.requestId', '$.items[*].date', '$.none': no request, answer or returned "
        "value has such a place" in said
    )
