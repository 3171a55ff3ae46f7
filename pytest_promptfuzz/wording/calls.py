"""Calls in sentences: limits, batches, requests that are not followed, and what to do about providers' errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import unstopped
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    Seen = Sequence[tuple[str, Sequence[str]]]


def waiting(seconds: float, lane: str, why: str, since: float) -> str:
    """Calls wait; ``since`` is for how many seconds they did so already, 0 where that is not worth telling."""
    before = f", {since:.0f} s so far" if since else ""
    return f"waiting {max(1, round(seconds))} s for {lane} ({why}{before})"


def limits() -> str:
    """Calls wait for their turn."""
    return "its limits"


def failing(what: str, tries: int, attempts: int) -> str:
    """Calls wait after a failure."""
    return f"{what}, try {tries} of {attempts}"


# What a failure adds to its message.


def tried(tries: int, attempts: int) -> str:
    """Which try it was."""
    return f" (try {tries} of {attempts})"


def asked_to_wait(seconds: float, most: float, option: str) -> str:
    """The provider wants more patience than there is."""
    return f" (not tried again: the provider asks to wait {seconds:.0f} s, longer than {_most(most, option)})"


def nothing_answered(most: float, option: str) -> str:
    """Patience is over."""
    return f" (not tried again: no call has been answered for nearly {_most(most, option)})"


def _most(seconds: float, option: str) -> str:
    return f"{seconds:g} s ({option})"


# Files that cannot be used.


def vectors_unusable(path: object, error: object) -> str:
    """Vectors of texts are not kept."""
    return (
        f"The vectors of compared texts in {path} cannot be used ({unstopped(error)}); they are computed anew. "
        "Change its permissions, or remove it."
    )


def ledger_unusable(path: object, error: object) -> str:
    """Processes cannot share their limits."""
    return (
        f"{path} cannot be used ({error}), so limits and budget hold for each process by itself, not for all of them "
        "together."
    )


# Batches in sentences: what was submitted, and why a request has no answer, or no place in a batch.


def submitted(requests: int, provider: str, batch: str) -> str:
    """A provider took a batch."""
    return f"{counted(requests, 'request')} submitted to {provider} as {batch}"


# Why a request is not in a batch.


def streamed() -> str:
    """It asks for a stream."""
    return "a stream"


def not_batched() -> str:
    """There are no batches of such requests."""
    return "no batch takes what is asked there"


def too_large(size: int) -> str:
    """It is larger than any batch."""
    return f"{size:,} bytes are more than a batch takes; it is asked live"


# Why a request has no answer.


def refused() -> str:
    """The model refused."""
    return "the model refused, which is not kept"


def unanswered() -> str:
    """The batch is over, and says nothing of it."""
    return "the batch ended without an answer"


def not_wanted() -> str:
    """Named in the place of a test: none asks for it any more."""
    return "no test asks for it any more"


# Requests in sentences: what was asked of models, or of what may be one, and how it is followed.


_MOST = 4
_SHOWN_CALLS = 8


# Requests that are not followed, and the way out.


def through_a_proxy() -> str:
    """A proxy follows them."""
    return (
        "Let the application ask through a recording proxy: give it a base URL of the fixture promptfuzz_proxy, or "
        "that of `promptfuzz serve --proxy URL` for a program that no test starts."
    )


def not_json() -> str:
    """A proxy follows no others than JSON either."""
    return (
        "The plugin follows POST requests whose body is a JSON object, and this one is none; a proxy follows no "
        "others. Let the application send a JSON object. If it cannot, give the test its prompt as the argument "
        "`prompt`, and let the body use it: prompt.format(...)."
    )


def by_websocket() -> str:
    """Nothing follows WebSockets."""
    return "A WebSocket cannot be followed, by a proxy neither: let the application use the provider's HTTP interface."


def by_endpoints(lines: Sequence[str], file: str) -> str:
    """Lines of settings make requests followed, ready to be pasted.

    Args:
        lines: Those of ``promptfuzz_endpoints``.
        file: The file of settings; empty where there is none.
    """
    what = "this line lets" if len(lines) == 1 else "these lines let"
    pasted = "".join(f"\n    {each}" for each in lines[:_MOST])
    if file.endswith(".toml"):
        pasted = f" '''{pasted}\n    '''"
    table = " (in [tool.pytest.ini_options])" if file == "pyproject.toml" else ""
    return (
        "The plugin does not know this protocol. If a model answers there, "
        f"{what} the plugin follow it. Paste it into {file or 'the ini file'}{table}; "
        f"docs/unchanged-applications.md, Other protocols, explains it:\n\npromptfuzz_endpoints ={pasted}\n"
    )


def nothing_seen(begun: Sequence[str], hidden: Sequence[str], mend: str) -> str:
    """No model call was seen.

    Args:
        begun: Requests that were not followed.
        hidden: Libraries whose requests cannot be noticed.
        mend: The way out.
    """
    unfollowed = f" Not followed: {', '.join(begun[:_MOST])}." if begun else ""
    also = f" Requests of {', '.join(hidden)} cannot be noticed." if hidden else ""
    return (
        "No model call was seen. The plugin follows requests through httpx and httpx2, which the SDKs use."
        f"{unfollowed}{also} {mend}"
    )


# Requests whose texts are mutated in flight.


def text_not_found(seen: Seen) -> str:
    """No request holds what is to be replaced."""
    return (
        "No request of this run held the text that was to be replaced: the application makes another one each time (a "
        f"date, a random part), or asked less than for the unmutated prompt.{listed(seen)}"
    )


def listed(seen: Seen) -> str:
    """What requests said, a line each: of each the model, and its texts."""
    lines = [
        f"\n  call {index}{f' ({model})' if model else ''}: {', '.join(texts) or 'neither system nor user text'}"
        for index, (model, texts) in enumerate(seen[:_SHOWN_CALLS])
    ]
    more = f"\n  and {len(seen) - _SHOWN_CALLS} more" if len(seen) > _SHOWN_CALLS else ""
    return (" Seen:" + "".join(lines) + more) if lines else " No request was seen."


# Why a recording run records more or fewer answers than it makes calls.


def not_recorded(calls: int, tests: int) -> str:
    """Of tests that are in the table and are not recorded."""
    were, of = ("call was", "calls were")[calls != 1], counted(tests, "test")
    return f"{calls:,} {were} made by {of} that {'is' if tests == 1 else 'are'} not recorded"


def asked_in_vain(calls: int) -> str:
    """Of tests that are recorded: a replay does not need all that they asked."""
    return (
        f"{counted(calls, 'call')} repeated a request, or {('was', 'were')[calls != 1]} not needed in the end"
    )


def recorded_unmutated(answers: int, tests: int) -> str:
    """Of tests that the table does not have."""
    belong, fail = ("belongs", "belong")[answers != 1], ("fails", "fail")[tests != 1]
    return f"{counted(answers, 'answer')} {belong} to {counted(tests, 'test')} that {fail} unmutated"


def recorded_already(answers: int) -> str:
    """Of a recording run that completes what is recorded."""
    return f"{counted(answers, 'answer')} {('was', 'were')[answers != 1]} recorded already"


def recorded_before(answers: int) -> str:
    """Of a recording run that was interrupted."""
    return (
        f"{counted(answers, 'answer')} {('was', 'were')[answers != 1]} kept from a run that was interrupted"
    )


def recorded_in_all(calls: int, answers: int, why: str) -> str:
    """Both figures, and what is between them."""
    return f"{counted(calls, 'call')} made, {counted(answers, 'answer')} recorded: {why}"


# What to do about errors of providers, by their kind.


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
