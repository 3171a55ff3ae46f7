"""``promptfuzz explain`` as a person runs it: on stored answers, and no others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_promptfuzz.reporting.terminal.styled_text import columns
from tests.in_process import promptfuzz, run_pytest

SUITE = """
import os
from pathlib import Path

import openai

from pytest_promptfuzz import Prompt, robust

TRIAGE = Prompt(
    "Classify the support ticket below. Read it carefully before you answer, and think about what the customer "
    "needs. Kindly name one of these teams: billing, shipping. Answer with the name only.\\n\\nTicket: {ticket}"
)

def asked(prompt):
    answer = openai.OpenAI().chat.completions.create(
        model="gpt-5-mini", messages=[{"role": "user", "content": prompt.format(ticket="I was charged twice.")}]
    )
    return answer.choices[0].message.content

@robust(TRIAGE, mutations=int(os.environ.get("PLAN", 60)), threshold=0.0)
def test_carefully(prompt):
    assert asked(prompt)
    return "billing" if "carefully" in str(prompt) else "shipping"

@robust(TRIAGE, mutations=3, threshold=0.0)
def test_steady(prompt):
    asked(prompt)
    return "billing"

def test_plain():
    Path("ran").write_text(str(Path("ran").exists()))
"""
INI = "[pytest]\npromptfuzz_target = openai:gpt-5-mini\nasyncio_default_fixture_loop_scope = function\n"


@pytest.fixture
def folder(tmp_path, monkeypatch, promptfuzz_server):
    monkeypatch.setenv("PROMPTFUZZ_CONTROLS", "off")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "CI", "PROMPTFUZZ_STOP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_server.openai_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdefghij")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:anyio -p no:hypothesispytest")
    (tmp_path / "test_it.py").write_text(SUITE, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text(INI, encoding="utf-8")
    (tmp_path / "p.txt").write_text("Answer with YES or NO.\n\nIs {thing} blue?", encoding="utf-8")
    return tmp_path


@pytest.fixture
def few_draws(monkeypatch):
    """For tests that do not look at the figures: the permutations take most of the time."""
    monkeypatch.setattr("pytest_promptfuzz.results.explanations.DRAWS", 99)


def ran(*arguments, **environment):
    return run_pytest(*arguments, environment={**os.environ, **environment})


def explained(*arguments, **environment):
    return promptfuzz("explain", *arguments, environment={**os.environ, **environment})


def test_a_word_that_breaks_the_answer_is_named_marked_and_first(folder, promptfuzz_server):
    assert ran("-q", PROMPTFUZZ_STOP="never").returncode == 0
    asked, written = promptfuzz_server.calls, Path("ran").read_text(encoding="utf-8")
    before = {each: each.read_bytes() for each in folder.rglob("lastfailed")}
    shown = explained("test_it.py", "--width", "110")
    assert shown.returncode == 0, shown.stderr
    assert promptfuzz_server.calls == asked, "nothing is asked"
    assert Path("ran").read_text(encoding="utf-8") == written, "tests of others do not run"
    assert before == {each: each.read_bytes() for each in folder.rglob("lastfailed")}
    first, marker, second = shown.stdout.partition("\n\ntest_it.py::test_steady")
    second = (marker + second).strip()
    assert first.startswith(
        "test_it.py::test_carefully: 4 of 60 trials deviate in most of their answers\nThe word “carefully” matters: of the"
    )
    assert "Read it [carefully] before you answer, and think" in first
    assert first.count("[") == 1
    table = first.partition("deviating, of trials")[2].splitlines()
    assert " ".join(table[1].split()) == (
        "the word “carefully” 2 of 2 (34-100%), 0 of 55 (0-7%) p = 0.004 matters"
    )
    assert all(line.endswith("not shown") for line in table[2:] if line.startswith("  "))
    assert second.startswith(
        "test_it.py::test_steady: 0 of 3 trials deviate in most of their answers\nNo trial deviates"
    )
    coloured = explained("test_it.py::test_carefully", FORCE_COLOR="1").stdout
    assert "\x1b[1;31mcarefully\x1b[0m" in coloured
    assert "[carefully]" not in coloured
    for width in (40, 80):
        narrow = explained("test_it.py::test_carefully", "--width", str(width)).stdout
        assert max(map(columns, narrow.splitlines())) <= width
    (found,) = json.loads(explained("test_it.py::test_carefully", "--json").stdout)
    assert (found["trials"], found["deviating"], found["missing"]) == (60, 4, 0)
    assert found["causes"][0]["parts"] == ["carefully"]
    assert found["causes"][0]["touching"] == {
        "trials": 2,
        "broken": 2,
        "asked": 2,
        "share": 1.0,
        "interval": [0.3424, 1.0],
    }
    assert [text for text, mark in found["prompt"] if mark == "matters"] == ["carefully"]
    assert "".join(text for text, _ in found["prompt"]).startswith("Classify the support ticket below.")


def test_trials_without_a_stored_answer_are_counted(folder, promptfuzz_server, few_draws):
    assert ran("-q", PLAN="20", PROMPTFUZZ_STOP="never").returncode == 0
    asked = promptfuzz_server.calls
    (found,) = json.loads(explained("test_it.py::test_carefully", "--json", PLAN="60").stdout)
    assert found["trials"] + found["missing"] == 60
    assert 12 <= found["trials"] < 40
    shown = explained("test_it.py::test_carefully", "--width", "120", PLAN="60").stdout
    assert f"; {found['missing']} more have no stored answer\n" in shown
    assert promptfuzz_server.calls == asked


def test_without_any_stored_answer_nothing_can_be_told(folder, promptfuzz_server):
    shown = explained("test_it.py::test_steady", "--width", "200")
    assert shown.returncode == 3
    assert (
        "test_it.py::test_steady: the unmutated prompt has no stored answer. Run the test first."
        in shown.stderr
    )
    assert promptfuzz_server.calls == 0


def test_recorded_answers_serve(folder, promptfuzz_server, few_draws):
    assert ran("-q", "--promptfuzz-mode=record").returncode == 0
    asked = promptfuzz_server.calls
    for each in folder.glob(".promptfuzz/**/*"):
        if each.is_file():
            each.unlink()
    for environment in ({}, {"CI": "true"}):
        (found,) = json.loads(explained("test_it.py::test_carefully", "--json", **environment).stdout)
        assert (found["trials"], found["missing"], found["deviating"]) == (60, 0, 4)
    assert promptfuzz_server.calls == asked


def test_a_prompt_file_is_explained_on_what_promptfuzz_run_asked(folder, promptfuzz_server):
    given = ("p.txt", "--target", "openai:gpt-5-mini", "-n", "6", "--set", "thing=the sky")
    assert promptfuzz("run", *given, "--stop", "never", "--json").returncode in {0, 1, 3}
    asked = promptfuzz_server.calls
    assert asked >= 7
    done = explained(*given, "--json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    assert (found["test"], found["trials"] + found["silent"], found["missing"]) == ("p.txt", 6, 0)
    (found,) = json.loads(explained(*given[:4], "12", *given[5:], "--json").stdout)
    assert found["missing"] > 0
    assert promptfuzz_server.calls == asked


def test_a_part_of_the_name_of_a_test_that_ran_names_it(folder, few_draws):
    early = explained("carefully")
    assert early.returncode == 2
    assert "no such test or file: 'carefully'. No run is kept: name the test as FILE::TEST." in early.stderr
    assert ran("-q", PLAN="4", PROMPTFUZZ_STOP="never").returncode == 0
    (folder / "inside").mkdir()
    for environment in ({}, {"PWD": "inside"}):
        os.chdir(folder / environment.get("PWD", ""))
        (found,) = json.loads(explained("careful", "--json", PLAN="4").stdout)
        assert found["test"].endswith("test_it.py::test_carefully")
    assert len(json.loads(explained("test_", "--json", PLAN="4").stdout)) == 2
    unknown = explained("nope")
    assert unknown.returncode == 2
    assert "no such test or file: 'nope'. Known: test_carefully, test_steady." in unknown.stderr
    assert "Did you mean 'test_carefully'?" in explained("carefuly").stderr


def test_secrets_are_not_shown(folder, few_draws):
    secret = "sk-live-0123456789abcdefghijklmnop"
    source = SUITE.replace("Kindly name", f"My key is {secret}. Kindly name")
    Path("test_it.py").write_text(source, encoding="utf-8")
    assert ran("-q", PROMPTFUZZ_STOP="never").returncode == 0
    for extra in ((), ("--json",)):
        shown = explained("test_it.py::test_carefully", *extra)
        assert shown.returncode == 0
        assert "carefully" in shown.stdout
        assert secret not in shown.stdout + shown.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing_here.txt",), "no target. Add --target"),
        (("nothing_here.txt", "--target", "simulated"), "nothing_here.txt"),
        (("p.txt", "other.txt", "--target", "simulated"), "name one prompt file, not 2: p.txt, other.txt"),
        (("test_it.py::test_none",), "pytest could not run the tests"),
        (("test_it.py::test_plain",), "pytest could not run the tests"),
        (("test_it.py", "--", "--no-such-option"), "unrecognized arguments"),
    ],
)
def test_bad_input_is_named(folder, arguments, said):
    shown = explained(*arguments)
    assert shown.returncode == 2
    assert said in shown.stderr
    assert "Traceback" not in shown.stderr


def test_a_test_that_cannot_run_says_why(folder):
    Path("test_it.py").write_text(SUITE.replace("mutations=3", "mutations=0"), encoding="utf-8")
    shown = explained("test_it.py::test_steady")
    assert shown.returncode == 2
    assert "test_it.py::test_steady: no result" in shown.stderr
    assert "mutations" in shown.stderr
