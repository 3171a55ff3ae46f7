"""Conversations in studies: the state carries on, each turn is compared, nothing is asked twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz import Prompt, Session, UsageError, study
from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.running.limits.budget import Prices
from pytest_promptfuzz.storage.disk_store import ResponseStore
from pytest_promptfuzz.studies.cells import read_cells
from pytest_promptfuzz.studies.conversations import (
    conversation_mutations,
    turn_of,
    turn_places,
    turn_requests,
)
from pytest_promptfuzz.studies.runner import price_of
from pytest_promptfuzz.studies.study import Study, StudyModel, StudyTask, read_study
from pytest_promptfuzz.studies.tables.named_tables import table_of
from tests.studies.test_study_tables import answers, entries

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.server.model_server import ModelServer

MESSAGES = [
    {"role": "system", "content": "You help customers of a shop."},
    {"role": "user", "content": "My name is Ada. Please remember the name."},
    {"role": "user", "content": "Please tell me if the shop is open today."},
    {"role": "user", "content": "Please tell me what my name is."},
]
CHAT = """
[[task]]
name = "support"
conversation = "all"
prompt = [
  { role = "system", content = "Classify as billing, shipping or other. Answer with one word only." },
  { role = "user", content = "Please classify this ticket for me. Thank you. Ticket: {ticket}" },
  { role = "user", content = "Please classify this ticket, too. Thank you. Ticket: Where is my parcel?" },
]
inputs = ["I was charged twice.", "I love your shop!"]
expected = ["shipping", "shipping"]
task = "classification"
operators = ["double-space", "upper-case"]

