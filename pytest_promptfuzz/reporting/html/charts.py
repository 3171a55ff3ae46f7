"""Pictures, as inline SVG: scores, their distribution, their course. Each says in words what it shows."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.reporting.phrases import interval_text, number, score_text, verdicts
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.history.changes import PastRunReport, PointReport
    from pytest_promptfuzz.reporting.html.parts import Node
    from pytest_promptfuzz.reporting.model import TestReport, TestSummary


VERDICTS = ("brittle", "noisy", "inconclusive", "pass")
_BINS = 20


def picture(said: str, width: int, height: int, *children: Node, classes: str = "chart") -> Node:
    """A picture, and what it shows in words; ``said`` is empty where the words stand beside it."""
    about = {"role": "img", "aria-label": said} if said else {"aria-hidden": "true"}
    return [
        f"svg.{classes}",
        {"viewBox": f"0 0 {width} {height}", "width": str(width), "height": str(height), **about},
        *children,
    ]


def line(classes: str, x1: float, y1: float, x2: float, y2: float) -> Node:
    """A straight line."""
    return [f"line.{classes}", {"x1": _at(x1), "y1": _at(y1), "x2": _at(x2), "y2": _at(y2)}]


def rect(classes: str, x: float, y: float, width: float, height: float) -> Node:
    """A rectangle."""
    return [f"rect.{classes}", {"x": _at(x), "y": _at(y), "width": _at(width), "height": _at(height)}]


def text(x: float, y: float, said: str, anchor: str = "middle") -> Node:
    """A label."""
    return ["text", {"x": _at(x), "y": _at(y), "text-anchor": anchor}, said]


@lru_cache(maxsize=4096)
def _at(value: float) -> str:
    """A place, as SVG has it; the pictures of tests have most places in common."""
    return f"{value:.1f}".removesuffix(".0")


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def scale(report: TestReport) -> Node:
    """The score with its interval against the threshold, from 0 to 1."""
    left, wide = 10.0, 300.0

    def x(value: float) -> float:
        return left + wide * _share(value)

    low, high = report["bounds"]
    interval, noise = report["interval"], report["noise"]
    said = f"Score {score_text(report)}, threshold {number(report['threshold'])}"
    parts: list[Node] = [rect("track", left, 26, wide, 8)]
    if report["verdict"] == "inconclusive" and low < high:
        parts.append(rect("open", x(low), 26, x(high) - x(low), 8))
    if interval:
        said += f", interval {interval_text(report)}"
        parts += [
            line("whisker", x(interval["low"]), 30, x(interval["high"]), 30),
            line("whisker", x(interval["low"]), 24, x(interval["low"]), 36),
            line("whisker", x(interval["high"]), 24, x(interval["high"]), 36),
        ]
    parts += [line("threshold", x(report["threshold"]), 16, x(report["threshold"]), 44)]
    parts.append(
        text(min(max(x(report["threshold"]), 50), 270), 12, f"threshold {number(report['threshold'])}")
    )
    if noise and noise["floor"] is not None:
        said += f", the unmutated prompt agrees with itself {number(noise['floor'])}"
        parts.append(line("floor", x(noise["floor"]), 20, x(noise["floor"]), 40))
    if report["adjusted_score"] is not None and report["adjusted_score"] != report["score"]:
        said += f", adjusted for noise {number(report['adjusted_score'])}"
        parts.append(["circle.adjusted", {"cx": _at(x(report["adjusted_score"])), "cy": "30", "r": "6"}])
    if report["score"] is not None:
        parts.append(
            [f"circle.dot is-{report['verdict']}", {"cx": _at(x(report["score"])), "cy": "30", "r": "6"}]
        )
    parts += [text(left, 58, "0"), text(left + wide / 2, 58, "0.5"), text(left + wide, 58, "1")]
    drawn = picture(f"{said}.", 320, 62, *parts, classes="chart scale")
    return ["figure.score", drawn, ["figcaption", {"aria-hidden": "true"}, " · ".join(_read(report))]]


def _read(report: TestReport) -> list[str]:
    """What the signs of :func:`scale` are."""
    noise = report["noise"]
    return [
        "● score",
        *(["○ adjusted for noise"] if report["adjusted_score"] not in {None, report["score"]} else []),
        *([f"├┤ its {report['interval']['level']:.0%} interval"] if report["interval"] else []),
        *(["┃ the unmutated prompt with itself"] if noise and noise["floor"] is not None else []),
        *(["▬ where it can lie"] if report["verdict"] == "inconclusive" else []),
    ]


def bar(report: TestSummary, width: int = 72) -> Node:
    """The score as a bar against the threshold, beside the number that a table shows."""
    tall, low, high = 14, *_reach(report)
    gate = width * _share(report["threshold"])
    return picture(
        "",
        width,
        tall,
        rect("track", 0, 4, width, 6),
        rect(f"fill is-{report['verdict']}", width * low, 4, width * (high - low), 6),
        line("threshold", gate, 0, gate, tall),
        classes="bar",
    )


def _reach(report: TestSummary) -> tuple[float, float]:
    """Where a bar begins and ends: at what the score can be, where errors leave that open."""
    low, high = map(_share, report["bounds"])
    if report["verdict"] == "inconclusive" and low < high:
        return (low, high) if low > 0 or high < 1 else (0.0, 0.0)
    return 0.0, _share(report["score"] or 0.0)


_SCORED = (("deviation", "brittle"), ("minor", "noisy"), ("equivalent", "pass"))
_UNSCORED = (("undecided", "inconclusive"), ("error", "unjudged"))


def outcomes(counts: Mapping[str, int], width: int = 44) -> Node:
    """How trials came out, as one bar: what deviates on the left, what says nothing on the right."""
    parts = [(name, counts.get(outcome, 0)) for outcome, name in (*_SCORED, *_UNSCORED)]
    total = sum(amount for _, amount in parts)
    if not total:
        return ""
    drawn, at = [], 0.0
    for name, amount in parts:
        wide = width * amount / total
        if amount:
            drawn.append(rect(f"fill is-{name}{' quiet' if name == 'pass' else ''}", at, 4, wide, 6))
        at += wide
    return picture("", width, 14, *drawn, classes="bar")


def histogram(reports: Sequence[TestReport]) -> Node | None:
    """How the scores are distributed, by verdict; nothing where fewer than two tests have one."""
    known = [each for each in reports if each["score"] is not None]
    if len(known) < 2:
        return None
    bins: list[Counter[str]] = [Counter() for _ in range(_BINS)]
    for each in known:
        # The last bin holds 1 as well; a thousandth is added so that 0.85 is not the bin below it.
        bins[min(_BINS - 1, int((_share(each["score"] or 0.0) + 1e-9) * _BINS))][each["verdict"]] += 1
    tallest = max(sum(one.values()) for one in bins)
    threshold, sharing = Counter(each["threshold"] for each in known).most_common(1)[0]
    below = sum((each["score"] or 0.0) < each["threshold"] for each in known)
    left, base, high, wide = 34.0, 132.0, 108.0, 22.0
    parts: list[Node] = [line("axis", left, base, left + wide * _BINS, base)]
    for place, one in enumerate(bins):
        top = base
        for verdict in VERDICTS[::-1]:
            if one[verdict]:
                tall = high * one[verdict] / tallest
                top -= tall
                parts.append(rect(f"fill is-{verdict}", left + wide * place + 1.5, top, wide - 3, tall))
    parts += [
        text(left - 6, base - high + 4, f"{tallest:,}", "end"),
        text(left - 6, base + 4, "0", "end"),
        *(text(left + wide * _BINS * tenth / 10, base + 16, f"{tenth / 10:g}") for tenth in range(0, 11, 2)),
    ]
    at = left + wide * _BINS * _share(threshold)
    parts += [line("threshold", at, 14, at, base), text(at, 10, f"threshold {number(threshold)}")]
    tests, above = counted(len(known), "test"), len(known) - below
    said = f"Scores of {tests}: {below} below their threshold, {above} at or above it."
    lenient = sum((each["score"] or 0.0) < each["threshold"] and each["verdict"] == "pass" for each in known)
    caption = f"{said} {lenient} of those below pass, adjusted for noise." if lenient else said
    caption += "" if sharing == len(known) else f" The line is the threshold of {sharing} of them."
    return ["figure", picture(said, 486, 152, *parts, classes="chart wide"), ["figcaption", caption]]


def sparkline(points: Sequence[PointReport], report: TestSummary) -> Node:
    """A test's scores in earlier runs and now, for a table."""
    known = _known(points, report)
    if len(known) < 2:
        return ""
    wide, tall, edge = 104, 30, 4
    step = (wide - 2 * edge) / max(1, len(points))

    def y(score: float) -> float:
        return tall - edge - (tall - 2 * edge) * _share(score)

    path = " ".join(f"{_at(edge + step * place)},{_at(y(score))}" for place, score, _ in known)
    last_place, last, verdict = known[-1]
    said = f"{number(known[0][1])} to {number(last)} over {counted(len(known), 'run')}"
    gate = y(report["threshold"])
    return picture(
        said,
        wide,
        tall,
        line("threshold", 0, gate, wide, gate),
        ["polyline.course", {"points": path}],
        _dot(edge + step * last_place, y(last), verdict, 3),
        classes="spark",
    )


