"""Recordings in a team's repository: recording again, merges, renames; what git shows of each, in lines."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pytest_promptfuzz.storage.recordings.entries import RecordedExchange, from_line, to_line
from tests.git_story import PROMPTS, RECORDINGS, Story, outcome, said

FILE = "__promptfuzz__/test_it.calls.jsonl"
CHANGED = {"task0", "task1", "task2"}


@pytest.fixture(scope="module")
def adopted(tmp_path_factory):
    return Story.adopted(tmp_path_factory.mktemp("git") / "repo")


@pytest.fixture
def story(adopted):
    return adopted.afresh()


def edited(names, what="label and nothing else"):
    return {
        name: prompt.replace("label only", what) if name in names else prompt
        for name, prompt in PROMPTS.items()
    }


def older(story, seconds=86_400.0):
    """Let a recording be of the day before: nothing else in it differs."""
    path = story.root / FILE
    head, *lines = path.read_bytes().splitlines(keepends=True)
    entries = [from_line(line) for line in lines]
    path.write_bytes(
        head
        + b"".join(
            to_line(replace(each, answer=replace(each.answer, created=each.answer.created - seconds)))
            if isinstance(each, RecordedExchange)
            else to_line(each)
            for each in entries
        )
    )


def calls(done):
    return int(re.search(r"(\d+) calls? to the simulated model", done.stdout)[1])


def test_recording_again_changes_no_line_of_an_unchanged_answer(story):
    older(story)
    story.commit()
    again = story.record()
    assert "(156 answered as before)" in again.stdout
    assert story.lines() == 0
    story.write(edited(CHANGED))
    story.commit()
    story.record()
    shown = [each["test"] for each in _added(story)]
    assert set(shown) == {f"test_{name}" for name in CHANGED}
    assert story.lines(RECORDINGS) == 2 * 3 * 14  # a plan, four samples, eight trials and a control of each


def _added(story):
    patch = story.git("diff", "-U0", "HEAD", "--", RECORDINGS)
    return [json.loads(line[1:]) for line in patch.splitlines() if line.startswith('+{"test"')]


def test_record_missing_asks_for_what_is_missing_and_nothing_else(story):
    nothing = story.run("--promptfuzz-mode=record-missing")
    assert (outcome(nothing), calls(nothing), story.lines()) == ("12 passed", 0, 0)
    story.write(edited({"task0"}))
    story.commit()
    one = story.run("--promptfuzz-mode=record-missing", "--promptfuzz-update")
    assert (outcome(one), calls(one)) == ("12 passed", 13)
    assert {each["test"] for each in _added(story)} == {"test_task0"}
    again = story.replay()
    assert (outcome(again), calls(again)) == ("12 passed", 0)
    story.commit()
    story.write(edited({"task0"}), mutations=9)
    more = story.run("--promptfuzz-mode=record-missing", "-k", "task0 or task1")
    assert outcome(more) == "4 passed, 8 deselected"
    assert 0 < calls(more) < 4 * 12, "answers to mutations of both plans are not asked again"
    assert outcome(story.replay("-k", "task0 or task1")) == "4 passed, 8 deselected"


def test_branches_that_record_different_tests_merge_and_say_nothing(story):
    for name in ("task1", "task7"):
        story.git("checkout", "-q", "-B", name, "work")
        story.write({**edited({name}), f"new_{name}": PROMPTS[name].replace("ticket of", f"{name} of")})
        story.record("-k", name)
        story.commit()
    story.git("merge", "-q", "-X", "ours", "task1")
    both = {**edited({"task1", "task7"})}
    story.write(
        {
            **both,
            **{
                f"new_{name}": PROMPTS[name].replace("ticket of", f"{name} of") for name in ("task1", "task7")
            },
        }
    )
    merged = story.replay()
    assert outcome(merged) == "14 passed"
    assert not [
        line
        for line in said(merged)
        if "answer" in line and "not as in" not in line and "were used" not in line
    ]


def test_equal_answers_that_a_merge_left_twice_are_silent_and_others_are_one_line_a_test(story):
    path = story.root / FILE
    first = path.read_bytes()
    older(story)
    path.write_bytes(first + path.read_bytes().partition(b"\n")[2])
    merged = story.replay()
    assert outcome(merged) == "12 passed"
    assert not [line for line in said(merged) if "two different answers" in line]
    assert story.run("--promptfuzz-mode=record").stdout.count("answered as before") == 1
    assert path.read_bytes() == first, "recording again leaves the first of both"
    entries = [from_line(line) for line in first.splitlines(keepends=True)[1:]]
    other = [_otherwise(each) for each in entries if isinstance(each, RecordedExchange)]
    path.write_bytes(first + b"".join(other))
    told = [line for line in said(story.replay()) if "two different answers" in line]
    assert len(told) == 12
    assert re.match(
        rf"{FILE}:\d+: 1[23] requests have two different answers in test_task0, and the first is used\.",
        told[0],
    )


def _otherwise(each):
    return to_line(
        replace(each, answer=replace(each.answer, body=each.answer.body.replace("BILLING", "ACCOUNT")))
    )


def _renamed():
    return {name.replace("task", "job"): prompt for name, prompt in PROMPTS.items()}


@pytest.mark.parametrize("way", ["renamed", "moved", "moved apart"])
def test_a_recording_follows_its_test(story, way):
    if way == "renamed":
        story.write(_renamed())
    elif way == "moved":
        story.git("mv", "test_it.py", "test_moved.py")
    else:  # to a module that is there already, one of them renamed as well
        stay = dict(list(PROMPTS.items())[:6])
        story.write(stay)
        rest = dict(list(PROMPTS.items())[6:])
        story.write(
            {name.replace("task11", "last"): prompt for name, prompt in rest.items()}, "test_other.py"
        )
    followed = story.replay()
    assert (outcome(followed), calls(followed)) == ("12 passed", 0)
    assert sum("use the recordings of their former names" in line for line in said(followed)) == 1
    own = story.run("--promptfuzz-mode=record-missing")
    assert (outcome(own), calls(own)) == ("12 passed", 0)
    last = story.replay()
    assert outcome(last) == "12 passed"
    assert not [line for line in said(last) if "recorded as" in line]
    names = [
        json.loads(line)["test"]
        for path in story.root.glob(f"__promptfuzz__/{RECORDINGS}")
        for line in path.read_text().splitlines()[1:]
    ]
    assert len(names) == 12 * 14, "each line has moved, and none is left behind"


PARAMETERS = """
@pytest.mark.parametrize("team", {teams})
@robust(mutations=4, mutate="text")
def test_team(team, text, llm):
    return llm(text.replace("TICKET", TICKET))

