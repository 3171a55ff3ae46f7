"""Endpoints of other protocols: what is taken for a model call, and where its texts stand."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest

from pytest_promptfuzz.errors import TargetError, UsageError
from pytest_promptfuzz.providers.custom_protocol import Endpoint, parse_endpoints
from pytest_promptfuzz.providers.formats import configure, endpoint_of
from pytest_promptfuzz.providers.requests import Request, Response
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.wire.in_flight import InFlight
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunRoute, RunSettings, SimulatedBackend, Watch, watching


@pytest.fixture(autouse=True)
def restored():
    yield
    configure(())


@pytest.fixture
def service():
    """Answers with the request's body under ``said``, or as events."""
    bodies: list = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            bodies.append(json.loads(body))
            stream = self.path.endswith("stream")
            answer = (
                b'data: {"text": "a "}\n\ndata: {"text": "b"}\n\n' if stream else b'{"said": {"text": "yes"}}'
            )
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if stream else "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", bodies
    server.shutdown()
    server.server_close()


BODY = {"inputs": [{"text": "Where is it?"}], "context": "Be brief.", "metadata": {"text": "Where is it?"}}


def test_calls_are_seen_stored_and_mutated(service) -> None:
    url, bodies = service
    configure(parse_endpoints("*/ask/*  text=$.inputs[*].text system=$.context answer=$.said.text\n"))
    fresh = MemoryStore()
    for in_flight, misses in (
        (None, 1),
        (InFlight("system"), 0),
        (InFlight("system", {"Be brief.": "Brief!"}), 1),
    ):
        watch = Watch(RunSettings(fresh=fresh), RunRoute(in_flight=in_flight))
        with intercepting(), watching(watch):
            assert httpx2.post(f"{url}/ask/x?key=planted-secret", json=BODY).json() == {
                "said": {"text": "yes"}
            }
            httpx2.post(f"{url}/other", json=BODY)
        assert watch.misses == misses
        (call,) = watch.calls
        assert call.response.text == "yes"
    assert call.texts == ("Brief!", "Where is it?")
    assert watch.route.in_flight.arrived
    assert bodies[3] == {**BODY, "context": "Brief!"}
    assert [(each.role, each.texts, each.paths) for each in watch.route.in_flight.asked[0].messages] == [
        ("system", ("Brief!",), ("$.context",)),
        ("user", ("Where is it?",), ("$.inputs[0].text",)),
    ]


def test_streams_are_their_events(service) -> None:
    url, bodies = service
    configure(parse_endpoints("127.0.0.1/stream"))
    fresh = MemoryStore()
    for _ in range(2):
        with intercepting(), watching(Watch(RunSettings(fresh=fresh))) as watch:
            httpx2.post(f"{url}/stream", json={"prompt": "Hi"})
        assert watch.calls[0].response.text == "a b"
        assert watch.calls[0].texts == ("Hi",)
    assert len(bodies) == 1


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"generated_text": "a"}, "a"),
        ([{"generated_text": "a"}], "a"),
        ({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}, "a"),
        ({"content": [{"type": "text", "text": "a"}]}, "a"),
        ({"label": 3, "at": [1]}, '{"at": [1], "label": 3}'),
    ],
)
def test_answers_are_found_where_they_usually_stand(answer, text) -> None:
    assert Endpoint("*").read(answer).text == text


def test_an_answer_without_its_text_is_malformed() -> None:
    endpoint = Endpoint.parse("*/x answer=$.out[-1].text")
    assert endpoint.read({"out": [{"text": "a"}, {"text": "b"}], "model": "m-1"}).model == "m-1"
    assert endpoint.read({"out": [{"text": "a"}, {"text": "b"}]}).text == "b"
    with pytest.raises(TargetError, match=r"holds no text at the path given for [*]/x"):
        endpoint.read({"out": []})


def test_globs_are_of_host_and_path() -> None:
    configure(parse_endpoints("*/invoke\n\n api.example.com/v1/* \n"))
    assert endpoint_of("https://any.example.org:8443/a/invoke/?q=1") is not None
    assert endpoint_of("https://api.example.com/v1/x").glob == "api.example.com/v1/*"
    assert endpoint_of("https://api.example.com/v2/x") is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("*/x answer", "is not one of text="),
        ("generate", "'generate' is no address. Write HOST/PATH"),
        ("*/x answer=$.a answer=$.b", "at most once"),
        ("*/x color=$.a", "is not one of text="),
        ("*/x text=a.b", "is no JSON path"),
    ],
)
def test_lines_that_cannot_be_read(line, message) -> None:
    with pytest.raises(UsageError, match=message):
        parse_endpoints(line)


