"""Answers that changed against the base: shown though the snapshot was updated, and never claimed falsely."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.history.answer_changes import found_between
from tests.git_story import HEAD, Story, outcome, said
from tests.in_process import promptfuzz

if TYPE_CHECKING:
    from pathlib import Path

    from tests.in_process import Done

ONE = """
PROMPT = {prompt!r}

@robust(mutations=2, controls=0)
def test_triage(prompt, llm):
    return {answer}

@pytest.fixture
def prompt():
    return PROMPT

@robust(mutations=2, controls=0)
def test_kept(prompt, llm):
    llm(prompt)
    return "OTHER"
"""
PROMPT = (
    "Classify the ticket as BILLING or OTHER. Answer with the label only.\n\nTicket: I was charged twice."
)


def write(story: Story, answer: str = "'BILLING'", prompt: str = PROMPT, more: str = "") -> None:
    called = f"(llm(prompt), {answer})[1]"
    (story.root / "test_it.py").write_text(HEAD + ONE.format(prompt=prompt, answer=called) + more)


@pytest.fixture(scope="module")
def adopted(tmp_path_factory: pytest.TempPathFactory) -> Story:
    story = Story(tmp_path_factory.mktemp("git") / "repo")
    write(story)
    assert outcome(story.record()) == "2 passed"
    story.commit("adopt")
    return story


@pytest.fixture
def story(adopted: Story) -> Story:
    return adopted.afresh()


def compared(story: Story, *arguments: str, base: str = "main") -> tuple[Done, dict[str, Any]]:
    done = story.replay("--promptfuzz-report=json:report.json", f"--promptfuzz-compare={base}", *arguments)
    return done, json.loads((story.root / "report.json").read_text())["changes"]


def findings(changes: dict[str, Any]) -> dict[str, str]:
    return {each["test"].partition("::")[2]: each["answer"] for each in changes["tests"]}


def test_a_replay_of_the_same_recording_changed_no_answer(story: Story) -> None:
    done, changes = compared(story, "--promptfuzz-fail-on=answer change")
    assert outcome(done) == "2 passed"
    assert changes["answers"] == []
    assert findings(changes) == {"test_triage": "the same", "test_kept": "the same"}
    assert any("no test is better or worse, no answer changed" in line for line in said(done))
    assert any("'answer change': not met" in line for line in said(done))


def test_a_changed_answer_is_shown_though_the_snapshot_has_it(story: Story) -> None:
    write(story, "'TECHNICAL'")
    assert outcome(story.record()) == "2 passed"
    story.commit("accept the new answer")
    done, changes = compared(story, "-v", base="main...")
    assert done.returncode == 0
    (answer,) = changes["answers"]
    assert answer == {
        "test": "test_it.py::test_triage",
        "target": "simulated",
        "input": "",
        "finding": "changed",
        "before": "BILLING",
        "after": "TECHNICAL",
        "diff": [["-", "BILLING"], ["+", "TECHNICAL"]],
        "reason": "",
        "explanation": "",
        "prompt_changed": False,
        "model_before": answer["model"],
        "model": answer["model"],
    }
    assert findings(changes) == {"test_triage": "changed", "test_kept": "the same"}
    shown = done.stdout.partition("prompt robustness")[2]
    assert "1 answer changed since the merge base main..." in shown
    assert shown.index("1 answer changed") < shown.index("test_kept"), "changed answers come before the table"
    assert "was        [-BILLING-]" in shown
    assert "now        {+TECHNICAL+}" in shown


def test_of_an_answer_too_long_to_be_kept_today_s_text_is_shown(story: Story) -> None:
    """The base has a digest of it, which is no answer."""
    story.git("checkout", "-q", "-b", "long")
    write(story, "'The ticket says: ' + 'paid ' * 5000")
    story.record()
    story.commit("a long answer")
    assert story.replay("--promptfuzz-save=before").returncode == 0
    write(story, "'Nothing of it: ' + 'refunded ' * 5000")
    story.record()
    done, changes = compared(
        story, "-v", "--promptfuzz-report=md:report.md,html:report.html,json:report.json", base="before"
    )
    (answer,) = changes["answers"]
    assert answer["finding"] == "cannot tell"
    assert answer["after"].startswith("Nothing of it: refunded")
    assert answer["diff"] == []
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert "was        (only a digest is kept)" in lines
    assert any(line.startswith("now        {+Nothing of it: refunded") for line in lines)
    markdown = (story.root / "report.md").read_text()
    assert "- (only a digest is kept)\n+ Nothing of it: refunded" in markdown
    page = (story.root / "report.html").read_text()
    assert "(only a digest is kept)" in page
    assert "Nothing of it: refunded" in page
    for text in (done.stdout, markdown, page):
        assert "promptfuzz-digest" not in text
        assert "Nothing of it: refunded " * 2 not in text


def test_a_condition_fails_the_session(story: Story) -> None:
    write(story, "'TECHNICAL'")
    story.record()
    done, changes = compared(story, "--promptfuzz-fail-on=answer change")
    assert done.returncode == 1
    assert changes["conditions"] == [{"expression": "answer change", "tests": ["test_it.py::test_triage"]}]


def test_a_condition_that_cannot_be_decided_says_so(story: Story) -> None:
    """Another text, and nothing that tells whether it means the same: not met, but not passed over."""
    write(story, "'We regret that your parcel was lost, and send the money back to your account.'")
    story.record()
    story.commit("a sentence")
    story.git("branch", "-f", "sentence")
    write(story, "'Our apologies: the package went missing. You get a full refund within some days.'")
    story.record()
    done, changes = compared(
        story,
        "-q",
        "--promptfuzz-fail-on=answer change, new brittle",
        base="sentence",
    )
    (answer,) = changes["answers"]
    assert (answer["finding"], answer["reason"]) == ("cannot tell", "answers-untold")
    assert done.returncode == 0
    why = "no installed comparison can tell whether the two answers mean the same"
    told = f"--promptfuzz-fail-on 'answer change': not met; 1 answer cannot be told: {why}"
    assert told in said(done)
    assert [line for line in said(done) if "'answer change'" in line] == [told]
    assert "--promptfuzz-fail-on 'new brittle': not met" in said(done)
    done = promptfuzz("compare", "sentence", "--fail-on", "answer change", folder=story.root)
    assert f"--fail-on 'answer change': not met; 1 answer cannot be told: {why}" in " ".join(
        done.stdout.split()
    )


def test_equivalent_wording_is_no_change(story: Story) -> None:
    write(story, "'Billing.'")
    story.record()
    _, changes = compared(story)
    assert changes["answers"] == []


def test_new_tests_and_tests_without_answers_are_named_with_the_reason(story: Story) -> None:
    more = "\n@robust(mutations=2, controls=0)\ndef test_new(prompt, llm):\n    return llm(prompt)\n"
    checked = "\n@robust(mutations=2, compare=False, controls=0)\ndef test_checked(prompt, llm):\n    assert llm(prompt)\n"
    write(story, more=checked)
    story.record()
    story.commit("a test with its own checks")
    story.git("branch", "-f", "checked")
    write(story, more=checked + more)
    story.record()
    done, changes = compared(story, base="checked")
    reasons = {
        each["test"].partition("::")[2]: (each["finding"], each["reason"]) for each in changes["answers"]
    }
    assert reasons == {
        "test_new": ("not compared", "answers-new-test"),
        "test_checked": ("not compared", "answers-own-checks"),
    }
    assert "answer of test_it.py::test_new not compared: the test is not in the base" in said(done)


@pytest.mark.parametrize(
    ("before", "now", "finding"),
    [
        (["RED", "RED", "RED", "BLUE"], ["BLUE"] * 4, "cannot tell"),
        (["RED"] * 8, [*["BLUE"] * 7, "RED"], "changed"),
        (["RED", "RED", "BLUE", "GREEN"], ["BLACK", "BLACK", "PINK", "BROWN"], "cannot tell"),
        (["RED"] * 4, ["BLUE"] * 4, "changed"),
        (["RED", "RED", "RED", "RED", "BLUE"], ["GREEN"] * 5, "changed"),
    ],
)
def test_repeats_tell_noise_from_a_change(
    tmp_path: Path, before: list[str], now: list[str], finding: str
) -> None:
    story = Story(tmp_path / "repo")
    for answers, option in ((before, "--promptfuzz-save=before"), (now, "--promptfuzz-compare=before")):
        # The application asks no model that is followed, so that each run of it may answer otherwise.
        varying = f"""
