"""Tests with another name by now, told from tests that are still there: what is stored of the latter stays theirs."""

from __future__ import annotations

import json

import pytest

INHERITED = """
from shared import Base

class TestA(Base):
    pass

class TestB(Base):
    pass
"""
IMPORTED = """
from shared import test_triage, test_other
"""
SHARED = """
from pytest_promptfuzz import Prompt, robust

TRIAGE = Prompt(
    "Classify the support ticket. Answer with one of these labels: BILLING, TECHNICAL, ACCOUNT, OTHER.\\n"
    "Answer with the label only.\\n\\nTicket: {ticket}"
)
TEXT = "I was charged twice."

class Base:
    @robust(TRIAGE, mutations=2, controls=0, threshold=0.2)
    def test_triage(self, prompt, llm):
        return llm(prompt.format(ticket=TEXT))

@robust(TRIAGE, mutations=2, controls=0, threshold=0.2)
def test_triage(prompt, llm):
    return llm(prompt.format(ticket=TEXT))

@robust(TRIAGE, mutations=2, controls=0, threshold=0.2)
def test_other(prompt, llm):
    return llm(prompt.format(ticket=TEXT))
"""


def stored(path, kind):
    """The tests that something is stored of."""
    folder = path / "__promptfuzz__"
    if kind == "snapshots":
        return {json.loads(each.read_text())["test"] for each in folder.glob("*.snap/*.json")}
    lines = [line for each in folder.glob("*.calls.jsonl") for line in each.read_text().splitlines()[1:]]
    return {json.loads(line)["test"] for line in lines}


OPTIONS = {"snapshots": "--promptfuzz-update", "recordings": "--promptfuzz-mode=record-missing"}


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize(
    ("source", "one", "other"),
    [
        (INHERITED, "TestA::test_triage", "TestB::test_triage"),
        (IMPORTED, "test_triage", "test_other"),
        (IMPORTED.replace("test_triage, test_other", "*"), "test_triage", "test_other"),
    ],
    ids=["inherited", "imported", "star"],
)
def test_a_test_whose_name_is_not_defined_in_its_module_keeps_what_is_stored(
    project, pytester, kind, source, one, other
) -> None:
    project(source, f"test_it.py::{one}", OPTIONS[kind], shared=SHARED)
    assert stored(pytester.path, kind) == {one}
    done = project(source, f"test_it.py::{other}", OPTIONS[kind])
    assert stored(pytester.path, kind) == {one, other}
    assert f"of {one}" not in done.stdout.str()
    done.assert_outcomes(passed=1)


NAMED = """
@robust(TRIAGE, mutations=2, controls=0, threshold=0.2)
def test_{name}(prompt, llm):
    return llm(prompt.format(ticket=TICKET))

@robust("Is this ticket about money? Answer yes or no.\\n\\nTicket: {{ticket}}", mutations=2, controls=0)
def test_money(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_run_of_some_tests_takes_a_copy_of_what_is_stored_under_a_former_name(
    project, pytester, kind
) -> None:
    project(NAMED.format(name="first"), OPTIONS[kind])
    done = project(NAMED.format(name="second"), "test_it.py::test_second", OPTIONS[kind])
    assert stored(pytester.path, kind) == {"test_first", "test_second", "test_money"}
    assert "renamed" not in done.stdout.str()
    done = project(NAMED.format(name="third"), OPTIONS[kind])  # both are gone now, and fit as well
    assert {"test_third", "test_money"} <= stored(pytester.path, kind)


PARAMETERS = """
import pytest

@pytest.mark.parametrize("model", {models})
@robust(TRIAGE, mutations=2, controls=0, threshold=0.2, model_drift="fail")
def test_triage(prompt, model):
    prompt.format(ticket=TICKET)
    return {{"small": "billing", "big": "parcel"}}[model]
