"""Bodies that make several calls and return nothing: what is compared depends on what is asked, never on the clock.

The server answers the later calls of a body first or last, by their content, and otherwise in every run: a test that
looked at the order of answers would find another one in each trial.
"""

from __future__ import annotations

import hashlib
import json
import textwrap

import pytest

from pytest_promptfuzz.providers.requests import Response
from pytest_promptfuzz.server.faults import Slow
from pytest_promptfuzz.server.model_server import ModelServer

SYSTEM = """Classify the message of a customer. Read it twice before you answer.

- billing: money, invoices, refunds
- shipping: parcels, delivery, addresses
- technical: errors, crashes, logins

Answer with exactly one word."""
SUMMARY = "Write one sentence on how the tickets of today were sorted."
TICKETS = {
    "I was charged twice for May.": "billing",
    "Where is my parcel?": "shipping",
    "The page shows an error.": "technical",
    "My address is another one now.": "shipping",
}


class Clerk:
    """Knows every ticket; those in which `brittle` stands it knows only under the prompt as it is."""

    version = "clerk-1"
    brittle = ""

    def answer(self, request, *, sample=0):
        text = json.dumps([request.messages], ensure_ascii=False)
        if SUMMARY in text:
            return Response("All tickets of today were sorted, one by one.")
        if "Write a reply" in text:
            return Response("Dear customer, thank you for your message.")
        ticket = next(each for each in TICKETS if each in text)
        changed = json.dumps(SYSTEM)[1:-1] not in text
        return Response("nothing" if self.brittle and self.brittle in ticket and changed else TICKETS[ticket])


def late(steps):
    """Which requests are so many steps late: by what they hold, so that each run has an order of its own."""
    return lambda body: hashlib.sha256(body.encode()).digest()[0] % 4 == steps


@pytest.fixture(scope="module")
def server():
    slow = [Slow(times=None, seconds=0.02 * steps, when=late(steps)) for steps in (1, 2, 3)]
    with ModelServer(Clerk(), faults=slow) as running:
        yield running


