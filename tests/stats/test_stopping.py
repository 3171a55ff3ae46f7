"""When a verdict is certain, how much is asked at a time, and in which order."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.stats.scores import Counts
from pytest_promptfuzz.stats.stopping import PlanGate, Stopping, fair_order
from pytest_promptfuzz.stats.verdict import decide

GATE = Fraction(85, 100)
OUTCOMES = ("equivalent", "minor", "deviation", "undecided", "error")
outcomes = st.lists(st.sampled_from(OUTCOMES), max_size=24)
thresholds = st.fractions(0, 1) | st.just(GATE)
limits = st.none() | st.integers(0, 10)


def _ends(asked: Counts, left: int, threshold: Fraction, limit: int | None) -> set[str]:
    """The verdicts of the best and the worst that the rest may come to."""
    best = Counts(asked.equivalent + left, asked.minor, asked.deviation, asked.undecided, asked.error)
    worst = Counts(asked.equivalent, asked.minor, asked.deviation + left, asked.undecided, asked.error)
    return {decide(each, threshold, max_deviations=limit).verdict for each in (best, worst)}


@given(outcomes, st.integers(0, 24), thresholds, limits)
def test_a_verdict_is_certain_where_no_rest_of_the_plan_can_change_it(
    asked: list[str], left: int, threshold: Fraction, limit: int | None
) -> None:
    counts = Counts.of(asked)  # type: ignore[arg-type]
    if not counts.total + left:
        return
    found = PlanGate(counts.total + left, threshold, limit).ending(counts)
    ends = _ends(counts, left, threshold, limit)
    certain = ends in ({"pass"}, {"brittle"})
    assert found == (ends.pop() if certain else None)


@given(outcomes, st.integers(1, 24), thresholds, limits)
def test_the_fewest_trials_to_certainty_are_enough_and_one_less_is_not(
    asked: list[str], left: int, threshold: Fraction, limit: int | None
) -> None:
    counts = Counts.of(asked)  # type: ignore[arg-type]
    gate = PlanGate(counts.total + left, threshold, limit)

    def after(verdict: str, more: int) -> str | None:
        good = more if verdict == "pass" else 0
        return gate.ending(
            Counts(counts.equivalent + good, counts.minor, counts.deviation + more - good, counts.unknown)
        )

    for verdict, fewest in (("brittle", gate.to_break(counts)), ("pass", gate.to_pass(counts))):
        if fewest is None:
            assert after(verdict, left) != verdict
        else:
            assert after(verdict, fewest) == verdict
            assert not fewest or after(verdict, fewest - 1) != verdict


@given(st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=40), thresholds, limits)
def test_stopping_when_it_is_certain_changes_no_verdict(
    plan: list[str], threshold: Fraction, limit: int | None
) -> None:
    how = Stopping(PlanGate(len(plan), threshold, limit))
    asked = 0
    while how.ending(Counts.of(plan[:asked])) is None:  # type: ignore[arg-type]
        size = how.batch(Counts.of(plan[:asked]))  # type: ignore[arg-type]
        assert 0 <= size <= len(plan) - asked
        if not size:
            break
        asked += size
    found = how.ending(Counts.of(plan[:asked]))  # type: ignore[arg-type]
    whole = decide(Counts.of(plan), threshold, max_deviations=limit).verdict  # type: ignore[arg-type]
    if found is None:
        assert asked == len(plan)
    else:
        assert found == whole


@pytest.mark.parametrize(
    ("planned", "batches"),
    [(1, [1]), (2, [1, 1]), (7, [3, 3]), (8, [3, 4]), (16, [6, 8]), (32, [12, 16]), (64, [24, 31])],
)
def test_a_prompt_that_nothing_breaks_takes_two_batches(planned: int, batches: list[int]) -> None:
    how = Stopping(PlanGate(planned, GATE))
    taken: list[int] = []
    while how.ending(Counts(equivalent=sum(taken))) is None:
        taken.append(how.batch(Counts(equivalent=sum(taken))))
    assert taken == batches


def test_a_prompt_that_loses_is_asked_an_eighth_at_a_time() -> None:
    how = Stopping(PlanGate(32, GATE))
    assert how.batch(Counts()) == 12
    assert how.batch(Counts(equivalent=9, deviation=3)) == 4
    assert how.batch(Counts(equivalent=13, deviation=4)) == 4
    assert how.ending(Counts(equivalent=15, deviation=5)) == "brittle"
    # Losses within what the threshold allows: on to where it could pass.
    assert how.batch(Counts(equivalent=11, deviation=1)) == 17


def test_a_batch_is_no_smaller_than_what_could_come_of_it() -> None:
    assert Stopping(PlanGate(8, Fraction(1, 2))).batch(Counts()) == 4  # 4 equivalent pass, 5 deviations break
    assert Stopping(PlanGate(40, Fraction(1, 10))).batch(Counts()) == 4
    assert Stopping(PlanGate(8, Fraction(85, 100))).batch(Counts(deviation=1, error=2)) == 1


@pytest.mark.parametrize("gate", [PlanGate(8, Fraction(0)), PlanGate(0, GATE), PlanGate(8, Fraction(0), 8)])
def test_a_test_that_cannot_fail_is_asked_in_full(gate: PlanGate) -> None:
    how = Stopping(gate)
    assert not how.decides
    assert how.ending(Counts()) is None
    assert how.batch(Counts()) == gate.planned
    assert how.ending(Counts(equivalent=gate.planned)) is None


def test_a_limit_of_deviations_ends_a_test_as_well() -> None:
    how = Stopping(PlanGate(8, Fraction(0), 1))
    assert how.ending(Counts(deviation=1)) is None
    assert how.ending(Counts(deviation=2)) == "brittle"
    assert how.ending(Counts(equivalent=7)) == "pass"
    assert how.ending(Counts(equivalent=6)) is None


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), max_size=60), st.integers())
def test_every_prefix_has_its_part_of_every_dimension(labels: list[tuple[str, str]], seed: int) -> None:
    order = fair_order(labels, [str(each) for each in range(len(labels))], seed=seed)
    assert sorted(order) == list(range(len(labels)))
    dimensions = Counter(first for first, _ in labels)
    for length in range(len(order) + 1):
        had = Counter(labels[place][0] for place in order[:length])
        for name, members in dimensions.items():
            assert abs(had[name] - Fraction(length * members, len(labels))) <= len(dimensions) / 2
    for name in dimensions:
        # Within a dimension its operators are spread alike.
        own = [labels[place][1] for place in order if labels[place][0] == name]
        operators = Counter(own)
        for length in range(len(own) + 1):
            had = Counter(own[:length])
            for operator, members in operators.items():
                assert abs(had[operator] - Fraction(length * members, len(own))) <= len(operators) / 2


def test_the_order_follows_from_the_seed_and_not_from_the_order_of_the_plan() -> None:
    labels = [(dimension, "") for dimension in "aaaabbbb"]
    ids = [f"trial {number}" for number in range(8)]
    order = [ids[place] for place in fair_order(labels, ids, seed=3)]
    assert order == [ids[::-1][place] for place in fair_order(labels[::-1], ids[::-1], seed=3)]
    assert any(order != [ids[place] for place in fair_order(labels, ids, seed=seed)] for seed in range(4))


def test_trials_of_one_kind_are_in_no_order_of_their_own() -> None:
    firsts = {
        fair_order([("a", "x")] * 4, [f"{seed} {number}" for number in range(4)])[0] for seed in range(40)
    }
    assert firsts == {0, 1, 2, 3}
