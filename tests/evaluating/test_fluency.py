"""How fluent a text is: by a real language model that is made here, and by a server that speaks LanguageTool's HTTP."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from math import exp, log
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest

from pytest_promptfuzz import ConfigurationError, UsageError, grammar_errors, perplexity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WORDS = ["<s>", "the", "ticket", "is", "late", "early", "a", "parcel"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A causal language model of eight words and as many tokens of memory, whose weights are drawn."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("model")
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="<s>")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>").save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(WORDS),
        n_positions=8,
        n_embd=8,
        n_layer=1,
        n_head=1,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=1.0,
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def foretold(folder: Path, tokens: list[int]) -> list[float]:
    """The logarithm of each token's probability after those before it, one by one."""
    import torch
    from transformers import GPT2LMHeadModel

    model = GPT2LMHeadModel.from_pretrained(folder, local_files_only=True).eval()
    with torch.no_grad():
        return [
            float(torch.log_softmax(model(torch.tensor([tokens[:at]])).logits[0, -1], -1)[tokens[at]])
            for at in range(1, len(tokens))
        ]


def test_perplexity_is_that_of_the_model(model: Path) -> None:
    measure = perplexity(model)
    logs = foretold(model, [0, 1, 2, 3, 4])
    assert measure("the ticket is late") == pytest.approx(exp(-sum(logs) / len(logs)), rel=1e-4)
    assert log(measure("the ticket is late")) != pytest.approx(log(measure("late is ticket the")), rel=1e-3)


def test_a_long_text_goes_through_in_windows(model: Path) -> None:
    tokens = [0, *([1, 2, 3, 4] * 3)]
    logs = foretold(model, tokens[:8]) + foretold(model, tokens[7:])
    text = " ".join(WORDS[each] for each in tokens[1:])
    assert perplexity(model)(text) == pytest.approx(exp(-sum(logs) / len(logs)), rel=1e-4)


def test_a_folder_without_a_model_is_named(tmp_path: Path, model: Path) -> None:
    with pytest.raises(UsageError, match=r"gpt2' is no folder of a model .* Nothing is downloaded"):
        perplexity("gpt2")
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        perplexity(tmp_path)("the ticket")
    with pytest.raises(UsageError, match="too short"):
        perplexity(model)("")


