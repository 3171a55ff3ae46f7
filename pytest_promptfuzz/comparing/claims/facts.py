"""Facts that the response changes, leaves out or adds: figures, names, words of meaning, cells of tables."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.guards.pair import contradiction, doubt
from pytest_promptfuzz.comparing.reading.pieces import Figure, agree
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.comparing.reading.words import canonical
from pytest_promptfuzz.data.tables import pairs
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from pytest_promptfuzz.comparing.guards.pair import Finding
    from pytest_promptfuzz.comparing.reading.answer import Answer, Token
    from pytest_promptfuzz.comparing.reading.pieces import Key, Piece


# Where something stands: the telling words around it, and those of its whole statement.


_REACH = 4
"""Words on each side."""
_STOPS = frozenset(".:;!?()|–—")
_MOST_OF_IT = 0.5
"""Share of a statement's telling words from which another one speaks of the same."""


def around(token: Token) -> set[Key]:
    """The keys of what is telling within four words, in the same clause."""
    found: set[Key] = set()
    pieces = token.statement.pieces
    for side in (pieces[token.at + 1 :], reversed(pieces[: token.at])):
        passed = 0
        for other in side:
            if (other.kind == "mark" and other.text in _STOPS) or passed == _REACH:
                break
            if other.telling:
                found.add(other.key)
            passed += other.kind != "mark"
    return found


def same_place(one: Token, two: Token) -> bool:
    """Whether two tokens of two answers stand by the same telling word, or in statements of much the same words."""
    if around(one) & around(two):
        return True
    here, there = beside(one), beside(two)
    smaller = min(len(here), len(there))
    return smaller > 0 and len(here & there) >= _MOST_OF_IT * smaller


def beside(token: Token) -> frozenset[Key]:
    """The keys of what is telling in the rest of its statement."""
    return token.statement.keys - {token.key}


# Names and identifiers of the baseline that the response replaces or leaves out.


_ADJECTIVES = pairs("values/name_forms.tsv")
"""Names and the adjectives or letters that stand for them, where neither begins as the other does."""
_ACRONYM = expression(r"\b[A-Z]{2,6}\b")
_SMALL = frozenset({"of", "the", "and", "for"})
"""Words that first letters leave out."""
_IDENTIFIER = 4
"""Characters from which an identifier is told apart from the short name of a period or a part: Q3, A1."""
_DERIVED = 3
"""Letters in which a name may differ from what is derived from it: Cuba, Cuban."""


def changed_name(baseline: Answer, response: Answer) -> Finding | None:
    """A name or identifier of the baseline that became another, or that the response does not have."""
    gone, come = missing_names(baseline, response), missing_names(response, baseline)
    for token in _written(baseline, gone):
        for other in _written(response, come):
            if same_place(token, other):
                return contradiction("names", "name-became", token.text, other.text)
    text = response.text.lower()
    codes = [each for each in baseline.codes if len(each.low) >= _IDENTIFIER]
    missing = [each for each in codes if each.low not in text]
    if missing and len(missing) < len(codes):
        return contradiction("identifiers", "identifier-missing", missing[0].text)
    if gone or missing:
        return doubt("names", "name-missing", gone[0] if gone else missing[0].text)
    return None


def _written(answer: Answer, names: list[str]) -> list[Token]:
    return [token for token in answer.capitals if names and token.text.removesuffix("'s") in names]


def added_name(baseline: Answer, response: Answer) -> str | None:
    """A name that only the response has."""
    return next(iter(missing_names(response, baseline)), None)


def shared_names(baseline: Answer, response: Answer) -> frozenset[str]:
    """The names of two answers, in lower case: capitalised words that neither writes in lower case."""
    return (baseline.names | response.names) - baseline.uncapitalised - response.uncapitalised


def missing_names(one: Answer, two: Answer) -> list[str]:
    """The names of an answer, as it writes them, that the other does not have."""
    names = shared_names(one, two)
    written = {each.low.removesuffix("'s"): each.text.removesuffix("'s") for each in one.capitals if names}
    gone = {name for name in names if name in written and not _has(two, name)}
    return [
        written[name]
        for name in sorted(gone)
        if not _half_there(one, name, gone) and not _in_letters(one, name, two)
    ]


