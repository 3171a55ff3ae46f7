"""Preparing and parsing import no SDK and need no key."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from pytest_promptfuzz.targets.resolution import as_request
from pytest_promptfuzz.targets.resolution import resolve
from pytest_promptfuzz.providers.formats import parse_answer
for name in ("openai:m", "openai-responses:m", "anthropic:m", "compatible:m@http://localhost/v1"):
    target = resolve(name)
    assert target.prepare(as_request("Hi", temperature=0)).body["model"] == "m"
assert target.parse({"choices": [{"message": {"content": "Hi"}}]}).text == "Hi"
heavy = {"openai", "anthropic", "httpx", "httpx2", "anyio", "pydantic", "numpy", "torch"} & set(sys.modules)
assert not heavy, heavy
"""


def test_a_replayed_call_imports_no_sdk() -> None:
    ran = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, env={})
    assert ran.returncode == 0, ran.stderr
