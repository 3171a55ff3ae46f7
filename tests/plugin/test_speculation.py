"""The calls of sync bodies are made before they ask, many at once, and change nothing but the time it takes."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.providers.requests import Response, ToolCall, Usage
from pytest_promptfuzz.server.faults import Dropped, DroppedMidBody, ServerError
from pytest_promptfuzz.server.model_server import ModelServer
from tests import warm
from tests.plugin.reported import CONFTEST, fresh, reports, threads_left

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.providers.requests import Request

APP = '''
import datetime, functools, itertools, json, os, time, uuid
import httpx2, openai

TICKET = "I was charged twice this month and want a refund."
SORT = """Classify the ticket into exactly one of: BILLING, OTHER.
Answer with the label only.

Ticket: {ticket}"""
SHORT = "Summarise the text of the user in one short sentence. Keep to the facts."
TOOL = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
shared = openai.OpenAI()
numbers = itertools.count()

def ask(text, system=None, client=shared, **more):
    said = [{"role": "system", "content": system}] if system else []
    said += [{"role": "user", "content": text}]
    return client.chat.completions.create(model="m", messages=said, **more).choices[0].message.content

def own_client(text):
    with openai.OpenAI(http_client=httpx2.Client()) as client:
        return ask(text, client=client)

def streamed(text):
    events = shared.chat.completions.create(model="m", messages=[{"role": "user", "content": text}], stream=True)
    return "".join(each.choices[0].delta.content or "" for each in events if each.choices)

@functools.cache
def claude():
    import anthropic
    return anthropic.Anthropic()

def by_anthropic(text):
    return claude().messages.create(
        model="m", max_tokens=99, messages=[{"role": "user", "content": text}]
    ).content[0].text

def by_responses(text):
    return shared.responses.create(model="m", input=text).output_text

def converse(text):
    """The second request repeats the first and quotes its answer."""
    said = [{"role": "user", "content": text}]
    first = shared.chat.completions.create(model="m", messages=said).choices[0].message.content
    said += [{"role": "assistant", "content": first}, {"role": "user", "content": f"Are you sure of {first}?"}]
    return shared.chat.completions.create(model="m", messages=said).choices[0].message.content

def look_up(order):
    return "shipped on Monday"

def with_tool(text):
    said = [{"role": "user", "content": text}]
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": TOOL}}]
    while True:
        m = shared.chat.completions.create(model="m", messages=said, tools=tools).choices[0].message
        if not m.tool_calls:
            return m.content
        said.append(m.model_dump(exclude_none=True))
        for c in m.tool_calls:
            result = look_up(**json.loads(c.function.arguments))
            said.append({"role": "tool", "tool_call_id": c.id, "content": result})

def reply(text):
    """An application that nothing is given to: its own system text is mutated on the wire."""
    return ask(text, system=SHORT)
'''
HEAD = """
import datetime, time, uuid
import pytest
import app
from app import SORT, TICKET, ask, shared
from pytest_promptfuzz import Prompt, robust

sort = robust(Prompt(SORT), mutations=3, threshold=0.0)
"""
SUITE = """
@sort
def test_llm(prompt, llm):
    return llm(prompt.format(ticket=TICKET)).text

@sort
def test_sdk(prompt):
    return ask(prompt.format(ticket=TICKET))

@sort
def test_own_client(prompt):
    return app.own_client(prompt.format(ticket=TICKET))

@sort
def test_forgotten_client(prompt):
    return ask(prompt.format(ticket=TICKET), client=app.openai.OpenAI())

@sort
def test_anthropic(prompt):
    return app.by_anthropic(prompt.format(ticket=TICKET))

@sort
def test_responses(prompt):
    return app.by_responses(prompt.format(ticket=TICKET))

@sort
def test_streamed(prompt):
    return app.streamed(prompt.format(ticket=TICKET))

@sort
def test_converse(prompt):
    return app.converse(prompt.format(ticket=TICKET))

@sort
def test_with_tool(prompt):
    return app.with_tool(prompt.format(ticket=TICKET))

@sort
def test_two(prompt):
    return ask(prompt.format(ticket=TICKET[:20])), ask(prompt.format(ticket=TICKET))

@sort
def test_same_twice(prompt):
    text = prompt.format(ticket=TICKET)
    return ask(text), ask(text)

@sort
def test_both_roles(prompt):
    return ask(prompt.format(ticket=TICKET), system="You are given:\\n" + str(prompt))

@sort
def test_formatted_twice(prompt):
    return ask(prompt.format(ticket=prompt.format(ticket=TICKET)))

@sort
def test_template_in_value(prompt):
    return ask(prompt.format(ticket=f"See: {SORT} {TICKET}"))

@sort
def test_sleeping(prompt):
    time.sleep(0.01)
    return ask(prompt.format(ticket=TICKET))

