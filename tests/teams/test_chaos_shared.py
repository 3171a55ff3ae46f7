"""One of two hosts that share a Redis is killed: a few kills; benchmarks/chaos_shared.py makes twenty."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_a_killed_host_loses_nothing_and_nothing_is_asked_again() -> None:
    pytest.importorskip("redis", reason="the extra redis is not installed")
    done = warm.run(
        [sys.executable, "benchmarks/chaos_shared.py", "--kills", "2", "--seed", "3"],
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
    assert "2 kills of one of two hosts that share 36 answers, 0 with a loss" in done.stdout
