"""`Prompt`: making, filling, rebuilding, observing."""

from __future__ import annotations

import copy
import json
import pickle
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt

if TYPE_CHECKING:
    from pathlib import Path

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You sort tickets as billing or technical."},
    {"role": "user", "content": "Invoice 7"},
    {"role": "assistant", "content": 'billing "', "tool_calls": [{"id": "1"}]},
    {
        "role": "user",
        "content": [{"type": "text", "text": "{ticket}"}, {"type": "image_url", "image_url": {"url": "u"}}],
    },
]


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("Sort {a}.", {"a": 1}, "Sort 1."),
        ("Sort {a} by {b:.2f} and {c!r:>5}.", {"a": "x", "b": 1, "c": "y"}, "Sort x by 1.00 and   'y'."),
        ("{d[key]} {d.real}", {"d": type("D", (dict,), {"real": 5})(key=4)}, "4 5"),
        ("Sort {{ a }} and {{b.c}}.", {"a": 1, "b": {"c": 2}}, "Sort 1 and 2."),
        ("Sort ${a}.", {"a": 1}, "Sort 1."),
        ("Costs ${price} for {item}.", {"price": 5, "item": "tea"}, "Costs $5 for tea."),
        ("Sort %(a)s, %(b)05.1f.", {"a": 1, "b": 2}, "Sort 1, 002.0."),
        ("Sort <a>.", {"a": 1}, "Sort 1."),
        ("Sort <a>.", {}, "Sort <a>."),
        ("<a>{b}</a>", {"b": 1}, "<a>1</a>"),
        ("Sort $a for $50.", {"a": 1}, "Sort 1 for $50."),
        ("Sort $a for $50.", {}, "Sort $a for $50."),
        # JSON stays; doubled braces are undone only in what str.format could take.
        ('Return {"a": {"b": 1}} for {x}.', {"x": 1}, 'Return {"a": {"b": 1}} for 1.'),
        ('Return {{"a": "{x}"}}.', {"x": 1}, 'Return {"a": "1"}.'),
        ('Return {{"a": 1}}.', {}, 'Return {{"a": 1}}.'),
        ("{label: string} {x}", {"x": 1}, "{label: string} 1"),
        ("{} {0} {x}", {"x": 1}, "{} {0} 1"),
        # A value is never searched for slots.
        ("{a} {b}", {"a": "{b}", "b": "{{ a }} $a <a>"}, "{b} {{ a }} $a <a>"),
    ],
)
def test_format(text: str, values: dict[str, Any], expected: str) -> None:
    assert Prompt(text).format(**values) == expected


def test_slots_in_order_and_once() -> None:
    prompt = Prompt('{b} {{ a }} {b.c} ${d} %(e)s <f> $g {"h": 1}')
    assert prompt.slots == ("b", "a", "d", "e")


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        (
            "{ticket} {tone}",
            {"tone": "x"},
            "no value for the slot 'ticket'; given: 'tone'.*format(ticket=…, tone=…)",
        ),
        ("{ticket}", {"ticket": 1, "tikcet": 1}, "no slot 'tikcet'. Did you mean 'ticket'?"),
        ("Plain.", {"x": 1}, "no slot 'x'. It has no slots"),
        ("<a>x</a> {b}", {"a": 1, "b": 2}, "no slot 'a'"),
        ("{% if a %}{{ a }}{% endif %}", {"a": 1}, "'{% if', a template statement"),
        ("{a:d}", {"a": "x"}, "{a:d} cannot show"),
        ("{a.b}", {"a": 1}, "{a.b} asks for what its value does not have"),
    ],
)
def test_format_refuses(text: str, values: dict[str, Any], message: str) -> None:
    pattern = ".*".join(re.escape(part) for part in re.split(r"\.\*", message))
    with pytest.raises(UsageError, match=pattern):
        Prompt(text).format(**values)


@given(st.text(), st.text(), st.text())
def test_a_value_arrives_as_it_is(before: str, after: str, value: str) -> None:
    before, after = (re.sub(r"[{}$%<>\0\ud800-\udfff]", "", part) for part in (before, after))
    for slot in ("{x}", "{{ x }}", "${x}", "%(x)s", "<x>"):
        assert Prompt(f"{before}{slot}{after}").format(x=value) == before + value + after


@given(st.from_regex(r"[ a-z{}$<>%\":x]{1,30}", fullmatch=True), st.text(max_size=3))
def test_any_template_is_filled_or_refused_clearly(text: str, value: str) -> None:
    if not text.strip():
        return
    prompt = Prompt(text)
    refusal = ""
    try:
        assert isinstance(prompt.format(**dict.fromkeys(prompt.slots, value)), str)
    except UsageError as error:
        refusal = str(error)
    assert not refusal or "template statement" in refusal or "cannot show" in refusal


