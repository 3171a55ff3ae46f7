"""Comparisons with an earlier run or commit, after tests were renamed, moved or parametrized otherwise."""

from __future__ import annotations

import json
import os

import pytest

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.history.former_names import BaseTests, former_names, renamed
from tests.git_story import HEAD, Story, outcome
from tests.in_process import promptfuzz, run_pytest

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
    twice = {"t.py::test_x": "t.py::test_c", "t.py::test_y": "t.py::test_c"}
    assert former_names(before, two, gone, twice) == {}, "two tests have the same former name"
    assert renamed(before, {"t.py::test_x": "t.py::test_c"}).keys() == {
        "t.py::test_a",
        "t.py::test_b",
        "t.py::test_x",
    }


def test_a_test_that_asks_in_the_base_what_it_asks_now_keeps_its_name():
    before = {"t.py::test_a": entry("p"), "t.py::test_b": entry("p")}
    known = {"t.py::test_b": "t.py::test_a"}
    assert former_names(before, {"t.py::test_b": entry("p")}, {"t.py::test_a"}.__contains__, known) == {}
    assert former_names(before, {"t.py::test_b": entry("q")}, {"t.py::test_a"}.__contains__, known) == known
    there = {"t.py::test_a": entry("p"), "t.py::test_c": entry("p")}
    assert former_names(before, there, lambda _: False, {"t.py::test_c": "t.py::test_a"}) == {}


def test_thousands_of_parameters_of_one_prompt_find_their_former_names():
    class Counted(str):
        __slots__ = ()
        compared = 0

        def __eq__(self, other):
            Counted.compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    many = range(2000)
    before = {f"t.py::test_a[{number}]": entry(Counted("p")) for number in many}
    now = {f"t.py::test_b[{number}]": entry(Counted("p")) for number in many}
    found = former_names(before, now, before.__contains__, {})
    assert found == {f"t.py::test_b[{number}]": f"t.py::test_a[{number}]" for number in many}
    assert Counted.compared < 20 * len(many)


MODULE = """
from pytest_promptfuzz import Prompt, robust
import app

ONE = Prompt("Classify the ticket as billing, parcel or other. Answer with the name only.\\n\\nTicket: {{ticket}}")
OTHER = Prompt("Name the team for the ticket: billing or parcel. Answer with one word.\\n\\nTicket: {{ticket}}")
KEYS = dict(mutations=8, controls=0, threshold=0.05, stop="never", task="classification")

@robust(ONE, **KEYS)
def test_{one}(prompt):
    return app.triage(prompt.format(ticket="I was charged twice."))

@robust(OTHER, **KEYS)
def test_other(prompt):
    return "billing" if prompt.format(ticket="x") else ""
"""
GOOD = "def triage(text):\n    return 'billing'\n"
BAD = """
SEEN = {}

def triage(text):
    return "billing" if SEEN.setdefault(text, len(SEEN)) % 2 == 0 else "other"
"""


class Renames:
    """A project with two tests, one of which is renamed."""

    def __init__(self, root):
        self.root, self.body = root, MODULE
        self.run("a", "--promptfuzz-save=main")

    def run(self, name, *arguments, app=GOOD):
        (self.root / "test_it.py").write_text(
            self.body.format(one=name) if self.body is MODULE else self.body
        )
        (self.root / "app.py").write_text(app)
        environment = {key: value for key, value in os.environ.items() if key != "CI"}
        arguments = ("-p", "no:cacheprovider", "--promptfuzz-target=simulated", *arguments)
        return run_pytest(*arguments, folder=self.root, environment={**environment, "COLUMNS": "400"})


