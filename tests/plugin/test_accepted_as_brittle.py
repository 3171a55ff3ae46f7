"""Tests that are accepted as brittle, with a reason and until a day."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import freezegun
import pytest
import time_machine

from tests.in_process import promptfuzz

if TYPE_CHECKING:
    from collections.abc import Callable

    Project = Callable[..., pytest.RunResult]

WHY = "the new model shouts; see the ticket"
TEST = f"""
TEXTS = []

@robust(TRIAGE, mutations=4, controls=0, shrink=0, accept_brittle={WHY!r}, until="2099-03-01")
def test_it(prompt):
    TEXTS.append(str(prompt))
    return "OTHER" if BREAKS and TEXTS[-1] != TEXTS[0] else "BILLING"
"""
BRITTLE, PASSING = "BREAKS = True\n" + TEST, "BREAKS = False\n" + TEST
REPORTS = "--promptfuzz-report=json:report.json,md:report.md,html:report.html"
FREEZERS: dict[str, Callable[[str], Any]] = {
    "freezegun": freezegun.freeze_time,
    "time-machine": lambda day: time_machine.travel(day, tick=True),
}


def on(day: str, project: Project, source: str, *arguments: str) -> pytest.RunResult:
    with time_machine.travel(f"{day}T12:00", tick=True):
        return project(source, *arguments)


def said(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_it_blocks_nothing_and_is_shown_everywhere(
    project: Project, pytester: pytest.Pytester, workers: Any
) -> None:
    result = project(BRITTLE, REPORTS, "--junitxml=junit.xml", "-rx", *workers)
    assert result.ret == 0
    result.assert_outcomes(xfailed=1)
    shown = f"accepted as brittle until 2099-03-01: {WHY}"
    assert f"promptfuzz: test_it.py::test_it is {shown}" in said(result)
    assert f"XFAIL test_it.py::test_it - reason: {shown}" in said(result)
    assert "failed as expected" not in said(result), "it has a line, and no section of its own"
    report = json.loads((pytester.path / "report.json").read_text())
    assert report["tests"][0]["accepted"] == {"reason": WHY, "until": "2099-03-01", "status": "accepted"}
    for name in ("report.md", "report.html"):
        text = (pytester.path / name).read_text()
        assert "2099-03-01" in text, name
        assert WHY in text, name
    (case,) = ET.parse(pytester.path / "junit.xml").iter("testcase")
    values = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert values["promptfuzz_accepted"] == "accepted"
    assert values["promptfuzz_accepted_until"] == "2099-03-01"
    assert values["promptfuzz_accepted_reason"] == WHY
    (skipped,) = case.iter("skipped")
    assert shown in skipped.get("message", "")
    terminal = promptfuzz("report", "--from", "report.json", folder=pytester.path)
    assert shown in " ".join(terminal.stdout.split())


@pytest.mark.parametrize("freezer", FREEZERS)
@pytest.mark.parametrize(("day", "fails"), [("2099-03-01", False), ("2099-03-02", True)])
def test_after_the_day_it_fails_and_names_day_and_reason(
    project: Project, freezer: str, day: str, fails: bool
) -> None:
    with FREEZERS[freezer](f"{day}T12:00"):
        result = project(BRITTLE)
    result.assert_outcomes(**({"failed": 1} if fails else {"xfailed": 1}))
    named = f"This test was accepted as brittle until 2099-03-01 ({WHY}), and that day is past"
    assert said(result).count(named) == fails
    assert said(result).count("that day is past") == fails, "told once"


def test_a_test_that_freezes_its_own_clock_is_still_held_to_the_real_day(project: Project) -> None:
    frozen = """
import freezegun
import pytest

@pytest.fixture(autouse=True)
def long_ago():
    with freezegun.freeze_time("2020-01-01"):
        yield
"""
    on("2100-01-01", project, frozen + BRITTLE).assert_outcomes(failed=1)


def test_one_that_passes_now_says_so(project: Project, pytester: pytest.Pytester) -> None:
    result = project(PASSING, REPORTS)
    assert result.ret == 0
    result.assert_outcomes(xpassed=1)
    told = f"passes now, and is still accepted as brittle until 2099-03-01: {WHY}. Remove accept_brittle="
    assert f"promptfuzz: test_it.py::test_it {told}" in said(result)
    assert "it passes now, so that `accept_brittle` can go" in (pytester.path / "report.md").read_text()
    strict = project(PASSING, "-o", "xfail_strict=true")
    strict.assert_outcomes(failed=1)
    assert "[XPASS(strict)]" in said(strict)


def test_it_is_no_new_brittle_test(project: Project) -> None:
    project(PASSING, "--promptfuzz-save=base")
    result = project(BRITTLE, "--promptfuzz-compare=base", "--promptfuzz-fail-on=new brittle")
    assert result.ret == 0
    other = project(BRITTLE.replace("2099-03-01", "2020-03-01"), "--promptfuzz-compare=base")
    assert other.ret == 1


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("accept_brittle='why'", "accept_brittle= has no end. Add the last day"),
        ("until='2099-03-01'", "until='2099-03-01' ends nothing. Add accept_brittle="),
        (
            "accept_brittle='why', until='soon'",
            "until='soon' is not a day. Write year-month-day, such as '2027-03-01'.",
        ),
        ("accept_brittle='why', until='20990301'", "until='20990301' is not a day."),
        ("accept_brittle='why', until='2099-W01-1'", "until='2099-W01-1' is not a day."),
        ("accept_brittle=' ', until='2099-03-01'", "accept_brittle=' ' is no reason."),
        (
            "accept_brittle='a' * 301, until='2099-03-01'",
            "accept_brittle= has 301 characters. Write at most 300",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(project: Project, keys: str, message: str) -> None:
    result = project(f"@robust(TRIAGE, {keys})\ndef test_it(prompt):\n    return 'BILLING'\n")
    assert message in said(result)
    result.assert_outcomes(errors=1)


def test_a_day_may_be_a_date(project: Project) -> None:
    source = "import datetime\n" + BRITTLE.replace('until="2099-03-01"', "until=datetime.date(2099, 3, 1)")
    project(source).assert_outcomes(xfailed=1)
