"""How answers in prose are judged: pairs of them, and whole tests of applications that give them.

    python benchmarks/answers.py [development|frozen] [--core] [--entailment FOLDER] [--list] [--pairs FILE.jsonl …]

``answers/development.jsonl`` and ``answers/frozen.jsonl`` hold 48 questions each from 12 domains: a baseline, up to eight
harmless rewordings, two that say a little more or less, and eight altered answers, four of them in the baseline's
wording. All were written by hand, and judged by a second reader who did not know which was which. The frozen half is
not looked at: no rule may be made for it.

Pairs are a baseline with each other answer, two harmless ones with each other, and an altered with a harmless one.
The same pairs stand a second time behind disclaimers and apologies (``answers/disclaimers_*.txt``, the frozen half for the
frozen answers): before, behind or around both answers, the same ones or different ones, which should change no outcome.
Answers of ``answers/json_answers.jsonl`` stand in prose, with one value changed, or in another form with other courtesies
(``answers/introductions_*.txt``).

Applications are functions that answer the unchanged prompt with the baseline and each of eight mutations with one of
the others; ``evaluate`` judges them. ``--pairs`` reads other pairs: ``a``, ``b`` and ``label`` (altered or harmless).
Models are found as in ``pairs.py``; `flips.py` judges the same applications by other credits and thresholds.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairs import OUTCOMES, add_models, models, share

from pytest_promptfuzz import Session, compare, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pairs import Models

    Question = dict[str, Any]

FOLDER = Path(__file__).with_name("answers")
VERDICTS = ("pass", "brittle", "noisy", "inconclusive")
PROMPT = (
    "You are a careful assistant. Read the question below and answer it briefly. Do not invent facts. Keep to what the "
    "question asks for, and write in plain English.\n\nQuestion:\nWhat should we do about case {number}? Explain your "
    "decision in a short paragraph."
)
MUTATIONS = 8
_FIRST_WORDS = frozenset(
    [
        "The",
        "A",
        "An",
        "It",
        "We",
        "You",
        "Yes",
        "No",
        "This",
        "Our",
        "My",
        "To",
        "In",
        "On",
        "Because",
        "If",
        "For",
        "There",
    ]
)
"""What a sentence begins with that is written small behind "but"."""


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


def around(name: str) -> tuple[list[str], list[str]]:
    """What a file says may stand before an answer, and behind it."""
    lines = [line.split("\t") for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
    before, behind = ([text for place, text in lines if place == wanted] for wanted in ("before", "behind"))
    return before, behind


def disclaimed(
    given: list[Question], half: str
) -> Iterator[tuple[str, tuple[str, str], tuple[str, str], str]]:
    """The row, two answers, the two behind disclaimers, and what tells where they are from."""
    before, behind = around(f"disclaimers_{half}.txt")

    def wrapped(answer: str, number: int) -> str:
        opening, closing = before[number % len(before)], behind[number % len(behind)]
        apart = "\n\n" if number % 2 or answer[:1] in "|#-*" else " "
        if opening[-1] in ",t" and answer.partition(" ")[0] in _FIRST_WORDS:
            answer = answer[0].lower() + answer[1:]
        match number % 3:
            case 0:
                return f"{opening}{apart}{answer}"
            case 1:
                return f"{answer}{apart}{closing}"
        return f"{opening}{apart}{answer}{apart}{closing}"

    for number, (row, one, two, told) in enumerate(pairs(given)):
        kind = row.partition(",")[0]
        if kind in {"altered", "harmless"}:
            for name, shift in (("the same", 0), ("different", 7)):
                both = wrapped(one, number), wrapped(two, number + shift)
                yield f"{kind}, behind a disclaimer or an apology, {name}", (one, two), both, told


def print_disclaimed(given: list[Question], half: str, found_models: Models, *, listed: bool) -> None:
    embedder, entailment = found_models
    found: dict[str, Counter[str]] = {}
    kept: Counter[str] = Counter()
    for row, bare, both, told in disclaimed(given, half):
        outcome, was = (
            compare(*each, task="generation", semantic=embedder or False, entailment=entailment or False)
            for each in (both, bare)
        )
        found.setdefault(row, Counter())[outcome.outcome] += 1
        kept[row] += outcome.outcome == was.outcome
        if listed and outcome.outcome != was.outcome:
            print(f"{told}: {row}, {was.outcome} became {outcome.outcome}: {outcome.explanation}\n  {both}")
    print(f"\n| behind disclaimers | | {' | '.join(OUTCOMES)} | as without |\n| --- | ---: |{' ---: |' * 5}")
    for row, counts in found.items():
        print_row(row, counts, OUTCOMES, f" {kept[row] / counts.total():.1%} |")


_ABOUT = (
    "", "", "", "The document is signed by both sides, and nothing in it was unclear.",
    "The second page repeats these details. It names no other person.",
)  # fmt: skip


def json_pairs(half: str, each_of: int = 14) -> Iterator[tuple[str, str, str, str]]:
    """Answers with JSON in prose: with one value changed, and with other key order, spacing and courtesies."""
    before, behind = around(f"introductions_{half}.txt")
    chosen = random.Random(15)  # the same pairs each time
    lines = (FOLDER / "json_answers.jsonl").read_text(encoding="utf-8").splitlines()
    values = [json.loads(line) for line in lines]
    for number, value in enumerate(values):
        for _ in range(each_of):
            about = chosen.choice(_ABOUT)
            altered = json.loads(json.dumps(value))
            told = _changed(altered, chosen)
            same_prose = chosen.random() < 0.5
            frame = chosen.choice(before), chosen.choice(behind)
            other = frame if same_prose else (chosen.choice(before), chosen.choice(behind))
            fenced = chosen.random() < 0.6
            base = _framed(value, frame, about, chosen, fenced=fenced)
            name = f"JSON {number}: {told}"
            yield (
                "altered, JSON in prose, one value",
                base,
                _framed(altered, other, about, chosen, fenced=fenced),
                name,
            )
            other = chosen.choice(before), chosen.choice(behind)
            again = _framed(_reordered(value, chosen), other, about, chosen, fenced=chosen.random() < 0.6)
            yield "harmless, JSON in prose", base, again, name


def _framed(
    value: Question, frame: tuple[str, str], about: str, chosen: random.Random, *, fenced: bool
) -> str:
    text = json.dumps(value, indent=chosen.choice((None, 2, 4)), ensure_ascii=False)
    fence = chosen.choice(("json", ""))
    block = f"```{fence}\n{text}\n```" if fenced else text
    parts = (frame[0] or "Result:", block, about, frame[1])
    return "\n\n".join(part for part in parts if part)


def _reordered(value: Any, chosen: random.Random) -> Any:
    if isinstance(value, list):
        return [_reordered(item, chosen) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    chosen.shuffle(keys)
    return {key: _reordered(value[key], chosen) for key in keys}


def _changed(value: Any, chosen: random.Random) -> str:
    """Change one value in place, and say which."""
    places = list(_places(value))
    parent, key = chosen.choice(places)
    old = parent[key]
    if isinstance(old, bool):
        parent[key] = not old
    elif isinstance(old, int):
        parent[key] = old + chosen.choice((-2, 1, 3, 10))
    elif isinstance(old, float):
        parent[key] = round(old + chosen.choice((-1.5, 0.1, 10)), 3)
    elif old is None:
        parent[key] = 4
    else:
        parent[key] = _other_text(
            old, [other[at] for other, at in places if isinstance(other[at], str)], chosen
        )
    return f"{old!r} -> {parent[key]!r}"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, (dict, list)):
            yield from _places(item)
        else:
            yield value, key


def _other_text(old: str, others: list[str], chosen: random.Random) -> str:
    digits = [at for at, each in enumerate(old) if each.isdigit()]
    if digits:
        at = chosen.choice(digits)
        return old[:at] + str((int(old[at]) + chosen.randint(1, 8)) % 10) + old[at + 1 :]
    return chosen.choice([each for each in others if each != old] or ["unknown"])


def print_row(row: str, counts: Counter[str], names: tuple[str, ...], more: str = "") -> None:
    total = counts.total()
    print(f"| {row} | {total} | {' | '.join(share(counts[name], total) for name in names)} |{more}")


def print_pairs(given: Iterator[tuple[str, str, str, str]], found_models: Models, *, listed: bool) -> None:
    embedder, entailment = found_models
    found: dict[str, Counter[str]] = {}
    for row, one, two, told in given:
        compared = compare(
            one, two, task="generation", semantic=embedder or False, entailment=entailment or False
        )
        found.setdefault(row, Counter())[compared.outcome] += 1
        wrong = {"equivalent", "minor"} if row.startswith("altered") else {"deviation"}
        if listed and compared.outcome in wrong:
            print(f"{told}: {row}, {compared.outcome}: {compared.explanation}")
    print(f"\n| pairs | | {' | '.join(OUTCOMES)} |\n| --- | ---: |{' ---: |' * len(OUTCOMES)}")
    for row, counts in found.items():
        print_row(row, counts, OUTCOMES)


def verdict(baseline: str, others: list[str], number: int, found_models: Models, **settings: Any) -> str:
    """What is said of an application that answers each mutation with the next of the others."""
    known: dict[str, str] = {}

    def application(prompt: str) -> str:
        if prompt not in known:
            known[prompt] = others[(len(known) - 1) % len(others)] if known else baseline
        return known[prompt]

    prompt = PROMPT.replace("{number}", str(100 + number))
    session = Session(embedder=found_models.embedder, entailment=found_models.entailment)
    asked = {"mutations": MUTATIONS, "task": "generation", **settings}
    return evaluate(prompt, application, session=session, **asked).verdict


def applications(given: list[Question]) -> Iterator[tuple[str, str, list[str]]]:
    """The row, the answer to the unchanged prompt, and the answers to mutations."""
    for each in given:
        harmless = (each["harmless"] * 2)[:MUTATIONS]
        reworded = [altered["text"] for altered in each["altered_reworded"]]
        kept = [altered["text"] for altered in each["altered_kept"]]
        half = [answer for both in zip(harmless[: len(reworded)], reworded, strict=True) for answer in both]
        yield "harmless", each["base"], harmless
        yield "altered everywhere", each["base"], reworded + kept
        yield "altered on half", each["base"], half


def print_verdicts(given: list[Question], found_models: Models) -> None:
    found: dict[str, Counter[str]] = {}
    for number, (row, base, others) in enumerate(applications(given)):
        found.setdefault(row, Counter())[verdict(base, others, number // 3, found_models)] += 1
    print(f"\n| applications | | {' | '.join(VERDICTS)} |\n| --- | ---: |{' ---: |' * len(VERDICTS)}")
    for row, counts in found.items():
        print_row(row, counts, VERDICTS)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("half", nargs="?", choices=("development", "frozen"), default="development")
    add_models(parser)
    parser.add_argument(
        "--list", action="store_true", help="name what is judged wrongly (of the development half)"
    )
    parser.add_argument("--pairs", nargs="+", type=Path, help="files of other pairs instead")
    asked = parser.parse_args()
    found = models(asked)
    if asked.pairs:
        for path in asked.pairs:
            print(f"\n## {path.name}")
            lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            given = ((each["label"], each["a"], each["b"], each["id"]) for each in lines)
            print_pairs(given, found, listed=asked.list)
        return
    known = questions(asked.half)
    print_pairs(pairs(known), found, listed=asked.list and asked.half == "development")
    print_pairs(json_pairs(asked.half), found, listed=asked.list and asked.half == "development")
    print_disclaimed(known, asked.half, found, listed=asked.list and asked.half == "development")
    print_verdicts(known, found)


if __name__ == "__main__":
    main()
