"""`@robust`: where the mark may stand, and what the body's return value and assertions are for."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import summary_of


def test_the_body_runs_once_for_the_baseline_and_once_for_each_mutation(project):
    result = project(
        """
        seen = []

        @robust(TRIAGE, mutations=5)
        def test_triage(prompt, llm):
            seen.append(str(prompt))
            return llm(prompt.format(ticket=TICKET))

        def test_afterwards():
            assert len(seen) == 1 + 1 + 5  # baseline, control, mutations
            assert seen[0] == seen[1] == TRIAGE.text
            assert len(set(seen)) == 6
        """
    )
    result.assert_outcomes(passed=2)
    assert summary_of(result) == {"test_triage": "pass"}
    result.stdout.fnmatch_lines(
        ["promptfuzz: mode auto, seed 0, target simulated*", "*no real model was called*"]
    )


def test_an_oracle_that_fails_on_mutations_makes_the_test_fail(project):
    result = project(
        """
        @robust(TRIAGE, mutations=8)
        def test_triage(prompt, llm):
            answer = llm(prompt.format(ticket=TICKET))
            assert "exactly one of: BILLING" in prompt.text, "the wording is gone"
            assert "- Do not" in prompt.text, "the second rule is gone"
            return answer
        """
    )
    result.assert_outcomes(failed=1)
    assert summary_of(result) == {"test_triage": "brittle"}
    result.stdout.fnmatch_lines(
        [
            "Brittle: the score 0.* is below the threshold 0.85.",
            "*why        AssertionError: the *",
            "*reproduce  pytest 'test_it.py::test_triage' --promptfuzz-trial=*",
            "FAILED test_it.py::test_triage - brittle: * trials deviate*",
        ]
    )


def test_a_body_without_a_return_value_is_compared_by_its_last_response(project):
    result = project(
        """
        @robust(TRIAGE, mutations=4)
        def test_triage(prompt, llm):
            llm(prompt.format(ticket=TICKET))
        """
    )
    result.assert_outcomes(passed=1)
    assert "Judged by its assertions only" not in result.stdout.str()


def test_a_body_that_only_checks_is_labelled(project):
    result = project(
        """
        @robust(TRIAGE, mutations=4)
        def test_triage(prompt):
            assert "BILLING" in str(prompt)

        @robust(TRIAGE, mutations=4, compare=False)
        def test_not_compared(prompt, llm):
            return {"answer": llm(prompt.format(ticket=TICKET)).text, "prompt": str(prompt)}
        """
    )
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["Judged by its assertions only*"])


def test_a_body_with_nothing_to_judge_by_is_refused(project):
    result = project(
        """
        @robust(TRIAGE)
        def test_triage(prompt):
            str(prompt)
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["UsageError: test_it.py::test_triage: there is nothing to judge: *"])


def test_return_values_of_every_kind_are_compared(project):
    result = project(
        """
        import dataclasses
        import pydantic
        import pytest

        class Model(pydantic.BaseModel):
            label: str

        @dataclasses.dataclass
        class Data:
            label: str

        KINDS = {
            "response": lambda answer: answer,
            "text": lambda answer: answer.text,
            "json": lambda answer: {"label": answer.text, "n": [1, 2.5, None, True]},
            "dataclass": lambda answer: Data(answer.text),
            "pydantic": lambda answer: Model(label=answer.text),
        }

        @pytest.mark.parametrize("kind", KINDS)
        @robust(TRIAGE, mutations=4)
        def test_triage(prompt, llm, kind):
            return KINDS[kind](llm(prompt.format(ticket=TICKET)))

        @robust(TRIAGE, mutations=4)
        def test_unknown(prompt, llm):
            llm(prompt.format(ticket=TICKET))
            return {"answer": object()}
        """
    )
    result.assert_outcomes(passed=5, errors=1)
    result.stdout.fnmatch_lines(
        ["UsageError: test_it.py::test_unknown: the body's return value cannot be compared: *"]
    )


