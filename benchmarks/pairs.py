"""How often the comparison errs, on files of answer pairs, beside cosine, ROUGE-L and rapidfuzz alone and Quirx's formula.

    python benchmarks/pairs.py [FILE.jsonl …] [--core] [--entailment FOLDER] [--no-task] [--ratios] [--each] [--list]

A file has one JSON object a line: task, class, expect or label (altered or harmless; else its name says it), a, b.
Without files: every file of tests/comparing/data. Each pair is compared both ways, and the worse outcome counts: of an
altered pair the one nearest to equivalent, of a harmless one the one nearest to deviation. Shares have 95 % intervals by
Wilson. MiniLM is the one in PROMPTFUZZ_TEST_MINILM, or the one that ``promptfuzz model`` shows; so is the entailment
model, which --entailment and PROMPTFUZZ_ENTAILMENT name.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.fuzz import ratio

from pytest_promptfuzz.comparing.meaning import cosine
from pytest_promptfuzz.comparing.metrics import rouge_l
from pytest_promptfuzz.evaluating.session import installed_embedder, installed_entailment
from pytest_promptfuzz.judging.compare import compare

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.comparing.meaning import Embedder, Entailment

    Pair = dict[str, str]
    Method = Callable[[str, str, str | None], tuple[str, str]]

DATA = Path(__file__).resolve().parents[1] / "tests" / "comparing" / "data"
OUTCOMES = ("equivalent", "minor", "undecided", "deviation")
OURS = ("core", "with MiniLM", "with entailment")
WRONG = {"altered": "equivalent", "harmless": "deviation"}
EQUIVALENT_AT, MINOR_AT = 0.85, 0.60
Z = 1.959964


class Models(NamedTuple):
    """What compares meaning; ``None`` for what is not there."""

    embedder: Embedder | None
    entailment: Entailment | None


def add_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--core", action="store_true", help="without any model, even where one is installed")
    parser.add_argument("--entailment", metavar="FOLDER", help="the folder of an entailment model")


def models(asked: argparse.Namespace) -> Models:
    if asked.core:
        return Models(None, None)
    found = Models(
        installed_embedder(os.environ.get("PROMPTFUZZ_TEST_MINILM") or None),
        installed_entailment(asked.entailment),
    )
    if asked.entailment and found.entailment is None:
        sys.exit(
            f"no entailment model in {asked.entailment}: see `promptfuzz model check {asked.entailment}`"
        )
    if found.embedder is None:
        print("no MiniLM here: see the head of this file. Going on without it.", file=sys.stderr)
    return found


def banded(similarity: float) -> str:
    if similarity >= EQUIVALENT_AT:
        return "equivalent"
    return "minor" if similarity >= MINOR_AT else "deviation"


def methods(found: Models) -> dict[str, Method]:
    def ours(semantic: Embedder | None, entailment: Entailment | None) -> Method:
        def run(a: str, b: str, task: str | None) -> tuple[str, str]:
            given = compare(a, b, task=task, semantic=semantic or False, entailment=entailment or False)
            return given.outcome, f"{given.reason}: {given.explanation}"

        return run

    embedder, entailment = found
    known: dict[str, Method] = {"core": ours(None, None)}
    if embedder is not None:
        known["with MiniLM"] = ours(embedder, None)
    if entailment is not None:
        known["with entailment"] = ours(embedder, entailment)
    if embedder is not None:
        known["cosine alone"] = lambda a, b, _: (banded(cosine(*embedder.embed([a, b]))), "")
    known["ROUGE-L alone"] = lambda a, b, _: (banded(rouge_l(a, b)), "")
    known["rapidfuzz alone"] = lambda a, b, _: (banded(ratio(a, b) / 100), "")
    if embedder is not None:
        known["Quirx's formula"] = lambda a, b, _: (
            compare(a, b, profile="quirx", semantic=embedder, entailment=False).outcome,
            "",
        )
    return known


def worse(expect: str, one: tuple[str, str], two: tuple[str, str]) -> tuple[str, str]:
    pick = min if expect == "altered" else max
    return pick((one, two), key=lambda found: OUTCOMES.index(found[0]))


def wilson(count: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share, by Wilson's score."""
    if not of:
        return 0.0, 1.0
    share, square = count / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def share(count: int, of: int) -> str:
    low, high = wilson(count, of)
    return f"{count / of if of else 0:.1%} [{low:.1%}, {high:.1%}]"


