from __future__ import annotations

import dataclasses
import json
import os
import pickle
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.storage.answers import MemoryStore, StoredAnswer, decode_answer, encode_answer
from pytest_promptfuzz.storage.disk_store import ResponseStore
from tests import warm


def answer(text: str = "hello", **changes: object) -> StoredAnswer:
    return dataclasses.replace(
        StoredAnswer(
            url="https://api.openai.com/v1/chat/completions",
            request={"model": "m"},
            status=200,
            content_type="application/json",
            body=json.dumps({"text": text}),
            created=1.5,
        ),
        **changes,
    )


@pytest.fixture
def store(tmp_path: Path):
    made = ResponseStore(tmp_path / ".promptfuzz")
    yield made
    made.close()


def row(
    store: ResponseStore, key: str, value: object, *, mode: int = 1, filename: str | None = None, raw: int = 1
) -> None:
    """Plant a row as somebody else would."""
    connection = sqlite3.connect(store.path)
    connection.execute("DELETE FROM Cache WHERE key = ?", (key,))
    connection.execute(
        "INSERT INTO Cache (key, raw, store_time, access_time, size, mode, filename, value) VALUES (?,?,0,0,0,?,?,?)",
        (key, raw, mode, filename, value),
    )
    connection.commit()
    connection.close()


@given(st.text(), st.text(), st.floats(0, 1e10), st.dictionaries(st.text(), st.integers() | st.text()))
def test_answers_survive_encoding(url: str, body: str, created: float, request: dict) -> None:
    made = answer(url=url, body=body, created=created, request=request)
    assert decode_answer(encode_answer(made)) == made


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_is_noticed(place: int, flip: int) -> None:
    data = bytearray(encode_answer(answer()))
    data[place % len(data)] ^= flip
    with pytest.raises((StoreError, ValueError)):
        decode_answer(bytes(data))


def test_another_format_version_is_named() -> None:
    with pytest.raises(StoreError, match="format version 2; this release reads 1"):
        decode_answer(encode_answer(answer()).replace(b"answer 1 ", b"answer 2 "))


def test_answers_are_found_again_by_another_store(store: ResponseStore) -> None:
    assert store.get("k") is None
    store.put("k", answer())
    store.close()
    again = ResponseStore(store.directory)
    assert again.get("k") == answer()
    assert again.get("other") is None
    stats = again.stats()
    assert (stats.hits, stats.misses, stats.writes, stats.entries) == (1, 1, 0, 1)
    assert again.notes == []
    again.close()


def test_large_answers_stand_in_the_database(store: ResponseStore) -> None:
    large = answer("x" * 3_000_000)
    store.put("k", large)
    assert store.get("k") == large
    assert (
        sorted(
            each.suffix
            for each in store.path.parent.rglob("*")
            if each.is_file() and "cache.db" not in each.name
        )
        == []
    )


def test_memory_store_counts_alike() -> None:
    store = MemoryStore()
    store.put("k", answer())
    assert (store.get("k"), store.get("other")) == (answer(), None)
    assert tuple(store.stats()) == (1, 1, 1, 1)
    store.close()


