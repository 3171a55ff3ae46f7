"""Comparisons with an earlier run or commit, after tests were renamed, moved or parametrized otherwise."""

from __future__ import annotations

import json

import pytest

from pytest_promptfuzz.history.former_names import former_names, renamed
from tests.git_story import HEAD, Story, outcome

TEXTS = ["sales", "support"]
ONE = """
@pytest.mark.parametrize("team", {teams}, ids=lambda team: f"team{{{teams}.index(team)}}")
@robust(mutations=4, mutate="text")
def test_{name}(text, llm):
    return llm(text + TICKET)

@pytest.fixture
def text(team):
    return f"Classify the ticket of {{team}} as BILLING or OTHER. Answer with the label only.\\n\\nTicket: "

@robust("Is this ticket about money? Answer yes or no.\\n\\nTicket: {{ticket}}", mutations=4)
def test_{other}(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""


def write(story, name="team", other="money", teams=("sales", "support"), module="test_it.py"):
    (story.root / module).write_text(HEAD + ONE.format(name=name, other=other, teams=list(teams)))


@pytest.fixture(scope="module")
def adopted(tmp_path_factory):
    story = Story(tmp_path_factory.mktemp("git") / "repo")
    write(story)
    assert outcome(story.record()) == "3 passed"
    story.commit("adopt")
    return story


@pytest.fixture
def story(adopted):
    return adopted.afresh()


def compared(story, *arguments):
    done = story.replay("--promptfuzz-report=json:report.json", *arguments)
    changes = json.loads((story.root / "report.json").read_text())["changes"]
    return done, {row["test"]: row for row in changes["tests"]}


@pytest.mark.parametrize("way", ["renamed", "moved", "parameters"])
@pytest.mark.parametrize("base", ["commit", "last", "last without snapshots"])
def test_a_comparison_follows_a_test(story, way, base):
    if base != "commit":
        assert outcome(story.replay()) == "3 passed"
    if base == "last without snapshots":
        for path in (story.root / "__promptfuzz__" / "test_it.snap").glob("*"):
            path.unlink()
    if way == "renamed":
        write(story, "group", "payment")
    elif way == "moved":
        story.git("mv", "test_it.py", "test_moved.py")
    else:
        write(story, teams=("support", "sales"))
    done, rows = compared(story, "--promptfuzz-compare", "main" if base == "commit" else "last")
    assert outcome(done) == "3 passed"
    assert {row["status"] for row in rows.values()} == {"same"}
    assert {row["baseline"] for row in rows.values()} == {"same"}
    assert all(row["pairs"] == 4 for row in rows.values()), "trials are compared one by one"
    former = [test for test, row in rows.items() if "its former name is" in row["explanation"]]
    assert len(former) == (2 if way == "parameters" else 3)


def test_a_base_whose_tests_all_have_other_names_is_no_other_project(story):
    story.git("mv", "test_it.py", "test_moved.py")
    (story.root / "test_moved.py").write_text(
        HEAD
        + "\n@robust('Say hello to {name}.', mutations=2)\ndef test_new(prompt, llm):\n    return llm(prompt.format(name='me'))\n"
    )
    done = story.run("--promptfuzz-compare=main")
    assert "has none of these tests" in done.stdout + done.stderr


def entry(prompt):
    return {"prompt": prompt}


def test_a_pair_is_taken_only_where_no_other_fits_as_well():
    before = {"t.py::test_a": entry("p"), "t.py::test_b": entry("p"), "t.py::test_c": entry("q")}
    gone = before.__contains__
    assert former_names(before, {"t.py::test_x": entry("p")}, gone, {}) == {}
    assert former_names(before, {"t.py::test_x": entry("q")}, gone, {}) == {"t.py::test_x": "t.py::test_c"}
    two = {"t.py::test_x": entry("q"), "t.py::test_y": entry("q")}
    assert former_names(before, two, gone, {}) == {}
    assert former_names(before, two, gone, {"t.py::test_y": "t.py::test_c"}) == {
        "t.py::test_y": "t.py::test_c"
    }
    assert former_names(before, {"t.py::test_x": entry("q")}, lambda _: False, {}) == {}
    moved = {"u.py::test_a": entry("p"), "u.py::test_b": entry("p")}
    assert former_names(before, moved, gone, {}) == {
        "u.py::test_a": "t.py::test_a",
        "u.py::test_b": "t.py::test_b",
    }
    assert renamed(before, {"t.py::test_x": "t.py::test_c"}).keys() == {
        "t.py::test_a",
        "t.py::test_b",
        "t.py::test_x",
    }
