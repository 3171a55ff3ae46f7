"""The verdict: what may be said of a prompt, given outcomes that are partly unknown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.stats.intervals import (
    LEVEL,
    adjusted_interval,
    adjusted_lower_bound,
    lower_bound,
    score_interval,
)
from pytest_promptfuzz.stats.repeats import ALONE, ENOUGH, RepeatEvidence
from pytest_promptfuzz.stats.scores import Counts, bounds, robustness

if TYPE_CHECKING:
    from pytest_promptfuzz.stats.intervals import Credited, Interval
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


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, why in one word, and why in prose."""

    verdict: Verdict
    reason: Reason
    explanation: str


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
    low, high = bounds(counts)
    score = robustness(counts)
    limit = counts.total + counts.not_needed if max_deviations is None else max_deviations
    gate = plain(threshold)
    if not counts.total:
        return Judgement("inconclusive", "nothing-scored", "No trial entered the score.")
    few = counts.deviation <= limit
    if high < threshold or not few:
        return _below(counts, threshold, evidence, few=few, limit=limit)
    if low >= threshold and counts.deviation + counts.unknown + counts.not_needed <= limit:
        if evidence.adjusted is not None and evidence.adjusted < threshold and not counts.unknown:
            return _below(counts, threshold, evidence, few=few, limit=limit)
        return Judgement("pass", "score-reached", _passed(counts, score, gate))
    between = f"the score lies between {plain(low)} and {plain(high)}"
    explanation = f"{_open(counts)}: {between}, and the threshold is {gate}."
    return Judgement("inconclusive", "errors-decide" if counts.error else "undecided-decide", explanation)


def _below(
    counts: Counts, threshold: Fraction, evidence: RepeatEvidence, *, few: bool, limit: int
) -> Judgement:
    """The verdict where the raw outcomes are too bad: are they more than noise?"""
    gate, adjusted, low = plain(threshold), evidence.adjusted, bounds(counts)[0]
    reason: Reason = "score-below-threshold" if few else "too-many-deviations"
    said = f"{_score(robustness(counts))} is below the threshold {gate}"
    if low >= threshold and adjusted is not None:
        said = (
            f"The score adjusted for noise, {plain(adjusted)}, is below the threshold {gate}. The plain score reaches "
            "it, but the first answer to the unmutated prompt, which it is of, may be an odd one"
        )
    if not few:
        said = f"{_count(counts.deviation, 'deviation')}; this test allows {limit}"
    floor, asked = _floor(evidence), _asked(evidence)
    lasting = counts.deviation if evidence.p is None else evidence.lasting
    if evidence.p is None:
        return Judgement("brittle", reason, f"{said}.")  # for all that is known; it is asked again
    enough = adjusted is not None and adjusted >= threshold and lasting <= limit
    if evidence.significant and not enough and (few or lasting > limit):
        besides = ""
        if few and adjusted is not None and low < threshold:
            besides = f"; adjusted for noise it is {plain(adjusted)}"
        return Judgement("brittle", reason, f"{said}{besides}. {asked} The difference is more than noise.")
    if evidence.highest is not None and evidence.highest < threshold:
        return Judgement(
            "noisy",
            "noise-floor",
            f"{said}, but {floor}: the model varies too widely to tell.",
        )
    if enough and adjusted is not None and evidence.answers >= ENOUGH:
        return Judgement(
            "pass",
            "adjusted-reached",
            f"Adjusted for noise, the score {plain(adjusted)} reaches the threshold {gate}: {_lower(said)}, and "
            f"{floor}.",
        )
    confirmed = evidence.confirmed
    back = evidence.later is not None and evidence.later < threshold
    if confirmed is not None and confirmed >= threshold and lasting <= limit and not back:
        return Judgement(
            "pass",
            "not-repeated",
            f"{said}, but what differed hardly came again. {asked} Counting the later answers, the score is "
            f"{plain(confirmed)}.",
        )
    return Judgement(
        "inconclusive",
        "not-significant",
        f"{said}, but that may be noise: {floor}. {asked}{_too_few(evidence)}",
    )


def _passed(counts: Counts, score: Fraction | None, gate: str) -> str:
    text = f"{_score(score)} reaches the threshold {gate}"
    if counts.deviation:
        text = f"Passed with {_count(counts.deviation, 'deviation')}: {text[0].lower()}{text[1:]}"
    if counts.unknown:
        text += f", even if the {_count(counts.unknown, 'trial')} without an outcome had deviated"
    return text + "."


def _open(counts: Counts) -> str:
    """How many trials have no outcome, as a clause."""
    of = f"of {_count(counts.total, 'trial')}"
    errors = f"{counts.error} {of} ended in an error" if counts.error else ""
    undecided = f"{counts.undecided}{'' if errors else f' {of}'} {_is(counts.undecided)} undecided"
    return " and ".join(each for each in (errors, undecided if counts.undecided else "") if each)


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _score(score: Fraction | None) -> str:
    return "No trial was decided" if score is None else f"The score {plain(score)}"


def plain(number: Fraction) -> str:
    """Two digits, or as many as it takes not to look equal to something it is not."""
    text = f"{float(number):.2f}"
    return text if float(number) == float(text) else f"{float(number):.3f}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _floor(evidence: RepeatEvidence) -> str:
    if evidence.floor is None:
        return "how far the unmutated prompt agrees with itself is not known"
    return f"the unmutated prompt agrees with itself {plain(evidence.floor)} ({evidence.baselines} answers)"


