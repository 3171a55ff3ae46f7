"""``promptfuzz serve`` as a process: it prints where it is, answers, logs, and stops on a signal."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.server.command import serve
from pytest_promptfuzz.server.model_server import ModelServer
from tests import warm

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = "import sys; from pytest_promptfuzz.server.command import serve; sys.exit(serve(sys.argv[1:]))"


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_serves_until_it_is_stopped(signum: signal.Signals) -> None:
    command = [sys.executable, "-c", PROGRAM, "--port", "0", "--log", "--fault", "rate-limit:retry-after=1"]
    with warm.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = [process.stdout.readline().strip() for _ in range(4)]
        assert lines[2].startswith("OPENAI_BASE_URL=http://127.0.0.1:")
        assert lines[3].startswith("ANTHROPIC_BASE_URL=http://127.0.0.1:")
        host = lines[3].removeprefix("ANTHROPIC_BASE_URL=http://")
        body = json.dumps(
            {"model": "m", "messages": [{"role": "user", "content": "Classify as spam or ham: hi mum"}]}
        )
        statuses = []
        for _ in range(2):
            connection = http.client.HTTPConnection(host, timeout=120)
            connection.request("POST", "/v1/chat/completions", body)
            answer = connection.getresponse()
            statuses.append((answer.status, answer.getheader("retry-after")))
            answer.read()
            connection.close()
        assert statuses == [(429, "1"), (200, None)]
        process.send_signal(signum)
        rest = process.stdout.read()
        assert process.wait(timeout=120) == 0
        assert process.stderr.read() == ""
    assert rest.splitlines() == [
        "POST /v1/chat/completions 429",
        "POST /v1/chat/completions 200",
        "Stopped after 2 calls.",
    ]


def test_programs_are_told_as_json_where_it_serves_what_was_asked_and_the_end() -> None:
    command = [sys.executable, "-c", PROGRAM, "--port", "0", "--log", "--json", "--fault", "dropped"]
    with warm.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready["ready"] is True
        assert ready["url"] == f"http://127.0.0.1:{ready['port']}"
        assert ready["openai_url"] == f"{ready['url']}/v1"
        body = json.dumps(
            {"model": "m", "messages": [{"role": "user", "content": "Is it good or bad? Fine"}]}
        )
        for _ in range(2):
            connection = http.client.HTTPConnection("127.0.0.1", ready["port"], timeout=120)
            headers = {"authorization": f"Bearer {ready['key']}"}
            with contextlib.suppress(http.client.RemoteDisconnected):
                connection.request("POST", "/v1/chat/completions", body, headers)
                connection.getresponse().read()
            connection.close()
        process.send_signal(signal.SIGTERM)
        rest = [json.loads(each) for each in process.stdout.read().splitlines()]
        assert process.wait(timeout=120) == 0
    asked = {"method": "POST", "path": "/v1/chat/completions"}
    assert rest == [{**asked, "status": None}, {**asked, "status": 200}, {"stopped": True, "calls": 2}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "70000"], "--port 70000 is out of range. Write a port from 0 to 65535."),
        (["--port", "many"], "argument --port: invalid int value: 'many'"),
        (["--bogus"], "unrecognized arguments: --bogus"),
    ],
)
def test_programs_are_told_as_json_why_nothing_is_served(arguments, message, capsys) -> None:
    assert serve([*arguments, "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out) == {"error": message, "exit_code": 2}
    assert message in said.err


def test_records_a_provider_until_it_is_stopped(tmp_path: Path) -> None:
    body = json.dumps(
        {"model": "m", "messages": [{"role": "user", "content": "Classify as spam or ham: hi mum"}]}
    )
    with ModelServer() as provider:
        command = [sys.executable, "-c", PROGRAM, "--port", "0", "--log", "--proxy", provider.openai_url]
        for hits in (0, 1):
            with warm.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
                assert process.stdout is not None
                assert process.stdout.readline().startswith(
                    f"Recording {provider.openai_url} into .promptfuzz;"
                )
                host = process.stdout.readline().strip().rpartition("http://")[2]
                connection = http.client.HTTPConnection(host, timeout=120)
                connection.request("POST", "/chat/completions", body, {"content-type": "application/json"})
                assert connection.getresponse().status == 200
                connection.close()
                process.send_signal(signal.SIGTERM)
                rest = process.stdout.read().splitlines()
                assert process.wait(timeout=120) == 0
            assert rest == [
                "POST /chat/completions 200",
                f"Stopped after 1 calls, {hits} of them answered from the local cache.",
            ]
        assert provider.calls == 1


def test_programs_are_told_as_json_where_it_records(tmp_path: Path) -> None:
    with ModelServer() as provider:
        command = [sys.executable, "-c", PROGRAM, "--port", "0", "--json", "--proxy", provider.openai_url]
        with warm.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            process.send_signal(signal.SIGTERM)
            rest = process.stdout.read()
            assert process.wait(timeout=120) == 0
    where = {"upstream": command[-1], "cache_dir": ".promptfuzz"}
    assert ready == {
        "ready": True,
        "url": f"http://127.0.0.1:{ready['port']}",
        "port": ready["port"],
        **where,
    }
    assert json.loads(rest) == {"stopped": True, "calls": 0, "hits": 0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--proxy", "ftp://example.com"], "not an http or https URL"),
        (["--proxy", "http://localhost:1/v1", "--noise", "0.5"], "--noise is for the simulated model"),
    ],
)
def test_what_cannot_be_recorded(arguments, message, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert serve([*arguments, "--port", "0"]) == 2
    assert message in capsys.readouterr().err
