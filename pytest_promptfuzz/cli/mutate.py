"""``promptfuzz mutate``: show the mutations of a prompt. It calls no model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import add_output_options, add_plan_options, plain
from pytest_promptfuzz.cli.prompts import read_prompt
from pytest_promptfuzz.cli.side_by_side import twin_lines
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.edits import Edit, Ref
from pytest_promptfuzz.mutations.measuring import word_diff
from pytest_promptfuzz.mutations.planner import plan
from pytest_promptfuzz.prompts.messages import layout
from pytest_promptfuzz.reporting.terminal import diff_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_promptfuzz.cli.output import Output
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.reporting.text import Line

FORMAT = 1


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "mutate", help="show the mutations of a prompt", description=plain(__doc__), allow_abbrev=False
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a file with a prompt, or with chat messages (.json); - is standard input",
    )
    add_plan_options(parser, mixed=True)
    parser.add_argument(
        "--part",
        metavar="PART",
        help="in a chat, mutate only the messages of this role, such as system (all that may change)",
    )
    add_output_options(parser)
    parser.add_argument(
        "--side-by-side", action="store_true", help="show the prompt and each mutation in two columns"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Show the mutations; returns the exit code.

    Raises:
        UsageError: The prompt cannot be read or changed, or an option is wrong.
    """
    prompt = read_prompt(options.file)
    made = plan(prompt, options.mutations, seed=options.seed, operators=options.operators, part=options.part)
    if not made.mutations:
        raise UsageError(f"{prompt.name}: {' '.join(made.notes)}")
    if options.json:
        output.json(
            {
                "format": FORMAT,
                "prompt": prompt.text,
                "seed": options.seed,
                "requested": made.requested,
                "notes": list(made.notes),
                "mutations": [_plain(each) for each in made.mutations],
            }
        )
        return 0
    lines: list[Line] = []
    for place, each in enumerate(made.mutations, 1):
        lines += [] if place == 1 else [[]]
        lines.append(_heading(place, each))
        for role, diff in _parts(prompt, each):
            if options.side_by_side:
                lines += twin_lines(diff, role=role, width=output.width, color=output.color)
            else:
                lines += diff_lines(diff, label=role or "prompt")
    if made.notes:
        lines.append([])
        for note in made.notes:
            lines.append([(note, "warn")])
    output.lines(lines)
    return 0


def _parts(prompt: Prompt, mutation: Mutation) -> list[tuple[str, Sequence[tuple[str, str]]]]:
    """The changed texts of a mutation as diffs: of a chat each changed message under its role, else the whole text."""
    if not prompt.is_chat:
        return [("", mutation.diff())]
    text, pieces = layout(prompt.messages)
    parts: list[tuple[str, Sequence[tuple[str, str]]]] = []
    for piece in pieces:
        start, end = piece.start, piece.end
        inner = [
            Edit(
                each.start - start,
                each.end - start,
                tuple(
                    part if isinstance(part, str) else Ref(part.start - start, part.end - start)
                    for part in each.parts
                ),
            )
            for each in mutation.edits
            if start <= each.start and each.end <= end
        ]
        if inner:
            parts.append((str(prompt.messages[piece.message]["role"]), word_diff(text[start:end], inner)))
    return parts


def _heading(place: int, mutation: Mutation) -> Line:
    names = " + ".join(mutation.operators)
    rate = mutation.change_rate
    about = f"  {mutation.dimension}, severity {mutation.severity:.2f}"
    about += f", {rate:.0%} of the words" if rate else ", no word"
    about += ", changes the meaning" if mutation.preserves == "no" else ""
    about += "" if mutation.relation == "invariance" else f", expects {mutation.relation!r}"
    return [(f"{place}. {names}", "heading"), (f"{about}, {mutation.id}", "dim")]


def _plain(mutation: Mutation) -> dict[str, object]:
    data = {name: value for name, value in mutation.to_json().items() if name != "original"}
    return {
        "id": mutation.id,
        **data,
        "change_rate": mutation.change_rate,
        "text": mutation.text,
        "diff": [list(piece) for piece in mutation.diff()],
    }
