"""How many calls does stopping early save, and what does it do to verdicts?

    python benchmarks/stopping.py [--plot docs/stopping.svg]
    python benchmarks/stopping.py --noise [--tests 2000] [--jobs 2]

The first goes through every course that a plan can take and needs no chance: a model that always answers alike, and
prompts of which each mutation breaks with a given probability. `--noise` draws tests with a model that agrees with
itself only in part, and asks again before it says "brittle", as the plugin does.
"""

from __future__ import annotations

import argparse
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from plotting import Panel, draw

from pytest_promptfuzz.stats.repeats import ALPHA, EARLY, escalate, known
from pytest_promptfuzz.stats.scores import Counts, Matrix, exact
from pytest_promptfuzz.stats.stopping import STOPS, PlanGate, Stop, Stopping, operating, settled, stopping
from pytest_promptfuzz.stats.verdict import decide

if TYPE_CHECKING:
    from pytest_promptfuzz.stats.repeats import RepeatEvidence

THRESHOLD = exact(0.85)
SIZES = (8, 16, 32, 64)
SHARES = (0.0, 0.05, 0.15, 0.30, 0.45, 0.60)
ROBUST, BRITTLE = (0.0, 0.05), (0.30, 0.45, 0.60)
AGREEMENTS = (1.0, 0.9, 0.7)


def table(stop: Stop) -> None:
    """What is saved of a plan, and how many are called brittle with it and without."""
    print(
        f'\n`stop="{stop}"`: saved, and called brittle (without stopping), by share of mutations that break\n'
    )
    print("| mutations | " + " | ".join(f"{share:.2f}" for share in SHARES) + " | 80 % robust |")
    print("| ---: |" + " --- |" * (len(SHARES) + 1))
    for size in SIZES:
        gate = PlanGate(size, THRESHOLD)
        how = stopping(stop, gate)
        cells = []
        for share in SHARES:
            found, whole = operating(how, gate, share), operating(None, gate, share)
            cells.append(f"{1 - found.asked / size:.1%}, {found.brittle:.3f} ({whole.brittle:.3f})")
        print(f"| {size} | " + " | ".join(cells) + f" | {mixed(how, gate):.1%} |")


def mixed(how: Stopping | None, gate: PlanGate) -> float:
    """What is saved of a suite of which four fifths are robust (0 or 0.05 break), one fifth brittle (0.30 to 0.60)."""

    def saved(shares: tuple[float, ...]) -> float:
        return sum(1 - operating(how, gate, share).asked / gate.planned for share in shares) / len(shares)

    return 0.8 * saved(ROBUST) + 0.2 * saved(BRITTLE)


