"""The application's prompts, one file each, read when the package is imported.

Other modules use them as ``prompts.TRIAGE``, never ``from … import TRIAGE``: a name that is imported by itself keeps
the text it had, and a test that puts another prompt in its place would not reach it.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def _read(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


TRIAGE = _read("triage")
SUMMARY = _read("summary")
ORDERS = _read("orders")
REPORT = _read("report")
URGENCY = _read("urgency")
