"""Which part of speech an English word is, told by the words around it: whether a synonym may stand there.

English marks hardly any word for its part of speech, so each rule asks for company that leaves one reading: a noun
after a determiner or an adjective and before what ends a noun phrase, a verb where an instruction stands and before an
object. Where the company leaves doubt, the word stays.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.data.english_words import (
    ADVERB,
    AFTER_NOUN,
    AUXILIARY,
    BE,
    BEFORE_GERUND,
    BEFORE_PARTICIPLE,
    BEFORE_VERB,
    CLASSES,
    CLAUSE,
    CONJUNCTION,
    DEGREE,
    DETERMINER,
    FOCUS,
    IMPERATIVES,
    NUMBER,
    OBJECT,
    PARTICLE,
    PERSON,
    PREPOSITION,
    SUBJECT,
    SUBORDINATOR,
    TERM_HEADS,
    TO,
)
from pytest_promptfuzz.mutations.analysis.draft import BLANK
from pytest_promptfuzz.text.expressions import words

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.mutations.analysis.lexicon import LexiconEntry, WordReading


_OPENS = frozenset(["the", "a", "an", "each", "every", "its", "your", "any", "all", "their", "this", "these"])
_ENDS = frozenset([".", ",", ";", "?", "!", ")", ""])
_COUNTING = frozenset(["a", "an", "each", "every", "another", "this", "that", "either", "neither"])
_NOT_ADVERBS = words(
    "reply apply supply family daily weekly monthly yearly quarterly early assembly anomaly fly ally rely"
)
_BLANK_SPACE = BLANK + " "
_GLUED = frozenset(["_", "(", "=", ":", "/", "*"])
_CLOSED = 1 << 20  # nothing adjacent


@cache
def qualifiers() -> frozenset[str]:
    """Adjectives that may stand between a determiner and a noun."""
    from pytest_promptfuzz.data.english_words import OTHERS
    from pytest_promptfuzz.mutations.analysis.lexicon import entries

    found = set(OTHERS)
    for entry in entries()["adjective"].values():
        found.add(entry.head)
        found.update(entry.alternatives)
    return frozenset(found)


def _in_ly(word: str) -> bool:
    """Whether a word is an adverb by its ending."""
    return word.endswith("ly") and word not in _NOT_ADVERBS and word not in qualifiers()


class Context:
    """What stands around a word.

    Attributes:
        index: Its number among the draft's words.
        word: In lower case.
        before: The word before it, one space away; empty if there is none.
        left: The classes of that word; 0 for an open one, a bit of its own for none.
        after: The word after it, likewise.
        right: The classes of that word, likewise.
        following: The character after it; ``beyond``: the one after that.
        first: Whether it opens a sentence.
        last: Whether it ends one.
        counted: Whether a numeral stands before it.
    """

    __slots__ = (
        "after", "before", "beyond", "counted", "first", "following", "index", "last", "left", "right", "word",
        "words",
    )  # fmt: skip

    def __init__(self, draft: Draft, index: int, first: bool, last: bool) -> None:
        self.words = found = draft.words
        start, end, _, self.word = found[index]
        free = draft.free
        self.index = index
        self.first = first
        self.last = last
        self.before = self.after = self.beyond = ""
        self.left = self.right = _CLOSED
        self.counted = False
        if index and not first:
            _, stop, _, lower = found[index - 1]
            if stop + 1 == start and free[stop] == " ":
                self.before = lower
                self.left = DETERMINER if lower[-2:] == "'s" else CLASSES.get(lower, 0)
            elif free[start - 2 : start] == _BLANK_SPACE:
                self.counted = draft.text[start - 2] in "0123456789"
        self.following = free[end : end + 1]
        if self.following == " " and not last:
            self.beyond = free[end + 1 : end + 2]
            if index + 1 < len(found):
                begin, _, _, lower = found[index + 1]
                if begin == end + 1:
                    self.after = lower
                    self.right = CLASSES.get(lower, 0)

    def soon(self, count: int) -> list[str]:
        """The next words, as far as they stand in the text's order; up to ``count``."""
        return [word.lower for word in self.words[self.index + 1 : self.index + 1 + count]]


def fits(reading: WordReading, context: Context) -> int:
    """How a word may be replaced in this place: 0 not at all, 1 by a single word, 2 by a phrase as well."""
    if context.following in _GLUED:
        return 0
    entry = reading.entry
    if reading.pos == "verb":
        if entry.barred and not entry.barred.isdisjoint(context.soon(4)):
            return 0
        return _verb(reading, context)
    if entry.barred and context.after in entry.barred:
        return 0
    if reading.pos == "noun":
        return 2 * _noun(reading, context)
    return _adjective(reading, context) if reading.pos == "adjective" else _adverb(reading, context)


