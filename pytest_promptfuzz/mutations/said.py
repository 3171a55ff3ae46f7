"""What the sentences of a draft say: each in lower case and word by word, read once for all who ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.draft import Draft

TOKENS = expression("[a-z]+")
BOUND = expression("\\b(?:above|below) (?=\x00)")  # "above $50" is no place

# ASCII letters in lower case, and a space for everything else: splitting that is quicker than a search for words.
_SPACED = bytes(ord(chr(code).lower()) if chr(code).isalpha() else 32 for code in range(128)).ljust(256)


_make = tuple.__new__  # what `Said(...)` does, without a Python frame in between


class Said(NamedTuple):
    """A sentence in lower case.

    Attributes:
        text: The whole of it.
        tokens: The runs of ``a`` to ``z`` in it; one empty one if there are none.
        free: The same with its protected parts blanked.
        plain: The tokens of that, without an ``above`` or ``below`` that names no place; may be empty.
    """

    text: str
    tokens: list[str]
    free: str
    plain: list[str]


def tokens_of(text: str) -> list[str]:
    """The runs of ``a`` to ``z`` in a text in lower case."""
    return text.encode().translate(_SPACED).decode().split() if text.isascii() else TOKENS.findall(text)


def heard(draft: Draft) -> frozenset[str]:
    """The runs of ``a`` to ``z`` in the whole text in lower case, protected or not.

    An expression that needs a word finds nothing where it is not among them. Ask for it with ``draft.once(heard)``.
    """
    text = draft.text
    return frozenset(draft.once(_spaced).split() if text.isascii() else TOKENS.findall(text.lower()))


def _spaced(draft: Draft) -> str:
    """An ASCII text in lower case with a space for whatever is no letter."""
    return draft.text.encode().translate(_SPACED).decode()


def said(draft: Draft) -> tuple[Said, ...]:
    """What each of the draft's sentences says, in their order. Ask for it with ``draft.once(said)``."""
    text, free = draft.text, draft.free
    if not text.isascii():
        return tuple(
            [_read(text[start:end].lower(), free[start:end].lower()) for start, end, _, _ in draft.sentences]
        )
    text, free = text.lower(), free.lower()
    spaced = draft.once(_spaced)
    found: list[Said] = []
    for start, end, _, _ in draft.sentences:
        whole, blanked = text[start:end], free[start:end]
        tokens = spaced[start:end].split() or [""]
        found.append(_make(Said, (whole, tokens, blanked, tokens if blanked == whole else _plain(blanked))))
    return tuple(found)


def said_at(draft: Draft) -> dict[int, Said]:
    """What each sentence says, by where it begins. Ask for it with ``draft.once(said_at)``."""
    return {sentence.start: own for sentence, own in zip(draft.sentences, draft.once(said), strict=True)}


def _read(whole: str, blanked: str) -> Said:
    tokens = tokens_of(whole) or [""]
    return Said(whole, tokens, blanked, tokens if blanked == whole else _plain(blanked))


def _plain(blanked: str) -> list[str]:
    bound = "above \x00" in blanked or "below \x00" in blanked
    return tokens_of(BOUND.sub("", blanked) if bound else blanked)