@pytest.fixture
def text(team):
    return f"Classify the ticket of {{team}} as BILLING or OTHER. Answer with the label only.\\n\\nTicket: TICKET"

@pytest.mark.parametrize("said", {said})
@robust(Prompt("Is the mood of this text good or bad? Answer with one word.\\n\\nText: {{said}}"), mutations=4)
def test_mood(prompt, said, llm):
    return llm(prompt.format(said=said))
"""


def test_a_recording_follows_parameters_whose_ids_are_others(story):
    from tests.git_story import HEAD

    def write(teams, texts):
        ids = f'{texts}, ids=lambda text: f"text{{{texts}.index(text)}}"'
        (story.root / "test_it.py").write_text(HEAD + PARAMETERS.format(teams=teams, said=ids))

    write(["sales", "support"], ["What a lovely day", "I hate rain"])
    story.record()
    story.commit()
    write(["legal", "sales", "support"], ["Nothing works", "What a lovely day", "I hate rain"])
    followed = story.replay()
    assert outcome(followed) == "4 passed, 2 errors", "what is new alone has no recording"
    done = story.run("--promptfuzz-mode=record-missing")
    assert outcome(done) == "6 passed"
    assert calls(done) < 3 * 8, "what two tests ask, of six"
    assert outcome(story.replay()) == "6 passed"


def test_git_is_told_to_fold_recordings_and_a_file_of_an_earlier_version_is_brought_up_to_date(story):
    path = story.root / "__promptfuzz__" / ".gitattributes"
    assert "linguist-generated" in path.read_text()
    shown = story.git(
        "check-attr", "linguist-generated", "merge", "--", FILE, "__promptfuzz__/test_it.snap/test_task0.json"
    )
    assert f"{FILE}: linguist-generated: set" in shown
    assert f"{FILE}: merge: union" in shown
    assert "test_task0.json: linguist-generated: unspecified" in shown
    now = path.read_text()
    path.write_text("*.calls.jsonl text eol=lf merge=union\n*.calls.jsonl.gz binary\n")
    story.write(edited({"task0"}))
    story.record("-k", "task0")
    assert path.read_text() == now
    path.write_text("*.jsonl mine\n")
    story.write(edited({"task0"}, "name"))
    story.record("-k", "task0")
    assert path.read_text() == "*.jsonl mine\n"
