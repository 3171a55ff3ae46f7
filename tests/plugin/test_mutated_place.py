"""`mutate=`: what is mutated, and whether the mutation arrived."""

from __future__ import annotations

import re

from pytest_promptfuzz.wording import trials
from tests.plugin.conftest import summary_of

PROMPTS = '''
TRIAGE = """Classify the support ticket below into exactly one of: BILLING, TECHNICAL, OTHER.

- Answer with the label only
- Do not explain your choice

Ticket:
{ticket}"""
'''
APP = """
import functools
import openai
import prompts

client = openai.OpenAI(api_key="none")

def classify(ticket):
    messages = [{"role": "user", "content": prompts.TRIAGE.format(ticket=ticket)}]
    return client.chat.completions.create(model="any", messages=messages).choices[0].message.content

cached = functools.lru_cache(classify)

from prompts import TRIAGE

def by_name(ticket):
    messages = [{"role": "user", "content": TRIAGE.format(ticket=ticket)}]
    return client.chat.completions.create(model="any", messages=messages).choices[0].message.content
"""


def test_a_dotted_path_is_patched_and_restored(project):
    result = project(
        """
        import app, prompts
        before = prompts.TRIAGE

        @robust(mutate="prompts.TRIAGE", mutations=6)
        def test_application():
            return app.classify(TICKET)

        @robust(mutate="prompts.TRIAGE", mutations=6)
        def test_raising():
            assert prompts.TRIAGE == before
            return app.classify(TICKET)

        def test_restored():
            assert prompts.TRIAGE is before
        """,
        prompts=PROMPTS,
        app=APP,
    )
    result.assert_outcomes(passed=2, failed=1)
    assert summary_of(result) == {"test_raising": "brittle", "test_application": "pass"}


def test_an_application_that_caches_or_imports_by_name_is_not_exercised(project):
    result = project(
        """
        import app

        @robust(mutate="prompts.TRIAGE", mutations=6)
        def test_cached():
            return app.cached(TICKET)

        @robust(mutate="prompts.TRIAGE", mutations=6)
        def test_by_name():
            return app.by_name(TICKET)

        @robust("Say hello to the customer, and keep it short and friendly.", mutations=6)
        def test_ignored(prompt, llm):
            return llm("Classify this as SPAM or HAM: " + TICKET)

        @robust("Say hello to the customer, and keep it short and friendly.", mutations=6, mutate="text")
        def test_unseen(text):
            return text

        import pytest

        @pytest.fixture
        def text():
            return "Say hello to the customer, and keep it short and friendly."
        """,
        prompts=PROMPTS,
        app=APP,
    )
    result.assert_outcomes(errors=4)
    assert set(summary_of(result).values()) == {"inconclusive"}
    result.stdout.fnmatch_lines(
        ["*not-exercised*", "INCONCLUSIVE test_it.py::test_cached - no mutation reached a model*"]
    )


def test_a_request_that_follows_the_prompt_has_arrived_however_it_was_rendered(project):
    result = project(
        """
        import pytest

        @pytest.fixture
        def text():
            return "  Classify the mail into one of: SPAM, HAM.  Answer with the label only, please.\\n\\nMail:\\n{mail}\\n"

        @robust(mutate="text", mutations=6)
        def test_squeezed(text, llm):
            return llm(" ".join(text.format(mail="You won a prize, claim your free money now!").split()))
        """
    )
    outcome = summary_of(result)["test_squeezed"]
    text = result.stdout.str()
    # Mutations of white space alone are squeezed away by this application: they did not arrive, and it says so.
    assert outcome in {"pass", "inconclusive"}
    assert "deviation, 0" not in text
    if outcome == "inconclusive":
        assert "not-exercised" in text


def test_mutate_that_names_nothing(project):
    result = project(
        """
        import prompts

        @robust(mutate="promt")
        def test_argument(llm):
            return llm("x")

        @robust
        def test_default(llm):
            return llm("x")

        @robust(mutate="nowhere.PROMPT")
        def test_module(llm):
            return llm("x")

        @robust(mutate="prompts.TRIAG")
        def test_attribute(llm):
            return llm("x")

        @robust(mutate="broken.PROMPT")
        def test_broken(llm):
            return llm("x")

        @robust(mutate="prompts.NUMBER")
        def test_number(llm):
            return llm("x")

        @robust(mutate=7)
        def test_type(llm):
            return llm("x")
        """,
        prompts=PROMPTS + "\nNUMBER = 3\n",
        broken="raise RuntimeError('broken inside')\n",
    )
    result.assert_outcomes(errors=7)
    result.stdout.fnmatch_lines_random(
        [
            "UsageError: test_it.py::test_argument: mutate='promt' names no argument of the test. Its arguments: llm.*",
            "UsageError: test_it.py::test_default: mutate='prompt' names no argument of the test.*",
            "UsageError: test_it.py::test_module: *mutate='nowhere.PROMPT': there is no module 'nowhere' to import.",
            "UsageError: test_it.py::test_attribute: *prompts has no 'TRIAG'. Did you mean 'TRIAGE'?",
            "UsageError: test_it.py::test_broken: *importing broken failed: RuntimeError('broken inside')*",
            "UsageError: *mutate='prompts.NUMBER': A prompt is a str, a Prompt, a path or a list of chat messages, not an int*",
            "UsageError: test_it.py::test_type: mutate=7 must name an argument of the test or a dotted path.",
        ]
    )


