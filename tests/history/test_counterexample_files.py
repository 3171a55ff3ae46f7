"""Where runs keep counterexamples by themselves, on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.history.counterexamples import (
    MOST,
    KeptTest,
    LocalCounterexamples,
)
from pytest_promptfuzz.mutations.engine.edits import replace
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.results.counterexamples import Counterexample, KnownCounterexample

TEST = "tests/test_it.py::test_one[a/b::c]"


def counterexample(word="rate", text="Please rate the text."):
    mutation = Mutation(text, (replace(7, 11, word.upper()),), ("upper-case@1",), "lexical", 0.1, "yes")
    answers = ("high", {"label": "löw"}, "'high' became 'löw'")
    return KnownCounterexample(
        Counterexample(mutation, "0123456789ab", 0, *answers, True, 9, (3, 3)), "openai:gpt-5-mini"
    )


ONE, TWO = counterexample(), counterexample("judge")


@pytest.fixture
def local(tmp_path):
    return LocalCounterexamples(tmp_path / ".promptfuzz")


def test_what_is_kept_comes_back(local):
    assert local.read(TEST) == KeptTest(TEST)
    assert local.write(KeptTest(TEST, [ONE, TWO], ["aaaaaaaaaaaa"])) == ""
    assert local.read(TEST) == KeptTest(TEST, [ONE, TWO], ["aaaaaaaaaaaa"])
    assert local.write(KeptTest("another", [], ["bbbbbbbbbbbb"])) == ""
    assert [each.test for each in local.every()] == ["another", TEST]
    assert local.write(KeptTest(TEST, [TWO])) == ""
    assert local.read(TEST).found == [TWO]
    assert local.write(KeptTest(TEST)) == ""
    assert not local.path_of(TEST).exists()
    assert local.write(KeptTest(TEST)) == ""
    assert [each.test for each in local.every()] == ["another"]


def test_it_is_out_of_git_and_ours_alone(local, tmp_path):
    local.write(KeptTest(TEST, [ONE]))
    assert (tmp_path / ".promptfuzz" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / ".promptfuzz").stat().st_mode & 0o077 == 0
    assert not list(tmp_path.rglob(".gitattributes"))
    assert [each.suffix for each in local.folder.iterdir()] == [".json"]


def test_only_the_newest_of_many_are_kept(local):
    many = [counterexample(f"word{number}") for number in range(MOST + 5)]
    local.write(KeptTest(TEST, many))
    assert local.read(TEST).found == many[5:]


def _damaged():
    good = {"promptfuzz": "counterexamples", "format": 1, "test": TEST, "counterexamples": [], "trials": []}
    yield "", "cannot be read"
    yield '{"promptfuzz": "counterex', "cannot be read"
    yield "<<<<<<< ours\n", "cannot be read"
    yield "[]", "is not a file of counterexamples"
    yield '{"promptfuzz": "outcomes"}', "is not a file of counterexamples"
    yield json.dumps({**good, "format": 2}), "has format 2, but this version of pytest-promptfuzz reads 1"
    yield json.dumps({**good, "test": 3}), "is damaged"
    yield json.dumps({**good, "trials": [1]}), "is damaged"
    yield json.dumps({**good, "counterexamples": {}}), "is damaged"
    yield json.dumps({**good, "counterexamples": [{}]}), "lacks mutation"
    wrong = {**ONE.to_json(), "mutation": {**ONE.found.mutation.to_json(), "edits": [[99, 100, ["x"]]]}}
    yield json.dumps({**good, "counterexamples": [wrong]}), "outside the text"
    yield json.dumps({**good, "counterexamples": [{**ONE.to_json(), "target": 1}]}), "target is a str"


@pytest.mark.parametrize(("content", "said"), list(_damaged()))
def test_a_damaged_file_is_named_and_put_aside(local, content, said):
    local.write(KeptTest(TEST, [ONE]))
    path = local.path_of(TEST)
    path.write_text(content, encoding="utf-8")
    with pytest.raises(StoreError, match=said) as error:
        local.read(TEST)
    assert str(path) in str(error.value)
    (found,) = local.every()
    assert isinstance(found, StoreError)
    note = local.write(KeptTest(TEST, [TWO]))
    assert said in note
    assert Path(f"{path}.damaged").read_text(encoding="utf-8") == content
    assert local.read(TEST).found == [TWO]


def test_a_folder_that_cannot_be_written_is_named(local, tmp_path):
    (tmp_path / ".promptfuzz").write_text("a file in its place")
    with pytest.raises(StoreError, match=r"cannot be (written|put aside)"):
        local.write(KeptTest(TEST, [ONE]))


def test_what_utf8_cannot_hold_is_kept_as_well(local):
    odd = counterexample("x", "Please rate a \ud800 text.")
    local.write(KeptTest(TEST, [odd]))
    assert local.read(TEST).found == [odd]
