"""Whether a model's rewording of a prompt may be used; marks that keep protected text out of the model's hands."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pytest_promptfuzz.comparing import texts
from pytest_promptfuzz.comparing.guards import checks
from pytest_promptfuzz.comparing.guards.pair import Pair
from pytest_promptfuzz.comparing.profiles import GUARDS
from pytest_promptfuzz.comparing.reading.asides import read_asides
from pytest_promptfuzz.comparing.reading.text import analyse
from pytest_promptfuzz.comparing.reading.word_lists import FUNCTION_WORDS
from pytest_promptfuzz.data.tables import words_in
from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.mutations.analysis.spared_text import data_spans, field_spans
from pytest_promptfuzz.prompts.cues import logic_words
from pytest_promptfuzz.prompts.spans import protected_spans
from pytest_promptfuzz.text.expressions import expression, fold, words
from pytest_promptfuzz.text.languages import LANGUAGES, script_of, spoken, written_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft


# What gives a text away: that it asks for something, that it denies something, that it answers.


_SURE = "sure|certainly|of course|absolutely|okay|got it|understood|as requested|bien sûr|gerne,|natürlich,|claro,"
_HERE = "here(?:'s|’s| is| are)|voici|hier ist|aquí (?:está|tienes)|ecco"
_ONE = "the|a|an|your|my|le|la|une?|das|die|der|eine?|il"
_RESULT = (
    "answer|result|summary|list|poem|code|query|translation|response|output|json|table|résumé|réponse|antwort"
    "|zusammenfassung|respuesta|resumen|risposta|riassunto"
)
_ANSWERING = expression(
    rf"\A(?:(?:{_SURE})\b|(?:{_HERE}) (?:{_ONE}) (?:\w+ )?(?:{_RESULT})\b)", re.IGNORECASE
)
# The first word of each sentence, item and clause after a colon, but for words that come before an imperative.
_FIRST = expression(
    r"(?:\A|[.!?:;\n])[\s\-*•>#\d.)]*(?:please |kindly |now |then |next |in [^,.\n]{1,40}, )?([a-z'’]+)"
)
_ASKING = expression(
    r"\?|\b(?:you (?:must|should|are to|need to|have to|will|are asked)|your task|your job|make sure|please|go ahead"
    r"|requested to|(?:is|are|must|should|has|have|needs?) (?:to be|be|to) "
    r"|(?:i|we) (?:want|need|ask|would (?:like|ask)))\b",
    re.IGNORECASE,
)
_VERBS = words_in("words/instructing_verbs.txt")
"""What instructions begin with."""

_DENIALS = words(
    """
    not no never none nobody nothing neither nor cannot without nicht kein keine keinen keiner keinem keines nie
    niemals ohne ne pas jamais aucun aucune rien sans nunca jamás sin ningún ninguna non mai senza nessuno nessuna
    não sem niet geen nooit zonder
    """
)
# "Only the label" is "nothing but the label"; the n is that of "n'a".
_FORBIDDING = words(
    """
    avoid omit refrain exclude skip leave only just alone solely exclusively vermeide évite évitez evita evite vermijd
    nur ausschließlich lediglich seul seule seulement uniquement solo solamente sólo únicamente soltanto unicamente
    apenas somente só alleen uitsluitend slechts n personne nadie ninguém niemand
    """
)
_WORD = expression(r"[^\W\d_]+")


def begins_like_an_answer(text: str) -> bool:
    """Whether a text opens as assistants open answers: "Sure, …", "Here is the summary …"."""
    return _ANSWERING.match(text) is not None


def asks(text: str) -> bool:
    """Whether an English text asks for something: an imperative, a question, "you must", "your task"."""
    if _ASKING.search(text):
        return True
    return any(match[1].replace("’", "'") in _VERBS for match in _FIRST.finditer(text.lower()))


def denies(text: str) -> bool:
    """Whether a negation stands in an English, French, German, Spanish, Italian, Portuguese or Dutch text."""
    return any(
        (word := text[start:end].lower()) in _DENIALS or word[-3:] in {"n't", "n’t"}
        for start, end in logic_words(text)
    )


def forbids(text: str) -> bool:
    """Whether a text denies something, or sets limits in other words: "avoid", "leave out", "only"."""
    return denies(text) or not _FORBIDDING.isdisjoint(_WORD.findall(text.lower()))


# Marks around protected text: what a model is shown of a prompt, and how its answer is read back.
#
# ``⟦2:{ticket}⟧`` tells the model what stands there and tells us which span it is, so that the span itself is never
# copied by the model: wherever its mark ends up, the original characters go.


Part: TypeAlias = str | int
"""A piece of an answer: literal text, or the index of a protected span."""

_BRACKETS = (("⟦", "⟧"), ("⟪", "⟫"), ("⦃", "⦄"), ("⁅", "⁆"))
# A letter or digit of a script that puts spaces between words: right beside a span it makes another word of it.
_WORDY = expression(r"[^\W_\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
_LABEL = expression(r"[^\n:\x00]{1,40}:\s*")
_WORDS = expression(r"[^\W\d_]{2,}")
_FEWEST = 3
_SHOWN = 80
_HEAD, _TAIL = 50, 20


class RejectedAnswerError(PromptfuzzError):
    """An answer that may not be used; the message says why, as a clause about the answer: "it loses {ticket}"."""


@dataclass(frozen=True, slots=True)
class MarkedStretch:
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


def marked(draft: Draft, *, data: bool = False) -> list[MarkedStretch]:
    """The stretches of a prompt that can be reworded, those with the most free letters first.

    A text is one stretch, a chat one for each message that may change.

    Args:
        draft: The prompt.
        data: Whether what looks like data (``Review: It broke.``) is reworded as well; otherwise it stays.
    """
    kept = _joined(draft.spans if data else (*draft.spans, *_data(draft)))
    found: list[tuple[int, MarkedStretch]] = []
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


def _stretch(draft: Draft, start: int, end: int, kept: Sequence[tuple[int, int]]) -> MarkedStretch | None:
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
    return MarkedStretch(start, end, draft.text[start:end], spans, "".join(pieces), brackets, names)


def _mark(index: int, content: str, brackets: tuple[str, str]) -> str:
    return f"{brackets[0]}{index + 1}:{_clipped(content)}{brackets[1]}"


def _clipped(content: str) -> str:
    """Protected text on one line, not too long: nobody need see all of a program to reword what is said of it."""
    line = " ".join(content.split())
    return line if len(line) <= _SHOWN else f"{line[:_HEAD]} … {line[-_TAIL:]}"


def _short(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= 40 else line[:39] + "…"


# "Could you write …?" asks for what "Write …" asks for: a prompt's force is not that of an answer.
_GUARDS = tuple(name for name in GUARDS if name != "modality")
# Controls, invisible and bidirectional characters, private use, lone surrogates: nothing a rewording needs.
_UNSEEN = expression(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc"
    "\ud800-\uf8ff\U000e0000-\U0010ffff]"
)
_DIGITS = expression(r"\d+(?:[.,]\d+)*")
_CAPITALS = expression(r"\b[A-Z]{3,}\b")
_WORD_OR_CONTRACTION = expression(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# A rewording is seldom more than twice as long; ten words are granted to short ones. A translation varies more.
_SHORTEST, _LONGEST, _GRANTED = 0.4, 2.2, 10
_TRANSLATED_SHORTEST, _TRANSLATED_LONGEST = 0.35, 3.0
# Exact things that stand out wherever they are; labels and quotations depend on the wording around them.
_EXACT = frozenset(["slot", "code", "json", "url", "email", "path", "placeholder", "tag", "table", "math"])
_TOLD = frozenset(["en", "fr", "de", "es", "it", "pt", "nl"])  # whose negations are known


def check_rewording(
    stretch: MarkedStretch, parts: Sequence[Part], *, given: Collection[str], translated_to: str | None = None
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


def _written(stretch: MarkedStretch, new: str) -> None:
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
    lost = Counter(names) - Counter(
        each.lower().replace("’", "'") for each in _WORD_OR_CONTRACTION.findall(new)
    )
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
        else (len(_WORD_OR_CONTRACTION.findall(old)), len(_WORD_OR_CONTRACTION.findall(new)))
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
