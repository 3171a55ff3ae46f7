r"""The final answer of a text that reasons first: "The answer is (B)", "\boxed{42}", "#### 42", a last line."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any

from pytest_promptfuzz.text.expressions import expression

_LONGEST = 20_000
"""Characters at the end of a text in which its answer is looked for."""
_MOST_WORDS = 6
"""Words up to which a last line, or what stands behind "therefore", is an answer and no sentence."""
_KEYS = ("answer", "final_answer", "final answer", "label", "result", "choice")

# All bounded: an answer may be sixty thousand spaces.
_GAP = r"[ \t]{1,3}"
_ANY = r"[ \t]{0,3}"
_WORD = (
    r"(?:answer|option|choice|result|label|antwort|ergebnis|lösung|réponse|respuesta|risposta|resposta|antwoord|ответ"
    r"|odpowiedź|svar)"
)
_KIND = rf"(?:(?:final|correct|right|best|endgültige|richtige|finale|correcta){_GAP})?"
_NOT = r"(?![ \t]{0,3}(?:not|nicht|pas)\b)"
_IS = (
    rf"(?:{_GAP}(?:is|are|must{_GAP}be|should{_GAP}be|would{_GAP}be|ist|lautet|est|es|è|é|это){_ANY}:?{_NOT}"
    rf"|[*_]{{0,3}}{_ANY}[:=：])"
)
_STATED = expression(
    rf"(?<!\w){_KIND}{_WORD}{_IS}[*_]{{0,3}}{_ANY}\n?{_ANY}(?=(?P<answer>[^\n]{{1,200}}))",
    re.IGNORECASE,
)
_WIDE = expression(
    r"(?:答案|最终答案|回答|答え|正解|정답)[ \t]{0,3}(?:[是は：:은]|为)[ \t]{0,3}(?=(?P<answer>[^\n。]{1,200}))"
)
_BOXED = expression(r"\\boxed[ \t]{0,3}\{(?P<answer>(?:[^{}]|\{[^{}]*\}){1,200})\}")
_HASHES = expression(r"(?:\A|\n)[ \t]{0,3}####[ \t]{0,3}(?P<answer>[^\n]{1,200})")
_THEREFORE = expression(
    rf"(?:\A|[.!?\n]\s{{0,3}})(?:therefore|thus|hence|so|also|donc|por{_GAP}tanto|quindi|dus){_ANY},?{_GAP}(?P<answer>[^\n.]{{1,80}})[.!]?\s{{0,9}}\Z",
    re.IGNORECASE,
)
_FENCE = expression(r"\A\s{0,9}```\w{0,9}\n(?P<body>.{1,4000})\n```\s{0,9}\Z", re.DOTALL)
_TEXT = expression(r"\\(?:text|mathrm|mathbf)[ \t]{0,3}\{(?P<inner>[^{}]{0,200})\}")
_LETTER = expression(r"[(\[](?P<letter>[A-Za-z]|\d{1,2})[)\]]")
_SENTENCE_END = expression(
    r"[.!?](?=\s+[A-Z(\"'])|[ \t,](?=(?:because|since|weil|parce que|porque|perché|omdat)\b)"
)
_NUMBER = expression(r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w,]*\d)")


def final_answer(text: str) -> str | None:
    r"""What a text that reasons gives as its answer; ``None`` where it gives none, or is nothing else.

    Of several the last: what is boxed, stands behind ``####``, "the answer is" or "Answer:" (in nine languages), or in
    the key ``answer`` of a JSON object; else a short last line, or what follows a last "therefore".

    >>> final_answer("A is wrong, since it never rains.\nThe answer is (B)."), final_answer(r"So \boxed{42}.")
    ('B', '42')
    >>> final_answer("9 eggs at $2 make $18.\n#### 18"), final_answer("It rains.\n\nTherefore, yes.")
    ('18', 'yes')
    """
    tail = text[-_LONGEST:].rstrip()
    found = _in_json(tail)
    if found is not None:
        return found
    stated = [
        match
        for form in (_BOXED, _HASHES, _STATED, _WIDE)
        for match in form.finditer(tail)
        if _clean(match["answer"])
    ]
    if stated:
        return _clean(max(stated, key=lambda match: match.start("answer"))["answer"])
    therefore = _THEREFORE.search(tail)
    if therefore is not None and len(therefore["answer"].split()) <= _MOST_WORDS:
        return _clean(therefore["answer"])
    before, newline, last = tail.rpartition("\n")
    if newline and before.strip() and 0 < len(last.split()) <= _MOST_WORDS:
        return _clean(last) or None
    return None


def sole_number(text: str) -> Decimal | None:
    """The only number of a text, without currency and unit: 18 of "$18 a day"; ``None`` of none or several."""
    found = {each.group().replace(",", "").replace("−", "-") for each in _NUMBER.finditer(text)}
    try:
        return Decimal(found.pop()) if len(found) == 1 else None
    except InvalidOperation:
        return None


def _in_json(text: str) -> str | None:
    """The answer that a JSON object names."""
    fenced = _FENCE.match(text)
    body = (fenced["body"] if fenced else text).strip()
    if not body.startswith("{"):
        return None
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    for key in _KEYS if isinstance(value, dict) else ():
        if isinstance(value.get(key), str | int | float):
            return str(value[key])
    return None


def _clean(text: str) -> str:
    """An answer without its sentence's end, marks of emphasis, brackets and dollars of a formula."""
    end = _SENTENCE_END.search(text)
    bare = text[: end.start()] if end else text
    bare = _TEXT.sub(lambda match: match["inner"], bare).strip(" \t*_`\"'“”„«».。!")
    letter = _LETTER.match(bare)
    if letter is not None:
        rest = bare[letter.end() :].strip(" \t:-–—.*_")
        return letter["letter"] if not rest else f"{letter['letter']}) {rest}"
    if bare.startswith("$") and bare.endswith("$") and len(bare) > 2:
        bare = bare.strip("$")
    return bare.strip(" \t*_`\"'“”.")
