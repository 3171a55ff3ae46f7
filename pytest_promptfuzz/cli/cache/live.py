"""``promptfuzz cache verify --live``: which recorded requests are asked again, and what is said of the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache.common import counted, day
from pytest_promptfuzz.cli.options import limits_of
from pytest_promptfuzz.errors import ConfigurationError
from pytest_promptfuzz.reporting.text import HANG, Line

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.evaluating.reasking import Reasked
    from pytest_promptfuzz.wire.recordings.checking import Checked

SAMPLE = 10
_STYLES: dict[str, Any] = {"deviation": "bad", "error": "warn", "undecided": "warn"}


def ask_again(recordings: list[Checked], options: argparse.Namespace) -> list[Reasked]:
    """Ask a sample of what is recorded, one request after the other.

    Raises:
        ConfigurationError: Nothing recorded can be asked again, a host may not be asked, or its key is not set. Nothing
            was asked then.
    """
    from pytest_promptfuzz.evaluating.reasking import askable, reask, sampled
    from pytest_promptfuzz.evaluating.session import installed_embedder
    from pytest_promptfuzz.targets.credentials import credentials_for

    entries = [entry for checked in recordings for entry in checked.entries]
    chosen = sampled(askable(entries), options.sample or SAMPLE, options.seed or 0)
    if not chosen:
        raise ConfigurationError(
            f"--live: none of the {counted(len(entries), 'recorded answer')} can be asked again: they are simulated, "
            "embeddings, refusals, or hold something that was hidden."
        )
    allowed = frozenset(each.lower() for each in options.host or ())
    for each in chosen:
        credentials_for(each.answer.url, allowed)
    embedder, limits = installed_embedder(), limits_of(options)
    return [reask(each, gate=limits, allowed=allowed, embedder=embedder) for each in chosen]


def code_of(asked: list[Reasked]) -> int:
    """1 where an answer deviates, 3 where that cannot be told of one, else 0."""
    outcomes = {each.outcome for each in asked}
    return 1 if "deviation" in outcomes else 3 if outcomes & {"undecided", "error"} else 0


def asked_lines(asked: list[Reasked], *, refused: bool) -> list[Line]:
    """What is shown: a line for each request, and the sum."""
    if refused:
        return [[("Nothing was asked again: what is recorded is not sound.", "bad")]]
    lines: list[Line] = []
    for each in asked:
        place = each.entry.place
        run = f"trial {place.trial}" if place.trial else "baseline"
        model = each.model_now
        if each.model_before != each.model_now:
            model = f"{each.model_now} (was {each.model_before})"
        said = f"{each.outcome}: {each.explanation}; recorded {day(each.entry.answer.created)}" + (
            f", model {model}" if model else ""
        )
        lines.append(
            [
                (f"  {each.entry.test}, {run}: ", "plain"),
                HANG,
                (said, _STYLES.get(each.outcome, "plain")),
            ]
        )
    counts = [
        f"{sum(each.outcome == outcome for each in asked)} {outcome}"
        for outcome in ("equivalent", "minor", "deviation", "undecided", "error")
        if any(each.outcome == outcome for each in asked)
    ]
    changed = sum(each.outcome != "error" and each.model_before != each.model_now for each in asked)
    other = f"; {counted(changed, 'answer')} by another model than recorded" if changed else ""
    head = f"Asked {counted(len(asked), 'request')} again: {', '.join(counts)}{other}."
    return [*lines, [(head, "bad" if code_of(asked) else "good")]]


def as_json(asked: Reasked) -> dict[str, Any]:
    """One of them as JSON."""
    place = asked.entry.place
    return {
        "test": asked.entry.test,
        "trial": place.trial,
        "sample": place.sample,
        "outcome": asked.outcome,
        "explanation": asked.explanation,
        "recorded": asked.entry.answer.created,
        "model_before": asked.model_before,
        "model_now": asked.model_now,
    }
