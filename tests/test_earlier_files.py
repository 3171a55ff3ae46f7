"""What an earlier version wrote is read: every kind of file in ``data/written_by_an_earlier_version``, in real runs.

No test has a key, and none but that of batches a server: what is not found in the files cannot be asked. Nothing here
depends on how a built-in operator makes mutations or on what the simulated model answers.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pytest_promptfuzz.testing.server import ModelServer

from pytest_promptfuzz import Response, Usage, read_document
from tests.in_process import promptfuzz

if TYPE_CHECKING:
    from collections.abc import Callable

EARLIER = Path(__file__).parent / "data" / "written_by_an_earlier_version"
PORT = 18123
"""Where the model server was; a part of the keys of all answers."""
LOCAL = {"counterexamples", "history", "prefill.json", "recording", "report", "responses", "vectors"}
"""What lies in ``.promptfuzz``, which this repository's git would ignore."""
BRITTLE, UNPINNED, TEAM = (
    "test_runs.py::test_brittle",
    "test_runs.py::test_unpinned",
    "test_runs.py::test_team",
)
PINNED_ID, LOCAL_ID = "8e93ec0565f9", "939d8a756855"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Copies one of the projects, with all that was written in it, to where the test runs."""
    for name in [*os.environ]:
        if name.startswith(("PROMPTFUZZ_", "OPENAI_", "ANTHROPIC_")) or name == "CI":
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "400")

    def copy(name: str) -> Path:
        folder = pytester.path
        shutil.copytree(EARLIER / name, folder, dirs_exist_ok=True)
        shutil.copy(EARLIER / "operators.py", folder)
        for each in LOCAL & {path.name for path in folder.iterdir()}:
            (folder / ".promptfuzz").mkdir(mode=0o700, exist_ok=True)
            (folder / each).rename(folder / ".promptfuzz" / each)
        return folder

    return copy


def run(pytester: pytest.Pytester, *arguments: str) -> tuple[pytest.RunResult, Path]:
    """Run pytest on the project: its result, and its report."""
    report = pytester.path / "now.json"
    report.unlink(missing_ok=True)
    return pytester.runpytest(
        "-p", "no:cacheprovider", f"--promptfuzz-report=json:{report}", *arguments
    ), report


def command(*arguments: str, code: int = 0) -> Any:
    """What ``promptfuzz`` prints, read where it is JSON; it ends with this exit code and has nothing to complain of."""
    done = promptfuzz(*arguments)
    assert (done.returncode, done.stderr) == (code, ""), done
    return json.loads(done.stdout) if "--json" in arguments else done.stdout


def judged(path: Path) -> dict[str, Any]:
    """What a report says of each test, but for what differs from run to run: times, numbers of calls."""
    keys = ("outcome", "verdict", "reason", "score", "counts", "baselines")
    return {
        each["test"]: {
            **{key: each[key] for key in keys},
            "trials": [(trial["id"], trial["outcome"], trial["response"]) for trial in each["trials"]],
        }
        for each in read_document(path)["tests"]
    }


def spent(path: Path) -> tuple[int, int]:
    """How many calls were made in all, and how many answers found."""
    tests = read_document(path)["tests"]
    return sum(each["spent"]["calls"] for each in tests), sum(each["spent"]["hits"] for each in tests)


# Recordings


def test_recordings_replay_with_the_same_verdicts(pytester, project) -> None:
    folder = project("recorded")
    result, report = run(pytester, "--promptfuzz-mode=replay")
    result.assert_outcomes(passed=14, failed=2)
    before = judged(folder / "replayed.json")
    assert judged(report) == before
    assert Counter(each["verdict"] for each in before.values()) == {"pass": 14, "brittle": 2}


@pytest.mark.parametrize("mode", ["replay", "auto"])
def test_a_replay_makes_no_call(pytester, project, monkeypatch, mode) -> None:
    project("recorded")
    if mode == "auto":  # without any key the SDKs make no client
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    # What was refused when it was recorded counts as a call in a replay.
    refused = "--deselect=test_verdicts.py::test_refused"
    result, report = run(pytester, f"--promptfuzz-mode={mode}", refused)
    result.assert_outcomes(passed=13, failed=2, deselected=1)
    assert spent(report) == (0, 117)


def test_recordings_pass_the_check_of_stored_answers(project) -> None:
    project("recorded")
    recordings = [f"__promptfuzz__/test_{each}" for each in ("kinds.calls.jsonl", "zipped.calls.jsonl.gz")]
    checked = command("cache", "verify", "--json", *recordings)
    assert (checked["recordings"], checked["recorded"], checked["problems"]) == (recordings, 78, [])
    stats = command("cache", "stats", "--json")
    assert [each["answers"] for each in stats["recordings"]] == [74, 45, 4]
    assert command("cache", "diff", "--json", recordings[0], recordings[0])["problems"] == []
    assert command("cache", "import", "--json", recordings[1], "--cache-dir", "other")["imported"] == 4


def test_a_recording_of_the_simulated_model_passes_the_check(project) -> None:
    """Its keys hold that model's version, so that they are computed anew from what each line says."""
    project("simulated")
    checked = command("cache", "verify", "--json")
    assert (checked["recorded"], checked["problems"]) == (6, [])


