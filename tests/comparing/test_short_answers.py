"""Short answers where no label was asked for: values and names, in whatever form; and what words cannot tell of them."""

from __future__ import annotations

import re

import pytest

from pytest_promptfuzz.comparing.values.aliases import related
from pytest_promptfuzz.judging.compare import compare


@pytest.mark.parametrize("task", [None, "generation"])
@pytest.mark.parametrize(
    ("one", "other", "outcome"),
    [
        ("Don Shula", "Shula, Don", "equivalent"),
        ("the United States", "USA", "equivalent"),
        ("Myanmar", "Burma", "equivalent"),
        ("Beatles", "The Beatles", "equivalent"),
        ("Mt. Everest", "Mount Everest", "equivalent"),
        ("Jell-O", "Jello", "equivalent"),
        ("São Paulo", "Sao Paulo", "equivalent"),
        ("4 May 2024", "May 4th, 2024", "equivalent"),
        ("It was on 4 May 2024.", "It was on May 4th, 2024.", "equivalent"),
        ("twelve", "12", "equivalent"),
        ("$3.10", "$3.1", "equivalent"),
        ("3.10 EUR", "3.1 EUR", "equivalent"),
        ("3.50 %", "3.5 %", "equivalent"),
        ("0.50", "0.5", "equivalent"),
        ("3.10", "3.1", "undecided"),
        ("Use Python 3.10.", "Use Python 3.1.", "deviation"),
        ("Section 2.10", "Section 2.1", "deviation"),
        ("Ubuntu 22.10 runs on all of our machines.", "Ubuntu 22.1 runs on all of our machines.", "deviation"),
        ("Yes.", "Yes, on Sundays.", "undecided"),
        ("Yes.", "Yes, you can, from the age of 18.", "undecided"),
        ("No.", "No, until March.", "undecided"),
        ("Yes.", "Yes, you can.", "equivalent"),
        ("Yes.", "Yes, for sure.", "equivalent"),
        ("No.", "No, not at all.", "equivalent"),
        ("Yes.", "Yes, the store is open.", "equivalent"),
        ("John F. Kennedy", "John Fitzgerald Kennedy", "equivalent"),
        ("JFK", "John F. Kennedy", "equivalent"),
        ("AI", "Artificial Intelligence", "undecided"),
        ("Spanish", "Spain", "minor"),
        ("1982", "April 17, 1982", "minor"),
        ("April 1982", "17 April 1982", "minor"),
        ("1982", "It was released on April 17, 1982.", "minor"),
        ("Paris", "Paris, France", "minor"),
        ("Shula", "Don Shula", "undecided"),
        ("New York", "New York Times", "undecided"),
        ("Spain", "Portugal", "deviation"),
        ("Spanish", "Portugal", "deviation"),
        ("Don Shula", "Shula, Dan", "deviation"),
        ("1982", "April 17, 1983", "deviation"),
        ("May 1982", "June 1982", "deviation"),
        ("4 May 2024", "May 5th, 2024", "deviation"),
        ("JFK", "Lyndon B. Johnson", "deviation"),
        ("Chuck Berry", "The pop star with that name is Chubby Checker.", "deviation"),
    ],
)  # fmt: skip
def test_values_and_names(one: str, other: str, outcome: str, task: str | None) -> None:
    for pair in ((one, other), (other, one)):
        found = compare(*pair, task=task, semantic=False)
        assert found.outcome == outcome, found


@pytest.mark.parametrize(
    ("label", "other", "outcome"),
    [("Spanish", "Spain", "deviation"), ("1982", "April 17, 1982", "deviation"), ("billing", "billing refund", "minor")],
)  # fmt: skip
def test_where_a_label_is_asked_for_the_same_texts_are_labels(label: str, other: str, outcome: str) -> None:
    assert compare(label, other, task="classification").outcome == outcome


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Spam", "Not Spam"),
        ("B", "B) Paris"),
        ("Great 👍", "Great 👎"),
        ("Positive", "Very Positive"),
        ("in", "on"),
    ],
)
def test_what_makes_another_thing_is_no_alias(one: str, other: str) -> None:
    assert related(one, other) is None
    assert related(other, one) is None


@pytest.mark.parametrize(
    ("baseline", "response", "outcome", "said"),
    [
        ("It was released in 1982.", "It was released on April 17, 1982.", "minor", "only the response says '17', 'april'"),
        ("It was released on April 17, 1982.", "It was released in 1982.", "minor", "only the baseline says '17', 'april'"),
        ("Tim Allen played him in the films.", "Tim Allen played him in the old films.", "minor", "'old'"),
        ("Ana and Ben came to dinner today.", "Ana came to dinner today.", "undecided", "'ben'"),
        ("The box holds 12 red pens.", "The box holds red pens.", "undecided", "number 12"),
        ("Members may enter the hall.", "Former members may enter the hall.", "undecided", "'Former'"),
        ("Our chief mentions the plan.", "Our chief explains the plan.", "undecided", "'mentions' in the baseline became 'explains'"),
        ("The Kanawha River flows through Charleston.", "The Kanawha River.", "undecided", "'Charleston'"),
        ("The Kanawha River.", "The Kanawha River flows through Charleston.", "minor", "'flows'"),
        ("Yes.", "You can send it back within a month.", "undecided", "may mean it"),
    ],
)  # fmt: skip
def test_minor_is_what_is_known_to_be_compatible(baseline, response, outcome, said) -> None:
    found = compare(baseline, response, task="generation", semantic=False)
    assert found.outcome == outcome, found
    assert said.casefold() in found.explanation.casefold()
    assert ("would settle it" in found.explanation) == (outcome == "undecided")


@pytest.mark.parametrize(
    ("baseline", "response"),
    [
        ("Je ne sais pas où il habite.", "Je ne sais pas, on ne peut pas venir."),
        ("Les chiens mais pas les chats.", "Les chiens mais pas ceux qui ne sont pas calmes."),
        ("Sales went up in the second quarter.", "Sales went down in the second quarter."),
        ("You must not enter it at night.", "You do not have to enter it at night."),
        ("Passengers have to show a passport.", "Passengers can show a passport."),
    ],
)
def test_explanations_show_words_as_they_are_written(baseline: str, response: str) -> None:
    for pair in ((baseline, response), (response, baseline)):
        found = compare(*pair, task="generation", semantic=False)
        assert found.outcome != "equivalent"
        for quoted in re.findall(r"'([^']+)'", found.explanation.partition("; likeness")[0]):
            assert set(quoted.casefold().split()) <= set(
                re.findall(r"\w+", f"{baseline} {response}".casefold())
            ), found
