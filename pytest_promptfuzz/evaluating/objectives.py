"""What a search looks for: how near an answer is to what must not happen, and whether it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from pytest_promptfuzz.comparing.compare import compare
from pytest_promptfuzz.comparing.formats.data_text import plain, text_of
from pytest_promptfuzz.comparing.metrics import TIERS, measure
from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.searching.searching import Seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.scoring.trial import Trial

BLEU_BELOW = 0.2
"""BLEU under which a translation counts as another one (S3)."""
NEAR = 0.999
"""The loss of an answer that is as bad as can be and still not there."""
_SPELLED = {"bleu": "BLEU", "chrf": "chrF", "rouge-l": "ROUGE-L"}


class Answer(NamedTuple):
    """What an objective sees of an answer.

    Attributes:
        value: It, as plain data.
        outcome: What the test's own comparison and assertions say: ``equivalent``, ``minor``, ``deviation``,
            ``undecided``.
        similarity: The comparison's, 0 to 1; ``None`` where it has none.
        why: Why it is that outcome, in one line.
    """

    value: Any
    outcome: str = "equivalent"
    similarity: float | None = 1.0
    why: str = ""


class Objective(Protocol):
    """What a search looks for. ``name`` is for reports."""

    @property
    def name(self) -> str:
        """How reports name it."""

    def __call__(self, baseline: Answer, answer: Answer) -> Seen:
        """How near an answer is to the goal, in [0, 1], and whether it is there.

        Raises:
            UsageError: The answers are not of a kind that it can read.
        """


def said(objective: Objective, baseline: Answer, answer: Answer) -> str:
    """Why an answer that reaches an objective's goal does, in one line."""
    told: Callable[[Answer, Answer], str] | None = getattr(objective, "said", None)
    return (told(baseline, answer) if callable(told) else "") or f"{objective.name} is reached"


def answer_of(trial: Trial) -> Answer:
    """A trial as objectives see it."""
    comparison = trial.comparison
    if trial.failure is not None:
        first = (trial.failure.message.strip().splitlines() or [""])[0]
        return Answer(trial.value, trial.outcome, 0.0, f"{trial.failure.type}: {first}".removesuffix(": "))
    return Answer(
        trial.value,
        trial.outcome,
        None if comparison is None else comparison.similarity,
        "" if comparison is None else comparison.explanation,
    )


@dataclass(frozen=True, slots=True)
class Deviation:
    """The answer is a deviation, as a test would see it: an assertion fails, or comparison says so.

    Attributes:
        minor: Whether a minor difference is enough.
        judged: Whether a judge says what is another answer, for reports.
    """

    minor: bool = False
    judged: bool = False

    @property
    def name(self) -> str:
        """How reports name it."""
        if self.judged:
            return "judge"
        return "minor" if self.minor else "deviation"

    def __call__(self, baseline: Answer, answer: Answer) -> Seen:  # noqa: ARG002 (the outcome compares them)
        """See ``Objective``."""
        if answer.outcome == "deviation" or (self.minor and answer.outcome == "minor"):
            return Seen(1.0, reached=True)
        if answer.similarity is None:
            return Seen(0.5 if answer.outcome == "undecided" else 0.0, reached=False)
        return Seen(min(NEAR, 1.0 - answer.similarity), reached=False)

    def said(self, baseline: Answer, answer: Answer) -> str:  # noqa: ARG002 (as the others)
        """Why an answer is there: what fails, or how the comparison puts it."""
        return answer.why


@dataclass(frozen=True, slots=True)
class LabelFlip:
    """The answer's label is another one. All that is known of an answer is whether it is: what model APIs give."""

    name: str = "label"

    def __call__(self, baseline: Answer, answer: Answer) -> Seen:
        """See ``Objective``."""
        found = compare(
            _label(baseline.value),
            _label(answer.value),
            task="classification",
            semantic=False,
            entailment=False,
        )
        reached = found.outcome == "deviation"
        return Seen(float(reached), reached)

    def said(self, baseline: Answer, answer: Answer) -> str:
        """Why an answer is there."""
        return f"label {_label(baseline.value)!r:.80} became {_label(answer.value)!r:.80}"


@dataclass(frozen=True, slots=True)
class Confidence:
    """The label that the target is surest of is another one; the loss is what confidence in the right one was lost.

    Answers are mappings of label to confidence, or hold ``label`` and ``confidence`` (0 to 1).
    """

    name: str = "confidence"

    def __call__(self, baseline: Answer, answer: Answer) -> Seen:
        """See ``Objective``."""
        right, _ = _surest(baseline.value)
        likeliest, _ = _surest(answer.value)
        now = _confidences(answer.value)
        sure = now.get(right)
        if sure is None:  # another label, of which alone it is known how sure it is
            sure = 1.0 - max(now.values())
        return Seen(min(1.0, max(0.0, 1.0 - sure)), likeliest != right)

    def said(self, baseline: Answer, answer: Answer) -> str:
        """Why an answer is there."""
        before, now = (_surest(each.value) for each in (baseline, answer))
        return f"label {before[0]!r:.80} ({before[1]:.2g} sure) became {now[0]!r:.80} ({now[1]:.2g} sure)"


