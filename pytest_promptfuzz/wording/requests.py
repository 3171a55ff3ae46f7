"""Requests in sentences: what was asked of models, or of what may be one, and how it is followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Seen = Sequence[tuple[str, Sequence[str]]]


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
