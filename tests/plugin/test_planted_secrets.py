"""Credentials of many kinds, planted wherever an application may have one, stand in no file and in no output."""

from __future__ import annotations

import base64
import re
import shutil
import sys
import zlib
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from pytest_promptfuzz.providers.requests import Request, Response, Usage
from pytest_promptfuzz.server.faults import Unauthorized
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.recordings.checks import check
from tests.plugin.conftest import PROMPT, summary_of

OLD = Path(__file__).parents[1] / "data" / "recorded_under_rules_1"

PLANTED = {
    # headers
    "header: API key": "sk-proj-Hd72kLw0Qz81mNvB",
    "header: of no known shape": "hunter-two-of-no-known-shape",
    "header: cookie": "c00kie-5e55i0n-4711",
    "header: Azure key": "4b1f0c9d7e2a48d6b3f5",
    "header: basic password": "Ba5ic-pa55word-99",
    # query parameters and the address of the request
    "query: session_token": "qst-1f2e3d4c5b6a",
    "query: sas": "qsas-9e8d7c6b5a",
    "query: api_secret": "qapis-1029384756",
    "query: token": "qtok-5647382910",
    "query: sig": "qsig%2Fabc123/def=",
    "address: password": "pw-of-the-base-url-1",
    # fields of bodies, by name
    "body: session_token": "bst-77aa66bb55cc44dd",
    "body: sessionToken": "bsT2-88bb77cc66dd55ee",
    "body: user_password": "correct-horse-battery",
    "body: token": "btok-0a1b2c3d4e5f6071",
    "body: aws_secret_access_key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzKEY",
    "body: bearer in a text": "mF9B5f41JqM8tR2x",
    "body: pair of name and value": "nv-31415926535897932",
    "body: environment of a tool": "lic-27182818284590452",
    # fields of bodies, as providers document them
    "Azure: authentication.key": "azkey-abc-def-ghi",
    "Azure: connection_string": "AccountEndpoint=x;AccountKey=q1w2e3r4t5",
    "Azure: encoded_api_key": "ZW5jb2RlZC1hcGkta2V5",
    "Azure: access_token": "azure-access-token-x",
    "OpenAI: MCP authorization": "mcp-auth-plain-words",
    "OpenAI: MCP header": "workspace-of-the-company",
    "OpenAI: MCP server_url": "surl-6f5e4d3c2b1a",
    "OpenAI: domain secret": "domain-secret-plain",
    "Anthropic: authorization_token": "anthropic-mcp-words",
    "Anthropic: password in url": "anthr0pic-url-pw",
    # texts of bodies
    "text: postgres": "pg-pa55-w0rd",
    "text: redis": "redispass",
    "text: mongodb": "m0ng0-srv-pass",
    "text: X-Amz-Signature": "5d41402abc4b2a76b9719d911017c592ae2f",
    "text: X-Amz-Security-Token": "IQoJb3JpZ2luX2VjEJr1234567890",
    "text: Azure sig": "hYk8fD2sQ1aZ%2Bxx7%3D",
    "text: X-Goog-Signature": "8f14e45fceea167a5a36dedd4bea2543",
    "text: connection string": "Sw0rdfish4Sql",
    "text: Slack webhook": "https://hooks.slack.com/services/T0AAA/B0BBB/cCcCcCcCcCcCcCcCcCcC",
    "text: payment service": "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "text: Azure client secret": "aB38Q~abcdefghijklmnopqrstuvwxyz01234567",
    "tool: description": "tk9f8e7d6c5b4a39281706",
    "tool: default of a parameter": "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    # answers and errors
    "answer: shape": "ghp_0123456789abcdefghijABCDEFGHIJ",
    "answer: JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "answer: password in an address": "an5wer-dsn-pw",
    "error: key": "sk-ant-api03-Zz9Yy8Xx7Ww6Vv5",
    # elsewhere
    "environment": "e9Nv1r0nM3nt-Qw7Er5Ty3",
    "test ID": "gsk_1d0f7e5t9a8b7c6d5e4f3g2h",
    "exception": "xoxb-998877665544-abcdef",
    "captured output": "AKIAZZYYXXWWVVUUTTSS",
}
APPLICATION = """
import os
import anthropic, openai, pytest
from planted import PLANTED as P

BASE = os.environ["OPENAI_BASE_URL"]
chat = openai.OpenAI(
    api_key=P["header: API key"],
    max_retries=0,
    default_headers={
        "x-internal-token": P["header: of no known shape"],
        "cookie": "sid=" + P["header: cookie"],
        "api-key": P["header: Azure key"],
        "x-upstream-authorization": "Basic " + __import__("base64").b64encode(b"me:" + P["header: basic password"].encode()).decode(),
    },
    default_query={name.partition(": ")[2]: value for name, value in P.items() if name.startswith("query: ")},
)
TEXT = " and ".join([
    "use postgres://app:" + P["text: postgres"] + "@db.example/app",
    "redis://:" + P["text: redis"] + "@cache.example:6379/0",
    "mongodb+srv://me:" + P["text: mongodb"] + "@cluster.example/?w=1",
    "https://b.s3.example/k?X-Amz-Expires=60&X-Amz-Signature=" + P["text: X-Amz-Signature"] + "&X-Amz-Security-Token=" + P["text: X-Amz-Security-Token"],
    "https://a.blob.example/c?sv=2024&sig=" + P["text: Azure sig"],
    "https://g.example/o?X-Goog-Signature=" + P["text: X-Goog-Signature"],
    "Server=sql.example;User Id=me;Password=" + P["text: connection string"] + ";Encrypt=yes",
    P["text: Slack webhook"], P["text: payment service"], P["text: Azure client secret"],
    "Authorization: Bearer " + P["body: bearer in a text"],
    "I am " + os.environ["BILLING_SERVICE_KEY"],
])

def ask(prompt, client=chat, **more):
    return client.chat.completions.create(
        model="gpt-5-mini",
        messages=[
            {"role": "system", "content": TEXT},
            {"role": "user", "content": prompt.format(ticket=TICKET)},
        ],
        **more,
    )

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_chat(prompt):
    return ask(
        prompt,
        metadata={name.partition(": ")[2]: P[name] for name in P if name.startswith("body: ") and " " not in name[6:]},
        tools=[{"type": "function", "function": {
            "name": "look_up",
            "description": "Send api_key=" + P["tool: description"],
            "parameters": {"type": "object", "properties": {"t": {"type": "string", "default": P["tool: default of a parameter"]}}},
        }}],
        extra_body={
            "variables": [{"name": "db_password", "value": P["body: pair of name and value"]}],
            "launch": {"env": {"LICENSE_KEY": P["body: environment of a tool"]}},
            "data_sources": [{"type": "azure_search", "parameters": {"authentication": {
                each: P["Azure: " + each] for each in ("connection_string", "encoded_api_key", "access_token")
            } | {"key": P["Azure: authentication.key"]}}}],
        },
    ).choices[0].message.content

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_responses(prompt):
    return chat.responses.create(
        model="gpt-5-mini",
        input=prompt.format(ticket=TICKET),
        tools=[
            {"type": "mcp", "server_label": "x", "server_url": "https://mcp.example/sse?token=" + P["OpenAI: MCP server_url"],
             "authorization": P["OpenAI: MCP authorization"], "headers": {"X-Workspace": P["OpenAI: MCP header"]}},
            {"type": "shell", "environment": {"network_policy": {"domain_secrets": [
                {"domain": "x.example", "name": "N", "value": P["OpenAI: domain secret"]}]}}},
        ],
    ).output_text

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_messages(prompt):
    client = anthropic.Anthropic(api_key=P["header: API key"], max_retries=0)
    return client.messages.create(
        model="claude-sonnet-5", max_tokens=100,
        messages=[{"role": "user", "content": prompt.format(ticket=TICKET)}],
        extra_body={"mcp_servers": [{
            "type": "url", "name": "x", "authorization_token": P["Anthropic: authorization_token"],
            "url": "https://me:" + P["Anthropic: password in url"] + "@mcp.example/sse",
        }]},
    ).content[0].text

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_streamed(prompt):
    stream = ask(prompt, stream=True)
    return "".join(each.choices[0].delta.content or "" for each in stream if each.choices)

@robust(TRIAGE, mutations=2, threshold=0.0)
@pytest.mark.parametrize("key", [P["test ID"], P["test ID"] + "x"])
def test_named(prompt, key):
    print(P["captured output"])
    return ask(prompt).choices[0].message.content

@robust(TRIAGE, mutations=2)
def test_refused(prompt):
    ask(prompt, user="refused")

@robust(TRIAGE, mutations=2)
def test_unreachable(prompt):
    base = BASE.replace("://", "://user:" + P["address: password"] + "@").replace(BASE.split(":")[2].split("/")[0], "9")
    ask(prompt, openai.OpenAI(base_url=base, api_key=P["header: API key"], max_retries=0))

@robust(TRIAGE, mutations=2, threshold=1.0)
def test_raises(prompt):
    said = ask(prompt).choices[0].message.content
    assert prompt.text == TRIAGE.text, " ".join([P["exception"], P["header: of no known shape"], os.environ["BILLING_SERVICE_KEY"]])
    return said
"""


