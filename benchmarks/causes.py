"""How often is a cause claimed where there is none, and a planted one found?

    python benchmarks/causes.py [--runs 120]

Trials touch the parts of a prompt at random. Where nothing matters, at most 1 of 20 runs may claim a cause (by chance
two standard errors more); a part that always breaks the answer must come first in every run, and beneath noise in 19 of
20. Ends with 1 where a bound is broken.
"""

from __future__ import annotations

import argparse
import sys

from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.results.explanations import ALPHA, TouchedTrial, causes


def simulated(
    seed: int,
    trials: int,
    parts: int,
    *,
    share: float = 0.15,
    trigger: int | None = None,
    noise: float = 0.0,
    samples: int = 1,
) -> list[TouchedTrial]:
    """Trials that touch parts at random; those that touch the trigger break, and ``noise`` of all answers mislead."""
    rng = Rng(root_key(seed, "simulated"), "causes")
    made = []
    for _ in range(trials):
        touched = frozenset(part for part in range(parts) if rng.below(1000) < share * 1000)
        breaks = trigger in touched
        answers = [breaks != (rng.below(1000) < noise * 1000) for _ in range(samples)]
        made.append(TouchedTrial(touched, sum(answers), samples))
    return made


def claims(seed: int, noise: float, samples: int) -> bool:
    trials = simulated(seed, 30, 40, noise=noise, samples=samples)
    return any(each.finding in {"matters", "beside"} for each in causes(trials, range(40)))


def finds(seed: int, noise: float, samples: int) -> bool:
    first = causes(simulated(seed, 80, 50, trigger=7, noise=noise, samples=samples), range(50))[0]
    return first.parts == (7,) and first.finding == "matters"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=120)
    runs = parser.parse_args().runs
    chance = 2 * (ALPHA * (1 - ALPHA) * runs) ** 0.5
    kept = True
    print(f"{'truth':12} {'noise':>5} {'samples':>7} {'runs':>5} {'claimed':>7} bound")
    for truth, ask, most, grid in (
        ("no cause", claims, ALPHA * runs + chance, [(0.3, 1), (0.1, 1), (0.3, 3)]),
        ("one cause", finds, None, [(0.0, 1), (0.15, 1), (0.15, 3)]),
    ):
        for noise, samples in grid:
            found = sum(ask(seed, noise, samples) for seed in range(runs))
            least = (runs if not noise else 0.95 * runs) if most is None else 0.0
            fits = least <= found <= (runs if most is None else most)
            kept &= fits
            bound = f"at least {least:.0f}" if most is None else f"at most {most:.0f}"
            print(
                f"{truth:12} {noise:5.2f} {samples:7} {runs:5} {found:7} {bound}{'' if fits else ': BROKEN'}"
            )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
