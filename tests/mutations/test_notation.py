"""Changes of notation that studies of brittleness (S4) and searches (S3) use: what is made of real prompts."""

from __future__ import annotations

import ast
import re
from itertools import islice

import pytest
from mutation_samples import draft_of

from pytest_promptfuzz import mutate
from pytest_promptfuzz.comparing.formats.code import under_renaming
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.registry import builtin, find
from pytest_promptfuzz.mutations.operators.identifiers import renaming_of
from pytest_promptfuzz.randomness import Rng, root_key

LETTER = """Read the message of the customer carefully and describe the main problem in one sentence. Do not guess the reason
for the delay if the message does not mention it."""


def made_by(operator: str, text: str, most: int = 8) -> list[str]:
    each = find(operator)
    draft = draft_of(text)
    rng = Rng(root_key(5, text), each.id, intensity=each.intensity)
    found = []
    for edits in islice(each.proposals(draft, rng), most):
        check_edits(edits, len(text), draft.protected(each.touches), source=operator)
        found.append(apply_edits(text, edits))
    return found


# Fields.


def test_the_colon_of_all_fields_is_written_otherwise() -> None:
    text = "Name the mood.\n\nText: {text}\nAuthor of it: {author}\n\nNote: be brief."
    made = made_by("field-separators", text)
    assert made[0] == "Name the mood.\n\nText - {text}\nAuthor of it - {author}\n\nNote - be brief."
    assert len(made) == 6
    assert "Name the mood.\n\nText => {text}\nAuthor of it => {author}\n\nNote => be brief." in made
    assert {each.count(" = ") for each in made_by("field-separators:1", text)} == {0, 1}


@pytest.mark.parametrize(
    "text",
    [
        "Text: {text}\nLabel:",
        "Grade {essay}.\n\nUse this format:\nScore: 3\nReason: it is late",
        "Rate.\n\nScore: <1-5>",
        "Text: a\nLabel: b\n\nText: {text}\nLabel:\n\nReturn it.",
        "Name the mood of the text.",
        "See https://a.example/x for more.",
    ],
)
def test_a_cue_and_prose_keep_their_colons(text: str) -> None:
    assert made_by("field-separators", text) == []


# Code.


CODE = """Explain the function.

```python
def net_price(gross_price: float, tax_rate: "float | None" = None, *more: int, é: str = "") -> float:
    item_count: int = len(more)
    def inner(x: int) -> dict[str, int]:
        return {"gross_price": x}
    return gross_price / (1 + tax_rate) + item_count
```"""


def program(text: str) -> str:
    return text.partition("```python\n")[2].partition("\n```")[0]


def test_annotations_of_functions_go() -> None:
    made = made_by("type-removal", CODE)
    assert 'def net_price(gross_price, tax_rate = None, *more, é = ""):' in made[0]
    assert "    def inner(x):\n" in made[0]
    assert "item_count: int = len(more)" in made[0]
    for each in made:
        ast.parse(program(each))
    (one,) = made_by("type-removal:1", CODE, most=1)
    assert (
        program(one).count(": ") == program(CODE).count(": ") - 1
        or "->" not in one.partition("\n    item")[0]
    )


@pytest.mark.parametrize(
    "text",
    [
        CODE.replace("Explain the function.", "Add type hints to the function."),
        CODE.replace("def net_price", "@validate\ndef net_price"),
        "Explain.\n\n```python\nclass A:\n    x: int = 1\n    def f(self, y: int) -> int:\n        return y\n```",
        "Explain.\n\n```python\ndef f(x: int):\n    return f.__annotations__\n```",
        "Explain.\n\n```python\ndef f(x: int\n```",
        "Explain.\n\n```js\nfunction f(x) { return x; }\n```",
    ],
)
def test_annotations_that_may_be_read_stay(text: str) -> None:
    assert made_by("type-removal", text) == []


def test_names_become_camel_case_throughout() -> None:
    made = made_by(
        "camel-case",
        "Explain `total`.\n\n```python\ndef f(all_prices, b):\n    net_sum = sum(all_prices)\n    return net_sum\n```",
    )
    assert program(made[0]) == "def f(allPrices, b):\n    netSum = sum(allPrices)\n    return netSum"
    assert made_by("camel-case", "Explain.\n\n```python\ndef f(a_b):\n    aB = 1\n    return a_b\n```") == []
    assert (
        made_by("camel-case", "Explain.\n\n```python\ndef f(a_b):\n    return a_b\n\n\nf(a_b=1)\n```") == []
    )


