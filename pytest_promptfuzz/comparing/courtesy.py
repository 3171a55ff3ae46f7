"""What an answer says around its substance: greetings, introductions, closing offers."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.word_lists import alternatives
from pytest_promptfuzz.expressions import expression

_OPENERS = word_set(
    """sure certainly absolutely gladly great okay ok understood gern gerne natürlich selbstverständlich klar claro
    certo certamente volentieri natuurlijk zeker good excellent interesting thanks thank happy glad here here's voici
    voilà ecco briefly summary tl;dr zusammengefasst kurzum samengevat kortom answer danke merci gracias grazie bedankt
    of-course no-problem got-it with-pleasure bien-sûr avec-plaisir por-supuesto con-gusto graag-gedaan that's-a
    that-is what-a a-good a-great an-excellent an-interesting many-thanks i-would i'd-be i'm-happy i-am i'm-glad
    i'm-sorry i'm-really i'm-very i'm-so i'm-truly i-hope you-asked you-wanted you-want you-were your-question
    the-question hier-ist hier-sind hier-finden hier-is hier-zijn aquí-está aquí-están aquí-tiene aquí-tienes
    below-is below-are this-is these-are the-following in-summary in-short in-brief in-a in-conclusion to-summarize
    to-summarise to-sum kurz-gesagt en-résumé en-bref en-resumen in-sintesi in-breve according-to based-on as-stated
    as-per from-the from-this from-your final-answer vielen-dank herzlichen-dank besten-dank muchas-gracias
    i-have i-found i-extracted i-identified die-übersetzung die-zusammenfassung die-antwort das-ergebnis la-traduction
    la-réponse le-résumé la-traducción la-respuesta el-resumen la-traduzione la-risposta il-riassunto de-vertaling
    de-samenvatting het-antwoord dank-u hartelijk-dank d'accord"""
)
_CLOSERS = word_set(
    """kind best warm many regards thanks yours sincerely faithfully truly
    please just let i hope feel don't do if should is shall can may would i'm i'd always happy glad have enjoy
    that's thank dites sagen sag dígame dime mi dimmi fammi ich lassen lass bei falls wenn sollten melden
    n'hésitez n'hésite j'espère bonne si no espero que non spero se resto buona laat ik als fijne"""
)
"""First words, or two, of courtesies: what begins with another one is not read any further."""

_OPENING = expression(lambda: rf"\s*{alternatives('courtesies.tsv', 'opening')}\s*", re.IGNORECASE)
_CLOSING = expression(lambda: rf"\W*{alternatives('courtesies.tsv', 'closing')}", re.IGNORECASE)
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
_LEAD = 140
_WORD = expression(r"\w")
_FEW = 4
_MOST = 4
_WINDOW = 400


def substance(text: str) -> str:
    """A text without the courtesies at its beginning and its end; empty if there is nothing else.

    A word or two that are a courtesy elsewhere are the answer where they stand alone: "Great!".

    >>> substance("Sure! Here is the name: Ada. Let me know if you need anything else!")
    'Ada.'
    """
    whole = text
    for _ in range(_MOST):
        if not _may_open(text):
            break
        found = _OPENING.match(text, 0, _WINDOW)
        if not found or not found.end():
            break
        text = text[found.end() :]
    if "\n" in text:
        text = _SIGN_OFF.sub("", text)
    for _ in range(_MOST):
        start = _last_sentence(text)
        if _head(text[start : start + _HEAD_WITHIN])[0] not in _CLOSERS or not _CLOSING.match(text, start):
            break
        text = text[:start].rstrip()
    if not _WORD.search(text):
        return "" if len(whole.split()) > _FEW else whole
    return text


def _may_open(text: str) -> bool:
    first, second = _head(text[:_HEAD_WITHIN])
    return first in _OPENERS or f"{first}-{second}" in _OPENERS or text.find(":\n", 0, _LEAD) >= 0


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