@sort
def test_choosy(prompt):
    answer = ask(prompt.format(ticket=TICKET))
    assert answer == "BILLING"
    return answer

@sort
def test_cookies(prompt):
    return ask(prompt.format(ticket=TICKET), extra_headers={"cookie": f"n={next(app.numbers)}"})

@robust(mutate="app.SORT", mutations=3, threshold=0.0)
def test_path():
    return ask(app.SORT.format(ticket=TICKET) + "\\nThank you.")

@robust(mutate="text", mutations=3, threshold=0.0)
@pytest.mark.parametrize("text", ["\\n" + SORT.format(ticket=TICKET) + "\\n"])
def test_stripped(text):
    return ask(text.strip())

@robust(mutate="role:system", mutations=3, threshold=0.0)
def test_role():
    return app.reply(TICKET)

@robust(Prompt(SORT), part="input", mutations=3, threshold=0.0)
def test_input(prompt):
    return ask(prompt.format(ticket=TICKET))

@robust(
    Prompt.from_messages([{"role": "system", "content": app.SHORT}, {"role": "user", "content": "Text: {ticket}"}]),
    mutations=3,
    threshold=0.0,
)
def test_chat(prompt):
    said = prompt.format(ticket=TICKET)
    return shared.chat.completions.create(model="m", messages=said).choices[0].message.content
"""
BODIES = {found.partition("def test_")[2].partition("(")[0]: found for found in SUITE.strip().split("\n\n")}
TWO_CALLS = {"converse", "with_tool", "two", "same_twice"}
ORIGINAL = "one of: BILLING, OTHER.\nAnswer with the label only."


class Sorter:
    """Answers by what it is asked: mostly BILLING; calls the tool that it is given, with another ID each time."""

    version = "sorter-1"
    numbers = itertools.count()

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        del sample
        usage = Usage(input_tokens=9, output_tokens=2)
        if request.parameters.get("tools") and request.messages[-1]["role"] != "tool":
            call = ToolCall("look_up", {"order": "17"}, f"call_{next(self.numbers)}")
            return Response("", (call,), usage=usage, finish_reason="tool_calls")
        told = [each.get("content") for each in request.messages if each["role"] != "tool"]
        digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).digest()
        unchanged = ORIGINAL in str(told[-1])
        return Response(
            "BILLING" if unchanged or digest[0] % 4 else "OTHER", usage=usage, finish_reason="stop"
        )


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Sorter(), latency=0.05, key="sk-none") as running:
        yield running


@pytest.fixture
def live(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, server: ModelServer):
    """Run bodies against the server in a process of its own."""
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.delenv("CI", raising=False)
    for name, url in (("OPENAI", server.openai_url), ("ANTHROPIC", server.anthropic_url)):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-none")
        monkeypatch.setenv(f"{name}_BASE_URL", url)
    pytester.makeconftest(CONFTEST)
    pytester.makefile(
        ".ini",
        pytest="[pytest]\npromptfuzz_target = openai:m\nfilterwarnings = error\n"
        "promptfuzz_inconclusive = pass\nasyncio_default_fixture_loop_scope = function\n",
    )
    pytester.makepyfile(app=APP)

    def run(*bodies: str, arguments: tuple[str, ...] = ()) -> pytest.RunResult:
        server.reset()
        # Each asks of a ticket of its own, so that none finds another's answers in the store.
        own = (
            BODIES[each].replace("TICKET", f"(TICKET + ' ({each})')") if each in BODIES else each
            for each in bodies
        )
        source = "\n\n".join([HEAD, *own])
        pytester.makepyfile(test_it=source)
        return pytester.runpytest("-p", "no:cacheprovider", *arguments)

    return run


OFF = ("--promptfuzz-speculate=off",)


def spent(found: dict[str, Any], key: str) -> dict[str, int]:
    """What the tests took, by the part of their names behind ``test_``."""
    return {name.split("::test_")[1].split("[")[0]: each["spent"].pop(key) for name, each in found.items()}


def same_but_for_speculation(one: dict[str, Any], other: dict[str, Any]) -> None:
    for each in (one, other):
        spent(each, "speculated")
        assert set(spent(each, "unused").values()) == {0}
    assert one == other


def test_every_trial_and_verdict_is_the_same_with_and_without(pytester, live, server):
    result = live(*BODIES)
    made = server.calls
    assert server.peak > 1
    found = reports(pytester)
    assert len(found) == len(BODIES), result.stdout.str()
    assert {name for name, each in found.items() if each["spent"]["unused"]} == set()
    fresh(pytester)
    live(*BODIES, arguments=OFF)
    assert server.peak == 1
    without = reports(pytester)
    assert made == server.calls
    speculated = {
        name.split("::test_")[1].split("[")[0]: r["spent"]["speculated"] for name, r in found.items()
    }
    for name in BODIES:
        # All but the first mutation's; where an answer decides what is asked, or an end of a value is not sure, fewer.
        most = 4 if name in TWO_CALLS else 2
        assert 0 < speculated[name] <= most, name
        if name not in {"converse", "path"}:
            assert speculated[name] == most, name
    same_but_for_speculation(found, without)
    assert threads_left(pytester) == []


def test_calls_overlap_up_to_the_concurrency(live, server):
    body = "@robust(Prompt(SORT), mutations=8, threshold=0.0)\ndef test_it(prompt):\n    return ask(prompt.format(ticket=TICKET))"
    live(body).assert_outcomes(passed=1)
    assert server.calls == 9
    assert 2 < server.peak <= 8  # how many, a busy machine decides


def test_the_concurrency_is_kept(pytester, live, server):
    body = "@robust(Prompt(SORT), mutations=8, threshold=0.0)\ndef test_it(prompt):\n    return ask(prompt.format(ticket=TICKET))"
    live(body, arguments=("--promptfuzz-concurrency=3",)).assert_outcomes(passed=1)
    assert server.calls == 9
    assert 1 < server.peak <= 3
    fresh(pytester)
    live(body, arguments=("--promptfuzz-concurrency=1",)).assert_outcomes(passed=1)
    assert server.peak == 1


REFUSING = """
class Refusing(threading.Thread):
    def start(self):
        assert not self.name.startswith("promptfuzz")
        super().start()

