"""What a run costs before and beside its calls: one robust test, and a warm suite of 20, in several checkouts.

    python benchmarks/start.py [CHECKOUT …] [--rounds 7] [--tests 20] [--mutations 8] [--others] [--only one|suite]

Each checkout (this one if none is named; ``git worktree add ../before COMMIT`` makes one) answers its tests once from
the local model server, which is then stopped, and once more, which compiles what is left. After that, in turn: a
trivial test with ``-p no:promptfuzz``, and the same tests in each checkout, all answers from the store. Seconds of
processor time (user and system) above the trivial test: medians, and the median of the rounds' ratios to the first
checkout. Installed plugins of others are not loaded, unless ``--others``. Also counted: modules of ours at the end.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from contextlib import ExitStack
from pathlib import Path

from measuring import machine, project, run
from warm import INI, TRIVIAL, suite, used

from pytest_promptfuzz.server.model_server import ModelServer

PLUGIN = "pytest_promptfuzz.plugin.hooks"
COUNT = """
import sys

def pytest_unconfigure():
    ours = sum(name.partition(".")[0] == "pytest_promptfuzz" for name in sys.modules)
    print(f"\\nmodules of ours: {ours}")
"""


def measure(checkouts: list[Path], tests: int, asked: argparse.Namespace) -> None:
    ini = INI if asked.others else INI.replace("asyncio_default_fixture_loop_scope = function\n", "")
    files = {"pytest.ini": ini, "test_trivial.py": TRIVIAL, "test_suite.py": suite(tests, asked.mutations)}
    python = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    plugin = [] if asked.others else ["-p", PLUGIN]
    with ExitStack() as stack:
        places = {}
        for checkout in checkouts:
            root, env = stack.enter_context(project(files | {"conftest.py": COUNT}))
            env |= {"PYTHONPATH": str(checkout), "OPENAI_API_KEY": "none"}
            env |= {} if asked.others else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            with ModelServer() as server:
                env |= {"OPENAI_BASE_URL": server.openai_url}
                run([*python, *plugin, "test_suite.py"], cwd=root, env=env)
            places[checkout] = (root, env)
        trivial = [*python, "-p", "no:promptfuzz", "test_trivial.py"]
        root, env = places[checkouts[0]]
        costs: dict[Path, list[float]] = {checkout: [] for checkout in checkouts}
        ours = dict.fromkeys(checkouts, "")
        base = []
        for number in range(asked.rounds + 1):
            trivial_cost = run(trivial, cwd=root, env=env)[0].cpu
            for checkout, (root, env) in places.items():
                cost, output = run([*python, *plugin, "test_suite.py"], cwd=root, env=env)
                if used(output)[0]:
                    raise SystemExit(f"a warm run made calls:\n{output[-2000:]}")
                ours[checkout] = output.rpartition("modules of ours:")[2].strip()
                if number:
                    costs[checkout].append(cost.cpu - trivial_cost)
            if number:
                base.append(trivial_cost)
    print(
        f"{tests} test(s) of {asked.mutations} mutations; a trivial test alone {statistics.median(base):.2f} s"
    )
    for checkout, each in costs.items():
        ratio = statistics.median(b / a for a, b in zip(costs[checkouts[0]], each, strict=True))
        print(f"  +{statistics.median(each):.2f} s  {ratio:.2f}  {ours[checkout]:>4} modules  {checkout}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--mutations", type=int, default=8)
    parser.add_argument("--others", action="store_true", help="with installed plugins of others")
    parser.add_argument("--only", choices=("one", "suite"))
    asked = parser.parse_args()
    checkouts = [each.resolve() for each in asked.checkouts] or [Path(__file__).resolve().parents[1]]
    print(f"{machine()}, {asked.rounds} rounds")
    for name, tests in (("one", 1), ("suite", asked.tests)):
        if asked.only in (None, name):
            measure(checkouts, tests, asked)


if __name__ == "__main__":
    main()