def test_a_recording_of_an_earlier_simulated_model_is_replayed(pytester, project) -> None:
    """Its answers are those of then; this version of the model would be asked under another key."""
    project("simulated")
    done = pytester.runpytest("--promptfuzz-mode=replay", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["*0 calls to the simulated model; 6 answers from the recording*"])


def test_an_interrupted_recording_goes_on_and_asks_nothing_again(pytester, project) -> None:
    folder = project("interrupted")
    move_spool(
        folder / ".promptfuzz" / "recording", folder / "__promptfuzz__" / "test_interrupted.calls.jsonl"
    )
    for mode in ("record", "replay"):
        result, report = run(pytester, f"--promptfuzz-mode={mode}")
        result.assert_outcomes(passed=2)
        assert spent(report) == (0, 5)


def move_spool(spools: Path, recording: Path) -> None:
    """What waits to be recorded names the place of its recording, in its first line and by its own name."""
    (spool,) = spools.glob("*.spool.jsonl")
    first, rest = spool.read_text(encoding="utf-8").split("\n", 1)
    head = {**json.loads(first), "recording": str(recording)}
    del head["check"]
    text = json.dumps(head, sort_keys=True, separators=(",", ":"))
    head["check"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    place = hashlib.sha256(f"{recording.as_posix()}\0{head['test']}".encode()).hexdigest()[:32]
    spool.unlink()
    (spools / f"{place}.spool.jsonl").write_text(f"{json.dumps(head)}\n{rest}", encoding="utf-8")


# Stored answers


@pytest.fixture
def provider(project: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider of embeddings, which nobody reaches."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{PORT}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.mark.usefixtures("provider")
def test_stored_answers_are_found(pytester, project) -> None:
    project("stored")
    checked = command("cache", "verify", "--json")
    assert (checked["stored"], checked["problems"]) == (10, [])
    assert command("cache", "stats", "--json")["cache"]["answers"] == 10
    result, report = run(pytester)
    result.assert_outcomes(passed=4)
    assert spent(report) == (0, 9)


@pytest.mark.usefixtures("provider")
def test_exported_answers_are_imported(pytester, project) -> None:
    folder = project("stored")
    assert command("cache", "import", "--json", "answers.jsonl.gz", "--cache-dir", "other")["imported"] == 10
    shutil.rmtree(folder / ".promptfuzz")
    result, report = run(pytester, "--promptfuzz-cache-dir=other")
    result.assert_outcomes(passed=4)
    assert spent(report) == (0, 10)


@pytest.mark.usefixtures("provider")
def test_stored_vectors_are_found(pytester, project) -> None:
    folder = project("stored")
    shutil.rmtree(folder / ".promptfuzz" / "responses")
    result, report = run(pytester, "-k", "vectors")
    result.assert_outcomes(passed=1, deselected=3)
    assert spent(report) == (0, 0)
    assert not any(each["counts"]["error"] for each in judged(report).values())


class Technical:
    """A model with one answer."""

    def answer(self, request: Any, *, sample: int = 0) -> Response:
        return Response("TECHNICAL", (), Usage(20, 1), "scripted-1", "stop")


PARAMETERS = {
    "model": "claude-sonnet-5",
    "max_tokens": 64,
    "messages": [{"role": "user", "content": "Name the team."}],
}


def submit_to_openai(client: Any, names: list[str]) -> str:
    """Submit a batch whose requests have these names; its ID."""
    url = "/v1/chat/completions"
    body = {**PARAMETERS, "model": "gpt-5-mini"}
    lines = [{"custom_id": each, "method": "POST", "url": url, "body": body} for each in names]
    text = "".join(f"{json.dumps(each)}\n" for each in lines).encode()
    file = client.files.create(file=("batch.jsonl", text), purpose="batch")
    return client.batches.create(input_file_id=file.id, endpoint=url, completion_window="24h").id


def test_batches_that_were_under_way_are_waited_for(pytester, project, monkeypatch) -> None:
    anthropic, openai = pytest.importorskip("anthropic"), pytest.importorskip("openai")
    folder = project("batches")
    under_way = json.loads((folder / ".promptfuzz" / "prefill.json").read_text(encoding="utf-8"))["batches"]
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "none")
    with ModelServer(Technical(), port=PORT) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        with openai.OpenAI() as client:
            first = submit_to_openai(client, under_way[0]["names"])
        with anthropic.Anthropic() as client:
            requests = [{"custom_id": each, "params": PARAMETERS} for each in under_way[1]["names"]]
            second = client.messages.batches.create(requests=requests).id
        assert [first, second] == [each["id"] for each in under_way]
        command("prefill", "--resume", "--poll", "0.05")
        assert server.batches.submitted == [2, 2], "those that were under way, and no other"
    result, report = run(pytester)
    result.assert_outcomes(passed=2)
    assert spent(report) == (0, 4)


# Runs


def test_kept_runs_are_listed(project) -> None:
    project("runs")
    killed, last, broken, saved = command("history", "--json")
    assert (saved["name"], saved["verdicts"], saved["complete"]) == ("main", {"brittle": 1, "pass": 1}, True)
    assert (broken["verdicts"], last["verdicts"]) == ({"brittle": 1, "pass": 2}, {"brittle": 2, "pass": 1})
    assert (killed["verdicts"], killed["complete"]) == ({"brittle": 2, "pass": 1}, False)
    assert [each["score"] for each in command("history", TEAM, "--json")] == [1.0, 1.0, 0.0, 1.0]
    assert "main" in command("history")


def test_a_test_has_its_trend(project) -> None:
    project("runs")
    trend = command("trend", "test_team", "--json")
    assert [each["score"] for each in trend["tests"][TEAM]] == [1.0, 0.0, 1.0, 1.0]
    assert TEAM in command("trend", "test_team")


def test_kept_runs_and_reports_are_compared(project) -> None:
    folder = project("runs")
    broken = command("history", "--json")[2]["id"]
    first = str(min((folder / ".promptfuzz" / "history").iterdir()))
    for base, now in (("main", broken), (first, broken), ("first.json", "second.json")):
        statuses = statuses_of(command("compare", "--json", base, now, code=1))
        assert (statuses[TEAM], statuses[BRITTLE]) == ("worse", "higher")
        assert TEAM in command("compare", base, now, code=1)
    assert {*statuses_of(command("compare", "--json", "merged.json", broken)).values()} == {"same"}


def statuses_of(changes: Any) -> dict[str, str]:
    """By test, what a comparison of runs says."""
    return {each["test"]: each["status"] for each in changes["tests"]}


@pytest.mark.parametrize("base", ["main", "first.json", "last"])
def test_a_run_of_today_is_compared_with_an_earlier_one(pytester, project, monkeypatch, base) -> None:
    project("runs")
    against = (f"--promptfuzz-compare={base}", "--promptfuzz-fail-on=score drop", "-k", "team")
    same, report = run(pytester, *against)
    assert (same.ret, statuses_of(read_document(report)["changes"])) == (0, {TEAM: "same"})
    monkeypatch.setenv("STATE", "broken")
    worse, report = run(pytester, *against)
    changes = read_document(report)["changes"]
    assert (worse.ret, statuses_of(changes)) == (1, {TEAM: "worse"})
    assert [each["tests"] for each in changes["conditions"]] == [[TEAM]]


# Reports


def test_the_report_of_the_last_run_is_shown_and_written(project) -> None:
    folder = project("runs")
    assert BRITTLE in command("report")
    command(
        "report", "--to", "json:again.json,html:again.html,md:again.md,gitlab:again.txt,sarif:again.sarif"
    )
    verdicts = {test: each["verdict"] for test, each in judged(folder / "again.json").items()}
    assert verdicts == {TEAM: "pass", BRITTLE: "brittle", UNPINNED: "brittle"}
    for ending in ("html", "md", "txt", "sarif"):
        assert "test_brittle" in (folder / f"again.{ending}").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["first", "second", "merged"])
