"""How often does an interval hold the true score, and how wide is it?

    python benchmarks/intervals.py [--tests 2000] [--jobs 2] [--plot docs/intervals.svg]
    python benchmarks/intervals.py --others [--tests 500]
    python benchmarks/intervals.py --plan
    python benchmarks/intervals.py --adjusted

The grid: 8 to 64 mutations; 1, 2, 4 or 8 of each operator, or 1 to 8 of them mixed, at least four operators (no plan
gives one more than a quarter); correlation within operators 0, 0.2 and 0.5, of two kinds: operators whose answers
tend to be alike (Dirichlet), and operators of which some always do the same; true scores 0.3 to 1; no, half or all of
what is lost lost to minor answers. Each cell draws its tests from a seed of its own. `--plan` has the mutations
themselves for the population and repeats each 2, 3 or 5 times. `--adjusted` has a model that agrees with itself in
50 % to 100 % of pairs (two answers, or one that dominates and others all different), 2 to 16 answers to the
unmutated prompt, and a share of up to 45 % of mutations that get other answers altogether.
"""

from __future__ import annotations

import argparse
import statistics
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from plotting import Panel, draw

from pytest_promptfuzz.stats.intervals import (
    adjusted_interval,
    beta_quantile,
    design_effect,
    lower_bound,
    plan_interval,
    score_interval,
    share_interval,
    t_quantile,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZES = (8, 16, 32, 64)
EACH = ("1", "2", "4", "8", "mixed")
MIXED = (1, 2, 4, 1, 8, 3, 1, 2)
SCORES = (0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0)
KINDS = ("alike", "the same")
MINOR = 0.7
Groups = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One simulated truth: ``minor`` is the share of the lost credit that minor answers lose."""

    size: int
    each: str
    correlation: float
    kind: str
    score: float
    minor: float

    @property
    def operators(self) -> list[int]:
        """Trials of each operator."""
        if self.each != "mixed":
            return [int(self.each)] * (self.size // int(self.each))
        found: list[int] = []
        while left := self.size - sum(found):
            found.append(min(left, self.size // 4, MIXED[len(found) % len(MIXED)]))
        return found

    @property
    def shares(self) -> tuple[float, float, float]:
        """Of answers that are equivalent, minor and deviating."""
        lost = 1 - self.score
        minor, deviating = self.minor * lost / (1 - MINOR), (1 - self.minor) * lost
        return 1 - minor - deviating, minor, deviating


def grid(scores: tuple[float, ...] = SCORES) -> Iterator[Cell]:
    for size in SIZES:
        for each in EACH:
            if each != "mixed" and int(each) > 1 and int(each) * 4 > size:
                continue
            for correlation in (0.0,) if each == "1" else (0.0, 0.2, 0.5):
                for kind in KINDS if correlation else KINDS[:1]:
                    for score in scores:
                        for minor in (0.0, 0.5, 1.0) if score < 1 else (0.0,):
                            cell = Cell(size, each, correlation, kind, score, minor)
                            if min(cell.shares) >= 0:
                                yield cell


def drawn(cell: Cell, random: Random) -> Groups:
    """The credits of one test, by operator, the groups in order, so that equal ones are known again."""
    cumulated = (cell.shares[0], cell.shares[0] + cell.shares[1])

    def fresh() -> float:
        point = random.random()
        return 1.0 if point < cumulated[0] else MINOR if point < cumulated[1] else 0.0

    found = []
    for count in cell.operators:
        group: list[float] = []
        same = cell.kind == "the same" and random.random() < cell.correlation
        for _ in range(count):
            # Pólya's urn: a share of an operator's trials repeats one of its earlier ones.
            if cell.kind == "alike" and cell.correlation:
                prior = (1 - cell.correlation) / cell.correlation
                again = random.random() >= prior / (prior + len(group))
            else:
                again = bool(group) and same
            group.append(random.choice(group) if again else fresh())
        found.append(tuple(sorted(group)))
    return tuple(sorted(found))


def pairs(groups: Groups) -> list[tuple[str, float]]:
    return [(str(number), credit) for number, group in enumerate(groups) for credit in group]


def ours(groups: Groups) -> tuple[float, float]:
    found = score_interval(pairs(groups))
    return found.low, found.high


def confident(groups: Groups) -> tuple[float, float]:
    return lower_bound(pairs(groups)), 1.0


def wilson(groups: Groups) -> tuple[float, float]:
    """As if every trial were independent, and every credit 0 or 1."""
    count = sum(map(len, groups))
    found = share_interval(sum(map(sum, groups)) / count, count)
    return found.low, found.high


def students(groups: Groups) -> tuple[float, float]:
    """The mean of the operators' sums, with their scatter and t at one operator fewer."""
    size, count = sum(map(len, groups)), len(groups)
    mean = sum(map(sum, groups)) / size
    scatter = sum((sum(group) - len(group) * mean) ** 2 for group in groups) * count / (count - 1)
    half = t_quantile(0.975, count - 1) * scatter**0.5 / size
    return max(0.0, mean - half), min(1.0, mean + half)


def bootstrap(groups: Groups, rounds: int = 200) -> tuple[float, float]:
    """Percentiles of the score over operators that are drawn again."""
    random = Random(str(groups))
    means = []
    for _ in range(rounds):
        again = random.choices(groups, k=len(groups))
        means.append(sum(map(sum, again)) / sum(map(len, again)))
    means.sort()
    return means[int(0.025 * rounds)], means[int(0.975 * rounds) - 1]


def dirichlet(groups: Groups) -> tuple[float, float]:
    """A posterior over the three credits (a third of an answer each), at our design effect, as a Beta."""
    flat = [credit for group in groups for credit in group]
    mean, square = sum(flat) / len(flat), sum(credit * credit for credit in flat) / len(flat)
    count = len(flat) / design_effect(groups)
    middle = (mean * count + (1 + MINOR) / 3) / (count + 1)
    variance = ((square * count + (1 + MINOR**2) / 3) / (count + 1) - middle**2) / (count + 2)
    known = middle * (1 - middle) / variance - 1
    a, b = middle * known, (1 - middle) * known
    low = beta_quantile(0.025, a, b) if mean > 0 else 0.0
    return low, beta_quantile(0.975, a, b) if mean < 1 else 1.0


def coverage(
    cell: Cell, tests: int, methods: tuple[Callable[[Groups], tuple[float, float]], ...]
) -> list[tuple[float, float]]:
    """Of each method in one cell: share of intervals that hold the score, and their mean width."""
    random = Random(repr(cell))
    known = [lru_cache(maxsize=None)(method) for method in methods]
    held, width = [0] * len(methods), [0.0] * len(methods)
    for _ in range(tests):
        groups = drawn(cell, random)
        for number, method in enumerate(known):
            low, high = method(groups)
            held[number] += low <= cell.score + 1e-9 and cell.score <= high + 1e-9
            width[number] += high - low
    return [(each / tests, total / tests) for each, total in zip(held, width, strict=True)]


def table(title: str, rows: dict[str, list[tuple[float, float]]]) -> None:
    print(f"\n| {title} | cells | mean coverage | least | below 0.90 | mean width |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, found in rows.items():
        held, widths = zip(*found, strict=True)
        below = sum(each < 0.9 for each in held)
        figures = f"{statistics.mean(held):.3f} | {min(held):.3f} | {below} | {statistics.mean(widths):.2f}"
        print(f"| {name} | {len(held)} | {figures} |")


def split(
    cells: list[Cell], rows: list[tuple[float, float]], what: Callable[[Cell], object]
) -> dict[str, list[tuple[float, float]]]:
    """The rows by what is asked of their cells, in the order of the grid."""
    found: dict[str, list[tuple[float, float]]] = {}
    for cell, row in zip(cells, rows, strict=True):
        found.setdefault(str(what(cell)), []).append(row)
    return found


def whole(tests: int, pool: ProcessPoolExecutor, plot: Path | None) -> None:
    cells = list(grid())
    both = list(pool.map(partial(coverage, tests=tests, methods=(ours, confident)), cells, chunksize=4))
    found, bounds = [list(each) for each in zip(*both, strict=True)]
    table(f"score_interval, {tests} tests a cell", {"all": found})
    table("n", split(cells, found, lambda cell: cell.size))
    table("correlation", split(cells, found, lambda cell: cell.correlation))
    table("trials of an operator", split(cells, found, lambda cell: cell.each))
    table("lost to minor answers", split(cells, found, lambda cell: cell.minor))
    table("true score", split(cells, found, lambda cell: cell.score))
    table("`lower_bound`: correlation", split(cells, bounds, lambda cell: cell.correlation))
    print("\nHeld least:\n")
    for (held, width), cell in sorted(zip(found, cells, strict=True), key=lambda pair: pair[0][0])[:5]:
        print(f"* {held:.3f}, width {width:.2f}: {cell}")
    if plot:
        plot.write_text(draw([panel(cells, found, 0), panel(cells, found, 1)]), encoding="utf-8")


def panel(cells: list[Cell], found: list[tuple[float, float]], at: int) -> Panel:
    """Coverage (0) or width (1) against the true score, a line for each correlation."""
    lines: dict[str, list[tuple[float, float]]] = {}
    by_score = split(cells, found, lambda cell: (cell.correlation, cell.score))
    for correlation in (0.0, 0.2, 0.5):
        lines[f"correlation {correlation}"] = [
            (score, statistics.mean(row[at] for row in by_score[str((correlation, score))]))
            for score in SCORES
        ]
    if at:
        return Panel("Mean width", "true score", lines, (0.0, 0.6))
    lines["the least cell"] = [
        (float(score), min(row[0] for row in rows))
        for score, rows in split(cells, found, lambda cell: cell.score).items()
    ]
    return Panel("Coverage (wanted: 0.95)", "true score", lines, (0.85, 1.0))


def others(tests: int, pool: ProcessPoolExecutor) -> None:
    methods = (ours, dirichlet, students, wilson, bootstrap)
    cells = list(grid((0.3, 0.7, 0.85, 0.95)))
    found = list(pool.map(partial(coverage, tests=tests, methods=methods), cells, chunksize=4))
    for title, chosen in {
        f"all, {tests} tests a cell": found,
        "no correlation": [row for cell, row in zip(cells, found, strict=True) if not cell.correlation],
        "correlation 0.2 or 0.5": [row for cell, row in zip(cells, found, strict=True) if cell.correlation],
    }.items():
        table(title, {each.__name__: [row[at] for row in chosen] for at, each in enumerate(methods)})


def planned(tests: int, pool: ProcessPoolExecutor) -> None:
    cells = [
        (size, repeats, sure, score)
        for size in SIZES
        for repeats in (2, 3, 5)
        for sure in (0.0, 0.5, 0.9)
        for score in SCORES
    ]
    found = list(pool.map(partial(plan_coverage, tests=tests), cells, chunksize=4))
    rows: dict[str, dict[str, list[tuple[float, float]]]] = {
        "n": {},
        "repeats": {},
        "sure mutations": {},
        "all": {},
    }
    for (size, repeats, sure, _), row in zip(cells, found, strict=True):
        for name, value in (("n", size), ("repeats", repeats), ("sure mutations", sure), ("all", tests)):
            rows[name].setdefault(str(value), []).append(row)
    for name, each in rows.items():
        table(f"plan_interval: {name}", each)


def plan_coverage(cell: tuple[int, int, float, float], tests: int) -> tuple[float, float]:
    """A share of the mutations always does the same, the others' answers vary; the truth is this plan's mean."""
    size, repeats, sure, score = cell
    random = Random(repr(cell))
    held, width = 0, 0.0
    for _ in range(tests):
        chances = [float(random.random() < score) if random.random() < sure else score for _ in range(size)]
        answers = [[float(random.random() < chance) for _ in range(repeats)] for chance in chances]
        found = plan_interval(answers)
        held += found.low - 1e-9 <= sum(chances) / size <= found.high + 1e-9
        width += found.high - found.low
    return held / tests, width / tests


def noisy(tests: int, pool: ProcessPoolExecutor) -> None:
    cells = [
        (agreement, kind, broken, size, answers)
        for agreement in (1.0, 0.9, 0.7, 0.5)
        for kind in ("two answers", "one dominates")
        for broken in (0.0, 0.15, 0.3, 0.45)
        for size in SIZES
        for answers in (2, 4, 8, 16)
        if agreement < 1 or kind == "two answers"
    ]
    found = list(pool.map(partial(noisy_coverage, tests=tests), cells, chunksize=4))
    table(f"adjusted_interval, {tests} tests a cell", {"all": found})
    for name, at in (("self-agreement", 0), ("model", 1), ("broken", 2), ("n", 3), ("unmutated answers", 4)):
        rows: dict[str, list[tuple[float, float]]] = {}
        for cell, row in zip(cells, found, strict=True):
            rows.setdefault(str(cell[at]), []).append(row)
        table(name, rows)
    print("\nHeld least:\n")
    for (held, width), cell in sorted(zip(found, cells, strict=True))[:5]:
        print(f"* {held:.3f}, width {width:.2f}: {cell}")


def noisy_coverage(cell: tuple[float, str, float, int, int], tests: int) -> tuple[float, float]:
    """Tests whose unmutated answers never agree have no adjusted score, and are left out."""
    agreement, kind, broken, size, answers = cell
    random = Random(repr(cell))
    likely = (1 + (2 * agreement - 1) ** 0.5) / 2 if kind == "two answers" else agreement**0.5
    held, width, counted = 0, 0.0, 0

    def answer(about: str) -> str:
        if random.random() < likely:
            return about
        return f"not {about}" if kind == "two answers" else f"{about} {random.random()}"

    for _ in range(tests):
        plain = [answer("right") for _ in range(answers)]
        pairs_agreeing = [one == other for place, one in enumerate(plain) for other in plain[:place]]
        credited = []
        for number in range(size):
            mutated = answer("wrong" if random.random() < broken else "right")
            credited.append((str(number), plain.count(mutated) / answers))
        if any(pairs_agreeing):
            floor = sum(pairs_agreeing) / len(pairs_agreeing)
            found = adjusted_interval(credited, floor=floor, answers=answers)
            counted += 1
            held += found.low - 1e-9 <= 1 - broken <= found.high + 1e-9
            width += found.high - found.low
    return held / counted, width / counted


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", type=int, default=2000, help="simulated in each cell")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--others", action="store_true", help="other methods beside ours")
    parser.add_argument("--plan", action="store_true", help="the estimand plan")
    parser.add_argument("--adjusted", action="store_true", help="the adjusted score of a model that varies")
    parser.add_argument("--plot", type=Path, help="where to put an SVG")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        if options.others:
            others(options.tests, pool)
        elif options.plan:
            planned(options.tests, pool)
        elif options.adjusted:
            noisy(options.tests, pool)
        else:
            whole(options.tests, pool, options.plot)


if __name__ == "__main__":
    main()
