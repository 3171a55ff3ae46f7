"""``promptfuzz mutate``: show the mutations of a prompt. It calls no model."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, cast

from pytest_promptfuzz.cli.options import add_output_options, add_plan_options
from pytest_promptfuzz.cli.prompts import read_prompt
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.edits import Edit, Ref, word_diff
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.prompts.messages import layout
from pytest_promptfuzz.reporting.terminal.rows import diff_lines
from pytest_promptfuzz.reporting.terminal.styled_text import Line, columns
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wording.diffs import show_edges

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.reporting.terminal.styled_text import Piece, Style


# A prompt and its mutation in two columns.


_GAP = " | "
_MOST_SAME = 12  # unchanged lines in a row that are shown
_CONTEXT = 3  # of more, those at either end
_STYLES: dict[str, Style] = {"=": "plain", "-": "removed", "+": "added"}
_MARKS = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
_RUN = re.compile(r"\n|[^\S\n]+|\S+")


def twin_lines(diff: Sequence[tuple[str, str]], *, width: int, color: bool, role: str = "") -> list[Line]:
    """The original on the left and what became of it on the right, wrapped to half the width each.

    Args:
        diff: ``("=" | "-" | "+", text)`` pieces in order, as :meth:`Mutation.diff` gives them.
        width: Columns for both, at least 40.
        role: Of the message of a chat that it is, to head the columns.
        color: Whether colour tells what was removed and added; marks do where it does not.
    """
    room = (width - len(_GAP)) // 2
    lines: list[Line] = [
        _row([(f"{role} original".strip(), "heading")], [(f"{role} mutated".strip(), "heading")], room)
    ]
    same: list[list[Line]] = []
    for part in _column_parts(diff):
        left = _wrapped(_side(part, "-", color=color), room)
        right = _wrapped(_side(part, "+", color=color), room)
        rows = [_row(one, other, room) for one, other in zip_longest(left, right, fillvalue=cast("Line", []))]
        if all(kind == "=" for kind, _ in part):
            same.append(rows)
            continue
        lines += _shortened(same)
        same = []
        lines += rows
    return lines + _shortened(same)


def _row(left: Line, right: Line, room: int) -> Line:
    used = sum(columns(text) for text, _ in left)
    return [*left, (" " * (room - used) + _GAP.rstrip(), "dim"), (" ", "plain"), *right]


def _shortened(same: list[list[Line]]) -> list[Line]:
    """Lines that no edit touches; the inner ones of many are counted instead."""
    if len(same) <= _MOST_SAME:
        return [row for rows in same for row in rows]
    left_out = len(same) - 2 * _CONTEXT
    return [
        *(row for rows in same[:_CONTEXT] for row in rows),
        [(f"… {left_out:,} lines are the same …", "dim")],
        *(row for rows in same[-_CONTEXT:] for row in rows),
    ]


def _column_parts(diff: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """The diff cut at the line breaks that both sides share, so that what follows one stands side by side again."""
    part: list[tuple[str, str]] = []
    for kind, text in diff:
        head, *rest = text.split("\n") if kind == "=" else [text]
        part.append((kind, head))
        for each in rest:
            yield part
            part = [(kind, each)]
    if any(text for _, text in part):
        yield part


def _side(diff: Iterable[tuple[str, str]], sign: str, *, color: bool) -> Iterator[Piece]:
    """One side of a diff; the white space of a change is made visible."""
    for kind, text in diff:
        if kind == "=":
            yield safe(text).replace("\t", "    "), "plain"
        elif kind == sign:
            shown = safe(show_edges(text))
            before, after = _MARKS[kind]
            yield (shown, _STYLES[kind]) if color else (before + shown + after, "plain")


def _wrapped(pieces: Iterable[Piece], room: int) -> list[Line]:
    """The pieces in rows of at most ``room`` columns, broken at a space, else wherever it must be."""
    rows: list[Line] = [[]]
    used = 0
    for text, style in pieces:
        for run in _RUN.findall(text):
            if run == "\n":
                rows.append([])
                used = 0
                continue
            if used + columns(run) > room and used:
                rows.append([])
                used = 0
                if run.isspace():
                    continue
            for part in _cut(run, room):
                if used + columns(part) > room:
                    rows.append([])
                    used = 0
                rows[-1].append((part, style))
                used += columns(part)
    return rows


def _cut(run: str, room: int) -> Iterator[str]:
    """A word that is wider than a row, in parts that are not."""
    start, used = 0, 0
    for index, character in enumerate(run):
        wide = columns(character)
        if used + wide > room:
            yield run[start:index]
            start, used = index, 0
        used += wide
    yield run[start:]


FORMAT = 1


def add_mutate_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "mutate",
        help="show the mutations of a prompt",
        description="promptfuzz mutate: show the mutations of a prompt. It calls no model.",
        allow_abbrev=False,
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
    parser.set_defaults(execute=execute_mutate)


def execute_mutate(options: argparse.Namespace, output: Output) -> int:
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
                "mutations": [_mutation_json(each) for each in made.mutations],
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


def _mutation_json(mutation: Mutation) -> dict[str, object]:
    data = {name: value for name, value in mutation.to_json().items() if name != "original"}
    return {
        "id": mutation.id,
        **data,
        "change_rate": mutation.change_rate,
        "text": mutation.text,
        "diff": [list(piece) for piece in mutation.diff()],
    }
