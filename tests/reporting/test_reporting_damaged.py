"""Reports that a person or another program has changed: refused by name, or rendered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import handmade
import pytest
from hostile_texts import with_text
from made_documents import judged, made

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.reporting.hosts import github_report
from pytest_promptfuzz.reporting.markdown import markdown_report
from pytest_promptfuzz.reporting.report_files import json_report, read_document
from pytest_promptfuzz.reporting.terminal.styled_text import render
from pytest_promptfuzz.reporting.terminal.summary import document_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def broken(change: Callable[[Any], object], tmp_path: Path) -> str:
    """What is said of a report in which something was changed."""
    content = json.loads(json_report(made(judged())))
    change(content)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(StoreError) as caught:
        read_document(path)
    said = str(caught.value)
    assert said.startswith(f"{path} is a damaged report: ")
    assert said.endswith(" Make it anew: pytest --promptfuzz-report=json:PATH.")
    return said


URGENCY = "test tests/test_it.py::test_urgency: "


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda it: it.update(tests=[{}]), "a test: test is missing."),
        (lambda it: it.update(tests=[3]), "a test: it is 3, and has to be an object."),
        (lambda it: it.update(tests=[{"test": 7}]), "a test: verdict is missing."),
        (lambda it: it.pop("run"), "run is None, and has to be an object."),
        (lambda it: it["run"].pop("id"), "run.id is missing."),
        (lambda it: it.update(unjudged=[{"test": "a"}]), "unjudged[0].outcome is missing."),
        (lambda it: it.update(warnings=[1]), "warnings[0] is 1, and has to be a text."),
        (
            lambda it: it["tests"][0].update(score="high"),
            f"{URGENCY}score is 'high', and has to be a number or null.",
        ),
        (lambda it: it["tests"][0].update(verdict=None), f"{URGENCY}verdict is None, and has to be a text."),
        (
            lambda it: it["tests"][0]["counts"].update(minor=True),
            f"{URGENCY}counts.minor is True, and has to be a whole number.",
        ),
        (
            lambda it: it["tests"][0].update(bounds=[0.5]),
            f"{URGENCY}bounds is [0.5], and has to be a list of 2.",
        ),
        (
            lambda it: it["tests"][0]["trials"][2].update(operators="upper-case"),
            f"{URGENCY}trials[2].operators is 'upper-case', and has to be a list.",
        ),
        (
            lambda it: it["tests"][0]["trials"][1].update(edits=[[0, "1", "x"]]),
            f"{URGENCY}trials[1].edits[0][1] is '1', and has to be a whole number.",
        ),
        (
            lambda it: it["tests"][0]["trials"][1].update(error={"kind": "timeout"}),
            f"{URGENCY}trials[1].error.message is missing.",
        ),
        (
            lambda it: it["tests"][0]["trials"][1].update(error=3),
            f"{URGENCY}trials[1].error is 3, and has to be an object or null.",
        ),
        (lambda it: it["tests"][0]["trials"][0].update(case=-1), f"{URGENCY}it has no input -1,"),
        (lambda it: it["tests"][0]["trials"][0].update(original=9), f"{URGENCY}it has no prompt 9,"),
        (lambda it: it["tests"][0]["trials"][0].update(tiers=[[1]]), f"{URGENCY}tiers are name, similarity"),
    ],
)
def test_what_no_renderer_could_show_is_refused_by_name(
    change: Callable[[Any], object], said: str, tmp_path: Path
) -> None:
    assert f" is a damaged report: {said}" in broken(change, tmp_path)


def places(value: Any, place: tuple[Any, ...] = (), shape: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Any]]:
    yield shape, place
    for key, one in value.items() if isinstance(value, dict) else ():
        yield from places(one, (*place, key), (*shape, key))
    for index, one in enumerate(value) if isinstance(value, list) else ():
        yield from places(one, (*place, index), (*shape, "*"))


def test_a_report_with_any_one_value_changed_is_refused_or_rendered(tmp_path: Path) -> None:
    tests: Any = [{**handmade.ALL[name](), "outcome": "failed"} for name in sorted(handmade.ALL)]
    text = json_report(with_text(made(*tests), "x"))
    of_each: dict[Any, Any] = {}
    for shape, place in places(json.loads(text)):
        of_each.setdefault(shape, place)
    path = tmp_path / "run.json"
    refused = 0
    changes = [(place, value) for place in of_each.values() if place for value in (None, "zz", -1, [])]
    assert len(changes) > 500
    for place, value in changes:
        content = inner = json.loads(text)
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        path.write_text(json.dumps(content), encoding="utf-8")
        try:
            found = read_document(path)
        except StoreError:
            refused += 1
            continue
        try:
            assert markdown_report(found)
            assert github_report(found).outputs
            assert render(document_lines(found), width=80, color=False)
        except Exception as error:
            raise AssertionError(f"{place} as {value!r}") from error
    assert len(changes) / 3 < refused < len(changes)


def test_a_way_of_changing_that_a_later_version_knows_is_shown_as_it_is() -> None:
    document: Any = with_text(made(judged()), "x")
    document["changes"]["tests"][0] |= {"status": "renamed|`a`", "difference": None}
    assert "renamed" in markdown_report(document)
