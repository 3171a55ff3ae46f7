"""Which part of a prompt may be mutated: the template, what was put into its slots, or messages of some roles."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import Prompt, UsageError
from pytest_promptfuzz.prompts.messages import parse_part

TRIAGE = Prompt("Classify {ticket} as billing or shipping. Sign as {name}.", name="triage")
FILLED = TRIAGE.fill(ticket="I can not find my parcel", name="Kim")
CHAT = Prompt.from_messages(
    [
        {"role": "system", "content": "Be brief. The customer is {name}."},
        {"role": "user", "content": "Where is {thing}?"},
        {"role": "assistant", "content": "Which {thing}?"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "The {thing}."}, {"type": "image_url", "image_url": {}}],
        },
    ]
)
TALK = CHAT.fill(name="Kim", thing="my parcel")


def open_text(prompt: Prompt) -> list[str]:
    """What no span protects, in pieces."""
    position = 0
    found = []
    for start, end, _ in (*prompt.spans, (len(prompt.text), len(prompt.text), "end")):
        found.append(prompt.text[position:start])
        position = end
    return [each for each in found if each.strip()]


def within(prompt: Prompt) -> list[str] | None:
    return None if prompt.bounds is None else [prompt.text[start:end] for start, end in prompt.bounds]


def test_a_filled_prompt_knows_what_was_put_in() -> None:
    assert FILLED.text == "Classify I can not find my parcel as billing or shipping. Sign as Kim."
    assert [FILLED.text[start:end] for start, end in FILLED.inputs] == ["I can not find my parcel", "Kim"]
    assert FILLED.slots == ("ticket", "name")
    assert FILLED.name == "triage"
    assert TRIAGE.inputs == ()
    assert TRIAGE.text.startswith("Classify {ticket}")


def test_values_stand_where_they_were_put_in_every_message() -> None:
    assert [TALK.text[start:end] for start, end in TALK.inputs] == [
        "Kim",
        "my parcel",
        "my parcel",
        "my parcel",
    ]
    assert TALK.messages[3]["content"][0] == {"type": "text", "text": "The my parcel."}


@pytest.mark.parametrize(
    ("part", "free", "bounds"),
    [
        (None, ["Classify ", " as ", " or ", ". Sign as ", "."], None),
        ("template", ["Classify ", " as ", " or ", ". Sign as ", "."], None),
        ("input", ["I can not find my parcel", "Kim"], ["I can not find my parcel", "Kim"]),
        ("both", ["Classify I can not find my parcel as ", " or ", ". Sign as Kim."], [FILLED.text]),
    ],
)
def test_parts_of_a_text(part: str | None, free: list[str], bounds: list[str] | None) -> None:
    limited = FILLED.limited(part)
    assert open_text(limited) == free
    assert within(limited) == bounds


@pytest.mark.parametrize(
    ("part", "free", "bounds"),
    [
        ("system", ["Be brief. The customer is ", "."], None),
        (["system"], ["Be brief. The customer is ", "."], None),
        ("user", ["Where is ", "?", "The ", "."], None),
        ("user:input", ["my parcel", "my parcel"], ["my parcel", "my parcel"]),
        (
            ["system:both", "user:input"],
            ["Be brief. The customer is Kim.", "my parcel", "my parcel"],
            ["Be brief. The customer is Kim.", "my parcel", "my parcel"],
        ),
        ("input", ["Kim", "my parcel", "my parcel"], ["Kim", "my parcel", "my parcel", "my parcel"]),
    ],
)
def test_parts_of_a_chat(part: str | list[str], free: list[str], bounds: list[str] | None) -> None:
    limited = TALK.limited(part)
    assert open_text(limited) == free
    assert within(limited) == bounds


def test_a_filled_prompt_stands_where_its_template_stood() -> None:
    values = {"ticket": "I can not find my parcel", "name": "Kim"}
    assert FILLED.format(**values) == FILLED.text == TRIAGE.format(**values)
    assert TALK.format(name="Kim", thing="my parcel") == CHAT.format(name="Kim", thing="my parcel")
    mutated = FILLED.limited("input").rebuild(lambda _start, _end: "Classify HELP as billing. Sign as Kim.")
    assert mutated.format(**values) == "Classify HELP as billing. Sign as Kim."
    assert mutated.inputs == ()


def test_values_that_look_like_slots_are_text() -> None:
    filled = Prompt("Sort {x}").fill(x="{y} and {{ z }}")
    assert filled.text == "Sort {y} and {{ z }}"
    assert filled.slots == ("x",)
    assert filled.format(x="{y} and {{ z }}") == filled.text


def test_escapes_move_what_follows() -> None:
    filled = Prompt("Give {{}} for {x}!").fill(x="a")
    assert filled.text == "Give {} for a!"
    assert filled.inputs == ((12, 13),)


def test_equality_tells_parts_apart() -> None:
    assert TRIAGE.fill(ticket="I can not find my parcel", name="Kim") == FILLED
    assert FILLED.limited("input") != FILLED
    assert Prompt(FILLED.text) != FILLED


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"ticket": "another", "name": "Kim"},
            r"filled with ticket='I can not.*gives it 'another'.*same values, once",
        ),
        ({"name": "Kim"}, "gives it nothing"),
        ({"ticket": "I can not find my parcel", "name": "Kim", "more": 1}, "more=None"),
    ],
)
def test_other_values_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        FILLED.format(**values)


def test_a_prompt_is_filled_once() -> None:
    with pytest.raises(UsageError, match="'triage' is filled already"):
        FILLED.fill(ticket="x", name="y")
    with pytest.raises(UsageError, match="no value for the slot 'name'"):
        TRIAGE.fill(ticket="x")
    with pytest.raises(UsageError, match="NUL"):
        TRIAGE.fill(ticket="\0", name="y")
    with pytest.raises(UsageError, match="is empty"):
        Prompt("{x}").fill(x=" ")


@pytest.mark.parametrize(
    ("prompt", "part", "message"),
    [
        (
            FILLED,
            "inputs",
            "part='inputs' is not one of template, input, both, or a role. Did you mean 'input'",
        ),
        (TALK, "users", "Did you mean 'user'"),
        (TALK, "user:inptu", "Did you mean 'user:input'"),
        (TALK, "assistant", "assistant messages are never mutated; name system, developer, user"),
        (TALK, ["user", "user:input"], "names the role 'user' twice"),
        (TALK, ["input"], "belongs to a role in a list; write 'user:input'"),
        (TALK, "developer", "'developer', which no message"),
        (FILLED, "user", "role 'user', but the prompt 'triage' is a text"),
        (FILLED, 3, "is an int. Write 'template'"),
        (FILLED, [], "Write 'template'"),
        (TRIAGE, "input", "has no input yet; fill its slots with fill\\(ticket=…, name=…\\)"),
        (Prompt("Sort it."), "both", "has no slots, so that template and input are one"),
    ],
)
def test_what_is_no_part(prompt: Prompt, part: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        prompt.limited(part)  # type: ignore[arg-type]


def test_a_part_says_whether_it_needs_the_input() -> None:
    assert [parse_part(each).wants_input for each in (None, "template", "system", "both", "user:input")] == [
        False,
        False,
        False,
        True,
        True,
    ]
