"""Words in canonical form: what two texts have in common when spelling, inflection and synonyms are set aside."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import chain

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.notation import plainly
from pytest_promptfuzz.comparing.word_lists import entries, when_used
from pytest_promptfuzz.expressions import expression

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
    return str(lexicon.NUMBER_WORDS[tens] + lexicon.NUMBER_WORDS[units])


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


_IRREGULAR = when_used(lambda: dict(entries("inflections.tsv", lambda form, base: (form, base))))
_FIXED = when_used(lambda: frozenset(word for word, form in _IRREGULAR.items() if word == form))


def _groups() -> dict[str, str]:
    canonical: dict[str, str] = {}
    for group in entries("synonyms.txt", str.split):
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
    if word in lexicon.CONTRACTIONS:
        return lexicon.CONTRACTIONS[word]
    if word.endswith("n't"):
        return (word[:-3], "not") if len(word) > 3 else ("not",)
    if word[0].isdigit() or (word[0] in "$€£¥" and len(word) > 1):
        return _canonical_number(word)
    if word in lexicon.NUMBER_WORDS:
        return (str(lexicon.NUMBER_WORDS[word]),)
    if word == "u.s":
        return ("usa",)
    bare = word.strip("_").replace(".", "")
    word = word if bare in _BARE_ENDINGS else bare
    if word in lexicon.SPELLINGS:
        return (lexicon.SPELLINGS[word],)
    if word in lexicon.UNITS:
        return (lexicon.UNITS[word],)
    if word in _SHORT_MONTHS:
        return (_SHORT_MONTHS[word],)
    if word in _SHORT_DAYS:
        return (_SHORT_DAYS[word],)
    if word in lexicon.FUNCTION_WORDS or word in lexicon.NEGATORS:
        return (word,)
    root = word
    for ending in _ENDINGS:
        root = root.removesuffix(ending) or word
    for prefix in ("un", "in", "im", "ir", "il", "non", "dis"):
        if root.startswith(prefix) and stem(root[len(prefix) :]) in _NEGATABLE and root not in _NOT_PREFIXED:
            return ("not", _form(root[len(prefix) :]))
    return (_form(root),)


_NEGATABLE = when_used(lambda: frozenset(map(stem, entries("negatable.txt", str))))
_NOT_PREFIXED = when_used(lambda: frozenset(entries("not_denials.txt", str)))


def canonical_set(words: str) -> frozenset[str]:
    """The first canonical token of each word of a text, found when the set is first used."""
    return when_used(lambda: frozenset(canonical(word)[0] for word in words.split()))


def stem_set(words: str) -> frozenset[str]:
    """The stem of each word of a text, found when the set is first used."""
    return when_used(lambda: frozenset(map(stem, words.split())))


def _form(word: str) -> str:
    root = stem(word)
    if word in lexicon.FUNCTION_WORDS:
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
    if unit in lexicon.MULTIPLIERS and (currency or unit in {"k", "mn", "bn"}):
        value *= lexicon.MULTIPLIERS[unit]
        unit = ""
    tokens.append(plain_number(value))
    if unit == "%" or percent:
        tokens.append("%")
    elif unit and unit not in {"st", "nd", "rd", "th"}:
        if not unit.isalpha() or (unit not in lexicon.UNITS and unit not in _UNIT_WORDS):
            return (word,)
        tokens.append(lexicon.UNITS.get(unit, unit))
    if currency:
        tokens.append(lexicon.UNITS[currency])
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
