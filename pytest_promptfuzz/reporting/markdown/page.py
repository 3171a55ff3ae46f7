"""What is said first, and what is left out where a host allows no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.markdown.escaping import code, prose
from pytest_promptfuzz.reporting.markdown.tables import (
    MOST_NAMED,
    heading_rows,
    named,
    news_rows,
    sign,
    test_rows,
)
from pytest_promptfuzz.reporting.markdown.tests import test_block
from pytest_promptfuzz.reporting.overview import drifts, headline, met, money, ordered, overview
from pytest_promptfuzz.reporting.summary import seconds
from pytest_promptfuzz.reporting.terminal import one_line
from pytest_promptfuzz.reporting.words import count, real_judges, simulated, unfollowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.reporting.document import Document, DocumentTest, UnjudgedReport
    from pytest_promptfuzz.reporting.overview import Overview

MARKER = "<!-- pytest-promptfuzz report -->"
"""The first line, by which a workflow finds the comment that it made before."""
LIMIT = 65_536
"""Of a comment on GitHub, in characters. Sizes here are bytes of UTF-8, of which a text has the most."""
LEAST = 2_000
_SIGNS = {"passed": "✅", "failed": "❌", "error": "⚠️", "empty": "⚠️"}
_TABLE = 0.5  # the table's share of what is left, where there are tests to show below it
_SAYING = 200  # bytes kept for saying what was left out


def markdown_report(document: Document, *, limit: int = LIMIT) -> str:
    """The report of a run as GitHub's and GitLab's Markdown.

    The verdict comes first and is never cut. What follows is left out whole, a row or a test at a time, where it would
    not fit, and it is said how much was. No text of a model or a test becomes markup, a link, a picture or a mention.

    Args:
        document: Of a run.
        limit: The most bytes of UTF-8, at least 2,000; so many characters, or UTF-16 units, are never exceeded either.

    Raises:
        ValueError: ``limit`` is below 2,000.
    """
    if limit < LEAST:
        raise ValueError(f"limit={limit} must be at least {LEAST:,}: the verdict is never cut.")
    whole = overview(document)
    head = f"{MARKER}\n### {_SIGNS[whole.result]} Prompt robustness: {headline(document)}"
    foot = _foot(document, whole)
    foot = foot if _size(foot) <= limit // 4 else ""
    room = _Room(limit - _size(head) - _size(foot) - _SAYING)
    parts = [head, room.take(_whys(document)).text]
    parts.append(room.take(_unjudged(document["unjudged"])).text)
    parts.append(room.take(news_rows(document), lead=["**What is new**", ""]).text)
    told = [each for each in ordered(document) if _is_told(each)]
    details = list(map(test_block, told))
    share = max(_TABLE, 1 - sum(map(_size, details)) / max(room.free, 1))
    table = room.take(test_rows(document), lead=heading_rows(document), share=share)
    blocks = room.take(details, between="\n\n")
    parts += [table.text, blocks.text, _left_out(table.left, blocks.left), foot]
    return "\n\n".join(filter(None, parts)) + "\n"


class _Taken:
    """What fits, joined, and how many do not."""

    def __init__(self, text: str, left: int) -> None:
        self.text, self.left = text, left


class _Room:
    """So many bytes, of which parts take what they need while there are any."""

    def __init__(self, free: int) -> None:
        self.free = free

    def take(
        self, parts: Iterable[str], *, lead: Sequence[str] = (), between: str = "\n", share: float = 1.0
    ) -> _Taken:
        """As many of the parts, from the first, as fit into a share of what is free.

        Once one does not fit, shorter ones may: a huge test hides no other.
        """
        every = list(parts)
        budget = int(self.free * share)
        used = sum(_size(each) for each in lead)
        kept: list[str] = []
        for each in every:
            if used + _size(each) <= budget:
                used += _size(each)
                kept.append(each)
        if not kept:
            return _Taken("", len(every))
        self.free -= used
        text = between.join(["\n".join(lead), *kept]) if lead else between.join(kept)
        return _Taken(text, len(every) - len(kept))


def _size(text: str) -> int:
    """Bytes, with what parts it from the next."""
    return len(text.encode("utf-8", "replace")) + 2


def _is_told(test: DocumentTest) -> bool:
    return test["verdict"] != "pass" or test["outcome"] != "passed" or bool(drifts(test))


def _whys(document: Document) -> list[str]:
    """Why the run failed: the worst tests in a line each, conditions that are met, a run that ended early."""
    bad = [each for each in ordered(document) if each["outcome"] in {"failed", "error"}]
    rows = [f"- {sign(each)} {code(each['test'])}: {_why(each)}" for each in bad[:MOST_NAMED]]
    if len(bad) > MOST_NAMED:
        rows.append(f"- and {count(len(bad) - MOST_NAMED, 'more test')} that failed or could not be trusted")
    rows += [f"- ❌ {code(condition)} is met by {named(tests)}" for condition, tests in met(document)]
    if not document["run"]["complete"]:
        rows.append("- ⚠️ The run ended before its last test: what was not run is missing here.")
    if not document["tests"] and not document["unjudged"]:
        rows.append("- ⚠️ Nothing was tested. Were tests selected that are marked `@robust`?")
    return rows + [f"- ⚠️ {prose(each, limit=400)}" for each in document["warnings"]]


def _why(test: DocumentTest) -> str:
    if test["verdict"] == "pass":
        drift = [each for each in drifts(test) if each["policy"] == "fail"]
        return (
            prose(drift[0]["message"]) if drift else f"its prompt passed, the test {prose(test['outcome'])}"
        )
    return prose(one_line(test))


def _unjudged(tests: Sequence[UnjudgedReport]) -> list[str]:
    """Robust tests without a verdict: nothing is known of their prompts, and that is easily missed."""
    if not tests:
        return []
    rows = [
        f"- {code(each['test'])} ({prose(each['outcome'])}): {code(each['message'], limit=300)}"
        for each in tests
    ]
    return [
        f"> **{count(len(tests), 'robust test')} could not be judged:** nothing is known of the prompts.\n",
        *rows,
    ]


def _left_out(rows: int, blocks: int) -> str:
    if not rows and not blocks:
        return ""
    said = [f"{count(rows, 'test')} in the table"] if rows else []
    said += [f"the details of {count(blocks, 'test')}"] if blocks else []
    return (
        f"*Left out, for a host's limit: {' and '.join(said)}. The JSON and HTML reports have all of them.*"
    )


def _foot(document: Document, whole: Overview) -> str:
    """What it cost, and which run it was."""
    run, tests = document["run"], document["tests"]
    said = [
        f"{count(whole.calls, 'call')}",
        f"{count(whole.hits, 'answer')} from the store",
        money(whole),
        seconds(run["seconds"]),
        f"mode {prose(run['mode'])}" if run["mode"] else "",
        f"seed {run['seed']}",
        f"commit {code(run['commit'][:12])}" + (" with changes" if run["dirty"] else "")
        if run["commit"]
        else "",
        f"pytest-promptfuzz {prose(run['version'])}",
    ]
    if document["changes"] is not None:
        said.append(f"compared with {code(document['changes']['base']['label'], limit=60)}")
    if tests and all(map(simulated, tests)):
        known = not real_judges(tests) and not unfollowed(tests)
        said.append("simulated answers, no real model was called" if known else "simulated answers")
    if left := unfollowed(tests, simulated=all(map(simulated, tests))):
        said.append(prose(left.rstrip(".")))
    return f"<sub>{'; '.join(filter(None, said))}</sub>"
