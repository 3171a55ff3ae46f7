"""Protected spans: numbers, names, code, quotes, tables and formulas of a prompt, which no operator may touch.

Each kind of thing to protect has a detector that finds ``(start, end, kind)``; ``protected_spans`` joins them.
All detectors are linear in the length of the text, whatever it holds.
"""

from __future__ import annotations

import re
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.data.tables import entries, listed
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.prompts.cues import (
    COUNTS,
    MONTHS,
    SAY,
    Words,
    json_spans,
    logic_words,
    places,
    vocabulary,
)
from pytest_promptfuzz.prompts.labels import label_spans, labels
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_promptfuzz.prompts.cues import Found
    from pytest_promptfuzz.prompts.messages import MessageText


# Spans between delimiters: slots, tags, placeholders, quotes, code, marked-up mathematics.


def _delimited() -> str:
    kinds = listed("prompts/delimiters.tsv").items()
    return "|".join(f"(?P<{kind}>{'|'.join(patterns)})" for kind, patterns in kinds)


_DELIMITED = expression(_delimited, re.VERBOSE | re.DOTALL)
_KINDS = {"name": "slot", "escape": "code"}
_OPENER = expression(r"[`~\"“„«‹「『《＂'‘{%$\[\]\\<]")


def delimited_spans(text: str) -> list[Found]:
    """Slots, tags, placeholders, quotes, code and mathematics between delimiters.

    An apostrophe is not a quote.
    """
    found: list[Found] = []
    position = 0
    # The search for an opener is many times faster than trying the large pattern at every character.
    while (opener := _OPENER.search(text, position)) is not None:
        match = _DELIMITED.match(text, opener.start())
        if match is None:
            position = opener.end()
            continue
        position = match.end()
        kind = match.lastgroup or ""
        found.append((match.start(), position, _KINDS.get(kind, kind)))
    return found


# Plain equations and arithmetic in prose: ``x^2 + 3x = 7``, ``2 + 2``, ``f(x) >= 0``.


_GATE = expression(r"[=^+×÷√≤≥≠±∑∫*<>−]")
_OPERAND = r"-?(?:√?\(?\w{1,24}(?:\.\d{1,12})?(?:\([^()\n]{1,40}\))?\)?(?:\^-?[\w{(]{1,12}[)}]?|[²³⁴ⁿ])?)"
# An operator has a space on both sides or on neither: "-7 and +3" is no sum.
_SIGN = r"(?:[=!<>]=|\*\*|[=+×÷≤≥≠≈±^*/<>−])"
_OPERATOR = rf"(?:\s{_SIGN}\s|{_SIGN}|\s-\s|-(?=\d))"
_EQUATION = expression(rf"(?<![\w*<>/=^.]){_OPERAND}(?:{_OPERATOR}{_OPERAND})+")
# What makes it mathematics rather than "and/or" or "well-known".
_MATHEMATICS = expression(r"[=^×÷√≤≥≠±²³−]|\d\s?[+*/<>-]\s?[\w(]|\w\s?[+*/<>]\s?\d|\b\w\s?[+*<>]\s?\w\b")
_SYMBOL = expression(r"(?<![^\W\d_])[b-zB-HJ-Z](?![^\W\d_])")


def equation_spans(text: str) -> list[Found]:
    """Equations, comparisons and arithmetic written without delimiters, kind ``math``."""
    if _GATE.search(text) is None:
        return []
    return [(m.start(), m.end(), "math") for m in _EQUATION.finditer(text) if _MATHEMATICS.search(m[0])]


def symbol_spans(text: str, found: Sequence[Found]) -> list[Found]:
    """The variables of the mathematics in ``found``, wherever else they stand alone in ``text``, kind ``math``.

    A variable is one letter; ``a``, ``A`` and ``I`` are words of their own and left out.
    """
    symbols = {
        letter for start, end, kind in found if kind == "math" for letter in _SYMBOL.findall(text, start, end)
    }
    return [(start, end, "math") for start, end in places(text, sorted(symbols))] if symbols else []


