"""Answers in different languages: the language is checked, and numbers, labels and keys are compared.

Numbers, labels, keys and yes or no are the same in every language; sentences are not, and no installed tier reads two
languages, so that they are undecided.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing import labels
from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier
from pytest_promptfuzz.comparing.formats import data_text
from pytest_promptfuzz.comparing.formats.json_values import compare_json, worst
from pytest_promptfuzz.comparing.reading.text import analyse, looks_like_program, looks_like_query
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.json_paths import at, child, json_diff, without
from pytest_promptfuzz.text.languages import language_tag, surely

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.comparing.comparison import Outcome
    from pytest_promptfuzz.comparing.formats.format_changes import How


LANGUAGE_NAMES = {
    "en": "English", "es": "Spanish", "fr": "French", "de": "German", "nl": "Dutch", "it": "Italian",
    "pt": "Portuguese", "ja": "Japanese",
}  # fmt: skip
_ANSWERED = expression(r"(?:.*-)?answer-in-([a-z]{2}(?:-[a-z]{2})?)(?:@\d+)?\Z")
_TRANSLATED = expression(r"(?:.*-)?translated-([a-z]{2}(?:-[a-z]{2})?)(?:@\d+)?\Z")
_YES = word_set("yes sí si oui ja sì sim はい ええ")
_NO = word_set("no non nein nee não nao いいえ いや")
_CODE = expression(r"\A(?:[A-Z][A-Z0-9_ /&-]+|\w*[0-9_]\w*|[a-z]+(?:-[a-z]+)+)\Z")
_NUMBER = expression(r"(?<![\w.,])[-−]?\d+(?:[.,'\u00a0\u202f]\d+)*(?![\w])")
_NUMBER_CJK = expression(r"\d+(?:[.,]\d+)*")
_ENDING = expression(r"(?<=[a-z]{3})(?:ing|ed|s)\Z")
_LABELS = word_set(
    "positive negative neutral mixed spam ham urgent critical high medium low normal bug feature complaint request"
    " toxic approved rejected pending accepted denied escalated relevant irrelevant entailment contradiction"
    " true false unknown"
)
_FENCED = expression(r"```(?!json).*?(?:```|\Z)", re.DOTALL)
_HALF_DAY = 12


def requested_language(operators: Iterable[str]) -> str | None:
    """The language that a mutation asks the answer in, by the operators it came from; ``None`` where it asks for none.

    Args:
        operators: ``name@version`` each, as ``Mutation.operators`` has them; the last one holds.

    >>> requested_language(("translated-es-answer-in-pt-br@1",))
    'pt-BR'
    """
    found = [match[1] for each in operators if (match := _ANSWERED.match(each) or _TRANSLATED.match(each))]
    return language_tag(found[-1]) if found else None


def check_language(tag: str | None) -> str | None:
    """The language tag as it is written.

    Raises:
        UsageError: It is no ISO 639-1 code with or without a region.
    """
    if tag is None:
        return None
    known = language_tag(tag) if isinstance(tag, str) else None
    if known is None:
        raise UsageError(
            f"requested_language={tag!r} is no language; give an ISO 639-1 code such as 'fr', 'fr-CA' or 'pt-BR'."
        )
    return known


def compare_languages(first: Any, second: Any, how: How, *, requested: str | None) -> Comparison:
    """Compare a baseline with an answer that may be in another language.

    An answer in a language other than the one asked for is a deviation. In the baseline's own language, answers are
    compared as ever. Across languages, labels, numbers, JSON and a yes or no are compared by value; running text is
    undecided unless its numbers contradict.

    Args:
        first: The baseline, a text or JSON-able data.
        second: The response.
        how: How texts and values are compared.
        requested: The language the response must have, as ``fr`` or ``pt-BR``; ``None`` where it is not known.
    """
    spoken, wanted = _spoken(second), (requested or "").partition("-")[0]
    if wanted and spoken not in {"und", wanted}:
        other = Observation("other-language", _named(spoken), _named(wanted))
        return _verdict("deviation", "language", other)
    own = _spoken(first)
    one, two = _value(first), _value(second)
    texts = isinstance(first, str) and isinstance(second, str)
    if own != "und" and own in {spoken, wanted}:
        return (
            how.texts(first, second) if texts else compare_json(one, two, how.profile, semantic=how.semantic)
        )
    if isinstance(one, str) and isinstance(two, str):
        return _across(one, two, how)
    return _values(without(one, how.ignored), without(two, how.ignored), how)


def _value(answer: Any) -> Any:
    """The JSON that a text is, else the text."""
    value = data_text.parse(answer) if isinstance(answer, str) else answer
    return answer if value is data_text.MISSING else value


def _spoken(answer: Any) -> str:
    """The language of an answer's running text: of JSON, that of its longer texts; of a program, none."""
    if isinstance(answer, str):
        answer = _FENCED.sub("\n", answer)
        if looks_like_query(answer) or looks_like_program(answer):
            return "und"
    return surely("\n".join(_running(_value(answer))))


