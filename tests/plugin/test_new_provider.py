"""A new provider is one class: this file makes one up, and everything that is done with a provider is done with it."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import httpx2
import pytest

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.providers import formats
from pytest_promptfuzz.providers.bodies import (
    InvalidBodyError,
    count,
    event,
    event_body,
    events,
    malformed,
    mapping,
    pieces,
    require_list,
    require_model,
    word,
)
from pytest_promptfuzz.providers.requests import Request, Response, Usage
from pytest_promptfuzz.providers.wire_format import BodyText, WireFormat, WordlessAnswer
from pytest_promptfuzz.running.limits.limits import SessionLimits
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.wire.in_flight import InFlight
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunRoute, RunSettings, Watch, watching

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_promptfuzz.providers.bodies import Model


def count_letters(body: Mapping[str, Any], model: Model) -> dict[str, Any]:
    return {"tokens": model.answer(Letters().read_request(body)).usage.input_tokens or 0}


class Letters(WireFormat):
    """Models that write letters: what they are told stands in ``brief``, what was said in ``dialogue``."""

    provider = "letters"
    host = "letters.example"
    path = "/letters"
    wordless: ClassVar[dict[str, WordlessAnswer]] = {
        "/letters/count": WordlessAnswer("tokens", int, count_letters)
    }
    system_fields = ("brief",)
    fields = ("dialogue",)
    bounds = ("longest",)
    key_headers = ("x-letters-key",)
    limit_headers = "letters-{kind}-{what}"

    def texts(self, body: Mapping[str, Any]) -> Iterator[str]:
        yield from filter(None, [body.get("brief")])
        for turn in body.get("dialogue", ()):
            yield from turn["lines"]

    def messages(self, body: Mapping[str, Any]) -> Iterator[tuple[str, list[BodyText]]]:
        if "brief" in body:
            yield "system", [BodyText(body, "brief", "$.brief")]
        for index, turn in enumerate(body.get("dialogue", ())):
            if turn["by"] == "guest":
                at = f"$.dialogue[{index}].lines"
                yield (
                    "user",
                    [BodyText(turn["lines"], line, f"{at}[{line}]") for line in range(len(turn["lines"]))],
                )

    def build_body(self, request: Request, model: str) -> dict[str, Any]:
        dialogue = [{"by": "guest", "lines": [each["content"]]} for each in request.messages]
        return {"model": model, "dialogue": dialogue, **request.parameters}

    def parse(self, body: dict[str, Any]) -> Response:
        if "reply" not in body:
            malformed("a letter with 'reply'", body)
        cost = mapping(body.get("cost") or {}, "'cost'")
        return Response(
            "".join(body["reply"]),
            usage=Usage(count(cost.get("read")), count(cost.get("wrote"))),
            model=word(body.get("model")),
            finish_reason=word(body.get("stopped")),
        )

    def fold(self, raw: bytes) -> dict[str, Any] | None:
        reply: list[str] = []
        for data in events(raw):
            said = event_body(data)
            if "stopped" in said:
                return {**said, "reply": reply}
            reply += said.get("reply", [])
        return None

    def announces(self, event: dict[str, Any]) -> bool:
        return not event.get("reply") and "stopped" not in event

    def read_request(self, body: Mapping[str, Any]) -> Request:
        require_model(body)
        if body.get("longest") == 0:
            raise InvalidBodyError("longest: a letter has words", param="longest")
        turns = require_list(body, "dialogue")
        messages = [{"role": "system", "content": body["brief"]}] if "brief" in body else []
        messages += [{"role": "user", "content": " ".join(each["lines"])} for each in turns]
        return Request(tuple(messages))

    def encode_answer(self, response: Response, body: Mapping[str, Any]) -> dict[str, Any]:
        usage = response.usage
        cost = {"read": usage.input_tokens, "wrote": usage.output_tokens}
        return {"model": body["model"], "reply": [response.text], "stopped": "signed", "cost": cost}

    def stream_answer(self, response: Response, body: Mapping[str, Any]) -> Iterator[bytes]:
        yield event({"pen": "dipped"})
        for piece in pieces(response.text):
            yield event({"reply": [piece]})
        yield event({**self.encode_answer(response, body), "reply": []})

    def error_body(
        self, status: int, message: str, *, param: str | None = None, request_id: str = ""
    ) -> dict[str, Any]:
        return {"returned": message, "because": param}


class Clerk:
    """Answers with what the user says, in upper case."""

    version = "clerk-1"

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        del sample
        said = str(request.messages[-1]["content"])
        return Response(said.upper(), usage=Usage(len(said), 1), finish_reason="stop")


BODY = {
    "model": "quill",
    "brief": "Be brief.",
    "dialogue": [{"by": "guest", "lines": ["Where is it?"]}, {"by": "host", "lines": ["Here."]}],
    "longest": 9,
}


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, Letters()))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Clerk()) as found:
        yield found


def post(server: ModelServer, path: str = "/v9/letters", **more: Any) -> httpx2.Response:
    return httpx2.post(server.url + path, json=BODY | more)


def test_it_is_recognised_and_its_requests_are_read() -> None:
    url = "https://eu.letters.example/v9/letters?trace=1"
    assert formats.is_model_path("/v9/letters")
    assert formats.is_model_path("/v9/letters/count")
    assert formats.has_text(url)
    assert not formats.has_text("/v9/letters/count")
    assert formats.provider_of(url) == "letters"
    assert formats.is_paid("letters")
    assert formats.request_texts(BODY, url) == ("Be brief.", "Where is it?", "Here.")
    assert [(each.role, each.paths) for each in formats.spoken(BODY, url)] == [
        ("system", ("$.brief",)),
        ("user", ("$.dialogue[0].lines[0]",)),
    ]
    assert formats.output_bound(BODY) == 9
    assert ("letters-tokens-limit", "letters-tokens-remaining", "letters-tokens-reset") in (
        formats.limit_headers("tokens")
    )


def test_both_texts_of_a_field_of_its_own_are_replaced() -> None:
    changed, found = formats.respoken(BODY, "system", {"Be brief.": "Brief!"}, "/letters")
    assert found == {"Be brief."}
    assert changed == BODY | {"brief": "Brief!"}


def test_a_field_that_two_formats_know_is_read_by_the_one_that_is_spoken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Notes(Letters):
        path = "/notes"
        fields = ("messages",)

        def texts(self, body: Mapping[str, Any]) -> Iterator[str]:
            yield from body.get("messages", ())

        def messages(self, body: Mapping[str, Any]) -> Iterator[tuple[str, list[BodyText]]]:
            for index in range(len(body.get("messages", ()))):
                yield "user", [BodyText(body["messages"], index, f"$.messages[{index}]")]

    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, Notes()))
    body = {"messages": ["Where?"]}
    assert [each.texts for each in formats.spoken(body, "/v1/notes")] == [("Where?",)]
    assert formats.spoken(body, "/v1/chat/completions") == ()


def test_the_local_server_speaks_it(server: ModelServer) -> None:
    answer = post(server)
    assert answer.json()["reply"] == ["HERE."]
    streamed = post(server, stream=True).content
    assert Letters().parse(Letters().fold(streamed) or {}).text == "HERE."
    assert post(server, "/v9/letters/count").json() == {"tokens": len("Here.")}
    refused = post(server, longest=0)
    assert (refused.status_code, refused.json()["because"]) == (400, "longest")
    assert post(server, "/v9/parcels").status_code == 404
    assert server.calls == 4
    with ModelServer(Clerk(), key="wax") as guarded:
        assert post(guarded).status_code == 401
        letter = httpx2.post(guarded.url + "/letters", json=BODY, headers={"X-Letters-Key": "wax"})
        assert letter.status_code == 200


@pytest.mark.parametrize("stream", [False, True])
def test_it_is_stored_and_found_again(server: ModelServer, stream: bool) -> None:
    store = MemoryStore()
    answers = []
    for misses in (1, 0):
        with (
            intercepting(),
            watching(Watch(RunSettings(store=store), RunRoute(gate=SessionLimits()))) as watch,
        ):
            answers.append(post(server, stream=stream).content)
        (call,) = watch.calls
        assert watch.misses == misses
        assert call.response is not None
        assert (call.response.text, call.response.finish_reason) == ("HERE.", "signed")
        assert call.response.usage == Usage(len("Here."), 1)
        assert call.texts == ("Be brief.", "Where is it?", "Here.")
    assert answers[0] == answers[1]
    assert server.calls == 1


def test_what_is_no_letter_is_a_fault(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Letters, "encode_answer", lambda *_: {"nothing": "said"})
    with intercepting(), watching(Watch()) as watch:
        post(server)
    assert [each.kind for each in watch.faults] == ["malformed"]
    with pytest.raises(TargetError, match="a letter with 'reply'"):
        formats.parse_answer("/letters", {"nothing": "said"})


def test_the_provider_that_the_docs_add(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    module: dict[str, Any] = {}
    exec(textwrap.dedent(code), module)
    form = module["COHERE_CHAT"]
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, form))
    body = form.build_body(Request(({"role": "user", "content": "Where is it?"},)), "command")
    in_flight = InFlight("user", {"Where is it?": "where is it"})
    store = MemoryStore()
    for misses in (1, 0):
        route = RunRoute(in_flight=in_flight.anew())
        with intercepting(), watching(Watch(RunSettings(store=store), route)) as watch:
            answer = httpx2.post(server.url + "/v2/chat", json=body)
        assert answer.json()["message"]["content"] == [{"type": "text", "text": "WHERE IS IT"}]
        assert watch.misses == misses
        assert watch.calls[0].response == Response(
            "WHERE IS IT",
            usage=Usage(len("where is it"), 1),
            finish_reason="COMPLETE",
            latency=watch.calls[0].seconds,
            cached=not misses,
        )
    assert server.calls == 1
    assert httpx2.post(server.url + "/v2/chat", json=body | {"stream": True}).status_code == 400
    with pytest.raises(TargetError, match="an answer with 'message'"):
        formats.parse_answer("/v2/chat", {})


APPLICATION = """
import os
import httpx2

