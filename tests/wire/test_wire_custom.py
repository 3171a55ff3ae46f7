"""Endpoints of other protocols: what is taken for a model call, and where its texts stand."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest

from pytest_promptfuzz.errors import TargetError, UsageError
from pytest_promptfuzz.wire.answers import MemoryStore
from pytest_promptfuzz.wire.custom import Endpoint, configure, endpoint_of, parse_endpoints
from pytest_promptfuzz.wire.in_flight import InFlight
from pytest_promptfuzz.wire.intercept import intercepting
from pytest_promptfuzz.wire.watch import Watch, watching


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
        watch = Watch(fresh=fresh, in_flight=in_flight)
        with intercepting(), watching(watch):
            assert httpx2.post(f"{url}/ask/x?key=planted-secret", json=BODY).json() == {
                "said": {"text": "yes"}
            }
            httpx2.post(f"{url}/other", json=BODY)
        assert watch.misses == misses
        (call,) = watch.calls
        assert call.response.text == "yes"
    assert call.texts == ("Brief!", "Where is it?")
    assert watch.in_flight.arrived
    assert bodies[3] == {**BODY, "context": "Brief!"}
    assert [(each.role, each.texts, each.paths) for each in watch.in_flight.asked[0].messages] == [
        ("system", ("Brief!",), ("$.context",)),
        ("user", ("Where is it?",), ("$.inputs[0].text",)),
    ]


def test_streams_are_their_events(service) -> None:
    url, bodies = service
    configure(parse_endpoints("127.0.0.1/stream"))
    fresh = MemoryStore()
    for _ in range(2):
        with intercepting(), watching(Watch(fresh=fresh)) as watch:
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
    configure(parse_endpoints("invoke\n\n api.example.com/v1/* \n"))
    assert endpoint_of("https://any.example.org:8443/a/invoke/?q=1") is not None
    assert endpoint_of("https://api.example.com/v1/x").glob == "api.example.com/v1/*"
    assert endpoint_of("https://api.example.com/v2/x") is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("*/x answer", "none of text="),
        ("*/x answer=$.a answer=$.b", "once each"),
        ("*/x color=$.a", "none of text="),
        ("*/x text=a.b", "is no JSON path"),
    ],
)
def test_lines_that_cannot_be_read(line, message) -> None:
    with pytest.raises(UsageError, match=message):
        parse_endpoints(line)
