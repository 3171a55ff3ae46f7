"""The label that an answer gives in words: "Category: refund (0.9)", "I would classify this as refund, since …"."""

from __future__ import annotations

import json
import re
from typing import Any

from pytest_promptfuzz.comparing import jsontext
from pytest_promptfuzz.comparing.alignment import canonical_key
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.expressions import expression

_MOST_WORDS = 4
"""Words up to which what is named is taken for a label."""

_TAIL = 200
"""Characters at the end of an answer in which a last line, or a confidence, is looked for."""

NOUN = (
    "(?:label|category|sentiment|grade|state|class|classification|answer|priority|intent|topic|result|type|verdict|status|tone"
    "|language|emotion|rating|score|urgency|severity|decision|output|prediction|choice|team|department|queue"
    # German, French, Spanish, Italian, Dutch, Portuguese, Russian
    "|kategorie|klasse|einstufung|antwort|ergebnis|stimmung|thema|bewertung|priorität"
    "|catégorie|étiquette|classe|réponse|résultat|sujet|categoría|etiqueta|clase|respuesta|sentimiento|resultado|tema"
    "|zustand|dringlichkeit|statut|état|priorité|urgence|estado|prioridad|urgencia|stato|priorità|prioriteit"
    "|categoria|etichetta|risposta|risultato|categorie|antwoord|resultaat|onderwerp|resposta|rótulo|sentimento"
    "|категория|метка|ответ|класс|тональность|результат)"
)
_WIDE_NOUN = "(?:分類|カテゴリー?|ラベル|回答|感情|结果|類別|类别|分类|标签|答案|情感|카테고리|분류|라벨)"
# All bounded: an answer may be sixty thousand spaces.
_GAP = r"[ \t]{1,3}"
_ANY = r"[ \t]{0,3}"
_OF = rf"(?:{_GAP}(?:of|for|der|des|du|de la|del|della|van|do|da){_GAP}[\w'’ ]{{1,40}}?)?"
_IS = (
    r"(?:is|would be|should be|has to be|must be|ist|lautet|wäre|est|serait|es|sería|è|sarebbe|é|seria)"
    rf"{_ANY}:?{_GAP}"
)
_MARK = rf"{_ANY}(?::|：|=|->|→|⇒){_ANY}\n?"
_ARTICLE = rf"(?:(?:an?|the|clearly|therefore|thus|also|still|der|die|das|le|la|el|il|lo|het|de|o){_GAP})?"
_EDGE = "\"'`*_«»“”„‘’\\[<"
_LABEL = rf"(?P<label>[^\s{_EDGE}.,;:!?()][^\n.,;:!?()（]{{0,60}}?)"
_NAMED = rf"{_ARTICLE}[{_EDGE} \t]{{0,5}}{_LABEL}"
_REASON = r"because|since|as|due|given|weil|da|denn|wegen|car|parce|puisque|porque|ya que|perché|poiché|omdat|want|pois"
_END = (
    r"(?=[\s\"'`*_»”’\]>]{0,6}(?:\Z|\n|[,;!?()（。、]|\.(?!\d)|:|[ \t][-–—][ \t]"
    rf"|[ \t](?:{_REASON}|with|based|rather than|instead of|not|and not|und nicht|over|though|although|but|while"
    r"|if)\b))"
)
_WIDE_END = r"(?=[\s\"'`*_»”’\]>」』]{0,6}(?:\Z|[\n,.，。、です(（]))"
_IT = rf"(?:(?:(?:the|this|your)[ \t][\w-]{{1,20}}(?=[ \t](?:as|under|to|into|with)\b)|this|it|that|them){_GAP})?"
_THE_LABEL = rf"(?:the{_GAP})?(?:(?:label|category|class){_GAP})?"
_FORMS = (
    expression(
        rf"(?:\b|(?<=_)){NOUN}{_OF}[*_]{{0,3}}(?:{_MARK}|{_GAP}{_IS})[*_]{{0,3}}{_ANY}{_NAMED}{_END}",
        re.IGNORECASE,
    ),
    expression(rf"{_WIDE_NOUN}[*_]{{0,3}}(?:{_MARK}|{_ANY}[是は为為은는]{_ANY}){_NAMED}{_WIDE_END}"),
    expression(
        r"\b(?:classif(?:y|ied)|categori[sz]ed?|label(?:l?ed)?|tag(?:ged)?|mark(?:ed)?|rated?"
        r"|assign(?:ed)?|filed?|routed?)"
        rf"{_GAP}{_IT}(?:(?:as|under|to|into|with){_GAP})?{_THE_LABEL}{_NAMED}{_END}",
        re.IGNORECASE,
    ),
    expression(rf"<{NOUN}>\s{{0,4}}(?P<label>[^<>\s][^<>\n]{{0,60}}?)\s{{0,4}}</", re.IGNORECASE),
    expression(
        rf"\b(?:falls{_GAP}(?:under|into)|belongs{_GAP}(?:to|in|under)|go(?:ing)?{_GAP}with|choos(?:e|ing)|pick(?:ing)?)"
        rf"{_GAP}{_THE_LABEL}{_NAMED}{_END}",
        re.IGNORECASE,
    ),
)
_IT_IS = expression(rf"\b(?:it|this|that)(?:{_GAP}is|['’]s){_GAP}{_NAMED}{_END}", re.IGNORECASE)
_SO_IT_IS = expression(
    rf"[,;]{_GAP}(?:and{_GAP})?(?:so|hence|therefore|thus){_GAP}(?:it{_GAP}is|it['’]s|this{_GAP}is){_GAP}{_NAMED}{_END}",
    re.IGNORECASE,
)
_HEDGED = expression(rf"\b{NOUN}{_OF}{_GAP}(?:could|might|may|can){_GAP}(?:also{_GAP})?be\b", re.IGNORECASE)
_LEADING = expression(
    rf"\A[{_EDGE}\s]{{0,12}}{_LABEL}[{_EDGE}\]>]{{0,5}}"
    rf"(?:{_ANY}\n|\.{_GAP}(?=\S)|{_ANY},?{_GAP}(?:{_REASON})\b|{_GAP}[-–—]{_GAP}(?=\S{{1,40}}[ \t]\S{{1,40}}[ \t]\S)"
    rf"|{_ANY}[(\[])",
    re.IGNORECASE,
)
_OPTION = expression(rf"\A[\s(*_\"'`]{{0,12}}(?P<label>[A-Za-z])[)\].:]\*{{0,3}}{_GAP}\S")
_LAST = expression(
    r"\n[ \t*_\"'`]{0,9}(?P<label>[^\s*_\"'`.,;:!?()-][^\n.,;:!?()]{0,60}?)[ \t*_\"'`.]{0,9}\Z"
)
_CONFIDENCE = expression(
    rf"{_ANY}[(\[](?:(?:with{_GAP})?(?:(?:very{_GAP})?(?:high|low|medium|moderate){_GAP})?"
    r"(?:confidence|certainty|probability|score|p|conf)\b[^()\[\]]{0,24}|high|low|medium|moderate|0?\.\d+|1\.0+"
    rf"|\d{{1,3}}(?:\.\d+)?[ \t]?%(?:{_GAP}(?:confident|sure|certain|confidence))?)[)\]][ \t.]*\Z",
    re.IGNORECASE,
)
_OPEN = word_set(
    """or nor either neither between both although though but if unless could might may maybe perhaps possibly possible
    unclear unsure undecided cannot instead except alternatively wrong incorrect excluded labels categories classes
    options choices candidates oder entweder weder zwischen aber vielleicht könnte unklar ou soit entre mais peut-être
    quizás pero oppure forse tra ma ofwel tussen maar misschien talvez mas или либо между но может"""
)
_KEYS = word_set(
    """label category sentiment class classification answer priority intent topic result type verdict tone emotion
    rating score urgency severity decision prediction choice department kategorie catégorie categoría categoria"""
)
_NO_LABEL = word_set("i we you he she they it this that these those there is are was what how so my your")
_QUOTES = " \t\"'`*_«»“”„‘’<>[]"


