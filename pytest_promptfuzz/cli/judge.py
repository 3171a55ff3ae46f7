"""``promptfuzz judge``: how far a judge agrees with people: blind sheets for them, and the figures of agreement."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import (
    add_answer_options,
    add_limit_options,
    add_output_options,
    add_setting,
    from_one,
    limits_of,
    named_profiles,
)
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.judging.measurements import JudgeMeasurement
    from pytest_promptfuzz.judging.ratings import Judge
    from pytest_promptfuzz.reporting.rating_sheets import SheetItem
    from pytest_promptfuzz.stats.raters import AgreementFigure, RaterAgreement
    from pytest_promptfuzz.studies.tables.table_figures import StudyTable

    Ratings = dict[str, dict[str, int]]
    """By rater, the rating of each item."""


PEOPLE = "people"
"""The median of all people; of an even number the worse of the two in the middle."""
OUTCOMES = "outcomes"
"""What the comparison found when the results were made."""
_FILE = "promptfuzz-judges.json"
_WEIGHTS = ("quadratic", "linear")
_LEVELS = ("ordinal", "nominal", "interval")


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "judge",
        help="measure how far a judge agrees with people",
        description="promptfuzz judge: measure how far a judge agrees with people. `sample` draws a blind sheet, which "
        "people fill in; `agree` compares their ratings with each other and with a judge's.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_sample(actions)
    _add_agree(actions)


def _add_sample(actions: argparse._SubParsersAction[Any]) -> None:
    parser = actions.add_parser(
        "sample",
        help="write a blind sheet of pairs of answers, and its key",
        description="Draw pairs of answers from results: what was answered to a prompt, and to its mutation. The sheet "
        "shows them in random order, and says nothing of model, mutation or outcome: the key does.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="cells of a study, a JSON report, what `promptfuzz run --json` wrote, or the folder .promptfuzz",
    )
    parser.add_argument("--out", default="sheet.csv", metavar="FILE", help="the sheet (sheet.csv)")
    parser.add_argument("--key", metavar="FILE", help="the key (beside the sheet: sheet.key.json)")
    parser.add_argument(
        "-n", "--items", type=from_one, default=60, metavar="N", help="how many pairs are drawn (60)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of what is drawn, and its order (0)"
    )
    parser.add_argument(
        "--study", metavar="STUDY.toml", help="the study of the cells, whose prompts are shown"
    )
    parser.add_argument("--judged", action="store_true", help="only pairs that a judge decided")
    add_output_options(parser)
    parser.set_defaults(execute=execute_sample)


def _add_agree(actions: argparse._SubParsersAction[Any]) -> None:
    parser = actions.add_parser(
        "agree",
        help="how far raters agree, with each other and with a judge",
        description="Compare the ratings of people with each other, with the outcomes that were found, and with what a "
        "judge says of the same pairs. Its answers are stored, as all others.",
        epilog="exit codes: 0: done, 2: wrong usage or environment, 3: the judge could not rate a pair",
        allow_abbrev=False,
    )
    parser.add_argument("ratings", nargs="+", metavar="RATINGS", help="a sheet that a person filled in")
    parser.add_argument(
        "--key", metavar="FILE", help="the sheet's key (the only *.key.json beside the ratings)"
    )
    add_setting(parser, "judge", help="a judge that rates the pairs as well: a model, or a judge by its name")
    add_setting(parser, "judge_repeats", type=int)
    parser.add_argument(
        "--weights", choices=_WEIGHTS, default="quadratic", help="of disagreements in kappa (quadratic)"
    )
    parser.add_argument(
        "--level", choices=_LEVELS, default="ordinal", help="of measurement, for alpha (ordinal)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the intervals (0)")
    parser.add_argument(
        "--save",
        nargs="?",
        const=_FILE,
        metavar="FILE",
        help=f"keep the judge's agreement, for judge_min_agreement and the intervals of scores ({_FILE})",
    )
    add_answer_options(parser.add_argument_group("answers"))
    add_limit_options(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute_agree)


def execute_sample(options: argparse.Namespace, output: Output) -> int:
    """Write a sheet and its key; returns the exit code.

    Raises:
        PromptfuzzError: The results cannot be read, or the files cannot be written.
    """
    from pytest_promptfuzz.reporting.rating_sheets import drawn, items_of, write_pair
    from pytest_promptfuzz.studies.study import read_study

    sheet = Path(options.out)
    key = Path(options.key) if options.key else sheet.with_name(f"{sheet.stem}.key.json")
    if sheet.suffix.lower() != ".csv":
        raise UsageError(f"--out {sheet}: a sheet is a .csv file.")
    study = None if options.study is None else read_study(Path(options.study), named_profiles())
    found = items_of(Path(options.source), study, judged=options.judged)
    items = drawn(found, options.items, options.seed)
    write_pair(sheet, key, items, source=options.source, seed=options.seed)
    if options.json:
        output.json({"sheet": str(sheet), "key": str(key), "items": len(items), "pairs": len(found)})
        return 0
    output.say(
        f"Wrote {len(items)} of {counted(len(found), 'pair')} to {sheet}, and the key to {key}. Give each rater a copy "
        "of the sheet, and not the key. In the column rating: 3 the same, 2 minor differences, 1 different."
    )
    return 0


def execute_agree(options: argparse.Namespace, output: Output) -> int:
    """Show how far raters agree; returns the exit code.

    Raises:
        PromptfuzzError: Ratings, key or judge cannot be used.
    """
    from pytest_promptfuzz.judging.model_judge import read_judge
    from pytest_promptfuzz.reporting.rating_sheets import RATED, read_key, read_ratings

    if options.save and not options.judge:
        raise UsageError("--save keeps a judge's agreement: name it, --judge openai:gpt-5-mini.")
    judge = read_judge(vars(options), "--judge") if options.judge else None
    paths = [Path(each) for each in options.ratings]
    items = read_key(_key_of(options.key, paths))
    people = {name: read_ratings(path, items) for name, path in _raters(paths).items()}
    middle = _median(people)
    others: Ratings = {}
    known = {each.id: RATED[each.outcome] for each in items.values() if each.outcome in RATED}
    if known.keys() & middle.keys():
        others[OUTCOMES] = known
    failed: dict[str, str] = {}
    if judge is not None:
        rated = [items[each] for each in middle]
        others[judge.name], failed = _asked(judge, rated, options, output)
    compared = _compared(people, middle, others, options)
    measured = None if judge is None else _measurement(judge, middle, others, people)
    left_out = len(middle.keys() - known.keys()) if OUTCOMES in others else 0
    _show(compared, measured, left_out, options, output)
    for why, number in Counter(failed.values()).items():
        output.error(f"promptfuzz judge agree: {counted(number, 'pair')} not rated by {options.judge}: {why}")
    if options.save and judge is not None and measured is not None:
        _save(judge.name, measured, options, output)
    return 3 if failed else 0


def _key_of(given: str | None, ratings: Sequence[Path]) -> Path:
    if given is not None:
        return Path(given)
    folder = ratings[0].parent
    found = sorted(folder.glob("*.key.json")) if folder.is_dir() else []
    if len(found) != 1:
        there = f"there are {len(found)}" if found else "there is none"
        raise UsageError(f"--key: name the key of the sheet; beside {ratings[0]} {there}.")
    return found[0]


def _raters(paths: Sequence[Path]) -> dict[str, Path]:
    """The files by the names of their raters: the file's, or its path where two have the same."""
    twice = [str(path) for path in paths if paths.count(path) > 1]
    if twice:
        raise UsageError(f"{twice[0]} is named twice; name each rater's file once.")
    stems = [path.stem for path in paths]
    taken = {PEOPLE, OUTCOMES}
    return {
        path.stem if stems.count(path.stem) == 1 and path.stem not in taken else str(path): path
        for path in paths
    }