threading.Thread = Refusing
"""


def test_what_is_stored_needs_no_thread(pytester, live, server):
    live("llm", "sdk", "role").assert_outcomes(passed=3)
    pytester.makeconftest(CONFTEST + REFUSING)
    live("llm", "sdk", "role").assert_outcomes(passed=3)
    assert server.calls == 0
    fresh(pytester)
    for arguments in (OFF, ("--promptfuzz-concurrency=1",), ("--promptfuzz=off",)):
        live("llm", "sdk", "role", arguments=arguments).assert_outcomes(passed=3)
        fresh(pytester)


UNREPEATABLE = """
@sort
def test_clock(prompt):
    return ask(prompt.format(ticket=TICKET) + f" {time.perf_counter_ns()}")

@sort
def test_identifier(prompt):
    return ask(prompt.format(ticket=TICKET), user=uuid.uuid4().hex)

@sort
def test_header(prompt):
    return ask(prompt.format(ticket=TICKET + "!"), extra_headers={"x-request": uuid.uuid4().hex})
"""


def test_what_differs_each_time_is_not_foretold(pytester, live, server):
    live(UNREPEATABLE)
    found = reports(pytester)
    assert set(spent(found, "speculated").values()) == {0}
    assert server.peak == 1
    assert len(found) == 3


FICKLE = """
@robust(Prompt(SORT), mutations=6, threshold=0.0)
def test_fickle(prompt):
    # The baseline, its control, three mutations, and then something else.
    more = " Thank you." if next(app.numbers) == 4 else ""
    return ask(prompt.format(ticket=TICKET) + more)
"""


@pytest.mark.parametrize("concurrency", [2, 8])
def test_a_wrong_guess_ends_it_and_changes_nothing(pytester, live, server, concurrency):
    arguments = (f"--promptfuzz-concurrency={concurrency}",)
    result = live(FICKLE, arguments=arguments)
    result.assert_outcomes(passed=1)
    found = reports(pytester)
    (report,) = found.values()
    made, unused = report["spent"]["speculated"], report["spent"]["unused"]
    assert unused >= 1
    assert made <= 5
    assert server.calls == 7 + unused == report["spent"]["calls"]
    said = " ".join(result.stdout.str().split())
    assert f"speculated {made} calls, {unused} of them unused" in said
    if concurrency == 8:
        assert (made, unused) == (5, 1)
    fresh(pytester)
    live(FICKLE, arguments=OFF).assert_outcomes(passed=1)
    (without,) = reports(pytester).values()
    for each in (report, without):
        del each["spent"]
    assert report == without


EXAMPLES = """
from hypothesis import HealthCheck, Phase, given, settings, strategies

