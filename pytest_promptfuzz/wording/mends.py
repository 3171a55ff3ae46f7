"""What to do about errors of providers, by their kind."""

from __future__ import annotations

_KEY = "Check the API key and what it may do."
_PLACE = "Check the model name and the base URL."
_ACCOUNT = "Check the base URL, the model and what the account may do."

_BASELINE = {
    "authentication": _KEY,
    "billing": "Check the account's credit and its limits of spending.",
    "refused": _ACCOUNT,
    "not-found": _PLACE,
    "bad-request": "The provider refuses the unmutated request: check the model's parameters.",
    "unpriced": "Without it the budget cannot be kept.",
    "not-simulated": "Add answer=$.path to its line of promptfuzz_endpoints, or name another target.",
    "not-allowed": "Record the answers first, or allow calls.",
}
_JUDGE = {"authentication": _KEY, "not-found": _PLACE}


def baseline(kind: str) -> str:
    """Of the unmutated prompt; empty where the error says it already."""
    return _BASELINE.get(kind, "")


def judge(kind: str) -> str:
    """Of a judge."""
    return _JUDGE[kind]
