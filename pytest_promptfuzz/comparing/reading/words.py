"""Words in canonical form: spelling, inflection and synonyms set aside; times, dates and numbers in one notation."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from itertools import chain, compress, count, pairwise, product
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.data.tables import entries, when_used
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
)  # fmt: skip
_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_HOURS = {word: number for number, word in enumerate(_UNITS, start=1)}
_HOUR = rf"(?P<hour>\d{{1,2}}|{'|'.join(_UNITS)})"

# Each begins with a digit, so that a text without one is passed over at once.
_ANY = expression(
    r"\d(?:\s?[ap]\.?\s?m\b|\s?uhr\b|\sh\b|h\d|\d?(?:st|nd|rd|th)\b|\.\d{3}\b|,\d\d?\b|[ \u00a0\u202f]\d{3}\b"
    r"|\d:\d\d|\.\d\d?\.\d{4}|:\d\d (?:in the|at night|noon)"
    r"|\s(?:in the (?:morning|afternoon|evening)|noon\b|o'clock|out of\b))",
    re.IGNORECASE,
)
_DIGIT = expression(r"\d")
_WORDED = {
    "past": (
        (rf"\bhalf past {_HOUR}\b", 30),
        (rf"\bquarter past {_HOUR}\b", 15),
    ),
    "o'clock": ((rf"\b{_HOUR} o'clock\b", 0),),
}
_EXPRESSIONS = tuple(
    (cue, tuple((expression(pattern, re.IGNORECASE), minute) for pattern, minute in patterns))
    for cue, patterns in _WORDED.items()
)
_NOON = expression(r"\b(?:12(?::00)? )?(?<!after)(?:noon|midnight)\b", re.IGNORECASE)
_DAYTIME = expression(r"\b(\d{1,2}):(\d\d) in the (morning|afternoon|evening)\b", re.IGNORECASE)
_TEENS = ("thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth")
_DAY_PATTERNS = {
    word: number
    for number, word in enumerate(
        (
            *_ORDINALS,
            *_TEENS,
            "twentieth",
            *(f"twenty-{each}" for each in _ORDINALS[:9]),
            "thirtieth",
            "thirty-first",
        ),
        start=1,
    )
}
_OF_MONTH = expression(rf" of {_MONTH}\b", re.IGNORECASE)
_WORDED_DAY = expression(
    rf"\b(?P<day>{'|'.join(sorted(_DAY_PATTERNS, key=len, reverse=True))}) of (?P<month>{_MONTH})\b",
    re.IGNORECASE,
)
_SHARE = expression(rf"\b(\d+|{'|'.join(_UNITS)}) out of (\d+|{'|'.join(_UNITS)})\b", re.IGNORECASE)
_OFTEN = expression(
    r"\b(?:every|each|once (?:an?|per|every)) (hour|day|week|month|year)\b(?: of the week)?(?! of\b)",
    re.IGNORECASE,
)
_ADVERBS = {"hour": "hourly", "day": "daily", "week": "weekly", "month": "monthly", "year": "yearly"}
_MONEY = expression(r"(?:\b(USD|EUR|GBP|CHF|JPY) ?|([$€£¥]) )(\d[\d.,]*\d|\d)", re.IGNORECASE)
_DUE = expression(
    r"\bdue(?= (?:ore|minuti|secondi|giorni|settimane|mesi|anni|volte|persone|euro|litri|metri)\b)"
)
"""The Italian two, which alone is an English word."""
_CURRENCY_SIGNS = ("€ ", "$ ", "£ ", "USD", "EUR", "GBP", "CHF", "usd ", "eur ", "gbp ", "chf ")


def plainly(text: str) -> str:
    """A text with its times, dates and numbers in one notation.

    >>> plainly("The ferry leaves at 3:15 p.m. on the 2nd of May and costs EUR 1.000,50.")
    'The ferry leaves at 15:15 on the 2 May and costs 1000.50 EUR.'
    """
    text = _words_plainly(text)
    if not _DIGIT.search(text):
        return text
    if _ANY.search(text):
        for pattern, written in _DIGITS:
            text = pattern.sub(written, text)
    for cue in _CURRENCY_SIGNS:
        if cue in text:
            return _MONEY.sub(lambda found: f"{found[3]} {found[1] or found[2]}", text)
    return text


def _words_plainly(text: str) -> str:
    """A text in which times, days, adverbs and shares that are written in words stand in figures."""
    for cue, patterns in _EXPRESSIONS:
        if cue in text:
            for pattern, minute in patterns:
                text = pattern.sub(partial(_said, minute), text)
            text = _DAYTIME.sub(_in_the_day, text)
    if "noon" in text or "midnight" in text:
        text = _NOON.sub(_middle, text)
    if " of " in text and _OF_MONTH.search(text):
        text = _WORDED_DAY.sub(_worded_day, text)
    if "very " in text or "ach " in text or "nce " in text:
        text = _OFTEN.sub(lambda found: _ADVERBS[found[1].lower()], text)
    if " out of " in text:
        text = _SHARE.sub(_share, text)
    if "due " in text:
        text = _DUE.sub("2", text)
    return text


def _middle(found: re.Match[str]) -> str:
    return "0:00" if "night" in found[0].lower() else "12:00"


def _clock(found: re.Match[str]) -> str:
    hour, minute = int(found["hour"]), found["minute"] or "00"
    groups = found.groupdict()
    half, day = (groups.get("half") or "").lower(), (groups.get("day") or "").lower()
    if half == "p" or day in {"afternoon", "evening"}:
        hour = hour if hour >= 12 else hour + 12
    elif half == "a" and hour == 12:
        hour = 0
    return f"{hour}:{minute}"


def _in_the_day(found: re.Match[str]) -> str:
    hour = int(found[1])
    return f"{hour + 12 if found[3].lower() != 'morning' and hour < 12 else hour}:{found[2]}"


def _said(minute: int, found: re.Match[str]) -> str:
    word = found["hour"].lower()
    return f"{_HOURS.get(word) or int(word)}:{minute:02}"


def _date(found: re.Match[str]) -> str:
    day, month = int(found[1]), int(found[2])
    return f"{day} {_MONTHS[month - 1]} {found[3]}" if 1 <= month <= len(_MONTHS) else found[0]


def _ordinal(found: re.Match[str]) -> str:
    number = int(found[1])
    if found["month"]:
        return f"{number} {found['month'].removeprefix(' of').strip()}"
    return _ORDINALS[number - 1] if 1 <= number <= len(_ORDINALS) else str(number)


def _worded_day(found: re.Match[str]) -> str:
    return f"{_DAY_PATTERNS[found['day'].lower()]} {found['month']}"


def _share(found: re.Match[str]) -> str:
    part, whole = (str(_HOURS.get(each.lower(), each)) for each in (found[1], found[2]))
    return f"{part}/{whole}"


_DIGITS = (
    # 3:15 p.m., 9 am
    (
        expression(
            r"\b(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?\s?(?:(?P<half>[ap])(?:m\b|\.\s?m\.?)"
            r"|in the (?P<day>morning|afternoon|evening))",
            re.IGNORECASE,
        ),
        _clock,
    ),
    (
        expression(r"\b(?P<hour>\d{1,2})[:.](?P<minute>\d\d)\s?uhr\b", re.IGNORECASE),
        _clock,
    ),
    (
        expression(r"(?<=\b[àe] )(?P<hour>\d{1,2})\s?h(?:\s?(?P<minute>\d\d))?\b", re.IGNORECASE),
        _clock,
    ),
    # 08:15
    (expression(r"(?<![\d:.])0(\d:\d\d)(?![\d:])"), lambda found: found[1]),
    (expression(r"\b12(?::00)? noon\b", re.IGNORECASE), lambda _: "12:00"),
    (expression(r"\b(\d\d?)\.(\d\d?)\.(\d{4})\b"), _date),
    # May 4th
    (
        expression(
            rf"\b((?:{'|'.join(_MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.? \d\d?)(?:st|nd|rd|th)\b",
            re.IGNORECASE,
        ),
        lambda found: found[1],
    ),
    (
        expression(rf"\b(\d\d?)(?:st|nd|rd|th)\b(?P<month>(?: of)? {_MONTH}\b)?", re.IGNORECASE),
        _ordinal,
    ),
    # 1.000 and 1.234.567 group thousands, as do 1 000 and 1 234 567; 12,50 has a decimal comma.
    (
        expression(r"(?<![\d.,])[1-9]\d{0,2}(?:(?:\.\d{3}){2,}|\.\d\d0)(?![\d.]|,\d{3})(?:,\d\d?\b)?"),
        lambda found: found[0].replace(".", "").replace(",", "."),
    ),
    (
        expression(r"(?<![\d.,  \u202f])[1-9]\d{0,2}(?:[  \u202f]\d{3})+(?![\d.,  \u202f])"),
        lambda found: re.sub(r"\D", "", found[0]),
    ),
    (expression(r"(?<![\d.,])(\d+),(\d\d?)(?![\d,])"), lambda found: f"{found[1]}.{found[2]}"),
)


# Words in canonical form: spelling, inflection and synonyms set aside, numbers and units rewritten.


# A word, a number with its currency and percent sign, or one character of a script without spaces. A full stop,
# comma, colon or apostrophe belongs to a word only between its characters: 1,000 and 9:30 are one, "end." is not.
# A pattern that begins with one set of characters is several times faster than one with alternatives.
_WORD = expression(r"[\w$€£¥]+(?:[.,:'&]\w+)*%?")
_WIDE = r"\u3040-\u30ff\u3400-\u9fff"
_WIDE_WORD = expression(rf"[{_WIDE}]|(?:[^\W{_WIDE}]|[$€£¥])+(?:[.,:'&][^\W{_WIDE}]+)*%?")
_DATE_IN_TEXT = expression(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")
_NUMBER = expression(r"([$€£¥]?)(\d[\d,]*(?:\.\d+)*|\d+:\d+)(%|st|nd|rd|th|[a-z]+)?(%?)")
_THE_STATES = expression(r"\bUS\b")
_A_VALUE = expression(r"(?<=[a-z] )None\b")
"""What a function returns, which denies nothing."""
_GROUPED = expression(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_SHORT_MONTHS = {month[:3]: month for month in MONTHS} | {"sept": "september"}
# Of the short forms those that are no other word, as "sat" and "sun" are.
_SHORT_DAYS = {
    short: stem
    for stem, shorts in (("tuesday", "tue tues"), ("thursday", "thu thur thurs"), ("friday", "fri"))
    for short in shorts.split()
}
_TWO_WORDS = expression(
    r"\b(?:twen|thir|for|fif|six|seven|eigh|nine)ty[- ](?:one|two|three|four|five|six|seven|eight|nine)\b",
    re.IGNORECASE,
)
_MINIMUM_STEM = 3


def chunks(text: str) -> list[str]:
    """The lower-cased runs of a text between white space, dates and numbers of two words spelled as one."""
    if "US" in text:
        text = _THE_STATES.sub("USA", text)
    if " None" in text:
        text = _A_VALUE.sub("null", text)
    if "-" in text:
        text = _DATE_IN_TEXT.sub(_spelled_date, text)
    text = plainly(text)
    if "→" in text or "->" in text:
        text = text.replace("→", " to ").replace("->", " to ")
    if " %" in text:
        text = text.replace(" %", "%")
    if "ty-" in text or "ty " in text:
        text = _TWO_WORDS.sub(_joined, text)
    return text.lower().replace("’", "'").split()


def split_words(text: str) -> list[str]:
    """The lower-cased words of a text, in order, as they are written."""
    return list(chain.from_iterable(map(words_of, chunks(text))))


@lru_cache(maxsize=65536)
def words_of(chunk: str) -> tuple[str, ...]:
    """The words of a lower-cased run without white space."""
    return tuple((_WORD if chunk.isascii() else _WIDE_WORD).findall(chunk))


def _joined(found: re.Match[str]) -> str:
    tens, units = found[0].lower().replace("-", " ").split()
    return str(word_lists.NUMBER_WORDS[tens] + word_lists.NUMBER_WORDS[units])


def _spelled_date(found: re.Match[str]) -> str:
    year, month, day = found[0].split("-")
    return f"{int(day)} {MONTHS[int(month) - 1]} {year}" if 1 <= int(month) <= len(MONTHS) else found[0]


def plain_number(value: Decimal) -> str:
    """A number without exponent and trailing zeros: ``5E+7`` is ``50000000``, ``1.50`` is ``1.5``."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A rough common form of a word's inflections; not a word itself.

    >>> stem("approved") == stem("approve"), stem("cancelled") == stem("canceling"), stem("news")
    (True, True, 'news')
    """
    known = _IRREGULAR.get(word)
    if known is not None:
        word = known
        if word in _FIXED:
            return word
    word = word.removesuffix("'s").removesuffix("'") or word
    if known is None:
        if len(word) > 4 and word.endswith("ies"):
            word = word[:-3] + "y"
        elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-2] if word.endswith(("sses", "xes", "ches", "shes", "zes")) else word[:-1]
        for suffix in ("ing", "ed", "ly"):
            if (
                word.endswith(suffix)
                and len(word) - len(suffix) >= _MINIMUM_STEM
                and re.search("[aeiouy]", word[: -len(suffix)])
            ):
                word = word[: -len(suffix)]
                break
    if len(word) > _MINIMUM_STEM and word.endswith("ie"):
        word = word[:-2] + "y"
    if len(word) > _MINIMUM_STEM and word.endswith("e"):
        word = word[:-1]
    word = word.replace("isation", "ization").replace("our", "or") if len(word) > 4 else word
    if len(word) > _MINIMUM_STEM and word.endswith("is"):
        word = word[:-2] + "iz"
    if len(word) > _MINIMUM_STEM and word[-1] == word[-2] and word[-1] not in "aeious":
        word = word[:-1]
    return word


_IRREGULAR = when_used(lambda: dict(entries("comparing/inflections.tsv", lambda form, base: (form, base))))
_FIXED = when_used(lambda: frozenset(word for word, form in _IRREGULAR.items() if word == form))


def _groups() -> dict[str, str]:
    canonical: dict[str, str] = {}
    for group in entries("comparing/synonyms.txt", str.split):
        for word in group:
            canonical.setdefault(stem(word), stem(group[0]))
    return canonical


_SYNONYMS = when_used(_groups)


_ENDINGS = ("'s", "'re", "'ve", "'ll", "'d", "'m")
_BARE_ENDINGS = frozenset({"", *_ENDINGS})


@lru_cache(maxsize=65536)
def canonical(word: str) -> tuple[str, ...]:
    """A lower-cased word as canonical tokens, none empty: ``can't`` is ``can not``, ``$50m`` is ``50000000 dollar``.

    >>> canonical("invalid"), canonical("15%"), canonical("five")
    (('not', 'valid'), ('15', '%'), ('5',))
    """
    if word in word_lists.CONTRACTIONS:
        return word_lists.CONTRACTIONS[word]
    if word.endswith("n't"):
        return (word[:-3], "not") if len(word) > 3 else ("not",)
    if word[0].isdigit() or (word[0] in "$€£¥" and len(word) > 1):
        return _canonical_number(word)
    if word in word_lists.NUMBER_WORDS:
        return (str(word_lists.NUMBER_WORDS[word]),)
    if word == "u.s":
        return ("usa",)
    bare = word.strip("_").replace(".", "")
    word = word if bare in _BARE_ENDINGS else bare
    for table in (word_lists.SPELLINGS, word_lists.UNITS, _SHORT_MONTHS, _SHORT_DAYS):
        if word in table:
            return (table[word],)
    if word in word_lists.FUNCTION_WORDS or word in word_lists.NEGATORS:
        return (word,)
    return _inflected(word)


def _inflected(word: str) -> tuple[str, ...]:
    """A word without its endings, and without the prefix that denies it."""
    root = word
    for ending in _ENDINGS:
        root = root.removesuffix(ending) or word
    for prefix in PREFIXES:
        if root.startswith(prefix) and stem(root[len(prefix) :]) in _NEGATABLE and root not in NOT_PREFIXED:
            return ("not", _form(root[len(prefix) :]))
    return (_form(root),)


PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis")
"""What turns a word into its denial."""
_NEGATABLE = when_used(lambda: frozenset(map(stem, entries("comparing/negatable.txt", str))))
NOT_PREFIXED = when_used(lambda: frozenset(entries("comparing/not_denials.txt", str)))


def canonical_set(words: str) -> frozenset[str]:
    """The first canonical token of each word of a text, found when the set is first used."""
    return when_used(lambda: frozenset(canonical(word)[0] for word in words.split()))


def stem_set(words: str) -> frozenset[str]:
    """The stem of each word of a text, found when the set is first used."""
    return when_used(lambda: frozenset(map(stem, words.split())))


def _form(word: str) -> str:
    root = stem(word)
    if word in word_lists.FUNCTION_WORDS:
        return word
    return _SYNONYMS.get(root, root)


def _canonical_number(word: str) -> tuple[str, ...]:
    found = _NUMBER.fullmatch(word)
    if not found:
        return (word,)
    currency, digits, unit, percent = found.groups()
    if ":" in word:
        return (word,)
    value = _value(digits)
    if value is None:
        return (word,)
    unit = unit or ""
    tokens: list[str] = []
    if unit in word_lists.MULTIPLIERS and (currency or unit in {"k", "mn", "bn"}):
        value *= word_lists.MULTIPLIERS[unit]
        unit = ""
    tokens.append(plain_number(value))
    if unit == "%" or percent:
        tokens.append("%")
    elif unit and unit not in {"st", "nd", "rd", "th"}:
        if not unit.isalpha() or (unit not in word_lists.UNITS and unit not in _UNIT_WORDS):
            return (word,)
        tokens.append(word_lists.UNITS.get(unit, unit))
    if currency:
        tokens.append(word_lists.UNITS[currency])
    return tuple(tokens)


_UNIT_WORDS = frozenset(
    {"am", "pm", "kg", "g", "km", "m", "cm", "mm", "h", "min", "s", "ms", "gb", "mb", "kb", "tb", "px", "x"}
)


def _value(digits: str) -> Decimal | None:
    if "," in digits:
        if not _GROUPED.fullmatch(digits):
            return None
        digits = digits.replace(",", "")
    try:
        return Decimal(digits)
    except InvalidOperation:
        return None


# Texts as canonical tokens: phrases, numbers and counted units rewritten to what they say.


@lru_cache(maxsize=65536)
def _tokens_of(chunk: str) -> tuple[str, ...]:
    return tuple(chain.from_iterable(map(canonical, words_of(chunk))))


class _SpokenSentence(NamedTuple):
    """A sentence as it is read.

    Attributes:
        chunks: Its runs between white space, see ``words.chunks``.
        tokens: The canonical tokens of their words.
        plain: Whether nothing in it is to be rewritten.
        closed: Whether it is plain and no phrase begins with its last token, to go on in the next sentence.
    """

    chunks: list[str]
    tokens: list[str]
    plain: bool
    closed: bool


@lru_cache(maxsize=8192)
def _read(sentence: str) -> _SpokenSentence:
    written = chunks(sentence)
    tokens = list(chain.from_iterable(map(_tokens_of, written)))
    plain = _REWRITTEN.isdisjoint(tokens) and _OPENINGS.isdisjoint(pairwise(tokens))
    return _SpokenSentence(written, tokens, plain, plain and not (tokens and tokens[-1] in _PHRASES))


def canonical_tokens(sentences: list[str]) -> list[str]:
    """The canonical tokens of a text, as ``canonical_words`` has them, of its sentences.

    A sentence is read once, as a response has most of the baseline's.
    """
    read = [*map(_read, sentences)]
    tokens = list(chain.from_iterable([each.tokens for each in read]))
    if False not in [each.closed for each in read]:
        return tokens
    # A phrase may begin in one sentence and go on in the next.
    seams = [(one.tokens[-1], two.tokens[0]) for one, two in pairwise([each for each in read if each.tokens])]
    if False not in [each.plain for each in read] and _OPENINGS.isdisjoint(seams):
        return tokens
    return _rewritten(tokens)


def words_in(sentences: list[str]) -> list[str]:
    """The lower-cased words of a text as they are written, of its sentences."""
    written = chain.from_iterable([_read(sentence).chunks for sentence in sentences])
    return list(chain.from_iterable(map(words_of, written)))


def written_as(token: str, sentences: list[str]) -> str | None:
    """The first words among sentences that a canonical token stands for: "sais", or "have to" for must."""
    for sentence in sentences:
        for chunk in _read(sentence).chunks:
            if token in _tokens_of(chunk):
                word = next(word for word in words_of(chunk) if token in canonical(word))
                return _phrase_of(token, sentence) or word if ":" in word else word
    return next(filter(None, (_phrase_of(token, sentence) for sentence in sentences)), None)


_LONGEST_PHRASE = 6
_AROUND = ".,;:!?()\"'“”*"


def _phrase_of(token: str, sentence: str) -> str | None:
    """The fewest words of a sentence that are rewritten to a token: "have to", or "7 pm" for 19:00."""
    written = sentence.lower().split()
    for length, at in product(range(1, _LONGEST_PHRASE), range(len(written))):
        phrase = written[at : at + length]
        if token in canonical_words(" ".join(phrase)):
            counted = not token[0].isdigit() and length == 2 and phrase[1][0].isdigit()
            return (phrase[0] if counted else " ".join(phrase)).strip(_AROUND)
    return None


def canonical_words(text: str) -> list[str]:
    """The canonical tokens of a text read as a whole, phrases and counted units rewritten."""
    return _rewritten(list(chain.from_iterable(map(_tokens_of, chunks(text)))))


def _rewritten(tokens: list[str]) -> list[str]:
    # Looking for the two first words of a phrase at once is what makes most texts cheap.
    if not _OPENINGS.isdisjoint(pairwise(tokens)):
        tokens = _rewrite(tokens)
    if not _AFTER_NUMBERS.isdisjoint(tokens):
        tokens = _merge_numbers(tokens)
    if not _BOUNDS.isdisjoint(tokens):
        tokens = _bounded(tokens)
    if not MONTH_TOKENS.isdisjoint(tokens):
        tokens = _day_first(tokens)
    return tokens


def _places(tokens: Iterable[object], of: Collection[object], start: int = 0) -> Iterator[int]:
    """Where one of some tokens stands: most stand nowhere, and no step in Python is spent on the others."""
    return compress(count(start), map(of.__contains__, tokens))


MONTH_TOKENS = when_used(lambda: frozenset(canonical(month)[0] for month in MONTHS))
_DAYS = frozenset(map(str, range(1, 32)))


def _day_first(tokens: list[str]) -> list[str]:
    """``march 5 2024`` is ``5 march 2024``."""
    result = list(tokens)
    for index in _places(tokens[:-1], MONTH_TOKENS):
        before = tokens[index - 1] if index else ""
        if tokens[index + 1] in _DAYS and before not in _DAYS:
            result[index : index + 2] = [tokens[index + 1], tokens[index]]
    return result


_MORE_THAN = when_used(lambda: {stem("more"): "at-most", stem("less"): "at-least", stem("fewer"): "at-least"})
_OR_MORE = when_used(lambda: {stem("more"): "at-least", stem("less"): "at-most", stem("fewer"): "at-most"})
_ROUGHLY = frozenset({"about"})
_BOUNDS = when_used(lambda: frozenset(_MORE_THAN) | _ROUGHLY)
_SCOPE = 6
"""Tokens between a "not" and the "more than" it belongs to."""


def _bounded(tokens: list[str]) -> list[str]:
    """``not take more than 4`` is ``take at-most 4``; ``3 or more`` is ``at-least 3``."""
    result: list[str] = []
    position = 0
    for at in _places(tokens, _BOUNDS):
        if at < position:
            continue
        result += tokens[position:at]
        position = at + 1
        word, following = tokens[at], tokens[position] if position < len(tokens) else ""
        if word in _MORE_THAN and following == "than" and "not" in result[-_SCOPE:]:
            result.pop(len(result) - 1 - result[::-1].index("not"))
            result.append(_MORE_THAN[word])
            position += 1
        elif word in _OR_MORE and len(result) > 1 and result[-1] == "or" and result[-2][0].isdigit():
            result[-2:] = [_OR_MORE[word], result[-2]]
        else:
            about = word in _ROUGHLY and following[:1].isdigit()
            result.append(canonical("approximately")[0] if about else word)
    return result + tokens[position:]


def _phrase_table() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    table: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for phrase, target in entries(
        "comparing/phrases.tsv", lambda phrase, target="": (phrase.split(), target.split())
    ):
        source = tuple(token for word in phrase for token in canonical(word))
        result = tuple(token if "-" in token else canonical(token)[0] for token in target)
        table.setdefault(source[0], []).append((source, result))
    for choices in table.values():
        choices.sort(key=lambda choice: -len(choice[0]))
    return table


_PHRASES = when_used(_phrase_table)
_OPENINGS = when_used(
    lambda: frozenset((source[0], source[1]) for choices in _PHRASES.values() for source, _ in choices)
)


def _rewrite(tokens: list[str]) -> list[str]:
    result: list[str] = []
    position = 0
    for at in _places(pairwise(tokens), _OPENINGS):
        for source, target in _PHRASES[tokens[at]] if at >= position else ():
            if tuple(tokens[at : at + len(source)]) == source:
                result += tokens[position:at]
                result += target
                position = at + len(source)
                break
    return result + tokens[position:]


def _merge_numbers(tokens: list[str]) -> list[str]:
    """``50 dollar million`` is ``50000000 dollar``; ``2 week`` is ``14 day``; ``9 am`` is ``9:00 am``."""
    result: list[str] = []
    position = 0
    for at in _places(tokens[1:], _AFTER_NUMBERS, 1):
        result += tokens[position:at]
        position, word = at + 1, tokens[at]
        back = -2 if result[-1] in _CURRENCIES and len(result) > 1 else -1
        counted = result[back]
        if not counted[0].isdigit() or ":" in counted:
            result.append(word)
        elif word in _LONG_MULTIPLIERS and _is_number(counted):
            result[back] = plain_number(Decimal(counted) * _LONG_MULTIPLIERS[word])
        elif back == -1 and word in _SMALLER and _is_number(counted):
            factor, smaller = _SMALLER[word]
            result[-1] = plain_number(Decimal(counted) * factor)
            if smaller:
                result.append(smaller)
        elif (
            back == -1
            and word in _LARGER
            and _is_whole(counted)
            and int(counted)
            and int(counted) % _LARGER[word][0] == 0
        ):
            factor, larger = _LARGER[word]
            result[-1:] = [str(int(counted) // factor), larger]
        elif back == -1 and word == _METRES:
            result.append("meter")
        elif back == -1 and word in _HALVES and _is_whole(counted):
            result[-1] = f"{int(counted) % 12 + 12 if word == 'pm' else int(counted)}:00"
        else:
            result.append(word)
    return result + tokens[position:]


def _is_whole(token: str) -> bool:
    """Whether a token is a whole number, and not of more digits than Python reads; ``²`` is a digit and none."""
    return token.isdecimal() and len(token) <= _MOST_DIGITS


def _is_number(token: str) -> bool:
    """Whether a token is a whole number or a decimal one; ``1.2.3`` is neither."""
    return _is_whole(token.replace(".", "", 1))


_MOST_DIGITS = 300
_SMALLER = when_used(
    lambda: {canonical(unit)[0]: smaller for unit, smaller in word_lists.IN_SMALLER_UNITS.items()}
)
_CURRENCIES = frozenset({"dollar", "euro", "pound-sterling", "yen"})
_METRES = "m"
_HALVES = frozenset({"am", "pm", "uhr"})
_LONG_MULTIPLIERS = when_used(
    lambda: {stem(word): value for word, value in word_lists.MULTIPLIERS.items() if len(word) > 3}
)
_LARGER = when_used(
    lambda: {
        canonical(unit)[0]: (factor, canonical(larger)[0])
        for unit, (factor, larger) in word_lists.IN_LARGER_UNITS.items()
    }
)
_AFTER_NUMBERS = when_used(lambda: frozenset({*_LARGER, *_HALVES, _METRES, *_LONG_MULTIPLIERS, *_SMALLER}))
_REWRITTEN = when_used(lambda: _AFTER_NUMBERS | _BOUNDS | MONTH_TOKENS)


_OF_DEGREE = word_lists.word_set(
    """very highly extremely somewhat slightly mostly partly partially semi rather quite fairly strongly
    weakly mildly possible potential possibly potentially probable probably likely suspected not non un
    almost nearly low high medium more less most least anything far false fake pseudo free pre ex anti former"""
)
DEGREES = when_used(lambda: _OF_DEGREE | {canonical(word)[0] for word in _OF_DEGREE})
"""What makes another thing of the word behind it."""