# Names that are not words: identifiers, dotted names, calls and signatures, SQL, paths, URLs, e-mail addresses.


_URL = expression(r"""(?:(?<![a-zA-Z])[a-zA-Z][a-zA-Z0-9+.-]{1,20}://|www\.)[^\s<>"`|\\^（）「」]+""")
_EMAIL = expression(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)*|(?<!\w)@\w+")
# Cheap signs that the expressions below will find something.
_DOT = expression(r"\.(?=[^\W\d])(?<=\w\.)")
_OPENED = expression(r"\((?<=\w\()")
_DOTTED = expression(r"(?<![\w.])\w+(?:\.[^\W\d]\w*)+(?:\(\))?")
_PATH = expression(
    r"(?<![\w/.~\\-])(?:~|\.{1,2})?/?[\w.-]+(?:/[\w.-]+)+/?|(?<![\w/.~\\<-])(?:~|\.{1,2})?/[\w.-]+/?"
)
_WINDOWS_PATH = expression(r"(?<!\w)[A-Za-z]:\\[\w .\\-]{0,200}\w")
_CALL = expression(
    r"(?<!\w)(?:async\s)?def\s\w+\([^()\n]{0,300}(?:\([^()\n]{0,100}\)[^()\n]{0,100}){0,8}\)(?:\s?->\s?[\w.]{1,40}(?:\[[^\n:`]{0,60}\])?(?:\s\|\s[\w.]{1,40}){0,4})?:?"
    r"|(?<!\w)(?:function|func|fn)\s\w+\([^()\n]{0,300}\)"
    r"|(?<![\w.])[^\W\d]\w*(?:\.\w+)*\([^()\n]{0,200}\)"
)
_SQL = expression(
    r"(?<!\w)(?:SELECT\s(?=[^;]{1,400}?\sFROM\s)|INSERT\sINTO\s|DELETE\sFROM\s|UPDATE\s\w+\sSET\s"
    r"|CREATE\s(?:TABLE|VIEW|INDEX)\s|ALTER\sTABLE\s|DROP\sTABLE\s)(?:[^;\n]|\n(?!\s*\n)){1,2000};?"
)
_SQL_WORDS = frozenset({"SELECT", "INSERT", "DELETE", "UPDATE", "CREATE", "ALTER", "DROP"})
_TRAILING = ".,;:!?'’”*_)]}"


def identifier_spans(text: str, words: Words) -> list[Found]:
    """URLs, e-mail addresses, paths, calls, signatures, SQL and identifiers (snake_case, camelCase, dotted.names)."""
    found: list[Found] = []
    if "://" in text or "www." in text:
        found += [(m.start(), m.start() + len(_trimmed(m[0])), "url") for m in _URL.finditer(text)]
    if "@" in text:
        found += [(m.start(), m.end(), "email") for m in _EMAIL.finditer(text)]
    if "/" in text:
        found += [
            (m.start(), m.start() + len(_trimmed(m[0])), "path")
            for m in _PATH.finditer(text)
            if _is_path(m[0])
        ]
    if ":\\" in text:
        found += [(m.start(), m.end(), "path") for m in _WINDOWS_PATH.finditer(text)]
    if _OPENED.search(text):
        found += [(m.start(), m.end(), "code") for m in _CALL.finditer(text)]
    if not _SQL_WORDS.isdisjoint(words.cased):
        found += [(m.start(), m.end(), "code") for m in _SQL.finditer(text)]
    if _DOT.search(text):
        found += [(m.start(), m.end(), "identifier") for m in _DOTTED.finditer(text)]
    # A word without a capital is an identifier for an underscore only; most words of a text have neither.
    names = [word for word in (set(words.forms) if "_" in text else words.cased) if _is_identifier(word)]
    if names:
        found += [(start, end, "identifier") for start, end in places(text, names)]
    return found


