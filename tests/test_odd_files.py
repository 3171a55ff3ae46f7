"""Files that are damaged or hostile: one sentence each, nothing waited for, nothing written outside the project."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path

import pytest

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.files import check_inside, open_file, read_text, to_json
from pytest_promptfuzz.history.snapshots import Sample, Snapshot, SnapshotInput, path_of, read, write

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import damaged_files

KINDS = [
    "recording",
    "snapshot",
    "report",
    "lines",
    "history",
    "counterexample",
    "answers",
    "prefill",
    "pyproject",
    "chat",
    "schema",
]

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and links are those of POSIX")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Path]]:
    folder = tmp_path_factory.mktemp("damaged").resolve()
    return folder, damaged_files.made(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_refused_in_one_sentence(project, monkeypatch, kind) -> None:
    folder, files = project
    monkeypatch.setattr(damaged_files, "SECONDS", 120)  # a busy machine is no hang
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A folder, a pipe, two broken links and an endless device in its place; then ways to damage what it holds.
        found = [each for each in damaged_files.check(folder, files, 12, [kind], commands_each=1) if each]
    assert not found


def test_what_is_no_file_is_not_read(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name in ("pipe", "device", ".", "missing"):
        with pytest.raises(OSError):
            open_file(tmp_path / name)
    (tmp_path / "file").write_bytes(b"a\r\nb")
    assert read_text(tmp_path / "file") == "a\r\nb"


def snapshot(answer: str) -> Snapshot:
    return Snapshot(
        "test_a",
        "pass",
        1.0,
        0.85,
        "m",
        "m",
        "p",
        (SnapshotInput("0", "p", answers=(Sample(answer),)),),
    )


def test_a_snapshot_shows_what_would_be_hidden(tmp_path) -> None:
    answer = "pay \u202eegnahc\u202c \u200bnow\ufeff \u2028 \U000e0041 é \ud800"
    write(tmp_path / "test_it.py", snapshot(answer))
    path = path_of(tmp_path / "test_it.py", "test_a")
    text = path.read_bytes().decode()
    for each in ("\\u202e", "\\u202c", "\\u200b", "\\ufeff", "\\u2028", "\\udb40\\udc41", "\\ud800", "é"):
        assert each in text
    assert not set("\u202e\u202c\u200b\ufeff\u2028\U000e0041") & set(text)
    found = read(path)
    assert found is not None
    assert found.inputs[0].answers[0].answer == answer
    assert json.loads(to_json({answer: answer})) == {answer: answer}


def test_links_that_lead_out_of_a_project(tmp_path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    for each in (project / "tests", project / "other", outside):
        each.mkdir(parents=True)
    (project / "within").symlink_to(project / "other")
    (project / "without").symlink_to(outside)
    (project / "tests" / "a.json").symlink_to(outside / "a.json")
    check_inside(project / "tests" / "b.json", project)
    check_inside(project / "within" / "b.json", project)
    check_inside(outside / "b.json", project)  # which a user named
    for place in (project / "without" / "b.json", project / "tests" / "a.json"):
        with pytest.raises(StoreError, match="leads out of the project"):
            check_inside(place, project)


TESTS = """
from pytest_promptfuzz import robust

@robust("Please classify the ticket as BILLING or OTHER: I was charged twice.", mutations=2, target="simulated")
def test_label(prompt, llm):
    return llm(prompt)
"""


@pytest.mark.parametrize(
    ("link", "options", "said"),
    [
        ("__promptfuzz__", ["--promptfuzz-update"], "no snapshot written for *leads out of the project*"),
        ("__promptfuzz__", ["--promptfuzz-mode=record"], "*cannot be recorded: *leads out of the project*"),
        (".promptfuzz", [], "*leads out of the project*"),
        (".promptfuzz/history", [], "*leads out of the project*"),
        (".promptfuzz/report", [], "*leads out of the project*"),
    ],
)
def test_nothing_is_written_through_a_link_out_of_the_project(
    pytester, monkeypatch, link, options, said
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("COLUMNS", "400")
    outside = pytester.path.parent / f"{pytester.path.name}-outside"
    outside.mkdir()
    place = pytester.path / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside)
    pytester.makepyfile(test_it=TESTS)
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)
    shown = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in shown
    assert "INTERNALERROR" not in shown
    assert list(outside.iterdir()) == []
    result.stdout.fnmatch_lines([f"*{said}"])
