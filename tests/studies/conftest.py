"""A study in a folder of its own, asked of the local model server through the real SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.server.model_server import ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROMPT = "Classify the support ticket as billing, shipping or other. Answer with one word only.\n\nTicket: {ticket}\n"
STUDY = """
name = "tickets"
runs = 2
operators = ["upper-case", "keyboard-typo:2", "double-space+politeness", "numbered-to-bulleted"]

[[task]]
name = "triage"
prompt = "triage.txt"
inputs = [{ ticket = "I was charged twice." }, { ticket = "Where is my parcel?" }]
expected = ["billing", "shipping"]
task = "classification"

[[model]]
name = "small"
target = "openai:gpt-5-mini"
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        yield server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a study, in which commands run."""
    for name in ("PROMPTFUZZ_MODEL", "PROMPTFUZZ_TARGET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "triage.txt").write_text(PROMPT, encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    return tmp_path
