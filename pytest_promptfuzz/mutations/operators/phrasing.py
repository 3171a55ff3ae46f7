"""Instructions put in other words, by rules."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations import abroad
from pytest_promptfuzz.mutations.casing import capitalised
from pytest_promptfuzz.mutations.edits import Edit, Ref
from pytest_promptfuzz.mutations.lexicon.grammar import BEFORE_VERB, DETERMINERS, IMPERATIVES
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.operator import operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.rng import Rng

_KEPT = r"([^.!?;:,\n]{1,80}?)"
_BOUND = r"(?![\w\x00'’-]| (?:not|never)\b)"
_PREPOSITION = expression(r"\b(?:from|into|to|so|if)\b", re.IGNORECASE | re.ASCII)
_CONDITION = expression(r"\b(?:if|when|where|unless|after|for)\b", re.IGNORECASE | re.ASCII)
_SENTENCE = expression(r"[.!?\n]")
_LONGEST = 40  # characters of a rule's head, and more
_PLAIN = expression(r"[a-z ]+(?![a-z ]*[?*|])", re.ASCII)
_BE = words("is are was were be been being")


class _Rule:
    """A rule, whose pattern is compiled when a prompt first holds the words that it begins with.

    Attributes:
        head: The plain words at its beginning, in lower case.
        parts: The paraphrase before and after what is kept.
        opens: Whether it holds at the start of a sentence only.
    """

    __slots__ = ("_compiled", "_pattern", "head", "opens", "parts")

    def __init__(self, pattern: str, paraphrase: str, *, opens: bool) -> None:
        plain = _PLAIN.match(pattern)
        self.head = plain[0] if plain else ""
        self.parts = tuple(paraphrase.split("{x}"))
        self.opens = opens
        self._pattern = pattern
        self._compiled: re.Pattern[str] | None = None

    def match(self, free: str, start: int) -> re.Match[str] | None:
        """Where the rule applies at ``start``, once its head has been found there."""
        if self._compiled is None:
            pattern = self._pattern.replace("{x}", _KEPT) + _BOUND
            self._compiled = re.compile(pattern, re.IGNORECASE | re.ASCII)
        return self._compiled.match(free, start)


@cache
def _rules() -> dict[str, tuple[tuple[str, ...], tuple[_Rule, ...]]]:
    """By first word: what one of its rules must begin with, and the rules, the longest first."""
    from pytest_promptfuzz.mutations.lexicon.phrases import RULES, STARTING

    found: dict[str, list[_Rule]] = {}
    for pattern, paraphrase in sorted(RULES, key=lambda rule: -len(rule[0])):
        rule = _Rule(pattern, paraphrase, opens=pattern in STARTING)
        first = pattern.partition(" ")[0]
        found.setdefault(first, []).append(rule)
    return {first: (tuple({rule.head for rule in rules}), tuple(rules)) for first, rules in found.items()}


def _sites(draft: Draft) -> list[Edit]:
    rules = _rules()
    free = draft.free
    sites: list[Edit] = []
    position = 0
    found = draft.words
    for index, word in enumerate(found):
        start, _, form, lower = word
        if lower not in rules or start < position:
            continue
        heads, ruled = rules[lower]
        ahead = free[start : start + _LONGEST].lower()
        if not ahead.startswith(heads):
            continue
        before = found[index - 1] if index else None
        adjacent = before.lower if before is not None and before.end + 1 == start else ""
        if not _verbal(lower, adjacent) or (lower == "based" and adjacent in _BE):
            continue  # "your answer in", "a final answer in": a noun here
        for rule in ruled:
            if not ahead.startswith(rule.head):
                continue
            match = rule.match(free, start)
            if match is None or not _calm(match) or _narrowed(free, match):
                continue
            if rule.opens and start not in draft.starts:
                continue
            paraphrase = rule.parts
            head = capitalised(paraphrase[0]) if form[0].isupper() else paraphrase[0]
            parts: tuple[str | Ref, ...] = (head,)
            if len(paraphrase) > 1:
                parts = (head, Ref(*match.span(1)), paraphrase[1])
            sites.append(Edit(*match.span(), parts))
            position = match.end()
            break
    return sites


def _verbal(word: str, before: str) -> bool:
    """Whether a word that opens a rule may be the verb it has to be, by the word before it."""
    if word not in IMPERATIVES:
        return before not in DETERMINERS
    return not before or before in BEFORE_VERB or before in {"and", "or"}


def _narrowed(free: str, match: re.Match[str]) -> bool:
    """Whether a paraphrase would widen an "only", or tear apart what is kept.

    "Use only X if ..." allows other things elsewhere, "use nothing but X if ..." does not read so; "translate the text
    from A to B" must keep its pair.
    """
    if match.re.groups:
        return _PREPOSITION.search(match[1]) is not None
    if "only" not in match[0].lower():
        return False
    end = _SENTENCE.search(free, match.end())
    return _CONDITION.search(free, match.end(), end.start() if end else len(free)) is not None


def _calm(match: re.Match[str]) -> bool:
    """Whether the fixed words are in plain case: a shouted ONLY is a stress that a paraphrase would lose."""
    old = match.group()
    if match.re.groups:
        old = old[: match.start(1) - match.start()] + old[match.end(1) - match.start() :]
    return old[1:] == old[1:].lower() or old[:2] == "I "


@operator(
    "instruction-paraphrase",
    dimension="semantic",
    severity=0.5,
    preserves="yes",
    languages=("en", *abroad.LANGUAGES),
    sources=("S1", "S4", "S5"),
    example=("Return only the label.", "Respond with nothing but the label."),
    trusted=True,
)
def instruction_paraphrase(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Turns of phrase of instructions put in other words (half of those that a rule knows)."""
    return rng.draws(_sites(draft) if draft.language == "en" else abroad.phrases(draft), 0.5)
