"""A study's tables as Markdown, CSV, LaTeX and HTML."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError, not_among
from pytest_promptfuzz.studies.tables.named_tables import table_of
from pytest_promptfuzz.studies.tables.table_figures import TableFigure
from pytest_promptfuzz.text.csv_rows import csv_text
from pytest_promptfuzz.text.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.tables.table_figures import Entry, StudyTable, TableColumn


NOT_APPLICABLE = "N/A"
LONGEST_TEXT = 80
"""Characters of a text, such as an answer, that a table shows."""
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
}


def study_table(cells: Sequence[Cell], name: str, form: str = "markdown") -> str:
    """A table of a study's cells, as text.

    Args:
        cells: What ``study`` returned, or ``read_cells`` read.
        name: As ``promptfuzz study --help`` and the page on studies list them: ``robustness``, ``gold``, ``models``,
            ``quirx``, ``brittlebench``, ``enterprise``, ``sentiment`` and others.
        form: ``markdown``, ``csv``, ``latex`` or ``html``.

    Raises:
        UsageError: An unknown table or form, or the cells cannot fill the table.
    """
    return render_table(table_of(name, cells), form)


def render_table(table: StudyTable, form: str = "markdown") -> str:
    """A table as text that ends with a line break.

    Args:
        table: What is shown.
        form: ``markdown``, ``csv``, ``latex`` (for the package booktabs) or ``html``.

    Raises:
        UsageError: Another form.
    """
    if form not in FORMS:
        raise UsageError(not_among(f"the format {form!r}", form, FORMS))
    return FORMS[form](table)


def table_json(name: str, table: StudyTable) -> dict[str, Any]:
    """A table as ``--json`` shows it: by the names of rows and columns, figures in full.

    Args:
        name: The table's, as ``--table`` takes it.
        table: What is shown.
    """
    names = [each.name for each in table.headings]
    return {
        "table": name,
        "title": table.title,
        "row": table.corner,
        "columns": {each.name: each.unit for each in table.headings},
        "rows": [
            {"name": row, "values": dict(zip(names, map(_entry_json, entries), strict=True))}
            for row, entries in table.rows
        ],
        "note": " ".join(each for each in (table.note, table.simulated) if each),
    }


def _entry_json(entry: Entry) -> Any:
    return asdict(entry) if isinstance(entry, TableFigure) else entry


def _markdown(table: StudyTable) -> str:
    def cell(text: str) -> str:
        return safe(text).replace("|", "\\|").replace("*", "\\*")

    head = [table.corner, *(_heading(each) for each in table.headings)]
    lines = [
        f"**{cell(table.title)}**",
        "",
        _row(map(cell, head)),
        _row(["---", *("---" if each.unit == "text" else "---:" for each in table.headings)]),
    ]
    for name, shown in _shown(table):
        lines.append(
            _row([cell(name), *(f"**{cell(text)}**" if best else cell(text) for text, best in shown)])
        )
    note = _note(table)
    return "\n".join([*lines, *(["", note] if note else [])]) + "\n"


def _row(cells: object) -> str:
    return f"| {' | '.join(cells)} |"  # type: ignore[arg-type]


def _csv(table: StudyTable) -> str:
    """One row for each row of the table; a figure has columns for its mean, deviation and interval."""
    head = [table.corner]
    for heading in table.headings:
        head += [heading.name]
        head += (
            [] if heading.unit == "text" else [f"{heading.name} {each}" for each in ("std", "low", "high")]
        )
    rows: list[list[object]] = [[*head]]
    for name, entries in table.rows:
        row: list[object] = [name]
        for heading, entry in zip(table.headings, entries, strict=True):
            if heading.unit == "text":
                row.append(entry)
            elif isinstance(entry, TableFigure):
                row += [entry.value, entry.std, entry.low, entry.high]
            else:
                row += [None] * 4
        rows.append(row)
    return csv_text(rows)


def _latex(table: StudyTable) -> str:
    def cell(text: str) -> str:
        return "".join(_LATEX.get(each, each) for each in safe(text))

    columns = "l" + "".join("l" if each.unit == "text" else "r" for each in table.headings)
    head = " & ".join(cell(each) for each in [table.corner, *(_heading(each) for each in table.headings)])
    lines = [
        r"\begin{table}",
        rf"\caption{{{cell(table.title)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        rf"{head} \\",
        r"\midrule",
    ]
    for name, shown in _shown(table):
        texts = [rf"\textbf{{{cell(text)}}}" if best else cell(text) for text, best in shown]
        lines.append(" & ".join([cell(name), *texts]) + r" \\")
    note = _note(table)
    below = [rf"\par\footnotesize {cell(note)}"] if note else []
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *below, r"\end{table}"]) + "\n"


def _html(table: StudyTable) -> str:
    def cell(text: str) -> str:
        return html.escape(safe(text))

    left = [' class="text"' if each.unit == "text" else "" for each in table.headings]
    head = "".join(
        f"<th{side}>{cell(each)}</th>"
        for side, each in zip(["", *left], [table.corner, *map(_heading, table.headings)], strict=True)
    )
    rows = [
        f"<tr><th>{cell(name)}</th>"
        + "".join(
            f"<td{side}>{f'<b>{cell(text)}</b>' if best else cell(text)}</td>"
            for side, (text, best) in zip(left, shown, strict=True)
        )
        + "</tr>"
        for name, shown in _shown(table)
    ]
    said = _note(table)
    note = f"<p>{cell(said)}</p>\n" if said else ""
    body = "\n".join(rows)
    return (
        f"<table>\n<caption>{cell(table.title)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>\n{note}"
    )


_STYLE = (
    "body{font:15px/1.5 sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:2rem 0 .5rem;display:block;overflow-x:auto}"
    "caption{font-weight:bold;text-align:left;padding-bottom:.5rem}"
    "th,td{padding:.25rem .75rem;border-bottom:1px solid #ddd;white-space:nowrap}"
    "td,thead th{text-align:right}tbody th,thead th:first-child{text-align:left;font-weight:normal}"
    "td.text,thead th.text{text-align:left}"
    "thead th{border-bottom:2px solid #222}p{max-width:45rem;color:#555}"
    "figure{margin:2rem 0;overflow-x:auto}"
)


def study_page(title: str, tables: Sequence[StudyTable], plots: Sequence[str] = ()) -> str:
    """Tables and plots as one HTML file, which needs no other file and no network.

    Args:
        title: Of the page, such as the study's name.
        tables: What is shown first.
        plots: Texts of SVG files, shown below.
    """
    name = html.escape(safe(title))
    simulated = next((each.simulated for each in tables if each.simulated), "")
    if simulated and all(each.simulated == simulated for each in tables):
        tables = [replace(each, simulated="") for each in tables]
    else:
        simulated = ""
    said = f"<p>{html.escape(safe(simulated))}</p>\n" if simulated else ""
    figures = "".join(f"<figure>\n{each}</figure>\n" for each in plots)
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{name}</title>\n<style>{_STYLE}</style>\n'
        f"<h1>{name}</h1>\n{said}{''.join(map(_html, tables))}{figures}</html>\n"
    )


FORMS: dict[str, Callable[[StudyTable], str]] = {
    "markdown": _markdown,
    "csv": _csv,
    "latex": _latex,
    "html": _html,
}


def _heading(heading: TableColumn) -> str:
    return f"{heading.name} %" if heading.unit == "%" else heading.name


def _shown(table: StudyTable) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Each row's name, and the text of its entries with whether it is the best of its column."""
    grid = [
        [
            _ShownFigure(entry, heading, _entry(entry, heading))
            for entry, heading in zip(row, table.headings, strict=True)
        ]
        for _, row in table.rows
    ]
    lines = grid if table.best_of == "row" else list(zip(*grid, strict=True))
    best = {id(figure) for line in lines for figure in _best(line)}
    return [
        (name, [(figure.text, id(figure) in best) for figure in row])
        for (name, _), row in zip(table.rows, grid, strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _ShownFigure:
    """An entry under its heading, as it is shown."""

    entry: Entry
    heading: TableColumn
    text: str


def _best(line: Sequence[_ShownFigure]) -> list[_ShownFigure]:
    """The best figures of a row or column: those that the best one cannot be told from, unless these are all.

    Figures are told apart if neither the ± nor the interval of one reaches the other's. Without both they are what
    they are: equal as shown is equally good.
    """
    found = {
        each: (each.entry.value if each.heading.best == "high" else -each.entry.value)
        for each in line
        if each.heading.best and isinstance(each.entry, TableFigure)
    }
    if not found:
        return []
    best = max(found, key=lambda each: found[each])
    good = [each for each in found if _as_good(each, best)]
    return good if len(good) < len(found) else []


def _as_good(one: _ShownFigure, best: _ShownFigure) -> bool:
    if one.text.partition(" ")[0] == best.text.partition(" ")[0]:
        return True
    (low, high), (least, most) = _reach(one), _reach(best)
    return low <= most and least <= high


def _reach(shown: _ShownFigure) -> tuple[float, float]:
    """From where to where a figure may lie, as far as the table tells."""
    figure = shown.entry
    if not isinstance(figure, TableFigure):
        return 0.0, 0.0
    spread = figure.std or 0.0
    low = figure.value - spread if figure.low is None else min(figure.low, figure.value - spread)
    high = figure.value + spread if figure.high is None else max(figure.high, figure.value + spread)
    return low, high


def _note(table: StudyTable) -> str:
    """All that stands below a table."""
    compared = [each for each in table.headings if each.best]
    rows = len(table.rows)
    several = len(compared) > 1 if table.best_of == "row" else bool(compared) and rows > 1
    bold = (
        f"Bold: the best of each {table.best_of}, and figures whose ± or interval overlaps its own; none if all do."
        if several
        else ""
    )
    return " ".join(each for each in (table.note, bold, table.simulated) if each)


def _line(text: str) -> str:
    """A text on one line, cut where it is long; CSV has it whole."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else line[: LONGEST_TEXT - 1] + "…"


def _entry(entry: Entry, heading: TableColumn) -> str:
    if entry is None:
        return NOT_APPLICABLE
    if isinstance(entry, str):
        return _line(entry)
    factor = 100 if heading.unit in {"%", "points"} else 1
    digits = heading.digits

    def number(value: float) -> str:
        text = f"{value * factor:.{digits}f}"
        return text.removeprefix("-") if not float(text) else text

    text = number(entry.value)
    if entry.std is not None:
        text += f" ± {number(entry.std)}"
    if entry.low is not None and entry.high is not None:
        text += f" [{number(entry.low)}, {number(entry.high)}]"
    return f"{text} {entry.mark}".rstrip()
