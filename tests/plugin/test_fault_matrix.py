"""What benchmarks/faults.py counts, in small: a fault that passes, one that stays, and one that a stream cannot mend."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.running.limits import lanes

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import faults as calls

if TYPE_CHECKING:
    import pytest


def test_no_fault_is_taken_for_an_answer_or_costs_a_call_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "FIRST_WAIT", 0.0)
    monkeypatch.setattr(lanes, "FIRST_PAUSE", 0.0)
    for client in (calls.openai_client, calls.anthropic_client):
        monkeypatch.setattr(client, "INITIAL_RETRY_DELAY", 0.0)
        monkeypatch.setattr(client, "MAX_RETRY_DELAY", 0.0)
    others = itertools.cycle(itertools.product(calls.PROVIDERS, calls.MODES))
    for fault, times in itertools.product(
        ("overloaded-within", "dropped-at-once", "wrong-encoding"), (3, None)
    ):
        for how, form in calls.SHAPES:
            provider, mode = next(others)
            found = calls.cell(fault, times, provider, mode, how, form)
            once = fault == "wrong-encoding" or (fault == "overloaded-within" and form == "stream")
            outcome = "error" if once or times is None else "recovered"
            assert str(found) == f"{outcome} {'1/1' if once else '4/4'}", (
                fault,
                times,
                provider,
                mode,
                how,
                form,
            )
