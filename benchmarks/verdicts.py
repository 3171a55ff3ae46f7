"""How often verdicts err: simulated tests of known truth, decided by the code that decides real ones.

    python benchmarks/verdicts.py [--tests 2000] [--cells FILE.toml] [--sessions 300] [--inputs] [--json FILE]

A world has a model that answers the same prompt alike with probability A (its self-agreement). Of the mutations of each
input a share f breaks: their answers never agree with those to the unmutated prompt. There is no text. In the world
``many`` an answer that is not the usual one is like no other, in ``two`` there is one other answer, in ``minor`` one in
three odd answers is a minor variation. ``q`` is how often a broken mutation breaks (1: always).

For each cell: the share of verdicts without noise handling (Eq. 1 against the threshold) and with it, the upper end of
the 95 % interval of those called brittle, and how many answers were asked again. The gate is ``point``; at the gate
``confident`` fewer of the same tests pass, and the others are inconclusive. ``--cells`` reads other cells:
``[[cell]]`` tables with ``agreement``, ``broken`` and ``mutations``, and if wanted ``world``, ``q``, ``inputs``,
``baselines``, ``threshold``, ``tests`` (of a session, which share alpha). Exits with 1 if a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import random
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plotting import Panel, draw

from pytest_promptfuzz.stats.repeats import ALONE, ALPHA, escalate, known
from pytest_promptfuzz.stats.scores import Counts, Matrix
from pytest_promptfuzz.stats.verdict import Judgement, Sampled, decide, decide_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.stats.repeats import RepeatEvidence

VERDICTS = ("pass", "brittle", "noisy", "inconclusive")
AGREEMENTS, BROKEN, SIZES = (1.0, 0.9, 0.7, 0.5), (0.0, 0.15, 0.30, 0.45), (8, 16, 32, 64)
WORLDS = ("many", "two", "minor")
OUTCOMES = {10: "equivalent", 7: "minor", 0: "deviation"}
HEAD = (
    "world     A     f   n inp tests | without: pass, brittle | with: pass, brittle, noisy, inconclusive "
    "| brittle at most, asked again | confident: pass, inconclusive"
)


@dataclass(frozen=True)
class Cell:
    """A kind of test, and what is true of it."""

    agreement: float
    broken: float
    mutations: int
    world: str = "many"
    q: float = 1.0
    inputs: int = 1
    baselines: int = 1
    threshold: float = 0.85
    tests: int = 1

    def __post_init__(self) -> None:
        if self.world not in WORLDS:
            raise ValueError(f"world={self.world!r} is none of {', '.join(WORLDS)}")
        lowest = {
            "agreement": 0.5 if self.world == "two" else 0.0
        }  # two answers agree at least half the time
        for name in ("agreement", "broken", "q", "threshold"):
            if not lowest.get(name, 0.0) <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)!r} lies outside {lowest.get(name, 0)} to 1")
        for name in ("mutations", "inputs", "baselines", "tests"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)!r} is no whole number from 1")


class World:
    """The answers of one input."""

    def __init__(self, cell: Cell, rng: random.Random) -> None:
        self.cell, self.rng = cell, rng
        a = cell.agreement
        self.usual = (1 + math.sqrt(max(0.0, 2 * a - 1))) / 2 if cell.world == "two" else math.sqrt(a)
        self.broken = [rng.random() < cell.broken for _ in range(cell.mutations)]
        self.answers: list[
            tuple[int, int]
        ] = []  # what is said, and whether it is only a variation of the usual
        self.matrix = Matrix(self.credit)

    def draw(self, *, broken: bool) -> int:
        """One more answer; its number."""
        usual = 1 if broken and self.rng.random() < self.cell.q else 0
        kind = 0
        if self.rng.random() >= self.usual:
            if self.cell.world == "two":
                usual += 10
            elif self.cell.world == "minor" and self.rng.random() < 1 / 3:
                kind = 1 + len(self.answers)
            else:
                usual = 100 + len(self.answers)
        self.answers.append((usual, kind))
        return len(self.answers) - 1

    def credit(self, one: int, other: int) -> int:
        """10, 7 or 0 tenths."""
        (said, kind), (said2, kind2) = self.answers[one], self.answers[other]
        return 0 if said != said2 else 10 if kind == kind2 else 7


class Test(NamedTuple):
    """What became of one test.

    Attributes:
        alone: The verdict of Eq. 1 alone.
        found: The verdict and its reason.
        confident: The verdict at the gate of that name.
        asked: How many answers were asked again.
    """

    alone: str
    found: Judgement
    confident: str
    asked: int


def one_test(cell: Cell, rng: random.Random) -> Test:
    """Draw a test and decide it."""
    worlds = [World(cell, rng) for _ in range(cell.inputs)]
    tally: Counter[str] = Counter()
    for world in worlds:
        world.matrix.baseline.extend(world.draw(broken=False) for _ in range(cell.baselines))
        for bad in world.broken:
            answer = world.draw(broken=bad)
            world.matrix.mutated.append([answer])
            tally[OUTCOMES[world.credit(0, answer)]] += 1
    counts, gate = Counts(**tally), Fraction(str(cell.threshold))
    cases = [world.matrix for world in worlds]
    evidence, asked = known(cases), 0

    def brittle(each: RepeatEvidence) -> bool:
        return decide(counts, gate, evidence=each).verdict == "brittle"

    looks = escalate(cases, brittle, alpha=ALPHA / cell.tests) if brittle(evidence) else iter(())
    try:
        wanted = next(looks)
        while True:
            for each in wanted:
                world, place = worlds[each.case], each.mutation
                numbers = [
                    world.draw(broken=place is not None and world.broken[place]) for _ in range(each.count)
                ]
                where = world.matrix.baseline
                if place is not None:
                    where = world.matrix.repeated.setdefault(place, [])
                where.extend(numbers)
                asked += each.count
            wanted = next(looks)
    except StopIteration as stop:
        evidence = stop.value or evidence
    found = decide(counts, gate, evidence=evidence)
    confident = at_confident(worlds, counts, evidence) if found.verdict == "pass" else found.verdict
    return Test(decide(counts, gate, evidence=ALONE).verdict, found, confident, asked)


def at_confident(worlds: Sequence[World], counts: Counts, evidence: RepeatEvidence) -> str:
    """The verdict at ``confident`` of a test that passes at ``point``; each mutation is of an operator of its own."""
    kept = []
    for place in range(worlds[0].cell.mutations):
        every = [
            world.matrix.agreement(world.matrix.mutated[place])
            if evidence.floor
            else Fraction(world.credit(world.matrix.baseline[0], world.matrix.mutated[place][0]), 10)
            for world in worlds
        ]
        kept.append(sum(every) / len(every))
    return _at_confident(tuple(sorted(kept)), worlds[0].cell.threshold, counts, evidence, len(worlds))


@cache
def _at_confident(
    kept: tuple[Fraction, ...], threshold: float, counts: Counts, evidence: RepeatEvidence, inputs: int
) -> str:
    sampled = Sampled(
        [(str(place), float(credit)) for place, credit in enumerate(kept)],
        floor=evidence.floor or None,
        answers=evidence.baselines,
        inputs=inputs,
    )
    gate = Fraction(str(threshold))
    return decide_at("confident", counts, gate, evidence=evidence, sampled=sampled).verdict


def of_cell(given: tuple[Cell, int]) -> dict[str, object]:
    """The rates of a cell."""
    cell, tests = given
    rng = random.Random(repr(cell))
    raw, verdicts, confident, reasons, asked = Counter(), Counter(), Counter(), Counter(), 0
    for _ in range(tests):
        test = one_test(cell, rng)
        raw[test.alone] += 1
        verdicts[test.found.verdict] += 1
        confident[test.confident] += 1
        reasons[f"{test.found.verdict}: {test.found.reason}"] += 1
        asked += test.asked
    return {
        **asdict(cell),
        "of": tests,
        "without": {each: raw[each] / tests for each in VERDICTS},
        "with": {each: verdicts[each] / tests for each in VERDICTS},
        "confident": {each: confident[each] / tests for each in VERDICTS},
        "reasons": {each: reasons[each] / tests for each in sorted(reasons)},
        "brittle_at_most": upper(verdicts["brittle"], tests),
        "asked_again": asked / tests,
    }


def of_session(given: tuple[Cell, int]) -> dict[str, object]:
    """How many sessions of tests that nothing breaks have one called brittle."""
    cell, sessions = given
    rng = random.Random("session" + repr(cell))
    wrong = sum(
        any(one_test(cell, rng).found.verdict == "brittle" for _ in range(cell.tests))
        for _ in range(sessions)
    )
    return {**asdict(cell), "of": sessions, "wrong": wrong / sessions, "at_most": upper(wrong, sessions)}


def upper(count: int, total: int, z: float = 1.96) -> float:
    """Wilson's upper bound."""
    share = count / total
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return (share + z * z / (2 * total) + spread) / (1 + z * z / total)