[[model]]
name = "small"
target = "openai:gpt-5-mini"
"""


def of(which: str, model: Any, *operators: str) -> Study:
    task = StudyTask("chat", Prompt.from_messages(MESSAGES), operators=operators, conversation=which)
    return Study("talk", (task,), (StudyModel("mine", model),))


def test_turns_are_messages_of_the_user_that_the_prompt_does_not_answer() -> None:
    shown = [
        MESSAGES[0],
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        *MESSAGES[1:],
    ]
    assert turn_places(shown) == [3, 4, 5]
    assert turn_requests(shown, []) == shown[:4]
    second = turn_requests(shown, ["Noted.", ""][:1])
    assert second == [*shown[:4], {"role": "assistant", "content": "Noted."}, shown[4]]
    assert turn_requests(shown, ["Noted.", ""])[-2] == {"role": "assistant", "content": "(no answer)"}


def test_each_turn_has_the_answers_to_the_changed_turns_before_it() -> None:
    asked: list[list[dict[str, str]]] = []

    def model(messages: list[dict[str, str]]) -> str:
        asked.append(messages)
        return f"answer {len(messages)} to {messages[-1]['content']}"

    cells = study(of("all", model, "upper-case"))
    changed = [each for each in asked if "MY NAME" in each[1]["content"] or "ADA" in each[1]["content"]]
    assert [len(each) for each in changed] == [2, 4, 6]
    last = changed[-1]
    assert [each["role"] for each in last] == ["system", *["user", "assistant"] * 2, "user"]
    assert last[0]["content"] == MESSAGES[0]["content"]  # turns are changed, and nothing else
    assert last[2]["content"] == f"answer 2 to {last[1]['content']}"
    assert last[4]["content"] == f"answer 4 to {last[3]['content']}"
    assert last[5]["content"] == "PLEASE TELL ME WHAT MY NAME IS."
    assert [(each.task, each.operator) for each in cells] == [
        (f"chat turn {turn}", operator) for turn in (1, 2, 3) for operator in ("", "upper-case")
    ]
    assert [each.answer for each in cells if each.operator][1:] == [
        last[4]["content"],
        "answer 6 to PLEASE TELL ME WHAT MY NAME IS.",
    ]
    assert turn_of(cells[-1].task) == ("chat", 3)
    assert turn_of("chat") is None


def forgetful(messages: list[dict[str, str]]) -> str:
    """Forgets a name that it was told in capitals, and says later what it knows by its own first answer."""
    if len(messages) == 2:
        return "I do not know." if "ADA" in messages[1]["content"] else "Hello Ada."
    if len(messages) == 4:
        return "Yes."
    return "Ada" if "Ada" in messages[2]["content"] else "unknown"


def test_what_one_turn_breaks_shows_in_those_after_it() -> None:
    def outcomes(which: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for cell in study(of(which, forgetful, "upper-case")):
            found.setdefault(cell.operator, []).append(cell.outcome)
        return found

    broken, unchanged = ["deviation", "equivalent", "deviation"], "not-applicable"
    assert outcomes("all") == {"": ["baseline"] * 3, "upper-case": broken}
    assert outcomes("first")["upper-case"] == broken
    assert outcomes("last")["upper-case"] == [unchanged, unchanged, "equivalent"]
    assert outcomes("each") == {
        "": ["baseline"] * 3,
        "upper-case@1": broken,
        "upper-case@2": [unchanged, "equivalent", "equivalent"],
        "upper-case@3": [unchanged, unchanged, "equivalent"],
    }


def test_turns_before_the_change_count_in_no_figure() -> None:
    def late(messages: list[dict[str, str]]) -> str:
        return "wrong" if messages[-1]["content"].isupper() and len(messages) > 2 else "right"

    cells = study(of("last", late, "upper-case"))
    assert [(each.outcome, each.answer) for each in cells if each.operator] == [
        ("not-applicable", ""),
        ("not-applicable", ""),
        ("deviation", "wrong"),
    ]
    assert all(each.spent.latency is None for each in cells if each.outcome == "not-applicable")
    ((_, (score, *_)),) = table_of("robustness", cells).rows
    assert score.value == 0.0
    found = entries(table_of("turns", cells))
    assert [found[f"chat turn {turn}"][0] for turn in (1, 2)] == [None, None]
    # Nothing was broken before the changed turn, so that its score after equivalent turns is known.
    assert [each.value for each in found["chat turn 3"][:2]] == [0.0, 0.0]


def test_turns_before_the_change_count_in_no_figure_where_the_model_fails() -> None:
    def broken(messages: list[dict[str, str]]) -> str:
        raise ConnectionError("no answer")

    cells = study(of("last", broken, "upper-case"))
    assert [each.outcome for each in cells if each.operator] == ["not-applicable"] * 2 + ["error"]
    assert {each.outcome for each in cells if not each.operator} == {"error"}


def test_the_table_tells_what_was_broken_before() -> None:
    found = entries(table_of("turns", study(of("each", forgetful, "upper-case"))))
    scores = {
        name: [None if each is None else round(each.value, 3) for each in row[:2]]  # type: ignore[attr-defined]
        for name, row in found.items()
    }
    assert scores == {
        "chat turn 1": [0.0, 0.0],
        "chat turn 2": [1.0, 1.0],
        "chat turn 3": [0.667, 1.0],  # the one that fails had another first answer already
    }
    with pytest.raises(UsageError, match="table 'turns' needs a conversation"):
        table_of("turns", answers("m", "", {"1": [True]}) + answers("m", "a", {"1": [True]}))


def test_a_change_is_in_the_turns_that_are_meant() -> None:
    prompt = Prompt.from_messages(MESSAGES)
    for which, turns in (("all", {1, 2, 3}), ("first", {1}), ("last", {3})):
        ((name, made),) = conversation_mutations(prompt, "keyboard-typo:1", 2, which, 0)
        assert (name, len(made)) == ("keyboard-typo:1", 2)
        for mutation in made:
            pairs = zip(MESSAGES, mutation.prompt.messages, strict=True)
            assert {at for at, (one, other) in enumerate(pairs) if one != other} == turns
    nowhere = conversation_mutations(prompt, "numbered-to-bulleted", 1, "each", 0)
    assert [made for _, made in nowhere] == [[], [], []]


def test_a_conversation_is_priced_resumed_and_written(
    folder: Path, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "study.toml").write_text(CHAT, encoding="utf-8")
    # 2 inputs × (the conversation and 2 changes) × 2 turns
    assert main(["study", "study.toml", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("study: 12 calls; 0 answers stored; ")
    assert main(["study", "study.toml", "--out", "cells.csv", "--table", "turns"]) == 0
    assert server.calls == 12
    said = capsys.readouterr().out
    assert "| support turn 1 |" in said
    cells = read_cells(folder / "cells.csv")
    assert len(cells) == 12
    assert {each.outcome for each in cells if each.operator} <= {"equivalent", "minor", "deviation"}
    ends = [each for each in cells if each.task == "support turn 2"]
    assert {each.gold for each in ends} == {True}
    assert {(each.gold, each.grades.expected) for each in cells if each.task == "support turn 1"} == {
        (None, "")
    }
    assert all(each.spent.input_tokens and each.spent.latency for each in cells)
    assert all(
        end.spent.input_tokens > first.spent.input_tokens  # the first turn and its answer are in it
        for first, end in zip(cells[:6], cells[6:], strict=True)
    )
    assert main(["study", "study.toml", "--out", "again.csv"]) == 0
    assert server.calls == 12
    assert (folder / "again.csv").read_text("utf-8") == (folder / "cells.csv").read_text("utf-8")
    capsys.readouterr()
    assert main(["study", "study.toml", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("study: 0 calls; 12 answers stored; ")


def test_turns_before_a_change_are_asked_once(folder: Path, server: ModelServer) -> None:
    (folder / "study.toml").write_text(CHAT.replace('"all"', '"each"'), encoding="utf-8")
    given = read_study(folder / "study.toml")
    store = ResponseStore(folder / "answers")
    session = Session(store=store)
    # By input: 2 turns, 2 changes of the first in both turns, 2 changes of the second.
    assert price_of(given, session, Prices()).calls == 2 * (2 + 4 + 2)
    seen: list[tuple[int, int]] = []
    cells = study(given, session=session, progress=lambda done, total: seen.append((done, total)))
    assert server.calls == 16
    assert seen[-1] == (20, 20)
    assert price_of(given, session, Prices())[:2] == (0, 16)
    assert price_of(given, replace(session, mode="live"), Prices())[:2] == (16, 0)
    assert {each.operator for each in cells} == {
        "",
        *(f"{name}@{turn}" for name in given.tasks[0].operators for turn in (1, 2)),
    }
    store.close()


def test_the_unmutated_conversation_is_held_again(folder: Path, server: ModelServer) -> None:
    (folder / "study.toml").write_text(CHAT.replace('"upper-case"', '"again"'), encoding="utf-8")
    given = read_study(folder / "study.toml")
    store = ResponseStore(folder / "answers")
    assert price_of(given, Session(store=store), Prices()).calls == 12
    cells = study(given, session=Session(store=store))
    store.close()
    assert server.calls == 12
    again = [each for each in cells if each.operator == "again"]
    assert [each.task for each in again] == ["support turn 1"] * 2 + ["support turn 2"] * 2
    assert {each.outcome for each in again} == {"equivalent"}
    assert all(each.answer and each.spent.input_tokens for each in again)


def test_an_error_leaves_the_turns_of_its_conversation_without_answers() -> None:
    def failing(messages: list[dict[str, str]]) -> str:
        if len(messages) == 4 and messages[-1]["content"].isupper():
            raise ConnectionError("no answer")
        return "Yes."

    cells = study(of("all", failing, "upper-case"))
    assert [each.outcome for each in cells if not each.operator] == ["baseline"] * 3
    broken = [each for each in cells if each.operator]
    assert len({each.outcome for each in broken}) == 1
    assert [each.answer for each in broken][:2] == ["", ""]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"all"', '"some"', "conversation 'some' is not one of all, each, first, last"),
        (
            '  { role = "user", content = "Please classify this ticket, too. Thank you. Ticket: Where is my parcel?" },\n',
            "",
            "needs a prompt of chat messages with two",
        ),
        (
            '{ role = "user", content = "Please classify this ticket, too',
            '{ role = "assistant", content = "Please classify this ticket, too',
            "needs a prompt of",
        ),
        (
            "[[model]]",
            '[factors]\nprompting = ["cot"]\n\n[[model]]',
            "is for a prompt that is asked at once",
        ),
        (
            "operators = [",
            'factorial = ["double-space", "politeness"]\noperators = [',
            "factorial= changes a prompt that",
        ),
    ],
)
def test_what_is_no_conversation_is_refused(folder: Path, old: str, new: str, said: str) -> None:
    (folder / "study.toml").write_text(CHAT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError) as error:
        read_study(folder / "study.toml")
    assert said in str(error.value)


def test_shares_of_conversations_are_asked(folder: Path, server: ModelServer) -> None:
    (folder / "study.toml").write_text(CHAT, encoding="utf-8")
    cells = study(replace(read_study(folder / "study.toml"), cells=0.5))
    assert server.calls == 2 * (2 + 2)
    assert len(cells) == 8
