"""``promptfuzz replay`` as a person runs it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.in_process import promptfuzz, run_pytest

SUITE = """
import os

from pytest_promptfuzz import Prompt, robust

TEAMS = Prompt(os.environ.get("TEXT", "Read the support ticket carefully before you answer, and think about what the "
    "customer needs. Kindly name one of these teams: billing, shipping.\\n\\nTicket: {ticket}"))

def application(text):
    return "billing" if "carefully" in text or os.environ.get("FIXED") else "shipping"

@robust(TEAMS, mutations=20, threshold=0.99)
def test_teams(prompt):
    return application(prompt.format(ticket="I was charged twice."))
"""
NODE = "tests/test_it.py::test_teams"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "CI", "FIXED", "TEXT", "PROMPTFUZZ_SHRINK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:anyio -p no:hypothesispytest")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(SUITE, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    return tmp_path


def ran(*arguments, **environment):
    return run_pytest(*arguments, environment={**os.environ, **environment})


def replay(*arguments, **environment):
    return promptfuzz("replay", *arguments, environment={**os.environ, **environment})


def test_one_is_found_by_the_beginning_of_its_id_and_run_alone(folder):
    assert ran("-q").returncode == 1
    listed = json.loads(replay("--json").stdout)
    (known,) = [each for each in listed if each["counterexample"]]
    trials = [each for each in listed if not each["counterexample"]]
    assert known["test"] == NODE
    assert known["places"] == ["here"]
    assert trials
    plain = replay("--width", "200").stdout
    assert plain.startswith(f"{known['id']}  {NODE}  label 'billing' became 'shipping'  kept here\n")
    stored = {each: each.read_bytes() for each in folder.rglob("counterexamples/*")}

    breaks = replay(known["id"][:8])
    assert breaks.returncode == 1, breaks.stderr
    lines = breaks.stdout.splitlines()
    assert lines[0] == f"{known['id']} of {NODE}: still breaks"
    assert "prompt" in lines[1]
    assert "carefully" in lines[1]
    assert [line.split() for line in lines[2:4]] == [["baseline", "billing"], ["response", "shipping"]]
    assert lines[4].split(maxsplit=1) == ["why", "label 'billing' became 'shipping'"]

    passes = replay(known["id"], FIXED="1")
    assert (passes.returncode, passes.stdout.splitlines()[0]) == (0, f"{known['id']} of {NODE}: passes now")
    gone = replay(known["id"], TEXT="Name a team: billing, shipping.\n\n{ticket}")
    assert gone.returncode == 3
    assert gone.stdout.splitlines()[0] == f"{known['id']} of {NODE}: has no place any more"
    moved = json.loads(
        replay(known["id"], "--json", TEXT="Read it carefully: {ticket}. billing, shipping?").stdout
    )
    assert (moved["status"], moved["answer"]) == ("breaks", "shipping")
    assert moved["prompt"].startswith("Read it ")

    trial = trials[0]["id"]
    assert replay(trial).returncode == 1
    assert replay(trial, FIXED="1").returncode == 0
    assert {each: each.read_bytes() for each in folder.rglob("counterexamples/*")} == stored, (
        "nothing is retired"
    )


def test_what_is_pinned_in_git_is_found_from_a_folder_below(folder, monkeypatch):
    assert ran("-q", "--promptfuzz-update").returncode == 1
    (known,) = [each for each in json.loads(replay("--json").stdout) if each["counterexample"]]
    assert known["places"] == ["git", "here"]
    for each in (folder / ".promptfuzz" / "counterexamples").glob("*"):
        each.unlink()
    assert [each["places"] for each in json.loads(replay("--json").stdout)] == [["git"]]
    assert f"{known['id']}  {NODE}" in replay("--width", "200").stdout
    monkeypatch.chdir(folder / "tests")
    breaks = replay(known["id"][:6])
    assert breaks.returncode == 1, breaks.stderr
    assert breaks.stdout.startswith(f"{known['id']} of {NODE}: still breaks")


def test_unknown_and_ambiguous_ids_name_the_candidates(folder):
    nothing = replay("abc")
    assert nothing.returncode == 2
    assert "no counterexample or trial 'abc' is stored" in nothing.stderr
    assert replay().returncode == 0
    assert "No counterexample is stored" in replay().stdout
    assert json.loads(replay("--json").stdout) == []
    assert ran("-q").returncode == 1
    ids = [each["id"] for each in json.loads(replay("--json").stdout)]
    unknown = replay("zzz")
    assert unknown.returncode == 2
    assert "no counterexample or trial 'zzz' is stored. `promptfuzz replay` lists them." in unknown.stderr
    several = replay("")
    assert several.returncode == 2
    assert "several IDs begin with ''" in several.stderr
    assert all(each in several.stderr for each in ids)


def test_an_id_that_several_tests_share_is_run_for_each(folder):
    twice = (
        SUITE
        + """
@robust(TEAMS, mutations=20, threshold=0.99)
def test_fixed(prompt):
    answer = application(prompt.format(ticket="I was charged twice."))
    return "billing" if os.environ.get("HALF") else answer
"""
    )
    Path("tests/test_it.py").write_text(twice, encoding="utf-8")
    assert ran("-q").returncode == 1
    known = [each for each in json.loads(replay("--json").stdout) if each["counterexample"]]
    (name,) = {each["id"] for each in known}
    tests = sorted(each["test"] for each in known)
    assert tests == ["tests/test_it.py::test_fixed", NODE]
    for given in (name, name[:8]):
        breaks = replay(given)
        assert breaks.returncode == 1, breaks.stderr
        assert [f"{name} of {test}: still breaks" in breaks.stdout for test in tests] == [True, True]
    half = replay(name, "--json", HALF="1")
    assert half.returncode == 1
    assert [(each["test"], each["status"]) for each in json.loads(half.stdout)] == [
        (tests[0], "passes"),
        (tests[1], "breaks"),
    ]
    assert replay(name, FIXED="1").returncode == 0


def test_what_cannot_be_run_or_read_is_named(folder):
    assert ran("-q", "--promptfuzz-update").returncode == 1
    (known,) = [each for each in json.loads(replay("--json").stdout) if each["counterexample"]]
    (kept,) = (folder / ".promptfuzz" / "counterexamples").glob("*.json")
    kept.write_text("{", encoding="utf-8")
    damaged = replay("--width", "200")
    assert damaged.returncode == 0
    assert str(kept) in damaged.stderr
    assert known["id"] in damaged.stdout
    Path("tests/test_it.py").write_text(SUITE.replace("test_teams", "test_others"), encoding="utf-8")
    missing = replay(known["id"])
    assert missing.returncode == 2
    assert "pytest could not run the tests" in missing.stderr
    Path("tests/test_it.py").write_text(
        SUITE.replace("import os", "import os, nothing_such", 1), encoding="utf-8"
    )
    broken = replay(known["id"])
    assert broken.returncode == 2
    assert "nothing_such" in broken.stderr
    assert "Traceback (most recent" not in broken.stderr.partition("pytest could")[0]
