"""``promptfuzz cache``: what it says of stored answers is so, and it removes nothing that it was not told to."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from stored import TIME, URL, answer, entry, fill, key_of, lines, plan, record

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.storage.disk_store import ResponseStore, kept_answers
from pytest_promptfuzz.storage.recordings.entries import (
    PlanEntry,
    RecordedExchange,
    from_line,
    sealed,
    to_line,
    unsealed,
)
from pytest_promptfuzz.storage.recordings.files import RecordingFile, ordered
from tests.in_process import promptfuzz, run_pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cache(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Run an action; its exit code and all it wrote, white space folded."""

    def run(*argv: str) -> tuple[int, str]:
        code = main(["cache", *argv])
        done = capsys.readouterr()
        return code, " ".join((done.out + done.err).split())

    return run


@pytest.fixture
def cache_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any]]:
    def run(*argv: str) -> tuple[int, Any]:
        code = main(["cache", *argv, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def edited(path: Path, number: int, change: Callable[[dict[str, Any]], None]) -> None:
    """Edit a line, and put its checksum right."""
    rows = path.read_bytes().splitlines(keepends=True)
    value = unsealed(rows[number - 1])
    change(value)
    rows[number - 1] = sealed(value)
    path.write_bytes(b"".join(rows))


# stats


def test_stats_count_what_is_stored(folder, cache, cache_json) -> None:
    fill(folder / ".promptfuzz", answer(), answer("x", url="http://localhost:11434/v1/chat/completions"))
    path = record(folder, test_a=lines("test_a"), test_b=lines("test_b", created=TIME + 86_400))
    code, found = cache_json("stats")
    assert code == 0
    stored = found["cache"]
    assert (stored["answers"], stored["damaged"], stored["problem"], stored["waiting"]) == (2, [], "", 0)
    assert stored["models"] == {"gpt-5-mini": 2}
    assert stored["hosts"] == {"api.openai.com": 1, "localhost:11434": 1}
    (recording,) = found["recordings"]
    assert recording["path"] == str(path.relative_to(folder))
    assert (recording["answers"], recording["oldest"], recording["newest"]) == (4, TIME, TIME + 86_400)
    assert recording["bytes"] == path.stat().st_size
    assert [(each["test"], each["answers"], each["oldest"]) for each in recording["tests"]] == [
        ("test_a", 2, TIME),
        ("test_b", 2, TIME + 86_400),
    ]
    code, text = cache("stats")
    assert "Local cache .promptfuzz: 2 answers of 2025-10-09" in text
    assert "4 answers of 2025-10-09 to 2025-10-10" in text


def test_stats_name_damaged_entries(folder, cache, cache_json) -> None:
    (key,) = fill(folder / ".promptfuzz", answer())
    with sqlite3.connect(ResponseStore(folder / ".promptfuzz").path) as database:
        database.execute("UPDATE Cache SET value = ? WHERE key = ?", (b"promptfuzz-answer 1 0\n{}", key))
    database.close()
    found = cache_json("stats")[1]["cache"]
    assert (found["answers"], [each["key"] for each in found["damaged"]]) == (0, [key])
    assert "damaged: 1 entry" in cache("stats")[1]
    assert "No recordings." in cache("stats")[1]


def test_a_pickle_in_the_cache_is_named_and_not_read(folder, cache_json) -> None:
    import pickle

    fill(folder / ".promptfuzz", answer())
    with sqlite3.connect(ResponseStore(folder / ".promptfuzz").path) as database:
        database.execute("UPDATE Cache SET mode = 4, value = ?", (pickle.dumps(print),))
    database.close()
    assert cache_json("stats")[1]["cache"]["damaged"][0]["why"] == "the entry is not a stored answer"


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("nowhere", "nowhere does not exist. Name a recording, a test module or a folder."),
        ("notes.txt", "notes.txt is not a recording and has none."),
        ("test_new.py", "test_new.py is not a recording and has none."),
    ],
)
@pytest.mark.parametrize("action", ["stats", "verify", "prune", "diff"])
def test_a_path_that_is_none_is_named(folder, cache, action, argument, said) -> None:
    for name in ("notes.txt", "test_new.py"):
        (folder / name).write_text("")
    code, text = cache(action, argument)
    assert (code, said in text) == (2, True), text


# verify


def test_verify_passes_what_was_recorded(folder, cache) -> None:
    fill(folder / ".promptfuzz", answer())
    record(folder, test_a=lines("test_a"), test_b=lines("test_b"))
    assert cache("verify") == (
        0,
        "Checked 1 recording with 4 answers, 1 in the local cache: no problem.",
    )


def change_answer(value: dict[str, Any]) -> None:
    value["answer"]["choices"][0]["message"]["content"] = "TECHNICAL"


