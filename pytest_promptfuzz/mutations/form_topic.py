"""Whether a task is about the form of a text that stands in the prompt: its spelling, punctuation, words, wording.

``How many words does the sentence have?`` has another answer when ``do not`` becomes ``don't`` in that sentence. In
English, German, French, Spanish, Italian, Dutch and Portuguese. A topic is a thing and an act in one sentence:
``count … commas``, not ``separate the labels with commas``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.fields import data_spans
from pytest_promptfuzz.mutations.lexicon.form_words import FORMS
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.said import heard

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.draft import Draft

_LEAST = 3  # free words in a row of data: fewer are a setting (Language: English)
_STAND_IN = frozenset(["slot", "placeholder", "input"])
_UNREAD = _STAND_IN | {"code", "json", "url", "path", "identifier"}
_SPELL = words("spelling spellings spelt spelled")
_QUOTED = 20  # characters: a quotation that long is the text, a shorter one a word or a label
_BEFORE, _AFTER = 200, 120  # characters of a sentence that are read around a thing
_STOP = expression("[.!?¿…\n]")
_WORD = expression(r"[^\W\d_]+")
# What the answer is to look like, a mark that parts its items, or a program that would do the work.
_OTHER = expression(
    r"\b(?:in|of|for|check) your\b|\b(?:your|the) (?:answer|reply|response|output|summary)\b(?! (?:is"
    r"|as|with|should be)\b)"
    r"|\b(?:separat|delimit|join|wrap|surround|enclos|getrennt|trenn|sépar|gescheiden|scheid)\w*|\bin quot"
    r"|\b(?:functions?|programs?|scripts?|python|javascript|java|sql|regex|regular expression"
    r"|algorithm|programming|code"
    r"|funktion|fonction|función|funzione|functie|função)\b"
    r"|\b(?:at most|maximum|minimum|limit|exceed|no more than|fewer than|less than|under|below) \d"
)
_NEGATED = expression(
    r"^(?:please |and |but |also )?(?:do not|don['’]t|never|avoid|use|write|no|keine?|ne|n['’]|no|non"
    r"|geen|não|evit\w+)\b"
    r"|(?:\bnot|n['’]t|\bnever|\bno|\bignor\w+|\byou(?:['’]ll| will| may| might| can)?|\bnicht|\bkeine?|\bpas|\bnon"
    r"|\bniet|\bnão)(?: \w+)? $"
    r"|\b(?:without|ohne|sans|sin|senza|zonder|sem)\b[^,;:]*$"
)


class _Topic(NamedTuple):
    """A way to speak of form: a thing, and the act that its sentence must hold (``None``: the thing says it).

    A text is looked at that holds a word of each of ``needs``.
    """

    thing: re.Pattern[str]
    act: re.Pattern[str] | None
    needs: tuple[frozenset[str], ...]


def _by_cue() -> dict[str, list[_Topic]]:
    found: dict[str, list[_Topic]] = {}
    for form in FORMS:
        topic = _Topic(
            expression(form.thing), expression(form.act) if form.act else None, tuple(map(words, form.needs))
        )
        for cue in form.cues.split():
            found.setdefault(cue, []).append(topic)
    return found


_BY_CUE = _by_cue()
_CUES = frozenset(_BY_CUE)


def form_is_topic(draft: Draft) -> bool:
    """Whether the task is about the form of a text that stands in the prompt; ask with ``draft.once(form_is_topic)``.

    Where a slot, filled-in input or a quotation is the text, mutations do not reach it, and this is false: unless
    other data stands beside it, such as an example.
    """
    text = draft.text
    said = draft.once(heard) if text.isascii() else frozenset(_WORD.findall(text.lower()))
    topics = _topics(said)
    return bool(topics) and _speaks_of_form(draft, topics) and _stands_here(draft)


_SPELLINGS = expression(
    r"\b(?:correct|right|wrong|proper)(?:ly)? (?:spellings?|spelt|spelled)\b", re.IGNORECASE
)


def spelling_is_asked(draft: Draft) -> bool:
    """Whether one of several spellings is to be chosen: no word may then stand for another."""
    return not _SPELL.isdisjoint(draft.once(heard)) and _SPELLINGS.search(draft.free) is not None


def _topics(said: frozenset[str]) -> list[_Topic]:
    """What a text may speak of, by its words in small letters."""
    found = {id(topic): topic for cue in _CUES & said for topic in _BY_CUE[cue]}
    return [topic for topic in found.values() if not any(needed.isdisjoint(said) for needed in topic.needs)]


def _speaks_of_form(draft: Draft, topics: list[_Topic]) -> bool:
    pieces: list[str] = []
    position = 0
    for (start, end), kind in zip(draft.spans, draft.kinds, strict=False):
        if kind in _UNREAD:
            pieces += (draft.text[position:start], "_")
            position = end
    pieces.append(draft.text[position:])
    text = "".join(pieces).lower()
    return any(_set_as_task(text, topic) for topic in topics)


def _set_as_task(text: str, topic: _Topic) -> bool:
    for match in topic.thing.finditer(text):
        before = _STOP.split(text[max(0, match.start() - _BEFORE) : match.start()])[-1].lstrip(
            " \"'“«-*#>\t0123456789)"
        )
        after = _STOP.split(text[match.end() : match.end() + _AFTER], maxsplit=1)[0]
        sentence = before + match[0] + after
        if _OTHER.search(sentence) or _NEGATED.search(before):
            continue
        if topic.act is None or any(
            not _NEGATED.search(sentence[: act.start()]) for act in topic.act.finditer(sentence)
        ):
            return True
    return False


def _stands_here(draft: Draft) -> bool:
    """Whether the text that is worked on can be changed."""
    stands_in = any(
        kind in _STAND_IN or (kind == "quote" and end - start >= _QUOTED)
        for (start, end), kind in zip(draft.spans, draft.kinds, strict=False)
    )
    return not stands_in or any(
        len(_WORD.findall(draft.free[start:end].rpartition(":")[2])) >= _LEAST
        for start, end in draft.once(data_spans)
    )
