"""The files of docs/ci, to be copied: valid, cautious, and each of their commands run on the example project."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from pytest_promptfuzz.reporting.markdown import MARKER
from pytest_promptfuzz.running.limits.budget import Prices
from tests.docs.ci_machine import EXPRESSION, FILES, ROOT, Machine, git, parsed, step, steps
from tests.reporting.workflow_commands import commands, values

if TYPE_CHECKING:
    import subprocess

WORKFLOWS = ["github-actions.yml", "github-comment.yml", "github-nightly.yml", "github-shards.yml"]


def schema(name: str) -> Any:
    found = importlib.util.find_spec("check_jsonschema")
    assert found is not None
    assert found.origin is not None
    path = Path(found.origin).parent / "builtin_schemas" / "vendor" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def test_all_files_are_held_to_something_here() -> None:
    assert {each.name for each in FILES.iterdir()} == {*WORKFLOWS, "gitlab-ci.yml", "pre-commit-config.yaml"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_is_what_github_takes(name: str) -> None:
    found = parsed(name)
    found["on"] = found.pop(True)  # YAML 1.1 reads the word as yes
    validator = jsonschema.validators.validator_for(schema("github-workflows"))
    validator(schema("github-workflows")).validate(found)


def test_gitlab_takes_its_file() -> None:
    validator = jsonschema.validators.validator_for(schema("gitlab-ci"))
    validator(schema("gitlab-ci")).validate(parsed("gitlab-ci.yml"))


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_is_cautious(name: str) -> None:
    found = parsed(name)
    permissions = {
        "github-actions.yml": {"contents": "read"},
        "github-comment.yml": {"actions": "read", "pull-requests": "write"},
        "github-nightly.yml": {"contents": "read", "issues": "write"},
        "github-shards.yml": {"contents": "read"},
    }
    assert found["permissions"] == permissions[name]
    for job in found["jobs"].values():
        assert job["timeout-minutes"] <= 60
        assert "permissions" not in job
        for each in job["steps"]:
            assert "${{" not in each.get("run", ""), "what is put into a script is run"
            if "uses" in each:
                assert re.fullmatch(r"actions/[a-z-]+(/(restore|save))?@v\d+", each["uses"])
            if each.get("uses", "").startswith("actions/checkout"):
                assert each["with"]["persist-credentials"] is False
    text = (FILES / name).read_text(encoding="utf-8")
    assert "pull_request_target" not in text
    used = [each for each in EXPRESSION.findall(text) if "secrets" in each]
    asks = name in {"github-nightly.yml", "github-shards.yml"}
    assert used == (["secrets.OPENAI_API_KEY"] if asks else []), "forks' code never sees a key"
    assert not (asks and "pull_request" in found[True])


def test_what_comments_runs_nothing_of_the_pull_request() -> None:
    assert not [each for each in steps("github-comment.yml") if "checkout" in each.get("uses", "")]
    assert step("github-comment.yml", "Install")["run"] == "python -m pip install pytest-promptfuzz"
    rendered = step("github-comment.yml", "Render")["run"]
    assert rendered.count("promptfuzz report --from") == 1
    assert "promptfuzz report --from report/run.json --to md:comment.md" in rendered
    replayed = parsed("github-actions.yml")
    assert parsed("github-comment.yml")[True]["workflow_run"]["workflows"] == [replayed["name"]]
    uploaded = next(each["with"] for each in steps("github-actions.yml") if "upload" in each.get("uses", ""))
    downloaded = next(
        each["with"] for each in steps("github-comment.yml") if "download" in each.get("uses", "")
    )
    assert uploaded["name"] == downloaded["name"]
    assert MARKER in step("github-comment.yml", "Comment")["run"]


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example project, two modules of its tests, with recordings and snapshots in git."""
    folder = tmp_path_factory.mktemp("origin") / "project"
    shutil.copytree(
        ROOT / "example_project", folder, ignore=shutil.ignore_patterns(".promptfuzz", "__pycache__")
    )
    for each in ("test_summary.py", "test_triage.py"):
        (folder / "tests" / each).unlink()
    (folder / ".gitignore").write_text(".promptfuzz/\n__pycache__/\nreport/\n", encoding="utf-8")
    machine = Machine(tmp_path_factory.mktemp("machine"), folder)
    done = machine.run("env -u CI python -m pytest -q --promptfuzz-mode=record --promptfuzz-update")
    assert done.returncode == 0, done.stdout + done.stderr
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    return folder


def fresh(origin: Path, folder: Path) -> Machine:
    git(folder, "clone", "-q", str(origin), "checkout")
    (folder / "machine").mkdir()
    return Machine(folder / "machine", folder / "checkout")