def test_chat() -> None:
    prompt = Prompt.from_messages(CHAT)
    assert prompt.is_chat
    assert prompt.text == 'You sort tickets as billing or technical.\n\nInvoice 7\n\nbilling "\n\n{ticket}'
    assert prompt.slots == ("ticket",)
    assert [(prompt.text[s.start : s.end], s.kind) for s in prompt.spans] == [
        ("billing", "label"),
        ("technical", "label"),
        ("\n\n", "separator"),
        ("7", "number"),
        ("\n\n", "separator"),
        ('billing "', "message"),
        ("\n\n", "separator"),
        ("{ticket}", "slot"),
    ]
    filled = prompt.format(ticket="No light")
    assert filled[3] == {
        "role": "user",
        "content": [{"type": "text", "text": "No light"}, CHAT[3]["content"][1]],
    }
    assert filled[:3] == CHAT[:3]


def test_a_chat_is_a_copy() -> None:
    messages = copy.deepcopy(CHAT)
    prompt = Prompt.from_messages(messages)
    messages[0]["content"] = "Other"
    prompt.messages[0]["content"] = "Other"
    assert prompt.messages == tuple(CHAT)


def test_rebuild_changes_only_what_may_change() -> None:
    prompt = Prompt.from_messages(CHAT, name="triage")
    ranges: list[str] = []

    def apply(start: int, end: int) -> str:
        ranges.append(prompt.text[start:end])
        return prompt.text[start:end].upper()

    rebuilt = prompt.rebuild(apply)
    assert ranges == ["You sort tickets as billing or technical.", "Invoice 7", "{ticket}"]
    assert rebuilt.messages[2] == CHAT[2]
    assert rebuilt.messages[1]["content"] == "INVOICE 7"
    assert rebuilt.name == "triage"
    assert Prompt("Hi {x}").rebuild(lambda _s, _e: "Ho {x}") == Prompt("Ho {x}")
    with pytest.raises(UsageError, match="empty"):
        Prompt("Hi").rebuild(lambda _s, _e: " ")


def test_rendering_is_observed_and_nothing_else_is() -> None:
    seen: list[object] = []
    prompt = Prompt("Sort {x}").observed(seen.append)
    assert prompt == Prompt("Sort {x}")
    assert hash(prompt) == hash(Prompt("Sort {x}"))
    assert len(prompt.text) == prompt.spans[0].end
    assert prompt.slots == ("x",)
    assert "Sort" in repr(prompt)
    with pytest.raises(UsageError):
        prompt.format()
    assert seen == []
    prompt.format(x=1)
    str(prompt)
    assert prompt.messages == ({"role": "user", "content": "Sort {x}"},)
    assert f"{prompt}" == "Sort {x}"
    assert seen == [{"x": 1}, None, None, None]
    prompt.rebuild(lambda _s, _e: "Ho").format()
    assert len(seen) == 5


def test_equality() -> None:
    assert Prompt("a") == Prompt("a", name="other")
    assert hash(Prompt("a")) == hash(Prompt("a"))
    assert Prompt("a b", protect=["a"]) != Prompt("a b")
    assert Prompt("a") != Prompt.from_messages([{"role": "user", "content": "a"}])
    assert Prompt.from_messages(CHAT) == Prompt.from_messages(CHAT)
    assert Prompt("a") != "a"