def _is_identifier(word: str) -> bool:
    if word.islower():
        return "_" in word
    if word.istitle() or word.isupper():
        return "_" in word and word != "_"
    # camelCase and PascalCase; the capital that begins a word does not count.
    return word[1:] != word[1:].lower() and word.upper() != word


def _is_path(text: str) -> bool:
    """Whether ``text``, which holds a slash, is a path and not ``and/or`` or ``POSITIVE/NEGATIVE``."""
    if text[0] in "/~." or text.endswith("/"):
        return True
    last = text.rpartition("/")[2]
    return "." in last.rstrip(".") or (text.count("/") > 1 and text.islower() and len(text) > 24)


def _trimmed(text: str) -> str:
    """Without the punctuation of the sentence around it; a bracket that was opened inside stays."""
    while text and text[-1] in _TRAILING:
        if text[-1] in ")]}" and text.count("([{"[")]}".index(text[-1])]) >= text.count(text[-1]):
            break
        text = text[:-1]
    return text


# Numbers, with what belongs to them: units, ranges, currencies, dates, times, versions, and numbers in words.


_JOIN = r"[.,:/'’\-–—−×٫٬]"
# A space between groups of digits, or a times sign: 1 204 500; 55 x 40 x 20; +44 20 7946 0018; +1 (555) 010 9999.
_GROUP = r"[ \u00a0\u202f]|[ ][x×][ ]|[ ]?\(\d{1,5}\)[ -]?"


# A run of digits with single separators between is one number: 1,000; 12-18; 10:30; 24/7; 2025-07-24; 1.5.
# Letters glued to it belong to it (5GB, 1st, 2x, 14.2(b), 67-year-old), and so do the counters of Chinese, Japanese
# and Korean.
# It begins with \d\d* and not with \d+: the engine looks for a single character of a class many times faster.
def _number() -> str:
    units = "|".join(entries("prompts/units.txt", str))
    return (
        rf"\d\d*(?:(?:{_JOIN}|{_GROUP})\d+)*(?:[eE][+-]?\d+)?"
        r"(?:[A-Za-zÀ-ɏµ_][A-Za-z0-9À-ɏ_]*|[²³¹]|(?:\([a-z]{1,4}\))+)?"
        r"(?:\s?[%‰٪％]|[年月日時时分秒点點号號]\d+"
        r"|[年月日時时分秒点點个個つ句字词詞文行項项条條段円元人回歳度万億亿千百월일시분개줄])*"
        rf"(?:[\s-](?:{units})[²³]?(?!\w))?(?:(?:/(?:{units})[²³]?(?!\w)){{1,3}}|\s(?:{units})[²³]?(?!\w))?"
        r"(?:-[A-Za-z]{2,14}(?!\w)){0,4}"
    )


_DIGIT = expression(r"\d")
_NUMBER = expression(_number)
_CURRENCY = frozenset("$€£¥₹₩₽₺₴₫฿")
_CODES = vocabulary("GBP INR CNY CHF JPY EUR USD AUD CAD")
_SIGNS = frozenset("+-−±~≈<>≤≥#№§")
_GLUED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.")
_DAY_BEFORE = expression(r"(?<!\d)\d{1,2}(?:st|nd|rd|th|er|º|\.)?\s(?:of\s|de\s)?$")
_DAY_AFTER = expression(
    r"\.?\s\d{1,4}(?:st|nd|rd|th)?(?!\w)(?:,?\s\d{4}(?!\d))?|\.?,?\s(?:de\s|of\s)?\d{4}(?!\d)"
)
_NO_COUNT = expression(r"\b(?:which|this|that|each|another|every|any|no)\s$", re.IGNORECASE)
_TAIL = expression(r"(?:-[A-Za-z]{2,14}(?!\w)){1,4}")
_COUNTED = expression(
    r"[一二三四五六七八九十百千万两兩]{1,8}(?=[つ个個句字词詞文行項项条條段点點件種种類类回年月日分])[つ个個句字词詞文行項项条條段点點件種种類类回年月日分]"
)


