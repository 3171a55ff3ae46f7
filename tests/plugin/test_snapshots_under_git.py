"""Snapshots in a team's repository: what a reviewer reads of a change, and what becomes of them after renames."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.git_story import HEAD, PROMPTS, SNAPSHOTS, Story, outcome, said

FOLDER = "__promptfuzz__/test_it.snap"


@pytest.fixture(scope="module")
def adopted(tmp_path_factory):
    return Story.adopted(tmp_path_factory.mktemp("git") / "repo")


@pytest.fixture
def story(adopted):
    return adopted.afresh()


def test_trials_are_called_by_operator_and_edit_and_nothing_in_a_snapshot_follows_from_the_rest(story):
    found = json.loads((story.root / FOLDER / "test_task0.json").read_text())
    assert found["format"] == 2
    assert not {"score", "interval"} & found.keys()
    labels = found["trials"]["0"]
    assert len(labels) == 8
    assert set(labels.values()) == {"E"}
    operators = {each.partition("@")[0] for each in found["operators"]}
    assert {each.partition(":")[0] for each in labels} == operators
    assert len(found["inputs"][0]["trials"].split()) == 8


@pytest.mark.parametrize(
    ("change", "most"),
    [
        (lambda text: text + "\n", 5),
        (lambda text: text.replace("\n\nTicket", "\n\n\nTicket"), 5),
        (lambda text: "\n".join(f"    {line}" if line else "" for line in text.split("\n")), 12),
        (lambda text: text.replace("only\n", "only  \n"), 6),
    ],
    ids=["at the end", "a blank line", "indented", "at an end of line"],
)
def test_a_change_of_white_space_alone_touches_few_lines(story, change, most):
    story.write({name: change(prompt) for name, prompt in PROMPTS.items()})
    assert outcome(story.record()) == "12 passed"
    per_test = story.lines(SNAPSHOTS) / 24  # removed and added
    assert per_test <= most
    patch = story.git("diff", "HEAD", "--", SNAPSHOTS).splitlines()
    trials = {
        line.partition('"')[2].partition(":")[0] for line in patch if line[:1] in "+-" and '": "E"' in line
    }
    if most < 12:
        assert trials <= OF_LAYOUT, "words are changed as before"


OF_LAYOUT = {"extra-newlines", "context-first", "tabs", "trailing-space"}


def test_updating_again_from_a_replay_changes_nothing(story):
    again = story.replay("--promptfuzz-update")
    assert "(12 unchanged)" in again.stdout
    assert story.lines() == 0


def _drifts(done):
    return [line for line in done.stdout.splitlines() if line.startswith("Drift: ")]


@pytest.mark.parametrize("way", ["renamed", "moved", "to another module", "to another folder"])
def test_a_snapshot_follows_its_test(story, way):
    if way == "renamed":
        story.write({name.replace("task", "job"): prompt for name, prompt in PROMPTS.items()})
    elif way == "moved":
        story.git("mv", "test_it.py", "test_moved.py")
    elif way == "to another folder":
        (story.root / "tests").mkdir()
        story.git("mv", "test_it.py", "tests/test_it.py")
    else:
        both = list(PROMPTS.items())
        story.write(dict(both[:6]))
        story.write(dict(both[6:]), "test_other.py")
    seen = story.replay()
    assert outcome(seen) == "12 passed"
    assert not _drifts(seen)
    used = [line for line in said(seen) if "snapshot" in line]
    assert len(used) == 1
    assert (
        "use the snapshots of their former names; --promptfuzz-update writes them under the new names"
        in used[0]
    )
    update = story.run("--promptfuzz-mode=record-missing", "--promptfuzz-update")
    assert (
        sum(
            line.startswith(
                "renamed 12 snapshots: " if way != "to another module" else "renamed 6 snapshots: "
            )
            for line in said(update)
        )
        == 1
    )
    assert len(list(story.root.rglob("*.snap/*.json"))) == 12
    story.git("add", "-A")
    moved = story.git("diff", "HEAD", "-M", "--name-status", "--", SNAPSHOTS).splitlines()
    assert {line[0] for line in moved} == {"R"}
    assert story.lines(SNAPSHOTS) == (24 if way == "renamed" else 0), "only the name of the test"
    after = story.replay()
    assert outcome(after) == "12 passed"
    assert not [line for line in said(after) if "snapshot" in line]


SHIFTED = """
@pytest.mark.parametrize("said", {texts}, ids=lambda text: f"text{{{texts}.index(text)}}")
@robust(Prompt("Is the mood of this text good or bad? Answer with one word.\\n\\nText: {{said}}"), mutations=4)
def test_mood(prompt, said, llm):
    return llm(prompt.format(said=said))