"""


@pytest.mark.parametrize("models", [["small", "big"], ["big", "small"]])
def test_a_new_parameter_has_no_snapshot_beside_one_that_still_asks_what_its_own_says(
    project, pytester, models
) -> None:
    project(PARAMETERS.format(models=["small"]), "--promptfuzz-update")
    seen = project(PARAMETERS.format(models=models))
    seen.assert_outcomes(passed=2)
    assert "the model changed" not in seen.stdout.str()
    assert "uses the snapshot" not in seen.stdout.str()
    project(PARAMETERS.format(models=models), "--promptfuzz-update=new")
    assert stored(pytester.path, "snapshots") == {"test_triage[small]", "test_triage[big]"}


SHIFTED = """
import pytest

@pytest.fixture
def prompt(team):
    return Prompt(f"Name the team for the ticket {{team}}: billing, parcel or other.\\nAnswer with one word. {{{{t}}}}")

@pytest.mark.parametrize("team", {teams}, ids={ids})
@robust(mutations=4, controls=0, threshold=0.2, stop="never", task="classification")
def test_team(prompt, team):
    prompt.format(t="z")
    return "billing"
"""


def shifted(*teams, ids=("first", "second", "third")):
    return SHIFTED.format(teams=teams, ids=ids[: len(teams)])


def test_a_new_parameter_takes_what_a_sibling_no_longer_asks(project) -> None:
    project(shifted("sales"), "--promptfuzz-update")
    seen = project(shifted("legal", "sales"))
    assert "test_it.py::test_team[second] uses the snapshot of test_team[first]" in seen.stdout.str()


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_a_comparison_is_the_same_with_workers(project_forked, workers) -> None:
    project_forked(shifted("one", "two", "three", ids=("one", "two", "base")), "--promptfuzz-save=main")
    options = ("--promptfuzz-compare=main", "--promptfuzz-fail-on=gone")
    seen = project_forked(shifted("one", "two", "three", ids=("first", "second", "base")), *options, *workers)
    assert seen.ret == pytest.ExitCode.OK
    assert "no test is better or worse" in seen.stdout.str()
    gone = project_forked(shifted("one", ids=("one",)), *options, *workers)
    assert "is met by 2 tests" in gone.stdout.str()


def test_the_last_run_of_a_test_is_its_own_although_its_snapshot_has_its_former_name(project) -> None:
    bad = """
    @robust(TRIAGE, mutations=8, controls=0, threshold=0.1, stop="never")
    def test_{name}(prompt):
        return "billing" if "Answer with the label only" in prompt.format(ticket=TICKET) else "other"
    """
    good = bad.replace('"Answer with the label only" in ', "")
    project(bad.format(name="a"), "--promptfuzz-update")
    project(good.format(name="b"))
    seen = project(bad.format(name="b"), "--promptfuzz-compare=last", "--promptfuzz-fail-on=any score drop")
    assert "was 1.00" in seen.stdout.str()
    assert seen.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("order", [("b", "a"), ("b",)], ids=["swapped", "the first deleted"])
def test_a_snapshot_follows_ids_that_shift_towards_the_first(project, order) -> None:
    source = """
    import pytest

    @pytest.mark.parametrize("team", {teams}, ids=["first", "second"][:len({teams})])
    @robust(mutations=2, mutate="text", controls=0, threshold=0.1, prompt_drift="fail")
    def test_team(text, llm):
        return llm(text)

    @pytest.fixture
    def text(team):
        return f"Classify the ticket of team {{team}} as BILLING or OTHER. Answer with the label only.\\n\\n{{TICKET}}"
    """
    project(source.format(teams=["a", "b"]), "--promptfuzz-update").assert_outcomes(passed=2)
    seen = project(source.format(teams=list(order)))
    seen.assert_outcomes(passed=len(order))
    assert "test_team[first]" in seen.stdout.str()
    assert (
        "former names" in seen.stdout.str() or "uses the snapshot of test_team[second]" in seen.stdout.str()
    )
