"""Every fault of the local server, through the real SDKs and real pytest runs: none is ever taken for brittleness.

One inner pytest process runs the whole matrix of one API against a server of its own; its verdicts come back as JSON.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_promptfuzz.testing.faults import KINDS, RateLimited, ServerError
from pytest_promptfuzz.testing.server import ModelServer
from tests.plugin.conftest import INI, PROMPT

DOC = Path(__file__).parents[2] / "docs" / "faults.md"
# The API, and the SDKs that its matrix imports; `llm` is the plugin's own client on all of them.
APIS = {"chat": "openai", "responses": "openai", "messages": "anthropic", "llm": "openai anthropic"}
PLACES = ("twice", "one", "three", "all")
FAULTS = (*KINDS, "cancelled")
CONFIGURATION = ("unauthorized", "forbidden", "not-found", "bad-request")
# The SDKs try these again; a stream that has begun cannot be asked for again.
RETRIED = {
    "whole": ("rate-limit", "server-error", "dropped", "dropped-mid-body", "slow", "truncated", "overloaded"),
    "stream": ("rate-limit", "server-error", "dropped", "overloaded"),
}
ERRORS = {
    "rate-limit": "rate-limit",
    "server-error": "server",
    "unauthorized": "authentication",
    "forbidden": "authentication",
    "not-found": "not-found",
    "dropped": "connection",
    "dropped-mid-body": "connection",
    "slow": "timeout",
    "malformed": "malformed",
    "truncated": "connection",
    "overloaded": "rate-limit",
    "html": "malformed",
    "cancelled": "timeout",
}

# The server, its faults, and the verdicts' way out.
CONFTEST = """
import importlib
import json
import os
import pathlib

import pytest

from pytest_promptfuzz.running.limits import retries
from pytest_promptfuzz.testing.server import ModelServer

RESULTS = []
SERVER = ModelServer()


def pytest_configure(config):
    SERVER.start()
    retries.FIRST_WAIT = retries.FIRST_PAUSE = 0.005  # as between ours
    for sdk in os.environ["SDKS"].split():  # an SDK's repetition, which is answered without a call
        base = importlib.import_module(f"{sdk}._base_client")
        base.INITIAL_RETRY_DELAY, base.MAX_RETRY_DELAY = 0.005, 0.01


def pytest_unconfigure(config):
    SERVER.stop()


