"""Vectors on disk: the same numbers in every run, none of damaged entries, and no word about texts."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
from array import array

import pytest

from pytest_promptfuzz.judging import meaning
from pytest_promptfuzz.judging.meaning import CachedEmbedder, Embedded, VectorFile
from tests import warm


class Thirds:
    """Vectors that single precision cannot hold exactly; texts of more than ten characters are cut."""

    name = "thirds"

    def __init__(self, stamp: str = "") -> None:
        self.stamp = stamp
        self.asked: list[list[str]] = []

    def embed(self, texts):
        self.asked.append(list(texts))
        return [[len(text) / 3, 1 / 3] for text in texts]

    def truncates(self, text: str) -> bool:
        return len(text) > 10


@pytest.fixture
def warnings(monkeypatch) -> list[str]:
    monkeypatch.setattr(meaning, "_announced", set())
    return []


@pytest.fixture
def file(tmp_path, warnings) -> VectorFile:
    return VectorFile(tmp_path / ".promptfuzz", warnings.append)


def database(tmp_path):
    return tmp_path / ".promptfuzz" / "vectors" / "vectors.db"


def test_a_second_run_computes_with_the_same_numbers(file, warnings) -> None:
    first = CachedEmbedder(Thirds(), file)
    cold = first.embed(["a", "a longer text"])
    again = Thirds()
    second = CachedEmbedder(again, file)
    assert second.embed(["a longer text", "a"]) == cold[::-1]
    assert [first.truncates(text) for text in ("a", "a longer text")] == [False, True]
    assert [second.truncates(text) for text in ("a", "a longer text")] == [False, True]
    assert again.asked == []
    assert cold[0][1] == array("f", [1 / 3])[0]
    assert warnings == []


def test_one_call_for_all_that_is_not_known(file) -> None:
    CachedEmbedder(Thirds(), file).embed(["on disk"])
    embedder = Thirds()
    cached = CachedEmbedder(embedder, file)
    cached.embed(["new", "on disk", "new", "newer"])
    cached.embed(["new", "newest"])
    assert embedder.asked == [["new", "newer"], ["newest"]]


def test_another_copy_of_the_model_has_vectors_of_its_own(file) -> None:
    CachedEmbedder(Thirds("one"), file).embed(["a"])
    same, other = Thirds("one"), Thirds("two")
    CachedEmbedder(same, file).embed(["a"])
    CachedEmbedder(other, file).embed(["a"])
    assert (same.asked, other.asked) == ([], [["a"]])


def test_memory_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr("pytest_promptfuzz.judging.meaning._MOST_VECTORS", 2)
    embedder = Thirds()
    cached = CachedEmbedder(embedder)
    assert len(cached.embed(["a", "b", "c"])) == 3
    cached.embed(["c"])
    cached.embed(["a"])
    assert embedder.asked == [["a", "b", "c"], ["a"]]


def test_the_folder_is_ours_and_holds_no_text(file, tmp_path) -> None:
    CachedEmbedder(Thirds(), file).embed(["sk-secret-text"])
    folder = tmp_path / ".promptfuzz"
    assert (folder / ".gitignore").read_text() == "*\n"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert b"sk-secret" not in database(tmp_path).read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        "vector = x'00'",
        "vector = zeroblob(length(vector))",
        "vector = x'0000c07f0000c07f', checksum = 0",
        "vector = 'text'",
        "vector = NULL",
        "cut = 1",
        "cut = 7",
        "checksum = 'x'",
    ],
)
def test_a_damaged_entry_is_computed_anew(file, tmp_path, change, warnings) -> None:
    expected = CachedEmbedder(Thirds(), file).embed(["a", "b"])
    connection = sqlite3.connect(database(tmp_path))
    with connection:
        connection.execute(f"UPDATE vectors SET {change}")
    connection.close()
    embedder = Thirds()
    assert CachedEmbedder(embedder, file).embed(["a", "b"]) == expected
    assert embedder.asked == [["a", "b"]]
    assert CachedEmbedder(Thirds(), file).embed(["a"]) == expected[:1]
    assert warnings == []


def test_numbers_that_are_none_are_not_used(file) -> None:
    file.write({"key": Embedded(array("f", [float("nan")]), False), "empty": Embedded(array("f"), False)})
    assert file.read(["key", "empty", "missing"]) == {}


def test_a_file_that_is_no_database_is_announced_once(file, tmp_path, warnings) -> None:
    database(tmp_path).parent.mkdir(parents=True)
    database(tmp_path).write_bytes(b"no database, whatever its name may say" * 100)
    cached = CachedEmbedder(Thirds(), file)
    assert len(cached.embed(["a"])) == len(cached.embed(["b"])) == 1
    (said,) = warnings
    assert str(database(tmp_path)) in said
    assert "computed anew" in said
    assert database(tmp_path).read_bytes().startswith(b"no database")


def test_a_folder_that_cannot_be_made_is_announced(tmp_path, warnings) -> None:
    (tmp_path / "file").write_text("")
    cached = CachedEmbedder(Thirds(), VectorFile(tmp_path / "file", warnings.append))
    assert len(cached.embed(["a"])) == 1
    assert len(warnings) == 1


def test_processes_share_the_file(file, tmp_path) -> None:
    script = (
        "import sys; from pathlib import Path; from array import array\n"
        "from pytest_promptfuzz.judging.meaning import Embedded, VectorFile\n"
        "file = VectorFile(Path(sys.argv[1]), print)\n"
        "for number in range(40):\n"
        "    file.write({f'{sys.argv[2]} {number}': Embedded(array('f', [number]), False)})\n"
    )
    folder = tmp_path / ".promptfuzz"
    running = [
        warm.Popen([sys.executable, "-c", script, str(folder), name], stdout=subprocess.PIPE) for name in "ab"
    ]
    assert [each.communicate()[0] for each in running] == [b"", b""]
    found = file.read([f"{name} {number}" for name in "ab" for number in range(40)])
    assert {key: entry.vector[0] for key, entry in found.items()} == {
        f"{name} {number}": float(number) for name in "ab" for number in range(40)
    }


def test_clear(file, tmp_path) -> None:
    assert meaning.vectors_size(tmp_path / ".promptfuzz") == 0
    meaning.clear_vectors(tmp_path / ".promptfuzz")
    CachedEmbedder(Thirds(), file).embed(["a"])
    assert meaning.vectors_size(tmp_path / ".promptfuzz") > 1000
    meaning.clear_vectors(tmp_path / ".promptfuzz")
    assert not database(tmp_path).parent.exists()
    shutil.rmtree(tmp_path / ".promptfuzz")


def test_the_cache_command_clears_them(file, tmp_path) -> None:
    CachedEmbedder(Thirds(), file).embed(["a"])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest_promptfuzz.cli",
            "cache",
            "clear",
            "--yes",
            "--cache-dir",
            ".promptfuzz",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "of vectors" in done.stdout
    assert meaning.vectors_size(tmp_path / ".promptfuzz") == 0