def test_nothing_is_made_or_imported_before_the_first_use(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom pytest_promptfuzz.storage.disk_store import ResponseStore\n"
        f"store = ResponseStore({str(tmp_path / 'made')!r})\nprint('diskcache' in sys.modules, 'sqlite3' in sys.modules)\nstore.close()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "False"
    assert not (tmp_path / "made").exists()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_the_directory_is_the_owners_and_ignored_by_git(store: ResponseStore) -> None:
    store.put("k", answer())
    for directory in (store.directory, store.path.parent):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert (store.directory / ".gitignore").read_text() == "*\n"


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_directory_that_is_not_ours_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    store = ResponseStore(tmp_path)
    store.put("k", answer())
    store.close()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert not (tmp_path / ".gitignore").exists()
    assert (tmp_path / "responses" / ".gitignore").read_text() == "*\n"
    assert stat.S_IMODE((tmp_path / "responses").stat().st_mode) == 0o700


class Bomb:
    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return (Path.touch, (self.target,))


def test_a_planted_pickle_is_not_executed(store: ResponseStore, tmp_path: Path) -> None:
    store.put("good", answer())
    store.close()
    fuse = tmp_path / "executed"
    bomb = pickle.dumps(Bomb(fuse))
    row(store, "in-row", bomb, mode=4)
    file = store.path.parent / "bomb.val"
    file.write_bytes(bomb)
    row(store, "in-file", None, mode=4, filename="bomb.val")
    for key in ("in-row", "in-file"):
        assert store.get(key) is None
        store.put(key, answer("mended"))
        assert store.get(key) == answer("mended")
    assert not fuse.exists()
    assert file.exists(), "a row that names a file does not get it deleted"
    assert store.get("good") == answer()
    assert len(store.notes) == 1
    assert "was refused" in store.notes[0]
    # The bomb is real: plain diskcache goes off.
    row(store, "in-row", bomb, mode=4)
    import diskcache

    with diskcache.Cache(str(store.path.parent)) as plain:
        plain.get("in-row")
    assert fuse.exists()


def test_a_row_cannot_make_us_read_a_file(store: ResponseStore, tmp_path: Path) -> None:
    store.put("k", answer())
    store.close()
    (tmp_path / "private").write_bytes(encode_answer(answer("private")))
    for mode in (2, 3):
        row(store, "k", None, mode=mode, filename="../../private")
        assert store.get("k") is None


@pytest.mark.parametrize(
    "value", [b"", b"garbage", b"promptfuzz-answer 1 00\n{}", "text", 7, encode_answer(answer())[:-5]]
)
def test_a_damaged_entry_is_an_announced_miss(store: ResponseStore, value: object) -> None:
    store.put("k", answer())
    store.close()
    row(store, "k", value)
    assert store.get("k") is None
    assert len(store.notes) == 1
    store.put("k", answer("new"))
    assert store.get("k") == answer("new")


def fill(store: ResponseStore, count: int = 60) -> None:
    for number in range(count):
        store.put(f"k{number}", answer("x" * 3000 + str(number)))
    store.close()


def found(store: ResponseStore, count: int = 60) -> int:
    return sum(store.get(f"k{number}") is not None for number in range(count))


def flip(path: Path, start: int, length: int) -> None:
    data = bytearray(path.read_bytes())
    data[start : start + length] = bytes(byte ^ 0xA5 for byte in data[start : start + length])
    path.write_bytes(data)


@pytest.mark.parametrize("how", ["garbage", "empty header", "truncated", "cut short"])
def test_a_damaged_file_is_set_aside(store: ResponseStore, how: str) -> None:
    fill(store)
    damaged = store.path
    data = damaged.read_bytes()
    broken = {
        "garbage": b"not a database at all " * 400,
        "empty header": bytes(100) + data[100:],
        "truncated": data[: len(data) // 2],
        "cut short": data[:5000],
    }[how]
    store.path.write_bytes(broken)
    said: list[str] = []
    again = ResponseStore(store.directory, warn=said.append)
    found(again)
    again.put("new", answer("new"))
    assert again.get("new") == answer("new")
    again.close()
    assert damaged.read_bytes() == broken, "what was stored is not lost"
    assert store.path == store.directory / "responses" / "2" / "cache.db"
    assert len(said) == 1
    assert f"{damaged} was damaged" in said[0]
    assert str(store.path.relative_to(store.directory)) in said[0]
    assert said == again.notes
    last = ResponseStore(store.directory, warn=said.append)
    assert last.get("new") == answer("new")
    last.close()
    assert len(said) == 1, "mended once"


def test_a_flipped_page_costs_no_more_than_what_it_held(store: ResponseStore) -> None:
    fill(store)
    size = store.path.stat().st_size
    flip(store.path, (size // 4096 // 2) * 4096, 4096)
    again = ResponseStore(store.directory)
    kept = found(again)
    assert kept >= 50
    for number in range(60):
        again.put(f"k{number}", answer("y" * 3000))
    assert found(again) == 60
    again.close()


@pytest.mark.parametrize("page", range(12))
def test_no_flipped_page_raises(store: ResponseStore, page: int) -> None:
    fill(store, 30)
    flip(store.path, page * 4096, 4096)
    again = ResponseStore(store.directory)
    found(again, 30)
    again.put("new", answer())
    assert again.get("new") == answer()
    again.close()


def test_two_damages_leave_two_files(store: ResponseStore) -> None:
    for number in (2, 3):
        store.put("k", answer())
        store.close()
        store.path.write_bytes(b"garbage" * 1000)
        again = ResponseStore(store.directory)
        assert again.get("k") is None
        again.close()
        assert store.path.parent.name == str(number)


def test_an_impossible_directory_is_announced_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said: list[str] = []
    store = ResponseStore(tmp_path / "file" / ".promptfuzz", warn=said.append)
    for _ in range(3):
        store.put("k", answer())
        assert store.get("k") is None
    assert len(said) == 1
    assert str(store.path) in said[0]
    assert store.stats().entries == 0
    store.close()


def unprivileged(program: str) -> str:
    """Run as somebody whom permissions bind; modules are loaded first, from where only the owner may read."""
    drop = (
        "import os, diskcache, sqlite3\nfrom pytest_promptfuzz.storage.disk_store import ResponseStore\n"
        "from pytest_promptfuzz.storage.answers import StoredAnswer\n"
        "if os.geteuid() == 0:\n    os.setgid(65534)\n    os.setuid(65534)\n"
    )
    done = subprocess.run([sys.executable, "-c", drop + program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def locked():
    """A store with three answers that others may read and nobody may write, outside pytest's private directory."""
    if os.name != "posix":
        pytest.skip("permissions are POSIX")
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        store = ResponseStore(root / ".promptfuzz")
        fill(store, 3)
        yield store
        for each in (store.directory, store.path.parent):
            each.chmod(0o700)


USE = """
store = ResponseStore({directory!r})
first = store.get("k1")
store.put("new", StoredAnswer("u", {{}}, 200, "application/json", "{{}}", 0.0))
print(first is not None, store.get("new"), store.stats().entries, len(store.notes), store.notes[0])
store.close()
"""


def test_a_read_only_cache_still_answers(locked: ResponseStore) -> None:
    locked.path.chmod(0o444)
    locked.path.parent.chmod(0o555)
    locked.directory.chmod(0o555)
    said = unprivileged(USE.format(directory=str(locked.directory)))
    assert said.startswith("True None 3 1 ")
    assert "cannot be written" in said


def test_a_cache_that_may_not_be_looked_into_is_given_up(locked: ResponseStore) -> None:
    locked.directory.chmod(0)
    said = unprivileged(USE.format(directory=str(locked.directory)))
    assert said.startswith("False None 0 1 ")
    assert "goes on without it" in said


def test_a_full_disk_ends_storing_not_the_run(store: ResponseStore) -> None:
    store.put("k", answer())
    # SQLite's own limit on the size of a file raises what a full disk raises.
    (pages,) = store._cache._sql("PRAGMA page_count").fetchone()
    store._cache._sql(f"PRAGMA max_page_count = {pages + 2}")
    for number in range(5):
        store.put(f"large{number}", answer("x" * 50_000))
    assert store.get("k") == answer()
    assert store.get("large0") is None
    assert len(store.notes) == 1
    assert "full" in store.notes[0]


def test_threads_share_a_store(store: ResponseStore) -> None:
    def work(number: int) -> bool:
        store.put(f"k{number}", answer(str(number)))
        return store.get(f"k{number}") == answer(str(number))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(80)))
    assert store.stats().entries == 80
    assert store.notes == []
    assert not [each for each in threading.enumerate() if "promptfuzz" in each.name]


def test_a_thread_leaves_no_connection_behind(store: ResponseStore) -> None:
    # Python 3.13 warns of a connection that is dropped unclosed, as those of an ended thread would be.
    store.put("k", answer())

    def work() -> object:
        assert store.get("k") == answer()
        return getattr(store._cache._local, "con", None)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() is None
    assert store._cache._local.con is not None


def test_the_database_is_not_mapped_into_memory(store: ResponseStore) -> None:
    store.put("k", answer())
    assert store._cache._sql("PRAGMA mmap_size").fetchall() in ([(0,)], [])


def test_a_process_killed_while_it_mends_leaves_no_trace(store: ResponseStore) -> None:
    fill(store)
    flip(store.path, 100, 4096)
    program = (
        "import os, signal\nfrom pytest_promptfuzz.storage import disk_store as module\n"
        "def salvage(database):\n    yield 'k0', b'0'\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "module.salvage = salvage\n"
        f"module.ResponseStore({str(store.directory)!r}).get('k0')"
    )
    assert warm.run([sys.executable, "-c", program], check=False).returncode == -9
    assert (store.path.parent / "mending").is_dir()
    store.put("k", answer("new"))
    assert store.get("k") == answer("new")
    assert store.path.parent.name == "2"
    assert not (store.path.parent.parent / "mending").exists()
    assert store.get("k0") in (None, answer("x" * 3000 + "0"))


def test_a_file_that_another_process_replaced_is_left(store: ResponseStore) -> None:
    """What an open connection writes to a damaged file nobody would find again."""
    fill(store, 40)
    first = store.path
    assert store.get("k0") is not None
    flip(first, (first.stat().st_size // 4096 // 2) * 4096, 8192)
    other = ResponseStore(store.directory)
    found(other, 40)
    other.close()
    assert store.path != first
    store.put("late", answer("late"))
    third = ResponseStore(store.directory)
    assert third.get("late") == answer("late")
    third.close()


def test_what_is_written_during_the_mending_is_kept(store: ResponseStore, monkeypatch) -> None:
    """The salvage has passed the place already: the writer sees that somebody mends, waits and writes again."""
    from pytest_promptfuzz.storage import disk_store as module

    fill(store, 40)
    first = store.path
    writer = ResponseStore(store.directory)
    assert writer.get("k0") is not None
    flip(first, (first.stat().st_size // 4096 // 2) * 4096, 8192)
    real, look = module.salvage, module.is_being_mended
    late: list[threading.Thread] = []
    written = threading.Event()

    def salvage(database: Path):
        yield from real(database)
        late.append(threading.Thread(target=writer.put, args=("late", answer("late"))))
        late[0].start()
        assert written.wait(10)

    def looked(responses: Path) -> bool:
        written.set()
        return look(responses)

    monkeypatch.setattr(module, "salvage", salvage)
    monkeypatch.setattr(module, "is_being_mended", looked)
    found(store, 40)
    late[0].join()
    assert store.path != first
    assert store.get("late") == answer("late")
    writer.close()


def test_processes_share_a_store(store: ResponseStore) -> None:
    # All begin at once, with a file that none has made yet.
    program = (
        "import sys\nfrom pytest_promptfuzz.storage.disk_store import ResponseStore\n"
        "from pytest_promptfuzz.storage.answers import StoredAnswer\n"
        f"store = ResponseStore({str(store.directory)!r}, warn=print)\n"
        "for n in range(100):\n"
        "    store.put(f'{sys.argv[1]}-{n}', StoredAnswer('u', {}, 200, 'application/json', '{}', 0.0))\n"
        "store.close()"
    )
    running = [warm.Popen([sys.executable, "-c", program, name], stdout=subprocess.PIPE) for name in "abcdef"]
    assert [each.communicate()[0] for each in running] == [b""] * 6
    assert store.stats().entries == 600


def test_a_locked_database_is_announced_and_tried_again(store: ResponseStore, monkeypatch) -> None:
    monkeypatch.setattr("pytest_promptfuzz.storage.disk_store._BUSY_SECONDS", 0.05)
    store.put("k", answer())
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    store.put("new", answer())
    assert store.get("k") == answer(), "reading goes on meanwhile"
    other.execute("ROLLBACK")
    other.close()
    assert len(store.notes) == 1
    assert "locked by another process" in store.notes[0]
    store.put("new", answer())
    assert store.get("new") == answer()


def test_what_a_killed_process_stored_is_there(store: ResponseStore) -> None:
    program = (
        "import os, signal\nfrom pytest_promptfuzz.storage.disk_store import ResponseStore\n"
        "from pytest_promptfuzz.storage.answers import StoredAnswer\n"
        f"store = ResponseStore({str(store.directory)!r})\n"
        "for n in range(20):\n"
        "    store.put(f'k{n}', StoredAnswer('u', {}, 200, 'application/json', '{}', 0.0))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert warm.run([sys.executable, "-c", program], check=False).returncode == -9
    assert found(store, 20) == 20
    assert store.notes == []


def test_two_processes_mend_once(store: ResponseStore) -> None:
    fill(store, 5)
    store.path.write_bytes(b"garbage" * 2000)
    program = (
        "import sys\nfrom pytest_promptfuzz.storage.disk_store import ResponseStore\n"
        "from pytest_promptfuzz.storage.answers import StoredAnswer\n"
        f"store = ResponseStore({str(store.directory)!r})\n"
        "for n in range(20):\n"
        "    store.put(f'{sys.argv[1]}{n}', StoredAnswer('u', {}, 200, 'application/json', '{}', 0.0))\n"
        "store.close()"
    )
    running = [warm.Popen([sys.executable, "-c", program, name]) for name in "abc"]
    assert [each.wait() for each in running] == [0, 0, 0]
    assert store.path.parent.name == "2"
    assert store.stats().entries == 60
