"""A run's report as JSON: packed and whole again, held to its schema, read in any state, merged."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import handmade
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from made_documents import PROMPT, judged, made, run

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.mutations.engine.edits import Edit, word_diff
from pytest_promptfuzz.reporting.document import headline, merged, overview
from pytest_promptfuzz.reporting.html.page import html_report
from pytest_promptfuzz.reporting.markdown import markdown_report
from pytest_promptfuzz.reporting.report_files import (
    PackedTests,
    Stored,
    check,
    json_report,
    latest,
    publish,
    read_document,
    read_wanted,
    reporter,
    reporters,
)
from pytest_promptfuzz.reporting.schema import diff_of, edits_of, packed, report_schema, unpacked

if TYPE_CHECKING:
    from pytest_promptfuzz.reporting.document import Document

PUBLISHED = Path(__file__).parents[2] / "docs" / "report.schema.json"


@pytest.fixture(scope="module")
def real() -> Document:
    searched = judged("test_ünïcode[\ud800]", prompt="Is this \u202egood\u202c or bad?\n\nText: <b>fine</b>")
    return made(judged(), judged("test_sampled", samples=2), searched, warnings=["one"])


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("name", sorted(handmade.ALL))
def test_a_packed_report_is_whole_again(name: str) -> None:
    report = as_json({**handmade.ALL[name](), "outcome": "failed"})
    once = as_json(packed(report))
    assert unpacked(once) == report
    assert as_json(packed(unpacked(once))) == once


def test_a_real_report_is_whole_again_and_shorter(real: Document) -> None:
    for test in real["tests"]:
        report = as_json(test)
        short = as_json(packed(report))
        assert unpacked(short) == report
        assert len(json.dumps(short)) < len(json.dumps(report)) * 2 / 3
        assert all("diff" not in trial and "prompt" not in trial for trial in short["trials"])


def test_trials_of_several_prompts_share_them() -> None:
    report = as_json(judged())
    report["trials"] += as_json(
        judged(prompt=PROMPT.replace("payment", "invoice"))["trials"]
    )  # as of examples
    short = as_json(packed(report))
    assert unpacked(short) == report
    assert len(short["prompts"]) == 2
    assert {trial.get("original", 0) for trial in short["trials"]} == {0, 1}


def test_commands_that_differ_are_kept() -> None:
    report = as_json(judged())
    report["trials"][1]["reproduce"] = "another --promptfuzz-trial=" + report["trials"][1]["id"]
    assert unpacked(as_json(packed(report))) == report


def test_a_replaced_word_is_one_edit() -> None:
    diff = [
        ["=", "Is it "],
        ["-", "good"],
        ["+", "fine"],
        ["=", " or "],
        ["+", "so "],
        ["-", "bad"],
        ["=", "?"],
    ]
    assert edits_of(diff) == ("Is it good or bad?", [[6, 10, "fine"], [14, 17, "so "]])


TEXTS = st.text(alphabet="ab. \n", max_size=12)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=4))
def test_edits_and_diffs_tell_the_same(pieces: list[tuple[str, str, str]]) -> None:
    original, edits = "", []
    for same, removed, added in pieces:
        original += same
        if removed or added:
            edits.append(Edit(len(original), len(original) + len(removed), (added,)))
        original += removed
    diff = [list(piece) for piece in word_diff(original, edits)]
    found, short = edits_of(diff)
    assert found == original
    again = diff_of(found, short)
    for signs in ("=-", "=+"):
        assert "".join(t for k, t in again if k in signs) == "".join(t for k, t in diff if k in signs)


def test_what_is_written_is_as_the_schema_says(real: Document) -> None:
    validator = Draft202012Validator(report_schema())
    Draft202012Validator.check_schema(report_schema())
    assert [error.message for error in validator.iter_errors(json.loads(json_report(real)))] == []
    wrong = json.loads(json_report(real))
    wrong["tests"][0]["score"] = "high"
    wrong["tests"][0]["trials"][0]["edits"] = [[0, "1", "x"]]
    assert len(list(validator.iter_errors(wrong))) == 2


@pytest.mark.parametrize("name", sorted(handmade.ALL))
def test_every_kind_of_report_is_as_the_schema_says(name: str) -> None:
    text = json_report(made({**handmade.ALL[name](), "outcome": "failed"}))  # type: ignore[typeddict-item]
    assert list(Draft202012Validator(report_schema()).iter_errors(json.loads(text))) == []


def test_the_published_schema_is_today_s() -> None:
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == report_schema(), (
        "promptfuzz report schema > docs/report.schema.json"
    )


def test_a_document_is_read_as_it_was_written(real: Document, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    publish(real, "json", path, shown="run.json")
    assert read_document(path) == as_json(real)
    assert path.read_bytes().count(b"\n") >= len(real["tests"])


def test_what_later_versions_add_is_kept_and_what_earlier_ones_lack_is_filled_in(tmp_path: Path) -> None:
    later = json.loads(json_report(made(judged())))
    later["news"] = {"a": 1}
    later["tests"][0]["news"] = later["tests"][0]["trials"][0]["news"] = 7
    path = tmp_path / "later.json"
    path.write_text(json.dumps(later))
    found = read_document(path)
    assert found["tests"][0]["news"] == found["tests"][0]["trials"][0]["news"] == 7  # type: ignore[typeddict-item]

    earlier = {"promptfuzz": "report", "format": 1, "run": {"id": "a", "started": "2026-01-01T00:00:00Z"}}
    test = {"test": "t", "verdict": "pass", "score": 1.0, "threshold": 0.5, "counts": {"equivalent": 1}}
    trial = {"id": "x", "operators": ["upper-case@1"], "dimension": "lexical", "edits": [[0, 2, "HI"]]}
    path.write_text(json.dumps({**earlier, "tests": [{**test, "prompts": ["hi you"], "trials": [trial]}]}))
    found = read_document(path)
    assert found["tests"][0]["trials"][0]["prompt"] == "HI you"
    assert found["tests"][0]["counts"]["deviation"] == 0
    assert found["run"]["complete"] is True
    assert list(Draft202012Validator(report_schema()).iter_errors(json.loads(path.read_text()))) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist. Make it anew: pytest --promptfuzz-report=json:PATH."),
        ("{", "is no JSON, or was cut off"),
        ("", "is no JSON, or was cut off"),
        ("[]", "is no report of a run"),
        ('{"promptfuzz": "snapshot"}', "is no report of a run"),
        (
            '{"promptfuzz": "report", "format": 2}',
            "of format 2, and this version of pytest-promptfuzz reads 1",
        ),
        ('{"promptfuzz": "report-lines", "format": 9}\n', "of format 9"),
        ('{"promptfuzz": "report", "format": 1, "tests": [3]}', "is a damaged report"),
        ('{"promptfuzz": "report", "format": 1}', "is a damaged report"),
        ("\ud800", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told(content: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    if content is not None:
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(StoreError) as caught:
        read_document(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_run_that_was_killed_leaves_what_was_known(tmp_path: Path) -> None:
    stored = Stored(tmp_path, run(complete=False))
    stored.test(judged())
    stored.test(judged("test_other"))
    stored.close()
    cut = stored.path.read_bytes()[:-40]
    stored.path.write_bytes(cut)
    found = read_document(stored.path)
    assert [each["test"] for each in found["tests"]] == ["tests/test_it.py::test_urgency"]
    assert found["run"]["complete"] is False
    assert found["warnings"] == []


def test_a_line_that_was_damaged_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    stored = Stored(tmp_path, run(complete=False))
    for name in ("test_a", "test_b"):
        stored.test(judged(name))
    stored.end(run(), changes=None, trends=None, warnings=[])
    lines = stored.path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[1] = lines[1][:50] + "\n"
    stored.path.write_text("".join(lines), encoding="utf-8")
    found = read_document(stored.path)
    assert [each["test"] for each in found["tests"]] == ["tests/test_it.py::test_b"]
    assert found["warnings"] == [f"{stored.path}, line 2 is damaged; its test is left out"]


def test_of_a_test_that_ran_again_the_last_counts(tmp_path: Path) -> None:
    stored = Stored(tmp_path, run(complete=False))
    first = judged()
    stored.test({**first, "verdict": "brittle"})
    stored.unjudged({"test": "tests/test_it.py::late", "outcome": "error", "message": "no", "location": None})
    stored.test(first)
    stored.test({**first, "test": "tests/test_it.py::late"})
    stored.end(run(), changes=None, trends=None, warnings=["w"])
    found = read_document(stored.path)
    assert [each["verdict"] for each in found["tests"]] == [first["verdict"]] * 2
    assert found["unjudged"] == []
    assert found["warnings"] == ["w"]
    assert found["run"] == run()


@pytest.mark.parametrize("formats", [["html"], ["html", "json", "md"]])
def test_a_run_that_has_just_ended_is_read_as_a_later_one_reads_it(
    tmp_path: Path, real: Document, formats: list[str]
) -> None:
    tests = [*real["tests"], *({**handmade.ALL[name](), "outcome": "failed"} for name in handmade.ALL)]
    stored = Stored(tmp_path, run(complete=False))
    late = {"test": "late", "outcome": "error", "message": "no ∑", "location": None}
    for test in (tests[0], *tests[::-1]):
        stored.test({**test, "unknown": "kept"})
    stored.unjudged({**late, "test": tests[1]["test"]})
    stored.unjudged(late)
    stored.end(run(), changes=None, trends=None, warnings=["w"])
    with stored.document(formats) as found:
        written = json_report(found)
        whole = {**found, "tests": list(found["tests"])}
    later = read_document(stored.path)
    assert whole == later
    assert written == json_report(later)
    assert isinstance(found["tests"], PackedTests if formats == ["html"] else list)


def test_the_newest_three_are_kept(tmp_path: Path) -> None:
    for minute in range(5):
        stored = Stored(tmp_path, run(started=f"2026-03-01T08:0{minute}:00Z", complete=False))
        stored.end(run(), changes=None, trends=None, warnings=[])
    left = sorted(path.name[:16] for path in (tmp_path / "report").iterdir())
    assert left == ["20260301T080200Z", "20260301T080300Z", "20260301T080400Z"]
    newest = latest(tmp_path)
    assert newest is not None
    assert newest.name.startswith("20260301T080400Z")


def test_runs_of_one_second_have_an_order(tmp_path: Path) -> None:
    for millisecond, name in ((1, "f"), (20, "e"), (300, "d")):
        stored = Stored(
            tmp_path, run(started=f"2026-03-01T08:00:00.{millisecond:03}Z", id=name, complete=False)
        )
        stored.end(run(id=name), changes=None, trends=None, warnings=[])
    newest = latest(tmp_path)
    assert newest is not None
    assert read_document(newest)["run"]["id"] == "d"


def change(test: str, status: str) -> Any:
    return {"test": test, "status": status}


def test_parts_of_a_suite_are_one_report() -> None:
    base = {"label": "main", "kind": "ref", "run": "r", "started": "", "commit": "c", "branch": ""}
    a = judged("test_a")
    b = {**judged("test_b"), "outcome": "passed"}
    bad = {"test": "tests/test_it.py::test_c", "outcome": "error", "message": "x", "location": None}
    one = made(
        a,
        run=run(id="1", seconds=5.0),
        changes={
            "base": base,
            "tests": [change(a["test"], "worse"), change(b["test"], "gone")],
            "conditions": [{"expression": "new brittle", "tests": [a["test"]]}],
            "answers": [],
        },
        warnings=["same", "one"],
    )
    other = made(
        b,  # type: ignore[arg-type]
        run=run(id="2", started="2026-03-01T08:05:00Z", seconds=9.0, dirty=True, mode="live"),
        unjudged=[bad],
        changes={
            "base": base,
            "tests": [change(b["test"], "same"), change("old", "gone"), change(a["test"], "gone")],
            "conditions": [{"expression": "new brittle", "tests": [b["test"], "elsewhere"]}],
            "answers": [],
        },
        warnings=["same"],
    )
    whole = merged([other, one])
    assert [each["test"] for each in whole["tests"]] == [a["test"], b["test"]]
    assert whole["unjudged"] == [bad]
    assert whole["run"]["seconds"] == 9.0
    assert whole["run"]["started"] == one["run"]["started"]
    assert (whole["run"]["mode"], whole["run"]["dirty"]) == ("several", True)
    assert whole["warnings"] == ["same", "one"]
    assert whole["changes"] is not None
    assert whole["changes"]["base"] == base
    assert [(e["test"], e["status"]) for e in whole["changes"]["tests"]] == [
        (a["test"], "worse"),
        (b["test"], "same"),
        ("old", "gone"),
    ]
    assert whole["changes"]["conditions"] == [{"expression": "new brittle", "tests": [a["test"], b["test"]]}]
    assert merged([one, other]) == whole
    assert merged([one]) == one


def test_each_target_keeps_its_own_comparison() -> None:
    base = {"label": "main", "kind": "ref", "run": "r", "started": "", "commit": "c", "branch": ""}
    test = judged()
    other = {**test, "target": "openai:two"}

    def part(each: Any, number: str, status: str) -> Any:
        row = {**change(each["test"], status), "target": each["target"]}
        return made(
            each, run=run(id=number), changes={"base": base, "tests": [row], "conditions": [], "answers": []}
        )

    whole = merged([part(test, "1", "same"), part(other, "2", "worse")])
    assert whole["changes"] is not None
    assert [(e["target"], e["status"]) for e in whole["changes"]["tests"]] == [
        ("simulated", "same"),
        ("openai:two", "worse"),
    ]


def test_the_same_test_with_the_same_target_counts_as_it_was_last() -> None:
    test = judged()
    later = {**test, "score": 0.1}
    other = {**test, "target": "openai:gpt-5-mini"}
    documents = [
        made(test, run=run(id="1")),
        made(later, other, run=run(id="2", started="2026-03-02T08:00:00Z", commit="f" * 40)),  # type: ignore[arg-type]
    ]
    whole = merged(documents)
    assert [(each["target"], each["score"]) for each in whole["tests"]] == [
        ("simulated", 0.1),
        ("openai:gpt-5-mini", test["score"]),
    ]
    assert whole["run"]["commit"] == ""
    said = "\n".join(whole["warnings"])
    assert "of which the last run counts: tests/test_it.py::test_urgency" in said
    assert "of several commits: 4e5f6a7b8c9d, ffffffffffff" in said


def test_a_test_that_was_not_judged_with_one_model_stands_beside_the_other_s_verdict() -> None:
    passed = {**judged(), "outcome": "passed", "verdict": "pass", "target": "openai:a"}
    lost = {
        "test": passed["test"],
        "outcome": "failed",
        "message": "it failed unmutated",
        "location": None,
        "target": "openai:b",
    }

    def part(number: str, *tests: Any, unjudged: Any = ()) -> Any:
        started = f"2026-03-01T08:0{number}:00Z"
        return made(*tests, run=run(id=number, started=started), unjudged=list(unjudged))

    for found in (
        merged([part("1", unjudged=[lost]), part("2", passed)]),
        merged([part("1", passed), part("2", unjudged=[lost])]),
    ):
        assert (found["tests"], found["unjudged"], found["warnings"]) == ([passed], [lost], [])
        assert headline(found) == "1 not judged, 1 passed of 2 robust tests"
        assert "with `openai:b`" in markdown_report(found)
        assert "openai:b" in html_report(found)
        assert overview(found).result == "failed"
    # With the same model the last run counts, in either direction.
    again = {**passed, "target": "openai:b"}
    whole = merged([part("1", passed, unjudged=[lost]), part("2", again)])
    assert ([each["target"] for each in whole["tests"]], whole["unjudged"]) == (["openai:a", "openai:b"], [])
    whole = merged([part("1", passed, again), part("2", unjudged=[lost])])
    assert ([each["target"] for each in whole["tests"]], whole["unjudged"]) == (["openai:a"], [lost])
    assert whole["warnings"] == [
        f"in several of the merged reports, of which the last run counts: {lost['test']}"
    ]
    # Older reports do not say whom the test asked: both stand, and the same one once.
    unknown = {key: value for key, value in lost.items() if key != "target"}
    whole = merged(
        [part("1", unjudged=[unknown]), part("2", again, unjudged=[unknown, lost | {"target": "x"}])]
    )
    assert len(whole["unjudged"]) == 2
    assert unknown in whole["unjudged"]
    assert whole["tests"] == [again]


def test_trends_of_parts_are_of_all_runs() -> None:
    def past(name: str, started: str) -> Any:
        return {"id": name, "name": "", "started": started, "commit": "", "branch": "", "dirty": None}

    def point(at: int, score: float) -> Any:
        return {"run": at, "score": score, "verdict": "pass", "cost": None}

    a, b, c = past("a", "1"), past("b", "2"), past("c", "3")
    one = made(trends={"runs": [a, c], "tests": {"x": [point(0, 0.1), point(1, 0.3)]}}, run=run(id="1"))
    two = made(
        trends={"runs": [b, c], "tests": {"x": [point(0, 0.2)], "y": [point(1, 0.9)]}}, run=run(id="2")
    )
    trends = merged([one, two])["trends"]
    assert trends is not None
    assert trends["runs"] == [a, b, c]
    assert [(each["run"], each["score"]) for each in trends["tests"]["x"]] == [(0, 0.1), (1, 0.2), (2, 0.3)]
    assert [(each["run"], each["score"]) for each in trends["tests"]["y"]] == [(2, 0.9)]


def test_nothing_to_merge_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no report to merge"):
        merged([])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("json:a.json", [("json", "a.json")]),
        ("json:a.json, html:out/b.html", [("json", "a.json"), ("html", "out/b.html")]),
        ("html:C:\\x\\a,b.html", [("html", "C:\\x\\a,b.html")]),
        ("json:~/a.json", [("json", str(Path("~/a.json").expanduser()))]),
    ],
)
def test_reports_are_read_from_an_option(text: str, found: list[tuple[str, str]]) -> None:
    assert read_wanted(text) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("json", "'json' has no path. Write FORMAT:PATH"),
        ("json:", "'json:' has no path"),
        (":x", "':x' has no path"),
        ("json:a,html", "'html' has no path"),
        ("json:a,html:a", "a is named twice"),
        ("", "'' has no path"),
    ],
)
def test_an_option_that_names_no_report_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_wanted(text)
    assert message in str(caught.value)


def test_where_nothing_can_be_written_is_told_before(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"is a folder. Name a file in it"):
        check("json", tmp_path)
    with pytest.raises(StoreError, match=r"file is a file. Name another place"):
        check("json", tmp_path / "file" / "a" / "b.json")
    with pytest.raises(UsageError, match="unknown format"):
        check("jsn", tmp_path / "a.json")
    check("json", tmp_path / "new" / "folder" / "a.json")
    if not hasattr(os, "mkfifo"):
        return
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(StoreError, match="is not a regular file"):
        check("json", tmp_path / "fifo")
    if Path("/proc/self").is_dir():
        with pytest.raises(StoreError, match=r"cannot be written. Change its permissions"):
            check("json", Path("/proc/nothing/run.json"))


def test_a_format_of_one_s_own(tmp_path: Path, real: Document) -> None:
    @reporter("names-only")
    def names(document: Document) -> str:
        return "".join(f"{test['test']}\n" for test in document["tests"])

    assert reporters().add(names, "here") is names
    said = publish(real, "names-only", tmp_path / "deep" / "n.txt", shown="n.txt")
    assert said == "wrote n.txt (names-only, 103 B)"
    assert (tmp_path / "deep" / "n.txt").read_text(encoding="utf-8").splitlines()[0] == real["tests"][0][
        "test"
    ]
    with pytest.raises(UsageError, match="lower-case letters, digits and hyphens"):
        reporter("Na me")
    with pytest.raises(UsageError, match="is no format of reports: decorate a function"):
        reporters().add(print, "here")