@pytest.fixture
def renames(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return Renames(tmp_path)


def test_a_renamed_test_alone_is_compared_with_a_saved_run(renames):
    done = renames.run("b", "--promptfuzz-compare=main", "test_it.py::test_b")
    assert " 1 passed in " in done.stdout
    assert "no test is better or worse" in done.stdout


def test_a_renamed_test_that_is_lower_asks_again(renames):
    done = renames.run("b", "--promptfuzz-compare=main", "--promptfuzz-fail-on=score drop", app=BAD)
    assert "worse test_it.py::test_b: " in done.stdout
    assert "more than noise" in done.stdout
    assert "its former name is test_it.py::test_a" in done.stdout


@pytest.mark.parametrize("other", ["-k=other", "test_it.py::test_other"])
def test_a_former_name_is_found_in_any_run_that_is_kept(renames, other):
    renames.run("a", other)
    done = renames.run("b", app=BAD)
    assert "1 new" not in done.stdout
    assert "its former name is test_it.py::test_a" in done.stdout


def test_of_two_former_names_the_later_one_is_meant(renames):
    renames.run("b", app=BAD)
    done = renames.run("c", "--promptfuzz-compare=last")
    assert "test_it.py::test_c" in done.stdout
    assert "its former name is test_it.py::test_b" in done.stdout


def test_the_command_knows_former_names(renames, monkeypatch, capsys):
    renames.run("b", app=BAD)
    monkeypatch.chdir(renames.root)
    main(["compare", "main"])
    said = " ".join(capsys.readouterr().out.split())
    assert "its former name is test_it.py::test_a" in said
    assert "1 new" not in said
    assert "gone" not in said


def test_what_a_test_is_compared_with_is_found_as_soon_as_its_prompt_is_known():
    before = {"t.py::test_a": entry("p"), "t.py::test_b": entry("q"), "t.py::test_c": entry("q")}
    gone = BaseTests(before, before.__contains__)
    assert gone.former_name("t.py::test_x", "p", "") == "t.py::test_a"
    assert gone.former_name("t.py::test_x", "q", "") == "t.py::test_x", "two fit as well"
    assert gone.former_name("t.py::test_x", "q", "t.py::test_c") == "t.py::test_c"
    assert gone.former_name("t.py::test_b", "q", "t.py::test_c") == "t.py::test_b"
    assert gone.former_name("t.py::test_b", "p", "") == "t.py::test_b", "its prompt was changed"
    parameters = {"t.py::test_a[x]": entry("p"), "t.py::test_a[y]": entry("q")}
    there = BaseTests(parameters, lambda _: False)
    assert there.former_name("t.py::test_a[x]", "q", "") == "t.py::test_a[y]", "IDs shift"
    assert there.former_name("t.py::test_a[z]", "q", "") == "t.py::test_a[z]", "that may ask it still"


SHIFTED = """
import pytest
from pytest_promptfuzz import Prompt, robust

@pytest.fixture
def prompt(team):
    return Prompt(f"Name the team for the ticket {{team}}: billing, parcel or other.\\nAnswer with one word. {{{{t}}}}")

SEEN = {{}}

@pytest.mark.parametrize("team", {teams}, ids=["first", "second", "third"][:len({teams})])
@robust(mutations=8, controls=0, threshold=0.05, stop="never", task="classification")
def test_team(prompt, team):
    text = prompt.format(t="z")
    number = SEEN.setdefault((team, text), len(SEEN))
    return "billing" if {good} or team != "two" or number % 2 == 0 else "other"
"""


@pytest.mark.parametrize("teams", [["two", "one"], ["new", "one", "two"]], ids=["swapped", "before"])
def test_where_ids_shift_a_drop_is_proven_or_it_says_why_not(renames, teams):
    renames.body = SHIFTED.format(teams=["one", "two"], good=True)
    renames.run("", "--promptfuzz-save=two")
    renames.body = SHIFTED.format(teams=teams, good=False)
    said = " ".join(renames.run("", "--promptfuzz-compare=two").stdout.split())
    assert "its former name is test_it.py::test_team[second]" in said
    if len(teams) == 2:
        assert "more than noise; its former name" in said
    else:
        assert "not asked again, since its former name was not known before all tests had run" in said


TWINS = """
import pytest
from pytest_promptfuzz import Prompt, robust

PROMPT = Prompt("Classify the ticket as BILLING or OTHER. Answer with the label only.\\n\\nTicket: {ticket}")
KEYS = dict(mutations=2, controls=0)
"""
ALONE = (
    TWINS
    + """
@robust(PROMPT, **KEYS)
def test_outage_is_urgent(prompt, llm):
    return llm(prompt.format(ticket="The site is down."))
"""
)
BOTH = (
    ALONE
    + """
@robust(PROMPT, **KEYS)
def test_outage(prompt, llm):
    return llm(prompt.format(ticket="The site is down."))
"""
)
PARAMETERS = (
    TWINS
    + """
@pytest.mark.parametrize("ticket", ["The site is down.", "Thank you all."], ids=["outage", "thanks"])
@robust(PROMPT, **KEYS)
def test_level(prompt, llm, ticket):
    return llm(prompt.format(ticket=ticket))
"""
)


def test_a_test_becomes_a_parameter_while_another_one_asks_the_same(tmp_path):
    story = Story(tmp_path / "repo")
    (story.root / "test_texts.py").write_text(BOTH)
    assert outcome(story.record()) == "2 passed"
    story.commit("adopt")
    story.git("checkout", "-q", "-b", "work")
    (story.root / "test_texts.py").write_text(PARAMETERS)
    (story.root / "test_urgent.py").write_text(ALONE)
    assert outcome(story.record()) == "3 passed"
    promptfuzz("cache", "prune", "--yes", folder=story.root)
    story.commit("parametrise")
    _, rows = compared(story, "--promptfuzz-compare", "main...")
    wanted = {
        "test_texts.py::test_level[outage]": "same",
        "test_urgent.py::test_outage_is_urgent": "same",
        "test_texts.py::test_level[thanks]": "new",
    }
    assert {test: row["status"] for test, row in rows.items()} == wanted
    done = promptfuzz("compare", "main", "--json", folder=story.root)
    assert {row["test"]: row["status"] for row in json.loads(done.stdout)["tests"]} == wanted
    both = promptfuzz("compare", "main", "work", "--json", folder=story.root)
    assert {row["test"]: row["status"] for row in json.loads(both.stdout)["tests"]} == wanted
    diff = json.loads(promptfuzz("snapshot", "diff", "main", "--json", folder=story.root).stdout)
    assert {each["test"]: (each["status"], each["former"]) for each in diff["tests"]} == {
        "test_texts.py::test_level[outage]": ("same", "test_texts.py::test_outage"),
        "test_texts.py::test_level[thanks]": ("added", None),
        "test_urgent.py::test_outage_is_urgent": ("same", "test_texts.py::test_outage_is_urgent"),
    }


REGRESSED = (
    TWINS
    + """
ORDINARY = "Classify the ticket as BILLING or OTHER. Answer with the label only."
BROKEN = {broken}
KEYS = dict(mutations=8, threshold=0.2, shrink=0, controls=0)

def asked(number):
    @robust(PROMPT, **KEYS)
    def test(prompt, llm):
        text = prompt.format(ticket=f"Order {{number}} was charged twice.")
        answer = llm(text)
        return "UNSURE" if BROKEN and not text.startswith((ORDINARY, ORDINARY[:-1] + " .")) else answer
    return test

for number in range({tests}):
    globals()[f"test_{{number}}"] = asked(number)
"""
)


def regressed(folder, tests):
    story = Story(folder / "repo")
    source = REGRESSED.replace("{ticket}", "{{ticket}}")
    (story.root / "test_it.py").write_text(source.format(broken=False, tests=tests))
    assert outcome(story.record()) == f"{tests} passed"
    story.commit("adopt")
    (story.root / "test_it.py").write_text(source.format(broken=True, tests=tests))
    return story


def test_a_regression_of_the_application_is_brittle_in_a_replay(tmp_path):
    story = regressed(tmp_path, 1)
    done, rows = compared(story, "-v", "--promptfuzz-compare=main", "--promptfuzz-fail-on=new brittle")
    assert rows["test_it.py::test_0"]["finding"] == "newly brittle"
    assert "is met by 1 test" in done.stdout
    assert "too few to measure noise" not in done.stdout


def test_where_a_replay_alone_cannot_tell_it_says_so_and_what_to_record(tmp_path):
    story = regressed(tmp_path, 3)
    done, rows = compared(story, "-v", "--promptfuzz-compare=main")
    assert {row["finding"] for row in rows.values()} == {"worse"}
    assert "this run alone cannot tell that from noise" in done.stdout
    assert "but that may be noise" not in done.stdout
    assert "what to do Ask for more answers with --promptfuzz-mode=record-missing." in done.stdout
    missing = story.run("--promptfuzz-mode=record-missing")
    assert outcome(missing) == "3 failed"
