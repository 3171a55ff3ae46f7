"""`Pair`: two texts side by side, as guards read them; `Finding`: what a guard found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.comparing.comparison import SENTENCE, Observation, Observed, SentenceField
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.text import lazy, shared_ends

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.reading.text import Text

SHORT = 16
"""Words up to which an answer counts as short: one statement, which a guard that fires decides."""

_RELATED = 0.34
_NEAR = 20
_MOST = 40_000
_IGNORED = word_lists.FUNCTION_WORDS | word_lists.NEGATORS


@dataclass(frozen=True)
class Finding(Observed):
    """What a guard found.

    Attributes:
        guard: Its name, ``negation``.
        kind: ``contradiction`` decides; ``doubt`` keeps the outcome from being ``equivalent``.
        explanation: A clause for a person: ``number 14 in the baseline became 41``.
    """

    guard: str
    kind: Literal["contradiction", "doubt"]
    explanation: SentenceField = SENTENCE


def contradiction(guard: str, code: str, *values: object) -> Finding:
    """That a guard observed what decides."""
    return Finding(guard, "contradiction", Observation(code, *values))


def doubt(guard: str, code: str, *values: object) -> Finding:
    """That a guard observed what keeps the outcome from being ``equivalent``."""
    return Finding(guard, "doubt", Observation(code, *values))


def _meaning(text: Text) -> frozenset[str]:
    return text.token_set - _IGNORED


class Pair:
    """A baseline and a response, and what differs between them.

    Attributes:
        a: The baseline.
        b: The response.
        start: How many tokens both texts have at their start.
        middle_a: Tokens of the baseline between those that both texts have at their start and at their end.
        middle_b: The same of the response: whatever differs stands in the middles.
        only_a: Tokens that only the baseline has.
        only_b: Tokens that only the response has.
    """

    def __init__(self, baseline: Text, response: Text) -> None:
        self.a = baseline
        self.b = response
        start, end = shared_ends(baseline.tokens, response.tokens)
        self.start = start
        self.middle_a = baseline.tokens[start : len(baseline.tokens) - end]
        self.middle_b = response.tokens[start : len(response.tokens) - end]
        self.only_a = frozenset(self.middle_a) - response.token_set
        self.only_b = frozenset(self.middle_b) - baseline.token_set

    @lazy
    def shared(self) -> float:
        """The share of words at the ends that are the same, 0..1: ``similarity`` is no less."""
        total = len(self.a.tokens) + len(self.b.tokens)
        return 1.0 - (len(self.middle_a) + len(self.middle_b)) / total if total else 1.0

    @lazy
    def similarity(self) -> float:
        """Indel similarity of the word lists, 0..1."""
        from rapidfuzz.distance import Indel

        if self._apart:
            return self.shared

        total = len(self.a.tokens) + len(self.b.tokens)
        return 1.0 - Indel.distance(self.middle_a, self.middle_b) / total if total else 1.0

    @lazy
    def _apart(self) -> bool:
        """Whether the middles have no token in common."""
        return frozenset(self.middle_a).isdisjoint(self.middle_b)

    @lazy
    def changed(self) -> tuple[frozenset[str], frozenset[str]]:
        """Tokens that stand in the baseline more often than in the response, and the other way round."""
        if self._apart:
            return frozenset(self.middle_a), frozenset(self.middle_b)
        gone, come = set(), set()
        repeats_a, repeats_b = self.a.repeats, self.b.repeats
        for token, _ in repeats_a.items() ^ repeats_b.items():
            here = repeats_a.get(token, 1 if token in self.a.token_set else 0)
            there = repeats_b.get(token, 1 if token in self.b.token_set else 0)
            if here > there:
                gone.add(token)
            elif there > here:
                come.add(token)
        return self.only_a | gone, self.only_b | come

    @lazy
    def residue(self) -> tuple[list[str], list[str]]:
        """The tokens of meaning that only the baseline has, and those that only the response has, in order."""
        if not self.only_a and not self.only_b:
            return [], []
        ignored = word_lists.FUNCTION_WORDS
        if ("and" in self.only_a and "or" in self.only_b) or ("or" in self.only_a and "and" in self.only_b):
            ignored = ignored - {"and", "or"}
        return (
            [
                token
                for token in dict.fromkeys(self.middle_a)
                if token in self.only_a and token not in ignored
            ],
            [
                token
                for token in dict.fromkeys(self.middle_b)
                if token in self.only_b and token not in ignored
            ],
        )

    @lazy
    def short(self) -> bool:
        """Whether either text is a short answer."""
        return min(len(self.a.tokens), len(self.b.tokens)) <= SHORT

    @lazy
    def sides(self) -> list[Pair]:
        """Statements of the baseline with the statements of the response that speak of the same thing.

        A sentence of the response may answer several of the baseline's. Two texts of one sentence each are one
        pair, however little they share. Of sentences that have the same words there is nothing to say.
        """
        sentences_a, sentences_b = self.a.sentences, self.b.sentences
        if len(sentences_a) <= 1 and len(sentences_b) <= 1:
            return [self]
        # What both texts say in the same words cannot differ, and is not searched for a better match.
        parts_a = self.a.parts_without(set(sentences_b))
        parts_b = self.b.parts_without(set(sentences_a))
        if not parts_a or not parts_b:
            parts_a, parts_b = (parts_a or self.a.parts), (parts_b or self.b.parts)
        if len(parts_a) == 1 and len(parts_b) == 1:
            return [Pair(parts_a[0], parts_b[0])]
        found: list[Pair] = []
        reach = max(_NEAR, _MOST // max(len(parts_a), len(parts_b)))
        sets_b = [part.once(_meaning) for part in parts_b]
        for index_a, part in enumerate(parts_a):
            here = part.once(_meaning)
            if not here:
                continue
            best, score = -1, _RELATED
            # Where there are thousands of statements, only those near the same place are looked at.
            near = range(max(0, index_a - reach), min(len(sets_b), index_a + reach))
            for index_b in near:
                there = sets_b[index_b]
                smaller = min(len(here), len(there))
                shared = len(here & there) / smaller if smaller else 0.0
                if shared > score:
                    best, score = index_b, shared
                    if shared == 1:
                        break
            if best >= 0 and part.tokens != parts_b[best].tokens:
                found.append(Pair(part, parts_b[best]))
        return found

    @lazy
    def edits(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Runs of tokens of the baseline and what stands in their place, in order."""
        from rapidfuzz.distance import Indel

        if self._apart:
            return [(tuple(self.middle_a), tuple(self.middle_b))] if self.middle_a or self.middle_b else []

        result: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        before_a = before_b = 0
        for block in Indel.opcodes(self.middle_a, self.middle_b).as_matching_blocks():
            gone = tuple(self.middle_a[before_a : block.a])
            come = tuple(self.middle_b[before_b : block.b])
            if gone or come:
                result.append((gone, come))
            before_a, before_b = block.a + block.size, block.b + block.size
        return result
