"""The header of a run. Every pytest run with the plugin shows it, so it loads none of what failures need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.reporting.text import Line, Piece

_HANG: Piece = ("", "hang")  # text.HANG, without loading what lays text out

_MISSING = {"semantic": "answers are not compared by meaning"}


def header_lines(settings: Mapping[str, Any]) -> list[Line]:
    """What a run will do, in one line, and a line for each thing that is missing.

    Args:
        settings: Any of ``mode``, ``seed``, ``target`` (text, or ``None`` where none is configured), ``judge``
            (likewise, shown where there is one), ``store`` (a path, or ``None`` for no store), ``tiers`` (names of the
            similarity tiers at hand), ``semantic`` (what compares meaning), ``entailment`` (what tells whether one text
            follows from another) and ``missing`` (the mend for each tier that is not at hand).
    """
    parts = [f"{key} {settings[key]}" for key in ("mode", "seed") if settings.get(key) is not None]
    if "target" in settings:
        target = settings["target"]
        is_simulated = target is not None and str(target).partition("?")[0] == "simulated"
        parts.append(f"target {target or 'not set'}" + (" (answers are simulated)" if is_simulated else ""))
    if settings.get("judge"):
        parts.append(f"judge {settings['judge']}")
    if "store" in settings:
        parts.append(f"store {settings['store']}" if settings["store"] else "no store")
    if settings.get("tiers"):
        parts.append("comparing by " + " > ".join(settings["tiers"]))
    lines: list[Line] = [[("promptfuzz: ", "label"), _HANG, (", ".join(parts), "plain")]]
    lines.extend(
        [("promptfuzz: ", "label"), _HANG, (f"{name} comparison by {settings[name]}", "plain")]
        for name in ("semantic", "entailment")
        if settings.get(name)
    )
    missing: Mapping[str, str] = settings.get("missing") or {}
    for name, mend in missing.items():
        lines.append(
            [
                ("promptfuzz: ", "label"),
                _HANG,
                (_MISSING.get(name, f"no comparison by {name}"), "warn"),
                (f": {mend}", "plain"),
            ]
        )
    return lines
