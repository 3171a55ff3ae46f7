"""What becomes of a call when the provider fails, and what that costs: calls made against calls needed.

Each fault hits the first three requests, then every request, of an application on the openai or the anthropic SDK,
sync, async and streamed, through the plugin's limits and, for comparison, through the SDK alone (two
retries, its default).
Waits between tries are cut short in both, so that the run is over soon; they change no count.

    python benchmarks/faults.py
"""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter

import anthropic
import openai
from anthropic import _base_client as anthropic_client
from openai import _base_client as openai_client

from pytest_promptfuzz.running.limits import retries
from pytest_promptfuzz.running.limits.limits import Limits
from pytest_promptfuzz.testing import faults
from pytest_promptfuzz.testing.server import ModelServer
from pytest_promptfuzz.wire.intercept import intercepting
from pytest_promptfuzz.wire.watch import Watch, watching

TRIES = 4
TLS = ssl.create_default_context()
FAULTS = {
    "429": faults.RateLimited,
    "500": faults.ServerError,
    "529": lambda **more: faults.ServerError(status=529, **more),
    "408": lambda **more: faults.StatusFault(status=408, **more),
    "409": lambda **more: faults.StatusFault(status=409, **more),
    "connection dropped": faults.Dropped,
    "dropped in the body": faults.DroppedMidBody,
    "truncated": faults.Truncated,
    "malformed": faults.Malformed,
    "401": faults.Unauthorized,
    "400": faults.BadRequest,
}
SHAPES = [
    (sdk, mode, how)
    for sdk in ("openai", "anthropic")
    for mode in ("sync", "async")
    for how in ("whole", "stream")
]


def ask(server: ModelServer, sdk: str, mode: str, how: str) -> bool:
    """One call of an application; whether it got a whole answer."""
    library, name = (openai, "OpenAI") if sdk == "openai" else (anthropic, "Anthropic")
    address = server.openai_url if sdk == "openai" else server.anthropic_url
    messages = [{"role": "user", "content": "Say something."}]
    arguments = {"model": "m", "messages": messages, "max_tokens": 20, "stream": how == "stream"}

    def create(client):
        return (client.chat.completions if sdk == "openai" else client.messages).create

    def sync() -> None:
        http = library.DefaultHttpxClient(verify=TLS)
        with getattr(library, name)(api_key="any", base_url=address, http_client=http) as client:
            answer = create(client)(**arguments)
            if how == "stream":
                list(answer)

    async def asynchronous() -> None:
        http = library.DefaultAsyncHttpxClient(verify=TLS)
        async with getattr(library, f"Async{name}")(
            api_key="any", base_url=address, http_client=http
        ) as client:
            answer = await create(client)(**arguments)
            if how == "stream":
                [_ async for _ in answer]

    try:
        sync() if mode == "sync" else asyncio.run(asynchronous())
    except Exception:
        return False
    return True


def row(fault: str, times: int | None) -> str:
    """The line of one fault: outcomes and calls over all shapes, ours and the SDK's alone."""
    ours: Counter[str] = Counter()
    made = needed = alone = wrong = 0
    for sdk, mode, how in SHAPES:
        with ModelServer(faults=[FAULTS[fault](times=times)]) as server:
            watch = Watch(gate=Limits())
            with intercepting(), watching(watch):
                well = ask(server, sdk, mode, how)
            seen = bool(watch.unrecovered())
            ours["error" if seen else "recovered"] += 1
            # A failure that the plugin takes for an answer could become a deviation.
            wrong += not well and not seen
            made += server.calls
            passing = fault not in {"malformed", "401", "400"}
            begun = how == "stream" and fault in {"dropped in the body", "truncated"}
            needed += 1 if begun or not passing else TRIES
        with ModelServer(faults=[FAULTS[fault](times=times)]) as server:
            ask(server, sdk, mode, how)
            alone += server.calls
    what = f"first {times}" if times else "all"
    return f"| {fault} | {what} | {ours['recovered']} | {ours['error']} | {wrong} | {made} | {needed} | {alone} |"


def main() -> None:
    """Print the table."""
    retries.FIRST_WAIT = retries.FIRST_PAUSE = 0.002
    for client in (openai_client, anthropic_client):
        client.INITIAL_RETRY_DELAY, client.MAX_RETRY_DELAY = 0.002, 0.004
    print(
        "| fault | requests hit | recovered | error | taken for an answer | calls made | calls needed | SDK alone |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for fault in FAULTS:
        for times in (TRIES - 1, None):
            print(row(fault, times), flush=True)


if __name__ == "__main__":
    main()