def _median(people: Ratings) -> dict[str, int]:
    """What people say of each item: the median; of an even number of raters the worse of the two in the middle."""
    found: dict[str, list[int]] = {}
    for each in people.values():
        for item, rating in each.items():
            found.setdefault(item, []).append(rating)
    return {item: sorted(ratings)[(len(ratings) - 1) // 2] for item, ratings in found.items()}


def _asked(
    judge: Judge, items: Sequence[SheetItem], options: argparse.Namespace, output: Output
) -> tuple[dict[str, int], dict[str, str]]:
    """What the judge says of the items that it can tell, and why it says nothing of others."""
    from pytest_promptfuzz.evaluating.judge import Bench
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.judging.ratings import JudgedPair, Rating
    from pytest_promptfuzz.storage.disk_store import ResponseStore

    store = ResponseStore(Path(options.cache_dir), warn=output.error)
    try:
        session = Session(store=store, mode=options.mode, gate=limits_of(options))
        bench = Bench(judge, True, session.test())
        said = bench.rate([JudgedPair(each.baseline, each.response, each.prompt) for each in items])
    finally:
        store.close()
    rated: dict[str, int] = {}
    failed: dict[str, str] = {}
    for item, found in zip(items, said, strict=True):
        if not isinstance(found, Rating):
            failed[item.id] = str(found)
        elif found.rating is None:
            failed[item.id] = "it cannot tell"
        else:
            rated[item.id] = found.rating
    if not rated:
        raise UsageError(f"the judge {judge.name} rated no pair: {next(iter(failed.values()))}")
    return rated, failed


def _compared(
    people: Ratings, middle: dict[str, int], others: Ratings, options: argparse.Namespace
) -> list[RaterAgreement]:
    """The agreement of each two people, of all of them, and of everybody else with their median."""
    from pytest_promptfuzz.stats.raters import agreement_of

    groups: list[Ratings] = [
        {one: people[one], other: people[other]} for one, other in combinations(people, 2)
    ]
    groups += [people] if len(people) > 2 else []
    groups += [{name: each, PEOPLE: middle} for name, each in others.items()]
    if not groups:
        raise UsageError("one rater agrees with nobody: name several files of ratings, or a --judge.")
    for each in groups:
        if not set.intersection(*(set(rated) for rated in each.values())) and len(each) == 2:
            raise UsageError(f"{' and '.join(each)} rated no item both, so that nothing can be compared.")
    return [
        agreement_of(each, weights=options.weights, level=options.level, seed=options.seed) for each in groups
    ]


def _measurement(
    judge: Judge, middle: Mapping[str, int], others: Ratings, people: Ratings
) -> JudgeMeasurement:
    from pytest_promptfuzz.judging.measurements import JudgeMeasurement, questions_of
    from pytest_promptfuzz.stats.misclassification import Confusion
    from pytest_promptfuzz.stats.raters import agreement_of

    said = others[judge.name]
    found = agreement_of({judge.name: said, PEOPLE: dict(middle)})  # of one kind, whatever is shown
    alpha = found.alpha
    return JudgeMeasurement(
        items=found.items,
        raters=len(people),
        alpha=None if alpha is None else alpha.value,
        low=None if alpha is None else alpha.low,
        high=None if alpha is None else alpha.high,
        confusion=Confusion.of((middle[each], rating) for each, rating in said.items()).counts,
        questions=questions_of(judge),
    )


def _save(judge: str, measured: JudgeMeasurement, options: argparse.Namespace, output: Output) -> None:
    from pytest_promptfuzz.judging.measurements import save_measurement

    save_measurement(Path(options.save), judge, measured)
    if not options.json:
        output.say(f"Wrote the agreement of {judge} to {options.save}. Keep it in git, beside the tests.")


# What is shown.


def _show(
    compared: Sequence[RaterAgreement],
    measured: JudgeMeasurement | None,
    left_out: int,
    options: argparse.Namespace,
    output: Output,
) -> None:
    """Show the tables.

    Args:
        compared: The rows.
        measured: The judge, where there is one.
        left_out: How many rated items have no outcome.
        options: Of the command.
        output: Where to.
    """
    from pytest_promptfuzz.reporting.study_tables import render_table

    if options.json:
        output.json(
            {
                "agreement": [_as_dict(each) for each in compared],
                "weights": options.weights,
                "level": options.level,
                "judge": options.judge,
                "confusion": None if measured is None else measured.confusion,
                "without_outcome": left_out,
            }
        )
        return
    output.text(render_table(_table(compared, options, left_out)).rstrip("\n"))
    if measured is not None:
        output.text("\n" + render_table(_confusion_table(options.judge, measured)).rstrip("\n"))


def _as_dict(found: RaterAgreement) -> dict[str, Any]:
    figures = ("exact", "kappa", "alpha", "spearman", "difference")
    return {
        "raters": list(found.raters),
        "items": found.items,
        "ratings": found.ratings,
        **{name: each and each._asdict() for name in figures for each in [getattr(found, name)]},
    }


def _explained(compared: Sequence[RaterAgreement], left_out: int) -> list[str]:
    """What the rows and figures of the table mean."""
    names = {name for each in compared for name in each.raters}
    found = ["items: pairs of answers that at least two of the raters in the row rated."]
    if PEOPLE in names:
        found.append(f"{PEOPLE}: for each item the median of all people.")
    if OUTCOMES in names:
        found.append(f"{OUTCOMES}: what the comparison found, as a rating.")
    if left_out:
        it = "it" if left_out == 1 else "them"
        found.append(f"It left {counted(left_out, 'item')} undecided, so the row {OUTCOMES} is without {it}.")
    found.append("In brackets: the true figure lies there with 95 % confidence.")
    if any(None in (each.kappa, each.alpha, each.spearman, each.difference) for each in compared):
        found.append("N/A: not defined for more than two raters, or where all ratings are alike.")
    return found


def _table(compared: Sequence[RaterAgreement], options: argparse.Namespace, left_out: int) -> StudyTable:
    from pytest_promptfuzz.studies.tables.table_figures import StudyTable, TableColumn, TableFigure

    def figure(found: AgreementFigure | None) -> TableFigure | None:
        return None if found is None else TableFigure(found.value, low=found.low, high=found.high)

    return StudyTable(
        "Agreement of raters",
        "raters",
        (
            TableColumn("items", unit="", digits=0),
            TableColumn("equal"),
            TableColumn(f"kappa ({options.weights})", unit="", digits=2),
            TableColumn(f"alpha ({options.level})", unit="", digits=2),
            TableColumn("Spearman", unit="", digits=2),
            TableColumn("mean difference", unit="", digits=2),
        ),
        tuple(
            (
                " - ".join(each.raters) if len(each.raters) == 2 else f"all {len(each.raters)} people",
                (
                    TableFigure(each.items),
                    *map(figure, (each.exact, each.kappa, each.alpha, each.spearman, each.difference)),
                ),
            )
            for each in compared
        ),
        " ".join(_explained(compared, left_out)),
    )


def _confusion_table(judge: str, measured: JudgeMeasurement) -> StudyTable:
    from pytest_promptfuzz.studies.tables.table_figures import StudyTable, TableColumn, TableFigure

    return StudyTable(
        f"What {judge} said, by what people said",
        PEOPLE,
        tuple(TableColumn(str(rating), unit="", digits=0) for rating in (3, 2, 1)),
        tuple(
            (str(rating), tuple(TableFigure(count) for count in reversed(measured.confusion[rating - 1])))
            for rating in (3, 2, 1)
        ),
    )
