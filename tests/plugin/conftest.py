"""A small project, on which pytest is run."""

from __future__ import annotations

import re
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

INI = """
[pytest]
asyncio_default_fixture_loop_scope = function
promptfuzz_target = simulated
filterwarnings = error
"""
RECORDED_INI = """
[pytest]
asyncio_default_fixture_loop_scope = function
promptfuzz_target = openai:gpt-5-mini
promptfuzz_inconclusive = pass
filterwarnings = error
"""

PROMPT = '''
from pytest_promptfuzz import Prompt, robust

TRIAGE = Prompt("""Classify the support ticket below into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.

Rules:
- Answer with the label only
- Do not explain your choice

Ticket:
{ticket}""")
TICKET = "I was charged twice for my subscription this month and want a refund."
'''


class _Loaded:
    def restore(self) -> None:
        for name in ("test_it", "conftest"):
            sys.modules.pop(name, None)


def keep_modules(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what a run is the first to load stay, the project's own apart: dropped, it would be loaded a second time."""
    monkeypatch.setattr(pytest.Pytester, "_Pytester__take_sys_modules_snapshot", lambda _: _Loaded())
    monkeypatch.setattr(pytester._sys_modules_snapshot, "restore", lambda: None)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pytest.RunResult]:
    """Write one test module (``PROMPT`` in front) and run pytest on it."""
    return _project(pytester, monkeypatch, pytester.runpytest)


@pytest.fixture
def project_process(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """The same in a process of its own, for what is loaded."""
    return _project(pytester, monkeypatch, pytester.runpytest_subprocess)


@pytest.fixture
def project_forked(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """The same in a process that is forked from one that has everything loaded: for signals, and for what is kept."""
    return _project(pytester, monkeypatch, pytester.runpytest_forked)  # type: ignore[attr-defined]


def _project(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, start: Callable[..., pytest.RunResult]
) -> Callable[..., pytest.RunResult]:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.delenv("CI", raising=False)
    pytester.makefile(".ini", pytest=INI)

    def run(source: str, *arguments: str, **files: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=PROMPT + textwrap.dedent(source), **files)
        return start(*arguments)

    return run


def summary_of(result: pytest.RunResult) -> dict[str, Any]:
    """The rows of the table of robust tests: verdict by test name."""
    rows: dict[str, Any] = {}
    inside = False
    for line in result.outlines:
        if "prompt robustness" in line:
            inside = True
        elif inside and " robust test" in line:
            break
        elif inside and (row := re.match(r"(.*::.*?)\s+(pass|brittle|noisy|inconclusive)\s", line)):
            rows[row[1].rpartition("::")[2]] = row[2]
    return rows
