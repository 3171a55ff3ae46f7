"""Agreement of ratings, against numbers worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.stats.agreement import Agreement, weighted_kappa

ratings = st.integers(1, 3)
pairs = st.lists(st.tuples(ratings, ratings), max_size=30)


def by_definition(both: list[tuple[int, int]]) -> float | None:
    """Cohen's formula over shares, as it is printed."""
    n = len(both)
    observed = expected = 0.0
    for i in (1, 2, 3):
        for j in (1, 2, 3):
            weight = (i - j) ** 2 / 4
            observed += weight * both.count((i, j)) / n
            expected += weight * sum(a == i for a, _ in both) / n * sum(b == j for _, b in both) / n
    return None if expected == 0 else 1 - observed / expected


@given(pairs.filter(bool))
def test_kappa_is_the_formula(both: list[tuple[int, int]]) -> None:
    wanted = by_definition(both)
    found = weighted_kappa(both)
    assert found == wanted if wanted is None else found == pytest.approx(wanted)


@given(pairs)
def test_kappa_has_its_bounds_and_its_symmetry(both: list[tuple[int, int]]) -> None:
    found = weighted_kappa(both)
    assert found is None or -1 <= found <= 1
    assert found == weighted_kappa([(two, one) for one, two in both])
    agreed = weighted_kappa([(one, one) for one, _ in both])
    assert agreed in {None, 1.0}


def test_a_far_disagreement_weighs_four_times_a_near_one() -> None:
    # By hand, over 4 pairs: Σ (i-j)²·n(i)·m(j) is 16 with the margins 2 1 1 and 2 2 0, and 18 with 2 1 1 and 3 1 0.
    assert weighted_kappa([(1, 1), (2, 2), (1, 1), (3, 2)]) == pytest.approx(1 - 4 * 1 / 16)
    assert weighted_kappa([(1, 1), (2, 2), (1, 1), (3, 1)]) == pytest.approx(1 - 4 * 4 / 18)
    assert weighted_kappa([(1, 3), (3, 1)]) == -1.0


def test_without_disagreement_to_expect_there_is_no_kappa() -> None:
    assert weighted_kappa([]) is None
    assert weighted_kappa([(3, 3), (3, 3)]) is None
    assert weighted_kappa([(3, 2), (3, 2)]) == 0.0


def test_what_is_no_rating_is_refused() -> None:
    with pytest.raises(ValueError, match="among"):
        weighted_kappa([(1, 4)])


def test_agreement_counts_and_shares() -> None:
    found = Agreement.of([(3, 3), (3, 2), (1, 1), (2, 2)])
    assert (found.equal, found.pairs, found.share) == (3, 4, 0.75)
    assert found.kappa == pytest.approx(by_definition([(3, 3), (3, 2), (1, 1), (2, 2)]))
    assert Agreement.of([]).share is None