def numeral_spans(text: str, words: Words) -> list[Found]:
    """Numbers in digits and words, kind ``number``, and dates written with a month's name, kind ``date``."""
    found: list[Found] = []
    previous = 0
    # Most prompts have no digit, and the expression takes longer to compile than all others.
    for match in _NUMBER.finditer(text) if _DIGIT.search(text) else ():
        start, end = match.span()
        start = _leftwards(text, start, previous)
        found.append((start, end, "number"))
        previous = end
    if found:
        found += _dates(text, words)
    counts = [(start, start + len(word)) for start, word in words.cues if word in COUNTS]
    found += [(s, _compound(text, e), "number") for s, e in counts if _counts(text, s, e)]
    if not text.isascii():
        found += [(m.start(), m.end(), "number") for m in _COUNTED.finditer(text)]
    return found


def _counts(text: str, start: int, end: int) -> bool:
    """Whether a word that is a number counts something: "one of the labels" and "which one" do not."""
    if text[start:end].lower() != "one":
        return True
    return text[end : end + 3] != " of" and _NO_COUNT.search(text[max(0, start - 9) : start]) is None


def _compound(text: str, end: int) -> int:
    """Where the compound ends that a number in words begins: ``one-paragraph``."""
    match = _TAIL.match(text, end)
    return match.end() if match else end


def _dates(text: str, words: Words) -> list[Found]:
    """Names of months beside a number; "may" and "march" alone are not dates."""
    found: list[Found] = []
    for start, word in words.cues:
        if word not in MONTHS:
            continue
        end = start + len(word)
        day = _DAY_BEFORE.search(text[max(0, start - 9) : start])
        rest = _DAY_AFTER.match(text, end)
        if day or rest:
            found.append((start - len(day[0]) if day else start, rest.end() if rest else end, "date"))
    return found


def _leftwards(text: str, start: int, floor: int) -> int:
    """Where a number really begins: letters glued to it, its sign, its currency."""
    if start <= floor or text[start - 1] == " ":
        if start - 3 > floor and text[start - 2] in _CURRENCY:
            return start - 2
        if start - 4 >= floor and text[start - 4 : start - 1] in _CODES:
            return start - 4
        return start
    first = start
    while start > floor and text[start - 1] in _GLUED:
        start -= 1
    while start < first and text[start] == ".":
        start += 1
    while start > floor and (text[start - 1] in _CURRENCY or text[start - 1] in _SIGNS):
        start -= 1
    return start


# Answers that a prompt shows: those of its examples, patterns of the answer, headings that the answer must have.
#
# A model copies what it is shown, so ``A: Mercury`` is no prose although no quotation marks say so. What is found is
# short: an example's long answer is a text like others.


