"""Deliberate breaks: does a test fail for each of them?

``breaks.jsonl`` is a fixed list of small faults, some in each room of the package: a condition turned round, a bound
off by one, a line left out. ``run`` puts one after another into a clean checkout, runs tests that reach the broken line
until one fails, and takes the fault out again. Run it before and after a change of the tests, and let the second run
read the results of the first: a break that was caught before and is not caught now is a lost protection (status 1).

    python benchmarks/breaks.py run --results before.tsv
    python benchmarks/breaks.py run --results after.tsv --before before.tsv

``draw`` makes a list from the coverage of each test, which pytest-cov measures:
``pytest -n 2 --cov=pytest_promptfuzz --cov-context=test``.
"""

from __future__ import annotations

import argparse
import ast
import collections
import copy
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
LIST = HERE / "breaks.jsonl"
SECONDS = 240
COMPARED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
            ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


def broken(node: ast.stmt) -> ast.stmt | None:
    """The statement with one thing in it turned round; None where nothing in its first line can be."""
    changed = copy.deepcopy(node)
    header = [changed] if isinstance(changed, ast.Expr | ast.Assign | ast.Return | ast.Continue) else []
    if isinstance(changed, ast.If | ast.While):
        header = [changed.test]
    for each in [inner for part in header for inner in ast.walk(part)]:
        if isinstance(each, ast.Compare) and (other := COMPARED.get(type(each.ops[0]))):
            each.ops[0] = other()
            return changed
        if isinstance(each, ast.BoolOp):
            each.op = ast.And() if isinstance(each.op, ast.Or) else ast.Or()
            return changed
        if isinstance(each, ast.BinOp) and (operation := COMPUTED.get(type(each.op))):
            each.op = operation()
            return changed
        if isinstance(each, ast.Name) and each.id in NAMES:
            each.id = NAMES[each.id]
            return changed
        if isinstance(each, ast.Constant) and type(each.value) in (bool, int):
            each.value = not each.value if isinstance(each.value, bool) else each.value + 1
            return changed
    if isinstance(changed, ast.If):
        changed.test = ast.UnaryOp(ast.Not(), changed.test)
        return changed
    if isinstance(changed, ast.Expr) and isinstance(changed.value, ast.Call):
        return ast.Pass()
    if isinstance(changed, ast.Continue):
        return ast.Break()
    return None


def functions(tree: ast.Module) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    found: dict[str, Any] = {}

    def visit(node: ast.AST, path: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{path}{child.name}"
                if not isinstance(child, ast.ClassDef):
                    found.setdefault(name, child)
                visit(child, f"{name}.")

    visit(tree, "")
    return found


def faulty(source: str, function: str, old: str, new: str) -> str | None:
    """The source with the first statement ``old`` of the function replaced; None where it is not there any more."""
    where = functions(ast.parse(source)).get(function)
    if where is None:
        return None
    lines = source.splitlines(keepends=True)
    for node in ast.walk(where):
        if not isinstance(node, ast.stmt) or ast.unparse(node).split("\n")[0] != old:
            continue
        if isinstance(node, ast.If | ast.While):
            first, last = node.lineno, node.body[0].lineno - 1
            if last < first:  # the body stands in the same line
                continue
            while last > first and not lines[last - 1].split("#")[0].rstrip().endswith(":"):
                last -= 1
        else:
            first, last = node.lineno, node.end_lineno or node.lineno
        if first == last and not lines[first - 1][: node.col_offset].isspace():
            if lines[first - 1][: node.col_offset].strip() != "el":
                continue
            return "".join([*lines[: first - 1], " " * (node.col_offset - 2), "el", new, "\n", *lines[last:]])
        indent = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip())]
        prefix = "el" if lines[first - 1].lstrip().startswith("elif ") else ""
        return "".join([*lines[: first - 1], indent, prefix, new, "\n", *lines[last:]])
    return None


def draw(data: str, count: int, seed: int) -> None:
    """Write ``breaks.jsonl``: breaks of every room, more of the larger ones, each with tests that reach its line."""
    import coverage

    rng = random.Random(seed)
    stored = coverage.CoverageData(data)
    stored.read()
    candidates = collections.defaultdict(list)
    for name in sorted(stored.measured_files()):
        path = Path(name)
        source = path.read_text(encoding="utf-8")
        contexts = stored.contexts_by_lineno(name)
        relative = path.parts[path.parts.index("pytest_promptfuzz") :]
        for function, where in functions(ast.parse(source)).items():
            for node in ast.walk(where):
                if not isinstance(node, ast.stmt) or (made := broken(node)) is None:
                    continue
                tests = sorted({test.partition("|")[0] for test in contexts.get(node.lineno, ()) if test})
                old, new = (ast.unparse(each).split("\n")[0] for each in (node, made))
                text = faulty(source, function, old, new)
                if tests and text and text != source:
                    candidates[relative[1]].append(("/".join(relative), function, old, new, tests))
    rooms = sorted(candidates)
    chosen = []
    for room in rooms:
        share = max(
            8, round(count * len(candidates[room]) ** 0.5 / sum(len(candidates[r]) ** 0.5 for r in rooms))
        )
        chosen += rng.sample(candidates[room], min(share, len(candidates[room])))
    with LIST.open("w", encoding="utf-8") as file:
        for path, function, old, new, tests in chosen:
            some = sorted(rng.sample(tests, min(12, len(tests))))
            record = {"file": path, "function": function, "old": old, "new": new, "tests": some}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    print(len(chosen), "breaks in", len(rooms), "rooms")


