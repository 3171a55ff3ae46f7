from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.stats.intervals import beta_cdf, beta_density, beta_quantile, f_quantile, t_quantile


@pytest.mark.parametrize("share", [0.001, 0.2, 0.5, 0.83, 0.999])
@pytest.mark.parametrize(("got", "of"), [(1, 1), (3, 8), (8, 8), (40, 64), (190, 200)])
def test_it_is_the_tail_of_a_binomial(share: float, got: int, of: int) -> None:
    tail = sum(comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(got, of + 1))
    assert beta_cdf(share, got, of - got + 1) == pytest.approx(tail, rel=1e-10, abs=1e-13)


def test_at_the_ends_and_without_mass() -> None:
    assert [beta_cdf(x, 2, 3) for x in (-1, 0, 1, 2)] == [0, 0, 1, 1]
    assert beta_cdf(0.3, 0, 3) == 1
    assert beta_cdf(0.3, 3, 0) == 0


def test_the_density_is_the_slope() -> None:
    step = 1e-6
    for x, a, b in ((0.2, 0.5, 0.5), (0.6, 3, 2.5), (0.97, 20, 1)):
        slope = (beta_cdf(x + step, a, b) - beta_cdf(x - step, a, b)) / (2 * step)
        assert beta_density(x, a, b) == pytest.approx(slope, rel=1e-5)


@given(
    st.floats(0.001, 0.999),
    st.floats(0.5, 500),
    st.floats(0.5, 500),
)
def test_the_quantile_has_its_share_below(share: float, a: float, b: float) -> None:
    at = beta_quantile(share, a, b)
    assert 0 <= at <= 1
    assert beta_cdf(at, a, b) == pytest.approx(share, abs=2e-6)  # the density may be a spike at an end


@pytest.mark.parametrize(
    ("share", "freedom", "value"),
    # The tables of any textbook.
    [(0.975, 1, 12.706), (0.975, 3, 3.182), (0.95, 10, 1.812), (0.995, 30, 2.750), (0.975, 1_000_000, 1.960)],
)
def test_students_t(share: float, freedom: float, value: float) -> None:
    assert t_quantile(share, freedom) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize(
    ("share", "above", "below", "value"),
    [
        (0.95, 1, 10, 4.965),
        (0.95, 5, 20, 2.711),
        (0.975, 9, 40, 2.452),
        (0.05, 20, 5, 1 / 2.711),
        (0.95, 1, 1, 161.448),
    ],
)
def test_fishers_f(share: float, above: float, below: float, value: float) -> None:
    assert f_quantile(share, above, below) == pytest.approx(value, rel=5e-4)
