"""Applications as people write them, each in a real pytest process: what is seen, judged, counted and restored."""

from __future__ import annotations

import contextlib
import shlex
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from pytest_promptfuzz.plugin.suite_runs import kept
from pytest_promptfuzz.server import faults
from pytest_promptfuzz.server.model_server import ModelServer
from tests import warm
from tests.in_process import run_pytest
from tests.plugin.conftest import INI, PROMPT, summary_of
from tests.plugin.stalling import Stalling

PROMPTS = '''
from collections import namedtuple
from dataclasses import dataclass

TRIAGE = """Classify the support ticket below into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.

Rules:
- Answer with the label only
- Do not explain your choice

Ticket:
{ticket}"""
SUMMARY = """Summarise the text below in one sentence. Keep to the facts.

Text: {text}"""
URGENCY = """Classify the urgency of the ticket as high, medium or low.

Ticket: {ticket}"""
TABLE = {"triage": TRIAGE, "triage-v2": TRIAGE}
CHAT = [
    {"role": "system", "content": "You sort tickets. Answer with exactly one of: BILLING, TECHNICAL, OTHER."},
    {"role": "user", "content": "I was charged twice and want a refund."},
]

class Base:
    TEXT = TRIAGE

class Holder(Base):
    pass

@dataclass
class Plain:
    text: str = TRIAGE

@dataclass(frozen=True)
class Frozen:
    text: str = TRIAGE

@dataclass(frozen=True, slots=True)
class Slotted:
    text: str = TRIAGE

PLAIN, FROZEN, SLOTTED = Plain(), Frozen(), Slotted()
TUPLE = namedtuple("Tuple", "text")(TRIAGE)

def make(ticket):
    return TRIAGE.format(ticket=ticket)
'''
APP = """
import openai

client = openai.OpenAI(api_key="none")
aclient = openai.AsyncOpenAI(api_key="none")

def claude(kind="Anthropic"):
    import anthropic
    return getattr(anthropic, kind)(api_key="none")

def user(text):
    return [{"role": "user", "content": text}]

def chat(text, **more):
    return client.chat.completions.create(model="m", messages=user(text), **more).choices[0].message.content

async def achat(text):
    return (await aclient.chat.completions.create(model="m", messages=user(text))).choices[0].message.content

async def own_client(text):
    async with openai.AsyncOpenAI(api_key="none") as own:
        answer = await own.chat.completions.create(model="m", messages=user(text))
    return answer.choices[0].message.content

def stream(text):
    chunks = client.chat.completions.create(model="m", messages=user(text), stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)

async def astream(text):
    chunks = await aclient.chat.completions.create(model="m", messages=user(text), stream=True)
    return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices])

def responses(text):
    with client.responses.stream(model="m", input=text) as events:
        return events.get_final_response().output_text if list(events) else None

async def messages(text):
    async with claude("AsyncAnthropic").messages.stream(model="m", max_tokens=99, messages=user(text)) as events:
        return await events.get_final_text()
"""
HEAD = """
import asyncio, functools, json, textwrap
from concurrent.futures import ThreadPoolExecutor
import pytest
import app, prompts

triage = dict(mutate="prompts.TRIAGE", mutations=4)

def filled(ticket=TICKET):
    return prompts.TRIAGE.format(ticket=ticket)

"""


@pytest.fixture
def application(project):
    return lambda source, *arguments: project(
        HEAD + textwrap.dedent(source), *arguments, prompts=PROMPTS, app=APP
    )


@pytest.mark.with_plugins("anyio")
def test_every_way_of_calling_is_seen_and_a_second_run_makes_no_call(application):
    source = """
    @robust(**triage)
    def test_sync():
        return app.chat(filled())

    @pytest.mark.asyncio
    @robust(**triage)
    async def test_async():
        return await app.achat(filled())

    @pytest.mark.anyio
    @pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
    @robust(**triage)
    async def test_anyio(anyio_backend):
        return await app.own_client(filled())

    @robust(**triage)
    def test_loop_of_its_own():
        return asyncio.run(app.own_client(filled()))

    @robust(**triage)
    def test_threads():
        with ThreadPoolExecutor(3) as pool:
            return list(pool.map(app.chat, [filled(), filled("The app crashes."), filled()]))

    @pytest.mark.asyncio
    @robust(prompts.TRIAGE, mutations=4)
    async def test_threads_without_context(prompt):
        run = asyncio.get_running_loop().run_in_executor
        tickets = TICKET, "The app crashes."
        return await asyncio.gather(*[run(None, app.chat, prompt.format(ticket=each)) for each in tickets])

    @robust(**triage)
    def test_stream():
        return app.stream(filled())

    @pytest.mark.asyncio
    @robust(**triage)
    async def test_astream():
        return await app.astream(filled())

    @robust(**triage)
    def test_responses():
        return app.responses(filled())

    @pytest.mark.asyncio
    @robust(**triage)
    async def test_messages():
        return await app.messages(filled())

    def test_plain():
        import httpx2
        assert httpx2.HTTPTransport.handle_request.__module__.startswith("httpx2")
    """
    first = application(source)
    first.assert_outcomes(passed=12)
    assert set(summary_of(first).values()) == {"pass"}
    assert "came from threads that do not" in first.stdout.str()
    again = application(source)
    again.assert_outcomes(passed=12)
    again.stdout.fnmatch_lines(["11 robust tests: 11 passed; 0 calls *"])


