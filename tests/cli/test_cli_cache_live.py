"""``promptfuzz cache verify --live`` against the local model server: what is asked, of whom, and with which key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from stored import answer, entry, record

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.errors import ConfigurationError
from pytest_promptfuzz.providers.requests import Request, Response
from pytest_promptfuzz.running.limits import lanes
from pytest_promptfuzz.server.faults import (
    BadRequest,
    Dropped,
    Malformed,
    Overloaded,
    RateLimited,
    ServerError,
)
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.recordings.files import ordered
from pytest_promptfuzz.targets.sdk_clients import credentials_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "a-key-of-no-known-shape-17"
VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "PROMPTFUZZ_API_KEY",
    "AZURE_OPENAI_API_KEY",
)


class Clerk:
    """Says what stands behind ``say`` in the request."""

    version = "clerk-2"

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        del sample
        said = str(request.messages[-1]["content"]).partition("say ")[2]
        return Response(said, model=self.version, finish_reason="stop")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    with ModelServer(Clerk()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server


def recorded(url: str, *said: str, folder: Path, stream: bool = False) -> None:
    """A recording whose requests ask for ``yes-N`` and whose answers were ``said``."""
    entries = []
    for number, each in enumerate(said):
        made = answer(f"{number}: say yes", each, url=url)
        if stream:
            event = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": each}}]}
            end = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
            body = "".join(f"data: {json.dumps(one)}\n\n" for one in (event, end)) + "data: [DONE]\n\n"
            made = answer(
                url=url,
                request={**made.request, "stream": True},
                content_type="text/event-stream",
                body=body,
            )
        entries.append(entry(f"test_{number}", made))
    record(folder, **{each.test: ordered([], [each]) for each in entries})


def verify(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["cache", "verify", "--live", *arguments])
    done = capsys.readouterr()
    return code, " ".join((done.out + done.err).split())


@pytest.mark.parametrize("stream", [False, True])
def test_answers_are_compared_with_what_is_recorded(server, tmp_path, capsys, stream) -> None:
    recorded(server.openai_url + "/chat/completions", "yes", "Yes.", "no", folder=tmp_path, stream=stream)
    code, text = verify(capsys)
    assert code == 1
    assert "test_0, baseline: equivalent" in text
    assert "test_2, baseline: deviation" in text
    assert "recorded 2025-10-09, model clerk-2 (was " in text
    assert (
        "Asked 3 requests again: 2 equivalent, 1 deviation; 3 answers by another model than recorded." in text
    )
    assert server.calls == 3
    asked = {json.dumps(each.body, sort_keys=True) for each in server.requests}
    assert (
        json.dumps({**answer("0: say yes").request, **({"stream": True} if stream else {})}, sort_keys=True)
        in asked
    )
    assert KEY not in text


def test_a_sample_is_the_same_for_the_same_seed(server, tmp_path, capsys) -> None:
    recorded(server.openai_url + "/chat/completions", *["yes"] * 8, folder=tmp_path)

    def asked(*arguments: str) -> list[str]:
        main(["cache", "verify", "--live", "--json", "--sample", "3", *arguments])
        found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["asked"]
        assert {each["outcome"] for each in found} == {"equivalent"}
        return [each["test"] for each in found]

    first = asked()
    assert (len(first), server.calls) == (3, 3)
    assert asked("--seed", "0") == first
    assert any(asked("--seed", str(seed)) != first for seed in (1, 2, 3))


def test_a_failure_is_no_deviation(server, tmp_path, capsys) -> None:
    recorded(server.openai_url + "/chat/completions", "yes", folder=tmp_path)
    server.fail(RateLimited(times=None, retry_after=0.01))
    code, text = verify(capsys)
    assert (code, "error: " in text, "429" in text, "1 error" in text) == (3, True, True, True), text
    assert (server.calls, "(try 4 of 4)" in text) == (4, True)
    assert "by another model" not in text


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "fault",
    [RateLimited(times=3, retry_after=0.01), ServerError(times=3), Dropped(times=3), Overloaded(times=3)],
    ids=lambda each: each.name,
)
def test_a_failure_that_passes_is_asked_again(server, tmp_path, capsys, monkeypatch, fault, stream) -> None:
    monkeypatch.setattr(lanes, "FIRST_WAIT", 0.005)
    monkeypatch.setattr(lanes, "FIRST_PAUSE", 0.005)
    recorded(server.openai_url + "/chat/completions", "yes", folder=tmp_path, stream=stream)
    server.fail(fault)
    assert (verify(capsys)[0], server.calls) == (0, 4)


@pytest.mark.parametrize("fault", [Malformed(times=None), BadRequest(times=None)], ids=lambda each: each.name)
def test_a_failure_that_stays_is_not(server, tmp_path, capsys, fault) -> None:
    recorded(server.openai_url + "/chat/completions", "yes", "yes", folder=tmp_path)
    one = '[tool.promptfuzz.limits]\n"*" = { concurrency = 1 }\n'  # the second call waits for the first to be over
    (tmp_path / "pyproject.toml").write_text(one, encoding="utf-8")
    server.fail(fault)
    assert (verify(capsys)[0], server.calls) == (3, 2)


def test_the_budget_holds(server, tmp_path, capsys) -> None:
    recorded(server.openai_url + "/chat/completions", "yes", "yes", "yes", folder=tmp_path)
    code, text = verify(capsys, "--max-calls=2")
    assert (code, server.calls) == (3, 2)
    assert "The budget is spent: --max-calls is 2, and 2 calls were made." in text
    server.reset()
    code, text = verify(capsys, "--max-tokens=30")
    assert (code, server.calls) == (3, 0)
    assert "--max-tokens is 30, 0 are spent, and this call may take" in text


def test_the_prices_of_the_project_hold(server, tmp_path, capsys) -> None:
    recorded(server.openai_url + "/chat/completions", "yes", folder=tmp_path)
    code, text = verify(capsys, "--max-cost=1")
    assert (code, server.calls) == (3, 0)
    assert "--max-cost is set, and no price is known of the model" in text
    prices = '[tool.promptfuzz.prices]\n"*" = { input = 1, output = 1 }\n'
    (tmp_path / "pyproject.toml").write_text(prices, encoding="utf-8")
    assert (verify(capsys, "--max-cost=1")[0], server.calls) == (0, 1)
    (tmp_path / "pyproject.toml").write_text(prices.replace("input", "inputs"), encoding="utf-8")
    code, text = verify(capsys)
    assert (code, "unknown key 'inputs'" in text, server.calls) == (2, True, 1)


def test_without_a_key_nothing_is_asked(server, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    recorded(server.openai_url + "/chat/completions", "yes", folder=tmp_path)
    code, text = verify(capsys)
    assert (code, "needs a key; set OPENAI_API_KEY." in text, server.calls) == (2, True, 0)


def test_a_strange_host_is_sent_nothing(server, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    recorded("https://evil.example/v1/chat/completions", "yes", folder=tmp_path)
    code, text = verify(capsys)
    assert (code, "evil.example is neither where OpenAI nor where Anthropic answers" in text) == (2, True)


def test_where_one_host_may_not_be_asked_none_is(server, tmp_path, capsys) -> None:
    good = answer("0: say yes", "yes", url=server.openai_url + "/chat/completions")
    bad = answer("1: say yes", "yes", url="https://evil.example/v1/chat/completions")
    record(
        folder=tmp_path,
        **{f"test_{n}": ordered([], [entry(f"test_{n}", made)]) for n, made in enumerate((good, bad))},
    )
    code, text = verify(capsys)
    assert (code, "evil.example is neither" in text, server.calls) == (2, True, 0)


def test_an_edited_request_is_sent_to_nobody(server, tmp_path, capsys) -> None:
    recorded(server.openai_url + "/chat/completions", "yes", folder=tmp_path)
    (path,) = (tmp_path / "__promptfuzz__").glob("*.calls.jsonl")
    path.write_bytes(path.read_bytes().replace(b"say yes", b"say all"))
    code, text = verify(capsys)
    assert (code, "Nothing was asked again" in text, server.calls) == (1, True, 0)


def test_simulated_answers_cannot_be_asked_again(server, tmp_path, capsys) -> None:
    recorded("promptfuzz://simulated/simulated-1", "yes", folder=tmp_path)
    code, text = verify(capsys)
    assert (code, "none of the 1 recorded answer can be asked again" in text) == (2, True)


@pytest.mark.parametrize(
    ("option", "value"),
    [("--sample", "3"), ("--seed", "1"), ("--host", "a"), ("--max-calls", "0"), ("--attempts", "1")],
)
def test_options_of_live_need_live(server, capsys, option, value) -> None:
    assert main(["cache", "verify", option, value]) == 2
    assert f"{option} is for asking the provider again. Add --live" in capsys.readouterr().err


@pytest.mark.parametrize("sample", ["0", "-1", "many"])
def test_a_sample_is_a_number(server, capsys, sample) -> None:
    assert main(["cache", "verify", "--live", f"--sample={sample}"]) == 2
    assert "is not a whole number of 1 or more" in capsys.readouterr().err


def test_keys_go_where_they_belong_and_nowhere_else(monkeypatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in (("OPENAI", "o"), ("ANTHROPIC", "a"), ("PROMPTFUZZ", "p"), ("AZURE_OPENAI", "z")):
        monkeypatch.setenv(f"{name}_API_KEY", value)
    assert credentials_for("https://api.openai.com/v1/responses") == {"authorization": "Bearer o"}
    assert credentials_for("https://api.anthropic.com/v1/messages") == {"x-api-key": "a"}
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "t")
    assert credentials_for("https://api.anthropic.com/v1/messages") == {"authorization": "Bearer t"}
    assert credentials_for("http://localhost:11434/v1/chat/completions") == {}
    for strange in (
        "http://api.openai.com/v1/responses",
        "https://api.openai.com:8443/v1/responses",
        "https://api.openai.com.evil.example/v1/responses",
        "https://api.openai.com@evil.example/v1/responses",
        "https://x.azure.com/v1/chat/completions",
    ):
        with pytest.raises(ConfigurationError, match="is sent nothing"):
            credentials_for(strange)
    allowed = frozenset({"host.example", "x.azure.com"})
    assert credentials_for("https://host.example/v1/messages", allowed) == {"authorization": "Bearer p"}
    assert credentials_for("https://x.azure.com/v1/messages", allowed) == {"api-key": "z"}
    with pytest.raises(ConfigurationError, match="without https"):
        credentials_for("http://host.example/v1/messages", allowed)
