"""Does a part of the cells tell how accuracy is distributed over prompts, and do its intervals hold?

    python benchmarks/prompt_accuracy.py [--studies 200]

Studies of some prompts and inputs are simulated: the logit of the chance of a right answer is 1, plus an effect of the
prompt, plus one of the input (standard deviation 1.5). A balanced part of the cells and one prompt on all inputs are
given to ``prompt_accuracy``, and its figures are held against those of all cells. Violated assumptions: ``interaction``
adds a normal effect (1.5) to each cell; ``class`` has half of the prompts lose 3 logits on a third of the inputs.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import exp
from random import Random
from typing import NamedTuple

from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.stats.prompt_accuracy import SHARES, prompt_accuracy, quantile
from pytest_promptfuzz.studies.designs import balanced_cells


class Setup(NamedTuple):
    """What is simulated."""

    prompts: int
    inputs: int
    share: float
    spread: float
    violated: str = ""


SETUPS = (
    *(Setup(20, 50, share, 0.5) for share in (0.1, 0.2, 0.5)),
    *(Setup(20, 50, 0.2, spread) for spread in (0.0, 1.2)),
    *(
        Setup(20, 50, share, 0.5, violated)
        for violated in ("interaction", "class")
        for share in (0.1, 0.2, 0.5)
    ),
    Setup(60, 200, 0.1, 0.5),
)


def chance(logit: float) -> float:
    return 1 / (1 + exp(-logit))


def simulated(setup: Setup, random: Random) -> tuple[list[list[float]], dict[int, float]]:
    """All answers by prompt and input, and those of the reference."""
    inputs = [random.gauss(1, 1.5) for _ in range(setup.inputs)]
    hurt = [setup.violated == "class" and random.random() < 1 / 3 for _ in inputs]
    rows = []
    for _ in range(setup.prompts):
        effect, hurting = random.gauss(0, setup.spread), random.random() < 0.5
        extra = [random.gauss(0, 1.5) if setup.violated == "interaction" else 0.0 for _ in inputs]
        rows.append(
            [
                float(random.random() < chance(effect + each + more - 3 * (hurting and of_class)))
                for each, more, of_class in zip(inputs, extra, hurt, strict=True)
            ]
        )
    return rows, {place: float(random.random() < chance(each + 0.3)) for place, each in enumerate(inputs)}


def figures(accuracies: list[float]) -> list[float]:
    order = sorted(accuracies)
    return [sum(order) / len(order), *(quantile(order, share) for share in SHARES)]


def one(setup: Setup, seed: int) -> list[tuple[float, float, bool, float]]:
    """For mean and quantiles: error of the estimate, of the asked cells' own figures, whether it is covered, width."""
    rows, reference = simulated(setup, Random(f"{seed} {setup}"))
    rng = Rng(root_key(seed, str(setup)), "cells")
    asked = {
        (row, at): rows[row][at] for row, at in balanced_cells(setup.prompts, setup.inputs, setup.share, rng)
    }
    found = prompt_accuracy(asked, reference)
    own = defaultdict(list)
    for (prompt, _), answer in asked.items():
        own[prompt].append(answer)
    return [
        (
            abs(figure.value - truth),
            abs(plain - truth),
            figure.low <= truth <= figure.high,
            figure.high - figure.low,
        )
        for truth, plain, figure in zip(
            figures([sum(row) / len(row) for row in rows]),
            figures([sum(each) / len(each) for each in own.values()]),
            (found.mean, *found.quantiles),
            strict=True,
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=200)
    studies = parser.parse_args().studies
    print("| prompts × inputs | cells | spread | violated | error | without the model | covered | width |")
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    with ProcessPoolExecutor(max_workers=1) as pool:
        for setup in SETUPS:
            found = list(pool.map(partial(one, setup), range(studies), chunksize=10))
            columns = [
                " · ".join(
                    f"{100 * sum(study[figure][part] for study in found) / studies:.1f}"
                    for figure in range(4)
                )
                for part in range(4)
            ]
            name = f"{setup.prompts} × {setup.inputs} | {setup.share:.0%} | {setup.spread} | {setup.violated or '-'}"
            print(f"| {name} | {' | '.join(columns)} |", flush=True)


if __name__ == "__main__":
    main()