def grid() -> list[Cell]:
    """The cells of the published table."""
    return [
        Cell(a, f, n, world) for world in ("many", "two") for a in AGREEMENTS for f in BROKEN for n in SIZES
    ]


def limits(row: dict[str, object]) -> list[str]:
    """Which limits a cell misses."""
    a, f, n, rates = row["agreement"], row["broken"], row["mutations"], row["with"]
    missed = []
    if f == 0 and row["brittle_at_most"] > 0.065 and rates["brittle"] > 0:
        missed.append(f"f = 0 called brittle {rates['brittle']:.3f}")
    if a == 1 and f == 0 and rates["pass"] < 0.95:
        missed.append(f"only {rates['pass']:.3f} of sound tests pass")
    if a >= 0.9 and rates["inconclusive"] > 0.10:
        missed.append(f"{rates['inconclusive']:.3f} inconclusive")
    if (f, n) in {(0.45, 16), (0.30, 64)} and a >= 0.7 and row["q"] == 1:
        least = 0.88 if a >= 0.9 else 0.65
        if rates["brittle"] < least:
            missed.append(f"brittle only {rates['brittle']:.3f}, not {least}")
    if row["inputs"] == 20 and f == 0.30 and a >= 0.9 and rates["brittle"] < 0.90:
        missed.append(f"brittle only {rates['brittle']:.3f} with 20 inputs")
    return missed


