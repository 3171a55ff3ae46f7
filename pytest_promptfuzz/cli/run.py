"""``promptfuzz run``: test whether a prompt is robust, on one or several models."""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import (
    NO_TARGET,
    add_answer_options,
    add_comparing_options,
    add_limit_options,
    add_output_options,
    add_plan_options,
    add_setting,
    limits_of,
    named_profiles,
    queries,
    read_setting,
    written,
)
from pytest_promptfuzz.cli.prompts import filled, inputs_reader, read_prompt, read_values
from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.evaluating.settings import CONTRACT_KEYS, RUN_SETTINGS
from pytest_promptfuzz.files import read_text
from pytest_promptfuzz.reporting.model import report_test
from pytest_promptfuzz.reporting.terminal.failure import failure_lines
from pytest_promptfuzz.reporting.terminal.progress import Progress
from pytest_promptfuzz.reporting.terminal.summary import side_by_side_lines, summary_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.reporting.model import TestReport
    from pytest_promptfuzz.reporting.terminal.styled_text import Line
    from pytest_promptfuzz.results.robustness import Robustness

_STORE = RUN_SETTINGS["cache_dir"].default
_EFFECTS = {"fail": 1, "error": 3, "pass": 0}
_OUTCOMES = {"fail": "failed", "error": "error", "pass": "passed"}
_VERDICTS = {"brittle": "fail", "noisy": "error", "inconclusive": "error"}


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "run",
        help="test a prompt file on one or several models",
        description="promptfuzz run: test whether a prompt is robust, on one or several models.",
        epilog="exit codes: 0: passed, 1: brittle, 2: wrong usage or environment, 3: noisy or inconclusive (--brittle, "
        "--noisy and --inconclusive change 1 and 3)",
        allow_abbrev=False,
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a file with a prompt, or with chat messages (.json); - is standard input",
    )
    add_arguments(parser)
    parser.set_defaults(execute=execute)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """All but the file."""
    add_asked_arguments(parser)
    group = parser.add_argument_group("verdict")
    _add_verdict_arguments(group)
    add_comparing_arguments(group)
    group = parser.add_argument_group("answers")
    add_answer_options(group)
    add_limit_options(parser)
    add_output_options(parser)
    group = parser.add_argument_group("reports and history")
    add_setting(group, "report")
    add_setting(group, "history", type=functools.partial(read_setting, RUN_SETTINGS["history"]))


def add_asked_arguments(parser: argparse.ArgumentParser) -> None:
    """What is asked, of whom, and how it is mutated."""
    parser.add_argument(
        "--target",
        metavar="T[,T]",
        action="append",
        help="the model to ask: openai:MODEL, anthropic:MODEL, compatible:MODEL@URL or simulated; several are compared",
    )
    parser.add_argument(
        "--set",
        metavar="SLOT=VALUE",
        action="append",
        default=[],
        dest="values",
        help="fill a slot of the prompt (SLOT=@FILE reads a file)",
    )
    add_setting(parser, "inputs")
    parser.add_argument(
        "--part",
        metavar="PART",
        help="what is mutated: template, input (the values of the slots) or both; in a chat also a role, such as "
        "system (template)",
    )
    add_plan_options(parser, mixed=True)


def add_comparing_arguments(group: argparse._ArgumentGroup) -> None:
    """How answers are compared."""
    add_comparing_options(group)
    # Where these two are not given, the judge's own way counts.
    add_setting(group, "judge_when", choices=CONTRACT_KEYS["judge_when"].kind.names, default=None)
    add_setting(group, "judge_repeats", type=int, default=None)
    add_setting(group, "judge_min_agreement", type=_number)
    add_setting(group, "judge_agreement")


