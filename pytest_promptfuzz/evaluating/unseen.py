"""Baselines that ask a model where the wire is not seen: errors that offer the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import ConfigurationError, NotRecordedError
from pytest_promptfuzz.wire.network import OWN_SOCKETS, loaded
from pytest_promptfuzz.wire.network_guard import FOLLOWED
from pytest_promptfuzz.wire.recordings.tape import NOT_RECORDED

if TYPE_CHECKING:
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.wire.network import Unseen
    from pytest_promptfuzz.wire.recordings.tape import Tape

_MOST = 4
WAY_OUT = (
    "Let the application ask through a recording proxy: give it a base URL of the fixture promptfuzz_proxy, or that of "
    "`promptfuzz serve --proxy URL` for a program that no test starts."
)
NOT_JSON = (
    "The plugin follows POST requests whose body is a JSON object, and this one is none; a proxy follows no others. "
    "Let the application send a JSON object. If it cannot, give the test its prompt as the argument `prompt`, and "
    "let the body use it: prompt.format(...)."
)
WEBSOCKET = "A WebSocket cannot be followed, by a proxy neither: let the application use the provider's HTTP interface."

_settings_file = ""


def written_in(file: str) -> str:
    """From now on, show lines to be pasted as this file of settings has them.

    Returns:
        The file before.
    """
    global _settings_file  # as the endpoints themselves, wire.custom
    before, _settings_file = _settings_file, file
    return before


def refuse_unseen(run: Run, where: str) -> None:
    """Refuse a baseline that asked a model through a library, or in a protocol, that is not seen.

    Raises:
        ConfigurationError: It did; the library and the address are named.
    """
    found = [each for each in run.watch.unseen if each.asks_model]
    asking = list(dict.fromkeys(map(str, found)))
    if asking:
        way_out = _followed_by(found) or (NOT_JSON if found[0].by in FOLLOWED else WAY_OUT)
        if found[0].is_websocket:
            way_out = WEBSOCKET
        raise ConfigurationError(
            f"{where}: a model was asked through {', '.join(asking[:_MOST])}. That is not seen: its answers cannot be "
            f"stored, limited or mutated on the wire. {way_out}"
        )


def refuse_unreplayable(tape: Tape | None, run: Run, unrecorded: NotRecordedError | None, where: str) -> None:
    """Refuse to replay a baseline that was kept from a connection, where that is why it cannot be replayed.

    Args:
        tape: The test's recording.
        run: The baseline's.
        unrecorded: Why there is no plan, where there is none.
        where: The test, for messages.

    Raises:
        NotRecordedError: It was refused; the message has what was, and the mend.
        ConfigurationError: As ``refuse_unseen``.
    """
    if tape is None or not tape.strict:
        return
    refuse_unseen(run, where)
    missing = unrecorded is not None or any(fault.kind == NOT_RECORDED for fault in run.watch.faults)
    if run.watch.refused and (missing or run.exception is not None):
        raise NotRecordedError(f"{where}: this test cannot be replayed. {run.watch.refused[0]}")


def _followed_by(found: list[Unseen]) -> str:
    """The line that makes requests followed, ready to be pasted; empty where none does."""
    lines = list(dict.fromkeys(each.endpoint for each in found if each.endpoint))
    if not lines:
        return ""
    what = "this line lets" if len(lines) == 1 else "these lines let"
    pasted = "".join(f"\n    {each}" for each in lines[:_MOST])
    if _settings_file.endswith(".toml"):
        pasted = f" '''{pasted}\n    '''"
    table = " (in [tool.pytest.ini_options])" if _settings_file == "pyproject.toml" else ""
    return (
        "The plugin does not know this protocol. If a model answers there, "
        f"{what} the plugin follow it. Paste it into {_settings_file or 'the ini file'}{table}; "
        f"docs/unchanged-applications.md, Other protocols, explains it:\n\npromptfuzz_endpoints ={pasted}\n"
    )


def perhaps_unseen(run: Run) -> list[str]:
    """What to say of a baseline in which no model call was seen, but something that may have been one.

    It is not refused: the target may be a function, or the model be replaced by a stub.
    """
    unknown = run.watch.unseen and not run.watch.calls and not run.watch.faults
    return [nothing_seen(run)] if unknown else []


def nothing_seen(run: Run) -> str:
    """What to say of a run in which no model call was seen at all."""
    begun = list(dict.fromkeys(map(str, run.watch.unseen)))
    said = f" Not followed: {', '.join(begun[:_MOST])}." if begun else ""
    hidden = loaded(OWN_SOCKETS)
    also = f" Requests of {', '.join(hidden)} cannot be noticed." if hidden else ""
    other = NOT_JSON if begun and all(each.by in FOLLOWED for each in run.watch.unseen) else WAY_OUT
    mend = _followed_by(run.watch.unseen) or other
    return (
        "No model call was seen. The plugin follows requests through httpx and httpx2, which the SDKs use."
        f"{said}{also} {mend}"
    )
