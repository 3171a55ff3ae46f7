"""The same words in another order: who changed places with whom, and which moves mean nothing.

What both answers say in the same order is cut into blocks, the longest first; the response is a permutation of the
baseline's blocks. Two blocks changed places where a frame stands between them in both answers ("X pays Y") and each
has the neighbours in the response that the other has in the baseline. A block that only moved past another ("on Sunday
we rest") has no frame to change sides of.
"""

from __future__ import annotations

import math
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import combinations, product
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_promptfuzz.comparing.reading.text import lazy
from pytest_promptfuzz.comparing.reading.word_lists import FUNCTION_WORDS, NEGATORS, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.comparing.reading.answer import Answer, Token
    from pytest_promptfuzz.comparing.reading.pieces import Key

_JOINERS = word_set("and or but & nor plus y e et ou und oder o")
_SUBORDINATORS = word_set(
    "if when whenever because since although though while whereas unless until before after once till without"
)
_PLACING = word_set(
    """in on at by during for from to into onto with within without through over under above below behind between
    among across along near of as about against towards toward upon via per like than around inside
    outside beyond beside despite since until before after throughout except excepted excluding"""
)
_PLACES = word_set("in on at")
_OPENERS = _PLACING | _SUBORDINATORS
_CLAUSES = word_set("who whom whose which where then so")
_PERSONS = word_set("i you he she we they me him us them")
_KEPT = _JOINERS | _OPENERS | _CLAUSES | _PERSONS | NEGATORS
_BE = word_set("is are was were be been being get gets got")
_QUANTIFIERS = word_set("all every each only any most many few")
_ARTICLES = word_set("the a an my your his her its our their this that these those")
_CONTRASTS = word_set("while whereas though")
"""What joins two clauses that may be turned round."""
_CONDITIONS = _SUBORDINATORS - _CONTRASTS
_DIRECTIONS = word_set(
    "north south east west northeast northwest southeast southwest left right next close ahead"
)
_DECLINED = word_set("der den dem")
"""Articles of German, which tell who does what wherever the noun stands."""
_TURNING = word_set("of by")
"""What stands in one of two answers only where a genitive or a voice is turned."""
_BINDING = word_set("of than as like to from with about into onto against towards toward upon")
"""Prepositions that belong to the word before them."""
_TIMES = word_set(
    """yesterday today tomorrow now then soon later daily usually often always finally currently recently sometimes
    monday tuesday wednesday thursday friday saturday sunday"""
)
_SYMMETRIC = word_set(
    "equal equals married marry marries meet meets met match matches resemble differs differ same"
)
"""Verbs that hold both ways round."""
_LETTERS = frozenset("ABCDEFGHJKLMNOPQRSTUVWXYZ")
"""Capitals that name something where they stand within a sentence, "terminal A"; "I" is a person."""
_GAPS = {",": 1, ";": 3, ":": 2, ".": 3, "?": 3, "!": 3, "(": 1, ")": 1, "|": 3, "–": 1, "—": 1}
_NEXT_STATEMENT = 4
_REACH = 4
"""Distance from which a neighbour tells nothing any more."""
_MOST_WORDS = 400
_MOST_BLOCKS = 60
_SHORTEST_CLAUSE = 3
"""Words that only one of two clauses has; what is shorter may be a cell of a table or a figure."""
_LONGEST = 12
"""Words of a block that may be a party or a clause."""
_NEARLY_ALL_WORDS, _NEARLY_ALL_NAMES = 0.9, 0.85
"""Share of the words of each answer that the other has too; below, it says other things, or in other words."""
_OPPOSITE_WORDS, _OPPOSITE_NAMES, _OPPOSITE_AMONG_OTHERS = -0.5, -0.35, -0.9
"""Cosine of what tells two blocks apart, in the one answer and in the other, from which they changed places."""
_WORDY = frozenset({"words", "preposition", "person", "direction"})
"""Kinds of blocks whose place tells nothing where the other words are not the same."""


class _ArrangedWord(NamedTuple):
    """A word as an arrangement has it: articles, auxiliaries and possessives are left out.

    Attributes:
        key: What it is the same by.
        token: As it was read.
        gap: What separates it from the word before: 0 for nothing, 1 for a comma, 3 for the end of a sentence.
    """

    key: Key
    token: Token
    gap: int

    @property
    def low(self) -> str:
        return self.token.low