ANSWERS = iter({answers!r})

@robust("Name a colour.", mutations=2, baseline_runs={len(answers)}, controls=0, task="classification", shrink=0)
def test_colour(prompt):
    return next(ANSWERS, {answers[0]!r}) if str(prompt) == "Name a colour." else {answers[0]!r}
"""
        (story.root / "test_it.py").write_text(HEAD + varying)
        done = story.run(option, "--promptfuzz-report=json:report.json")
    changes = json.loads((story.root / "report.json").read_text())["changes"]
    assert findings(changes) == {"test_colour": finding}, done.stdout
    assert [each["reason"] for each in changes["answers"]] == ["" if finding == "changed" else "answers-vary"]
    again = json.loads(promptfuzz("compare", "before", "--json", folder=story.root).stdout)
    assert findings(again) == {"test_colour": finding}, "what is kept of two runs tells the same"


def test_the_command_shows_them_too(story: Story) -> None:
    story.replay("--promptfuzz-save=old")
    write(story, "'TECHNICAL'")
    story.record()
    done = promptfuzz("compare", "old", folder=story.root)
    assert "1 answer changed since the run old" in done.stdout
    assert "TECHNICAL" in done.stdout
    data = json.loads(promptfuzz("compare", "old", "--json", folder=story.root).stdout)
    assert [(each["finding"], each["after"]) for each in data["answers"]] == [("changed", "TECHNICAL")]
    assert promptfuzz("compare", "old", "--fail-on", "answer change", folder=story.root).returncode == 1


def test_a_merge_base_is_the_commit_where_the_branches_parted(story: Story) -> None:
    parted = story.git("rev-parse", "main").strip()
    write(story, "'TECHNICAL'")
    story.record()
    story.commit("on the branch")
    story.git("checkout", "-q", "-B", "later", "main")
    write(story, "'ACCOUNT'")
    story.record()
    story.commit("later on main")
    story.git("checkout", "-q", "work")
    _, changes = compared(story, base="later...")
    assert changes["base"]["commit"] == parted
    assert [(each["before"], each["after"]) for each in changes["answers"]] == [("BILLING", "TECHNICAL")]
    _, changes = compared(story, base="later")
    assert [each["before"] for each in changes["answers"]] == ["ACCOUNT"]


def test_a_shallow_clone_without_the_merge_base_says_what_to_fetch(story: Story, tmp_path: Path) -> None:
    story.commit("on the branch")
    story.git("checkout", "-q", "-B", "later", "main")
    story.commit("later on main")
    story.git("checkout", "-q", "work")
    shallow = Story.__new__(Story)
    shallow.root = tmp_path / "shallow"
    story.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{story.root}", str(shallow.root))
    done = shallow.run("--promptfuzz-compare=origin/later...")
    assert done.returncode == 4
    assert "the commit where 'origin/later' and 'HEAD' parted is not in it" in done.stderr
    assert "fetch-depth: 0" in done.stderr
    unknown = story.run("--promptfuzz-compare=origin/mian...")
    assert unknown.returncode == 4
    assert "there is no saved run, file or commit 'origin/mian...'" in unknown.stderr


OWN = """
class Initial:
    name = "initial"

    def similarity(self, baseline, response):
        return float(baseline[:1] == response[:1])

