"""What an answer says around its substance: courtesies, apologies, disclaimers, refusals."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.comparing.reading.words import canonical
from pytest_promptfuzz.data.tables import alternatives, words_in
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.reading.text import Text


class Asides(NamedTuple):
    """An answer without its asides.

    Attributes:
        substance: What is left; empty if there is nothing else.
        disclaimed: Whether a disclaimer or an apology was taken off.
        declined: Whether it says that it does not answer: "I can't help with that".
        turned: Whether it goes on with an answer all the same: "I can't see your bill, but a month costs 12 EUR".
    """

    substance: str
    disclaimed: bool = False
    declined: bool = False
    turned: bool = False

    @property
    def spoken(self) -> bool:
        """Whether more than courtesies was found."""
        return self.disclaimed or self.declined


@lru_cache(maxsize=8192)
def read_asides(text: str) -> Asides:
    """Take the asides off both ends of an answer.

    >>> read_asides("I'm not a lawyer, but the notice period is a month.").substance
    'the notice period is a month.'
    """
    first = _peeled(text, disclaimers=False).substance
    if not _may_disclaim(text):
        return Asides(first)
    found = _peeled(text, disclaimers=True)
    opening = found.substance[:_OPENING]
    if not found.declined and not found.turned and _REFUSAL.search(_plainly(opening)):
        found = found._replace(declined=True)
    return found if found.disclaimed or found.declined else Asides(first)


def substance(text: str) -> str:
    """A text without the asides at its beginning and its end; empty if there is nothing else.

    A word or two that are a courtesy elsewhere are the answer where they stand alone: "Great!".

    >>> substance("Sure! Here is the name: Ada. Let me know if you need anything else!")
    'Ada.'
    """
    return read_asides(text).substance


def introduction(text: str) -> str:
    """What was taken off the beginning of a text as leading to the rest, without the courtesies before it.

    >>> introduction("Sure! Here are the reasons to accept: it is cheap, and it is new.")
    'Here are the reasons to accept:'
    """
    left = substance(text)
    taken = text[: max(0, text.rfind(left))].rstrip(" \n*_") if left else ""
    return _SENTENCE_BEGINS.split(taken)[-1].strip() if taken.endswith(":") else ""


def own_words(lead: str) -> dict[str, str]:
    """The words of an introduction that say what follows, as written, by their canonical form; not "the list below"."""
    known = _BLOCK | _LEADING | _TALK | _OPENERS | _SMALL
    found = {}
    for word in _WORD.findall(lead):
        low = _plainly(word)
        if low.endswith("n't") or low == "cannot":
            found["not"] = word
            low = _CONTRACTED.get(low, low.removesuffix("n't").removesuffix("not"))
        if low in _WEIGHTY or low not in known:
            found[" ".join(canonical(low)) or low] = word
    return found


def weighs(form: str) -> bool:
    """Whether a word changes what is introduced wherever it stands: "all", "some", "not"."""
    return form in _WEIGHTY


def turns(form: str) -> bool:
    """Whether a word turns what an introduction without it announces: "not", "except"."""
    return form in _REVERSING


def declines(text: Text) -> bool:
    """Whether an answer declines, or is nothing but a disclaimer or an apology."""
    found = read_asides(text.clean)
    return found.declined or (found.disclaimed and not found.substance)


def evades(text: Text) -> bool:
    """Whether an answer may say nothing: it asks back, or names what one could consider."""
    short = len(text.tokens) <= _EVASIVE and not _FIGURE.search(text.clean)
    return short and bool(_EVASION.search(_plainly(text.clean)))


def leads_to_block(sentence: str) -> bool:
    """Whether a sentence only hands over the block that stands beside it, or is a courtesy.

    >>> leads_to_block("I've put the fields into JSON below."), leads_to_block("Two fields are empty.")
    (True, False)
    """
    bare = sentence.strip()
    if _is_closing(bare) or _courtesy_end(bare) == len(bare):
        return True
    words = [word.removesuffix("'s") for word in _WORD.findall(_plainly(bare))]
    if len(words) > _LONG_LEAD or _FIGURE.search(bare) or not _NOT.isdisjoint(words):
        return False
    if bare.rstrip("*_").endswith(":"):
        return _NAME.search(bare) is None
    known = _BLOCK | _LEADING | _OPENERS | _SMALL
    return known.issuperset(words) and not (words and _BLOCK.isdisjoint(words) and "here" not in words)


def _peeled(text: str, *, disclaimers: bool) -> Asides:
    whole = text
    found = Asides("")
    for _ in range(_MOST):
        end = _courtesy_end(text)
        if not end and disclaimers:
            end, found = _aside_end(text, found)
        if not end:
            break
        text = text[end:]
    if "\n" in text:
        text = _SIGN_OFF.sub("", text)
    for _ in range(_MOST):
        start = _last_sentence(text)
        if not _is_closing(text[start:]):
            start = _trailing(text, start) if disclaimers and text else -1
            if start < 0:
                break
            found = found._replace(disclaimed=True)
        text = _RULE.sub("", text[:start].rstrip())
    if not _LETTER.search(text):
        text = "" if len(whole.split()) > _FEW else whole
    return found._replace(substance=text)


def _courtesy_end(text: str) -> int:
    """Where a courtesy at the beginning ends; 0 where there is none."""
    first, second = _head(text[:_HEAD_WITHIN])
    if first not in _OPENERS and f"{first}-{second}" not in _OPENERS and text.find(":\n", 0, _LEAD) < 0:
        return 0
    found = _OPENING_WORDS.match(text, 0, _WINDOW)
    return found.end() if found else 0


def _is_closing(sentence: str) -> bool:
    return _head(sentence[:_HEAD_WITHIN])[0] in _CLOSERS and bool(_CLOSING_WORDS.match(sentence))


def _aside_end(text: str, known: Asides) -> tuple[int, Asides]:
    """Where a disclaimer or refusal at the beginning ends, 0 where there is none, and what is known by it."""
    stop = _SENTENCE_END.search(text, 0, _LONGEST)
    end = stop.end() if stop else len(text) if len(text) < _LONGEST else 0
    sentence = text[:end]
    if disclaims(sentence):
        return _behind(text, end), known._replace(disclaimed=True)
    clauses = [each.start() for each in _CLAUSE_END.finditer(sentence)][:_CLAUSES]
    for at in reversed(clauses):
        if disclaims(sentence[:at]) and not _ONESELF.isdisjoint(_WORD.findall(_plainly(sentence[:at]))):
            return _behind(text, at), known._replace(disclaimed=True)
    turn = _TURN.search(sentence)
    if turn and _REFUSAL.search(_plainly(sentence[: turn.start()])):
        return _behind(text, turn.start()), known._replace(declined=True, turned=True)
    if sentence and _REFUSAL.search(_plainly(sentence)):
        rest = _behind(text, end)
        return rest, known._replace(declined=True, turned=bool(_TURN.match(text, end)))
    return 0, known


def _behind(text: str, end: int) -> int:
    """Where the answer goes on behind an aside: "but", "That said," and a rule across the page belong to the aside."""
    found = _CONNECTIVE.match(text, end)
    return found.end() if found else end


def _trailing(text: str, start: int) -> int:
    """Where a disclaimer at the end begins, ``start`` being the last sentence; -1 where there is none."""
    if disclaims(text[start:]):
        return start
    for found in _TAIL.finditer(text, start):
        if disclaims(text[found.end() :]):
            return found.start()
    return -1


@lru_cache(maxsize=8192)
def disclaims(sentence: str) -> bool:
    """Whether a sentence is a disclaimer or an apology: it has no other words than these are made of.

    A figure makes it a statement, but for the year of what a model knows.
    """
    low = _plainly(sentence)
    if not 0 < len(low) < _LONGEST or _DENIED.search(low):
        return False
    if "knowledge" in low or "training" in low or "updat" in low:
        low = _DATE.sub("", low)
    words = _WORD.findall(low)
    return (
        not _FIGURE.search(low)
        and all(word in _TALK or word in _CORE or word in _SMALL for word in words)
        and (not _CORE.isdisjoint(words) or bool(_NO_EXPERT.search(low)))
    )


def _plainly(text: str) -> str:
    return text.lower().replace("’", "'").replace("‑", "-")


def _may_disclaim(text: str) -> bool:
    """Whether one of the words stands at either end that every disclaimer and refusal has."""
    ends = text if len(text) <= 2 * _LONGEST else f"{text[:_LONGEST]} {text[-_LONGEST:]}"
    words = _WORD.findall(_plainly(ends))
    return not _hints().isdisjoint(words)


@cache
def _hints() -> frozenset[str]:
    return _CORE | _HINTS | _ONESELF


@lru_cache(maxsize=4096)
def _head(text: str) -> tuple[str, str]:
    """The first two words of a text, in lower case, "" for what is none."""
    found = _HEAD.match(text)
    return (found[1].lower(), (found[2] or "").lower()) if found else ("", "")


def _last_sentence(text: str) -> int:
    """Where the last sentence of a text begins; its end, if that lies too far back."""
    window = max(0, len(text) - _WINDOW)
    end = len(text.rstrip()) - 1
    start = -1
    for mark, stop in _STOPS:
        if mark in text:
            start = max(start, text.rfind(stop, window, end))
    return start + 1 if start >= 0 else (len(text) if window else 0)


_OPENERS = words_in("comparing/openers.tsv", "opening")
_CLOSERS = words_in("comparing/openers.tsv", "closing")
"""First words, or two, of courtesies: what begins with another one is not read any further."""

_HINTS = word_set(
    """sorry afraid unfortunately apologize apologise ai language decline declining deny no rather leider nicht pas
    désolé siento non dispiace spijt niet helaas against beyond outside hard best violates impossible kein keine keinen
    prefer não desculpe lamento infelizmente"""
)
"""Words of which a refusal has one."""
_OPENING_WORDS = expression(
    lambda: rf"\s*{alternatives('comparing/courtesies.tsv', 'opening')}\s*", re.IGNORECASE
)
_CLOSING_WORDS = expression(
    lambda: rf"\W*{alternatives('comparing/courtesies.tsv', 'closing')}", re.IGNORECASE
)
_REFUSAL = expression(
    lambda: "|".join(alternatives("comparing/refusals.tsv", kind) for kind in ("plain", "soft"))
)
_EVASION = expression(lambda: alternatives("comparing/refusals.tsv", "evasive"))
_HEAD = expression(r"\W*([\w;'’]+)(?:\s+([\w'’]+))?")
_HEAD_WITHIN = 80
"""Characters in which the first two words of a text are looked for."""
_STOPS = tuple((stop[0], stop) for stop in (". ", "! ", "? ", '" ', "\n", ") "))
"""What a sentence ends with, after its first character: a text without that is not searched backwards for the two."""
_SIGN_OFF = expression(
    r"\n\s*(?:(?:kind|best|warm) regards|(?:yours )?(?:sincerely|faithfully|truly)|many thanks|cheers),?[ \t]*"
    r"(?:\n[^\n]{0,40})?\s*\Z",
    re.IGNORECASE,
)
_RULE = expression(r"\n\s*(?:[-*_]{3,}|>)\s*\Z")
_SENTENCE_END = expression(r"[.!?][\"')*_\]]*(?=\s|\Z)|\n|:\*\*(?=\s)")
_CLAUSE_END = expression(r"[,;:](?=\s)|\s?[–—]\s?|\s-\s|\s(?=(?:but|though|however|and yet)\b)")
_GOES_ON = (
    r"but|however|(?:that|this|having) (?:being )?said(?: that)?|nevertheless|nonetheless|still|even so"
    r"|with (?:that|this) (?:in mind|said)"
)
_TURN = expression(
    rf"\W*\b(?:{_GOES_ON})\b(?! i (?:can|could|can't|cannot|am|won't|do)\b)(?! i'm\b)", re.IGNORECASE
)
_CONNECTIVE = expression(
    rf"[\s,;:–—*_>)\]-]*(?:(?:{_GOES_ON}|here(?:'s| is) (?:what i (?:can (?:say|tell you)|know|found)|my answer"
    r"|(?:some )?general information))\b[\s,;:–—-]*)*",
    re.IGNORECASE,
)
_TAIL = expression(
    r",?\s(?=(?:but|though|although|however|so please|and please|please)\b)|\s?[;–—]\s?|\s-\s|\s(?=\()|\s(?=\*)",
    re.IGNORECASE,
)
_DENIED = expression(
    r"\bneed(?: not|n't)\b|\b(?:not|n't|never|no) (?:a |any |to )?(?:need|have to|want|help)"
    r"|\bno .*\b(?:is|are) (?:needed|required)"
)
_NO_EXPERT = expression(
    r"\bi(?:'m| am) (?:not|no|neither)\b.*\b(?:doctor|physician|nurse|pharmacist|lawyer|solicitor|attorney|accountant"
    r"|advis[eo]r|therapist|counsell?or|vet|veterinarian|engineer|electrician|dietitian|broker|planner|specialist)\b"
)
_ONESELF = word_set("i i'm i've i'd i'll my me ai model this")
"""Words of which a clause before the answer has one: it speaks of who answers, or of the answer."""
_SMALL = word_set(
    """a an the this that these those it its i my me we our us you your to of in on at by from for with as is are was
    were be been being am have has had will would into over about than do did s t there so which who that's whether how
    both here"""
)
_WEIGHTY = word_set(
    """all some most few any none no not never only without except before after may must should can could might both
    either neither always instead best worst good bad first second third last next previous"""
)
"""Words of an introduction that limit or turn what it introduces."""
_REVERSING = word_set("no none not never only without except instead worst bad")
_CONTRACTED = {"won't": "will", "can't": "can", "shan't": "shall"}
_SENTENCE_BEGINS = expression(r"(?<=[.!?\n])\s*")
_DATE = expression(
    r"\b(?:(?:early|late|mid-?|the end of|january|february|march|april|may|june|july|august|september|october|november"
    r"|december) )*(?:19|20)\d\d\b"
)
_FIGURE = expression(r"\d|[€£%$@]")
_WORD = expression(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_NOT = word_set(
    "not no none nothing never without cannot can't don't isn't aren't wasn't incomplete invalid wrong"
)
_NAME = expression(r"(?<=[a-z,] )(?!I\b|[A-Z]{2})[A-Z]")
"""A capital within a sentence, but for "I" and abbreviations such as JSON."""
_LETTER = expression(r"\w")
_OPENING = 240
_CORE, _TALK, _BLOCK, _LEADING = (
    words_in("comparing/asides.tsv", kind) for kind in ("core", "talk", "block", "lead")
)
_LEAD = 140
_LONGEST = 400
_LONG_LEAD = 20
"""Words up to which a sentence may lead to a block."""
_EVASIVE = 60
"""Words up to which an answer may be nothing but an evasion."""
_CLAUSES = 8
_FEW = 4
_MOST = 6
_WINDOW = 400