@pytest.mark.parametrize("asks", {texts}, ids=lambda text: f"team{{{texts}.index(text)}}")
@robust(mutations=4, mutate="asks")
def test_team(asks, llm):
    return llm(f"Classify this ticket as BILLING or OTHER. Answer with the label only.\\n\\n{{asks}}")
"""


def write_shifted(story, texts):
    (story.root / "test_it.py").write_text(HEAD + SHIFTED.format(texts=texts))


def test_a_snapshot_follows_parameters_whose_ids_shift(story):
    shutil.rmtree(story.root / "__promptfuzz__")
    write_shifted(story, ["What a lovely day", "I hate this rain"])
    assert outcome(story.record()).endswith("passed")
    story.commit()
    before = {path.name: json.loads(path.read_text()) for path in (story.root / FOLDER).glob("*.json")}
    write_shifted(story, ["Nothing ever works", "What a lovely day", "I hate this rain"])
    seen = story.run("--promptfuzz-mode=record-missing")
    new = {
        "test_mood[text0]",
        "test_team[team0]",
    }  # under the name of another, and nobody can know at its turn
    assert {line.partition("::")[2].partition(":")[0] for line in _drifts(seen) if "::" in line} <= new
    story.replay("--promptfuzz-update")
    after = {
        json.loads(path.read_text())["test"]: json.loads(path.read_text())
        for path in (story.root / FOLDER).glob("*.json")
    }
    assert len(after) == 6
    for old in before.values():
        number = int(old["test"][-2])
        shifted = after[old["test"].replace(f"{number}]", f"{number + 1}]")]
        assert {**shifted, "test": ""} == {**old, "test": ""}


BRITTLE = """
@robust(Prompt({prompt!r}), mutations=["misspelling"], threshold=1.0, controls=0)
def test_brittle(prompt):
    text = prompt.format(ticket=TICKET)
    return "BILLING" if "with the" in text and "Answer" in text and "label" in text and "only" in text else "OTHER"
"""


def test_a_counterexample_is_read_as_before_and_after_and_stays_where_the_prompt_changes_elsewhere(story):
    path = story.root / "test_it.py"
    prompt = PROMPTS["task0"].replace("label only", "label")
    body = BRITTLE.replace('mutations=["misspelling"]', "mutations=8").replace(' and "only" in text', "")
    path.write_text(HEAD + body.format(prompt=prompt))
    first = story.run("--promptfuzz-update", PROMPTFUZZ_SHRINK="20")
    assert outcome(first) == "1 failed"
    file = story.root / FOLDER / "test_brittle.json"
    found = json.loads(file.read_text())
    assert found["verdict"] == "brittle"
    pinned = found["counterexamples"]
    assert pinned
    for each in pinned:
        assert each["before"] in prompt.split("\n") or "lines" in each["before"]
        assert each["before"] != each["after"]
        assert not {"id", "mutation", "trial", "calls", "severity"} & each.keys()
        assert (each["baseline"], each["answer"]) == ("BILLING", "OTHER")
    story.commit()
    shutil.rmtree(story.root / ".promptfuzz")
    path.write_text(HEAD + body.format(prompt=prompt.replace("of team 0", "of the team 0")))
    again = story.run("--promptfuzz-update", PROMPTFUZZ_SHRINK="off")
    assert outcome(again) == "1 failed"
    now = json.loads(file.read_text())["counterexamples"]
    for each in now:
        each.pop("minimal", None)  # nobody tried to make it smaller in the new prompt
    assert all(each in now for each in pinned)