def test_a_report_is_read_and_rendered_again(project, name) -> None:
    folder = project("runs")
    assert TEAM in command("report", "--from", f"{name}.json")
    command("report", "--from", f"{name}.json", "--to", "json:again.json,html:again.html")
    assert judged(folder / "again.json") == judged(folder / f"{name}.json")
    assert "test_team" in (folder / "again.html").read_text(encoding="utf-8")


def test_earlier_reports_are_merged(project) -> None:
    folder = project("runs")
    done = promptfuzz("report", "merge", "first.json", "second.json", "--to", "json:again.json")
    assert done.returncode == 0
    assert judged(folder / "again.json") == judged(folder / "merged.json") != judged(folder / "first.json")


# Counterexamples


def kept_counterexamples() -> dict[str, tuple[str, list[str]]]:
    """By ID, the test of each that is stored, and where."""
    listed = [each for each in command("replay", "--json") if each["counterexample"]]
    return {each["id"]: (each["test"], each["places"]) for each in listed}


@pytest.mark.parametrize("name", [PINNED_ID, LOCAL_ID])
def test_a_counterexample_is_replayed(project, monkeypatch, name) -> None:
    project("runs")
    assert kept_counterexamples() == {PINNED_ID: (BRITTLE, ["git"]), LOCAL_ID: (UNPINNED, ["here"])}
    assert command("replay", name, "--json", code=1)["status"] == "breaks"
    monkeypatch.setenv("STATE", "mended")
    assert command("replay", name, "--json")["status"] == "passes"


