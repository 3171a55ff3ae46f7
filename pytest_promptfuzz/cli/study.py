"""``promptfuzz study``: compare models over data, under changes of their prompts; tables of what was answered."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import (
    add_answer_options,
    add_limit_options,
    add_output_options,
    from_one,
    limits_of,
    named_profiles,
)
from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings
    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.study import Study

TABLE_NAMES = "robustness, operators, quirx, gold, brittlebench, ranks, variance, models, stability, changes"
"""Those of ``studies.tables.TABLES``, which a help text does not load."""
_COLUMNS = ("task", "model", "input", "operator", "dimension", "run", "outcome", "reason", "gold")
"""Those of ``studies.cells.SELECTABLE``, which a help text does not load."""
_ACTIONS = ("merge", "table")
_MOST_ERRORS = 5


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "study",
        help="compare models over data, under changes of their prompts",
        usage="promptfuzz study STUDY.toml [--out CELLS] [--table NAME,…] [options]\n"
        "       promptfuzz study table CELLS [CELLS …] --table NAME,… [--format FORMAT] [--where COLUMN=VALUE,…]\n"
        "       promptfuzz study merge CELLS [CELLS …] --out CELLS",
        description="promptfuzz study: ask every prompt of a study of every model, with every change, in every run. "
        "Answers are stored: after Ctrl-C, the same command goes on where it ended. `table` shows tables of files that "
        "--out wrote; `merge` makes one file of the shares of a study.",
        epilog="exit codes: 0: done, 2: wrong usage or environment, 3: a model did not answer",
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="STUDY.toml", help="the study; or table, or merge")
    parser.add_argument(
        "cells", nargs="*", metavar="CELLS", help="with table or merge: files that --out wrote"
    )
    parser.add_argument(
        "--out",
        action="append",
        default=[],
        metavar="FILE",
        help="write a row for each answer: .csv, .jsonl, .json or .parquet; repeatable",
    )
    parser.add_argument("--table", metavar="NAME,…", help=f"tables to show: {TABLE_NAMES}")
    parser.add_argument(
        "--changes",
        action="store_true",
        help="list every changed answer, as --table changes does",
    )
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="COLUMN=VALUE,…",
        help="with table: only these cells, such as operator=upper-case,model=small; * stands for any characters, and "
        f"a column given twice takes either value; columns: {', '.join(_COLUMNS)}",
    )
    parser.add_argument(
        "--format",
        default="markdown",
        metavar="FORMAT",
        help="of tables: markdown, csv, latex or html (markdown)",
    )
    group = parser.add_argument_group("how the study is run")
    group.add_argument("--dry-run", action="store_true", help="ask nothing: print the calls, tokens and cost")
    group.add_argument(
        "--sample", type=from_one, metavar="N", help="take only N inputs of each task, by expected answer"
    )
    group.add_argument(
        "--shard", default="1/1", metavar="K/N", help="run the K-th of N shares; `merge` joins them"
    )
    group.add_argument("--concurrency", type=from_one, metavar="N", help="the most calls at once (16)")
    group.add_argument("--executor", metavar="dask:ADDRESS", help="run the study on this Dask cluster")
    add_answer_options(group)
    add_limit_options(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Run a study, or show or join what studies wrote; returns the exit code.

    Raises:
        PromptfuzzError: A file, an option or the environment is wrong.
    """
    from pytest_promptfuzz.studies.cells import check_target, merged, read_cells, selected

    tables = [each.strip() for each in (options.table or "").split(",") if each.strip()]
    tables += ["changes"] if options.changes and "changes" not in tables else []
    targets = [Path(each) for each in options.out]
    _check_tables(tables, options.format)
    for each in targets:
        check_target(each)
    if options.file in _ACTIONS:
        if not options.cells:
            raise UsageError(f"study {options.file}: name the files that --out wrote.")
        if options.file == "merge" and not targets:
            raise UsageError("study merge: write --out FILE.")
        if options.file == "table" and not tables:
            raise UsageError(f"study table: write --table NAME; known: {TABLE_NAMES}.")
        where = _where(options.where)
        cells = merged([(each, read_cells(Path(each))) for each in options.cells])
        cells = selected(cells, where) if where else cells
        _write(cells, targets, tables, options, output)
        return 0
    if options.where:
        raise UsageError(
            f"--where selects cells of a file: promptfuzz study table CELLS --where {options.where[0]}"
        )
    if options.cells:
        raise UsageError(
            f"study {options.file} {options.cells[0]}: a study is one file. {nearest(options.file, _ACTIONS)}"
        )
    return _run(options, targets, tables, output)


