"""What scores vary with: the kind of change, and for tests with several inputs mutations, inputs and sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import HANG, Line, Style
from pytest_promptfuzz.reporting.words import count, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.reporting.model import NoiseReport, PairedReport, TestReport, TestSummary
    from pytest_promptfuzz.scoring.robustness import Robustness

MOST_OPERATORS = 8  # of a test, the most harmful ones


class EffectReport(TypedDict):
    """An operator's mean score less that of the others on the same inputs, with its interval and adjusted p."""

    operator: str
    mean: float
    low: float
    high: float
    items: int
    p: float


class VarianceReport(TypedDict):
    """Where the credits' variance comes from: at least 0, ``None`` where it cannot be told.

    ``shares`` are the parts of inference, item and perturbation in the whole, which add up to 1; ``share`` is the last
    of them, with its 95 % interval. ``effects`` are the operators', the most harmful first; ``notes`` say what cannot
    be told.
    """

    inference: float | None
    item: float | None
    perturbation: float | None
    shares: tuple[float, float, float] | None
    share: float | None
    share_range: tuple[float, float] | None
    effects: list[EffectReport]
    notes: list[str]


def variance_report(robustness: Robustness) -> VarianceReport | None:
    """What a test with several inputs says of its variance; ``None`` of any other."""
    found = robustness.variance
    if found is None:
        return None
    shares = found.shares
    return VarianceReport(
        inference=_rounded(found.inference),
        item=_rounded(found.item),
        perturbation=_rounded(found.perturbation),
        shares=shares and (round(shares[0], 4), round(shares[1], 4), round(shares[2], 4)),
        share=_rounded(found.share),
        share_range=found.share_range and (round(found.share_range.low, 4), round(found.share_range.high, 4)),
        effects=[
            EffectReport(
                operator=each.operator,
                mean=round(each.mean, 4),
                low=round(each.low, 4),
                high=round(each.high, 4),
                items=each.items,
                p=each.p,
            )
            for each in robustness.effects
        ],
        notes=list(found.notes),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def varying_lines(report: TestReport) -> list[Line]:
    """The scores by kind of change, and where the variance comes from; nothing where there is neither."""
    lines = [*_dimensions(report), *_variance(report)]
    return [[], *lines] if lines else []


def _dimensions(report: TestReport) -> list[Line]:
    """The score of each kind of change, the lowest first; nothing where they do not differ."""
    scored = {name: group["score"] for name, group in report["by_dimension"].items()}
    known = {name: score for name, score in scored.items() if score is not None}
    if len(set(known.values())) < 2:
        return []
    parts = [f"{name} {number(score)}" for name, score in sorted(known.items(), key=lambda each: each[1])]
    return [[("score by kind of change: ", "label"), HANG, (", ".join(parts), "plain")]]


def _variance(report: TestSummary) -> list[Line]:
    """One line that says where the variance of a test with several inputs comes from; none for other tests."""
    found = report["variance"]
    text = "" if found is None else _shares(found)
    return [[("variance: ", "label"), HANG, (text, "plain")]] if text else []


def detail_lines(reports: Iterable[TestSummary]) -> list[Line]:
    """The figures behind verdicts: p of tests, and of passes at gates but ``point`` what they rest on.

    Of tests with several inputs, variance and operators' effects follow.
    """
    lines: list[Line] = []
    for report in reports:
        if report["verdict"] == "pass" and report["gate"] != "point":
            name = safe(report["test"]).replace("\n", "⏎")
            rests = f"{name}: {safe(report['explanation'])}"
            lines.append([(f"Gate {report['gate']!r}: ", "heading"), HANG, (rests, "plain")])
    for report in reports:
        if figures := _probabilities(report):
            name = safe(report["test"]).replace("\n", "⏎")
            rests = f"{name}: {'; '.join(figures)}"
            lines.append([("Chance of noise alone: ", "heading"), HANG, (rests, "plain")])
    for report in reports:
        said = [*_variance(report), *_effects(report)]
        if said:
            name = safe(report["test"]).replace("\n", "⏎")
            lines += [[], [("What scores vary with: ", "heading"), HANG, (name, "plain")], *said]
    return lines


def _probabilities(report: TestSummary) -> list[str]:
    """The p of each test that was made, and what it was held against where that is known."""
    noise, paired = report["noise"], report["paired"]
    found = [
        ("mutations against the unmutated prompt", *_test_of(noise)),
        ("this run against the stored one", *_test_of(paired)),
        *(("answers against the snapshot", each["p"], None) for each in report["drift"]),
    ]
    return [
        f"{what} p = {p:.2g}" + ("" if alpha is None else f" (significance level {alpha:.2g})")
        for what, p, alpha in found
        if p is not None
    ]


def _test_of(found: NoiseReport | PairedReport | None) -> tuple[float | None, float | None]:
    return (None, None) if found is None else (found["p"], found["alpha"])


def _shares(found: VarianceReport) -> str:
    if found["shares"] is None:
        # Of what cannot be told, the first note says why; where nothing varies, there is nothing to say.
        open_ = None in (found["inference"], found["item"], found["perturbation"])
        return found["notes"][0] if open_ and found["notes"] else ""
    inference, item, perturbation = (f"{each:.0%}".replace("%", " %") for each in found["shares"])
    low, high = (round(100 * each) for each in found["share_range"] or (0.0, 0.0))
    if low < high:  # inputs that are all alike say nothing of others
        perturbation += f" [{low}, {high}]"
    return f"mutations {perturbation}, inputs {item}, the model's sampling {inference}"


def _effects(report: TestSummary) -> list[Line]:
    effects = report["variance"]["effects"] if report["variance"] else []
    if not any(each["mean"] for each in effects):
        return []
    lines: list[Line] = [[("operators, against the others on the same inputs:", "label")]]
    wide = max(len(each["operator"]) for each in effects[:MOST_OPERATORS])
    for each in effects[:MOST_OPERATORS]:
        low, high = max(-1.0, each["low"]), min(1.0, each["high"])  # no scores differ by more
        spread = f"[{low:+.2f}, {high:+.2f}]" if low < high else "on every input"
        figures = f"{each['mean']:+.2f} {spread}"
        about = f"  {count(each['items'], 'input')}"
        style: Style = "bad" if each["mean"] < 0 and each["p"] <= 0.05 else "plain"
        lines.append(
            [
                ("   " + safe(each["operator"]).ljust(wide) + "  ", "plain"),
                HANG,
                (figures, style),
                (about, "dim"),
            ]
        )
    rest = len(effects) - MOST_OPERATORS
    if rest > 0:
        lines.append([(f"   … and {count(rest, 'operator')} that did better", "dim")])
    return lines
