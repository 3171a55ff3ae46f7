"""How often the gate ``no-worse`` errs: simulated pairs of runs, in the worlds of ``verdicts.py``.

    python benchmarks/no_worse.py [--pairs 300]

The first run of a pair is drawn until it passes at ``point``, as only such a run is stored. Before the second, so many
more mutations break as the cell says; both make the same trials. For each cell: how often the sign test alone finds the
second run worse, and the verdicts.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from verdicts import OUTCOMES, VERDICTS, Cell, World

from pytest_promptfuzz.stats.regressions import Paired
from pytest_promptfuzz.stats.repeats import ALPHA, escalate, known
from pytest_promptfuzz.stats.scores import Counts
from pytest_promptfuzz.stats.verdict import decide_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.stats.scores import TrialOutcome
    from pytest_promptfuzz.stats.verdict import Verdict

    Outcomes = dict[int, TrialOutcome]

THRESHOLD = Fraction(85, 100)
BROKEN = ((0.0, 0.0), (0.1, 0.1), (0.0, 0.3), (0.0, 0.45))
_PATIENCE = 1000


def run(world: World) -> Outcomes:
    """Ask the prompt and each mutation once."""
    world.matrix.baseline.append(world.draw(broken=False))
    found: Outcomes = {}
    for place, bad in enumerate(world.broken):
        answer = world.draw(broken=bad)
        world.matrix.mutated.append([answer])
        found[place] = OUTCOMES[world.credit(0, answer)]  # type: ignore[assignment]  # an outcome
    return found


def decided(world: World, outcomes: Outcomes, paired: Paired | None = None) -> Verdict:
    """The verdict of a run, what is asked again before it fails included."""
    counts = Counts.of(outcomes.values())
    gate = "point" if paired is None else "no-worse"

    def verdict(evidence) -> Verdict:  # type: ignore[no-untyped-def]  # what repeated answers show
        return decide_at(gate, counts, THRESHOLD, evidence=evidence, paired=paired).verdict

    evidence = known([world.matrix])
    if verdict(evidence) != "brittle":
        return verdict(evidence)
    looks = escalate([world.matrix], lambda each: verdict(each) == "brittle", alpha=ALPHA)
    try:
        while True:
            for each in next(looks):
                again = world.matrix.repeated
                place = each.mutation
                answers = world.matrix.baseline if place is None else again.setdefault(place, [])
                bad = place is not None and world.broken[place]
                answers.extend(world.draw(broken=bad) for _ in range(each.count))
    except StopIteration as stop:
        return verdict(stop.value)


def pair(agreement: float, broken: Sequence[float], size: int, rng: random.Random) -> tuple[bool, Verdict]:
    """Whether the sign test alone finds the second run worse, and its verdict."""
    for _ in range(_PATIENCE):
        first = World(Cell(agreement, broken[0], size), rng)
        before = run(first)
        if decided(first, before) == "pass":
            break
    else:
        raise RuntimeError(f"no run of {agreement=}, {broken=}, {size=} passes")
    second = World(Cell(agreement, 0.0, size), rng)
    second.broken = list(first.broken)
    whole = [place for place, bad in enumerate(first.broken) if not bad]
    for place in whole[: round((broken[1] - broken[0]) * size)]:
        second.broken[place] = True
    today = run(second)
    paired = Paired.of(before, today, alpha=ALPHA)
    return paired.is_worse, decided(second, today, paired)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])  # type: ignore[union-attr]  # there is one
    parser.add_argument("--pairs", type=int, default=300, help="of runs, in each cell")
    pairs = parser.parse_args().pairs
    print("| A | f before | f after | n | sign test alone | " + " | ".join(VERDICTS) + " |")
    print("| ---: " * (5 + len(VERDICTS)) + "|")
    for agreement in (1.0, 0.9, 0.7):
        for broken in BROKEN:
            for size in (8, 16, 32, 64):
                rng = random.Random(f"{agreement} {broken} {size}")
                found = [pair(agreement, broken, size, rng) for _ in range(pairs)]
                tally = Counter(verdict for _, verdict in found)
                worse = sum(each for each, _ in found) / pairs
                rates = " | ".join(f"{tally[verdict] / pairs:.3f}" for verdict in VERDICTS)
                row = f"| {agreement:g} | {broken[0]:g} | {broken[1]:g} | {size} | {worse:.3f} | {rates} |"
                print(row, flush=True)


if __name__ == "__main__":
    main()
