"""The same words in another arrangement: who changed places with whom, and which moves tell nothing."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import compare
from pytest_promptfuzz.comparing.claims.arrangement import arranged
from pytest_promptfuzz.comparing.reading.answer import read

EXCHANGED = [
    ("The finance team approves requests from the sales team.", "finance", "sales"),
    (
        "You must rotate the keys before you deploy the new version.",
        "rotate the keys",
        "deploy the new version",
    ),
    ("Plan B is cheaper than Plan A but takes two weeks longer.", "Plan B", "Plan A"),
    ("The nurse reports to the doctor on duty, who informs the ward manager.", "nurse", "doctor on duty"),
    ("The invoice lists 40 chairs and, for the terrace at the back, 25 tables.", "40", "25"),
    ("Use the red cable for power and the blue cable for data.", "red", "blue"),
    ("If the payment fails, the order is cancelled.", "the payment fails", "the order is cancelled"),
    ("The short report summarises a long interview with the former director.", "short", "long"),
    ("We heard that sales drop in the north because shops close.", "sales drop in the north", "shops close"),
    ("The parcel moved from Leeds to York within a day.", "Leeds", "York"),
    ("The parcel moved from Leeds to York within a day.", "from", "to"),
    ("It was designed by Martin Pilchner and supervised by Zach Hancock.", "Martin Pilchner", "Zach Hancock"),
    ("She was born in Cyprus in 1943 and moved to London at the age of 16.", "Cyprus", "London"),
    ("Anna was asked about Berlin, Ben about Madrid and Lisbon.", "Berlin", "Madrid"),
]


def _with_places_changed(text: str, first: str, second: str) -> str:
    return text.replace(first, "\0").replace(second, first).replace("\0", second)


@pytest.mark.parametrize(("text", "first", "second"), EXCHANGED)
def test_two_that_changed_places_are_a_deviation_that_names_them(text: str, first: str, second: str) -> None:
    other = _with_places_changed(text, first, second)
    for found in (compare(text, other, semantic=False), compare(other, text, semantic=False)):
        assert found.outcome == "deviation"
        assert "changed places" in found.explanation


def test_a_date_that_moved_as_well_hides_no_exchange() -> None:
    found = compare(
        "Paul Ortega was hired by Marie Duval in May 1954, after the flood had damaged the bridge in Lyon.",
        "In May 1954, after the flood had damaged the bridge in Lyon, Marie Duval was hired by Paul Ortega.",
        semantic=False,
    )
    assert (found.outcome, found.explanation) == (
        "deviation",
        "'Paul Ortega' and 'Marie Duval' changed places",
    )


SAME = [
    (
        "In 2019, the company opened a new plant in Gdansk.",
        "The company opened a new plant in Gdansk in 2019.",
    ),
    ("The committee approved the budget on Tuesday.", "The budget was approved by the committee on Tuesday."),
    (
        "If the payment fails, the order is cancelled automatically.",
        "The order is cancelled automatically if the payment fails.",
    ),
    (
        "The package has a charger, a cable and a case.",
        "The package has a case, a cable and a charger.",
    ),
    ("The meeting is on Friday at 10 am in room 4.", "The meeting is in room 4 on Friday at 10 am."),
    ("The museum's oldest painting is in Vienna.", "The oldest painting of the museum is in Vienna."),
    ("The roof was repaired by a local firm in March.", "In March, a local firm repaired the roof."),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_what_moved_freely_says_the_same(first: str, second: str) -> None:
    assert compare(first, second, semantic=False).outcome == "equivalent"
    assert compare(second, first, semantic=False).outcome == "equivalent"


HARMLESS = [
    (
        "The mayor of the town opened the new library on Saturday with a short and rather funny speech.",
        "The new library was opened by the mayor of the town on Saturday with a short and rather funny speech.",
    ),
    ("Anna Keller married Tom Reyes in Rome.", "Tom Reyes married Anna Keller in Rome."),
    (
        "It is played on indie music and alternative music.",
        "It is played on alternative music and indie music.",
    ),
    ("We drove from Leeds to York in 47 minutes.", "In 47 minutes, we drove to York from Leeds."),
    ("The Nile is longer than the Rhine.", "The Rhine is shorter than the Nile."),
    (
        "Payment is released only after all approvals are in place.",
        "Only after all approvals are in place is payment released.",
    ),
    (
        "He worked at the office in Leeds and later in York.",
        "He worked in the office at Leeds and later in York.",
    ),
]


@pytest.mark.parametrize(("first", "second"), HARMLESS)
def test_a_move_that_may_tell_nothing_is_no_deviation(first: str, second: str) -> None:
    assert compare(first, second, semantic=False).outcome != "deviation"
    assert compare(second, first, semantic=False).outcome != "deviation"


NOT_FREE = [
    (
        "In 1990 he moved to Rome, and in Oslo he wrote a book.",
        "He moved to Rome, and in 1990 in Oslo he wrote a book.",
    ),
    ("The man with the dog saw the boy.", "The man saw the boy with the dog."),
]


@pytest.mark.parametrize(("first", "second"), NOT_FREE)
def test_what_may_belong_to_something_else_where_it_stands_now_is_not_equivalent(
    first: str, second: str
) -> None:
    assert compare(first, second, semantic=False).outcome != "equivalent"
    assert compare(second, first, semantic=False).outcome != "equivalent"


TURNED = [
    ("Fatigue was the most common complaint.", "The most common complaint was fatigue."),
    (
        "The blue hose goes to inlet C and the green hose to inlet D.",
        "The green hose goes to inlet D and the blue hose to inlet C.",
    ),
    (
        "If the tank is full, stop; if it is empty, call the driver.",
        "If it is empty, call the driver; if the tank is full, stop.",
    ),
    (
        "East of the harbour lies the market, and west of it lies the mill.",
        "The market lies east of the harbour, and the mill lies west of it.",
    ),
    (
        "It keeps well because the thick wax on the rind is less porous than cloth.",
        "It keeps well because the rind's thick wax is less porous than cloth.",
    ),
]


@pytest.mark.parametrize(("first", "second"), TURNED)
def test_who_keeps_the_rest_of_the_clause_changed_no_place(first: str, second: str) -> None:
    for found in (compare(first, second, semantic=False), compare(second, first, semantic=False)):
        assert found.outcome in {"equivalent", "undecided"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Every captain is an officer.", "Every officer is a captain."),
        ("The market lies east of the harbour.", "The harbour lies east of the market."),
        (
            "The blue hose goes to inlet C and the green hose to inlet D.",
            "The green hose goes to inlet C and the blue hose to inlet D.",
        ),
        (
            "If the tank is full, stop; if it is empty, call the driver.",
            "If the tank is empty, stop; if it is full, call the driver.",
        ),
    ],
)
def test_who_left_the_rest_of_the_clause_changed_places(first: str, second: str) -> None:
    for found in (compare(first, second, semantic=False), compare(second, first, semantic=False)):
        assert found.outcome == "deviation"
        assert "changed places" in found.explanation


def test_cells_of_a_table_are_no_clauses() -> None:
    rows = "| Stall | Sales | Change |\n|---|---|---|\n| Fish | €48m | +6% |\n| Bread | €31m | -4% |"
    other = _with_places_changed(rows, "€48m", "€31m")
    assert arranged(read(rows), read(other)).exchanged() == ("€48", "€31")
