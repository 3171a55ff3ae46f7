"""`@robust(part=…)`: the input that a test gives its prompt is mutated in place of the template."""

from __future__ import annotations

from tests.plugin.conftest import summary_of


def test_the_input_of_a_test_is_mutated_where_it_is_put_in(project):
    result = project(
        """
        SEEN = []

        @robust(TRIAGE, part="input", mutations=6)
        def test_triage(prompt, llm):
            text = prompt.format(ticket=TICKET)
            SEEN.append(text)
            return llm(text).text

        def test_what_was_sent():
            baseline, control, *mutated = SEEN
            head, tail = baseline.split(TICKET)
            assert control == baseline and len(mutated) == 6
            assert all(text.startswith(head) and TICKET not in text for text in mutated)
        """
    )
    result.assert_outcomes(passed=2)
    assert summary_of(result) == {"test_triage": "pass"}


def test_a_role_of_a_chat(project):
    project(
        """
        CHAT = Prompt.from_messages([
            {"role": "system", "content": "Classify the ticket as BILLING or SHIPPING. Answer with one word only."},
            {"role": "user", "content": "Ticket: {ticket}"},
        ])
        SEEN = []

        @robust(CHAT, part=["system"], mutations=4)
        def test_system(prompt, llm):
            messages = prompt.format(ticket=TICKET)
            SEEN.append([each["content"] for each in messages])
            return llm(messages).text

        def test_what_was_sent():
            baseline, _, *mutated = SEEN
            assert len(mutated) == 4
            assert all(system != baseline[0] and user == baseline[1] for system, user in mutated)
        """
    ).assert_outcomes(passed=2)


def test_an_input_that_can_not_be_mutated_is_said(project):
    result = project(
        """
        import pytest

        @robust(TRIAGE, part="input")
        def test_not_filled(prompt, llm):
            return llm(str(prompt)).text

        @robust(TRIAGE, part="input")
        def test_two_inputs(prompt, llm):
            return [llm(prompt.format(ticket=each)).text for each in (TICKET, "My parcel is lost.")]

        @robust(TRIAGE, part="inptu")
        def test_misspelt(prompt, llm):
            return llm(prompt.format(ticket=TICKET)).text

        @pytest.mark.parametrize("ticket", [TICKET])
        @robust(mutate="ticket", part="input")
        def test_text(ticket, llm):
            return llm(TRIAGE.format(ticket=ticket)).text
        """
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines_random(
        [
            "UsageError: *part='input' mutates what the test puts into the prompt's slots, and it filled none.*",
            "*test_it.py::test_two_inputs: *needs one input, and the test filled the prompt with 2 different ones.*",
            "UsageError: test_it.py::test_misspelt: part='inptu' is not one of template, input, both, or a role. *'input'?",
            "*filled none. Let it call format() of a Prompt that has slots*name the input by itself with mutate=.*",
        ]
    )
