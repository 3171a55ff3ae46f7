"""The store in Redis: the real server, what lies in it, and what becomes of a run without it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage import redis_store
from pytest_promptfuzz.storage.answers import MemoryStore, StoredAnswer, encode_answer
from pytest_promptfuzz.storage.redis_store import RedisAddress, RedisStore
from pytest_promptfuzz.storage.stores import NearFar, open_store, password_of, shown_store
from tests.in_process import promptfuzz

ANSWER = StoredAnswer(
    url="https://api.openai.com/v1/chat/completions",
    request={"model": "gpt-5-mini", "messages": [{"role": "user", "content": "Grüße"}]},
    status=200,
    content_type="application/json",
    body='{"choices": []}',
    created=1.5,
    headers={"anthropic-version": "2026-10-21"},
    ignore=("$.metadata",),
)
PASSWORD = "p/a:s@s-of-the-team"


def store(url: str, notes: list[str]) -> RedisStore:
    return RedisStore(RedisAddress.of(url), warn=notes.append)


def test_what_one_machine_stores_another_finds(redis_server):
    notes: list[str] = []
    one, other = store(redis_server.url, notes), store(redis_server.url, notes)
    assert one.get("a-0-0") is None
    one.put("a-0-0", ANSWER)
    assert other.get("a-0-0") == ANSWER
    assert other.get("a-1-0") is None
    assert (one.stats().misses, one.stats().writes, other.stats().hits) == (1, 1, 1)
    one.close()
    assert one.get("a-0-0") == ANSWER, "used again after close()"
    with redis_server.client() as client:
        assert client.keys() == [b"promptfuzz:1:a-0-0"]
        assert client.get("promptfuzz:1:a-0-0") == encode_answer(ANSWER)
        assert client.ttl("promptfuzz:1:a-0-0") == -1
    one.close(), other.close()
    assert notes == []


def test_ttl_and_prefix(redis_server):
    notes: list[str] = []
    ours = store(f"{redis_server.url}?ttl=30d&prefix=triage", notes)
    ours.put("a-0-0", ANSWER)
    with redis_server.client() as client:
        assert 29 * 86400 < client.ttl("triage:1:a-0-0") <= 30 * 86400
    theirs = store(f"{redis_server.url}?prefix=other", notes)
    assert theirs.get("a-0-0") is None
    ours.close(), theirs.close()


def planted(value: bytes) -> dict[str, bytes]:
    return {"promptfuzz:1:a-0-0": value}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b"garbage", "is not a stored answer"),
        (b"\x80\x04\x95cos\nsystem\n(S'true'\ntR.", "is not a stored answer"),
        (encode_answer(ANSWER)[:-1], "fails its checksum"),
        (encode_answer(ANSWER).replace(b"answer 1 ", b"answer 9 "), "format version 9"),
    ],
)
def test_what_is_damaged_is_an_announced_miss_and_replaced(redis_server, value, said):
    notes: list[str] = []
    ours = store(redis_server.url, notes)
    with redis_server.client() as client:
        client.mset(planted(value))
    assert ours.get("a-0-0") is None
    assert ours.get("a-0-0") is None
    assert len(notes) == 1
    assert said in notes[0]
    ours.put("a-0-0", ANSWER)
    assert ours.get("a-0-0") == ANSWER
    ours.close()


def test_a_value_of_another_kind_or_too_large(redis_server, monkeypatch):
    notes: list[str] = []
    ours = store(redis_server.url, notes)
    with redis_server.client() as client:
        client.rpush("promptfuzz:1:list-0-0", "x")
    assert ours.get("list-0-0") is None
    assert "WRONGTYPE" in notes[-1]
    monkeypatch.setattr(redis_store, "MOST_BYTES", 100)
    with redis_server.client() as client:
        client.set("promptfuzz:1:big-0-0", b"x" * 101)
    assert ours.get("big-0-0") is None
    assert "larger than 100 bytes" in notes[-1]
    ours.put("mine-0-0", ANSWER)
    assert "was not shared" in notes[-1]
    monkeypatch.undo()
    assert ours.get("mine-0-0") is None
    ours.put("mine-0-0", ANSWER)
    assert ours.get("mine-0-0") == ANSWER, "the server itself is still used"
    ours.close()


def test_a_server_that_starts_anew_is_used_again(redis_server, monkeypatch):
    monkeypatch.setattr(redis_store, "_PAUSES", (0.05,) * 2_400)
    notes: list[str] = []
    ours = store(redis_server.url, notes)
    ours.put("a-0-0", ANSWER)
    redis_server.stop()
    anew = threading.Timer(0.3, redis_server.start)
    anew.start()
    assert ours.get("a-0-0") is None
    anew.join()
    ours.put("b-0-0", ANSWER)
    assert ours.get("b-0-0") == ANSWER
    assert notes == []
    ours.close()


def test_a_server_that_was_never_there_is_not_waited_for(redis_server, monkeypatch):
    notes: list[str] = []
    redis_server.stop()

    def waited(_: float) -> None:
        pytest.fail("it waited for a server that never answered")

    monkeypatch.setattr(redis_store, "sleep", waited)
    ours = store(redis_server.url, notes)
    assert ours.get("a-0-0") is None
    assert len(notes) == 1
    ours.close()


def test_a_dropped_connection_is_made_again(redis_server):
    notes: list[str] = []
    ours = store(redis_server.url, notes)
    ours.put("a-0-0", ANSWER)
    with redis_server.client() as client:
        client.client_kill_filter(_type="normal", skipme=True)
    assert ours.get("a-0-0") == ANSWER
    assert notes == []
    ours.close()


def test_a_server_that_dies_is_said_once_and_left_alone(redis_server):
    notes: list[str] = []
    near = MemoryStore()
    both = NearFar(near, store(redis_server.url, notes))
    both.put("a-0-0", ANSWER)
    redis_server.stop()
    both.put("b-0-0", ANSWER)
    assert both.get("b-0-0") == ANSWER
    assert both.get("c-0-0") is None
    assert len(notes) == 1
    assert "is not used from here on" in notes[0]
    both.close()


def test_the_near_store_keeps_what_was_found_far(redis_server):
    notes: list[str] = []
    far = store(redis_server.url, notes)
    far.put("a-0-0", ANSWER)
    near = MemoryStore()
    both = NearFar(near, far)
    assert both.get("a-0-0") == ANSWER
    redis_server.stop()
    assert both.get("a-0-0") == ANSWER
    assert notes == []
    both.close()


@pytest.mark.parametrize("given", ["", "wrong-password-here"])
def test_a_wrong_password_is_said_without_it(redis_servers, given):
    server = redis_servers(password=PASSWORD)
    notes: list[str] = []
    ours = store(f"redis://:{given}@127.0.0.1:{server.port}", notes)
    assert ours.get("a-0-0") is None
    ours.put("a-0-0", ANSWER)
    ours.close()
    assert len(notes) == 1
    assert "password" in notes[0]
    assert "wrong-password-here" not in notes[0]


def test_the_right_password_in_a_url(redis_servers):
    server = redis_servers(password=PASSWORD)
    url = f"redis://:p%2Fa%3As%40s-of-the-team@127.0.0.1:{server.port}/2"
    notes: list[str] = []
    ours = store(url, notes)
    ours.put("a-0-0", ANSWER)
    assert ours.get("a-0-0") == ANSWER
    ours.close()
    assert notes == []
    assert password_of(url) == PASSWORD
    assert shown_store(url) == f"redis://127.0.0.1:{server.port}/2"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("redis://:s3cr3t/x@host", "cannot be read"),
        ("redis://:s3cr3t@", "has no host"),
        ("redis://:s3cr3t@host/main", "is not a number"),
        ("redis://:s3cr3t@host?s3cr3t=1", "other parameters. Known: ttl, prefix, lease"),
        ("redis://a?s3cr3t=1@host", "other parameters. Known: ttl"),
        (
            "redis://:s3cr3t@host?TTL=1&foo=2",
            "redis://host has 'TTL', 'foo'. Known: ttl",
        ),
        ("redis://:s3cr3t@host?ttl=soon", "ttl='soon' is not a time"),
        (
            "redi://:s3cr3t@host",
            "'redi://host' is not a URL of a store. Write redis://HOST:PORT/DATABASE. Did you mean 'redis'",
        ),
        (
            "mongodb://me:a?s3cr3t/x#y@host:27017/x?s3cr3t=1",
            "'mongodb://host:27017/x' is not a URL of a store",
        ),
        ("s3cr3t", "Known: redis://, rediss://"),
    ],
)
def test_urls_that_are_wrong_are_not_quoted(tmp_path, url, said):
    with pytest.raises(UsageError) as caught:
        open_store(url, tmp_path)
    assert said in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


def test_a_store_of_another_package(tmp_path, monkeypatch):
    (tmp_path / "top_shelf.py").write_text(
        "from pytest_promptfuzz.storage.answers import MemoryStore\n"
        "def shelf(url, *, warn=None):\n"
        "    assert url == 'shelf://top'\n"
        "    return MemoryStore()\n"
        "def broken(url, *, warn=None):\n"
        "    raise RuntimeError(f'cannot open {url}')\n"
        "def empty(url, *, warn=None):\n"
        "    return object()\n"
    )
    info = tmp_path / "shelf-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shelf\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[promptfuzz.stores]\nshelf = top_shelf:shelf\nbroken = top_shelf:broken\nempty = top_shelf:empty\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    made = open_store("shelf://top", tmp_path / ".promptfuzz")
    made.put("a-0-0", ANSWER)
    assert isinstance(made, NearFar)
    assert made.far.get("a-0-0") == made.near.get("a-0-0") == ANSWER
    made.close()
    with pytest.raises(Exception, match=r"broken.*cannot open broken://host") as caught:
        open_store("broken://:s3cr3t@host", tmp_path)
    assert "s3cr3t" not in str(caught.value)
    with pytest.raises(Exception, match=r"has no get\(\)"):
        open_store("empty://", tmp_path)


def test_nothing_is_imported_before_the_first_use(tmp_path):
    pytest.importorskip("redis")
    code = (
        "import sys\n"
        "from pytest_promptfuzz.storage.stores import check_store, open_store\n"
        "check_store('redis://127.0.0.1:1')\n"
        f"open_store('redis://127.0.0.1:1', {str(tmp_path)!r}).close()\n"
        "assert not {'redis', 'diskcache'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))


def test_a_study_shares_its_answers(redis_server, tmp_path, monkeypatch):
    (tmp_path / "study.toml").write_text(
        'name = "s"\noperators = ["upper-case"]\n[[task]]\nprompt = "Say {what}, in one word."\n'
        'inputs = [{what = "yes"}]\n[[model]]\ntarget = "openai:gpt-5-mini"\n',
        encoding="utf-8",
    )
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        for cache, store, calls in (
            ("one", redis_server.url, 2),
            ("two", redis_server.url, 2),
            ("three", "", 4),
        ):
            monkeypatch.setenv("PROMPTFUZZ_STORE", store)
            done = promptfuzz("study", "study.toml", "--cache-dir", cache, folder=tmp_path)
            assert (done.returncode, server.calls) == (0, calls), done
