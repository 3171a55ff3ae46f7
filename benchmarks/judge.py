"""Blind sheets for a reader, who says whether the right answer stays.

    python benchmarks/judge.py sample FOLDER [--round 2] [--operators a,b] [--languages de,fr]
    python benchmarks/judge.py collect FOLDER [--round 2]

`sample` draws up to 100 applications of every operator at its default intensity, from the corpora of
tests/mutations/data, with a fixed seed; another round draws others, and those that were read before at the operator's
version only where too few are new. It writes them in a random order and without the operators' names; a relation other
than invariance is named, for then another question is asked (the same content in that format, another answer):
`prompts.txt`, `sheet-1.txt` and so on, and `key.csv`, which the reader does not open. The reader writes
`verdicts.csv`, a line for each application that fails: its number, a comma, and why. `collect` joins both into
tests/mutations/data/judgement.csv, in the place of what that round held.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz import Prompt
from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.randomness import Rng, root_key

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.engine.mutation import Mutation

DATA = Path(__file__).parent.parent / "tests" / "mutations" / "data"
CORPORA = (
    "corpus.jsonl",
    "corpus_more.jsonl",
    "corpus_frozen.jsonl",
    "corpus_rich.jsonl",
    "corpus_special.jsonl",
    "corpus_rare.jsonl",
    "corpus_daily.jsonl",
    "corpus_abroad.jsonl",
)
WANTED = 100
SEEDS = 12
AROUND = 45
LONG = 700
FIELDS = ("round", "operator", "prompt", "seed", "mutation", "verdict", "note")


def prompts() -> dict[str, dict[str, Any]]:
    """The corpora by the prompts' IDs."""
    lines = [line for name in CORPORA for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
    return {case["id"]: case for case in map(json.loads, lines)}


def prompt_of(case: dict[str, Any]) -> Prompt:
    return Prompt(case["text"]) if "text" in case else Prompt.from_messages(case["messages"])


def judged_before(number: int) -> set[tuple[str, str]]:
    """Operator and mutation of what was read in other rounds than ``number``."""
    with (DATA / "judgement.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["operator"], row["mutation"]) for row in csv.DictReader(file) if row["round"] != str(number)
        }


def applications(
    name: str, cases: dict[str, dict[str, Any]], number: int, wanted: int, read: set[tuple[str, str]]
) -> list[tuple[str, int, Mutation]]:
    """Up to ``wanted`` distinct mutations by one operator, those in ``read`` last: prompt, seed, mutation."""
    known = {mutation for operator, mutation in read if operator == registry.get(name).id}
    found: dict[str, tuple[str, int, Mutation]] = {}
    for seed in range((number - 1) * SEEDS, number * SEEDS):
        for case in cases.values():
            for mutation in plan(prompt_of(case), 1, seed=seed, operators=[name]).mutations:
                found.setdefault(mutation.id, (case["id"], seed, mutation))
        if len(found.keys() - known) >= 2 * wanted:
            break
    order = Rng(root_key(number - 1, name), "judge").shuffled(list(found.values()))
    return sorted(order, key=lambda each: each[2].id in known)[:wanted]


def shown(mutation: Mutation) -> str:
    """Each edit with what stands around it, or the changed text where there are many."""
    original = mutation.original
    if len(mutation.edits) > 12:
        text = mutation.text
        return "NOW: " + (text if len(text) <= LONG else text[:LONG] + " [...]")
    pieces = []
    for edit in mutation.edits:
        before = original[max(0, edit.start - AROUND) : edit.start]
        after = original[edit.end : edit.end + AROUND]
        pieces.append(
            f"…{before}[-{original[edit.start : edit.end]}-]{{+{edit.replacement(original)}+}}{after}…"
        )
    return " ¦ ".join(pieces)


def sample(
    folder: Path, sheets: int, number: int, names: list[str], wanted: int, languages: list[str]
) -> None:
    """Write the sheets, the prompts and the key."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = {key: case for key, case in prompts().items() if not languages or case["language"] in languages}
    read = judged_before(number)
    rows = [(name, *each) for name in names for each in applications(name, cases, number, wanted, read)]
    order = Rng(root_key(0, "sheet"), "judge").shuffled(range(len(rows)))
    (folder / "prompts.txt").write_text(
        "\n".join(
            f"=== {key}\n{prompt_of(case).text}\nGOLD: {case.get('gold', '')}\n"
            for key, case in cases.items()
        ),
        encoding="utf-8",
    )
    with (folder / "key.csv").open("w", encoding="utf-8", newline="") as file:
        key = csv.writer(file)
        for place, index in enumerate(order):
            name, prompt, seed, mutation = rows[index]
            key.writerow([place, registry.get(name).id, prompt, seed, mutation.id])
    for sheet in range(sheets):
        lines = []
        for place in range(sheet, len(order), sheets):
            _, prompt, _, mutation = rows[order[place]]
            asked = "" if mutation.relation == "invariance" else f"[{mutation.relation}] "
            lines.append(f"#{place} {prompt} {asked}{json.dumps(shown(mutation), ensure_ascii=False)}")
        (folder / f"sheet-{sheet + 1}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(rows)} applications of {len(names)} operators on {sheets} sheets")


def collect(folder: Path, round_: int) -> None:
    """Join key and verdicts into the committed sheet, and print the share that passes of each operator."""
    failed: dict[str, str] = {}
    for file in sorted(folder.glob("verdicts*.csv")):
        for line in file.read_text(encoding="utf-8").splitlines():
            number, _, note = line.partition(",")
            if number.strip("# ").isdigit():
                failed[number.strip("# ")] = note.strip()
    total: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    sheet = DATA / "judgement.csv"
    rows: list[list[str]] = []
    if sheet.exists():
        with sheet.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
    with (folder / "key.csv").open(encoding="utf-8", newline="") as file:
        key = list(csv.reader(file))
        judged = {(str(round_), name) for _, name, *_ in key}
        rows = [row for row in rows if (row[0], row[1]) not in judged]
        for number, name, prompt, seed, mutation in key:
            total[name] += 1
            passed[name] += number not in failed
            verdict = "fail" if number in failed else "pass"
            rows.append([str(round_), name, prompt, seed, mutation, verdict, failed.get(number, "")])
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows(sorted(rows))
    for name in sorted(total, key=lambda each: passed[each] / total[each]):
        preserves = registry.get(name.partition("@")[0]).preserves
        print(
            f"{name:32} {preserves:12} {passed[name]:4} of {total[name]:4}  {passed[name] / total[name]:6.1%}"
        )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("sample", "collect"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sheets", type=int, default=4)
    parser.add_argument("--round", type=int, default=1)
    parser.add_argument("--wanted", type=int, default=WANTED, help="applications of each operator")
    parser.add_argument("--operators", default="", help="all by default")
    parser.add_argument("--languages", default="", help="of the prompts; all by default")
    options = parser.parse_args()
    if options.action == "sample":
        names = [each for each in options.operators.split(",") if each] or list(registry.builtin())
        languages = [each for each in options.languages.split(",") if each]
        sample(options.folder, options.sheets, options.round, names, options.wanted, languages)
    else:
        collect(options.folder, options.round)


if __name__ == "__main__":
    main()
