"""What becomes of a call when the provider fails, and what that costs: calls made against calls needed.

Each fault hits the first three requests, then every request, of an application that catches whatever its SDK raises:
OpenAI chat completions, OpenAI Responses and Anthropic Messages, sync, async and streamed both ways, in the modes that
make calls. A cell holds for all providers and modes, or says which differ. Waits between tries are cut short, so that
the run is over soon; they change no count.

    python benchmarks/faults.py [--fault NAME ...] [--mode MODE ...] [--alone]

It ends with 1 if a failure was taken for an answer or stored, or if another number of calls was made than needed.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import ssl
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import anthropic
import openai
from anthropic import _base_client as anthropic_client
from openai import _base_client as openai_client

from pytest_promptfuzz.evaluating.session import Session
from pytest_promptfuzz.running.limits import lanes
from pytest_promptfuzz.running.limits.limits import SessionLimits
from pytest_promptfuzz.server import faults
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.disk_store import ResponseStore, kept_answers
from pytest_promptfuzz.storage.redaction import DEFAULT
from pytest_promptfuzz.wire.recordings import Recordings
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import Watch, watching

TRIES = 4
TLS = ssl.create_default_context()
FAULTS = {
    "429": faults.RateLimited,
    "500": faults.ServerError,
    "529": lambda **more: faults.ServerError(status=529, **more),
    "408": lambda **more: faults.StatusFault(status=408, **more),
    "409": lambda **more: faults.StatusFault(status=409, **more),
    "dropped": faults.Dropped,
    "dropped-at-once": lambda **more: faults.DroppedMidBody(after=1, **more),
    "dropped-within": faults.DroppedMidBody,
    "truncated": faults.Truncated,
    "overloaded": faults.Overloaded,
    "overloaded-within": lambda **more: faults.Overloaded(after=None, **more),
    "malformed": faults.Malformed,
    "html": faults.ContentTypeHtml,
    "wrong-encoding": faults.WrongEncoding,
    "401": faults.Unauthorized,
    "400": faults.BadRequest,
}
LASTING = {"malformed", "html", "wrong-encoding", "401", "400"}
# Within the answer: of a stream, the application has been given a part.
WITHIN = {"dropped-within", "truncated", "overloaded-within"}
PROVIDERS = ("chat", "responses", "messages")
MODES = ("auto", "record", "live")
SHAPES = tuple(itertools.product(("sync", "async"), ("whole", "stream")))
TEXT = "Say something."
MESSAGES = [{"role": "user", "content": TEXT}]


class Cell(NamedTuple):
    """What became of one call."""

    outcome: str
    made: int
    needed: int

    def __str__(self) -> str:
        return f"{self.outcome} {self.made}/{self.needed}"


def ask(server: ModelServer, provider: str, how: str, form: str) -> bool:
    """One call of an application; whether it got a whole answer."""
    library, name = (anthropic, "Anthropic") if provider == "messages" else (openai, "OpenAI")
    address = server.anthropic_url if provider == "messages" else server.openai_url
    arguments = {
        "chat": {"messages": MESSAGES, "max_tokens": 20},
        "responses": {"input": TEXT, "max_output_tokens": 20},
        "messages": {"messages": MESSAGES, "max_tokens": 20},
    }[provider] | {"model": "m", "stream": form == "stream"}

    def create(client):
        completions = {"chat": lambda: client.chat.completions, "responses": lambda: client.responses}
        return completions.get(provider, lambda: client.messages)().create

    def sync() -> None:
        http = library.DefaultHttpxClient(verify=TLS)
        with getattr(library, name)(api_key="any", base_url=address, http_client=http) as client:
            answer = create(client)(**arguments)
            if form == "stream":
                list(answer)

    async def asynchronous() -> None:
        http = library.DefaultAsyncHttpxClient(verify=TLS)
        made = getattr(library, f"Async{name}")(api_key="any", base_url=address, http_client=http)
        async with made as client:
            answer = await create(client)(**arguments)
            if form == "stream":
                [_ async for _ in answer]

    try:
        sync() if how == "sync" else asyncio.run(asynchronous())
    except Exception:
        return False
    return True


def cell(fault: str, times: int | None, provider: str, mode: str, how: str, form: str) -> Cell:
    """What becomes of one call through the plugin's limits and stores."""
    once = fault in LASTING or (form == "stream" and fault in WITHIN)
    with tempfile.TemporaryDirectory() as name, ModelServer(faults=[FAULTS[fault](times=times)]) as server:
        folder, said = Path(name), []
        store = ResponseStore(folder / "answers", warn=said.append)
        recordings = Recordings(
            mode, folder / "spools", cache=store, warn=said.append, redaction=DEFAULT, run="benchmark"
        )
        tape = None if mode == "live" else recordings.tape(folder / "test_any.py", "test_any", "test_any")
        watch = Session(store=store, mode=mode, gate=SessionLimits(), tape=tape).test().watch()
        with intercepting(), watching(watch):
            ask(server, provider, how, form)
        failed = bool(watch.unrecovered())
        well = server.answered > 0
        # A failure that the plugin takes for an answer could become a deviation; one that is stored, many.
        store.close()
        stored = sum(1 for _ in kept_answers(folder / "answers"))
        if tape is not None:
            tape.end()
        outcome = "error" if failed else "recovered"
        if failed == well or (failed and stored) or said:
            outcome = "DEVIATION"
        return Cell(outcome, server.calls, 1 if once else TRIES)


