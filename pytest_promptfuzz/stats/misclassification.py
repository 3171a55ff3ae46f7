"""What a judge's measured errors do to a score that it decided: the correction, and how uncertain it leaves the score.

Rogan and Gladen (*American Journal of Epidemiology* 107, 1978) correct a share for the sensitivity and specificity of
the test that found it. With three ratings the two become a matrix M, M[i][j] = P(the judge says j | people say i)
(Buonaccorsi, *Measurement Error*, 2010, 2.4). Each rating j is given the credit g[j] that solves M g = c, c being the
credits of true ratings: then answers that people rate i have the credit c[i] on average, whatever the judge confuses.
The delta method adds, for M is estimated on n[i] rated items, Σ π[i]² · Var(g | i) / n[i].

It assumes that people are right, that the judge errs among a test's pairs with the same true rating as often as among
the sheet's, and that the sheet's items were not chosen by what the judge said of them.
"""

from __future__ import annotations

from math import hypot, inf, isfinite, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.stats.scores import CREDITS, EQUIVALENT_CREDIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

RATING_OUTCOMES = {1: "deviation", 2: "minor", 3: "equivalent"}
"""What each rating makes of an answer."""
RATING_CREDITS = {rating: CREDITS[outcome] / EQUIVALENT_CREDIT for rating, outcome in RATING_OUTCOMES.items()}
AGREED = 1.0
"""Items of each rating that count as rated alike by people and judge: of a rating that people never gave nothing else
is known, and one odd item of a rare rating must not upset all."""
UNSEEN = 0.5
"""Items of each confusion that enter the variance unseen (Jeffreys): what no sheet has may still happen."""
_SINGULAR = 1e-9


class Confusion(NamedTuple):
    """How often a judge said what of items, by what people say of them.

    Attributes:
        counts: For people's ratings 1, 2 and 3, how often the judge said 1, 2 and 3.
    """

    counts: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Confusion:
        """Of pairs of people's rating and the judge's."""
        both = list(pairs)
        ratings = sorted(RATING_CREDITS)
        return cls(tuple(tuple(both.count((true, said)) for said in ratings) for true in ratings))

    @property
    def items(self) -> int:
        """How many items were rated."""
        return sum(map(sum, self.counts))


class JudgeError(NamedTuple):
    """What judges' errors do to a figure: a score, or a difference of two.

    Attributes:
        shift: What the correction adds to it.
        error: The standard error that it brings in.
        slope: How many times larger sampling errors become.
        part: How far the figure can move, since judges decided only this part of it.
    """

    shift: float
    error: float
    slope: float
    part: float

    def less(self, other: JudgeError) -> JudgeError:
        """Of the difference of two figures: at most so much, for one judge's errors cancel out in part."""
        return JudgeError(
            self.shift - other.shift,
            hypot(self.error, other.error),
            max(self.slope, other.slope),
            self.part + other.part,
        )

    def span(
        self, value: float, low: float, high: float, level: float, *, scale: float = 1.0, least: float = 0.0
    ) -> tuple[float, float]:
        """An interval of the figure, with the judges' errors in it.

        Distances add as squares (Zou and Donner 2008). It holds the uncorrected figure as well, and no end moves
        farther than the judges' part of the figure could.

        Args:
            value: The uncorrected.
            low: Of its interval.
            high: Of its interval.
            level: Of the interval, two-sided.
            scale: What the figure was multiplied with, where it was adjusted for noise.
            least: That it can be; 1 is the most.
        """
        part = scale * self.part
        far = NormalDist().inv_cdf((1 + level) / 2) * self.error * scale
        centre = value + self.shift * scale
        below = sqrt((self.slope * (value - low)) ** 2 + far**2)
        above = sqrt((self.slope * (high - value)) ** 2 + far**2)
        lowest, highest = max(least, low - part), min(1.0, high + part)
        return max(lowest, min(value, centre - below)), min(highest, max(value, centre + above))


NO_ERROR = JudgeError(0.0, 0.0, 1.0, 0.0)
"""Of a figure of which judges decided nothing."""


