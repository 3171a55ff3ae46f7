"""Reports for hosts of code: GitHub annotations and outputs, GitLab code quality, SARIF."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.reporting.document import (
    UNCOLLECTED,
    answers_of,
    changed,
    drifts,
    fails_otherwise,
    headline,
    is_lost,
    met,
    ordered,
    overview,
    with_targets,
)
from pytest_promptfuzz.reporting.markdown import LEAST, markdown_report
from pytest_promptfuzz.reporting.model import scored
from pytest_promptfuzz.reporting.phrases import accepted_text
from pytest_promptfuzz.reporting.terminal.rows import edit_text
from pytest_promptfuzz.reporting.terminal.summary import one_line
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wording.diffs import answer_rows
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.reporting.document import Document, DocumentTest
    from pytest_promptfuzz.reporting.model import DriftReport


_root: ContextVar[Path | None] = ContextVar("root of pytest", default=None)
_ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY")


def markdown(document: Document) -> str:
    """Markdown for a comment on GitHub or GitLab."""
    from pytest_promptfuzz.reporting.markdown import markdown_report

    return markdown_report(document)


def gitlab(document: Document) -> str:
    """GitLab's code quality report."""
    return gitlab_report(placed(document, os.environ, _root.get() or Path.cwd()))


def sarif(document: Document) -> str:
    """SARIF 2.1.0."""
    return sarif_report(placed(document, os.environ, _root.get() or Path.cwd()))


def github(document: Document, log: Callable[[str], object]) -> str:
    """Tell GitHub: annotations go to the log, a line each, the rest to the files that the environment names.

    Returns:
        A sentence on what was told.

    Raises:
        StoreError: A file cannot be written.
    """
    lines: list[str] = []
    try:
        places = write_github(
            placed(document, os.environ, _root.get() or Path.cwd()), os.environ, lines.append
        )
    except OSError as error:
        raise StoreError(f"{error.filename} cannot be written: {error.strerror}.") from error
    for line in lines:
        log(line)
    told = [counted(len(lines), "annotation"), *places]
    missing = "" if places else "; GITHUB_STEP_SUMMARY and GITHUB_OUTPUT name no files"
    return f"told GitHub: {', '.join(told)}{missing}"


HOSTS: dict[str, Callable[[Document], str]] = {"md": markdown, "gitlab": gitlab, "sarif": sarif}
"""Formats that are a file, which :func:`github` is not."""


@contextmanager
def paths_from(root: Path) -> Iterator[None]:
    """Take paths of tests from pytest's root while the block lasts, wherever the process was started."""
    token = _root.set(root)
    try:
        yield
    finally:
        _root.reset(token)


def placed(document: Document, environment: Mapping[str, str], folder: Path) -> Document:
    """The document with paths of tests as the repository has them, where pytest ran in a folder of it.

    Args:
        document: Its paths are from pytest's root.
        environment: Of a host's job, which names the repository's folder.
        folder: Pytest's root, or a folder below it.
    """
    root = next((Path(environment[name]) for name in _ROOTS if environment.get(name)), None)
    above = [folder, *folder.parents]
    if root is None or root not in above:
        return document
    inside = above[: above.index(root) + 1]

    def moved(report: Any) -> Any:
        if report["location"] is None:
            return report
        path, line = report["location"]
        here = next((each for each in inside if (each / path).is_file()), root)
        found = PurePosixPath((here / path).relative_to(root)) if (here / path).is_relative_to(root) else path
        return {**report, "location": (str(found), line)}

    return {
        **document,
        "tests": list(map(moved, document["tests"])),
        "unjudged": list(map(moved, document["unjudged"])),
    }


# What a host shows at a line of code: one finding for each thing that is wrong with a test.


Kind = Literal[
    "brittle",
    "noisy",
    "inconclusive",
    "unjudged",
    "failed",
    "condition",
    "worse",
    "answer",
    "untold",
    "drift",
]
Level = Literal["error", "warning", "note"]

