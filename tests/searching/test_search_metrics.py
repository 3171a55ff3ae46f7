"""What several searches come to."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_promptfuzz import Search, UsageError, search, search_metrics

PROMPT = "Provide a concise overview of the ticket and classify it as spam or not spam. Give the main reason."


def brittle(prompt: str) -> str:
    return "not spam" if "concise" in prompt else "spam"


def found(**changes: object) -> Search:
    return replace(search(PROMPT, brittle, operators="synonym", measures={"length": len}), **changes)  # type: ignore[arg-type]


def nothing(**changes: object) -> Search:
    return replace(search(PROMPT, lambda _: "not spam", queries=30), **changes)  # type: ignore[arg-type]


def test_rates_means_and_medians() -> None:
    searches = [found(queries=10, found_at=4), found(queries=20, found_at=9), nothing(queries=60)]
    metrics = search_metrics(searches)
    assert (metrics.searches, metrics.found, metrics.untold) == (3, 2, 0)
    assert metrics.success_rate == pytest.approx(2 / 3)
    assert metrics.interval == pytest.approx((0.2077, 0.9385), abs=1e-4)  # Wilson's, of 2 of 3
    assert metrics.queries is not None
    assert (metrics.queries.mean, metrics.queries.median) == (30, 20)
    assert metrics.found_at is not None
    assert (metrics.found_at.mean, metrics.found_at.median) == (6.5, 6.5)
    assert metrics.words is not None
    assert metrics.words.mean == 1
    assert metrics.change_rate is not None
    assert metrics.change_rate.mean == pytest.approx(searches[0].change_rate)
    assert set(metrics.quality) == {"length", "length_before"}
    assert metrics.quality["length_before"] == len(PROMPT)
    assert metrics.cost is None
    assert json.loads(json.dumps(metrics.to_json()))["queries"] == {"mean": 30, "median": 20}


def test_what_told_nothing_counts_nowhere() -> None:
    metrics = search_metrics(
        [found(), nothing(ended="noisy"), nothing(ended="target-failed"), nothing(errors=29)]
    )
    assert (metrics.searches, metrics.found, metrics.untold, metrics.success_rate) == (1, 1, 3, 1.0)
    metrics = search_metrics([nothing(ended="interrupted")])
    assert (metrics.searches, metrics.success_rate, metrics.interval, metrics.queries) == (
        0,
        None,
        None,
        None,
    )


def test_money_is_summed_where_it_is_known() -> None:
    one = nothing()
    priced = replace(one, spent=replace(one.spent, cost=0.25))
    assert search_metrics([priced, priced, one]).cost == 0.5


def test_no_search_has_no_metrics() -> None:
    with pytest.raises(UsageError, match="no search is given"):
        search_metrics([])
