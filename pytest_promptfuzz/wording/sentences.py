"""Notes as sentences: a code names the function of a module beside this one that makes its sentence; counted nouns."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pytest_promptfuzz.notes import Note


def sentence(note: Note | str) -> str:
    """The sentence of a note; what is in words already stays as it is.

    >>> sentence(Note.of("trials:answered-again"))
    'It was answered when it was asked again.'
    """
    if isinstance(note, str):
        return note
    subject, _, finding = note.code.partition(":")
    worded = getattr(import_module(f"{__package__}.{subject}"), finding.replace("-", "_"))
    return str(worded(**{name: _in_words(value) for name, value in note.values.items()}))


def _in_words(value: Any) -> Any:
    return sentence(value) if isinstance(value, Note) else value


# Numbers as sentences have them.


def counted(amount: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "error"), counted(2, "error"), counted(1000, "query"), counted(2, "day")
    ('1 error', '2 errors', '1,000 queries', '2 days')
    """
    if amount == 1:
        return f"1 {noun}"
    many = f"{noun[:-1]}ies" if noun[-1] == "y" and noun[-2:-1] not in {"a", "e", "o", "u"} else f"{noun}s"
    return f"{amount:,} {many}"