@robust(prompt(), mutations=2, controls=0, task="generation", tiers=[Initial()], mutate="prompt")
def test_own(prompt):
    return (str(prompt)[:0] + {answer!r})
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_the_tests_own_comparison_decides(tmp_path: Path, workers: tuple[str, ...]) -> None:
    story = Story(tmp_path / "repo")
    source = OWN.replace("prompt()", repr(PROMPT))
    before = "Refunds take two weeks after the parcel came back to us."
    for answer, finding, elsewhere in (
        ("Returned money is paid out with the next salary run.", "the same", "cannot tell"),
        ("Nobody knows how long the money takes to arrive.", "changed", "cannot tell"),
    ):
        (story.root / "test_it.py").write_text(HEAD + source.format(answer=before))
        story.run("--promptfuzz-save=base!")
        (story.root / "test_it.py").write_text(HEAD + source.format(answer=answer))
        done = story.run("--promptfuzz-compare=base", "--promptfuzz-report=json:report.json", *workers)
        changes = json.loads((story.root / "report.json").read_text())["changes"]
        assert findings(changes) == {"test_own": finding}, done.stdout
        after = json.loads(promptfuzz("compare", "base", "--json", folder=story.root).stdout)
        assert findings(after) == {"test_own": elsewhere}, "two files cannot ask the tier"
        assert after["answers"][0]["reason"] == "answers-own-comparison"