@dataclass(frozen=True, slots=True)
class Unlike:
    """The answer is less like a reference than a bound, by one of the measures of ``comparing.tiers``.

    Attributes:
        tier: The measure's name.
        below: The bound, in (0, 1]: an answer is there when it is less like.
        reference: What it is held against; ``None`` is the baseline's answer.
    """

    tier: str = "bleu"
    below: float = BLEU_BELOW
    reference: str | None = None

    def __post_init__(self) -> None:
        """Refuse a measure or a bound that is none."""
        measure(self.tier)
        if isinstance(self.below, bool) or not isinstance(self.below, int | float) or not 0 < self.below <= 1:
            raise UsageError(f"objective: below={self.below!r} must be a number above 0 and up to 1.")

    @property
    def name(self) -> str:
        """How reports name it."""
        return f"{self.tier} below {self.below:g}"

    def __call__(self, baseline: Answer, answer: Answer) -> Seen:
        """See ``Objective``."""
        likeness = self._likeness(baseline, answer)
        return Seen(min(1.0, max(0.0, 1.0 - likeness)), likeness < self.below)

    def said(self, baseline: Answer, answer: Answer) -> str:
        """Why an answer is there."""
        likeness = floor(1000 * self._likeness(baseline, answer)) / 1000  # rounded up it might not be below
        return f"{_SPELLED.get(self.tier, self.tier)} {likeness:g} is below {self.below:g}"

    def _likeness(self, baseline: Answer, answer: Answer) -> float:
        reference = text_of(baseline.value) if self.reference is None else self.reference
        likeness = measure(self.tier)(reference, text_of(answer.value))
        return 1.0 if likeness is None else likeness  # too long to be measured


@dataclass(frozen=True, slots=True)
class Own:
    """A function of the user's, of the baseline's value and the answer's.

    It returns whether the answer is there, or how near it is, from 0 to 1, where 1 is there.
    """

    function: Callable[[Any, Any], object]

    @property
    def name(self) -> str:
        """How reports name it."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def __call__(self, baseline: Answer, answer: Answer) -> Seen:
        """See ``Objective``."""
        said = self.function(baseline.value, answer.value)
        if isinstance(said, bool):
            return Seen(float(said), said)
        if isinstance(said, int | float) and 0 <= said <= 1:
            return Seen(float(said), said >= 1)
        raise UsageError(
            f"objective: {self.name} returned {said!r:.80}; return whether the answer is what must not happen, or how "
            "near it is, from 0 to 1."
        )

    def said(self, baseline: Answer, answer: Answer) -> str:  # noqa: ARG002 (the function is not called twice)
        """Why an answer is there."""
        return f"{self.name} says that it is what must not happen"


_NAMED: dict[str, Callable[[], Objective]] = {
    "deviation": Deviation,
    "minor": lambda: Deviation(minor=True),
    "label": LabelFlip,
    "confidence": Confidence,
    "judge": lambda: Deviation(judged=True),
    "bleu": Unlike,
}


def objective_of(wanted: object, where: str) -> Objective:
    """The objective that is meant: by its name, as ``TIER<BOUND``, as an object with a name, or as a function.

    Raises:
        UsageError: There is none of that name, or a bound out of range.
    """
    if isinstance(wanted, str):
        if wanted in _NAMED:
            return _NAMED[wanted]()
        tier, sign, bound = wanted.partition("<")
        if sign and tier.strip() in TIERS:
            try:
                below = float(bound)
            except ValueError:
                raise UsageError(
                    f"{where}: objective={wanted!r}: {bound.strip()!r} is no number; write {tier.strip()}<0.5, say."
                ) from None
            if not 0 < below <= 1:
                raise UsageError(
                    f"{where}: objective={wanted!r}: {bound.strip()} must be a number above 0 and up to 1."
                )
            return Unlike(tier.strip(), below)
        known = [*_NAMED, *(f"{name}<0.5" for name in TIERS)]
        raise UsageError(f"{where}: there is no objective {wanted!r}. {nearest(wanted, known)}")
    if not callable(wanted):
        raise UsageError(
            f"{where}: objective={wanted!r:.80} must be a name ({', '.join(_NAMED)}), such as 'rouge-l<0.5', or a "
            "function of the baseline's answer and the answer."
        )
    if isinstance(getattr(wanted, "name", None), str):
        return cast("Objective", wanted)
    return Own(wanted)


def _label(value: Any) -> str:
    value = plain(value)
    if isinstance(value, Mapping) and "label" in value:
        value = value["label"]
    elif isinstance(value, Mapping) and value and all(_is_share(each) for each in value.values()):
        value = max(value.items(), key=lambda each: each[1])[0]
    return text_of(value)


def _surest(value: Any) -> tuple[str, float]:
    """The label that is likeliest, and how sure it is."""
    return max(_confidences(value).items(), key=lambda each: each[1])


def _confidences(value: Any) -> dict[str, float]:
    value = plain(value)
    if isinstance(value, Mapping):
        if "label" in value and _is_share(value.get("confidence")):
            return {str(value["label"]): float(value["confidence"])}
        if value and all(_is_share(each) for each in value.values()):
            return {str(label): float(share) for label, share in value.items()}
    raise UsageError(
        f"objective='confidence': the answer {value!r:.80} is no mapping of labels to confidences from 0 to 1, and "
        "has no 'label' and 'confidence'. Use objective='label' for a target that only names a label."
    )


def _is_share(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value <= 1
