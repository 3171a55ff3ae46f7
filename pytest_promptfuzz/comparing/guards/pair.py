"""Two texts side by side, and what a guard says of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from rapidfuzz.distance import Indel

from pytest_promptfuzz.comparing import lexicon

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.text import Text

SHORT = 16
"""Words up to which an answer counts as short: one statement, which a guard that fires decides."""

_RELATED = 0.34
_NEAR = 20
_MOST = 40_000
_IGNORED = lexicon.FUNCTION_WORDS | lexicon.NEGATORS


@dataclass(frozen=True, slots=True)
class Finding:
    """What a guard found.

    Attributes:
        guard: Its name, ``negation``.
        kind: ``contradiction`` decides; ``doubt`` keeps the outcome from being ``equivalent``.
        explanation: A clause for a person: ``number 14 in the baseline became 41``.
    """

    guard: str
    kind: Literal["contradiction", "doubt"]
    explanation: str


class Pair:
    """A baseline and a response, and what differs between them."""

    def __init__(self, baseline: Text, response: Text) -> None:
        self.a = baseline
        self.b = response
        self.only_a = baseline.token_set - response.token_set
        self.only_b = response.token_set - baseline.token_set

    @cached_property
    def similarity(self) -> float:
        """Indel similarity of the word lists, 0..1."""
        return float(Indel.normalized_similarity(self.a.tokens, self.b.tokens))

    @cached_property
    def changed(self) -> tuple[frozenset[str], frozenset[str]]:
        """Tokens that stand in the baseline more often than in the response, and the other way round."""
        repeats_a, repeats_b = self.a.repeats, self.b.repeats
        gone, come = set(), set()
        for token in repeats_a.keys() | repeats_b.keys():
            here = repeats_a.get(token, 1 if token in self.a.token_set else 0)
            there = repeats_b.get(token, 1 if token in self.b.token_set else 0)
            if here > there:
                gone.add(token)
            elif there > here:
                come.add(token)
        return self.only_a | gone, self.only_b | come

    @cached_property
    def short(self) -> bool:
        """Whether either text is a short answer."""
        return min(len(self.a.tokens), len(self.b.tokens)) <= SHORT

    @cached_property
    def sides(self) -> list[Pair]:
        """Statements of the baseline with the statements of the response that speak of the same thing.

        A sentence of the response may answer several of the baseline's. Two texts of one sentence each are one
        pair, however little they share.
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
        found: dict[tuple[int, int], Pair] = {}
        reach = max(_NEAR, _MOST // max(len(parts_a), len(parts_b)))
        sets_b = [part.token_set - _IGNORED for part in parts_b]
        for index_a, part in enumerate(parts_a):
            here = part.token_set - _IGNORED
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
            if best >= 0:
                found[(index_a, best)] = Pair(part, parts_b[best])
        return list(found.values())

    @cached_property
    def edits(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Runs of tokens of the baseline and what stands in their place, in order."""
        result: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        before_a = before_b = 0
        for block in Indel.opcodes(self.a.tokens, self.b.tokens).as_matching_blocks():
            gone = tuple(self.a.tokens[before_a : block.a])
            come = tuple(self.b.tokens[before_b : block.b])
            if gone or come:
                result.append((gone, come))
            before_a, before_b = block.a + block.size, block.b + block.size
        return result
