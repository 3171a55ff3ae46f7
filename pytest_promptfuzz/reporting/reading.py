"""Reading a run's report: a document, or the lines that a run leaves as it goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.files import read_text
from pytest_promptfuzz.reporting.checking import wrong
from pytest_promptfuzz.reporting.document import FORMAT, KIND, Document, DocumentTest, RunReport, document
from pytest_promptfuzz.reporting.packing import unpacked
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.stored import LINES
from pytest_promptfuzz.wire.unpacking import MAX_FILE, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_promptfuzz.reporting.document import UnjudgedReport

_RUN: RunReport = {
    "id": "",
    "name": "",
    "started": "",
    "seconds": 0.0,
    "version": "",
    "python": "",
    "mode": "",
    "seed": 0,
    "commit": "",
    "branch": "",
    "dirty": None,
    "complete": True,
}
_MEND = "Make it anew: pytest --promptfuzz-report=json:PATH."


def read_document(path: Path) -> Document:
    """The report of a run, whole.

    Args:
        path: A JSON report, or the lines in ``.promptfuzz/report/``.

    Raises:
        StoreError: It cannot be read, is no report, is damaged, or of a newer version.
    """
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise StoreError(f"{path} does not exist. {_MEND}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read ({error}). {_MEND}") from None
    first, _, rest = text.partition("\n")
    with_lines = _json(first)
    if isinstance(with_lines, dict) and with_lines.get("promptfuzz") == LINES:
        _check_format(with_lines, path)
        return _of_lines(with_lines, rest, path)
    content = _json(text)
    if not isinstance(content, dict) or content.get("promptfuzz") != KIND:
        why = "is no JSON, or was cut off" if content is None else "is no report of a run"
        raise StoreError(f"{path} {why}. {_MEND}")
    _check_format(content, path)
    tests = content.get("tests")
    if not isinstance(tests, list):
        raise _damaged(path, "it has no list of tests")
    return document(
        _run(_held(content, "run", path)),
        [_test(each, path) for each in tests],
        unjudged=_held(content, "unjudged", path) or (),
        changes=_held(content, "changes", path),
        trends=_held(content, "trends", path),
        warnings=_held(content, "warnings", path) or (),
    )


def _of_lines(header: Mapping[str, Any], rest: str, path: Path) -> Document:
    """A run's lines; of a test that ended more than once (it was run again), the last counts."""
    judged: dict[str, DocumentTest] = {}
    unjudged: dict[str, UnjudgedReport] = {}
    end: dict[str, Any] = {}
    warnings: list[str] = []
    for number, line in _lines(rest):
        if line is None:
            warnings.append(f"{path}, line {number} is damaged; its test is left out")
            continue
        if "test" in line:
            test = _test(line["test"], path)
            judged[test["test"]] = test
            unjudged.pop(test["test"], None)
        elif "unjudged" in line:
            (one,) = _held({"unjudged": [line["unjudged"]]}, "unjudged", path)
            unjudged[one["test"]] = one
            judged.pop(one["test"], None)
        elif isinstance(line.get("end"), dict):
            end = line["end"]
    return document(
        _run(_held(end if "run" in end else header, "run", path)),
        judged.values(),
        unjudged=unjudged.values(),
        changes=_held(end, "changes", path),
        trends=_held(end, "trends", path),
        warnings=[*warnings, *(_held(end, "warnings", path) or ())],
    )


def _lines(rest: str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """What each line holds, with its number; the last one may have been cut off as the run was killed."""
    rows = rest.split("\n")
    for number, row in enumerate(rows, 2):
        found = _json(row)
        if isinstance(found, dict):
            yield number, found
        elif number <= len(rows):
            yield number, None


def _test(short: Any, path: Path) -> DocumentTest:
    """One test, whole, of which renderers need not doubt what it holds."""
    if said := wrong("test", short):
        raise _damaged(path, said)
    inputs, prompts = len(short.get("inputs", ())), len(short.get("prompts", ()))
    for each in (*short["trials"], *short.get("drift", ())):
        case, original = each.get("case") or 0, each.get("original", 0)
        if case < 0 or (inputs and case >= inputs):
            raise _damaged(path, f"test {safe(short['test'])}: it has no input {case}, of which a trial is")
        if original < 0 or (original and original >= prompts):
            raise _damaged(
                path, f"test {safe(short['test'])}: it has no prompt {original}, which a trial changes"
            )
        if any(len(tier) != 3 for tier in each.get("tiers", ())):
            raise _damaged(path, f"test {safe(short['test'])}: tiers are name, similarity and note")
    if _size(short) > MAX_FILE:
        raise _damaged(
            path, f"test {safe(short['test'])}: its trials are more than {shown(MAX_FILE)} once unpacked"
        )
    return unpacked(short)


def _size(short: Mapping[str, Any]) -> int:
    """How many characters the prompts of a test's trials have once each has its own."""
    prompts, size = short.get("prompts", ()), 0
    for each in short["trials"]:
        original = each.get("original", 0)
        length, at = len(prompts[original]) if original < len(prompts) else 0, 0
        size += 2 * length
        for start, end, text in each.get("edits", ()):
            size += max(0, min(start, length) - at) + max(0, min(end, length) - start) + 2 * len(text)
            at = end
    return size


def _held(content: Mapping[str, Any], key: str, path: Path) -> Any:
    """A part of a document or ``None`` where it is not there, and has not to be."""
    value = content.get(key)
    if (value is not None or key == "run") and (said := wrong(key, value)):
        raise _damaged(path, said)
    return value


def _run(found: Any) -> RunReport:
    return cast("RunReport", {**_RUN, **(found or {})})


def _check_format(content: Mapping[str, Any], path: Path) -> None:
    if content.get("format") != FORMAT:
        raise StoreError(
            f"{path} is a report of format {content.get('format')!r}, and this version of pytest-promptfuzz reads "
            f"{FORMAT}. Use the version that wrote it."
        )


def _damaged(path: Path, why: str) -> StoreError:
    return StoreError(f"{path} is a damaged report: {why}. {_MEND}")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
