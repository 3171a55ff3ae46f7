"""Answers of several parts: disclaimers and refusals, data and programs in prose, formulas."""

from __future__ import annotations

import json

import pytest

from pytest_promptfuzz import compare
from pytest_promptfuzz.comparing.mixed_answers import segments
from pytest_promptfuzz.comparing.profiles import profile_for
from pytest_promptfuzz.comparing.reading.asides import disclaims, leads_to_block, read_asides
from pytest_promptfuzz.comparing.values.formulas import formulas, key_of, result

DISCLAIMERS = [
    ("I'm not a lawyer, but {}", ""),
    ("As an AI language model, I can't give medical advice. That said, {}", ""),
    ("I apologize for the confusion. {}", ""),
    ("I cannot access real-time data, but {}", ""),
    ("Sure! While I can't offer legal advice, {}", ""),
    ("**Disclaimer:** I am an AI, not a doctor.\n\n{}", ""),
    ("{}", " Please note that this is general information and no substitute for professional advice."),
    ("{}", "\n\n---\n*This is not legal advice.*"),
    ("{}", " (This is for informational purposes only.) Let me know if you have questions!"),
]
ANSWER = "the notice period is three months, and it begins on the first day of the month after the letter."
JSON = json.dumps({"total": 12, "currency": "EUR", "items": ["lamp", "desk"], "paid": False})


@pytest.mark.parametrize(("before", "behind"), DISCLAIMERS)
def test_a_disclaimer_is_taken_off(before, behind) -> None:
    text = before.format(ANSWER) + behind
    assert read_asides(text).substance == ANSWER
    assert read_asides(text).disclaimed


@pytest.mark.parametrize(("before", "behind"), DISCLAIMERS)
@pytest.mark.parametrize("on_both", [True, False])
def test_a_disclaimer_changes_no_outcome(before, behind, on_both) -> None:
    def framed(answer: str) -> str:
        return before.format(answer) + behind

    first = framed(ANSWER) if on_both else ANSWER
    assert compare(first, framed(ANSWER), task="generation", semantic=False).outcome == "equivalent"
    changed = framed(ANSWER.replace("three", "two"))
    assert compare(first, changed, task="generation", semantic=False).outcome == "deviation"


@pytest.mark.parametrize(
    "sentence",
    [
        "You need not consult a professional.",
        "You should consult a lawyer before you sign.",
        "The model costs 12 EUR.",
        "I'm sorry, but the parcel is lost.",
        "My advice is to wait.",
        "",
    ],
)
def test_what_is_no_disclaimer(sentence) -> None:
    assert not disclaims(sentence)


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ("I can't help with that.", "As an AI language model, I can't give medical advice.", "equivalent"),
        ("I can't help with that. It would be illegal.", "I'm unable to assist with this.", "equivalent"),
        ("The dose is 500 mg.", "I'm sorry, but I can't help with that.", "deviation"),
        ("The dose is 500 mg.", "As an AI, I can't give medical advice.", "deviation"),
        ("The dose is 500 mg.", "I can't help with doses, but you could ask at a pharmacy.", "deviation"),
        (
            "I can't share his address, but he arrives on Monday at the station.",
            "I can't share his address, but he arrives on Tuesday at the station.",
            "deviation",
        ),
        (
            "Unfortunately I can't come on Friday, since I have to work.",
            "Unfortunately I can't come on Monday, since I have to work.",
            "deviation",
        ),
    ],
)
def test_a_refusal_is_a_part(first, second, outcome) -> None:
    assert compare(first, second, semantic=False).outcome == outcome
    assert compare(second, first, semantic=False).outcome == outcome


def test_without_the_guard_a_refusal_decides_nothing() -> None:
    profile = profile_for("free", guards=["numbers"])
    found = compare("The dose is 500 mg.", "I can't help with that.", profile=profile, semantic=False)
    assert found.reason != "guard:refusal"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Nothing but prose [1], see [the docs](https://example.org).", ["prose"]),
        (f"Here:\n```json\n{JSON}\n```\nDone.", ["prose", "data", "prose"]),
        (f"The order {JSON} is open.", ["prose", "data", "prose"]),
        ("Python writes {'paid': True, 'total': 12}", ["prose", "data"]),
        ("```yaml\na: 1\nb: x\n```", ["data"]),
        ("See:\n<order><id>7</id><item><n>3</n></item></order>", ["prose", "data"]),
        ("Run it:\n```bash\nls -l\n```", ["prose", "program"]),
        ("```\nSELECT a FROM t WHERE n > 3\n```", ["query"]),
        ('I look it up.\nget_weather(city="Oslo")', ["prose", "program"]),
        ("Read:\nTotal: 12 EUR\nDue: 3 May 2024\n\nBye.", ["prose", "fields", "prose"]),
        ("```json\n{broken\n```", ["program"]),
    ],
)
def test_segments(text, kinds) -> None:
    assert [each.kind for each in segments(text)] == kinds


