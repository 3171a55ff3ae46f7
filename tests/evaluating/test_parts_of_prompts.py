"""`part=`: the template, the input that was put into it, or both."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import Prompt, Session, UsageError, evaluate
from pytest_promptfuzz.storage.answers import MemoryStore

TRIAGE = Prompt("Classify the ticket as BILLING or SHIPPING.\nTicket: {ticket}\nAnswer with one word only.")
TICKET = "I can not find my parcel, and the customer service does not answer the phone."
TEMPLATE = TRIAGE.format(ticket="@")


def outside_of(text: str) -> tuple[str, str]:
    head, _, tail = TEMPLATE.partition("@")
    return text[: len(head)], text[-len(tail) :]


def trials(part: str | None) -> list[str]:
    result = evaluate(
        TRIAGE.fill(ticket=TICKET), "simulated", mutations=12, part=part, session=Session(store=MemoryStore())
    )
    assert result.verdict == "pass"
    return [trial.mutation.text for trial in result.trials]


def test_the_template_is_mutated_by_default() -> None:
    assert all(TICKET in text for text in trials(None))
    assert trials("template") == trials(None)


def test_the_input_alone_is_mutated() -> None:
    texts = trials("input")
    assert len(set(texts)) == 12
    assert {outside_of(text) for text in texts} == {outside_of(TEMPLATE)}
    assert all(TICKET not in text for text in texts)


def test_both_are_mutated() -> None:
    texts = trials("both")
    assert any(outside_of(text) != outside_of(TEMPLATE) for text in texts)
    assert any(TICKET not in text for text in texts)


@pytest.mark.parametrize(
    ("prompt", "part", "message"),
    [
        (TRIAGE, "input", "evaluate: .*has no input yet"),
        ("Sort it.", "input", "evaluate: .*has no slots"),
        (
            TRIAGE,
            "inptu",
            "evaluate: part='inptu' is not one of template, input, both, or a role. Did you mean 'input'",
        ),
        (TRIAGE, "system", "evaluate: part names the role 'system', but the prompt is a text"),
    ],
)
def test_a_part_that_is_not_there(prompt: str | Prompt, part: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evaluate(prompt, "simulated", part=part, session=Session(store=MemoryStore()))


def test_a_filled_prompt_is_not_said_to_be_unfilled() -> None:
    unfilled = evaluate(TRIAGE, "simulated", mutations=1, session=Session(store=MemoryStore()))
    filled = evaluate(
        TRIAGE.fill(ticket=TICKET), "simulated", mutations=1, session=Session(store=MemoryStore())
    )
    assert any("slots unfilled: ticket" in note for note in unfilled.notes)
    assert not any("unfilled" in note for note in filled.notes)
