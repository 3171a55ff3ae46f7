"""Names of targets, and the request made from a prompt."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.providers.requests import Target
from pytest_promptfuzz.targets.resolution import CallableTarget, as_request, resolve, schemes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("no_keys")
LOCAL = "http://localhost:11434/v1"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai:gpt-5-mini", "openai:gpt-5-mini"),
        (" openai:ft:gpt-5-mini:acme ", "openai:ft:gpt-5-mini:acme"),
        ("openai-responses:gpt-5-mini", "openai-responses:gpt-5-mini"),
        ("anthropic:claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        (f"compatible:llama3.2:3b@{LOCAL}/", f"compatible:llama3.2:3b@{LOCAL}"),
        (f"compatible:claude@2024@{LOCAL}", f"compatible:claude@2024@{LOCAL}"),
        ("simulated", "simulated"),
        ("simulated?noise=0.2&seed=3", "simulated?seed=3&noise=0.2"),
    ],
)
def test_names(name: str, expected: str) -> None:
    target = resolve(name)
    assert isinstance(target, Target)
    assert set(target.name.replace("?", "&").split("&")) == set(expected.replace("?", "&").split("&"))
    assert resolve(target) is target


def test_functions_and_targets_of_functions() -> None:
    target = resolve(lambda prompt: prompt)
    assert isinstance(target, CallableTarget)
    assert resolve(target) is target


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (None, ConfigurationError, "No target. Write"),
        ("  ", ConfigurationError, "No target. Write"),
        ("gpt-5-mini", UsageError, "Did you mean 'openai:gpt-5-mini'"),
        ("o3", UsageError, "Did you mean 'openai:o3'"),
        ("claude-sonnet-4-5", UsageError, "Did you mean 'anthropic:claude-sonnet-4-5'"),
        ("opnai:gpt-5-mini", UsageError, "Did you mean 'openai:gpt-5-mini'"),
        ("OpenAI:gpt-5-mini", UsageError, "Did you mean 'openai:gpt-5-mini'"),
        ("llama3:8b", UsageError, "compatible:MODEL@URL"),
        ("://", UsageError, "is no model"),
        ("openai:", UsageError, "names no model. Write 'openai:MODEL', as in 'openai:gpt-5-mini'"),
        ("openai", UsageError, "names no model"),
        ("anthropic: ", UsageError, "names no model"),
        ("compatible:llama", UsageError, "compatible:llama3.2@http://localhost:11434/v1"),
        (f"compatible:@{LOCAL}", UsageError, "compatible:llama3.2@"),
        ("compatible:m@ftp://host", UsageError, "not an http or https URL"),
        (3, UsageError, "neither the name of a model"),
        (["openai:m"], UsageError, "neither the name of a model"),
    ],
)
def test_bad_names_say_what_to_write(given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        resolve(given)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://user:hunter2hunter2@host/v1",
        "http://host/v1?key=hunter2hunter2",
        "http://host/v1#hunter2hunter2",
    ],
)
def test_credentials_in_a_url_are_refused_and_not_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(f"compatible:m@{url}")
    assert "hunter2" not in str(caught.value)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(UsageError, match="OPENAI_BASE_URL") as caught:
        resolve("openai:m").prepare(as_request("Hi"))  # type: ignore[union-attr]
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"timeot": 3}, "no option 'timeot'. Did you mean 'timeout'?"),
        ({"timeout": 0}, "timeout=0"),
        ({"timeout": True}, "timeout=True"),
        ({"timeout": "60"}, "timeout='60'"),
        ({"timeout": float("nan")}, "timeout=nan"),
        ({"max_retries": -1}, "max_retries=-1"),
        ({"max_retries": 1.5}, "max_retries=1.5"),
        ({"base_url": "localhost:80"}, "base URL"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve("openai:m", **options)
    assert words in str(caught.value)


def test_options_belong_to_names() -> None:
    with pytest.raises(UsageError, match="timeout"):
        resolve(lambda prompt: prompt, timeout=3)
    with pytest.raises(UsageError, match="does not take these options"):
        resolve("simulated", timeout=3)


def test_default_parameters_give_way_to_the_requests() -> None:
    target = resolve("openai:m", parameters={"temperature": 0, "seed": 1})
    body = target.prepare(as_request("Hi", temperature=1)).body  # type: ignore[union-attr]
    assert (body["temperature"], body["seed"]) == (1, 1)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package that adds targets."""
    info = tmp_path / "acme_targets-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: acme-targets\nVersion: 1.0\n", encoding="utf-8"
    )
    entries = "acme = acme_targets:make\nbroken = acme_targets:missing\nodd = acme_targets:odd\n"
    (info / "entry_points.txt").write_text(f"[promptfuzz.targets]\n{entries}", encoding="utf-8")
    source = """
from pytest_promptfuzz.targets.resolution import CallableTarget

def make(name, *, loud=False):
    return CallableTarget(lambda prompt: prompt.upper() if loud else prompt, name=name)

def odd(name):
    return 3
"""
    (tmp_path / "acme_targets.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield tmp_path
    sys.modules.pop("acme_targets", None)


@pytest.mark.usefixtures("package")
def test_packages_add_schemes() -> None:
    target = resolve("acme:x", loud=True)
    assert isinstance(target, CallableTarget)
    assert (target.name, target.call("hi")) == ("acme:x", "HI")
    assert "acme" in schemes()
    with pytest.raises(UsageError, match="Did you mean 'acme:x'"):
        resolve("acne:x")
    with pytest.raises(ConfigurationError, match="package 'acme-targets' cannot be loaded"):
        resolve("broken:x")
    with pytest.raises(ConfigurationError, match="not a target"):
        resolve("odd:x")
    with pytest.raises(UsageError, match="'quiet'"):
        resolve("acme:x", quiet=True)


def test_a_text_is_one_user_message() -> None:
    request = as_request("Hi", temperature=0)
    assert request.messages == ({"role": "user", "content": "Hi"},)
    assert request.parameters == {"temperature": 0}


def test_a_prompt_gives_its_messages() -> None:
    from pytest_promptfuzz.prompts.prompt import Prompt

    conversation = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    assert as_request(Prompt("Say hi.")).messages == ({"role": "user", "content": "Say hi."},)
    assert as_request(Prompt.from_messages(conversation)).messages == tuple(conversation)


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ([], "no messages"),
        (b"Hi", "type bytes"),
        (7, "type int"),
        (["Hi"], "Message 0 of the prompt is of type str"),
        ([{"role": "usr", "content": "Hi"}], "Did you mean 'user'"),
        ([{"content": "Hi"}], "role None"),
        (
            [{"role": "user", "content": "Hi"}, {"role": "user"}],
            "Message 1 of the prompt has content of type NoneType",
        ),
    ],
)
def test_bad_prompts_are_named(prompt: Any, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        as_request(prompt)
    assert words in str(caught.value)


@pytest.mark.parametrize("scheme", ["openai", "openai-responses", "anthropic"])
@pytest.mark.parametrize("calls", ["weather", {"name": "f"}, ["f"], [{"function": "f"}]])
def test_tool_calls_of_another_shape_are_named(scheme: str, calls: Any) -> None:
    request = as_request([{"role": "assistant", "content": "", "tool_calls": calls}])
    with pytest.raises(UsageError, match="Message 0 has tool_calls of another shape"):
        resolve(f"{scheme}:m").prepare(request)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"temperature": object()}, "parameter 'temperature' is of type object"),
        ({"tools": [{"a": {1}}]}, "parameter 'tools'[0]['a'] is of type set"),
        ({"temperature": float("nan")}, "nan"),
        ({"logit_bias": {1: 2}}, "key 1"),
        ({"stream": True}, "stream="),
        ({"model": "other"}, "the target names the model"),
        ({"n": 3}, "n=3"),
        ({"extra_headers": ["x"]}, "extra_headers="),
        ({"extra_body": ["x"]}, "extra_body"),
    ],
)
def test_what_cannot_be_sent_is_named(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve("openai:m").prepare(as_request("Hi", **parameters))  # type: ignore[union-attr]
    assert words in str(caught.value)