_MOST_WORDS = 10
_MOST = 80  # characters of an answer
_FEWEST_COLONS = 3  # one example, and the place of the answer: "Q: … A: … A:"
_FIELD = expression(
    r"[ \t]{0,8}(?:[-*•] )?(?:\*\*|__)?(?P<label>[^\W\d_][\w '’/-]{0,30}?)(?:\*\*|__)?[ ]?[:：](?:\*\*|__)?[ \t]*"
    r"(?P<value>[^\n]*)"
)
# What an example's answer is called where the prompt does not end with it.
_ANSWER = vocabulary(
    "a answer output response reply assistant ai bot result label category class sentiment intent target prediction",
    "antwort ausgabe ergebnis kategorie réponse sortie résultat catégorie respuesta salida resultado categoría",
    "risposta uscita risultato categoria resposta saída antwoord uitvoer resultaat categorie",
)
_ARROW = expression(r"[^\n]*\S[ \t]*(?:->|=>|→)[ \t]*(?P<value>[^\n]*)")
_ARROWS = ("->", "=>", "→")
_MOST_AFTER_ARROW = 3  # words; more may be a rule: "no answer -> ask for the number"
_LINE_OF_COLON = expression(r"[:：][*_ \t]*\n")
# The last words of a line that announces what an answer looks like; headings may be named anywhere in it.
_ANNOUNCED = expression(
    r"(?<!\w)(?:like this|(?:as|like) (?:follows|in this example)|this (?:way|pattern)|formats?|examples?|outputs?"
    r"|for instance|e\.g\.|exactly so|outline|headings|sections|template|structure"
    r"|so|wie folgt|beispiele?|format|muster|überschriften|abschnitte[n]?|gliederung"
    r"|ainsi|comme suit|exemples?|suivante?s?|titres|así|(?:por )?ejemplo|formato|apartados|encabezados|secciones"
    r"|così|(?:ad |per )?esempio|come segue|titoli|sezioni|assim|(?:por )?exemplo|títulos|seções"
    r"|als volgt|(?:bij)?voorbeeld|zo|koppen|kopjes)"
    r"(?: exactly| only| genau)?(?:\*\*)?[ ]?[:：]\Z",
    re.IGNORECASE,
)
_NAMES_HEADINGS = expression(
    r"(?<!\w)(?:outline|headings?|sections?|überschrift(?:en)?|abschnitte?n?|titres?|encabezados?|apartados|secciones"
    r"|titoli|sezioni|títulos?|seções|koppen|kopjes)(?!\w)",
    re.IGNORECASE,
)
_LEAD = 120  # characters at its end that are read
_HEADING = expression(r"#{1,6}[ \t]+\S[^\n]*")
_VALUE = expression(r"[^\n:：;|]{1,40}[:：][ \t]*[^\s;|]+(?:[ ][^\s;|]+){0,2}|[^\n;|]+(?:[;|][^\n;|]+)+")
_BULLET = expression(r"[ \t]*(?:[-*•–+]|\(?(?:\d{1,2}|[a-zA-Z])[.)])[ \t]")
_PROSE_END = (".", "!", "?", ":", "。", "：")
_FILLED_IN = expression(r"[{}<>\[\]$%]")  # a slot in a pattern is a slot


class _Field(NamedTuple):
    label: str
    start: int
    end: int


def shown_spans(text: str) -> list[Found]:
    """The answers, patterns and headings that ``text`` shows, kind ``label``."""
    found: list[tuple[int, int]] = []
    if "\n" not in text:
        return []
    if _LINE_OF_COLON.search(text):
        found += _announced(text)
    if text.count(":") + text.count("：") >= _FEWEST_COLONS:
        found += _answers(text)
    if any(arrow in text for arrow in _ARROWS):
        found += _after_arrows(text)
    return [(start, end, "label") for start, end in found]


