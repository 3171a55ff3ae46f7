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


def lowered(text: str) -> str:
    """A sentence as it goes on after a colon; a name in capitals stays as it is.

    >>> lowered("The score is 0.5."), lowered("GPT answered.")
    ('the score is 0.5.', 'GPT answered.')
    """
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


# Numbers as sentences have them.


def percent(share: float) -> str:
    """A share of 1.

    >>> percent(0.5), percent(0.508), percent(1)
    ('50 %', '50.8 %', '100 %')
    """
    return f"{100 * share:.3g} %"


def as_expected(accuracy: float, mutated: float | None) -> str:
    """How often answers are the gold ones, without and with mutations; no end of the sentence.

    >>> as_expected(0.5, 0.5)
    '50 % of the answers are as expected, with and without mutations'
    """
    if mutated is None:
        return f"{percent(accuracy)} of the answers to the unmutated prompt are as expected"
    if percent(accuracy) == percent(mutated):
        return f"{percent(accuracy)} of the answers are as expected, with and without mutations"
    return f"{percent(accuracy)} of the answers are as expected without mutations, {percent(mutated)} with mutations"


def counted(amount: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "error"), counted(2, "error"), counted(1000, "query"), counted(2, "day")
    ('1 error', '2 errors', '1,000 queries', '2 days')
    """
    if amount == 1:
        return f"1 {noun}"
    many = f"{noun[:-1]}ies" if noun[-1] == "y" and noun[-2:-1] not in {"a", "e", "o", "u"} else f"{noun}s"
    if noun.endswith(("ch", "sh")):
        many = f"{noun}es"
    return f"{amount:,} {many}"