def _in_letters(answer: Answer, name: str, other: Answer) -> bool:
    """Whether the other answer has the first letters of a longer name that this one is part of: "UK"."""
    letters = set(_ACRONYM.findall(other.text))
    if not letters:
        return False
    for statement in answer.statements:
        run: list[str] = []
        for token in (*statement.pieces, None):
            if token is not None and token.low in _SMALL:
                continue
            if token is not None and token.kind == "word" and token.is_capital:
                run.append(token.low.removesuffix("'s"))
                continue
            if name in run and "".join(word[0] for word in run).upper() in letters:
                return True
            run = []
    return False


def _half_there(answer: Answer, name: str, gone: set[str]) -> bool:
    """Whether the name is part of a longer one whose rest the other answer has: "Port Arlen", "Arlen"."""
    for token in answer.capitals:
        if token.low.removesuffix("'s") != name:
            continue
        pieces = token.statement.pieces
        around = pieces[max(0, token.at - 1) : token.at] + pieces[token.at + 1 : token.at + 2]
        if any(each.kind == "word" and each.is_capital and each.low not in gone for each in around):
            return True
    return False


def _has(answer: Answer, name: str) -> bool:
    wanted = _ADJECTIVES.get(name, name)
    forms = answer.forms
    if wanted in forms or name in forms or any(_ADJECTIVES.get(form) == wanted for form in forms):
        return True
    if any(stem in forms for stem in canonical(name)):
        return True
    if len(name) > _DERIVED:
        start = name[: max(4, len(name) - _DERIVED)]
        if any(form.startswith(start) for form in forms):
            return True
        if any(
            len(form) > _DERIVED and name.startswith(form[: max(4, len(form) - _DERIVED)]) for form in forms
        ):
            return True
    return name.upper() in _ACRONYM.findall(answer.text)


# Words of meaning that only one of two answers has.


_START = 5
"""Letters that the forms of one word share: approve, approval."""


def unmatched(one: Answer, two: Answer) -> list[str]:
    """The telling words of an answer, as written, of which the other has neither the stem nor the beginning."""
    forms = two.forms
    starts = {form[:_START] for form in forms if len(form) >= _START}
    found: dict[str, str] = {}
    for token in one.telling:
        stem = token.stem
        if stem in forms or token.low in forms or stem in found:
            continue
        if len(stem) >= _START and stem[:_START] in starts:
            continue
        if len(stem) == _START - 1 and any(form.startswith(stem) for form in forms):
            continue
        found[stem] = token.text
    return [*found.values()]


_COUNTING = word_set("zone year line step grade level phase tier class room gate page chapter")
"""Nouns that a number after them names one of: "zone 3"."""


def changed_figure(baseline: Answer, response: Answer) -> Finding | None:
    """A figure of the baseline that became another, or that the response leaves out.

    Two answers of one application give the same figures, two answers of different authors need not: a figure that is
    missing is often one that follows from the others (a day between two dates). It counts where it is an amount of
    money or a share, or where nothing else changed; one that stands in its place counts always.
    """
    gone, come = _without(baseline, response), _without(response, baseline)
    telling = [(token, figure) for token, figure in gone if not (figure.is_slight or _is_step(token))]
    for token, old in telling:
        for other, new in come:
            other_unit = old.plain is not None and old.plain == new.plain
            if (old.measure == new.measure or other_unit) and same_place(token, other):
                return _became(old, new)
    if telling:
        essential = next((figure for token, figure in telling if _is_essential(token, response)), None)
        old = essential or telling[0][1]
        replaced = [new for _, new in come if new.measure == old.measure and not new.is_slight]
        share = _share(baseline, response, {token.key for token, _ in telling})
        if replaced and share >= _SOME:
            return _became(old, replaced[0])
        only_left_out = share > _MOST and not unmatched(response, baseline)
        decides = essential is not None or only_left_out
        return (contradiction if decides else doubt)("numbers", "figure-missing", old.written)
    changed = _in_other_rows(baseline, response) or _recounted(gone, come)
    return _became(*changed) if changed else None


def _is_essential(token: Token, response: Answer) -> bool:
    """Whether a figure is an amount or a share of which its statement gives no other that the response has.

    "From 18 % to 22 %" is told by "to 22 %".
    """
    kept = {figure.written for _, figure in response.figures}
    assert token.figure is not None
    return token.figure.measure in _ESSENTIAL and not any(
        each.figure is not None
        and each.figure.measure == token.figure.measure
        and each.figure.written in kept
        for each in token.statement.pieces
    )


_OPERATORS = frozenset("=×+*÷→/")


