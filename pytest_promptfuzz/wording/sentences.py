"""Notes as sentences: a code names the function of a module beside this one that makes its sentence.

Those modules are loaded when one of their sentences is needed: most tests need few.
"""

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
