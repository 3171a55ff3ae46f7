"""The HTML page put together: one file that needs no network, no server and no other file, written piece by piece."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections import Counter
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, BinaryIO

from pytest_promptfuzz.reporting.document import changes_of, points_of, target_of
from pytest_promptfuzz.reporting.html import grids, overview, table, test_page
from pytest_promptfuzz.reporting.html.parts import test_href, to_html, to_json, visible_json
from pytest_promptfuzz.reporting.html.summaries import briefs, by_file, file_of, in_brief, keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.reporting.document import Document
    from pytest_promptfuzz.reporting.html.parts import Node
    from pytest_promptfuzz.reporting.html.summaries import TestBrief
    from pytest_promptfuzz.reporting.html.table import TableRow

    Write = Callable[[str], object]


class HtmlReporter:
    """The format ``html``, which is written piece by piece."""

    name = "html"

    def render(self, document: Document) -> str:
        """The page of a run."""
        return html_report(document)

    def write(self, document: Document, file: BinaryIO) -> None:
        """Write the page of a run, whose tests are read one by one where they are not in memory."""
        Page(document).write(lambda text: file.write(text.encode()))


def html_report(document: Document) -> str:
    """The report of a run as one HTML file that needs nothing beside it.

    Args:
        document: The run, whole (not packed).

    Returns:
        The file's text, which can be encoded as UTF-8 whatever a model wrote.
    """
    pieces: list[str] = []
    Page(document).write(pieces.append)
    return "".join(pieces)


# Parts of the page that are built when they are looked at: JSON, deflated, in base64.


_LEVEL = 4  # a higher one takes twice as long for a tenth less


class _Packed:
    """Data of the page while it is written: a list within JSON, of which only the packed form is kept."""

    def __init__(self, start: str) -> None:
        self._packer = zlib.compressobj(_LEVEL)
        self._pieces = [self._packer.compress(start.encode())]
        self._between = ""

    def add(self, item: Any) -> None:
        """Add to the list."""
        text = self._between + to_json([item])[1:-1]
        self._pieces.append(self._packer.compress(text.encode()))
        self._between = ","

    def script(self, name: str, end: str) -> str:
        """A script element that a browser does not run: base64 has no ``<`` that could end it."""
        self._pieces += [self._packer.compress(end.encode()), self._packer.flush()]
        return _script(name, b"".join(self._pieces))


def chunk(name: str, nodes: Iterable[Node]) -> str:
    """Nodes as data of the page."""
    return _script(name, zlib.compress(to_json(nodes).encode(), _LEVEL))


def _script(name: str, data: bytes, holds: str = "") -> str:
    held = f' data-holds="{holds}"' if holds else ""
    content = base64.b64encode(data).decode()
    return f'<script type="application/octet-stream" id="{name}"{held}>{content}</script>\n'


_TOGETHER = 64_000
"""Characters: pages of tests are packed together until they have as many. Most of what one holds stands in the next."""


def _together(pages: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Pages of tests, each with its name and as JSON, as data of the page: several to a script element."""
    held: dict[str, str] = {}
    room, number = _TOGETHER, 0
    for name, text in pages:
        held[name] = text
        room -= len(text)
        if room <= 0:
            yield _pages_script(number, held)
            held, room, number = {}, _TOGETHER, number + 1
    if held:
        yield _pages_script(number, held)


def _pages_script(number: int, held: Mapping[str, str]) -> str:
    text = ",".join(f'"{name}":{page}' for name, page in held.items())
    return _script(f"p{number}", zlib.compress(f"{{{text}}}".encode(), _LEVEL), " ".join(held))


_STYLES = ("base.css", "overview.css", "details.css")
_SCRIPTS = ("build.js", "short.js", "heat.js", "rows.js", "tests.js", "views.js", "start.js")


