"""Labelled sentences, split once into those a victim learns from, those a search is tuned on, and those attacked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LEARNT, TUNING = 0.45, 0.12
"""Shares of the sentences; what is left is attacked."""

_TICKETS = {
    "triage": {
        "I was charged twice for order 48213, please refund one of the payments.": "billing",
        "The tracking page says delivered, but no parcel has arrived.": "shipping",
        "The checkout page crashes with an error every time I press pay.": "technical",
        "I forgot my password and cannot log in.": "account",
    },
    "urgency": {"Somebody changed my e-mail address, I think my account was stolen.": "high"},
}


@dataclass(frozen=True, slots=True)
class Labelled:
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Split:
    learnt: list[Labelled]
    tuning: list[Labelled]
    attacked: list[Labelled]


def read(files: Iterable[Path]) -> list[Labelled]:
    """All sentences of files of ``text<TAB>label``, each text once, in order.

    Raises:
        SystemExit: A line has no tab, or no file holds two labels.
    """
    found: dict[str, Labelled] = {}
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if line.strip():
                text, tab, label = line.rpartition("\t")
                if not tab:
                    raise SystemExit(f"{file}:{number}: no tab between text and label")
                found.setdefault(text.strip(), Labelled(text.strip(), label.strip()))
    if len({each.label for each in found.values()}) < 2:
        raise SystemExit("a classifier needs sentences of two labels: text<TAB>label, a line each")
    return list(found.values())


def files_in(paths: Iterable[Path]) -> list[Path]:
    """The files, and the ``.txt`` and ``.tsv`` files of the folders; README files apart."""
    return [
        file
        for path in paths
        for file in (sorted(path.iterdir()) if path.is_dir() else [path])
        if not path.is_dir() or file.suffix in {".txt", ".tsv"}
    ]


def split(sentences: list[Labelled]) -> Split:
    """The same split of the same sentences always."""
    order = list(sentences)
    Random(20).shuffle(order)
    learnt, tuning = round(LEARNT * len(order)), round((LEARNT + TUNING) * len(order))
    return Split(order[:learnt], order[learnt:tuning], order[tuning:])


def joined(sentences: list[Labelled], together: int) -> list[Labelled]:
    """Longer texts: sentences of one label, one after another, each used once."""
    found = []
    for label in sorted({each.label for each in sentences}):
        texts = [each.text for each in sentences if each.label == label]
        found += [
            Labelled(" ".join(texts[start : start + together]), label)
            for start in range(0, len(texts) - together + 1, together)
        ]
    return found


def prompts(root: Path) -> list[Labelled]:
    """The prompts of this repository that classify and whose answer is known."""
    found = []
    for file in sorted((root / "tests/simulated/data").glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            case = json.loads(line)
            if (
                case["id"].startswith("cls-")
                and isinstance(case["prompt"], str)
                and "equals" in case["expect"]
            ):
                found.append(Labelled(case["prompt"], case["expect"]["equals"].strip(" .").lower()))
    folder = root / "example_project/support_app/prompts"
    for name, tickets in _TICKETS.items():
        instructions = (folder / f"{name}.txt").read_text("utf-8").strip()
        found += [Labelled(f"{instructions}\n\nTicket: {ticket}", label) for ticket, label in tickets.items()]
    return found
