"""One value in another notation, a denial in a prefix, and what is shown of either."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import compare


def found(baseline: str, response: str):
    return compare(baseline, response, task="generation", semantic=False, entailment=False)


@pytest.mark.parametrize(
    ("baseline", "response", "outcome"),
    [
        ("1/4", "25%", "equivalent"),
        ("1/4", "30%", "deviation"),
        ("a dozen eggs", "12 eggs", "equivalent"),
        ("a dozen eggs", "10 eggs", "deviation"),
        ("in the 19th century", "in the nineteenth century", "equivalent"),
        ("in the 18th century", "in the nineteenth century", "deviation"),
        ("Sodium", "Na", "equivalent"),
        ("Potassium", "Na", "deviation"),
        ("Carbon dioxide", "CO2", "undecided"),
        ("France", "US", "deviation"),
        ("World War II", "the Second World War", "equivalent"),
        ("World War I", "the Second World War", "undecided"),
        ("Dr. Elena Ruiz", "Elena Ruiz", "equivalent"),
        ("Dr. Ruiz", "Mr. Ruiz", "deviation"),
        ("The salt is soluble in water.", "The salt is insoluble in water.", "deviation"),
        ("The ring is valuable.", "The ring is invaluable.", "undecided"),
        ("The gas is flammable.", "The gas is inflammable.", "undecided"),
    ],
)
def test_outcomes(baseline, response, outcome) -> None:
    assert found(baseline, response).outcome == outcome


@pytest.mark.parametrize(
    ("baseline", "response", "said"),
    [
        ("It takes about 20 minutes.", "It takes exactly 20 minutes.", "'about' in the baseline became 'exactly'"),
        (
            "The shop closes at 7 pm on Friday.",
            "The shop closes at 8 pm on Friday.",
            "number 7 pm in the baseline became 8 pm",
        ),
        (
            "It takes 20 minutes to bake the potatoes.",
            "It does not take 20 minutes to bake the potatoes.",
            "only the response says 'not take 20 minutes'",
        ),
        ("The defendant appealed", "The defendant withdrew", "'The defendant appealed' became 'The defendant withdrew'"),
    ],
)  # fmt: skip
def test_words_are_shown_as_they_are_written(baseline, response, said) -> None:
    assert said in found(baseline, response).explanation
