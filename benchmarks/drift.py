"""How often is a model that is as it was said to have changed, and how often is one seen that did?

Answers are drawn at random: two kinds of them, which come so that the model agrees with itself as often as is said. A
model that changed gives two others, or (``shift``) the same two the other way round. Four answers are stored, or three;
one is had today, and more are asked as a test would::

    python benchmarks/drift.py [--pairs 2000]
"""

from __future__ import annotations

import argparse
import math
import random
from statistics import NormalDist

from pytest_promptfuzz.stats.regressions import Beside, RunEvidence, compared

AGREEMENTS = (1.0, 0.9, 0.7, 0.5)
_Z = NormalDist().inv_cdf(0.975)


def shares(agreement: float) -> list[float]:
    """How often each of four answers comes."""
    most = (1 + math.sqrt(2 * agreement - 1)) / 2
    return [most, 1 - most, 0.0, 0.0]


def told(
    rng: random.Random, before: list[float], after: list[float], *, then: int, now: int, inputs: int
) -> tuple[RunEvidence, int]:
    """What one pair of runs comes to, and how many calls it took; with several answers of today it is a replay."""
    values: list[int] = []
    calls = 0

    def draw(weights: list[float]) -> int:
        values.append(rng.choices(range(len(weights)), weights)[0])
        return len(values) - 1

    def between(one: int, other: int) -> int:
        return 10 if values[one] == values[other] else 0

    cases = [
        Beside(between, [draw(before) for _ in range(then)], [draw(after) for _ in range(now)])
        for _ in range(inputs)
    ]
    asking = compared(cases, more=now == 1, made=9 * inputs)
    try:
        while True:
            look = next(asking)
            for each in cases:
                calls += look - len(each.now)
                each.now.extend(draw(after) for _ in range(look - len(each.now)))
    except StopIteration as stop:
        return stop.value, calls


def wilson(count: int, of: int) -> float:
    """The upper end of the 95 % interval of a share."""
    share = count / of
    centre = share + _Z * _Z / (2 * of)
    spread = _Z * math.sqrt(share * (1 - share) / of + _Z * _Z / (4 * of * of))
    return (centre + spread) / (1 + _Z * _Z / of)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=2000)
    pairs = parser.parse_args().pairs
    print(
        "| inputs | stored | today | agreement | called drift | upper bound | calls | seen | calls | shift seen |"
    )
    print("| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for inputs, then, now in ((1, 4, 1), (1, 3, 1), (1, 4, 3), (5, 4, 1), (5, 3, 3)):
        for agreement in AGREEMENTS:
            rng = random.Random(f"{inputs} {then} {now} {agreement}")
            same = shares(agreement)
            rows = []
            for after, count in (
                (same, pairs),
                ([0.0, 0.0, *same[:2]], pairs // 4),
                (same[1::-1] + same[2:], pairs // 4),
            ):
                found = [told(rng, same, after, then=then, now=now, inputs=inputs) for _ in range(count)]
                seen = sum(each.changed is True for each, _ in found)
                rows.append((seen, count, sum(calls for _, calls in found) / count))
            false, true, shift = rows
            today = "asks" if now == 1 else f"{now}, replayed"
            print(
                f"| {inputs} | {then} | {today} | {agreement} | {100 * false[0] / false[1]:.2f} % | "
                f"{100 * wilson(false[0], false[1]):.2f} % | {false[2]:.1f} | "
                f"{100 * true[0] / true[1]:.0f} % | {true[2]:.1f} | "
                f"{100 * shift[0] / shift[1]:.0f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()
