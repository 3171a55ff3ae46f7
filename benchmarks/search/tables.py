"""What searches found, as tables of markdown."""

from __future__ import annotations

from statistics import mean, median
from typing import TYPE_CHECKING

from paired import bootstrap, holm, mcnemar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from driving import Tried

BUDGETS = (50, 100, 200)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; numbers to the right, the first column to the left."""
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def overview(found: Mapping[str, Tried], queries: int) -> str:
    """Success by budget, queries and time of each method."""
    budgets = [*(each for each in BUDGETS if each < queries), queries]
    head = [
        "method", *(f"at {each:,}, %" for each in budgets), "queries, mean", "median", "words, first", "in the end",
        "µs a query",
    ]  # fmt: skip
    rows = []
    for name, tried in found.items():
        hit = [each for results in tried.runs for each in results if each.found_at]
        rows.append(
            [
                name,
                *(f"{100 * mean(tried.flips(each)):.1f}" for each in budgets),
                f"{mean(tried.asked):.0f}",
                f"{median(tried.asked):.0f}",
                f"{mean(each.first for each in hit):.2f}" if hit else "",
                f"{mean(each.words for each in hit):.2f}" if hit else "",
                f"{1e6 * tried.overhead:.0f}",
            ]
        )
    return table(head, rows)


def pairs(found: Mapping[str, Tried], ours: str, queries: int) -> str:
    """One method beside each other one: differences of success with intervals, p-values, words on what both flip.

    P-values are of the two-sided exact test of McNemar at 50 and at 100 queries, of several seeds by their majority,
    adjusted for all that stand in the table (Holm).
    """
    others = [name for name in found if name != ours]
    own = found[ours]
    budgets = [*(each for each in BUDGETS if each < queries), queries]
    tested = [(name, budget) for name in others for budget in budgets if budget <= 100]
    told = holm([mcnemar(own.mostly(budget), found[name].mostly(budget)) for name, budget in tested])
    p_of = dict(zip(tested, told, strict=True))
    rows = []
    for name in others:
        row = [name]
        for budget in budgets:
            points, low, high = (
                100 * each for each in bootstrap(own.flips(budget), found[name].flips(budget))
            )
            p = f", p {p_of[name, budget]:.2g}" if (name, budget) in p_of else ""
            row.append(f"{points:+.1f} ({low:+.1f} to {high:+.1f}){p}")
        rows.append([*row, *words_beside(own, found[name])])
    head = [
        f"`{ours}` less",
        *(f"at {each:,}" for each in budgets),
        "its words",
        "its words, first",
        f"words of `{ours}`",
        "on",
    ]
    return table(head, rows)


def words_beside(own: Tried, other: Tried) -> list[str]:
    """On what both flip: the other's words in the end and first, ours in the end, and how many searches that are."""
    both = [
        (ours, its)
        for number, results in enumerate(own.runs)
        for ours, its in zip(results, other.runs[number % len(other.runs)], strict=True)
        if ours.found_at and its.found_at
    ]
    if not both:
        return ["", "", "", "0"]
    return [
        f"{mean(its.words for _, its in both):.2f}",
        f"{mean(its.first for _, its in both):.2f}",
        f"{mean(ours.words for ours, _ in both):.2f}",
        str(len(both)),
    ]


def parts(found: Mapping[str, Tried]) -> str:
    """Beam-annealing with one part changed: success and how it differs from what is published."""
    published = next(iter(found.values()))
    rows = []
    for name, tried in found.items():
        row = [name]
        for budget in BUDGETS:
            points, low, high = (
                100 * each for each in bootstrap(tried.flips(budget), published.flips(budget))
            )
            less = "" if tried is published else f" ({points:+.1f}: {low:+.1f} to {high:+.1f})"
            row.append(f"{100 * mean(tried.flips(budget)):.1f}{less}")
        hit = [each for results in tried.runs for each in results if each.found_at]
        rows.append(
            [*row, f"{mean(tried.asked):.0f}", f"{mean(each.first for each in hit):.2f}" if hit else ""]
        )
    return table(["", *(f"at {each}, %" for each in BUDGETS), "queries, mean", "words, first"], rows)
