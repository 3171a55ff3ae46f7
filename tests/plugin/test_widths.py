"""What we write fits the terminal, whatever pytest and other plugins write beside it."""

from __future__ import annotations

import re

import pytest

THEIRS = (
    "plugins:",
    "asyncio:",
    "rootdir:",
    "cachedir:",
    "hypothesis profile",
    "_ ERROR at ",
    "- generated xml",
)
SUITE = """
@robust(TRIAGE, mutations=3)
def test_with_a_name_that_takes_more_than_half_of_an_ordinary_terminal(prompt, llm):
    return llm(prompt.format(ticket=TICKET), temperature={temperature})

@robust(TRIAGE, mutations=3)
def test_whose_unmutated_prompt_fails(prompt, llm):
    assert llm(prompt.format(ticket=TICKET)).text == "EVERYTHING"

@robust(TRIAGE, mutations=3, target=str.upper, inputs=[TICKET])
def test_of_a_function(response):
    assert response
"""


def too_long(result: pytest.RunResult, width: int) -> list[str]:
    shown = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in result.outlines]
    return [line for line in shown if len(line) > width and not line.startswith(THEIRS)]


@pytest.fixture
def narrow(project, monkeypatch):
    """Run a suite at a width, with or without colour."""

    def run(width: int, *arguments: str, temperature: int = 0) -> pytest.RunResult:
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("PROMPTFUZZ_MAX_CALL", "3")  # is told in the header: a misspelt setting
        return project(SUITE.format(temperature=temperature), "-rN", *arguments)

    return run


@pytest.mark.parametrize("color", ["no", "yes"])
@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(narrow, width, color):
    recorded = narrow(width, "--promptfuzz-mode=record", f"--color={color}")
    planned = narrow(width, "--promptfuzz-dry-run", f"--color={color}")
    missed = narrow(width, "--promptfuzz-mode=replay", f"--color={color}", temperature=1)
    assert [too_long(each, width) for each in (recorded, planned, missed)] == [[], [], []]
    said = " ".join(" ".join(each.split()) for each in (recorded.stdout.str(), missed.stdout.str()))
    said = re.sub(r"\x1b\[[0-9;]*m", "", said)
    assert "Traceback" not in said
    assert "has no attribute" not in said
    assert (
        "promptfuzz: failed on the unmutated prompt, so nothing was mutated: test_it.py::test_whose" in said
    )
    assert "promptfuzz: the environment variable PROMPTFUZZ_MAX_CALL is no setting" in said
    assert (
        "NotRecordedError: test_it.py::test_with_a_name_that_takes_more_than_half_of_an_ordinary_terminal: the request of the baseline differs"
        in said
    )


def test_a_message_crosses_processes_and_is_laid_out_where_it_is_printed(narrow):
    narrow(80, "--promptfuzz-mode=record")
    missed = narrow(80, "--promptfuzz-mode=replay", "-n1", "--junitxml=it.xml", temperature=1)
    assert too_long(missed, 80) == []
    whole = missed.stdout.str()
    assert (
        "NotRecordedError: test_it.py::test_with_a_name_that_takes_more_than_half_of_an_ordinary_terminal: the request of the baseline differs"
        in " ".join(whole.split())
    )


def test_a_verbose_run_shows_the_interval_at_any_width(narrow):
    shown = narrow(80, "-v").stdout.str()
    heading = next(line for line in shown.splitlines() if line.startswith("test  "))
    assert " 95 % " in heading
    plain = narrow(80).stdout.str()
    assert " 95 % " not in next(line for line in plain.splitlines() if line.startswith("test  "))


@pytest.mark.parametrize(("given", "hinted", "explained"), [("-q", 0, 0), ("", 1, 0), ("-v", 0, 1)])
def test_columns_are_explained_under_v_alone(narrow, given, hinted, explained):
    shown = " ".join(narrow(80, *given.split()).stdout.str().split())
    assert shown.count("-v explains the columns.") == hinted
    assert shown.count("min: lowest score that passes") == explained
    assert shown.count("Left out for lack of width: ") == explained
    assert "prompt robustness" in shown


def test_a_row_has_the_end_of_its_test(project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    source = """
        import pytest

        @pytest.mark.parametrize("number", [1, 2])
        @robust(TRIAGE, mutations=3, target=str.upper, inputs=[TICKET])
        def test_whose_name_alone_is_longer_than_its_column(response, number):
            assert response

        @robust(TRIAGE, mutations=3, target=str.upper, inputs=[TICKET])
        def test_of_a_short_name(response):
            assert response
    """
    rows = re.findall(r"^…\S*", project(source).stdout.str(), re.MULTILINE)
    assert sorted(row[-14:] for row in rows) == [
        "_its_column[1]",
        "_its_column[2]",
        "f_a_short_name",
    ]
    assert any(row.endswith(".py::test_of_a_short_name") for row in rows)


def test_every_column_that_is_shown_is_explained_and_no_other(narrow):
    shown = narrow(80, "-v").stdout.str()
    heading = re.findall(r"95 %|\S+", next(line for line in shown.splitlines() if line.startswith("test  ")))
    legend = " ".join(shown[shown.index("95 %: the true score") :].split("Left out")[0].split())
    assert heading[1:3] == ["verdict", "score"]
    for name in (
        "adj:",
        "95 %:",
        "min:",
        "E:",
        "M:",
        "D:",
        "und:",
        "err:",
        "calls:",
        "hits:",
        "time:",
        "tokens:",
    ):
        assert (name in legend) == (name.strip(" :") in heading), name
