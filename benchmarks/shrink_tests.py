"""How many queries does it take to shrink what breaks a brittle test, and how often is the result minimal?

    python benchmarks/shrink_tests.py [--tests 50] [--queries 10,20,40,60]

Three kinds of tests: the example project's brittle one; the corpora's prompts on the simulated model, those that
are brittle; and the corpora's prompts on a function that needs one, two or three words of the prompt as they are (it
answers wrong once all of them are changed; also one that errs one time in ten besides), under the operators that change
most.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz import PromptfuzzError, Session, evaluate
from pytest_promptfuzz.prompts.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from pytest_promptfuzz import Robustness

ROOT = Path(__file__).parents[1]
OPERATORS = ["upper-case", "title-case", "random-case", "leetspeak", "homoglyph", "drop-stop-words"]
FILES = (
    "corpus.jsonl",
    "corpus_more.jsonl",
    "corpus_daily.jsonl",
    "corpus_rich.jsonl",
    "corpus_special.jsonl",
    "corpus_rare.jsonl",
)


class Kind(NamedTuple):
    """A kind of tests: how many words are needed, and how often the application errs."""

    name: str
    needed: int
    errs: float = 0.0


KINDS = (
    Kind("simulated model", 0),
    Kind("1 word", 1),
    Kind("2 words", 2),
    Kind("3 words", 3),
    Kind("1 word, errs 1 in 10", 1, 0.1),
)


def texts() -> Iterator[str]:
    for name in FILES:
        for line in (ROOT / "tests/mutations/data" / name).read_text(encoding="utf-8").splitlines():
            text = json.loads(line).get("text")
            if isinstance(text, str) and not Prompt(text).slots:
                yield text


def evaluated(text: str, queries: int, kind: Kind) -> Robustness | None:
    """A test of a prompt; on the simulated model where no word is needed."""
    settings: dict[str, Any] = {} if not kind.needed else {"operators": OPERATORS}
    try:
        return evaluate(
            text,
            planted(text, kind) if kind.needed else "simulated",
            shrink=queries,
            session=Session(),
            **settings,
        )
    except PromptfuzzError:  # nothing to mutate, or to judge by
        return None


def needed_of(text: str, kind: Kind) -> list[str]:
    words = sorted(set(re.findall(r"\b[a-z]{3,}\b", text)))
    return Random(text).sample(words, min(kind.needed, len(words)))


def planted(text: str, kind: Kind) -> Callable[[Prompt], str]:
    """An application that answers wrong if these words are all gone."""
    chosen, rng = needed_of(text, kind), Random(text)

    def application(prompt: Prompt) -> str:
        right = bool(set(_words(str(prompt))).intersection(chosen))
        return "high" if right != (rng.random() < kind.errs) else "low"

    return application


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]+", text)


def brittle(amount: int, kind: Kind) -> list[str]:
    found: list[str] = []
    for text in texts():
        result = evaluated(text, 0, kind)
        if result is not None and result.verdict == "brittle":
            found.append(text)
        if len(found) == amount:
            break
    return found


def as_planted(result: Robustness, kind: Kind) -> list[bool]:
    """Of each counterexample, whether it changes the words that are needed, and no others."""
    return [
        set(_words(each.mutation.original)) - set(_words(each.mutation.text))
        == set(needed_of(each.mutation.original, kind))
        for each in result.counterexamples
    ]


def words(result: Robustness) -> list[tuple[float, float]]:
    """Of each counterexample, the share of words that its trial changed, and that it changes."""
    trials = {trial.id: trial for trial in result.trials}
    return [
        (trials[each.trial].mutation.change_rate, each.mutation.change_rate)
        for each in result.counterexamples
    ]


def example_project() -> str:
    """Queries of its brittle test, from the failure."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            str(ROOT / "example_project"),
        ]
        out = subprocess.run(
            [*command, f"--promptfuzz-cache-dir={folder}"], capture_output=True, text=True, check=False
        ).stdout
    return ", ".join(re.findall(r"^ +shrunk +trial \w+; (.*)$", out, re.MULTILINE))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", type=int, default=50)
    parser.add_argument("--queries", default="10,20,40,60")
    options = parser.parse_args()
    print(f"\nThe example project's brittle test: {example_project()}\n")
    print(
        "| tests | shrink= | queries, mean | median | most | ways to fail | minimal | as planted | words changed |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in KINDS:
        chosen = brittle(options.tests, kind)
        for queries in map(int, options.queries.split(",")):
            row(f"{kind.name}, {len(chosen)}", chosen, queries, kind)


def row(name: str, chosen: list[str], queries: int, kind: Kind) -> None:
    results = [each for each in (evaluated(text, queries, kind) for text in chosen) if each is not None]
    found = [each for result in results for each in result.counterexamples]
    calls = [sum(each.calls for each in result.counterexamples) for result in results]
    before, after = zip(*[pair for result in results for pair in words(result)], strict=True)
    right = mean(each for result in results for each in as_planted(result, kind))
    print(
        f"| {name} | {queries} | {mean(calls):.1f} | {median(calls):g} | {max(calls)} | {len(found)} | "
        f"{mean(each.minimal for each in found):.1%} | {f'{right:.1%}' if kind.needed else ''} | "
        f"{mean(before):.1%} → {mean(after):.1%} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
