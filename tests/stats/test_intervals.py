from __future__ import annotations

from fractions import Fraction
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.stats.intervals import (
    Interval,
    design_effect,
    lower_bound,
    plan_interval,
    score_interval,
    share_interval,
    smallest_n,
)

MINOR = Fraction(7, 10)


def alone(*credited: float | Fraction) -> list[tuple[str, float | Fraction]]:
    """Each of an operator of its own."""
    return [(f"operator-{number}", credit) for number, credit in enumerate(credited)]


def clustered(*groups: list[float]) -> list[tuple[str, float | Fraction]]:
    return [(f"operator-{number}", credit) for number, group in enumerate(groups) for credit in group]


def above(share: float, got: int, of: int) -> float:
    """Chance of ``got`` or more."""
    return sum(comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(got, of + 1))


@pytest.mark.parametrize(("got", "of"), [(7, 8), (4, 8), (1, 16), (60, 64)])
def test_of_independent_yes_and_no_it_is_the_binomial_mid_p_interval(got: int, of: int) -> None:
    found = score_interval(alone(*[1] * got, *[0] * (of - got)))
    assert (above(found.low, got, of) + above(found.low, got + 1, of)) / 2 == pytest.approx(0.025, rel=1e-6)
    assert (above(found.high, got, of) + above(found.high, got + 1, of)) / 2 == pytest.approx(0.975, rel=1e-6)
    assert (found.level, found.estimand) == (0.95, "operators")


def test_of_independent_yes_and_no_the_bound_is_clopper_and_pearsons() -> None:
    assert above(lower_bound(alone(*[1] * 7, 0)), 7, 8) == pytest.approx(0.05, rel=1e-6)
    assert above(lower_bound(alone(*[1] * 7, 0), level=0.99), 7, 8) == pytest.approx(0.01, rel=1e-6)
    assert lower_bound(alone(0, 0)) == 0


def test_the_ends() -> None:
    all_well, none = score_interval(alone(*[1] * 8)), score_interval(alone(*[0] * 8))
    assert (all_well.high, none.low) == (1, 0)
    # Half of 0.05 ** (1 / 8), both ways.
    assert all_well.low == pytest.approx(0.05 ** (1 / 8))
    assert none.high == pytest.approx(1 - 0.05 ** (1 / 8))


def test_minor_answers_vary_less_than_equivalent_and_deviating_ones() -> None:
    mixed = score_interval(alone(*[1, MINOR] * 8))
    apart = score_interval(alone(*[1] * 17, *[0] * 3))
    assert mixed.high - mixed.low < apart.high - apart.low
    # Unseen deviations keep it from closing, though all answers are the same.
    same = score_interval(alone(*[MINOR] * 8))
    assert same.low < 0.6
    assert same.high > 0.8


def test_trials_of_one_operator_tell_less() -> None:
    apart = score_interval(alone(1, 1, 1, 1, 0, 0, 1, 1))
    split = score_interval(clustered([1, 1, 1, 0], [1, 0, 1, 1]))
    together = score_interval(clustered([1, 1], [1, 1], [0, 0], [1, 1]))
    mixed = score_interval(clustered([1, 0], [1, 0], [1, 1], [1, 1]))
    assert apart.low > mixed.low > together.low
    assert apart.high < mixed.high < together.high
    assert split.low < apart.low


def test_the_design_effect_of_two_operators_at_odds_by_hand() -> None:
    # Mean squares 1 and 0, each with a prior of 4 operators at correlation 0.4 and variance 1/4:
    # (1 + 1.4) / 5 = 0.48 and 0.6 / 6 = 0.1; (0.48 - 0.1) / (0.48 + 0.1) = 19/29.
    assert design_effect([[1, 1], [0, 0]]) == pytest.approx(1 + 19 / 29)
    assert design_effect([[1], [0]]) == 1
    assert design_effect([[1, 0]] * 30) == pytest.approx(1)
    assert design_effect([[1, 1], [0, 0]] * 50) == pytest.approx(2, abs=0.05)


def test_a_lone_operator_is_its_own_population() -> None:
    found = score_interval(clustered([1, 1, 1, 0]))
    assert found.estimand == "operator"
    assert (found.low, found.high) == (
        score_interval(alone(1, 1, 1, 0)).low,
        score_interval(alone(1, 1, 1, 0)).high,
    )


def test_two_operators_hardly_tell_of_others() -> None:
    assert score_interval(clustered([1] * 4, [1, 1, 1, 0])).low < 0.35


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.one_of(st.sampled_from([0, 0.7, 1]), st.floats(0, 1))),
        min_size=1,
        max_size=40,
    )
)
def test_it_holds_the_score_and_stays_in_range(credited: list[tuple[str, float]]) -> None:
    found, inner = score_interval(credited), score_interval(credited, level=0.8)
    mean = sum(credit for _, credit in credited) / len(credited)
    assert 0 <= found.low <= inner.low + 1e-12 <= mean + 1e-9
    assert mean - 1e-9 <= inner.high <= found.high + 1e-12 <= 1 + 1e-12
    assert 0 <= lower_bound(credited) <= mean + 1e-9
    assert score_interval(credited[::-1]).low == pytest.approx(found.low, abs=1e-9)


