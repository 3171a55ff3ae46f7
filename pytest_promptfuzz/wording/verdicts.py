"""What a verdict rests on, in sentences: why a test passes, or is brittle, noisy or inconclusive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.stats.scores import bounds, robustness
from pytest_promptfuzz.stats.verdict import (
    ComparedGround,
    ControlsGround,
    ScoreGround,
    SureGround,
    UnaskedGround,
)
from pytest_promptfuzz.wording.sentences import counted, lowered, percent, sentence

if TYPE_CHECKING:
    from fractions import Fraction

    from pytest_promptfuzz.stats.repeats import RepeatEvidence
    from pytest_promptfuzz.stats.scores import Counts
    from pytest_promptfuzz.stats.verdict import Ground, Judgement


def explained(judgement: Judgement) -> str:
    """Why the verdict is what it is."""
    return " ".join(map(_sentence, judgement.grounds))


def decimal(number: Fraction) -> str:
    """Two digits, or three where two would make it look equal to something it is not."""
    text = f"{float(number):.2f}"
    return text if float(number) == float(text) else f"{float(number):.3f}"


def _sentence(ground: Ground) -> str:
    if isinstance(ground, ScoreGround):
        return _of_score(ground)
    if isinstance(ground, ComparedGround):
        return _of_run_before(ground)
    if isinstance(ground, SureGround):
        return _of_lower_bound(ground)
    if isinstance(ground, ControlsGround):
        return _of_controls(ground)
    if isinstance(ground, UnaskedGround):
        return f"{ground.not_needed} of {ground.trials} trials could not change the verdict."
    return sentence(ground)


# The score at its threshold.


def _of_score(ground: ScoreGround) -> str:
    if ground.code == "nothing-scored":
        return "No trial entered the score."
    if ground.code == "score-reached":
        return _reached(ground.counts, decimal(ground.threshold))
    if ground.code in {"errors-decide", "undecided-decide"}:
        low, high = map(decimal, bounds(ground.counts))
        between = f"the score lies between {low} and {high}"
        return (
            f"{_without_outcome(ground.counts)}: {between}, and the threshold is {decimal(ground.threshold)}."
        )
    return _of_score_below(ground)


def _reached(counts: Counts, threshold: str) -> str:
    text = f"{_score(counts)} reaches the threshold {threshold}"
    if counts.deviation:
        text = f"Passed with {counted(counts.deviation, 'deviation')}: {lowered(text)}"
    if counts.unknown:
        text += f", even if the {counted(counts.unknown, 'trial')} without an outcome had deviated"
    return text + "."


def _without_outcome(counts: Counts) -> str:
    """How many trials have no outcome, as a clause."""
    of = f"of {counted(counts.total, 'trial')}"
    errors = f"{counts.error} {of} ended in an error" if counts.error else ""
    verb = "is" if counts.undecided == 1 else "are"
    undecided = f"{counts.undecided}{'' if errors else f' {of}'} {verb} undecided" if counts.undecided else ""
    return " and ".join(filter(None, (errors, undecided)))


def _of_score_below(ground: ScoreGround) -> str:
    evidence, threshold = ground.evidence, decimal(ground.threshold)
    lacking = _lacking(ground)
    if ground.code == "noise-floor":
        return f"{lacking}, but the model varies too widely to tell: {_floor(evidence)}."
    if ground.code == "adjusted-reached" and evidence.adjusted is not None:
        return (
            f"Adjusted for noise, the score {decimal(evidence.adjusted)} reaches the threshold {threshold}: "
            f"{lowered(lacking)}, and {_floor(evidence)}."
        )
    if ground.code == "not-repeated" and evidence.confirmed is not None:
        return (
            f"{lacking}, but most of the differences did not come again in "
            f"{counted(evidence.repeats, 'later answer')}. Counting these answers, the score is "
            f"{decimal(evidence.confirmed)}."
        )
    if ground.code == "not-significant":
        return f"{lacking}, but this run alone cannot tell that from noise: {_floor(evidence)}.{_too_few(evidence)}"
    if evidence.p is None:
        return f"{lacking}.{_alone(ground)}"
    return f"{lacking}{_adjusted(ground)}. The difference is more than noise.{_alone(ground)}"


def _lacking(ground: ScoreGround) -> str:
    """What the raw outcomes lack, as a clause."""
    counts, threshold, adjusted = ground.counts, decimal(ground.threshold), ground.evidence.adjusted
    if counts.deviation > ground.limit:
        return f"{counted(counts.deviation, 'deviation')}; this test allows {ground.limit} (max_deviations)"
    if bounds(counts)[0] >= ground.threshold and adjusted is not None:
        return (
            f"The score adjusted for noise, {decimal(adjusted)}, is below the threshold {threshold}. The plain score "
            "reaches it, but the first answer to the unmutated prompt, which it is of, may be an odd one"
        )
    return f"{_score(counts)} is below the threshold {threshold}"


def _alone(ground: ScoreGround) -> str:
    """That the score is not why, where a test has too many deviations."""
    counts = ground.counts
    if counts.deviation <= ground.limit or bounds(counts)[0] < ground.threshold:
        return ""
    return f" {_score(counts)} alone would pass."


def _adjusted(ground: ScoreGround) -> str:
    """The adjusted score, where the raw one was named."""
    adjusted, counts = ground.evidence.adjusted, ground.counts
    if adjusted is None or counts.deviation > ground.limit or bounds(counts)[0] >= ground.threshold:
        return ""
    return f"; adjusted for noise it is {decimal(adjusted)}"


def _score(counts: Counts) -> str:
    score = robustness(counts)
    return "No trial was decided" if score is None else f"The score {decimal(score)}"


def _floor(evidence: RepeatEvidence) -> str:
    if evidence.floor is None:
        return "it is not known how far the answers to the unmutated prompt agree"
    if evidence.floor == 1:
        return f"the {evidence.baselines} answers to the unmutated prompt agree"
    share = percent(float(evidence.floor))
    return f"the {evidence.baselines} answers to the unmutated prompt agree in {share} of the pairs"


def _too_few(evidence: RepeatEvidence) -> str:
    """That no answers of this number could be significant, where that is so; p itself stands in the report."""
    if evidence.least is None or evidence.least <= evidence.alpha:
        return ""
    return " So few answers cannot show it."


# The trials beside those of a run before.


def _of_run_before(ground: ComparedGround) -> str:
    paired = ground.paired
    if ground.code == "was-below":
        score, threshold = decimal(paired.before), decimal(ground.threshold)
        return f"The stored run's score {score} was below the threshold {threshold} as well."
    compared = (
        f"Of {counted(paired.pairs, 'trial')} that the stored run has as well, {paired.worse} came out worse and "
        f"{paired.better} better"
    )
    if ground.code == "could-be-worse":
        return f"{compared}. {counted(paired.unknown, 'trial')} without an outcome could change that."
    if ground.code == "chance":
        return f"{compared}; that is no more than chance."
    if ground.code == "not-repeated":
        return f"{compared}. Asked again, no more of them than chance explains came out worse."
    if ground.code == "noise":
        return f"{compared}. But today the mutations do no more than the model's own noise."
    noise = " and more than the model's own noise" if ground.tested else ""
    return f"{compared}; that is more than chance{noise}."


# The lower bound of the score.


def _of_lower_bound(ground: SureGround) -> str:
    bound = f"The score's lower bound at 95 %, {int(ground.least * 100) / 100:.2f},"  # 0.849 must not read as 0.85
    threshold = decimal(ground.threshold)
    if ground.code == "sure":
        return f"{bound} reaches {threshold} as well."
    lacking = lowered(f"{bound} does not reach {threshold}")
    if ground.code == "could-be-sure":
        trials = counted(ground.unknown, "trial")
        return f"The gate is 'confident', and {trials} without an outcome decide: if they had deviated, {lacking}."
    return f"But {lacking}, and the gate is 'confident'. {_mend(ground)}"


def _mend(ground: SureGround) -> str:
    if ground.needed is not None:
        return f"About {ground.needed} mutations are enough if the others do as these did."
    if ground.varies:
        return "Ask the unmutated prompt more often (baseline_runs=), or have the model vary less."
    return "The score is so close to the threshold that more mutations do not help: fix the prompt."


# Controls, which have to change the answer.


def _of_controls(ground: ControlsGround) -> str:
    changed = f"{ground.changed} of {ground.asked}"
    names = ", ".join(ground.operators)
    if ground.code == "none-changed":
        return (
            f"{counted(ground.asked, 'control')} should have changed the answer, and none did: this test would pass "
            "whatever the prompt says. Compare the answer itself, or give an input that the answer depends on."
        )
    if ground.code == "constant":
        return (
            f"{counted(ground.asked, 'control')} ({names}) should have changed the answer, and none did. Every answer "
            "of this test is the same, as if the application did not use its prompt. If it does, compare the answer "
            "itself, or give an input that the answer depends on; controls=0 asks for no control."
        )
    if ground.code == "few-changed":
        return f"Only {changed} controls changed the answer: this test would miss changes that matter."
    if ground.code == "too-few-changed":
        noise = ", hardly more than the model changes by itself" if ground.noisy else ""
        return (
            f"The control that changed most answers changed {changed}{noise}: at the threshold "
            f"{decimal(ground.threshold)} this test would pass whatever the prompt says. Give inputs that the answer "
            "depends on, or compare the answer itself."
        )
    return (
        f"No control asked for ({names}) found a place in the prompt, so nothing proved that this test can fail. Name "
        "another control, such as answer-fixed, or ask for none."
    )
