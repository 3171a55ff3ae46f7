"""What a child process costs, for the scripts beside this one. Needs a POSIX system (``os.wait4``)."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PLUGIN = "promptfuzz"


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one process, its own children included: seconds by the clock, seconds of the processor (user and system).

    ``peak`` is the most memory it held at once, as ``ru_maxrss`` counts it: kibibytes on Linux.
    """

    wall: float
    cpu: float
    peak: int = 0


@dataclass(frozen=True, slots=True)
class Paired:
    """What B costs over A, from runs in the order A B A B …: drift of the machine falls on both alike."""

    first: list[float]
    second: list[float]

    @property
    def difference(self) -> float:
        """Median of the pairs' differences."""
        return statistics.median(self._differences())

    @property
    def quartiles(self) -> tuple[float, float]:
        """Of the pairs' differences."""
        low, _, high = statistics.quantiles(self._differences(), n=4)
        return low, high

    @property
    def least(self) -> float:
        """Between the cheapest runs of either: what is left when nobody else uses the machine's caches."""
        return min(self.second) - min(self.first)

    @property
    def ratio(self) -> float:
        """Median of the pairs' ratios."""
        return statistics.median(b / a for a, b in zip(self.first, self.second, strict=True))

    def _differences(self) -> list[float]:
        return [b - a for a, b in zip(self.first, self.second, strict=True)]


def run(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], fails: bool = False
) -> tuple[Cost, str]:
    """Run a command to its end; what it cost and what it printed.

    Args:
        command: Program and arguments.
        cwd: Where to.
        env: Its whole environment.
        fails: Whether an exit code other than 0 is expected (pytest's 5: no tests collected).

    Raises:
        SystemExit: It failed; what it printed is shown.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        started = time.perf_counter()
        child = subprocess.Popen(command, cwd=cwd, env=env, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
        # Popen has not seen the child end; told so, it does not wait for it again.
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if child.returncode and not fails:
        raise SystemExit(f"{' '.join(command)} ended with exit code {child.returncode}:\n{text}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss), text


@contextlib.contextmanager
def project(files: Mapping[str, str]) -> Iterator[tuple[Path, dict[str, str]]]:
    """A temporary project and the environment to run it in.

    Bytecode is kept in the project, so that the runs after the first find all modules compiled, as installed
    ones are, and nothing is written elsewhere. Keys and settings of the person who runs this stay out.
    """
    with tempfile.TemporaryDirectory(prefix="promptfuzz-benchmark-") as directory:
        root = Path(directory)
        for name, text in files.items():
            (root / name).write_text(text, encoding="utf-8")
        dropped = ("PYTEST_", "PROMPTFUZZ_", "OPENAI_", "ANTHROPIC_", "COV_")
        env = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        env["PYTHONPYCACHEPREFIX"] = str(root / "bytecode")
        yield root, env


def pytest_command(*arguments: str, alone: bool = False) -> list[str]:
    """``python -m pytest`` with arguments.

    Args:
        arguments: Of pytest.
        alone: Whether all other installed plugins are blocked.
    """
    command = [sys.executable, "-m", "pytest", *arguments]
    if alone:
        names = {each.name for each in entry_points(group="pytest11")} - {PLUGIN}
        command += [part for name in sorted(names) for part in ("-p", f"no:{name}")]
    return command


def machine() -> str:
    """Processors and Python of this run, for a figure to stand beside."""
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{os.cpu_count()} processors, Python {version}, {time.strftime('%Y-%m-%d')}"
