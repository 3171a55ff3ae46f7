"""A pull request cannot quietly edit what is recorded: each way to try is refused, or told by ``promptfuzz cache diff``."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.storage.recordings.entries import sealed, unsealed
from pytest_promptfuzz.storage.recordings.places import recording_of
from tests.in_process import Done, run_pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODULE = """
from pytest_promptfuzz import robust

@robust('Classify the mood of the text as good or bad.\\n\\nText: {text}', mutations=4, threshold=0.0)
def test_mood(prompt, llm):
    return llm(prompt.format(text='A lovely day!'))
"""
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, str]]:
    """A real recording, and the environment that it was made in."""
    folder = tmp_path_factory.mktemp("recorded")
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") and name not in {"CI", "PYTEST_ADDOPTS"}
    }
    done = run_tests(write(folder), env, "record")
    assert done.returncode == 0, done.stdout
    return recording_of(folder / "test_it.py").read_bytes(), env


def write(folder: Path, name: str = "test_it.py") -> Path:
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / name).write_text(MODULE)
    return folder


def run_tests(folder: Path, env: dict[str, str], mode: str) -> Done:
    options = ("-q", "-p", "no:cacheprovider", "--promptfuzz-target=simulated", f"--promptfuzz-mode={mode}")
    return run_pytest(*options, folder=folder, environment=env, together=True)


@pytest.fixture
def project(tmp_path, original, monkeypatch, capsys):
    """A repository with the recording committed, a way to edit and commit it, and what the commands say of it."""
    content, env = original
    for name in [*os.environ]:
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.chdir(write(tmp_path))
    path = recording_of(tmp_path / "test_it.py")
    path.parent.mkdir()
    path.write_bytes(content)

    class Project:
        def git(self, *arguments: str) -> None:
            who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
            subprocess.run(["git", *who, *arguments], check=True, capture_output=True)

        def commit(self) -> None:
            self.git("add", "-A", ".")
            self.git("commit", "-qm", "an edit")

        def edit(self, change: Callable[[Rows], Rows | None]) -> None:
            head, *lines = path.read_bytes().splitlines(keepends=True)
            rows = [unsealed(line) for line in lines]
            rows = change(rows) or rows
            path.write_bytes(b"".join([head, *map(sealed, rows)]))

        def say(self, *arguments: str) -> tuple[int, str]:
            code = main(["cache", *arguments])
            done = capsys.readouterr()
            return code, " ".join((done.out + done.err).split())

        def replay(self) -> tuple[int, str]:
            done = run_tests(tmp_path, env, "replay")
            return done.returncode, " ".join(done.stdout.split())

    made = Project()
    made.path = path
    made.git("init", "-q")
    made.commit()
    return made


def trials(rows: Rows) -> Rows:
    return [row for row in rows if row.get("trial")]


def say_of(row: dict[str, Any], text: str) -> None:
    row["answer"] = json.loads(json.dumps(row["answer"]).replace('"good"', f'"{text}"'))
    assert text in json.dumps(row["answer"])


def test_an_answer_edited_by_hand_is_not_used(project):
    project.path.write_bytes(project.path.read_bytes().replace(b'"good"', b'"bad"', 1))
    project.commit()
    status, said = project.replay()
    assert status == 1
    assert "was edited after it was recorded" in said
    assert project.say("verify", ".")[0] == 1


def test_an_edited_answer_with_its_checksum_put_right_is_told(project):
    project.edit(lambda rows: say_of(trials(rows)[0], "bad"))
    status, said = project.replay()
    assert status == 0
    assert "not as in the last commit: __promptfuzz__/test_it.calls.jsonl" in said
    code, said = project.say("diff")
    assert (code, "1 answer changed" in said) == (1, True)
    project.commit()
    assert project.say("diff")[0] == 0
    for commits in ("HEAD~1", "HEAD~1..HEAD", "HEAD~1..", "HEAD~1...HEAD"):
        code, said = project.say("diff", "--against", commits)
        assert (code, "1 answer changed" in said) == (1, True), commits
    assert project.say("diff", "--against", "HEAD..HEAD") == (0, "Nothing changed in 1 recording.")


def test_an_edited_answer_with_a_new_day_is_told_as_well(project):
    def change(rows: Rows) -> None:
        say_of(trials(rows)[0], "bad")
        trials(rows)[0]["answered"] = "2027-01-01T00:00:00Z"

    project.edit(change)
    code, said = project.say("diff")
    assert (code, "answered 2027-01-01, before" in said) == (1, True)


def test_two_answers_that_change_places_are_told(project):
    def change(rows: Rows) -> None:
        first, second = trials(rows)[:2]
        say_of(first, "bad")
        first["answer"], second["answer"] = second["answer"], first["answer"]

    project.edit(change)
    code, said = project.say("diff")
    assert (code, "answers changed" in said) == (1, True)


def test_a_trial_that_is_deleted_is_missed_by_its_test(project):
    project.edit(lambda rows: [row for row in rows if row is not trials(rows)[0]])
    status, said = project.replay()
    assert status == 1
    assert "NotRecordedError" in said
    assert "removed" in project.say("diff")[1]


def test_a_trial_that_is_deleted_with_its_place_in_the_plan_is_told(project):
    def change(rows: Rows) -> Rows:
        gone = trials(rows)[0]
        (plan,) = (row["plan"] for row in rows if "plan" in row)
        plan["mutations"] = [each for each in plan["mutations"] if each["id"] != gone["trial"]]
        return [row for row in rows if row is not gone]

    project.edit(change)
    project.commit()
    code, said = project.say("diff", "--against", "HEAD~1..HEAD")
    assert (code, "has other mutations of the same prompt, under the same settings" in said) == (1, True)
    assert "1 plan changed though its prompt and settings did not" in said


def test_an_answer_that_no_plan_asks_for_is_found(project):
    def change(rows: Rows) -> Rows:
        row = json.loads(json.dumps(trials(rows)[0]))
        row["trial"] = "0" * 12
        row["request"]["messages"][0]["content"] = "Something else"
        row["key"] = f"{'0' * 64}-0-0"
        return [*rows, row]

    project.edit(change)
    code, said = project.say("verify", ".")
    assert (code, "which no plan of it names" in said) == (1, True)
    assert "added" in project.say("diff")[1]


@pytest.mark.parametrize("what", ["test", "file"])
def test_a_name_that_changes_hides_no_edited_answer(project, what):
    project.edit(lambda rows: say_of(trials(rows)[0], "bad"))
    if what == "test":
        project.edit(lambda rows: [{**row, "test": "test_feeling"} for row in rows])
    else:
        project.path.rename(recording_of(project.path.parents[1] / "test_new.py"))
    project.commit()
    code, said = project.say("diff", "--against", "HEAD~1..HEAD")
    assert (code, "1 answer changed" in said) == (1, True)
    assert "renamed, was " in said
    assert "→ 'bad' (trial " in said


def test_what_a_branch_changed_is_compared_with_where_it_left(project):
    project.git("branch", "-M", "main")
    project.git("checkout", "-q", "-b", "work")
    project.edit(lambda rows: say_of(trials(rows)[0], "bad"))
    project.commit()
    project.git("checkout", "-q", "main")
    project.edit(lambda rows: say_of(trials(rows)[1], "bad"))
    project.commit()
    assert "2 answers changed" in project.say("diff", "--against", "main..work")[1]
    assert "1 answer changed" in project.say("diff", "--against", "main...work")[1]
    for wrong in ("main..nowhere", "nowhere...work", "-p..main"):
        code, said = project.say("diff", f"--against={wrong}")
        assert code == 2, said
