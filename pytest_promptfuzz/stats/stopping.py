"""Stopping rules: when a verdict is certain, or likely enough, and how many mutations are asked at a time.

A plan is asked in batches, since calls that are under way are paid whatever becomes of them. How large a batch is
follows from the plan and the answers so far, never from the time they took: the same answers stop at the same place, in
sequence as concurrently.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from pytest_promptfuzz.stats.scores import EQUIVALENT_CREDIT, MINOR_CREDIT, Counts
from pytest_promptfuzz.stats.verdict import decide

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.stats.repeats import RepeatEvidence


Ending = Literal["pass", "brittle"]
Stop = Literal["certain", "sprt", "sequential", "never"]
STOPS: tuple[Stop, ...] = ("certain", "sprt", "sequential", "never")


_NO_COUNTS = Counts()


class StoppingRule(Protocol):
    """Says when evidence suffices, short of certainty."""

    def ending(self, counts: Counts) -> Ending | None:
        """The verdict that the trials so far suffice for; ``None`` for none."""
        ...


class PlanGate(NamedTuple):
    """What a whole plan is held against.

    Attributes:
        planned: Trials that the score is of, once all were asked.
        threshold: What their score must reach, in [0, 1].
        max_deviations: More deviations than this are brittle whatever the score; ``None`` sets no limit.
        by_score: Whether reaching the threshold is enough to pass, so that "pass" can be certain early.
    """

    planned: int
    threshold: Fraction
    max_deviations: int | None = None
    by_score: bool = True

    @property
    def allowed(self) -> Fraction:
        """The share of credit that a passing prompt may lose."""
        allowed = 1 - self.threshold
        if self.max_deviations is not None and self.planned:
            allowed = min(allowed, Fraction(self.max_deviations, self.planned))
        return allowed

    def ending(self, counts: Counts) -> Ending | None:
        """The verdict that every continuation leads to; ``None`` while there are two.

        Args:
            counts: Of the trials asked so far. Those without an outcome may turn out either way.
        """
        if self.to_break(counts) == 0:
            return "brittle"
        return "pass" if self.to_pass(counts) == 0 else None

    def to_break(self, counts: Counts) -> int | None:
        """The fewest further trials after which "brittle" is certain, if all deviate; ``None`` if none suffice."""
        # Tenths that may still be lost, were everything else equivalent.
        spare = EQUIVALENT_CREDIT * self.planned * (1 - self.threshold) - _lost(counts)
        needed = max(0, math.floor(spare / EQUIVALENT_CREDIT) + 1)
        if self.max_deviations is not None:
            needed = min(needed, max(0, self.max_deviations + 1 - counts.deviation))
        return needed if needed <= self._left(counts) else None

    def to_pass(self, counts: Counts) -> int | None:
        """The fewest further trials after which "pass" is certain, if all are equivalent; ``None`` if none suffice."""
        if not self.by_score:
            return None
        left = self._left(counts)
        gained = EQUIVALENT_CREDIT * counts.equivalent + MINOR_CREDIT * counts.minor
        missing = EQUIVALENT_CREDIT * self.planned * self.threshold - gained
        needed = max(0, math.ceil(missing / EQUIVALENT_CREDIT))
        if self.max_deviations is not None:
            # What is left unasked might deviate, and so might what has no outcome.
            needed = max(needed, counts.deviation + counts.unknown + left - self.max_deviations)
        return needed if needed <= left else None

    def _left(self, counts: Counts) -> int:
        return self.planned - counts.total


class Stopping(NamedTuple):
    """When a plan has been asked for long enough.

    Attributes:
        gate: What the plan is held against.
        rule: What may end it before the verdict is certain; ``None`` for nothing.
        waits: Whether each batch is a round of waiting that nothing else fills.
    """

    gate: PlanGate
    rule: StoppingRule | None = None
    waits: bool = False

    @property
    def decides(self) -> bool:
        """Whether there is anything to decide: a test that cannot fail is asked for its score, and in full."""
        return self.gate.planned > 0 and self.gate.ending(_NO_COUNTS) is None

    def ending(self, counts: Counts) -> Ending | None:
        """The verdict that may be given without the rest of the plan; ``None`` while more is to be asked.

        Args:
            counts: Of the trials asked so far.
        """
        if not self.decides:
            return None
        found = self.gate.ending(counts)
        if found is None and self.rule is not None and 0 < counts.total < self.gate.planned:
            found = self.rule.ending(counts)
            if found == "pass" and not self.gate.by_score:
                return None
        return found

    def batch(self, counts: Counts) -> int:
        """How many trials to ask next, from 1 to all that are left; 0 when none is.

        First as many as could make "pass" certain, but no more than three eighths of the plan: by then most prompts
        that break at nearly half of their mutations have shown it. After that, where what is lost so far is no more
        than the threshold allows, as many as could make "pass" certain, so that a robust prompt takes two batches;
        otherwise an eighth of the plan, since each batch may be the last. Never so few that nothing could come of them.

        Where each batch is a wait, and nothing short of certainty suffices: as many as could make "pass" certain, then
        all that is left, so that a robust prompt waits once.
        """
        left = self.gate.planned - counts.total
        if left <= 0 or not self.decides:
            return max(0, left)
        to_break, to_pass = self._to("brittle", counts, left), self._to("pass", counts, left)
        fewest = min(to_break, to_pass)
        if self.waits and self.rule is None:
            return left if counts.total else to_pass
        if not counts.total:
            return max(fewest, min(to_pass, -(-3 * left // 8)))
        if _lost(counts) <= EQUIVALENT_CREDIT * counts.decided * self.gate.allowed:
            return to_pass
        return min(left, max(fewest, -(-self.gate.planned // 8)))

    def _to(self, verdict: Ending, counts: Counts, left: int) -> int:
        """The fewest further trials of one kind that could end it so; ``left`` if none could."""
        certain = self.gate.to_break(counts) if verdict == "brittle" else self.gate.to_pass(counts)
        most = left if certain is None else certain
        if self.rule is None or most <= 1:
            return max(1, most)
        return 1 + bisect_left(range(1, most), 1, key=lambda more: self._ends(verdict, counts, more))

    def _ends(self, verdict: Ending, counts: Counts, more: int) -> bool:
        bad = verdict == "brittle"
        then = Counts(
            counts.equivalent + (0 if bad else more),
            counts.minor,
            counts.deviation + (more if bad else 0),
            counts.undecided,
            counts.error,
        )
        return self.ending(then) == verdict


def _lost(counts: Counts) -> int:
    """Tenths of credit that the decided trials did not get."""
    return EQUIVALENT_CREDIT * counts.deviation + (EQUIVALENT_CREDIT - MINOR_CREDIT) * counts.minor


# Stopping on evidence, short of certainty: Wald's probability ratio, or an interval that holds at every look.
#
# Both watch the share of credit that mutations lose, against the share that the threshold allows. They take the
# mutations of a plan for independent draws of what its operators make. A minor variation loses three tenths of what a
# deviation does: likelihoods are raised to the share lost, and stay fair bets, since a^x b^(1-x) lies below its chord
# for x from 0 to 1.
#
# Sources: A. Wald, Sequential Analysis, 1947 (probability ratio); H. Robbins, Statistical methods related to the law of
# the iterated logarithm, 1970 (mixtures); I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables
# by betting, 2024 (bounded losses).


ERROR = 0.05
"""How often each rule may be wrong, each way, were it never cut short."""
MARGIN = 0.15
"""How much more than the threshold allows is lost by a prompt that a test must not miss (0.30 broken at 0.85)."""
_SLACK = 1e-9  # logarithms differ by less from machine to machine


class ProbabilityRatio(NamedTuple):
    """Wald's sequential probability ratio test of the share that is lost.

    It holds ``allowed``, which passes, against ``broken``, which must not; what lies between may be called either.

    Attributes:
        allowed: The share of credit that a passing prompt may lose, in [0, 1).
        error: Either way.
    """

    allowed: float
    error: float = ERROR

    @property
    def broken(self) -> float:
        """The share lost from which a prompt must be called brittle, in (0, 1)."""
        return min(self.allowed + MARGIN, (self.allowed + 1) / 2)

    def ending(self, counts: Counts) -> Ending | None:
        """The verdict that the trials so far suffice for, counting those without an outcome either way."""
        bound = math.log((1 - self.error) / self.error) - _SLACK
        least, most = _losses(counts)
        if self._log_ratio(least, counts.total) >= bound:
            return "brittle"
        return "pass" if self._log_ratio(most, counts.total) <= -bound else None

    def _log_ratio(self, lost: float, total: int) -> float:
        if lost and not self.allowed:
            return math.inf
        ratio = lost * math.log(self.broken / self.allowed) if lost else 0.0
        return ratio + (total - lost) * math.log((1 - self.broken) / (1 - self.allowed))


class AlwaysValid(NamedTuple):
    """An interval for the share that is lost that holds however often one looks; ends with ``allowed`` outside.

    What bets against a share is a mixture of likelihoods, Beta(½, ½). By Ville's inequality the interval ever misses
    the true share with a probability of at most ``error``.

    Attributes:
        allowed: The share of credit that a passing prompt may lose, in [0, 1).
        error: Of the interval, both sides.
    """

    allowed: float
    error: float = ERROR

    def ending(self, counts: Counts) -> Ending | None:
        """The verdict that the trials so far suffice for, counting those without an outcome either way."""
        least, most = _losses(counts)
        limit = self.allowed * counts.total
        if least > limit and self._excluded(least, counts.total, self.allowed):
            return "brittle"
        return "pass" if most < limit and self._excluded(most, counts.total, self.allowed) else None

    def interval(self, counts: Counts) -> tuple[float, float]:
        """The interval of the score, in [0, 1]; trials without an outcome widen it both ways."""
        least, most = _losses(counts)
        return 1 - self._end(most, counts.total, 1.0), 1 - self._end(least, counts.total, 0.0)

    def _end(self, lost: float, total: int, outside: float) -> float:
        """The end of the interval of the share that lies between what was seen and ``outside``, by bisection."""
        inside = lost / total if total else outside
        if not self._excluded(lost, total, outside):
            return outside
        for _ in range(50):
            middle = (inside + outside) / 2
            if self._excluded(lost, total, middle):
                outside = middle
            else:
                inside = middle
        return inside

    def _excluded(self, lost: float, total: int, share: float) -> bool:
        kept = total - lost
        if (lost and not share) or (kept and share == 1):
            return True
        likelihood = (lost * math.log(share) if lost else 0.0) + (kept * math.log1p(-share) if kept else 0.0)
        mixture = _log_beta(lost + 0.5, kept + 0.5) - _log_beta(0.5, 0.5)
        return mixture - likelihood >= -math.log(self.error) - _SLACK


def _losses(counts: Counts) -> tuple[float, float]:
    """The least and the most that is lost, in trials."""
    lost = counts.deviation + counts.minor * (EQUIVALENT_CREDIT - MINOR_CREDIT) / EQUIVALENT_CREDIT
    return lost, lost + counts.unknown


def _log_beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)


# How a way of stopping operates: how often it passes what it should not, calls brittle what it should not, and asks.
#
# Computed for a given plan by going through every course that its batches can take, not simulated.


_NEGLIGIBLE = 1e-13  # courses less likely than this are left out
_MOST_SHOWN = 256  # trials of a plan whose courses are gone through in well under a second


def stopping(stop: Stop, gate: PlanGate, *, waits: bool = False) -> Stopping | None:
    """What ``stop=`` means for a plan; ``None`` asks all of it.

    Args:
        stop: The way of stopping.
        gate: What the plan is held against.
        waits: Whether each batch is a round of waiting that nothing else fills.
    """
    allowed = float(gate.allowed)
    if stop == "never":
        return None
    if stop == "sprt":
        return Stopping(gate, ProbabilityRatio(allowed), waits)
    return Stopping(gate, AlwaysValid(allowed) if stop == "sequential" else None, waits)


class Operating(NamedTuple):
    """What becomes of prompts of which a given share of mutations breaks.

    Attributes:
        share: Of mutations that deviate, in [0, 1].
        brittle: The probability of the verdict brittle; all others pass.
        asked: How many trials are asked on average.
        batches: In how many batches on average.
    """

    share: float
    brittle: float
    asked: float
    batches: float


def operating(how: Stopping | None, gate: PlanGate, share: float) -> Operating:
    """What becomes of prompts of which each mutation breaks with a probability of ``share``, the model else steady.

    Args:
        how: The way of stopping; ``None`` asks the whole plan.
        gate: What the plan is held against.
        share: In [0, 1].
    """
    courses: dict[tuple[int, int], list[float]] = {(0, 0): [1.0, 0.0]}  # probability; batches, weighted by it
    waiting = [(0, 0)]
    brittle = asked = batches = 0.0
    while waiting:
        total, deviations = place = heappop(waiting)
        likely, taken = courses.pop(place)
        counts = Counts(equivalent=total - deviations, deviation=deviations)
        found = how.ending(counts) if how is not None else None
        if total == gate.planned:
            found = gate.ending(counts)
        if found is not None:
            asked += likely * total
            batches += taken
            brittle += likely * (found == "brittle")
            continue
        size = how.batch(counts) if how is not None else gate.planned
        for more, probability in _binomial(size, share):
            then = (total + size, deviations + more)
            if then not in courses:
                courses[then] = [0.0, 0.0]
                heappush(waiting, then)
            courses[then][0] += likely * probability
            courses[then][1] += (taken + likely) * probability
    return Operating(share, brittle, asked, batches)


class StopErrors(NamedTuple):
    """How often prompts of a kind get the wrong verdict.

    Attributes:
        share: Of their mutations that deviate, in [0, 1].
        stopped: How often they do with a plan that is ended on evidence, in [0, 1].
        whole: How often with every trial of it.
    """

    share: float
    stopped: float
    whole: float


class EarlyStop(NamedTuple):
    """A plan that was ended on evidence, short of certainty.

    Attributes:
        asked: Trials that were asked.
        planned: Trials of the plan.
        interval: The score's, which holds at every look; ``None`` where a probability ratio decided.
        errors: Of prompts that just reach the threshold, and of those that it is to catch; ``None`` for a long plan.
    """

    asked: int
    planned: int
    interval: tuple[float, float] | None
    errors: tuple[StopErrors, StopErrors] | None


def early_stop(how: Stopping, counts: Counts) -> EarlyStop:
    """What stopping on this evidence means: its error rates for this plan, beside those of all of it."""
    gate, rule = how.gate, how.rule
    interval = rule.interval(counts) if isinstance(rule, AlwaysValid) else None
    if gate.planned > _MOST_SHOWN:
        return EarlyStop(counts.total, gate.planned, interval, None)
    allowed = float(gate.allowed)
    broken = ProbabilityRatio(allowed).broken
    passing, failing = operating(how, gate, allowed), operating(how, gate, broken)
    whole = [operating(None, gate, share) for share in (allowed, broken)]
    errors = (
        StopErrors(allowed, passing.brittle, whole[0].brittle),
        StopErrors(broken, 1 - failing.brittle, 1 - whole[1].brittle),
    )
    return EarlyStop(counts.total, gate.planned, interval, errors)


def _binomial(size: int, share: float) -> Iterator[tuple[int, float]]:
    if share in {0.0, 1.0}:
        yield size * int(share), 1.0
        return
    for more in range(size + 1):
        logarithm = math.lgamma(size + 1) - math.lgamma(more + 1) - math.lgamma(size - more + 1)
        probability = math.exp(logarithm + more * math.log(share) + (size - more) * math.log1p(-share))
        if probability > _NEGLIGIBLE:
            yield more, probability


# In which order the trials of a plan are asked, so that whatever is asked first is a fair part of it.


def fair_order(labels: Sequence[Sequence[str]], ids: Sequence[str], *, seed: int = 0) -> list[int]:
    """An order in which every group is spread evenly, and its subgroups within it.

    Args:
        labels: The groups of each trial, the widest first: dimension, operator.
        ids: What each trial is known by, each different; with the seed they decide between equals.
        seed: Any int.

    Returns:
        The places of the trials, each once. Of k trials of a group among n, the first m hold m·k/n, give or take one
        a group.
    """
    keys = [hashlib.sha256(f"{seed}\n{each}".encode()).digest() for each in ids]

    def spread(places: list[int], depth: int) -> list[int]:
        groups: dict[str, list[int]] = {}
        for place in places:
            groups.setdefault(labels[place][depth] if depth < len(labels[place]) else "", []).append(place)
        if all(depth >= len(labels[place]) for place in places):
            return sorted(places, key=keys.__getitem__)
        turns = [
            (Fraction(2 * turn + 1, 2 * len(members)), keys[place], place)
            for members in groups.values()
            for turn, place in enumerate(spread(members, depth + 1))
        ]
        return [place for _, _, place in sorted(turns)]

    return spread(list(range(len(ids))), 0)


# Whether a verdict on part of a plan is the verdict on all of it, with what is known of the model's noise.


def settled(how: Stopping, counts: Counts, evidence: RepeatEvidence) -> bool:
    """Whether the rest of the plan need not be asked.

    It need not where the verdict stays the same were the rest as good, or as bad, as it can be: also when what was seen
    is adjusted for noise. Where a rule said that the evidence suffices, it need not if the verdict is the rule's.

    Args:
        how: When to stop.
        counts: Of the trials asked.
        evidence: What repeated answers show.
    """
    gate = how.gate
    left = gate.planned - counts.total
    if not left:
        return True
    found = how.ending(counts)
    if found is not None and gate.ending(counts) is None:
        verdict = decide(
            counts, gate.threshold, max_deviations=gate.max_deviations, evidence=evidence
        ).verdict
        return verdict == found
    best = replace(counts, equivalent=counts.equivalent + left)
    worst = replace(counts, deviation=counts.deviation + left)
    verdicts = {
        decide(
            rest,
            gate.threshold,
            max_deviations=gate.max_deviations,
            evidence=_with_rest(
                evidence, Fraction(counts.total, gate.planned), bad=left if rest is worst else 0
            ),
        ).verdict
        for rest in (best, worst)
    }
    return len(verdicts) == 1 and (gate.by_score or "pass" not in verdicts)


def _with_rest(evidence: RepeatEvidence, part: Fraction, *, bad: int) -> RepeatEvidence:
    """The evidence were the rest of the plan asked, and kept all or lost all.

    Args:
        evidence: Of the part that was asked.
        part: How much of the plan that is.
        bad: How many of the rest deviate: all or none.
    """
    kept = 0 if bad else 1 - part

    def whole(score: Fraction | None) -> Fraction | None:
        return None if score is None else part * score + kept

    return replace(
        evidence,
        adjusted=whole(evidence.adjusted),
        confirmed=whole(evidence.confirmed),
        lasting=evidence.lasting + bad,
    )