def _add_verdict_arguments(group: argparse._ArgumentGroup) -> None:
    add_setting(group, "threshold", type=_number)
    gates = CONTRACT_KEYS["gate"].kind.names
    add_setting(group, "gate", metavar=f"{{{','.join(gates)}}}")
    group.add_argument(
        "--against",
        metavar="FILE",
        help="an earlier run to compare with, for --gate no-worse: a file that --json wrote",
    )
    add_setting(group, "stop", choices=CONTRACT_KEYS["stop"].kind.names)
    add_setting(group, "shrink", type=queries)
    add_setting(group, "controls", type=queries)
    group.add_argument(
        "--expected",
        metavar="ANSWER",
        help="the right answer: the report says how often the model gives it; the verdict does not depend on it. Of "
        "--inputs, the column 'expected' holds it, or the one that column:NAME names",
    )
    for verdict, effect in _VERDICTS.items():
        group.add_argument(
            f"--{verdict}",
            choices=tuple(_EFFECTS),
            default=effect,
            help=f"exit code if the prompt is {verdict}: fail is 1, error 3, pass 0 ({effect})",
        )
    group.add_argument("--trial", metavar="ID", help="run only this trial")


def execute(options: argparse.Namespace, output: Output) -> int:
    """Evaluate and report; returns the exit code.

    Raises:
        PromptfuzzError: An option, the prompt or the environment is wrong.
    """
    from pytest_promptfuzz.cli.kept_runs import KeptCommand, reports_to_write

    most = 0 if options.trial else options.history  # a trial alone is no run of the prompt
    kept = KeptCommand(
        Path(options.cache_dir),
        reports_to_write(options.report),
        most,
        time.time(),
        options.mode,
        options.seed,
    )
    found = evaluated(options, output)
    reports = [
        report_test(
            result,
            test=options.file if len(found) == 1 else f"{options.file} [{name}]",
            reproduce=_again(options, name),
        )
        for name, result in found
    ]
    if options.json:
        output.json(reports if len(reports) > 1 else reports[0])
    else:
        output.lines(_lines(reports, output.width))
    effects = {"pass": "pass", **{verdict: getattr(options, verdict) for verdict in _VERDICTS}}
    kept.keep([{**report, "outcome": _OUTCOMES[effects[report["verdict"]]]} for report in reports], output)
    codes = {_EFFECTS[effects[report["verdict"]]] for report in reports}
    return 1 if 1 in codes else max(codes)


def _targets(given: list[str] | None) -> list[str]:
    names = [name.strip() for each in given or () for name in each.split(",")]
    if not names or not all(names):
        raise ConfigurationError(NO_TARGET)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"--target names {twice[0]} twice. Name each model once.")
    return names


def evaluated(options: argparse.Namespace, output: Output) -> list[tuple[str, Robustness]]:
    """The prompt file on each target, with the target's name.

    Args:
        options: As ``add_arguments`` reads them, and ``file``.
        output: Told of what is lost.

    Raises:
        PromptfuzzError: An option, the prompt or the environment is wrong.
    """
    targets = _targets(options.target)
    values = read_values(options.values)
    given: dict[str, Any] = {"expected": options.expected}
    if options.inputs is None:
        prompt = filled(read_prompt(options.file), values)
    else:
        inputs_of = inputs_reader(options.inputs, [options.file], values, options.expected)
        prompt = read_prompt(options.file)
        given = {"inputs": inputs_of(prompt)}
    progress = Progress(_to_stderr, enabled=sys.stderr.isatty(), width=lambda: output.width)
    return _evaluated((prompt, given), targets, options, output, progress)