RULES: dict[Kind, str] = {
    "brittle": "The prompt is brittle: harmless changes to it change what the model answers.",
    "unjudged": "Nothing is known of the prompt: the test failed unmutated, or could not be run.",
    "failed": "The test failed, though its prompt was found robust.",
    "condition": "A condition of --promptfuzz-fail-on is met.",
    "worse": "The test is worse than its base, by more than noise.",
    "answer": "The answer to the unmutated prompt is another one than in the base.",
    "untold": "Nothing tells whether the answer to the unmutated prompt is another one than in the base.",
    "drift": "The test is not what its snapshot says: the model, the prompt or the way of comparing has changed.",
    "noisy": "The model does not agree with itself: no change of the prompt can be told from noise.",
    "inconclusive": "The verdict is open: trials without an outcome, or too few of them.",
}
_LEVELS: dict[Level, int] = {"error": 0, "warning": 1, "note": 2}
_MOST_LONG = 800
_ANSWER = 120  # characters of an answer, in a message


@dataclass(frozen=True, slots=True)
class ReportFinding:
    """One finding. ``message`` is safe for a terminal, ``line`` from 1; ``path`` is empty where no line is known.

    ``about`` is what tells it from other findings of its test and kind, the same in every run.
    """

    kind: Kind
    level: Level
    test: str
    path: str
    line: int
    message: str
    about: str = ""

    @property
    def fingerprint(self) -> str:
        """The same for the same finding of another run, on another line and with other scores: 32 hex digits."""
        told = f"{self.kind}\n{self.test}\n{self.about}"
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def findings(document: Document) -> list[ReportFinding]:
    """The findings of a run, errors first, each level in the order of rules and the worst test first.

    A test that is expected to fail, or that was let through, makes a note.
    """
    several = with_targets(document)
    conditions = met(document)
    found = []
    for test in ordered(document):
        of_test = [condition for condition, tests in conditions if test["test"] in tests]
        found += _of_test(test, test["target"] if several else "", of_test)
    for lost in document["unjudged"]:
        path, line = lost["location"] or ("", 1)
        level: Level = "error" if lost["outcome"] in {"failed", "error", UNCOLLECTED} else "note"
        found.append(ReportFinding("unjudged", level, lost["test"], path, line, _short(lost["message"])))
    found += [*_compared(document), *_answers(document)]
    kinds = list(RULES)
    return sorted(found, key=lambda each: (_LEVELS[each.level], kinds.index(each.kind)))


def _of_test(test: DocumentTest, target: str, conditions: list[str]) -> list[ReportFinding]:
    """Of one test, which meets ``conditions``; ``target`` tells it from others of its name, in a report of several."""
    path, line = test["location"] or ("", 1)
    lost = is_lost(test)
    of = f"{target}: " if target else ""
    found = []
    if test["verdict"] in ("brittle", "noisy", "inconclusive"):
        kind: Kind = test["verdict"]  # type: ignore[assignment]  # one of them
        level: Level = "note" if not lost else "error" if kind == "brittle" else "warning"
        said = "\n".join([of + one_line(test), *_example(test)])
        found.append(ReportFinding(kind, level, test["test"], path, line, _short(said), target))
    for each in drifts(test):
        condition = next((text for text in conditions if _is_of(text, each)), "")
        level = "error" if each["policy"] == "fail" or condition else "warning"
        about = f"{each['kind']} {each['case']} {target}".rstrip()
        said = f"{of}drift: {each['message']}"
        if condition:
            said += f" ({_meets(condition)})"
        found.append(ReportFinding("drift", level, test["test"], path, line, _short(said), about))
    if fails_otherwise(test):
        said = f"{of}the test failed, though its prompt passed"
        found.append(ReportFinding("failed", "error", test["test"], path, line, _short(said), target))
    return found


