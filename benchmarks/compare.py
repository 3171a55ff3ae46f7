"""Throughput of the comparison without the semantic tier, and the cost of each tier.

    python benchmarks/compare.py [--pairs 4000] [--words 50] [--passes 5] [--minilm EXPORTED]

Pairs are answers of about 50 words made from a seed: at most one in ten is identical, the others are re-cased, have a
word put in, taken out or replaced, a number or a negation changed, sentences reordered, or say something else. One
baseline meets eight responses, as in a test with eight mutations: it is read once for all of them, and so is each
sentence that several texts have. All that is kept of texts, sentences and words is dropped before each pass. Times
are CPU seconds of one process.

Real answers are those of ``answers/development.jsonl`` that have 25 to 60 words. Each stands in one pair only, so that
nothing of either text was read before; single words are known, as they are after the first answers of a run.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import statistics
import sys
import time
from pathlib import Path

from rapidfuzz import fuzz

from pytest_promptfuzz.comparing import metrics
from pytest_promptfuzz.comparing.guards import checks
from pytest_promptfuzz.comparing.guards.pair import Pair
from pytest_promptfuzz.comparing.metrics import rouge_l
from pytest_promptfuzz.comparing.profiles import profile_for
from pytest_promptfuzz.comparing.reading.asides import substance
from pytest_promptfuzz.comparing.reading.text import Text, analyse
from pytest_promptfuzz.comparing.texts import kind_of_answer
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.judging.encoders import OnnxEmbedder
from pytest_promptfuzz.judging.meaning import CachedEmbedder

SUBJECTS = [
    "The customer",
    "Our support team",
    "The new supplier",
    "A regional manager",
    "The finance department",
    "The airport",
]
VERBS = ["reported", "reviewed", "approved", "postponed", "described", "measured", "shipped", "questioned"]
OBJECTS = [
    "the quarterly figures",
    "a delayed parcel",
    "the revised contract",
    "an unusual invoice",
    "the spring campaign",
]
ENDINGS = (
    "within {n} days of the first notice",
    "after a short meeting with the board in {city}",
    "because demand grew by {n} percent",
    "and promised to send a written summary to every partner",
    "while the costs of transport stayed at {n} dollars",
)
CITIES = ["Lisbon", "Oslo", "Vienna", "Toronto", "Nairobi", "Osaka"]
RESPONSES = 8
REAL = Path(__file__).with_name("answers") / "development.jsonl"
SHORTEST, LONGEST = 25, 60
"""Words of a real answer."""
OF_WORDS = {"canonical", "stem", "words_of", "_tokens_of", "_pieces_of"}
"""What is kept of single words, within bounds."""
SLOW = 160
"""Pairs that are compared by meaning, at some ten milliseconds each."""


class Draw:
    """Numbers drawn from a seed, the same everywhere."""

    def __init__(self, seed: str) -> None:
        self.seed = seed
        self.count = 0

    def below(self, limit: int) -> int:
        self.count += 1
        return (
            int.from_bytes(hashlib.sha256(f"{self.seed}:{self.count}".encode()).digest()[:8], "big") % limit
        )

    def of(self, items):
        return items[self.below(len(items))]


def answer(draw: Draw, words: int) -> str:
    sentences: list[str] = []
    while sum(len(sentence.split()) for sentence in sentences) < words - 6:
        ending = draw.of(ENDINGS).format(n=2 + draw.below(90), city=draw.of(CITIES))
        sentences.append(f"{draw.of(SUBJECTS)} {draw.of(VERBS)} {draw.of(OBJECTS)} {ending}.")
    return " ".join(sentences)


def changed(text: str, draw: Draw, words: int) -> tuple[str, str]:
    parts = text.split()
    place = 1 + draw.below(len(parts) - 2)
    kind = draw.below(10)
    if kind == 0:
        return "identical", text
    if kind == 1:
        return "re-cased", text.upper() if draw.below(2) else f"**{text}**"
    if kind == 2:
        return "word in", " ".join([*parts[:place], "recently", *parts[place:]])
    if kind == 3:
        return "word out", " ".join(parts[:place] + parts[place + 1 :])
    if kind in {4, 5}:
        return "word replaced", " ".join(
            [*parts[:place], draw.of(["other", "special", "final"]), *parts[place + 1 :]]
        )
    if kind == 6:
        digits = next((index for index, part in enumerate(parts) if part.isdigit()), place)
        return "number", " ".join([*parts[:digits], str(101 + draw.below(90)), *parts[digits + 1 :]])
    if kind == 7:
        return "negation", " ".join([*parts[:place], "not", *parts[place:]])
    if kind == 8:
        sentences = text.split(". ")
        return "reordered", ". ".join([*sentences[1:], sentences[0]])
    return "another answer", answer(draw, words)


def pairs(count: int, words: int) -> list[tuple[str, str, str]]:
    draw = Draw(f"compare:{words}")
    made = []
    while len(made) < count:
        baseline = answer(draw, words)
        made += [(baseline, *changed(baseline, draw, words)) for _ in range(RESPONSES)]
    return made[:count]


def real_pairs() -> list[tuple[str, str]]:
    """Answers to the same question, two by two: rewordings and altered ones, each in one pair."""
    made: list[tuple[str, str]] = []
    for line in REAL.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        altered = [each["text"] for each in question["altered_kept"] + question["altered_reworded"]]
        texts = dict.fromkeys([question["base"], *question["harmless"], *question["minor"], *altered])
        some = [text for text in texts if SHORTEST <= len(text.split()) <= LONGEST]
        made += zip(some[::2], some[1::2], strict=False)
    return made


def cold(*, words: bool = True) -> None:
    """Drop what the comparison keeps of the texts and sentences it has read, and of words if asked."""
    for module, held in list(sys.modules.items()):
        if module.startswith("pytest_promptfuzz.comparing"):
            for name, each in list(vars(held).items()):
                if hasattr(each, "cache_clear") and (words or name not in OF_WORDS):
                    each.cache_clear()


def cpu(action, items) -> float:
    start = time.process_time()
    for item in items:
        action(item)
    return time.process_time() - start


def print_real(passes: int) -> None:
    made = real_pairs()
    spent, plain = [], []
    for _ in range(passes):
        cold(words=False)
        spent.append(
            cpu(lambda pair: compare(pair[0], pair[1], semantic=False, entailment=False), made) / len(made)
        )
        plain.append(cpu(lambda pair: (fuzz.ratio(*pair), rouge_l(*pair)), made) / len(made))
    middle, best = statistics.median(spent), min(spent)
    print(
        f"real answers, each pair new: {len(made)} pairs, median {1 / middle:,.0f} and best {1 / best:,.0f} per "
        f"CPU-second ({1e6 * best:.0f} µs a pair); rapidfuzz's ratio and ROUGE-L: {1e6 * min(plain):.0f} µs\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=4000)
    parser.add_argument("--words", type=int, default=50)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument(
        "--minilm", help="the exported model: the whole formula of Quirx beside it, in the same run"
    )
    asked = parser.parse_args()
    made = pairs(asked.pairs, asked.words)
    length = sum(len(b.split()) for _, _, b in made) / len(made)
    exact = sum(a == b for a, _, b in made) / len(made)
    compare("warm", "up", task="generation")
    print_real(asked.passes)
    outcomes: collections.Counter[str] = collections.Counter()
    for baseline, _, response in made:
        outcomes[compare(baseline, response, task="generation").outcome] += 1
    print(f"{len(made)} pairs, {length:.0f} words, {exact:.1%} identical: {dict(sorted(outcomes.items()))}")
    spent = []
    for _ in range(asked.passes):
        cold()
        spent.append(cpu(lambda each: compare(each[0], each[2], task="generation"), made))
    for name, seconds in (("median", statistics.median(spent)), ("best", min(spent))):
        rate, each = len(made) / seconds, 1e6 * seconds / len(made)
        print(f"{name} of {asked.passes} passes: {rate:,.0f} pairs per CPU-second ({each:.0f} µs a pair)")
    by_kind: dict[str, list[tuple[str, str]]] = {}
    for baseline, kind, response in made:
        by_kind.setdefault(kind, []).append((baseline, response))
    print("\nby change            µs a pair")
    for kind, some in sorted(by_kind.items()):
        cold()
        for baseline in {a for a, _ in some}:
            analyse(baseline)
        cost = cpu(lambda pair: compare(pair[0], pair[1], task="generation"), some)
        print(f"  {kind:<18} {1e6 * cost / len(some):9.1f}")
    print("\nby tier, each on every pair   µs a pair")
    cold()
    reading = cpu(lambda each: Text(each[2]), made)
    texts = [(Text(a), b, Text(b)) for a, _, b in made]
    profile = profile_for("generation")
    costs = {
        "reading a response": reading,
        "exact": cpu(lambda each: each[0].raw == each[1], texts),
        "reading a response again": cpu(lambda each: Text(each[1]), texts),
        "kind of answer": cpu(
            lambda each: kind_of_answer(Pair(Text(each[0].raw), Text(each[1])), profile), texts
        ),
        "courtesies": cpu(lambda each: substance(each[1]), texts),
        "normalised": cpu(lambda each: each[0].normalised == each[2].normalised, texts),
        "token": cpu(lambda each: Pair(each[0], each[2]).similarity, texts),
    }
    for name, check in checks.CHECKS.items():
        costs[f"guard {name}"] = cpu(lambda each, check=check: check(Pair(each[0], each[2])), texts)
    # That tool's formula without its embedding is slow: an eighth of the pairs will do.
    scale = len(made) / (len(made) // 8)
    texts_only = made[: len(made) // 8]
    costs["quirx: token"] = scale * cpu(lambda each: metrics.token_similarity(each[0], each[2]), texts_only)
    costs["quirx: structural"] = scale * cpu(
        lambda each: metrics.structural_similarity(each[0], each[2]), texts_only
    )
    costs["ROUGE-L alone"] = scale * cpu(lambda each: rouge_l(each[0], each[2]), texts_only)
    for name, cost in costs.items():
        print(f"  {name:<26} {1e6 * cost / len(texts):9.1f}")
    if asked.minilm:
        embedder = CachedEmbedder(OnnxEmbedder(Path(asked.minilm)))
        embedder.embed([made[0][0]])
        some = [each for each in made if each[0] != each[2]][:SLOW]
        cost = cpu(lambda each: compare(each[0], each[2], profile="quirx", semantic=embedder), some)
        print(
            f"\nthe whole formula of Quirx, {len(some)} pairs that differ: {len(some) / cost:,.0f} per CPU-second"
        )


if __name__ == "__main__":
    main()
