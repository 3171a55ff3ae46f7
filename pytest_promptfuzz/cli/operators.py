"""``promptfuzz operators``: list the operators, or describe one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.comparing.answer_language import LANGUAGE_NAMES
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.mutation import DIMENSIONS
from pytest_promptfuzz.mutations.engine.registry import all_operators, find
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line, pad
from pytest_promptfuzz.wording.diffs import show_edges

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.mutations.engine.operator import Operator


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "operators",
        help="list the operators, or describe one",
        description="promptfuzz operators: list the operators, or describe one.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the operator to describe; without it, all are listed"
    )
    parser.add_argument(
        "--dimension", metavar="D", choices=DIMENSIONS, help="list only operators of this dimension"
    )
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """List or describe; returns the exit code.

    Raises:
        UsageError: There is no operator of that name, or it is asked for beside a dimension.
    """
    if options.name is not None:
        if options.dimension is not None:
            raise UsageError(
                f"{options.name} --dimension {options.dimension}: name an operator or a dimension, not both."
            )
        if options.name in DIMENSIONS:
            raise UsageError(
                f"{options.name!r} is a dimension. Write promptfuzz operators --dimension {options.name}."
            )
        found = find(options.name)
        if options.json:
            output.json(_operator_json(found))
        else:
            output.lines(_described(found))
        return 0
    known = [each for each in all_operators().values() if options.dimension in {None, each.dimension}]
    if options.json:
        output.json([_operator_json(each) for each in known])
    else:
        output.lines(_listed(known))
    return 0


def _listed(known: list[Operator]) -> list[Line]:
    if not known:
        return [[("No operator has this dimension.", "plain")]]
    wide = max(len(each.name) for each in known)
    lines: list[Line] = []
    for dimension in DIMENSIONS:
        those = [each for each in known if each.dimension == dimension]
        if not those:
            continue
        lines += [[], [(f"{dimension} ({len(those)})", "heading")]]
        for each in those:
            extra = [] if each.by_default else ["only if named"]
            extra += [] if each.relation == "invariance" else [f"expects {each.relation!r}"]
            extra += [f"{_languages(each)} only"] if each.languages else []
            tail = f" ({'; '.join(extra)})" if extra else ""
            lines.append(
                [
                    (f"  {pad(each.name, wide)}  ", "label"),
                    HANG,
                    (_plain(each.summary), "plain"),
                    (tail, "dim"),
                ]
            )
    return lines[1:]


def _described(each: Operator) -> list[Line]:
    facts = {
        "version": str(each.version),
        "dimension": each.dimension,
        "severity": f"{each.severity:g} (0 invisible, 1 everything changes)",
        "meaning": {"yes": "kept", "conditional": "kept on the conditions it checks", "no": "changed"}[
            each.preserves
        ],
        "expects": "the same answer" if each.relation == "invariance" else f"the relation {each.relation!r}",
        "languages": _languages(each) or "any",
        "protects": f"slots, numbers, quotations, code and the like{_except(each)}",
        "used": "by default" if each.by_default else "only if named",
    }
    lines: list[Line] = [[(str(each), "heading"), (f"  {_plain(each.summary)}", "plain")]]
    lines += [[(f"  {pad(label, 10)} ", "label"), HANG, (value, "plain")] for label, value in facts.items()]
    if each.example:
        before, after = each.example
        lines.append([(f"  {pad('before', 10)} ", "label"), HANG, (show_edges(before), "plain")])
        lines.append([(f"  {pad('after', 10)} ", "label"), HANG, (show_edges(after), "plain")])
    return lines


def _languages(each: Operator) -> str:
    return ", ".join(LANGUAGE_NAMES.get(code, code) for code in each.languages)


def _except(each: Operator) -> str:
    return f", but not {', '.join(each.touches)}" if each.touches else ""


def _operator_json(each: Operator) -> dict[str, Any]:
    return {
        "name": each.name,
        "version": each.version,
        "dimension": each.dimension,
        "severity": each.severity,
        "preserves": each.preserves,
        "relation": each.relation,
        "languages": list(each.languages),
        "touches": list(each.touches),
        "parts": [part.id for part in each.parts],
        "by_default": each.by_default,
        "sources": list(each.sources),
        "summary": each.summary,
        "example": list(each.example) if each.example else None,
    }


def _plain(docstring: str | None) -> str:
    """A docstring as a person reads it in a terminal: without the marks of code."""
    return (docstring or "").replace("``", "")
