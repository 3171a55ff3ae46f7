"""``promptfuzz study``: compare models over data, under changes of their prompts; tables of what was answered."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.cli.options import (
    OUTPUT_OPTIONS,
    add_answer_options,
    add_limit_options,
    add_output_options,
    from_one,
    given_among,
    limits_of,
    named_profiles,
    options_but,
)
from pytest_promptfuzz.errors import ConfigurationError, UsageError, nearest, not_among
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from importlib.abc import Traversable

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings
    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.study import Study

TABLE_NAMES = (
    "robustness, operators, gold, variance, prompt-distribution, factors, turns, models, stability, changes, "
    "mitigation, quirx, quirx-dimensions, brittlebench, brittlebench-groups, brittlebench-tasks, "
    "brittlebench-variance, ranks, intensity, pairs, promptings, enterprise, enterprise-groups, "
    "enterprise-languages, enterprise-crosslingual, enterprise-formats, sentiment, sentiment-variants, "
    "sentiment-errors, sentiment-factors, sentiment-winner"
)
"""Those of ``studies.tables.named_tables.TABLES``, which a help text does not load."""
_COLUMNS = ("task", "model", "input", "operator", "dimension", "run", "outcome", "reason", "gold")
"""Those of ``studies.cells.SELECTABLE``, which a help text does not load."""
PLOT_NAMES = "heatmap, intensity, ranks, pairs"
"""Those of ``reporting.study_plots.PLOTS``, likewise."""
_ACTIONS = ("merge", "table", "plot")
_OF_CELLS = ("out", "table", "plot", "changes", "where", "format", *OUTPUT_OPTIONS)
"""The options of these; all others are for running a study."""
_NEXT_COLUMN = re.compile(rf",(?=\s*(?:{'|'.join(_COLUMNS)})\s*=)")
_FORM = "markdown"
_PAGES, _PLOTS = (".html", ".htm"), (".svg",)
_MOST_ERRORS = 5


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "study",
        help="compare models over data, under changes of their prompts",
        usage="promptfuzz study STUDY.toml [--out CELLS] [--table NAME,…] [options]\n"
        "       promptfuzz study table CELLS [CELLS …] --table NAME,… [--format FORMAT] [--where COLUMN=VALUE,…]\n"
        "       promptfuzz study plot CELLS [CELLS …] --plot NAME --out FILE.svg\n"
        "       promptfuzz study merge CELLS [CELLS …] --out CELLS",
        description="promptfuzz study: ask every prompt of a study of every model, with every change, in every run. "
        "Answers are stored: after Ctrl-C, the same command goes on where it ended. `table` shows tables of files that "
        "--out wrote; `merge` makes one file of the shares of a study.",
        epilog="exit codes: 0: done, 2: wrong usage or environment, 3: a model did not answer",
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="STUDY.toml", help="the study; or table, plot or merge")
    parser.add_argument(
        "cells", nargs="*", metavar="CELLS", help="with table, plot or merge: files that --out wrote"
    )
    parser.add_argument(
        "--out",
        action="append",
        default=[],
        metavar="FILE",
        help="write a row for each answer: .csv, .jsonl, .json or .parquet; or a page with the tables and plots: "
        ".html; or a plot: .svg; repeatable",
    )
    for option, what in (
        ("--table", f"tables to show: {TABLE_NAMES}"),
        ("--plot", f"plots to draw: {PLOT_NAMES}"),
    ):
        parser.add_argument(option, action="append", default=[], metavar="NAME,…", help=f"{what}; repeatable")
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
        help="with table, plot or merge: only these cells, such as operator=upper-case,model=small; * stands for any "
        f"characters, and a column given twice takes either value; columns: {', '.join(_COLUMNS)}",
    )
    parser.add_argument(
        "--format",
        default=_FORM,
        metavar="FORMAT",
        help="of tables: markdown, csv, latex or html (markdown); html with several tables or a plot is a page",
    )
    group = parser.add_argument_group("how the study is run")
    group.add_argument(
        "--mitigate",
        metavar="EDIT,…",
        help="ask under edits of the prompt, and show which one cuts what changes cost: none, few-shot, cot, "
        "answer-format, delimiters",
    )
    group.add_argument("--dry-run", action="store_true", help="ask nothing: print the calls, tokens and cost")
    group.add_argument(
        "--sample", type=from_one, metavar="N", help="take only N inputs of each task, by expected answer"
    )
    group.add_argument(
        "--cells",
        dest="share",
        metavar="P%",
        help="ask only this share of the cells of inputs and changes, drawn evenly, such as 20%%; the table "
        "prompt-distribution estimates the rest",
    )
    group.add_argument(
        "--shard", default="1/1", metavar="K/N", help="run the K-th of N shares; `merge` joins them"
    )
    group.add_argument("--concurrency", type=from_one, metavar="N", help="the most calls at once (16)")
    group.add_argument("--executor", metavar="dask:ADDRESS", help="run the study on this Dask cluster")
    add_answer_options(group)
    add_limit_options(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute, of_runs=options_but(parser, *_OF_CELLS))


def execute(options: argparse.Namespace, output: Output) -> int:
    """Run a study, or show or join what studies wrote; returns the exit code.

    Raises:
        PromptfuzzError: A file, an option or the environment is wrong.
    """
    from pytest_promptfuzz.studies.cells import check_target, merged, read_cells, selected

    if options.file in _ACTIONS:
        _check_of_cells(options)
    tables = _names(options.table)
    tables += ["mitigation"] if options.mitigate and not tables else []
    tables += ["changes"] if options.changes and "changes" not in tables else []
    plots = _names(options.plot)
    wanted = _Wanted(tables, plots, [Path(each) for each in options.out], options.format)
    wanted.check()
    targets = wanted.cell_files
    for each in targets:
        check_target(each)
    if options.file in _ACTIONS:
        if not options.cells:
            raise UsageError(f"{options.file}: name the files that --out wrote.")
        if options.file == "merge" and not targets:
            raise UsageError("merge: add --out FILE.")
        if options.file == "table" and not tables:
            raise UsageError(f"table: add --table NAME. Known: {TABLE_NAMES}.")
        if options.file == "plot" and not plots:
            raise UsageError(f"plot: add --plot NAME. Known: {PLOT_NAMES}.")
        where = _where(options.where)
        cells = merged([(each, read_cells(Path(each))) for each in options.cells])
        cells = selected(cells, where) if where else cells
        _write(cells, wanted, options, output)
        return 0
    if options.where:
        raise UsageError(
            f"--where selects cells of a file: promptfuzz study table CELLS --where {options.where[0]}"
        )
    if options.cells:
        raise UsageError(
            f"{options.file} {options.cells[0]}: a study is one file. {nearest(options.file, _ACTIONS)}"
        )
    return _run(options, wanted, output)


def _check_of_cells(options: argparse.Namespace) -> None:
    """See that no option is given that only a run takes.

    Raises:
        UsageError: One is.
    """
    given = given_among(options, options.of_runs)
    if given:
        raise UsageError(
            f"{options.file}: {', '.join(given)} {'is' if len(given) == 1 else 'are'} for running a study, and "
            f"`study {options.file}` reads cells that were written. Leave {'it' if len(given) == 1 else 'them'} out; "
            "--where selects cells."
        )


def _names(given: Sequence[str]) -> list[str]:
    """The names in the values of an option, each once."""
    return list(dict.fromkeys(name.strip() for each in given for name in each.split(",") if name.strip()))


def _where(given: Sequence[str]) -> dict[str, list[str]]:
    """What ``--where`` asks for: values by column. A value may hold commas: only a column begins another condition."""
    found: dict[str, list[str]] = {}
    for each in (part for text in given for part in _NEXT_COLUMN.split(text)):
        column, equals, value = each.partition("=")
        if not equals:
            raise UsageError(
                f"--where: {each!r} has no value. Write COLUMN=VALUE, such as operator=upper-case."
            )
        found.setdefault(column.strip(), []).append(value.strip())
    return found


class _Wanted(NamedTuple):
    """What is made of a study's cells.

    Attributes:
        tables: By name.
        plots: By name.
        files: Where it is written: cells, pages and plots.
        form: Of the tables that are printed.
    """

    tables: Sequence[str]
    plots: Sequence[str]
    files: Sequence[Path]
    form: str

    @property
    def cell_files(self) -> list[Path]:
        """The files that get a row for each answer."""
        return [each for each in self.files if each.suffix.lower() not in (*_PAGES, *_PLOTS)]

    def check(self) -> None:
        """Say what is wrong before anything is asked.

        Raises:
            UsageError: A table, plot, format or file that there cannot be.
        """
        from pytest_promptfuzz.reporting.study_plots import PLOTS
        from pytest_promptfuzz.reporting.study_tables import FORMS
        from pytest_promptfuzz.studies.cells import SUFFIXES
        from pytest_promptfuzz.studies.tables.named_tables import TABLES

        for option, names, known in (("--table", self.tables, TABLES), ("--plot", self.plots, PLOTS)):
            for name in names:
                if name not in known:
                    raise UsageError(f"{option}: {not_among(repr(name), name, known)}")
        if self.form not in FORMS:
            raise UsageError(f"--format: {not_among(repr(self.form), self.form, FORMS)}")
        if self.form != _FORM and not self.tables and not (self.form == "html" and self.plots):
            raise UsageError(f"--format {self.form} is of tables: add --table NAME.")
        endings = (*SUFFIXES, *_PAGES, *_PLOTS)
        for each in self.files:
            suffix = each.suffix.lower()
            if suffix not in endings:
                raise UsageError(f"--out {each}: {not_among(f'the ending {suffix!r}', suffix, endings)}")
            if suffix in _PLOTS and len(self.plots) != 1:
                raise UsageError(
                    f"--out {each}: an SVG file holds one plot; write one --plot NAME: {PLOT_NAMES}."
                )
            if suffix in _PAGES and not (self.tables or self.plots):
                raise UsageError(f"--out {each}: write --table NAME or --plot NAME for the page.")
            if suffix in (*_PAGES, *_PLOTS) and not each.parent.is_dir():
                raise UsageError(f"{each} cannot be written: there is no folder '{each.parent}'.")


def _run(options: argparse.Namespace, wanted: _Wanted, output: Output) -> int:
    from pytest_promptfuzz.evaluating.session import Session, installed_embedder, installed_entailment
    from pytest_promptfuzz.storage.stores import open_store
    from pytest_promptfuzz.studies import runner
    from pytest_promptfuzz.studies.designs import read_share
    from pytest_promptfuzz.studies.robust_tests import collected
    from pytest_promptfuzz.studies.study import mitigated, read_study, sampled
    from pytest_promptfuzz.studies.tables.named_tables import check_table
    from pytest_promptfuzz.studies.tables.table_needs import StudyShape

    study = read_study(Path(options.file), named_profiles())
    if study.tests and options.executor is not None:
        raise UsageError(
            "--executor runs prompts, and this study has robust tests. Use --shard on several machines."
        )
    if options.mitigate:
        from pytest_promptfuzz.studies.prompting import edits_of

        study = mitigated(study, edits_of(options.mitigate, "--mitigate"))
    if options.sample is not None:
        study = sampled(study, options.sample)
    if options.share is not None:
        study = replace(study, cells=read_share(options.share, "--cells"))
    try:
        study = collected(study, lambda text: output.error(f"promptfuzz study: {text}"))
    except UsageError as error:
        raise UsageError(f"{options.file}: {error}") from None
    for name in wanted.tables:
        check_table(name, StudyShape.of_study(study))
    shard = _shard(options.shard)
    limits = limits_of(options)
    concurrency = runner.CONCURRENCY if options.concurrency is None else options.concurrency
    if options.executor is not None and not options.dry_run:
        progress = _Clock(study.name, output)
        cells = _on_executor(study, shard, limits.settings, options, progress)
        progress.end()
        _write(cells, wanted, options, output)
        return _end(study, cells, output, quiet=bool(wanted.tables) or options.json)
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
    _write(cells, wanted, options, output)
    return _end(study, cells, output, quiet=bool(wanted.tables) or options.json)


def _on_executor(
    study: Study,
    shard: tuple[int, int],
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
        mitigate=tuple(dict.fromkeys(each.prompting for each in study.models)) if options.mitigate else (),
        sample=options.sample,
        cells=study.cells,
        shares=len(study.units()),
        mode=options.mode,
        cache_dir=str(Path(options.cache_dir).absolute()),
        concurrency=options.concurrency,
        limits={},
    )
    return run_on_dask(address, order, settings, progress.tell)


def _shard(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--shard: {text!r} is not a share. Write K/N, such as 1/4.")
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
    least = "" if found.exact else "at least "
    output.say(
        f"{study.name}: {least}{counted(found.calls, 'call')}; {counted(found.stored, 'answer')} stored; about "
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


def _write(cells: list[Cell], wanted: _Wanted, options: argparse.Namespace, output: Output) -> None:
    """Write the files, then print the tables; files of cells come first, so that nothing is lost."""
    from pytest_promptfuzz.reporting.study_plots import study_plot
    from pytest_promptfuzz.reporting.study_tables import render_table, study_page, table_json
    from pytest_promptfuzz.studies.cells import write_cells
    from pytest_promptfuzz.studies.tables.named_tables import table_of

    for target in wanted.cell_files:
        write_cells(target, cells)
    tables = [table_of(name, cells) for name in wanted.tables]
    plots = [study_plot(cells, name) for name in wanted.plots]
    page = study_page(cells[0].study if cells else "study", tables, plots)
    for file in wanted.files:
        if file not in wanted.cell_files:
            _write_text(file, plots[0] if file.suffix.lower() in _PLOTS else page)
    if options.json:
        shown = [table_json(name, table) for name, table in zip(wanted.tables, tables, strict=True)]
        output.json(shown or [each.row() for each in cells])
    elif len(wanted.cell_files) < len(wanted.files):
        output.say(f"Wrote {', '.join(map(str, wanted.files))}.")
    elif wanted.files and not tables:
        output.say(f"Wrote {counted(len(cells), 'cell')} to {', '.join(map(str, wanted.files))}.")
    elif wanted.form == "html" and len(tables) + len(plots) > 1:
        output.text(page.rstrip("\n"))
    elif plots and not tables:
        output.text(plots[0].rstrip("\n"))
    elif tables:
        output.text("\n\n".join(render_table(each, wanted.form).rstrip("\n") for each in tables))


def _write_text(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}.") from None


def _end(study: Study, cells: Sequence[Cell], output: Output, *, quiet: bool) -> int:
    """The exit code; a line for each reason why there are no answers."""
    from pytest_promptfuzz.studies.tables.table_figures import simulation_of
    from pytest_promptfuzz.targets.resolution import resolve
    from pytest_promptfuzz.targets.simulated import SimulatedTarget
    from pytest_promptfuzz.wording.sentences import lowered

    simulated = simulation_of(
        (each.name, each.target is not None and isinstance(resolve(each.target), SimulatedTarget))
        for each in study.models
    )
    if simulated:
        output.error(f"promptfuzz study: {lowered(simulated).rstrip('.')}")
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


# ``promptfuzz init``: copy a suite into the project, a study that is ready to be run and to be changed.


SUITES = {"enterprise": "four tasks of support teams, under changes of prompt, format and language"}
"""The folders of ``data/suites``, and what they are."""
_GENERATOR = "make_inputs.py"
_STUDY = "study.toml"


def add_init_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "init",
        help="copy a suite into the project: prompts, inputs and a study",
        description="promptfuzz init: copy a suite into a folder of the project: prompts, a generator of inputs, and a "
        "study of them. Nothing that exists is overwritten.",
        epilog="exit codes: 0: done, 2: wrong usage or environment",
        allow_abbrev=False,
    )
    shown = "; ".join(f"{name}: {what}" for name, what in SUITES.items())
    parser.add_argument("suite", metavar="SUITE", help=shown)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", help="where it goes (the suite's name)")
    add_output_options(parser)
    parser.set_defaults(execute=execute_init)


def execute_init(options: argparse.Namespace, output: Output) -> int:
    """Write the suite and its inputs; returns the exit code.

    Raises:
        UsageError: There is no such suite, a file exists already, or one cannot be written.
        ConfigurationError: The inputs could not be made.
    """
    from importlib.resources import files

    if options.suite not in SUITES:
        raise UsageError(not_among(f"the suite {options.suite!r}", options.suite, SUITES))
    folder = Path(options.folder or options.suite)
    written = _copied(
        folder, dict(_suite_texts(files("pytest_promptfuzz") / "data" / "suites" / options.suite))
    )
    made = subprocess.run(  # noqa: S603 - this Python, and a file of ours
        [sys.executable, str(folder / _GENERATOR)], capture_output=True, encoding="utf-8", check=False
    )
    if made.returncode:
        raise ConfigurationError(f"{folder / _GENERATOR} failed: {made.stderr.strip().splitlines()[-1]}")
    study = (folder / _STUDY).as_posix()
    if options.json:
        output.json({"folder": str(folder), "files": [str(each) for each in written], "study": study})
        return 0
    output.say(f"Wrote {counted(len(written), 'file')} and the inputs to {folder}.")
    output.text(f"promptfuzz study {study} --sample 1 --table {options.suite}")
    output.say("--sample 1 takes one case of each task, and --dry-run says how many calls that is.")
    return 0


def _suite_texts(folder: Traversable, before: str = "") -> Iterator[tuple[str, str]]:
    """The files of a suite, by their paths in it."""
    for each in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if each.is_dir():
            if not each.name.startswith(("_", ".")):
                yield from _suite_texts(each, f"{before}{each.name}/")
        elif not each.name.endswith(".pyc"):
            yield f"{before}{each.name}", each.read_text(encoding="utf-8")


def _copied(folder: Path, texts: dict[str, str]) -> list[Path]:
    """Write files that do not exist yet; nothing if one of them does."""
    targets = {folder / name: text for name, text in texts.items()}
    taken = next((each for each in (*targets, folder / "data") if each.exists() or each.is_symlink()), None)
    if taken is not None:
        raise UsageError(f"{taken} exists already, and is left as it is. Name another folder.")
    try:
        for target, text in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}.") from None
    return list(targets)
