"""A real Redis server, and small projects whose model is a server on this machine."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.server.model_server import ModelServer
from tests.plugin.conftest import PROMPT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

INI = """
[pytest]
asyncio_default_fixture_loop_scope = function
promptfuzz_target = openai:gpt-5-mini
filterwarnings = error
"""
TICKETS = """
TICKETS = ["I was charged twice.", "The app crashes.", "I cannot log in.", "Do you sell hats?"]
"""


class Redis:
    """One redis-server of a test's own, on a free port of 127.0.0.1."""

    def __init__(self, folder: Path, password: str = "") -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.password = password
        self.command = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", ""]
        self.command += ["--appendonly", "no", "--dir", str(folder)]
        self.command += ["--requirepass", password] if password else []
        self.start()

    def start(self) -> None:
        """Begin, or begin anew on the same port, with nothing stored."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def url(self) -> str:
        login = f":{self.password}@" if self.password else ""
        return f"redis://{login}127.0.0.1:{self.port}/0"

    def client(self):
        import redis

        return redis.Redis(port=self.port, password=self.password or None)

    def wait(self) -> None:
        import redis

        with self.client() as client:
            for _ in range(600):
                try:
                    client.ping()
                except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
                    assert self.process.poll() is None, "redis-server ended"
                    time.sleep(0.05)
                else:
                    return
        pytest.fail("redis-server does not answer")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def redis_servers(tmp_path: Path) -> Iterator[Callable[..., Redis]]:
    """Starts Redis servers, and ends them."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed (Debian: apt-get install redis-server)")
    pytest.importorskip("redis", reason="the extra redis is not installed")
    started: list[Redis] = []

    def start(password: str = "") -> Redis:
        server = Redis(tmp_path, password)
        started.append(server)
        server.wait()
        return server

    yield start
    for each in started:
        each.stop()


@pytest.fixture
def redis_server(redis_servers: Callable[..., Redis]) -> Redis:
    """A Redis server without a password."""
    return redis_servers()


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model server that stands in for both providers."""
    for name in ("CI", "PROMPTFUZZ_STORE", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "400")
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none-needed-here")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none-needed-here")
        yield server


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Callable[[str], None]:
    """Writes the one test module of a project, with a prompt and tickets in front."""

    def write(source: str) -> None:
        pytester.makefile(".ini", pytest=INI)
        pytester.makepyfile(test_it=PROMPT + TICKETS + source)

    return write
