"""One answer in the ways in which hosts send it: what is empty beside it, or in another order, changes nothing.

Each dialect writes an answer, a text and calls of tools, as some host does; each is read as just that. So an answer
that differs in a name, an argument or the text is never read as the same.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from pytest_promptfuzz.providers.custom_protocol import Endpoint
from pytest_promptfuzz.providers.formats import parse_answer, parse_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    Calls: TypeAlias = list[tuple[str, dict[str, Any]]]
    Dialect: TypeAlias = Callable[[str, Calls], "dict[str, Any] | bytes"]

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
OSLO, TIME = ("get_weather", {"city": "Oslo"}), ("get_time", {"zone": 1})
# Text and calls; each differs from the first in one thing.
ANSWERS: list[tuple[str, Calls]] = [
    ("Let me look.", [OSLO, TIME]),
    ("Let me go.", [OSLO, TIME]),
    ("", [OSLO, TIME]),
    ("Let me look.", [("delete_account", OSLO[1]), TIME]),
    ("Let me look.", [("set_weather", OSLO[1]), TIME]),
    ("Let me look.", [("get_whether", OSLO[1]), TIME]),
    ("Let me look.", [OSLO, ("get_dime", TIME[1])]),
    ("Let me look.", [(OSLO[0], {"city": "Rome"}), TIME]),
    ("Let me look.", [OSLO, (TIME[0], {"zone": 2})]),
    ("Let me look.", [OSLO, OSLO]),
    ("Let me look.", [OSLO]),
    ("Let me look.", [TIME, OSLO]),
    ("Let me look.", []),
]
NO_CALL = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
NO_CUSTOM = {"name": "", "input": ""}


def function(call: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"function": {"name": call[0], "arguments": json.dumps(call[1])}, **more}


def sse(*events: dict[str, Any], done: bool = True) -> bytes:
    text = "".join(f"data: {json.dumps(each)}\n\n" for each in events)
    return (text + ("data: [DONE]\n\n" if done else "")).encode()


# Chat completions


def chat(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "stop"}]}


def cortex(text: str, calls: Calls) -> dict[str, Any]:
    made = [function(each, id=f"c{n}", custom=NO_CUSTOM) for n, each in enumerate(calls)]
    return chat(content=text, tool_calls=made, audio={"id": "", "transcript": ""}, refusal="")


def nulls(text: str, calls: Calls) -> dict[str, Any]:
    made = [function(each, custom=None) for each in calls]
    return chat(content=text or None, tool_calls=made or None, function_call=None, audio=None)


def parts(text: str, calls: Calls) -> dict[str, Any]:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    said = [
        {"type": "text", "text": None},
        {"type": "text", "text": text},
        {"type": "refusal", "refusal": ""},
    ]
    return chat(content=[thought, *said], tool_calls=[*map(function, calls), NO_CALL, {}, None])


def other_parts(text: str, calls: Calls) -> dict[str, Any]:
    said = [{"type": "text", "text": ""}, {"type": "output_text", "text": text[:3]}, text[3:]]
    return chat(content=said, tool_calls=[NO_CALL, *map(function, calls)], function_call=NO_CALL["function"])


def one_part(text: str, calls: Calls) -> dict[str, Any]:
    return chat(content={"type": "text", "text": text}, tool_calls=[*map(function, calls)])


def refusal(text: str, calls: Calls) -> dict[str, Any]:
    return chat(content="", refusal=text, tool_calls=[*map(function, calls)])


def speech(text: str, calls: Calls) -> dict[str, Any]:
    spoken = {"id": "a", "data": "UklG", "transcript": text}
    return chat(content=None, audio=spoken, tool_calls=[*map(function, calls)])


def mirrored(text: str, calls: Calls) -> dict[str, Any]:
    last = function(calls[-1])["function"] if calls else {"name": None, "arguments": "{}"}
    return chat(content=text, refusal=text, tool_calls=[*map(function, calls)], function_call=last)


def objects(text: str, calls: Calls) -> dict[str, Any]:
    made = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls]
    return chat(content=text, tool_calls=made, reasoning_content="Hm.")


def bare(text: str, calls: Calls) -> dict[str, Any]:
    return chat(content=text, tool_calls=[{"name": name, "arguments": given} for name, given in calls])


def bare_beside_nothing(text: str, calls: Calls) -> dict[str, Any]:
    made = [{**NO_CALL, "custom": NO_CUSTOM, "name": name, "arguments": given} for name, given in calls]
    return chat(content=text, tool_calls=made)


def parameters(text: str, calls: Calls) -> dict[str, Any]:
    made = [{"function": {"name": name, "parameters": given, "arguments": ""}} for name, given in calls]
    return chat(content=text, tool_calls=made)


def inputs(text: str, calls: Calls) -> dict[str, Any]:
    return chat(content=text, tool_calls=[{"name": name, "input": given} for name, given in calls])


def deltas(*found: dict[str, Any]) -> bytes:
    return sse(*({"choices": [{"index": 0, "delta": each}]} for each in found))


def one(call: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"tool_calls": [function(call, **more)]}


def pieces(call: tuple[str, dict[str, Any]], index: int, **more: Any) -> list[dict[str, Any]]:
    """A call bit by bit, with empty siblings in each."""
    text = json.dumps(call[1])
    empty = {"id": "", "type": "", "custom": NO_CUSTOM}
    found = [
        {"id": f"c{index}", "function": {"name": call[0], "arguments": ""}, **more},
        {**empty, "function": {"name": "", "arguments": text[:4]}},
        {"id": None, "function": {"name": None, "arguments": text[4:]}, "custom": None},
        {**empty, "function": {"name": "", "arguments": ""}},
        {"function": None},
    ]
    return [{"content": None, "tool_calls": [{"index": index, **each}]} for each in found]


def by_index(text: str, calls: Calls) -> bytes:
    found = [each for n, call in enumerate(calls) for each in pieces(call, n)]
    return deltas({"content": ""}, {"content": text}, *found, {"content": "", "tool_calls": []})


def interleaved(text: str, calls: Calls) -> bytes:
    rows = [pieces(call, n) for n, call in reversed([*enumerate(calls)])]
    mixed = [each for row in zip(*rows, strict=True) for each in row]
    half = len(text) // 2
    return deltas({"content": text[:half], "tool_calls": None}, *mixed, {"content": text[half:]})


def all_zero(text: str, calls: Calls) -> bytes:
    return deltas({"content": text}, *(one(each, index=0, id=f"c{n}") for n, each in enumerate(calls)))


def all_zero_at_once(text: str, calls: Calls) -> bytes:
    return deltas({"content": text, "tool_calls": [function(each, index=0) for each in calls]})


def no_index(text: str, calls: Calls) -> bytes:
    found = []
    for n, call in enumerate(calls):
        begun, *more = (each["tool_calls"][0] for each in pieces(call, n))
        found += [{"tool_calls": [{**each, "index": None}]} for each in (begun, *more)]
    return deltas({"content": text}, *found)


def other_ids(text: str, calls: Calls) -> bytes:
    """Each piece has an id of its own (vLLM)."""
    numbers = itertools.count()
    found = []
    for n, call in enumerate(calls):
        found += [
            {"tool_calls": [{**each["tool_calls"][0], "id": f"r{next(numbers)}"}]} for each in pieces(call, n)
        ]
    return deltas({"content": text}, *found)


def name_each_time(text: str, calls: Calls) -> bytes:
    found = []
    for n, (name, arguments) in enumerate(calls):
        given = json.dumps(arguments)
        found += [
            {"tool_calls": [{"index": n, "id": f"c{n}", "function": {"name": name, "arguments": each}}]}
            for each in ("", given[:4], given[4:], "")
        ]
    return deltas({"content": text}, *found)


def names_in_pieces(text: str, calls: Calls) -> bytes:
    found = []
    for n, (name, arguments) in enumerate(calls):
        found += [
            {"tool_calls": [{"index": n, "function": each}]}
            for each in ({"name": name[:4]}, {"name": name[4:]}, {"arguments": json.dumps(arguments)})
        ]
    return deltas({"content": text}, *found)


def thinking(text: str, calls: Calls) -> bytes:
    """Mistral: thoughts in parts, then text, in parts or as it is."""
    thoughts = [
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": each}]}]} for each in "Hm"
    ]
    said = [{"content": [{"type": "text", "text": text[:3]}]}, {"content": text[3:]}]
    return deltas(
        *thoughts,
        *said,
        *(one(each, index=n, id=f"c{n}") for n, each in enumerate(calls)),
        {"tool_calls": [NO_CALL]},
    )


def spoken(text: str, calls: Calls) -> bytes:
    said = [{"audio": {"id": "a", "transcript": each}} for each in (text[:3], text[3:])]
    made = [one((name, given), index=n) for n, (name, given) in enumerate(calls)]
    return deltas(*said, {"audio": {"data": "UklG"}}, *made, {"function_call": {"name": "", "arguments": ""}})


# Messages


def used(call: tuple[str, dict[str, Any]], given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t", "name": call[0], "input": given}


NO_USE = {"type": "tool_use", "id": "", "name": "", "input": {}}


def blocks(text: str, calls: Calls) -> dict[str, Any]:
    empty = [{"type": "thinking", "thinking": "", "signature": ""}, {"type": "text", "text": None}, {}]
    said = {"type": "text", "text": text, "tool_use": None}
    return {"content": [*empty, said, *(used(each, each[1]) for each in calls), NO_USE, None]}


def streamed(*events: dict[str, Any]) -> bytes:
    start = {"type": "message_start", "message": {"content": [], "usage": {}}}
    return sse(start, *events, {"type": "message_stop"}, done=False)


def begun(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def added(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def in_blocks(text: str, calls: Calls, *, same: bool = False) -> bytes:
    events = [begun(0, {"type": "text", "text": None})]
    events += [added(0, type="text_delta", text=each) for each in (text[:3], None, text[3:])]
    for n, call in enumerate(calls, 1):
        place, given = 0 if same else n, json.dumps(call[1])
        events.append(begun(place, used(call, {} if n % 2 else None)))
        found = ("", given[:4], given[4:], None)
        events += [added(place, type="input_json_delta", partial_json=each) for each in found]
    return streamed(*events, begun(0 if same else len(calls) + 1, NO_USE))


def in_one_block(text: str, calls: Calls) -> bytes:
    return in_blocks(text, calls, same=True)


def in_starts(text: str, calls: Calls) -> bytes:
    events = [begun(0, {"type": "text", "text": text}), added(0, type="text_delta", text="")]
    for n, call in enumerate(calls, 1):
        empty = [added(n, type="input_json_delta", partial_json=each) for each in ("", "{}")]
        events += [begun(n, used(call, call[1])), *empty]
    return streamed(*events)


# Responses


def message(*found: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [*found]}


def out(text: str | None) -> dict[str, Any]:
    return {"type": "output_text", "text": text}


def called(call: tuple[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    name, arguments = (call[0], json.dumps(call[1])) if call else ("", "")
    return {"type": "function_call", "call_id": "c", "name": name, "arguments": arguments}


def response(*items: Any) -> dict[str, Any]:
    return {"status": "completed", "output": [*items]}


def items(text: str, calls: Calls) -> dict[str, Any]:
    empty = [{**message(), "content": None}, message(out(None), {"type": "refusal", "refusal": None}), None]
    custom = {"type": "custom_tool_call", **NO_CUSTOM}
    return response(*empty, message(out(text), out("")), *map(called, calls), called(), custom)


def other_items(text: str, calls: Calls) -> dict[str, Any]:
    said = message({"type": "text", "text": text[:3]}, {"type": "output_audio", "transcript": text[3:]})
    return response(*map(called, calls), {**message(), "content": ""}, said)


def made(text: str, calls: Calls, *last: Any, done: bool = True, emptied: bool = False) -> bytes:
    """A stream item by item and piece by piece, with what its last event holds."""

    def event(kind: str, place: int, **more: Any) -> dict[str, Any]:
        return {"type": f"response.{kind}", "output_index": place, **more}

    found = [event("output_item.added", 0, item=message())]
    found += [event("output_text.delta", 0, content_index=0, delta=each) for each in (text[:3], text[3:])]
    whole = [message() if emptied else message(out(text))]
    for n, call in enumerate(calls, 1):
        given = json.dumps(call[1])
        found.append(event("output_item.added", n, item={**called(call), "arguments": ""}))
        found += [
            event("function_call_arguments.delta", n, delta=each) for each in (given[:4], "", given[4:])
        ]
        whole.append({**called(call), "arguments": ""} if emptied else called(call))
    if done:
        found += [event("output_item.done", n, item=each) for n, each in enumerate(whole)]
    return sse(*found, {"type": "response.completed", "response": response(*last)}, done=False)


def nothing_last(text: str, calls: Calls) -> bytes:
    return made(text, calls)


def pieces_only(text: str, calls: Calls) -> bytes:
    return made(text, calls, done=False)


def emptied(text: str, calls: Calls) -> bytes:
    return made(text, calls, emptied=True)


def emptied_last(text: str, calls: Calls) -> bytes:
    empty = [{**called(each), "arguments": None if n % 2 else ""} for n, each in enumerate(calls)]
    return made(text, calls, {**message(), "content": None}, *empty)


def an_empty_message_last(text: str, calls: Calls) -> bytes:
    return made(text, calls, message(out("")))


DIALECTS: dict[str, list[Dialect]] = {
    CHAT: [
        *(cortex, nulls, parts, other_parts, one_part, refusal, speech, mirrored, objects, bare),
        *(bare_beside_nothing, parameters, inputs),
        *(
            by_index,
            interleaved,
            all_zero,
            all_zero_at_once,
            no_index,
            other_ids,
            name_each_time,
            names_in_pieces,
        ),
        *(thinking, spoken),
    ],
    MESSAGES: [blocks, in_blocks, in_one_block, in_starts],
    RESPONSES: [
        *(items, other_items, nothing_last, pieces_only, emptied, emptied_last, an_empty_message_last),
    ],
}


@pytest.mark.parametrize(
    ("path", "dialect"), [(path, each) for path, found in DIALECTS.items() for each in found]
)
def test_an_answer_is_read_alike_however_a_host_sends_it(path: str, dialect: Dialect) -> None:
    for text, calls in ANSWERS:
        sent = dialect(text, calls)
        read = parse_stream(path, sent) if isinstance(sent, bytes) else parse_answer(path, sent)
        assert read is not None
        assert read.text == text
        assert [(each.name, each.arguments) for each in read.tool_calls] == calls


@pytest.mark.parametrize("empty", ["", " ", "{}", "null", None, {}, []])
def test_no_arguments_are_no_arguments(empty: object) -> None:
    read = parse_answer(CHAT, chat(tool_calls=[{"function": {"name": "now", "arguments": empty}}]))
    assert [(each.name, each.arguments) for each in read.tool_calls] == [("now", {})]


@pytest.mark.parametrize(
    ("kind", "key", "one", "other"),
    [
        ("local_shell_call", "action", {"command": ["ls"]}, {"command": ["rm", "-r", "/"]}),
        ("shell_call", "action", {"commands": ["ls"]}, {"commands": ["rm -r /"]}),
        ("computer_call", "action", {"type": "click", "x": 1}, {"type": "click", "x": 2}),
        ("apply_patch_call", "operation", {"path": "a"}, {"path": "b"}),
        ("mcp_approval_request", "name", "read_file", "delete_file"),
    ],
)
def test_what_the_application_is_asked_to_do_is_a_call(kind: str, key: str, one: Any, other: Any) -> None:
    first, again, another = (
        parse_answer(
            RESPONSES, response(message(out("")), {"type": kind, "id": place, key: asked})
        ).tool_calls
        for place, asked in (("1", one), ("2", one), ("1", other))
    )
    assert len(first) == 1
    assert first == again != another


@pytest.mark.parametrize(
    "body",
    [
        {"text": "", "answer": "good"},
        {"response": "", "output": " ", "result": "good"},
        [{"generated_text": "good"}],
    ],
)
def test_an_empty_text_of_an_endpoint_of_ones_own_never_wins(body: Any) -> None:
    assert Endpoint("*/ask").read(body).text == "good"
