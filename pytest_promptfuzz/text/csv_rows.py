"""Rows as CSV that every reader splits where they end, and back, however long a cell is."""

from __future__ import annotations

import csv
import io
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WRITTEN = "\r\n"
_one_reader = threading.Lock()


def csv_text(rows: Iterable[Iterable[object]], ending: str = "\n") -> str:
    r"""Rows as CSV. ``None`` is an empty cell.

    >>> csv_text([["model", "answer"], ["small", "two\rlines"]])
    'model,answer\nsmall,"two\rlines"\n'
    """
    line = io.StringIO(newline="")
    # Older Pythons put quotes around only those line ends that the ending of rows has; readers split at both.
    writer = csv.writer(line, lineterminator=_WRITTEN)
    text = []
    for row in rows:
        writer.writerow(row)
        text.append(line.getvalue().removesuffix(_WRITTEN) + ending)
        line.seek(0)
        line.truncate()
    return "".join(text)


def csv_rows(text: str) -> list[list[str]]:
    """The rows of a CSV text that are not empty.

    Raises:
        csv.Error: It is none.
    """
    with cells_up_to(len(text)):
        return [row for row in csv.reader(io.StringIO(text, newline="")) if row]


@contextmanager
def cells_up_to(length: int) -> Iterator[None]:
    """Let ``csv`` read cells of so many characters, or of more where more is allowed."""
    with _one_reader:  # it is a setting of the whole process
        before = csv.field_size_limit()
        csv.field_size_limit(max(before, length))
        try:
            yield
        finally:
            csv.field_size_limit(before)
