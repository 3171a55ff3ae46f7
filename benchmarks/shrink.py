"""How often is a planted minimal set of edits found, and with how many questions?

    python benchmarks/shrink.py [--cases 1000] [--edits 20]

Each case plants the edits that a failure needs among others: one, two or three that fail only together; two
alternatives; or two that a third mends unless a fourth is there (not monotone). Answers are told right, or with
probability 0.8. Beside it, delta debugging (ddmin) on the same cases where answers do not vary.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from random import Random
from statistics import mean

from pytest_promptfuzz.searching.shrinker import KnownFailures, _ddmin, shrinking

KINDS = ("1 edit", "2 edits", "3 edits", "two alternatives", "not monotone")


@dataclass(frozen=True, slots=True)
class Case:
    """What fails: any set that holds one of ``needed``, and not ``mending`` without ``undoing``."""

    needed: tuple[frozenset[int], ...]
    mending: int = -1
    undoing: int = -1

    def fails(self, parts: frozenset[int]) -> bool:
        mended = self.mending in parts and self.undoing not in parts
        return not mended and any(each <= parts for each in self.needed)


def planted(kind: str, edits: int, rng: Random) -> Case:
    def some(size: int) -> frozenset[int]:
        return frozenset(rng.sample(range(edits), size))

    if kind[0].isdigit():
        return Case((some(int(kind[0])),))
    if kind == "not monotone":
        one, other, mending, undoing = rng.sample(range(edits), 4)
        return Case((frozenset({one, other}),), mending, undoing)
    first, second = some(rng.randint(1, 3)), some(rng.randint(1, 3))
    while first <= second or second <= first:
        second = some(rng.randint(1, 3))
    return Case((first, second))


def run(kind: str, right: float, edits: int, seed: int) -> tuple[bool, int, int]:
    """Whether a planted set was found, how often was asked, and in how many batches."""
    rng = Random(f"{kind} {right} {edits} {seed}")
    case = planted(kind, edits, rng)
    steps = shrinking(edits, asked=KnownFailures(flip=0 if right == 1 else 0.25))
    batches = 0
    try:
        sets = next(steps)
        while True:
            batches += 1
            sets = steps.send([case.fails(each) == (rng.random() < right) for each in sets])
    except StopIteration as stop:
        return frozenset(stop.value.kept) in case.needed, stop.value.calls, batches


def ddmin(kind: str, edits: int, seed: int) -> int:
    """How often delta debugging asks."""
    case = planted(kind, edits, Random(f"{kind} 1 {edits} {seed}"))
    asked = KnownFailures()
    asked.learn(frozenset(range(edits)), fails=True)
    steps = _ddmin(asked, frozenset(range(edits)))
    try:
        sets = next(steps)
        while True:
            sets = steps.send([case.fails(each) for each in sets])
    except StopIteration:
        return asked.calls + 1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--edits", type=int, default=20)
    options = parser.parse_args()
    bound = options.edits**2 + 3 * options.edits
    print(f"\n{options.cases} cases a line, {options.edits} edits; ddmin asks {bound} times at most\n")
    print("| needed | told right | found | asked, mean | most | batches, mean | ddmin, mean | most |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in KINDS:
        for right in (1, 0.8):
            found = [run(kind, right, options.edits, seed) for seed in range(options.cases)]
            peer = [ddmin(kind, options.edits, seed) for seed in range(options.cases)] if right == 1 else []
            beside = f"{mean(peer):.1f} | {max(peer)}" if peer else "| "
            print(
                f"| {kind} | {right} | {mean(each[0] for each in found):.1%} | {mean(each[1] for each in found):.1f} | "
                f"{max(each[1] for each in found)} | {mean(each[2] for each in found):.1f} | {beside} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
