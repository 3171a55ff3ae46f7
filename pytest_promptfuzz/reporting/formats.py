"""What a run's report can be rendered to, by name: ours, a project's own, those of installed packages."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from pytest_promptfuzz.comparing.custom_checks import Registry
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.history.rows import as_text

GITHUB = "github"
"""The format that is written where the environment of GitHub Actions says."""

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_promptfuzz.reporting.document import Document

    Render = Callable[[Document], str]

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_NEXT = re.compile(r",(?=\s*[a-z][a-z0-9-]*\s*(?::|,|$))")


@runtime_checkable
class Reporter(Protocol):
    """A format of reports. Its name is of lower-case letters, digits and hyphens."""

    @property
    def name(self) -> str:
        """As the option names it."""
        ...

    def render(self, document: Document) -> str:
        """The report of a run, as the file will hold it."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionReporter:
    """A format made of a function of the document."""

    name: str
    function: Render

    def render(self, document: Document) -> str:
        """What the function makes of it."""
        return self.function(document)


def reporter(name: str) -> Callable[[Render], FunctionReporter]:
    r"""Make a format of a function that turns a document into text.

    For example::

        @reporter("names")
        def names(document):
            return "".join(f"{test['test']}\n" for test in document["tests"])

    Args:
        name: What ``--promptfuzz-report=NAME:PATH`` calls it.

    Raises:
        UsageError: A name that the option could not tell from a path.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a report's format is called {name!r}: write lower-case letters, digits and hyphens."
        )
    return lambda function: FunctionReporter(name, function)


def json_report(document: Document) -> str:
    """The document as it is published: packed, one test a line."""
    from pytest_promptfuzz.reporting.packing import packed

    rows = ",\n".join(as_text(packed(test)) for test in document["tests"])
    parts = [f"{as_text(key)}: {as_text(value)}" for key, value in document.items() if key != "tests"]
    parts.append(f'"tests": [\n{rows}\n]' if rows else '"tests": []')
    return "{" + ",\n".join(parts) + "}\n"


def _as_reporter(value: object) -> Reporter:
    if not isinstance(value, type) and isinstance(value, Reporter):
        return value
    raise UsageError(
        f"{value!r:.80} is no format of reports: decorate a function of the document with @reporter('name'), or give "
        "an object with a name and render(document)."
    )


@cache
def _own() -> Mapping[str, Reporter]:
    from pytest_promptfuzz.reporting.hosts import HOSTS
    from pytest_promptfuzz.reporting.html import html_report

    files = {"html": html_report, "json": json_report, **HOSTS}
    own: list[Reporter] = [FunctionReporter(name, render) for name, render in files.items()]
    return {each.name: each for each in own}


REPORTERS: Registry[Reporter] = Registry("report format", "promptfuzz.reporters", _as_reporter, _own)


class Wanted(NamedTuple):
    """A report that was asked for: its format, and where it is to lie; of ``github`` the environment says where."""

    format: str
    path: str


def read_wanted(text: str) -> list[Wanted]:
    """Reports as options name them: ``json:PATH,html:PATH``, or ``github``.

    Raises:
        UsageError: One has no path, ``github`` has one, or two have the same.

    >>> read_wanted("json:a.json,html:b,c.html")
    [Wanted(format='json', path='a.json'), Wanted(format='html', path='b,c.html')]
    """
    found: list[Wanted] = []
    for each in _NEXT.split(text):
        name, colon, path = (part.strip() for part in each.partition(":"))
        if name == GITHUB:
            if colon:
                raise UsageError(
                    f"{each.strip()!r}: {GITHUB} takes no path; GitHub says where to write. Write {GITHUB}."
                )
        elif not colon or not path or not name:
            raise UsageError(f"{each.strip()!r} names no path: write FORMAT:PATH, such as html:report.html.")
        if any(path == other.path for other in found):
            raise UsageError(f"{path or name} is asked for twice; give each report a path of its own.")
        found.append(Wanted(name, os.path.expanduser(path)))  # noqa: PTH111 - the text stays as it was given
    return found
