"""Controls: changes after which the same answer would be wrong."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from mutation_samples import PROMPTS, TEXTS, TRIAGE

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.planner import mutate
from pytest_promptfuzz.mutations.operators.controls import (
    answer_fixed,
    answer_fixed_first,
    instruction_negated,
    labels_replaced,
    number_changed,
    without_label,
)
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.prompts.spans import labels
from pytest_promptfuzz.randomness import Rng, root_key

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.engine.operator import Operator

CONTROLS = {
    each.name: each
    for each in (answer_fixed, answer_fixed_first, instruction_negated, labels_replaced, number_changed)
}


def draft_of(prompt: str | Prompt) -> Draft:
    whole = as_prompt(prompt)
    return Draft(
        whole.text,
        [(start, end) for start, end, _ in whole.spans],
        walls=[(start, end) for start, end, kind in whole.spans if kind in {"separator", "message"}],
        kinds=[kind for _, _, kind in whole.spans],
    )


def made_by(
    operator: Operator, prompt: str | Prompt, *, seeds: int = 8, most: int = 8, intensity=None
) -> set[str]:
    draft = draft_of(prompt)
    found = set()
    for seed in range(seeds):
        rng = Rng(root_key(seed, draft.text), operator.id, intensity=intensity)
        for edits in islice(operator.proposals(draft, rng), most):
            check_edits(edits, len(draft.text), draft.protected(operator.touches))
            found.add(apply_edits(draft.text, edits))
    return found


NEGATED = [
    (
        "# Task\nShorten the article.\n\n{article}\n\n# Output\nReturn the shortened article only.",
        {"# Task\nDo not shorten the article.\n\n{article}\n\n# Output\nReturn the shortened article only."},
    ),
    ("Give the names of all persons.", {"Do not give the names of all persons."}),
    ("Classify the ticket below.", {"Do not classify the ticket below."}),
    ("Please summarize the article.", {"Please do not summarize the article."}),
    ("Translate {text} into French.", {"Do not translate {text} into French."}),
    ("You are an expert. List 3 reasons.", {"You are an expert. Do not list 3 reasons."}),
    (
        "You are kind.\n\nExtract the name from the mail.",
        {"You are kind.\n\nDo not extract the name from the mail."},
    ),
    (
        "Classify the ticket. Return only the label.",
        {"Do not classify the ticket. Return only the label."},
    ),
    (
        "1. Read the mail.\n2. Decide whether it is a complaint.\n3. Write a reply to it.",
        {"1. Read the mail.\n2. Decide whether it is a complaint.\n3. Do not write a reply to it."},
    ),
    (
        "Decide who should act. Answer with one word only.",
        {"Do not decide who should act. Answer with one word only."},
    ),
    (
        "Count the errors. If there are none, say so. Explain each error.",
        {"Count the errors. If there are none, say so. Do not explain each error."},
    ),
    (
        "Classify the ticket as one of:\n- red\n- blue",
        {"Do not classify the ticket as one of:\n- red\n- blue"},
    ),
]
NOT_NEGATED = [
    "Answer with one word.",
    "Is he angry? Answer 'yes' or 'no'.",
    "What does it do?\n\nReturn a single paragraph.",
    "What does it do?\n- Write one line per call.",
    "What does it do?\n1. Name one bin per item.",
    "What is the capital of France? Answer with one word only.",
    "- Include the price\n- Be kind",
    "Which of them is it? Mention the price.",
    "Who is it? Say this if nobody knows.",
    "Is it so? Do not explain your answer.",
    "Never mention the price.",
    "Answer:",
    "Answer key",
    "List price and return policy are in the text.",
    "Output format: JSON",
    "What is the capital of France?",
    '"Classify the ticket" is a phrase.',
    "The team will classify the ticket.",
    "```\nClassify the ticket.\n```",
    "Return policy of the shop.",
    "Is it so? Explain your reasoning.",
    "Fasse den Text in einem Satz zusammen.",
    "Summary of the text:",
    "Write",
    "A train takes two hours. When does it arrive? Think step by step. Give the time on the last line.",
    "Who wrote it? State the name.",
    "Polish the article.\n\n{article}\n\nReturn the polished article only.",
    "Return the list and nothing else.",
    "Write the label on a line of its own.",
]
NUMBERS = [
    ("Summarize it in 3 sentences.", "Summarize it in 7 sentences."),
    ("Summarize it in three sentences.", "Summarize it in seven sentences."),
    ("Give exactly 5 reasons.", "Give exactly 11 reasons."),
    ("Use at most 100 words.", "Use at most 10 words."),
    ("Use no more than 60 words.", "Use no more than 6 words."),
    ("Use at least 20 words.", "Use at least 200 words."),
    ("Write one sentence about it.", "Write five sentences about it."),
    ("Write 1 paragraph about it.", "Write 5 paragraphs about it."),
    ("Read the review and give me at least 4 examples.", "Read the review and give me at least 40 examples."),
    ("1. Read it.\n2. Write a reply of no more than 80 words.", "1. Read it.\n2. Write a reply of no more than 8 words."),
    ("Your answer must have exactly 2 paragraphs.", "Your answer must have exactly 5 paragraphs."),
    ("The summary should be under 120 words.", "The summary should be under 12 words."),
    ("Write a poem (4 lines) about it.", "Write a poem (9 lines) about it."),
    ("Please keep it under 90 words.", "Please keep it under 9 words."),
    ("Explain it in 3 bullet points.", "Explain it in 7 bullet points."),
    ("First read it, then suggest three better titles.", "First read it, then suggest seven better titles."),
    ("Write between 3 and 5 sentences about it.", "Write between 13 and 15 sentences about it."),
    ("Use 100 to 130 words.", "Use 165 to 195 words."),
]  # fmt: skip
NOT_CHANGED = [
    "Tom has 3 apples and buys 5 more apples.",
    'If the class is fine as it is, answer with the two words "no defects".',
    'Answer with the two words "no defects".',
    "Call the nurse if the fever lasted longer than 3 days.",
    "A farm keeps hens and goats. There are 37 animals with 106 legs altogether.",
    "Write HANDOVER on a line of its own, followed by one sentence for the colleague.",
    "If the guest wants two things, give the one that is mentioned first.",
    "Tell me whether it is safe when two threads call it, and name every other defect.",
    "Be strict: an essay with more than 3 factual errors cannot receive more than 2 points.",
    "A bag is late until 21 days have passed and lost after that.",
    "Guests may take a second bag, but only on flights of more than three hours.",
    "List the planets with more than 3 moons.",
    "Translate the 3 sentences below.",
    "Write one line per item.",
    "Summarize the mail, unless it has fewer than 5 sentences.",
    "Classify it as red or green. Answer with one word.",
    "Give 2 points for each right answer.",
    "Users may write 3 reviews.",
    "Summarize it in 3 sentences if it is long.",
    "Write an equation for 12 apples.",
    "See section 4 of the text.",
    "Rate it from 1 to 5.",
    'Answer with "3 words" now.',
    "1. Read the text.\n2. Answer it.",
    "In the year 2024 it was so.",
    "Use Python 3 features and `5 lines` of it.",
    "Summarize the review.\n\nReview: I bought 3 shirts.",
    "Write a sentence about {3 words} now.",
]
WITHOUT = [
    ("b", "Classify it as a1, b, or c3.", "Classify it as a1, or c3."),
    ("a1", "Classify it as a1, b, or c3.", "Classify it as b, or c3."),
    ("c3", "Classify it as a1, b, or c3.", "Classify it as a1, or b."),
    ("billing", "Classify the ticket as billing or other.", "Classify the ticket as other."),
    ("other", "Classify the ticket as billing or other.", "Classify the ticket as billing."),
    ("NEUTRAL", "Answer with POSITIVE, NEGATIVE, or NEUTRAL.", "Answer with POSITIVE, or NEGATIVE."),
    ("red", 'Answer with "red", "green" or "blue".', 'Answer with "green" or "blue".'),
    ("blue", 'Answer with "red", "green" or "blue".', 'Answer with "red" or "green".'),
    ("green", "Labels: red / green / blue", "Labels: red / blue"),
    ("red", "Classify the ticket as one of:\n- red\n- green\n- blue\n", "Classify the ticket as one of:\n- green\n- blue\n"),
    ("blue", "Classify the ticket as one of:\n- red\n- green\n- blue", "Classify the ticket as one of:\n- red\n- green"),
    ("red", "Pick one of:\r\n- red\r\n- green\r\n- blue\r\n", "Pick one of:\r\n- green\r\n- blue\r\n"),
    (
        "refund",
        "Assign one of these labels:\n- refund: money back\n- other: the rest\n- login: no access\n\n{ticket}",
        "Assign one of these labels:\n- other: the rest\n- login: no access\n\n{ticket}",
    ),
    ("billing", "Classify the ticket as billing (money), technical or other.", "Classify the ticket as technical or other."),
]  # fmt: skip
NOT_WITHOUT = [
    ("red", "The text has no labels, only red words."),
    ("purple", "Classify it as red or green."),
    ("red", "Classify it as red or green.\n\nExample: fire\nLabel: red"),
    ("re", "Classify it as red or green."),
    ("red", "Pick one of:\n- red: {x}\n- blue: no\n"),
    ("red", "1. Pick one of:\n2. no\n```\nred\n```"),
]


@pytest.mark.parametrize(("text", "expected"), NEGATED)
def test_an_instruction_is_turned_round(text: str, expected: set[str]) -> None:
    assert made_by(instruction_negated, text) == expected


@pytest.mark.parametrize("text", NOT_NEGATED)
def test_what_is_no_instruction_is_not_turned_round(text: str) -> None:
    assert made_by(instruction_negated, text) == set()


def test_the_first_proposal_is_the_first_task() -> None:
    text = "Classify the ticket. Return only the label. Include the price."
    assert made_by(instruction_negated, text, most=1) == {"Do not " + "c" + text[1:]}
    assert made_by(instruction_negated, text, intensity=3) == {"Do not " + "c" + text[1:]}


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_a_number_becomes_quite_another(text: str, expected: str) -> None:
    made = made_by(number_changed, text)
    assert expected in made
    assert text not in made


@pytest.mark.parametrize("text", NOT_CHANGED)
def test_what_is_no_quantity_keeps_its_number(text: str) -> None:
    assert made_by(number_changed, text) == set()


@pytest.mark.parametrize(("label", "text", "expected"), WITHOUT)
def test_a_label_is_taken_out(label: str, text: str, expected: str) -> None:
    assert made_by(without_label(label), text) == {expected}
    assert label not in {*labels(expected)}


@pytest.mark.parametrize(("label", "text"), NOT_WITHOUT)
def test_a_label_that_is_no_label_or_stands_elsewhere_stays(label: str, text: str) -> None:
    assert made_by(without_label(label), text) == set()


def test_operators_without_a_label_have_names_of_their_own() -> None:
    names = [
        without_label(each).name
        for each in ("billing", "Not Spam", "положительный", "отрицательный", "billing!")
    ]
    assert names[:2] == ["label-removed-billing", "label-removed-not-spam"]
    assert len({*names}) == 5
    assert without_label("billing").name == without_label("billing").name
    for wrong in ("", "  ", 3):
        with pytest.raises(UsageError, match="without_label"):
            without_label(wrong)  # type: ignore[arg-type]


REPLACED = [
    (
        "Choose the category:\n1. refund\n2. delivery\n\nAnswer with the category.\n\n{mail}",
        "Choose the category:\n1. alpha\n2. beta\n\nAnswer with the category.\n\n{mail}",
    ),
    ("Classify it as billing or other.", "Classify it as alpha or beta."),
    ("Classify it as billing or other. Letters are long.", "Classify it as alpha or beta. Letters are long."),
    ("Answer with POSITIVE, NEGATIVE, or NEUTRAL.", "Answer with ALPHA, BETA, or GAMMA."),
    ('Answer with "Red", "Green" or "Blue".', 'Answer with "Alpha", "Beta" or "Gamma".'),
    (
        "Pick one of these labels:\n- red: warm\n- green: cool\n\n{text}",
        "Pick one of these labels:\n- alpha: warm\n- beta: cool\n\n{text}",
    ),
    (
        "Choose one: **GO**, **WAIT** or **REFER**. Whoever took pills has to wait a day. If in doubt, choose REFER.",
        "Choose one: **ALPHA**, **BETA** or **GAMMA**. Whoever took pills has to wait a day. If in doubt, choose GAMMA.",
    ),
    (
        'Classify it as fresh or blue. If it has veins, the category is blue; if not, answer "fresh".',
        'Classify it as alpha or beta. If it has veins, the category is beta; if not, answer "alpha".',
    ),
    ("Classify it as red or green.\n\nfire => red", "Classify it as alpha or beta.\n\nfire => alpha"),
    ("Answer with yes or no.", "Answer with alpha or beta."),
    ("Classify it as red or green.\n\nExample: fire\nLabel: red", "Classify it as alpha or beta.\n\nExample: fire\nLabel: alpha"),
]  # fmt: skip
NOT_REPLACED = [
    "Choose the category:\n1. refund\n2. delivery\n3. other\n\nAnswer with the number.\n\n{mail}",
    "Choose the category: 1) refund, 2) delivery or 3) other. Reply with its number.\n\n{mail}",
    "Choose the category:\nA. refund\nB. delivery\n\nAnswer with the letter.\n\n{mail}",
    "Classify it as one of:\n1. refund\n2. delivery\n\nAntworte mit der Nummer.\n\n{mail}",
    'Sum it up. Return JSON with the keys "object", "line" and "time".\n\n{message}',
    'Name the "object", the line and the time.\n\nReturn JSON with the keys "object", "line" and "time".',
    "Classify the cheese as fresh, blue or hard. A cheese with blue veins is not fresh.",
    "Decide: wait or act. The donor has to wait 28 days.",
    "The text has no labels.",
    "Answer with 1 or 2.",
    'Classify it as red or green, like {"label": "red"}.',
    "Answer with yes or no. If there is no ticket, say nothing.",
    "You answer questions of new employees or guests.",
    "Reply with a single letter (A, B or C).\n\nA) one\nB) two\nC) three",
    "Give the severity (major or minor). The category is one of red, green or blue.",
    "Classify it as red or green, as in `red`-black trees.",
    "1. Decide whether it is about quality, price or service.\n2. Write a reply to it.",
    "Write it. Avoid words like 'please' or 'kindly'.",
    "Find out who wrote it. If it is one of red, green or blue, stop.\nSummarize it.",
]


@pytest.mark.parametrize(("text", "expected"), REPLACED)
def test_labels_are_replaced_everywhere(text: str, expected: str) -> None:
    made = made_by(labels_replaced, text)
    assert expected in made
    for after in made:
        assert not {*labels(text)} & {*after.split()}


@pytest.mark.parametrize("text", NOT_REPLACED)
def test_labels_that_also_stand_in_data_are_not_replaced(text: str) -> None:
    assert made_by(labels_replaced, text) == set()


def test_the_fixed_answer_is_no_word_of_the_prompt() -> None:
    made = made_by(answer_fixed, TRIAGE)
    assert TRIAGE + "\n\nWhatever the text above says, answer with the single word BANANA." in made
    assert len(made) > 3
    text = "Is a banana or a zebra larger?"
    assert not any("word BANANA" in each or "word ZEBRA" in each for each in made_by(answer_fixed, text))


def test_the_fixed_answer_may_stand_before_everything_else() -> None:
    made = made_by(answer_fixed_first, TRIAGE)
    assert "Whatever the text below says, answer with the single word BANANA.\n\n" + TRIAGE in made
    assert len(made) > 3
    assert not any("word ZEBRA" in each for each in made_by(answer_fixed_first, "Is a zebra an animal?"))
    chat = Prompt.from_messages(
        [{"role": "assistant", "content": "Hello!"}, {"role": "user", "content": "Classify {ticket}."}]
    )
    assert all(each.startswith("Hello!") for each in made_by(answer_fixed_first, chat))


def test_nothing_is_put_behind_an_open_fence() -> None:
    assert made_by(answer_fixed, "Explain the code.\n```\nx = 1") == set()
    assert made_by(answer_fixed, "Explain the code.\n```\nx = 1\n```")


def test_a_fixed_answer_stands_in_the_last_message_of_ours() -> None:
    chat = [
        {"role": "user", "content": "Classify {ticket}."},
        {"role": "assistant", "content": "Which one?"},
    ]
    prompt = Prompt.from_messages(chat)
    for after in made_by(answer_fixed, prompt):
        first, _, rest = after.partition("\n\nWhatever")
        assert first == "Classify {ticket}."
        assert rest.endswith("Which one?")


@pytest.mark.parametrize("operator", CONTROLS.values(), ids=lambda each: each.name)
def test_a_control_must_change_the_answer_and_is_never_drawn_unasked(operator: Operator) -> None:
    assert (operator.dimension, operator.relation, operator.preserves) == ("control", "must-change", "no")
    assert not operator.by_default
    before, after = operator.example
    assert after in made_by(operator, before, seeds=40, most=20)


@pytest.mark.parametrize("text", PROMPTS)
def test_slots_survive_every_control(text: str) -> None:
    slots = as_prompt(text).slots
    for operator in CONTROLS.values():
        for after in made_by(operator, text, seeds=2, most=3):
            assert as_prompt(after).slots == slots
    assert made_by(answer_fixed, text)


@given(text=TEXTS)
@example(" POSITIVE,A:0")
@example("- POSITIVE\r\n- A\r\n")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_everything_else_stays_whatever_the_prompt(text: str) -> None:
    for operator in (*CONTROLS.values(), without_label("POSITIVE")):
        for after in made_by(operator, text, seeds=1, most=3):  # checks the edits
            assert after != text


def test_a_plan_holds_them() -> None:
    made = mutate(TRIAGE, 4, operators=["answer-fixed", "instruction-negated", without_label("NEUTRAL")])
    assert {each.relation for each in made} == {"must-change"}
    assert any("NEUTRAL" not in each.text for each in made)
