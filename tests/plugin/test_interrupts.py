"""Ctrl-C in a real pytest process: it ends by itself, without a warning, and what was answered is kept."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.server.model_server import ModelServer
from tests import warm
from tests.plugin.conftest import INI, PROMPT
from tests.plugin.stalling import Stalling

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")

CONFTEST = """
import json
import threading
from pathlib import Path

def pytest_unconfigure(config):
    Path("threads.json").write_text(json.dumps([each.name for each in threading.enumerate()]))
"""
HEAD = """
import anthropic
import openai
import pytest

def asked(prompt):
    return {"messages": [{"role": "user", "content": str(prompt.format(ticket=TICKET))}]}

"""
# Seven calls each: the baseline and six mutations.
BODIES = {
    "sync": """
    CLIENT = openai.OpenAI()

    @robust(TRIAGE, mutations=6)
    def test_it(prompt):
        return CLIENT.chat.completions.create(model="m", **asked(prompt)).choices[0].message.content
    """,
    "async": """
    @robust(TRIAGE, mutations=6)
    @pytest.mark.asyncio
    async def test_it(prompt):
        async with openai.AsyncOpenAI() as client:
            answer = await client.chat.completions.create(model="m", **asked(prompt))
            return answer.choices[0].message.content
    """,
    "stream": """
    @robust(TRIAGE, mutations=6)
    @pytest.mark.asyncio
    async def test_it(prompt):
        async with anthropic.AsyncAnthropic() as client:
            async with client.messages.stream(model="m", max_tokens=50, **asked(prompt)) as events:
                return "".join([text async for text in events.text_stream])
    """,
    "declarative": """
    @robust(TRIAGE, inputs=[TICKET], target="openai:m", mutations=2)
    def test_first(response):
        assert response.text

    @robust(TRIAGE, inputs=["I cannot log in."], target="openai:m", mutations=3)
    def test_second(response):
        assert response.text
    """,
}
CALLS = 7
SOON = 900  # seconds: nothing here is about speed, only about ending without help


def taken(folder: Path) -> int:
    """How many answers the run has stored."""
    place = folder / ".promptfuzz" / "responses" / "cache.db"
    try:
        with contextlib.closing(sqlite3.connect(f"{place.as_uri()}?mode=ro", uri=True)) as stored:
            return int(stored.execute("SELECT COUNT(*) FROM Cache").fetchone()[0])
    except sqlite3.Error:  # not made yet, or being made
        return 0


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Start pytest on one of the bodies, and have its end: ``run(body, server, ready, *options)``."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
    (tmp_path / "pytest.ini").write_text(INI.replace("promptfuzz_target = simulated\n", ""), encoding="utf-8")
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")

    def started(body, server, ready, *options):
        source = PROMPT + HEAD + textwrap.dedent(BODIES[body])
        (tmp_path / "test_it.py").write_text(source, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
        command += ["--promptfuzz-concurrency=4", "--promptfuzz-controls=0"]
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": server.openai_url,
            "ANTHROPIC_BASE_URL": server.anthropic_url,
        }
        with warm.Popen(
            [*command, *options],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as child:
            limit = time.monotonic() + 2 * SOON
            while (
                ready is not None
                and not (ready() and taken(tmp_path))  # what is answered has to be taken as well
                and time.monotonic() < limit
                and child.poll() is None
            ):
                time.sleep(0.01)
            if ready is not None:
                child.send_signal(signal.SIGINT)
            output, _ = child.communicate(timeout=2 * SOON)
        threads = json.loads((tmp_path / "threads.json").read_text())
        assert [each for each in threads if each.startswith(("promptfuzz", "asyncio", "ThreadPool"))] == []
        return child.returncode, output

    return started


def ended_well(returncode, output):
    assert returncode == 2, output
    assert "KeyboardInterrupt" in output
    for trouble in ("Warning", "never awaited", "never retrieved", "INTERNALERROR", "Exception ignored"):
        assert trouble not in output, output


@pytest.mark.parametrize("body", ["sync", "async", "declarative"])
def test_calls_that_wait_for_their_turn_hear_of_it(run, body):
    with ModelServer() as server:
        # The fourth call of a minute waits for most of it.
        ended_well(*run(body, server, lambda: server.answered >= 3, "--promptfuzz-rpm=3"))
        assert server.calls == 3
        server.reset()
        assert run(body, server, None)[0] == 0
        assert CALLS - 3 <= server.calls < CALLS


@pytest.mark.parametrize("body", ["sync", "stream", "declarative"])
def test_calls_on_their_way_are_left_and_what_was_answered_is_kept(run, body):
    model = Stalling(1)  # no thread asks ahead yet: one that waits for an answer outlives the run
    with ModelServer(model) as server, contextlib.ExitStack() as ended:
        ended.callback(model.go_on.set)
        ended_well(*run(body, server, lambda: server.calls > 1))
        model.begin_anew(server)
        assert run(body, server, None)[0] == 0
        assert 0 < server.calls < CALLS