class Leaky:
    """A model that says what it was told, and more."""

    version = "leaky-2"

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        del sample
        told = " ".join(str(each["content"]) for each in request.messages)
        own = f"{PLANTED['answer: shape']} {PLANTED['answer: JSON web token']}"
        own += f" amqp://me:{PLANTED['answer: password in an address']}@mq.example "
        return Response(own + told[:3000], usage=Usage(1, 1), finish_reason="stop")


def forms(value: str) -> set[str]:
    """A value as it is, encoded for an address, and in base64."""
    encoded = base64.b64encode(value.encode()).decode().rstrip("=")
    return {value, quote(value, safe=""), quote_plus(value), encoded}


def readable(path: Path) -> bytes:
    """A file with what is packed in it laid open."""
    content = path.read_bytes()
    for packed in re.findall(rb"[A-Za-z0-9+/]{64,}={0,2}", content):
        try:
            content += zlib.decompress(base64.b64decode(packed))
        except (ValueError, zlib.error):
            continue
    return content


def leaks(folder: Path, printed: str) -> list[str]:
    """Where something planted stands, whole or encoded."""
    found = [
        f"{kind} is printed"
        for kind, value in PLANTED.items()
        if any(each in printed for each in forms(value))
    ]
    for path in folder.rglob("*"):
        if any(value in path.name for value in PLANTED.values()):
            found.append(f"the name of {path}")
        if path.is_file() and path.name not in {"test_it.py", "planted.py"} and path.suffix != ".pyc":
            content = readable(path)
            found += [
                f"{kind} is in {path.name}"
                for kind, value in PLANTED.items()
                if any(each.encode() in content for each in forms(value))
            ]
    return found


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest in this process. Only the project's own modules are forgotten: ours and the SDKs' stay one."""

    class Kept:
        def restore(self) -> None:
            for name, module in list(sys.modules.items()):
                if str(getattr(module, "__file__", None)).startswith(str(pytester.path)):
                    del sys.modules[name]

    pytester._sys_modules_snapshot.restore = lambda: None  # type: ignore[method-assign]  # of the fixture's end
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "400")
        patch.setattr(pytester, "_Pytester__take_sys_modules_snapshot", Kept)
        return pytester.runpytest_inprocess(*arguments)


def test_no_planted_credential_is_written_or_shown(pytester: pytest.Pytester, monkeypatch) -> None:
    assert len(PLANTED) >= 40
    assert len(set(PLANTED.values())) == len(PLANTED)
    for name in ("CI", "PROMPTFUZZ_MODE", "PROMPTFUZZ_TARGET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BILLING_SERVICE_KEY", PLANTED["environment"])
    ini = "[pytest]\nasyncio_default_fixture_loop_scope = function\npromptfuzz_inconclusive = pass\n"
    pytester.makefile(".ini", pytest=ini)
    pytester.makepyfile(test_it=PROMPT + APPLICATION, planted=f"PLANTED = {PLANTED!r}")
    arguments = (
        *(
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
            "-rA",
            "-v",
            "--promptfuzz-attempts=1",
            "--tb=short",
            "--junitxml=junit.xml",
        ),
        *("-o", "junit_logging=all", "--promptfuzz-report=json:r.json,html:r.html,md:r.md,sarif:r.sarif"),
    )
    with ModelServer(Leaky()) as server:
        refusal = f"Incorrect API key: {PLANTED['error: key']} of {PLANTED['header: of no known shape']}"
        server.fail(Unauthorized(message=refusal), when='"refused"')
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        for more in (("--promptfuzz-mode=record",), ("--promptfuzz-mode=replay", "--promptfuzz-update")):
            result = run(pytester, *arguments, *more)
            shown = result.stdout.str() + result.stderr.str()
            assert leaks(pytester.path, shown) == []
            verdicts = summary_of(result)
            assert {
                verdicts[each] for each in ("test_chat", "test_responses", "test_messages", "test_streamed")
            } == {"pass"}, shown
            assert {verdicts[f"test_named[[redacted]-{number}]"] for number in (0, 1)} == {"pass"}
        sent = " ".join(each.text for each in server.requests)
        assert all(
            PLANTED[each] in sent
            for each in PLANTED
            if each.startswith(("body: u", "Azure", "text: p", "OpenAI"))
        )
    recording = pytester.path / "__promptfuzz__" / "test_it.calls.jsonl"
    checked = check(recording)
    assert checked.entries
    assert [str(each) for each in checked.problems] == [], "what is written is what the check accepts"
    assert list((pytester.path / "__promptfuzz__").rglob("*.json")), "there are snapshots"


def test_a_recording_of_the_version_before_is_replayed_under_its_rules(
    pytester: pytest.Pytester, monkeypatch
) -> None:
    """Its keys hold what was not hidden then: two requests that differ in a token have two answers, and get them."""
    for name in ("CI", "PROMPTFUZZ_MODE", "PROMPTFUZZ_TARGET"):
        monkeypatch.delenv(name, raising=False)
    pytester.makefile(".ini", pytest="[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    shutil.copy(OLD / "application.py", pytester.path / "test_before.py")
    (pytester.path / "__promptfuzz__").mkdir()
    recording = shutil.copy(OLD / "test_before.calls.jsonl", pytester.path / "__promptfuzz__")
    checked = check(Path(recording))
    assert {each.answer.rules for each in checked.entries} == {1}
    problems = [each.why for each in checked.problems]
    assert problems, "today it would not be written"
    assert all(" holds a " in each for each in problems), "its keys are as they should be"
    for mode in ("replay", "auto"):  # there is no server: every answer is the recording's
        result = run(pytester, "-p", "no:cacheprovider", f"--promptfuzz-mode={mode}")
        result.assert_outcomes(passed=1)
        assert " 0 calls made" in result.stdout.str()
    newer = (
        Path(recording).read_text(encoding="utf-8").replace("tok-4f9a1c7e2b8d0365", "tok-4f9a1c7e2b8d0366")
    )
    Path(recording).write_text(newer, encoding="utf-8")
    assert any("was edited after" in each.why for each in check(Path(recording)).problems)


REDACTORS = """
import re