@pytest.fixture
def machine(origin: Path, tmp_path: Path) -> Machine:
    return fresh(origin, tmp_path)


def change_prompt(machine: Machine) -> None:
    path = machine.checkout / "support_app" / "prompts" / "orders.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("e", "e ", 1), encoding="utf-8")


@pytest.fixture(scope="module")
def replayed(origin: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A pull request that changes nothing, replayed and reported."""
    machine = fresh(origin, tmp_path_factory.mktemp("replayed"))
    done = machine.step("github-actions.yml", "Replay", BASE="origin/main")
    assert done.returncode == 0, done.stdout + done.stderr
    (machine.folder / "replay").write_text(done.stdout, encoding="utf-8")
    done = machine.step("github-actions.yml", "Report")
    assert done.returncode == 0, done.stdout + done.stderr
    return machine


def test_a_pull_request_that_changes_nothing_is_replayed_compared_and_told(replayed: Machine) -> None:
    machine, shown = replayed, replayed.read("replay")
    lines = shown.strip().split("\n")
    token = lines[0].removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", token)
    assert lines[-1] == f"::{token}::"
    assert "4 passed" in shown
    assert (machine.checkout / "report" / "junit.xml").is_file()
    told = values(machine.read("output"))
    assert (told["verdict"], told["tests"], told["failed"], told["worse"]) == ("passed", "4", "0", "0")
    assert "compared with `origin/main`" in machine.read("summary")
    document = json.loads((machine.checkout / "report" / "run.json").read_text(encoding="utf-8"))
    assert {each["status"] for each in document["changes"]["tests"]} == {"same"}
    assert (machine.checkout / "report" / "report.html").is_file()


def test_a_pull_request_whose_prompt_was_not_recorded_fails_loudly(machine: Machine) -> None:
    change_prompt(machine)
    done = machine.step("github-actions.yml", "Replay", BASE="origin/main")
    assert done.returncode == 1
    assert re.fullmatch("::[0-9a-f]{32}::", done.stdout.strip().split("\n")[-1]), "commands are read again"
    done = machine.step("github-actions.yml", "Report")
    assert {(each.name, each.properties["file"]) for each in commands(done.stdout)} == {
        ("error", "tests/test_orders.py")
    }
    assert "2 not judged, 2 passed of 4 robust tests" in machine.read("summary")


@pytest.mark.parametrize("earlier", ["", "77"])
def test_the_comment_is_made_once_and_then_kept_up_to_date(replayed: Machine, earlier: str) -> None:
    machine = replayed
    done = machine.step("github-comment.yml", "Render", RUN="https://github.com/o/r/actions/runs/1")
    assert done.returncode == 0, done.stderr
    comment = (machine.checkout / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith(f"{MARKER}\n### ✅ Prompt robustness: 4 robust tests passed")
    for name, text in (("pull", "12\n"), ("earlier", earlier), ("asked", "")):
        (machine.folder / name).write_text(text, encoding="utf-8")
    hostile = "evil:$(touch owned)`touch owned`; touch owned"
    given = {"GH_TOKEN": "none", "REPOSITORY": "o/r", "HEAD": hostile, "SHA": "abc"}
    done = machine.step("github-comment.yml", "Comment", **given)
    assert done.returncode == 0, done.stderr
    asked = machine.read("asked").strip().split("\n")
    assert f"-f head={hostile} " in asked[0]
    assert not (machine.checkout / "owned").exists()
    last = "-X PATCH repos/o/r/issues/comments/77" if earlier else "-X POST repos/o/r/issues/12/comments"
    assert asked[2].strip() == f"api {last} -F body=@comment.md --silent"


def test_a_run_that_left_no_report_takes_the_place_of_a_green_comment(machine: Machine) -> None:
    done = machine.step("github-comment.yml", "Render", RUN="https://github.com/o/r/actions/runs/1")
    assert done.returncode == 0, done.stderr
    comment = (machine.checkout / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith(f"{MARKER}\n### ⚠️ Prompt robustness: the run left no report\n\n")
    assert "[The log](https://github.com/o/r/actions/runs/1) says why." in comment


def test_a_file_that_cannot_be_collected_reaches_the_comment(machine: Machine) -> None:
    (machine.checkout / "tests" / "test_broken.py").write_text(
        "import there_is_none  # robust\n", encoding="utf-8"
    )
    done = machine.step("github-actions.yml", "Replay", BASE="HEAD")
    assert done.returncode == 2, done.stdout
    done = machine.step("github-actions.yml", "Report")
    assert done.returncode == 0, done.stderr
    assert values(machine.read("output"))["verdict"] == "error"
    assert "pytest could not collect 1 file" in machine.read("summary")


def test_without_an_open_pull_request_nothing_is_commented(machine: Machine) -> None:
    given = {"GH_TOKEN": "none", "REPOSITORY": "o/r", "HEAD": "o:b", "SHA": "abc"}
    done = machine.step("github-comment.yml", "Comment", **given)
    assert done.returncode == 0, done.stderr
    assert len(machine.read("asked").strip().split("\n")) == 1


@pytest.fixture(scope="module")
def night(origin: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A night that asked and reported."""
    machine = fresh(origin, tmp_path_factory.mktemp("night"))
    done = machine.step("github-nightly.yml", "Ask", OPENAI_API_KEY="none")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"[1-9]\d* calls to the simulated model", done.stdout), "stored answers are not taken"
    done = machine.step("github-nightly.yml", "Report")
    assert done.returncode == 0, done.stderr
    return machine


