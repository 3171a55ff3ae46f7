"""How often does a search believe noise, and find what mostly breaks?

    python benchmarks/search/noise.py [--searches 100]

The answers of the first rows do not depend on the prompt: each reaches the goal by chance. In the last ones a word
decides, most of the time. Ends with 1 where noise is believed in more than 3 of 100 searches up to a chance of 0.2, or
fewer than 85 of 100 find the word.
"""

from __future__ import annotations

import argparse
import sys

from pytest_promptfuzz import search
from pytest_promptfuzz.randomness import Rng, root_key

PROMPT = (
    "Provide a concise overview of the ticket and classify it as spam or not spam. Give the main reason.\n"
    "Ticket: I cannot log in."
)


def found(seed: int, rate: float, *, word: str = "") -> bool:
    draws = Rng(root_key(seed, "noise"), "answers")

    def target(prompt: str) -> str:
        reached = draws.below(1000) < 1000 * rate and not (word and word in prompt)
        return "spam" if reached else "not spam"

    if word:
        return search(PROMPT, target, operators="synonym", seed=seed).found
    return search(PROMPT, target, seed=seed).found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--searches", type=int, default=100)
    searches = parser.parse_args().searches
    kept = True
    print(f"{'what decides':15} {'chance':>6} {'searches':>8} {'finds':>5}")
    for rate in (0.02, 0.05, 0.1, 0.2, 0.3):
        finds = sum(found(seed, rate) for seed in range(searches))
        kept &= rate > 0.2 or finds <= 0.03 * searches
        print(f"{'chance':15} {rate:6.2f} {searches:8} {finds:5}")
    for rate in (0.7, 0.9, 1.0):
        finds = sum(found(seed, rate, word="concise") for seed in range(searches))
        kept &= finds >= 0.85 * searches
        print(f"{'the word':15} {rate:6.2f} {searches:8} {finds:5}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
