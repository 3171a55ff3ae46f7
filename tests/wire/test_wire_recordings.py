"""The recording file: what is written comes back, and damage is named, survived and never made worse."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.storage.answers import StoredAnswer
from pytest_promptfuzz.storage.recordings.entries import (
    CallPlace,
    PlanEntry,
    RecordedExchange,
    RunClaim,
    Spool,
    finished,
    from_line,
    to_line,
    waiting,
    written,
)
from pytest_promptfuzz.storage.recordings.files import RecordingFile, merge, ordered, write_whole
from pytest_promptfuzz.storage.recordings.places import recording_of, recordings_below

if TYPE_CHECKING:
    from pathlib import Path

ANSWER = StoredAnswer(
    url="https://api.openai.com/v1/chat/completions",
    request={"model": "m", "messages": [{"role": "user", "content": "Grüße, “Kim”"}], "b": 1, "a": 2},
    status=200,
    content_type="application/json",
    body='{"z":1,"a":{"y":[1.0,2]}}',
    created=1_750_000_000.0,
    headers={"anthropic-version": "2023-06-01"},
    ignore=("$.id",),
)
STREAM = replace(ANSWER, content_type="text/event-stream", body='data: {"a":1}\n\ndata: [DONE]\n\n')


def entry(
    test: str, key: str = "k-0-0", *, trial: str = "", answer: StoredAnswer = ANSWER
) -> RecordedExchange:
    return RecordedExchange(test, CallPlace(0, None if trial else 0, trial), key, answer)


def lines_of(*tests: str) -> dict[str, list[bytes]]:
    return {test: [to_line(entry(test)), to_line(entry(test, "k-0-1", trial="t1"))] for test in tests}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return recording_of(tmp_path / "test_it.py")


@pytest.mark.parametrize("answer", [ANSWER, STREAM, replace(ANSWER, status=400, headers={}, ignore=())])
def test_an_entry_comes_back_as_it_was(answer: StoredAnswer) -> None:
    made = entry("test_a", answer=answer)
    assert from_line(to_line(made)) == made


def test_a_line_is_for_people_to_read() -> None:
    line = to_line(entry("test_a")).decode()
    assert line.endswith("}\n")
    assert line.count("\n") == 1
    value = json.loads(line)
    assert list(value)[:4] == ["test", "case", "sample", "call"]
    assert value["answer"] == {"z": 1, "a": {"y": [1.0, 2]}}
    assert list(value["answer"]) == ["z", "a"], "the provider's order of keys may mean something"
    assert list(value["request"]) == ["a", "b", "messages", "model"], (
        "the order of a request's keys means nothing"
    )
    assert "Grüße, “Kim”" in line
    assert value["answered"] == "2025-06-15T15:06:40Z"
    assert "backend" not in value
    assert "stream" not in value


@pytest.mark.parametrize(
    "body",
    ['{"a":1,"a":2}', '{"a":NaN}', '{"a":1e999}', "[1]", '"text"', '{"a":' * 3000 + "1" + "}" * 3000],
    ids=["twice", "nan", "infinite", "list", "text", "deep"],
)
def test_a_body_that_an_object_would_change_stays_text(body: str) -> None:
    made = entry("test_a", answer=replace(ANSWER, body=body))
    assert from_line(to_line(made)) == made
    assert json.loads(to_line(made))["answer"] == body


def test_what_an_editor_would_hide_is_escaped() -> None:
    hostile = "a\u202eb\u2028c\u200bd\ud800e\x9bf\U000e0041"
    line = to_line(entry("test_a", answer=replace(ANSWER, request={"text": hostile})))
    assert all(each.isascii() or each.isprintable() for each in line.decode("utf-8").rstrip("\n"))
    read = from_line(line)
    assert isinstance(read, RecordedExchange)
    assert read.answer.request == {"text": hostile}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(test=st.text(), body=st.dictionaries(st.text(), JSON), text=st.text())
def test_any_json_comes_back(test: str, body: dict[str, object], text: str) -> None:
    sent = replace(
        ANSWER, request=body, body=json.dumps(body, separators=(",", ":")), headers={"x-beta": text}
    )
    made = entry(test, answer=sent)
    read = from_line(to_line(made))
    assert isinstance(read, RecordedExchange)
    assert read == replace(made, answer=sent)


@pytest.mark.parametrize(
    ("old", "new"), [('"y": [1.0', '"y": [9.0'), ('"model": "m"', '"model": "n"'), ("2025-06", "2024-06")]
)
def test_an_edited_entry_is_noticed(old: str, new: str) -> None:
    line = to_line(entry("test_a")).decode()
    assert old in line
    with pytest.raises(StoreError, match="edited after it was recorded"):
        from_line(line.replace(old, new).encode())


def test_the_order_is_stable() -> None:
    plan = PlanEntry("test_a", 0, {"prompt": "d", "mutations": [{"id": "t9"}, {"id": "t1"}]})
    entries = [
        RecordedExchange("test_a", CallPlace(0, None, "t1", 0), "d", ANSWER),
        RecordedExchange("test_a", CallPlace(0, None, "t9", 1), "c", ANSWER),
        RecordedExchange("test_a", CallPlace(0, None, "t9", 0), "e", ANSWER),
        RecordedExchange("test_a", CallPlace(0, 1), "b", ANSWER),
        RecordedExchange("test_a", CallPlace(0, 0), "a", ANSWER),
    ]
    lines = ordered([plan], entries)
    assert lines == ordered([plan], reversed(entries))
    read = [from_line(line) for line in lines]
    assert [getattr(each, "key", "plan") for each in read] == ["plan", "a", "b", "e", "c", "d"]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_file_is_merged_test_by_test(path: Path, ending: str) -> None:
    path = path.with_name(path.name + ending)
    merge(path, lines_of("test_b", "test_c"))
    before = RecordingFile(path).lines("test_c")
    assert merge(path, lines_of("test_a") | {"test_b": []}) == ""
    file = RecordingFile(path)
    assert file.tests == ["test_a", "test_c"]
    assert file.lines("test_c") == before
    assert [each.key for each in file.read("test_c").entries] == ["k-0-0", "k-0-1"]
    assert file.problems == []
    content = path.read_bytes()
    merge(path, lines_of("test_a"))
    assert path.read_bytes() == content, "the same content gives the same bytes"
    if ending:
        assert content[4:8] == bytes(4), "no time in it"
    else:
        assert b"\r" not in content
        assert content.startswith(b'{"promptfuzz": "calls", "version": 1}\n')
    assert (
        (path.parent / ".gitattributes")
        .read_text()
        .startswith("*.calls.jsonl text eol=lf merge=union linguist-generated\n")
    )
    assert sorted(each.name for each in path.parent.iterdir()) == [".gitattributes", path.name]


def test_a_compressed_recording_is_found_and_stays_compressed(tmp_path: Path, path: Path) -> None:
    zipped = path.with_name(path.name + ".gz")
    write_whole(zipped, b'{"promptfuzz": "calls", "version": 1}\n')
    assert recording_of(tmp_path / "test_it.py") == zipped
    merge(zipped, lines_of("test_a"))
    assert RecordingFile(zipped).tests == ["test_a"]
    assert gzip.decompress(zipped.read_bytes()).count(b"\n") == 3


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "kept" / "real.txt", tmp_path / "link.txt"
    link.symlink_to(real)
    write_whole(link, b"one")
    assert link.is_symlink()
    assert real.read_bytes() == b"one"
    write_whole(link, b"two")
    assert link.is_symlink()
    assert real.read_bytes() == b"two"
    assert sorted(each.name for each in (tmp_path / "kept").iterdir()) == ["real.txt"]
    assert (tmp_path / ".gitattributes").is_file(), "git looks beside the link"


@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_regular_file_is_never_replaced(tmp_path: Path, *, linked: bool) -> None:
    pipe, folder, loop = tmp_path / "pipe", tmp_path / "folder", tmp_path / "loop"
    os.mkfifo(pipe)
    folder.mkdir()
    loop.symlink_to(loop)
    for each, what in ((pipe, "no regular file"), (folder, "a folder"), (loop, "no regular file")):
        path = each
        if linked:
            path = tmp_path / f"to-{each.name}"
            path.symlink_to(each)
        with pytest.raises(StoreError, match=f"{path} is {what}.* was left as it is; name a file"):
            write_whole(path, b"content")
    assert pipe.is_fifo()
    assert loop.is_symlink()
    assert list(folder.iterdir()) == []
    assert not (tmp_path / ".gitattributes").exists()


def damaged(path: Path, change) -> RecordingFile:
    merge(path, lines_of("test_a", "test_b"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(change(lines)))
    return RecordingFile(path)


def test_half_a_last_line_is_named_and_the_rest_is_used(path: Path) -> None:
    file = damaged(path, lambda lines: [*lines[:-1], lines[-1][:60]])
    assert [each.key for each in file.read("test_b").entries] == ["k-0-0"]
    assert len(file.read("test_a").entries) == 2
    (problem,) = file.problems
    assert str(problem).startswith(f"{path}:5: this line is cut off")


def test_half_a_last_line_that_names_no_test(path: Path) -> None:
    file = damaged(path, lambda lines: [*lines, b'{"te'])
    assert [str(each) for each in file.problems] == [f"{path}:6: this line is cut off and was not used."]
    assert len(file.read("test_b").entries) == 2
    assert not file.whole


def test_a_merge_conflict_is_named_and_both_sides_are_used(path: Path) -> None:
    other = to_line(entry("test_c"))
    file = damaged(path, lambda x: [*x[:3], b"<<<<<<< HEAD\n", *x[3:], b"=======\n", other, b">>>>>>> b\n"])
    assert [each.line for each in file.problems] == [4, 7, 9]
    assert all("merge conflict" in each.why for each in file.problems)
    assert [len(file.read(test).entries) for test in ("test_a", "test_b", "test_c")] == [2, 2, 1]


def test_a_conflict_in_the_first_line_refuses_the_file(path: Path) -> None:
    file = damaged(path, lambda lines: [b"<<<<<<< HEAD\n", *lines])
    assert "merge conflict" in file.refused
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"{path}:1: an unresolved merge conflict"):
        merge(path, lines_of("test_a"))
    assert path.read_bytes() == before


def test_two_answers_to_one_request(path: Path) -> None:
    other = to_line(entry("test_b", answer=replace(ANSWER, body='{"z":2}')))
    file = damaged(path, lambda lines: [*lines, other, lines[-1]])
    first = file.read("test_b").entries
    assert [each.answer.body for each in first] == [ANSWER.body, ANSWER.body]
    (problem,) = file.problems
    assert str(problem).startswith(f"{path}:6: 1 request has two different answers in test_b")


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b'{"promptfuzz": "calls", "version": 2}\n', "format version 2; this release reads 1"),
        (b'{"promptfuzz": "snapshot", "version": 1}\n', "not a recording"),
        (b"\x00\xff\xfe\n", "not a recording"),
        (b"", "the recording is empty"),
    ],
)
def test_a_foreign_file_is_refused_and_not_overwritten(path: Path, header: bytes, why: str) -> None:
    path.parent.mkdir()
    path.write_bytes(header)
    file = RecordingFile(path)
    assert why in file.refused
    assert file.tests == []
    with pytest.raises(StoreError, match="left as it is"):
        merge(path, lines_of("test_a"))
    assert path.read_bytes() == header


def test_what_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    file = RecordingFile(tmp_path)
    assert str(file.problems[0]).startswith(f"{tmp_path}: the recording cannot be read (")
    with pytest.raises(StoreError):
        merge(tmp_path, lines_of("test_a"))
    zipped = tmp_path / "test_it.calls.jsonl.gz"
    zipped.write_bytes(gzip.compress(b"x" * 1000)[:-9])
    assert "cannot be read" in RecordingFile(zipped).refused


def test_garbage_is_set_aside_before_the_file_is_written(path: Path) -> None:
    damaged(path, lambda lines: [*lines[:3], b"garbage\n", *lines[3:]])
    before = path.read_bytes()
    note = merge(path, lines_of("test_c"))
    assert "damaged in line 4" in note
    assert path.with_name(path.name + ".damaged-1").read_bytes() == before
    file = RecordingFile(path)
    assert file.tests == ["test_a", "test_b", "test_c"]
    assert file.whole


def test_a_line_damaged_inside_stays_until_its_test_is_recorded_again(path: Path) -> None:
    damaged(path, lambda lines: [*lines[:-1], lines[-1].replace(b'"model": "m"', b'"model": "x"')])
    kept = RecordingFile(path).lines("test_b")
    assert merge(path, lines_of("test_c")) == ""
    assert RecordingFile(path).lines("test_b") == kept


def test_a_folder_that_cannot_be_written_is_named(path: Path) -> None:
    path.parent.write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="cannot be written"):
        merge(path, lines_of("test_a"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a limit on the size of files")
def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource
    import signal

    merge(path, lines_of("test_a"))
    before = path.read_bytes()
    was = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, was[1]))
    try:
        with pytest.raises(StoreError, match=r"cannot be written .* as it was"):
            merge(path, lines_of("test_b"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)
        signal.signal(signal.SIGXFSZ, ignored)
    assert path.read_bytes() == before
    assert sorted(each.name for each in path.parent.iterdir()) == [".gitattributes", path.name]


def test_a_spool_is_served_again_and_ends_in_entries(tmp_path: Path, path: Path) -> None:
    spool = Spool(tmp_path / "spool", path, "test_a")
    spool.keep("k1", ANSWER)
    spool.keep("k2", STREAM)
    assert list(finished(tmp_path / "spool")) == []
    with spool.path.open("ab") as file:
        file.write(b'{"url": "https://half')
    again = Spool(tmp_path / "spool", path, "test_a")
    assert again.kept == 2
    assert (again.get("k1"), again.get("k2"), again.get("k3")) == (ANSWER, STREAM, None)
    again.keep("k3", ANSWER)
    plan = PlanEntry("test_a", 0, {"mutations": []})
    again.end([plan], {"k3": CallPlace(0, 0), "k2": CallPlace(0, None, "t1", 1)})
    (done,) = finished(tmp_path / "spool")
    assert (done.recording, done.test, done.plans) == (path, "test_a", (plan,))
    assert [(each.key, each.place, each.answer) for each in done.entries] == [
        ("k3", CallPlace(0, 0), ANSWER),
        ("k2", CallPlace(0, None, "t1", 1), STREAM),
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a limit on the size of files")
def test_what_a_full_disk_did_not_take_is_written_once_there_is_room(tmp_path: Path, path: Path) -> None:
    import resource
    import signal

    spool = Spool(tmp_path / "spool", path, "test_a")
    was = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (spool.path.stat().st_size + 40, was[1]))
    try:
        for key in ("k1", "k2"):
            with pytest.raises(StoreError, match="cannot be written"):
                spool.keep(key, ANSWER)
        with pytest.raises(StoreError, match="cannot be written"):
            spool.end([], {"k1": CallPlace(0, 0), "k2": CallPlace(0, 1)})
        with pytest.raises(StoreError, match="cannot be written"):
            Spool(tmp_path / "spool", path, "test_" + "b" * 400)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)
        signal.signal(signal.SIGXFSZ, ignored)
    assert list(finished(tmp_path / "spool")) == [], "no recording is complete that lacks an answer"
    spool.end([], {"k1": CallPlace(0, 0), "k2": CallPlace(0, 1)})
    (done,) = finished(tmp_path / "spool")
    assert [each.key for each in done.entries] == ["k1", "k2"]
    # A file whose first line the disk did not take begins anew.
    assert Spool(tmp_path / "spool", path, "test_" + "b" * 400).kept == 0
    assert Spool(tmp_path / "spool", path, "test_" + "b" * 400).aside is None


def test_a_spool_that_was_written_waits_no_more_and_is_served_again(tmp_path: Path, path: Path) -> None:
    spool = Spool(tmp_path / "spool", path, "test_a")
    spool.keep("k1", ANSWER)
    spool.end([], {"k1": CallPlace(0, 0)})
    assert waiting(tmp_path / "spool") == 1
    written(spool.path, over=False)
    assert list(finished(tmp_path / "spool")) == []
    assert waiting(tmp_path / "spool") == 0
    again = Spool(tmp_path / "spool", path, "test_a")
    assert (again.get("k1"), again.kept, again.since) == (ANSWER, 1, ANSWER.created)
    again.end([], {"k1": CallPlace(0, 0)})
    assert len(list(finished(tmp_path / "spool"))) == 1
    written(spool.path, over=True)
    assert not spool.path.exists()


def test_what_runs_left_that_are_over_goes_on_in_one_spool(tmp_path: Path, path: Path) -> None:
    folder = tmp_path / "spool"
    for run, key in (("", "k1"), ("one", "k2"), ("two", "k3")):
        Spool(tmp_path / f"of-{run}", path, "test_a", run=run).keep(key, ANSWER)
        folder.mkdir(exist_ok=True)
        (left,) = (tmp_path / f"of-{run}").glob("*.spool.jsonl")
        left.rename(folder / left.name)
    spool = Spool(folder, path, "test_a", run="three")
    assert {key: spool.get(key) for key in ("k1", "k2", "k3")} == dict.fromkeys(("k1", "k2", "k3"), ANSWER)
    assert (spool.kept, list(folder.glob("*.spool.jsonl"))) == (3, [spool.path])
    spool.end([], {key: CallPlace(0, number) for number, key in enumerate(("k1", "k2", "k3"))})
    (done,) = finished(folder)
    assert [each.key for each in done.entries] == ["k1", "k2", "k3"]


def test_what_a_run_that_is_under_way_was_answered_is_its_own(tmp_path: Path, path: Path) -> None:
    folder = tmp_path / "spool"
    claim = RunClaim(folder, "one")
    assert claim.begin()
    first = Spool(folder, path, "test_a", run="one")
    first.keep("k1", ANSWER)
    first.end([], {"k1": CallPlace(0, 0)})
    other = Spool(folder, path, "test_a", run="two")
    assert (other.kept, other.get("k1")) == (0, None)
    assert (list(finished(folder, "two")), [each.path for each in finished(folder, "one")]) == (
        [],
        [first.path],
    )
    assert waiting(folder) == 1, "one test, whoever records it"
    claim.end()
    assert [each.path for each in finished(folder, "two")] == [first.path]
    assert Spool(folder, path, "test_a", run="three").get("k1") == ANSWER
    assert not first.path.exists()


def test_a_spool_that_was_removed_is_written_again_with_all_that_was_answered(
    tmp_path: Path, path: Path
) -> None:
    spool = Spool(tmp_path / "spool", path, "test_a")
    spool.keep("k1", ANSWER)
    spool.keep("k2", STREAM, recorded=True)
    shutil.rmtree(tmp_path / "spool")
    spool.end([], {"k1": CallPlace(0, 0), "k2": CallPlace(0, 1)})
    (done,) = finished(tmp_path / "spool")
    assert [(each.key, each.answer) for each in done.entries] == [("k1", ANSWER), ("k2", STREAM)]
    again = Spool(tmp_path / "spool", path, "test_a")
    assert (again.get("k1"), again.get("k2")) == (ANSWER, None), "what is from the recording stands there"


def test_recordings_are_found_below_folders_and_beside_modules(tmp_path: Path) -> None:
    for name in ("a/test_a.py", "b/test_b.py", "venv/test_c.py", ".hidden/test_d.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        merge(recording_of(tmp_path / name), lines_of("test_it"))
    assert recordings_below([tmp_path], [".*", "venv"]) == [
        recording_of(tmp_path / "a/test_a.py"),
        recording_of(tmp_path / "b/test_b.py"),
    ]
    assert recordings_below([tmp_path / "b/test_b.py", tmp_path / "a/none.py"]) == [
        recording_of(tmp_path / "b/test_b.py")
    ]


def test_a_folder_in_the_place_of_a_recording_is_found_and_its_trouble_said_once(tmp_path: Path) -> None:
    path = recording_of(tmp_path / "test_it.py")
    path.mkdir(parents=True)
    assert recordings_below([tmp_path]) == [path]
    file = RecordingFile(path)
    assert file.read("test_a").refused.startswith("the recording cannot be read (")
    assert len(file.problems) == 1