@pytest.mark.parametrize("earlier", ["", "5"])
def test_a_night_opens_one_issue(night: Machine, earlier: str) -> None:
    machine, told = night, values(night.read("output"))
    condition = step("github-nightly.yml", "Open an issue")["if"]
    for name in re.findall(r"outputs\.(\w+)", condition):
        assert name in told
    (machine.folder / "earlier").write_text(earlier, encoding="utf-8")
    done = open_issue(machine, "success", **told)
    assert done.returncode == 0, done.stderr
    last = machine.read("asked").strip().split("\n")[-1]
    assert last.startswith("issue comment 5 " if earlier else "issue create ")
    assert "--body-file issue.md" in last
    if not earlier:
        assert f"--title Prompts: {told['headline']} " in last
    assert (machine.checkout / "issue.md").read_text(encoding="utf-8").endswith("\nThe run: https://run\n")


def open_issue(machine: Machine, ask: str, **told: str) -> subprocess.CompletedProcess[str]:
    given = {"GH_TOKEN": "none", "REPOSITORY": "o/r", "RUN": "https://run", "ASK": ask}
    outputs = {"VERDICT": told.get("verdict", ""), "HEADLINE": told.get("headline", "")}
    return machine.step("github-nightly.yml", "Open an issue", **given, **outputs)


@pytest.mark.parametrize(
    ("ask", "told", "opened"),
    [
        ("success", {"verdict": "passed", "drifted": "0"}, False),
        ("success", {"verdict": "passed", "drifted": "1"}, True),
        ("failure", {"verdict": "failed", "drifted": "0"}, True),
        ("failure", {"verdict": "error", "drifted": "0"}, True),
        ("failure", {"verdict": "passed", "drifted": "0"}, True),
        ("success", {"verdict": "empty", "drifted": "0"}, True),
        ("failure", {}, True),
        ("skipped", {}, True),
    ],
)
def test_a_night_that_is_anything_but_a_success_opens_an_issue(
    ask: str, told: dict[str, str], opened: bool
) -> None:
    """The condition, read as GitHub reads it: an output that is not there is empty, and as a number 0."""
    condition = (
        step("github-nightly.yml", "Open an issue")["if"].removeprefix("${{").removesuffix("}}").strip()
    )
    terms = re.fullmatch(r"!cancelled\(\) && \((.*)\)", condition)
    assert terms is not None
    found = []
    for term in terms[1].split(" || "):
        name, sign, value = term.split(" ")
        known = (
            ask
            if name == "steps.ask.outcome"
            else told.get(name.removeprefix("steps.robustness.outputs."), "")
        )
        assert sign in {"!=", ">"}
        found.append(known != value.strip("'") if sign == "!=" else float(known or 0) > float(value))
    assert any(found) is opened
    assert step("github-nightly.yml", "Ask")["id"] == "ask"
    assert step("github-nightly.yml", "Report")["id"] == "robustness"


def test_a_night_that_did_not_start_opens_an_issue_that_says_so(machine: Machine) -> None:
    assert machine.step("github-nightly.yml", "Report").returncode != 0
    done = open_issue(machine, "failure")
    assert done.returncode == 0, done.stderr
    assert "--title Prompts: the nightly run left no report " in machine.read("asked")
    body = (machine.checkout / "issue.md").read_text(encoding="utf-8")
    assert body.startswith("pytest did not start, or ended before its first test")
    (machine.checkout / "issue.md").write_text("a report", encoding="utf-8")
    open_issue(machine, "failure", verdict="passed", headline="4 robust tests passed")
    assert "--title Prompts: pytest failed, though 4 robust tests passed " in machine.read("asked")


