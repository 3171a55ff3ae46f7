"""Each workflow of docs/ci as a host runs it, step by step, for a project whose model is asked over HTTP."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.providers.requests import Response, Usage
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.disk_store import ResponseStore
from tests.docs.ci_machine import FILES, Github, Machine, WorkflowRun, git, hold_to_extras, parsed, steps
from tests.reporting.workflow_commands import commands

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_promptfuzz.providers.requests import Request

pytestmark = pytest.mark.skipif(shutil.which("jq") is None, reason="GitHub's own jq is not here")

KEY = "sk-of-the-repository"
PROMPT = "Name the team that handles the ticket: BILLING, TECHNICAL or OTHER.\nAnswer with the name only.\n\nTicket: {ticket}"
TESTS = """from pytest_promptfuzz import Prompt, robust
from desk import PROMPT

@robust(Prompt(PROMPT), mutations=4)
def test_charged(prompt, llm):
    return llm(prompt.format(ticket="I was charged twice."))

@robust(Prompt(PROMPT), mutations=4)
def test_crashes(prompt, llm):
    return llm(prompt.format(ticket="The app crashes."))
"""
PROJECT = """[project]
name = "desk"
version = "1"

[project.optional-dependencies]
test = ["pytest-promptfuzz[openai]"]

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]
promptfuzz_target = "openai:tiny"

