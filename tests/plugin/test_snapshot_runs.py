"""Snapshots through real runs: written when asked, never lost, and what later runs say of them."""

from __future__ import annotations

import json
import random

import pytest

from pytest_promptfuzz.comparing.comparison import VERSION
from pytest_promptfuzz.server.model_server import ModelServer
from tests.plugin.conftest import summary_of

WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
FOLDER = "__promptfuzz__/test_it.snap"
APP = """
import os
from pathlib import Path

TEAMS = Prompt(os.environ.get("TEXT", "Name one of these teams: billing, shipping.\\nTicket: {ticket}"))

def application(text):
    if not os.environ.get("DICE"):
        return os.environ.get("SAYS", "billing")
    count = Path("count")
    number = int(count.read_text()) if count.exists() else 0
    count.write_text(str(number + 1))
    return "shipping" if number % 5 == 3 else "billing"

@robust(TEAMS, mutations=4, threshold=float(os.environ.get("LEAST", "0.85")))
def test_app(prompt):
    return application(prompt.format(ticket="I was charged twice."))
"""


def stored(pytester):
    return {each.name: each.read_bytes() for each in sorted((pytester.path / FOLDER).glob("*.json"))}


def drifts(result):
    return [line for line in result.outlines if line.startswith("Drift: ")]


def changed(pytester, name, *pairs):
    path = pytester.path / FOLDER / name
    text = path.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


@WORKERS
def test_the_same_is_no_drift_another_answer_is_the_model_and_another_text_the_prompt(
    project, pytester, monkeypatch, workers
):
    update = project(APP, "--promptfuzz-update", *workers)
    update.assert_outcomes(passed=1)
    update.stdout.fnmatch_lines([f"promptfuzz: wrote 1 snapshot in {FOLDER}"])
    before = stored(pytester)
    same = project(APP, "--promptfuzz-update", *workers)
    same.stdout.fnmatch_lines([f"promptfuzz: no snapshot written in {FOLDER} (1 unchanged)"])
    assert stored(pytester) == before
    assert not drifts(project(APP, *workers))

    monkeypatch.setenv("SAYS", "shipping")
    model = project(APP, *workers)
    model.assert_outcomes(passed=1)
    model.stdout.fnmatch_lines(
        [
            "Drift: test_it.py::test_app: the model changed: the same prompt has another answer",
            "   then *billing",
            "   now *shipping",
        ]
    )
    monkeypatch.setenv("TEXT", "Which team is it, billing or shipping?\nTicket: {ticket}")
    both = project(APP, *workers)
    both.stdout.fnmatch_lines(
        ["Drift: test_it.py::test_app: the prompt changed since the snapshot, and so did the answer"]
    )
    assert "the model changed" not in both.stdout.str()
    monkeypatch.delenv("SAYS")
    prompt = project(APP, *workers)
    prompt.stdout.fnmatch_lines(
        ["Drift: test_it.py::test_app: the prompt changed since the snapshot; the answer is the same"]
    )
    assert stored(pytester) == before, "nothing is written unless it is asked for"


NOISY = """
@robust(TEAMS, inputs=["I was charged twice."], target=application, mutations=4, threshold=0.1)
def test_app(response):
    assert response
"""


def test_noise_is_no_drift(project, pytester, monkeypatch):
    monkeypatch.setenv("DICE", "1")
    source = APP[: APP.index("@robust")] + NOISY
    project(source, "--promptfuzz-update").assert_outcomes(passed=1)
    assert json.loads(stored(pytester)["test_app.json"])["inputs"][0]["answers"][0]["times"] < 4
    for number in (0, 3, 7):
        (pytester.path / "count").write_text(str(number))
        result = project(source)
        result.assert_outcomes(passed=1)
        assert not drifts(result)


EXPECTED = """
@pytest.mark.xfail(strict=True)
@robust(TEAMS, mutations=4, model_drift="fail")
def test_expected(prompt):
    return application(prompt.format(ticket="I was charged twice."))
"""


