"""The files of earlier runs: written as a run goes on, read whatever became of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.evaluating.evaluate import evaluate
from pytest_promptfuzz.history.entries import entry, is_entry
from pytest_promptfuzz.history.runs import Runs, check_name, read_run, trends
from pytest_promptfuzz.reporting.model import report_test
from tests.history.past import entry_of, kept, run_of
from tests.reporting.handmade import brittle, trial
from tests.reporting.handmade import report as handmade

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path / ".promptfuzz")


def test_an_entry_has_what_a_comparison_needs_of_a_real_test() -> None:
    prompt = "Is this mail spam or ham? Answer with one word.\n\nMail: You won a prize!"
    found = evaluate(prompt, "simulated", controls=0)
    report = report_test(found, test="tests/test_mail.py::test_spam")
    kept_ = entry({**report, "outcome": "passed"})
    assert is_entry(json.loads(json.dumps(kept_)))
    assert (kept_["test"], kept_["outcome"], kept_["verdict"]) == (
        report["test"],
        "passed",
        report["verdict"],
    )
    assert kept_["score"] == pytest.approx(report["score"], abs=1e-4)
    letters = {"equivalent": "E", "minor": "M", "deviation": "D"}
    assert kept_["trials"] == {
        "0": {each["id"]: letters.get(each["outcome"], "?") for each in report["trials"]}
    }
    assert kept_["baselines"] == {"0": report["baseline"]}
    assert set(kept_["operators"]) == {
        each["id"] for each in report["trials"] if each["outcome"] == "deviation"
    }


def test_samples_stand_in_order_and_inputs_have_their_names() -> None:
    trials = [
        trial(1, case=1, sample=1, outcome="deviation"),
        trial(1, case=1, sample=0),
        trial(2, case=0, outcome="error"),
        trial(3, case=0, relation="must-change", outcome="deviation"),
    ]
    report = handmade(trials=trials, inputs=["", "late"], baselines=["A", "B"], searched=None, drift=[])
    found = entry(report)
    assert found["trials"] == {"late": {trials[0]["id"]: "ED"}, "0": {trials[2]["id"]: "?"}}
    assert found["baselines"] == {"0": "A", "late": "B"}


def test_what_did_not_come_again_is_named_and_a_long_answer_is_a_digest() -> None:
    again = trial(1, outcome="deviation", again=["equivalent", "deviation", "equivalent"])
    firm = trial(2, outcome="deviation", again=["deviation"])
    report = handmade(
        trials=[again, firm],
        baselines=["x" * 30_000],
        searched=None,
        drift=[{"kind": "model", "policy": "warn"}, {"kind": "prompt", "policy": "ignore"}],
    )
    found = entry(report)
    assert found["unconfirmed"] == {"0": [again["id"]]}
    assert set(found["operators"]) == {again["id"], firm["id"]}
    assert found["operators"][firm["id"]] == "upper-case"
    assert list(found["baselines"]["0"]) == ["promptfuzz-digest"]
    assert found["drift"] == ["model"]


def test_a_run_is_read_as_it_was_written(runs: Runs) -> None:
    one, two = entry_of("t::one", "EEED", cost=0.25), entry_of("t::two", "EEEE")
    path = kept(runs, 1, one, two, name="main", commit="c0ffee")
    assert path.parent == runs.folder
    assert (path.parent.parent / ".gitignore").read_text() == "*\n"
    assert path.stat().st_mode & 0o077 == 0
    (found,) = runs.every(results=True)
    assert (found.id, found.name, found.complete, found.aside) == (run_of(1)["id"], "main", True, "")
    assert found.run == run_of(1, name="main", commit="c0ffee")
    assert found.tests() == {"t::one": one, "t::two": two}
    assert found.results == {"t::one": (0.75, "brittle", 0.25), "t::two": (1.0, "pass", None)}


def test_a_killed_run_is_incomplete_and_keeps_what_was_known(runs: Runs) -> None:
    path = kept(runs, 1, entry_of("t::one", "EEED"), entry_of("t::two", "EEEE"), end=False)
    whole = path.read_bytes()
    for cut in (len(whole), len(whole) - 20):
        path.write_bytes(whole[:cut])
        (found,) = runs.every(results=True)
        assert (found.ended, found.complete) == (False, False)
        assert list(found.tests())[:1] == ["t::one"]
        assert len(found.tests()) == (2 if cut == len(whole) else 1)
        assert found.all_results()["t::one"] == (0.75, "brittle", None)


def test_a_test_that_ran_again_counts_as_it_ended_last(runs: Runs) -> None:
    path = kept(runs, 1, entry_of("t::one", "DDDD"), entry_of("t::one", "EEEE"))
    found = read_run(path, results=True)
    assert found.tests()["t::one"]["score"] == 1.0
    assert found.results["t::one"] == (1.0, "pass", None)


def test_the_last_line_is_found_however_long_it_is(runs: Runs) -> None:
    tests = [entry_of(f"tests/test_long.py::test_{n}[{'x' * 90}]", "E") for n in range(1500)]
    path = kept(runs, 1, *tests)
    assert path.read_bytes().splitlines()[-1].__len__() > 2 * 65_536
    assert len(read_run(path, results=True).results) == 1500


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no run"),
        (b"\x00\xff\n", "holds no run"),
        (b'{"promptfuzz": "report"}\n', "holds no run"),
        (b'[1, 2]\n{"end": {}}\n', "holds no run"),
        (b'{"promptfuzz": "run", "format": 2, "run": {}}\n', "is of format 2, and this version"),
        (b'{"promptfuzz": "run", "format": 1, "run": []}\n', "holds no run"),
    ],
)
def test_a_foreign_file_is_left_as_it_is_and_said(runs: Runs, content: bytes, message: str) -> None:
    kept(runs, 1, entry_of("t::one", "E"))
    path = runs.folder / "20990101T000000.000000Z-x.jsonl"
    path.write_bytes(content)
    assert [each.id for each in runs.every()] == [run_of(1)["id"]]
    assert len(runs.damaged) == 1
    assert message in str(runs.damaged[0])
    assert str(path) in str(runs.damaged[0])
    runs.forget(0)
    assert path.read_bytes() == content


def test_files_that_hold_no_run_are_said_in_one_sentence(runs: Runs) -> None:
    kept(runs, 1, entry_of("t::one", "E"))
    empty = [runs.folder / f"20990101T000000.00000{n}Z-x.jsonl" for n in (0, 1)]
    empty[0].write_bytes(b"")
    assert (len([*runs.every()]), len(runs.damages())) == (1, 1)
    assert runs.damages() == [f"{empty[0]} holds no run. It is left as it is, and not used."]
    empty[1].write_bytes(b"")
    assert len([*runs.every()]) == 1
    assert runs.damages() == [
        f"2 files in {runs.folder} hold no run. They stay as they are and are not used: {empty[0].name}, {empty[1].name}"
    ]


@pytest.mark.parametrize(
    "line",
    [b"[1]", b'{"test": 5}', b'{"test": "t::x", "verdict": "pass", "score": 1, "trials": {"0": {"a": "X"}}}'],
)
def test_a_damaged_line_leaves_the_others(runs: Runs, line: bytes) -> None:
    path = kept(runs, 1, entry_of("t::one", "E"))
    rows = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([rows[0], line, *rows[1:]]) + b"\n")
    assert list(read_run(path).tests()) == ["t::one"]


def test_what_an_older_version_did_not_write_is_filled_in(runs: Runs) -> None:
    path = kept(runs, 1)
    row = {"test": "t::old", "verdict": "pass", "score": 1.0, "trials": {}}
    rows = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([rows[0], json.dumps(row).encode()]) + b"\n")
    assert read_run(path).tests()["t::old"]["unconfirmed"] == {}


def test_trials_that_an_older_version_named_by_id_alone_are_those_of_every_input(runs: Runs) -> None:
    path = kept(runs, 1, entry_of("t::new", {"a": "D", "b": "D"}, unconfirmed={"a": ["t0"]}))
    head, row = path.read_bytes().splitlines()[:2]
    assert read_run(path).tests()["t::new"]["unconfirmed"] == {"a": ["t0"]}
    old = {**json.loads(row), "test": "t::old", "unconfirmed": ["t0"]}
    wrong = {**old, "test": "t::wrong", "unconfirmed": {"a": "t0"}}
    path.write_bytes(b"\n".join([head, *(json.dumps(each).encode() for each in (old, wrong))]) + b"\n")
    found = read_run(path).tests()
    assert found.keys() == {"t::old"}
    assert found["t::old"]["unconfirmed"] == {"a": ["t0"], "b": ["t0"]}


def test_a_trial_that_did_not_come_again_is_named_with_its_input() -> None:
    flaky = trial(1, case=0, outcome="deviation", again=["equivalent", "equivalent"])
    broken = {**flaky, "case": 1, "again": ["deviation", "deviation"]}
    report = handmade(
        trials=[flaky, broken], inputs=["early", "late"], baselines=["A", "A"], searched=None, drift=[]
    )
    assert entry(report)["unconfirmed"] == {"early": [flaky["id"]]}


def test_the_oldest_unnamed_runs_go_and_named_ones_never(runs: Runs) -> None:
    for number in range(1, 7):
        kept(runs, number, entry_of("t::one", "E"), name={1: "base", 2: "old", 4: "old"}.get(number, ""))
    assert [int(each.id[:4]) for each in runs.disposable(2)] == [2, 3]  # its name is a newer run's
    gone = runs.forget(2)
    assert [int(each.id[:4]) for each in gone] == [2, 3]
    assert [int(each.id[:4]) for each in runs.every()] == [6, 5, 4, 1]
    assert {name: int(each.id[:4]) for name, each in runs.saved().items()} == {"base": 1, "old": 4}
    assert runs.forget(2) == []


def test_a_name_that_was_taken_is_gone_from_the_run_that_had_it(runs: Runs) -> None:
    older = kept(runs, 1, entry_of("t", "EEEE"), entry_of("u", "EEED"), name="main", commit="c1")
    other = kept(runs, 2, entry_of("t", "EEEE"), name="other")
    newer = kept(runs, 3, entry_of("t", "DDDD"), name="main")
    before = read_run(older, results=True)
    runs.take("main", newer)
    after = read_run(older, results=True)
    assert [each.name for each in runs.every()] == ["main", "other", ""]
    assert after.run == {**before.run, "name": ""}
    assert (after.results, after.tests(), after.complete) == (before.results, before.tests(), True)
    assert [each.id[:4] for each in runs.disposable(0)] == ["0001"]
    assert sorted(each.name for each in runs.folder.iterdir()) == [older.name, other.name, newer.name]


def test_a_folder_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        Runs(tmp_path / "file").begin(run_of())


@pytest.mark.parametrize("name", ["main", "v1.2", "release_3-rc1", "7"])
def test_names(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", " ", "a/b", "..", ".x", "a\\b", "a b", "x" * 65, "last", "é"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(UsageError, match=r"is no name of a run|is the last run"):
        check_name(name)


def test_trends_go_back_over_runs_that_had_the_tests(runs: Runs) -> None:
    kept(runs, 1, entry_of("t::one", "EEEE", cost=0.5), entry_of("t::two", "E"), commit="a")
    kept(runs, 2, entry_of("t::two", "E"))
    kept(runs, 3, entry_of("t::one", "EEED"), aside="trial")
    kept(runs, 4, entry_of("t::one", "EEDD"), end=False)
    now = kept(runs, 5, entry_of("t::one", "DDDD"))
    found = trends(runs, {"t::one"}, before=now)
    assert [int(each["id"][:4]) for each in found["runs"]] == [1, 4]
    assert found["tests"] == {
        "t::one": [
            {"run": 0, "score": 1.0, "verdict": "pass", "cost": 0.5},
            {"run": 1, "score": 0.5, "verdict": "brittle", "cost": None},
        ]
    }
    assert set(trends(runs)["tests"]) == {"t::one", "t::two"}
    assert [int(each["id"][:4]) for each in trends(runs, most=2)["runs"]] == [4, 5]


def test_a_search_has_no_trials_of_a_plan() -> None:
    report = brittle()
    found = entry({**report, "searched": {"calls": 3}, "drift": [], "baselines": ["POSITIVE"]})
    assert found["trials"] == {}
    assert found["verdict"] == "brittle"
