"""``promptfuzz search``: the worst that harmless changes do to a prompt, and the smallest one that breaks it."""

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
    "exit codes: 0: nothing found, 1: a counterexample, 2: wrong usage or environment, 3: inconclusive, "
    "a noisy or failing target, or ended before anything was found: by Ctrl-C, time, money, or too few queries "
    "(10 changed prompts)"
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
        help="a prompt, or chat messages in a .json file; - is standard input; what holds spaces is the text itself",
    )
    parser.add_argument(
        "--target", metavar="T", help="openai:MODEL, anthropic:MODEL, compatible:MODEL@URL, simulated"
    )
    parser.add_argument(
        "--set",
        metavar="SLOT=VALUE",
        action="append",
        default=[],
        dest="values",
        help="fill a slot of the prompt (SLOT=@FILE reads a file); a value in --inputs comes before it",
    )
    parser.add_argument(
        "--inputs",
        metavar="FILE",
        help="JSON Lines, each line a text or an object of slots and values: one search each, and a table",
    )
    parser.add_argument(
        "--part",
        metavar="PART",
        help="what may change: template, input (what fills the slots) or both; of a chat also a role (template)",
    )
    _add_search(parser.add_argument_group("search"))
    _add_limits(parser.add_argument_group("what a change must keep"))
    group = parser.add_argument_group("answers")
    add_comparing_options(group)
    group.add_argument(
        "--mode",
        choices=("auto", "live"),
        default="auto",
        help="auto uses stored answers, live always calls (auto); --max-calls 0 calls nothing",
    )
    group.add_argument(
        "--cache-dir", default=_STORE, metavar="DIR", help=f"where answers are kept ({_STORE})"
    )
    _add_measures(parser.add_argument_group("finds"))
    add_limit_options(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def _add_search(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--objective",
        default="deviation",
        metavar="NAME",
        help="what is looked for: deviation, minor, label, confidence, bleu, judge, or a measure below a bound, such as"
        " 'rouge-l<0.5' (deviation)",
    )
    group.add_argument("--method", default=DEFAULT, metavar="NAME", help=f"{', '.join(METHODS)} ({DEFAULT})")
    group.add_argument(
        "--queries",
        type=int,
        default=QUERIES,
        metavar="N",
        help="how often a prompt may be asked, the unmutated one included; of each search (200)",
    )
    group.add_argument(
        "--max-seconds", type=float, metavar="X", help="after which a search asks nothing more"
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed asks the same (0)")
    group.add_argument(
        "--batch",
        type=int,
        default=BATCH,
        metavar="N",
        help="queries made before the next are chosen: 1 asks least, more waits less (8)",
    )
    group.add_argument(
        "--repeats",
        type=int,
        default=REPEATS,
        metavar="N",
        help=f"how much more often than not what breaks the answer must do so again before it is believed ({REPEATS})",
    )
    group.add_argument(
        "--baseline-runs",
        type=int,
        default=2,
        metavar="N",
        help="how often the unmutated prompt is asked (2)",
    )
    group.add_argument(
        "--no-prune", action="store_true", help="stop at the first find, and do not make it smaller"
    )


def _add_limits(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--operators",
        type=operator_names,
        metavar="A,B",
        help="only these operators or dimensions: synonym changes words, lexical characters (what a plan draws on)",
    )
    group.add_argument(
        "--lexicon",
        metavar="NAME",
        help="words of an installed WordNet, such as oewn:2024 (`promptfuzz lexicon`); alone, or beside --operators",
    )
    group.add_argument("--top", type=int, default=10, metavar="N", help="most choices of a place (10)")
    group.add_argument(
        "--any-sense", action="store_true", help="take a word's substitutes whatever part of speech it is"
    )
    group.add_argument("--max-words", type=int, metavar="N", help="most words that may change")
    group.add_argument(
        "--max-change-rate", type=float, default=1.0, metavar="X", help="the same as a share, up to 1 (1)"
    )
    group.add_argument(
        "--min-cosine",
        type=float,
        metavar="X",
        help="how like the prompt's embedding the changed one's must be",
    )


def _add_measures(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--transfer",
        metavar="T",
        action="append",
        default=[],
        help="another target that is asked whether the finds break it as well; may be given again",
    )
    group.add_argument(
        "--perplexity",
        metavar="FOLDER",
        help="a causal language model on this machine that says how fluent prompts still are (transformers)",
    )
    group.add_argument(
        "--grammar",
        metavar="URL",
        help="a LanguageTool server that counts errors, such as http://127.0.0.1:8081",
    )
    group.add_argument(
        "--grammar-language", default="en-US", metavar="CODE", help="the prompts' language for it (en-US)"
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