@WORKERS
def test_a_policy_fails_a_test_and_no_xfail_waits_for_it(project, pytester, monkeypatch, workers):
    source = f"import pytest\n{APP}{EXPECTED}"
    project(source, "--promptfuzz-update", *workers).assert_outcomes(passed=1, failed=1)
    monkeypatch.setenv("SAYS", "shipping")
    failed = project(source, "--promptfuzz-model-drift=fail", *workers)
    failed.assert_outcomes(failed=2)
    assert summary_of(failed) == {"test_app": "pass", "test_expected": "pass"}
    failed.stdout.fnmatch_lines(
        [
            "Drift: the model changed: the same prompt has another answer. --promptfuzz-model-drift=fail fails the test.",
            "The prompt is robust: *",
            "FAILED test_it.py::test_* - drift: the model changed: the same prompt has another answer",
        ]
    )
    ignored = project(source, "-k", "app", "-o", "promptfuzz_model_drift=ignore", *workers)
    assert not drifts(ignored)
    accepted = project(
        source, "--promptfuzz-update=failed", "--promptfuzz-model-drift=fail", "-k", "app", *workers
    )
    accepted.assert_outcomes(passed=1, deselected=0 if workers else 1)
    accepted.stdout.fnmatch_lines(
        ["Updated: test_it.py::test_app: the model changed: the same prompt has another answer"]
    )
    assert b"shipping" in stored(pytester)["test_app.json"]


def test_another_way_to_compare_is_named_apart(project, pytester, monkeypatch):
    project(APP, "--promptfuzz-update").assert_outcomes(passed=1)
    content = json.loads(stored(pytester)["test_app.json"])
    operator = next(iter(content["operators"]))
    name, version = operator.split("@")
    changed(
        pytester, "test_app.json", (f'"comparison": {VERSION}', '"comparison": 1'), (operator, f"{name}@0")
    )
    result = project(APP)
    result.assert_outcomes(passed=1)
    said = f"answers are compared in another way: comparison 1 → {VERSION}, operator {name} 0 → {version}"
    result.stdout.fnmatch_lines([f"Drift: test_it.py::test_app: {said}"])
    project(APP, "--promptfuzz-comparator-drift=fail").assert_outcomes(failed=1)
    monkeypatch.setenv("PROMPTFUZZ_COMPARATOR_DRIFT", "ignore")
    assert not drifts(project(APP))


class Fixed:
    """A model of one answer under one name."""

    def __init__(self, name, text):
        self.name, self.text = name, text

    def answer(self, request, *, sample=0):
        from pytest_promptfuzz.providers.requests import Response, Usage

        return Response(self.text, usage=Usage(1, 1), model=self.name, finish_reason="stop")


SERVED = """
@robust(TRIAGE, mutations=3, target="openai:gpt-5-mini")
def test_served(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""


def test_a_model_that_answers_otherwise_is_named_and_one_of_another_name_alone_is_no_drift(
    project, pytester, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdefghij")

    def run(name, text, *arguments):
        with ModelServer(Fixed(name, text)) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
            return project(SERVED, "--promptfuzz-mode=live", *arguments)

    run("gpt-5-mini-may", "BILLING", "--promptfuzz-update").assert_outcomes(passed=1)
    renamed = run("gpt-5-mini-june", "BILLING")
    said = "the model is gpt-5-mini-june; it was gpt-5-mini-may when the snapshot was stored; it answers as before"
    renamed.stdout.fnmatch_lines([f"note *: {said}"])
    assert not drifts(renamed)
    other = run("gpt-5-mini-june", "ACCOUNT", "--promptfuzz-model-drift=fail")
    other.assert_outcomes(failed=1)
    other.stdout.fnmatch_lines(
        [
            "Drift: the model changed from gpt-5-mini-may to gpt-5-mini-june: the same prompt has another answer*",
            "   then *BILLING",
            "   now *ACCOUNT",
        ]
    )


MANY = """
import pytest