def change_request(value: dict[str, Any]) -> None:
    value["request"]["messages"][0]["content"] = "Hello test_b"


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"BILLING"', b'"ACCOUNT"'), (b'"Hello test_a"', b'"Hello test_b"'), (b"2025-10-09", b"2026-10-09")],
    ids=["answer", "request", "time"],
)
def test_verify_finds_what_was_edited_by_hand(folder, cache, old, new) -> None:
    path = record(folder, test_a=lines("test_a"))
    rows = path.read_bytes().splitlines(keepends=True)
    assert old in rows[2]
    rows[2] = rows[2].replace(old, new)
    path.write_bytes(b"".join(rows))
    code, text = cache("verify")
    assert code == 1
    assert f"{path.relative_to(folder)}:3: this line was edited after it was recorded" in text


def test_verify_finds_a_request_edited_with_its_checksum(folder, cache) -> None:
    path = record(folder, test_a=lines("test_a"))
    edited(path, 3, change_request)
    code, text = cache("verify")
    assert code == 1
    assert f"{path.relative_to(folder)}:3: the request is not the one that was answered" in text


@pytest.mark.parametrize("part", ["headers", "ignore", "backend", "key"])
def test_verify_computes_the_key_from_all_it_is_made_of(folder, cache, part) -> None:
    path = record(folder, test_a=lines("test_a"))
    values = {
        "headers": {"x-beta": "2"},
        "ignore": ["$.model"],
        "backend": "simulated-1",
        "key": "f" * 64 + "-0-0",
    }
    edited(path, 3, lambda value: value.update({part: values[part]}))
    code, text = cache("verify")
    assert (code, "its key, computed anew, is another" in text) == (1, True)


def test_verify_finds_doubles_strangers_and_what_is_missing(folder, cache) -> None:
    path = record(folder, test_a=lines("test_a"))
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*rows, rows[2], rows[1]]))
    assert cache("verify")[0] == 0, "what stands there twice, and is the same, is no problem"
    other = to_line(replace(from_line(rows[2]), answer=answer(said="something else")))
    planned = from_line(rows[1])
    replanned = to_line(replace(planned, plan={**planned.plan, "asked": {"seed": 1}}))
    path.write_bytes(b"".join([*rows, other, replanned]))
    text = cache("verify")[1]
    assert ":5: 1 request has two different answers in test_a, and the first is used" in text
    assert ":6: another plan of test_a, beside the one in line 2" in text
    stranger = to_line(entry("test_a", answer("hm"), trial="t9"))
    path.write_bytes(b"".join([*rows, stranger]))
    assert "test_a holds answers to trial t9, which no plan of it names" in cache("verify")[1]
    path.write_bytes(b"".join(rows[:3]))
    code, text = cache("verify")
    assert code == 0
    assert "note: " in text
    assert "test_a holds no answer of its own to trial t1 of its plan" in text


def test_verify_finds_a_lost_sample_of_the_unmutated_prompt(folder, cache) -> None:
    samples = [to_line(entry("test_a", answer(), sample=number)) for number in range(3)]
    path = record(folder, test_a=[*lines("test_a"), *samples[1:]])
    assert cache("verify")[0] == 0
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(row for row in rows if row != samples[1]))
    code, text = cache("verify")
    assert (code, "test_a lacks sample 1 of its unmutated prompt" in text) == (1, True), text


def test_verify_notes_another_order(folder, cache) -> None:
    path = record(folder, test_a=lines("test_a"), test_b=lines("test_b"))
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([rows[0], *rows[4:], *rows[1:4]]))
    code, text = cache("verify")
    assert (code, "is not in the order in which recordings are written" in text) == (0, True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the recording is empty"),
        (b"hello\n", ":1: this is not a recording"),
        (
            b'{"promptfuzz": "calls", "version": 7}\n',
            ":1: the recording has format version 7; this release reads 1",
        ),
        (
            b'{"promptfuzz": "calls", "version": 1}\n{"test": "test_a", "case": 0, "sam',
            ":2: this line is cut off",
        ),
        (b'{"promptfuzz": "calls", "version": 1}\n<<<<<<< HEAD\n', ":2: a merge conflict"),
        (b'{"promptfuzz": "calls", "version": 1}\n[1]\n', ":2: this line names no test"),
        (b"\x00\xff\n", ":1: this is not a recording"),
    ],
)
def test_verify_names_every_damage(folder, cache, content, said) -> None:
    path = record(folder, test_a=lines("test_a"))
    path.write_bytes(content)
    code, text = cache("verify")
    assert (code, said in text) == (1, True), text


def test_a_broken_gz_is_named(folder, cache) -> None:
    path = record(folder, test_a=lines("test_a"))
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes())[:-9])
    path.unlink()
    code, text = cache("verify")
    assert (code, "the recording cannot be read" in text) == (1, True)


