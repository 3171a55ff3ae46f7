"""The summary says how old the recordings are, and which of them git has otherwise."""

from __future__ import annotations

import gzip
import os
import subprocess
import time

import pytest

from pytest_promptfuzz.plugin.output.terminal import recording_lines

SOURCE = """
@robust(TRIAGE, mutations=2, threshold=0.0)
def test_triage(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""


@pytest.fixture
def run(project, pytester, monkeypatch):
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(pytester.path.parent))

    def run(*arguments: str) -> str:
        return " ".join(project(SOURCE, *arguments).stdout.str().split())

    return run


def aged(folder) -> str:
    """What a run says that used the recording."""
    test = "test_it.py::test_triage"
    return "".join(recording_lines(folder, [test], {test})[:1])


def git(folder, *arguments: str) -> None:
    names = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


def test_age_and_change_of_recordings_are_said(run, pytester):
    assert "recording were used" not in run()
    assert "recording were used" not in run("--promptfuzz-mode=record"), "it has said what it recorded"
    path = pytester.path / "__promptfuzz__" / "test_it.calls.jsonl"
    text = run("--promptfuzz-mode=replay")
    today = time.strftime("%Y-%m-%d", time.gmtime())
    assert f"promptfuzz: answers of 1 recording were used, recorded on {today}" in text
    assert "last commit" not in text, "there is no repository"
    git(pytester.path, "init", "-q")
    changed = "promptfuzz: not as in the last commit: __promptfuzz__/test_it.calls.jsonl; `promptfuzz cache diff` shows"
    git(pytester.path, "add", "-f", "pytest.ini" if (pytester.path / "pytest.ini").exists() else "tox.ini")
    git(pytester.path, "commit", "-qm", "first")
    assert "not as in the last commit: __promptfuzz__/" in run(), "it is not committed yet"
    git(pytester.path, "add", "-f", "-A")
    git(pytester.path, "commit", "-qm", "recorded")
    text = run("-n", "1")
    assert "recording were used" in text
    assert "last commit" not in text
    path.write_bytes(path.read_bytes().replace(f'"answered": "{today}'.encode(), b'"answered": "2020-01-02'))
    text = run()
    assert changed in text
    assert "recording were used" not in text, "it was edited"
    assert aged(pytester.path).startswith(
        "answers of 1 recording were used, recorded on 2020-01-02 (the oldest "
    )
    path.write_bytes(path.read_bytes().replace(b'"answered": "2020-01-02', b'"answered": "2020-99-99', 1))
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert aged(pytester.path).startswith("answers of 1 recording were used, recorded on 2020-01-02 (the ")
    assert "recording were used" not in run("--promptfuzz-mode=live")


def test_change_is_said_where_no_test_was_judged(run, pytester):
    run("--promptfuzz-mode=record")
    path = pytester.path / "__promptfuzz__" / "test_it.calls.jsonl"
    git(pytester.path, "init", "-q")
    git(pytester.path, "add", "-f", "-A")
    git(pytester.path, "commit", "-qm", "recorded")
    assert "last commit" not in run("--promptfuzz-mode=replay")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(lines[0][:-20] + "\n", encoding="utf-8")
    for workers in ((), ("-n", "1")):
        text = run("--promptfuzz-mode=replay", *workers)
        assert "prompt robustness" not in text, "it was not judged"
        assert "not as in the last commit: __promptfuzz__/test_it.calls.jsonl; " in text
    path.unlink()
    assert "not as in the last commit: __promptfuzz__/test_it.calls.jsonl; " in run(
        "--promptfuzz-mode=replay"
    )


def test_a_repository_that_git_refuses_is_named(run, pytester, monkeypatch):
    git(pytester.path, "init", "-q")
    monkeypatch.setenv(
        "GIT_TEST_ASSUME_DIFFERENT_OWNER", "1"
    )  # git's own switch: as in a container of another user
    refused = "git does not tell whether the recordings are as in the last commit: detected dubious ownership"
    assert refused not in run(), "nothing is recorded"
    assert refused not in run("--promptfuzz-mode=record"), "nothing is replayed"
    assert refused in run("--promptfuzz-mode=replay")