def row(label: str, outcomes: list[str], expect: str, *, ratios: bool = False) -> str:
    """A row of the tables: counts and how often the outcome is wrong; with ``ratios`` every outcome as a share."""
    counts, of = collections.Counter(outcomes), len(outcomes)
    if ratios:
        return f"| {label} | {of} | {' | '.join(share(counts[each], of) for each in OUTCOMES)} |"
    return f"| {label} | {of} | {' | '.join(str(counts[each]) for each in OUTCOMES)} | {share(counts[WRONG[expect]], of)} |"


def head(*, ratios: bool) -> str:
    names = ["pairs", *OUTCOMES, *([] if ratios else ["wrong"])]
    return f"| | {' | '.join(names)} |\n| --- |{' ---: |' * len(names)}"


def tables(pairs: list[Pair], outcomes: dict[str, list[str]], asked: argparse.Namespace) -> None:
    for expect, wrong in WRONG.items():
        wanted = [index for index, pair in enumerate(pairs) if pair["expect"] == expect]
        print(f"\n### {expect} pairs: wrong is {wrong!r}\n\n{head(ratios=asked.ratios)}")
        for name, found in outcomes.items():
            print(row(f"**{name}**", [found[index] for index in wanted], expect, ratios=asked.ratios))
        classes = dict.fromkeys(pairs[index]["class"] for index in wanted)
        for name, found in outcomes.items():
            if len(classes) < 2 or not (asked.each or name in OURS):
                continue
            print(f"\n{name}, {expect}, by class:\n\n{head(ratios=asked.ratios)}")
            for kind in classes:
                told = [found[index] for index in wanted if pairs[index]["class"] == kind]
                print(row(kind, told, expect, ratios=asked.ratios))


def read(path: Path) -> list[Pair]:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [{"class": "any", **json.loads(line)} for line in lines if line]
    return [
        {**each, "expect": each.get("expect") or each.get("label") or path.stem.partition("_")[0]}
        for each in found
    ]


def measure(
    pairs: list[Pair], known: dict[str, Method], *, infer: bool
) -> tuple[dict[str, list[str]], list[str]]:
    """The worse outcome of each pair by each method, and a text for each pair that ours does not judge as hoped."""
    outcomes: dict[str, list[str]] = {name: [] for name in known}
    listed: list[str] = []
    for number, pair in enumerate(pairs, start=1):
        task = None if infer else pair.get("task")
        for name, method in known.items():
            ways = method(pair["a"], pair["b"], task), method(pair["b"], pair["a"], task)
            outcome, why = worse(pair["expect"], *ways)
            outcomes[name].append(outcome)
            hoped = "deviation" if pair["expect"] == "altered" else "equivalent"
            if outcome != hoped and name in OURS:
                listed.append(
                    f"{number} {name}: {pair['expect']} {pair['class']} is {outcome}: {why}\n"
                    f"    {pair['a']!r}\n    {pair['b']!r}"
                )
    return outcomes, listed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    add_models(parser)
    parser.add_argument("--no-task", action="store_true", help="let the task be inferred from the baseline")
    parser.add_argument("--ratios", action="store_true", help="each outcome as a share with its interval")
    parser.add_argument("--each", action="store_true", help="classes of the other methods as well")
    parser.add_argument("--list", action="store_true", help="name the pairs that are not as hoped")
    asked = parser.parse_args()
    known = methods(models(asked))
    for path in asked.files or sorted(DATA.glob("*.jsonl")):
        pairs = read(path)
        outcomes, listed = measure(pairs, known, infer=asked.no_task)
        print(f"\n## {path.name}{', task inferred' if asked.no_task else ''}")
        tables(pairs, outcomes, asked)
        if asked.list:
            print("\n" + "\n".join(listed))


if __name__ == "__main__":
    main()