def test_immutable_and_not_callable() -> None:
    prompt = Prompt("a {x}", name="p")
    with pytest.raises(AttributeError, match="immutable"):
        prompt.name = "q"
    with pytest.raises(TypeError, match=r"prompt\.format"):
        prompt(x=1)
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(prompt)
    assert copy.deepcopy([prompt])[0] is prompt
    assert repr(prompt) == "<Prompt 'p', 'a {x}'>"
    assert len(repr(Prompt("long " * 100))) < 60


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Prompt(""), "The prompt is empty"),
        (lambda: Prompt(" \n", name="triage"), "The prompt 'triage' is empty"),
        (lambda: Prompt(5), "is an int, not a str"),  # type: ignore[arg-type]
        (lambda: Prompt("a\nb\0"), "NUL character in line 2"),
        (lambda: Prompt("a\ud800"), r"lone surrogate U\+D800"),
        (lambda: Prompt("abc", protect=["x"]), "protect='x' does not occur"),
        (lambda: Prompt("abc", protect=[re.compile("x+")]), r"protect='x\+' does not occur"),
        (lambda: Prompt("abc", protect="abc"), r"write protect=\['abc'\]"),
        (lambda: Prompt("abc", protect=[(0, 9)]), "not inside the text of 3 characters"),
        (lambda: Prompt.from_messages([]), "is empty"),
        (lambda: Prompt.from_messages([{"role": "assistant", "content": "x"}]), "is empty"),
        (lambda: Prompt.from_messages("hi"), "messages are a list"),  # type: ignore[arg-type]
        (lambda: Prompt.from_messages(["hi"]), "message 0 is a str"),  # type: ignore[list-item]
        (lambda: Prompt.from_messages([{"content": "x"}]), "has the role None"),
        (
            lambda: Prompt.from_messages([{"role": "usr", "content": "x"}]),
            "the role 'usr' is not one of .*Did you mean 'user'",
        ),
        (lambda: Prompt.from_messages([{"role": "user", "content": None}]), "a NoneType for its content"),
        (
            lambda: Prompt.from_messages([{"role": "user", "content": [{"text": "x"}]}]),
            "part 0 is no mapping with a 'type'",
        ),
        (
            lambda: Prompt.from_messages([{"role": "user", "content": [{"type": "text"}]}]),
            "a NoneType for its text",
        ),
        (lambda: Prompt.from_file("nowhere/x.txt"), "no prompt file 'nowhere/x.txt'"),
        (lambda: Prompt.from_file("bad\0name"), "cannot be read"),
        (lambda: Prompt.from_file(5), "not by an int"),  # type: ignore[arg-type]
        (lambda: as_prompt(5), "not an int"),  # type: ignore[arg-type]
        (lambda: as_prompt(b"x"), "not a bytes"),  # type: ignore[arg-type]
    ],
)
def test_bad_prompts(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    path.write_bytes(b"\xef\xbb\xbfSort\r\n{x} \xc3\xa9")
    prompt = Prompt.from_file(path)
    assert prompt.text == "Sort\r\n{x} é"
    assert prompt.name == str(path)
    assert as_prompt(path) == prompt
    path.write_bytes(b"ab\xff")
    with pytest.raises(UsageError, match="not UTF-8 \\(byte 2"):
        Prompt.from_file(path)
    path.write_bytes(b"\n")
    with pytest.raises(UsageError, match="is empty"):
        Prompt.from_file(path)
    with pytest.raises(UsageError, match="cannot be read"):
        Prompt.from_file(tmp_path)


def test_a_json_file_with_messages_is_a_chat(tmp_path: Path) -> None:
    path = tmp_path / "chat.JSON"
    path.write_text("\ufeff" + json.dumps(CHAT), encoding="utf-8")
    prompt = Prompt.from_file(path, protect=["sort"])
    assert prompt == Prompt.from_messages(CHAT, protect=["sort"])
    assert prompt.name == str(path)
    assert as_prompt(path) == Prompt.from_messages(CHAT)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}', "[1, 2]", '[{"a": "b"}]', '["role"]', "Sort {x}", '[{"role', "[" * 100_000,
        'Return [{"role": "user"}]', '{"messages": 3}', '[{{ x }}, "role"]',
    ],
)  # fmt: skip
def test_other_json_is_a_text(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text, encoding="utf-8")
    assert Prompt.from_file(path) == Prompt(text)
    other = tmp_path / "p.txt"
    other.write_text(json.dumps(CHAT), encoding="utf-8")
    assert Prompt.from_file(other) == Prompt(json.dumps(CHAT))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[{"role": "user", "content": "a"},]',
            r"p\.json' begins like chat messages, but is no JSON: .*column",
        ),
        ('[\n {"content": "a",\n "role": "user"', "is no JSON: .*line 3"),
        (
            '[{"role": "usr", "content": "a"}]',
            r"p\.json': message 0: the role 'usr' is not one of .*Did you mean 'user'",
        ),
        ('[{"role": "user"}]', r"p\.json': message 0 has a NoneType for its content"),
        ('[{"role": "user", "content": "a"}, {"content": "b"}]', "message 1 has the role None"),
        ('[{"role": "user", "content": "a"}, "b"]', "message 1 is a str"),
        ('[{"role": "user", "content": " "}]', r"p\.json' is empty"),
        ('{"model": "x", "messages": [{"role": "user", "content": "a"}]}', "keep the list alone"),
    ],
)
def test_a_malformed_chat_in_a_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        Prompt.from_file(path)


def test_as_prompt() -> None:
    prompt = Prompt("a")
    assert as_prompt(prompt) is prompt
    assert as_prompt("a") == prompt
    assert as_prompt(CHAT) == Prompt.from_messages(CHAT)
