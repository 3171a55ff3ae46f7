from __future__ import annotations

from random import Random
from statistics import mean

import pytest

from pytest_promptfuzz.stats.variance import Parts, Ranges, Variance, brittleness, variance_of

Table = dict[str, dict[str, list[float]]]


def apart(table: Table) -> Variance:
    return variance_of(
        (item, mutation, score)
        for item, row in table.items()
        for mutation, runs in row.items()
        for score in runs
    )


def test_a_small_table_by_hand() -> None:
    # Cell means 1, 4, 6, 9; item means 2.5 and 7.5; the mean is 5.
    found = apart({"a": {"x": [0, 2], "y": [4, 4]}, "b": {"x": [5, 7], "y": [9, 9]}})
    # MS_run = (2 + 0 + 2 + 0) / 4 = 1; MS_pert = 2 (4 · 1.5²) / 2 = 9; MS_item = 4 (2 · 2.5²) / 1 = 50.
    assert found.raw == Parts(1, pytest.approx((50 - 9) / 4), pytest.approx((9 - 1) / 2))
    assert found.share == pytest.approx(4 / (1 + 10.25 + 4))
    assert (found.items, found.cells, found.runs, found.notes) == (2, 4, 8, ())


def test_an_unequal_table_by_hand() -> None:
    # Item a: cells of 2 and 1 runs, means 1 and 4, item mean 2; item b: 1 and 1, means 6 and 8, item mean 7.
    found = apart({"a": {"x": [0, 2], "y": [4]}, "b": {"x": [6], "z": [8]}})
    # MS_run = 2 / 1. Between mutations: 2 · 1 + 1 · 4 = 6, and 1 + 1 = 2, together 8 / 2 = 4.
    # Σ n_ij² / n_i = 5/3 + 1 = 8/3; k1 = (5 − 8/3) / 2 = 7/6.
    perturbation = (4 - 2) / (7 / 6)
    # The mean is 4: MS_item = 3 · 4 + 2 · 9 = 30; k2 = 8/3 − 7/5 = 19/15; k3 = 5 − 13/5 = 12/5.
    assert found.raw == Parts(
        2, pytest.approx((30 - 2 - 19 / 15 * perturbation) / 2.4), pytest.approx(perturbation)
    )


def test_one_run_a_cell_cannot_tell() -> None:
    found = apart({"a": {"x": [0], "y": [1]}, "b": {"x": [1], "y": [1]}, "c": {"x": [0], "y": [0]}})
    assert (found.inference, found.perturbation, found.share) == (None, None, None)
    assert "not identifiable" in found.notes[0]
    assert "samples=2" in found.notes[0]
    # One-way: MS_item = 2 (0 + 1/4 + 1/4) / 2 = 1/2, MS within = (1/2) / 3.
    assert found.item == pytest.approx((1 / 2 - 1 / 6) / 2)
    assert brittleness([found]) is None


def test_one_input_and_one_mutation_cannot_tell() -> None:
    lone = apart({"a": {"x": [0, 1], "y": [1, 1]}})
    assert lone.item is None
    assert lone.perturbation == pytest.approx(((0.75 - 0.5) ** 2 * 4 - 0.25) / 2)
    assert "there is one input" in lone.notes[0]
    same = apart({"a": {"x": [0, 1]}, "b": {"x": [1, 1]}})
    assert (same.perturbation, same.item, same.inference) == (None, None, 0.25)
    assert "no input has two mutations" in same.notes[0]


def test_a_negative_estimate_is_shown_as_zero_and_said() -> None:
    found = apart({"a": {"x": [0, 1], "y": [1, 0]}, "b": {"x": [0, 1], "y": [0, 1]}})
    assert found.raw.perturbation == -0.25
    assert found.perturbation == 0
    assert found.share == 0
    assert [note for note in found.notes if "perturbation variance is negative (-0.2500)" in note]