def _asked(evidence: RepeatEvidence) -> str:
    more = f" and {evidence.repeats} more to the mutations that differed" if evidence.repeats else ""
    answers = _count(evidence.baselines, "answer")
    return f"The plugin asked again and has {answers} to the unmutated prompt{more}."


def _too_few(evidence: RepeatEvidence) -> str:
    """That no answers of this number could be significant, where that is so; p itself stands in the report."""
    if evidence.least is None or evidence.least <= evidence.alpha:
        return ""
    return " So few answers cannot show that a difference is more than noise."


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


# Gates: what a score must show for a test to pass.
#
# ``point`` holds the score itself against the threshold (``scoring.verdict``). ``confident`` holds what the score
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
            then = f"The stored run's score {plain(paired.before)} was below the threshold {plain(threshold)} as well."
            if found.verdict == "pass":
                found = Judgement("pass", "no-worse", then)
        return _no_worse(found, counts, evidence, paired) if found.verdict == "pass" else found
    return found


def tells(paired: Paired) -> bool:
    """Whether so many pairs could show that a run is worse."""
    return paired.least <= paired.alpha


def _no_worse(passed: Judgement, counts: Counts, evidence: RepeatEvidence, paired: Paired) -> Judgement:
    """A pass, unless the trials came out worse than before: by more than chance, and today by more than noise."""
    said = _compared(paired)
    if not paired.is_worse:
        if paired.may_be_worse:
            return Judgement(
                "inconclusive",
                "errors-decide" if counts.error else "undecided-decide",
                f"{said}. {_trials(paired.unknown)} without an outcome could change that.",
            )
        return replace(passed, explanation=f"{passed.explanation} {said}; that is no more than chance.")
    lasting = paired if evidence.confirmed is None else paired.lasting(evidence.confirmed)
    if evidence.p is None or (evidence.significant and lasting.is_worse):
        noise = "" if evidence.p is None else " and more than the model's own noise"
        return Judgement("brittle", "worse-than-before", f"{said}; that is more than chance{noise}.")
    noise = f"{said}. Asked again, no more of them than chance explains came out worse."
    if not evidence.significant:
        noise = f"{said}. But today the mutations do no more than the model's own noise."
    return replace(passed, explanation=f"{passed.explanation} {noise}")


def _compared(paired: Paired) -> str:
    return (
        f"Of {_trials(paired.pairs)} that the stored run has as well, {paired.worse} came out worse and "
        f"{paired.better} better"
    )


def _trials(number: int) -> str:
    return "1 trial" if number == 1 else f"{number} trials"


def _confident(passed: Judgement, counts: Counts, threshold: Fraction, sampled: Sampled) -> Judgement:
    """A pass, if it is sure enough; trials without an outcome count as deviations, then not at all."""
    gate, limit = plain(threshold), float(threshold)
    least = sampled.least()
    if least >= limit:
        return replace(passed, explanation=f"{passed.explanation} {_exceeds(least, gate)} as well.")
    if counts.unknown and sampled.least(at_worst=False) >= limit:
        return Judgement(
            "inconclusive",
            "errors-decide" if counts.error else "undecided-decide",
            f"{passed.explanation} The gate is 'confident', and {_trials(counts.unknown)} without an outcome decide: "
            f"if they had deviated, {_lower(_exceeds(least, gate, reaches=False))}.",
        )
    return Judgement(
        "inconclusive",
        "not-confident",
        f"{passed.explanation} But {_lower(_exceeds(least, gate, reaches=False))}, and the gate is 'confident'. "
        f"{_mend(sampled, limit)}",
    )


def _exceeds(least: float, gate: str, *, reaches: bool = True) -> str:
    verb = "reaches" if reaches else "does not reach"
    # Rounded down: 0.849 must not read as 0.85.
    return f"The score's lower bound at 95 %, {int(least * 100) / 100:.2f}, {verb} {gate}"


def _mend(sampled: Sampled, threshold: float) -> str:
    needed = sampled.needed(threshold)
    if needed is not None:
        return f"About {needed} mutations are enough if the others do as these did."
    if sampled.floor is not None and sampled.floor < 1:
        return "Ask the unmutated prompt more often (baseline_runs=), or have the model vary less."
    return "The score is so close to the threshold that more mutations do not help: mend the prompt."


# What was sampled of a score: the credits of mutations, from which its interval and its lower bound are made.


@dataclass(frozen=True, slots=True)
class Sampled:
    """The mutations of one test, and what is known of each.

    Attributes:
        credits: Operator and mean credit, 0 to 1, of each mutation that was decided: with the first answer to the
            unmutated prompt, or with all of them where ``floor`` is known.
        missing: The share of each one's trials that have no outcome, 0 to 1, in the same order; empty for none.
        lost: The operators of mutations none of whose trials has an outcome.
        floor: R_bb, above 0; ``None`` where the unmutated prompt was asked once.
        answers: To the unmutated prompt, for each input.
        inputs: With answers of their own.
    """

    credits: Credited
    missing: tuple[float, ...] = ()
    lost: tuple[str, ...] = ()
    floor: Fraction | None = None
    answers: int = 1
    inputs: int = 1

    def interval(self) -> Interval | None:
        """Of the adjusted score, or of the raw one where the floor is not known; nothing for a single mutation."""
        if len(self.credits) < 2:
            return None
        if self.floor is None:
            return score_interval(self.credits)
        return adjusted_interval(self.credits, floor=self.floor, answers=self.answers, inputs=self.inputs)

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
            return lower_bound(credited, level=LEVEL, times=times)
        return adjusted_lower_bound(
            credited, floor=self.floor, answers=self.answers, inputs=self.inputs, times=times
        )
