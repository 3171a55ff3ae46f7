"""The study file: what it may hold, what it comes to, and one clear message for everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import UsageError
from pytest_promptfuzz.studies.study import Study, StudyModel, StudyTask, read_study, sampled
from tests.studies.conftest import PROMPT, STUDY

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, old: str = "", new: str = "") -> Study:
    assert old in STUDY
    (folder / "study.toml").write_text(STUDY.replace(old, new, 1) if old else STUDY + new, encoding="utf-8")
    return read_study(folder / "study.toml")


def test_what_a_study_comes_to(folder: Path) -> None:
    study = read(folder)
    (task,), (model,) = study.tasks, study.models
    assert (study.name, study.runs, task.name, model.name) == ("tickets", 2, "triage", "small")
    assert task.prompt.text == PROMPT
    assert [each.expected for each in task.inputs] == ["billing", "shipping"]
    assert [(unit.task.name, unit.model.name, unit.run) for unit in study.units()] == [
        ("triage", "small", 0),
        ("triage", "small", 1),
    ]
    planned = [(each.operator, each.variant, each.mutation is not None) for each in study.changes(task)]
    assert planned == [
        ("upper-case", 0, True),
        ("keyboard-typo:2", 0, True),
        ("double-space+politeness", 0, True),
        ("numbered-to-bulleted", 0, False),
    ]


def test_more_of_each_operator(folder: Path) -> None:
    study = read(folder, "runs = 2", "runs = 1\nmutations = 3")
    variants = [each.variant for each in study.changes(study.tasks[0]) if each.operator == "keyboard-typo:2"]
    assert variants == [0, 1, 2]


def test_factors_are_crossed_with_models(folder: Path) -> None:
    study = read(
        folder,
        new='parameters = { top_p = 1 }\n[factors]\ntemperature = [0, 0.7]\nreasoning_effort = ["low"]\n',
    )
    assert [(each.name, each.parameters) for each in study.models] == [
        (
            "small temperature=0 reasoning_effort=low",
            {"top_p": 1, "temperature": 0, "reasoning_effort": "low"},
        ),
        (
            "small temperature=0.7 reasoning_effort=low",
            {"top_p": 1, "temperature": 0.7, "reasoning_effort": "low"},
        ),
    ]


def test_shards_are_the_whole(folder: Path) -> None:
    study = read(folder, "runs = 2", "runs = 7")
    shares = [study.units((number, 3)) for number in (1, 2, 3)]
    assert sorted(each.run for share in shares for each in share) == [*range(7)]
    assert [len(each) for each in shares] == [3, 2, 2]


def test_a_task_may_be_a_text_or_messages(folder: Path) -> None:
    assert read(folder, '"triage.txt"', '"Name the kind of this ticket: {ticket}"').tasks[0].prompt.slots == (
        "ticket",
    )
    chat = '[{ role = "system", content = "Classify." }, { role = "user", content = "{ticket}" }]'
    assert read(folder, '"triage.txt"', chat).tasks[0].prompt.slots == ("ticket",)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "runs = 2",
            "runs = 0",
            r"study\.toml: study 'tickets': runs=0 is out of range. Write a whole number from 1 to 100",
        ),
        ("runs = 2", "runs = 101", r"study\.toml: study 'tickets': runs=101 is out of range"),
        ("runs = 2", "rums = 2", r"study\.toml: unknown key 'rums'. Did you mean 'runs'"),
        ('name = "triage"', "name = 7", r"\[\[task\]\] 1: name=7; give a text"),
        ('"triage.txt"', '"triag.txt"', r"triag\.txt"),
        ('"triage.txt"', "7", r"\[\[task\]\] 1: prompt=7; give a file, a text or a list"),
        ('task = "classification"', 'task = "sorting"', r"\[\[task\]\] 1.*'sorting'"),
        ('task = "classification"', "threshold = 0.5", r"\[\[task\]\] 1: unknown key 'threshold'"),
        ('"upper-case"', '"uper-case"', r"study\.toml: .*'uper-case'.*upper-case"),
        ('"upper-case", ', '"keyboard-typo:2", ', r"operators names 'keyboard-typo:2' twice"),
        ('operators = ["upper-case"', 'operators = [7, "upper-case"', r"operators=\[7"),
        (
            '["billing", "shipping"]',
            '["billing"]',
            r"\[\[task\]\] 1: expected= holds 1 gold answer for 2 inputs",
        ),
        ('{ ticket = "I was charged twice." }', '{ tickt = "Hm" }', r"\[\[task\]\] 1: "),
        ('"openai:gpt-5-mini"', '"opneai:gpt-5-mini"', r"\[\[model\]\] 1: .*opneai"),
        ('target = "openai:gpt-5-mini"', "", r"model 'small' has no target, and the task 'triage' asks it"),
        ('"openai:gpt-5-mini"', "7", r"\[\[model\]\] 1: target=7; name a model"),
        ("[[model]]", "[model]", r"no \[\[model\]\]"),
        ("", "parameters = 1", r"\[\[model\]\] 1: parameters=1; give a table"),
        ("", "[factors]\ntemperature = 1", r"factor temperature=1; give a list"),
        (
            "",
            '[factors]\nprompting = [["none"]]',
            r"study\.toml: .*: prompting \['none'\] is not one of none, few-",
        ),
        (
            'task = "class',
            'measures = ["entity-match"]\ntask = "class',
            r"study\.toml: .*input 1 .*'billing' is none",
        ),
        ("", '[[model]]\nname = "small"\ntarget = "simulated"', r"two models 'small'; give each a name"),
        ("", "this is no TOML", r"study\.toml is no TOML: "),
    ],
)
def test_what_is_wrong_is_named(folder: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(folder, old, new)


def test_a_study_that_is_not_there(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no study file '.*none\.toml'; relative paths start at"):
        read_study(folder / "none.toml")


def test_a_study_without_tasks() -> None:
    with pytest.raises(UsageError, match=r"study 'empty' has no task; write \[\[task\]\]"):
        Study("empty", (), (StudyModel("one", "simulated"),))


@pytest.fixture
def large(folder: Path) -> Study:
    labels = ["billing"] * 60 + ["shipping"] * 30 + ["other"] * 10
    inputs = "[" + ", ".join(f'{{ ticket = "Ticket {number}" }}' for number in range(100)) + "]"
    expected = "[" + ", ".join(f'"{each}"' for each in labels) + "]"
    source = STUDY.replace(
        STUDY[STUDY.index("inputs = ") : STUDY.index("\ntask = ")],
        f"inputs = {inputs}\nexpected = {expected}",
    )
    (folder / "study.toml").write_text(source, encoding="utf-8")
    return read_study(folder / "study.toml")


@pytest.mark.parametrize(
    ("count", "shares"),
    [(10, (6, 3, 1)), (20, (12, 6, 2)), (7, (4, 2, 1)), (100, (60, 30, 10)), (500, (60, 30, 10))],
)
def test_a_sample_keeps_the_shares_of_expected_answers(
    large: Study, count: int, shares: tuple[int, ...]
) -> None:
    (task,) = sampled(large, count).tasks
    answers = [each.expected for each in task.inputs]
    assert tuple(map(answers.count, ("billing", "shipping", "other"))) == shares
    assert len({each.name for each in task.inputs}) == len(answers)
    assert sampled(large, count).tasks[0].inputs == task.inputs


def test_a_sample_of_nothing_is_refused(large: Study) -> None:
    with pytest.raises(UsageError, match="sample=0; give a whole number of 1 or more"):
        sampled(large, 0)


def test_a_study_is_made_in_python() -> None:
    study = Study("mine", (StudyTask("mood", read_prompt()),), (StudyModel("upper", str.upper),))
    assert study.units()[0].model.name == "upper"


def read_prompt():
    from pytest_promptfuzz import Prompt

    return Prompt("Is this good or bad? Answer with one word. Text: What a day!")


def test_a_judge_that_nobody_measured_is_refused_before_anything_is_asked(folder: Path) -> None:
    asked = 'task = "classification"\njudge = "simulated"\njudge_min_agreement = 0.6'
    with pytest.raises(UsageError, match="the judge 'simulated' has not been measured"):
        read(folder, 'task = "classification"', asked)
    with pytest.raises(UsageError, match="there is no such file") as caught:
        read(folder, 'task = "classification"', f'{asked}\njudge_agreement = "judges.json"')
    assert str(folder / "judges.json") in str(caught.value)  # a path of the study file is relative to it