class Repeater:
    """A model that says what it was told, by role."""

    version = "repeater-1"

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        said = " | ".join(f"{each['role']}: {each['content']}" for each in request.messages)
        return Response(f"{said} #{sample}", finish_reason="stop")


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("$.said.text", lambda body: body["said"]["text"]),
        ("$[0].generated_text", lambda body: body[0]["generated_text"]),
        ("$.out[1].content.parts[*].text", lambda body: body["out"][1]["content"]["parts"][0]["text"]),
        ("$.out[-1]", lambda body: body["out"][-1]),
    ],
)
def test_the_simulated_model_answers_in_the_shape_that_is_configured(service, path, read) -> None:
    url, bodies = service
    configure(parse_endpoints(f"*/ask/*  text=$.inputs[*].text system=$.context answer={path}"))
    fresh = MemoryStore()
    for hit in (False, True):
        backend = SimulatedBackend(Repeater(), "repeater-1")
        with intercepting(), watching(Watch(RunSettings(fresh=fresh), RunRoute(simulated=backend))) as watch:
            first = httpx2.post(f"{url}/ask/x", json=BODY).json()
            second = httpx2.post(f"{url}/ask/x", json=BODY).json()
        told = "system: Be brief. | user: Where is it?"
        assert [read(first), read(second)] == [f"{told} #0", f"{told} #1"]
        assert [(call.response.text, call.hit) for call in watch.calls] == [
            (f"{told} #0", hit),
            (f"{told} #1", hit),
        ]
        assert {call.provider for call in watch.calls} == {"simulated"}
    assert bodies == []
    # What it made up is nobody's answer but its own.
    with intercepting(), watching(Watch(RunSettings(fresh=fresh))):
        httpx2.post(f"{url}/ask/x", json=BODY)
    assert bodies == [BODY]


@pytest.mark.parametrize(
    ("line", "body", "why"),
    [
        ("*/ask/*  text=$.context", BODY, "does not know where an answer of */ask/* has its text"),
        ("*/ask/*  answer=$.a text=$.context", {**BODY, "stream": True}, "does not stream as"),
        ("*/ask/*  answer=$.a text=$.nothing", {"x": 1}, "holds no text at its paths"),
    ],
)
def test_the_simulated_model_refuses_what_it_cannot_say(service, line, body, why) -> None:
    url, bodies = service
    configure(parse_endpoints(line))
    with (
        intercepting(),
        watching(
            Watch(RunSettings(fresh=MemoryStore()), RunRoute(simulated=SimulatedBackend(Repeater(), "r")))
        ) as watch,
    ):
        answer = httpx2.post(f"{url}/ask/x", json=body)
    assert (answer.status_code, answer.headers["x-should-retry"]) == (400, "false")
    assert why in answer.json()["error"]["message"]
    assert [(fault.kind, why in fault.message) for fault in watch.faults] == [("not-simulated", True)]
    assert (bodies, watch.calls) == ([], [])


def test_the_first_line_that_matches_counts() -> None:
    configure(parse_endpoints("host/a/* answer=$.first\nhost/* answer=$.second"))
    body = {"first": "1", "second": "2"}
    assert [endpoint_of(f"http://host/{path}").read(body).text for path in ("a/b", "b")] == ["1", "2"]


def test_events_that_are_no_json_are_text_and_the_end_marker_is_none() -> None:
    stream = b'data: {"text": "a "}\n\ndata: plain\n\ndata: {"no": "text here"}\n\ndata: [DONE]\n\n'
    assert Endpoint.parse("*/x").read_stream(stream).text == 'a plain{"no": "text here"}'
    # Where a path is given, nothing beside it is read, such as tokens that were counted.
    assert Endpoint.parse("*/x answer=$.text").read_stream(stream).text == "a plain"


def test_every_piece_of_a_stream_counts_its_spaces_too() -> None:
    pieces = [{"content": each} for each in ("one", " ", "two", "")]
    deltas = [{"choices": [{"delta": each}]} for each in ({"role": "assistant"}, *pieces)]
    for endpoint, sent in (
        ("*/x answer=$.piece.content", [{"piece": each} for each in pieces]),
        ("*/x", [*deltas, {"choices": [], "usage": {"total_tokens": 7}}]),
    ):
        raw = "".join(f"data: {json.dumps(each)}\n\n" for each in sent)
        assert Endpoint.parse(endpoint).read_stream(raw.encode()).text == "one two"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"type": "overloaded_error", "message": "Overloaded"}}, "rate-limit"),
        ({"error": "Your credit balance is too low", "text": ""}, "billing"),
        ({"error": True, "message": "Try later."}, "server"),
        ({"errors": [{"message": "API key not valid"}], "success": False}, "authentication"),
        ({"status": "error", "message": "Try later."}, "server"),
        ({"type": "error", "detail": "out of credits"}, "billing"),
        ({"ok": False, "message": "Try later."}, "server"),
    ],
)
def test_an_error_that_an_endpoint_reports_is_no_answer(body: dict[str, object], kind: str) -> None:
    raw = f'data: {{"text": "So far"}}\n\ndata: {json.dumps(body)}\n\n'.encode()
    for endpoint in (Endpoint.parse("*/x"), Endpoint.parse("*/x answer=$.text")):
        for read in (lambda each: each.read(body), lambda each: each.read_stream(raw)):
            with pytest.raises(TargetError) as raised:
                read(endpoint)
            assert raised.value.kind == kind
    assert Endpoint.parse("*/x").read({"text": "Fine.", "error": None, "status": "ok"}).text == "Fine."


def test_blank_texts_are_nothing_to_mutate() -> None:
    endpoint = Endpoint.parse("*/x text=$.parts[*].text")
    body = {"parts": [{"text": "  \n"}, {"text": "Hi"}, {"text": 3}, {"text": ""}]}
    assert [path for *_, path in endpoint.places(body)] == ["$.parts[1].text"]
