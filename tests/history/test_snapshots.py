"""Snapshots: what is in one, where it lies, and what is said of one that cannot be used."""

from __future__ import annotations

import dataclasses
import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.files import encoded
from pytest_promptfuzz.history.snapshots import (
    Sample,
    Snapshot,
    SnapshotInput,
    claimed_twice,
    files_in,
    folded,
    folder_of,
    folders_below,
    module_of_snapshots,
    path_of,
    read,
    read_of,
    remove,
    slug,
    unfolded,
    write,
)
from pytest_promptfuzz.history.trial_labels import label_of, labels_of
from pytest_promptfuzz.mutations.engine.edits import replace
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.mutations.engine.planner import mutate
from pytest_promptfuzz.results.counterexamples import Counterexample, KnownCounterexample

MUTATION = Mutation("Please rate\nit.", (replace(7, 11, "RATE"),), ("upper-case@1",), "lexical", 0.9, "yes")
KNOWN = KnownCounterexample(
    Counterexample(MUTATION, "", 0, "a\nb", "löw", "why", True, 0, (1, 1)), "simulated"
)


PROMPTS = [
    "Classify the ticket into one of: BILLING, OTHER.\n\nRules:\n- Label only\n- Do not explain it\n\nTicket:\n{ticket}",
    "Answer.\nAnswer.\nPlease answer with one word. Do not explain your answer.\n\nText: {text}\nAnswer.",
]


def snapshot(test="test_a", **changes):
    values = {
        "verdict": "pass",
        "score": 0.9,
        "threshold": 0.85,
        "target": "simulated",
        "model": "gpt-5",
        "prompt": "Please rate\nit.",
        "inputs": (
            SnapshotInput("0", "ab", "cd", (Sample("one\ntwo", 3), Sample({"lines": ["x"]}, 1, failed=True))),
        ),
        "compared": {"comparison": 1, "task": "generation"},
        "operators": ("upper-case@1",),
        "trials": {"0": {"0123456789ab": "EM?"}},
        "labels": {"0": {"0123456789ab": "upper-case: rate → RATE"}},
        "counterexamples": (KNOWN,),
    }
    return Snapshot(test, **{**values, **changes})


@pytest.fixture
def module(tmp_path):
    return tmp_path / "tests" / "test_it.py"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="a\n\\", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["lines", "\\lines", "\\\\lines", "other"]), inner, max_size=2)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_every_value_comes_back_whatever_it_looks_like(value):
    assert unfolded(json.loads(json.dumps(folded(value)))) == value


def test_texts_of_several_lines_are_read_line_by_line(module):
    write(module, snapshot())
    text = path_of(module, "test_a").read_text(encoding="utf-8")
    assert '        "Please rate",\n' in text or '      "Please rate",\n' in text
    assert "löw" in text
    assert "\\n" not in text
    assert text.endswith("}\n")


def test_what_is_written_comes_back_and_the_same_is_the_same_bytes(module):
    assert read_of(module, "test_a") is None
    assert write(module, snapshot())
    assert read_of(module, "test_a") == snapshot()
    before = path_of(module, "test_a").read_bytes()
    assert not write(module, snapshot())
    assert path_of(module, "test_a").read_bytes() == before
    assert write(module, snapshot(verdict="brittle"))


@given(st.text(min_size=1, max_size=120))
def test_a_file_name_is_safe_everywhere(test):
    name = slug(test)
    assert len(name) <= 80
    assert name == name.lower()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")
    assert name.partition("-")[0] not in {"con", "nul", "aux", "prn"} or "-" in name


def test_different_tests_have_different_files_whatever_the_file_system_makes_of_case():
    names = [
        "test_a",
        "test_A",
        "test_a[x]",
        "test_a[X]",
        "test_a_x",
        "TestA::test_a",
        "testa_test_a",
        "nul",
        "a" * 99,
    ]
    assert len({slug(each).lower() for each in names}) == len(names)


def test_other_tests_are_not_touched(module):
    for name in ("test_a", "test_b", "TestX::test_c[1/2]"):
        write(module, snapshot(name))
    before = {each: each.read_bytes() for each in files_in(folder_of(module))}
    write(module, snapshot("test_b", score=0.1))
    after = {each: each.read_bytes() for each in files_in(folder_of(module))}
    assert [each.name for each in before if before[each] != after[each]] == ["test_b.json"]
    assert folders_below(module.parent.parent) == [folder_of(module)]
    assert module_of_snapshots(folder_of(module)) == module
    for path in files_in(folder_of(module)):
        remove(path)
    assert not folder_of(module).exists()


