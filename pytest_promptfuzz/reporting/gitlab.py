"""GitLab: a code quality report, which merge requests show at the lines of tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.reporting.findings import RULES, Finding, findings
from pytest_promptfuzz.reporting.safe import safe

if TYPE_CHECKING:
    from pytest_promptfuzz.reporting.document import Document

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def gitlab_report(document: Document) -> str:
    """The findings of a run as GitLab's code quality JSON: a list, empty where nothing is wrong.

    Fingerprints stay while a finding does, so that a merge request shows what is new in it and what it mended.
    """
    return json.dumps([_issue(each) for each in findings(document)], ensure_ascii=True, indent=1) + "\n"


def _issue(found: Finding) -> dict[str, Any]:
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


def _severity(found: Finding) -> str:
    return "critical" if found.kind == "brittle" and found.level == "error" else _SEVERITIES[found.level]