def test_a_trial_that_failed_is_replayed(project) -> None:
    project("runs")
    assert command("replay", "5e2286e0e574", "--json", code=1)["status"] == "breaks"


def test_known_counterexamples_are_asked_first(pytester, project, monkeypatch) -> None:
    project("runs")
    failed, report = run(pytester, "--promptfuzz-override=threshold=0", "--promptfuzz-pinned=fail")
    failed.assert_outcomes(passed=2, failed=2)
    assert replayed(report) == {TEAM: [], BRITTLE: ["breaks"], UNPINNED: ["breaks"]}
    monkeypatch.setenv("STATE", "mended")
    mended, report = run(pytester)
    mended.assert_outcomes(passed=4)
    assert replayed(report) == {TEAM: [], BRITTLE: ["passes"], UNPINNED: ["passes"]}
    assert kept_counterexamples() == {PINNED_ID: (BRITTLE, ["git"])}, "what is in git is removed by an update"


def replayed(report: Path) -> dict[str, list[str]]:
    """By test, what became of its known counterexamples."""
    return {
        each["test"]: [one["status"] for one in each["replayed"]] for each in read_document(report)["tests"]
    }


# Snapshots


def test_behaviour_is_held_against_a_snapshot(pytester, project, monkeypatch) -> None:
    project("runs")
    assert drifts(pytester) == []
    with monkeypatch.context() as patched:
        patched.setenv("STATE", "other")
        assert drifts(pytester) == [("model", "BILLING", "TECHNICAL")]
    monkeypatch.setenv(
        "WORDING", "Name the team for this ticket: BILLING or OTHER. Ticket: I was charged twice."
    )
    assert [kind for kind, _, _ in drifts(pytester)] == ["prompt"]


def drifts(pytester: pytest.Pytester) -> list[tuple[str, str, str]]:
    """How ``test_team`` drifted from its snapshot: the kind, the answer of then and that of today."""
    policies = [f"--promptfuzz-{each}-drift=fail" for each in ("model", "prompt", "comparator")]
    result, report = run(pytester, "-k", "team", *policies)
    (test,) = read_document(report)["tests"]
    found = [(each["kind"], each["before"], each["after"]) for each in test["drift"]]
    assert result.ret == bool(found)
    return found


def test_trials_are_held_against_those_of_a_snapshot(pytester, project, monkeypatch) -> None:
    project("runs")
    gate = ("--promptfuzz-override=gate=no-worse", "--promptfuzz-override=threshold=0", "-k", "team")
    same, report = run(pytester, *gate)
    same.assert_outcomes(passed=1, deselected=3)
    assert read_document(report)["tests"][0]["paired"]
    monkeypatch.setenv("STATE", "broken")
    worse, report = run(pytester, *gate)
    worse.assert_outcomes(failed=1, deselected=3)
    assert read_document(report)["tests"][0]["paired"]


def test_a_snapshot_is_updated(pytester, project, monkeypatch) -> None:
    folder = project("runs")
    snapshot = folder / "__promptfuzz__" / "test_runs.snap" / "test_team.json"
    before = json.loads(snapshot.read_text(encoding="utf-8"))
    monkeypatch.setenv("STATE", "broken")
    result, _ = run(pytester, "-k", "team", "--promptfuzz-update")
    result.assert_outcomes(failed=1, deselected=3)
    after = json.loads(snapshot.read_text(encoding="utf-8"))
    assert (before["verdict"], after["verdict"]) == ("pass", "brittle")
    assert after["format"] == 2
    assert set(after["inputs"][0]["trials"].split()) == set(before["trials"]["0"]), (
        "the same, by what they change"
    )
    assert list(after["trials"]["0"]) == sorted(after["trials"]["0"])
