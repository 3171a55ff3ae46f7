"""What each hand-made report looks like, in files beside this one; run it to write them anew, and read the diff."""

from __future__ import annotations

from pathlib import Path

import handmade

from pytest_promptfuzz.reporting.terminal.failure import failure_lines
from pytest_promptfuzz.reporting.terminal.rows import detail_lines
from pytest_promptfuzz.reporting.terminal.styled_text import header_lines, render
from pytest_promptfuzz.reporting.terminal.summary import (
    one_line,
    side_by_side_lines,
    summary_lines,
)

HERE = Path(__file__).parent / "golden"
VARIANTS = [(80, False), (80, True), (120, False), (120, True)]
SETTINGS = {
    "mode": "auto",
    "seed": 0,
    "target": "simulated?seed=3",
    "cache": ".promptfuzz",
    "tiers": ["exact", "normalised", "structure", "token"],
    "missing": {"semantic": "pip install 'pytest-promptfuzz[semantic]'"},
}


def failure(name: str, width: int, *, color: bool) -> str:
    report = handmade.ALL[name]()
    return one_line(report) + "\n\n" + render(failure_lines(report, width=width), width=width, color=color)


def session(width: int, *, color: bool) -> str:
    """Header, a short table that has all its columns, a full one, and models side by side."""
    every = [make() for make in handmade.ALL.values()]
    lenient = handmade.report(
        test="tests/test_triage.py::test_lenient",
        score=0.875,
        bounds=(0.875, 0.875),
        cost=0.0123,
        trials=[*(handmade.trial(n) for n in range(7)), handmade.trial(7, "typo", outcome="deviation")],
    )
    compared = [
        handmade.report(target=target, verdict=one["verdict"], score=one["score"], trials=one["trials"])
        for target, one in [
            ("openai:gpt-5-mini", handmade.passing()),
            ("anthropic:claude-sonnet-4-20250514", handmade.brittle()),
            ("compatible:llama3.1@http://localhost:11434/v1", handmade.rate_limited()),
        ]
    ]
    blocks = [
        header_lines(SETTINGS),
        summary_lines([lenient, handmade.brittle()], width=width),
        summary_lines(every, width=width, legend="--promptfuzz-report", unjudged=2),
        detail_lines(every),
        side_by_side_lines(compared, width=width),
    ]
    return "\n\n".join(render(block, width=width, color=color) for block in blocks)


def page(name: str) -> str:
    """All variants of one report, colours written as ``\\e``."""
    parts = []
    for width, color in VARIANTS:
        shown = session(width, color=color) if name == "session" else failure(name, width, color=color)
        parts.append(f"==== {width} columns, {'colour' if color else 'plain'} ====\n{shown}\n")
    return "\n".join(parts).replace("\x1b", "\\e")


NAMES = [*handmade.ALL, "session"]

if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for each in NAMES:
        (HERE / f"{each}.txt").write_text(page(each), encoding="utf-8", newline="\n")
