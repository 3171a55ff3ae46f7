"""``promptfuzz report``: show a finished run again, write its report in any format, or merge reports."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.history import add_store
from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.reporting.report_files import read_document
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.reporting.document import Document

_TO = "FORMAT:PATH,…"


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "report",
        help="show the last run again, write its report in any format, or merge reports",
        description=(
            "promptfuzz report: show a finished run again, write its report in any format, or merge "
            "reports. Without --to, it shows the run as pytest did."
        ),
        allow_abbrev=False,
    )
    _add_source(parser)
    _add_to(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    merge = actions.add_parser(
        "merge",
        help="make one report of several: of the parts of a suite, or of several models",
        description="promptfuzz report merge: make one report of several: of the parts of a suite that ran separately, "
        "or of runs with several models. If several runs have the same test with the same target, the last run counts.",
        allow_abbrev=False,
    )
    merge.add_argument(
        "files", nargs="+", metavar="FILE", help="a JSON report (--promptfuzz-report=json:FILE)"
    )
    _add_to(merge, required=True)
    add_output_options(merge)
    merge.set_defaults(execute=execute_merge)
    schema = actions.add_parser(
        "schema",
        help="print the JSON Schema of a JSON report",
        description="promptfuzz report schema: print the JSON Schema (2020-12) of the files that "
        "--promptfuzz-report=json:PATH writes.",
        allow_abbrev=False,
    )
    add_output_options(schema)
    schema.set_defaults(execute=execute_schema)


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="a JSON report, or a file of .promptfuzz/report (the last run here)",
    )
    add_store(parser)


def _add_to(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    parser.add_argument(
        "--to",
        metavar=_TO,
        required=required,
        help="the reports to write, such as html:report.html,md:report.md,github",
    )


def execute(options: argparse.Namespace, output: Output) -> int:
    """Show the report of a run, or write it; returns the exit code.

    Raises:
        PromptfuzzError: There is none, it cannot be read, or a report cannot be written.
    """
    source = _source(options)
    if options.to:
        from pytest_promptfuzz.reporting.report_files import ReportSource, read_wanted

        with ReportSource(source, [each.format for each in read_wanted(options.to)]).document() as found:
            _tell_age(found, options, output)
            _write(found, options.to, output)
        return 0
    found = read_document(source)
    _tell_age(found, options, output)
    if options.json:
        from pytest_promptfuzz.reporting.report_files import json_report

        output.text(json_report(found).rstrip())
    else:
        from pytest_promptfuzz.reporting.terminal.summary import document_lines

        output.lines(document_lines(found, width=output.width))
    return 0


def execute_merge(options: argparse.Namespace, output: Output) -> int:
    """Merge reports; returns the exit code.

    Raises:
        PromptfuzzError: One cannot be read, or the whole cannot be written.
    """
    from pytest_promptfuzz.reporting.document import merged

    whole = merged([read_document(Path(each)) for each in options.files])
    for warning in whole["warnings"]:
        output.error(f"promptfuzz report merge: {warning}")
    _write(whole, options.to, output)
    return 0


def execute_schema(options: argparse.Namespace, output: Output) -> int:
    """Print the schema; returns the exit code."""
    from pytest_promptfuzz.reporting.schema import report_schema

    del options
    output.json(report_schema())
    return 0


def _source(options: argparse.Namespace) -> Path:
    from pytest_promptfuzz.reporting.report_files import latest

    if options.source is not None:
        return Path(options.source)
    here = Path.cwd()
    for each in (here, *here.parents):
        found = latest(each / options.cache_dir)
        if found is not None:
            return found
    raise UsageError(
        f"there is no report in {options.cache_dir}, here or above. Run pytest first, or name a JSON report with "
        "--from FILE."
    )


def _tell_age(found: Document, options: argparse.Namespace, output: Output) -> None:
    """Say of which time the last run is: where pytest did not start just now, it is an earlier one."""
    started = found["run"]["started"]
    if options.source is None and started and not (options.json and not options.to):
        output.say(f"The last run with a report began {started[:19]}Z{_ago(started)}.")


def _ago(started: str) -> str:
    try:
        began = datetime.fromisoformat(started.removesuffix("Z")).replace(tzinfo=timezone.utc)
    except ValueError:
        return ""
    minutes = int((datetime.now(timezone.utc) - began).total_seconds() // 60)
    if minutes < 1:
        return ""
    days, hours = minutes // 1440, minutes // 60
    return f", {counted(days, 'day') if days else counted(hours, 'hour') if hours else counted(minutes, 'minute')} ago"


def _write(found: Document, to: str, output: Output) -> None:
    from pytest_promptfuzz.reporting.report_files import check, publish, read_wanted

    wanted = read_wanted(to)
    for each in wanted:
        check(each.format, Path(each.path))
    for each in wanted:
        output.say(publish(found, each.format, Path(each.path), shown=each.path, log=output.text))