@pytest.mark.parametrize(
    ("first", "second", "outcome", "explanation"),
    [
        (
            f"Here is the data:\n{JSON}",
            f"Sure! Below is the JSON:\n```json\n{JSON}\n```",
            "equivalent",
            "by value",
        ),
        (
            f"Here is the data:\n{JSON}",
            f"Here is the data:\n{JSON.replace('12', '14')}",
            "deviation",
            "JSON differs at $.total",
        ),
        (f"It is 3 days late. {JSON}", f"It is 5 days late. {JSON}", "deviation", "in the prose: number 3"),
        (f"Data: {JSON}", JSON, "minor", "other text stands around it"),
        (
            "Set:\n```yaml\na: 1\nb: x\n```",
            "Set:\n```yaml\nb: x\na: 2\n```",
            "deviation",
            "YAML differs at $.a",
        ),
        (
            "Get:\n<o><i><id>7</id></i></o>",
            "Get:\n<o><i><id>8</id></i></o>",
            "deviation",
            "XML differs at $.o.i.id",
        ),
        ('I look.\nget(city="Oslo")', 'I look.\nget(city="Rome")', "deviation", "Oslo"),
        (
            "Run:\n```python\nprint(1+1)\n```",
            "Run:\n```python\nprint(1 + 1)\n```",
            "equivalent",
            "syntax tree",
        ),
        ("Run:\n```python\nprint(1+1)\n```", "Run:\n```python\nprint(1-1)\n```", "deviation", "+ became -"),
        (
            "Ask:\n```sql\nSELECT a FROM t WHERE n > 3\n```",
            "Ask:\n```sql\nSELECT a FROM t WHERE n < 3\n```",
            "deviation",
            "> became <",
        ),
        ("Read:\nTotal: 12 EUR\nDue: 3 May 2024", "Read:\nDue: 2024-05-03\nTotal: €12", "equivalent", ""),
        (
            "Read:\nTotal: 12 EUR\nState: open",
            "Read:\nState: open\nTotal: 21 EUR",
            "deviation",
            "total: '12 EUR' became '21 EUR'",
        ),
        (
            f"Before:\n{JSON}\nAfter:\n[1, 2]",
            f"Before:\n{JSON}\nAfter:\n[1, 3]",
            "deviation",
            "in JSON 2 of 2",
        ),
    ],
)
def test_parts_in_prose(first, second, outcome, explanation) -> None:
    found = compare(first, second, task="generation", semantic=False)
    assert found.outcome == outcome, found
    assert explanation in found.explanation


def test_prose_beside_the_json_that_a_task_asks_for_is_talk() -> None:
    first, second = (f"{talk}\n{JSON}" for talk in ("The clerk was friendly.", "It rained in the afternoon."))
    assert compare(first, second, task="extraction", semantic=False).outcome == "minor"
    assert (
        compare(first, second.replace("12", "13"), task="extraction", semantic=False).outcome == "deviation"
    )


def test_what_leads_to_a_block() -> None:
    assert leads_to_block("I've extracted the requested fields below.")
    assert leads_to_block("Let me know if you need anything else!")
    assert not leads_to_block("No field of the invoice is missing:")
    assert not leads_to_block("The invoice of Ada Lund:")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("x²", "x^2"),
        (r"$\frac{1}{2}$", "1/2"),
        (r"\boxed{12}", "12"),
        ("2(x + 1)", "2x + 2"),
        ("y = 2x + 1", r"\(1 + 2x = y\)"),
        ("√16", "4"),
        ("x > 3", "3 < x"),
        ("3 x 4", "3 × 4"),
        ("1,200", "1200"),
    ],
)
def test_equal_formulas(one, two) -> None:
    assert key_of(one) == key_of(two) is not None


@pytest.mark.parametrize(
    ("one", "two"), [("3x - 4", "3x + 4"), ("x > 3", "x < 3"), ("x = 4", "x = 5"), ("x²", "2x")]
)
def test_other_formulas(one, two) -> None:
    assert key_of(one) != key_of(two)
    assert compare(one, two, semantic=False).outcome == "deviation"


