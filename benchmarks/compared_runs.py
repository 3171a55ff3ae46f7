"""How often a run is called worse than the run before: simulated pairs of runs of known truth.

    python benchmarks/compared_runs.py [--pairs 2000] [--power 400] [--seed 0] [--json FILE]

An application that did not change is run twice, with 1 to 20 tests of 8 or 16 mutations and 1 to 3 inputs each, in the
worlds of ``verdicts.py``: a model that agrees with itself with probability 0.5 to 1, of whose mutations a share of 0 to
0.45 breaks. The answer to the unmutated prompt is drawn anew in each run, and may be an odd one. In half of the pairs
each test stops asking once its verdict at 0.85 is certain. The runs are compared by the code that the plugin runs,
answers to the unmutated prompt included. A claim is a test that is called ``worse``.

Then how often a drop is found: one test (or one of ten) of which so many more mutations break in the second run.

Exits with 1 if more than 5 % of the unchanged pairs are called worse, or the upper end of the interval is above 6.5 %.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from verdicts import OUTCOMES, Cell, World

from pytest_promptfuzz.history.entries import whole
from pytest_promptfuzz.history.run_comparison import changes
from pytest_promptfuzz.stats.intervals import beta_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.history.changes import BaseReport
    from pytest_promptfuzz.history.entries import HistoryEntry

AGREEMENTS, BROKEN, SIZES, WORLDS = (
    (1.0, 0.9, 0.7, 0.5),
    (0.0, 0.15, 0.3, 0.45),
    (8, 16),
    ("many", "two", "minor"),
)
MOST_TESTS, MOST_INPUTS = 20, 3
THRESHOLD = 0.85
LIMIT, UPPER = 0.05, 0.065
BASE: BaseReport = {"label": "before", "kind": "name", "run": "", "started": "", "commit": "", "branch": ""}
_LETTERS = {"equivalent": "E", "minor": "M", "deviation": "D"}
_CREDITS = {"E": 1.0, "M": 0.7, "D": 0.0}


class Rate(NamedTuple):
    """How often something happened, and the interval of 95 % (Clopper and Pearson) of how often it does."""

    count: int
    of: int

    @property
    def share(self) -> float:
        return self.count / self.of

    @property
    def upper(self) -> float:
        return 1.0 if self.count == self.of else beta_quantile(0.975, self.count + 1, self.of - self.count)


def text_of(world: World, answer: int) -> dict[str, object]:
    """An answer as the comparison sees it: variations of one answer differ in the order of a list."""
    said, kind = world.answers[answer]
    places = list(range(7))
    random.Random(kind).shuffle(places)
    return {"answer": f"label {said}", "places": places}


def run_of(worlds: Sequence[World], name: str, *, stops: bool) -> HistoryEntry:
    """Ask the unmutated prompt and each mutation of each input once."""
    trials: dict[str, dict[str, str]] = {}
    baselines: dict[str, object] = {}
    for number, world in enumerate(worlds):
        baseline = world.draw(broken=False)
        baselines[str(number)] = text_of(world, baseline)
        answers = [world.draw(broken=bad) for bad in world.broken]
        letters = [_LETTERS[OUTCOMES[world.credit(baseline, each)]] for each in answers]
        trials[str(number)] = {f"t{place}": letter for place, letter in enumerate(letters)}
    if stops:
        stop(trials)
    decided = [_CREDITS[each] for found in trials.values() for each in found.values() if each != "?"]
    score = sum(decided) / len(decided)
    return whole(
        {
            "test": name,
            "verdict": "pass" if score >= THRESHOLD else "brittle",
            "score": score,
            "prompt": "p",
            "baselines": baselines,
            "trials": trials,
        }
    )


def stop(trials: dict[str, dict[str, str]]) -> None:
    """Take back what is asked after the verdict is certain."""
    left = sum(map(len, trials.values()))
    total, credit = left, 0.0
    for found in trials.values():
        for name, letter in found.items():
            if credit + left < THRESHOLD * total - 1e-9 or credit >= THRESHOLD * total - 1e-9:
                found[name] = "?"
            else:
                credit += _CREDITS[letter]
                left -= 1


def statuses(before: Sequence[HistoryEntry], now: Sequence[HistoryEntry]) -> dict[str, str]:
    """What the comparison says of each test."""
    found = changes(BASE, {each["test"]: each for each in before}, {each["test"]: each for each in now})
    return {each["test"]: each["status"] for each in found["tests"]}


def unchanged(rng: random.Random) -> dict[str, str]:
    """A pair of runs of an application that did not change."""
    before, now = [], []
    stops = rng.random() < 0.5
    for number in range(rng.randint(1, MOST_TESTS)):
        cell = Cell(rng.choice(AGREEMENTS), rng.choice(BROKEN), rng.choice(SIZES), rng.choice(WORLDS))
        worlds = [World(cell, rng) for _ in range(rng.randint(1, MOST_INPUTS))]
        before.append(run_of(worlds, f"test_{number}", stops=stops))
        now.append(run_of(worlds, f"test_{number}", stops=stops))
    return statuses(before, now)


def dropped(agreement: float, after: float, size: int, tests: int, rng: random.Random) -> str:
    """What is said of the first of some tests, of which a share of the mutations breaks only in the second run."""
    before, now = [], []
    for number in range(tests):
        world = World(Cell(agreement, 0.0, size), rng)
        before.append(run_of([world], f"test_{number}", stops=False))
        if not number:
            for place in range(round(after * size)):
                world.broken[place] = True
        now.append(run_of([world], f"test_{number}", stops=False))
    return statuses(before, now)["test_0"]


def measure(pairs: int, seed: int) -> tuple[Rate, Rate, Rate, Counter[str]]:
    """How often unchanged runs are called worse, better, or either; and what is said of their tests."""
    worse = better = either = 0
    tests: Counter[str] = Counter()
    for number in range(pairs):
        found = unchanged(random.Random(f"{seed} {number}"))
        tests.update(found.values())
        worse += "worse" in found.values()
        better += "better" in found.values()
        either += bool({"worse", "better"} & set(found.values()))
    return Rate(worse, pairs), Rate(better, pairs), Rate(either, pairs), tests


def main() -> int:
    """Print both tables; 1 where a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])  # type: ignore[union-attr]  # there is one
    parser.add_argument("--pairs", type=int, default=2000, help="of unchanged runs")
    parser.add_argument("--power", type=int, default=400, help="pairs of runs with a drop, in each cell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found")
    options = parser.parse_args()
    worse, better, either, tests = measure(options.pairs, options.seed)
    print(f"{options.pairs} pairs of unchanged runs")
    for name, rate in (("worse", worse), ("better", better), ("either", either)):
        print(f"  {name:6} {rate.count:4} = {rate.share:.4f}, at most {rate.upper:.4f}")
    print("  tests: " + ", ".join(f"{count} {status}" for status, count in tests.most_common()), flush=True)
    print("\n| A | f after | n | alone: worse | among ten tests |\n| ---: | ---: | ---: | ---: | ---: |")
    rows = []
    for agreement in (1.0, 0.9, 0.7):
        for after in (0.25, 0.5):
            for size in (8, 16, 32):
                found = []
                for among in (1, 10):
                    rng = random.Random(f"{options.seed} {agreement} {after} {size} {among}")
                    said = Counter(dropped(agreement, after, size, among, rng) for _ in range(options.power))
                    found.append(said["worse"] / options.power)
                rows.append((agreement, after, size, *found))
                print(f"| {agreement:g} | {after:g} | {size} | {found[0]:.2f} | {found[1]:.2f} |", flush=True)
    if options.json:
        shown = {"worse": worse, "better": better, "either": either, "tests": tests, "power": rows}
        options.json.write_text(json.dumps(shown, indent=1), encoding="utf-8")
    return int(worse.share > LIMIT or worse.upper > UPPER)


if __name__ == "__main__":
    sys.exit(main())