def test_verify_reads_the_local_cache(folder, cache) -> None:
    key, other = fill(folder / ".promptfuzz", answer(), answer("other"))
    store = ResponseStore(folder / ".promptfuzz")
    store.put(other, answer())
    store.close()
    code, text = cache("verify")
    assert (code, "0 recordings" in text, f"entry {other[:16]}: the request is not the one" in text) == (
        1,
        True,
        True,
    )
    assert key[:16] not in text


# something like a key


def token(*parts: str) -> str:
    """A made-up credential, put together here so that no scanner takes this file for a leak."""
    return "".join(parts)


SECRETS = {
    "a key of a model provider": token("sk-", "proj-", "Zx81Kd02mQpLr77t"),
    "a key of a model provider ": token("sk-", "ant-", "api03-Zx81Kd02mQpLr77t"),
    "a Google key": token("AIza", "SyD4x81Kd02mQpLr77tUvWxYz0123456789"),
    "a token of GitHub": token("ghp", "_", "Zx81Kd02mQpLr77tUvWxYz0123456789abcd"),
    "a Slack token": token("xox", "b-", "123456789012-abcdefghij"),
    "an AWS key": token("AKIA", "ABCDEFGHIJKLMNOP"),
    "a JSON web token": token("eyJ", "hbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.", "c2lnbmF0dXJl"),
    "a private key": token("-----BEGIN RSA ", "PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"),
    "a credential after its name": token("Authorization: Bearer ", "9f8a7b6c5d4e3f2a1b"),
    "a random value beside a word": token("my password is ", "tR7kQ2mZ9xW4vB8n"),
}


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("where", ["request", "answer", "plan", "url", "test", "header", "name"])
def test_verify_refuses_what_looks_like_a_credential_and_does_not_show_it(folder, cache, kind, where) -> None:
    secret = SECRETS[kind]
    test, kept_, planned = "test_a", answer(), plan("test_a", "t1")
    path_said = "$."
    if where == "request":
        kept_, path_said = answer(f"use {secret} here"), "$.request.messages[0].content"
    elif where == "answer":
        kept_, path_said = answer(said=f"use {secret}"), "$.answer.choices[0].message.content"
    elif where == "plan":
        planned.plan["mutations"][0]["edits"] = [[0, 1, [f"a {secret}"]]]
        path_said = "$.plan.mutations[0].edits[0][2][0]"
    elif where == "url":
        kept_, path_said = answer(url=f"https://host/{secret}/v1/chat/completions"), "$.url"
    elif where == "test":
        test, path_said = f"test_a[{secret}]", "$.test"
        planned = plan(test, "t1")
    elif where == "header":
        kept_, path_said = answer(headers={"openai-beta": secret}), "$.headers.openai-beta"
    else:
        kept_ = answer(request={"model": "m", secret: 1, "messages": []})
        path_said = "$.request"
    path = record(
        folder, **{test: ordered([planned], [entry(test, kept_), entry(test, answer("x"), trial="t1")])}
    )
    code, text = cache("verify")
    assert code == 1
    number = 2 if where in {"plan", "test"} else 3
    assert f"{path.relative_to(folder)}:{number}: {path_said} holds {kind.strip()}" in text
    body = secret.partition("Bearer ")[2] or secret.partition("is ")[2] or secret
    if where != "test":
        assert body not in text
        assert " ".join(body.split()) not in text


def test_a_random_value_under_a_telling_name_is_found(folder, cache) -> None:
    for name in ("db_password", "api_key", "clientSecret"):
        made = answer(request={"model": "m", "tools": [{name: "q8Zr1Kx90LmTvW3y"}]})
        record(folder, test_a=ordered([], [entry("test_a", made)]))
        code, text = cache("verify")
        assert (code, f"$.request.tools[0].{name} holds a credential under the name" in text) == (
            1,
            True,
        ), name
        assert "q8Zr1Kx90LmTvW3y" not in text


