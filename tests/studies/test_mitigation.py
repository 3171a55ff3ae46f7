"""Edits of a prompt under the same changes: what is asked, which edit is chosen, what it is worth on other inputs."""

from __future__ import annotations

import re
from math import sqrt
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import Prompt, Study, StudyModel, StudyTask, UsageError
from pytest_promptfuzz.evaluating.evaluate import read_inputs
from pytest_promptfuzz.stats.intervals import t_quantile
from pytest_promptfuzz.studies.prompting import delimited, edits_of, prompted
from pytest_promptfuzz.studies.study import crossed, mitigated
from pytest_promptfuzz.studies.tables.named_tables import table_of
from pytest_promptfuzz.studies.tables.sentiment_tables import halves
from tests.in_process import promptfuzz
from tests.studies.conftest import STUDY
from tests.studies.test_study_tables import answers, entries

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.server.model_server import ModelServer
    from pytest_promptfuzz.studies.cells import Cell

PROMPT = Prompt("Which department is it? Answer with a word.\n\nTicket: {ticket}\nDepartment:")
INPUTS = ["a", "b", "c", "d", "e", "f", "g", "h"]
CHOOSING, SCORING = (
    sorted(name for _, name in half) for half in halves({("triage", each) for each in INPUTS})
)


def task(expected: object = ("billing", "other")) -> StudyTask:
    inputs = read_inputs([{"ticket": "I paid twice."}, {"ticket": "Hello."}], PROMPT, "t", list(expected))  # type: ignore[call-overload]
    return StudyTask("triage", PROMPT, inputs)


@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        (("other", "billing"), "Answer with exactly one of these, and nothing else: billing, other."),
        (({"a": 1}, {"a": 2}), "Answer with JSON alone, without any other text."),
        (("x" * 31, "y"), "Write the answer alone, without any other text."),
        ((None, None), "Write the answer alone, without any other text."),
    ],
)
def test_the_format_of_answers_stands_above_the_cue(expected: object, sentence: str) -> None:
    whole = task(expected)
    (filled, _) = (each.put_into(PROMPT) for each in whole.inputs)
    assert prompted(filled, "answer-format", (), whole.inputs).text == (
        f"Which department is it? Answer with a word.\n\nTicket: I paid twice.\n\n{sentence}\n\nDepartment:"
    )


def test_delimiters_stand_around_what_is_put_into_slots() -> None:
    whole = task()
    (first, _) = delimited(whole.inputs, "delimiters")
    assert "\nTicket: <ticket>I paid twice.</ticket>\nDepartment:" in first.put_into(PROMPT).text
    assert (first.name, first.expected) == (whole.inputs[0].name, whole.inputs[0].expected)
    assert delimited(whole.inputs, "few-shot") == whole.inputs


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("cot", ("none", "cot")),
        ("delimiters, none,answer-format", ("none", "delimiters", "answer-format")),
    ],
)
def test_edits_are_compared_with_the_prompt_as_it_is(text: str, edits: tuple[str, ...]) -> None:
    assert edits_of(text, "--mitigate") == edits


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("none", "--mitigate: name an edit: few-shot, cot, answer-format or delimiters."),
        ("delimiter", "--mitigate: the edit 'delimiter' is not one of "),
    ],
)
def test_edits_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        edits_of(text, "--mitigate")


def test_a_study_of_promptings_takes_no_edits() -> None:
    study = Study("s", (task(),), (StudyModel("m", "simulated", prompting="cot"),))
    with pytest.raises(UsageError, match="prompting is a factor of the study already; leave --mitigate out"):
        mitigated(study, ("none", "delimiters"))


def edited(edit: str, wrong: dict[str, int], operators: int = 4) -> list[Cell]:
    """Cells of an edit: how many of the changes of each input make its answer wrong."""
    parameters = "" if edit == "none" else f'{{"prompting": "{edit}"}}'
    model = f"m prompting={edit}"
    cells = answers(model, "", {each: [True] for each in INPUTS}, parameters=parameters)
    for place in range(operators):
        golds = {each: [place >= wrong.get(each, 0)] for each in INPUTS}
        cells += answers(model, f"change {place}", golds, parameters=parameters)
    return cells


