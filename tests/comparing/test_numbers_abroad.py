"""Number words of other languages against digits."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.judging.compare import compare


@pytest.mark.parametrize(
    ("first", "second", "other"),
    [
        (
            "Il biglietto costa 12 euro e vale due ore.",
            "Il biglietto costa dodici euro e vale 2 ore.",
            "tredici",
        ),
        ("Il viaggio dura 16 giorni.", "Il viaggio dura sedici giorni.", "diciassette"),
        ("La stanza costa 28 euro.", "La stanza costa ventotto euro.", "ventuno"),
        ("El curso dura 14 semanas.", "El curso dura catorce semanas.", "dieciocho"),
        ("El museo tiene 22 salas.", "El museo tiene veintidós salas.", "veintitrés"),
        ("Das Haus hat 17 Zimmer.", "Das Haus hat siebzehn Zimmer.", "achtzehn"),
        ("Der Zug hat 43 Sitze.", "Der Zug hat dreiundvierzig Sitze.", "vierunddreißig"),
        ("De reis duurt 14 dagen.", "De reis duurt veertien dagen.", "dertien"),
        ("De bus heeft 52 stoelen.", "De bus heeft tweeënvijftig stoelen.", "drieënvijftig"),
        ("O bilhete custa 18 euros.", "O bilhete custa dezoito euros.", "dez"),
        ("Le stage dure 13 jours.", "Le stage dure treize jours.", "seize"),
    ],
)
def test_words_and_digits(first: str, second: str, other: str) -> None:
    here, there = first.split(), second.split()
    at = next(index for index, (one, two) in enumerate(zip(here, there, strict=True)) if one != two)
    altered = " ".join([*there[:at], other, *there[at + 1 :]])
    for one, two in ((first, second), (second, first)):
        found = compare(one, two, task="free")
        assert found.outcome == "equivalent", found.explanation
    for one, two in ((first, altered), (altered, first), (second, altered), (altered, second)):
        found = compare(one, two, task="free")
        assert found.outcome == "deviation", (one, two, found.explanation)


def test_what_is_due_is_no_number() -> None:
    assert (
        compare("The rent is due on Monday.", "The rent is 2 on Monday.", task="free").outcome != "equivalent"
    )
