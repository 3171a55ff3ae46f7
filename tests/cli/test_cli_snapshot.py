"""``promptfuzz snapshot show`` and ``diff``: real snapshots, under real git."""

from __future__ import annotations

import dataclasses
import json

import pytest

from pytest_promptfuzz.history.snapshots import Sample, Snapshot, SnapshotInput, path_of, write
from pytest_promptfuzz.mutations.engine.edits import replace
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.results.counterexamples import Counterexample, KnownCounterexample
from tests.git_story import PROMPTS, SNAPSHOTS, Story
from tests.in_process import promptfuzz

PROMPT = "Please rate\nit in one word."
MUTATION = Mutation(PROMPT, (replace(7, 11, "RATE"),), ("upper-case@1",), "lexical", 0.9, "yes")
KNOWN = KnownCounterexample(
    Counterexample(MUTATION, "", 0, "good", "bad", "label 'good' became 'bad'", True, 0, (1, 1)), "simulated"
)
FIRST = Snapshot(
    "test_rate",
    "pass",
    0.85,
    0.8,
    "simulated",
    "gpt-5",
    PROMPT,
    (SnapshotInput("0", "ab", "cd", (Sample("a good phone", 3), Sample("fine", 1, failed=True))),),
    {"comparison": 1, "task": "generation"},
    ("upper-case@1", "politeness@2"),
    {"0": {"0123456789ab": "E", "ab0123456789": "EED"}},
    {"0": {"0123456789ab": "upper-case: rate → RATE", "ab0123456789": "politeness: + kindly"}},
    (KNOWN,),
)


def snapshot(test="test_rate", **changes):
    return dataclasses.replace(FIRST, test=test, **changes)


def answered(*answers, prompt="ab"):
    return (SnapshotInput("0", prompt, "cd", answers),)


@pytest.fixture
def story(tmp_path):
    """A project whose snapshots of three tests are committed."""
    story = Story(tmp_path / "project")
    (story.root / ".promptfuzz").mkdir()
    for test in ("test_rate", "test_other[x/1]"):
        accept(story, "tests/test_it.py", snapshot(test))
    accept(story, "test_more.py", snapshot("test_rate", prompt="Another."), without_pins=True)
    story.commit("first")
    return story


def accept(story, module, what, *, without_pins=False):
    write(story.root / module, dataclasses.replace(what, counterexamples=()) if without_pins else what)


def run(story, *arguments, folder=""):
    return promptfuzz("snapshot", *arguments, "--width", "100", folder=story.root / folder)


def diff(story, *arguments):
    done = promptfuzz("snapshot", "diff", *arguments, "--json", folder=story.root)
    return done.returncode, json.loads(done.stdout)


def test_a_snapshot_is_shown(story):
    done = run(story, "show", "tests/test_it.py::test_rate")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "tests/test_it.py::test_rate: pass, score 0.85, threshold 0.80",
        "   file       tests/__promptfuzz__/test_it.snap/test_rate.json",
        "   model      simulated, answered by gpt-5",
        "   prompt     Please rate",
        "              it in one word.",
        "   answer     3× a good phone",
        "              1× fine (the test's own check failed)",
        "   trials     2 equivalent, 1 deviation  politeness: + kindly",
        "              equivalent  upper-case: rate → RATE",
        "   compared   comparison 1, task generation",
        f"   pinned     upper-case@1 ({KNOWN.id})",
        "   prompt     Please [-rate-]{+RATE+}",
        "   baseline   good",
        "   response   bad",
        "   why        label 'good' became 'bad'",
    ]