class _CommonWords(NamedTuple):
    """A run of words that both answers have: where it begins in each, and how long it is."""

    one: int
    two: int
    size: int


@lru_cache(maxsize=2048)
def _words(answer: Answer) -> tuple[_ArrangedWord, ...]:
    found: list[_ArrangedWord] = []
    for statement in answer.statements:
        gap = _NEXT_STATEMENT
        for at, piece in enumerate(statement.pieces):
            if piece.kind == "mark":
                gap = max(gap, _GAPS.get(piece.text, 0))
            elif piece.low not in FUNCTION_WORDS or piece.low in _KEPT or (at and piece.text in _LETTERS):
                key = (piece.figure.measure, piece.key) if piece.figure else piece.key
                found.append(_ArrangedWord(key, statement.token(at), gap))
                gap = 0
    return tuple(found)


def _blocks(one: Sequence[_ArrangedWord], two: Sequence[_ArrangedWord]) -> list[_CommonWords]:
    """The longest common runs that do not overlap, in the order of the first."""
    places: dict[Key, list[int]] = {}
    for at, word in enumerate(two):
        places.setdefault(word.key, []).append(at)
    runs: dict[tuple[int, int], int] = {}
    for at in range(len(one) - 1, -1, -1):
        for other in places.get(one[at].key, ()):
            runs[at, other] = runs.get((at + 1, other + 1), 0) + 1
    waiting = [(-size, abs(at - other), at, other) for (at, other), size in runs.items()]
    heapify(waiting)
    used_one, used_two = [False] * len(one), [False] * len(two)
    found = []
    while waiting:
        size, apart, at, other = heappop(waiting)
        free = 0
        while free < -size and not (used_one[at + free] or used_two[other + free]):
            free += 1
        if free == -size:
            used_one[at : at + free] = used_two[other : other + free] = [True] * free
            found.append(_CommonWords(at, other, free))
        elif free:
            heappush(waiting, (-free, apart, at, other))
    return sorted(found)