def _lines(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _short(text: str, start: int, end: int, most: int = _MOST_WORDS) -> tuple[int, int] | None:
    """The span without space at its ends, if an answer that short stands there."""
    inner = text[start:end]
    stripped = inner.strip()
    if not stripped or len(stripped) > _MOST or len(stripped.split()) > most or _FILLED_IN.search(stripped):
        return None
    start += len(inner) - len(inner.lstrip())
    return start, start + len(stripped)


def _answers(text: str) -> Iterator[tuple[int, int]]:
    """The values of the field that answers in examples: each follows another field, and it comes again."""
    fields: list[_Field] = []
    for start, end in _lines(text):
        match = _FIELD.match(text, start, end)
        if match is not None:
            fields.append(_Field(match["label"].lower(), match.start("value"), match.end("value")))
    pairs = [(before.label, after) for before, after in pairwise(fields) if before.label != after.label]
    counts: dict[tuple[str, str], int] = {}
    for before, after in pairs:
        counts[before, after.label] = counts.get((before, after.label), 0) + 1
    last = fields[-1] if fields else None
    asked = last.label if last is not None and not text[last.start :].strip() else ""
    for before, after in pairs:
        if counts[before, after.label] > 1 and (after.label == asked or after.label in _ANSWER):
            span = _short(text, after.start, after.end)
            if span is not None:
                yield span


def _after_arrows(text: str) -> Iterable[tuple[int, int]]:
    """What stands behind the arrows of two or more lines."""
    found = []
    for start, end in _lines(text):
        match = _ARROW.match(text, start, end)
        span = _short(text, *match.span("value"), _MOST_AFTER_ARROW) if match is not None else None
        if span is not None:
            found.append(span)
    return found if len(found) > 1 else ()


def _announced(text: str) -> Iterator[tuple[int, int]]:
    """The lines under one that announces a form: headings with nothing under them, and lines of values."""
    until = 0
    for start, end in _lines(text):
        lead = text[max(start, end - _LEAD) : end].rstrip("*_ \t")
        if start < until or not lead.endswith((":", "：")):
            continue
        values = _ANNOUNCED.search(lead) is not None
        if values or _NAMES_HEADINGS.search(lead):
            for first, last in _form_below(text, end + 1, values=values):
                until = last
                yield first, last


def _form_below(text: str, position: int, *, values: bool) -> Iterator[tuple[int, int]]:
    """Headings, with blank lines between them or without, or (where they are announced) values up to a blank line."""
    blanks = 0
    headings: bool | None = None
    for start, end in _lines(text, position):
        if not text[start:end].strip():
            blanks += 1
            if blanks > 1 or headings is False:
                return
            continue
        blanks = 0
        heading = _HEADING.match(text, start, end) is not None
        if headings is (not heading) or not (heading or (values and _is_value(text, start, end))):
            return
        headings = heading
        span = _short(text, start, end)
        if span is not None:
            yield span


def _is_value(text: str, start: int, end: int) -> bool:
    return (
        _BULLET.match(text, start, end) is None
        and not text.endswith(_PROSE_END, start, end)
        and _VALUE.fullmatch(text, start, end) is not None
    )


# Tables in Markdown: a row of heads, a row of dashes, and the rows under it; their cells are data.


_TABLE = expression(
    r"^[ \t]*\|[^\n]*\n[ \t]*\|[ \t]*:?-[-:| \t]*\|?[ \t]*\r?$(?:\n[ \t]*\|[^\n]*)*", re.MULTILINE
)


def table_spans(text: str) -> list[Found]:
    """The tables of ``text`` from first bar to last, kind ``table``; rows begin with a bar."""
    if "|" not in text or "-" not in text:
        return []
    return [
        (m.start() + len(table) - len(table.lstrip()), m.start() + len(table.rstrip()), "table")
        for m in _TABLE.finditer(text)
        for table in (m[0],)
    ]


# What must be written word for word without standing in quotes: announced answers, columns, attributes, SQL.


# Write exactly: I could not find that.
_EXACTLY = expression(
    r"[evwl](?<!\w.)(?:xactly|erbatim|ord for word|iterally)(?: this| as follows)?:[ \t]*(\S[^\n]{0,400})"
)
_EXACT_WORDS = ("exactly", "verbatim", "word for word", "literally")
_SENTENCE = expression(r".*?[.!?](?=\s|$)|.+", re.DOTALL)
# Then write NO REFUND and stop. The verb is not in capitals, so that a prompt that is all capitals announces nothing.
_ANNOUNCED_VERBATIM = expression(
    r"[A-Za-z][a-z]+(?: with| only| just)*[ \t]+(?!(?:JSON|YAML|XML|HTML|CSV|SQL|ASAP|ONLY|NOT|EXACTLY|IN|THE|AS)\b)"
    r"([A-Z][A-Z0-9_]+(?:[ ][A-Z][A-Z0-9_]+){0,4})(?!\w)"
)
# date,meter,kwh
_TIGHT = expression(r",(?=[^\W\d])(?<=\w,)")  # a cheap sign that columns will be found
_COLUMNS = expression(r"(?<![\w,.])[^\W\d]\w*(?:,[^\W\d]\w*){2,}(?![\w,])")
# material="unknown"
_ATTRIBUTE = expression(r"\b[^\W\d][\w:-]{0,60}=\"[^\"\n]{0,200}\"")
_ROW = expression(r"^[^\t\n]+\t[^\n]*\S", re.MULTILINE)
_QUERY = expression(
    r"\bSELECT[ \t]+(?:DISTINCT[ \t]+)?\*(?:[ \t]+FROM[ \t]+[\w.]+)?|\bSELECT[ \t][^\n;]{1,300}?[ \t]FROM[ \t]+[\w.]+"
)


def verbatim_spans(text: str, words: Words) -> list[Found]:
    """The spans of ``text`` that must be kept to the letter, kinds ``quote``, ``label``, ``code`` and ``table``."""
    found: list[Found] = []
    if ":" in text and any(map(text.__contains__, _EXACT_WORDS)):
        for match in _EXACTLY.finditer(text):
            sentence = _SENTENCE.match(match[1])
            if sentence is not None:
                found.append((match.start(1), match.start(1) + sentence.end(), "quote"))
    if words.capitals:
        said = [_ANNOUNCED_VERBATIM.match(text, start) for start, word in words.cues if word in SAY]
        found += [(m.start(1), m.end(1), "label") for m in said if m]
    if _TIGHT.search(text):
        found += [(m.start(), m.end(), "label") for m in _COLUMNS.finditer(text)]
    if '="' in text:
        found += [(m.start(), m.end(), "code") for m in _ATTRIBUTE.finditer(text)]
    if "SELECT" in text:
        found += [(m.start(), m.end(), "code") for m in _QUERY.finditer(text)]
    if "\t" in text:
        found += _rows(text)
    return found


def _rows(text: str) -> list[Found]:
    """Two or more lines in a row whose columns are parted by tabs."""
    rows = [match.span() for match in _ROW.finditer(text)]
    follows = [text.count("\n", end, start) == 1 for (_, end), (start, _) in pairwise(rows)]
    return [
        (start, end, "table")
        for (start, end), before, after in zip(rows, [False, *follows], [*follows, False], strict=False)
        if before or after
    ]


__all__ = ["Protect", "Span", "detect", "labels", "logic_spans", "merge", "protected_spans"]

Protect = str | re.Pattern[str] | tuple[int, int]


class Span(NamedTuple):
    """The characters ``[start, end)`` of a text, and what they are.

    Kinds: ``slot``, ``tag``, ``placeholder``, ``quote``, ``code``, ``json``, ``math``, ``number``, ``date``,
    ``identifier``, ``url``, ``email``, ``path``, ``label``, ``table``, ``custom`` (protected by hand), ``separator``
    and ``message`` (of chat prompts), ``input`` and ``template`` (of a prompt limited to the other part), ``logic``
    (from `logic_spans` only).
    """

    start: int
    end: int
    kind: str


def protected_spans(text: str, extra: Iterable[Protect] = ()) -> tuple[Span, ...]:
    """The spans of ``text`` that carry its exact meaning: slots, numbers, quotes, code, labels and so on.

    Args:
        text: Any text, in any script.
        extra: More to protect: a literal (every occurrence), a compiled pattern (every match), or ``(start, end)``.

    Returns:
        Spans in ascending order, not overlapping and never empty; overlaps become one span of the longest's kind.

    Raises:
        UsageError: A ``(start, end)`` outside the text, or something that is none of the three.
    """
    words, json = Words(text), json_spans(text)
    found = detect(text, words, json)
    found += label_spans(text, words, json)
    if extra:
        found += custom_spans(text, extra)
    return merge(found)


def chat_spans(text: str, pieces: Iterable[MessageText], extra: Iterable[Protect]) -> list[Found]:
    """The spans of a chat's texts, unsorted: what stands between them and those not ours to change included.

    Each text by itself, so that a quote left open in one message does not reach into the next; but a label announced
    in one message is a label in all of them.
    """
    found = custom_spans(text, extra)
    found += label_spans(text, Words(text), json_spans(text))
    position = 0
    for piece in pieces:
        if piece.start > position:
            found.append((position, piece.start, "separator"))
        position = piece.end
        if piece.mutable:
            inner = text[piece.start : piece.end]
            found += [
                (s + piece.start, e + piece.start, kind)
                for s, e, kind in detect(inner, Words(inner), json_spans(inner))
            ]
        elif piece.end > piece.start:
            found.append((piece.start, piece.end, "message"))
    return found


def detect(text: str, words: Words, json: list[Found]) -> list[Found]:
    """Everything the detectors find in ``text`` but labels, unsorted and overlapping.

    Args:
        text: Any text.
        words: Its words.
        json: The JSON in it.
    """
    found = delimited_spans(text)
    found += json
    found += numeral_spans(text, words)
    found += identifier_spans(text, words)
    found += equation_spans(text)
    found += table_spans(text)
    found += verbatim_spans(text, words)
    found += shown_spans(text)
    found += symbol_spans(text, found)
    return found


def custom_spans(text: str, extra: Iterable[Protect]) -> list[Found]:
    """What is protected by hand; see `protected_spans`."""
    found: list[Found] = []
    for each in extra:
        if isinstance(each, str):
            if not each:
                raise UsageError("protect: an empty text protects nothing; give the words to keep.")
            start = text.find(each)
            while start >= 0:
                found.append((start, start + len(each), "custom"))
                start = text.find(each, start + len(each))
        elif isinstance(each, re.Pattern):
            found += [(m.start(), m.end(), "custom") for m in each.finditer(text) if m.end() > m.start()]
        elif isinstance(each, tuple) and len(each) == 2 and all(type(n) is int for n in each):
            if not 0 <= each[0] < each[1] <= len(text):
                raise UsageError(
                    f"protect: the span {each!r} is not inside the text of {len(text)} characters; "
                    "give (start, end) with 0 <= start < end <= length."
                )
            found.append((*each, "custom"))
        else:
            raise UsageError(
                f"protect: {each!r} is a {type(each).__name__}; give a str, a compiled re.Pattern of str, "
                "or a tuple (start, end) of two int."
            )
    return found


def merge(found: list[Found]) -> tuple[Span, ...]:
    """Sort, and join what overlaps into one span that has the kind of its longest part, or ``custom`` if a part is."""
    if not found:
        return ()
    # Stable, so that of two equal spans the first detector's kind stays.
    found.sort(key=itemgetter(0))
    spans: list[Span] = []
    start, end, kind = found[0]
    longest = end - start
    for s, e, k in found:
        if s >= end:
            spans.append(Span(start, end, kind))
            start, end, kind, longest = s, e, k, e - s
            continue
        # An operator that is built to change code or numbers still leaves alone what is protected by hand.
        if (e - s > longest or k == "custom") and kind != "custom":
            longest, kind = e - s, k
        end = max(end, e)
    spans.append(Span(start, end, kind))
    return tuple(spans)


def logic_spans(text: str) -> tuple[Span, ...]:
    """Negations and logical words (``not``, ``only``, ``unless``, ``or``, ``before``, ``must`` …), kind ``logic``.

    They are not protected; an operator asks for them and decides. English, with the commonest negations of
    German, French, Spanish, Italian, Portuguese and Dutch, and contractions with ``n't``.
    """
    return tuple(Span(start, end, "logic") for start, end in logic_words(text))