def plot(path: Path) -> None:
    """The share of calls saved over the share that breaks, a panel for each way of stopping."""
    shares = [number / 50 for number in range(36)]
    panels = []
    for stop in ("certain", "sprt", "sequential"):
        lines = {}
        for size in SIZES:
            gate = PlanGate(size, THRESHOLD)
            how = stopping(stop, gate)  # type: ignore[arg-type]
            lines[f"{size} mutations"] = [
                (share, 1 - operating(how, gate, share).asked / size) for share in shares
            ]
        panels.append(
            Panel(
                f'stop="{stop}": share of trials not needed', "share of mutations that break", lines, (0, 1)
            )
        )
    path.write_text(draw(panels), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Cell:
    """One simulated truth: how often two answers of the model agree, and the share of mutations that break."""

    size: int
    agreement: float
    share: float


class Model:
    """Draws answers: the usual one or another, so often that two agree as often as is wanted."""

    def __init__(self, cell: Cell, rng: Random) -> None:
        self.usual = (1 + sqrt(2 * cell.agreement - 1)) / 2
        self.rng = rng
        self.broken = [rng.random() < cell.share for _ in range(cell.size)]
        self.answers: list[str] = []
        self.matrix = Matrix(lambda one, other: 10 if self.answers[one] == self.answers[other] else 0)

    def ask(self, mutation: int | None) -> int:
        """The number of the answer to a mutation, or to the unmutated prompt."""
        usual = self.rng.random() < self.usual
        broken = mutation is not None and self.broken[mutation]
        self.answers.append(("x" if usual else "y") if broken else ("a" if usual else "b"))
        return len(self.answers) - 1

    def repeated(
        self, counts: Counts, how: Stopping, alpha: float, *, steady: bool = False
    ) -> RepeatEvidence:
        """What is known, or what asking again shows of a test about to fail, as ``evaluating.rounds`` does."""
        before, gate = known([self.matrix]), how.gate
        waiting = replace(counts, not_needed=gate.planned - counts.total)

        def brittle(evidence: RepeatEvidence) -> bool:
            return decide(waiting, gate.threshold, evidence=evidence).verdict == "brittle"

        if not brittle(before):
            return before
        looks = escalate(
            [self.matrix],
            lambda found: brittle(found) and settled(how, counts, found),
            alpha=alpha,
            steady=steady,
        )
        try:
            while True:
                for wanted in next(looks):
                    for _ in range(wanted.count):
                        number = self.ask(wanted.mutation)
                        if wanted.mutation is None:
                            self.matrix.baseline.append(number)
                        else:
                            self.matrix.repeated.setdefault(wanted.mutation, []).append(number)
        except StopIteration as stop:
            found: RepeatEvidence = stop.value
            return found


def one(cell: Cell, stop: bool, seed: int) -> tuple[str, int, int]:
    """The verdict of one test, how many of its mutations were asked, and how many calls it took in all."""
    model = Model(cell, Random(f"{cell} {seed}"))
    gate = PlanGate(cell.size, THRESHOLD)
    how = Stopping(gate)
    model.matrix.baseline.append(model.ask(None))
    outcomes: list[str] = []

    def ask(size: int) -> Counts:
        for _ in range(size):
            number = model.ask(len(outcomes))
            model.matrix.mutated.append([number])
            outcomes.append("equivalent" if model.matrix.between(0, number) else "deviation")
        return Counts.of(outcomes)  # type: ignore[arg-type]

    counts = ask(0 if stop else cell.size)
    while counts.total < cell.size and how.ending(counts) is None:
        counts = ask(how.batch(counts))
    early = counts.total < cell.size
    share = ALPHA * EARLY if early else ALPHA
    evidence = model.repeated(counts, how, share, steady=early)
    if early and (
        (evidence.p is not None and not evidence.significant) or not settled(how, counts, evidence)
    ):
        counts = ask(cell.size - counts.total)
        evidence = model.repeated(counts, how, ALPHA if evidence.p is None else ALPHA - share)
    rest = cell.size - counts.total
    verdict = decide(replace(counts, not_needed=rest), THRESHOLD, evidence=evidence).verdict
    return verdict, counts.total, len(model.answers)


def run(cell: Cell, tests: int) -> str:
    """A line of the table."""
    parts = []
    calls = {}
    for stop in (False, True):
        found = [one(cell, stop, seed) for seed in range(tests)]
        verdicts = Counter(verdict for verdict, _, _ in found)
        calls[stop] = sum(made for _, _, made in found) / tests
        shares = " / ".join(
            f"{verdicts[name] / tests:.3f}" for name in ("pass", "brittle", "noisy", "inconclusive")
        )
        parts.append(shares)
        if stop:
            asked = sum(asked for _, asked, _ in found) / tests
    saved = 1 - asked / cell.size
    return (
        f"| {cell.size} | {cell.agreement} | {cell.share:.2f} | {parts[0]} | {parts[1]} | {saved:.1%} | "
        f"{1 - calls[True] / calls[False]:.1%} |"
    )


def noise(tests: int, jobs: int) -> None:
    """Verdicts with and without, where the model varies."""
    print(f"\n{tests} tests a cell; pass / brittle / noisy / inconclusive\n")
    print(
        "| mutations | self-agreement | breaks | asked in full | stopped when certain | trials saved | calls saved |"
    )
    print("| ---: | ---: | ---: | --- | --- | ---: | ---: |")
    cells = [
        Cell(size, agreement, share)
        for size in SIZES
        for agreement in AGREEMENTS
        for share in (0.0, 0.15, 0.30, 0.45)
    ]
    with ProcessPoolExecutor(jobs) as pool:
        for line in pool.map(partial(run, tests=tests), cells):
            print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--tests", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    if options.noise:
        noise(options.tests, options.jobs)
        return
    for stop in STOPS:
        if stop != "never":
            table(stop)
    if options.plot:
        plot(options.plot)


if __name__ == "__main__":
    main()