@pytest.mark.parametrize("n", range(3))
@robust(TRIAGE, mutations=2)
def test_many(prompt, n):
    return str(len(prompt.format(ticket=TICKET)) > n)

class TestGroup:
    @robust(TRIAGE, mutations=2)
    def test_one(self, prompt):
        return str(len(prompt.format(ticket=TICKET)) > 0)

    @robust(TRIAGE, mutations=2)
    def test_two(self, prompt):
        return str(len(prompt.format(ticket=TICKET)) > 0)

@pytest.fixture
def broken():
    raise OSError("no database")

@robust(TRIAGE, mutations=2)
def test_setup(prompt, broken_if_asked):
    return str(len(prompt.format(ticket=TICKET)) > 0)

@robust(TRIAGE, mutations=2)
def test_skipped(prompt, skipped_if_asked):
    return str(len(prompt.format(ticket=TICKET)) > 0)

@robust(TRIAGE, mutations=2)
def test_fails(prompt, fails_if_asked):
    assert not fails_if_asked
    return str(len(prompt.format(ticket=TICKET)) > 0)
"""
CONFTEST = """
import os
import pytest

@pytest.fixture
def broken_if_asked():
    if os.environ.get("BAD"):
        raise OSError("no database")

@pytest.fixture
def skipped_if_asked():
    if os.environ.get("BAD"):
        pytest.skip("not today")

@pytest.fixture
def fails_if_asked():
    return bool(os.environ.get("BAD"))
"""
NAMES = [*(f"test_many[{n}]" for n in range(3)), "TestGroup::test_one", "TestGroup::test_two"]
NAMES += ["test_setup", "test_skipped", "test_fails"]


@pytest.mark.with_plugins("rerunfailures")
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_what_is_not_run_is_never_lost(project, pytester, monkeypatch, workers):
    whole = project(MANY, "--promptfuzz-update", *workers, conftest=CONFTEST)
    whole.assert_outcomes(passed=8)
    before = stored(pytester)
    assert len(before) == 8
    assert sorted(json.loads(each)["test"] for each in before.values()) == sorted(NAMES)
    monkeypatch.setenv("BAD", "1")
    rng = random.Random(5)
    selections = [
        ["-k", "one or setup or fails"],
        [f"test_it.py::{each}" for each in rng.sample(NAMES, 3)],
        ["--deselect", "test_it.py::TestGroup", "-x"],
        ["--lf", "--reruns=1"],
    ]
    for selection in selections[: 2 if workers else 4]:
        result = project(MANY, "--promptfuzz-update", *selection, *workers, conftest=CONFTEST)
        assert stored(pytester) == before
        assert "unused snapshot" not in result.stdout.str()
    refused = project(MANY, "--promptfuzz-update", *workers, conftest=CONFTEST)
    refused.stdout.fnmatch_lines_random(
        [
            "promptfuzz: no snapshot written for test_it.py::test_setup: the test failed in its setup",
            "promptfuzz: no snapshot written for test_it.py::test_skipped: the test is skipped",
            "promptfuzz: no snapshot written for test_it.py::test_fails: the test failed with the unmutated prompt",
        ]
    )
    assert stored(pytester) == before


@WORKERS
def test_a_shifted_id_keeps_its_snapshot_and_an_unused_one_is_named(project, pytester, workers):
    named = """
import pytest

FIRST = "Classify this support ticket as billing or technical: {ticket}"
SECOND = "Which team is the right one, sales or support? Answer with the team only. {ticket}"

@pytest.mark.parametrize("text", [pytest.param(FIRST, id="a-0"), pytest.param(SECOND, id="b-0")])
@robust(mutations=2, mutate="text")
def test_it(text, llm):
    return llm(text.replace("{ticket}", TICKET))

