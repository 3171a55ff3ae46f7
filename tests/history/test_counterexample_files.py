"""Where counterexamples are kept: on this machine by themselves, and in git when they are pinned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.history.counterexamples import (
    MOST,
    Kept,
    LocalCounterexamples,
    file_of,
    files_below,
    merge,
    module_of,
    read,
)
from pytest_promptfuzz.mutations.edits import replace
from pytest_promptfuzz.mutations.mutation import Mutation
from pytest_promptfuzz.scoring.counterexample import Counterexample
from pytest_promptfuzz.scoring.replayed import Known

TEST = "tests/test_it.py::test_one[a/b::c]"
HEADER = '{"promptfuzz": "counterexamples", "format": 1}'


def counterexample(word="rate", text="Please rate the text."):
    mutation = Mutation(text, (replace(7, 11, word.upper()),), ("upper-case@1",), "lexical", 0.1, "yes")
    answers = ("high", {"label": "löw"}, "'high' became 'löw'")
    return Known(Counterexample(mutation, "0123456789ab", 0, *answers, True, 9, (3, 3)), "openai:gpt-5-mini")


ONE, TWO, THREE = counterexample(), counterexample("judge"), counterexample("grade")


@pytest.fixture
def local(tmp_path):
    return LocalCounterexamples(tmp_path / ".promptfuzz")


@pytest.fixture
def pins(tmp_path):
    return file_of(tmp_path / "tests" / "test_it.py")


def test_what_is_kept_comes_back(local):
    assert local.read(TEST) == Kept(TEST)
    assert local.write(Kept(TEST, [ONE, TWO], ["aaaaaaaaaaaa"])) == ""
    assert local.read(TEST) == Kept(TEST, [ONE, TWO], ["aaaaaaaaaaaa"])
    assert local.write(Kept("another", [], ["bbbbbbbbbbbb"])) == ""
    assert [each.test for each in local.every()] == ["another", TEST]
    assert local.write(Kept(TEST, [TWO])) == ""
    assert local.read(TEST).found == [TWO]
    assert local.write(Kept(TEST)) == ""
    assert not local.path_of(TEST).exists()
    assert local.write(Kept(TEST)) == ""
    assert [each.test for each in local.every()] == ["another"]


def test_it_is_out_of_git_and_ours_alone(local, tmp_path):
    local.write(Kept(TEST, [ONE]))
    assert (tmp_path / ".promptfuzz" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / ".promptfuzz").stat().st_mode & 0o077 == 0
    assert not list(tmp_path.rglob(".gitattributes"))
    assert [each.suffix for each in local.folder.iterdir()] == [".json"]


def test_only_the_newest_of_many_are_kept(local):
    many = [counterexample(f"word{number}") for number in range(MOST + 5)]
    local.write(Kept(TEST, many))
    assert local.read(TEST).found == many[5:]


def _damaged():
    good = {"promptfuzz": "counterexamples", "format": 1, "test": TEST, "counterexamples": [], "trials": []}
    yield "", "cannot be read"
    yield '{"promptfuzz": "counterex', "cannot be read"
    yield "<<<<<<< ours\n", "cannot be read"
    yield "[]", "holds no counterexamples"
    yield '{"promptfuzz": "outcomes"}', "holds no counterexamples"
    yield json.dumps({**good, "format": 2}), "is of format 2, and this version of pytest-promptfuzz reads 1"
    yield json.dumps({**good, "test": 3}), "is damaged"
    yield json.dumps({**good, "trials": [1]}), "is damaged"
    yield json.dumps({**good, "counterexamples": {}}), "is damaged"
    yield json.dumps({**good, "counterexamples": [{}]}), "lacks mutation"
    wrong = {**ONE.to_json(), "mutation": {**ONE.found.mutation.to_json(), "edits": [[99, 100, ["x"]]]}}
    yield json.dumps({**good, "counterexamples": [wrong]}), "outside the text"
    yield json.dumps({**good, "counterexamples": [{**ONE.to_json(), "target": 1}]}), "target is a str"


@pytest.mark.parametrize(("content", "said"), list(_damaged()))
def test_a_damaged_file_is_named_and_put_aside(local, content, said):
    local.write(Kept(TEST, [ONE]))
    path = local.path_of(TEST)
    path.write_text(content, encoding="utf-8")
    with pytest.raises(StoreError, match=said) as error:
        local.read(TEST)
    assert str(path) in str(error.value)
    (found,) = local.every()
    assert isinstance(found, StoreError)
    note = local.write(Kept(TEST, [TWO]))
    assert said in note
    assert Path(f"{path}.damaged").read_text(encoding="utf-8") == content
    assert local.read(TEST).found == [TWO]


def test_a_folder_that_cannot_be_written_is_named(local, tmp_path):
    (tmp_path / ".promptfuzz").write_text("a file in its place")
    with pytest.raises(StoreError, match=r"cannot be (written|put aside)"):
        local.write(Kept(TEST, [ONE]))


def test_pins_come_back_in_a_stable_order(pins):
    assert read(pins) == {}
    assert merge(pins, {"test_b": [TWO, ONE], "test_a": [THREE]}) == 3
    found = read(pins)
    assert {test: {each.id for each in those} for test, those in found.items()} == {
        "test_a": {THREE.id},
        "test_b": {ONE.id, TWO.id},
    }
    lines = pins.read_text(encoding="utf-8").splitlines()
    assert lines[0] == HEADER
    rows = [json.loads(line) for line in lines[1:]]
    assert [(row["test"], row["id"]) for row in rows] == sorted((row["test"], row["id"]) for row in rows)
    assert "löw" in lines[1], "people read it"
    before = pins.read_bytes()
    assert merge(pins, {"test_b": [ONE, TWO]}) == 2
    assert pins.read_bytes() == before


def test_entries_of_other_tests_stay(pins):
    merge(pins, {"test_a": [ONE], "test_b": [TWO], "test_c": [THREE]})
    assert merge(pins, {"test_b": []}) == 0
    assert set(read(pins)) == {"test_a", "test_c"}
    assert merge(pins, {"test_a": [], "test_c": []}) == 0
    assert not pins.exists()
    assert merge(pins, {"test_a": []}) == 0
    assert not pins.exists()


def test_both_sides_of_a_merge_may_have_pinned_the_same(pins):
    merge(pins, {"test_a": [ONE]})
    lines = pins.read_text(encoding="utf-8").splitlines()
    pins.write_text("\n".join([*lines, lines[1]]) + "\n", encoding="utf-8")
    assert read(pins) == {"test_a": [ONE]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<<<<<<< HEAD\n", "line 1: a merge left conflict markers"),
        (f"{HEADER}\n<<<<<<< HEAD\n", "line 2: a merge left conflict markers. Keep one side of each"),
        (f"{HEADER}\n=======\n", "conflict markers"),
        ("{}\n", "does not begin as a file of counterexamples does"),
        ('{"promptfuzz": "outcomes", "format": 1}\n', "does not begin as a file of counterexamples does"),
        ('{"promptfuzz": "counterexamples", "format": 2}\n', "is of format 2"),
        (f"{HEADER}\nnot json\n", "line 2 holds no counterexample of a test"),
        (
            f'{HEADER}\n{{"test": "test_a"}}\n',
            "line 2 holds no counterexample of a test (A stored counterexample lacks",
        ),
        (f"{HEADER}\n[]\n", "line 2 holds no counterexample"),
    ],
)
def test_a_damaged_file_of_pins_is_named_and_left_as_it_is(pins, content, said):
    pins.parent.mkdir(parents=True)
    pins.write_text(content, encoding="utf-8")
    for reading in (lambda: read(pins), lambda: merge(pins, {"test_a": [ONE]})):
        with pytest.raises(StoreError) as error:
            reading()
        assert said in str(error.value)
        assert str(pins) in str(error.value)
    assert pins.read_text(encoding="utf-8") == content


def test_what_utf8_cannot_hold_is_kept_as_well(local, pins):
    odd = counterexample("x", "Please rate a \ud800 text.")
    local.write(Kept(TEST, [odd]))
    assert local.read(TEST).found == [odd]
    merge(pins, {"test_a": [odd]})
    assert read(pins) == {"test_a": [odd]}


def test_files_are_found_below_a_folder(tmp_path, pins):
    merge(pins, {"test_a": [ONE]})
    deep = file_of(tmp_path / "more" / "deep" / "test_x.py")
    merge(deep, {"test_a": [ONE]})
    merge(file_of(tmp_path / ".venv" / "test_y.py"), {"test_a": [ONE]})
    (pins.parent / "test_it.outcomes.jsonl").write_text("")
    assert files_below(tmp_path) == [deep, pins]
    assert [module_of(each).name for each in files_below(tmp_path)] == ["test_x.py", "test_it.py"]
    assert module_of(deep) == tmp_path / "more" / "deep" / "test_x.py"