@robust(mutate="role:user", mutations=3, threshold=0.0)
def test_letter():
    asked = {body}
    return httpx2.post(os.environ["LETTERS_URL"] + "/v9/letters", json=asked).json()["reply"][0]
"""


def test_a_test_of_an_application_is_mutated_in_flight_recorded_and_replayed(
    project, monkeypatch, pytester, server
):
    body = {"model": "quill", "brief": "Be brief.", "dialogue": [{"by": "guest", "lines": [TICKET]}]}
    source = textwrap.dedent(APPLICATION).replace("{body}", json.dumps(body))
    monkeypatch.setenv("LETTERS_URL", server.url)
    live = ("-o", "promptfuzz_target=")
    project(source, *live, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    asked = [each.body["dialogue"][0]["lines"][0] for each in server.requests]
    assert asked[0] == TICKET
    assert len(set(asked)) == 4
    assert {each.body["brief"] for each in server.requests} == {"Be brief."}
    recorded = (pytester.path / "__promptfuzz__" / "test_it.calls.jsonl").read_text(encoding="utf-8")
    assert "/v9/letters" in recorded
    before = len(asked)
    project(source, *live, "--promptfuzz-mode=replay").assert_outcomes(passed=1)
    assert len(server.requests) == before


TICKET = "I was charged twice for my subscription this month and want a refund."