def test_an_edit_is_chosen_on_one_half_and_shown_on_the_other() -> None:
    none = edited("none", dict.fromkeys(INPUTS, 2))
    # Best where it is chosen, and of little use elsewhere: what the table has to tell.
    saving = dict(zip(SCORING, (2, 2, 1, 1), strict=True))
    lucky = edited("delimiters", {**dict.fromkeys(CHOOSING, 0), **saving})
    steady = edited("answer-format", dict.fromkeys(INPUTS, 1))
    table = table_of("mitigation", [*none, *lucky, *steady])
    rows = entries(table)
    right, choosing, held_out, saved, _, chosen = rows["m, delimiters"]
    assert (right.value, choosing.value, held_out.value) == (0.625, 0.0, 0.375)  # type: ignore[attr-defined]
    half = t_quantile(0.975, 3) * sqrt(4 * 0.125**2 / 3 / 4)
    assert saved.value == 0.125  # type: ignore[attr-defined]
    assert saved.low == pytest.approx(0.125 - half)  # type: ignore[attr-defined]
    assert chosen == "chosen"
    assert [rows[f"m, {each}"][5] for each in ("none", "answer-format")] == ["", ""]
    assert rows["m, answer-format"][3].value == 0.25  # type: ignore[attr-defined]
    assert (
        "m: delimiters cuts the drop on held-out inputs: 50.0 to 37.5 points, 12.5 saved [-10.5, 35.5]. This may be "
        "chance." in table.note
    )


def test_an_edit_that_is_never_right_is_not_chosen() -> None:
    none = edited("none", dict.fromkeys(INPUTS, 1))
    bad = [each._replace(gold=False) for each in edited("few-shot", {})]
    table = table_of("mitigation", [*none, *bad])
    assert entries(table)["m, none"][5] == "chosen"
    assert "m: no edit cuts the drop on the choosing half." in table.note


def test_one_input_cannot_be_halved() -> None:
    cells = [*edited("none", {}), *edited("delimiters", {})]
    with pytest.raises(UsageError, match="'mitigation' needs two inputs at least"):
        table_of("mitigation", [each for each in cells if each.input == "a"])


def test_the_command_asks_every_change_under_each_edit(server: ModelServer, folder: Path) -> None:
    study = STUDY.replace("runs = 2", "runs = 1").replace(
        '"double-space+politeness", "numbered-to-bulleted"', ""
    )
    (folder / "study.toml").write_text(study, encoding="utf-8")
    done = promptfuzz("study", "study.toml", "--mitigate", "none,answer-format,delimiters", folder=folder)
    assert done.returncode == 0, done
    assert "**What edits of the prompt save**" in done.stdout
    assert server.calls == 3 * 2 * (1 + 2)
    sent = [each.body["messages"][-1]["content"] for each in server.requests if each.method == "POST"]
    assert sum("exactly one of these, and nothing else: billing, shipping." in each for each in sent) == 6
    assert sum("<ticket>" in each and each.rstrip().endswith("</ticket>") for each in sent) == 6


def test_long_names_are_read_and_files_with_them_too() -> None:
    assert edits_of("chain-of-thought", "--mitigate") == ("none", "cot")
    assert StudyModel("m", "simulated", prompting="zero-shot").prompting == "none"
    (named,) = crossed([StudyModel("m", "simulated")], {"prompting": ["chain-of-thought"]})
    assert (named.name, named.prompting) == ("m prompting=cot", "cot")
    older = [
        each._replace(model="m prompting=chain-of-thought", parameters='{"prompting": "chain-of-thought"}')
        for each in edited("cot", dict.fromkeys(INPUTS, 1))
    ]
    none = [each._replace(model="m prompting=zero-shot") for each in edited("none", dict.fromkeys(INPUTS, 2))]
    assert [*entries(table_of("mitigation", [*none, *older]))] == ["m, none", "m, cot"]