def personal(text, name):
    if name == "customer":
        return "[customer]"
    return re.sub(r"[\\w.]+@example\\.com", "[mail]", text)

def pytest_promptfuzz_redactors(config):
    return [personal]
"""
PERSONAL = """
import os, openai

@robust(TRIAGE, mutations=2, threshold=0.0)
@pytest.mark.parametrize("who", ["jane.doe@example.com"])
@pytest.mark.parametrize("stream", [False, True])
def test_personal(prompt, who, stream):
    answer = openai.OpenAI(api_key="k", max_retries=0).chat.completions.create(
        model="gpt-5-mini",
        messages=[{"role": "user", "content": f"I am {os.environ['WHO']}."}, {"role": "user", "content": prompt.format(ticket=TICKET)}],
        metadata={"customer": os.environ["CUSTOMER"]},
        stream=stream,
    )
    if not stream:
        return answer.choices[0].message.content
    return "".join(each.choices[0].delta.content or "" for each in answer if each.choices)
"""


def test_a_project_removes_personal_data_before_anything_is_stored(
    pytester: pytest.Pytester, monkeypatch
) -> None:
    for name in ("CI", "PROMPTFUZZ_MODE", "PROMPTFUZZ_TARGET"):
        monkeypatch.delenv(name, raising=False)
    pytester.makefile(".ini", pytest="[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(test_it="import pytest\n" + PROMPT + PERSONAL, conftest=REDACTORS)
    common = ("-p", "no:cacheprovider", "-v", "--promptfuzz-report=json:r.json")
    with ModelServer(Leaky()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("WHO", "jane.doe@example.com")
        monkeypatch.setenv("CUSTOMER", "Jane Doe")
        result = run(pytester, "--promptfuzz-mode=record", *common)
        result.assert_outcomes(passed=2)
        assert any("Jane Doe" in each.text for each in server.requests)
        printed = result.stdout.str()
        asked = server.calls
        # Who asks is no part of a key: another person's requests are answered from the recording.
        monkeypatch.setenv("WHO", "max.muster@example.com")
        monkeypatch.setenv("CUSTOMER", "Max Muster")
        again = run(pytester, "--promptfuzz-mode=replay", "--promptfuzz-update", *common)
        again.assert_outcomes(passed=2)
        assert server.calls == asked
        printed += again.stdout.str()
    written = [
        path for path in pytester.path.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}
    ]
    contents = {path.name: readable(path).decode("utf-8", "replace") for path in written}
    contents["printed"] = printed
    people = ("jane.doe", "Jane Doe", "max.muster", "Max Muster")
    assert [(name, who) for name, text in contents.items() for who in people if who in text] == []
    assert "[mail]" in contents["test_it.calls.jsonl"]
    assert "[customer]" in contents["test_it.calls.jsonl"]
    (pytester.path / "conftest.py").write_text(REDACTORS.replace("return [personal]", "return [personal, 1]"))
    refused = run(pytester, *common)
    assert (
        "pytest_promptfuzz_redactors returned 1 among the functions"
        in refused.stdout.str() + refused.stderr.str()
    )
    (pytester.path / "conftest.py").write_text(
        REDACTORS.replace("import re\n", "").replace("if name ==", "raise KeyError(9)\n    if name ==")
    )
    shutil.rmtree(pytester.path / ".promptfuzz")
    with ModelServer(Leaky()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        failed = run(pytester, *common, "--promptfuzz-mode=auto")
    assert "The redactor personal raised KeyError" in failed.stdout.str() + failed.stderr.str()
    assert not failed.parseoutcomes().get("passed")
    assert not any(b"Max Muster" in path.read_bytes() for path in pytester.path.rglob("*.db"))
