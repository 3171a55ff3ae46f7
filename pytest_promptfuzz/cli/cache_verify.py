"""``promptfuzz cache verify``: stored answers are unchanged and hold no credentials; ``--live`` asks again."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache_stats import add_paths, add_store, counted, day, recordings_in
from pytest_promptfuzz.cli.options import add_limit_options, add_output_options, limits_of
from pytest_promptfuzz.errors import ConfigurationError, StoreError, UsageError
from pytest_promptfuzz.evaluating.settings import LIMITS
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line
from pytest_promptfuzz.storage.disk_store import kept_answers
from pytest_promptfuzz.storage.recordings.checks import check, secrets_of, why_not

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.evaluating.live_verify import Reasked
    from pytest_promptfuzz.storage.recordings.checks import Checked


# ``promptfuzz cache verify --live``: which recorded requests are asked again, and what is said of the answers.


SAMPLE = 10
_STYLES: dict[str, Any] = {"deviation": "bad", "error": "warn", "undecided": "warn"}


def ask_again(recordings: list[Checked], options: argparse.Namespace) -> list[Reasked]:
    """Ask a sample of what is recorded, one request after the other.

    Raises:
        ConfigurationError: Nothing recorded can be asked again, a host may not be asked, or its key is not set. Nothing
            was asked then.
    """
    from pytest_promptfuzz.evaluating.live_verify import askable, reask, sampled
    from pytest_promptfuzz.evaluating.session import installed_embedder
    from pytest_promptfuzz.targets.sdk_clients import credentials_for

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


def add_parser(actions: argparse._SubParsersAction[Any]) -> None:
    """The action's arguments."""
    parser = actions.add_parser(
        "verify",
        help="check checksums, keys and order, and look for credentials",
        description=(
            "promptfuzz cache verify: check that stored answers are unchanged and hold no credentials."
        ),
        allow_abbrev=False,
    )
    add_paths(parser)
    group = parser.add_argument_group("asking the provider again")
    group.add_argument(
        "--live", action="store_true", help="ask some of the recorded requests again, and compare the answers"
    )
    group.add_argument(
        "--sample", type=_count, metavar="N", help=f"how many requests to ask again ({SAMPLE})"
    )
    group.add_argument("--seed", type=int, metavar="N", help="the same seed asks the same requests (0)")
    group.add_argument(
        "--host",
        action="append",
        metavar="HOST",
        help="allow this host to be asked, with the key in PROMPTFUZZ_API_KEY if that is set",
    )
    add_limit_options(parser)
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Check the recordings, and without paths the local cache too; returns the exit code.

    Raises:
        PromptfuzzError: A path is wrong, or a provider may not be asked.
    """
    given = [name for name in ("sample", "seed", "host") if getattr(options, name) is not None]
    given += [each.name for each in LIMITS.values() if getattr(options, each.name) != each.default]
    if given and not options.live:
        option = "--" + given[0].replace("_", "-")
        raise UsageError(f"{option} is for asking the provider again; write --live with it.")
    problems: list[str] = []
    notes: list[str] = []
    answers = 0
    recordings = [check(path) for path in recordings_in(options.paths)]
    for checked in recordings:
        problems += [str(each) for each in checked.problems]
        notes += checked.notes
        answers += len(checked.entries)
    stored = 0
    if not options.paths:
        stored, wrong = _check_cache(options.cache_dir)
        problems += wrong
    # What was edited is not sent to anybody.
    asked = ask_again(recordings, options) if options.live and not problems else []
    if options.json:
        output.json(
            {
                "recordings": [str(each.path) for each in recordings],
                "recorded": answers,
                "stored": stored,
                "problems": problems,
                "notes": notes,
                **({"asked": [as_json(each) for each in asked]} if options.live else {}),
            }
        )
    else:
        output.lines([(each, "plain")] for each in [*problems, *(f"note: {each}" for each in notes)])
        what = f"{counted(len(recordings), 'recording')} with {counted(answers, 'answer')}"
        local = "" if options.paths else f", {stored:,} in the local cache"
        found = counted(len(problems), "problem") if problems else "no problem"
        output.lines([[(f"Checked {what}{local}: {found}.", "bad" if problems else "good")]])
        if options.live:
            output.lines(asked_lines(asked, refused=bool(problems)))
    return 1 if problems else code_of(asked)


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def _check_cache(directory: Path) -> tuple[int, list[str]]:
    count = 0
    problems: list[str] = []
    try:
        for entry in kept_answers(directory):
            count += 1
            where = f"{directory}, entry {entry.key[:16]}: "
            if entry.answer is None:
                problems.append(f"{where}{entry.why}. The model will be asked again.")
                continue
            if why := why_not(entry.key, entry.answer):
                problems.append(
                    f"{where}{why}. Remove it with `promptfuzz cache prune --cache --damaged --yes`."
                )
            problems += [f"{where}{each.path} holds {each.kind}." for each in secrets_of(entry.answer)]
    except StoreError as error:
        problems.append(str(error))
    return count, problems
