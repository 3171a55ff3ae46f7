"""``promptfuzz_embedder``: a provider's embeddings in real pytest processes against the local model server."""

from __future__ import annotations

import json
import shutil

import pytest

from pytest_promptfuzz.server.faults import ServerError, Unauthorized
from pytest_promptfuzz.server.model_server import ModelServer
from tests.in_process import promptfuzz
from tests.plugin.conftest import PROMPT

pytest.importorskip("openai")

EMBEDDER = "openai:text-embedding-3-small"
INI = f"""
[pytest]
asyncio_default_fixture_loop_scope = function
promptfuzz_target = openai:gpt-5-mini
promptfuzz_embedder = {EMBEDDER}
promptfuzz_inconclusive = pass
filterwarnings = error
"""
BODY = """
REWORDED = [
    "Your parcel left our warehouse this morning and should arrive tomorrow.",
    "The parcel was shipped from our warehouse this morning; expect delivery tomorrow.",
]

@robust(TRIAGE, mutations=4, task="generation", threshold=0.7)
def test_reply(prompt):
    return REWORDED[str(prompt) != TRIAGE.text]
"""


@pytest.fixture
def server(monkeypatch):
    for name in ("CI", "PROMPTFUZZ_MODE", "PROMPTFUZZ_TARGET", "PROMPTFUZZ_EMBEDDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-no-known-shape-17")
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        yield server


@pytest.fixture
def run(pytester: pytest.Pytester, server):
    pytester.makefile(".ini", pytest=INI)

    def run(source: str | None, *arguments: str, alone: bool = False) -> pytest.RunResult:
        if source is not None:
            pytester.makepyfile(test_it=PROMPT + source)
        start = pytester.runpytest_subprocess if alone else pytester.runpytest
        return start("-p", "no:cacheprovider", *arguments)

    return run


def said(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())


def asked(server) -> list[int]:
    return [len(each.body["input"]) for each in server.requests if each.path.endswith("/embeddings")]


def test_one_call_a_test_and_none_in_the_second_run(run, server):
    first = run(BODY)
    first.assert_outcomes(passed=1)
    first.stdout.fnmatch_lines([f"promptfuzz: semantic comparison by {EMBEDDER}"])
    assert "1 call made" in said(first)
    assert asked(server) == [2]
    second = run(
        BODY + "\ndef test_light():\n    import sys\n    assert not {'openai', 'numpy'} & set(sys.modules)\n",
        alone=True,
    )
    second.assert_outcomes(passed=2)
    assert "0 calls made" in said(second) or "calls made" not in said(second)
    assert asked(server) == [2]


def test_recorded_and_replayed(run, server, pytester, monkeypatch):
    recorded = run(BODY, "--promptfuzz-mode=record")
    recorded.assert_outcomes(passed=1)
    assert asked(server) == [2]
    lines = (pytester.path / "__promptfuzz__" / "test_it.calls.jsonl").read_text().splitlines()
    assert [json.loads(line)["trial"] for line in lines if "/embeddings" in line] == ["embedder"]
    checked = promptfuzz("cache", "verify")
    assert checked.returncode == 0
    shutil.rmtree(pytester.path / ".promptfuzz")
    server.stop()
    monkeypatch.delenv("OPENAI_API_KEY")
    replayed = run(None, "--promptfuzz-mode=replay")
    replayed.assert_outcomes(passed=1)


def test_a_replay_finds_vectors_by_text_whichever_call_they_were_in(run, server, pytester):
    run(BODY, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    path = pytester.path / "test_it.py"
    path.write_text(
        path.read_text().replace(
            "REWORDED[str(prompt) != TRIAGE.text]", "REWORDED[str(prompt) == TRIAGE.text]"
        )
    )
    shutil.rmtree(pytester.path / ".promptfuzz")
    run(None, "--promptfuzz-mode=replay").assert_outcomes(passed=1)
    assert asked(server) == [2]


def test_what_is_not_recorded_is_said(run, server, pytester):
    run(BODY, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    path = pytester.path / "test_it.py"
    path.write_text(path.read_text().replace("expect delivery tomorrow", "you have it the day after"))
    result = run(None, "--promptfuzz-mode=replay")
    result.assert_outcomes(errors=1)
    text = said(result)
    assert f"comparing meaning by {EMBEDDER}" in text
    assert "the request of the embedder differs from the recording" in text
    assert "Record what is missing with --promptfuzz-mode=record-missing" in text
    assert asked(server) == [2]


def test_a_provider_that_fails_is_an_error_never_a_deviation(run, server):
    server.fail(ServerError())
    result = run(BODY, "--promptfuzz-attempts=1")
    result.assert_outcomes(passed=1)  # inconclusive, which this project lets pass
    result.stdout.fnmatch_lines(["test_it.py::test_reply * -  *  0  0  0    4 *"])
    assert len(asked(server)) <= 2, "one call for all texts, and no other for each pair"


def test_a_refused_key_is_a_matter_of_configuration(run, server):
    server.fail(Unauthorized())
    result = run(BODY)
    result.assert_outcomes(errors=1)
    assert "Check the key and what it may do" in said(result)


def test_a_budget_of_calls_holds_for_embeddings(run, server):
    result = run(BODY, "--promptfuzz-max-calls=0")
    assert asked(server) == []
    result.stdout.fnmatch_lines(["test_it.py::test_reply * -  *  0  0  0    4 *"])


@pytest.mark.parametrize(
    ("arguments", "variable", "where"),
    [
        (["--promptfuzz-embedder=minilm"], None, "--promptfuzz-embedder"),
        ([], "minilm", "PROMPTFUZZ_EMBEDDER"),
    ],
)
def test_a_bad_name_is_refused_at_the_start(run, server, monkeypatch, arguments, variable, where):
    if variable:
        monkeypatch.setenv("PROMPTFUZZ_EMBEDDER", variable)
    result = run(BODY, *arguments)
    text = result.stdout.str() + result.stderr.str()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert where in text
    assert "minilm" in text
    assert "openai:text-embedding-3-small" in text


def test_secrets_are_not_written(run, server, pytester):
    body = BODY.replace("expect delivery tomorrow.", "expect delivery tomorrow, sk-abcdefgh12345678.")
    run(body, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    for path in pytester.path.rglob("*"):
        if path.is_file() and path.name != "test_it.py" and path.suffix != ".pyc":
            assert b"sk-abcdefgh12345678" not in path.read_bytes(), path
    shutil.rmtree(pytester.path / ".promptfuzz")
    server.stop()
    run(None, "--promptfuzz-mode=replay").assert_outcomes(passed=1)
