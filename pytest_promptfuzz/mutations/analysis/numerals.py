"""Counts in English prose: ``3 sentences``, ``between two and five reasons``. What is a name, a code or data is none.

A number counts only if a noun in the plural (or a singular unit after 1) follows, if no word before it makes it a name
(``section 3``, ``top 5``, ``Windows 11``), and if it does not stand in the text that the prompt is about.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.data.english_words import IMPERATIVES
from pytest_promptfuzz.data.tables import words_in
from pytest_promptfuzz.text.expressions import expression, words

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.analysis.draft import Draft


# English number words from one to one hundred, written and read.


_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

MOST = 100
"""The largest number that is written in words."""


def spelled(number: int) -> str:
    """The words for a whole number from 1 to :data:`MOST`: ``thirty-two``.

    Raises:
        ValueError: The number is out of range.
    """
    if not 1 <= number <= MOST:
        raise ValueError(number)
    if number == MOST:
        return "one hundred"
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")


_VALUES = {spelled(number): number for number in range(1, MOST + 1)}


def number_in(word: str) -> int | None:
    """The whole number that lower-case words stand for, 1 to :data:`MOST`; ``None`` for anything else."""
    return _VALUES.get(word)


_DATA = words(
    """
    text article review document email mail message ticket transcript passage context input data dataset
    example examples conversation content paragraph story report abstract comment comments post tweet
    letter note notes chat log logs code description dialogue reviews documents articles texts
    tickets messages customer user
    """
)
_TASK_FIELDS = words(
    """
    question problem exercise task instruction instructions rules rule format output length requirements requirement
    constraint constraints goal step steps limit style important remember
    """
)
# Words after which a number is a name: "section 3", "top 5", "ticket 12345".
_NAMING = words_in("mutations/before_names.txt")
_SMALL = words(
    """
    and or to of is in at on by for from with the a an as than was were are be has have had will would can could should
    must may might so then but if when while where which that this these those it its he she they we you i not no nor
    give answer write return respond use does do did always plus minus times per until before after because
    """
)
_PLURALS = words("people children men women criteria feet mice teeth data")
_NO_PLURALS = words(
    "always perhaps yes thus was is has does plus minus times covers says means applies gives uses"
)
_SINGULAR = words(
    "sentence word paragraph line bullet page example reason question title point item letter character token "
    "label tag synonym minute hour day week month year mile"
)
_UNITS = words(
    """
    words sentences characters letters tokens lines paragraphs bullets points items stars seconds minutes hours days
    weeks months quarters years miles inches yards feet sentence word character letter token line paragraph bullet
    point item star second minute hour day week month year mile yard
    """
)
_SPAN = expression(r"(?P<number>\d{1,9}|[A-Za-z]+(?:-[a-z]+)?)(?P<unit> (?:bullet )?[a-z]+)?")
_NOUNS = expression(r"(?: [a-z]+(?=[ .,;:!?)\n]|\Z)){1,3}")
_BEFORE = expression(r"[^\s(]+(?= \Z)")
_JOIN = expression(r" (?:and|or|to) ")
_UPPER = expression(
    r"(?:at most|no more than|not more than|up to|under|below|fewer than|less than|(?:a )?maximum of|exceed|within) \Z",
    re.IGNORECASE,
)
_LOWER = expression(
    r"(?:at least|no fewer than|no less than|more than|over|above|(?:a )?minimum of) \Z", re.IGNORECASE
)
_RATIO = expression(r"(?:\d|scale|range) of \Z")  # "3 of 5 points"
_LONGEST_LEAD = 24


class Quantity(NamedTuple):
    """One number that counts something.

    Attributes:
        start: Where the number begins in the text.
        end: Where it ends, without its unit.
        value: What it counts up to.
        worded: Whether it is written in words.
        noun_end: Where the word that it counts ends.
        limit: ``upper``, ``lower``, or nothing.
        opens: Whether it begins a sentence.
    """

    start: int
    end: int
    value: int
    worded: bool
    noun_end: int
    limit: str
    opens: bool


def quantities(draft: Draft) -> tuple[tuple[Quantity, ...], ...]:
    """The counts in the prose of a prompt, in order; those of a range (``3 to 5``) belong together."""
    found: list[tuple[Quantity, ...]] = []
    heads: dict[int, Quantity | None] = {}
    for start, end in numbers_in_prose(draft):
        match = _SPAN.fullmatch(draft.text, start, end)
        if match is None:
            continue
        form, stop = match["number"], match.end("number")
        worded = not form.isdigit()
        opens = _opens_sentence(draft, start)
        value = number_in(form.lower() if opens else form) if worded else int(form)
        if not value or form[0] == "0":
            continue
        limit = limit_before(draft, start)
        first = None if limit is None else Quantity(start, stop, value, worded, stop, limit, opens)
        joint = _JOIN.match(draft.text, end) if end == stop else None
        if joint is not None:  # perhaps a range: what it counts stands behind its second number
            heads[joint.end()] = first
        noun = noun_after(draft, stop, match["unit"], value)
        if noun < 0:
            continue
        if start in heads:
            head = heads[start]
            if head is not None:
                found.append((head, Quantity(start, stop, value, worded, noun, head.limit, opens=False)))
        elif first is not None:
            found.append((first._replace(noun_end=noun),))
    return tuple(found)


def limit_before(draft: Draft, start: int) -> str | None:
    """Whether the words before a number make it an ``upper`` or ``lower`` limit, or nothing (``""``).

    ``None`` if they make it a name, or something that is no word stands there.
    """
    before = draft.text[max(0, start - _LONGEST_LEAD) : start]
    if _opens_sentence(draft, start):
        return ""
    if before[-1:] in {"\n", "(", ""}:
        return ""
    lead = _BEFORE.search(before)
    if lead is None or _RATIO.search(before):
        return None
    word = lead[0]
    named = word.lower() in _NAMING or not word.rstrip(",;:").replace("'", "").isalpha()
    if named or (word[0].isupper() and not _opens_sentence(draft, start - 1 - len(word))):
        return None
    return "upper" if _UPPER.search(before) else "lower" if _LOWER.search(before) else ""


def noun_after(draft: Draft, stop: int, unit: str | None, value: int) -> int:
    """Where the noun ends that a number counts; -1 if it counts nothing.

    Args:
        draft: The prompt.
        stop: Where the number ends.
        unit: What its span holds behind it: a unit with the space before it.
        value: The number.
    """
    if unit is not None:
        return stop + len(unit) if unit.split()[-1] in _UNITS else -1
    following = _NOUNS.match(draft.free, stop)
    if following is None:
        return -1
    position = stop
    for word in following[0].split():
        position += 1 + len(word)
        if word in _SMALL or word in _NO_PLURALS:
            return -1
        if value == 1:
            if word in _SINGULAR:
                return position
        elif word in _PLURALS or (len(word) > 3 and word[-1] == "s" and word[-2] not in "sui"):
            return position
    return -1


def numbers_in_prose(draft: Draft) -> list[tuple[int, int]]:
    """The protected numbers in lines that instruct or ask, not those of the text that the prompt is about."""
    return draft.once(_numbers_in_prose)


def _numbers_in_prose(draft: Draft) -> list[tuple[int, int]]:
    numbers = draft.of_kind("number")
    found: list[tuple[int, int]] = []
    if not numbers:
        return found
    ranges = iter(_prose(draft))
    first, last = next(ranges, (0, -1))
    for start, end in numbers:
        while last >= 0 and last < end:
            first, last = next(ranges, (0, -1))
        if first <= start and end <= last:
            found.append((start, end))
    return found


def _opens_sentence(draft: Draft, position: int) -> bool:
    return position in draft.starts


def _prose(draft: Draft) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    until = ""  # what ends the data that the lines before have opened
    for line in draft.lines:
        if line.kind == "blank":
            until = "" if until == "blank" else until
            continue
        if line.kind == "field":
            name = draft.text[line.content : line.end].partition(":")[0].strip("* ").lower().split()[-1:]
            until = "" if name and name[0] in _TASK_FIELDS else "blank"
        elif line.kind in {"lead", "heading"}:
            last = draft.text[line.content : line.end].rstrip(" :*#：").lower().split()[-1:]
            until = "title" if last and last[0] in _DATA else ""
            found.append((line.content, line.end))
            continue
        if not until and line.kind not in {"table", "block"}:
            found.append((line.content, line.end))
    return found


# Which counts bind the answer: ``in 3 sentences``, ``Give exactly 5 reasons``; not those of data and conditions.


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
        if found is None and word not in _WORDING and word not in IMPERATIVES:
            return None  # no order
        if word in _WORDING or word in IMPERATIVES:
            found = word, text[match.end() :]
    return found


def _starts(draft: Draft) -> list[int]:
    return [sentence.start for sentence in draft.sentences]
