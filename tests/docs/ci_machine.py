"""What stands for a CI in tests of docs/ci: machines whose steps are run as written, and GitHub's memory."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import yaml

from tests import warm
from tests.conftest import SLOW_TO_LOAD
from tests.reporting.workflow_commands import values

ROOT = Path(__file__).parents[2]
FILES = ROOT / "docs" / "ci"
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def parsed(name: str) -> Any:
    return yaml.safe_load((FILES / name).read_text(encoding="utf-8"))


def steps(name: str) -> list[dict[str, Any]]:
    return [each for job in parsed(name)["jobs"].values() for each in job["steps"]]


def step(name: str, title: str) -> dict[str, Any]:
    return next(each for each in steps(name) if each.get("name") == title)


class Machine:
    """A job's machine: the project's checkout, programs on the path, and files that GitHub reads."""

    def __init__(self, folder: Path, checkout: Path) -> None:
        self.folder, self.checkout = folder, checkout
        programs = folder / "bin"
        programs.mkdir()
        for name, module in (("python", ""), ("promptfuzz", "-m pytest_promptfuzz.cli")):
            _program(programs / name, f'exec {shlex.join(warm.launcher())} {module} "$@"')
        # It stands for GitHub: it notes what it is asked, and answers with what a file of that name says.
        _program(
            programs / "gh",
            f'printf "%s\\n" "$*" | tr "\\n" " " >> "{folder}/asked"; echo >> "{folder}/asked"\n'
            f'case "$*" in *pulls*) cat "{folder}/pull" ;; *--paginate*|*"issue list"*) cat "{folder}/earlier" ;; esac',
        )
        for name in ("asked", "pull", "earlier", "summary", "output"):
            (folder / name).write_text("", encoding="utf-8")

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script as a CI does: in bash, with the environment of a machine of its own."""
        kept = ("PYTHONPATH", "SSL_CERT_FILE", "OMP_NUM_THREADS", "HF_HUB_OFFLINE", "LANG", "TMPDIR")
        whole = {name: os.environ[name] for name in kept if name in os.environ} | {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "CI": "true",
            "PYTHONIOENCODING": "utf-8",
            "PYTEST_ADDOPTS": " ".join(f"-p no:{name}" for name in ("cacheprovider", *SLOW_TO_LOAD)),
            **environment,
        }
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=self.checkout,
            env=whole,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    def step(self, name: str, title: str, **values: str) -> subprocess.CompletedProcess[str]:
        """Run a step of a workflow, as GitHub does; ``values`` are those of its expressions, by variable."""
        found = step(name, title)
        given = {}
        for variable, value in found.get("env", {}).items():
            given[variable] = values.pop(variable) if EXPRESSION.search(value) else value
        assert not values, "no such variable"
        github = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.checkout),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
        }
        return self.run(found["run"], **github, **given)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


def _program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def git(folder: Path, *arguments: str) -> str:
    """What git prints; a failure of git is one of the test."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# GitHub: a whole workflow, its steps in order. What a step runs is run; what it ``uses`` is a stand-in.

GH = """
import json, os, subprocess, sys
place, arguments = sys.argv[1], sys.argv[2:]
told = json.load(open(place))
assert os.environ["GH_TOKEN"] == "job-token", "gh asks for a token"
option = lambda name: arguments[arguments.index(name) + 1] if name in arguments else None
fields = {k: v for k, _, v in (arguments[n + 1].partition("=") for n, a in enumerate(arguments) if a in ("-f", "-F"))}
shown = None
if arguments[0] == "api":
    path = next(each for each in arguments if each.startswith("repos/")).removeprefix("repos/o/r/").split("/")
    body = fields.get("body", "")
    text = open(body[1:]).read() if body.startswith("@") else body
    method = option("-X") or "GET"
    if path == ["pulls"]:
        shown = [p for p in told["pulls"] if p["state"] == fields["state"] and p["label"] == fields["head"]]
    elif method == "GET":
        shown = [c for c in told["comments"] if c["issue"] == int(path[1])]
    elif method == "POST":
        told["comments"].append(
            {"id": len(told["comments"]) + 70, "issue": int(path[1]), "user": {"login": "github-actions[bot]"}, "body": text}
        )
    else:
        (comment,) = [c for c in told["comments"] if c["id"] == int(path[2])]
        comment["body"] = text
elif arguments[:2] == ["issue", "list"]:
    shown = [i for i in told["issues"] if option("--label") in i["labels"] and i["state"] == option("--state")]