def test_without_transformers_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr("pytest_promptfuzz.evaluating.fluency.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="pip install transformers torch"):
        perplexity(tmp_path)


@contextmanager
def language_tool(answer: bytes | None = None) -> Iterator[tuple[str, list[dict[str, list[str]]]]]:
    """A server that finds an error in each doubled letter, as LanguageTool's HTTP says it."""
    asked: list[dict[str, list[str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v2/check"
            form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            asked.append(form)
            text = form["text"][0]
            matches = [{"offset": at} for at in range(1, len(text)) if text[at] == text[at - 1]]
            body = json.dumps({"matches": matches}).encode() if answer is None else answer
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_errors_are_those_that_the_server_finds() -> None:
    with language_tool() as (url, asked):
        measure = grammar_errors(url + "/", "de-DE")
        assert measure("the ttiicket & ümlaut") == 2
        assert measure("fine") == 0
    assert asked[0] == {"text": ["the ttiicket & ümlaut"], "language": ["de-DE"]}


@pytest.mark.parametrize("answer", [b"<html>", b'{"match": []}', b"[]", b'{"matches": 3}'])
def test_a_server_that_is_none_is_named(answer: bytes) -> None:
    with (
        language_tool(answer) as (url, _),
        pytest.raises(ConfigurationError, match="no answer that can be read"),
    ):
        grammar_errors(url)("fine")


def test_addresses_that_lead_nowhere() -> None:
    with pytest.raises(ConfigurationError, match=r"Start it, or leave it out\."):
        grammar_errors("http://127.0.0.1:9")("fine")
    for wrong in ("127.0.0.1:8081", "file:///etc/passwd", "http://"):
        with pytest.raises(UsageError, match="is no address of a LanguageTool server"):
            grammar_errors(wrong)


# A served model.


LIKELY = {"the": 0.5, "ticket": 0.25, "is": 0.125, "late": 0.5}


@contextmanager
def serving(**routes: Callable[[dict[str, Any]], Any]) -> Iterator[str]:
    """A server whose routes answer bodies with bodies; the base URL of its OpenAI protocol."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            route = routes.get(self.path.strip("/").replace("/", "_"))
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(404 if route is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps({} if route is None else route(body)).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def echoes(body: dict[str, Any]) -> dict[str, Any]:
    """As vLLM answers: the prompt's tokens, of which nothing foretells the first, and one of its own."""
    assert (body["model"], body["echo"], body["logprobs"]) == ("m", True, 1)
    tokens = [*body["prompt"].split(), "own"]
    offsets = [body["prompt"].index(each) for each in tokens[:-1]] + [len(body["prompt"])]
    logs = [None, *(log(LIKELY[each]) for each in tokens[1:-1]), log(0.9)]
    return {"choices": [{"logprobs": {"tokens": tokens, "token_logprobs": logs, "text_offset": offsets}}]}


def completes(body: dict[str, Any]) -> dict[str, Any]:
    """As llama.cpp answers: with what it makes alone, and with its probability before any bias."""
    ((token, bias),) = body["logit_bias"]
    assert (len(body["prompt"]) >= 1, bias > 100, body["n_probs"], body["n_predict"]) == (True, True, 1, 1)
    return {"completion_probabilities": [{"id": token, "logprob": log(LIKELY[WORDS[token]])}]}


def alone(body: dict[str, Any]) -> dict[str, Any]:
    del body
    return {"choices": [{"text": "own", "logprobs": {"content": [{"token": "own", "logprob": -0.1}]}}]}


def tokens_of(body: dict[str, Any]) -> dict[str, Any]:
    return {"tokens": [WORDS.index(each) for each in body["content"].split()]}


@pytest.mark.parametrize(
    "routes",
    [{"v1_completions": echoes}, {"v1_completions": alone, "tokenize": tokens_of, "completion": completes}],
    ids=["vllm", "llama.cpp"],
)
def test_perplexity_by_a_served_model_is_that_of_every_token_but_the_first(routes: dict[str, Any]) -> None:
    with serving(**routes) as url:
        measure = perplexity(f"compatible:m@{url}")
        wanted = exp(-(log(0.25) + log(0.125) + log(0.5)) / 3)
        assert measure("the ticket is late") == pytest.approx(wanted)
        with pytest.raises(UsageError, match="'the' is too short to have one"):
            measure("the")
    assert measure("the ticket is late") == pytest.approx(wanted)  # it is asked once for each text


@pytest.mark.parametrize(
    ("routes", "said"),
    [
        ({"v1_completions": alone}, "tokenize gave no answer that can be read .HTTPError: HTTP Error 404"),
        (
            {
                "v1_completions": alone,
                "tokenize": tokens_of,
                "completion": lambda _: {"completion_probabilities": [{"id": 0, "logprob": -1.0}]},
            },
            "does not tell the log-probabilities of a prompt's tokens .*it does not follow logit_bias",
        ),
        (
            {"v1_completions": alone, "tokenize": tokens_of, "completion": lambda _: {"content": "own"}},
            "does not tell the log-probabilities of a prompt's tokens .KeyError",
        ),
    ],
)
def test_a_server_that_does_not_tell_probabilities_is_named(routes: dict[str, Any], said: str) -> None:
    with serving(**routes) as url, pytest.raises(ConfigurationError, match=said):
        perplexity(f"compatible:m@{url}")("the ticket is late")


@pytest.mark.parametrize(
    "name", ["compatible:m", "compatible:@http://127.0.0.1:1/v1", "compatible:m@127.0.0.1"]
)
def test_the_name_of_a_served_model_is_checked_first(name: str) -> None:
    with pytest.raises(UsageError, match="is not compatible:MODEL@URL"):
        perplexity(name)


def test_harper_counts_errors_in_this_process() -> None:
    pytest.importorskip("harper")
    errors = grammar_errors("harper")
    assert errors("The soup was cold.") == 0
    assert errors("The the soup were an cold.") >= 2


def test_harper_is_for_english_and_has_to_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="Harper checks English only, not 'de-DE'"):
        grammar_errors("harper", "de-DE")
    monkeypatch.setattr("pytest_promptfuzz.evaluating.fluency.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="pip install harper-py"):
        grammar_errors("harper")