def known(tests: list[str], tree: Path) -> list[str]:
    """Those whose file and function are still there: a parametrized test by its function."""
    found = []
    for test in tests:
        path, _, name = test.partition("::")
        function = re.sub(r"\[.*", "", name.rpartition("::")[2])
        if (tree / path).is_file() and re.search(
            rf"def {function}\b", (tree / path).read_text(encoding="utf-8")
        ):
            found.append(test)
    return found


def caught_by(tests: list[str], tree: Path) -> str:
    """The first test that fails, or an empty string."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n0", "-rfE", *tests]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output = process.communicate(timeout=SECONDS)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return f"no end within {SECONDS} s"
    if process.returncode == pytest.ExitCode.USAGE_ERROR and any("[" in each for each in tests):
        # Cases have other names today.
        return caught_by(sorted({each.partition("[")[0] for each in tests}), tree)
    if process.returncode in (0, 5):
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+\.py.*?)(?: - |$)", output, re.MULTILINE)
    return failed[1] if failed else (output.strip().splitlines() or ["?"])[-1]


def run(tree: Path, results: Path, before: Path | None, part: str) -> int:
    earlier = {}
    if before is not None:
        earlier = dict(line.split("\t")[:2] for line in before.read_text(encoding="utf-8").splitlines())
    done = dict(line.split("\t")[:2] for line in results.read_text().splitlines()) if results.exists() else {}
    number, of = (int(each) for each in part.split("/"))
    lost, gone, caught, total = [], 0, 0, 0
    for index, line in enumerate(LIST.read_text(encoding="utf-8").splitlines()):
        if index % of != number - 1:
            continue
        fault = json.loads(line)
        key = str(index + 1)
        total += 1
        if key not in done:
            path = tree / fault["file"]
            source = path.read_text(encoding="utf-8") if path.is_file() else ""
            text = faulty(source, fault["function"], fault["old"], fault["new"]) if source else None
            started = time.monotonic()
            if text is None:
                verdict = "not there"
            else:
                first = [earlier[key]] if earlier.get(key, "").startswith("tests/") else []
                try:
                    path.write_text(text, encoding="utf-8")
                    first = known(first, tree)
                    verdict = (caught_by(first, tree) if first else "") or caught_by(
                        known(fault["tests"], tree), tree
                    )
                finally:
                    path.write_text(source, encoding="utf-8")
            done[key] = verdict or "survived"
            with results.open("a", encoding="utf-8") as file:
                file.write(f"{key}\t{done[key]}\t{fault['file']}\t{time.monotonic() - started:.1f}\n")
        gone += done[key] == "not there"
        caught += done[key] not in ("survived", "not there")
        if done[key] == "survived" and earlier.get(key, "survived") not in ("survived", "not there"):
            lost.append(
                f"{key} {fault['file']} {fault['function']}: {fault['old']} (was caught by {earlier[key]})"
            )
    print(
        f"{total} breaks: {caught} caught, {total - caught - gone} survived, {gone} not in the code any more"
    )
    print(*[f"lost: {each}" for each in lost], sep="\n")
    return 1 if lost else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("data", help="coverage data with a context for each test")
    drawing.add_argument("--count", type=int, default=240)
    drawing.add_argument("--seed", type=int, default=14)
    running = commands.add_parser("run")
    running.add_argument("--tree", type=Path, default=HERE.parent, help="a clean checkout to break and mend")
    running.add_argument(
        "--results", type=Path, required=True, help="tab-separated; breaks in it are not run again"
    )
    running.add_argument("--before", type=Path, help="the results of an earlier run")
    running.add_argument(
        "--part", default="1/1", help="K/N: each Nth break, for several checkouts side by side"
    )
    given = parser.parse_args()
    if given.command == "draw":
        draw(given.data, given.count, given.seed)
        return 0
    return run(given.tree.resolve(), given.results, given.before, given.part)


if __name__ == "__main__":
    sys.exit(main())