@robust(TRIAGE, mutations=2)
def test_last(prompt):
    return str(len(prompt.format(ticket=TICKET)) > 0)
"""
    project(named, "--promptfuzz-update", *workers).assert_outcomes(passed=3)
    before = stored(pytester)
    shifted = (
        named.replace("a-0", "a-1").replace("def test_last", "def test_other").replace("TRIAGE", '"New {x}"')
    )
    shifted = shifted.replace("prompt.format(ticket=TICKET)", "prompt.format(x=TICKET)")
    seen = project(shifted, *workers)
    seen.stdout.fnmatch_lines_random(
        [
            "promptfuzz: test_it.py::test_it[[]a-1] uses the snapshot of test_it[[]a-0]; *",
            "promptfuzz: unused snapshot, of a test that pytest does not collect any more: test_it.py::test_last; *",
        ]
    )
    assert stored(pytester) == before
    partly = project(shifted, "test_it.py::test_other", *workers)
    assert "unused snapshot" not in partly.stdout.str()
    update = project(shifted, "--promptfuzz-update", *workers)
    update.stdout.fnmatch_lines(
        ["promptfuzz: renamed the snapshot of test_it[[]a-0]: its test is test_it.py::test_it[[]a-1] now"]
    )
    tests = sorted(json.loads(each)["test"] for each in stored(pytester).values())
    assert tests == ["test_it[a-1]", "test_it[b-0]", "test_last", "test_other"]


def test_only_new_ones_and_only_worse_ones(project, pytester, monkeypatch):
    project(APP, "--promptfuzz-update").assert_outcomes(passed=1)
    before = stored(pytester)
    more = APP + APP[APP.index("@robust") :].replace("test_app", "test_second")
    monkeypatch.setenv("SAYS", "shipping")
    project(more, "--promptfuzz-update=new", "--promptfuzz-model-drift=ignore").assert_outcomes(passed=2)
    after = stored(pytester)
    assert after["test_app.json"] == before["test_app.json"]
    assert set(after) == {"test_app.json", "test_second.json"}
    monkeypatch.delenv("SAYS")
    kept = project(APP, "--promptfuzz-update=failed")
    kept.stdout.fnmatch_lines(
        [f"promptfuzz: no snapshot written in {FOLDER}: none of the selected tests needs one"]
    )
    path = project(APP, "--promptfuzz-update", "test_it.py")
    path.assert_outcomes(passed=1)
    wrong = project(APP, "--promptfuzz-update=some")
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR


def test_hypothesis_tests_and_inconclusive_ones_are_refused_and_named(project, pytester):
    source = """
from hypothesis import given, settings, strategies as st

@settings(max_examples=2, deadline=None)
@given(n=st.integers(1, 3))
@robust(TRIAGE, mutations=2)
def test_drawn(prompt, n):
    return str(len(prompt.format(ticket=TICKET)) > 0)

@robust(TRIAGE, mutations=2)
def test_unseen(prompt):
    return "always the same"