def test_a_prompt_beside_what_is_mutated_is_taken_by_somebody_or_meant_for_others(project):
    result = project(
        """
        import pytest

        pytestmark = robust(TRIAGE, mutations=2, target="simulated")
        SYSTEM = {"role": "system", "content": "Answer politely, and explain nothing at all."}

        @robust(mutate="role:system")
        def test_nearer(llm):
            return llm([SYSTEM, {"role": "user", "content": TRIAGE.format(ticket=TICKET)}])

        @robust(mutate="role:system")
        def test_argument(prompt, llm):
            return llm([SYSTEM, {"role": "user", "content": prompt.format(ticket=TICKET)}])

        @pytest.fixture
        def asked(prompt):
            return prompt.format(ticket=TICKET)

        @robust(TRIAGE, mutate="role:user")
        def test_by_a_fixture(asked, llm):
            return llm([SYSTEM, {"role": "user", "content": asked}])

        @robust(mutate="role:system")
        class TestOfAClass:
            @robust("Sort this ticket.")
            def test_farther(self, llm):
                return llm([SYSTEM, {"role": "user", "content": "Hello, where are you?"}])

            @robust(None)
            def test_none(self, llm):
                return llm([SYSTEM, {"role": "user", "content": "Hello, where are you?"}])
        """
    )
    result.assert_outcomes(passed=4, errors=1)
    result.stdout.fnmatch_lines(
        ["UsageError: *test_farther: @robust has both a prompt and mutate='role:system'*"]
    )


def test_the_repeat_run_names_what_is_not_repeatable(project):
    result = project(
        """
        import time, uuid

        @robust(TRIAGE, mutations=4)
        def test_clock(prompt, llm):
            return {"label": llm(prompt.format(ticket=TICKET)).text, "meta": {"at": time.time_ns()}}

        @robust(TRIAGE, mutations=4, ignore="$.meta.at")
        def test_ignored(prompt, llm):
            return {"label": llm(prompt.format(ticket=TICKET)).text, "meta": {"at": time.time_ns()}}

        @robust(TRIAGE, mutations=4)
        def test_request(prompt, llm):
            return llm(prompt.format(ticket=f"{TICKET} (request {uuid.uuid4()})"))
        """
    )
    result.assert_outcomes(passed=2, errors=1)
    assert summary_of(result) == {
        "test_clock": "inconclusive",
        "test_ignored": "pass",
        "test_request": "pass",
    }
    result.stdout.fnmatch_lines(["*not repeatable at $.meta.at: *"])
    result.stdout.fnmatch_lines(
        [
            "note test_it.py::test_request: each run sends another request ($.messages[[]0[]].content), *",
        ]
    )


def test_fresh_fixtures_are_set_up_for_every_run(project):
    result = project(
        """
        import pytest
        log = []

        @pytest.fixture(scope="module")
        def once():
            log.append("module")

        @pytest.fixture
        def resource(once):
            log.append("up")
            yield []
            log.append("down")

        @robust(TRIAGE, mutations=3, fixtures="fresh")
        def test_fresh(prompt, llm, resource):
            resource.append(1)
            assert resource == [1]
            return llm(prompt.format(ticket=TICKET))

        @robust(TRIAGE, mutations=3)
        def test_shared(prompt, llm, resource):
            resource.append(1)
            assert resource == [1] * len(resource)
            return llm(prompt.format(ticket=TICKET))

        def test_afterwards():
            assert log == ["module"] + ["up", "down"] * 5 + ["up", "down"]
        """
    )
    result.assert_outcomes(passed=3)


def test_the_advice_fits_what_the_requests_hold(pytester, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.delenv("CI", raising=False)
    pytester.makeini(
        "[pytest]\npromptfuzz_target = simulated\nasyncio_default_fixture_loop_scope = function\n"
    )
    pytester.makepyfile(
        advice_prompts="LABEL = 'Classify the mood as good or bad. Answer with one word only. Text: A lovely day!'",
        test_advice="""
            import advice_prompts
            from advice_prompts import LABEL
            from pytest_promptfuzz import robust

            @robust("Answer in one short sentence, and be polite to the customer.")
            def test_given_and_not_passed_on(prompt, llm):
                return llm("Classify the mood as good or bad. Answer with one word only. Text: A lovely day!")

            answers = []

            @robust("Classify the mood as good or bad. Answer with one word only. Text: A lovely day!")
            def test_cached(prompt, llm):
                answers or answers.append(llm(prompt).text)
                return answers[0]

            @robust(mutate="advice_prompts.LABEL")
            def test_kept(llm):
                return llm(LABEL)

            @robust("Answer in one short sentence, and be polite to the customer.")
            def test_no_request(prompt):
                return "good"
        """,
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=4)
    text = result.stdout.str()
    found = dict(
        re.findall(r"ERROR at verdict of (\w+) _+\nInconclusive: no mutation reached a model\. (.*)", text)
    )
    assert found == {
        "test_given_and_not_passed_on": trials.another_text(),
        "test_cached": trials.cached(),
        "test_kept": trials.prompt_kept(),
        "test_no_request": trials.no_request(),
    }
    assert "give the test the prompt" not in text
