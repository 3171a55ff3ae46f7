"""Which verdicts would be others if a minor difference were worth another credit, or a threshold lay elsewhere.

    python benchmarks/flips.py [development|frozen] [--core] [--entailment FOLDER] [--every N]

The applications of ``answers.py``, and applications that answer with labels and JSON: every fourth pair of
tests/comparing/data with the task classification, extraction or json. The second answer of a pair is given to every
mutation, or to half of them. All are deterministic. They are asked without controls, since their answer does not depend
on the prompt. Each is judged as the package judges it, then with one value changed; a row says how many verdicts
differ, and to what. With an entailment model, its threshold is changed, without one the credit and the other two.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from answers import applications, questions, verdict
from pairs import DATA, add_models, models, read

from pytest_promptfuzz.comparing.claims import prose
from pytest_promptfuzz.stats import scores, stopping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pairs import Models

LABELS = frozenset({"classification", "extraction", "json"})
EVERY = 4


class Variant(NamedTuple):
    """One value that is another; ``credit`` in tenths."""

    name: str
    credit: int = 7
    sure: float = 0.9
    settings: dict[str, Any] = {}  # noqa: RUF012 - never changed


class Application(NamedTuple):
    row: str
    baseline: str
    others: list[str]
    task: str


VARIANTS = (
    *(Variant(f"credit of minor {credit / 10}", credit=credit) for credit in (5, 6, 8, 9, 10)),
    *(Variant(f"`equivalent_at` {at:.2f}", settings={"equivalent_at": at}) for at in (0.80, 0.90)),
    *(Variant(f"`minor_at` {at:.2f}", settings={"minor_at": at}) for at in (0.5, 0.7)),
)
SURE = tuple(Variant(f"entailment from {at:.2f}", sure=at) for at in (0.8, 0.95))


def labelled() -> Iterator[Application]:
    pairs = [
        pair for path in sorted(DATA.glob("*.jsonl")) for pair in read(path) if pair.get("task") in LABELS
    ]
    for pair in pairs[::EVERY]:
        a, b, task = pair["a"], pair["b"], pair["task"]
        yield Application(f"labels and JSON, {pair['expect']} everywhere", a, [b], task)
        yield Application(f"labels and JSON, {pair['expect']} on half", a, [b, a], task)


def judged(given: list[Application], found: Models, variant: Variant) -> list[str]:
    for module in (scores, stopping):
        module.MINOR_CREDIT = variant.credit
    scores.CREDITS["minor"] = variant.credit
    prose._SURE = variant.sure  # noqa: SLF001 - it is no option
    return [
        verdict(each.baseline, each.others, number, found, task=each.task, controls=0, **variant.settings)
        for number, each in enumerate(given)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("half", nargs="?", choices=("development", "frozen"), default="development")
    add_models(parser)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth question only")
    asked = parser.parse_args()
    found = models(asked)
    given = [
        *(
            Application(f"prose, {row}", base, others, "generation")
            for row, base, others in applications(questions(asked.half)[:: asked.every])
        ),
        *labelled(),
    ]
    rows = dict.fromkeys(each.row for each in given)
    today = judged(given, found, Variant("today"))
    print(f"| | {' | '.join(rows)} |\n| --- |{' --- |' * len(rows)}")
    print(f"| today | {' | '.join(_counted(given, today, row) for row in rows)} |", flush=True)
    for variant in SURE if found.entailment else VARIANTS:
        changed = judged(given, found, variant)
        print(
            f"| {variant.name} | {' | '.join(_flips(given, today, changed, row) for row in rows)} |",
            flush=True,
        )


def _counted(given: list[Application], verdicts: list[str], row: str) -> str:
    counts = Counter(
        each for application, each in zip(given, verdicts, strict=True) if application.row == row
    )
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())


def _flips(given: list[Application], before: list[str], after: list[str], row: str) -> str:
    flips = Counter(
        f"{one} → {two}"
        for application, one, two in zip(given, before, after, strict=True)
        if application.row == row and one != two
    )
    return ", ".join(f"{count} {name}" for name, count in flips.most_common()) or "–"


if __name__ == "__main__":
    main()