"""
    result = project(source, "--promptfuzz-update")
    result.stdout.fnmatch_lines_random(
        [
            "promptfuzz: no snapshot written for test_it.py::test_drawn: hypothesis draws its inputs anew in each run",
            "promptfuzz: no snapshot written for test_it.py::test_unseen: the test is inconclusive",
        ]
    )
    assert not (pytester.path / FOLDER).exists()


def test_two_files_that_claim_a_test_and_a_file_that_cannot_be_written_are_said(project, pytester):
    project(APP, "--promptfuzz-update").assert_outcomes(passed=1)
    folder = pytester.path / FOLDER
    (folder / "copy.json").write_bytes((folder / "test_app.json").read_bytes())
    result = project(APP)
    result.stdout.fnmatch_lines(["promptfuzz: *copy.json * both claim to be the snapshot of test_app; *"])
    (folder / "copy.json").unlink()
    (folder / "test_app.json").unlink()
    (folder / "test_app.json").mkdir()
    refused = project(APP, "--promptfuzz-update")
    refused.assert_outcomes(passed=1)
    assert refused.ret == pytest.ExitCode.TESTS_FAILED, "what was asked for was not done"
    refused.stdout.fnmatch_lines(
        ["promptfuzz: no snapshot written for test_it.py::test_app: *test_app.json cannot be read *"]
    )


def test_what_looks_like_a_secret_is_not_stored_and_is_no_drift(project, pytester):
    secret = "sk-live-0123456789abcdefghijklmnop"
    source = APP.replace('"SAYS", "billing"', f'"SAYS", "{secret}"')
    project(source, "--promptfuzz-update").assert_outcomes(passed=1)
    assert secret.encode() not in stored(pytester)["test_app.json"]
    assert not drifts(project(source))


def test_what_cannot_be_told_is_said_only_to_whoever_asks_for_details(project, pytester, monkeypatch):
    project(APP, "--promptfuzz-update").assert_outcomes(passed=1)
    changed(pytester, "test_app.json", ('"times": 4', '"times": 1'))
    monkeypatch.setenv("SAYS", "shipping")
    result = project(APP, "-v")
    assert not drifts(result)
    said = "we cannot tell whether the model drifted: too few answers are known to tell a change from noise"
    result.stdout.fnmatch_lines([f"note test_it.py::test_app: {said}"])
    assert said not in project(APP).stdout.str()


FIVE = """
import pytest

@pytest.mark.parametrize("n", range(5))
@robust(TRIAGE, mutations=2)
def test_many(prompt, n):
    return str(len(prompt.format(ticket=TICKET)) > n)
"""


def test_a_file_in_the_folders_place_is_said_once_and_ends_the_run_with_an_error(project, pytester):
    (pytester.path / FOLDER).parent.mkdir()
    (pytester.path / FOLDER).write_text("mine")
    result = project(FIVE, "--promptfuzz-update")
    result.assert_outcomes(passed=5)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    said = [line for line in result.outlines if "no snapshot written" in line]
    assert len(said) == 1
    assert "5 tests, among them test_it.py::test_many[0]" in said[0]
    assert sum("is no folder" in line for line in result.outlines) == 2, "the note, and what was not stored"


def test_a_test_without_a_snapshot_is_named_where_others_have_one_or_drift_is_to_fail(project, pytester):
    more = APP + APP[APP.index("@robust") :].replace("test_app", "test_second")
    said = "so drift cannot be seen: "
    assert said not in project(more).stdout.str()
    strict = project(more, "--promptfuzz-model-drift=fail")
    strict.stdout.fnmatch_lines(
        [f"promptfuzz: no snapshots yet, {said}test_it.py::test_app, test_it.py::test_second. *"]
    )
    project(APP, "--promptfuzz-update").assert_outcomes(passed=1)
    one = project(more)
    one.stdout.fnmatch_lines(
        [f"promptfuzz: no snapshot yet, {said}test_it.py::test_second. --promptfuzz-update=new writes it"]
    )
    project(more, "--promptfuzz-update=new").assert_outcomes(passed=2)
    assert said not in project(more).stdout.str()


def test_a_snapshot_that_a_test_may_take_over_is_not_called_unused_by_a_run_without_that_test(
    project, pytester
):
    more = APP + APP[APP.index("@robust") :].replace("test_app", "test_second")
    project(more, "--promptfuzz-update").assert_outcomes(passed=2)
    renamed = more.replace("test_second", "test_renamed")
    partly = project(renamed, "-k", "app")
    assert "unused snapshot" not in partly.stdout.str()
    partly.stdout.fnmatch_lines(
        ["*a snapshot of test_second*run test_it.py::test_renamed before it is removed*"]
    )
    whole = project(renamed)
    assert "before it is removed" not in whole.stdout.str()
    whole.stdout.fnmatch_lines(["*test_it.py::test_renamed uses the snapshot of test_second*"])
