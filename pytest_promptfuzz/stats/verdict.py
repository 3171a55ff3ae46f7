"""The verdict of a test from its outcomes, and gates, in codes and figures; ``wording.verdicts`` has the sentences."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from pytest_promptfuzz.stats.intervals import (
    LEVEL,
    adjusted_interval,
    adjusted_lower_bound,
    lower_bound,
    score_interval,
)
from pytest_promptfuzz.stats.repeats import ALONE, ENOUGH, RepeatEvidence
from pytest_promptfuzz.stats.scores import Counts, bounds

if TYPE_CHECKING:
    from pytest_promptfuzz.notes import Note
    from pytest_promptfuzz.stats.intervals import Credited, Interval
    from pytest_promptfuzz.stats.misclassification import JudgeCorrection
    from pytest_promptfuzz.stats.regressions import Paired


Verdict = Literal["pass", "brittle", "noisy", "inconclusive"]
Reason = Literal[
    "score-reached",
    "adjusted-reached",
    "not-repeated",
    "score-below-threshold",
    "too-many-deviations",
    "noise-floor",
    "not-significant",
    "not-confident",
    "no-worse",
    "worse-than-before",
    "pinned",
    "errors-decide",
    "undecided-decide",
    "not-exercised",
    "not-repeatable",
    "mixed-models",
    "baseline-mixed",
    "baseline-error",
    "budget-spent",
    "nothing-scored",
    "insensitive",
    "no-control",
    "counterexample-found",
    "none-found",
    "interrupted",
]


ComparedCode = Literal["was-below", "could-be-worse", "chance", "worse", "not-repeated", "noise"]
ControlsCode = Literal["none-changed", "constant", "few-changed", "too-few-changed", "no-place"]
SureCode = Literal["sure", "could-be-sure", "not-sure"]


class ScoreGround(NamedTuple):
    """What the score of a test says at its threshold.

    Attributes:
        code: Which of the things that it can say.
        counts: Outcomes of the trials that are scored.
        threshold: What the score must reach.
        limit: How many deviations the test allows.
        evidence: What repeated answers show.
    """

    code: Reason
    counts: Counts
    threshold: Fraction
    limit: int
    evidence: RepeatEvidence


class ComparedGround(NamedTuple):
    """What the trials say beside those of a run before.

    Attributes:
        code: ``was-below`` (that run did not reach the threshold either), ``could-be-worse`` (trials without an outcome
            could make it so), ``chance`` (explains what is worse), ``worse``, ``not-repeated`` (when asked again), or
            ``noise`` (explains what is worse).
        paired: The trials of both runs.
        threshold: What the score must reach.
        tested: Whether today's answers were held against the model's own noise.
    """

    code: ComparedCode
    paired: Paired
    threshold: Fraction
    tested: bool = False


class SureGround(NamedTuple):
    """What the lower bound of a score says at the threshold.

    Attributes:
        code: Whether it reaches it: ``sure``, ``could-be-sure`` (trials without an outcome decide) or ``not-sure``.
        threshold: What it must reach.
        least: The bound, in [0, 1].
        unknown: Trials without an outcome.
        needed: About how many mutations are enough if the others do as these did; ``None`` where none are.
        varies: Whether answers to the unmutated prompt differ among themselves.
    """

    code: SureCode
    threshold: Fraction
    least: float
    unknown: int = 0
    needed: int | None = None
    varies: bool = False


class ControlsGround(NamedTuple):
    """What controls say, which have to change the answer.

    Attributes:
        code: ``none-changed`` it; ``constant``, every answer of the test is the same besides; ``few-changed`` it;
            ``too-few-changed`` it for the threshold; ``no-place``, no control fits the prompt.
        operators: Of these controls; empty where the sentence names none.
        asked: Answers to controls; of the best of them, where a threshold decides.
        changed: How many of these answers differ.
        threshold: What the score must reach.
        noisy: Whether the model's own noise was taken off.
    """

    code: ControlsCode
    operators: tuple[str, ...] = ()
    asked: int = 0
    changed: int = 0
    threshold: Fraction = Fraction(0)
    noisy: bool = False


class UnaskedGround(NamedTuple):
    """The verdict was certain without some of all trials."""

    not_needed: int
    trials: int


Ground: TypeAlias = "ScoreGround | ComparedGround | SureGround | ControlsGround | UnaskedGround | Note | str"
"""Notes are what phases of the evaluation found; texts are what others said of it, such as a provider."""


class Judgement(NamedTuple):
    """A verdict, why in one word, and the grounds, a sentence each; ``wording.verdicts`` words them."""

    verdict: Verdict
    reason: Reason
    grounds: tuple[Ground, ...]

    @classmethod
    def noted(cls, verdict: Verdict, reason: Reason, note: Note) -> Judgement:
        """One on what a phase of the evaluation found."""
        return cls(verdict, reason, (note,))

    def besides(self, ground: Ground) -> Judgement:
        """The same, with one more ground."""
        return self._replace(grounds=(*self.grounds, ground))


def decide(
    counts: Counts,
    threshold: Fraction,
    *,
    max_deviations: int | None = None,
    evidence: RepeatEvidence = ALONE,
) -> Judgement:
    """The verdict of one test from its outcomes, and from what is known of the model's noise.

    Trials without an outcome, not asked ones included, bound it: they are counted all as equivalent, then all as
    deviations. The same verdict both ways is given; otherwise it is inconclusive.

    Where the noise floor is known, the adjusted score is held against the threshold. A test that was asked again is
    brittle only if the difference is significant. Without such evidence, "brittle" says no more than that the
    outcomes are too few.

    Args:
        counts: Outcomes of the trials that are scored.
        threshold: What the score must reach.
        max_deviations: More deviations are brittle whatever the score.
        evidence: What repeated answers show.
    """
    limit = counts.total + counts.not_needed if max_deviations is None else max_deviations
    verdict, reason = _decided(counts, threshold, limit, evidence)
    return Judgement(verdict, reason, (ScoreGround(reason, counts, threshold, limit, evidence),))


def _decided(
    counts: Counts, threshold: Fraction, limit: int, evidence: RepeatEvidence
) -> tuple[Verdict, Reason]:
    low, high = bounds(counts)
    if not counts.total:
        return "inconclusive", "nothing-scored"
    if high < threshold or counts.deviation > limit:
        return _below(counts, threshold, limit, evidence)
    if low >= threshold and counts.deviation + counts.unknown + counts.not_needed <= limit:
        if evidence.adjusted is not None and evidence.adjusted < threshold and not counts.unknown:
            return _below(counts, threshold, limit, evidence)
        return "pass", "score-reached"
    return "inconclusive", _undecided(counts)


def _undecided(counts: Counts) -> Reason:
    """Why trials without an outcome leave a verdict open."""
    return "errors-decide" if counts.error else "undecided-decide"


def _below(
    counts: Counts, threshold: Fraction, limit: int, evidence: RepeatEvidence
) -> tuple[Verdict, Reason]:
    """The verdict where the raw outcomes are too bad: are they more than noise?"""
    few, adjusted = counts.deviation <= limit, evidence.adjusted
    reason: Reason = "score-below-threshold" if few else "too-many-deviations"
    if evidence.p is None:
        return "brittle", reason  # for all that is known; it is asked again
    lasting = evidence.lasting
    enough = adjusted is not None and adjusted >= threshold and lasting <= limit
    if evidence.significant and not enough and (few or lasting > limit):
        return "brittle", reason
    if evidence.highest is not None and evidence.highest < threshold:
        return "noisy", "noise-floor"
    if enough and evidence.answers >= ENOUGH:
        return "pass", "adjusted-reached"
    confirmed = evidence.confirmed
    back = evidence.later is not None and evidence.later < threshold
    if confirmed is not None and confirmed >= threshold and lasting <= limit and not back:
        return "pass", "not-repeated"
    return "inconclusive", "not-significant"


# Gates: what a score must show for a test to pass.
#
# ``point`` holds the score itself against the threshold (``decide``). ``confident`` holds what the score
# exceeds at 95 %, one-sided: a test passes only if its mutations prove as much. ``no-worse`` is ``point``, and besides
# holds the trials against those of a run before: a test that became worse fails, whatever its score.


MOST_TRIALS = 10_000
"""As many as a plan may hold."""

GateName = Literal["point", "confident", "no-worse"]


def decide_at(
    gate: GateName,
    counts: Counts,
    threshold: Fraction,
    *,
    max_deviations: int | None = None,
    evidence: RepeatEvidence = ALONE,
    sampled: Sampled | None = None,
    paired: Paired | None = None,
) -> Judgement:
    """The verdict of one test at a gate.

    Args:
        gate: Which.
        counts: As for :func:`~pytest_promptfuzz.stats.verdict.decide`.
        threshold: What the score, or its lower bound, must reach.
        max_deviations: More deviations are brittle whatever the score.
        evidence: What repeated answers show.
        sampled: What the score was made of; ``None`` while only failing is looked for.
        paired: The trials beside those of a run before; ``None`` where there is none.
    """
    found = decide(counts, threshold, max_deviations=max_deviations, evidence=evidence)
    if gate == "confident" and found.verdict == "pass" and sampled is not None:
        return _confident(found, counts, threshold, sampled)
    if gate == "no-worse" and paired is not None and tells(paired):
        if paired.before < threshold:  # what was accepted then is not asked for now
            found = decide(counts, Fraction(0), max_deviations=max_deviations, evidence=evidence)
            if found.verdict == "pass":
                found = Judgement("pass", "no-worse", (ComparedGround("was-below", paired, threshold),))
        return _no_worse(found, counts, evidence, paired, threshold) if found.verdict == "pass" else found
    return found


def tells(paired: Paired) -> bool:
    """Whether so many pairs could show that a run is worse."""
    return paired.least <= paired.alpha


def _no_worse(
    passed: Judgement, counts: Counts, evidence: RepeatEvidence, paired: Paired, threshold: Fraction
) -> Judgement:
    """A pass, unless the trials came out worse than before: by more than chance, and today by more than noise."""

    def ground(code: ComparedCode) -> ComparedGround:
        return ComparedGround(code, paired, threshold, tested=evidence.p is not None)

    if not paired.is_worse:
        if paired.may_be_worse:
            return Judgement("inconclusive", _undecided(counts), (ground("could-be-worse"),))
        return passed.besides(ground("chance"))
    lasting = paired if evidence.confirmed is None else paired.lasting(evidence.confirmed)
    if evidence.p is None or (evidence.significant and lasting.is_worse):
        return Judgement("brittle", "worse-than-before", (ground("worse"),))
    return passed.besides(ground("not-repeated" if evidence.significant else "noise"))


def _confident(passed: Judgement, counts: Counts, threshold: Fraction, sampled: Sampled) -> Judgement:
    """A pass, if it is sure enough; trials without an outcome count as deviations, then not at all."""
    limit, least = float(threshold), sampled.least()
    if least >= limit:
        return passed.besides(SureGround("sure", threshold, least))
    if counts.unknown and sampled.least(at_worst=False) >= limit:
        open_ = passed.besides(SureGround("could-be-sure", threshold, least, counts.unknown))
        return open_._replace(verdict="inconclusive", reason=_undecided(counts))
    varies = sampled.floor is not None and sampled.floor < 1
    lacking = SureGround("not-sure", threshold, least, counts.unknown, sampled.needed(limit), varies)
    return passed.besides(lacking)._replace(verdict="inconclusive", reason="not-confident")


# What was sampled of a score: the credits of mutations, from which its interval and its lower bound are made.


class Sampled(NamedTuple):
    """The mutations of one test, and what is known of each.

    Attributes:
        credits: Operator and mean credit, 0 to 1, of each mutation that was decided: with the first answer to the
            unmutated prompt, or with all of them where ``floor`` is known.
        missing: The share of each one's trials that have no outcome, 0 to 1, in the same order; empty for none.
        lost: The operators of mutations none of whose trials has an outcome.
        floor: R_bb, above 0; ``None`` where the unmutated prompt was asked once.
        answers: To the unmutated prompt, for each input.
        inputs: With answers of their own.
        correction: For the errors of the judge that decided some of the trials; ``None`` where they are not known.
    """

    credits: Credited
    missing: tuple[float, ...] = ()
    lost: tuple[str, ...] = ()
    floor: Fraction | None = None
    answers: int = 1
    inputs: int = 1
    correction: JudgeCorrection | None = None

    def interval(self) -> Interval | None:
        """Of the adjusted score, or of the raw one where the floor is not known; nothing for a single mutation.

        Where a judge whose errors are known decided some of it, they are in it.
        """
        if len(self.credits) < 2:
            return None
        if self.floor is None:
            found = score_interval(self.credits)
        else:
            found = adjusted_interval(
                self.credits, floor=self.floor, answers=self.answers, inputs=self.inputs
            )
        if self.correction is None:
            return found
        score, scale = self._scaled(self.credits)
        low, high = self.correction.span(score, found.low, found.high, found.level, scale)
        return replace(found, low=low, high=high)

    def _scaled(self, credited: Credited) -> tuple[float, float]:
        """The score that credits make, and what it was multiplied with to adjust it for noise."""
        scale = 1.0 if self.floor is None else 1 / float(self.floor)
        mean = sum(float(credit) for _, credit in credited) / len(credited)
        return min(1.0, mean * scale), scale

    def least(self, *, at_worst: bool = True) -> float:
        """What that score exceeds at 95 %, one-sided, in [0, 1].

        Args:
            at_worst: Whether trials without an outcome count as deviations; otherwise they are left out.
        """
        return self._least(self._at_worst() if at_worst else self.credits)

    def needed(self, threshold: float) -> int | None:
        """About how many mutations it takes that :meth:`least` reaches a threshold, if they go on as these did.

        ``None`` where no number does: their score is not above it, or the floor is known too poorly.
        """
        have = len(self.credits)

        def enough(size: int) -> bool:
            return self._least(self.credits, size / have) >= threshold

        if not have or not enough(MOST_TRIALS):
            return None
        low, high = 0, MOST_TRIALS
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    def _at_worst(self) -> Credited:
        missing = self.missing or (0.0,) * len(self.credits)
        known = [
            (operator, float(credit) * (1 - share))
            for (operator, credit), share in zip(self.credits, missing, strict=True)
        ]
        return [*known, *((operator, 0.0) for operator in self.lost)]

    def _least(self, credited: Credited, times: float = 1.0) -> float:
        if not credited:
            return 0.0
        if self.floor is None:
            least = lower_bound(credited, level=LEVEL, times=times)
        else:
            least = adjusted_lower_bound(
                credited, floor=self.floor, answers=self.answers, inputs=self.inputs, times=times
            )
        if self.correction is None:
            return least
        score, scale = self._scaled(credited)
        # One-sided at 95 % is two-sided at 90 %; and no correction makes a score surer than it is without.
        return min(least, self.correction.span(score, least, score, 2 * LEVEL - 1, scale)[0])
