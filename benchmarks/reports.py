"""What snapshots, history and reports cost a run: 1,000 robust tests whose answers are all in the store.

    python benchmarks/reports.py [--rounds 5] [--tests 1000] [--mutations 8] [--whole] [--profile]

The suite of ``warm.py``. The first run is cold, against the local model server, which is then stopped; it stores
answers, and a run with ``--promptfuzz-update`` stores snapshots. After that, in turn: the suite without history and
reports and with no snapshot beside it, the same with each part, and with all of them; ``--whole`` leaves the parts out.
Median seconds of a run and its ratio to the first, by the clock and in processor time, the range of the latter, and the
ratio of the cheapest runs of each: what is left when nobody else uses the machine's caches. ``--profile`` prints where
a run with all of them spends its time. Exits with 1 if all together cost more than ``--limit`` of the first run's
processor time. The five reports are JSON, HTML, Markdown, SARIF and JUnit.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import TYPE_CHECKING

from measuring import Cost, Paired, machine, project, pytest_command, run
from warm import INI, suite

from pytest_promptfuzz.server.model_server import ModelServer

if TYPE_CHECKING:
    from pathlib import Path

FIVE = (
    "--promptfuzz-report=json:out/run.json,html:out/run.html,md:out/run.md,sarif:out/run.sarif",
    "--junitxml=out/junit.xml",
)
OFF = "--promptfuzz-history=off"
NONE, ALL = "none of them", "all of them"


def put_snapshots(root: Path, *, there: bool) -> None:
    """Have the snapshots lie beside the tests, or elsewhere."""
    here, away = root / "__promptfuzz__", root / "away"
    if there and away.exists():
        away.rename(here)
    elif not there and here.exists():
        here.rename(away)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tests", type=int, default=1000)
    parser.add_argument("--mutations", type=int, default=8)
    parser.add_argument("--limit", type=float, default=0.10, help="share of the run's processor time")
    parser.add_argument("--whole", action="store_true", help="none of them and all of them only")
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    files = {"pytest.ini": INI, "test_suite.py": suite(asked.tests, asked.mutations)}
    with project(files) as (root, env):
        plain = pytest_command("test_suite.py", "-q", "-p", "no:cacheprovider", "--promptfuzz-stop=never")
        env.pop("CI", None)
        with ModelServer() as server:
            env |= {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "none"}
            run([*plain, "--promptfuzz-update"], cwd=root, env=env)
        commands = {
            NONE: ([*plain, OFF], False),
            "history, compared with the last run": (plain, False),
            "snapshots": ([*plain, OFF], True),
            "five reports": ([*plain, OFF, *FIVE], False),
            ALL: ([*plain, *FIVE], True),
        }
        if asked.profile:
            profile = [plain[0], "-m", "cProfile", "-o", "all.prof", *commands[ALL][0][1:]]
            put_snapshots(root, there=True)
            run(profile, cwd=root, env=env)
            show = "import pstats; pstats.Stats('all.prof').strip_dirs().sort_stats('{}').print_stats({})"
            for order, rows in (("cumulative", 90), ("tottime", 40)):
                print(run([sys.executable, "-c", show.format(order, rows)], cwd=root, env=env)[1])
            return
        if asked.whole:
            commands = {name: commands[name] for name in (NONE, ALL)}
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for measured in (False, *(True for _ in range(asked.rounds))):  # the first compiles, and makes a past
            for name, (command, snapshots) in commands.items():
                put_snapshots(root, there=snapshots)
                cost, _ = run(command, cwd=root, env=env)
                if measured:
                    costs[name].append(cost)
        sizes = {path.name: path.stat().st_size for path in sorted((root / "out").iterdir())}
        kept = sum(path.stat().st_size for path in (root / ".promptfuzz" / "history").glob("*"))
        stored = sum(path.stat().st_size for path in (root / "__promptfuzz__").rglob("*") if path.is_file())
        runs = len(list((root / ".promptfuzz" / "history").glob("*")))
        shutil.rmtree(root / "out")
    print(f"{machine()}, {asked.tests} tests, {asked.mutations} mutations, {asked.rounds} rounds")
    print(f"{'':<38} {'wall s':>8} {'CPU s':>8}   ratio of both  CPU from, to   ratio of cheapest")
    share = 0.0
    first = costs[NONE]
    for name, each in costs.items():
        by_wall = Paired([c.wall for c in first], [c.wall for c in each])
        by_cpu = Paired([c.cpu for c in first], [c.cpu for c in each])
        wall, cpu = (sorted(values)[len(values) // 2] for values in (by_wall.second, by_cpu.second))
        spent, least = [c.cpu for c in each], min(c.cpu for c in first)
        print(
            f"{name:<38} {wall:8.2f} {cpu:8.2f}   {by_wall.ratio:.3f} {by_cpu.ratio:.3f}    "
            f"{min(spent):.2f}, {max(spent):.2f}   {min(spent) / least:.3f}"
        )
        share = by_cpu.ratio - 1
    print(", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.items()))
    print(f"snapshots {stored / 1e6:.1f} MB; history {kept / 1e6 / max(runs, 1):.2f} MB a run")
    raise SystemExit(share > asked.limit)


if __name__ == "__main__":
    main()