def _example(test: DocumentTest) -> list[str]:
    """The smallest edit known that breaks a test, and both answers; that it is accepted, if it is."""
    made = [f"This test {said}."] if (said := accepted_text(test)) else []
    first = next((each for each in scored(test) if each["outcome"] == "deviation"), None)
    if test["counterexamples"]:
        smallest = test["counterexamples"][0]
        diff, baseline, answer = smallest["diff"], smallest["baseline"], smallest["answer"]
    elif first is not None:
        diff, baseline, answer = first["diff"], first["baseline"], first["response"]
    else:
        return made
    made.append(f"Edit: {edit_text(diff)}")
    if baseline is not None and answer is not None:
        made.append(f"Answer: {' → '.join(answer_rows(baseline, answer, _ANSWER))}")
    return made


def _answers(document: Document) -> list[ReportFinding]:
    """The answers that changed since the base, and those of which nothing tells whether they did."""
    places = {test["test"]: test["location"] or ("", 1) for test in document["tests"]}
    found = []
    for each in answers_of(document["changes"], "changed", "cannot tell"):
        on = f" on input {each['input']}" if each["input"] else ""
        answers = " → ".join(answer_rows(each["before"], each["after"], _ANSWER))
        path, line = places.get(each["test"], ("", 1))
        sure = each["finding"] == "changed"
        lead = f"the answer changed{on}" if sure else f"cannot tell whether the answer changed{on}"
        said = _short("; ".join(filter(None, [f"{lead}: {answers}", "" if sure else each["explanation"]])))
        about = f"{each['target']} {each['input']}".strip()
        found.append(
            ReportFinding("answer" if sure else "untold", "warning", each["test"], path, line, said, about)
        )
    return found


def _compared(document: Document) -> list[ReportFinding]:
    """Tests that meet a condition, and those that are worse by more than noise."""
    places = {test["test"]: test["location"] or ("", 1) for test in document["tests"]}
    drifted: dict[str, list[DriftReport]] = {}
    for one in document["tests"]:
        drifted.setdefault(one["test"], []).extend(drifts(one))
    found = []
    failing: set[str] = set()
    for condition, tests in met(document):
        for test in tests:
            if any(_is_of(condition, each) for each in drifted.get(test, ())):
                continue  # said with the drift
            failing.add(test)
            said = _meets(condition)
            found.append(
                ReportFinding("condition", "error", test, *places.get(test, ("", 1)), _short(said), condition)
            )
    for each in changed(document, "worse"):
        if each["test"] not in failing:
            said = each["explanation"] or "worse than its base by more than noise"
            found.append(
                ReportFinding(
                    "worse", "warning", each["test"], *places.get(each["test"], ("", 1)), _short(said)
                )
            )
    return found


def _meets(condition: str) -> str:
    return f"meets the condition {condition!r} of --promptfuzz-fail-on"


def _is_of(condition: str, drift: DriftReport) -> bool:
    """Whether a condition is of such drift, as ``drift`` and ``model drift`` are of a changed model."""
    return condition.casefold().split() in (["drift"], [drift["kind"], "drift"])


def _short(text: str) -> str:
    return safe(text, limit=_MOST_LONG)


# GitHub Actions: annotations at the lines of tests, a step's summary and its output values.


SUMMARY_LIMIT = 1024 * 1024
"""Bytes of a step's summary; GitHub shows nothing of a longer one."""
MOST_ANNOTATIONS = 10
"""Of each level GitHub shows no more of a step."""
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_TITLES = {
    "brittle": "Brittle prompt",
    "noisy": "Noisy answers",
    "inconclusive": "Inconclusive",
    "unjudged": "Not judged",
    "failed": "Failed test",
    "condition": "Condition met",
    "worse": "Worse than the base",
    "answer": "Changed answer",
    "untold": "Answer may have changed",
    "drift": "Drift",
}
_OUTPUT = expression(r"[^\n\r]*\Z")