class Page:
    """The page of a run. It reads each test twice: in brief for the overview, whole for the test's own page.

    Args:
        document: The run.
    """

    def __init__(self, document: Document) -> None:
        self._whole = document
        self._tests = briefs(document["tests"])  # worst first
        self._placed = sorted(self._tests, key=lambda each: each.place)
        self._run = in_brief(document, self._placed)
        self._changes = changes_of(self._run["tests"], document["changes"])
        self._points = points_of(self._run["tests"], document["trends"])
        named = [(each.test["test"], each.test["target"]) for each in self._tests]
        names = keys([*named, *((each["test"], target_of(each) or "") for each in document["unjudged"])])
        self._hrefs = {each.place: test_href(name) for each, name in zip(self._tests, names, strict=False)}
        self._unjudged = [test_href(name) for name in names[len(named) :]]

    def write(self, write: Write) -> None:
        """Write all of it."""
        heat = grids.HeatMap(self._tests, self._hrefs)
        families = grids.families(self._run["tests"])
        models, more_models = grids.models_section(self._placed, self._hrefs, families)
        tests, data = self._table() if self._tests or self._unjudged else ([_nothing()], "")
        write(_head())
        write(to_html(self._body(tests, [*heat.section(), *models])))
        write(data)
        for name, cells, rows in heat.rest():
            packed = _Packed(f'{{"cells":{to_json(cells)},"rows":[')
            for row in rows:
                packed.add(row)
            write(packed.script(name, "]}"))
        if more_models:
            write(chunk("models-rest", more_models))
        # It runs as soon as it is read: the table can be used while the pages of tests still come.
        write(f'<script type="module" async>{_asset(_SCRIPTS)}</script>\n')
        for pages in _together(self._pages(families)):
            write(pages)
        write("</body>\n</html>\n")

    def _body(self, tests: Sequence[Node], charts: Sequence[Node]) -> list[Node]:
        document = self._run
        hrefs = [self._hrefs[each.place] for each in self._placed]
        addresses = self._addresses()
        sections: list[Node] = [
            *test_page.answers_section(document["changes"], addresses),
            *test_page.changes_section(document["changes"], addresses),
            *tests,
            *overview.unjudged(document["unjudged"], self._unjudged),
            *test_page.prompts_section(document["changes"], addresses),
            *test_page.drift_section(document["tests"], hrefs),
            *overview.score_charts(document),
            *charts,
        ]
        shown: Node = ["div", {"id": "overview"}, *overview.hero(document), *sections]
        return [
            ["a.skip", {"href": "#main"}, "Skip to the results"],
            _header(sections),
            ["main", {"id": "main"}, shown, ["article", {"id": "test", "hidden": ""}]],
        ]

    def _addresses(self) -> dict[str | tuple[str, str], str]:
        """The address of each test by its name; of several of one name also by name and target."""
        times = Counter(each.test["test"] for each in self._tests)
        found: dict[str | tuple[str, str], str] = {}
        for each in reversed(self._tests):
            found[each.test["test"]] = self._hrefs[each.place]
            if times[each.test["test"]] > 1:
                found[each.test["test"], each.test["target"]] = self._hrefs[each.place]
        return found

    def _table(self) -> tuple[list[Node], str]:
        """The table with its first rows, all that a browser without a script shows, and the data of all rows."""
        made = table.TestsTable(self._tests, self._changes, self._points)
        bodies: list[Node] = []
        rest: list[Node] = []
        heads: list[Node] = []
        room = table.STATIC
        packed = _Packed('{"rows":[')
        for file, rows in self._rows(made):
            heads.append(made.group(file, Counter(row.verdict for row, _, _ in rows)))
            for row, _, _ in rows:
                packed.add(row.to_data(len(heads) - 1))
            if room > 0:
                bodies.append(["tbody", heads[-1], *(["tr", *row.node] for row, _, _ in rows[:room])])
            rest += [table.brief_row(*each) for each in rows[max(0, room) :]]
            room -= len(rows)
        section = made.section(overview.tally(self._run), bodies)
        data = packed.script("rows", f'],"groups":{to_json(heads)}}}')
        return [section, _without_script(rest)], data

    def _rows(self, made: table.TestsTable) -> Iterator[tuple[str, list[tuple[TableRow, str, str]]]]:
        """The rows of each file, each with the name and the score of its test; those not judged come first."""
        failed: dict[str, list[tuple[TableRow, str, str]]] = {}
        for place, (test, href) in enumerate(zip(self._run["unjudged"], self._unjudged, strict=True)):
            row = made.unjudged_row(test, href, f"u{place}")
            failed.setdefault(file_of(test["test"], test["location"]), []).append((row, test["test"], "–"))
        for file, tests in by_file(self._tests, failed).items():
            judged = [
                (made.row(each, self._hrefs[each.place], self._name(each)), each.test["test"], each.score)
                for each in tests
            ]
            yield file, [*failed.get(file, ()), *judged]

    def _name(self, brief: TestBrief) -> str:
        return f"t{brief.place}"

    def _pages(self, families: dict[str, list[int]]) -> Iterator[tuple[str, str]]:
        """The name and the data of each test's page."""
        document = self._whole
        family = {place: places for places in families.values() for place in places}
        runs = document["trends"]["runs"] if document["trends"] else ()
        for each in self._tests:
            place = each.place
            test = document["tests"][place]
            others = [
                (document["tests"][one], self._hrefs[one]) for one in family.get(place, ()) if one != place
            ]
            beside = grids.beside_models([(test, self._hrefs[place]), *others]) if others else ()
            made = partial(
                test_page.details,
                test,
                self._hrefs[place],
                change=self._changes[place],
                runs=runs,
                points=self._points[place],
                models=beside,
            )
            # Short forms count characters, of which there are more where some have to be made visible.
            yield self._name(each), visible_json(made(short=True)) or to_json(made())
        for number, failed in enumerate(document["unjudged"]):
            yield f"u{number}", to_json(overview.unjudged_page(failed))


