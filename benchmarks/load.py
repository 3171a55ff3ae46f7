"""What loading the plugin costs a pytest run that has nothing for it to do.

    python benchmarks/load.py [--pairs 25]

Real ``python -m pytest --co -q`` runs over one empty test file, with the plugin and with ``-p no:promptfuzz``, in
turn: ABAB… Processor time (user and system) of the whole process, median of the pairs' differences; beside it their
quartiles, and the difference of the cheapest runs, which other work on the machine disturbs least. Once among the
plugins installed beside it, which load much of the standard library for it, and once with all of them blocked; and
once as a plain ``pytest --co``, which prints the header. Exits with 1 if any of the three medians is above ``--limit``
milliseconds.
"""

from __future__ import annotations

import argparse
import statistics

from measuring import PLUGIN, Paired, machine, project, pytest_command, run

SCENES = {
    "quiet": (["--co", "-q"], False),
    "quiet, no other plugin": (["--co", "-q"], True),
    "with the header": (["--co"], False),
}


def load_cost(arguments: list[str], pairs: int, *, alone: bool) -> Paired:
    """Processor seconds without and with the plugin."""
    first: list[float] = []
    second: list[float] = []
    with project({"test_empty.py": "", "pytest.ini": "[pytest]\n"}) as (root, env):
        loaded = pytest_command(*arguments, "-p", "no:cacheprovider", alone=alone)
        blocked = [*loaded, "-p", f"no:{PLUGIN}"]
        for command in (blocked, loaded):  # compiles; pytest ends with 5 where there is no test
            run(command, cwd=root, env=env, fails=True)
        for _ in range(pairs):
            first.append(run(blocked, cwd=root, env=env, fails=True)[0].cpu)
            second.append(run(loaded, cwd=root, env=env, fails=True)[0].cpu)
    return Paired(first, second)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=25)
    parser.add_argument("--limit", type=float, default=20.0, help="milliseconds")
    asked = parser.parse_args()
    print(f"{machine()}, {asked.pairs} pairs, CPU milliseconds")
    print(f"{'':<24} {'without':>8} {'plugin':>8}   {'quartiles':<14} {'least':>6} {'ratio':>6}")
    above = False
    for name, (arguments, alone) in SCENES.items():
        cost = load_cost(arguments, asked.pairs, alone=alone)
        low, high = (1e3 * each for each in cost.quartiles)
        extra = 1e3 * cost.difference
        above |= extra > asked.limit
        print(
            f"{name:<24} {1e3 * statistics.median(cost.first):8.0f} {extra:+8.1f}   "
            f"{f'{low:+.1f} {high:+.1f}':<14} {1e3 * cost.least:+6.1f} {cost.ratio:6.3f}",
            flush=True,
        )
    raise SystemExit(above)


if __name__ == "__main__":
    main()