@dataclass(frozen=True, slots=True)
class GithubReport:
    """What a step tells GitHub: lines for its log, text to append to its summary, lines to append to its outputs."""

    annotations: list[str]
    summary: str
    outputs: str


def github_report(document: Document, *, summary_limit: int = SUMMARY_LIMIT) -> GithubReport:
    """What GitHub is told of a run.

    Args:
        document: Of a run; paths of tests are from the root of the repository.
        summary_limit: Bytes that are left in the step's summary; nothing is added to one that is full.
    """
    return GithubReport(
        annotations=annotation_lines(findings(document)),
        summary=markdown_report(document, limit=summary_limit) if summary_limit >= LEAST else "",
        outputs=output_lines(document),
    )


def annotation_lines(found: Sequence[ReportFinding]) -> list[str]:
    """Workflow commands, one a test: the worst first, ten of each level, of which the last says how many more."""
    lines = []
    for level, command in _COMMANDS.items():
        every = [each for each in _by_test(found) if each.level == level]
        shown = every if len(every) <= MOST_ANNOTATIONS else every[: MOST_ANNOTATIONS - 1]
        lines += [_command(each) for each in shown]
        if len(shown) < len(every):
            rest = counted(len(every) - len(shown), f"more {level}")
            lines.append(f"::{command} title=Prompt robustness::{rest}; the step's summary has all of them")
    return lines


def _by_test(found: Sequence[ReportFinding]) -> list[ReportFinding]:
    """The findings of each test as one, of the kind and level of the first, which is the worst."""
    tests: dict[str, list[ReportFinding]] = {}
    for each in found:
        tests.setdefault(each.test, []).append(each)
    return [
        replace(every[0], message="\n".join(dict.fromkeys(each.message for each in every)))
        for every in tests.values()
    ]


def _command(found: ReportFinding) -> str:
    where = f"file={_property(found.path)},line={found.line}," if found.path else ""
    title = _property(f"{_TITLES[found.kind]}: {safe(found.test)}")
    return f"::{_COMMANDS[found.level]} {where}title={title}::{_data(found.message)}"


def _data(text: str) -> str:
    """As GitHub's runner reads a command's message back."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Likewise, of a property."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def output_lines(document: Document) -> str:
    """The step's output values, as ``$GITHUB_OUTPUT`` has them: ``steps.ID.outputs.brittle`` and so on."""
    whole = overview(document)
    values = {
        "verdict": whole.result,
        "headline": headline(document),
        "tests": whole.tests,
        "failed": whole.failed,
        **{name: whole.verdicts.get(name, 0) for name in ("brittle", "noisy", "inconclusive")},
        "unjudged": whole.unjudged,
        "drifted": whole.drifted,
        "worse": whole.worse,
        "answers": whole.answers,
        "score_min": "" if whole.score_min is None else whole.score_min,
        "cost": "" if whole.cost is None else f"{whole.cost:.6f}",
    }
    return "".join(output(name, str(value)) for name, value in values.items())


def output(name: str, value: str) -> str:
    """One output value; of several lines, between delimiters that none of them is."""
    if _OUTPUT.match(value):
        return f"{name}={value}\n"
    delimiter, lines = "promptfuzz", re.split(r"\r\n|\r|\n", value)
    while any(delimiter in each for each in lines):
        delimiter += "_"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def write_github(
    document: Document, environment: Mapping[str, str], write: Callable[[str], object]
) -> list[str]:
    """Tell GitHub: annotations through ``write``, a line each, the rest to the files that the environment names.

    Returns:
        What was written to files: ``a summary``, ``output values``.

    Raises:
        OSError: A file cannot be written.
    """
    summary, values = environment.get("GITHUB_STEP_SUMMARY"), environment.get("GITHUB_OUTPUT")
    used = Path(summary).stat().st_size if summary and Path(summary).exists() else 0
    told = github_report(document, summary_limit=SUMMARY_LIMIT - used)
    for line in told.annotations:
        write(line)
    written = []
    for path, text, what in ((summary, told.summary, "a summary"), (values, told.outputs, "output values")):
        if path and text:
            with Path(path).open("a", encoding="utf-8", newline="\n") as file:
                file.write(text)
            written.append(what)
    return written