@pytest.fixture(autouse=True)
def server(monkeypatch):
    SERVER.reset()
    monkeypatch.setenv("OPENAI_BASE_URL", SERVER.openai_url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", SERVER.anthropic_url)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
    return SERVER


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    if call.when == "call":
        item.user_properties.append(("served", SERVER.calls))
    return (yield)


def pytest_runtest_logreport(report):
    if report.when in ("call", "verdict") or report.failed:
        RESULTS.append({
            "test": report.nodeid.partition("::")[2],
            "when": report.when,
            "outcome": report.outcome,
            "text": "" if hasattr(report, "promptfuzz") else str(report.longrepr or ""),
            "served": dict(report.user_properties).get("served"),
            "report": getattr(report, "promptfuzz", None),
        })


def pytest_sessionfinish(session):
    path = pathlib.Path(session.config.rootpath / "results.json")
    path.write_text(json.dumps(RESULTS), encoding="utf-8")
"""

# Which requests a fault hits: those of one mutation (the first two, or each), of three of four, or all.
PLAN = """
import itertools
import json

import pytest

from pytest_promptfuzz import mutate
from pytest_promptfuzz.testing import faults

MUTATIONS = 4
THRESHOLD = 0.7  # one error of four leaves 0.75 at the least; three leave 0.25 to 1
TEXTS = [str(each.prompt.format(ticket=TICKET)) for each in mutate(TRIAGE, MUTATIONS)]
SORRY = "Sorry, try later."


def strings(value):
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(each)


def asks(*texts):
    return lambda body: any(each in texts for each in strings(json.loads(body)))


PLACES = {
    "twice": {"times": 2, "when": asks(TEXTS[0])},
    "one": {"times": None, "when": asks(TEXTS[0])},
    "three": {"times": None, "when": asks(*TEXTS[:3])},
    "all": {"times": None},
}
# A slow answer takes far longer than the client waits, and a well one far less, on a busy machine as well.
LIMIT = {"slow": 0.6, "cancelled": 1.5}
SETTINGS = {"rate-limit": {"retry_after": 0.01}, "slow": {"seconds": 1.2}, "cancelled": {"seconds": 3}}
STREAMED = ("rate-limit", "server-error", "dropped", "dropped-mid-body", "malformed", "truncated", "overloaded", "html")


def cases(names, also, hows=("whole", "stream"), places=tuple(PLACES)):
    # Both ways of the application where a fault stays, on whole answers; one of them where a case takes long.
    chosen = []
    for fault, place, then, how in itertools.product(names, places, ("raises", "catches"), hows):
        both = place in ("three", "all") and how == "whole" and fault not in LIMIT
        if (both or then == also) and (how != "stream" or fault in STREAMED):
            chosen.append(pytest.param(fault, place, then, how, id=f"{fault}.{place}.{then}.{how}"))
    return chosen


@pytest.fixture(autouse=True)
def broken(server, request):
    if "fault" in request.fixturenames:
        fault, place = request.node.callspec.params["fault"], request.node.callspec.params["place"]
        kind = faults.Slow if fault == "cancelled" else faults.KINDS[fault]
        server.fail(kind(**PLACES[place], **SETTINGS.get(fault, {})))
"""

# An application on the SDK, whole answers and streams, sync and async.
APPLICATION = """
import asyncio
import importlib
import os
import ssl

API = os.environ["API"]
SDK = importlib.import_module(os.environ["SDKS"])
NAME = "Anthropic" if SDK.__name__ == "anthropic" else "OpenAI"
TLS = ssl.create_default_context()  # made once: to read the certificates takes longer than a whole test
CALL = {
    "chat": lambda client, **more: client.chat.completions.create(model="gpt-5-mini", **more),
    "responses": lambda client, messages, **more: client.responses.create(model="gpt-5-mini", input=messages, **more),
    "messages": lambda client, **more: client.messages.create(model="claude-any", max_tokens=200, **more),
}[API]
READ = {
    "chat": lambda answer: answer.choices[0].message.content,
    "responses": lambda answer: answer.output_text,
    "messages": lambda answer: answer.content[0].text,
}[API]
DELTA = {
    "chat": lambda event: event.choices[0].delta.content if event.choices else None,
    "responses": lambda event: event.delta if event.type == "response.output_text.delta" else None,
    "messages": lambda event: event.delta.text if event.type == "content_block_delta" else None,
}[API]
CLIENTS = {}


def client_of(fault):
    seconds = LIMIT["slow"] if fault == "slow" else 20
    if seconds not in CLIENTS:
        CLIENTS[seconds] = getattr(SDK, NAME)(max_retries=2, timeout=seconds)
    return CLIENTS[seconds]


def async_client_of(fault):
    http = SDK.DefaultAsyncHttpxClient(verify=TLS)
    return getattr(SDK, f"Async{NAME}")(max_retries=2, timeout=LIMIT["slow"] if fault == "slow" else 20, http_client=http)


def request_of(prompt):
    return {"messages": [{"role": "user", "content": str(prompt.format(ticket=TICKET))}]}


def ask(fault, prompt, how):
    client = client_of(fault)
    if how == "whole":
        return READ(CALL(client, **request_of(prompt)))
    with CALL(client, **request_of(prompt), stream=True) as events:
        return "".join(DELTA(event) or "" for event in events)


async def aask(fault, prompt, how):
    async with async_client_of(fault) as client:
        if how == "whole":
            call = CALL(client, **request_of(prompt))
            return READ(await (asyncio.wait_for(call, LIMIT[fault]) if fault == "cancelled" else call))
        parts = []
        async with await CALL(client, **request_of(prompt), stream=True) as events:
            async for event in events:
                parts.append(DELTA(event) or "")
        return "".join(parts)


FAULTS = list(faults.KINDS)


@robust(TRIAGE, mutations=MUTATIONS, threshold=THRESHOLD)
@pytest.mark.parametrize(("fault", "place", "then", "how"), cases(FAULTS, "catches"))
def test_sync(prompt, fault, place, then, how):
    try:
        return ask(fault, prompt, how)
    except Exception:
        if then == "raises":
            raise
        return SORRY


@robust(TRIAGE, mutations=MUTATIONS, threshold=THRESHOLD)
@pytest.mark.parametrize(("fault", "place", "then", "how"), cases([*FAULTS, "cancelled"], "raises"))
@pytest.mark.asyncio
async def test_async(prompt, fault, place, then, how):
    try:
        return await aask(fault, prompt, how)
    except Exception:
        if then == "raises":
            raise
        return SORRY


@robust(TRIAGE, mutations=MUTATIONS, threshold=1)
@pytest.mark.parametrize("how", ["whole", "stream"])
def test_well(prompt, how):
    return ask("", prompt, how)
"""

# The plugin's own clients: the fixture `llm`, on the targets that go over HTTP.
TARGETS = """
from pytest_promptfuzz import TargetError
from pytest_promptfuzz.targets.compatible import CompatibleTarget

NAMES = ("openai:gpt-5-mini", "openai-responses:gpt-5-mini", "anthropic:claude-any", "compatible")
FAULTS = [each for each in faults.KINDS if each != "slow"]  # the targets wait for a minute


@pytest.fixture(params=NAMES)
def target(request, server):
    # The server's port is known only now; the mark of this one item is made with it.
    name = f"compatible:any@{server.openai_url}" if request.param == "compatible" else request.param
    request.applymarker(pytest.mark.robust(target=name))


@robust(TRIAGE, mutations=MUTATIONS, threshold=THRESHOLD)
@pytest.mark.parametrize(("fault", "place", "then", "how"), cases(FAULTS, "raises", ("llm",), ("twice", "all")))
def test_sync(prompt, target, llm, fault, place, then, how):
    return llm(prompt.format(ticket=TICKET)).text


@robust(TRIAGE, mutations=MUTATIONS, threshold=THRESHOLD)
@pytest.mark.parametrize(("fault", "place", "then", "how"), cases(FAULTS, "catches", ("llm",), ("three",)))
@pytest.mark.asyncio
async def test_async(prompt, target, llm, fault, place, then, how):
    try:
        return (await llm(prompt.format(ticket=TICKET))).text
    except TargetError:
        return SORRY


@robust(TRIAGE, mutations=MUTATIONS, threshold=1)
def test_well(prompt, target, llm):
    return llm(prompt.format(ticket=TICKET)).text
"""


@dataclass(frozen=True)
class Case:
    """One inner test: what went wrong, and what was made of it."""

    api: str
    test: str
    fault: str
    place: str
    then: str
    how: str
    outcome: str
    text: str
    served: int
    report: dict[str, Any] | None

    @classmethod
    def of(cls, api: str, result: dict[str, Any]) -> Case:
        test, _, parameters = result["test"].partition("[")
        words = parameters.rstrip("]").rpartition(":")[2].split(".")
        # The target's name stands in front: "gpt-5-mini-rate-limit".
        fault = max((each for each in FAULTS if words[0].endswith(each)), key=len, default="")
        place, then, how = words[1:] if len(words) == 4 else ("", "", words[0])
        outcome = (
            "failure" if result["when"] == "call" and result["outcome"] == "failed" else result["outcome"]
        )
        return cls(
            api, test, fault, place, then, how, outcome, result["text"], result["served"], result["report"]
        )

    @property
    def cell(self) -> str:
        """What the table says of it."""
        if self.report is None:
            what = "configuration error" if self.text.startswith("ConfigurationError: ") else self.text
        elif self.report["reason"] == "baseline-error":
            what = "inconclusive: no baseline"
        else:
            kinds = Counter(
                each["error"]["kind"] if each["error"] else each["outcome"] for each in self.report["trials"]
            )
            del kinds["equivalent"]
            others = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
            what = f"{self.report['verdict']}: {others}" if others else f"{self.report['verdict']}: recovered"
        return f"{what} ({self.served})"


def start(directory: Path, api: str) -> subprocess.Popen[str]:
    """Run pytest on the inner project of an API."""
    directory.mkdir()
    (directory / "pytest.ini").write_text(
        INI.replace("promptfuzz_target = simulated\n", ""), encoding="utf-8"
    )
    (directory / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    source = PROMPT + PLAN + (TARGETS if api == "llm" else APPLICATION)
    (directory / "test_it.py").write_text(source, encoding="utf-8")
    options = (
        "-q",
        "--tb=no",
        "--promptfuzz-mode=live",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
    )
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PROMPTFUZZ", "PYTEST"))
    }
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", *options],
        cwd=directory,
        env={
            **environment,
            "PROMPTFUZZ_STOP": "never",
            "PROMPTFUZZ_SHRINK": "off",
            "API": api,
            "SDKS": APIS[api],
            "OMP_NUM_THREADS": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """The whole matrix; the APIs run side by side."""
    root = tmp_path_factory.mktemp("faults")
    running = {api: start(root / api, api) for api in APIS}
    found = []
    for api, process in running.items():
        output, _ = process.communicate(timeout=300)
        assert "INTERNALERROR" not in output
        assert (root / api / "results.json").exists(), output
        results = json.loads((root / api / "results.json").read_text(encoding="utf-8"))
        found.extend(Case.of(api, each) for each in results)
    return found


def broken(cases: list[Case]) -> list[Case]:
    return [each for each in cases if each.fault]


def test_the_matrix_is_whole(cases):
    whole = Counter((each.api, each.fault) for each in broken(cases))
    for api in APIS:
        names = [each for each in FAULTS if api != "llm" or each not in {"slow", "cancelled"}]
        assert {fault for key, fault in whole if key == api} == set(names)
    assert len(broken(cases)) == 3 * (2 * (12 * 6 + 4 + 8 * 4) + 4) + 4 * 12 * 3
    assert len({each.cell for each in cases}) > 20


def test_without_a_fault_every_test_passes(cases):
    well = [each for each in cases if not each.fault]
    assert len(well) == 3 * 2 + 4
    assert {each.outcome for each in well} == {"passed"}
    assert {each.report["counts"]["equivalent"] for each in well} == {4}


def test_no_fault_is_ever_a_deviation(cases):
    others = [each for each in broken(cases) if each.fault != "bad-request"]
    assert [each for each in others if each.report and each.report["counts"]["deviation"]] == []
    assert [each for each in others if each.report and each.report["verdict"] == "brittle"] == []
    assert [each for each in others if each.outcome == "failure"] == []


def test_what_the_sdk_asks_again_recovers(cases):
    for each in broken(cases):
        if each.place == "twice" and each.fault != "bad-request":
            retried = RETRIED["stream" if each.how == "stream" else "whole"]
            assert each.report["verdict"] == "pass"
            assert (each.report["counts"]["error"] == 0) == (each.fault in retried), each.cell


@pytest.mark.parametrize("fault", ERRORS)
def test_permanent_faults_are_errors_that_bound_the_verdict(cases, fault):
    seen = [each for each in broken(cases) if each.fault == fault]
    for each in seen:
        if each.place in {"one", "three"}:
            errors = Counter(trial["error"]["kind"] for trial in each.report["trials"] if trial["error"])
            assert errors == {ERRORS[fault]: 1 if each.place == "one" else 3}
            wanted = ("pass", "score-reached") if each.place == "one" else ("inconclusive", "errors-decide")
            assert (each.report["verdict"], each.report["reason"]) == wanted
        elif each.place == "all" and fault not in CONFIGURATION:
            assert (each.report["verdict"], each.report["reason"]) == ("inconclusive", "baseline-error")
    assert {each.place for each in seen} == set(PLACES)


@pytest.mark.parametrize("fault", CONFIGURATION)
def test_a_refusal_of_every_request_is_a_mistake_of_the_configuration(cases, fault):
    seen = [each for each in broken(cases) if each.fault == fault and each.place == "all"]
    assert seen
    for each in seen:
        assert each.text.startswith("ConfigurationError: "), each.text
        assert f"test_it.py::{each.test}[" in each.text
        assert str(KINDS[fault]().message).rstrip(".") in each.text
        assert "Check the " in each.text or "check the " in each.text
        assert each.served == 1


def test_a_refusal_that_the_mutation_alone_causes_is_a_deviation(cases):
    seen = [each for each in broken(cases) if each.fault == "bad-request" and each.place in {"one", "three"}]
    assert {each.report["verdict"] for each in seen if each.place == "one"} == {"pass"}
    assert {each.report["verdict"] for each in seen if each.place == "three"} == {"brittle"}
    assert {each.report["counts"]["deviation"] for each in seen} == {1, 3}


def test_calls_are_counted_as_the_server_counts_them(cases):
    counted = [(each.report["spent"]["calls"], each.served, each.cell) for each in cases if each.report]
    assert [each for each in counted if each[0] != each[1]] == []


def table(cases: list[Case]) -> str:
    """The matrix, APIs, sync and async, and both ways of the application folded together: they must agree."""
    head = ["fault", "answer", *COLUMNS.values()]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for fault in FAULTS:
        for how in ("whole", "stream", "llm"):
            row = []
            for place in COLUMNS:
                found = {
                    each.cell
                    for each in broken(cases)
                    if (each.fault, each.how, each.place) == (fault, how, place)
                }
                row.append(" / ".join(sorted(found)) or "–")
            if set(row) != {"–"}:
                lines.append(f"| {fault} | {SHOWN[how]} | {' | '.join(row)} |")
    return "\n".join(lines)


COLUMNS = {
    "twice": "first two of one mutation",
    "one": "all of one",
    "three": "all of three of four",
    "all": "every request",
}
SHOWN = {"whole": "whole", "stream": "streamed", "llm": "`llm`"}


def test_the_document_shows_what_was_measured(cases):
    text = DOC.read_text(encoding="utf-8")
    written = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    assert written == table(cases)


REPLY = """
import openai

@robust(TRIAGE, mutations=4)
def test_reply(prompt):
    with openai.OpenAI(api_key="any", max_retries=1) as client:
        messages = [{"role": "user", "content": str(prompt.format(ticket=TICKET))}]
        return client.chat.completions.create(model="any", messages=messages).choices[0].message.content
"""


def test_retry_after_is_honoured(project, monkeypatch):
    arrived = []
    with ModelServer(on_request=lambda _, status: arrived.append((time.monotonic(), status))) as server:
        server.fail(RateLimited(retry_after=1.5), next=1)
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        result = project(REPLY, "-o", "promptfuzz_target=")
    result.assert_outcomes(passed=1)
    (first, refused), (second, answered), *others = arrived
    assert (refused, answered) == (429, 200)
    assert second - first >= 1.5  # the SDK's own first wait is below a second
    assert [status for _, status in others] == [200] * 4


def test_a_fault_is_not_stored_and_what_was_answered_is_not_lost(project, promptfuzz_server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_server.openai_url)
    asked = itertools.count()
    promptfuzz_server.fail(ServerError(times=None), when=lambda _: next(asked) >= 2)
    broken = project(REPLY, "-o", "promptfuzz_target=")
    broken.assert_outcomes(errors=1)
    assert promptfuzz_server.answered == 2
    promptfuzz_server.reset()
    mended = project(REPLY, "-o", "promptfuzz_target=")
    mended.assert_outcomes(passed=1)
    assert promptfuzz_server.calls == 3
    promptfuzz_server.reset()
    project(REPLY, "-o", "promptfuzz_target=").assert_outcomes(passed=1)
    assert promptfuzz_server.calls == 0
