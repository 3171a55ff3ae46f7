"""Errors of one cause: one section of pytest's ERRORS, and every test in counts, short summary and JUnit report."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

from pytest_promptfuzz.plugin.hooks import RepeatedErrors, WholeErrors

KEYLESS = """
import pytest

@pytest.mark.parametrize("number", range({number}))
@robust(TRIAGE, target="openai:gpt-5-mini")
def test_without_a_key(prompt, llm, number):
    print("printed by", number)
    return llm(prompt.format(ticket=TICKET)).text

@robust(TRIAGE, mutations=3)
def test_of_the_simulated_model(prompt, llm):
    return llm(prompt.format(ticket=TICKET)).text
"""
HEADLINE = re.compile(r"^_+ ERROR at (.+?) _+$", re.MULTILINE)


@pytest.fixture
def keyless(project, monkeypatch):
    """Run a number of tests whose target wants a key that is not there, and one that passes."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def run(number: int, *arguments: str, **files: str) -> pytest.RunResult:
        return project(KEYLESS.format(number=number), *arguments, **files)

    return run


@pytest.mark.parametrize("given", ["", "-q", "-v", "--tb=short", "-n2", "--color=yes"])
def test_nine_tests_with_one_cause_are_one_section(keyless, given):
    result = keyless(9, *given.split())
    shown = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout.str())
    assert HEADLINE.findall(shown) == ["setup of 9 tests"]
    section = shown[: shown.index("= prompt robustness =")].partition("ERROR at setup of 9 tests")[2]
    assert section.count("OPENAI_API_KEY") == 1
    assert "9 tests ended in this error:" in section
    assert len(re.findall(r"^   test_it.py::test_without_a_key\[\d\]$", section, re.MULTILINE)) == 3
    assert "   … and 6 more" in section
    assert "[gw" not in section
    assert len(re.findall(r"^ERROR test_it.py::test_without_a_key\[\d\]", shown, re.MULTILINE)) == 9
    assert result.parseoutcomes() == {"passed": 1, "errors": 9}
    assert "10 robust tests: 9 not judged, 1 passed;" in shown


def test_output_that_was_captured_says_whose_it_is(keyless):
    shown = keyless(3).stdout.str()
    assert shown.count("printed by") == 1
    assert shown.index("Output that pytest captured is the first test's.") < shown.index("printed by 0")


@pytest.mark.parametrize("number", [2, 4])
def test_a_few_tests_are_all_named(keyless, number):
    section = keyless(number).stdout.str().partition("= prompt robustness =")[0]
    assert section.count("::test_without_a_key[") == number
    assert " more" not in section


def test_one_test_is_shown_as_it_was(keyless):
    shown = keyless(1).stdout.str()
    assert HEADLINE.findall(shown) == ["setup of test_without_a_key[0]"]
    assert "ended in this error" not in shown
    assert "2 robust tests: 1 not judged, 1 passed;" in shown


def test_a_run_may_show_each_by_itself(keyless):
    result = keyless(3, "-p", "no:promptfuzz-repeated-errors")
    assert HEADLINE.findall(result.stdout.str()) == [
        f"setup of test_without_a_key[{each}]" for each in range(3)
    ]
    assert result.parseoutcomes() == {"passed": 1, "errors": 3}


def test_the_junit_report_has_each_test_with_its_message(keyless, pytester):
    keyless(9, "--junitxml=it.xml")
    errors = ET.parse(pytester.path / "it.xml").getroot().findall(".//error")
    assert len(errors) == 9
    assert len({each.text for each in errors}) == 9
    assert all("OPENAI_API_KEY" in (each.text or "") for each in errors)


def test_other_errors_are_sections_of_their_own(project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    result = project("""
        import pytest

        @pytest.fixture
        def broken():
            raise ValueError("one")

        @pytest.mark.parametrize("number", [1, 2])
        def test_not_ours(broken, number):
            pass

        @pytest.mark.parametrize("number", [1, 2])
        @robust(TRIAGE)
        def test_robust(prompt, llm, broken, number):
            pass

        @pytest.mark.parametrize("number", [1, 2])
        @robust(TRIAGE, threshold=85)
        def test_a_mistake(prompt, llm, number):
            pass

        @robust(TRIAGE, threshold=86)
        def test_another_mistake(prompt, llm):
            pass
    """)
    assert HEADLINE.findall(result.stdout.str()) == [
        "setup of test_not_ours[1]",
        "setup of test_not_ours[2]",
        "setup of test_robust[1]",
        "setup of test_robust[2]",
        "setup of 2 tests",
        "setup of test_another_mistake",
    ]
    assert result.parseoutcomes() == {"errors": 7}


def test_verdicts_that_say_the_same_are_one_section(project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    result = project("""
        import pytest

        def answer(text):
            if "Classify" in text:
                return "The customer paid the same bill on two occasions, and would like the money back."
            return "Somebody whose card was debited twice wishes to see the surplus returned soon."

        @pytest.mark.parametrize("number", [1, 2, 3])
        @robust(TRIAGE, operators=["instruction-paraphrase"], mutations=1, target=answer, inputs=[TICKET])
        def test_that_nothing_can_judge(response, number):
            pass

        @robust(TRIAGE, operators=["instruction-paraphrase"], mutations=1, target=answer, threshold=0.9, inputs=["?"])
        def test_of_another_input(response):
            pass
    """)
    shown = result.stdout.str()
    assert HEADLINE.findall(shown) == ["verdict of 3 tests", "verdict of test_of_another_input"]
    assert shown.count("Inconclusive: ") == 2
    assert shown.count("3 tests ended in this error:") == 1
    assert "4 robust tests: 4 inconclusive;" in shown
    assert len(re.findall(r"^INCONCLUSIVE test_it.py::test_that_nothing", shown, re.MULTILINE)) == 3


def test_other_plugins_see_every_report(keyless, pytester):
    pytester.makeconftest("""
        import pytest

        @pytest.hookimpl(tryfirst=True)
        def pytest_terminal_summary(terminalreporter):
            print("seen first:", len(terminalreporter.stats["error"]))

        @pytest.hookimpl(trylast=True)
        def pytest_unconfigure(config):
            reporter = config.pluginmanager.get_plugin("terminalreporter")
            print("seen last:", len(reporter.stats["error"]))
    """)
    result = keyless(3, "-s")
    result.stdout.fnmatch_lines(["*seen first: 3", "*seen last: 3"])


def test_reports_are_given_back_where_a_plugin_breaks_off():
    errors = [SimpleNamespace(longrepr="one", when="setup")]
    reporter = SimpleNamespace(stats={"error": errors})
    repeated = RepeatedErrors()
    running = repeated.pytest_terminal_summary(reporter)
    next(running)
    assert reporter.stats["error"] is not errors
    with pytest.raises(KeyError):
        running.throw(KeyError("a plugin's"))
    assert reporter.stats["error"] is errors
    within = WholeErrors(repeated).pytest_terminal_summary()
    next(within)
    assert reporter.stats["error"] is errors
