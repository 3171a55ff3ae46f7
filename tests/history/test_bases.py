"""What a run is compared with: by name, file, ID or commit; and what git says of a run."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.history import bases
from pytest_promptfuzz.history.bases import Base, Places, find, last
from pytest_promptfuzz.history.entries import digest
from pytest_promptfuzz.history.runs import Runs
from pytest_promptfuzz.history.snapshots import Sample, Snapshot, SnapshotInput, path_of, write
from pytest_promptfuzz.reporting.report_files import read_document
from pytest_promptfuzz.wording.sentences import sentence
from tests.history.past import entry_of, kept

if TYPE_CHECKING:
    from pathlib import Path

WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def said(base: Base) -> list[str]:
    return [*map(sentence, base.notes)]


def command(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *WHO, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    command(folder, "init", "-q", "-b", "main")
    for name in ("one", "two"):
        (folder / "a.txt").write_text(name)
        command(folder, "add", ".")
        command(folder, "commit", "-q", "-m", name)
    return folder


@pytest.fixture
def places(repository: Path) -> Places:
    return Places(Runs(repository / ".promptfuzz"), repository, repository, read_document)


def only(score: str = "EEEE", **given: Any) -> Any:
    return entry_of("t::one", score, **given)


def test_a_commit_is_told_in_one_call(repository: Path) -> None:
    found = bases.commit_of(repository, {})
    assert found == (command(repository, "rev-parse", "HEAD"), "main", False)
    (repository / "a.txt").write_text("changed")
    (repository / "new.txt").write_text("not known to git")
    assert bases.commit_of(repository, {}).dirty
    command(repository, "checkout", "-q", "-f", "--detach")
    assert bases.commit_of(repository, {}).branch == ""
    assert (
        bases.commit_of(repository, {"GITHUB_HEAD_REF": "feature", "GITHUB_REF_NAME": "7/merge"}).branch
        == "feature"
    )
    assert (
        bases.commit_of(repository, {"GITHUB_HEAD_REF": "", "CI_COMMIT_REF_NAME": "topic"}).branch == "topic"
    )


def test_without_git_or_a_commit_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bases.commit_of(tmp_path) == ("", "", None)
    command(tmp_path, "init", "-q", "-b", "main")
    assert bases.commit_of(tmp_path, {}) == ("", "main", False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bases.commit_of(tmp_path) == ("", "", None)
    with pytest.raises(UsageError, match="git cannot be run"):
        bases.resolved_commit("main", tmp_path)


def test_a_git_that_hangs_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(bases, "_SECONDS", 0.2)
    assert bases.commit_of(tmp_path) == ("", "", None)


def test_a_saved_run_is_found_by_name_and_wins_over_a_commit_and_a_file(places: Places) -> None:
    kept(places.runs, 1, only("DDDD"), name="main")
    kept(places.runs, 2, only("EEEE"), name="main")  # the newer one has the name
    found = find("main", places)
    assert (found.report["kind"], found.report["label"]) == ("name", "main")
    assert found.report["run"].startswith("0002")
    assert found.tests["t::one"]["score"] == 1.0
    assert said(found) == ["'main' is a saved run and a commit; the saved run was taken"]
    (places.here / "main").write_text("x")
    assert said(find("main", places)) == [
        "'main' is a saved run and a file and a commit; the saved run was taken"
    ]


def test_a_run_is_found_by_the_beginning_of_its_id(places: Places) -> None:
    path = kept(places.runs, 1, only())
    kept(places.runs, 2, only("DDDD"), aside="overridden: mutations=2", complete=False)
    assert find("0001abcd", places).tests["t::one"]["score"] == 1.0
    named = find("0002", places)
    assert said(named) == [
        f"run {named.report['run']} ended before its last test; what it has is compared",
        f"run {named.report['run']} is compared since it was named: overridden: mutations=2",
    ]
    by_path = find(str(path), places)
    assert (by_path.report["kind"], list(by_path.tests)) == ("file", ["t::one"])


def test_a_commit_is_its_newest_clean_whole_run(places: Places, repository: Path) -> None:
    first, second = command(repository, "rev-parse", "HEAD~1"), command(repository, "rev-parse", "HEAD")
    kept(places.runs, 1, only("EEEE"), commit=first, dirty=False)
    kept(places.runs, 2, only("EEED"), commit=first, dirty=False)
    kept(places.runs, 3, only("DDDD"), commit=first, dirty=True)
    kept(places.runs, 4, only("DDDD"), commit=first, dirty=False, end=False)
    kept(places.runs, 5, only("DDDD"), commit=first, dirty=False, aside="trial")
    for ref in ("HEAD~1", first, first[:9]):
        found = find(ref, places)
        assert (found.report["kind"], found.report["label"], found.tests["t::one"]["score"]) == (
            "ref",
            ref,
            0.75,
        )
    none = find("main", places)
    assert none.tests == {}
    assert said(none) == [
        f"no run of commit {second[:12]} is kept here, and it has no snapshots: nothing was compared"
    ]


def test_what_is_not_there_is_one_message(places: Places) -> None:
    with pytest.raises(UsageError, match=r"^there is no saved run, file or commit 'nope'\. No run is saved"):
        find("nope", places)
    kept(places.runs, 1, only(), name="release")
    with pytest.raises(UsageError, match="Did you mean 'release'"):
        find("relaese", places)
    with pytest.raises(UsageError, match="is not the name of a commit"):
        find("--output=x", places)
    with pytest.raises(UsageError, match="write the name or the ID of a run"):
        find(" ", places)


def test_outside_of_git_only_names_and_files_are_left(tmp_path: Path) -> None:
    places = Places(Runs(tmp_path / ".promptfuzz"), tmp_path, tmp_path, read_document)
    with pytest.raises(UsageError, match="is not in a git repository"):
        find("main", places)


def test_a_shallow_clone_says_how_to_fetch(repository: Path, tmp_path: Path) -> None:
    command(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    shallow = tmp_path / "shallow"
    places = Places(Runs(shallow / ".promptfuzz"), shallow, shallow, read_document)
    with pytest.raises(UsageError, match="this clone is shallow, and 'HEAD~1' is not in it") as caught:
        find("HEAD~1", places)
    assert str(caught.value).endswith("Fetch it: git fetch --unshallow.")
    command(repository, "branch", "stable", "HEAD~1")
    with pytest.raises(
        UsageError, match="--depth=1 origin stable && git tag -f promptfuzz-base FETCH_HEAD, "
    ):
        find("origin/stable", places)
    command(shallow, "fetch", "-q", "--depth=1", "origin", "stable")
    command(shallow, "tag", "-f", "promptfuzz-base", "FETCH_HEAD")
    assert bases.resolved_commit("promptfuzz-base", shallow) == command(repository, "rev-parse", "stable")


@pytest.mark.parametrize(
    "content", [b"", b"\xff\x00", b"{}", b"[1]", b'{"promptfuzz": "outcomes"}', b'"run"']
)
def test_a_file_that_holds_no_run_is_said(places: Places, content: bytes) -> None:
    (places.here / "report.json").write_bytes(content)
    with pytest.raises(StoreError, match=r"report\.json"):
        find("report.json", places)


def test_last_is_for_each_test_the_latest_run_that_judged_it(places: Places) -> None:
    kept(places.runs, 1, entry_of("a", "EEEE"), entry_of("b", "EEEE"), entry_of("c", "E"))
    kept(places.runs, 2, entry_of("b", "DDDD"))
    kept(places.runs, 3, entry_of("b", "MMMM"), aside="trial")
    (places.runs.folder / "20990101-x.jsonl").write_text("damaged")
    now = kept(places.runs, 4, entry_of("a", "DDDD"), end=False)
    kept(places.runs, 5, entry_of("a", "MMMM"))  # another run, which began later
    found = last(["a", "b", "fresh"], places.runs, before=now)
    assert {test: each["score"] for test, each in found.tests.items()} == {"a": 1.0, "b": 0.0}
    assert (found.report["kind"], found.report["run"]) == ("last", "")
    alone = last(["b"], places.runs, before=now)
    assert alone.report["run"].startswith("0002")
    assert set(last(None, places.runs).tests) == {"a", "b", "c"}
    assert last(["a"], places.runs).tests["a"]["score"] == 0.7
    assert last(["fresh"], places.runs).tests == {}


def test_the_last_run_of_the_same_target_is_taken_and_another_only_where_there_is_none(
    places: Places,
) -> None:
    kept(places.runs, 1, entry_of("a", "EEEE", target="one"), entry_of("b", "EEEE", target="one"))
    kept(places.runs, 2, entry_of("a", "DDDD", target="two"), entry_of("b", "DDDD", target="one"))
    asked = {"a": "one", "b": "one"}
    found = last(asked, places.runs, targets=asked)
    assert {test: each["score"] for test, each in found.tests.items()} == {"a": 1.0, "b": 0.0}
    assert last(["a"], places.runs, targets={"a": "three"}).tests["a"]["target"] == "two"


def test_a_commit_is_for_each_test_the_newest_run_of_it(places: Places, repository: Path) -> None:
    commit = command(repository, "rev-parse", "HEAD")
    whole = kept(places.runs, 1, entry_of("a", "EEEE"), entry_of("b", "EEEE"), commit=commit, dirty=False)
    newest = kept(places.runs, 2, entry_of("b", "DDDD"), commit=commit, dirty=False)
    found = find("HEAD", places)
    assert {test: each["score"] for test, each in found.tests.items()} == {"a": 1.0, "b": 0.0}
    assert (found.report["run"], found.report["commit"], found.notes) == ("", commit, [])
    before = find("HEAD", places, besides=[newest])
    assert before.tests["b"]["score"] == 1.0
    assert before.report["run"].startswith("0001")
    assert said(find("HEAD", places, besides=[newest, whole])) == [
        f"no other run of commit {commit[:12]} is kept here, and it has no snapshots: nothing was compared"
    ]


def test_what_no_run_of_a_commit_judged_is_as_its_snapshots_say(places: Places, repository: Path) -> None:
    module = repository / "tests" / "test_it.py"
    for name in ("test_one", "test_two"):
        write(
            module,
            Snapshot(
                test=name,
                verdict="pass",
                score=0.875,
                threshold=0.85,
                target="simulated",
                model="",
                prompt="Which?",
                inputs=(SnapshotInput("0", "digest"),),
                trials={"0": {"t0": "E"}},
            ),
        )
    command(repository, "add", ".")
    command(repository, "commit", "-q", "-m", "snapshots")
    commit = command(repository, "rev-parse", "HEAD")
    kept(places.runs, 1, entry_of("tests/test_it.py::test_two", "DDDD"), commit=commit, dirty=False)
    found = find("HEAD", places)
    assert {test: each["score"] for test, each in found.tests.items()} == {
        "tests/test_it.py::test_one": 0.875,
        "tests/test_it.py::test_two": 0.0,
    }
    assert found.notes == []


@pytest.mark.parametrize(
    ("letters", "given", "taken"),
    [
        ("EE", {}, True),
        ("EM", {}, True),
        ("EE", {"drift": ["prompt"]}, True),
        ("EE", {"drift": ["model"]}, False),
        ("EE", {"verdict": "brittle"}, False),
        ("ED", {"verdict": "pass"}, False),
        ("ED", {"prompt": "another prompt, which was committed without a snapshot"}, True),
        ("EE", {"model": "m2"}, False),
        ("EE", {"target": "openai:m2"}, False),
        ("EE", {"model": "m2", "prompt": "another prompt, which was committed without a snapshot"}, False),
        ("EE", {"model": "", "target": ""}, True),
    ],
)
def test_a_run_that_is_not_what_its_commit_accepts_is_no_base(
    places: Places, repository: Path, letters: str, given: dict[str, Any], *, taken: bool
) -> None:
    asked = (SnapshotInput("0", "digest"),)
    snapshot = Snapshot("test_it", "pass", 1.0, 0.85, "openai:m1", "m1", "Which?", asked)
    write(repository / "tests" / "test_it.py", replace(snapshot, trials={"0": {"t0": "E", "t1": "E"}}))
    command(repository, "add", ".")
    command(repository, "commit", "-q", "-m", "snapshots")
    commit = command(repository, "rev-parse", "HEAD")
    entry = entry_of(
        "tests/test_it.py::test_it", letters, **{"model": "m1", "prompt": digest("Which?"), **given}
    )
    kept(places.runs, 1, entry, commit=commit, dirty=False)
    found = find("HEAD", places)
    assert bool(found.runs) is taken
    assert set(found.tests) == {"tests/test_it.py::test_it"}


def test_a_commit_without_a_run_is_compared_with_by_its_snapshots(places: Places, repository: Path) -> None:
    module = repository / "tests" / "test_it.py"
    asked = SnapshotInput("0", "digest", answers=(Sample("BILLING", 2), Sample("OTHER", failed=True)))
    snapshot = Snapshot(
        test="test_one[a/b]",
        verdict="pass",
        score=0.875,
        threshold=0.85,
        target="simulated",
        model="gpt-5-mini",
        prompt="Which is it?",
        inputs=(asked,),
        trials={"0": {"t0": "E", "t1": "D"}},
    )
    checked = replace(snapshot, test="test_checked", inputs=(SnapshotInput("0", "digest"),))
    for each in (snapshot, checked):
        write(module, each)
    (path_of(module, "test_two")).write_text("<<<<<<< ours\n")
    command(repository, "add", ".")
    command(repository, "commit", "-q", "-m", "snapshots")
    for path in (repository / "tests").rglob("*.json"):
        path.unlink()  # what is there now does not matter
    found = find("HEAD", places)
    assert (found.report["kind"], found.report["commit"]) == ("ref", command(repository, "rev-parse", "HEAD"))
    assert set(found.tests) == {"tests/test_it.py::test_one[a/b]", "tests/test_it.py::test_checked"}
    one = found.tests["tests/test_it.py::test_one[a/b]"]
    assert (one["score"], one["verdict"], one["trials"]) == (0.875, "pass", {"0": {"t0": "E", "t1": "D"}})
    assert (one["baselines"], one["oracle_only"]) == ({"0": "BILLING"}, False)
    assert found.tests["tests/test_it.py::test_checked"]["oracle_only"]
    assert said(found)[0].endswith("is kept here, so its snapshots were taken")
    assert "a merge left conflict markers" in said(found)[1]
    assert len(found.notes) == 2