APP = """
import ssl
import anthropic, httpx2, openai

SYSTEM, SUMMARY, TICKETS = {constants}
TLS = ssl.create_default_context()
client = openai.OpenAI(api_key="none", base_url="{url}/v1")
claude = anthropic.Anthropic(api_key="none", base_url="{url}")

def said(system, text):
    return [{"role": "system", "content": system}, {"role": "user", "content": text}]

def sort(text, system=None, **more):
    return client.chat.completions.create(model="m", messages=said(system or SYSTEM, text), **more).choices[0].message.content

def stream(text, system=None):
    chunks = client.chat.completions.create(model="m", messages=said(system or SYSTEM, text), stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)

def by_claude(text, system=None):
    found = claude.messages.create(model="c", max_tokens=9, system=system or SYSTEM, messages=[{"role": "user", "content": text}])
    return found.content[0].text

def reply(text, system=None):
    label = sort(text, system)
    return client.chat.completions.create(model="m", messages=said("Write a reply to the customer.", text + " (" + label + ")"))

# Loops come and go: no connection outlasts a call.
limits = httpx2.Limits(max_keepalive_connections=0)
aclient = openai.AsyncOpenAI(api_key="none", base_url="{url}/v1", http_client=openai.DefaultAsyncHttpxClient(verify=TLS, limits=limits))
anclaude = anthropic.AsyncAnthropic(api_key="none", base_url="{url}", http_client=anthropic.DefaultAsyncHttpxClient(verify=TLS, limits=limits))

async def asort(text, system=None):
    found = await aclient.chat.completions.create(model="m", messages=said(system or SYSTEM, text))
    return found.choices[0].message.content

async def aclaude(text, system=None):
    found = await anclaude.messages.create(model="c", max_tokens=9, system=system or SYSTEM, messages=[{"role": "user", "content": text}])
    return found.content[0].text
"""
HEAD = """
import asyncio, itertools, sys
import anyio, pytest
from concurrent.futures import ThreadPoolExecutor, as_completed
import app
from app import TICKETS
from pytest_promptfuzz import robust

wire = dict(mutate="role:system", mutations=2, stop="never")
dotted = dict(mutate="app.SYSTEM", mutations=2, stop="never")
own = dict(mutations=2, stop="never")
"""
BODIES = """
@robust(**wire)
def test_threads_map():
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(app.sort, TICKETS))

@robust(**dotted)
def test_threads_as_completed():
    with ThreadPoolExecutor(2) as pool:
        for each in as_completed([pool.submit(app.sort, ticket) for ticket in TICKETS]):
            each.result()

@robust(app.SYSTEM, **own)
def test_threads_of_two_providers(prompt):
    with ThreadPoolExecutor(4) as pool:
        for number, ticket in enumerate(TICKETS):
            pool.submit((app.by_claude, app.stream)[number % 2], ticket, str(prompt))

@robust("Ticket: {ticket}. " + app.SYSTEM, **own)
def test_threads_that_share_a_pool(prompt):
    for each in [SHARED.submit(app.sort, prompt.format(ticket=ticket), app.SYSTEM) for ticket in TICKETS]:
        each.result()

SHARED = ThreadPoolExecutor(2)

@robust(**wire)
def test_gather_in_a_loop_of_its_own():
    async def main():
        await asyncio.gather(*map(app.asort, TICKETS))
    asyncio.run(main())

@pytest.mark.asyncio
@robust(app.SYSTEM, **own)
async def test_gather(prompt):
    await asyncio.gather(*[(app.asort, app.aclaude)[n % 2](each, str(prompt)) for n, each in enumerate(TICKETS)])

@pytest.mark.asyncio
@robust(**wire)
async def test_as_completed():
    for each in asyncio.as_completed([app.asort(ticket) for ticket in TICKETS]):
        await each

@pytest.mark.asyncio
@robust(**dotted)
async def test_workers():
    queue = asyncio.Queue()
    for each in TICKETS:
        queue.put_nowait(each)
    async def worker():
        while not queue.empty():
            await app.asort(queue.get_nowait())
    await asyncio.gather(worker(), worker())

@pytest.mark.asyncio
@robust(**wire)
async def test_to_thread():
    await asyncio.gather(*[asyncio.to_thread(app.sort, each) for each in TICKETS])

@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.TaskGroup")
@pytest.mark.asyncio
@robust(app.SYSTEM, **own)
async def test_task_group(prompt):
    async with asyncio.TaskGroup() as group:
        for each in TICKETS:
            group.create_task(app.asort(each, str(prompt)))

@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@robust(**wire)
async def test_anyio(anyio_backend):
    async with anyio.create_task_group() as group:
        for each in TICKETS:
            group.start_soon(app.asort, each)

@robust(**wire, match="Classify")
def test_a_summary_of_what_threads_answered():
    with ThreadPoolExecutor(4) as pool:
        labels = list(pool.map(app.sort, TICKETS))
    app.sort("\\n".join(map(": ".join, zip(TICKETS, labels))), app.SUMMARY)

@robust(**wire)
def test_the_same_asked_at_once():
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(app.sort, [*TICKETS] * 2))

@robust(**wire, match="Classify")
def test_chains_in_threads():
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(app.reply, TICKETS))

# How often the same is asked makes no difference, as where the first answer to come is taken.

@robust(app.SYSTEM, **own)
def test_hedged_and_the_same(prompt):
    asked = [*TICKETS] + [*TICKETS][: next(COUNT) % 3]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: app.sort(each, str(prompt)), asked))

# Some branches end where others go on: each holds "shipping", of whichever ticket.

@robust(app.SYSTEM, **own)
def test_conversations_that_share_answers(prompt):
    def branch(numbered):
        number, ticket = numbered
        asked = app.said(str(prompt), ticket)
        label = app.client.chat.completions.create(model="m", messages=asked).choices[0].message.content
        if number == 3:
            asked += [{"role": "assistant", "content": label}, {"role": "user", "content": "Are you sure?"}]
            app.client.chat.completions.create(model="m", messages=asked)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(branch, enumerate(TICKETS)))

COUNT = itertools.count()
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, server: ModelServer):
    """Run pytest on a module of bodies; verdict and score of each test, all that is reported, and what was printed."""
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.delenv("CI", raising=False)
    pytester.makefile(".ini", pytest="[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    constants = repr((SYSTEM, SUMMARY, TICKETS))
    pytester.makepyfile(app=APP.replace("{constants}", constants).replace("{url}", server.url))

    def run(source: str, *arguments: str, brittle: str = ""):
        server._model.brittle = brittle
        pytester.makepyfile(test_it=HEAD + textwrap.dedent(source))
        result = pytester.runpytest_inprocess("--promptfuzz-report=json:report.json", *arguments)
        report = json.loads((pytester.path / "report.json").read_text())
        tests = {each["test"].rpartition("::")[2]: each for each in report["tests"]}
        return {name: (each["verdict"], each["score"]) for name, each in tests.items()}, tests, result

    return run


@pytest.mark.with_plugins("anyio")
def test_no_order_of_answers_changes_a_verdict(run) -> None:
    found, _, _ = run(BODIES, "--promptfuzz-mode=live")
    assert {name: each for name, each in found.items() if each != ("pass", 1.0)} == {}
    assert len(found) >= BODIES.count("@robust")
    stored, _, result = run(BODIES)  # what one test was answered serves the next one at once
    assert stored == found
    assert not result.stdout.fnmatch_lines(["*[1-9]* stored answers*"])


@pytest.mark.with_plugins("anyio")
def test_an_application_that_breaks_in_one_of_its_calls_is_brittle(run) -> None:
    found, _, result = run(
        BODIES, "-k", "map or providers or test_gather or group or same or share", brittle="charged"
    )
    for name, (verdict, score) in found.items():
        # That one asks with the prompt as it is, and mutates what stands beside it.
        sound = name == "test_threads_that_share_a_pool"
        assert (verdict, score) == (("pass", 1.0) if sound else ("brittle", 0.0)), name
    result.stdout.fnmatch_lines(["*in the answer to 'I was charged twice for May.': *"])
    # Its answer is an earlier one of another call's conversation, and all the same an end.
    found, _, _ = run(BODIES, "-k", "conversations", brittle="parcel")
    assert found == {"test_conversations_that_share_answers": ("brittle", 0.0)}


OTHERS = """
import itertools
numbers = itertools.count()

