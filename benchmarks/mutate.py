"""Mutations a CPU-second: `python benchmarks/mutate.py`.

Distinct prompts of 60 words never seen before, n = 8, spans and texts included, in one process; then one prompt of
10 to 10,000 words.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import time

from pytest_promptfuzz.mutations.engine.planner import plan

SENTENCES = [
    "You are a {0} assistant for a {1} company.",
    "Classify the {1} message below as POSITIVE, NEGATIVE, or NEUTRAL.",
    "Read the {0} text carefully and identify the main {1} issue.",
    "Do not mention {0} prices or {1} dates in your answer.",
    "Return only the {0} label and keep the {1} response concise.",
    "Please provide a short {0} explanation for every {1} decision.",
    "If the {0} category is unclear, choose the most relevant {1} option.",
    "Use {1} language that a {0} customer can understand.",
    "Summarize the {0} report in exactly 3 sentences for the {1} team.",
    "Write a helpful {0} reply that covers at least two {1} requirements.",
]
TOPICS = [
    "billing",
    "shipping",
    "legal",
    "medical",
    "travel",
    "weather",
    "sports",
    "finance",
    "music",
    "food",
    "science",
    "history",
    "retail",
    "energy",
    "security",
    "insurance",
    "housing",
    "banking",
    "software",
    "hardware",
    "gaming",
    "fashion",
    "farming",
    "aviation",
]


def prompt_of(number: int, words: int) -> str:
    """A prompt of about ``words`` words that no other number gives."""
    digest = hashlib.sha256(str(number).encode()).digest()
    lines: list[str] = []
    count = 0
    step = 0
    while count < words:
        digest = hashlib.sha256(digest).digest()
        sentence = SENTENCES[(digest[0] + step) % len(SENTENCES)]
        text = sentence.format(TOPICS[digest[1] % len(TOPICS)], TOPICS[digest[2] % len(TOPICS)])
        pieces = text.split()[: words - count]
        lines.append(" ".join(pieces))
        count += len(pieces)
        step += 1
    paragraphs = [" ".join(lines[i : i + 5]) for i in range(0, len(lines), 5)]
    return "\n\n".join(paragraphs) + f"\n\nText {number}: {{text}}"


def measure(prompts: list[str], n: int) -> float:
    """CPU-seconds to plan the prompts and read every text."""
    begin = time.process_time()
    for prompt in prompts:
        for mutation in plan(prompt, n).mutations:
            len(mutation.text)
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=500, help="distinct prompts a round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    measure([prompt_of(-1, 60)], 8)  # tables are built once
    rates = []
    for turn in range(options.rounds):
        prompts = [prompt_of(turn * options.prompts + i, 60) for i in range(options.prompts)]
        rates.append(8 * len(prompts) / measure(prompts, 8))
    print(f"60 words, n = 8: {statistics.median(rates):,.0f} mutations a CPU-second (best {max(rates):,.0f})")
    print(f"{'words':>8} {'ms a plan':>10} {'µs a word':>10}")
    for words, repeats in ((10, 200), (100, 100), (1_000, 20), (10_000, 3)):
        prompts = [prompt_of(10**6 + words + i, words) for i in range(repeats)]
        seconds = measure(prompts, 8) / repeats
        print(f"{words:>8,} {seconds * 1e3:>10.2f} {seconds * 1e6 / words:>10.2f}")


if __name__ == "__main__":
    main()
