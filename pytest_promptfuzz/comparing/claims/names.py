"""Names and identifiers of the baseline that the response replaces or leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.claims.places import same_place
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.words import canonical
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.reading.answer import Answer, Token

_ADJECTIVES = {
    "us": "america",
    "usa": "america",
    "american": "america",
    "states": "america",
    "uk": "britain",
    "british": "britain",
    "eu": "europe",
    "european": "europe",
    "polish": "poland",
    "irish": "ireland",
    "french": "france",
    "dutch": "netherlands",
    "spanish": "spain",
    "bce": "bc",
    "tv": "television",
}
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
                return Finding("names", "contradiction", f"{token.text} in the baseline became {other.text}")
    text = response.text.lower()
    codes = [each for each in baseline.codes if len(each.low) >= _IDENTIFIER]
    missing = [each for each in codes if each.low not in text]
    if missing and len(missing) < len(codes):
        return Finding("identifiers", "contradiction", f"the response does not have {missing[0].text!r}")
    if gone or missing:
        name = gone[0] if gone else missing[0].text
        return Finding("names", "doubt", f"the response does not name {name}")
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