def _where(given: Sequence[str]) -> dict[str, list[str]]:
    """What ``--where`` asks for: values by column."""
    found: dict[str, list[str]] = {}
    for each in ",".join(given).split(",") if given else []:
        column, equals, value = each.partition("=")
        if not equals:
            raise UsageError(f"--where {each!r}: write COLUMN=VALUE, such as operator=upper-case.")
        found.setdefault(column.strip(), []).append(value.strip())
    return found


def _check_tables(tables: Sequence[str], form: str) -> None:
    """Say what is wrong before anything is asked."""
    from pytest_promptfuzz.reporting.study_tables import FORMS
    from pytest_promptfuzz.studies.tables import TABLES

    for name in tables:
        if name not in TABLES:
            raise UsageError(f"--table: unknown table {name!r}. {nearest(name, TABLES)}")
    if form not in FORMS:
        raise UsageError(f"--format: unknown format {form!r}. {nearest(form, FORMS)}")


def _run(options: argparse.Namespace, targets: Sequence[Path], tables: Sequence[str], output: Output) -> int:
    from pytest_promptfuzz.evaluating.session import Session, installed_embedder, installed_entailment
    from pytest_promptfuzz.storage.stores import open_store
    from pytest_promptfuzz.studies import runner
    from pytest_promptfuzz.studies.study import read_study, sampled

    study = read_study(Path(options.file), named_profiles())
    if options.sample is not None:
        study = sampled(study, options.sample)
    shard = _shard(options.shard)
    limits = limits_of(options)
    concurrency = runner.CONCURRENCY if options.concurrency is None else options.concurrency
    if options.executor is not None and not options.dry_run:
        progress = _Clock(study.name, output)
        cells = _on_executor(study, shard, concurrency, limits.settings, options, progress)
        progress.end()
        _write(cells, targets, tables, options, output)
        return _end(study, cells, output, quiet=bool(tables) or options.json)
    folder = Path(options.cache_dir)
    store = open_store(os.environ.get("PROMPTFUZZ_STORE"), folder, warn=output.error)
    try:
        session = Session(
            store=store,
            mode=options.mode,
            embedder=installed_embedder(folder=folder, warn=output.error),
            entailment=installed_entailment(None, folder, output.error),
            gate=limits,
        )
        if options.dry_run:
            _show_price(study, session, limits, shard, output)
            return 0
        progress = _Clock(study.name, output)
        cells = runner.study(
            study,
            session=session,
            concurrency=concurrency,
            shard=shard,
            prices=limits.settings.prices,
            progress=progress.tell,
        )
    finally:
        store.close()
    progress.end()
    _write(cells, targets, tables, options, output)
    return _end(study, cells, output, quiet=bool(tables) or options.json)


def _on_executor(
    study: Study,
    shard: tuple[int, int],
    concurrency: int,
    settings: Settings,
    options: argparse.Namespace,
    progress: _Clock,
) -> list[Cell]:
    """The cells of a study that a cluster runs.

    Raises:
        PromptfuzzError: The executor is none, or its cluster cannot run the study.
    """
    from pytest_promptfuzz.studies.executors import StudyOrder, check_executor, digest_of, run_on_dask

    if shard != (1, 1):
        raise UsageError("--shard and --executor both divide the study; leave one of them out.")
    address = check_executor(options.executor)
    order = StudyOrder(
        root=str(Path.cwd()),
        file=str(Path(options.file).absolute()),
        digest=digest_of(study),
        sample=options.sample,
        shares=len(study.units()),
        mode=options.mode,
        cache_dir=str(Path(options.cache_dir).absolute()),
        concurrency=concurrency,
        limits={},
    )
    return run_on_dask(address, order, settings, progress.tell)


