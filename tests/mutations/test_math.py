"""Numbers and equations written otherwise: the same quantities, and nothing that is a name, a code or data."""

from __future__ import annotations

import re
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutation_samples import PROMPTS, TEXTS

from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.analysis.numerals import number_in, spelled
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.planner import mutate
from pytest_promptfuzz.mutations.operators.numbers import equation_spacing, number_grouping, number_spelling
from pytest_promptfuzz.prompts.prompt import as_prompt
from pytest_promptfuzz.randomness import Rng, root_key

OPERATORS = {each.name: each for each in (number_spelling, number_grouping, equation_spacing)}


def draft_of(text: str) -> Draft:
    spans = as_prompt(text).spans
    return Draft(text, [(start, end) for start, end, _ in spans], kinds=[kind for _, _, kind in spans])


def made_by(
    name: str, text: str, *, seeds: int = 8, most: int = 8, intensity: float | None = None
) -> set[str]:
    operator = OPERATORS[name]
    draft = draft_of(text)
    found = set()
    for seed in range(seeds):
        rng = Rng(root_key(seed, text), operator.id, intensity=intensity)
        for edits in islice(operator.proposals(draft, rng), most):
            check_edits(edits, len(text), draft.protected(operator.touches))
            found.add(apply_edits(text, edits))
    return found