elif arguments[:2] == ["issue", "create"]:
    text = open(option("--body-file")).read()
    assert option("--label") in told["labels"], "no such label"
    told["issues"].append(
        {"number": len(told["issues"]) + 1, "state": "open", "labels": [option("--label")], "title": option("--title"), "body": text}
    )
elif arguments[:2] == ["issue", "comment"]:
    told["comments"].append({"id": 0, "issue": int(arguments[2]), "user": {}, "body": open(option("--body-file")).read()})
elif arguments[:2] == ["label", "create"]:
    told["labels"] = sorted({*told["labels"], arguments[2]})
else:
    sys.exit(f"gh: not known: {arguments}")
if option("--jq"):
    subprocess.run(["jq", "-r", option("--jq")], input=json.dumps(shown), text=True, check=True)
json.dump(told, open(place, "w"))
"""


class _Value(str):
    """A value of an expression, compared as GitHub does: as a number where the sign asks for one."""

    __slots__ = ()

    def __gt__(self, other: Any) -> bool:
        return float(self or 0) > float(other)


def evaluate(expression: str, context: dict[str, Any], *, failed: bool = False) -> Any:
    """What GitHub makes of an expression; a name that it does not know is empty."""

    def look(name: str) -> Any:
        found: Any = context
        for part in name.split("."):
            found = found.get(part, "") if isinstance(found, dict) else ""
        return _Value(found) if isinstance(found, str) else found

    signs = {"&&": " and ", "||": " or ", "!": " not "}
    names = {
        "cancelled": lambda: False,
        "failure": lambda: failed,
        "format": lambda text, *given: text.format(*given),
    }
    written = "".join(
        f"look({word!r})"
        if word and word not in names and not word[0].isdigit()
        else signs.get(sign) or each[0]
        for each in re.finditer(r"'[^']*'|[!=]=|&&|\|\||(?P<word>[\w.-]+)|(?P<sign>!)|\s+|.", expression)
        for word, sign in [(each["word"], each[0])]
    )
    return eval(written.strip(), {"look": look, "__builtins__": {}, **names})


def filled(value: Any, context: dict[str, Any]) -> Any:
    """A value of a workflow with its expressions put in."""
    return EXPRESSION.sub(lambda each: str(evaluate(each[1], context)), str(value))


def _values_of(matrix: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Each job of a matrix."""
    return [dict(zip(matrix, each, strict=True)) for each in itertools.product(*matrix.values())]


@dataclass
class WorkflowRun:
    """What became of a run: ``log`` and ``outcomes`` by step, its machine."""

    number: int
    machine: Machine
    conclusion: str = "success"
    log: dict[str, str] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    summary: str = ""