def without_confidence(text: str) -> str:
    """A text without how sure it is, in brackets at its end.

    >>> without_confidence("refund (confidence: 0.9)")
    'refund'
    """
    return text[:-_TAIL] + _CONFIDENCE.sub("", text[-_TAIL:])


def declared(text: str) -> list[str]:
    """The labels that an answer gives and says so, each once, as they are written.

    >>> declared("The customer wants a refund, so the category is **Billing**.")
    ['Billing']
    """
    therefore = _labels([*_SO_IT_IS.finditer(text)])  # "The tone is angry, so it is negative."
    return therefore or _labels([match for form in _FORMS for match in form.finditer(text)])


def given(text: str) -> list[str]:
    """The labels that an answer declares; without any, what stands where labels do: first, last, after "it is".

    >>> given("Refund, since the customer was charged twice.")
    ['Refund']
    """
    return declared(text) or _labels(
        [
            *_IT_IS.finditer(text),
            *(match for form in (_OPTION, _LEADING, _LAST) if (match := form.search(text))),
        ]
    )


def _labels(found: list[re.Match[str]]) -> list[str]:
    named = (match["label"].strip(_QUOTES) for match in found)
    kept = [
        each
        for each in named
        if each and len(words := each.casefold().split()) <= _MOST_WORDS and words[0] not in _NO_LABEL
    ]
    return list({each.casefold(): each for each in kept}.values())


def leaves_open(words: list[str], text: str) -> bool:
    """Whether an answer weighs labels, or says which there are, rather than giving one."""
    return not _OPEN.isdisjoint(words) or "/" in text or bool(_HEDGED.search(text))


def in_data(text: str) -> str | None:
    """The label in an answer that is a JSON object with one member named for it; ``None`` where there is none.

    >>> in_data('{"label": "refund", "confidence": 0.9}')
    'refund'
    """
    if "{" not in text:
        return None
    value: Any = jsontext.parse(text)
    if value is jsontext.MISSING:
        value = jsontext.embedded(text)
    if not isinstance(value, dict):
        return None
    found = [item for key, item in value.items() if canonical_key(key).split(" ")[-1] in _KEYS]
    if len(found) != 1 and len(value) == 1:
        found = list(value.values())
    if len(found) != 1 or isinstance(found[0], (dict, list)) or found[0] is None:
        return None
    return found[0] if isinstance(found[0], str) else json.dumps(found[0])
