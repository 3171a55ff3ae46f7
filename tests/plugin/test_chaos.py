"""A recording run that is killed loses nothing that was answered: one kill here, fifty in benchmarks/chaos.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import warm

ROOT = Path(__file__).parents[2]


def test_killed_recording_runs_lose_nothing() -> None:
    done = warm.run(
        [
            sys.executable,
            "benchmarks/chaos.py",
            "--kills",
            "1",
            "--interrupts",
            "0",
            "--terminations",
            "0",
            "--seed",
            "7",
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        children=True,
    )
    assert done.returncode == 0, done.stdout
    assert "SIGKILL: 1 of a recording run of 44 calls, 0 with a loss" in done.stdout
