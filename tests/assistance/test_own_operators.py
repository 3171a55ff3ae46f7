"""The operator of one's own that docs/assisted-mutations.md shows: registered, and offered by an installed package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.in_process import promptfuzz

if TYPE_CHECKING:
    import pytest

DOCUMENT = (Path(__file__).parents[2] / "docs" / "assisted-mutations.md").read_text(encoding="utf-8")
SHOUTING = re.search(r'^```python title="shouting.py"\n(.*?)^```', DOCUMENT, re.MULTILINE | re.DOTALL)
ENTRY = re.search(r'^\[project\.entry-points\."(.*?)"\]\n(\w+) = "(.*?)"$', DOCUMENT, re.MULTILINE)
TEST = """
from pytest_promptfuzz import robust

@robust("Classify the mood as good or bad. Answer with one word. Text: A lovely day!", mutations=3, operators="shouting")
def test_mood(prompt, llm):
    return llm(prompt)
"""


def test_it_has_ten_lines() -> None:
    assert SHOUTING
    lines = [line for line in SHOUTING[1].splitlines() if line]
    assert len(lines) <= 10


def test_registered_in_a_conftest(pytester: pytest.Pytester) -> None:
    assert SHOUTING
    pytester.makepyfile(shouting=SHOUTING[1], test_it=TEST)
    pytester.makeconftest(
        "from pytest_promptfuzz.mutations.engine.registry import register\nfrom shouting import shouting\nregister(shouting)\n"
    )
    done = pytester.runpytest("--promptfuzz-target=simulated", "-q")
    done.assert_outcomes(passed=1)


def test_offered_by_a_package(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SHOUTING
    assert ENTRY
    site = pytester.mkdir("site")
    (site / "shouting.py").write_text(SHOUTING[1], encoding="utf-8")
    (site / "shouting-1.0.dist-info").mkdir()
    (site / "shouting-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n"
    )
    (site / "shouting-1.0.dist-info" / "entry_points.txt").write_text(
        f"[{ENTRY[1]}]\n{ENTRY[2]} = {ENTRY[3]}\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(site))
    pytester.makepyfile(test_it=TEST)
    pytester.runpytest("--promptfuzz-target=simulated", "-q").assert_outcomes(passed=1)
    shown = promptfuzz("operators", "shouting")
    assert "shouting  Some words in capitals (a fifth of them)." in shown.stdout.splitlines()