def _known(points: Sequence[PointReport], report: TestSummary) -> list[tuple[int, float, str]]:
    """The runs with a score: place, score and verdict, this run last."""
    runs = [(each["score"], each["verdict"]) for each in points] + [(report["score"], report["verdict"])]
    return [(place, score, verdict) for place, (score, verdict) in enumerate(runs) if score is not None]


def _dot(x: float, y: float, verdict: str, size: int) -> Node:
    return [f"circle.dot is-{verdict}", {"cx": _at(x), "cy": _at(y), "r": str(size)}]


def trend(points: Sequence[PointReport], runs: Sequence[PastRunReport], report: TestSummary) -> Node:
    """A test's scores in earlier runs and now, with the threshold; nothing where one run alone has a score."""
    known = _known(points, report)
    if len(known) < 2:
        return ""
    first = points[0]["run"] if points else -1
    since = runs[first]["started"][:10] if 0 <= first < len(runs) else None
    return _trend(tuple(known), len(points), report["threshold"], since)


@lru_cache(maxsize=1024)
def _trend(
    known: tuple[tuple[int, float, str], ...], earlier: int, threshold: float, since: str | None
) -> Node:
    """The same, drawn once for all tests with the same scores: most have passed in each run."""
    left, top, wide, tall = 34.0, 20.0, 600.0, 130.0
    step = (wide - 20) / max(1, earlier)

    def x(place: int) -> float:
        return left + 10 + step * place

    def y(score: float) -> float:
        return top + tall * (1 - _share(score))

    gate, named = y(threshold), f"threshold {number(threshold)}"
    parts: list[Node] = []
    for mark in (0.0, 0.5, 1.0):
        parts += [
            line("axis", left, y(mark), left + wide, y(mark)),
            text(left - 6, y(mark) + 4, f"{mark:g}", "end"),
        ]
    parts += [line("threshold", left, gate, left + wide, gate), text(left + wide, gate - 5, named, "end")]
    path = " ".join(f"{_at(x(place))},{_at(y(score))}" for place, score, _ in known)
    parts.append(["polyline.course", {"points": path}])
    parts += [_dot(x(place), y(score), verdict, 4) for place, score, verdict in known]
    if since is not None:
        parts.append(text(left, top + tall + 18, since, "start"))
    parts.append(text(left + wide, top + tall + 18, "this run", "end"))
    said = ", ".join(f"{number(score)} {verdict}" for _, score, verdict in known)
    drawn = picture(
        f"Scores over {counted(len(known), 'run')}: {said}.", 640, 174, *parts, classes="chart trend"
    )
    return ["figure", drawn]


