"""``inputs=`` that names a data file: declarative tests and tests that search, through pytest."""

from __future__ import annotations

from tests.plugin.conftest import INI, PROMPT, summary_of
from tests.plugin.reported import CONFTEST, reports

TABLE = """id,ticket,expected,language
charged,I was charged twice this month and want a refund.,BILLING,en
"locked out","I cannot log in,
since yesterday.",BILLING,en
"""
FILES = """
from pathlib import Path

import pytest

SEEN = []

@robust(TRIAGE, inputs="cases.csv", mutations=2)
def test_table(response, input):
    assert input["language"] == "en"
    assert response.text
    SEEN.append(input["id"])

def test_seen():
    assert set(SEEN) == {"charged", "locked out"}

@robust(TRIAGE, inputs="letters", mutations=2, expected={"a": "BILLING"})
def test_folder(response, input):
    assert input == "I was charged twice."

@pytest.mark.asyncio
@robust(TRIAGE, inputs=Path(__file__).with_name("cases.csv"), expected="column:language", mutations=2)
async def test_path_and_column(response):
    assert response.text

@robust(TRIAGE, inputs="cases.csv", search="random", queries=12)
def test_search(response):
    assert response.text

@robust(TRIAGE, inputs="case.csv", mutations=2)
def test_missing(response):
    raise RuntimeError("asked")

@robust(TRIAGE, inputs="ragged.csv", mutations=2)
def test_ragged(response):
    raise RuntimeError("asked")

@robust(TRIAGE, inputs="cases.csv", expected="BILLING", mutations=2)
def test_two_golds(response):
    raise RuntimeError("asked")
"""


def test_data_files_stand_beside_the_test(pytester, monkeypatch):
    folder = pytester.mkdir("suite")
    (folder / "cases.csv").write_text(TABLE, encoding="utf-8")
    (folder / "ragged.csv").write_text("ticket\na,b\n", encoding="utf-8")
    (folder / "letters").mkdir()
    (folder / "letters" / "a.txt").write_text("I was charged twice.", encoding="utf-8")
    (folder / "test_files.py").write_text(PROMPT + FILES, encoding="utf-8")
    pytester.makeconftest(CONFTEST)
    pytester.makefile(".ini", pytest=INI)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.delenv("CI", raising=False)
    result = pytester.runpytest()
    result.assert_outcomes(passed=5, errors=3)
    told = summary_of(result)
    assert {name for name, verdict in told.items() if verdict == "pass"} >= {"test_table", "test_folder"}
    shown = " ".join(result.stdout.str().split())
    assert "UsageError: inputs='case.csv': there is no such file or folder." in shown
    assert "Did you mean 'cases.csv' or 'ragged.csv'?" in shown
    assert "UsageError: inputs='ragged.csv': line 2 has 2 cells and the header 1 column" in shown
    assert "UsageError: inputs='cases.csv': the header has the column 'expected'" in shown
    assert "RuntimeError" not in shown
    gold = {
        name.rpartition("::")[2]: (each["gold"] or {}).get("inputs")
        for name, each in reports(pytester).items()
    }
    assert (gold["test_table"], gold["test_folder"], gold["test_path_and_column"]) == (2, 1, 2)
