"""The pairs by which the guards were mended: none of them may be judged the wrong way again.

``unseen.jsonl`` was for measuring until it was run; docs/comparison.md has that first contact. It measures no more.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_promptfuzz.comparing.reading.asides import substance
from pytest_promptfuzz.comparing.reading.words import plainly
from pytest_promptfuzz.judging.compare import compare

DATA = Path(__file__).parent / "data"
FILES = (
    "open.jsonl",
    "imagined.jsonl",
    "unseen.jsonl",
    "imagined_second.jsonl",
    "later.jsonl",
    "imagined_third.jsonl",
    "later_second.jsonl",
)
LOOK_ALIKES = {"imagined_third.jsonl", "later_second.jsonl"}
"""Files whose harmless pairs look much like altered ones, or are reworded widely: fewer of them are surely equivalent."""
WRONG = {"altered": "equivalent", "harmless": "deviation"}
RIGHT = {"altered": "deviation", "harmless": "equivalent"}


def judged(name, semantic=None):
    """Every pair of a file with its outcomes both ways."""
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        one, two = pair["a"], pair["b"]
        both = ((one, two), (two, one))
        yield pair, [compare(*way, task=pair["task"], semantic=semantic).outcome for way in both]


def wrong(found, expect):
    return [pair for pair, outcomes in found if pair["expect"] == expect and WRONG[expect] in outcomes]


def right(found, expect):
    of = [outcomes for pair, outcomes in found if pair["expect"] == expect]
    return sum(outcomes == [RIGHT[expect]] * 2 for outcomes in of) / len(of)


@pytest.mark.parametrize("name", FILES)
def test_core(name: str) -> None:
    found = list(judged(name))
    assert wrong(found, "altered") == []
    assert len(wrong(found, "harmless")) <= 0.04 * len(found)
    assert right(found, "altered") >= 0.75
    assert right(found, "harmless") >= (0.4 if name in LOOK_ALIKES else 0.5)


@pytest.mark.minilm
@pytest.mark.parametrize("name", FILES)
def test_with_meaning(name: str, minilm) -> None:
    found = list(judged(name, minilm))
    assert wrong(found, "altered") == []
    assert len(wrong(found, "harmless")) <= 0.04 * len(found)
    assert right(found, "altered") >= 0.75
    assert right(found, "harmless") >= (0.45 if name in LOOK_ALIKES else 0.55)


@pytest.mark.parametrize(
    ("first", "second", "outcome", "explanation"),
    [
        ("You must sign the form here.", "You may sign the form here.", "deviation", "'must'"),
        ("The bank will lower its rates.", "The bank might lower its rates.", "deviation", "'might'"),
        ("The dog bit the man.", "The man was bitten by the dog.", "equivalent", "passive"),
        ("The dog bit the man.", "The dog was bitten by the man.", "deviation", "changed places"),
        (
            "The seller covers shipping. The buyer covers customs.",
            "The buyer covers shipping. The seller covers customs.",
            "deviation",
            "'seller' and 'buyer' changed places",
        ),
        ("Bake it for 90 minutes.", "Bake it for one and a half hours.", "equivalent", ""),
        ("Bake it for 90 minutes.", "Bake it for two and a half hours.", "deviation", ""),
        ("MySQL → PostgreSQL", "PostgreSQL → MySQL", "deviation", ""),
        ("It opens at 3:15 p.m.", "It opens at 15:15.", "equivalent", ""),
        ("It opens at 3:15 p.m.", "It opens at 3:15 a.m.", "deviation", "3:15 p.m"),
        (
            "The key is blue.",
            "Sure! The key is blue. Let me know if you need more help!",
            "equivalent",
            "closing",
        ),
        (
            "The key is blue.",
            "Thanks for asking! I hope this helps you a lot.",
            "deviation",
            "answers nothing",
        ),
        ("Paris is the capital.", "I'd rather not answer that.", "deviation", "declines"),
        ("Run `npm ci` now.", "Run `npm audit` now.", "deviation", "npm ci"),
        ("Present: Ito, Kaya, Bauer", "Present: Ito, Kaya", "deviation", "stops after"),
        (
            "Astellon has bought the firm for cash.",
            "Norvik has bought the firm for cash.",
            "deviation",
            "Astellon",
        ),
        ("Condense the text in three lines.", "Summarise the text in three lines.", "undecided", "Condense"),
        ("The pass has improved.", "The pass has deteriorated.", "deviation", "improved"),
    ],
)
def test_explained(first: str, second: str, outcome: str, explanation: str) -> None:
    found = compare(first, second, task="free")
    assert found.outcome == outcome, found.explanation
    assert explanation in found.explanation


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Great question! It is blue.", "It is blue."),
        ("Here is the result:\n\nIt is blue.\n\nHope this helps!", "It is blue."),
        ("Vielen Dank für Ihre Frage! Er ist blau.", "Er ist blau."),
        ("Sure, you can.", "Sure, you can."),
        ("Thank you", "Thank you"),
        ("Would you like me to go on with the next one?", ""),
        ("It is blue if you like.", "It is blue if you like."),
    ],
)
def test_courtesies_are_set_aside(text: str, left: str) -> None:
    assert substance(text) == left


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("at 3 pm", "at 15:00"),
        ("at 12 am", "at 0:00"),
        ("at half past seven in the evening", "at 19:30"),
        ("on 05.03.2024", "on 5 march 2024"),
        ("the 2nd of May", "the 2 May"),
        ("the 2nd try", "the second try"),
        ("1.000 Euro", "1000 Euro"),
        ("12,50 Euro", "12.50 Euro"),
        ("0.125 and 3.14159", "0.125 and 3.14159"),
        ("1,250 and 10,000", "1,250 and 10,000"),
        ("EUR 20", "20 EUR"),
        ("four out of five", "4/5"),
        ("at noon", "at 12:00"),
        ("the afternoon", "the afternoon"),
    ],
)
def test_notation(text: str, plain: str) -> None:
    assert plainly(text) == plain
