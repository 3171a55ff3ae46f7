"""What docs/settings_tables.py writes from the table of settings."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from pytest_promptfuzz.evaluating.settings import CHOICES, MARK_KEYS, RUN_SETTINGS

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "docs" / "settings_tables.py"))
FILES = [SCRIPT["REFERENCE"], SCRIPT["MARKS"]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_is_written_is_what_the_table_of_settings_says(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert SCRIPT["written"](file, text) == text, "run: python docs/settings_tables.py"


@pytest.mark.parametrize(
    ("file", "now", "before"),
    [
        (FILES[0], "| `--promptfuzz-threshold` | 0.85 |", "| `--promptfuzz-threshold` | 0.8 |"),
        (FILES[0], "| `samples` | 1 | how often", "| `samples` | 1 | how seldom"),
        (FILES[0], "`gate`, `shrink` and `queries` may also stand", "`gate` and `shrink` may also stand"),
        (FILES[1], "        judge_repeats: int\n", ""),
    ],
)
def test_what_is_not_of_today_is_seen_and_mended(file: Path, now: str, before: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(now) == 1
    old = text.replace(now, before)
    assert SCRIPT["written"](file, old) == text != old


def test_the_reference_has_every_key_and_option(request: pytest.FixtureRequest) -> None:
    text = FILES[0].read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)", text, re.MULTILINE)
    assert set(MARK_KEYS) <= set(rows)
    assert {each.option for each in (*RUN_SETTINGS.values(), *CHOICES)} <= set(rows)
    groups = [each for each in request.config._parser._groups if each.name.startswith("promptfuzz")]
    options = {
        name.partition("=")[0] for group in groups for option in group.options for name in option.names()
    }
    assert len(options) >= 50
    assert options <= set(rows)
