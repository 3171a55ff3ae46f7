"""Are the parts of the variance what was planted?

    python benchmarks/variance.py [--tests 2000]

50 inputs, a number of mutations of each, 3 runs of each. Scores are 0 and 1: an input's chance is drawn from a Beta
distribution, each mutation's from one around it, each run from that, so that all three shares are known; or
normal effects are added. Beside the share of the perturbations as it is estimated stands the plug-in estimate, the
variance of cell means over the whole, and how often the 95 % interval holds the truth.
"""

from __future__ import annotations

import argparse
import statistics
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from random import Random
from typing import TYPE_CHECKING

from pytest_promptfuzz.stats.variance import variance_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Shares = tuple[float, float, float]
PLANTED: tuple[Shares, ...] = (
    (1.0, 0.0, 0.0),
    (0.6, 0.4, 0.0),
    (0.5, 0.4, 0.1),
    (0.3, 0.4, 0.3),
    (0.2, 0.2, 0.6),
)
ITEMS = 50


def beta(random: Random, mean: float, correlation: float) -> float:
    """A chance around ``mean`` with variance mean (1 − mean) correlation."""
    if not correlation or mean in {0.0, 1.0}:
        return mean
    known = 1 / correlation - 1
    return min(1.0, max(0.0, random.betavariate(max(mean * known, 1e-9), max((1 - mean) * known, 1e-9))))


def drawn(
    kind: str, shares: Shares, mutations: int, runs: int, random: Random
) -> Iterator[tuple[int, int, float]]:
    inference, item, perturbation = shares
    for number in range(ITEMS):
        chance = beta(random, 0.7, item)
        base = random.gauss(0, item**0.5)
        for mutation in range(mutations):
            own = beta(random, chance, perturbation / (1 - item))
            shift = base + random.gauss(0, perturbation**0.5)
            for _ in range(runs):
                if kind == "yes or no":
                    yield number, mutation, float(random.random() < own)
                else:
                    yield number, mutation, shift + random.gauss(0, inference**0.5)


def plug_in(trials: list[tuple[int, int, float]]) -> float:
    """Variance of cell means within items, over the variance of all: what is not corrected for the runs."""
    cells: dict[int, dict[int, list[float]]] = {}
    for item, mutation, score in trials:
        cells.setdefault(item, {}).setdefault(mutation, []).append(score)
    means = [[statistics.fmean(runs) for runs in row.values()] for row in cells.values()]
    return statistics.fmean(map(spread, means)) / spread([score for _, _, score in trials])


def spread(numbers: list[float]) -> float:
    mean = statistics.fmean(numbers)
    return statistics.fmean((each - mean) ** 2 for each in numbers)


def cell(case: tuple[str, int, Shares], tests: int) -> str:
    kind, mutations, shares = case
    random = Random(repr(case))
    found, naive, once, held = [], [], [], 0
    for _ in range(tests):
        trials = list(drawn(kind, shares, mutations, 3, random))
        result = variance_of(trials)
        assert result.raw.perturbation is not None
        assert result.share_range is not None
        total = sum(each or 0.0 for each in result.raw)
        found.append([(each or 0.0) / total for each in result.raw])
        held += result.share_range.low <= shares[2] <= result.share_range.high
        naive.append(plug_in(trials))
        once.append(plug_in(trials[::3]))
    parts = [[row[part] for row in found] for part in range(3)]
    near = statistics.fmean(abs(max(0.0, each) - shares[2]) <= 0.05 for each in parts[2])
    means = " / ".join(f"{statistics.fmean(each):.3f}" for each in parts)
    planted = " / ".join(f"{each:.1f}" for each in shares)
    figures = (means, f"{statistics.stdev(parts[2]):.3f}", f"{near:.3f}", f"{held / tests:.3f}")
    plain = (f"{statistics.fmean(naive):.2f}", f"{statistics.fmean(once):.2f}")
    return " | ".join(("", kind, str(mutations), planted, *figures, *plain, "")).strip()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", type=int, default=2000, help="simulated in each cell")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    print(
        "| scores | mutations | planted: inference / item / perturbation | estimated, means | SD of perturbation "
        "| within 0.05 | interval holds it | plug-in | plug-in, 1 run |"
    )
    print("| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    with ProcessPoolExecutor(options.jobs) as pool:
        cases = list(product(("yes or no", "normal"), (8, 16), PLANTED))
        for line in pool.map(partial(cell, tests=options.tests), cases):
            print(line, flush=True)


if __name__ == "__main__":
    main()
