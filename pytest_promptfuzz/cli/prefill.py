"""``promptfuzz prefill``: a suite's answers through the providers' batch interfaces, at half the price."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.reporting.safe import safe

if TYPE_CHECKING:
    from pytest_promptfuzz.cli.output import Output
    from pytest_promptfuzz.plugin.prefilling import Planned
    from pytest_promptfuzz.running.batches.prefill import Outcome

_SHOWN = 20


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "prefill",
        help="have a suite's answers from the providers' batch interfaces, at half the price",
        description="Plans the declarative tests of a suite, asks what the store cannot answer through the batch "
        "interfaces of OpenAI and Anthropic, and stores the answers.",
        epilog="exit codes: 0 as hoped, 2 usage or environment, 3 some requests have no answer yet",
    )
    parser.add_argument(
        "pytest", nargs="*", metavar="PYTEST_ARGUMENT", help="as for pytest; options after --"
    )
    parser.add_argument(
        "--poll", type=_seconds, default=30.0, metavar="SECONDS", help="between two looks at the batches (30)"
    )
    parser.add_argument("--no-wait", action="store_true", help="submit, store what has come, and leave")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--resume", action="store_true", help="submit nothing new; wait for what is under way")
    what.add_argument(
        "--cancel", action="store_true", help="give up what is under way; keep what was answered"
    )
    what.add_argument("--dry-run", action="store_true", help="say what would be submitted, and leave")
    parser.set_defaults(execute=execute, width=None, no_color=False)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Plan, submit, wait, store; returns the exit code.

    Raises:
        PromptfuzzError: The suite cannot be planned, or a provider cannot be asked.
    """
    from pytest_promptfuzz.plugin.prefilling import plan_suite
    from pytest_promptfuzz.running.batches.prefill import Prefill

    planned = plan_suite(options.pytest)
    if planned.session is None or planned.folder is None or planned.session.store is None:
        raise UsageError("No robust test was found. Name the tests as for pytest.")
    output.text(_plan(planned))
    for test in planned.unknown[:_SHOWN]:
        output.text(f"not planned: {safe(test)}: its calls show only when its body runs")
    if options.dry_run:
        return 0
    store = planned.session.store
    try:
        work = Prefill(planned.wanted, planned.folder, store, planned.session.redaction, output.text)
        outcome = work.run(
            submit=not options.resume,
            wait=not options.no_wait,
            cancel=options.cancel,
            poll=options.poll,
        )
    finally:
        store.close()
    for line in _told(outcome):
        output.text(line)
    return 3 if outcome.failed or (outcome.waiting and not options.no_wait) else 0


def _plan(planned: Planned) -> str:
    return f"{len(planned.wanted)} requests to make, {planned.stored} answered in the store"


def _told(outcome: Outcome) -> list[str]:
    lines = [f"{outcome.stored} answers stored"]
    if outcome.waiting:
        lines.append(f"{outcome.waiting} requests under way: `promptfuzz prefill --resume` goes on")
    lines += [
        f"left to be asked live: {count} requests to {safe(url)}" for url, count in outcome.live.items()
    ]
    lines += [f"no answer: {safe(test)}: {safe(why)}" for test, why in outcome.failed[:_SHOWN]]
    if len(outcome.failed) > _SHOWN:
        lines.append(f"and {len(outcome.failed) - _SHOWN} more without an answer")
    if outcome.failed:
        lines.append("What has no answer is asked live when its test runs, or by another prefill.")
    return lines


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds of 0 or more")
    return seconds
