"""Each equation of beam-annealing against the paper's, worked out by hand."""

from __future__ import annotations

from collections import Counter
from math import exp, isclose, log

import pytest

from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.searching.methods import (
    acceptance,
    adapted,
    cooled,
    drawn,
    elitism,
    entropy,
    happens,
    importance,
    retention,
    shares,
    softmax,
    widened,
)

BEAM = {"least": 2, "most": 6, "step": 1}


def rng(purpose: str) -> Rng:
    return Rng(root_key(0, "annealing"), purpose)


def test_importance_is_softmax_times_gain() -> None:
    first, second = importance([0.5, 0.1])
    weight = exp(0.5) / (exp(0.5) + exp(0.1))
    assert first == pytest.approx(weight * 0.5)
    assert second == pytest.approx((1 - weight) * 0.1)
    assert importance([]) == []


def test_a_word_whose_masking_helps_the_model_matters_less_than_none() -> None:
    assert importance([-0.2, 0.0])[0] < 0


def test_softmax_survives_large_values() -> None:
    assert softmax([1000.0, 1000.0]) == [0.5, 0.5]


def test_a_better_candidate_is_always_taken() -> None:
    assert acceptance(1e-9, 0.01) == 1


def test_a_worse_candidate_is_taken_the_less_the_worse_and_the_colder_it_is() -> None:
    assert acceptance(-0.5, 1.0) == pytest.approx(exp(-0.5))
    assert acceptance(-0.5, 0.5) == pytest.approx(exp(-1.0))
    assert acceptance(0.0, 0.5) == 1


def test_cooling_is_logarithmic() -> None:
    assert cooled(1.0, 0.3, 0) == 1.0
    assert cooled(2.0, 0.3, 9) == pytest.approx(2.0 / (1 + 0.3 * log(10)))
    assert cooled(1.0, 0.0, 50) == 1.0


def test_losses_become_shares_and_nothing_is_divided_by_zero() -> None:
    assert shares([0.1, 0.3]) == pytest.approx([0.25, 0.75])
    assert shares([0.0, 0.0]) == [0.5, 0.5]
    assert shares([]) == []


def test_entropy_is_that_of_shannon_in_nats() -> None:
    assert entropy([0.25] * 4) == pytest.approx(log(4))
    assert isclose(entropy([1.0, 0.0]), 0.0, abs_tol=1e-9)


def test_the_printed_width_only_widens_by_one_step_at_most() -> None:
    assert widened(2, 0.0, **BEAM) == 2
    assert widened(2, 0.6, **BEAM) == pytest.approx(2.2)
    assert widened(2, 5.0, **BEAM) == 3
    assert widened(6, 5.0, **BEAM) == 6
    assert all(widened(width, spread / 10, **BEAM) >= width for width in range(2, 7) for spread in range(30))


def test_the_width_of_the_text_goes_both_ways() -> None:
    assert adapted(4, 0.0, 8, **BEAM) == 3
    assert adapted(2, 0.0, 8, **BEAM) == 2
    assert adapted(4, log(8), 8, **BEAM) == 5
    assert adapted(6, log(8) / 2, 8, **BEAM) == 5
    assert adapted(4, log(8) / 2, 8, **BEAM) == 4
    assert adapted(3, 0.0, 1, **BEAM) == 2


def test_retention_and_elitism() -> None:
    losses = [0.9, 0.1]
    kept = retention(0.9, losses)
    assert kept == pytest.approx(exp(0.9) / (exp(0.9) + exp(0.1)))
    assert elitism(0.9, kept) == pytest.approx(0.9 + 0.1 * kept)
    assert retention(0.9, [0.1]) == 1.0
    assert elitism(0.0, 1.0) == 1.0


def test_what_is_likely_happens_often() -> None:
    draws = rng("often")
    assert 850 < sum(happens(0.9, draws) for _ in range(1000)) < 950
    assert not happens(0.0, draws)
    assert happens(1.0, draws)


def test_soft_sampling_takes_none_twice_and_high_losses_more_often() -> None:
    draws = rng("soft")
    firsts: Counter[int] = Counter()
    for _ in range(3000):
        chosen = drawn([0.0, 1.0, 0.0], 2, draws)
        assert len(set(chosen)) == 2
        firsts[chosen[0]] += 1
    # e / (2 + e) = 0.576
    assert 0.54 < firsts[1] / 3000 < 0.61
    assert sorted(drawn([0.2, 0.4], 5, draws)) == [0, 1]
    assert drawn([], 3, draws) == []