class Github:
    """A repository at GitHub: what it was pushed, its pull requests, comments, issues, artefacts, caches, secrets.

    Args:
        folder: Where it may write.
        origin: The repository that is pushed to.
        secrets: Of the repository; a run of a fork's pull request gets none.
    """

    def __init__(self, folder: Path, origin: Path, secrets: dict[str, str]) -> None:
        self.folder, self.origin, self.secrets = folder, origin, secrets
        self._numbers = itertools.count(1)
        self._told = folder / "told.json"
        self._told.write_text(json.dumps({"pulls": [], "comments": [], "issues": [], "labels": []}))

    @property
    def told(self) -> dict[str, Any]:
        """Its pull requests, comments, issues and labels."""
        return json.loads(self._told.read_text())

    def comments(self, issue: int) -> list[str]:
        """What is said below an issue or a pull request."""
        return [each["body"] for each in self.told["comments"] if each["issue"] == issue]

    def pull_request(self, branch: str, owner: str = "o") -> dict[str, Any]:
        """Open one, or follow a push to its branch: the event of the run. The branch of a fork is pushed here, too."""
        told = self.told
        sha = git(self.origin, "rev-parse", branch)
        label = f"{owner}:{branch}"
        pull = next((each for each in told["pulls"] if each["label"] == label), None)
        if pull is None:
            pull = {"number": len(told["pulls"]) + 12, "state": "open", "label": label, "head": {}}
            told["pulls"].append(pull)
        pull["head"]["sha"] = sha
        self._told.write_text(json.dumps(told))
        tree = git(self.origin, "merge-tree", "--write-tree", "main", branch).split("\n")[0]
        merge = git(self.origin, "commit-tree", tree, "-p", "main", "-p", branch, "-m", "merge")
        ref = f"refs/pull/{pull['number']}/merge"
        git(self.origin, "update-ref", ref, merge)
        return {
            "event_name": "pull_request",
            "ref": ref,
            "base_ref": "main",
            "head_ref": branch,
            "fork": owner != "o",
        }

    def run(self, name: str, event: dict[str, Any], edit: Any = None) -> WorkflowRun:
        """Run a file of docs/ci that has one job; ``edit`` may change what was parsed."""
        (run,) = self.run_jobs(name, event, edit)
        return run

    def run_jobs(self, name: str, event: dict[str, Any], edit: Any = None) -> list[WorkflowRun]:
        """Run all jobs of a file of docs/ci, one for each value of a matrix, in order."""
        workflow = parsed(name)
        if edit is not None:
            edit(workflow)
        number, runs = next(self._numbers), list[WorkflowRun]()
        for job in workflow["jobs"].values():
            for matrix in _values_of(job.get("strategy", {}).get("matrix", {})):
                runs.append(self._job(job, number, len(runs), event, matrix))
        return runs

    def _job(
        self, job: dict[str, Any], number: int, nth: int, event: dict[str, Any], matrix: dict[str, Any]
    ) -> WorkflowRun:
        place = self.folder / f"run{number}-{nth}"
        (place / "checkout").mkdir(parents=True)
        machine = Machine(place, place / "checkout")
        _program(
            place / "bin" / "gh",
            f'exec {shlex.quote(sys.executable)} -I -c {shlex.quote(GH)} "{self._told}" "$@"',
        )
        github = {
            "repository": "o/r",
            "ref": "refs/heads/main",
            "run_id": str(number),
            "server_url": "https://github.example",
            "token": "job-token",
            **event,
        }
        secrets = {} if event.get("fork") else self.secrets
        context = {"github": github, "secrets": secrets, "steps": {}, "matrix": matrix}
        run = WorkflowRun(number, machine)
        condition = EXPRESSION.sub(r"\1", job.get("if", ""))
        if condition and not evaluate(condition, context):
            run.conclusion = "skipped"
            return run
        for each in job["steps"]:
            self._step(each, run, context)
        if run.conclusion == "success":
            for each in job["steps"]:
                if each.get("uses", "").startswith("actions/cache@"):
                    self._cache_save(
                        run, github, {key: filled(value, context) for key, value in each["with"].items()}
                    )
        return run

    def comment(self, of: WorkflowRun, event: dict[str, Any]) -> WorkflowRun:
        """Run the workflow that comments, of a run that is over."""
        pull = next(
            each for each in self.told["pulls"] if f"refs/pull/{each['number']}/merge" == event["ref"]
        )
        owner, _, branch = pull["label"].partition(":")
        over = {
            "id": str(of.number),
            "event": event["event_name"],
            "conclusion": of.conclusion,
            "html_url": f"https://github.example/o/r/actions/runs/{of.number}",
            "head_sha": pull["head"]["sha"],
            "head_branch": branch,
            "head_repository": {"owner": {"login": owner}},
        }
        return self.run("github-comment.yml", {"event_name": "workflow_run", "event": {"workflow_run": over}})

    def _step(self, found: dict[str, Any], run: WorkflowRun, context: dict[str, Any]) -> None:
        name = found.get("name") or found["uses"].partition("@")[0].removeprefix("actions/")
        failed = run.conclusion == "failure"
        condition = EXPRESSION.sub(r"\1", found.get("if", ""))
        asked = re.search(r"cancelled\(|failure\(|always\(", condition) is not None
        if (failed and not asked) or (condition and not evaluate(condition, context, failed=failed)):
            run.outcomes[name] = "skipped"
        elif "uses" in found:
            given = {key: filled(value, context) for key, value in found.get("with", {}).items()}
            action = found["uses"].partition("@")[0].removeprefix("actions/")
            done = getattr(self, "_" + re.sub("[-/]", "_", action))(run, context["github"], given)
            run.outcomes[name] = "failure" if done is False else "success"
        else:
            run.outcomes[name] = self._script(name, found, run, context)
        if run.outcomes[name] == "failure" and not found.get("continue-on-error"):
            run.conclusion = "failure"
        if "id" in found:
            context["steps"][found["id"]] = {
                "outcome": run.outcomes[name],
                "outputs": values(run.machine.read("output")),
            }

    def _script(self, name: str, found: dict[str, Any], run: WorkflowRun, context: dict[str, Any]) -> str:
        script, machine, github = found["run"], run.machine, context["github"]
        if script.startswith("python -m pip install "):
            hold_to_extras(script, machine.checkout)
            return "success"
        (machine.folder / "output").write_text("")
        (machine.folder / "summary").write_text("")
        done = machine.run(
            script,
            **{key: filled(value, context) for key, value in found.get("env", {}).items()},
            GITHUB_ACTIONS="true",
            GITHUB_EVENT_NAME=github["event_name"],
            GITHUB_BASE_REF=github.get("base_ref", ""),
            GITHUB_HEAD_REF=github.get("head_ref", ""),
            GITHUB_REF=github["ref"],
            GITHUB_WORKSPACE=str(machine.checkout),
            GITHUB_STEP_SUMMARY=str(machine.folder / "summary"),
            GITHUB_OUTPUT=str(machine.folder / "output"),
        )
        run.log[name] = done.stdout + done.stderr
        run.summary += machine.read("summary")
        return "success" if done.returncode == 0 else "failure"

    def _checkout(self, run: WorkflowRun, github: dict[str, Any], given: dict[str, Any]) -> None:
        # As actions/checkout fetches: without a depth one commit and no branch, with 0 all branches.
        place, ref = run.machine.checkout, github["ref"]
        local = ref.replace("refs/heads/", "refs/remotes/origin/").replace("refs/pull/", "refs/remotes/pull/")
        git(place, "init", "-q", "-b", "none")
        git(place, "remote", "add", "origin", f"file://{self.origin}")
        own = f"+{ref}:{local}"
        if str(given.get("fetch-depth", 1)) == "0":
            git(place, "fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*", own)
        else:
            git(place, "fetch", "-q", "--no-tags", "--depth=1", "origin", own)
        git(place, "checkout", "-q", "--detach", local)

    def _setup_python(self, run: WorkflowRun, github: dict[str, Any], given: dict[str, Any]) -> None:
        assert tuple(map(int, given["python-version"].split("."))) >= (3, 10)

    def _upload_artifact(self, run: WorkflowRun, github: dict[str, Any], given: dict[str, Any]) -> None:
        self._copied(run.machine, given["path"], self.folder / f"artefacts{run.number}" / given["name"])

    def _download_artifact(self, run: WorkflowRun, github: dict[str, Any], given: dict[str, Any]) -> bool:
        # Those of another run need a token and its number; a pattern with merge-multiple puts all into one folder.
        assert ("run-id" in given) == (given.get("github-token") == "job-token")
        place = self.folder / f"artefacts{given.get('run-id', run.number)}"
        found = sorted(place.glob(given.get("name") or given["pattern"]))
        assert "name" in given or given["merge-multiple"] == "True"
        for each in found:
            shutil.copytree(each, run.machine.checkout / given["path"], dirs_exist_ok=True)
        return bool(found)

    def _cache(self, run: WorkflowRun, github: dict[str, Any], given: dict[str, Any]) -> None:
        self._cache_restore(run, github, given)

    def _cache_restore(self, run: WorkflowRun, github: dict[str, Any], given: dict[str, Any]) -> None:
        kept = sorted((self.folder / "cache").glob(f"{given['restore-keys']}*"))
        if kept:
            shutil.copytree(kept[-1], run.machine.checkout / given["path"], dirs_exist_ok=True)

    def _cache_save(self, run: WorkflowRun, github: dict[str, Any], given: dict[str, Any]) -> None:
        self._copied(run.machine, given["path"], self.folder / "cache" / given["key"])

    def _copied(self, machine: Machine, path: str, to: Path) -> None:
        found = machine.checkout / path
        if found.is_dir():  # an artefact or a cache without files is a warning
            shutil.copytree(found, to)


def hold_to_extras(script: str, checkout: Path) -> None:
    """What is installed must be there: the project with its extra, or ours with one of ours."""
    wanted = [each for each in shlex.split(script, comments=True)[4:] if not each.startswith("-")]
    assert wanted
    for each in wanted:
        name, _, extra = each.rstrip("]").partition("[")
        if name in {"pytest-xdist", "pytest-split"}:
            continue
        if name == ".":
            assert f"\n{extra} = [" in (checkout / "pyproject.toml").read_text(), each
        else:
            assert name == "pytest-promptfuzz"
            assert not extra or extra in (metadata(name).get_all("Provides-Extra") or []), each
