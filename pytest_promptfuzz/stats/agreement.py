"""How far ratings agree: weighted kappa, content and quality deltas, a judge's agreement, gold answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.stats.misclassification import JudgeCorrection


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two ratings of one thing agree, over many things.

    Attributes:
        equal: Pairs of ratings that are equal.
        pairs: All pairs of ratings.
        kappa: Weighted kappa, -1 to 1; ``None`` where chance alone would make them agree, as of ratings that are all
            the same.
    """

    equal: int
    pairs: int
    kappa: float | None

    @property
    def share(self) -> float | None:
        """The share of pairs that are equal, 0..1; ``None`` without pairs."""
        return self.equal / self.pairs if self.pairs else None

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]], categories: Sequence[int] = (1, 2, 3)) -> Agreement:
        """Over pairs of ratings, each of a thing by two raters, in two orders or at two times."""
        both = list(pairs)
        return cls(sum(one == two for one, two in both), len(both), weighted_kappa(both, categories))


KappaWeights = Literal["quadratic", "linear"]


def weighted_kappa(
    pairs: Sequence[tuple[int, int]],
    categories: Sequence[int] = (1, 2, 3),
    weights: KappaWeights = "quadratic",
) -> float | None:
    """Cohen's weighted kappa: ``1 - Σ w·observed / Σ w·expected``, with ``w = (i - j)² / (k - 1)²`` or its root.

    Args:
        pairs: What the first and the second rater said of each thing.
        categories: All ratings there are, in order; their ranks are weighted, not their values.
        weights: ``quadratic``, or ``linear``: ``w = |i - j| / (k - 1)``.

    Returns:
        1.0 for full agreement, 0.0 for what chance would make, below for less; ``None`` where the expected
        disagreement is 0: no pairs, or each rater always said the same one thing.

    Raises:
        ValueError: A rating is none of the categories.

    Source: Cohen, Weighted kappa, Psychological Bulletin 70 (1968).

    >>> weighted_kappa([(1, 1), (2, 2), (3, 3), (3, 2)])
    0.8
    """
    rank = {category: place for place, category in enumerate(categories)}
    if any(rating not in rank for pair in pairs for rating in pair):
        raise ValueError(f"ratings must be among {list(categories)}")
    firsts = [rank[one] for one, _ in pairs]
    seconds = [rank[two] for _, two in pairs]
    # The weights' common divisor and the number of pairs cancel out: all is whole numbers up to the last division.
    power = 2 if weights == "quadratic" else 1
    observed = len(pairs) * sum(abs(one - two) ** power for one, two in zip(firsts, seconds, strict=True))
    expected = sum(
        abs(one - two) ** power * firsts.count(one) * seconds.count(two)
        for one in set(firsts)
        for two in set(seconds)
    )
    return 1 - observed / expected if expected else None


# ΔContent, ΔQuality and Overall: how often content changes, and how often the quality changes with it.
#
# Source: S2 of docs/operators.md, the enterprise benchmark.


SAME = 3
"""The rating of answers that say the same; 2 and 1 are content that changed."""


def content_delta(ratings: Sequence[int]) -> Fraction | None:
    """The share of pairs whose content changed: those rated below 3; ``None`` without pairs.

    >>> content_delta([3] * 50 + [2] * 30 + [1] * 20)
    Fraction(1, 2)
    """
    return Fraction(sum(each < SAME for each in ratings), len(ratings)) if ratings else None


def quality_delta(changed: Iterable[bool]) -> Fraction:
    """Of the pairs whose content changed, the share in which any measure of quality changed, either way.

    Defined as 1 where no content changed: there is nothing in which quality could have stayed.

    >>> quality_delta([True] * 15 + [False] * 35), quality_delta([])
    (Fraction(3, 10), Fraction(1, 1))
    """
    each = list(changed)
    return Fraction(sum(each), len(each)) if each else Fraction(1)


def overall(content: Fraction, quality: Fraction) -> Fraction:
    """``1 - ΔContent · ΔQuality``, in [0, 1].

    >>> float(overall(Fraction(1, 2), Fraction(3, 10)))
    0.85
    """
    return 1 - content * quality


@dataclass(frozen=True, slots=True)
class Graded:
    """One pair of answers: how its content was rated, and which measures of quality changed.

    Attributes:
        rating: 3, 2 or 1.
        changed: By measure, whether the two answers were graded differently; empty where content is the same.
    """

    rating: int
    changed: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deltas:
    """The aggregates over pairs of answers.

    Attributes:
        pairs: How many there are.
        shifted: Those whose content changed.
        changed: Those of them whose quality changed as well.
        content: ΔContent, 0..1.
        quality: ΔQuality, 0..1; 1 where no content changed.
        overall: 1 - ΔContent · ΔQuality, 0..1.
        by_measure: In how many pairs each measure changed.
    """

    pairs: int
    shifted: int
    changed: int
    content: Fraction
    quality: Fraction
    overall: Fraction
    by_measure: Mapping[str, int]

    @classmethod
    def of(cls, pairs: Iterable[Graded]) -> Deltas | None:
        """Over pairs of answers; ``None`` without any."""
        graded = list(pairs)
        content = content_delta([each.rating for each in graded])
        if content is None:
            return None
        shifted = [each for each in graded if each.rating < SAME]
        changed = [any(each.changed.values()) for each in shifted]
        quality = quality_delta(changed)
        measures = dict.fromkeys(name for each in shifted for name in each.changed)
        return cls(
            pairs=len(graded),
            shifted=len(shifted),
            changed=sum(changed),
            content=content,
            quality=quality,
            overall=overall(content, quality),
            by_measure={name: sum(each.changed.get(name, False) for each in shifted) for name in measures},
        )