def _header(sections: Sequence[Node]) -> Node:
    """The top of the page: what it holds, as links; on a test's page the way back and to its neighbours."""
    links = [
        ["a", {"href": f"#{each[2][1]['id']}"}, str(each[2][2]).partition(":")[0]]
        for each in _titled(sections)
    ]
    return [
        "header.top",
        ["a.home", {"href": "#/"}, "promptfuzz"],
        ["nav.contents", {"id": "contents", "aria-label": "Sections"}, *links],
        ["nav", {"id": "steps", "aria-label": "Tests", "hidden": ""}],
        ["button", {"type": "button", "id": "theme", "hidden": ""}, "Dark"],
    ]


def _titled(sections: Iterable[Node]) -> Iterator[Any]:
    """The sections that have a heading with an address, those within others included."""
    for each in sections:
        if isinstance(each, list) and each[0] == "section" and len(each) > 2 and each[2][0] == "h2":
            yield each
        elif isinstance(each, list) and each[0] == "div.figures":
            yield from _titled(each[1:])


def _nothing() -> Node:
    return [
        "section",
        ["h2", "Tests"],
        [
            "p",
            "No robust test ran. A test is robust with ",
            ["code", "@robust"],
            " above it, and if it was selected.",
        ],
    ]


def _without_script(rest: Sequence[Node]) -> Node:
    """What a browser shows that runs no script."""
    note: Node = ["p.note", "Search, sorting and the pages of single tests need JavaScript."]
    if not rest:
        return ["noscript", note]
    caption = ["caption", f"The other {len(rest):,} tests"]
    return ["noscript", note, ["table.plain", caption, ["tbody", *rest]]]


def _head() -> str:
    style, script = _asset(_STYLES), _asset(_SCRIPTS)
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        '<title>Prompt robustness</title>\n<link rel="icon" href="data:,">\n'
        f"<style>{style}</style>\n</head>\n<body>\n"
    )


@cache
def _asset(names: tuple[str, ...]) -> str:
    folder = files(__package__).joinpath("assets")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
