"""What answers say of a counterexample that was known before."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.edits import replace
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.results.counterexamples import (
    Counterexample,
    KnownCounterexample,
    Replayed,
    by_status,
    told,
)
from pytest_promptfuzz.wording.evaluations import replayed

MUTATION = Mutation("Rate it.", (replace(0, 4, "Judge"),), ("synonym@1",), "lexical", 0.1, "yes")
FOUND = Counterexample(MUTATION, "0123456789ab", 0, "high", "low", "'high' became 'low'", True, 9, (3, 3))


@pytest.mark.parametrize(
    ("broke", "known", "confirm", "status"),
    [
        ("", (3, 3), False, None),
        ("B", (3, 3), False, "breaks"),
        ("B", (3, 3), True, None),
        ("BB", (3, 3), True, "breaks"),
        ("B", (2, 3), False, None),
        ("BB", (2, 3), False, "breaks"),
        # One answer that passes retires nothing, nor do two of a change that broke now and then before.
        ("P", (3, 3), False, None),
        ("PP", (3, 3), False, "passes"),
        ("PP", (2, 3), False, None),
        ("PPP", (2, 3), False, "passes"),
        ("PPPP", (1, 3), False, None),
        ("PPPPP", (1, 3), False, "passes"),
        ("PPPPP", (1, 9), False, "passes"),
        ("PPPPP", (0, 3), False, "passes"),
        ("PB", (3, 3), False, None),
        ("BP", (3, 3), True, None),
        ("PBB", (3, 3), False, "breaks"),
        ("PBP", (3, 3), False, "varies"),
        ("BPP", (2, 3), True, "varies"),
        ("BPB", (2, 3), True, "breaks"),
    ],
)
def test_both_need_as_many_answers_as_noise_asks_for(broke, known, confirm, status):
    assert told([each == "B" for each in broke], known, confirm=confirm) == status


def test_every_sequence_of_answers_is_told_after_five():
    for number in range(32):
        broke = [bool(number >> place & 1) for place in range(5)]
        for known in ((3, 3), (2, 3), (1, 3), (0, 0)):
            for confirm in (False, True):
                first = next(n for n in range(1, 6) if told(broke[:n], known, confirm=confirm) is not None)
                status = told(broke[:first], known, confirm=confirm)
                assert (status == "passes") == (not any(broke[:first]))


def test_what_is_said_counts_each_kind_and_gives_the_first_reason():
    label = "label 'high' became 'low'."
    assert replayed({"breaks": (1, label)}) == (
        "1 known counterexample still breaks the test (label 'high' became 'low')"
    )
    assert replayed({"passes": (1, ""), "breaks": (1, label)}) == (
        "2 known counterexamples: 1 still breaks the test (label 'high' became 'low'), 1 no longer fails and was removed"
    )
    assert replayed({"breaks": (2, label), "unanswered": (1, "the budget is spent")}) == (
        "3 known counterexamples: 2 still break the test (label 'high' became 'low'), 1 could not be asked (the budget "
        "is spent)"
    )


def test_of_each_status_the_first_reason_is_kept():
    known = KnownCounterexample(FOUND)
    found = [
        Replayed(known, status, why) for status, why in (("breaks", ""), ("breaks", "a"), ("breaks", "b"))
    ]
    assert by_status([*found, Replayed(known, "passes")]) == {"breaks": (3, "a"), "passes": (1, "")}


def test_known_counterexamples_survive_json():
    known = KnownCounterexample(FOUND, "openai:gpt-5-mini")
    assert KnownCounterexample.from_json(known.to_json()) == known
    assert KnownCounterexample.from_json(FOUND.to_json()) == KnownCounterexample(FOUND)
    assert known.id == FOUND.id
    with pytest.raises(UsageError, match="target is a str"):
        KnownCounterexample.from_json({**FOUND.to_json(), "target": None})
