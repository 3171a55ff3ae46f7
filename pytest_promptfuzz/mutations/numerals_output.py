"""Which counts bind the answer: ``in 3 sentences``, ``Give exactly 5 reasons``; not those of data and conditions."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES
from pytest_promptfuzz.mutations.lexicon.table import words

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.numerals_quantities import Quantity

# What an answer is measured in.
_MEASURES = words(
    "sentence sentences word words character characters line lines paragraph paragraphs bullet bullets point points"
    " item items verse verses stanza stanzas syllable syllables token tokens section sections"
)
_OF_LABELS = words(
    "word words letter letters label labels tag tags token tokens character characters line lines"
)
_NO_THINGS = words(
    "second seconds minute minutes hour hours day days week weeks month months quarter quarters year years mile miles"
    " inch inches yard yards foot feet percent point points star stars dollar dollars euro euros pound pounds"
    " space spaces time times thing things step steps letter letters token tokens"
)
# What is counted behind them is to be written.
_MAKING = words(
    "add ask compose create draft generate give include list name output produce propose provide recommend suggest"
    " write"
)
_WORDING = _MAKING | words(
    """
    answer condense describe explain finish justify keep limit outline paraphrase reply respond return rewrite say
    shorten state sum summarise summarize tell use
    """
)
_ANSWER = expression(
    r"(?:(?:The|Your|the|your) )(?:whole |entire |final )?(?:abstract|answer|caption|description|e-?mail|essay"
    r"|explanation|headline|letter|message|note|output|poem|reply|report|response|story|summary|text|title|translation)"
    r" (?:must|should|has to|needs to|is to|may|can) "
)
_VERB = expression(
    r"(?:(?:\A|(?<=[,;:] )|(?<=, and )|(?<= and )|(?<= then ))"
    r"(?:(?:[Pp]lease|[Tt]hen|[Ff]irst|[Ff]inally|[Nn]ext|[Aa]lso),? )?)(?P<verb>[A-Za-z]+)(?= )"
)
_LIMIT = (
    r"(?:(?:a (?:maximum|minimum) of|at (?:least|most)|(?:no|not) (?:more|fewer|less) than|up to|exactly|precisely|only"
    r"|just|between|under|below|fewer than|less than|about|around) )?"
)
_OBJECT = expression(rf" (?:(?:me|us) )?(?:a list of )?{_LIMIT}\Z")
_MEASURED = expression(
    rf"(?: (?:in|with|within|to|using|of|be|have|contain|has|use|exceed|is|it|answer|reply|response|summary) {_LIMIT}"
    r"| \()\Z"
)
_CONDITION = expression(
    r"\b(?:if|unless|when|whenever|where|once|until|otherwise|in case|followed by|except|who|whose|each time)\b",
    re.IGNORECASE,
)
_BEHIND = expression(
    r":? ?\x00| (?:per|for (?:each|every)|at a time|below|above|of|each|on a|or more|or fewer)\b"
)
_LONGEST = 800  # characters of a sentence that is looked into


def binds_answer(draft: Draft, group: tuple[Quantity, ...]) -> bool:
    """Whether an answer must be another one if these counts are.

    Args:
        draft: The prompt.
        group: A count, or the two of a range.
    """
    last = group[-1]
    sentences = draft.sentences
    at = bisect_right(draft.once(_starts), last.start) - 1
    if at < 0 or sentences[at].end < last.noun_end:
        return False
    start, end = sentences[at].start, sentences[at].end
    if end - start > _LONGEST:
        return False
    free = draft.text[start : group[0].start]
    if _CONDITION.search(draft.free, start, end) or _BEHIND.match(draft.free, last.noun_end, end):
        return False
    noun = draft.text[last.end : last.noun_end].split()
    if "label" in draft.kinds and noun[-1] in _OF_LABELS:
        return False  # the labels say already how long the answer is
    verb = _verb_before(free)
    if verb is None:
        return _ANSWER.match(free) is not None and noun[-1] in _MEASURES and _measured(free)
    word, rest = verb
    bullets = noun[-2:-1] == ["bullet"]
    if word in _MAKING | {"use"} and _OBJECT.fullmatch(rest):
        return bullets or noun[-1] in _MEASURES - _NO_THINGS or (word != "use" and noun[-1] not in _NO_THINGS)
    return word in _WORDING and (bullets or noun[-1] in _MEASURES) and _measured(rest)


def _measured(before: str) -> bool:
    return _MEASURED.search(before) is not None


def _verb_before(text: str) -> tuple[str, str] | None:
    """The last verb that orders something in the beginning of a sentence, and what follows it."""
    found = None
    for match in _VERB.finditer(text):
        word = match["verb"].lower()
        if found is None and word not in _WORDING | IMPERATIVES:
            return None  # no order
        if word in _WORDING | IMPERATIVES:
            found = word, text[match.end() :]
    return found


def _starts(draft: Draft) -> list[int]:
    return [sentence.start for sentence in draft.sentences]
