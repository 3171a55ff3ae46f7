"""``promptfuzz prefill``: a suite's answers through the providers' batch interfaces, at half the price."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import Output, add_output_options
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from pytest_promptfuzz.plugin.dry_run import Planned
    from pytest_promptfuzz.running.batches import BatchCall, Outcome

_SHOWN = 20


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "prefill",
        help="get the answers for a suite from the batch interfaces of providers, at half the price",
        description="promptfuzz prefill: plan the robust tests of a suite, get the answers that are not stored yet "
        "from the batch interfaces of OpenAI and Anthropic, and store them. A batch costs half the price.",
        epilog="exit codes: 0: done (with --no-wait: submitted), 2: wrong usage or environment, "
        "3: some requests have no answer",
    )
    parser.add_argument(
        "pytest",
        nargs="*",
        metavar="PYTEST_ARGUMENT",
        help="arguments for pytest; write its options after --",
    )
    parser.add_argument(
        "--poll",
        type=_seconds,
        default=30.0,
        metavar="SECONDS",
        help="seconds between two checks of the batches (30)",
    )
    parser.add_argument(
        "--no-bodies",
        action="store_true",
        help="plan declarative tests only; otherwise the bodies of the other tests run, up to the first call that "
        "has no answer",
    )
    parser.add_argument(
        "--no-wait",
        action="store_true",
        help="submit the batches, store the answers that are ready, and exit",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--resume", action="store_true", help="submit nothing new, wait for the batches that are running"
    )
    what.add_argument(
        "--cancel", action="store_true", help="cancel the batches that are running, keep the answers so far"
    )
    what.add_argument("--dry-run", action="store_true", help="print what would be submitted, and exit")
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Plan, submit, wait, store, and again for what the answers lead to; returns the exit code.

    Raises:
        PromptfuzzError: The suite cannot be planned, or a provider cannot be asked.
    """
    from pytest_promptfuzz.plugin.dry_run import plan_suite
    from pytest_promptfuzz.running.batches import Outcome

    whole = Outcome()
    asked: set[str] = set()
    rounds = 0
    told = _Unsaid(width=options.width) if options.json else output
    while True:
        rounds += 1
        planned = plan_suite(options.pytest, bodies=not options.no_bodies)
        redaction = planned.shared[1]
        # What a batch did not answer is not asked once more by the next round.
        wanted = [each for each in planned.wanted if each.key(redaction) not in asked]
        asked.update(each.key(redaction) for each in wanted)
        if rounds == 1:
            first = planned
            _show_plan(planned, told)
        elif wanted:
            told.text(f"round {rounds}: {counted(len(wanted), 'request')} that depend on earlier answers")
        if not options.dry_run and (rounds == 1 or wanted):
            _add(whole, _prefill(planned, wanted, options, told))
        more = wanted and planned.going_on and whole.stored and _goes_on(options)
        if options.dry_run or not more:
            break
    if options.json:
        output.json(_as_json(first, whole))
    elif not options.dry_run:
        for line in _told(whole):
            output.text(line)
    return 3 if whole.failed or (whole.waiting and not options.no_wait) else 0


class _Unsaid(Output):
    """Says nothing: the JSON at the end does."""

    def text(self, text: str) -> None:
        """Leave it."""


def _as_json(planned: Planned, outcome: Outcome) -> dict[str, Any]:
    """What was planned at first, and what became of it in all rounds."""
    left = [
        {"test": test, "url": url, "why": why, "requests": count}
        for (url, test, why), count in outcome.live.items()
    ]
    return {
        "requests": len(planned.wanted),
        "already_stored": planned.stored,
        "not_planned": [{"test": test, "why": why} for test, why in planned.unknown],
        "submitted": outcome.submitted,
        "stored": outcome.stored,
        "running": outcome.waiting,
        "not_in_a_batch": left,
        "failed": [{"test": test, "why": why} for test, why in outcome.failed],
    }


def _goes_on(options: argparse.Namespace) -> bool:
    return not (options.no_wait or options.resume or options.cancel)


def _prefill(
    planned: Planned, wanted: list[BatchCall], options: argparse.Namespace, output: Output
) -> Outcome:
    from pytest_promptfuzz.running.batches import Prefill

    store, redaction, folder = planned.shared
    try:
        work = Prefill(wanted, folder, store, redaction, output.text)
        return work.run(
            submit=not options.resume, wait=not options.no_wait, cancel=options.cancel, poll=options.poll
        )
    finally:
        store.close()


def _show_plan(planned: Planned, output: Output) -> None:
    output.text(f"{counted(len(planned.wanted), 'request')} to make, {planned.stored} stored{_cost(planned)}")
    if planned.going_on:
        output.text("Later requests depend on these answers; prefill sends them in further rounds.")
    for test, why in planned.unknown[:_SHOWN]:
        output.text(f"not planned: {safe(test)}: {safe(why)}")
    if len(planned.unknown) > _SHOWN:
        output.text(f"and {len(planned.unknown) - _SHOWN} more that were not planned")


def _cost(planned: Planned) -> str:
    """What the plan costs, in the words of a dry run."""
    if planned.prices is None or not planned.wanted:
        return ""
    from pytest_promptfuzz.running.limits.budget import estimate, summed

    found = [estimate(each.wire, planned.prices) for each in planned.wanted]
    tokens = sum(each.tokens for each in found)
    low, high = summed([each.low for each in found]), summed([each.high for each in found])
    half = "" if low is None or high is None else f", ${low / 2:.4f} to ${high / 2:.4f} at half the price"
    return f"; about {tokens:,} tokens in{half or ', cost not known'}"


def _add(whole: Outcome, more: Outcome) -> None:
    whole.submitted += more.submitted
    whole.stored += more.stored
    whole.failed += more.failed
    whole.waiting = more.waiting
    for left, count in more.live.items():
        whole.live[left] = whole.live.get(left, 0) + count


def _told(outcome: Outcome) -> list[str]:
    lines = [f"{counted(outcome.stored, 'answer')} stored"]
    if outcome.waiting:
        lines.append(
            f"{counted(outcome.waiting, 'request')} running: `promptfuzz prefill --resume` waits for them"
        )
    lines += [
        f"not in a batch, called when the test runs: {counted(count, 'request')} of {safe(test)} to {safe(url)}: {why}"
        for (url, test, why), count in outcome.live.items()
    ]
    lines += [f"no answer: {safe(test)}: {safe(why)}" for test, why in outcome.failed[:_SHOWN]]
    if len(outcome.failed) > _SHOWN:
        lines.append(f"and {len(outcome.failed) - _SHOWN} more without an answer")
    if outcome.failed:
        lines.append("Requests without an answer are sent when the test runs, or by another prefill.")
    return lines


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds of 0 or more")
    return seconds
