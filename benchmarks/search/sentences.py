"""Labelled sentences, split once into those a victim learns from, those a search is tuned on, and those attacked."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LEARNT, TUNING = 0.45, 0.12
"""Shares of the sentences; what is left is attacked."""


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