# Written down before the operators were.
SPELLED = [
    ("Summarize the article in 3 sentences.", {"Summarize the article in three sentences."}),
    ("Summarize the article in three sentences.", {"Summarize the article in 3 sentences."}),
    ("Write exactly 5 bullet points.", {"Write exactly five bullet points."}),
    ("Please use at most 20 words in the answer.", {"Please use at most twenty words in the answer."}),
    ("Write twelve questions about the book.", {"Write 12 questions about the book."}),
    ("Answer in at least thirty-two words.", {"Answer in at least 32 words."}),
    ("The answer must be at least 45 words long.", {"The answer must be at least forty-five words long."}),
    ("Write between 3 and 5 sentences about it.", {"Write between three and five sentences about it."}),
    ("Write 2 or 3 sentences about the text.", {"Write two or three sentences about the text."}),
    ("Answer in one or two sentences.", {"Answer in 1 or 2 sentences."}),
    ("3 sentences are enough for the answer.", {"Three sentences are enough for the answer."}),
    ("Give the answer.\n- Name 4 relevant reasons", {"Give the answer.\n- Name four relevant reasons"}),
    (
        "Tom has 3 apples and buys 5 more apples. How many apples does he have?",
        {
            "Tom has three apples and buys five more apples. How many apples does he have?",
            "Tom has three apples and buys 5 more apples. How many apples does he have?",
            "Tom has 3 apples and buys five more apples. How many apples does he have?",
        },
    ),
    ("Question: A train takes 2 hours. How fast is it?", {"Question: A train takes two hours. How fast is it?"}),
    ("Refunds are possible within 30 days of the order.", {"Refunds are possible within thirty days of the order."}),
    ("Compare the two texts and name the 2 main differences.", {
        "Compare the 2 texts and name the two main differences.",
        "Compare the 2 texts and name the 2 main differences.",
        "Compare the two texts and name the two main differences.",
    }),
]  # fmt: skip
NOT_SPELLED = [
    "Rate the review from 1 to 5.",
    "Answer the question about section 4 of the text.",
    "See page 12 and figure 3 of the report.",
    "Give the top-5 of the list and the top 5 results of the search.",
    "The ticket with the id 12345 is about order 77.",
    "The meeting is on 3 May 2024 at 10:30, so answer before.",
    "Use Python 3 features and version 2 of the format.",
    "The Boeing 737 planes and the Windows 11 users are in the text.",
    "It costs $5 or 12 euros, with 3.5 percent on top.",
    "The file has 5 MB and the image is 300 px wide.",
    "1. Read the text.\n2. Answer the question.",
    'Answer with "3 words" and with `5 lines` of the code.',
    "Summarize the review below.\n\nReview: I bought 3 shirts and 2 hats.",
    "Summarize the text.\n\nText:\nThe shop sold 3 shirts to 2 customers.",
    "| name | count |\n|---|---|\n| the shirts | 3 items |\n",
    "Answer with 0 for the spam or 1 for the rest.",
    "Fasse den Text in 3 Sätzen zusammen und antworte auf Deutsch.",
    "There are two hundred words in the text, or 7 million people.",
    "Which one is the best of them? Name one of the labels.",
    "Use a two-column table and a 12-word title for the text.",
    "Multiply 3 by 4 and give the result.",
    "Divide 12 by the sides of it and ask the Jackson 5 fans.",
    "The review has 3 of 5 points on a scale of 1 to 10 points.",
    "The GPT 4 models and the Section 3 rules are in the text.",
]  # fmt: skip
GROUPED = [
    ("The shop has 12000 users in the town.", {"The shop has 12,000 users in the town."}),
    ("The shop has 12,000 users in the town.", {"The shop has 12000 users in the town."}),
    ("Answer in at most 1000 words.", {"Answer in at most 1,000 words."}),
    ("Answer in at most 1,000 words.", {"Answer in at most 1000 words."}),
    ("The loan is $250000 in total.", {"The loan is $250,000 in total."}),
    ("The loan is $1,250,000 in total.", {"The loan is $1250000 in total."}),
    ("A city of 1234567 people is in the text.", {"A city of 1,234,567 people is in the text."}),
    ("The price of the house was $12,000.50 in the end.", {"The price of the house was $12000.50 in the end."}),
    ("If the refund is above 10000 dollars, ask the manager.", {"If the refund is above 10,000 dollars, ask the manager."}),
]  # fmt: skip
NOT_GROUPED = [
    "In the year 2024 the shop had many users.",
    "The ticket 123456 is about the order 7654321.",
    "The id is 12345 and the zip code is 90210.",
    "Call the number 5551234 or write to the box 10022.",
    "The code 00123 tickets are closed by the team.",
    "Choose the point (1,200) or the pair 3,400.",
    "Use the format 2024-07-24 and the time 10:30.",
    'Answer with "12000 users" or with `12,000 words`.',
    "Summarize the review.\n\nReview: They have 12000 users in the town.",
    "Die Stadt hat 12.000 Einwohner und der Text hat 12000 Wörter.",
    "The years were 1000 and 2000 for the two kings.",
    "Account 99887 holders and invoice 12345 items are in the list.",
    "The number 12,34,567 users is not in the text.",
    "The 2024 elections and the 1850 prices are in the text.",
]  # fmt: skip
SPACED = [
    ("Use a+b=c. The last line has the form h = N m.", {"Use a + b = c. The last line has the form h = N m."}),
    ("Is 2+3=5 right?", {"Is 2 + 3 = 5 right?"}),
    ("Is 2 + 3 = 5 right?", {"Is 2+3=5 right?"}),
    ("Solve x^2+3x=7 for x.", {"Solve x^2 + 3x = 7 for x."}),
    ("Solve 3x - 4 = 11 for x.", {"Solve 3x-4=11 for x."}),
    ("Solve 2x=-5 now.", {"Solve 2x = -5 now."}),
    ("Solve $x^2+3x=7$ for x.", {"Solve $x^2 + 3x = 7$ for x."}),
    (r"Show that $\alpha + \beta = 7$ holds.", {r"Show that $\alpha+\beta=7$ holds."}),
    (r"Solve \(a+b=2\) now.", {r"Solve \(a + b = 2\) now."}),
    ("Compute 4 * 5 now.", {"Compute 4*5 now."}),
    ("Is f(x)>=0 or x<3 true?", {"Is f(x) >= 0 or x<3 true?", "Is f(x)>=0 or x < 3 true?", "Is f(x) >= 0 or x < 3 true?"}),
    ("Let x=1e-5 now.", {"Let x = 1e-5 now."}),
    ("Compute 10-3=7 now.", {"Compute 10 - 3 = 7 now."}),
]  # fmt: skip
NOT_SPACED = [
    "Solve it. The last line has the form h = N m.",
    "Write every step as an equation like this: 6 * 20 = 120.",
    "Finish with the line that shows the result, in the format gcd = N.",
    "Answer with x = 3 or y = 4.",
    "The last line must be:\nh = 4 m",
    "Use temperature=0.7 and max_tokens=200 for the call.",
    "Write key=value pairs and nothing else.",
    "Read the code `x=1+2` and the fence\n```python\nx=1+2\n```\n",
    r"Show that $\text{rate}+1=2$ holds.",
    r"Look at $\hspace{-1em}x+1$ in the text.",
    "Copy 2+3=5 verbatim into the answer.",
    "Use the range 3-5 and the date 2024-07-24.",
    "Is and/or fine? It costs $5 to $7.",
    'The text "2+3=5" is quoted.',
    "Compute 2 * 3 * 4 now.",
    "Count the spaces in 2+3=5 for me.",
    "Compute 2**10 and n! now.",
]  # fmt: skip
MADE = [("number-spelling", *each) for each in SPELLED]
MADE += [("number-grouping", *each) for each in GROUPED]
MADE += [("equation-spacing", *each) for each in SPACED]
KEPT = [("number-spelling", each) for each in NOT_SPELLED]
KEPT += [("number-grouping", each) for each in NOT_GROUPED]
KEPT += [("equation-spacing", each) for each in NOT_SPACED]


