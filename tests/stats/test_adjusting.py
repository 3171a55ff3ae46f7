from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.stats.intervals import adjusted_interval, score_interval


def of(*credits_: float | Fraction) -> list[tuple[str, float | Fraction]]:
    return [(str(number), credit) for number, credit in enumerate(credits_)]


def test_a_model_that_agrees_with_itself_adds_its_own_uncertainty() -> None:
    credited = of(*[1] * 12, *[0] * 4)
    raw = score_interval(credited)
    few, many, endless = (adjusted_interval(credited, floor=1, answers=k) for k in (4, 16, 100_000))
    assert few.low <= many.low <= endless.low
    assert few.high >= many.high >= endless.high
    assert (endless.low, endless.high) == (
        pytest.approx(raw.low, abs=0.01),
        pytest.approx(raw.high, abs=0.01),
    )
    assert (few.level, few.estimand) == (0.95, "operators")


def test_it_is_about_the_ratio() -> None:
    # Every mutated answer agrees with the plain ones as often as these with each other.
    found = adjusted_interval(of(*[Fraction(7, 10)] * 16), floor=Fraction(7, 10), answers=16)
    assert found.high == 1
    assert 0.6 < found.low < 0.9
    broken = adjusted_interval(of(*[0.7] * 8, *[0] * 8), floor=0.7, answers=16)
    assert broken.low < 0.5 < broken.high < 0.9


def test_two_answers_tell_next_to_nothing_of_the_floor() -> None:
    credited = of(*[1, 1, 1, 0] * 4)
    found = adjusted_interval(credited, floor=1, answers=2)
    assert found.high == 1
    assert found.low == score_interval(credited).low
    assert adjusted_interval(credited, floor=1, answers=2, inputs=20).high < 1


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=20),
    st.floats(0.01, 1),
    st.integers(2, 20),
    st.integers(1, 9),
)
def test_it_stays_in_range(credited: list[float], floor: float, answers: int, inputs: int) -> None:
    found = adjusted_interval(of(*credited), floor=floor, answers=answers, inputs=inputs)
    ratio = min(1, sum(credited) / len(credited) / floor)
    assert 0 <= found.low <= ratio + 1e-9
    assert ratio - 1e-9 <= found.high <= 1


@pytest.mark.parametrize("arguments", [{"floor": 0, "answers": 4}, {"floor": 1, "answers": 1}])
def test_what_is_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="adjusts nothing"):
        adjusted_interval(of(1, 0), **arguments)
    with pytest.raises(ValueError, match="no credits"):
        adjusted_interval([], floor=1, answers=2)


@pytest.mark.parametrize(("agreement", "broken", "answers"), [(0.7, 0.3, 8), (0.9, 0.0, 4), (0.5, 0.15, 4)])
def test_it_holds_the_truth(agreement: float, broken: float, answers: int) -> None:
    """The whole grid is in benchmarks/intervals.py."""
    random = Random(f"{agreement} {broken} {answers}")
    likely = (1 + (2 * agreement - 1) ** 0.5) / 2
    held = tests = 0
    for _ in range(200):
        plain = [random.random() < likely for _ in range(answers)]
        same = [one == other for place, one in enumerate(plain) for other in plain[:place]]
        credited = []
        for _ in range(16):
            agrees = 0.0 if random.random() < broken else plain.count(random.random() < likely) / answers
            credited.append(agrees)
        found = adjusted_interval(of(*credited), floor=sum(same) / len(same), answers=answers)
        tests += 1
        held += found.low <= 1 - broken + 1e-9
        held -= found.high < 1 - broken
    assert held / tests >= 0.9