def _running(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [
            text
            for item in value
            for text in _running(item)
            if len(text.split()) > labels.MAX_WORDS or not text.isascii()
        ]
    return []


def _named(code: str) -> str | Observation:
    return LANGUAGE_NAMES.get(code) or Observation("language", code)


def _values(first: Any, second: Any, how: How) -> Comparison:
    """Two values, their texts compared across languages and the rest by value."""
    told: list[tuple[str, Comparison]] = []
    patched = second
    for path in json_diff(first, second):
        (there, old), (here, new) = at(first, path), at(second, path)
        if there and here and isinstance(old, str) and isinstance(new, str):
            found = _across(old, new, how)
            told.append((path, found))
            patched = _with(patched, first, path)
    found = compare_json(first, patched, how.profile, semantic=how.semantic)
    for path, each in told:
        if worst(each.outcome, found.outcome) != found.outcome:
            found = each.but(explanation=Observation("at", path, each.observed), reason="language:json")
    return found


def _with(value: Any, source: Any, path: str) -> Any:
    """``value`` with what ``source`` has at a path, both walked alike."""

    def walk(here: Any, there: Any, where: str) -> Any:
        if where == path:
            return there
        if isinstance(here, dict) and isinstance(there, dict):
            return {
                key: walk(item, there[key], child(where, key)) if key in there else item
                for key, item in here.items()
            }
        if isinstance(here, list) and isinstance(there, list):
            cut = min(len(here), len(there))
            return [walk(here[i], there[i], f"{where}[{i}]") for i in range(cut)] + here[cut:]
        return here

    return walk(value, source, "$")


def _across(first: str, second: str, how: How) -> Comparison:
    """Two texts of which the second may be in another language."""
    signs = _sign(first), _sign(second)
    if all(signs):
        words = ("yes", "no")
        if signs[0] == signs[1]:
            return _verdict("equivalent", "yes-no", Observation("both-say", words[signs[0] < 0]))
        change = Observation("yes-no-became", words[signs[0] < 0], words[signs[1] < 0])
        return _verdict("deviation", "guard:yes-no", change)
    one, two = _numbers(first), _numbers(second)
    if one is not None and two is not None and _bare(first) and _bare(second):
        if one == two:
            return _verdict("equivalent", "number", Observation("both-are", first.strip()))
        return _verdict("deviation", "number", Observation("answer-became", first, second))
    found = how.texts(first, second)
    if found.outcome in {"equivalent", "minor"} or found.reason == "empty":
        return found
    if labels.is_label(analyse(first)) and labels.is_label(analyse(second)) and _fixed(first, second):
        return found.but(outcome="deviation", similarity=0.0, reason="label")
    gone, come = _lost(one or (), two or ()), _lost(two or (), one or ())
    if gone and come and not _clock(gone, come):
        change = Observation("number-became", f"{gone[0]:g}", f"{come[0]:g}")
        return _verdict("deviation", "guard:numbers", change)
    return _verdict("undecided", "language", Observation("two-languages", first, second))


def _sign(text: str) -> int:
    bare = text.strip(" \t\r\n.!*\"'。！").casefold()
    return (bare in _YES) - (bare in _NO)


def _fixed(first: str, second: str) -> bool:
    """Whether a label is the same in every language: a code, or an English word that stayed English and changed."""
    from pytest_promptfuzz.data.english_words import FREQUENT

    one, two = labels.bare(analyse(first)), labels.bare(analyse(second))
    if _CODE.match(first.strip(" .*\"'`")):
        return True
    words = [*one.split(), *two.split()]
    return all(word in FREQUENT or word in _LABELS or _ENDING.sub("", word) in FREQUENT for word in words)


def _bare(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip(" \t\n.*%$€£")) is not None


def _numbers(text: str) -> tuple[float, ...]:
    """The numbers in a text, whichever sign parts their decimals."""
    wide = unicodedata.normalize("NFKC", text)
    pattern = (
        _NUMBER if wide.isascii() or not re.search("[\u3040-\u30ff\u3400-\u9fff]", wide) else _NUMBER_CJK
    )
    return tuple(map(_float, pattern.findall(wide)))


def _float(written: str) -> float:
    bare = re.sub(r"['\s]", "", written.replace("−", "-"))
    points, commas = bare.count("."), bare.count(",")
    if points and commas:
        decimal = max(bare.rfind("."), bare.rfind(","))
        bare = re.sub("[.,]", "", bare[:decimal]) + "." + bare[decimal + 1 :]
    elif points + commas > 1 or (points + commas == 1 and len(re.split("[.,]", bare)[1]) == 3):
        bare = re.sub("[.,]", "", bare)
    else:
        bare = bare.replace(",", ".")
    return float(bare)


def _lost(numbers: tuple[float, ...], others: tuple[float, ...]) -> list[float]:
    kept = {*others}
    return [each for each in numbers if each not in kept]


def _clock(gone: list[float], come: list[float]) -> bool:
    """Whether 5 pm became 17 Uhr."""
    hours = {each for each in come if each <= 2 * _HALF_DAY}
    return any(
        each <= 2 * _HALF_DAY and not hours.isdisjoint({each - _HALF_DAY, each + _HALF_DAY}) for each in gone
    )


def _verdict(outcome: Outcome, reason: str, observed: Observation) -> Comparison:
    similarity = {"equivalent": 1.0, "minor": 0.9, "deviation": 0.0, "undecided": None}[outcome]
    return Comparison(outcome, similarity, reason, observed, (Tier("language", similarity, observed),))