def _shard(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--shard {text!r}; write K/N, such as 1/4.")
    return int(found[1]), int(found[2])


def _show_price(
    study: Study, session: Session, limits: SessionLimits, shard: tuple[int, int], output: Output
) -> None:
    from pytest_promptfuzz.studies.runner import price_of

    found = price_of(study, session, limits.settings.prices, shard)
    cost = (
        "cost not known"
        if found.low is None or found.high is None
        else f"${found.low:.4f} to ${found.high:.4f}"
    )
    output.say(
        f"{study.name}: {counted(found.calls, 'call')}; {counted(found.stored, 'answer')} in the store; about "
        f"{found.tokens:,} tokens in; {cost}. No call was made."
    )


class _Clock:
    """A line on a terminal that says how far a study is, and how long the rest will take."""

    def __init__(self, name: str, output: Output) -> None:
        from pytest_promptfuzz.reporting.terminal.progress import Progress

        self._name = name
        self._begun = monotonic()
        self._progress = Progress(_to_stderr, enabled=sys.stderr.isatty(), width=lambda: output.width)

    def tell(self, done: int, total: int) -> None:
        """Show how far it is."""
        left = (monotonic() - self._begun) / done * (total - done)
        self._progress.study(self._name, done, total, left)

    def end(self) -> None:
        """Take the line away."""
        self._progress.clear()


def _to_stderr(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _write(
    cells: list[Cell],
    targets: Sequence[Path],
    tables: Sequence[str],
    options: argparse.Namespace,
    output: Output,
) -> None:
    from pytest_promptfuzz.reporting.study_tables import render_table
    from pytest_promptfuzz.studies.cells import write_cells
    from pytest_promptfuzz.studies.model_tables import changed_answers
    from pytest_promptfuzz.studies.tables import table_of

    for target in targets:
        write_cells(target, cells)
    if options.json:
        rows = changed_answers(cells) if options.changes else cells
        output.json([each.row() for each in rows])
        return
    for number, name in enumerate(tables):
        output.text(
            ("\n" if number else "") + render_table(table_of(name, cells), options.format).rstrip("\n")
        )
    if targets and not tables:
        output.say(f"Wrote {counted(len(cells), 'cell')} to {', '.join(map(str, targets))}.")


def _end(study: Study, cells: Sequence[Cell], output: Output, *, quiet: bool) -> int:
    """The exit code; a line for each reason why there are no answers."""
    from pytest_promptfuzz.targets.resolution import resolve
    from pytest_promptfuzz.targets.simulated import SimulatedTarget

    simulated = [each.name for each in study.models if isinstance(resolve(each.target), SimulatedTarget)]
    if simulated:
        output.error(
            f"promptfuzz study: answers of {', '.join(simulated)} are simulated: no real model was called"
        )
    failed = [each for each in cells if each.outcome == "error"]
    reasons: dict[tuple[str, str], int] = {}
    for cell in failed:
        reasons[cell.model, cell.error] = reasons.get((cell.model, cell.error), 0) + 1
    for (model, why), number in list(reasons.items())[:_MOST_ERRORS]:
        output.error(f"promptfuzz study: {model}: {counted(number, 'answer')} missing: {why}")
    if len(reasons) > _MOST_ERRORS:
        output.error(
            f"promptfuzz study: and {len(reasons) - _MOST_ERRORS} more reasons; see the column error"
        )
    if not quiet:
        output.say(f"{study.name}: {counted(len(cells), 'cell')}, {counted(len(failed), 'error')}.")
    return 3 if failed else 0