def _verb(reading: WordReading, context: Context) -> int:
    form, flags = reading.form, reading.entry.flags
    if form == "ed":
        return _participle(reading, context)
    if not (_base(reading, context) if form == "base" else _finite(reading, context)):
        return 0
    if "d" in flags and _two_objects(context):
        return 0
    return _governs(reading, context)


def _base(reading: WordReading, context: Context) -> bool:
    """Whether the base form stands where a verb does."""
    before, left = context.before, context.left
    if reading.entry.ambiguous:
        if context.first:
            return bool(
                context.after in _OPENS
                or context.after in {"in", "only", "with", "each", "to", "whether", "if"}
            )
        if before == "and":
            return context.after in _OPENS and context.words[context.index - 2].lower not in CLASSES
        return before in BEFORE_VERB
    if context.first or left == _CLOSED:
        return not context.counted
    if before in BEFORE_VERB or left & (AUXILIARY | TO | CONJUNCTION | ADVERB):
        return not left & DETERMINER
    if "b" in reading.entry.flags:
        return False
    return bool(left & SUBJECT) or before in {"that", "which"} or (not left and before.endswith("s"))


def _finite(reading: WordReading, context: Context) -> bool:
    """Whether a form in -s or -ing stands where a verb does."""
    if reading.form == "ing":
        return context.before in BEFORE_GERUND
    if reading.entry.ambiguous or "b" in reading.entry.flags or context.left == _CLOSED:
        return False
    return context.before in {"that", "which", "who", "it", "and", "also"} or not context.left


def _two_objects(context: Context) -> bool:
    """Whether a verb of giving has two objects: ``give the user a link``, ``give users access``."""
    soon = context.soon(4)
    return "with" in soon or any(CLASSES.get(each, 0) & DETERMINER for each in soon[1:])


def _governs(reading: WordReading, context: Context) -> int:
    """Whether what follows a verb is what its entry allows."""
    entry = reading.entry
    flags, after, right = entry.flags, context.after, context.right
    if right == _CLOSED:
        return _governs_nothing(flags, context)
    if entry.wanted and after in entry.wanted:
        return 2
    if after == "to":
        return 2 if "i" in flags or ("p" in flags and not entry.wanted) else 0
    if right & CLAUSE and not (right & DETERMINER and after != "that" and "c" not in flags):
        return 2 if "c" in flags else 0
    if right & PERSON:
        return 2 if "m" in flags else 0
    if after in {"at", "as", "on", "in"} or right & PARTICLE:
        return 2 if "p" in flags and not entry.wanted and not right & PARTICLE else 0
    if right & PREPOSITION:
        return 2 if "p" in flags and not entry.wanted else 0
    return _governs_object(flags, after, right)


def _governs_nothing(flags: str, context: Context) -> int:
    """Whether a verb may stand where no word follows that is known."""
    if context.following == " " and not context.last:
        if context.beyond == BLANK or context.beyond.isalnum():
            return 0 if "x" in flags or "t" in flags else 2
        return 0
    return 2 if "0" in flags and (context.following in _ENDS or context.last) else 0


def _governs_object(flags: str, after: str, right: int) -> int:
    """Whether what follows a verb may be its object."""
    if "x" in flags:
        return 2 if "0" in flags and right & (CONJUNCTION | SUBORDINATOR) else 0
    if right & (DETERMINER | NUMBER | FOCUS):
        return 2
    if right & OBJECT or right & CONJUNCTION:
        return 0 if "t" in flags else 1
    if right:
        return 2 if "0" in flags and right & SUBORDINATOR else 0
    if _in_ly(after) or "t" in flags:
        return 0
    return 2


def _participle(reading: WordReading, context: Context) -> int:
    """Participles: after a form of ``be`` and the like, or before a noun."""
    before, right = context.before, context.right
    flags = reading.entry.flags
    if before not in BEFORE_PARTICIPLE and not context.left & BE:
        return 0
    if context.left == _CLOSED or right & PARTICLE:  # "checked out" is another verb
        return 0
    if context.left & DETERMINER and not context.left & BE:
        return 1 if right == 0 and "v" not in flags and not _in_ly(context.after) else 0
    if right == _CLOSED:
        return 1 if context.following in _ENDS or context.last else 0
    if context.after == "to":
        return 1 if "i" in flags or "p" in flags else 0
    if right & CLAUSE and not right & SUBORDINATOR:
        return 1 if "c" in flags else 0
    if not right:
        return 1 if _in_ly(context.after) else 0
    return 0 if right & (DETERMINER | OBJECT | PERSON | NUMBER) and not right & PREPOSITION else 1


