"""Embeddings of a provider: through the real SDK, the wire and the local model server."""

from __future__ import annotations

import base64
import struct

import pytest

from pytest_promptfuzz.errors import ConfigurationError, TargetError, UsageError
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.judging.encoders import ProviderEmbedder
from pytest_promptfuzz.judging.meaning import VectorFile
from pytest_promptfuzz.providers.openai_embeddings import embed, vectors_in
from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.server.faults import BadRequest, Malformed, ServerError, Unauthorized
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.disk_store import ResponseStore
from pytest_promptfuzz.targets.sdk_clients import embeddings
from pytest_promptfuzz.wire.watch import RunRoute, RunSettings, Watch

openai = pytest.importorskip("openai")

NAME = "openai:text-embedding-3-small"
TEXTS = ["The parcel is late.", "Grüße 😀", "", "The parcel is late."]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-no-known-shape-17")
    monkeypatch.delenv("PROMPTFUZZ_API_KEY", raising=False)
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        yield server


def asked(server) -> list[list[str]]:
    return [each.body["input"] for each in server.requests if each.path.endswith("/embeddings")]


@pytest.mark.parametrize("compatible", [False, True])
def test_vectors_of_all_texts_in_one_call(server, compatible) -> None:
    name = f"compatible:some-model@{server.openai_url}" if compatible else NAME
    embedder = ProviderEmbedder(name)
    assert embedder.name == name
    vectors = embedder.embed(TEXTS)
    assert asked(server) == [["The parcel is late.", "Grüße 😀", " "]]
    for vector, text in zip(vectors, TEXTS, strict=True):
        assert vector == pytest.approx(embed(text or " "), abs=1e-7)
    encoding = server.requests[0].body["encoding_format"]
    assert encoding == ("float" if compatible else "base64")


def test_what_is_prepared_is_what_the_sdk_sends(server) -> None:
    target = embeddings(NAME)
    texts = tuple({"role": "user", "content": text} for text in ("one", "two"))
    target.send(Request(texts))
    openai.OpenAI().embeddings.create(
        model="text-embedding-3-small", input=["one", "two"], encoding_format="base64"
    )
    ours, theirs = server.requests
    wire = target.prepare(Request(texts))
    assert ours.body == theirs.body == wire.body
    assert wire.url == f"{server.openai_url}/embeddings"


def test_an_embedder_for_compare(server) -> None:
    found = compare(
        "The parcel is lost; we will send another one soon.",
        "Expect a replacement, since ours went astray.",
        semantic=ProviderEmbedder(NAME),
    )
    assert found.reason == "semantic"
    assert [len(each) for each in asked(server)] == [2]


def test_answers_are_stored_and_vectors_kept_by_text(server, tmp_path) -> None:
    store = ResponseStore(tmp_path)
    unbound = ProviderEmbedder(NAME, VectorFile(tmp_path, pytest.fail))
    first = unbound.under(Watch(RunSettings(store=store))).embed(["a", "b"])
    assert unbound.under(Watch(RunSettings(store=store))).embed(["b", "c"])[0] == first[1]
    assert asked(server) == [["a", "b"], ["c"]]
    again = ProviderEmbedder(NAME, watch=Watch(RunSettings(store=store))).embed(["a", "b"])
    assert [list(each) for each in again] == [list(each) for each in first]
    assert len(asked(server)) == 2, "the stored answer serves"
    unbound.under(Watch(RunSettings(store=store, read=False))).embed(["a"])
    assert asked(server)[2:] == [["a"]], "a live run asks"
    store.close()


def test_many_texts_are_asked_in_parts(server, monkeypatch) -> None:
    monkeypatch.setattr("pytest_promptfuzz.judging.encoders._MOST_IN_REQUEST", 2)
    vectors = ProviderEmbedder(NAME).embed([f"text {number}" for number in range(5)])
    assert [len(each) for each in asked(server)] == [2, 2, 1]
    assert vectors[4] == pytest.approx(embed("text 4"), abs=1e-7)


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        (Unauthorized(), ConfigurationError, "Check the key"),
        (BadRequest(), ConfigurationError, "Check that the model makes embeddings"),
        (ServerError(), TargetError, "comparing meaning by openai:text-embedding-3-small"),
        (Malformed(), TargetError, "comparing meaning by openai:text-embedding-3-small"),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, str | type) else "",
)
def test_failures(server, fault, error, said) -> None:
    server.fail(fault)
    embedder = ProviderEmbedder(NAME, watch=Watch(route=RunRoute(gate=None)))
    embedder._target.max_retries = 0
    with pytest.raises(error, match=said):
        embedder.embed(["a"])
    if error is TargetError:
        calls = server.calls
        with pytest.raises(TargetError):
            embedder.embed(["b"])
        assert server.calls == calls, "it is not asked again for every pair of the test"


def test_a_missing_key_is_named(server, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY is not set"):
        ProviderEmbedder(NAME).embed(["a"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("text-embedding-3-small", "names no provider of embeddings. Write 'openai:text-embedding-3-small'"),
        ("anthropic:claude", "names no provider of embeddings"),
        ("openai:", "names no model"),
        ("compatible:model", "needs a model and a base URL"),
    ],
)
def test_names(name, said) -> None:
    with pytest.raises(UsageError, match=said):
        ProviderEmbedder(name)


def packed(*numbers: float) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def test_vectors_in_an_answer() -> None:
    assert vectors_in({"data": [{"embedding": [1, 0.5]}]}) == [[1.0, 0.5]]
    numbered = [{"index": 1, "embedding": packed(2.0)}, {"index": 0, "embedding": [3.0]}]
    assert vectors_in({"data": numbered}) == [[3.0], [2.0]]
    assert vectors_in({"data": []}) == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"data": {}},
        {"data": ["text"]},
        {"data": [{}]},
        {"data": [{"embedding": []}]},
        {"data": [{"embedding": [True]}]},
        {"data": [{"embedding": ["1"]}]},
        {"data": [{"embedding": [float("nan")]}]},
        {"data": [{"embedding": packed(float("inf"))}]},
        {"data": [{"embedding": "no base64!"}]},
        {"data": [{"embedding": base64.b64encode(b"12345").decode()}]},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": "x", "embedding": [1.0]}]},
        {"data": [{"index": [], "embedding": [1.0]}]},
        {"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]},
    ],
)
def test_what_is_no_vector_is_malformed(body) -> None:
    with pytest.raises(TargetError) as caught:
        vectors_in(body)
    assert caught.value.kind == "malformed"


def test_another_number_of_vectors_is_malformed(server) -> None:
    embedder = ProviderEmbedder(NAME)
    embedder._target.parse = lambda body: embeddings(NAME).parse({**body, "data": body["data"][:1]})
    with pytest.raises(TargetError, match="1 embeddings came for 2 texts"):
        embedder.embed(["a", "b"])
