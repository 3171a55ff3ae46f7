"""``promptfuzz explain``: show which words, sentences and operators change the answer, from stored answers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli import run
from pytest_promptfuzz.cli.history import places_of
from pytest_promptfuzz.cli.options import (
    OUTPUT_OPTIONS,
    add_output_options,
    add_setting,
    given_among,
    options_but,
)
from pytest_promptfuzz.errors import UsageError, continued, nearest
from pytest_promptfuzz.evaluating.settings import CONTRACT_KEYS, LIMITS
from pytest_promptfuzz.reporting.terminal.explanation import (
    explained_worst_first,
    explanation_lines,
    explanation_report,
)

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.reporting.terminal.explanation import ExplanationReport
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.storage.redaction import Redaction


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "explain",
        help="show which words, sentences and operators change the answer, from stored answers",
        description="promptfuzz explain: show which words, sentences and operators change the answer, from stored "
        "answers. It calls no provider: it runs the tests, or the prompt, on stored answers and counts "
        "the trials that have none. The simulated model answers what is not stored.",
        epilog="exit codes: 0: explained, 2: wrong usage or environment, 3: no trial has a stored answer",
        allow_abbrev=False,
    )
    parser.add_argument(
        "what",
        nargs="+",
        metavar="TEST|FILE",
        help="tests, named as for pytest (options of pytest after --) or by a part of the name of a test that ran, or "
        "one prompt file with the options below",
    )
    run.add_asked_arguments(parser)
    run.add_comparing_arguments(parser.add_argument_group("comparing"))
    add_setting(parser.add_argument_group("answers"), "cache_dir")
    add_output_options(parser)
    parser.set_defaults(execute=execute)
    parser.set_defaults(of_files=options_but(parser, *OUTPUT_OPTIONS))


def execute(options: argparse.Namespace, output: Output) -> int:
    """Run on what is stored, and explain; returns the exit code.

    Raises:
        PromptfuzzError: An option, the tests, the prompt or the environment is wrong.
    """
    options.what = _with_tests_named(options)
    if _is_test(options.what[0]):
        _check_for_tests(options)
        reports = _of_tests(options.what, output)
    else:
        reports = _of_file(options, output)
    reports = explained_worst_first(reports)
    if options.json:
        output.json(reports)
    else:
        for number, report in enumerate(reports):
            if number:
                output.text("")
            output.lines(explanation_lines(report, width=output.width, color=output.color))
    return 0 if any(report["trials"] for report in reports) else 3


def _check_for_tests(options: argparse.Namespace) -> None:
    """See that no option is given that only a prompt file takes.

    Raises:
        UsageError: One is.
    """
    for flag in given_among(options, options.of_files):
        raise UsageError(f"{flag} is for a prompt file. Options of pytest come after --, as in -- -k triage.")


def _with_tests_named(options: argparse.Namespace) -> list[str]:
    """The arguments; what names no file is a part of the names of tests that are kept, and those take its place.

    Raises:
        UsageError: No such test is kept.
    """
    what: list[str] = options.what
    end = next((at for at, each in enumerate(what) if each.startswith("-") and each != "-"), len(what))
    parts = [each for each in what[:end] if _is_part_of_name(each)]
    if not parts:
        return what
    places = places_of(options)
    known = {name for each in places.runs.every(results=True) for name in each.all_results() if "::" in name}
    found: list[str] = []
    for each in what[:end]:
        those = sorted(name for name in known if each in name) if each in parts else [each]
        if not those:
            names = {name.rpartition("::")[2].partition("[")[0] for name in known}
            hint = nearest(each, names) if names else "No run is kept: name the test as FILE::TEST."
            raise UsageError(f"no such test or file: {each!r}. {hint}")
        found += [str(places.root / name) if each in parts else name for name in those]
    return [*dict.fromkeys(found), *what[end:]]


def _is_part_of_name(text: str) -> bool:
    return not (_is_test(text) or re.search(r"\s|\.\w{1,5}$", text) or text == "-" or Path(text).exists())


def _is_test(name: str) -> bool:
    return "::" in name or name.endswith(".py") or Path(name).is_dir()


def _of_tests(arguments: list[str], output: Output) -> list[ExplanationReport]:
    from pytest_promptfuzz.plugin.state import NO_TARGET
    from pytest_promptfuzz.plugin.suite_runs import NOTHING_STORED, run_stored

    results = run_stored(arguments)
    wrong = []
    for test, why in results.failed.items():
        if NOTHING_STORED in why:
            said = "the unmutated prompt has no stored answer. Run the test first."
        elif NO_TARGET in why:
            said = "no model. Add -- --promptfuzz-target=NAME."
        else:
            said = f"no result: {continued(why)}"
        wrong += [] if NOTHING_STORED in why else [f"{test}: {said}"]
        if results.found or NOTHING_STORED in why:
            output.error(f"promptfuzz explain: {test}: {said}")
    for test, (result, _) in results.found.items():
        if result.searched is not None:
            why = "a search chooses its requests to break the prompt, so they cannot show which words matter."
            output.error(f"promptfuzz explain: {test}: {why} Explain the test without search=.")
    if wrong and not results.found:
        for each in wrong[:-1]:
            output.error(f"promptfuzz explain: {each}")
        raise UsageError(wrong[-1])
    return [
        report
        for test, (result, redaction) in results.found.items()
        for report in _explained(result, test, redaction)
    ]


def _of_file(options: argparse.Namespace, output: Output) -> list[ExplanationReport]:
    from pytest_promptfuzz.storage.redaction import DEFAULT

    if len(options.what) > 1:
        raise UsageError(f"name one prompt file, not {len(options.what)}: {', '.join(options.what)}.")
    (options.file,) = options.what
    for name, setting in {**LIMITS, **CONTRACT_KEYS}.items():
        if not hasattr(options, name):
            setattr(options, name, setting.default)
    options.stop, options.mode, options.max_calls, options.shrink = "never", "auto", 0, 0
    options.controls, options.trial, options.against, options.expected = 0, None, None, None
    found = run.evaluated(options, output)
    return [
        report
        for name, result in found
        for report in _explained(
            result, options.file if len(found) == 1 else f"{options.file} [{name}]", DEFAULT
        )
    ]


def _explained(result: Robustness, test: str, redaction: Redaction) -> list[ExplanationReport]:
    from pytest_promptfuzz.results.explanations import explain

    found = explain(result.trials, seed=result.seed)
    note = result.explanation if not any(each.told for each in found) else ""
    note = redaction.text(note)
    return [explanation_report(each, test=test, note=note, hide=redaction.text) for each in found]