@robust(Prompt(SORT), mutations=6, threshold=0.0)
@settings(
    max_examples=3,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(number=strategies.integers(1, 10**6))
def test_examples(prompt, number):
    more = " Thank you." if next(app.numbers) == FICKLE_AT else ""
    return ask(prompt.format(ticket=f"{TICKET} {number}") + more)
"""


@pytest.mark.parametrize(("at", "made", "unused"), [(4, 5, 1), (12, 10, 1), (-1, 15, 0)])
def test_a_wrong_guess_ends_it_for_the_further_examples_of_a_test(pytester, live, server, at, made, unused):
    live(EXAMPLES.replace("FICKLE_AT", str(at))).assert_outcomes(passed=1)
    (report,) = reports(pytester).values()
    assert (report["spent"]["speculated"], report["spent"]["unused"]) == (made, unused)
    assert server.calls == 21 + unused


def test_a_recording_holds_only_what_was_asked(pytester, live, server, monkeypatch):
    live(
        FICKLE.replace("== 4", "== 6"), "sdk", "converse", arguments=("--promptfuzz-mode=record",)
    ).assert_outcomes(passed=3)
    with_it = recorded(pytester)
    assert sum(each["spent"]["unused"] for each in reports(pytester).values()) == 1
    fresh(pytester)
    (pytester.path / "__promptfuzz__" / "test_it.calls.jsonl").unlink()
    live(
        FICKLE.replace("== 4", "== 6"), "sdk", "converse", arguments=("--promptfuzz-mode=record", *OFF)
    ).assert_outcomes(passed=3)
    assert recorded(pytester) == with_it
    fresh(pytester)
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-other")
    live("sdk", "converse", arguments=("--promptfuzz-mode=replay",)).assert_outcomes(passed=2)
    assert server.calls == 0


def recorded(pytester: pytest.Pytester) -> list[Any]:
    """Which requests were recorded, and where they stand."""
    text = (pytester.path / "__promptfuzz__" / "test_it.calls.jsonl").read_text()
    names = ("test", "case", "sample", "trial", "call", "request", "plan")
    return [[json.loads(line).get(name) for name in names] for line in text.splitlines()]


@pytest.mark.parametrize(
    ("fault", "shape"),
    [
        (ServerError(status=500, times=None), "sdk"),
        (ServerError(status=400, times=None), "sdk"),
        (Dropped(times=None), "sdk"),
        (DroppedMidBody(times=None), "streamed"),
    ],
)
def test_what_fails_fails_as_it_would_have(pytester, live, server, fault, shape):
    def unlucky(text: str) -> bool:
        return ORIGINAL not in json.loads(text)["messages"][0]["content"] and len(text) % 2 == 0

    seen = []
    for arguments in ((), OFF):
        body = BODIES[shape].replace("@sort", "@robust(Prompt(SORT), mutations=8, threshold=0.0)")
        pytester.makepyfile(test_it=HEAD + body)
        server.reset()
        server.fail(fault, when=unlucky)
        pytester.runpytest("-p", "no:cacheprovider", "--promptfuzz-attempts=2", *arguments)
        seen.append((server.calls, reports(pytester)))
        fresh(pytester)
    (calls, found), (without, other) = seen
    (report,) = found.values()
    assert 0 < report["counts"]["error"] + report["counts"]["deviation"] < 8
    assert report["spent"]["speculated"] > 0
    assert calls == without
    same_but_for_speculation(found, other)
    assert threads_left(pytester) == []


@pytest.mark.parametrize(("most", "speculated"), [(8, 3), (7, 0)])
def test_a_budget_has_to_hold_twice_what_is_foretold(pytester, live, server, most, speculated):
    body = BODIES["sdk"].replace("@sort", "@robust(Prompt(SORT), mutations=4, threshold=0.0)")
    live(body, arguments=(f"--promptfuzz-max-calls={most}",)).assert_outcomes(passed=1)
    assert spent(reports(pytester), "speculated") == {"sdk": speculated}
    assert server.calls == 5


def test_workers_of_xdist(pytester, live, server):
    result = live("llm", "sdk", "role", "converse", arguments=("-n", "2"))
    result.assert_outcomes(passed=4)
    found = reports(pytester)
    assert len(found) == 4
    assert all(each["spent"]["speculated"] for each in found.values())
    assert server.calls == 3 * 4 + 8


def test_an_interrupt_keeps_what_was_answered(pytester, live, server):
    body = '@robust(Prompt(SORT), mutations=8, threshold=0.0)\ndef test_{}(prompt):\n    return ask(prompt.format(ticket=TICKET + "{}"))'
    live(*(body.format(n, n) for n in range(4)), arguments=("--collect-only",))
    with ModelServer(Sorter(), latency=0.4) as slow:
        env = {**os.environ, "OPENAI_BASE_URL": slow.openai_url}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
        with warm.Popen(command, cwd=pytester.path, env=env, stdout=subprocess.PIPE, text=True) as child:
            limit = time.monotonic() + 600
            while slow.calls < 11 + 7 and time.monotonic() < limit:
                time.sleep(0.01)
            child.send_signal(signal.SIGINT)
            output, _ = child.communicate()
        assert child.returncode == 2, output
        assert "KeyboardInterrupt" in output
        answered = slow.answered
        assert 11 <= answered <= 18
        slow.reset()
        again = warm.run(command, cwd=pytester.path, env=env, capture_output=True, text=True, check=False)
        assert "4 passed" in again.stdout
        assert slow.calls <= 36 - 11
