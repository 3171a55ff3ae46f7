"""The table of benchmarks/faults.py in small: every provider, mode and way of asking, for the faults that differ most."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_fault_is_taken_for_an_answer_or_costs_a_call_too_many() -> None:
    chosen = [f"--fault={each}" for each in ("overloaded-within", "dropped-at-once")]
    done = subprocess.run(
        [sys.executable, "benchmarks/faults.py", *chosen],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert [line for line in done.stdout.splitlines() if line.startswith(("| over", "| drop"))] == [
        "| overloaded-within | first 3 | recovered 4/4 | error 1/1 | recovered 4/4 | error 1/1 |",
        "| overloaded-within | all | error 4/4 | error 1/1 | error 4/4 | error 1/1 |",
        "| dropped-at-once | first 3 | recovered 4/4 | recovered 4/4 | recovered 4/4 | recovered 4/4 |",
        "| dropped-at-once | all | error 4/4 | error 4/4 | error 4/4 | error 4/4 |",
    ]
    assert "144 calls of applications, 0 of them not as they should be." in done.stdout