@pytest.mark.parametrize(
    ("named", "folder", "found"),
    [
        ("tests/test_it.py::test_rate", "", ["tests/test_it.py::test_rate"]),
        ("test_rate", "", ["test_more.py::test_rate", "tests/test_it.py::test_rate"]),
        ("test_more.py", "", ["test_more.py::test_rate"]),
        ("tests", "", ["tests/test_it.py::test_other[x/1]", "tests/test_it.py::test_rate"]),
        ("tests/test_it.py::test_other", "", ["tests/test_it.py::test_other[x/1]"]),
        ("test_it.py::test_rate", "tests", ["tests/test_it.py::test_rate"]),
        ("other", "tests", ["tests/test_it.py::test_other[x/1]"]),
    ],
)
def test_tests_are_chosen_by_id_file_folder_and_part_of_the_name(story, named, folder, found):
    for module in ("tests/test_it.py", "test_more.py"):
        (story.root / module).write_text("")
    done = promptfuzz("snapshot", "show", named, "--json", folder=story.root / folder)
    assert [each["test"] for each in json.loads(done.stdout)["snapshots"]] == found


def test_without_a_test_all_are_listed(story):
    done = run(story, "show")
    assert [line.partition(": ")[0] for line in done.stdout.splitlines()] == [
        "test_more.py::test_rate",
        "tests/test_it.py::test_other[x/1]",
        "tests/test_it.py::test_rate",
    ]


def test_an_unknown_test_is_refused_with_the_one_that_may_be_meant(story):
    done = promptfuzz("snapshot", "show", "test_rat.e", "--json", folder=story.root)
    assert done.returncode == 2
    assert "Did you mean 'test_rate'" in json.loads(done.stdout)["error"]
    assert done.stderr.startswith("promptfuzz snapshot show: no snapshot is of a test 'test_rat.e'.")


def test_json_has_all_of_a_snapshot(story):
    done = promptfuzz("snapshot", "show", "tests/test_it.py::test_rate", "--json", folder=story.root)
    (found,) = json.loads(done.stdout)["snapshots"]
    assert (found["verdict"], found["score"], found["prompt"]) == ("pass", 0.85, PROMPT)
    (case,) = found["inputs"]
    assert case["answers"][1] == {"answer": "fine", "times": 1, "failed": True}
    assert case["trials"][0] == {"id": "ab0123456789", "trial": "politeness: + kindly", "outcomes": "EED"}
    (pinned,) = found["counterexamples"]
    assert (pinned["id"], pinned["before"], pinned["after"]) == (KNOWN.id, "Please rate", "Please RATE")


def test_no_difference_is_exit_code_0(story):
    done = run(story, "diff")
    assert (done.returncode, done.stdout) == (0, "No difference in 3 snapshots.\n")


def test_each_difference_is_shown(story):
    accept(
        story,
        "tests/test_it.py",
        snapshot(
            verdict="brittle",
            model="gpt-6",
            prompt=PROMPT.replace("one", "a"),
            inputs=answered(Sample("a bad phone", 4), Sample("fine", 2, failed=True), prompt="ef"),
            compared={"comparison": 2, "task": "generation"},
            operators=("upper-case@1", "politeness@3"),
            trials={"0": {"f" * 12: "D", "e" * 12: "M"}},
            labels={"0": {"f" * 12: "upper-case: rate → RATE", "e" * 12: "swap: in ↔ one"}},
            score=0.4,
            counterexamples=(),
        ),
    )
    path_of(story.root / "test_more.py", "test_rate").unlink()
    done = run(story, "diff")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "test_more.py::test_rate: removed",
        "tests/test_it.py::test_rate: changed",
        "   verdict    pass → brittle",
        "   score      0.85 → 0.40",
        "   model      gpt-5 → gpt-6",
        "   prompt     Please rate⏎it in [-one-]{+a+} word.",
        "   answer     1× fine (the test's own check failed) → 2× (the test's own check failed)",
        "   answer     a [-good-]{+bad+} phone",
        "   trial      upper-case: rate → RATE: equivalent → deviation",
        "   removed    1 trial:",
        "              [-politeness: + kindly-] 2 equivalent, 1 deviation",
        "   added      1 trial:",
        "              {+swap: in ↔ one+} minor",
        "   compared   comparison 1 → 2",
        "   operators  politeness@2 → politeness@3",
        f"   unpinned   upper-case@1 ({KNOWN.id})",
        "   prompt     Please [-rate-]{+RATE+}",
        "   baseline   good",
        "   response   bad",
        "   why        label 'good' became 'bad'",
        "2 snapshots: 1 changed, 1 removed; 1 the same.",
    ]
    code, found = diff(story)
    gone, changed = found["tests"]
    assert (code, gone["status"], found["same"], found["now"]) == (1, "removed", 1, None)
    assert changed["fields"]["verdict"] == {"before": "pass", "now": "brittle"}
    assert [each["now"] for each in changed["trials"]] == [None, "D", "M"]
    assert [each["answer"] for each in (changed["answers"][1]["before"], changed["answers"][1]["now"])] == [
        "a good phone",
        "a bad phone",
    ]