@pytest.mark.parametrize(
    ("share", "total", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), table I: Wilson's without continuity correction.
    [
        (81 / 263, 263, 0.2553, 0.3662),
        (15 / 148, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1 / 29, 29, 0.0061, 0.1718),
    ],
)
def test_wilsons_interval(share: float, total: int, low: float, high: float) -> None:
    found = share_interval(share, total)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    assert share_interval(1 - share, total).high == pytest.approx(1 - found.low)


def test_the_plan_itself_is_known_better_than_its_population() -> None:
    # Each of these does the same whenever it is asked: the score of the plan is known, that of others is not.
    sure = plan_interval([[1, 1, 1]] * 12 + [[0, 0, 0]] * 4)
    wide = score_interval(alone(*[1] * 12, *[0] * 4))
    assert sure.estimand == "plan"
    assert sure.high - sure.low < 0.7 * (wide.high - wide.low)
    assert sure.low < 0.75 < sure.high
    moody = plan_interval([[1, 0]] * 8 + [[1, 1]] * 8)
    assert moody.high - moody.low > sure.high - sure.low
    # Eight that agree with themselves do not prove that a ninth would.
    assert 0.6 < plan_interval([[1, 1]] * 8).low < 0.9
    assert plan_interval([[1, 1]] * 8).high == 1


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: score_interval([]), "no credits"),
        (lambda: score_interval(alone(1, 1.5)), "1.5 is no credit"),
        (lambda: score_interval(alone(1), level=95), "level=95 is no coverage"),
        (lambda: lower_bound(alone(1), level=0), "level=0"),
        (lambda: plan_interval([[1], [0]]), "needs repeats"),
        (lambda: plan_interval([[1, 1], []]), "needs repeats"),
        (lambda: share_interval(0.5, 0), "share of 0 trials"),
        (lambda: share_interval(1.2, 3), "1.2 is no"),
        (lambda: smallest_n(1.5), "1.5 is no"),
    ],
)
def test_what_is_refused(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(("threshold", "each"), [(0.5, 1), (0.85, 1), (0.85, 2), (0.85, 4), (0.95, 1)])
def test_the_smallest_n_is_the_first_that_can_pass(threshold: float, each: int) -> None:
    found = smallest_n(threshold, each=each)
    assert found is not None

    def bound(size: int) -> float:
        return lower_bound([(str(number // each), 1) for number in range(size)])

    assert bound(found - 1) < threshold <= bound(found)


def test_other_gates_can_pass_at_once_and_a_threshold_of_one_never() -> None:
    assert smallest_n(0.85) == 19
    assert smallest_n(Fraction(85, 100), level=0.9) == 15
    assert smallest_n(0.85, gate="point") == 1
    assert smallest_n(0) == 1
    assert smallest_n(1) is None


def test_how_it_reads() -> None:
    assert str(Interval(0.6249, 0.93)) == "[0.62, 0.93]"


def test_it_is_a_function_of_the_numbers_not_of_their_type() -> None:
    assert score_interval(alone(1, Fraction(7, 10), 0)) == score_interval(alone(1.0, 0.7, 0.0))


@pytest.mark.parametrize(
    ("operators", "each", "correlation", "shares"),
    [
        (8, 1, 0.0, (0.85, 0.0)),
        (8, 1, 0.0, (0.5, 0.5)),
        (4, 4, 0.5, (0.7, 0.0)),
        (8, 8, 0.5, (0.2, 0.6)),
        (16, 2, 0.5, (0.8, 0.0)),
    ],
)
def test_it_holds_the_truth(
    operators: int, each: int, correlation: float, shares: tuple[float, float]
) -> None:
    """The whole grid is in benchmarks/intervals.py."""
    random = Random(f"{operators} {each} {correlation} {shares}")
    truth = shares[0] + 0.7 * shares[1]
    held = 0
    for _ in range(300):
        groups = []
        for _ in range(operators):
            group: list[float] = []
            for _ in range(each):
                # Pólya's urn, with this correlation within an operator.
                fresh = 1 - correlation
                if random.random() < fresh / (fresh + correlation * len(group)):
                    point = random.random()
                    group.append(1.0 if point < shares[0] else 0.7 if point < sum(shares) else 0.0)
                else:
                    group.append(random.choice(group))
            groups.append(group)
        found = score_interval(clustered(*groups))
        held += found.low <= truth <= found.high
    assert held / 300 >= 0.9