def _noun(reading: WordReading, context: Context) -> bool:
    entry = reading.entry
    before, left = context.before, context.left
    if context.first or (entry.wanted and context.after not in entry.wanted):
        return False
    if reading.form == "s":
        if before in _COUNTING:
            return False  # "a query that answers"
    elif left & NUMBER and before != "one":
        return False
    if not _noun_may_follow(reading, context):
        return False
    if context.last:
        return True
    if context.following == " ":
        return context.after in AFTER_NOUN
    return context.following in _ENDS


def _noun_may_follow(reading: WordReading, context: Context) -> bool:
    """Whether a noun may stand after the word before."""
    entry, before, left, plural = reading.entry, context.before, context.left, reading.form == "s"
    if left == _CLOSED:
        return (context.counted and plural) or not (entry.ambiguous or reading.form == "base")
    if entry.ambiguous:
        described = left == 0 and before in qualifiers() and _after_determiner(context)
        return bool(left & DETERMINER or described) and before != "that"  # "documents that report"
    if left == 0:  # not the second half of a compound, or of something else
        instructed = before in IMPERATIVES or before.removesuffix("s") in IMPERATIVES
        return before in qualifiers() or (plural and instructed)
    if left & DETERMINER:
        return True
    if reading.form == "base" and "u" not in entry.flags:
        return False  # "in detail", "by mistake", "and summary"
    return not left & (BE | SUBJECT | TO)


def _after_determiner(context: Context) -> bool:
    """Whether a determiner stands before the word before."""
    words = context.words
    index = context.index
    return (
        index > 1
        and words[index - 2].end + 1 == words[index - 1].start
        and bool(CLASSES.get(words[index - 2].lower, 0) & DETERMINER)
    )


def _adjective(reading: WordReading, context: Context) -> int:
    entry = reading.entry
    flags, after, left, right = entry.flags, context.after, context.left, context.right
    if {context.before, after} & {"or", "nor"} or (context.before == "as" and after != "as"):
        return 0  # perhaps labels: "as relevant or irrelevant"
    if right == 0 and not context.last:
        return _before_noun(entry, context)
    if context.following == "," and left != _CLOSED and left & DETERMINER and not left & CLAUSE:
        return 0 if entry.ambiguous or entry.barred or "q" in flags else 1
    if entry.ambiguous or "a" in flags or left == _CLOSED or not left & (BE | DEGREE | ADVERB):
        return 0
    if left & DETERMINER and not left & DEGREE:
        return 0
    if context.last or (right == _CLOSED and context.following in _ENDS):
        return 2
    if entry.wanted:
        return 1 if after in entry.wanted else 0
    if right != _CLOSED and right & PREPOSITION:
        return 1 if "p" in flags or after in {"as", "when", "before", "after"} else 0
    return 1 if right != _CLOSED and right & (CONJUNCTION | SUBORDINATOR) else 0


def _before_noun(entry: LexiconEntry, context: Context) -> int:
    """Whether an adjective may stand before a noun here."""
    after, left = context.after, context.left
    if "q" in entry.flags or after in TERM_HEADS or _in_ly(after):
        return 0
    if context.word.endswith(("ing", "ed")) and left and not left & (DETERMINER | DEGREE):
        return 0  # perhaps a verb: "is demanding payment", "by alarming users"
    if left == 0:
        known = context.before in qualifiers() or context.before in IMPERATIVES
        return 1 if known and not entry.ambiguous else 0
    if entry.ambiguous:
        return 1 if left != _CLOSED and left & DETERMINER else 0
    if context.first or left == _CLOSED:
        return 0 if context.first else 1
    return 0 if left & (SUBJECT | TO) and not left & DETERMINER else 1


def _adverb(reading: WordReading, context: Context) -> int:
    entry = reading.entry
    flags, left, right = entry.flags, context.left, context.right
    if context.following == " " and right == _CLOSED and not context.last:
        return 0  # a number, a slot: "roughly 5"
    closes = context.last or (right == _CLOSED and context.following in _ENDS)
    if "s" in flags:
        return 2 if context.first and context.following == "," else 0
    if context.first and context.following == ",":
        return 0
    if "d" in flags:
        if right or closes or context.after.endswith(("ed", "ing")) or _in_ly(context.after):
            return 0
        return 0 if left != _CLOSED and left & CLAUSE and context.before == "how" else 1
    if "0" in flags:
        return 2 if closes and not left & DEGREE else 0
    if left != _CLOSED and left & DETERMINER and not left & DEGREE:
        return 1 if right == 0 else 0
    if context.before == "how" or context.after == "enough":
        return 0
    return 2 if closes and left != _CLOSED and not left & DEGREE else 1
