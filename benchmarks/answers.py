"""How answers in prose are judged: pairs of them, and whole tests of applications that give them.

    python benchmarks/answers.py [development|frozen] [--core] [--list] [--pairs FILE.jsonl …]

``answers/development.jsonl`` and ``answers/frozen.jsonl`` hold 48 questions each from 12 domains: a baseline, up to eight
harmless rewordings, two that say a little more or less, and eight altered answers, four of them in the baseline's
wording. All were written by hand, and judged by a second reader who did not know which was which. The frozen half is
not looked at: no rule may be made for it.

Pairs are a baseline with each other answer, two harmless ones with each other, and an altered with a harmless one.
Applications are functions that answer the unchanged prompt with the baseline and each of eight mutations with one of
the others; ``evaluate`` judges them. ``--pairs`` reads other pairs: ``a``, ``b`` and ``label`` (altered or harmless).
MiniLM is found as in ``pairs.py``.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairs import OUTCOMES, minilm, wilson

from pytest_promptfuzz import Session, compare, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.embedding.embedder import CachedEmbedder

    Question = dict[str, Any]

FOLDER = Path(__file__).with_name("answers")
VERDICTS = ("pass", "brittle", "noisy", "inconclusive")
PROMPT = (
    "You are a careful assistant. Read the question below and answer it briefly. Do not invent facts. Keep to what the "
    "question asks for, and write in plain English.\n\nQuestion:\nWhat should we do about case {number}? Explain your "
    "decision in a short paragraph."
)
MUTATIONS = 8


def questions(half: str) -> list[Question]:
    lines = (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def pairs(given: list[Question]) -> Iterator[tuple[str, str, str, str]]:
    """The row, two answers, and what tells where they are from."""
    for each in given:
        harmless, name = each["harmless"], each["id"]
        yield from (("harmless", each["base"], other, name) for other in harmless)
        yield from (("harmless, both reworded", one, two, name) for one, two in pairwise(harmless))
        yield from (("a little more or less", each["base"], other, name) for other in each["minor"])
        for row, kind in (
            ("altered, wording kept", "altered_kept"),
            ("altered, reworded", "altered_reworded"),
        ):
            for number, altered in enumerate(each[kind]):
                told = f"{name}: {altered['change']}"
                yield row, each["base"], altered["text"], told
                for step in (0, 3):
                    yield row, harmless[(number + step) % len(harmless)], altered["text"], told


def print_row(row: str, counts: Counter[str], names: tuple[str, ...]) -> None:
    total = counts.total()
    cells = []
    for name in names:
        low, high = wilson(counts[name], total)
        cells.append(f"{counts[name] / total:.1%} [{low:.1%}, {high:.1%}]")
    print(f"| {row} | {total} | {' | '.join(cells)} |")


def print_pairs(
    given: Iterator[tuple[str, str, str, str]], embedder: CachedEmbedder | None, *, listed: bool
) -> None:
    found: dict[str, Counter[str]] = {}
    for row, one, two, told in given:
        compared = compare(one, two, task="generation", semantic=embedder)
        found.setdefault(row, Counter())[compared.outcome] += 1
        wrong = {"equivalent", "minor"} if row.startswith("altered") else {"deviation"}
        if listed and compared.outcome in wrong:
            print(f"{told}: {row}, {compared.outcome}: {compared.explanation}")
    print(f"\n| pairs | | {' | '.join(OUTCOMES)} |\n| --- | ---: |{' ---: |' * len(OUTCOMES)}")
    for row, counts in found.items():
        print_row(row, counts, OUTCOMES)


def verdict(baseline: str, others: list[str], number: int, embedder: CachedEmbedder | None) -> str:
    """What is said of an application that answers each mutation with the next of the others."""
    known: dict[str, str] = {}

    def application(prompt: str) -> str:
        if prompt not in known:
            known[prompt] = others[(len(known) - 1) % len(others)] if known else baseline
        return known[prompt]

    prompt = PROMPT.replace("{number}", str(100 + number))
    session = Session(embedder=embedder) if embedder else Session()
    return evaluate(prompt, application, mutations=MUTATIONS, task="generation", session=session).verdict


def print_verdicts(given: list[Question], embedder: CachedEmbedder | None) -> None:
    found: dict[str, Counter[str]] = {}
    for number, each in enumerate(given):
        harmless = (each["harmless"] * 2)[:MUTATIONS]
        reworded = [altered["text"] for altered in each["altered_reworded"]]
        kept = [altered["text"] for altered in each["altered_kept"]]
        half = [answer for both in zip(harmless[: len(reworded)], reworded, strict=True) for answer in both]
        for row, others in (
            ("harmless", harmless),
            ("altered everywhere", reworded + kept),
            ("altered on half", half),
        ):
            found.setdefault(row, Counter())[verdict(each["base"], others, number, embedder)] += 1
    print(f"\n| applications | | {' | '.join(VERDICTS)} |\n| --- | ---: |{' ---: |' * len(VERDICTS)}")
    for row, counts in found.items():
        print_row(row, counts, VERDICTS)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("half", nargs="?", choices=("development", "frozen"), default="development")
    parser.add_argument("--core", action="store_true", help="without MiniLM, even where it is installed")
    parser.add_argument(
        "--list", action="store_true", help="name what is judged wrongly (of the development half)"
    )
    parser.add_argument("--pairs", nargs="+", type=Path, help="files of other pairs instead")
    asked = parser.parse_args()
    embedder = None if asked.core else minilm()
    if asked.pairs:
        for path in asked.pairs:
            print(f"\n## {path.name}")
            lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            given = ((each["label"], each["a"], each["b"], each["id"]) for each in lines)
            print_pairs(given, embedder, listed=asked.list)
        return
    known = questions(asked.half)
    print_pairs(pairs(known), embedder, listed=asked.list and asked.half == "development")
    print_verdicts(known, embedder)


if __name__ == "__main__":
    main()
