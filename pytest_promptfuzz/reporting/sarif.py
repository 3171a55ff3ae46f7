"""SARIF 2.1.0, which GitHub's code scanning, Azure DevOps and editors read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pytest_promptfuzz.reporting.findings import RULES, Finding, Kind, findings
from pytest_promptfuzz.reporting.safe import safe

if TYPE_CHECKING:
    from pytest_promptfuzz.reporting.document import Document

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"brittle": "error", "unjudged": "error", "failed": "error", "condition": "error"}


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
        "defaultConfiguration": {"level": _LEVELS.get(kind, "warning")},
        "properties": {"tags": ["prompt-robustness"]},
    }


def _result(found: Finding) -> dict[str, Any]:
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
