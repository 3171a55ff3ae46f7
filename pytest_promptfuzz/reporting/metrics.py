"""What several searches come to, and what became of their finds on other targets, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import HANG, Line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.searching.transferred import Transfer

_LABEL = 14


def metrics_lines(metrics: Mapping[str, Any]) -> list[Line]:
    """The metrics of several searches, as ``Metrics.to_json`` gives them."""
    lines = [_row("success rate", _share(metrics["found"], metrics["searches"], metrics["interval"]))]
    if metrics["untold"]:
        lines[0].append((f"; {metrics['untold']} more told nothing", "warn"))
    if metrics["words"]:
        rate = metrics["change_rate"]
        lines.append(
            _row(
                "words changed",
                f"{_middle(metrics['words'], '.1f')}; {rate['mean']:.1%} of the prompt on average",
            )
        )
    if metrics["queries"]:
        found_at = f"; found by query {_middle(metrics['found_at'], '.1f')}" if metrics["found_at"] else ""
        lines.append(_row("queries", f"{_middle(metrics['queries'], '.1f')}{found_at}"))
    if metrics["seconds"]:
        cost = "" if metrics["cost"] is None else f"; ${metrics['cost']:.4f} in all"
        lines.append(_row("seconds", f"{_middle(metrics['seconds'], '.2f')}{cost}"))
    for name, now in metrics["quality"].items():
        if f"{name}_before" in metrics["quality"]:
            before = metrics["quality"][f"{name}_before"]
            lines.append(_row(name, f"{now:.4g} on average, unmutated {before:.4g}"))
    return lines


def transfer_report(found: Transfer, names: Mapping[str, str]) -> dict[str, Any]:
    """``Transfer.to_json`` with the names of the searches that the changes are from, by the changes' IDs."""
    report = found.to_json()
    for each in report["left_out"]:
        each["name"] = names.get(each["id"], each["id"])
    return report


def transfer_lines(reports: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Whether the finds break other targets as well, a row each, and what was left out."""
    lines: list[Line] = [[("Do they break other models as well?", "heading")]]
    for report in reports:
        said = _share(report["broke"], report["of"], report["interval"])
        lines.append(
            [("   ", "plain"), (safe(report["target"]), "label"), ("  ", "plain"), HANG, (said, "plain")]
        )
        lines += [
            [("   ", "plain"), HANG, (f"left out: {safe(each['name'])}: {each['why']}", "warn")]
            for each in report["left_out"]
        ]
    return lines


def _share(part: int, whole: int, interval: Sequence[float] | None) -> str:
    if not whole or interval is None:
        return "nothing can be told"
    return f"{part} of {whole} ({part / whole:.0%}; 95 %: {interval[0]:.0%} to {interval[1]:.0%})"


def _middle(figure: Mapping[str, float], shown: str) -> str:
    return f"{figure['mean']:{shown}} on average, median {figure['median']:{shown}}"


def _row(label: str, said: str) -> Line:
    return [(f"{label.ljust(_LABEL)} ", "label"), HANG, (said, "plain")]
