"""What runs of pytest leave behind: reports, threads, stored answers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

CONFTEST = """
import json
import threading
from pathlib import Path

REPORTS = {}
BEFORE = set(threading.enumerate()) - {threading.main_thread()}

def pytest_runtest_logreport(report):
    if hasattr(report, "promptfuzz"):
        REPORTS[report.nodeid] = report.promptfuzz

def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        Path("reports.json").write_text(json.dumps(REPORTS))
    Path("threads.json").write_text(json.dumps([each.name for each in set(threading.enumerate()) - BEFORE]))
"""


def fresh(pytester: pytest.Pytester) -> None:
    """Forget what is stored."""
    for each in sorted((pytester.path / ".promptfuzz").rglob("*"), reverse=True):
        each.unlink() if each.is_file() else each.rmdir()


def reports(pytester: pytest.Pytester) -> dict[str, Any]:
    """The reports of the last run, without times, commands and source lines."""

    def timeless(value: Any) -> Any:
        if isinstance(value, dict):
            left_out = {"seconds", "latency", "location", "reproduce", "traceback"}
            return {k: timeless(v) for k, v in value.items() if k not in left_out}
        if isinstance(value, str):
            return re.sub(r"latency=[-\d.e]+|0x[0-9a-f]+", "…", value)
        return [timeless(each) for each in value] if isinstance(value, list) else value

    found: dict[str, Any] = timeless(json.loads((pytester.path / "reports.json").read_text()))
    return found


def threads_left(pytester: pytest.Pytester) -> list[str]:
    names: list[str] = json.loads((pytester.path / "threads.json").read_text())
    assert "MainThread" in names
    return [name for name in names if "promptfuzz" in name or "asyncio" in name]
