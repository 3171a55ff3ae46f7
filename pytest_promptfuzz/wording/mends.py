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
_EMBEDDER = {
    "billing": "Check the account's credit.",
    "bad-request": "Check that the model makes embeddings, and how long a text it reads.",
}
_JUDGE = {"authentication": _KEY, "not-found": _PLACE}


def baseline(kind: str) -> str:
    """Of the unmutated prompt; empty where the error says it already."""
    return _BASELINE.get(kind, "")


def price(model: str, *, is_listed: bool, is_old_python: bool) -> str:
    """Of a budget for calls without a known price.

    Args:
        model: The model.
        is_listed: Whether the list of known prices is installed, or could not have the model.
        is_old_python: Whether that list cannot be installed.
    """
    own = (
        f'rite its price into pyproject.toml, under [tool.promptfuzz.prices]: "{model}" = '
        "{ input = 0.25, output = 2.0 } (US dollars for a million tokens)."
    )
    if is_listed:
        return f"W{own}"
    if is_old_python:
        return f"The list of known prices (the extra 'prices') needs Python 3.11 or later. W{own}"
    return f"Install the list of known prices: pip install 'pytest-promptfuzz[prices]'. Or w{own}"


def embedder(kind: str) -> str:
    """Of a provider's embeddings; empty where the error says it already."""
    return _EMBEDDER.get(kind, "")


def judge(kind: str) -> str:
    """Of a judge."""
    return _JUDGE[kind]
