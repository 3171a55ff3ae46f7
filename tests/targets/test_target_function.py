"""The application's own function as a target."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import functools
from typing import Any

import pydantic
import pytest

from pytest_promptfuzz.errors import TargetError, UsageError
from pytest_promptfuzz.providers.requests import Response, Target
from pytest_promptfuzz.targets.resolution import CallableTarget

CHAT = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]


@dataclasses.dataclass
class Ticket:
    label: str
    at: dt.date


class Model(pydantic.BaseModel):
    label: str


def echo(prompt: Any) -> Any:
    return prompt


async def aecho(prompt: Any) -> Any:
    await asyncio.sleep(0)
    return prompt


class Bot:
    def reply(self, text: str, *, loud: bool = False) -> str:
        return text.upper() if loud else text

    async def __call__(self, prompt: str) -> str:
        return f"<{prompt}>"


def test_a_text_prompt_arrives_as_text_and_a_chat_as_messages() -> None:
    assert CallableTarget(echo).call("Hi") == "Hi"
    assert CallableTarget(echo).call(CHAT) == CHAT
    assert asyncio.run(CallableTarget(aecho).acall(CHAT)) == CHAT
    assert asyncio.run(CallableTarget(echo).acall("Hi")) == "Hi"


def test_messages_are_copies() -> None:
    def spoil(messages: list[dict[str, str]]) -> str:
        messages[0]["content"] = "spoilt"
        return "ok"

    CallableTarget(spoil).call(CHAT)
    assert CHAT[0]["content"] == "S"


def test_a_prompt_is_unwrapped_unless_asked_for() -> None:
    from pytest_promptfuzz.prompts.prompt import Prompt

    def wants_prompt(p: Prompt) -> Any:
        return [type(p).__name__, p.text]

    text, conversation = Prompt("Say hi."), Prompt.from_messages(CHAT)
    assert CallableTarget(echo).call(text) == "Say hi."
    assert CallableTarget(echo).call(conversation) == CHAT
    assert CallableTarget(wants_prompt).call(text) == ["Prompt", "Say hi."]
    assert CallableTarget(wants_prompt).call("Say hi.") == ["Prompt", "Say hi."]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (Bot().reply, "Hi"),
        (functools.partial(Bot().reply, loud=True), "HI"),
        (lambda *prompts: prompts[0], "Hi"),
        (lambda *, prompt: prompt, "Hi"),
        (lambda ticket=None, prompt="": [ticket, prompt], [None, "Hi"]),
        (lambda text, **more: [text, more], ["Hi", {}]),
        (str, "Hi"),
    ],
)
def test_the_argument_is_found_by_the_signature(function: Any, expected: Any) -> None:
    assert CallableTarget(function).call("Hi") == expected


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda: "x", "takes no argument"),
        (lambda **more: more, "takes no argument"),
        (lambda a, b: a, "also needs b"),
        (lambda ticket, prompt: prompt, "also needs ticket"),
    ],
)
def test_a_function_of_another_shape_is_refused(function: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        CallableTarget(function)


def test_what_is_not_callable_is_refused() -> None:
    with pytest.raises(UsageError, match="3 is not callable"):
        CallableTarget(3)  # type: ignore[arg-type]


VALUES = [
    "text",
    "",
    Response("text"),
    {"a": [1, 2.5, None, True]},
    [Response("x")],
    7,
    False,
    Ticket("a", dt.date(2025, 1, 2)),
    Model(label="a"),
    {"inner": Model(label="a"), "set": {1}},
    ("a", "b"),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_data_is_kept_as_it_is(value: Any) -> None:
    assert CallableTarget(lambda _: value).call("Hi") is value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None"),
        (b"bytes", "bytes"),
        (object, "type"),
        ({"a": object()}, "dict"),
        ({("a",): 1}, "dict"),
        ([float("nan")], "list"),
        ((each for each in "ab"), "generator"),
    ],
)
def test_what_is_no_plain_data_is_named(value: Any, words: str) -> None:
    with pytest.raises(TargetError, match="a response that is not text") as caught:
        CallableTarget(lambda _: value, name="function:app.reply").call("Hi")
    assert caught.value.kind == "not-text"
    assert words in str(caught.value)
    assert "app.reply" in str(caught.value)


def test_what_the_function_raises_is_raised() -> None:
    def boom(_: str) -> str:
        raise KeyError("label")

    with pytest.raises(KeyError, match="label"):
        CallableTarget(boom).call("Hi")
    with pytest.raises(KeyError, match="label"):
        asyncio.run(CallableTarget(boom).acall("Hi"))


def test_an_asynchronous_function_needs_an_asynchronous_call() -> None:
    for function in (aecho, Bot(), functools.partial(aecho)):
        target = CallableTarget(function)
        assert target.is_async
        with pytest.raises(UsageError, match="aevaluate"):
            target.call("Hi")

    def hiding(prompt: str) -> Any:
        return aecho(prompt)

    hidden = CallableTarget(hiding)
    assert not hidden.is_async
    with pytest.raises(UsageError, match="aevaluate"):
        hidden.call("Hi")
    assert asyncio.run(CallableTarget(Bot()).acall("Hi")) == "<Hi>"


def test_the_name_says_where_it_is_defined() -> None:
    assert CallableTarget(echo).name == f"function:{__name__}.echo"
    assert CallableTarget(functools.partial(echo)).name == f"function:{__name__}.echo"
    assert CallableTarget(Bot()).name == f"function:{__name__}.Bot"
    assert repr(CallableTarget(echo, name="triage")) == "CallableTarget('triage')"


def test_it_is_no_model_target() -> None:
    assert not isinstance(CallableTarget(echo), Target)