def test_prompts_are_found_and_restored_wherever_they_are_kept(application):
    result = application(
        """
        PLACES = {
            "TRIAGE": lambda: prompts.TRIAGE,
            "Base.TEXT": lambda: prompts.Base.TEXT,
            "Holder.TEXT": lambda: prompts.Holder().TEXT,
            "PLAIN.text": lambda: prompts.PLAIN.text,
            "FROZEN.text": lambda: prompts.FROZEN.text,
            "SLOTTED.text": lambda: prompts.SLOTTED.text,
            "TABLE.triage": lambda: prompts.TABLE["triage"],
            "TABLE.triage-v2": lambda: prompts.TABLE["triage-v2"],
        }
        ORIGINAL = prompts.TRIAGE

        def make(place, read):
            @robust(mutate="prompts." + place, mutations=3)
            def test():
                return app.chat(read().format(ticket=TICKET))
            return test

        for number, (place, read) in enumerate(PLACES.items()):
            globals()[f"test_{number}"] = make(place, read)

        @robust(mutate="prompts.CHAT", mutations=3)
        def test_chat():
            answer = app.client.chat.completions.create(model="m", messages=prompts.CHAT)
            return answer.choices[0].message.content

        def test_restored():
            assert all(read() is ORIGINAL for read in PLACES.values())
            assert "TEXT" not in vars(prompts.Holder)
        """
    )
    result.assert_outcomes(passed=10)
    assert set(summary_of(result).values()) == {"pass"}


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("TABLE", "*is a mapping. Name one of its values such as mutate='prompts.TABLE.triage'.*"),
        ("TABLE.triag", "*prompts.TABLE has no 'triag'. Did you mean 'triage'*"),
        ("make", "*'prompts.make' is callable, and its text is not known before it is called.*"),
        ("TUPLE.text", "*mutate='prompts.TUPLE.text' names what cannot be replaced: *"),
    ],
)
def test_what_cannot_be_mutated_is_refused(application, place, message):
    result = application(
        f"""
        @robust(mutate="prompts.{place}")
        def test_refused():
            return app.chat(filled())
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])


def test_what_applications_do_to_prompts(application):
    result = application(
        """
        TOOL = {"name": "label", "parameters": {"type": "object", "properties": {"label": {"type": "string"}}}}

        def tools(**more):
            return [{"type": "function", "function": {**TOOL, **more}}]

        @robust(**triage)
        def test_stripped_and_dedented():
            return app.chat(textwrap.dedent(filled()).strip())

        @robust(**triage, operators=["keyboard-typo", "upper-case", "synonym"])  # it undoes other spacing
        def test_joined():
            return app.chat(" ".join(filled().split()))

        @robust(**triage, compare=False)
        def test_in_json():
            assert app.chat(json.dumps({"task": filled()}))

        @robust(**triage)
        def test_in_a_tool():
            answer = app.client.chat.completions.create(
                model="m", messages=app.user(TICKET), tools=tools(description=prompts.TRIAGE)
            ).choices[0].message
            return answer.content or answer.tool_calls[0].function.name

        @robust(**triage)
        def test_in_system_blocks():
            system = [{"type": "text", "text": prompts.TRIAGE, "cache_control": {"type": "ephemeral"}}]
            return app.claude().messages.create(
                model="m", max_tokens=50, system=system, messages=app.user(TICKET)
            ).content[0].text

        @robust(**triage)
        def test_tool_loop():
            messages = app.user(filled())
            more = {"model": "m", "tools": tools(description="Records the label")}
            said = app.client.chat.completions.create(messages=messages, tool_choice="required", **more)
            said = said.choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            messages += [{"role": "tool", "tool_call_id": call.id, "content": "ok"} for call in said.tool_calls]
            return app.client.chat.completions.create(messages=messages, **more).choices[0].message.content

        @robust(mutate="prompts.SUMMARY", mutations=4, threshold=0.7)
        def test_pipeline():
            summary = app.chat(prompts.SUMMARY.format(text=TICKET + " The invoice is number 4711."))
            return app.chat(filled(summary))

        @robust(**triage)
        def test_embeddings_too():
            assert app.client.embeddings.create(model="e", input=TICKET).data[0].embedding
            return app.chat(filled())
        """
    )
    result.assert_outcomes(passed=8)
    assert set(summary_of(result).values()) == {"pass"}


def test_caches_of_the_application(application):
    result = application(
        """
        @functools.cache
        def by_prompt(text):
            return app.chat(text)

        @functools.cache
        def by_ticket(ticket):
            return app.chat(filled(ticket))

        @robust(**triage)
        def test_by_prompt():
            return by_prompt(filled())

        @robust(prompts.URGENCY, mutations=8, max_deviations=0)
        def test_brittle(prompt):
            assert by_prompt(prompt.format(ticket="The checkout is down and nobody can pay.").strip()) == "high"

        @robust(**triage)
        def test_by_ticket():
            return by_ticket(TICKET)
        """
    )
    result.assert_outcomes(passed=1, failed=1, errors=1)
    assert summary_of(result) == {
        "test_by_prompt": "pass",
        "test_brittle": "brittle",
        "test_by_ticket": "inconclusive",
    }
    result.stdout.fnmatch_lines(["*the test made 0 model calls in its second run*"])
    assert "each run sends another request" not in result.stdout.str()
    result.stdout.fnmatch_lines(
        ["FAILED *test_brittle - brittle: 1 of 8 trials deviates (imperative-to-question)"]
    )


def test_a_mutation_that_the_application_undoes(application):
    result = application(
        """
        @robust(mutate="prompts.TRIAGE", mutations=4, operators={"lower-case": 1, "synonym": 1})
        def test_lower():
            return app.chat(filled().lower())
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*not-exercised*lower-case*", "*though other mutations reached the model*"])
    assert "A cached function" not in result.stdout.str()


def test_a_failed_subtest_is_a_failure_of_its_run(application):
    source = """
    OUTAGE = "The checkout page is down and nobody can pay."

    @robust(prompts.URGENCY, mutations=8, max_deviations=1)
    def test_tolerated(prompt, subtests):
        with subtests.test("outage", number=1):
            assert app.chat(prompt.format(ticket=OUTAGE)) == "high"

    @pytest.mark.asyncio
    @robust(prompts.URGENCY, mutations=8, max_deviations=0)
    async def test_brittle(prompt, subtests):
        with subtests.test("skipped"):
            pytest.skip("not today")
        with subtests.test("outage", number=1):
            assert await app.achat(prompt.format(ticket=OUTAGE)) == "high"
        with subtests.test("goes on"):
            assert True
    """
    result = application(source)
    result.assert_outcomes(passed=1, failed=1)
    assert summary_of(result) == {"test_tolerated": "pass", "test_brittle": "brittle"}
    if sys.version_info >= (3, 11):
        result.stdout.fnmatch_lines(["*in subtest [[]outage[]] (number=1)"])


def test_the_command_that_reproduces_works_where_pytest_was_run(application, pytester, monkeypatch):
    application(
        """
        @robust(prompts.URGENCY, mutations=8, max_deviations=0)
        @pytest.mark.parametrize("_", [1], ids=["it's"])
        def test_brittle(prompt, _):
            assert app.chat(prompt.format(ticket="The checkout is down and nobody can pay.")) == "high"
        """,
        "--collect-only",
    )
    pytester.makefile(".ini", pytest=INI.replace("promptfuzz_target = simulated", ""))
    elsewhere = pytester.path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("COLUMNS", "300")
    arguments = ["../test_it.py", "--promptfuzz-target", "simulated", "--promptfuzz-seed=3", "-q"]
    shown = run_pytest(*arguments, folder=elsewhere)
    assert shown.returncode == 1, shown.stdout
    line = next(line for line in shown.stdout.splitlines() if "--promptfuzz-trial=" in line)
    copied = line.removeprefix("   reproduce").strip()
    assert copied.startswith("pytest '../test_it.py::test_brittle[it")
    assert copied.endswith("--promptfuzz-target simulated --promptfuzz-seed=3")
    again = run_pytest(*shlex.split(copied)[1:], folder=elsewhere)
    assert again.returncode == 1, again.stdout
    assert "E       AssertionError" in again.stdout
    assert (pytester.path / ".promptfuzz").is_dir()
    assert not (elsewhere / ".promptfuzz").exists()


def test_only_what_decides_a_trial_is_kept_of_a_command_line():
    given = [
        "-q",
        "-x",
        "tests",
        "-k",
        "a",
        "--promptfuzz-trial=1",
        "--promptfuzz-concurrency=1",
        "--rootdir=.",
        "-n2",
    ]
    assert kept(given) == ["--rootdir=."]
    assert kept(["-c", "my ini", "--promptfuzz-override", "seed=1"]) == [
        "-c",
        "'my ini'",
        "--promptfuzz-override",
        "seed=1",
    ]


LIVE = """
import openai

def ask(text, retries=0):
    with openai.OpenAI(max_retries=retries) as client:
        messages = [{"role": "user", "content": text}]
        return client.chat.completions.create(model="m", messages=messages).choices[0].message.content

def polite(text):
    try:
        return ask(text)
    except openai.OpenAIError:
        return "Sorry, try later."

@robust(TRIAGE, mutations=4)
def test_retried(prompt):
    return ask(prompt.format(ticket=TICKET), retries=2)

@robust(TRIAGE, mutations=4)
def test_polite(prompt):
    return polite(prompt.format(ticket=TICKET))

def test_plain():
    assert ask("Classify as GOOD or BAD: nice") == ask("Classify as GOOD or BAD: nice")
"""


@pytest.fixture
def server(monkeypatch):
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        yield server


def test_a_retried_baseline_is_repeatable_and_plain_tests_reach_the_server(server, project):
    server.fail(faults.RateLimited(retry_after=0.01), next=1)
    result = project(LIVE, "--promptfuzz-target=openai:m", "-k", "retried or plain")
    result.assert_outcomes(passed=2, deselected=1)
    assert "in its second run" not in result.stdout.str()
    assert server.answered == 5 + 2
    server.reset()
    project(LIVE, "--promptfuzz-target=openai:m", "-k", "retried or plain").assert_outcomes(
        passed=2, deselected=1
    )
    assert server.calls == 2


def test_an_application_that_apologises_for_its_provider_is_not_brittle(server, project):
    server.fail(faults.ServerError(), next=None, every=2)
    result = project(LIVE, "--promptfuzz-target=openai:m", "--promptfuzz-attempts=1", "-k", "polite")
    assert summary_of(result) == {"test_polite": "inconclusive"}
    result.assert_outcomes(errors=1, deselected=2)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT")
def test_an_interrupt_ends_the_run_and_keeps_what_was_answered(project, pytester, monkeypatch):
    pytester.makepyfile(test_it=PROMPT + LIVE)
    command = [sys.executable, "-m", "pytest", "-k", "retried", "--promptfuzz-target=openai:m"]
    command.append("--promptfuzz-speculate=off")  # one call after the other
    model = Stalling(2)
    with ModelServer(model) as server, contextlib.ExitStack() as ended:
        ended.callback(model.go_on.set)
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        process = warm.Popen(command, cwd=pytester.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        while server.calls < 3 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        shown, _ = process.communicate()
        assert process.returncode == 2, shown.decode()
        assert b"INTERNALERROR" not in shown
        model.begin_anew(server)
        project(LIVE, "--promptfuzz-target=openai:m", "-k", "retried").assert_outcomes(passed=1, deselected=2)
        assert server.calls == 3


def test_two_runs_at_once_share_one_store(server, project, pytester):
    pytester.makepyfile(test_it=PROMPT + LIVE)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--promptfuzz-target=openai:m"]
    runs = [
        warm.Popen(command, cwd=pytester.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(2)
    ]
    for run in runs:
        shown, _ = run.communicate()
        assert run.returncode == 0, shown.decode()
    server.reset()
    assert run_pytest(*command[3:]).returncode == 0
    assert server.calls == 2


def test_output_survives_any_terminal(application, monkeypatch):
    source = """
    @robust(prompts.URGENCY, mutations=8, max_deviations=0)
    def test_brittle(prompt):
        assert app.chat(prompt.format(ticket="The checkout is down and nobody can pay.")) == "high"
    """
    for settings in (
        {"COLUMNS": "40", "PYTHONIOENCODING": "ascii"},
        {"COLUMNS": "80", "TERM": "dumb", "CI": "true", "NO_COLOR": "1"},
    ):
        with monkeypatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, value)
            result = application(source, "--show-capture=no")
        result.assert_outcomes(failed=1)
        assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
        widths = [len(line) for line in result.outlines if "prompt  " in line or "response  " in line]
        assert widths
        assert max(widths) <= int(settings["COLUMNS"])
