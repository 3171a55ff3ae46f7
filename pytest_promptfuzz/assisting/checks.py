"""Whether a model's rewording of a prompt may be used: the reasons why not, each as a clause about the answer."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from pytest_promptfuzz.assisting.cues import asks, begins_like_an_answer, denies, forbids
from pytest_promptfuzz.assisting.marks import RejectedAnswerError
from pytest_promptfuzz.assisting.speech import LANGUAGES, script_of, spoken, written_in
from pytest_promptfuzz.comparing import texts
from pytest_promptfuzz.comparing.guards import checks
from pytest_promptfuzz.comparing.guards.pair import Pair
from pytest_promptfuzz.comparing.profiles import GUARDS
from pytest_promptfuzz.comparing.reading.asides import read_asides
from pytest_promptfuzz.comparing.reading.text import analyse
from pytest_promptfuzz.mutations.casing import fold
from pytest_promptfuzz.prompts.spans import protected_spans

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_promptfuzz.assisting.marks import Marked, Part

# "Could you write …?" asks for what "Write …" asks for: a prompt's force is not that of an answer.
_GUARDS = tuple(name for name in GUARDS if name != "modality")
# Controls, invisible and bidirectional characters, private use, lone surrogates: nothing a rewording needs.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc"
    "\ud800-\uf8ff\U000e0000-\U0010ffff]"
)
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_CAPITALS = re.compile(r"\b[A-Z]{3,}\b")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# A rewording is seldom more than twice as long; ten words are granted to short ones. A translation varies more.
_SHORTEST, _LONGEST, _GRANTED = 0.4, 2.2, 10
_TRANSLATED_SHORTEST, _TRANSLATED_LONGEST = 0.35, 3.0
# Exact things that stand out wherever they are; labels and quotations depend on the wording around them.
_EXACT = frozenset(["slot", "code", "json", "url", "email", "path", "placeholder", "tag", "table", "math"])
_TOLD = frozenset(["en", "fr", "de", "es", "it", "pt", "nl"])  # whose negations are known


def check_rewording(
    stretch: Marked, parts: Sequence[Part], *, given: Collection[str], translated_to: str | None = None
) -> None:
    """Refuse a rewording that does not ask for the same thing, as far as that can be told without a model.

    Args:
        stretch: What was reworded.
        parts: What :meth:`Marked.read` made of the answer: protected text is in its place already.
        given: Folded texts (see ``casing.fold``) that were had before.
        translated_to: The language it is to be in; ``None`` for the same as the original's.

    Raises:
        RejectedAnswerError: The first reason found.
    """
    text = stretch.render(parts)
    old = " ".join(stretch.free())
    new = " ".join(part for part in parts if isinstance(part, str))
    _written(stretch, new)
    if fold(text) == fold(stretch.original):
        raise RejectedAnswerError("it is the text itself")
    if fold(text) in given:
        raise RejectedAnswerError("it was given before")
    _kept(stretch.original, text, old, new)
    _answers(stretch.original, text)
    _length(old, new, translated=translated_to is not None)
    source = spoken(old)
    if translated_to is None:
        if script_of(old) != script_of(new) or not written_in(new, source):
            raise RejectedAnswerError(f"its language is not the text's ({LANGUAGES.get(source, source)})")
        _names(stretch.names, new)
        _meaning(stretch.original, text)
        if source == "en":
            _instruction(old, new)
    elif not written_in(new, translated_to, not_in=source):
        raise RejectedAnswerError(f"its language is not {LANGUAGES[translated_to]}")
    _denials(old, new, source, translated_to or source)


def _written(stretch: Marked, new: str) -> None:
    if not any(map(str.isalpha, new)):
        raise RejectedAnswerError(
            "it is empty" if not stretch.spans else "it is too short: no word of its own"
        )
    known = set(_UNSEEN.findall(stretch.original))
    for sign in _UNSEEN.findall(new):
        if sign not in known:
            raise RejectedAnswerError(f"it holds the control character U+{ord(sign):04X}")


def _kept(original: str, text: str, old: str, new: str) -> None:
    """Nothing exact came or went beside the protected text, which is kept by construction."""
    before, after = (
        Counter(each[span.start : span.end] for span in protected_spans(each) if span.kind in _EXACT)
        for each in (original, text)
    )
    for content in after - before:
        raise RejectedAnswerError(f"it adds {content[:60]}")
    for content in before - after:
        raise RejectedAnswerError(f"it loses {content[:60]}")
    for content in _stressed(text):
        if content not in original:
            raise RejectedAnswerError(f"it adds {content[:60]}")
    numbers, numbers_now = Counter(_DIGITS.findall(old)), Counter(_DIGITS.findall(new))
    for number in numbers_now - numbers:
        raise RejectedAnswerError(f"it adds {number}")
    for number in numbers - numbers_now:
        raise RejectedAnswerError(f"it loses {number}")


def _stressed(text: str) -> list[str]:
    """Quotations and words in capitals: what an answer could be told to consist of."""
    quoted = [
        text[span.start : span.end].strip("\"'“”‘’«»„ ")
        for span in protected_spans(text)
        if span.kind == "quote"
    ]
    return [*filter(None, quoted), *_CAPITALS.findall(text)]


def _names(names: Sequence[str], new: str) -> None:
    """What the answer must call its parts is named as before."""
    lost = Counter(names) - Counter(each.lower().replace("’", "'") for each in _WORD.findall(new))
    for name in lost:
        raise RejectedAnswerError(f"it loses the name {name!r} of something to be answered")


def _answers(original: str, text: str) -> None:
    before, after = analyse(original), analyse(text)
    if read_asides(after.clean).spoken and not read_asides(before.clean).spoken:
        raise RejectedAnswerError("it declines")
    opens = begins_like_an_answer(text) and not begins_like_an_answer(original)
    if opens or (texts.polarity(after) and not texts.polarity(before)):
        raise RejectedAnswerError("it begins like an answer to the prompt")


def _length(old: str, new: str, *, translated: bool) -> None:
    """Counted in letters across languages: words differ too much."""
    before, after = (
        (sum(map(str.isalpha, old)), sum(map(str.isalpha, new)))
        if translated or not (old.isascii() and new.isascii())
        else (len(_WORD.findall(old)), len(_WORD.findall(new)))
    )
    if translated and script_of(old) != script_of(new):
        return  # a Chinese sentence has a quarter of an English one's letters
    low, high = (_TRANSLATED_SHORTEST, _TRANSLATED_LONGEST) if translated else (_SHORTEST, _LONGEST)
    unit = 1 if old.isascii() and new.isascii() and not translated else 6
    if after < low * before:
        raise RejectedAnswerError("it is too short to ask for the same")
    if after > high * before + _GRANTED * unit:
        raise RejectedAnswerError("it is too long for a rewording")


def _meaning(original: str, text: str) -> None:
    """The guards that find what similarity cannot see: negations, numbers, names, opposites, order."""
    found = checks.run(Pair(analyse(original), analyse(text)), _GUARDS)
    if found and found[-1].kind == "contradiction":
        why = (
            found[-1].explanation.replace("the baseline", "the text").replace("the response", "the rewording")
        )
        raise RejectedAnswerError(f"it means something else: {why}")


def _instruction(old: str, new: str) -> None:
    """English only: what asked for something still does."""
    if asks(old) and not asks(new):
        raise RejectedAnswerError("it asks for nothing, as an answer would")


def _denials(old: str, new: str, source: str, goal: str) -> None:
    """A text that forbids something still does; one that forbids nothing still does not."""
    if source not in _TOLD or goal.partition("-")[0] not in _TOLD:
        return
    if denies(old) and not forbids(new):
        raise RejectedAnswerError("it denies nothing, and the text does")
    if denies(new) and not forbids(old):
        raise RejectedAnswerError("it denies something, and the text does not")