def shown(row: dict[str, object]) -> str:
    """A row of the table."""
    bits = " ".join(f"{row['without'][each]:7.3f}" for each in ("pass", "brittle"))
    rates = " ".join(f"{row['with'][each]:7.3f}" for each in VERDICTS)
    return (
        f"{row['world']:6} {row['agreement']:4} {row['broken']:5} {row['mutations']:3} {row['inputs']:3} "
        f"{row['tests']:4} | {bits} | {rates} | {row['brittle_at_most']:6.3f} {row['asked_again']:6.1f} "
        f"| {row['confident']['pass']:6.3f} {row['confident']['inconclusive']:6.3f}"
    )


def read(path: Path) -> list[Cell]:
    """Cells from a file."""
    import tomllib

    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("cell", [])
    except (OSError, ValueError) as error:
        sys.exit(f"{path}: {error}")
    if not tables:
        sys.exit(f"{path} holds no [[cell]].")
    cells = []
    for number, table in enumerate(tables, 1):
        try:
            cells.append(Cell(**table))
        except (TypeError, ValueError) as error:
            sys.exit(f"{path}, cell {number}: {str(error).removeprefix('Cell.__init__() ')}")
    return cells


def plot(rows: Sequence[dict[str, object]], path: Path) -> None:
    """The share called brittle over the share that breaks, a line for each self-agreement, with and without."""
    panels = []
    for which, title in (("without", "Eq. 1 alone"), ("with", "with noise handling")):
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            if (row["world"], row["mutations"], row["inputs"]) == ("many", 16, 1):
                point = (row["broken"], row[which]["brittle"])
                lines.setdefault(f"self-agreement {row['agreement']:g}", []).append(point)
        panels.append(Panel(f"called brittle, {title}", "share of mutations that break", lines, (0, 1)))
    path.write_text(draw(panels), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", type=int, default=2000, help="of each cell")
    parser.add_argument("--cells", type=Path)
    parser.add_argument("--sessions", type=int, default=0)
    parser.add_argument("--inputs", action="store_true", help="also tests with 20 inputs")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--plot", type=Path, metavar="SVG", help="draw the grid's verdicts with 16 mutations")
    args = parser.parse_args()
    cells = read(args.cells) if args.cells else grid()
    if args.inputs:
        cells += [Cell(a, f, 8, inputs=20, baselines=3) for a in AGREEMENTS for f in (0.0, 0.30)]
    rows, missed = [], []
    with multiprocessing.Pool(args.processes) as pool:
        print(HEAD)
        for row in pool.imap(of_cell, [(cell, args.tests) for cell in cells]):
            rows.append(row)
            missed += [f"{shown(row)}: {each}" for each in limits(row)]
            print(shown(row), flush=True)
        if args.sessions:
            sessions = [
                Cell(a, 0.0, 8, world, tests=tests)
                for world in ("many", "two")
                for a in AGREEMENTS[1:]
                for tests in (20, 100)
            ]
            for row in pool.imap(of_session, [(cell, args.sessions) for cell in sessions]):
                rows.append(row)
                said = f"sessions of {row['tests']}, {row['world']}, A = {row['agreement']}"
                print(f"{said}: {row['wrong']:.3f} wrong, at most {row['at_most']:.3f}", flush=True)
                if row["wrong"] > 0.05:
                    missed.append(f"sessions of {row['tests']}: {row['wrong']:.3f}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if args.plot:
        plot(rows, args.plot)
    print("\n".join(missed) or "every limit is kept")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