def test_a_renamed_test_is_told_from_one_that_is_new(story):
    path_of(story.root / "test_more.py", "test_rate").unlink()
    accept(story, "test_more.py", snapshot("test_grade", prompt="Another."), without_pins=True)
    accept(story, "test_more.py", snapshot("test_new", prompt="Something else."), without_pins=True)
    done = run(story, "diff")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "test_more.py::test_grade: renamed",
        "   was        test_more.py::test_rate",
        "test_more.py::test_new: added",
        "2 snapshots: 1 added, 1 renamed; 2 the same.",
    ]


def test_commits_are_named_as_git_names_them(story):
    story.git("checkout", "-q", "-b", "work")
    accept(
        story,
        "test_more.py",
        snapshot("test_work", prompt="Work.", inputs=answered(prompt="w")),
        without_pins=True,
    )
    story.commit("work")
    story.git("checkout", "-q", "main")
    accept(
        story,
        "test_more.py",
        snapshot("test_main", prompt="Main.", inputs=answered(prompt="m")),
        without_pins=True,
    )
    story.commit("main")

    def found(*arguments):
        return [
            (each["test"].rpartition("_")[2], each["status"]) for each in diff(story, *arguments)[1]["tests"]
        ]

    assert found() == found("HEAD") == found("main", "main") == []
    assert found("HEAD~1") == [("main", "added")]
    assert found("main", "work") == found("main..work") == [("main", "removed"), ("work", "added")]
    assert found("main...work") == [("work", "added")]
    assert found("...work") == [("work", "added")]
    code, said = diff(story, "main..work", "main")
    assert (code, said["error"]) == (2, "'main..work' names two commits already. Leave 'main' out.")
    assert diff(story, "gone") == (2, {"error": "git knows no commit 'gone'.", "exit_code": 2})
    assert diff(story, "main...gone")[0] == 2
    story.git("checkout", "-q", "--orphan", "alone")
    story.commit("alone")
    code, said = diff(story, "main...alone")
    assert (code, "have no commit in common" in said["error"]) == (2, True)


def test_format_1_and_2_of_the_same_behaviour_do_not_differ(story):
    path = path_of(story.root / "tests" / "test_it.py", "test_rate")
    data = json.loads(path.read_text("utf-8"))
    ids = data["inputs"][0].pop("trials").split()
    data["format"], data["trials"] = 1, {"0": dict(zip(ids, data["trials"]["0"].values(), strict=True))}
    path.write_text(json.dumps(data), "utf-8")
    assert run(story, "diff").returncode == 0
    data["trials"]["0"][ids[0]] = "DDD"
    path.write_text(json.dumps(data), "utf-8")
    (changed,) = diff(story)[1]["tests"]
    assert [each["trial"] for each in changed["trials"]] == ["politeness: + kindly"]


def test_what_cannot_be_read_is_said_and_the_rest_is_shown(story):
    path = path_of(story.root / "tests" / "test_it.py", "test_rate")
    path.write_text("{")
    done = run(story, "diff")
    assert done.returncode == 2
    assert "promptfuzz snapshot diff:" in done.stderr
    assert "is not JSON" in done.stderr
    done = run(story, "show")
    assert (done.returncode, len(done.stdout.splitlines())) == (2, 2)
    assert "is not JSON" in promptfuzz("snapshot", "show", "--json", folder=story.root).stdout