# GitLab: a code quality report, which merge requests show at the lines of tests.


_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def gitlab_report(document: Document) -> str:
    """The findings of a run as GitLab's code quality JSON: a list, empty where nothing is wrong.

    Fingerprints stay while a finding does, so that a merge request shows what is new in it and what it mended.
    """
    return json.dumps([_issue(each) for each in findings(document)], ensure_ascii=True, indent=1) + "\n"


def _issue(found: ReportFinding) -> dict[str, Any]:
    return {
        "type": "issue",
        "check_name": f"promptfuzz-{found.kind}",
        "description": safe(f"{found.test}: {found.message}"),
        "content": {"body": RULES[found.kind]},
        "categories": ["Bug Risk"],
        "severity": _severity(found),
        "fingerprint": found.fingerprint,
        # GitLab refuses an issue without a place.
        "location": {
            "path": safe(found.path or found.test.partition("::")[0]),
            "lines": {"begin": found.line},
        },
    }


def _severity(found: ReportFinding) -> str:
    return "critical" if found.kind == "brittle" and found.level == "error" else _SEVERITIES[found.level]


# SARIF 2.1.0, which GitHub's code scanning, Azure DevOps and editors read.


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SARIF_LEVELS = {"brittle": "error", "unjudged": "error", "failed": "error", "condition": "error"}


def sarif_report(document: Document) -> str:
    """The findings of a run as SARIF: one run of one tool, its rules, a result for each finding."""
    run = document["run"]
    whole = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "pytest-promptfuzz",
                        "version": run["version"],
                        "rules": [_rule(kind, said) for kind, said in RULES.items()],
                    }
                },
                "automationDetails": {"id": f"pytest-promptfuzz/{safe(run['name'])}"},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The root of the repository."}}},
                "invocations": [{"executionSuccessful": run["complete"]}],
                "results": [_result(each) for each in findings(document)],
            }
        ],
    }
    return json.dumps(whole, ensure_ascii=True, indent=1) + "\n"


def _rule(kind: Kind, said: str) -> dict[str, Any]:
    short = said.partition(":")[0].rstrip(".")
    return {
        "id": f"promptfuzz/{kind}",
        "name": f"Prompt{kind.capitalize()}",
        "shortDescription": {"text": f"{short}."},
        "fullDescription": {"text": said},
        "defaultConfiguration": {"level": _SARIF_LEVELS.get(kind, "warning")},
        "properties": {"tags": ["prompt-robustness"]},
    }


def _result(found: ReportFinding) -> dict[str, Any]:
    path = found.path or found.test.partition("::")[0]
    place = {
        "artifactLocation": {"uri": quote(path.replace("\\", "/"), errors="replace"), "uriBaseId": "SRCROOT"},
        "region": {"startLine": found.line},
    }
    return {
        "ruleId": f"promptfuzz/{found.kind}",
        "ruleIndex": list(RULES).index(found.kind),
        "level": found.level,
        # A message is Markdown to nobody, but SARIF reads `[text](link)` in it, and `{0}`.
        "message": {"text": _plain(safe(f"{found.test}: {found.message}"))},
        "locations": [{"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": found.test}]}],
        "partialFingerprints": {"promptfuzz/v1": found.fingerprint},
    }


def _plain(text: str) -> str:
    """A message in which nothing is a link or a placeholder."""
    for each in "\\[]":
        text = text.replace(each, f"\\{each}")
    return text.replace("{", "{{").replace("}", "}}")