def _is_step(token: Token) -> bool:
    """Whether a figure stands in a calculation, of which another way of writing shows other steps."""
    tokens = token.statement.pieces
    return any(
        each.text in _OPERATORS
        for each in (*tokens[max(0, token.at - 1) : token.at], *tokens[token.at + 1 : token.at + 2])
    )


_ESSENTIAL = frozenset({"money", "percent"})
"""Measures of what an answer is asked for, seldom left out because it follows from the rest."""
_SOME, _MOST = 0.5, 0.85
"""Shares of the baseline's figures and names that the response has, from which a replaced figure decides, and one that
is left out where the response says nothing new."""


def _became(old: Figure, new: Figure) -> Finding:
    return contradiction("numbers", "name-became", old.written, new.written)


def _share(baseline: Answer, response: Answer, gone: set[Key]) -> float:
    """The share of the baseline's figures and names that the response has too, 0..1."""
    figures = {token.key for token, figure in baseline.figures if not figure.is_slight}
    written = {token.low.removesuffix("'s") for token in baseline.capitals}
    names = shared_names(baseline, response) & written
    return 1 - (len(gone) + len(missing_names(baseline, response))) / (len(figures) + len(names))


def _in_other_rows(baseline: Answer, response: Answer) -> tuple[Figure, Figure] | None:
    """A figure and the one that stands in its place in a statement of the same words: a row, "Dairy sales: 45"."""
    there = _rows(response)
    for words, figures in _rows(baseline).items():
        others = there.get(words, figures)
        if len(others) != len(figures):
            continue
        for old in figures:
            if any(agree(old, new) and old.negative == new.negative for new in others):
                continue
            replaced = next((new for new in others if new.measure == old.measure), None)
            if replaced is not None:
                return old, replaced
    return None


def _rows(answer: Answer) -> dict[frozenset[Key], list[Figure]]:
    """The figures of each statement by its other telling words."""
    found: dict[frozenset[Key], list[Figure]] = {}
    for statement in answer.statements:
        figures = [each.figure for each in statement.pieces if each.figure is not None]
        words = frozenset([each.key for each in statement.pieces if each.telling and each.figure is None])
        if figures and words:
            found.setdefault(words, []).extend(figures)
    return found


def added_figure(baseline: Answer, response: Answer) -> Figure | None:
    """A figure that only the response gives."""
    return next((figure for _, figure in _without(response, baseline) if not figure.is_slight), None)


def _without(one: Answer, two: Answer) -> list[tuple[Token, Figure]]:
    """The figures of an answer that none of the other agrees with."""
    if one.values <= two.values:
        return []
    others = [figure for _, figure in two.figures]
    return [
        (token, figure)
        for token, figure in one.figures
        if figure.value not in two.values
        and not any(agree(figure, other) or _is_fraction(figure, other) for other in others)
        and two.forms.isdisjoint(_IN_WORDS.get((figure.measure, figure.amount), ()))
    ]


def _is_fraction(one: Figure, two: Figure) -> bool:
    """Whether one is the share that the other gives as a number: 6 % and 0.06."""
    if (one.measure == "percent") == (two.measure == "percent") or one.amount is None or two.amount is None:
        return False
    share, number = (one, two) if one.measure == "percent" else (two, one)
    return number.measure in {"number", "times"} and isclose(
        share.amount or 0.0, 100 * (number.amount or 0.0)
    )


_DAY = 86400.0
_IN_WORDS: dict[tuple[str, float | None], frozenset[str]] = {
    ("percent", 25.0): frozenset({"quarter"}),
    ("percent", 50.0): frozenset({"half", "halve", "halved"}),
    ("percent", 100.0): frozenset({"full", "fully", "whole", "entire", "all"}),
    ("months", 1.0): frozenset({"month", "monthly"}),
    ("months", 12.0): frozenset({"year", "yearly", "annual", "annually"}),
    ("time", 7 * _DAY): frozenset({"week", "weekly"}),
    ("time", _DAY): frozenset({"day", "daily"}),
    ("time", 3600.0): frozenset({"hour", "hourly"}),
    ("money", 0.0): frozenset({"free", "no", "nothing"}),
}
"""Figures that words without a number give as well: "50 %" and "half", "12 months" and "a year"."""


def _recounted(
    gone: list[tuple[Token, Figure]], come: list[tuple[Token, Figure]]
) -> tuple[Figure, Figure] | None:
    """Two small numbers, each in one answer only, of the same thing: "five shifts", "fifteen shifts"."""
    before, after = _counts(gone), _counts(come)
    return next(((before[key], after[key]) for key in before if key in after), None)


