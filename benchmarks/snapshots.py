"""Is a snapshot ever lost, or written of a test that did not run? Random selections of a suite, one after the other.

Every run selects some tests by ``-k``, node IDs, ``--deselect``, ``--lf`` or ``-x``; some of them are skipped, fail in
their setup or unmutated, or are run again; what they answer changes from run to run. Then every file must hold what its
test answered when it last passed, and no file may be missing::

    python benchmarks/snapshots.py [--selections 200] [--parallel 20]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

SUITE = """
import json
import os

import pytest

from pytest_promptfuzz import Prompt, robust

TRIAGE = Prompt("Name one of these teams for the support ticket: billing, shipping.\\n\\nTicket: {ticket}")
PLAN = json.loads(os.environ.get("PLAN", "{}"))

@pytest.fixture
def said(request):
    plan = json.loads(os.environ["PLAN"])
    what = plan["bad"].get(request.node.name, "")
    if what == "setup":
        raise OSError("no database")
    if what == "skip":
        pytest.skip("not today")
    return "" if what == "fail" else plan["says"]

def asked(prompt, said):
    assert prompt.format(ticket="I was charged twice.") and said
    return said

@pytest.mark.parametrize("n", range(4))
@robust(TRIAGE, mutations=2)
def test_many(prompt, said, n):
    return asked(prompt, said)

class TestGroup:
    @pytest.mark.parametrize("n", range(4))
    @robust(TRIAGE, mutations=2)
    def test_in(self, prompt, said, n):
        return asked(prompt, said)

@robust(TRIAGE, mutations=2)
def test_a(prompt, said):
    return asked(prompt, said)

@robust(TRIAGE, mutations=2)
def test_b(prompt, said):
    return asked(prompt, said)

@robust(TRIAGE, mutations=2)
def test_A(prompt, said):
    return asked(prompt, said)

@robust(TRIAGE, mutations=2)
def test_end(prompt, said):
    return asked(prompt, said)
"""
INI = "[pytest]\nasyncio_default_fixture_loop_scope = function\npromptfuzz_target = simulated\n"
NAMES = [f"test_many[{n}]" for n in range(4)]
NAMES += [f"TestGroup::test_in[{n}]" for n in range(4)]
NAMES += ["test_a", "test_b", "test_A", "test_end"]


class Seen:
    """Which tests passed in the end, by what this process is told."""

    def __init__(self) -> None:
        self.passed: dict[str, bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep it."""
        if report.when == "call" or not report.passed:
            self.passed[report.nodeid.partition("::")[2]] = report.passed


def selection(rng: random.Random) -> list[str]:
    """Arguments of one run."""
    chosen = rng.sample(NAMES, rng.randint(1, 6))
    return rng.choice(
        [
            [],
            ["-k", " or ".join(rng.sample(["many", "in", "test_a", "end", "1", "Group"], 2))],
            [f"test_it.py::{each}" for each in chosen],
            [part for each in chosen for part in ("--deselect", f"test_it.py::{each}")],
            ["--lf"],
            ["-x"],
            ["--reruns=1"],
            ["test_it.py", "--ff"],
        ]
    )


def run(arguments: list[str], plan: dict[str, Any]) -> tuple[Seen, str]:
    """One run of pytest in this process."""
    os.environ["PLAN"] = json.dumps(plan)
    seen, printed = Seen(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        pytest.main(["-q", "--promptfuzz-update", *arguments], plugins=[seen])
    return seen, printed.getvalue()


def stored(folder: Path) -> dict[str, str]:
    """The answer in each test's file."""
    found = [json.loads(each.read_text(encoding="utf-8")) for each in folder.glob("*.json")]
    return {each["test"]: each["inputs"][0]["answers"][0]["answer"] for each in found}


def main() -> int:
    """Run them; the exit code is 1 where something was lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--selections", type=int, default=200)
    parser.add_argument("--parallel", type=int, default=20, help="how many of them more with -n 4")
    options = parser.parse_args()
    os.environ.pop("CI", None)
    rng, wrong, begun = random.Random(20), 0, time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        Path("pytest.ini").write_text(INI, encoding="utf-8")
        Path("test_it.py").write_text(SUITE, encoding="utf-8")
        folder = Path("__promptfuzz__/test_it.snap")
        run([], {"says": "start", "bad": {}})
        expected = dict.fromkeys(NAMES, "start")
        assert stored(folder) == expected, stored(folder)
        kinds = [()] * options.selections + [("-n", "4")] * options.parallel
        for number, workers in enumerate(kinds):
            bad = {
                each.rpartition("::")[2]: rng.choice(["skip", "setup", "fail"])
                for each in rng.sample(NAMES, rng.randint(0, 4))
            }
            plan = {"says": f"answer {number}", "bad": bad}
            arguments = [*selection(rng), *workers]
            seen, printed = run(arguments, plan)
            expected |= {test: plan["says"] for test, passed in seen.passed.items() if passed}
            now = stored(folder)
            if now != expected or "unused snapshot" in printed:
                wrong += 1
                print(f"{number}: {arguments} {plan}: {set(expected.items()) ^ set(now.items())}\n{printed}")
                expected = now
    print(
        f"{options.selections} selections and {options.parallel} with -n 4: {wrong} lost or wrote something they must "
        f"not; {time.monotonic() - begun:.0f} s"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