def test_gitlabs_script_replays_and_leaves_its_reports(machine: Machine) -> None:
    job = parsed("gitlab-ci.yml")["prompt-robustness"]
    known = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_PROJECT_DIR": str(machine.checkout)}
    git(machine.checkout, "commit", "-q", "--allow-empty", "-m", "elsewhere")
    git(
        machine.checkout, "update-ref", "refs/remotes/origin/main", "HEAD"
    )  # the target was pushed by force since
    change_prompt(machine)
    done = machine.run("\n".join(job["script"]), **known)
    assert done.returncode == 1
    for path in job["artifacts"]["reports"].values():
        assert (machine.checkout / path).is_file()
    issues = json.loads((machine.checkout / "report" / "quality.json").read_text(encoding="utf-8"))
    assert {each["location"]["path"] for each in issues} == {"tests/test_orders.py"}
    git(machine.checkout, "checkout", "-q", ".")
    done = machine.run("\n".join(job["script"]), **known)
    assert done.returncode == 0, done.stdout
    assert (machine.checkout / "report" / "quality.json").read_text(encoding="utf-8") == "[]\n"
    assert compared_with(machine)["label"] == "origin/main..."


@pytest.mark.parametrize("pushed", [True, False])
def test_gitlabs_default_branch_is_compared_with_what_it_was_before(
    machine: Machine, *, pushed: bool
) -> None:
    job = parsed("gitlab-ci.yml")["prompt-robustness"]
    first = machine.run("git rev-parse HEAD").stdout.strip()
    for message in ("one", "two"):
        git(machine.checkout, "commit", "-q", "--allow-empty", "-m", message)
    second = machine.run("git rev-parse HEAD^").stdout.strip()
    known = {"CI_COMMIT_BEFORE_SHA": first if pushed else "0" * 40, "CI_PROJECT_DIR": str(machine.checkout)}
    done = machine.run("\n".join(job["script"]), **known)
    assert done.returncode == 0, done.stdout
    assert compared_with(machine)["commit"] == (first if pushed else second)


def compared_with(machine: Machine) -> dict[str, Any]:
    document = json.loads((machine.checkout / "report" / "run.json").read_text(encoding="utf-8"))
    base: dict[str, Any] = document["changes"]["base"]
    return base


@pytest.mark.parametrize("name", ["github-nightly.yml", "github-shards.yml", "gitlab-ci.yml"])
def test_a_night_with_a_budget_in_dollars_installs_the_prices(name: str) -> None:
    if name == "gitlab-ci.yml":
        job = parsed(name)["prompt-robustness-nightly"]
        asked, (installed,) = "".join(job["script"]), job["before_script"]
        python = job["image"].removeprefix("python:")
    else:
        asked, installed = step(name, "Ask")["run"], step(name, "Install")["run"]
        (python,) = {
            each["with"]["python-version"] for each in steps(name) if "setup-python" in each.get("uses", "")
        }
    assert "--promptfuzz-max-cost=" in asked
    assert '"pytest-promptfuzz[prices]"' in installed
    assert tuple(map(int, python.split("."))) >= (3, 11)
    pytest.importorskip("genai_prices", reason="the extra prices needs Python 3.11")
    assert Prices().of("gpt-5-mini", "https://api.openai.com/v1/chat/completions") is not None


def test_gitlabs_night_asks(machine: Machine) -> None:
    job = parsed("gitlab-ci.yml")["prompt-robustness-nightly"]
    done = machine.run("\n".join(job["script"]))
    assert done.returncode == 0, done.stdout
    assert (machine.checkout / job["artifacts"]["reports"]["junit"]).is_file()


def test_hooks_before_a_commit(machine: Machine) -> None:
    (repository,) = parsed("pre-commit-config.yaml")["repos"]
    hooks = {each["id"]: each for each in repository["hooks"]}
    verify, replay = hooks["promptfuzz-recordings"], hooks["promptfuzz-replay"]
    recording = "tests/__promptfuzz__/test_orders.calls.jsonl"
    assert re.search(verify["files"], recording)
    assert re.search(verify["files"], f"{recording}.gz")
    assert not re.search(verify["files"], "tests/test_orders.py")
    assert machine.run(f"{verify['entry']} {recording}").returncode == 0
    assert machine.run(replay["entry"]).returncode == 0
    path = machine.checkout / recording
    path.write_text(path.read_text(encoding="utf-8")[:-200], encoding="utf-8")
    assert machine.run(f"{verify['entry']} {recording}").returncode != 0
    git(machine.checkout, "checkout", "-q", ".")
    change_prompt(machine)
    assert machine.run(replay["entry"]).returncode == 1