def test_a_credential_spread_over_a_stream_is_found(folder, cache) -> None:
    secret = SECRETS["a key of a model provider"]
    events = [
        {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": part}}]}
        for part in (secret[:5], secret[5:])
    ]
    events.append({"id": "c", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"
    made = answer(body=body, content_type="text/event-stream")
    record(folder, test_a=ordered([], [entry("test_a", made)]))
    code, text = cache("verify")
    assert (code, "$.answer (its text) holds a key of a model provider" in text) == (1, True)
    assert secret[5:] not in text


@pytest.mark.parametrize(
    "harmless",
    [
        "max_tokens: 100, and the token count is 4096",
        "The secret is to stir slowly and patiently.",
        "Bearer authentication is required; token: refreshTokenProvider",
        "order 4711-0815, id chatcmpl-9f8a7b6c5d4e3f2a1b, hash 9f86d081884c7d659a2feaa0c55ad015",
        "skeleton-key and task-sk-1",
        "password: ********************",
        "token: the-name-of-the-provider.is/written-here",
    ],
)
def test_ordinary_text_is_no_credential(folder, cache, harmless) -> None:
    record(folder, test_a=ordered([], [entry("test_a", answer(harmless, harmless))]))
    assert cache("verify")[0] == 0


# prune and clear


def recorded_in(path: Path) -> list[str]:
    return RecordingFile(path).tests if path.exists() else []


@pytest.mark.usefixtures("forked_children")
def test_prune_shows_what_pytest_no_longer_collects_and_removes_it_with_yes(folder, cache) -> None:
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -m 'not slow'\nmarkers = slow\n")
    (folder / "test_it.py").write_text(
        "import pytest\n"
        "def test_a(): pass\n"
        "@pytest.mark.slow\ndef test_slow(): pass\n"
        "@pytest.mark.parametrize('x', [1, 2])\ndef test_p(x): pass\n"
    )
    names = ("test_a", "test_slow", "test_p[1]", "test_p[3]", "test_gone")
    path = record(folder, **{name: lines(name) for name in names})
    gone = record(folder, "test_removed.py", test_x=lines("test_x"))
    before = path.read_bytes()
    code, text = cache("prune")
    assert code == 0
    assert "Would remove the recordings of 3 tests:" in text
    assert "test_it.py::test_gone: pytest does not collect it" in text
    assert "test_removed.py::test_x: test_removed.py is gone" in text
    assert path.read_bytes() == before
    assert gone.exists()
    code, text = cache("prune", "--yes")
    assert (code, "Removed the recordings of 3 tests:" in text) == (0, True)
    assert recorded_in(path) == ["test_a", "test_p[1]", "test_slow"]
    assert not gone.exists()
    rest = [line for line in before.splitlines() if b"gone" not in line and b"test_p[3]" not in line]
    assert path.read_bytes().splitlines() == rest
    assert cache("prune") == (0, "Nothing to remove.")


@pytest.mark.usefixtures("forked_children")
def test_prune_removes_nothing_where_tests_cannot_be_collected(folder, cache) -> None:
    (folder / "test_it.py").write_text("import a_module_that_is_nowhere\n")
    path = record(folder, test_a=lines("test_a"))
    code, text = cache("prune", "--yes")
    assert code == 2
    assert "pytest cannot collect the recorded tests" in text
    assert "a_module_that_is_nowhere" in text
    assert recorded_in(path) == ["test_a"]


def test_prune_by_name_and_by_age(folder, cache) -> None:
    path = record(
        folder,
        **{"test_p[1]": lines("test_p[1]"), "test_p[2]": lines("test_p[2]"), "test_b": lines("test_b")},
    )
    assert cache("prune", "--test", "test_it.py::test_p", "--yes")[0] == 0
    assert recorded_in(path) == ["test_b"]
    import time

    fresh = lines("test_c", created=time.time())
    path = record(folder, test_c=fresh)
    assert "test_it.py::test_b: answered 2025-10-09" in cache("prune", "--older-than", "30d")[1]
    assert cache("prune", "--older-than", "30d", "--yes")[0] == 0
    assert recorded_in(path) == ["test_c"]


def test_a_test_of_which_any_answer_is_young_stays_and_so_does_one_with_a_longer_name(folder, cache) -> None:
    import time

    mixed = ordered(
        [plan("test_a", "t1")],
        [entry("test_a", answer("old")), entry("test_a", answer("new", created=time.time()), trial="t1")],
    )
    path = record(folder, test_a=mixed, test_ab=lines("test_ab", created=time.time()))
    assert cache("prune", "--older-than", "30d", "--yes")[1] == "Nothing to remove."
    assert cache("prune", "--test", "test_it.py::test_a", "--yes")[0] == 0
    assert recorded_in(path) == ["test_ab"]


def test_prune_leaves_a_damaged_recording_alone(folder, cache) -> None:
    path = record(folder, test_a=lines("test_a"))
    path.write_bytes(path.read_bytes() + b"garbage\n")
    before = path.read_bytes()
    code, text = cache("prune", "--yes")
    assert code == 2
    assert ":5: this line is not JSON" in text
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--test", "test_it.py"], "write FILE::TEST"),
        (["--test", "test_it.py::test_"], "has no such test. Did you mean 'test_a'?"),
        (["--test", "nowhere.py::test_a"], "does not exist"),
        (
            ["--test", "test_it.py::test_a", "--older-than", "1d"],
            "--test cannot stand with paths or --older-than",
        ),
        (["--max-size", "1MB"], "--max-size is for the local cache. Add --cache"),
        (["--damaged"], "--damaged is for the local cache"),
        (["--cache"], "name what to delete: --older-than 90d, --max-size 200MB or --damaged"),
        (["--cache", "--damaged", "."], "Leave paths and --test out"),
        (["--older-than", "soon"], "'soon' is not an age. Write 36h, 90d, 8w or 1y"),
        (["--cache", "--max-size", "big"], "'big' is not a size. Write 500KB, 20MB or 1.5GB"),
    ],
)
def test_prune_refuses_contradictions(folder, cache, arguments, said) -> None:
    record(folder, test_a=lines("test_a"))
    code, text = cache("prune", *arguments)
    assert (code, said in text) == (2, True), text


def test_prune_of_the_cache_takes_the_oldest_and_the_damaged(folder, cache, cache_json) -> None:
    directory = folder / ".promptfuzz"
    keys = fill(directory, *(answer(f"n{n}", created=TIME + n) for n in (3, 1, 2)))
    size = next(iter(kept_answers(directory))).size
    assert cache_json("prune", "--cache", "--max-size", str(2 * size))[1] == {
        "removed": False,
        "entries": [keys[1]],
    }
    assert cache("prune", "--cache", "--max-size", str(2 * size), "--yes")[0] == 0
    assert [each.key for each in kept_answers(directory)] == [keys[0], keys[2]]
    with sqlite3.connect(ResponseStore(directory).path) as database:
        database.execute("UPDATE Cache SET value = ? WHERE key = ?", (b"x", keys[0]))
    database.close()
    assert "Removed 1 answer" in cache("prune", "--cache", "--damaged", "--yes")[1]
    assert [each.key for each in kept_answers(directory)] == [keys[2]]
    assert cache("prune", "--cache", "--older-than", "1d", "--yes")[0] == 0
    assert list(kept_answers(directory)) == []
    assert ResponseStore(directory).stats().entries == 0


def test_prune_of_the_cache_goes_by_age_and_counts_what_is_damaged_out_first(
    folder, cache, cache_json
) -> None:
    directory = folder / ".promptfuzz"
    order = (5, 2, 7, 1, 6, 3, 4)
    keys = fill(directory, *(answer(f"n{n}", created=TIME + n) for n in order))
    size = next(iter(kept_answers(directory))).size
    by_age = [key for _, key in sorted(zip(order, keys, strict=True))]
    assert cache_json("prune", "--cache", "--max-size", str(2 * size))[1]["entries"] == by_age[:5]
    with sqlite3.connect(ResponseStore(directory).path) as database:
        database.execute("UPDATE Cache SET value = ? WHERE key = ?", (b"x" * size, by_age[-1]))
    database.close()
    asked = ("prune", "--cache", "--damaged", "--max-size", str(6 * size))
    assert cache_json(*asked)[1]["entries"] == [by_age[-1]]


def test_clear_empties_the_cache_and_leaves_recordings(folder, cache) -> None:
    path = record(folder, test_a=lines("test_a"))
    fill(folder / ".promptfuzz", answer(), answer("other"))
    spool = folder / ".promptfuzz" / "recording" / "x.spool.jsonl"
    spool.parent.mkdir()
    spool.write_text("kept")
    done = promptfuzz("cache", "clear")
    assert (
        done.returncode,
        "promptfuzz cache clear: this needs a terminal to ask you. Add --yes" in done.stderr,
    ) == (2, True)
    assert len(list(kept_answers(folder / ".promptfuzz"))) == 2
    code, text = cache("clear", "--yes")
    assert (code, "Removed: 2 answers" in text) == (0, True)
    assert list(kept_answers(folder / ".promptfuzz")) == []
    assert recorded_in(path) == ["test_a"]
    assert spool.read_text() == "kept"
    assert "Nothing was removed." in cache("clear", "--yes")[1]
    fill(folder / ".promptfuzz", answer())
    assert len(list(kept_answers(folder / ".promptfuzz"))) == 1


def test_clear_removes_a_damaged_cache(folder, cache) -> None:
    fill(folder / ".promptfuzz", answer())
    database = ResponseStore(folder / ".promptfuzz").path
    for each in database.parent.glob("cache.db*"):
        each.write_bytes(b"garbage" * 1000)
    code, text = cache("verify")
    assert (code, "cannot be read to its end" in text) == (1, True)
    assert "cannot be read to its end" in cache("stats")[1]
    assert cache("export", "out.jsonl")[0] == 2
    assert cache("clear", "--yes")[0] == 0
    assert cache("verify")[0] == 0


# export and import


def test_what_is_exported_comes_back(folder, cache) -> None:
    stream = answer("streamed", content_type="text/event-stream", body='data: {"a": 1}\n\ndata: [DONE]\n\n')
    made = [
        answer(),
        stream,
        answer("n", headers={"anthropic-version": "1"}, ignore=("$.id",), backend="simulated-1"),
    ]
    keys = fill(folder / ".promptfuzz", *made)
    assert cache("export", "out.jsonl") == (0, "Exported 3 answers: out.jsonl")
    assert cache("import", "out.jsonl", "--cache-dir", "other") == (
        0,
        "Imported 3 answers into other; 0 were there already.",
    )
    assert {each.key: each.answer for each in kept_answers(folder / "other")} == dict(
        zip(keys, made, strict=True)
    )
    assert cache("export", "again.jsonl.gz", "--cache-dir", "other")[0] == 0
    assert gzip.decompress((folder / "again.jsonl.gz").read_bytes()) == (folder / "out.jsonl").read_bytes()
    assert (
        cache("import", "again.jsonl.gz")[1] == "Imported 0 answers into .promptfuzz; 3 were there already."
    )


def test_export_chooses(folder, cache, cache_json) -> None:
    fill(
        folder / ".promptfuzz",
        answer(),
        answer(request={"model": "other", "messages": []}),
        answer(url="http://localhost/v1/chat/completions"),
        answer("secret " + SECRETS["an AWS key"]),
    )
    assert cache_json("export", "a.jsonl", "--model", "other")[1]["exported"] == 1
    assert cache_json("export", "b.jsonl", "--host", "localhost")[1]["exported"] == 1
    assert cache("export", "c.jsonl", "--newer-than", "1d")[0] == 3
    assert not (folder / "c.jsonl").exists()
    code, text = cache("export", "d.jsonl")
    assert code == 1
    assert "$.request.messages[0].content holds an AWS key" in text
    assert SECRETS["an AWS key"] not in text
    assert "Exported 3 answers" in text
    assert SECRETS["an AWS key"].encode() not in (folder / "d.jsonl").read_bytes()
    assert cache("export", "x.calls.jsonl") == (
        2,
        (
            "promptfuzz cache export: x.calls.jsonl has the name of a recording, which only tests write. Choose another name, such "
            "as answers.jsonl."
        ),
    )


def test_a_recording_can_be_imported(folder, cache) -> None:
    path = record(folder, test_a=lines("test_a"))
    assert cache("import", str(path))[1] == "Imported 2 answers into .promptfuzz; 0 were there already."
    rows = [from_line(line) for line in path.read_bytes().splitlines(keepends=True)[1:]]
    recorded = {each.key: each.answer for each in rows if isinstance(each, RecordedExchange)}
    assert {each.key: each.answer for each in kept_answers(folder / ".promptfuzz")} == recorded


def test_nothing_is_taken_from_a_file_in_which_anything_is_wrong(folder, cache) -> None:
    fill(folder / ".promptfuzz", answer(), answer("other"))
    cache("export", "out.jsonl")
    whole = (folder / "out.jsonl").read_bytes()
    rows = whole.splitlines(keepends=True)
    cases = {
        ":3: this line was edited": whole.replace(b'"BILLING"', b'"ACCOUNT"'),
        ":3: this line is cut off": whole[:-20],
        ":4: its key stands above already": whole + rows[1],
        ":1: this is not a file of answers": whole[5:],
        ":1: the file has format version 9": whole.replace(b'"version": 1', b'"version": 9'),
        "cannot be read": None,
    }
    for said, content in cases.items():
        (folder / "out.jsonl").unlink(missing_ok=True)
        if content is not None:
            (folder / "out.jsonl").write_bytes(content)
        code, text = cache("import", "out.jsonl", "--cache-dir", "other")
        assert (code in {1, 2}, said in text) == (True, True), text
        assert list(kept_answers(folder / "other")) == []
    for change, said in ((change_request, "is not the one that was answered"), (leak, "holds an AWS key")):
        (folder / "out.jsonl").write_bytes(whole)
        edited(folder / "out.jsonl", 2, change)
        code, text = cache("import", "out.jsonl", "--cache-dir", "other")
        assert (code, said in text) == (1, True)
        assert SECRETS["an AWS key"] not in text
        assert list(kept_answers(folder / "other")) == []


def leak(value: dict[str, Any]) -> None:
    value["answer"]["choices"][0]["message"]["content"] = SECRETS["an AWS key"]


# diff


def git(folder: Path, *arguments: str) -> None:
    names = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


def test_diff_of_two_files_names_each_change(folder, cache, cache_json) -> None:
    old = record(
        folder, "test_old.py", test_a=lines("test_a"), test_b=lines("test_b"), test_c=lines("test_c")
    )
    new = record(
        folder,
        "test_new.py",
        test_a=lines("test_a", trial_said="OTHER", created=TIME + 86_400),
        test_b=lines("test_b", trial_asked="HELLO"),
        test_d=lines("test_d"),
    )
    code, text = cache("diff", str(old), str(new))
    assert code == 1
    assert "test_a: recorded again, 1 answer is the same; answered 2025-10-10, before 2025-10-09" in text
    assert "test_a: 'BILLING' → 'OTHER' (trial lower-case t1); answered 2025-10-10, before 2025-10-09" in text
    assert "test_b, trial lower-case t1: sends another request ($.body.messages[0].content)" in text
    assert "test_c: removed" in text
    assert "test_d: added" in text
    assert "1 answer changed." in text
    kinds = [each["kind"] for each in cache_json("diff", str(old), str(new))[1]["recordings"][0]["changes"]]
    assert kinds == ["asked-again", "answer", "request", "removed", "added"]
    assert cache("diff", str(old), str(old)) == (0, "Nothing changed in 1 recording.")


def test_diff_says_a_change_of_model_once_and_old_and_new_texts_in_one_line(
    folder, cache, cache_json
) -> None:
    def made(model: str, text: str, created: float = TIME) -> list[bytes]:
        trials = [f"t{number}" for number in range(1, 8)]
        entries = []
        for trial in ("", *trials):
            said = answer(f"Hello {trial}", "STAYS" if trial in {"t6", "t7"} else text, created=created)
            body = {**json.loads(said.body), "model": model, "id": f"{model} {trial}"}
            entries.append(entry("test_a", replace(said, body=json.dumps(body)), trial=trial))
        return ordered([plan("test_a", *trials)], entries)

    long = "You may return what you bought in our shop or on our site within "
    old = record(folder, "test_old.py", test_a=made("m-1", f"{long}14 days."))
    new = record(folder, "test_new.py", test_a=made("m-2", f"{long}30 days.", TIME + 86_400))
    code, text = cache("diff", str(old), str(new))
    assert (code, text.count("test_a")) == (1, 1)
    assert "the model changed: m-1 → m-2 (8 answers, 2 of which say the same)" in text
    assert "test_a: '… on our site within 14 days.' → '… on our site within 30 days.' (" in text
    named = "baseline; trial lower-case t1; trial lower-case t2; trial lower-case t3 and 2 more"
    assert f"({named}); answered 2025-10-10, before 2025-10-09" in text
    assert "8 answers changed, 2 of them in nothing but the model." in text
    assert cache_json("diff", str(old), str(new))[1]["answered_otherwise"] == 8


def test_diff_tells_renamed_tests_from_new_ones(folder, cache, cache_json) -> None:
    def named(test: str) -> list[bytes]:
        return ordered(
            [plan(test, "t1")], [entry(test, answer("Hello")), entry(test, answer("hi"), trial="t1")]
        )

    old = record(folder, "test_old.py", test_a=named("test_a"), test_b=lines("test_b"))
    new = record(folder, "test_new.py", test_z=named("test_z"), test_c=lines("test_c"))
    code, text = cache("diff", str(old), str(new))
    assert code == 0
    assert "test_z: renamed, was test_a" in text
    assert ("test_b: removed" in text, "test_c: added" in text) == (True, True)
    assert "1 test added, 1 test removed, 1 test renamed; no answer changed." in text
    (renamed,) = [
        each
        for each in cache_json("diff", str(old), str(new))[1]["recordings"][0]["changes"]
        if each["kind"] == "renamed"
    ]
    assert renamed["former"] == "test_a"


def test_many_requests_of_a_test_are_one_line(folder, cache) -> None:
    def made(word: str) -> list[bytes]:
        trials = [f"{word}{number}" for number in range(6)]
        return ordered(
            [plan("test_a", *trials)], [entry("test_a", answer(each), trial=each) for each in trials]
        )

    old = record(folder, "test_old.py", test_a=made("a"))
    new = record(folder, "test_new.py", test_a=made("b"))
    text = cache("diff", str(old), str(new))[1]
    assert "test_a: 6 requests added" in text
    assert "test_a: 6 requests removed" in text
    assert "trial" not in text


def test_diff_sees_a_changed_plan_and_what_ignored_paths_hide(folder, cache_json) -> None:
    made = answer(request={"model": "m", "id": "1", "messages": []}, ignore=("$.id",))
    other = answer(request={"model": "m", "id": "2", "messages": []}, ignore=("$.id",))
    assert key_of(made) == key_of(other)
    old = record(folder, "test_old.py", test_a=ordered([plan("test_a", "t1")], [entry("test_a", made)]))
    new = record(folder, "test_new.py", test_a=ordered([plan("test_a", "t2")], [entry("test_a", other)]))
    code, found = cache_json("diff", str(old), str(new))
    assert code == 1
    assert [(each["kind"], each["paths"]) for each in found["recordings"][0]["changes"]] == [
        ("replanned", []),
        ("answer", ["$.request.id"]),
    ]
    other_prompt = PlanEntry("test_a", 0, {**plan("test_a", "t2").plan, "prompt": "another"})
    anew = record(folder, "test_anew.py", test_a=ordered([other_prompt], [entry("test_a", made)]))
    code, found = cache_json("diff", str(old), str(anew))
    assert (code, found["replanned"]) == (0, 0)
    assert [each["kind"] for each in found["recordings"][0]["changes"]] == ["plan"]


def test_diff_against_a_commit(folder, cache, cache_json) -> None:
    git(folder, "init", "-q")
    path = record(folder, test_a=lines("test_a"))
    inner = folder / "tests"
    inner.mkdir()
    gone = record(inner, "test_gone.py", test_x=lines("test_x"))
    git(folder, "add", "-f", "-A")
    git(folder, "commit", "-qm", "recorded")
    assert cache("diff") == (0, "Nothing changed in 2 recordings.")
    edited(path, 3, change_answer)
    code, text = cache("diff")
    assert code == 1
    assert "test_a: 'BILLING' → 'TECHNICAL' (baseline); both answered 2025-10-09" in text
    git(folder, "commit", "-qam", "edited")
    record(folder, test_a=lines("test_a", trial_said="OTHER"))
    git(folder, "commit", "-qam", "another trial")
    text = cache("diff", "--against", "HEAD~1..HEAD")[1]
    assert "test_a: 'BILLING' → 'OTHER' (trial lower-case t1)" in text, "the plan of a commit is read"
    git(folder, "reset", "-q", "--soft", "HEAD~2")
    git(folder, "commit", "-qam", "edited")
    assert cache("diff")[0] == 0
    for named in ("test_it.py", str(path)):
        assert cache("diff", named, "--against", "HEAD~1")[0] == 1
    gone.unlink()
    new = record(folder, "test_new.py", test_n=lines("test_n"))
    code, text = cache("diff")
    assert code == 0, "nothing that was asked is answered otherwise"
    assert "test_x: removed" in text
    assert "test_n: added" in text
    assert cache_json("diff", str(new))[1]["recordings"][0]["changes"][0]["kind"] == "added"
    assert "test_x: removed" in cache("diff", str(gone))[1]
    code, text = cache("diff", "--against", "nowhere")
    assert (code, "git: " in text, "Name a commit of this repository." in text) == (2, True, True)


def test_diff_says_what_is_damaged(folder, cache, cache_json) -> None:
    git(folder, "init", "-q")
    path = record(folder, test_a=lines("test_a"))
    git(folder, "add", "-f", "-A")
    git(folder, "commit", "-qm", "recorded")
    path.write_bytes(path.read_bytes().replace(b'"BILLING"', b'"ACCOUNT"', 1))
    code, text = cache("diff")
    assert code == 1
    said = "test_a, baseline: line 3 was edited after it was recorded: its checksum does not match ($.answer.choices[0]"
    assert said in text
    assert text.endswith("1 answer edited by hand and not used; no answer changed.")
    assert (text.count("checksum"), "removed" in text) == (1, False)
    found = cache_json("diff")[1]
    assert [each["kind"] for each in found["recordings"][0]["changes"]] == ["edited"]
    assert (found["edited"], len(found["problems"])) == (1, 1)
    path.write_bytes(path.read_bytes().replace(b'"BILLING"', b'"ACCOUNT"'))
    told = cache("verify")[1].count("test_it.calls.jsonl")
    assert (told, cache_json("diff")[1]["edited"]) == (2, 2), "what was edited is not missing, too"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a", "b", "c"], "promptfuzz cache diff: name two recordings, or one path and --against COMMIT"),
        (["a", "b", "--against", "HEAD"], "name two recordings"),
        (["a", "b"], "a is not a file"),
        (["a.txt", "a.txt"], "this is not a recording"),
        ([], "is not in a git repository. Compare two files: promptfuzz cache diff OLD NEW"),
        (["--against=-p"], "this is not a commit"),
    ],
)
def test_diff_refuses_what_it_cannot_compare(folder, cache, arguments, said, monkeypatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    (folder / "a.txt").write_text("hello\n")
    code, text = cache("diff", *arguments)
    assert (code, said in text) == (2, True), text


# a real recording


def test_a_real_recording_passes(folder, cache, cache_json) -> None:
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    (folder / "test_it.py").write_text(
        "from pytest_promptfuzz import robust\n"
        "@robust('Classify the mood of the text as good or bad.\\n\\nText: {text}', mutations=4, threshold=0.0)\n"
        "def test_mood(prompt, llm):\n"
        "    return llm(prompt.format(text='A lovely day!'))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name not in {"CI", "PYTEST_ADDOPTS"}}
    for mode in ("record", "auto"):
        options = (
            "-q",
            "-p",
            "no:cacheprovider",
            "--promptfuzz-target=simulated",
            f"--promptfuzz-mode={mode}",
        )
        done = run_pytest(*options, environment=environment)
        assert done.returncode == 0, done.stdout
    code, text = cache("verify")
    assert (code, text.endswith("no problem.")) == (0, True), text
    found = cache_json("stats")[1]
    assert found["recordings"][0]["answers"] == 3 + 4 + 1
    assert cache("export", "out.jsonl")[0] == 0
    assert cache("prune") == (0, "Nothing to remove.")
    assert URL not in text