def test_a_snapshot_with_conflict_markers_is_neither_removed_nor_unknown(story):
    path = path_of(story.root / "tests" / "test_it.py", "test_rate")
    whole = path.read_text()
    path.write_text(f"<<<<<<< HEAD\n{whole}=======\n{whole}>>>>>>> theirs\n")
    done = run(story, "diff")
    assert done.returncode == 2
    file = "tests/__promptfuzz__/test_it.snap/test_rate.json"
    assert f"tests/test_it.py::test_rate: cannot be read: {file}" in done.stdout
    assert "removed" not in done.stdout
    assert "a merge left conflict markers" in done.stderr
    for named in ("it.py::test_rate", "tests/test_it.py::test_rate"):
        done = run(story, "show", named)
        assert done.returncode == 2
        assert f"the snapshot of '{named}' cannot be read: " in done.stderr
        assert f"{file}, line 1: a merge left conflict markers" in done.stderr
        assert "Did you mean" not in done.stderr
    story.commit("conflict")
    done = run(story, "diff", "HEAD^", "HEAD")
    assert f"tests/test_it.py::test_rate: cannot be read: {file}" in done.stdout
    assert "removed" not in done.stdout


def test_nothing_in_a_snapshot_acts_on_a_terminal(story):
    bad = "\x1b[31mred\x07\u202e\n::error::x"
    accept(
        story,
        "test_more.py",
        snapshot(
            f"test_{bad}",
            model=bad,
            prompt=f"Rate {bad}.",
            inputs=(
                SnapshotInput(bad, "zz", "", (Sample(bad, 1),)),
                SnapshotInput("b", "zz", "", (Sample(bad),)),
            ),
            trials={bad: {"0" * 12: "D"}},
            labels={bad: {"0" * 12: bad}},
            compared={bad: bad},
            counterexamples=(),
        ),
    )
    shown = run(story, "show", "test_more.py").stdout
    assert shown.startswith("test_more.py::test_␛[31mred␇<U+202E>⏎")
    story.commit("hostile")
    accept(
        story,
        "test_more.py",
        snapshot(
            f"test_{bad}",
            model=f"{bad}2",
            prompt=f"Rate {bad}!",
            inputs=(
                SnapshotInput(bad, "zz", "", (Sample(f"{bad}2"),)),
                SnapshotInput("b", "zz", "", (Sample("x"),)),
            ),
            trials={bad: {"0" * 12: "E"}},
            labels={bad: {"0" * 12: bad}},
            compared={bad: f"{bad}2"},
            counterexamples=(),
        ),
    )
    changed = run(story, "diff").stdout
    assert changed.count("red") > 5
    for text in (shown, changed):
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert [line for line in text.splitlines() if line.lstrip().startswith("::")] == []


def test_a_project_without_snapshots_or_without_git_is_refused(tmp_path):
    done = promptfuzz("snapshot", "show", folder=tmp_path)
    assert (done.returncode, "pytest --promptfuzz-update writes snapshots" in done.stderr) == (2, True)
    write(tmp_path / "test_it.py", FIRST)
    done = promptfuzz("snapshot", "diff", folder=tmp_path)
    assert (done.returncode, "is not in a git repository" in done.stderr) == (2, True)


def test_what_a_run_accepts_is_what_differs(tmp_path):
    story = Story(tmp_path / "project")
    tests = {name: PROMPTS[name] for name in ("task0", "task1")}
    story.write(tests)
    story.record()
    story.commit("adopt")
    assert run(story, "diff").returncode == 0
    story.write({**tests, "task0": tests["task0"].replace("of team 0", "of the first team")})
    story.record()
    assert story.lines(SNAPSHOTS) > 0
    done = run(story, "diff")
    assert done.returncode == 1
    assert done.stdout.startswith("test_it.py::test_task0: changed\n")
    assert "the ticket of {+the first·+}team[-·0-] into" in done.stdout
    assert done.stdout.endswith("1 snapshot: 1 changed; 1 the same.\n")