@pytest.mark.parametrize(
    "text",
    [
        "We pay $5 and $6.",
        "It takes 10 - 12 days.",
        "See page?a=1&b=2 for the x-ray of T-1000.",
        "The plan runs 24/7, from 2024-03-05.",
    ],
)
def test_what_is_no_formula(text) -> None:
    assert formulas(text) == ()


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (
            "3x = 12, so x = 12 / 3 = 4.\n\nAnswer: 4",
            "Divide by 3: 3x / 3 = 12 / 3.\n\\boxed{4}",
            "equivalent",
        ),
        ("3 * 4 = 12 and 12 + 5 = 17.", "We multiply: 3 * 4 = 12. Then 12 + 5 = 16.", "deviation"),
        (
            "The slope of the curve is 3x² - 4 there.",
            "The slope of the curve is 3x^2 - 4 there.",
            "equivalent",
        ),
        (
            "The slope of the curve is 3x² - 4 there.",
            "The slope of the curve is 3x^2 + 4 there.",
            "deviation",
        ),
    ],
)
def test_formulas_in_answers(first, second, outcome) -> None:
    assert compare(first, second, semantic=False).outcome == outcome


def test_a_result_ends_a_calculation() -> None:
    assert result("The total is 12.") is None
    assert result("3 * 4 = 12. Half of it, 12 / 2 = 6, is paid, and the rest is due on Monday.") is None


LIST = "\n- it is cheap\n- it is new\n- the shop is near"
DATA = '\n```json\n{"name": "Ann", "guests": 3}\n```'


@pytest.mark.parametrize(
    ("first", "second", "outcome", "explanation"),
    [
        (
            "Here are the reasons to accept:" + LIST,
            "Here are the reasons to reject:" + LIST,
            "deviation",
            "'reject'",
        ),
        ("Here are all the files:" + LIST, "Here are some of the files:" + LIST, "deviation", "'some'"),
        (
            "Here are the plants of June:" + LIST,
            "Here are the plants of our garden:" + LIST,
            "undecided",
            "'garden'",
        ),
        (
            "Here is the dose for adults: 20 mg",
            "Here is the dose for children: 20 mg",
            "deviation",
            "'children'",
        ),
        ("The guests who accepted:" + DATA, "The guests who declined:" + DATA, "deviation", "'declined'"),
        ("Lunch:\nStarter: soup\nMain: fish", "Dinner:\nStarter: soup\nMain: fish", "deviation", "'dinner'"),
        (
            'First run:\n```json\n{"ok": 4}\n```\nSecond run:\n```json\n{"ok": 7}\n```',
            'Second run:\n```json\n{"ok": 4}\n```\nFirst run:\n```json\n{"ok": 7}\n```',
            "deviation",
            "'first' in the baseline became 'second'",
        ),
        (
            "Here are the users who paid:" + LIST,
            "Here are the users who haven't paid:" + LIST,
            "deviation",
            "haven't",
        ),
        ("The items that we accept:" + DATA, "The items that we don't accept:" + DATA, "undecided", "don't"),
        ("Here are the best options:" + LIST, "Here are the worst options:" + LIST, "deviation", "'worst'"),
        ("Sure! Here's a summary:" + LIST, "Here are the key points:" + LIST, "equivalent", "introduction"),
        ("Here is the list of edible plants:" + LIST, LIST.strip(), "equivalent", ""),
        ("Here's the JSON:" + DATA, "Sure, the extracted data is below:" + DATA, "equivalent", "JSON"),
        ("Hier ist die Zusammenfassung:" + LIST, "Das Ergebnis lautet:" + LIST, "equivalent", ""),
    ],
)
def test_introductions_that_announce_other_things(
    first: str, second: str, outcome: str, explanation: str
) -> None:
    for task in ("generation", "free"):
        found = compare(first, second, task=task, semantic=False)
        assert found.outcome == outcome, found
        assert explanation in found.explanation


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1200 mg", "The most you may take is 1200 mg in a day. See a doctor if the pain lasts longer."),
        ("Yes.", "Yes, you may. See a doctor if the pain lasts longer."),
        ("Take it with food.", "Take it with food. See a doctor if the pain lasts longer than three days."),
    ],
)
def test_an_answer_that_also_names_a_doctor_evades_nothing(first: str, second: str) -> None:
    assert compare(first, second, task="generation", semantic=False).outcome != "deviation"