def test_nothing_varies() -> None:
    found = apart({"a": {"x": [1, 1], "y": [1, 1]}, "b": {"x": [1, 1], "y": [1, 1]}})
    assert found.raw == Parts(0, 0, 0)
    assert found.share is None
    assert brittleness([found]) is None
    assert brittleness([]) is None


def test_brittleness_sums_what_is_not_clipped() -> None:
    one = apart({"a": {"x": [0, 2], "y": [4, 4]}, "b": {"x": [5, 7], "y": [9, 9]}})
    two = apart({"a": {"x": [0, 1], "y": [1, 0]}, "b": {"x": [0, 1], "y": [0, 1]}})
    parts = [
        each for found in (one, two) for each in (found.raw.inference, found.raw.item, found.raw.perturbation)
    ]
    assert brittleness([one, two]) == pytest.approx((4 - 0.25) / sum(each or 0 for each in parts))


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="no trials"):
        variance_of([])
    with pytest.raises(ValueError, match="nan of 'x' on 'a'"):
        variance_of([("a", "x", float("nan"))])


def simulated(
    seed: str, parts: tuple[float, float, float], *, items: int = 50, mutations: int = 8, missing: float = 0.0
) -> Variance:
    """Normal effects with these variances (inference, item, perturbation), 3 runs a cell."""
    random = Random(seed)
    trials = []
    for item in range(items):
        base = random.gauss(0, parts[1] ** 0.5)
        for mutation in range(mutations):
            shift = random.gauss(0, parts[2] ** 0.5)
            trials += [
                (item, mutation, base + shift + random.gauss(0, parts[0] ** 0.5))
                for _ in range(3)
                if random.random() >= missing
            ]
    return variance_of(trials)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_planted_parts_are_found_without_bias(missing: float) -> None:
    planted = (0.3, 0.5, 0.2)
    found = [simulated(f"{seed}", planted, missing=missing).raw for seed in range(60)]
    for part, truth in enumerate(planted):
        assert mean(each[part] or 0 for each in found) == pytest.approx(truth, abs=0.03)


def test_without_an_effect_none_is_found() -> None:
    found = [simulated(f"none {seed}", (0.6, 0.4, 0.0)).raw.perturbation or 0 for seed in range(40)]
    assert mean(found) == pytest.approx(0, abs=0.01)
    assert min(found) < 0 < max(found)


def test_the_ranges_hold_the_truth() -> None:
    planted, held = (0.3, 0.5, 0.2), [0, 0, 0, 0]
    for seed in range(80):
        found = simulated(f"range {seed}", planted, items=20, mutations=4)
        for part, truth in enumerate(planted):
            limits = found.ranges[part]
            assert limits is not None
            held[part] += limits.low <= truth <= limits.high
        assert found.share_range is not None
        held[3] += found.share_range.low <= 0.2 <= found.share_range.high
    assert min(held) >= 0.9 * 80
    assert sum(held) < 4 * 80
    assert apart({"a": {"x": [0, 2], "y": [4, 4]}, "b": {"x": [5, 7], "y": [9, 9]}}).ranges.item is None


@pytest.mark.parametrize(
    ("raw", "shares"),
    [
        ((0.1, 0.2, 0.1), (0.25, 0.5, 0.25)),
        ((0.2, 0.1, -0.05), (2 / 3, 1 / 3, 0.0)),
        ((0.1, -0.05, 0.15), (0.25, 0.0, 0.75)),
        ((0.0, -0.1, 0.2), (0.0, 0.0, 1.0)),
        ((0.0, 0.0, 0.0), None),
        ((None, 0.1, None), None),
    ],
)
def test_shares_add_up_to_one(raw, shares) -> None:
    found = Variance(Parts(*raw), Ranges(None, None, None), None, 3, 6, 12)
    if shares is None:
        assert found.shares is None
    else:
        assert found.shares == pytest.approx(shares)
        assert sum(found.shares) == pytest.approx(1)
        assert found.shares[2] == found.share
