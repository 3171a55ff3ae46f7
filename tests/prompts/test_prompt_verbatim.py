"""What a model must write to the letter, though it stands in no quotes."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.prompts.cues import Words
from pytest_promptfuzz.prompts.spans import protected_spans, verbatim_spans


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("If unsure, write exactly: I don't know yet. Then stop.", ["I don't know yet."]),
        ("Reply word for word: thank you\nNo more.", ["thank you"]),
        ("If the customer is angry, write HANDOVER and stop.", ["HANDOVER"]),
        ("Otherwise answer only NO REFUND.", ["NO REFUND"]),
        ("Respond with OUT_OF_SCOPE if it is not.", ["OUT_OF_SCOPE"]),
        ("The first line is date,meter,kwh and nothing else.", ["date,meter,kwh"]),
        ('Use material="unknown" where it is missing.', ['material="unknown"']),
        ("Start with SELECT * and filter.", ["SELECT *"]),
        ("Improve SELECT name, age FROM users please.", ["SELECT name, age FROM users"]),
        ("Data:\nMain\t12.5\nHeat pump\t7 est.\n\nDone.", ["Main\t12.5", "Heat pump\t7 est."]),
        ("Data:\r\nMain\t12\r\nPump\t7\r\n", ["Main\t12", "Pump\t7"]),
        # What announces nothing.
        ("Write a summary, answer politely, and return the book.", []),
        ("WRITE A SUMMARY OF THE TEXT AND STOP.", []),
        ("Return JSON. Reply ASAP, and answer ONLY in English.", []),
        ("You must do exactly this: and nothing", ["and nothing"]),
        ("It is exactly five o'clock: time for tea.", []),
        ("red, green and blue, or a,b", []),
        ("\tAn indented line\n\tand another", []),
        ("One\ttab alone.\n\nAnother\ttab alone.", []),
        ("Select all the names from the users.", []),
        ("", []),
    ],
)
def test_verbatim(text: str, kept: list[str]) -> None:
    assert [text[start:end] for start, end, _ in verbatim_spans(text, Words(text))] == kept
    spans = [(start, end) for start, end, _ in protected_spans(text)]
    for each in kept:
        start = text.index(each)
        assert any(a <= start and start + len(each) <= b for a, b in spans), each


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("A bag of 55 x 40 x 20 cm at most.", "55 x 40 x 20 cm"),
        ("A screw of 4 × 40 mm.", "4 × 40 mm"),
        ("A battery of 100 Wh is fine.", "100 Wh"),
        ("Round to 2 decimals.", "2 decimals"),
        ("Use 3 decimal places.", "3 decimal places"),
    ],
)
def test_measures(text: str, number: str) -> None:
    assert number in [text[start:end] for start, end, _ in protected_spans(text)]