GOOD = snapshot().to_json()
(PINNED,) = GOOD["counterexamples"]


def test_a_counterexample_is_its_lines_before_and_after_and_what_follows_from_them_is_left_out():
    assert PINNED == {
        "operators": ["upper-case@1"],
        "before": "Please rate",
        "after": "Please RATE",
        "severity": 0.9,  # not the operator's
        "baseline": {"lines": ["a", "b"]},
        "answer": "löw",
        "failure": "why",
    }
    assert GOOD["trials"] == {"0": {"upper-case: rate → RATE": "EM?"}}
    assert GOOD["inputs"][0]["trials"] == "0123456789ab"


@pytest.mark.parametrize("prompt", PROMPTS)
def test_every_mutation_comes_back_from_its_lines(module, prompt):
    made = mutate(prompt, 40)
    known = [
        KnownCounterexample(
            Counterexample(each, "", 0, "a", "b", "why", number % 2 > 0, 0, (number % 3, 2)), "x"
        )
        for number, each in enumerate(made)
    ]
    whole = snapshot(prompt=prompt, counterexamples=tuple(known), inputs=())
    whole = dataclasses.replace(whole, trials={}, labels={})
    write(module, whole)
    read = read_of(module, "test_a").counterexamples
    assert {each.id: each.found.mutation.edits for each in read} == {
        each.id: each.found.mutation.edits for each in known
    }
    for each in read:
        (old,) = [one for one in known if one.id == each.id]
        assert each.found.mutation.severity == pytest.approx(old.found.mutation.severity, abs=0.002)
        assert dataclasses.replace(each.found.mutation, severity=0.0) == dataclasses.replace(
            old.found.mutation, severity=0.0
        )
        assert (each.target, each.found.minimal) == (old.target, old.found.minimal)


def test_labels_stay_where_the_prompt_changes_elsewhere_and_tell_trials_apart():
    diff = [("=", "Answer "), ("-", "with"), ("+", "wiht"), ("=", " one word, with care")]
    rows = [("0", "a", ["typo@1"], diff), ("0", "b", ["typo@1"], diff), ("0", "b", ["typo@1"], diff)]
    assert labels_of(rows) == {"0": {"a": "typo: with → wiht", "b": "typo: with → wiht (2)"}}
    assert (
        labels_of(rows, hide=lambda text: text.replace("with", "[hidden]"))["0"]["a"]
        == "typo: [hidden] → wiht"
    )
    assert (
        label_of(
            ["x@1", "y@2"],
            [
                ("+", "Please "),
                ("=", "a"),
                ("-", "  "),
                ("+", "\n"),
                ("=", "b"),
                ("-", "c"),
                ("=", "d"),
                ("+", "e"),
            ],
        )
        == "x + y: + Please, ␣␣ → ⏎, …"
    )
    assert len(label_of(["x@1"], [("-", "word " * 50), ("+", "other " * 50)])) < 90


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            json.dumps(GOOD).replace('"format": 2', '"format": 3'),
            "has format 3, but this version of pytest-promptfuzz reads 1 and 2.",
        ),
        (json.dumps(GOOD).replace('"format": 2', '"format": [2]'), "has format [2], but this version"),
        (json.dumps(GOOD).replace('"format": 2', '"format": true'), "has format True, but this version"),
        (
            f"<<<<<<< HEAD\n{json.dumps(GOOD, indent=2)}",
            "line 1: a merge left conflict markers. Keep one side",
        ),
        (json.dumps(GOOD)[:-40], "is not JSON (line 1)"),
        ("", "is not JSON (line 1)"),
        ("[]", "is not the snapshot of a test"),
        ('{"promptfuzz": "report", "format": 1}', "is not the snapshot of a test"),
        (json.dumps({**GOOD, "verdict": "noisy"}), "the verdict is 'pass' or 'brittle', not 'noisy'"),
        (json.dumps({**GOOD, "trials": {"0": {"a": "EX"}}}), "trials are outcomes by input and ID"),
        (json.dumps({**GOOD, "trials": []}), "trials are outcomes by input and ID"),
        (json.dumps({**GOOD, "inputs": [{"name": "0", "trials": "a"}]}), "it has no 'answers'"),
        (
            json.dumps(
                {
                    **GOOD,
                    "inputs": [{**GOOD["inputs"][0], "trials": "a a"}],
                    "trials": {"0": {"x": "E", "y": "D"}},
                }
            ),
            "an input names a trial twice",
        ),
        (json.dumps({**GOOD, "inputs": 3}), "is damaged"),
        (json.dumps({**GOOD, "prompt": {"lines": 3}}), "'lines' is a list of texts"),
        (json.dumps({**GOOD, "counterexamples": [{"id": "a"}]}), "it has no 'before'"),
        (
            json.dumps({**GOOD, "counterexamples": [{**PINNED, "before": "No"}]}),
            "which does not stand in the prompt",
        ),
        (json.dumps({**GOOD, "counterexamples": [{**PINNED, "edits": [[0, 1, ["x"]]]}]}), "does not make"),
        (json.dumps({**GOOD, "trials": {"0": {"a": "E", "b": "D"}}}), "each trial has an ID"),
        (json.dumps({key: value for key, value in GOOD.items() if key != "model"}), "it has no 'model'"),
        (json.dumps({**GOOD, "test": "test_b"}), "holds the snapshot of test_b, whose file is test_b.json"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_file_and_a_mend(module, content, said):
    write(module, snapshot())
    path = path_of(module, "test_a")
    path.write_text(content, encoding="utf-8")
    with pytest.raises(StoreError) as error:
        read_of(module, "test_a")
    assert said in str(error.value)
    assert str(path) in str(error.value)
    assert "delete" in str(error.value)
    assert path.read_text(encoding="utf-8") == content


def test_what_is_no_file_is_named(module):
    path = path_of(module, "test_a")
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match=r"test_a\.json cannot be read"):
        read_of(module, "test_a")
    with pytest.raises(StoreError, match="is a folder, where the snapshot of test_a belongs"):
        write(module, snapshot())