# What a judge did for one test: ratings, agreement with itself, quality.


@dataclass(frozen=True, slots=True)
class Judging:
    """What a judge did for one test.

    Attributes:
        judge: Its name.
        ratings: How many different pairs of answers it rated 3, 2 and 1; ``None`` are those it left undecided.
        failed: Pairs that it could not rate: a failed call, or an answer that could not be used.
        orders: Agreement between the two orders in which each pair was shown; ``None`` where there is but one.
        repeats: Agreement between repeats of the same question; ``None`` where it was asked once.
        quality: The aggregates of the quality judges; ``None`` where none was asked for.
        ungraded: Pairs left out of them, since they have no outcome or the judge failed.
        correction: The score, corrected for the judge's errors; ``None`` where they were not measured.
    """

    judge: str
    ratings: Mapping[int | None, int]
    failed: int
    orders: Agreement | None = None
    repeats: Agreement | None = None
    quality: Deltas | None = None
    ungraded: int = 0
    correction: JudgeCorrection | None = None

    @property
    def pairs(self) -> int:
        """The pairs that were rated or left undecided."""
        return sum(self.ratings.values())

    @property
    def asked(self) -> bool:
        """Whether there was anything to ask it."""
        return bool(self.pairs or self.failed or (self.quality and self.quality.shifted) or self.ungraded)

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON-able data: shares as numbers from 0 to 1, kappa from -1 to 1."""
        quality = self.quality
        return {
            "judge": self.judge,
            "ratings": {word: self.ratings.get(rating, 0) for rating, word in _NAMES.items()},
            "failed": self.failed,
            "orders": None if self.orders is None else asdict(self.orders),
            "repeats": None if self.repeats is None else asdict(self.repeats),
            "quality": None
            if quality is None
            else {
                **asdict(quality),
                **{name: float(getattr(quality, name)) for name in ("content", "quality", "overall")},
                "by_measure": dict(quality.by_measure),
            },
            "ungraded": self.ungraded,
            **({} if self.correction is None else {"corrected": self.correction.as_dict()}),
        }


_NAMES: dict[int | None, str] = {3: "3", 2: "2", 1: "1", None: "undecided"}


# Gold answers: how often answers are as expected, without mutation and with it.


@dataclass(frozen=True, slots=True)
class Wrong:
    """An unmutated prompt's answer that is not as expected.

    Attributes:
        case: Of which input, from 0.
        expected: As plain data.
        answered: Likewise, by the first answer that was wrong.
    """

    case: int
    expected: Any
    answered: Any


@dataclass(frozen=True, slots=True)
class GoldMarks:
    """The answers of one input, held against the gold answer: ``None`` where no comparison could tell."""

    case: int
    expected: Any
    baseline: Sequence[tuple[bool | None, Any]]
    mutated: Sequence[bool | None]


@dataclass(frozen=True, slots=True)
class Gold:
    """How often answers are as expected. Each input has the same weight.

    Attributes:
        accuracy: Of the answers to the unmutated prompt, 0 to 1; ``None`` where none could be told.
        mutated: Of the answers to mutations that must not matter, likewise.
        inputs: With a gold answer.
        untold: Answers of which no installed comparison could tell.
        wrong: Inputs whose unmutated prompt was answered wrongly at least once, in order.
    """

    accuracy: float | None
    mutated: float | None
    inputs: int
    untold: int = 0
    wrong: tuple[Wrong, ...] = ()

    @classmethod
    def of(cls, marked: Iterable[GoldMarks]) -> Gold:
        """Of the answers of all inputs."""
        every = list(marked)
        plain = [[right for right, _ in each.baseline] for each in every]
        return cls(
            _accuracy(plain),
            _accuracy([each.mutated for each in every]),
            len(every),
            sum(right is None for one in (*plain, *(each.mutated for each in every)) for right in one),
            tuple(
                Wrong(
                    each.case, each.expected, next(value for right, value in each.baseline if right is False)
                )
                for each in every
                if any(right is False for right, _ in each.baseline)
            ),
        )

    @property
    def drop(self) -> float | None:
        """By how much mutations lower the accuracy; negative where they raise it."""
        if self.accuracy is None or self.mutated is None:
            return None
        return self.accuracy - self.mutated


def _accuracy(inputs: Iterable[Sequence[bool | None]]) -> float | None:
    shares = [
        Fraction(sum(map(bool, known)), len(known))
        for each in inputs
        if (known := [right for right in each if right is not None])
    ]
    return float(sum(shares, Fraction(0)) / len(shares)) if shares else None
