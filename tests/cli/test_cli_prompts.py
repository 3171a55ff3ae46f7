from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_promptfuzz.cli.prompts import filled, read_prompt, read_values
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.prompts.prompt import Prompt

if TYPE_CHECKING:
    from pathlib import Path


def test_values_are_protected_where_they_stand_and_nowhere_else() -> None:
    prompt = filled(Prompt("Sort the parcel note: {note} Answer briefly."), {"note": "the parcel is late."})
    assert prompt.text == "Sort the parcel note: the parcel is late. Answer briefly."
    for part, inside, outside in (("template", 25, 5), ("input", 5, 25)):
        spans = prompt.limited(part).spans
        assert any(span.start <= inside < span.end for span in spans)
        assert not any(span.start <= outside < span.end for span in spans)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=40))
@settings(deadline=None)
def test_a_value_stands_in_every_mutation(value: str) -> None:
    prompt = filled(
        Prompt("Please sort the following text by its topic.\n\nText: {text}\n\nBe brief."), {"text": value}
    )
    for mutation in plan(prompt, 4).mutations:
        assert value in mutation.text


def test_chat_messages_are_filled_and_protected() -> None:
    prompt = Prompt.from_messages(
        [{"role": "system", "content": "Sort by {what}."}, {"role": "user", "content": "Here: {text}"}]
    )
    chat = filled(prompt, {"what": "topic", "text": "A late parcel"})
    assert chat.messages == (
        {"role": "system", "content": "Sort by topic."},
        {"role": "user", "content": "Here: A late parcel"},
    )
    covered = [chat.text[span.start : span.end] for span in chat.limited("template").spans]
    assert any("A late parcel" in each for each in covered)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "p.txt has slots without a value: a, b. Add --set a=VALUE --set b=VALUE, or --inputs FILE."),
        ({"a": "1"}, "p.txt has slots without a value: b. Add --set b=VALUE, or --inputs FILE."),
        ({"a": "1", "b": "2", "bb": "3"}, "p.txt has no slot 'bb'. Did you mean 'b'?"),
    ],
)
def test_slots_and_values_must_match(values: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        filled(Prompt("Sort {a} and {b}.", name="p.txt"), values)
    assert str(caught.value) == message


def test_a_prompt_without_slots_takes_no_values() -> None:
    with pytest.raises(UsageError, match=r"has no slot 'x'. It has no slots; leave --set out."):
        filled(Prompt("Sort it."), {"x": "1"})


def test_values_come_from_text_or_file(tmp_path: Path) -> None:
    file = tmp_path / "t.txt"
    file.write_text("from a file", encoding="utf-8")
    assert read_values(["a=b=c", f"f=@{file}", "at=@@home", "e="]) == {
        "a": "b=c",
        "f": "from a file",
        "at": "@home",
        "e": "",
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["x"], "--set 'x' is not of the form slot=value"),
        (["=x"], "--set '=x' is not of the form slot=value"),
        (["a=1", "a=2"], "--set a=... is given twice"),
        (["a=@no/such"], "--set a=@no/such: the file cannot be read (No such file or directory)."),
    ],
)
def test_bad_settings(settings: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_values(settings)
    assert message in str(caught.value)


def test_a_json_file_of_messages_is_a_chat_and_other_json_a_text(tmp_path: Path) -> None:
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps([{"role": "user", "content": "Sort it."}]), encoding="utf-8")
    assert read_prompt(str(chat)).is_chat
    for number, text in enumerate(['{"a": 1}', "[]", "[1]", "{broken"]):
        other = tmp_path / f"{number}.json"
        other.write_text(text, encoding="utf-8")
        assert read_prompt(str(other)).text == text
