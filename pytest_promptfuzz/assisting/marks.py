"""Marks around protected text: what a model is shown of a prompt, and how its answer is read back.

``⟦2:{ticket}⟧`` tells the model what stands there and tells us which span it is, so that the span itself is never
copied by the model: wherever its mark ends up, the original characters go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pytest_promptfuzz.comparing.reading.word_lists import FUNCTION_WORDS
from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.mutations.fields import data_spans, field_spans
from pytest_promptfuzz.prompts.logic import logic_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.mutations.draft import Draft

Part: TypeAlias = str | int
"""A piece of an answer: literal text, or the index of a protected span."""

_BRACKETS = (("⟦", "⟧"), ("⟪", "⟫"), ("⦃", "⦄"), ("⁅", "⁆"))
# A letter or digit of a script that puts spaces between words: right beside a span it makes another word of it.
_WORDY = re.compile(r"[^\W_\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
_LABEL = re.compile(r"[^\n:\x00]{1,40}:\s*")
_WORDS = re.compile(r"[^\W\d_]{2,}")
_FEWEST = 3
_SHOWN = 80
_HEAD, _TAIL = 50, 20


class RejectedAnswerError(PromptfuzzError):
    """An answer that may not be used; the message says why, as a clause about the answer: "it loses {ticket}"."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A stretch of a prompt as a model is shown it.

    Attributes:
        start: Where the stretch begins in the prompt's text.
        end: Where it ends; no white space at either end.
        original: The stretch as it is.
        spans: What stays as it is, ascending, as offsets in the prompt's text: protected spans, and data.
        shown: The stretch with a mark in the place of each span.
        brackets: What marks begin and end with: signs that the stretch does not hold.
        names: Free words, in lower case, of what the prompt asks for by name ("the delivery date"): an answer must call
            it so, whoever rewords the prompt.
    """

    start: int
    end: int
    original: str
    spans: tuple[tuple[int, int], ...]
    shown: str
    brackets: tuple[str, str]
    names: tuple[str, ...] = ()

    def content(self, index: int) -> str:
        """The protected text of a span."""
        start, end = self.spans[index]
        return self.original[start - self.start : end - self.start]

    def free(self) -> list[str]:
        """What lies before, between and after the spans."""
        pieces: list[str] = []
        position = self.start
        for start, end in (*self.spans, (self.end, self.end)):
            pieces.append(self.original[position - self.start : start - self.start])
            position = end
        return pieces

    def render(self, parts: Sequence[Part]) -> str:
        """Parts as text, the spans as they are in the original."""
        return "".join(part if isinstance(part, str) else self.content(part) for part in parts)

    def mark(self, parts: Sequence[Part]) -> str:
        """Parts as a model is shown them, a mark in the place of each span."""
        return "".join(
            part if isinstance(part, str) else _mark(part, self.content(part), self.brackets)
            for part in parts
        )

    def read(self, answer: str) -> list[Part]:
        """The parts of an answer, each span standing in it exactly once; no two literals are neighbours.

        A model that drops a mark and writes the protected text itself is understood, if that text stands there
        just as often as it must.

        Raises:
            RejectedAnswerError: A span is lost or repeated, a mark is broken or made up, or a span is glued to a word
                that it did not touch.
        """
        opening, closing = map(re.escape, self.brackets)
        pieces = re.split(f"{opening}\\s*(\\d{{1,6}})\\s*(?::[^{closing}]*)?{closing}", answer)
        parts: list[Part] = [pieces[0]]
        seen: set[int] = set()
        for number, literal in zip(pieces[1::2], pieces[2::2], strict=True):
            index = int(number) - 1
            if not 0 <= index < len(self.spans):
                raise RejectedAnswerError(
                    f"it makes up the mark {self.brackets[0]}{number}{self.brackets[1]}"
                )
            if index in seen:
                raise RejectedAnswerError(f"it repeats {_short(self.content(index))}")
            seen.add(index)
            parts += [index, literal]
        # The longest first: the 1 of "1.5" is no 1 that was written for a lost mark.
        for index in sorted(range(len(self.spans)), key=lambda each: -len(self.content(each))):
            if index not in seen:
                parts = self._recovered(parts, index, seen)
        literals = "".join(part for part in parts if isinstance(part, str))
        if any(bracket in literals for bracket in self.brackets):
            raise RejectedAnswerError("it breaks a mark")
        parts = [part for part in parts if part != ""]
        self._unglued(parts)
        return parts

    def _recovered(self, parts: list[Part], index: int, seen: set[int]) -> list[Part]:
        """The parts with the text of all missing spans that are written alike found in the literals, in order."""
        content = self.content(index)
        missing = [
            each for each in range(len(self.spans)) if each not in seen and self.content(each) == content
        ]
        before, after = (r"\b" if _WORDY.match(sign) else "" for sign in (content[0], content[-1]))
        pattern = re.compile(f"{before}{re.escape(content)}{after}")
        found = sum(len(pattern.findall(part)) for part in parts if isinstance(part, str))
        if found < len(missing):
            raise RejectedAnswerError(f"it loses {_short(content)}")
        if found > len(missing):
            raise RejectedAnswerError(f"it repeats {_short(content)}")
        seen.update(missing)
        result: list[Part] = []
        for part in parts:
            if not isinstance(part, str):
                result.append(part)
                continue
            first, *rest = pattern.split(part)
            result.append(first)
            for literal in rest:
                result += [missing.pop(0), literal]
        return result

    def _unglued(self, parts: Sequence[Part]) -> None:
        for place, part in enumerate(parts):
            if isinstance(part, str):
                continue
            start, end = self.spans[part]
            before = self.original[max(self.start, start - 1) - self.start : start - self.start]
            after = self.original[end - self.start : end - self.start + 1]
            left = self.render(parts[place - 1 : place])[-1:] if place else ""
            right = self.render(parts[place + 1 : place + 2])[:1]
            if (_WORDY.match(left) and not before.isalnum()) or (_WORDY.match(right) and not after.isalnum()):
                raise RejectedAnswerError(f"it glues {_short(self.content(part))} to a word")


def marked(draft: Draft, *, data: bool = False) -> list[Marked]:
    """The stretches of a prompt that can be reworded, those with the most free letters first.

    A text is one stretch, a chat one for each message that may change.

    Args:
        draft: The prompt.
        data: Whether what looks like data (``Review: It broke.``) is reworded as well; otherwise it stays.
    """
    kept = _joined(draft.spans if data else (*draft.spans, *_data(draft)))
    found: list[tuple[int, Marked]] = []
    position = 0
    for start, end in (*draft.walls, (len(draft.text), len(draft.text))):
        stretch = _stretch(draft, position, start, kept)
        if stretch is not None:
            letters = sum(map(str.isalpha, "".join(stretch.free())))
            if letters:
                found.append((letters, stretch))
        position = max(position, end)
    return [stretch for _, stretch in sorted(found, key=lambda each: -each[0])]


def _data(draft: Draft) -> list[tuple[int, int]]:
    """The data that has words of its own; a field that holds a slot is part of how the prompt is worded."""
    found: list[tuple[int, int]] = []
    for start, end in draft.once(data_spans):
        label = _LABEL.match(draft.free, start, end)
        begin = label.end() if label else start
        if len(_WORDS.findall(draft.free, begin, end)) >= _FEWEST:
            found.append((begin, end))
    return found


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in ascending order, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif start < end:
            joined.append((start, end))
    return joined


def _stretch(draft: Draft, start: int, end: int, kept: Sequence[tuple[int, int]]) -> Marked | None:
    text = draft.text[start:end]
    brackets = next((pair for pair in _BRACKETS if not any(sign in text for sign in pair)), None)
    if brackets is None or not text.strip():
        return None
    start, end = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
    # Data may end in white space that the stretch leaves out.
    spans = tuple((max(a, start), min(b, end)) for a, b in kept if a < end and b > start)
    pieces: list[str] = []
    position = start
    for number, (left, right) in enumerate(spans):
        pieces.append(draft.text[position:left])
        pieces.append(_mark(number, draft.text[left:right], brackets))
        position = right
    pieces.append(draft.text[position:end])
    names = tuple(
        word.lower
        for word in draft.words
        if start <= word.start < end
        and word.lower not in FUNCTION_WORDS
        and any(first <= word.start < last for first, last in draft.once(field_spans))
        and not any(first <= word.start < last for first, last in spans)
        and not logic_words(word.lower)
    )
    return Marked(start, end, draft.text[start:end], spans, "".join(pieces), brackets, names)


def _mark(index: int, content: str, brackets: tuple[str, str]) -> str:
    return f"{brackets[0]}{index + 1}:{_clipped(content)}{brackets[1]}"


def _clipped(content: str) -> str:
    """Protected text on one line, not too long: nobody need see all of a program to reword what is said of it."""
    line = " ".join(content.split())
    return line if len(line) <= _SHOWN else f"{line[:_HEAD]} … {line[-_TAIL:]}"


def _short(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= 40 else line[:39] + "…"