@pytest.mark.with_plugins("anyio")
def test_async_methods_classes_and_parametrized_tests(project):
    result = project(
        """
        import pytest

        @robust(TRIAGE, mutations=4)
        @pytest.mark.asyncio
        async def test_asyncio(prompt, llm):
            return await llm(prompt.format(ticket=TICKET))

        @robust(TRIAGE, mutations=4)
        @pytest.mark.anyio
        async def test_anyio(prompt, llm, anyio_backend_name):
            return await llm(prompt.format(ticket=TICKET))

        @robust(TRIAGE, mutations=4)
        class TestClass:
            def test_method(self, prompt, llm):
                return llm(prompt.format(ticket=TICKET))

            @robust(mutations=2)
            @pytest.mark.asyncio
            async def test_async_method(self, prompt, llm):
                return await llm(prompt.format(ticket=TICKET))

        @pytest.mark.parametrize("ticket", ["I cannot log in.", TICKET])
        @pytest.mark.robust(TRIAGE, mutations=4)
        def test_parametrized(prompt, llm, ticket):
            return llm(prompt.format(ticket=ticket))
        """
    )
    result.assert_outcomes(passed=7)
    assert len(summary_of(result)) == 7
    assert set(summary_of(result).values()) == {"pass"}


@pytest.mark.with_plugins("anyio")
def test_async_trials_overlap_on_asyncio_and_run_in_sequence_on_trio(project):
    result = project(
        """
        import anyio
        import pytest

        running, most = 0, {}

        @robust(TRIAGE, mutations=6)
        @pytest.mark.anyio
        async def test_overlap(prompt, anyio_backend_name):
            global running
            running += 1
            most[anyio_backend_name] = max(most.get(anyio_backend_name, 0), running)
            await anyio.sleep(0.02)
            running -= 1
            assert str(prompt)

        def test_afterwards():
            assert most == {"asyncio": 6, "trio": 1}
        """
    )
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*not asyncio's, so the trials ran in sequence*"])


def test_stacked_marks_merge_key_by_key_and_the_nearest_wins(project):
    result = project(
        """
        pytestmark = robust(TRIAGE, mutations=3, threshold=0.5)

        @robust(threshold=1)
        class TestClass:
            @robust(mutations=2, seed=4)
            def test_method(self, prompt, llm):
                return llm(prompt.format(ticket=TICKET))

        @robust(mutations=2)
        @robust(mutations=3)
        def test_twice(prompt, llm):
            return llm(prompt.format(ticket=TICKET))
        """
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*::test_method *pass *1.00 *1.00  2  0  0 *"])
    result.stdout.fnmatch_lines(
        ["UsageError: test_it.py::test_twice: @robust gives mutations= twice. Keep one of them."]
    )


def test_a_prompt_from_a_fixture_a_parameter_or_chat_messages(project):
    result = project(
        """
        import pytest

        CHAT = [
            {"role": "system", "content": "Classify the ticket into one of: BILLING, TECHNICAL, OTHER. Only answer with the label."},
            {"role": "user", "content": "Ticket: " + TICKET},
        ]

        @pytest.fixture
        def wording():
            return TRIAGE.text.replace("{ticket}", TICKET)

        @robust(mutate="wording", mutations=4)
        def test_fixture(wording, llm):
            assert isinstance(wording, str)
            return llm(wording)

        @pytest.mark.parametrize("prompt", [TRIAGE.text.replace("{ticket}", TICKET)])
        @robust(mutations=4)
        def test_parameter(prompt, llm):
            return llm(prompt)

        @robust(CHAT, mutations=4)
        def test_chat(prompt, llm):
            return llm(prompt)

        @pytest.mark.parametrize("messages", [CHAT], ids=["chat"])
        @robust(mutate="messages", mutations=4)
        def test_messages(messages, llm):
            assert isinstance(messages, list) and messages[0]["role"] == "system"
            return llm(messages)
        """,
        "-v",
    )
    result.assert_outcomes(passed=4)
    assert set(summary_of(result).values()) == {"pass"}
    result.stdout.fnmatch_lines(["*::test_parameter[[]classify-the-support-ticket-below[]]*"])


def test_it_can_be_switched_off_and_left_out(project):
    source = """
        @robust(TRIAGE, mutations=8)
        def test_triage(prompt, llm):
            runs.append(1)
            return llm(prompt.format(ticket=TICKET))

        import pytest

        @pytest.mark.xfail(strict=True, reason="brittle")
        @robust(TRIAGE, mutations=8)
        def test_known(prompt, llm):
            assert "exactly one of: BILLING" in prompt.text and "- Do not" in prompt.text
            return llm(prompt.format(ticket=TICKET))

        runs = []

        def test_afterwards():
            assert len(runs) == 1
        """
    off = project(source, "--promptfuzz=off")
    assert off.parseoutcomes()["passed"] == 3
    off.stdout.fnmatch_lines(["promptfuzz: off*"])
    out = project("def test_plain():\n    pass\n", "-p", "no:promptfuzz", "-c", "/dev/null")
    out.assert_outcomes(passed=1)
    assert "promptfuzz:" not in out.stdout.str()
