"""The Mann-Whitney U test against published tables, enumeration and another implementation's figures."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz import UsageError, mann_whitney

# The largest U that is significant at 0.05, two-sided (Mann and Whitney 1947; Milton 1964).
CRITICAL = {
    (4, 4): 0,
    (5, 5): 2,
    (6, 6): 5,
    (7, 7): 8,
    (8, 8): 13,
    (9, 9): 17,
    (10, 10): 23,
    (12, 12): 37,
    (15, 15): 64,
    (20, 20): 127,
    (5, 8): 6,
    (6, 10): 11,
    (8, 12): 22,
}


def samples(n: int, m: int, u: int) -> tuple[list[float], list[float]]:
    """Two samples without ties, the first of which exceeds the second in ``u`` pairs."""
    beats = [min(m, max(0, u - place * m)) for place in range(n)]
    return [each + 0.5 + place / 1000 for place, each in enumerate(beats)], [
        float(at) for at in range(1, m + 1)
    ]


@pytest.mark.parametrize(("sizes", "u"), CRITICAL.items(), ids=str)
def test_published_critical_values(sizes: tuple[int, int], u: int) -> None:
    at, above = mann_whitney(*samples(*sizes, u)), mann_whitney(*samples(*sizes, u + 1))
    assert (at.u, above.u) == (u, u + 1)
    assert at.exact
    assert at.p <= 0.05 < above.p
    # The other tail is as likely.
    assert mann_whitney(*reversed(samples(*sizes, u))).p == at.p


def test_a_known_example() -> None:
    # Ages of diagnosis of five men and four women: U = 17 and p = 0.111 in textbooks and statistics packages.
    found = mann_whitney([19, 22, 16, 29, 24], [20, 11, 17, 12])
    assert (found.u, found.larger, found.exact) == (17, 0.85, True)
    assert found.p == pytest.approx(1 / 9)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=5), st.lists(st.integers(0, 4), min_size=1, max_size=5)
)
def test_ties_are_counted_over_all_orders(first: list[int], second: list[int]) -> None:
    def u_of(one: list[int], other: list[int]) -> float:
        return sum((a > b) + (a == b) / 2 for a in one for b in other)

    pooled = [*first, *second]
    every = []
    for chosen in combinations(range(len(pooled)), len(first)):
        rest = [pooled[at] for at in range(len(pooled)) if at not in chosen]
        every.append(u_of([pooled[at] for at in chosen], rest))
    u = u_of(first, second)
    tail = min(sum(each <= u for each in every), sum(each >= u for each in every))
    found = mann_whitney(first, second)
    assert found.u == u
    assert found.p == pytest.approx(min(1, 2 * tail / comb(len(pooled), len(first))))


def test_many_figures_are_taken_for_normal_with_ties_corrected() -> None:
    found = mann_whitney([at % 7 for at in range(30)], [at % 9 + 1 for at in range(25)])
    assert not found.exact
    # scipy 1.17.1, mannwhitneyu(method="asymptotic")
    assert (found.u, found.p) == (217.5, pytest.approx(0.00752542544022427, abs=1e-12))
    assert mann_whitney([3] * 30, [3] * 30).p == 1.0


def test_exact_and_normal_meet() -> None:
    exact, normal = mann_whitney(*samples(20, 20, 130)), mann_whitney(*samples(21, 20, 137))
    assert exact.exact
    assert not normal.exact
    assert normal.p == pytest.approx(exact.p, abs=0.005)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ([], [1], "a sample is empty"),
        ([1], [], "a sample is empty"),
        ([1], [float("nan")], "nan is no finite number"),
        ([True], [1], "True is no finite number"),
        (["1"], [1], "'1' is no finite number"),
    ],
)
def test_what_cannot_be_compared(first: list[float], second: list[float], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        mann_whitney(first, second)