def mutated(prompt):
    return str(prompt) != app.SYSTEM

def at_once(prompt, tickets):
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda ticket: app.sort(ticket, str(prompt)), tickets))

# Calls of the body's own thread or task are made one after the other: the last one is what they come to.

@robust(app.SYSTEM, **own)
def test_line_of_a_thread(prompt):
    app.reply("I was charged twice for May.", str(prompt))

@robust(app.SYSTEM, **own)
def test_line_of_a_loop(prompt):
    async def main():
        await app.asort("I was charged twice for May.", str(prompt))
        await app.asort("Where is my parcel?", str(prompt))
    asyncio.run(main())

@pytest.mark.asyncio
@robust(app.SYSTEM, **own)
async def test_line_of_a_task(prompt):
    await app.asort("I was charged twice for May.", str(prompt))
    await app.asort("Where is my parcel?", str(prompt))

@pytest.mark.asyncio
@robust(app.SYSTEM, **own)
async def test_line_before_tasks(prompt):
    await app.asort("I was charged twice for May.", str(prompt))
    await asyncio.gather(app.asort("Where is my parcel?"), app.asort("The page shows an error."))

# Where calls cannot be matched, the test's own checks alone judge.

@robust(app.SYSTEM, **own)
def test_more_calls_checked(prompt):
    assert all(at_once(prompt, [*TICKETS][1 : 3 + mutated(prompt)]))

@robust(app.SYSTEM, **own)
def test_more_calls(prompt):
    at_once(prompt, [*TICKETS][1 : 3 + mutated(prompt)])

@robust(app.SYSTEM, **own)
def test_more_calls_of_which_one_breaks(prompt):
    assert all(at_once(prompt, [*TICKETS][: 2 + mutated(prompt)]))

@robust(app.SYSTEM, **own)
def test_other_calls(prompt):
    at_once(prompt, [*TICKETS][2 * mutated(prompt):][:2])

# The last of the tickets is asked for once, and answered otherwise under every mutation.

@robust(app.SYSTEM, **own, expected="billing")
def test_gold(prompt):
    at_once(prompt, [*TICKETS][1:3])

@robust(app.SYSTEM, **own)
def test_order_of_what_is_returned(prompt):
    return at_once(prompt, [*TICKETS][: 2][:: -1 if next(numbers) % 2 else 1])

@robust(**wire, call=1)
def test_pin():
    at_once(app.SYSTEM, [*TICKETS][:1]), app.sort("Where is my parcel?", app.SUMMARY)
"""


def test_what_else_a_body_may_do(run) -> None:
    found, tests, result = run(OTHERS, brittle="charged")
    lines = {name: each for name, each in found.items() if "line" in name}
    assert lines == dict.fromkeys(lines, ("pass", 1.0))
    assert len(lines) == 4
    assert found["test_more_calls_checked"] == ("pass", 1.0)
    assert {found[f"test_{name}_calls"][0] for name in ("more", "other")} == {"inconclusive"}
    assert found["test_more_calls_of_which_one_breaks"] == ("brittle", 0.0)
    said = {name: " ".join(each.get("notes", [])) for name, each in tests.items()}
    for name, judged in (
        ("more_calls_checked", "only the test's own checks judged them"),
        ("more_calls", "nothing judged them"),
    ):
        assert "on 2 of 2 mutations the test made other calls at once" in said[f"test_{name}"]
        assert f"were not compared, and {judged}. Return what is to be compared" in said[f"test_{name}"]
    assert found["test_gold"] == ("pass", 1.0)
    assert "Return the answer that is expected" in said["test_gold"]
    result.stdout.fnmatch_lines(
        [
            "*gave the same items in another order*Sort what the test returns.*",
            "*call=1 counts calls in order, and this test makes calls in other threads or tasks*match=*",
        ]
    )
