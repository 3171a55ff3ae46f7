"""A small, seeded version of ``benchmarks/compared_runs.py``: unchanged runs are rarely called worse, drops are found."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import compared_runs

    yield compared_runs
    for name in ("compared_runs", "verdicts", "plotting"):
        sys.modules.pop(name, None)


def test_an_unchanged_application_is_rarely_called_worse(simulation: Any) -> None:
    worse, better, _, tests = simulation.measure(250, seed=7)
    assert worse.share <= simulation.LIMIT
    assert better.share <= simulation.LIMIT
    assert (
        min(tests["lower"], tests["higher"], tests["unpaired"]) > 100
    )  # there was something to be mistaken for a drop


def test_drops_are_found(simulation: Any) -> None:
    rng = random.Random(3)
    assert {simulation.dropped(1.0, 0.5, 16, 10, rng) for _ in range(5)} == {"worse"}
    found = [simulation.dropped(0.9, 0.5, 32, 1, rng) for _ in range(40)]
    assert found.count("worse") >= 28
