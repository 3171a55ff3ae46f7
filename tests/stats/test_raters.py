"""Agreement of raters, against published figures, other libraries, and figures worked out by hand."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.stats.agreement import weighted_kappa
from pytest_promptfuzz.stats.intervals import share_interval, t_quantile
from pytest_promptfuzz.stats.raters import RESAMPLES, agreement_of, krippendorff_alpha, spearman
from pytest_promptfuzz.stats.variance import rank_stability

pairs = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=2, max_size=40)


def units(*raters: str) -> list[tuple[int | None, ...]]:
    """Items of raters' rows, in which a point is no rating."""
    rows = [[None if each == "." else ord(each) for each in row.split()] for row in raters]
    return list(zip(*rows, strict=True))


# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011): its examples A, B and C/E, with its figures.
BINARY = units("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0")
NOMINAL = units("a a b b d c c c e d d a", "b a b b b c c c e d d d")
FOUR = units(
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


@pytest.mark.parametrize(
    ("items", "level", "published"),
    [
        (BINARY, "nominal", 0.095),
        (NOMINAL, "nominal", 0.692),
        (FOUR, "nominal", 0.743),
        (FOUR, "ordinal", 0.815),
        (FOUR, "interval", 0.849),
    ],
)
def test_alpha_is_the_published_one(items, level, published: float) -> None:
    assert krippendorff_alpha(items, level) == pytest.approx(published, abs=5e-4)


def test_alpha_has_nothing_to_tell_where_nothing_varies() -> None:
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([(3, 3), (3, 3)]) is None
    assert krippendorff_alpha([(3, None), (2, None)]) is None  # nobody rated the same item
    assert krippendorff_alpha([(1, 1), (2, 2), (3, 3)]) == 1.0


def test_weighted_kappa_is_the_published_one() -> None:
    # Two radiologists on 85 mammograms (Boyd and others 1982; Altman 1991; the manual of Stata, kap).
    table = [[21, 12, 0, 0], [4, 17, 1, 0], [3, 9, 15, 2], [0, 0, 0, 1]]
    both = [
        (i + 1, j + 1) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)
    ]
    assert weighted_kappa(both, (1, 2, 3, 4), "linear") == pytest.approx(0.5684, abs=5e-5)
    assert weighted_kappa(both, (1, 2, 3, 4), "quadratic") == pytest.approx(0.6714, abs=5e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_is_that_of_scikit_learn(weights) -> None:
    metrics = pytest.importorskip("sklearn.metrics")

    @given(pairs)
    def holds(both: list[tuple[int, int]]) -> None:
        found = weighted_kappa(both, weights=weights)
        if found is not None:
            one, two = zip(*both, strict=True)
            wanted = metrics.cohen_kappa_score(one, two, labels=[1, 2, 3], weights=weights)
            assert found == pytest.approx(wanted)

    holds()


@given(pairs)
def test_spearman_is_the_correlation_of_ranks(both: list[tuple[int, int]]) -> None:
    one = {str(at): float(a) for at, (a, _) in enumerate(both)}
    two = {str(at): float(b) for at, (_, b) in enumerate(both)}
    wanted = rank_stability(one, two)
    found = spearman(both)
    assert found is None if wanted is None else found == pytest.approx(wanted)


ANNA = {"a": 3, "b": 3, "c": 2, "d": 1, "e": 1, "f": 3}
BEN = {"a": 3, "b": 2, "c": 2, "d": 1, "e": 3, "g": 1}


def test_two_raters_by_hand() -> None:
    found = agreement_of({"anna": ANNA, "ben": BEN})
    assert (found.raters, found.items, found.ratings) == (("anna", "ben"), 5, 10)
    span = share_interval(3 / 5, 5)
    assert found.exact == (3 / 5, span.low, span.high)
    both = [(3, 3), (3, 2), (2, 2), (1, 1), (1, 3)]
    assert found.kappa is not None
    assert found.kappa.value == weighted_kappa(both)
    # Differences 0, 1, 0, 0 and -2: mean -1/5, variance (5 - 5/25) / 4.
    half = t_quantile(0.975, 4) * sqrt((5 - 1 / 5) / 4 / 5)
    assert found.difference == pytest.approx((-0.2, -0.2 - half, -0.2 + half))


def test_several_raters_are_taken_by_pairs_and_alpha_over_all() -> None:
    cleo = {"a": 3, "b": 3, "c": 1, "d": 1, "f": 2, "g": 1}
    found = agreement_of({"anna": ANNA, "ben": BEN, "cleo": cleo})
    kappas = [
        agreement_of({"one": one, "two": two}).kappa for one, two in ((ANNA, BEN), (ANNA, cleo), (BEN, cleo))
    ]
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(sum(each.value for each in kappas if each) / 3)
    rows = [tuple(each.get(item) for each in (ANNA, BEN, cleo)) for item in "abcdefg"]
    assert found.alpha is not None
    assert found.alpha.value == krippendorff_alpha(rows)
    assert (found.items, found.ratings, found.difference) == (7, 18, None)


def test_intervals_are_drawn_by_the_seed_and_hold_the_figure() -> None:
    rated = {
        "one": {str(at): 1 + at % 3 for at in range(60)},
        "two": {str(at): 1 + (at + at // 50) % 3 for at in range(60)},
    }
    found = agreement_of(rated)
    assert found == agreement_of(rated)
    assert found.alpha != agreement_of(rated, seed=1).alpha
    for figure in (found.exact, found.kappa, found.alpha, found.spearman):
        assert figure is not None
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < figure.value < figure.high
    assert RESAMPLES >= 1000


def test_full_agreement_still_has_a_share_that_may_be_less() -> None:
    found = agreement_of({"one": ANNA, "two": ANNA})
    assert found.alpha == (1.0, 1.0, 1.0)
    assert found.exact is not None
    assert found.exact.low is not None
    assert found.exact.low < 0.7


def test_one_rating_for_all_tells_nothing_but_that_it_is_the_same() -> None:
    found = agreement_of({"one": dict.fromkeys("abc", 3), "two": dict.fromkeys("abc", 3)})
    assert (found.kappa, found.alpha, found.spearman) == (None, None, None)
    assert found.exact is not None
    assert found.exact.value == 1.0
    with pytest.raises(ValueError, match="two raters"):
        agreement_of({"one": ANNA})
    with pytest.raises(ValueError, match="among"):
        agreement_of({"one": {"a": 4, "b": 1}, "two": {"a": 1, "b": 1}})