[tool.promptfuzz.prices]
"tiny" = {{ input = 0.25, output = {price} }}
"""


class Desk:
    """The provider's model: a word of the ticket decides; a prompt with ``strictly`` is understood word for word only."""

    def __init__(self) -> None:
        self.teams = {"charged": "BILLING", "crashes": "TECHNICAL"}

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        text = request.messages[-1]["content"]
        team = next((team for word, team in self.teams.items() if word in text.lower()), "OTHER")
        if "strictly" in text.lower() and not text.startswith(strict(PROMPT).partition("{")[0]):
            team = "OTHER"
        fixed = re.search(r"answer with the single word ([A-Z]+)", text)
        team = fixed[1] if fixed else team
        return Response(team, usage=Usage(len(text) // 4, 2), model="tiny", finish_reason="stop")


def strict(prompt: str) -> str:
    return prompt.replace("with the name", "strictly with the name")


class Project:
    """The team's repository at GitHub, and the checkout of a person who has a key."""

    def __init__(self, folder: Path, model: Desk, server: ModelServer) -> None:
        self.model, self.server = model, server
        origin = folder / "origin.git"
        git(folder, "init", "-q", "--bare", "-b", "main", str(origin))
        (folder / "person").mkdir()
        git(folder, "clone", "-q", str(origin), "checkout")
        self.person = Machine(folder / "person", folder / "checkout")
        (folder / "github").mkdir()
        self.github = Github(folder / "github", origin, {"OPENAI_API_KEY": KEY})
        root = self.root = self.person.checkout
        git(root, "checkout", "-q", "-b", "main")
        (root / "tests").mkdir()
        (root / "tests" / "test_desk.py").write_text(TESTS)
        (root / "conftest.py").write_text(
            f'import os\n\nos.environ["OPENAI_BASE_URL"] = "{server.openai_url}"\n'
        )
        (root / "desk.py").write_text(f"PROMPT = {PROMPT!r}\n")
        (root / "pyproject.toml").write_text(PROJECT.format(price=2.0))
        (root / ".gitignore").write_text(".promptfuzz/\n__pycache__/\nreport/\n")
        assert self.record() == 0
        self.push("main")

    def record(self, *arguments: str) -> int:
        """Record and accept in one run, as the page says."""
        options = " ".join(("--promptfuzz-mode=record-missing", "--promptfuzz-update", *arguments))
        done = self.person.run(f"env -u CI OPENAI_API_KEY={KEY} python -m pytest -q {options}")
        print(done.stdout, done.stderr)
        return done.returncode

    def push(self, branch: str) -> None:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "-m", "a change")
        git(self.root, "push", "-q", "-f", "origin", f"HEAD:refs/heads/{branch}")

    def branch(self, name: str) -> None:
        git(self.root, "checkout", "-q", "-B", name, "origin/main")

    def replayed(
        self, branch: str, owner: str = "o", edit: Any = None
    ) -> tuple[WorkflowRun, WorkflowRun, list[str]]:
        """A pull request's run, the run that comments on it, and what is said below it. Neither asks a model."""
        before = self.server.calls
        event = self.github.pull_request(branch, owner)
        run = self.github.run("github-actions.yml", {**event}, edit)
        after = self.github.comment(run, event)
        assert self.server.calls == before, "a replay asks nothing"
        print(*(f"--- {name}\n{text}" for each in (run, after) for name, text in each.log.items()))
        return run, after, self.github.comments(int(event["ref"].split("/")[2]))


@pytest.fixture(scope="module")
def adopted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    model = Desk()
    with ModelServer(model, key=KEY) as server:
        yield Project(tmp_path_factory.mktemp("team"), model, server)


@pytest.fixture
def project(adopted: Project) -> Iterator[Project]:
    adopted.branch("work")
    yield adopted
    adopted.model.teams.update(Desk().teams)


def test_a_run_that_was_cancelled_is_not_commented(project: Project) -> None:
    project.push("cancelled")
    event = project.github.pull_request("cancelled")
    run = WorkflowRun(1000, project.person, conclusion="cancelled")
    assert project.github.comment(run, event).conclusion == "skipped"


def annotations(run: WorkflowRun) -> list[tuple[str, str]]:
    return [(each.name, each.properties["title"]) for each in commands(run.log["Report"])]


def test_a_pull_request_is_green_then_breaks_a_test_then_is_green_again_in_one_comment(
    project: Project,
) -> None:
    (project.root / "README.md").write_text("A desk.\n")
    project.push("docs")
    run, after, comments = project.replayed("docs")
    assert (run.conclusion, after.conclusion) == ("success", "success")
    assert annotations(run) == []
    (green,) = comments
    assert "✅ Prompt robustness: 2 robust tests passed" in green
    (project.root / "desk.py").write_text(f"PROMPT = {strict(PROMPT)!r}\n")
    assert project.record() == 1, "it is brittle, which the person sees"
    project.push("docs")
    run, after, comments = project.replayed("docs")
    assert (run.conclusion, after.conclusion) == ("failure", "success")
    assert run.outcomes["Report"] == run.outcomes["upload-artifact"] == "success"
    (red,) = comments
    assert "❌" in red
    assert "2 brittle" in red.splitlines()[1]
    assert ("error", "Brittle prompt: tests/test_desk.py::test_charged") in annotations(run)
    assert "2 brittle" in run.summary
    (project.root / "desk.py").write_text(f"PROMPT = {PROMPT!r}\n")
    assert project.record() == 0
    project.push("docs")
    run, _, comments = project.replayed("docs")
    assert run.conclusion == "success"
    assert len(comments) == 1
    assert "✅" in comments[0].splitlines()[1]


def test_a_test_file_that_cannot_be_collected_replaces_an_earlier_green_comment(project: Project) -> None:
    project.push("syntax")
    _, _, (green,) = project.replayed("syntax")
    assert "✅" in green.splitlines()[1]
    (project.root / "tests" / "test_desk.py").write_text("import no_such_module\n" + TESTS)
    project.push("syntax")
    run, after, (red,) = project.replayed("syntax")
    assert (run.conclusion, after.conclusion) == ("failure", "success")
    assert "✅" not in red
    assert "tests/test_desk.py" in red
    assert "no_such_module" in red
    assert {each.properties["file"] for each in commands(run.log["Report"])} == {"tests/test_desk.py"}


def test_a_pull_request_of_a_fork_is_replayed_without_a_key_and_commented(project: Project) -> None:
    (project.root / "desk.py").write_text(f"PROMPT = {PROMPT.replace('handles', 'takes')!r}\n")
    project.push("theirs")
    run, _, (unrecorded,) = project.replayed("theirs", owner="stranger")
    assert run.conclusion == "failure", "it cannot be asked without a key"
    assert "2 not judged" in unrecorded
    assert "--promptfuzz-mode=record" in unrecorded
    assert project.record() == 0
    project.push("theirs")
    run, after, comments = project.replayed("theirs", owner="stranger")
    assert (run.conclusion, after.conclusion) == ("success", "success")
    assert len(comments) == 1
    assert "✅" in comments[0].splitlines()[1]
    assert KEY not in json.dumps(run.log) + comments[0]


def test_a_shallow_clone_is_refused_with_what_to_fetch(project: Project) -> None:
    def shallow(workflow: Any) -> None:
        (checkout,) = [
            each
            for each in workflow["jobs"]["replay"]["steps"]
            if each.get("uses", "").startswith("actions/checkout")
        ]
        del checkout["with"]["fetch-depth"]

    project.push("shallow")
    _, _, (green,) = project.replayed("shallow")
    assert "✅" in green.splitlines()[1]
    run, after, (red,) = project.replayed("shallow", edit=shallow)
    assert (after.conclusion, after.outcomes["download-artifact"]) == ("success", "failure")
    assert "⚠️ Prompt robustness: the run left no report" in red.splitlines()[1]
    assert f"https://github.example/o/r/actions/runs/{run.number}" in red
    assert (run.conclusion, run.outcomes["Replay"]) == ("failure", "failure")
    fetched = re.search(r"Fetch it: (git fetch .*), and compare with (\S+); or", run.log["Replay"])
    assert fetched is not None
    replay = f"python -m pytest -q --promptfuzz-mode=replay --promptfuzz-compare={fetched[2]}"
    done = run.machine.run(f"{fetched[1]}\n{replay} --promptfuzz-report=json:run.json")
    assert done.returncode == 0, done.stdout + done.stderr
    changes = json.loads((run.machine.checkout / "run.json").read_text())["changes"]
    assert {each["status"] for each in changes["tests"]} == {"same"}


def night(project: Project, branch: str = "main", edit: Any = None) -> WorkflowRun:
    event = {"event_name": "schedule", "ref": f"refs/heads/{branch}"}
    run = project.github.run("github-nightly.yml", event, edit)
    print(*(f"--- {name}\n{text}" for name, text in run.log.items()))
    return run


def test_a_night_is_silent_until_the_model_drifts_and_then_opens_one_issue(project: Project) -> None:
    assert project.github.told["issues"] == []
    quiet = night(project)
    assert (quiet.conclusion, quiet.outcomes["Open an issue"]) == ("success", "skipped")
    assert project.server.calls > 8, "the model is asked"
    project.model.teams["crashes"] = "OTHER"
    for _ in range(2):
        drifted = night(project)
        assert drifted.conclusion == "success", "drift alone fails nothing"
    (issue,) = project.github.told["issues"]
    assert "test_crashes" in issue["body"]
    assert "test_charged" not in issue["body"].partition("Drift")[2].partition("<details>")[0]
    assert "TECHNICAL" in issue["body"]
    assert "The run: https://github.example/o/r/actions/runs/" in issue["body"]
    (again,) = project.github.comments(issue["number"])
    assert "test_crashes" in again


@pytest.mark.parametrize(("limit", "price"), [("max-cost=5", 1_000_000.0), ("max-calls=500", 2.0)])
def test_a_night_cannot_cost_more_than_its_limit(project: Project, limit: str, price: float) -> None:
    def limited(workflow: Any) -> None:
        (ask,) = [each for each in workflow["jobs"]["live"]["steps"] if each.get("name") == "Ask"]
        assert f"--promptfuzz-{limit}`" in (FILES.parent / "ci.md").read_text() or limit == "max-cost=5"
        ask["run"] = ask["run"].replace("max-cost=5", limit.replace("500", "3"))

    (project.root / "pyproject.toml").write_text(PROJECT.format(price=price))  # a dollar a token
    project.push("dear")
    before = project.server.calls
    run = night(project, "dear", limited)
    assert run.conclusion == "failure"
    assert 0 < project.server.calls - before <= 5, "those that were on their way"
    assert "budget-spent" in run.log["Ask"]
    assert commands(run.log["Report"])
    issue = project.github.told["issues"][-1]
    said = [issue["body"], *project.github.comments(issue["number"])][-1]
    assert "tests/test_desk.py::test_c" in said
    assert "budget" in said


def test_a_night_with_a_revoked_key_says_so(project: Project) -> None:
    project.github.secrets["OPENAI_API_KEY"] = "sk-revoked"
    try:
        run = night(project)
    finally:
        project.github.secrets["OPENAI_API_KEY"] = KEY
    assert run.conclusion == "failure"
    assert "HTTP 401" in run.log["Ask"]


def test_gitlabs_night_fails_where_the_model_drifts(project: Project, tmp_path: Path) -> None:
    job = parsed("gitlab-ci.yml")["prompt-robustness-nightly"]
    git(tmp_path, "clone", "-q", str(project.github.origin), "checkout")
    (tmp_path / "machine").mkdir()
    machine = Machine(tmp_path / "machine", tmp_path / "checkout")
    for script in job["before_script"]:
        hold_to_extras(script, machine.checkout)
    given = {"OPENAI_API_KEY": KEY, "CI_PIPELINE_SOURCE": "schedule", "CI_PROJECT_DIR": str(machine.checkout)}
    done = machine.run("\n".join(job["script"]), **given)
    assert done.returncode == 0, done.stdout
    project.model.teams["crashes"] = "OTHER"
    done = machine.run("\n".join(job["script"]), **given)
    assert done.returncode == 1, done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert "drift" in (machine.checkout / job["artifacts"]["reports"]["junit"]).read_text()


SPLIT = """

def pytest_addoption(parser):  # in the place of pytest-split, which divides by time
    parser.addoption("--splits", type=int)
    parser.addoption("--group", type=int)


def pytest_collection_modifyitems(config, items):
    if config.getoption("group"):
        items[:] = items[config.getoption("group") - 1 :: config.getoption("splits")]
"""


@pytest.mark.parametrize(
    ("event", "recorded", "asking"),
    [("push", False, [True, False]), ("push", True, [False]), ("workflow_dispatch", True, [True])],
)
def test_shards_share_their_answers_and_make_one_report(
    project: Project, event: str, recorded: bool, asking: list[bool]
) -> None:
    def smaller(workflow: Any) -> None:
        job = workflow["jobs"]["ask"]
        job["strategy"]["matrix"]["shard"] = [1, 2]
        (ask,) = [each for each in job["steps"] if each.get("name") == "Ask"]
        assert "-n 4 --splits 4" in ask["run"]
        ask["run"] = ask["run"].replace("-n 4 --splits 4", "-n 1 --splits 2")

    with (project.root / "conftest.py").open("a") as file:
        file.write(SPLIT)
    for path in [] if recorded else project.root.glob("tests/__promptfuzz__/*.jsonl"):
        path.unlink()  # a recording would answer
    branch = f"shards-{event}-{recorded}"
    project.push(branch)
    for asks in asking:
        before = project.server.calls
        happened = {"event_name": event, "ref": f"refs/heads/{branch}"}
        runs = project.github.run_jobs("github-shards.yml", happened, smaller)
        print(*(f"--- {name}\n{text}" for each in runs for name, text in each.log.items()))
        assert [each.conclusion for each in runs] == ["success"] * 3
        document = json.loads((runs[-1].machine.checkout / "report" / "run.json").read_text())
        assert {each["test"]: each["verdict"] for each in document["tests"]} == {
            f"tests/test_desk.py::test_{name}": "pass" for name in ("charged", "crashes")
        }
        assert "2 robust tests passed" in runs[-1].summary
        assert (project.server.calls > before) is asks, "what a push asked, no later push asks"


def test_a_shard_that_cannot_export_its_answers_fails(tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    machine = Machine(tmp_path, tmp_path / "checkout")
    export = next(each for each in steps("github-shards.yml") if each.get("name") == "Export")["run"]
    assert machine.run(export, SHARD="1").returncode == 0, "none is new"
    database = ResponseStore(machine.checkout / ".promptfuzz").path
    database.parent.mkdir(parents=True, exist_ok=True)
    database.write_bytes(b"no database" * 1000)
    done = machine.run(export, SHARD="1")
    assert done.returncode == 1
    assert "cannot be read to its end" in done.stderr
