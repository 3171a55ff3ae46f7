"""Secrets that a streamed answer spreads over events are hidden, and the stream stays one that the SDKs read."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import anthropic
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.providers.formats import FORMATS, parse_stream
from pytest_promptfuzz.providers.requests import Response, ToolCall, Usage
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore, StoredAnswer, is_hidden
from pytest_promptfuzz.storage.redaction import Redaction, hidden_in_stream, storable
from pytest_promptfuzz.storage.secrets import HIDDEN
from pytest_promptfuzz.wire.exchange import begin
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunSettings, Watch, watching

CUSTOMER = "CUST-90210-77 of Oslo"  # of several words, so that every server sends it in several events
KEY = "sk-proj-Hd72kLw0Qz81mNvB"
REDACTION = Redaction((r"CUST-\d+-\d+ of \w+",))
TEXT = f"Dear {CUSTOMER}, your key is {KEY}. Bye, {CUSTOMER}!"
SAID = f"Dear {HIDDEN}, your key is {HIDDEN}. Bye, {HIDDEN}!"
USER = [{"role": "user", "content": "Hi"}]
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}


class Teller:
    """A model that tells a secret, in a text or to a tool."""

    version = "teller-1"

    def __init__(self, *, to_tool: bool = False) -> None:
        self.to_tool = to_tool

    def answer(self, request, *, sample: int = 0) -> Response:
        del request, sample
        calls = (ToolCall("look_up", {"who": CUSTOMER, "key": KEY}, "call_1"),) if self.to_tool else ()
        finish = "tool_calls" if calls else "stop"
        return Response("" if calls else TEXT, tool_calls=calls, usage=Usage(1, 1), finish_reason=finish)


def chat(server) -> str:
    with openai.OpenAI(api_key="none", base_url=server.openai_url) as client:
        stream = client.chat.completions.create(model="m", messages=USER, stream=True)
        return "".join(each.choices[0].delta.content or "" for each in stream if each.choices)


def called(server) -> str:
    with openai.OpenAI(api_key="none", base_url=server.openai_url) as client:
        stream = client.chat.completions.create(model="m", messages=USER, tools=[TOOL], stream=True)
        pieces = [call for each in stream if each.choices for call in each.choices[0].delta.tool_calls or ()]
        return json.loads("".join(each.function.arguments or "" for each in pieces))["who"]


def responses(server) -> str:
    with (
        openai.OpenAI(api_key="none", base_url=server.openai_url) as client,
        client.responses.stream(model="m", input="Hi") as stream,
    ):
        return stream.get_final_response().output_text


def messages(server) -> str:
    with (
        anthropic.Anthropic(api_key="none", base_url=server.anthropic_url) as client,
        client.messages.stream(model="m", max_tokens=9, messages=USER) as stream,
    ):
        return stream.get_final_text()


@pytest.mark.parametrize("ask", [chat, called, responses, messages])
def test_what_is_stored_holds_no_secret_and_is_replayed(ask) -> None:
    store = MemoryStore()
    told, shown = (CUSTOMER, HIDDEN) if ask is called else (TEXT, SAID)
    with ModelServer(Teller(to_tool=ask is called)) as server:
        for expected in (told, shown):
            watch = Watch(RunSettings(store=store, redaction=REDACTION))
            with intercepting(), watching(watch):
                assert ask(server) == expected
            (call,) = watch.calls
        assert server.calls == 1
    (answer,) = store.answers()
    assert answer.streamed
    # In no event, and not in what the events spell together.
    assert not [each for each in (*CUSTOMER.split()[:1], KEY) if each in answer.body]
    for text in (call.response.text, *(json.dumps(each.arguments) for each in call.response.tool_calls)):
        assert REDACTION.text(text) == text


def event(content: str, **more) -> str:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": None, **more}
    return "data: " + json.dumps({"id": "c1", "choices": [choice], "model": "m"}) + "\n\n"


END = (
    "data: "
    + json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    + "\n\ndata: [DONE]\n\n"
)


@given(st.text(max_size=20), st.text(max_size=20), st.lists(st.integers(0, 60), max_size=8))
def test_wherever_the_events_are_cut(before: str, after: str, cuts: list[int]) -> None:
    before, after = (text.encode("utf-8", "replace").decode() for text in (before, after))
    text = f"{before} {CUSTOMER} {after}"
    places = sorted({0, *(min(each, len(text)) for each in cuts), len(text)})
    stream = "".join(event(text[start:end]) for start, end in pairwise(places)) + END
    hidden = hidden_in_stream(stream, REDACTION)
    read = parse_stream("/chat/completions", hidden.encode())
    assert read is not None
    assert read.text == REDACTION.text(text)
    assert hidden.count("\n\n") == stream.count("\n\n"), "every event is still there"
    assert hidden_in_stream(hidden, REDACTION) == hidden


def test_a_stream_without_secrets_is_the_same_byte_for_byte() -> None:
    stream = ': ping\r\n\r\nevent: x\ndata:{ "a" : "CUST" }\r\n\r\ndata: plain\n\ndata: [DONE]\n\n'
    assert hidden_in_stream(stream, REDACTION) == stream


def test_texts_that_belong_to_others_are_not_read_together() -> None:
    """Two choices take turns, names that each event repeats stand beside them: neither is a piece of the other."""
    pattern = Redaction((r"ab", r"mm", r"c1c1"))
    apart = [
        {"id": "c1", "model": "m", "choices": [{"index": number, "delta": {"content": text}}]}
        for number, text in [(0, "a"), (1, "b"), (0, "x"), (1, "y")]
    ]
    stream = "".join(f"data: {json.dumps(each)}\n\n" for each in apart)
    assert hidden_in_stream(stream, pattern) == stream
    blocks = [
        {"type": "content_block_delta", "index": index, "delta": {"text": "ab"[index]}} for index in (0, 1)
    ]
    stream = "".join(f"data: {json.dumps(each)}\n\n" for each in blocks)
    assert hidden_in_stream(stream, pattern) == stream
    blocks[1]["index"] = 0
    stream = "".join(f"data: {json.dumps(each)}\n\n" for each in blocks)
    assert HIDDEN in hidden_in_stream(stream, pattern)


def test_plain_events_and_probabilities_do_not_spell_it_out() -> None:
    plain = "data: CUST-1\n\ndata: 2-3 of Oslo\n\ndata: . Bye\n\n"
    assert hidden_in_stream(plain, REDACTION) == f"data: {HIDDEN}\n\ndata: \n\ndata: . Bye\n\n"
    tokens = {"content": [{"token": "CUST-"}, {"token": "9-9 of Oslo", "bytes": [57]}]}
    stream = event("CUST-9-9 of Oslo", logprobs=tokens) + END
    hidden = hidden_in_stream(stream, REDACTION)
    assert HIDDEN in hidden
    assert "token" not in hidden
    assert '"logprobs":null' in hidden


def test_a_pattern_that_would_break_the_stream_keeps_it_from_being_stored() -> None:
    greedy = Redaction((r"data: .*Dear[\s\S]*",))
    store = MemoryStore()
    with ModelServer(Teller()) as server:
        watch = Watch(RunSettings(store=store, redaction=greedy))
        with intercepting(), watching(watch):
            assert chat(server) == TEXT
    assert store.answers() == []
    assert [note for note in watch.notes if "was not stored" in note]


def test_spans_are_where_text_hides() -> None:
    redaction = REDACTION.with_values(("longsecretvalue",))
    text = f"{KEY} {CUSTOMER}longsecretvalue api_key=abcdefgh12345678 fine longsecretvalue"
    spans = redaction.spans(text)
    shown, at = "", 0
    for start, end in spans:
        shown += text[at:start] + HIDDEN
        at = end
    assert shown + text[at:] == f"{HIDDEN} {HIDDEN} api_key={HIDDEN} fine {HIDDEN}"


def test_probabilities_of_a_whole_answer_do_not_spell_it_out() -> None:
    tokens = {"content": [{"token": "CUST-"}, {"token": "9-9 of Oslo", "top_logprobs": [{"token": "Oslo"}]}]}
    for content, kept in (("CUST-9-9 of Oslo", False), ("none", True)):
        body = json.dumps({"choices": [{"message": {"content": content}, "logprobs": tokens}]})
        stored, note = storable(body, REDACTION, "url", lambda *_, **__: None, streamed=False)
        assert (("token" in stored), bool(note)) == (kept, not kept)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("depth", [700, 100_000])  # read by all versions of Python, and by some
def test_an_answer_that_is_nested_deeply_is_the_applications_all_the_same(depth: int, streamed: bool) -> None:
    choice = {"index": 0, "finish_reason": "stop", "delta" if streamed else "message": {"content": KEY}}
    body = json.dumps({"choices": [choice], "more": "?"}).replace('"?"', "[" * depth + "]" * depth)
    body, kind = (f"data: {body}\n\ndata: [DONE]\n\n", "text/event-stream") if streamed else (body, "")
    watch = Watch(RunSettings(store=MemoryStore()))
    exchange = begin(watch, "http://host/v1/chat/completions", {}, json.dumps({"messages": USER}).encode())
    exchange.answered(200, kind, body.encode())
    assert not [each for each in watch.settings.store.answers() if KEY in each.body]
    (said,) = watch.notes or [each.message for each in watch.faults]
    assert KEY not in said
    if watch.calls and not watch.settings.store.answers():
        assert "is nested too deeply to be searched for keys and was not stored" in said


@pytest.mark.parametrize("form", FORMATS[:3], ids=lambda each: each.path)
@pytest.mark.parametrize("to_tool", [False, True])
def test_a_hidden_stream_stays_as_it_is_until_more_is_to_be_hidden(form, to_tool) -> None:
    body = {"model": "m", "messages": USER, "input": "Hi", "stream": True}
    told = Teller(to_tool=to_tool).answer(None)
    raw = b"".join(form.stream_answer(told, body)).decode()
    url = f"https://models.example/v1{form.path}"
    kept, _ = storable(raw, REDACTION, url, lambda raw, streamed: parse_stream(url, raw), streamed=True)
    assert kept is not None
    answer = StoredAnswer(url, body, 200, "text/event-stream", kept, 1.0)
    assert HIDDEN in kept
    assert is_hidden(answer, REDACTION)
    word = HIDDEN if to_tool else "Bye"
    more = Redaction((), redactors=(lambda text, name: text.replace(word, "-"),))
    assert not is_hidden(answer, more)
    assert not is_hidden(replace(answer, url=url + "?key=sk-proj-Hd72kLw0Qz81mNvB"), REDACTION)
    assert not is_hidden(replace(answer, request={"user": KEY}), REDACTION)
    assert not is_hidden(replace(answer, headers={"anthropic-beta": KEY}), REDACTION)


def test_what_no_function_can_be_asked_about_is_not_taken_for_hidden() -> None:
    def refuse(text: str, name: str) -> str:
        raise ValueError(name)

    answer = StoredAnswer(
        "https://models.example/v1/messages", {"a": "b"}, 200, "application/json", "{}", 1.0
    )
    assert is_hidden(answer, Redaction())
    assert not is_hidden(answer, Redaction(redactors=(refuse,)))
    assert not is_hidden(replace(answer, body="no JSON"), Redaction())