def course(runs: Sequence[PastRunReport], tallies: Sequence[Mapping[str, int]]) -> Node:
    """The verdicts of each run, as stacked bars; the last one is this run, which ``runs`` does not hold."""
    tallest = max((sum(each.values()) for each in tallies), default=0) or 1
    wide = min(40.0, 440 / max(1, len(tallies)))
    left, base, high = 34.0, 122.0, 108.0
    parts: list[Node] = [line("axis", left, base, left + wide * len(tallies), base)]
    for place, tally in enumerate(tallies):
        top = base
        for verdict in VERDICTS[::-1]:
            if tally.get(verdict):
                tall = high * tally[verdict] / tallest
                top -= tall
                parts.append(
                    rect(f"fill is-{verdict}", left + wide * place + wide / 10, top, wide * 0.8, tall)
                )
    parts += [text(left - 6, base - high + 4, f"{tallest:,}", "end"), text(left - 6, base + 4, "0", "end")]
    if runs:
        parts.append(text(left, base + 16, runs[0]["started"][:10], "start"))
    parts.append(text(max(left + wide * len(tallies), left + 110), base + 16, "this run", "end"))
    said = "; ".join(f"{_tallied(tallies[place])}" for place in (0, -1)) if tallies else ""
    return picture(
        f"Verdicts of {counted(len(tallies), 'run')}, from {said}.".replace("; ", " to "),
        486,
        142,
        *parts,
        classes="chart wide",
    )


def _tallied(tally: Mapping[str, int]) -> str:
    return ", ".join(verdicts(tally[each], each) for each in VERDICTS if tally.get(each)) or "no test"


def legend() -> Node:
    """What the colours of verdicts mean."""
    return [
        "p.legend",
        {"aria-hidden": "true"},
        *(["span", [f"span.key is-{each}"], each] for each in VERDICTS),
    ]


def trend_table(runs: Sequence[Any], points: Sequence[PointReport]) -> list[list[Node]]:
    """A test's earlier runs as rows, the latest first."""
    return [
        [
            runs[each["run"]]["started"][:16].replace("T", " "),
            runs[each["run"]]["commit"][:10] or "–",
            number(each["score"]) or "–",
            each["verdict"],
        ]
        for each in reversed(points)
        if 0 <= each["run"] < len(runs)
    ]