def alone(fault: str, times: int | None, provider: str, how: str, form: str) -> int:
    """Calls of the SDK by itself: two retries, its default."""
    with ModelServer(faults=[FAULTS[fault](times=times)]) as server:
        with intercepting(), watching(Watch()):
            ask(server, provider, how, form)
        return server.calls


def folded(cells: dict[tuple[str, str], Cell]) -> str:
    """One cell of the table: what holds for all providers and modes, or each by its name."""
    kinds = dict.fromkeys(cells.values())
    if len(kinds) == 1:
        return str(next(iter(kinds)))
    return "; ".join(
        f"{each} ({', '.join('/'.join(key) for key, found in cells.items() if found == each)})"
        for each in kinds
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fault", action="append", choices=FAULTS, help="only this fault; may be repeated")
    parser.add_argument("--mode", action="append", choices=MODES, help="only this mode; may be repeated")
    parser.add_argument("--alone", action="store_true", help="also count the calls of the SDK by itself")
    options = parser.parse_args()
    lanes.FIRST_WAIT = lanes.FIRST_PAUSE = 0.002
    for client in (openai_client, anthropic_client):
        client.INITIAL_RETRY_DELAY, client.MAX_RETRY_DELAY = 0.002, 0.004
    heads = [f"{how}, {form}" for how, form in SHAPES] + ["SDK alone"] * options.alone
    print(f"| fault | requests hit | {' | '.join(heads)} |")
    print(f"| --- | --- |{' --- |' * len(heads)}")
    wrong = count = 0
    for fault, times in itertools.product(options.fault or FAULTS, (TRIES - 1, None)):
        row = []
        for how, form in SHAPES:
            cells = {
                (provider, mode): cell(fault, times, provider, mode, how, form)
                for provider, mode in itertools.product(PROVIDERS, options.mode or MODES)
            }
            wrong += sum(each.outcome == "DEVIATION" or each.made != each.needed for each in cells.values())
            count += len(cells)
            row.append(folded(cells))
        if options.alone:
            made = [alone(fault, times, each, *shape) for each in PROVIDERS for shape in SHAPES]
            row.append(f"{min(made)} to {max(made)}")
        what = f"first {times}" if times else "all"
        print(f"| {fault} | {what} | {' | '.join(row)} |", flush=True)
    print(f"\n{count} calls of applications, {wrong} of them not as they should be.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