def test_an_answer_in_camel_case_is_compared_under_the_old_names() -> None:
    text = "Explain.\n\n```python\ndef f(all_prices):\n    return sum(all_prices)\n```"
    (made,) = plan(text, 1, operators="camel-case").mutations
    assert renaming_of(made) == {"all_prices": "allPrices"}
    assert under_renaming("adds all_prices", "adds allPrices", renaming_of(made)) == "adds all_prices"


# Mathematics.


@pytest.mark.parametrize(
    ("operator", "text", "made"),
    [
        ("equation-latex", "Is 2 × 3 = 6 right?", r"Is $2 \times 3 = 6$ right?"),
        ("equation-latex", "Solve x² + 2 = 6 for x.", "Solve $x^2 + 2 = 6$ for x."),
        ("neutral-operation", "Is 2 + 3 = 5 right?", "Is 2 + 3 + 0 = 5 right?"),
        ("neutral-operation", "Is 2+3=5 right?", "Is 2+3+0=5 right?"),
    ],
)
def test_equations_say_the_same_otherwise(operator: str, text: str, made: str) -> None:
    assert made_by(operator, text, most=1) == [made]


@pytest.mark.parametrize("operator", ["equation-latex", "neutral-operation"])
@pytest.mark.parametrize(
    "text",
    [
        "Copy the equation exactly as written: 2 + 3 = 5",
        "How many characters does 2 + 3 = 5 have?",
        "End with a line of the form x = 5.",
        "Sum up the text.",
    ],
)
def test_equations_whose_form_counts_stay(operator: str, text: str) -> None:
    assert made_by(operator, text) == []


# Words.


def test_letters_are_spaced_as_often_as_asked() -> None:
    for wanted in (1, 2, 3):
        (made,) = made_by(f"letter-spacing:{wanted}", LETTER, most=1)
        assert len(made.split(" ")) > len(LETTER.split(" "))
        assert made.replace(" ", "") == LETTER.replace(" ", "")
        runs = len(re.findall(r"\b(?:\w ){3,}\w\b", made))
        assert runs == wanted


def test_all_stop_words_go_and_what_decides_stays() -> None:
    (made,) = made_by("drop-all-stop-words", LETTER, most=1)
    assert made == (
        "Read message customer carefully and describe main problem one sentence. not guess reason\n"
        "delay if message not mention it."
    )
    some = mutate(LETTER, 1, operators="drop-all-stop-words:2")[0].text
    assert len(LETTER.split()) - len(some.split()) == 2


def test_words_are_inflected_otherwise() -> None:
    made = {word for text in made_by("inflection", LETTER) for word in text.split()} - {*LETTER.split()}
    assert {"problems"} <= made or {"describes"} <= made or {"customers"} <= made
    assert all(word.strip(".").isalpha() for word in made)
    (three,) = made_by("inflection:3", LETTER, most=1)
    assert sum(a != b for a, b in zip(LETTER.split(), three.split(), strict=True)) == 3


@pytest.mark.parametrize("pairs", [1, 2, 5])
def test_quotes_stand_around_as_often_as_asked(pairs: int) -> None:
    made = {each.text for each in mutate("Classify {text} now.", 4, operators=f"pad-quotes:{pairs}")}
    assert '"' * pairs + "Classify {text} now." + '"' * pairs in made
    below = {each.text for each in mutate("Classify: {text}", 2, operators=f"pad-quotes:{pairs}")}
    assert '"""\n' * pairs + "Classify: {text}" + '\n"""' * pairs in below


@pytest.mark.parametrize(
    "name",
    [
        "camel-case", "drop-all-stop-words", "equation-latex", "field-separators", "inflection", "letter-spacing",
        "neutral-operation", "option-labels", "option-shuffle", "process-of-elimination", "type-removal",
    ],
)  # fmt: skip
def test_no_plan_draws_on_them_unasked(name: str) -> None:
    assert not builtin()[name].by_default