class JudgeCorrection(NamedTuple):
    """A score, corrected for the errors of the judge who decided a part of it.

    Attributes:
        decided: Trials that the judge decided.
        trials: All that the score is of.
        items: On which the judge was measured.
        score: The corrected score, 0 to 1; ``None`` where the judge does not tell ratings apart.
        shift: What the correction adds to the score.
        error: The standard error that it brings in, since the judge was measured on so few items.
        slope: How many times larger sampling errors become.
    """

    decided: int
    trials: int
    items: int
    score: float | None
    shift: float
    error: float
    slope: float

    def as_dict(self) -> dict[str, int | float | None]:
        """The same as JSON-able data; an error that cannot be told is ``None``."""
        return {**self._asdict(), "error": self.error if isfinite(self.error) else None}

    def span(
        self, score: float, low: float, high: float, level: float, scale: float = 1.0
    ) -> tuple[float, float]:
        """An interval of the score, with the judge's error in it.

        Args:
            score: The uncorrected.
            low: Of its interval.
            high: Of its interval.
            level: Of the interval, two-sided.
            scale: What the score is multiplied with, where it was adjusted for noise.
        """
        return self.own.span(score, low, high, level, scale=scale)

    @property
    def own(self) -> JudgeError:
        """What it does to the score."""
        return JudgeError(self.shift, self.error, self.slope, self.decided / self.trials)


def correction_of(
    judged: Mapping[int, int], others: Sequence[float], confusion: Confusion
) -> JudgeCorrection | None:
    """The correction of a score that a judge decided in part; ``None`` where it decided nothing, or was not measured.

    Args:
        judged: How many trials the judge rated 1, 2 and 3.
        others: The credits, 0 to 1, of the trials that it did not decide.
        confusion: What it was measured at.
    """
    decided = sum(judged.values())
    trials = decided + len(others)
    if not decided or not confusion.items:
        return None
    ratings = sorted(RATING_CREDITS)
    plain = [RATING_CREDITS[each] for each in ratings]
    rows = [_shares(row, at) for at, row in enumerate(confusion.counts)]
    given = _solved(rows, plain)
    share = decided / trials
    if given is None:
        return JudgeCorrection(decided, trials, confusion.items, None, 0.0, inf, 1.0)
    seen = [judged.get(each, 0) / decided for each in ratings]
    corrected = sum(credit * part for credit, part in zip(given, seen, strict=True))
    raw = sum(credit * part for credit, part in zip(plain, seen, strict=True))
    true = _true_shares(rows, seen)
    variance = sum(part**2 * _variance(row, given) for part, row in zip(true, confusion.counts, strict=True))
    slope = (max(given) - min(given)) / (max(plain) - min(plain))
    whole = (sum(others) + decided * raw) / trials
    # Held within 0 and 1: a judge that tells ratings hardly apart may be corrected far beyond, and surely.
    score = min(1.0, max(0.0, whole + share * (corrected - raw)))
    return JudgeCorrection(
        decided,
        trials,
        confusion.items,
        score,
        score - whole,
        share * sqrt(variance),
        1 - share + share * slope,
    )


def _shares(row: Sequence[int], at: int) -> list[float]:
    """A row of the matrix: what the judge says of items that people rate ``at``."""
    total = sum(row) + AGREED
    return [(each + AGREED * (at == place)) / total for place, each in enumerate(row)]


def _variance(row: Sequence[int], given: Sequence[float]) -> float:
    """Of the mean credit that the judge gives to answers of one true rating."""
    total = sum(row) + UNSEEN * len(row)
    shares = [(each + UNSEEN) / total for each in row]
    mean = sum(share * credit for share, credit in zip(shares, given, strict=True))
    return sum(share * (credit - mean) ** 2 for share, credit in zip(shares, given, strict=True)) / total


def _true_shares(rows: Sequence[Sequence[float]], seen: Sequence[float]) -> list[float]:
    """What share of the judged pairs has each true rating, at least 0."""
    turned = [list(column) for column in zip(*rows, strict=True)]
    found = [max(0.0, each) for each in _solved(turned, seen) or seen]
    total = sum(found)
    return [each / total for each in found] if total else list(seen)


def _solved(matrix: Sequence[Sequence[float]], values: Sequence[float]) -> list[float] | None:
    """The x of ``matrix · x = values``, by Gauss and Jordan; ``None`` where there is no one x."""
    rows = [[*row, value] for row, value in zip(matrix, values, strict=True)]
    for at in range(len(rows)):
        best = max(range(at, len(rows)), key=lambda place: abs(rows[place][at]))
        rows[at], rows[best] = rows[best], rows[at]
        if abs(rows[at][at]) < _SINGULAR:
            return None
        rows[at] = [each / rows[at][at] for each in rows[at]]
        for place, row in enumerate(rows):
            if place != at:
                rows[place] = [each - row[at] * pivot for each, pivot in zip(row, rows[at], strict=True)]
    return [row[-1] for row in rows]
