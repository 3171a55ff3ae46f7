"""Phrases of a prompt that can be said in another register or in other words, in English and six more languages."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_promptfuzz.data.english_words import BEFORE_VERB, DETERMINERS
from pytest_promptfuzz.data.phrases import (
    ABOUT,
    ALSO_BRIEF,
    BRIEF,
    CLOSING,
    COURTESIES,
    ONE_WAY,
    OPENING,
    REGISTER,
    SPELLINGS,
    SWAPS,
    VERBAL,
    Courtesy,
    Swap,
)
from pytest_promptfuzz.mutations.analysis.draft import TOKENS, heard
from pytest_promptfuzz.mutations.analysis.spared_text import data_spans, inside
from pytest_promptfuzz.mutations.engine.edits import Edit, insert, replace
from pytest_promptfuzz.text.expressions import LETTER, capitalised, expression, lower, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_promptfuzz.mutations.analysis.draft import Draft


_BE = words("is are was were be been being very")


Direction: TypeAlias = Literal["formal", "casual", "other"]


@cache
def _register(direction: Direction) -> dict[str, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]]:
    """By first word: phrases, the longest first, and what says the same in the register wanted.

    Before them stands what comes after the first letter of one of them.
    """
    other: dict[str, str] = {}
    for formal, casual in REGISTER.items():
        if direction != "formal":
            other.setdefault(formal, casual)
        if direction != "casual" and casual not in ONE_WAY:
            other.setdefault(casual, formal)
    found: dict[str, list[tuple[str, str]]] = {}
    for phrase in sorted(other, key=lambda each: (-len(each), each)):
        found.setdefault(phrase.split()[0], []).append((phrase, other[phrase]))
    return {first: (tuple(phrase[1:] for phrase, _ in pairs), tuple(pairs)) for first, pairs in found.items()}


@cache
def _telling(direction: Direction) -> frozenset[str]:
    """The longest word of each phrase: a text without any of them holds none of the phrases."""
    _, known = zip(*_register(direction).values(), strict=True)
    return frozenset(max(TOKENS.findall(phrase), key=len) for pairs in known for phrase, _ in pairs)


def has_phrases(draft: Draft, direction: Direction) -> bool:
    """Whether a draft may hold phrases of a register; the words in it tell."""
    return not _telling(direction).isdisjoint(draft.once(heard))


def register_phrases(draft: Draft, direction: Direction) -> list[Edit]:
    """Edits that put every phrase of one register in the other, or each in the one it is not in (``other``)."""
    register = _register(direction)
    free = draft.free
    places: list[Edit] = []
    found = draft.words
    for index, word in enumerate(found):
        if word[3] not in register:
            continue
        tails, known = register[word[3]]
        start = word[0]
        if not free.startswith(tails, start + 1):
            continue
        previous = found[index - 1] if index else None
        adjacent = previous.lower if previous is not None and previous.end + 1 == start else ""
        for phrase, new in known:
            end = start + len(phrase)
            old = free[start:end]
            if old[1:] == phrase[1:] and old[:1].lower() == phrase[0] and not _glued(free, end):
                if phrase == "otherwise" and free[end : end + 1] != ",":
                    break  # "If not write NO" lacks its comma
                if (not places or places[-1].end <= start) and _fits(
                    phrase, adjacent, opens=start in draft.starts
                ):
                    places.append(replace(start, end, capitalised(new) if old[0].isupper() else new))
                break
    return places


def _fits(phrase: str, before: str, *, opens: bool) -> bool:
    """Whether a phrase has the sense that the register knows, by where it stands and the word before it."""
    if phrase == "with regard to":
        return before in ABOUT  # "cancelled with regard to the waves" gives a reason
    if phrase in OPENING:
        return opens
    if phrase in VERBAL:
        return not before or before in BEFORE_VERB or before == "or"
    if phrase == "regarding":
        return bool(before) and before not in _BE  # ", regarding it as a limit" is a verb
    return before not in DETERMINERS and before not in _BE


def _glued(free: str, end: int) -> bool:
    """Whether a word goes on at ``end``."""
    following = free[end : end + 1]
    return LETTER.match(following) is not None or following in {"\x00", "'", "’", "-", "_", *"0123456789"}


# Places in prompts in other languages than English where an operator may say the same in other words.


PHRASE_LANGUAGES = ("de", "fr", "es", "it", "nl", "pt")
_FRENCH_FIELD = expression(r"[^\W\d_][\w '’-]{0,30}[ \u00a0\u202f][:：][ \t]")
_CLOSED = expression(r"(?: [A-ZÀ-Þ]|\s*$)", re.MULTILINE)
_STRANGER_NL = expression(r"\b(?:u|uw)\b")


def foreign_requests(draft: Draft) -> list[Edit]:
    """Each instruction in prose, asked for politely, or without the politeness it has."""
    courtesy = COURTESIES[draft.language]
    asked, bare, behind = _courtesy(draft.language)
    found: list[Edit] = []
    for start, end in _spoken(draft):
        match = asked.match(draft.free, start, end)
        if match is not None:
            verb = match["verb"]
            form = capitalised(verb) if match["please"][0].isupper() else verb
            found.append(replace(start, match.end("verb"), form))
            continue
        match = behind.match(draft.free, start, end)
        if match is not None:
            found.append(replace(*match.span("please"), ""))
            continue
        match = bare.match(draft.free, start, end)
        if match is not None:
            found.append(_politely(draft, courtesy, match))
    return found


def _politely(draft: Draft, courtesy: Courtesy, match: re.Match[str]) -> Edit:
    verb = match["verb"]
    formal = lower(verb) in courtesy.formal
    if not courtesy.formal:
        formal = _STRANGER_NL.search(draft.free) is not None
    please = courtesy.please[formal]
    if courtesy.behind:
        return insert(match.end("verb"), f" {please}")
    opened = capitalised(please) if verb[0].isupper() else please
    return replace(*match.span("verb"), f"{opened} {verb[0].lower()}{verb[1:]}")


def foreign_phrases(draft: Draft) -> list[Edit]:
    """Turns of phrase of instructions that can be put in other words."""
    found: list[Edit] = []
    for pattern, swap in _swaps(draft.language):
        for start, end in _spoken(draft):
            for match in pattern.finditer(draft.text, start, end):
                form, span = match["form"], match.span("form")
                calm = form[1:].replace("Sie", "sie")
                if draft.is_free(*span) and calm == lower(calm):
                    other = swap.forms[lower(form)]
                    found.append(replace(*span, capitalised(other) if form[0].isupper() else other))
    return _apart(found)


def abbreviated(draft: Draft) -> list[Edit]:
    """Phrases that have an abbreviation; not where its full stop would meet another one."""
    return _exchanged(draft, BRIEF[draft.language], r"(?![\w.…-])(?=.)")


def spelt_out(draft: Draft) -> list[Edit]:
    """Abbreviations with one meaning; not where their full stop may end the sentence."""
    return _exchanged(draft, _unbrief(draft.language), r"(?=,| ?\S)")


def spelled_otherwise(draft: Draft) -> list[Edit]:
    """Words with another right spelling."""
    return _exchanged(draft, SPELLINGS[draft.language], r"(?![\w-])")


def _exchanged(draft: Draft, forms: Mapping[str, str], after: str) -> list[Edit]:
    spoken = tuple(_spoken(draft))
    found = []
    for match in _alternatives(tuple(forms), after).finditer(draft.free):
        form = match[0]
        other = forms.get(form) or forms.get(form[0].lower() + form[1:])
        closing = {form, other} & CLOSING and _CLOSED.match(draft.free, match.end())
        if other is not None and not closing and inside(spoken, match.start()):
            found.append(replace(*match.span(), capitalised(other) if form[0].isupper() else other))
    return found


def _spoken(draft: Draft) -> Iterator[tuple[int, int]]:
    """The sentences that are no headings, fields or data, ``Texte : …`` included."""
    data = draft.once(data_spans)
    for sentence in draft.sentences:
        line = draft.text.rfind("\n", 0, sentence.start) + 1
        if (
            sentence.kind not in {"heading", "field"}
            and not inside(data, sentence.start)
            and _FRENCH_FIELD.match(draft.text, line) is None
        ):
            yield sentence.start, sentence.end


def _apart(edits: Iterable[Edit]) -> list[Edit]:
    found: list[Edit] = []
    for edit in sorted(edits):
        if not found or found[-1].end < edit.start:
            found.append(edit)
    return found


@cache
def _courtesy(language: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    courtesy = COURTESIES[language]
    verbs = "|".join(sorted(courtesy.verbs | courtesy.formal))
    please = "|".join(
        sorted(
            {each.replace(",", ",?").replace("'", "['’]").replace("î", "[îi]") for each in courtesy.please}
        )
    )
    verb = rf"(?P<verb>{verbs}){courtesy.follows}"
    # A German plural or infinitive is an instruction with "Sie" only.
    stranger = rf"(?!(?:{'|'.join(sorted(courtesy.formal))})(?! Sie\b))" if language == "de" else ""
    flags = re.IGNORECASE
    return (
        re.compile(rf"(?P<please>{please}) {stranger}{verb}", flags),
        re.compile(rf"{stranger}{verb}", flags),
        re.compile(rf"(?:{verbs})(?: Sie)?(?P<please>,? (?:{please}))(?= \S)", flags),
    )


@cache
def _swaps(language: str) -> tuple[tuple[re.Pattern[str], Swap], ...]:
    def compiled(swap: Swap) -> re.Pattern[str]:
        forms = "|".join(sorted(map(re.escape, swap.forms), key=len, reverse=True))
        return re.compile(rf"(?<![\w'’-]){swap.before}(?P<form>{forms}){swap.after}", re.IGNORECASE)

    return tuple((compiled(swap), swap) for swap in SWAPS[language])


@cache
def _unbrief(language: str) -> dict[str, str]:
    return {brief: long for long, brief in BRIEF[language].items()} | ALSO_BRIEF[language]


@cache
def _alternatives(forms: tuple[str, ...], after: str) -> re.Pattern[str]:
    known = {*forms, *map(capitalised, forms)}
    listed = "|".join(sorted(map(re.escape, known), key=lambda each: (-len(each), each)))
    return re.compile(rf"(?<![\w.-])(?:{listed}){after}")