@pytest.mark.parametrize("after", ['\'{"city": "Rome", "name": null}\'', "{'city': 'Rome', 'name': None}"])
def test_an_answer_that_gains_a_key_without_a_value_is_a_minor_variation(story: Story, after: str) -> None:
    before = '\'{"city": "Rome"}\'' if after.startswith("'") else "{'city': 'Rome'}"
    write(story, before)
    assert outcome(story.record()) == "2 passed"
    story.commit("JSON")
    write(story, after)
    done, changes = compared(story, "-v", "--promptfuzz-fail-on=answer change", base="HEAD")
    assert [(each["test"], each["finding"]) for each in changes["answers"]] == [
        ("test_it.py::test_triage", "minor")
    ]
    assert findings(changes) == {"test_triage": "minor", "test_kept": "the same"}
    assert outcome(done).endswith("2 passed")
    assert "1 minor variation since" in done.stdout
    assert "minor test_it.py::test_triage" in done.stdout
    assert "no answer changed" not in done.stdout
    write(story, after, prompt=PROMPT + " Think first.")
    live = story.run("-v").stdout
    assert "the prompt changed since the snapshot; the answer is a minor variation of the snapshot's" in live


def test_wordings_beside_the_same_data_and_data_that_vary_are_no_minor_variation() -> None:
    small, null = '{"city": "Rome"}', '{"city": "Rome", "name": null}'

    def found(then: list[tuple[Any, int]], now: list[tuple[Any, int]], credit: int = 7) -> str:
        return found_between(then, now, lambda *_: credit).finding

    assert found([(small, 1)], [(null, 1)]) == "minor"
    assert found([(f"Sure: {small}", 1)], [(f"Here: {null}", 1)]) == "minor"
    assert found([(small, 1)], [(f"Sure: {small}", 1)]) == "the same"
    assert found([(small, 1)], [('{ "city":"Rome" }', 1)]) == "the same"
    assert found([("It may be returned.", 1)], [("You may return it.", 1)]) == "the same"
    assert found([(small, 1)], [(null, 1)], credit=10) == "the same"
    assert found([(small, 3), (null, 1)], [(null, 3)]) == "the same", "the base gave it as well"
    calls = [{"text": "Wait.", "tool_calls": [1]}, {"text": "Moment.", "tool_calls": [1]}]
    assert found([(calls[0], 1)], [(calls[1], 1)]) == "the same"
    assert found([(calls[0], 1)], [({**calls[1], "tool_calls": [2]}, 1)]) == "minor"
