"""A project under git with twelve robust tests, for stories of a team: branches, merges, renames, and what git shows."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests.in_process import run_pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.in_process import Done

PROMPTS = {
    f"task{number}": (
        f"Classify the ticket of team {number} into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.\n\n"
        "Rules:\n- Answer with the label only\n- Do not explain your choice\n\nTicket:\n{ticket}"
    )
    for number in range(12)
}
HEAD = """import pytest
from pytest_promptfuzz import Prompt, robust

TICKET = "I was charged twice for my subscription this month."
"""
RECORDINGS, SNAPSHOTS = "*.calls.jsonl", "*.snap/*.json"


class Story:
    """A repository in a folder.

    Args:
        root: The folder; it is made.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "-q", "-b", "main")
        (root / "pytest.ini").write_text("[pytest]\npromptfuzz_target = simulated\n")
        (root / ".gitignore").write_text(".promptfuzz\n__pycache__\n")

    @classmethod
    def at(cls, root: Path) -> Story:
        """A repository that is there already."""
        story = cls.__new__(cls)
        story.root = root
        return story

    def git(self, *arguments: str, ok: bool = True) -> str:
        """What git prints; a failure of git is one of the test, unless it is expected."""
        who = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", "-C", str(self.root), *who, *arguments], capture_output=True, text=True, check=False
        )
        assert (done.returncode == 0) is ok, (arguments, done.stdout, done.stderr)
        return done.stdout

    @classmethod
    def adopted(cls, root: Path) -> Story:
        """A repository whose twelve tests are recorded and committed."""
        story = cls(root)
        story.write()
        assert outcome(story.record()) == "12 passed"
        story.commit("adopt")
        return story

    def afresh(self) -> Story:
        """As its main branch has it, on a branch of its own."""
        self.git("checkout", "-q", "-f", "main")
        self.git("clean", "-q", "-f", "-d", "-x")
        self.git("checkout", "-q", "-B", "work")
        return self

    def commit(self, message: str = "a change") -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def lines(self, *paths: str, against: str = "HEAD") -> int:
        """How many lines of some files git shows as changed, removed and added ones together."""
        self.git("add", "-A")
        rows = self.git("diff", "--numstat", "-M", against, "--", *paths).splitlines()
        return sum(int(count) for row in rows for count in row.split("\t")[:2] if count != "-")

    def write(
        self, tests: dict[str, str] | None = None, module: str = "test_it.py", mutations: int = 8
    ) -> None:
        """A module with a robust test for each prompt."""
        parts = [
            f"\n@robust(Prompt({prompt!r}), mutations={mutations})\ndef test_{name}(prompt, llm):\n"
            "    return llm(prompt.format(ticket=TICKET))\n"
            for name, prompt in (PROMPTS if tests is None else tests).items()
        ]
        (self.root / module).write_text(HEAD + "".join(parts))

    def run(self, *arguments: str, **environment: str) -> Done:
        """``pytest`` in the project, without CI."""
        clean = {key: value for key, value in os.environ.items() if key != "CI" and "PROMPTFUZZ" not in key}
        return run_pytest(
            "-q",
            "-p",
            "no:cacheprovider",
            "-W",
            "ignore",
            *arguments,
            folder=self.root,
            environment={**clean, "COLUMNS": "400", **environment},
        )

    def record(self, *arguments: str) -> Done:
        """Record and accept, in one run."""
        return self.run("--promptfuzz-mode=record", "--promptfuzz-update", *arguments)

    def replay(self, *arguments: str) -> Done:
        """Replay what is recorded."""
        return self.run("--promptfuzz-mode=replay", *arguments)


def outcome(done: Done) -> str:
    """The last line of a run."""
    return done.stdout.strip().splitlines()[-1].partition(" in ")[0]


def said(done: Done) -> list[str]:
    """What the plugin says below its table."""
    return [
        line.removeprefix("promptfuzz: ")
        for line in done.stdout.splitlines()
        if line.startswith("promptfuzz: ")
    ]