@pytest.mark.parametrize(("name", "text", "expected"), MADE)
def test_the_same_quantity_is_written_otherwise(name: str, text: str, expected: set[str]) -> None:
    assert made_by(name, text) == expected


@pytest.mark.parametrize(("name", "text"), KEPT)
def test_what_is_no_plain_quantity_stays(name: str, text: str) -> None:
    assert made_by(name, text) == set()


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=lambda each: each.name)
def test_without_known_kinds_nothing_is_touched(operator) -> None:
    text = "Is 2+3=5 right for 12000 users in 3 sentences?"
    spans = [(start, end) for start, end, _ in as_prompt(text).spans]
    assert list(operator.proposals(Draft(text, spans), Rng(b"key", "purpose"))) == []


@given(st.integers(1, 100))
def test_spelling_a_number_and_reading_it_are_inverse(number: int) -> None:
    assert number_in(spelled(number)) == number


def test_words_that_are_no_numbers_are_not_read() -> None:
    assert [
        number_in(each) for each in ("twenty-eleven", "one-paragraph", "ten-five", "hundred", "", "tenth")
    ] == [None] * 6


def value_of(text: str) -> str:
    """The prompt with every number word as digits and no grouping: what these operators may not change."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return re.sub(r"[A-Za-z]+(?:-[A-Za-z]+)?", lambda m: str(number_in(m[0].lower()) or m[0].lower()), text)


@pytest.mark.parametrize("name", ["number-spelling", "number-grouping"])
@pytest.mark.parametrize("text", [*PROMPTS, *(text for text, _ in SPELLED + GROUPED)])
def test_the_value_of_every_number_stays(name: str, text: str) -> None:
    for after in made_by(name, text, seeds=3, most=4):
        assert value_of(after) == value_of(text)


@pytest.mark.parametrize("text", [*PROMPTS, *(text for text, _ in SPACED)])
def test_spacing_changes_spaces_only(text: str) -> None:
    for after in made_by("equation-spacing", text):
        assert after.replace(" ", "") == text.replace(" ", "")


@given(text=TEXTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_everything_else_stays_whatever_the_prompt(text: str) -> None:
    for name in OPERATORS:
        for after in made_by(name, text, seeds=1, most=2):  # checks the edits
            assert after != text


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=lambda each: each.name)
def test_the_example_is_true(operator) -> None:
    before, after = operator.example
    assert after in made_by(operator.name, before, seeds=40, most=20)
    assert operator.dimension == "math"
    assert not operator.default


def test_intensity_counts_places() -> None:
    text = "Write 3 sentences, 4 questions, 5 titles and 6 reasons about the text."
    for count in (1, 2, 3):
        made = made_by("number-spelling", text, most=1, intensity=count)
        assert {4 - len(re.findall(r"\d", after)) for after in made} == {count}


def test_the_first_proposal_takes_all() -> None:
    text = "Write 3 sentences, 4 questions and 5 titles about the text."
    assert made_by("number-spelling", text, most=1) == {
        "Write three sentences, four questions and five titles about the text."
    }


def test_a_plan_holds_them() -> None:
    text = "Is 2+3=5 right for 12000 users in 3 sentences?"
    made = mutate(text, 3, operators=["number-spelling", "number-grouping", "equation-spacing"])
    assert {each.text for each in made} == {
        "Is 2 + 3 = 5 right for 12000 users in 3 sentences?",
        "Is 2+3=5 right for 12,000 users in 3 sentences?",
        "Is 2+3=5 right for 12000 users in three sentences?",
    }