def _evaluated(
    asked: tuple[Prompt, Mapping[str, Any]],
    targets: list[str],
    options: argparse.Namespace,
    output: Output,
    progress: Progress,
) -> list[tuple[str, Robustness]]:
    """The prompt with its inputs and gold answers, as ``evaluate`` takes them, on each target."""
    from pytest_promptfuzz.comparing.profiles import named
    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.evaluate import aevaluate
    from pytest_promptfuzz.evaluating.session import Session, installed_embedder, installed_entailment
    from pytest_promptfuzz.storage.disk_store import ResponseStore
    from pytest_promptfuzz.targets.resolution import resolve
    from pytest_promptfuzz.targets.sdk_clients import embeddings

    prompt, given = asked
    settings = {
        "mutations": options.mutations,
        "threshold": options.threshold,
        "gate": options.gate,
        "seed": options.seed,
        "operators": options.operators,
        "task": options.task,
        "part": options.part,
        **{key: value for key, value in _judging(options).items() if value is not None},
        "stop": options.stop,
        "shrink": options.shrink,
        "controls": options.controls,
    }
    settings = named(settings, named_profiles(), options.file)
    # What is wrong is told before the first model is asked.
    inputs = len(given.get("inputs", [prompt]))
    total = Contract.of(settings, where=options.file).plan.mutations * inputs
    for name in targets:
        resolve(name)
    if options.embedder is not None:
        embeddings(options.embedder)
    before = _before(options)
    limits = limits_of(options)
    store = ResponseStore(options.cache_dir, warn=output.error)
    embedder = installed_embedder(
        folder=Path(options.cache_dir), warn=output.error, provider=options.embedder
    )
    entailment = installed_entailment(options.entailment, Path(options.cache_dir), output.error)
    session = Session(store=store, mode=options.mode, embedder=embedder, entailment=entailment, gate=limits)
    results: list[tuple[str, Robustness]] = []
    try:
        for name in targets:

            def ran(runs: int, name: str = name) -> None:
                done = min(max(runs - 1 - inputs, 0), total)  # the baselines and a control come besides
                progress.trial(f"{options.file} on {name}", done, total, 0, runs)

            found = asyncio.run(
                aevaluate(
                    prompt,
                    name,
                    session=session,
                    only=options.trial,
                    progress=ran,
                    before=before.get(name),
                    **given,
                    **settings,
                )
            )
            results.append((name, found))
    finally:
        progress.clear()
        store.close()
    return results


def _before(options: argparse.Namespace) -> dict[str, Any]:
    """The reports of the run before, by target.

    Raises:
        UsageError: The file cannot be read, or holds none; or the gate does not ask for it.
    """
    if options.against is None:
        return {}
    if options.gate != "no-worse":
        raise UsageError("--against is for --gate no-worse. Give both, or leave it out.")
    try:
        found = json.loads(read_text(options.against))
        reports = found if isinstance(found, list) else [found]
        return {each["target"]: each for each in reports if each["trials"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(
            f"--against {options.against}: this is not the report of a run ({type(error).__name__}: {error}). Write "
            "one with `promptfuzz run … --json`."
        ) from None


_JUDGE_KEYS = ("judge", "judge_when", "judge_repeats", "judge_min_agreement", "judge_agreement")


def _judging(options: argparse.Namespace) -> dict[str, Any]:
    return {key: getattr(options, key) for key in _JUDGE_KEYS}


def _again(options: argparse.Namespace, target: str) -> str:
    """The command that gives the same mutations on one target, and their stored answers."""
    words = ["promptfuzz", "run", options.file, "--target", target]
    words += [
        "-n",
        written(options.mutations),
        "--seed",
        str(options.seed),
        "--threshold",
        f"{options.threshold:g}",
    ]
    if options.gate != "point":
        words += ["--gate", options.gate]
    if options.operators:
        words += ["--operators", written(options.operators)]
    if options.part:
        words += ["--part", options.part]
    if options.task:
        words += ["--task", options.task]
    if options.embedder:
        words += ["--embedder", options.embedder]
    if options.entailment:
        words += ["--entailment", options.entailment]
    for key, value in _judging(options).items():
        words += [] if value is None else [f"--{key.replace('_', '-')}", str(value)]
    for value in options.values:
        words += ["--set", value]
    if options.inputs is not None:
        words += ["--inputs", options.inputs]
    if options.cache_dir != _STORE:
        words += ["--cache-dir", options.cache_dir]
    return f"{shlex.join(words)} --trial {{id}}"


def _lines(reports: list[TestReport], width: int) -> list[Line]:
    lines: list[Line] = []
    for report in reports:
        if len(reports) > 1:
            lines.append([(report["test"], "heading")])
        # What is noted of a pass stands below the table.
        shown: TestReport = {**report, "notes": []} if report["verdict"] == "pass" else report
        lines += [*failure_lines(shown, width=width), []]
    if len(reports) > 1:
        lines += [*side_by_side_lines(reports, width=width), []]
    return lines + summary_lines(reports, width=width, legend="--json")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1") from None


def _to_stderr(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