class Arrangement:
    """What two answers have in common, as blocks that stand in one order here and in another there.

    Args:
        baseline: The one answer.
        response: The other one.
    """

    def __init__(self, baseline: Answer, response: Answer) -> None:
        self.one, self.two = _words(baseline), _words(response)
        self.names = baseline.names | response.names
        keys = [[word.key for word in words] for words in (self.one, self.two)]
        self.common = set(keys[0]).intersection(keys[1])
        shared = [[key for key in some if key in self.common] for some in keys]
        self.shared = min(
            len(some) / len(all_) if all_ else 0.0 for some, all_ in zip(shared, keys, strict=True)
        )
        self._same, self._kept = keys[0] == keys[1], shared[0] == shared[1]

    @lazy
    def blocks(self) -> list[_CommonWords]:
        """What both have in the same order, as it stands in the first."""
        too_long = max(len(self.one), len(self.two)) > _MOST_WORDS
        declined = any(word.low in _DECLINED for word in self.one)
        return [] if too_long or self._same or declined else _blocks(self.one, self.two)

    def exchanged(self) -> tuple[str, str] | None:
        """The two parties, figures, modifiers or clauses that changed places, as the baseline writes them."""
        blocks = [] if self._kept else self.blocks
        if len(blocks) > _MOST_BLOCKS:
            return None
        for first, second in combinations(blocks, 2):
            if second.two > first.two:
                continue
            one, two = self._bare(first, second)
            if not (one.size and two.size and self._alike(one, two)):
                continue
            if self._changed_places(one, two) and not self._kept_company(one, two):
                return self._written(one), self._written(two)
        return None

    def says_the_same(self, *, lists: bool) -> Literal["order", "voice"] | None:
        """What turned, if all that moved are adjuncts, members of lists, genitives, and parties of a turned voice.

        Args:
            lists: Whether the order of lists tells nothing.
        """
        blocks = self.blocks
        if not blocks or len(blocks) > _MOST_BLOCKS or not self._covered():
            return None
        moved = sorted(blocks, key=lambda block: block.two)
        order = self._in_one_voice(moved)
        kept = _longest_in_order(order)
        for block in blocks:
            at = order.index(block)
            passed = [
                other
                for place, other in enumerate(order)
                if (place < at) != (other.one < block.one)
                and other != block
                and (block not in kept or other in kept)
            ]
            if passed and block not in kept and not self._moves_freely(block, sorted(passed), lists=lists):
                return None
        return "order" if order == moved else "voice"

    def _covered(self) -> bool:
        """Whether all words are in both answers, but for "of" and "by"."""
        for words, starts in ((self.one, "one"), (self.two, "two")):
            known = {getattr(block, starts) + step for block in self.blocks for step in range(block.size)}
            if any(at not in known and word.low not in _TURNING for at, word in enumerate(words)):
                return False
        return True

    def _in_one_voice(self, order: list[_CommonWords]) -> list[_CommonWords]:
        """The response's order of blocks, its parties where the baseline has them if only the voice differs."""
        for first, verb, second in zip(self.blocks, self.blocks[1:], self.blocks[2:], strict=False):
            at = order.index(second)
            if order[at : at + 3] == [second, verb, first] and self._is_turned(first, verb, second):
                return [*order[:at], first, verb, second, *order[at + 3 :]]
        return order

    def _is_turned(self, first: _CommonWords, verb: _CommonWords, second: _CommonWords) -> bool:
        """Whether "A did B" stands against "B was done by A"."""
        passives = []
        for words, agent, action in (
            (self.one, second.one, verb.one),
            (self.two, first.two, verb.two),
        ):
            token = words[action].token
            before = token.statement.tokens[max(0, token.at - 2) : token.at]
            by = any(word.low == "by" for word in words[max(action, agent - 1) : agent + 1])
            passives.append(by and any(each.low in _BE for each in before))
        return passives[0] != passives[1]

    def _moves_freely(self, block: _CommonWords, passed: list[_CommonWords], *, lists: bool) -> bool:
        if self._leaves_sentence(block, passed):
            return False
        if lists and all(self._is_joining(other) or self._together(block, other) for other in passed):
            return True
        if len(passed) == 1 and self._is_genitive(block, passed[0]):
            return True
        if not self._is_adjunct(block):
            return all(self._is_adjunct(other) for other in passed) and self._is_edge(passed)
        if all(self._is_adjunct(other) for other in passed):
            return True
        words = [word for other in passed for word in self.one[other.one : other.one + other.size]]
        subordinate = self.one[block.one].low in _SUBORDINATORS
        if not subordinate and any(self._breaks(word) for word in words[1:]):
            return False
        return self._is_edge([block]) or (
            self._is_dated(block) and not any(word.token.figure for word in words)
        )

    def _breaks(self, word: _ArrangedWord) -> bool:
        """Whether a word begins another clause, to which what moves could belong."""
        return word.low in _CLAUSES | _SUBORDINATORS | _JOINERS | NEGATORS

    def _leaves_sentence(self, block: _CommonWords, passed: list[_CommonWords]) -> bool:
        return any(
            word.gap > 1
            for words, start, end in self._spans([block, *passed])
            for word in words[start + 1 : end]
        )

    def _spans(self, moved: Sequence[_CommonWords]) -> Iterator[tuple[Sequence[_ArrangedWord], int, int]]:
        """From where to where some blocks reach in each answer."""
        yield self.one, min(each.one for each in moved), max(each.one + each.size for each in moved)
        yield self.two, min(each.two for each in moved), max(each.two + each.size for each in moved)

    def _is_joining(self, block: _CommonWords) -> bool:
        return all(word.low in _JOINERS for word in self.one[block.one : block.one + block.size])

    def _together(self, block: _CommonWords, other: _CommonWords) -> bool:
        one, two = (self._trimmed(each) for each in sorted((block, other)))
        return bool(one.size and two.size) and self._listed(one, two)

    def _is_genitive(self, block: _CommonWords, other: _CommonWords) -> bool:
        """Whether "the manuscripts of the Testament" against "the Testament's manuscripts"."""
        one, two = sorted((block, other))
        between = self.one[one.one + one.size : two.one], self.two[two.two + two.size : one.two]
        lows = [[word.low for word in words] for words in between]
        return lows in ([["of"], []], [[], ["of"]])

    def _is_adjunct(self, block: _CommonWords) -> bool:
        words = self.one[block.one : block.one + block.size]
        if words[0].low in _BINDING:
            return False
        return (words[0].low in _OPENERS and block.size > 1) or all(word.low in _TIMES for word in words)

    def _is_dated(self, block: _CommonWords) -> bool:
        words = self.one[block.one : block.one + block.size]
        return any(word.low in _TIMES or word.token.figure for word in words)

    def _is_edge(self, moved: list[_CommonWords]) -> bool:
        """Whether what moved stands at the start of its sentence in one answer and at the end in the other."""
        (first, last), (first_there, last_there) = (
            (words[start].gap > 1, end == len(words) or words[end].gap > 1)
            for words, start, end in self._spans(moved)
        )
        return (first and last_there) or (last and first_there)

    def _bare(self, one: _CommonWords, two: _CommonWords) -> tuple[_CommonWords, _CommonWords]:
        """Two blocks without the joining words at their ends, and without a preposition that both begin with."""
        one, two = (self._trimmed(block) for block in (one, two))
        if one.size and two.size:
            heads = [self.one[block.one].low for block in (one, two)]
            if heads[0] == heads[1] and heads[0] in _OPENERS:
                one, two = (
                    _CommonWords(block.one + 1, block.two + 1, block.size - 1) for block in (one, two)
                )
        return one, two

    def _trimmed(self, block: _CommonWords) -> _CommonWords:
        start, end = block.one, block.one + block.size
        while start < end and self.one[start].low in _JOINERS | _CLAUSES:
            start += 1
        while end > start + 1 and self.one[end - 1].low in _JOINERS | _CLAUSES | _OPENERS:
            end -= 1
        return _CommonWords(start, block.two + start - block.one, end - start)

    def _alike(self, one: _CommonWords, two: _CommonWords) -> bool:
        """Whether two blocks are of a kind: two names, two figures of a measure, two of other words."""
        if max(one.size, two.size) > _LONGEST:
            return False
        keys = [{word.key for word in self.one[block.one : block.one + block.size]} for block in (one, two)]
        if keys[0] <= keys[1] or keys[1] <= keys[0]:
            return False
        return self._kind(one) == self._kind(two) != "" or (self._modifies(one) and self._modifies(two))

    def _modifies(self, block: _CommonWords) -> bool:
        """Whether a block is one word that stands before what it may describe: "French model", "former judge"."""
        for words, at in ((self.one, block.one), (self.two, block.two)):
            after = words[at + 1 : at + 2]
            if block.size > 1 or words[at].low in _KEPT or not after or after[0].gap or after[0].low in _KEPT:
                return False
        return True

    def _kind(self, block: _CommonWords) -> str:
        """What a block is: a name, a figure of some measure, a person, a direction, a preposition or other words."""
        words = [word.token for word in self.one[block.one : block.one + block.size]]
        if self._is_direction(block.one):
            return "direction"
        if words[0].low in _OPENERS:
            return "preposition" if len(words) == 1 and words[0].low not in _PLACES else ""
        said = [token for token in words if token.low not in _KEPT]
        if not said:
            return "person" if words[0].low in _PERSONS else ""
        if any(token.low.removesuffix("'s") in self.names for token in said):
            return "name"
        figures = [token.figure for token in said if token.figure]
        return figures[0].measure if len(figures) == len(said) else "words"

    def _changed_places(self, one: _CommonWords, two: _CommonWords) -> bool:
        frame = self._frame(one, two)
        if not frame:
            turned = self._changed_condition(one, two) or self._changed_quantity(one, two)
            return turned and self.shared >= _NEARLY_ALL_WORDS
        if _SYMMETRIC.issuperset(frame) or self._turned_voice(one, two) or self._listed(one, two):
            return False
        kind = self._kind(one)
        if kind in _WORDY or kind != self._kind(two):
            return self.shared >= _NEARLY_ALL_WORDS and self._contrast(one, two) <= _OPPOSITE_WORDS
        if self.shared >= _NEARLY_ALL_NAMES:
            return self._contrast(one, two) <= _OPPOSITE_NAMES
        return not frame <= _KEPT and self._contrast(one, two) <= _OPPOSITE_AMONG_OTHERS

    def _frame(self, one: _CommonWords, two: _CommonWords) -> set[str]:
        """The words that stand between two blocks in both answers, but for those that join."""
        return {
            word.low
            for block in self.blocks
            if one.one + one.size <= block.one < two.one and two.two + two.size <= block.two < one.two
            for word in self.one[block.one : block.one + block.size]
            if word.low not in _JOINERS and not word.token.figure
        }

    def _is_direction(self, at: int) -> bool:
        """Whether a place begins here that may stand before its verb or behind it: "north of the village"."""
        bound = (
            self.one[at].low in _DIRECTIONS and at + 1 < len(self.one) and self.one[at + 1].low in _PLACING
        )
        return bound and not _ARTICLES & self._before(self.one[at])

    def _before(self, word: _ArrangedWord, size: int = 1) -> set[str]:
        """The words just before one in its statement, small ones too."""
        token = word.token
        return {each.low for each in token.statement.tokens[max(0, token.at - size) : token.at]}

    def _kept_company(self, one: _CommonWords, two: _CommonWords) -> bool:
        """Whether both moved with the rest of their clauses: "A goes to X and B to Y", "B goes to Y and A to X".

        A verb or an introduction may stay with the clause that is first. What stays with the second one as well, or
        joins the two to a condition, is what each was bound to: then the two changed sides of it.
        """
        here = self._parted_clauses(self.one, one.one, one.one + one.size, two.one, two.one + two.size)
        there = self._parted_clauses(self.two, two.two, two.two + two.size, one.two, one.two + one.size)
        own = [{word.key for word in self.one[each.one : each.one + each.size]} for each in (one, two)]
        conditions = {word.key for word in self.one if word.low in _CONDITIONS}
        for (first, second), (first_there, second_there) in product(here, there):
            went, came = first & second_there, second & first_there
            stayed = (first & first_there & conditions) | (second & second_there)
            moved = own[0] - own[1] <= went and own[1] - own[0] <= came
            whole = went == first and came == second and min(len(went), len(came)) >= _SHORTEST_CLAUSE
            if first | second != first_there | second_there:
                continue
            if moved and not stayed and (whole or (went - own[0] and came - own[1])):
                return True
        return False

    def _parted_clauses(
        self, words: Sequence[_ArrangedWord], start: int, first_end: int, second: int, end: int
    ) -> Iterator[tuple[set[Key], set[Key]]]:
        """What only the first and only the second of two neighbouring clauses say, wherever they may be parted."""
        while start and words[start].gap < _GAPS["."]:
            start -= 1
        while end < len(words) and words[end].gap < _GAPS["."]:
            end += 1
        for at in range(first_end, second + 1):
            if words[at].gap or words[at].low in _JOINERS | _CONTRASTS:
                parts = [
                    {
                        word.key
                        for word in some
                        if word.key in self.common and word.low not in _JOINERS | _CONTRASTS
                    }
                    for some in (words[start:at], words[at:end])
                ]
                yield parts[0] - parts[1], parts[1] - parts[0]

    def _changed_condition(self, one: _CommonWords, two: _CommonWords) -> bool:
        """Whether another clause stands under a conjunction: "if A, B" and "if B, A"."""
        if self._turned_voice(one, two) or not one.one or not two.two:
            return False
        between = self.one[one.one : two.one], self.two[two.two + two.size : one.two]
        if _JOINERS & {word.low for word in between[0]}:
            return False
        if any(word.low in _PLACING - _SUBORDINATORS for word in (*between[0][one.size :], *between[1])):
            return False
        head = self.one[one.one - 1].low
        return head == self.two[two.two - 1].low and head in _SUBORDINATORS

    def _changed_quantity(self, one: _CommonWords, two: _CommonWords) -> bool:
        """Whether "all A are B" stands against "B are all A" or "all B are A"; "the most" is no number."""
        held = [[word.low for word in self.one[block.one : block.one + block.size]] for block in (one, two)]
        heads = self.one[two.one], self.two[one.two]
        if any(_OPENERS.intersection(lows) for lows in held) or not all(
            self._before(head, 2) & _BE for head in heads
        ):
            return False
        leading = self._before(self.one[one.one]) & self._before(self.two[two.two]) & _QUANTIFIERS
        counted = any(
            len(lows) > 1 and lows[0] in _QUANTIFIERS and not self._before(self.one[block.one]) & _ARTICLES
            for lows, block in zip(held, (one, two), strict=True)
        )
        return counted or bool(leading)

    def _turned_voice(self, one: _CommonWords, two: _CommonWords) -> bool:
        """Whether one answer has before a party a "by" that the other lacks."""
        agents = [
            self._led_by(words, starts)
            for words, starts in ((self.one, (one.one, two.one)), (self.two, (one.two, two.two)))
        ]
        return agents[0] != agents[1] and not all(agents)

    def _led_by(self, words: Sequence[_ArrangedWord], starts: tuple[int, int]) -> bool:
        return any(word.low == "by" for at in starts for word in words[max(0, at - 3) : at])

    def _listed(self, one: _CommonWords, two: _CommonWords) -> bool:
        """Whether two blocks are members of one list in the baseline: "A and B", "old X, new X or Y"."""
        end, other_end = one.one + one.size, two.one + two.size
        while end < two.one and other_end < len(self.one) and self.one[end].key == self.one[other_end].key:
            end += 1
            other_end += 1
        if end >= two.one or not all(self._parted(at) for at in (end, two.one)):
            return False
        between = self.one[end : two.one]
        kind = self._kind(one)
        return all(
            word.low in _JOINERS
            or (word.token.telling and word.gap < _GAPS[";"] and self._kind_of(word) == kind)
            for word in between
        )

    def _parted(self, at: int) -> bool:
        """Whether a comma or a joining word stands before a word, or the word is one."""
        return self.one[at].gap == 1 or bool({self.one[at].low, self.one[at - 1].low} & _JOINERS)

    def _kind_of(self, word: _ArrangedWord) -> str:
        if word.token.figure:
            return word.token.figure.measure
        return "name" if word.low.removesuffix("'s") in self.names else "words"

    def _contrast(self, one: _CommonWords, two: _CommonWords) -> float:
        """The cosine of what tells two blocks apart in the baseline with what tells them apart in the response.

        1 where each kept its neighbours, -1 where each has the other's.
        """
        here = self._difference(self.one, (one.one, one.size), (two.one, two.size))
        there = self._difference(self.two, (one.two, one.size), (two.two, two.size))
        length = math.hypot(*here.values()) * math.hypot(*there.values())
        return sum(weight * there.get(key, 0.0) for key, weight in here.items()) / length if length else 0.0

    def _difference(
        self, words: Sequence[_ArrangedWord], one: tuple[int, int], two: tuple[int, int]
    ) -> dict[tuple[str, Key], float]:
        first, second = (dict(self._neighbours(words, *block)) for block in (one, two))
        apart = {word.key for start, size in (one, two) for word in words[start : start + size]}
        return {
            place: first.get(place, 0.0) - second.get(place, 0.0)
            for place in first.keys() | second.keys()
            if place[1] not in apart
        }

    def _neighbours(
        self, words: Sequence[_ArrangedWord], start: int, size: int
    ) -> Iterator[tuple[tuple[str, Key], float]]:
        """What stands before and after a block in its sentence, each as near as 1 / (1 + distance)."""
        for side, places in (
            ("before", range(start - 1, -1, -1)),
            ("after", range(start + size, len(words))),
        ):
            found: dict[Key, float] = {}
            distance = 0
            for at in places:
                word = words[at]
                distance += (words[at + 1] if side == "before" else word).gap
                if distance >= _REACH:
                    break
                if word.key in self.common:
                    found.setdefault(word.key, 1 / (1 + distance))
                distance += 1 + (word.low in _JOINERS)
            yield from (((side, key), weight) for key, weight in found.items())

    def _written(self, block: _CommonWords) -> str:
        return " ".join(word.token.text for word in self.one[block.one : block.one + block.size])


def _longest_in_order(order: Sequence[_CommonWords]) -> set[_CommonWords]:
    """The most words that stand in the baseline's order in the response too."""
    best: list[tuple[int, list[_CommonWords]]] = []
    for block in order:
        before = max(
            ((total, chain) for total, chain in best if chain[-1].one < block.one),
            key=lambda each: each[0],
            default=(0, []),
        )
        best.append((before[0] + block.size, [*before[1], block]))
    return set(max(best, key=lambda each: each[0])[1])


@lru_cache(maxsize=2048)
def arranged(baseline: Answer, response: Answer) -> Arrangement:
    """How two answers arrange what they have in common; read once for all that ask."""
    return Arrangement(baseline, response)
