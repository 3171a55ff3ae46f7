"""``promptfuzz search``: look for the smallest harmless change of a prompt that changes its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import (
    add_comparing_options,
    add_limit_options,
    add_output_options,
    operator_names,
    plain,
)
from pytest_promptfuzz.cli.searches import cases_of, search_all
from pytest_promptfuzz.errors import ConfigurationError
from pytest_promptfuzz.evaluating.hunting import BATCH, QUERIES, REPEATS
from pytest_promptfuzz.reporting.metrics import metrics_lines, transfer_lines, transfer_report
from pytest_promptfuzz.reporting.model import FORMAT
from pytest_promptfuzz.reporting.searches import search_lines, search_report, searches_lines
from pytest_promptfuzz.searching.methods import DEFAULT, METHODS
from pytest_promptfuzz.searching.metrics import search_metrics

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.output import Output

_STORE = ".promptfuzz"
_EPILOG = (
    "exit codes: 0: no change breaks the prompt, as far as the search went, 1: a change that breaks it was found, "
    "2: wrong usage or environment, 3: inconclusive (the target varies or fails, or the search ended too early: "
    "Ctrl-C, time, money, or fewer than 10 changed prompts)"
)


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "search",
        help="look for the smallest harmless change that breaks a prompt",
        description=plain(__doc__),
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE|TEXT",
        help="a file with a prompt, or with chat messages (.json); - is standard input; a text with spaces is the "
        "prompt itself",
    )
    parser.add_argument(
        "--target",
        metavar="T",
        help="the model to ask: openai:MODEL, anthropic:MODEL, compatible:MODEL@URL or simulated",
    )
    parser.add_argument(
        "--set",
        metavar="SLOT=VALUE",
        action="append",
        default=[],
        dest="values",
        help="fill a slot of the prompt (SLOT=@FILE reads a file); values of --inputs win over it",
    )
    parser.add_argument(
        "--inputs",
        metavar="FILE",
        help="a JSON Lines file; each line is a text, or an object of slots and values, and is searched on its own",
    )
    parser.add_argument(
        "--part",
        metavar="PART",
        help="what may change: template, input (the values of the slots) or both; in a chat also a role, such as "
        "system (template)",
    )
    _add_search(parser.add_argument_group("search"))
    _add_limits(parser.add_argument_group("which changes are allowed"))
    group = parser.add_argument_group("answers")
    add_comparing_options(group)
    group.add_argument(
        "--mode",
        choices=("auto", "live"),
        default="auto",
        help="auto uses stored answers and calls for the rest, live always calls (auto)",
    )
    group.add_argument(
        "--cache-dir", default=_STORE, metavar="DIR", help=f"folder for stored answers ({_STORE})"
    )
    _add_measures(parser.add_argument_group("what to do with the changes that were found"))
    add_limit_options(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def _add_search(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--objective",
        default="deviation",
        metavar="NAME",
        help="what must happen to the answer: deviation (it changes), minor (it changes slightly), label, confidence, "
        "bleu, judge, or a measure that falls below a bound, such as 'rouge-l<0.5' (deviation)",
    )
    group.add_argument(
        "--method",
        default=DEFAULT,
        metavar="NAME",
        help=f"how to choose the next change: {', '.join(METHODS)} ({DEFAULT})",
    )
    group.add_argument(
        "--queries",
        type=int,
        default=QUERIES,
        metavar="N",
        help="how many queries each search may use, those of the unmutated prompt included (200)",
    )
    group.add_argument("--max-seconds", type=float, metavar="X", help="end each search after so many seconds")
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the same seed asks the same questions (0)"
    )
    group.add_argument(
        "--batch",
        type=int,
        default=BATCH,
        metavar="N",
        help="how many queries are made at once: 1 needs the fewest queries, more is faster (8)",
    )
    group.add_argument(
        "--repeats",
        type=int,
        default=REPEATS,
        metavar="N",
        help=f"how sure to be: a change must break the answer so many times more often than not ({REPEATS})",
    )
    group.add_argument(
        "--baseline-runs",
        type=int,
        default=2,
        metavar="N",
        help="how often the unmutated prompt is asked at the start (2)",
    )
    group.add_argument(
        "--no-prune",
        action="store_true",
        help="stop at the first change that breaks the answer, and do not shrink it",
    )


def _add_limits(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--operators",
        type=operator_names,
        metavar="A,B",
        help="use only these operators or dimensions, such as synonym or lexical (by default those of a test)",
    )
    group.add_argument(
        "--lexicon",
        metavar="NAME",
        help="also use synonyms of an installed WordNet, such as oewn:2024 (see `promptfuzz lexicon`); without "
        "--operators, use only these",
    )
    group.add_argument(
        "--top",
        type=int,
        default=10,
        metavar="N",
        help="how many replacements to consider for each place (10)",
    )
    group.add_argument(
        "--any-sense", action="store_true", help="use all synonyms of a word, whatever part of speech it is"
    )
    group.add_argument("--max-words", type=int, metavar="N", help="how many words may change")
    group.add_argument(
        "--max-change-rate",
        type=float,
        default=1.0,
        metavar="X",
        help="what share of the words may change, 0 to 1 (1)",
    )
    group.add_argument(
        "--min-cosine",
        type=float,
        metavar="X",
        help="how similar the changed prompt must be to the original: cosine of their embeddings, -1 to 1",
    )


def _add_measures(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--transfer",
        metavar="T",
        action="append",
        default=[],
        help="also try the changes that were found on this target; repeat the option for more targets",
    )
    group.add_argument(
        "--perplexity",
        metavar="FOLDER",
        help="measure how fluent the changed prompts are, with a causal language model (of transformers) in this "
        "folder",
    )
    group.add_argument(
        "--grammar",
        metavar="URL",
        help="count grammar errors of the changed prompts, with a LanguageTool server such as http://127.0.0.1:8081",
    )
    group.add_argument(
        "--grammar-language",
        default="en-US",
        metavar="CODE",
        help="language of the prompts, for --grammar (en-US)",
    )


def execute(options: argparse.Namespace, output: Output) -> int:
    """Search and report; returns the exit code.

    Raises:
        PromptfuzzError: An option, a prompt or the environment is wrong.
        KeyboardInterrupt: Before the first answer.
    """
    if not options.target:
        raise ConfigurationError("No target: write --target openai:MODEL, anthropic:MODEL or simulated.")
    cases, unfit = cases_of(options)
    found = search_all(cases, options, output)
    reports = [search_report(each, name) for name, each in found.searches]
    left_out = [{"name": name, "why": why} for name, why in (*unfit, *found.left_out)]
    metrics = search_metrics(each for _, each in found.searches).to_json() if found.searches else None
    transfers = [
        transfer_report(each, {find.id: name for name, find in found.finds}) for each in found.transfers
    ]
    if options.json:
        found_all = {"searches": reports, "left_out": left_out, "metrics": metrics, "transfers": transfers}
        output.json({"format": FORMAT, **found_all})
    elif len(cases) == 1 and not unfit:
        output.lines([line for report in reports for line in search_lines(report, width=output.width)])
    else:
        output.lines(searches_lines(reports, width=output.width))
        if metrics is not None:
            output.lines([[], *metrics_lines(metrics)])
    if transfers and not options.json:
        output.lines([[], *transfer_lines(transfers)])
    for each in left_out:
        output.error(f"promptfuzz search: {each['name']} was left out: {each['why']}")
    if found.stopped and len(cases) > 1:
        output.error(f"promptfuzz search: interrupted; {len(reports)} of {len(cases)} searches were made")
    if any(each.found for _, each in found.searches):
        return 1
    told = not found.stopped and not found.unasked and all(each.conclusive for _, each in found.searches)
    return 0 if told else 3
