"""Is a failure of the provider ever counted against the prompt? Whole evaluations, each with one fault.

Every fault is played to OpenAI chat completions, OpenAI Responses and Anthropic Messages, sync and async, whole and
streamed, in an application that lets its SDK's exception through, and in one that catches it and answers "Sorry, try
later." It hits every request of three of four mutations, and in a second evaluation every request from the third on, as
when an account runs dry in mid-run. The SDKs are real, the server is the local one, and nothing waits.

    python benchmarks/fault_verdicts.py [--fault NAME ...] [--api NAME ...] [--every N]

It ends with 1 if a trial was a deviation or a verdict "brittle". The exception is checked as well: a 400 or 413 that
the mutation gets whenever it is asked, and the unmutated prompt never, is a deviation.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import ssl
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import anthropic
import openai
from anthropic import _base_client as anthropic_client
from openai import _base_client as openai_client

from pytest_promptfuzz import Prompt, Session, aevaluate, evaluate, mutate
from pytest_promptfuzz.providers.formats import request_texts
from pytest_promptfuzz.running.limits import lanes
from pytest_promptfuzz.running.limits.limits import SessionLimits
from pytest_promptfuzz.server import faults
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pytest_promptfuzz.results.robustness import Robustness

TLS = ssl.create_default_context()
PROMPT = Prompt(
    "Classify the support ticket below into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.\n\n"
    "Rules:\n- Answer with the label only\n- Do not explain your choice\n\n"
    "Ticket:\nI was charged twice for my subscription this month and want a refund."
)
MUTATIONS = 4
SORRY = "Sorry, try later."
SLOW = 0.2  # seconds that a client waits where the answer comes too late
STATUSES = (
    *(
        302,
        304,
        400,
        401,
        402,
        403,
        404,
        405,
        406,
        407,
        408,
        409,
        410,
        411,
        412,
        413,
        414,
        415,
        416,
        417,
        418,
    ),
    *(421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 498, 499),
    *(500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 522, 524, 529),
)
TOLD = {
    "400 credit": (400, "Your credit balance is too low to access the Anthropic API."),
    "400 limit": (400, "You have reached your specified API usage limits."),
    "400 key": (400, "API key not valid. Please pass a valid API key."),
    "400 arrears": (400, "Access denied, please make sure your account is in good standing. (Arrearage)"),
    "403 credits": (403, "Your newly created team doesn't have any credits yet."),
    "413 quota": (413, "insufficient_quota"),
    "429 quota": (429, "You exceeded your current quota: insufficient_quota"),
}
OTHERS: dict[str, Callable[..., faults.Fault]] = {
    "dropped": faults.Dropped,
    "dropped-at-once": lambda **more: faults.DroppedMidBody(after=1, **more),
    "dropped-within": faults.DroppedMidBody,
    "slow": lambda **more: faults.Slow(seconds=4 * SLOW, **more),
    "malformed": faults.Malformed,
    "truncated": faults.Truncated,
    "overloaded": faults.Overloaded,
    "overloaded-within": lambda **more: faults.Overloaded(after=None, **more),
    "credit-within": lambda **more: faults.Overloaded(
        label="invalid_request_error", message=TOLD["400 credit"][1], after=None, **more
    ),
    "html": faults.ContentTypeHtml,
    "wrong-encoding": faults.WrongEncoding,
    "wrong-encoding deflate": lambda **more: faults.WrongEncoding(encoding="deflate", **more),
    "truncated-gzip": faults.TruncatedGzip,
    "wrong-charset": faults.WrongCharset,
    "empty": faults.Empty,
    "other-form": faults.OtherForm,
}
CAUSED = ("400", "413")
FAULTS: dict[str, Callable[..., faults.Fault]] = {
    **{str(each): lambda each=each, **more: faults.StatusFault(status=each, **more) for each in STATUSES},
    **{
        name: lambda status=status, said=said, **more: faults.StatusFault(status=status, message=said, **more)
        for name, (status, said) in TOLD.items()
    },
    **OTHERS,
}
APIS = ("chat", "responses", "messages")
SHAPES = tuple(itertools.product(("sync", "async"), ("whole", "stream")))
BODIES = ("raises", "catches")
PLACES = ("three of four mutations", "from the third request on")


class Case(NamedTuple):
    """One evaluation."""

    fault: str
    api: str
    how: str
    form: str
    body: str
    place: str


def cases(names: Iterable[str] = (), apis: Iterable[str] = ()) -> list[Case]:
    """All of them, or those of some faults and APIs."""
    return [
        Case(fault, api, how, form, body, place)
        for fault, api, (how, form), body, place in itertools.product(
            tuple(names) or FAULTS, tuple(apis) or APIS, SHAPES, BODIES, PLACES
        )
    ]


def without_waits() -> None:
    """Let neither the plugin nor an SDK wait between tries."""
    lanes.FIRST_WAIT = lanes.FIRST_PAUSE = 0.0
    for client in (openai_client, anthropic_client):
        client.INITIAL_RETRY_DELAY, client.MAX_RETRY_DELAY = 0.0, 0.0


TEXTS = tuple(each.text for each in mutate(PROMPT, MUTATIONS))


def strikes(place: str) -> Callable[[str], bool]:
    """Which requests a fault hits, by their bodies."""
    if place == PLACES[1]:
        numbers = itertools.count()
        return lambda _: next(numbers) >= 2
    return lambda body: any(each in TEXTS[:3] for each in request_texts(json.loads(body)))


def application(
    server: ModelServer, case: Case, hasty: Callable[[str], bool] = lambda text: text in TEXTS
) -> Callable[[Prompt], object]:
    """An application that asks a model through its SDK; where an answer may be late, it is hasty with some prompts."""
    library, name = (anthropic, "Anthropic") if case.api == "messages" else (openai, "OpenAI")
    options = {
        "api_key": "any",
        "base_url": server.anthropic_url if case.api == "messages" else server.openai_url,
        "timeout": 20.0,
    }
    read = {
        "chat": lambda answer: answer.choices[0].message.content,
        "responses": lambda answer: answer.output_text,
        "messages": lambda answer: answer.content[0].text,
    }[case.api]
    delta = {
        "chat": lambda event: event.choices[0].delta.content if event.choices else None,
        "responses": lambda event: event.delta if event.type == "response.output_text.delta" else None,
        "messages": lambda event: event.delta.text if event.type == "content_block_delta" else None,
    }[case.api]

    def asked(client, prompt):
        messages = [{"role": "user", "content": str(prompt)}]
        arguments = {"model": "m", "stream": case.form == "stream"}
        if case.fault == "slow" and hasty(str(prompt)):
            arguments["timeout"] = library.Timeout(20.0, read=SLOW)
        if case.api == "chat":
            return client.chat.completions.create(messages=messages, **arguments)
        if case.api == "responses":
            return client.responses.create(input=messages, **arguments)
        return client.messages.create(messages=messages, max_tokens=50, **arguments)

    def sync(prompt):
        try:
            http = library.DefaultHttpxClient(verify=TLS)
            with getattr(library, name)(http_client=http, **options) as client:
                answer = asked(client, prompt)
                return read(answer) if case.form == "whole" else "".join(delta(each) or "" for each in answer)
        except Exception:
            if case.body == "raises":
                raise
            return SORRY

    async def asynchronous(prompt):
        try:
            http = library.DefaultAsyncHttpxClient(verify=TLS)
            async with getattr(library, f"Async{name}")(http_client=http, **options) as client:
                answer = await asked(client, prompt)
                if case.form == "whole":
                    return read(answer)
                return "".join([delta(each) or "" async for each in answer])
        except Exception:
            if case.body == "raises":
                raise
            return SORRY

    return sync if case.how == "sync" else asynchronous


def judged(server: ModelServer, case: Case, **more: object) -> Robustness:
    """What becomes of the evaluation; ``more`` is for its session."""
    server.reset()
    server.fail(FAULTS[case.fault](times=None), when=strikes(case.place))
    session = Session(store=MemoryStore(), gate=SessionLimits(), **more)
    settings = {
        "mutations": MUTATIONS,
        "threshold": 0.7,
        "session": session,
        "stop": "never",
        "shrink": "off",
    }
    run = application(server, case)
    if case.how == "sync":
        return evaluate(PROMPT, run, **settings)
    return asyncio.run(aevaluate(PROMPT, run, **settings))


def expected(case: Case) -> int:
    """How many trials are to be deviations."""
    return 3 if case.fault in CAUSED and case.place == PLACES[0] else 0


def wrong(server: ModelServer, chosen: Iterable[Case], **more: object) -> Iterator[tuple[Case, str]]:
    """The cases that are not as they should be, and what they are."""
    for case in chosen:
        result = judged(server, case, **more)
        kinds = Counter(each.error.kind if each.error is not None else each.outcome for each in result.trials)
        brittle = result.verdict == "brittle" and not expected(case)
        # Nothing that failed may pass either: a trial without an answer is an error.
        missing = not expected(case) and not any(each.error is not None for each in result.trials)
        if kinds["deviation"] != expected(case) or brittle or missing:
            yield case, f"{result.verdict}: {dict(kinds)}"


def main() -> int:
    """Run the matrix."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fault", action="append", choices=FAULTS, help="only this fault; may be repeated")
    parser.add_argument("--api", action="append", choices=APIS, help="only this API; may be repeated")
    parser.add_argument("--every", type=int, default=1, help="only every N-th evaluation")
    options = parser.parse_args()
    without_waits()
    started = time.perf_counter()
    chosen = cases(options.fault or (), options.api or ())[:: options.every]
    found = 0
    with ModelServer() as server:
        for case, what in wrong(server, chosen):
            found += 1
            print(f"{' | '.join(case)}: {what}", flush=True)
    seconds = time.perf_counter() - started
    kinds = len({each.fault for each in chosen})
    print(
        f"{kinds} faults, {len(chosen)} evaluations in {seconds:.0f} s: {found} of them not as they should be."
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
