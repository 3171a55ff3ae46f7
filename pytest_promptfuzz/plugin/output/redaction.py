"""Secrets are hidden in a test's report and output; commands to CI hosts in them are broken; xdist can send it."""

from __future__ import annotations

import json
import os
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, get_args

from pytest_promptfuzz.plugin.output.outcome import RobustnessRepr
from pytest_promptfuzz.stats.scores import TrialOutcome
from pytest_promptfuzz.storage.secrets import hide_cut
from pytest_promptfuzz.text.safe_text import escape_surrogates, has_surrogates, uncommanded

if TYPE_CHECKING:
    import warnings
    from collections.abc import Iterable, Mapping, Sequence

    import pytest

    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.storage.redaction import Redaction


# "not-needed" is a usual key of servers that want none, too: hidden, it would take the word out of our own reports.
_OURS = frozenset(get_args(TrialOutcome))


def redaction_of(session: Session) -> Redaction:
    """What is hidden: shapes of keys, configured patterns, and the credentials that this run has used."""
    return session.redaction.with_values(tuple(sorted(session.secrets - _OURS)))


def hide_in_id(item: pytest.Item, redaction: Redaction) -> None:
    """Take what looks like a key out of the name of a parametrized test, which stands in files and on the terminal.

    The numbers of its parameters take its place, so that two tests stay two.
    """
    name = redaction.text(item.name)
    if name == item.name:
        return
    indices = getattr(getattr(item, "callspec", None), "indices", {})
    name = f"{name.removesuffix(']')}-{'-'.join(map(str, indices.values()))}]"
    known: Any = item  # pytest has no public way
    whole = item.nodeid.removesuffix(item.name) + name
    if hasattr(known, "_id"):  # pytest 9.1 and later
        known._id = type(known._id).parse(whole)  # noqa: SLF001
    else:
        known._nodeid = whole  # noqa: SLF001
    known.keywords._markers.pop(item.name, None)  # noqa: SLF001 - it is copied into every report
    item.name = name
    item.keywords[name] = True


class Hides(Protocol):
    """What takes something out of texts: of prose, of a source line; ``values`` are hidden where they are cut, too."""

    @property
    def values(self) -> tuple[str, ...]:
        """What is hidden wherever it stands."""
        ...

    def text(self, text: str) -> str:
        """Prose without it."""
        ...

    def source(self, text: str) -> str:
        """A line of source without it."""
        ...


def hide(report: pytest.TestReport, redaction: Hides) -> None:
    """Take what looks like a key out of a report's traceback and captured output."""
    shown = _Shown(redaction)
    said: Any = report.longrepr
    if isinstance(said, tuple):  # a skip's path, line and reason
        path, line, reason = said
        report.longrepr = (path, line, shown.text(reason))
    elif said is not None and not isinstance(said, RobustnessRepr):  # made of what is redacted
        if hasattr(said, "reprtraceback"):
            shown.exception(said)
        else:
            whole = str(said)
            hidden = shown.text(whole)
            if hidden != whole:
                report.longrepr = hidden
    report.sections = [(name, shown.text(content)) for name, content in report.sections]


def hide_in_warning(warning: warnings.WarningMessage, redaction: Hides) -> None:
    """Take what looks like a key out of a warning's text; its line of source is left out then, too."""
    shown = _Shown(redaction).text(str(warning.message))
    if shown != str(warning.message):
        warning.message = shown  # its category stands beside it
        warning.line = ""


_EXACT = "promptfuzz_exact"


def pack(data: dict[str, Any]) -> None:
    r"""Make a report in plain data one that xdist can send: its texts are UTF-8, which lone surrogates are not.

    What is ours arrives as it was, so that answers stay equal to themselves; pytest's own texts hold an escape
    (``\ud800``) in a surrogate's place.
    """
    ours = {name: each for name, each in data.items() if name.startswith("promptfuzz")}
    text = json.dumps(ours, ensure_ascii=False) if ours else ""
    if has_surrogates(text):
        data[_EXACT] = text.encode("utf-8", "surrogatepass")
        for name in ours:
            del data[name]
    for name in data.keys() - ours.keys() - {_EXACT}:
        data[name] = sendable(data[name])


def unpack(data: dict[str, Any]) -> None:
    """Give a report in plain data back what ``pack`` could not leave in it."""
    exact = data.pop(_EXACT, None)
    if exact is not None:
        data.update(json.loads(exact.decode("utf-8", "surrogatepass")))


def sendable(value: Any) -> Any:
    r"""Plain data whose texts hold escapes (``\ud800``) in the place of lone surrogates."""
    if isinstance(value, str):
        return escape_surrogates(value)
    if isinstance(value, dict):
        return {sendable(name): sendable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [sendable(each) for each in value]
    if type(value) is tuple:
        return tuple(sendable(each) for each in value)
    return value


class _Shown:
    """Redacts pytest's representation of an exception in place: what it is made of stays, and so does its style."""

    def __init__(self, redaction: Hides) -> None:
        self._redaction = redaction

    def text(self, text: str) -> str:
        # What pytest cut first: hiding the first half of a key would leave the other.
        return self._redaction.text(hide_cut(text, self._redaction.values))

    def exception(self, said: Any) -> None:
        for traceback, crash, _ in getattr(said, "chain", [(said.reprtraceback, said.reprcrash, None)]):
            for entry in traceback.reprentries:
                self._entry(entry)
            if traceback.extraline:
                traceback.extraline = self.text(traceback.extraline)
            self._location(crash)
        said.sections = [(name, self.text(content), sep) for name, content, sep in said.sections]

    def _entry(self, entry: Any) -> None:
        if entry.style == "native":  # a frame is one text: its place and its source
            entry.lines = [
                self._source(each) if each.startswith("  File ") else self.text(each) for each in entry.lines
            ]
            return
        entry.lines = list(self._lines(entry.lines, entry.style))
        if entry.reprfuncargs:
            entry.reprfuncargs.args = [
                (name, self._argument(name, str(value))) for name, value in entry.reprfuncargs.args
            ]
        if entry.reprlocals:
            entry.reprlocals.lines = self.text("\n".join(entry.reprlocals.lines)).split("\n")
        self._location(entry.reprfileloc)

    def _lines(self, lines: Sequence[str], style: str) -> Iterable[str]:
        for is_message, group in groupby(lines, lambda line: style == "value" or line.startswith("E")):
            whole = "\n".join(group)
            yield from (self.text(whole) if is_message else self._source(whole)).split("\n")

    def _source(self, text: str) -> str:
        return self._redaction.source(hide_cut(text, self._redaction.values))

    def _argument(self, name: str, value: str) -> str:
        # With its name: it can say that the value is a key.
        return self.text(f"{name} = {value}").removeprefix(f"{name} = ")

    def _location(self, place: Any) -> None:
        if place is not None:
            place.message = self.text(place.message)


# Where a CI host reads commands from the log, what a robust test printed or failed with gives none.


# GitHub (Gitea and Forgejo set it as well), Azure, TeamCity.
_HOSTS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")


class _Commands:
    """In the place of a redaction: commands are broken, nothing is taken out."""

    values: tuple[str, ...] = ()

    def text(self, text: str) -> str:
        return uncommanded(text)

    source = text


def break_commands(report: pytest.TestReport, environment: Mapping[str, str] = os.environ) -> None:
    """Break what a host would take for a command, in captured output and in pytest's own traceback.

    What we print ourselves is safe everywhere; of an application's output this takes care on these hosts only.
    """
    if any(environment.get(name) for name in _HOSTS):
        hide(report, _Commands())