def _counts(figures: list[tuple[Token, Figure]]) -> dict[tuple[str, Key], Figure]:
    """What is counted by each of the figures (the noun behind it), or named by it (the noun before it)."""
    found: dict[tuple[str, Key], Figure] = {}
    for token, figure in figures:
        if figure.measure not in {"number", "one", "ordinal"}:
            continue
        tokens = token.statement.pieces
        for counted in tokens[token.at + 1 : token.at + 3]:
            if counted.kind != "word":
                break
            if counted.telling:
                found.setdefault(("of", counted.key), figure)
                break
        named = tokens[token.at - 1] if token.at else None
        if named is not None and (named.low in _COUNTING or (named.telling and named.is_capital)):
            found.setdefault(("named", named.key), figure)
    return found


# Cells of tables and fields ("Contact: Anna") whose values changed places, or hold another figure.


_LABEL, _VALUE = 6, 8
"""Tokens up to which what stands before a colon is a label, and what stands behind it a value."""


_CLASSES = word_set(
    "category class classification priority severity rating type status sentiment label level"
)
"""Labels whose values are taken from a closed set, so that a rewording keeps them."""


class _TableCell(NamedTuple):
    label: str
    value: str
    tokens: list[Piece]

    @property
    def words(self) -> tuple[Hashable, ...]:
        return tuple(token.key for token in self.tokens if token.kind != "mark")

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(token.figure for token in self.tokens if token.figure is not None)


def changed_cell(baseline: Answer, response: Answer) -> Finding | None:
    """A cell that holds in the response what another held in the baseline, another figure of the measure, or class."""
    before, after = _cells(baseline), _cells(response)
    changed = {key: (before[key], after[key]) for key in before if key in after}
    changed = {key: (old, new) for key, (old, new) in changed.items() if old.words != new.words}
    for old, new in changed.values():
        if _other_figure(old.figures, new.figures):
            return contradiction("numbers", "cell-became", old.label, old.value, new.value)
    taken = {new.words: new for _, new in changed.values()}
    for old, new in changed.values():
        other = taken.get(old.words)
        if other is not None and any(new.words == each.words for each, _ in changed.values()):
            return contradiction("fields", "cells-changed-places", old.value, old.label, new.value)
    for one, two, which in ((response, baseline, "baseline"), (baseline, response, "response")):
        for key, cell in _new_classes(one, two):
            if key in changed:
                values = before[key].value, after[key].value
                return contradiction("fields", "cell-became", cell.label, *values)
            return contradiction("fields", "cell-missing", cell.label, which, cell.value)
    return None


def _new_classes(one: Answer, two: Answer) -> Iterator[tuple[frozenset[Hashable], _TableCell]]:
    """Where a label stands for a class ("Category: Billing") of which the other answer has no word."""
    for key, cell in _cells(one).items():
        if _CLASSES.isdisjoint(cell.label.lower().split()):
            continue
        telling = {token.text for token in cell.tokens if token.kind == "word" and token.telling}
        if telling and telling.issubset(unmatched(one, two)):
            yield key, cell


def _other_figure(old: tuple[Figure, ...], new: tuple[Figure, ...]) -> bool:
    """Whether one of as many figures became another of its measure."""
    if len(old) != len(new):
        return False
    return any(
        one.measure == two.measure and (not agree(one, two) or one.negative != two.negative)
        for one, two in zip(old, new, strict=True)
    )


def _cells(answer: Answer) -> dict[frozenset[Hashable], _TableCell]:
    """The labelled values of an answer by the words of their labels; none for a label that stands twice."""
    found: dict[frozenset[Hashable], _TableCell] = {}
    twice: set[frozenset[Hashable]] = set()
    for statement in answer.statements:
        if ":" not in statement.text:
            continue
        colon = next((at for at, piece in enumerate(statement.pieces) if piece.text == ":"), None)
        if colon is None or not 0 < colon <= _LABEL:
            continue
        label, value = statement.pieces[:colon], statement.pieces[colon + 1 :]
        if not value or len(value) > _VALUE:
            continue
        words = (token.key for token in label if token.kind != "mark")
        key = frozenset((*words, ("under", statement.heading.casefold())))
        if key in found:
            twice.add(key)
        text = statement.text.partition(":")
        found[key] = _TableCell(text[0].strip(), text[2].strip(), value)
    return {key: cell for key, cell in found.items() if key not in twice}
