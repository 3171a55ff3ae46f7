"""Texts as canonical tokens: phrases, numbers and counted units rewritten to what they say."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from itertools import chain, compress, count, pairwise
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.word_lists import entries, when_used
from pytest_promptfuzz.comparing.words import MONTHS, canonical, chunks, plain_number, stem, words_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


@lru_cache(maxsize=65536)
def _tokens_of(chunk: str) -> tuple[str, ...]:
    return tuple(chain.from_iterable(map(canonical, words_of(chunk))))


class _Sentence(NamedTuple):
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
def _read(sentence: str) -> _Sentence:
    written = chunks(sentence)
    tokens = list(chain.from_iterable(map(_tokens_of, written)))
    plain = _REWRITTEN.isdisjoint(tokens) and _OPENINGS.isdisjoint(pairwise(tokens))
    return _Sentence(written, tokens, plain, plain and not (tokens and tokens[-1] in _PHRASES))


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
        read = _read(sentence)
        if token in read.tokens:
            for chunk in read.chunks:
                if token in _tokens_of(chunk):
                    return next(word for word in words_of(chunk) if token in canonical(word))
    return next(filter(None, (_phrase_of(token, sentence) for sentence in sentences)), None)


def _phrase_of(token: str, sentence: str) -> str | None:
    """The words of a sentence that are rewritten to a token."""
    words = [word for chunk in _read(sentence).chunks for word in words_of(chunk)]
    read = [(word, each) for word in words for each in canonical(word)]
    for at, (_, first) in enumerate(read):
        for source, target in _PHRASES.get(first, ()):
            phrase = read[at : at + len(source)]
            if token in target and tuple(each for _, each in phrase) == source:
                return " ".join(dict.fromkeys(word for word, _ in phrase))
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
    for phrase, target in entries("phrases.tsv", lambda phrase, target="": (phrase.split(), target.split())):
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
    lambda: {canonical(unit)[0]: smaller for unit, smaller in lexicon.IN_SMALLER_UNITS.items()}
)
_CURRENCIES = frozenset({"dollar", "euro", "pound-sterling", "yen"})
_METRES = "m"
_HALVES = frozenset({"am", "pm", "uhr"})
_LONG_MULTIPLIERS = when_used(
    lambda: {stem(word): value for word, value in lexicon.MULTIPLIERS.items() if len(word) > 3}
)
_LARGER = when_used(
    lambda: {
        canonical(unit)[0]: (factor, canonical(larger)[0])
        for unit, (factor, larger) in lexicon.IN_LARGER_UNITS.items()
    }
)
_AFTER_NUMBERS = when_used(lambda: frozenset({*_LARGER, *_HALVES, _METRES, *_LONG_MULTIPLIERS, *_SMALLER}))
_REWRITTEN = when_used(lambda: _AFTER_NUMBERS | _BOUNDS | MONTH_TOKENS)