def test_a_folder_that_cannot_be_written_is_named(module):
    module.parent.mkdir()
    (module.parent / "__promptfuzz__").write_text("a file in its place")
    with pytest.raises(StoreError, match="cannot be written"):
        write(module, snapshot())


def test_two_files_that_claim_one_test_are_named(module):
    write(module, snapshot())
    copy = path_of(module, "test_a").with_name("copy.json")
    copy.write_bytes(path_of(module, "test_a").read_bytes())
    (copy.with_name("damaged.json")).write_text("{")
    (said,) = claimed_twice(files_in(folder_of(module)))
    assert str(copy) in said
    assert "test_a.json: delete the other" in said


def git(folder, *arguments, fails=False):
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stderr
    return done.stdout


def test_branches_conflict_only_where_both_changed_the_same_test(module, tmp_path):
    git(tmp_path, "init", "-q", "-b", "main")
    for name in ("test_a", "test_b", "test_c"):
        write(module, snapshot(name))
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    git(tmp_path, "checkout", "-qb", "other")
    write(module, snapshot("test_b", score=0.7))
    write(module, snapshot("test_bb"))
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "other")
    git(tmp_path, "checkout", "-q", "main")
    write(module, snapshot("test_a", score=0.6))
    write(module, snapshot("test_ba"))
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "main")
    git(tmp_path, "merge", "-q", "--no-edit", "other")
    scores = {
        name: read_of(module, name).score for name in ("test_a", "test_b", "test_ba", "test_bb", "test_c")
    }
    assert scores == {"test_a": 0.6, "test_b": 0.7, "test_ba": 0.9, "test_bb": 0.9, "test_c": 0.9}
    git(tmp_path, "checkout", "-qb", "third")
    write(module, snapshot("test_c", score=0.1))
    git(tmp_path, "commit", "-qam", "third")
    git(tmp_path, "checkout", "-q", "main")
    write(module, snapshot("test_c", score=0.2))
    git(tmp_path, "commit", "-qam", "main again")
    git(tmp_path, "merge", "-q", "third", fails=True)
    with pytest.raises(StoreError, match=r"test_c\.json, line \d+: a merge left conflict markers"):
        read(path_of(module, "test_c"))
    assert read_of(module, "test_a").score == 0.6


def test_lists_of_numbers_stand_on_one_row_and_texts_stay() -> None:
    value = {
        "edits": [[99, 217, [[147, 184], [1.5, -2e-07], []]]],
        "text": "[\\n  1,\\n  2\\n]",
        "two": ["a", [1, 2]],
    }
    text = encoded(value, indent=2).decode()
    assert json.loads(text) == value
    assert text.splitlines()[1] == '  "edits": [[99, 217, [[147, 184], [1.5, -2e-07], []]]],'
    assert "    [1, 2]" in text.splitlines()
