"""What becomes of a test when the provider fails, through the real SDKs: none is ever taken for brittleness.

``benchmarks/fault_verdicts.py`` runs every combination; here each fault meets another combination at each place, and
docs/faults.md is held to what comes of it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_promptfuzz import ConfigurationError, Session, aevaluate, evaluate
from pytest_promptfuzz.evaluating.phases.baseline import BaselineFailed
from pytest_promptfuzz.providers.requests import status_kind
from pytest_promptfuzz.running.limits import lanes
from pytest_promptfuzz.running.limits.lanes import is_passing
from pytest_promptfuzz.running.limits.limits import SessionLimits
from pytest_promptfuzz.server.faults import KINDS, BadRequest, RateLimited, ServerError, StatusFault
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import Watch, watching
from tests import warm

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import fault_verdicts as matrix  # noqa: E402 (beside the benchmarks)

DOC = ROOT / "docs" / "faults.md"
FAULTS = {
    **KINDS,
    "slow": matrix.FAULTS["slow"],
    "cancelled": lambda **more: KINDS["slow"](seconds=10, **more),
}
# A stream that is late, or cancelled, is what a whole answer is.
FORMS = {"slow": ("whole",), "cancelled": ("whole",)}
PLACES = {"twice": "first two of one mutation", "three": "all of three of four", "all": "every request"}
COMBINATIONS = tuple(itertools.product((*matrix.APIS, "llm"), ("sync", "async"), matrix.BODIES))


@pytest.fixture(autouse=True)
def no_waits(monkeypatch):
    for name in ("FIRST_WAIT", "FIRST_PAUSE"):
        monkeypatch.setattr(lanes, name, 0.0)
    for client in (matrix.openai_client, matrix.anthropic_client):
        monkeypatch.setattr(client, "INITIAL_RETRY_DELAY", 0.0)
        monkeypatch.setattr(client, "MAX_RETRY_DELAY", 0.0)


@pytest.fixture(scope="module")
def server():
    with ModelServer() as running:
        yield running


def session(store: MemoryStore | None = None) -> Session:
    # A call that is made early through a client that the application has closed leaves its connection to the collector.
    return Session(store=MemoryStore() if store is None else store, gate=SessionLimits(), speculate=False)


MEANT = {"twice": matrix.TEXTS[:1], "three": matrix.TEXTS[:3], "all": (str(matrix.PROMPT),)}


def hits(place: str):
    """Which requests a fault hits, by their bodies."""
    seen: Counter[bool] = Counter()

    def hit(body: str) -> bool:
        meant = any(each in MEANT[place] for each in matrix.request_texts(json.loads(body)))
        seen[meant] += 1
        return meant and (place != "twice" or seen[True] <= 2)

    return hit


def made(server: ModelServer, fault: str, form: str, place: str, combination: tuple[str, str, str]) -> str:
    """What becomes of one evaluation, and how many requests the server saw, as the table has it."""
    api, how, body = combination
    server.reset()
    server.fail(FAULTS[fault](times=None), when=hits(place))
    settings = {"mutations": 4, "threshold": 0.7, "session": session(), "stop": "never", "shrink": "off"}
    settings["controls"] = 0
    if api == "llm" and form == "whole" and fault not in {"slow", "cancelled"}:
        target = f"compatible:m@{server.openai_url}"
    else:
        case = matrix.Case(fault, "chat" if api == "llm" else api, how, form, body, "")
        target = matrix.application(server, case, lambda text: text in MEANT[place])
        if fault == "cancelled":
            inner = matrix.application(server, case._replace(how="async", body="raises"))

            async def target(prompt):
                try:
                    return await asyncio.wait_for(inner(prompt), 1.0 if str(prompt) in MEANT[place] else 60)
                except asyncio.TimeoutError:
                    if body == "raises":
                        raise
                    return matrix.SORRY

            how = "async"
    try:
        if how == "sync":
            result = evaluate(matrix.PROMPT, target, **settings)
        else:
            result = asyncio.run(aevaluate(matrix.PROMPT, target, **settings))
    except ConfigurationError as error:
        return f"configuration error{'' if 'heck the' in str(error) else ' of unknown mend'} ({server.calls})"
    kinds = Counter(each.error.kind if each.error else each.outcome for each in result.trials)
    del kinds["equivalent"]
    assert result.calls == server.calls
    if result.reason == "baseline-error":
        return f"inconclusive: no baseline ({server.calls})"
    said = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "recovered"
    return f"{result.verdict}: {said} ({server.calls})"


def table(server: ModelServer) -> list[str]:
    turns = itertools.cycle(random.Random(1).sample(COMBINATIONS, len(COMBINATIONS)))
    lines = [f"| fault | answer | {' | '.join(PLACES.values())} |", "| --- | --- | --- | --- | --- |"]
    for fault in KINDS:
        forms: dict[str, list[str]] = {}
        for form in FORMS.get(fault, ("whole", "stream")):
            cells = [made(server, fault, form, place, next(turns)) for place in PLACES]
            forms.setdefault(" | ".join(cells), []).append({"stream": "streamed"}.get(form, form))
        lines += [f"| {fault} | {', '.join(names)} | {cells} |" for cells, names in forms.items()]
    return lines


def statuses() -> list[str]:
    """What every status is taken for, whether it is made again, and what a trial that ends with it is."""
    lines = ["| status | kind | made again | the trial |", "| --- | --- | --- | --- |"]
    rows: dict[tuple[str, bool], list[int]] = {}
    for status in range(400, 600):
        rows.setdefault((status_kind(status), is_passing(status, {})), []).append(status)
    for (kind, again), found in sorted(rows.items(), key=lambda each: each[1]):
        others = {("refused", False): "every other 4xx", ("server", True): "409, every other 5xx"}
        shown = others.get((kind, again), ", ".join(map(str, found)))
        what = "a deviation, if the mutation alone causes it" if kind == "bad-request" else "an error"
        lines.append(f"| {shown} | `{kind}` | {'yes' if again else 'no'} | {what} |")
    return lines


def written(start: str) -> list[str]:
    """The table of the document that begins so."""
    lines = DOC.read_text(encoding="utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(start))
    return list(itertools.takewhile(lambda line: line.startswith("|"), lines[first:]))


def test_the_document_lists_every_status():
    assert written("| status ") == statuses()


def test_the_document_shows_what_was_measured(server):
    if (
        "PROMPTFUZZ_TEST_ALONE" not in os.environ
    ):  # dropped connections are not made again after some other tests
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", __file__]
        environment = {**os.environ, "PROMPTFUZZ_TEST_ALONE": "1"}
        chosen = ["-k", "test_the_document_shows_what_was_measured"]
        done = warm.run([*command, *chosen], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        return
    assert written("| fault ")[:-1] == table(server)


@pytest.mark.parametrize("body", matrix.BODIES)
def test_a_call_that_the_application_cancels_is_a_timeout(body):
    with ModelServer() as server:
        cells = [made(server, "cancelled", "whole", place, ("chat", "async", body)) for place in PLACES]
    assert written("| fault ")[-1] == f"| cancelled | whole | {' | '.join(cells)} |"


def test_no_failure_of_the_provider_is_a_deviation(server):
    # The benchmark makes all 3,312 evaluations.
    chosen = random.Random(7).sample(matrix.cases(), 40)
    assert list(matrix.wrong(server, chosen, speculate=False)) == []


@pytest.mark.parametrize("status", [400, 413])
@pytest.mark.parametrize("body", matrix.BODIES)
def test_a_refusal_that_the_mutation_alone_gets_each_time_is_a_deviation(server, status, body):
    server.reset()
    server.fail(StatusFault(status=status, times=None, message="Invalid request."), when=hits("three"))
    case = matrix.Case("400", "chat", "sync", "whole", body, "")
    settings = {"mutations": 4, "session": session(), "stop": "never", "shrink": "off", "controls": 0}
    result = evaluate(matrix.PROMPT, matrix.application(server, case), **settings)
    assert (result.verdict, result.outcomes.deviation, result.outcomes.error) == ("brittle", 3, 0)


@pytest.mark.parametrize(
    ("when", "said"),
    [
        # The account, or the key, or the endpoint: the unmutated prompt is refused as well by then.
        (lambda number, mutated: number >= 3, "The unmutated prompt, asked again, was refused as well"),
        # Once only: it is not the mutation.
        (lambda number, mutated: number == 3, "It was answered when it was asked again"),
        # Every second or third request, as from one of several servers behind one address.
        (lambda number, mutated: number % 2 == 0, ""),
        (lambda number, mutated: number % 3 == 2, ""),
    ],
)
@pytest.mark.parametrize("body", matrix.BODIES)
def test_a_refusal_that_the_mutation_does_not_cause_is_an_error(server, when, said, body):
    server.reset()
    numbers = itertools.count(1)
    server.fail(BadRequest(times=None), when=lambda body: when(next(numbers), body))
    case = matrix.Case("400", "messages", "sync", "whole", body, "")
    result = evaluate(
        matrix.PROMPT,
        matrix.application(server, case),
        mutations=6,
        session=session(),
        stop="never",
        controls=0,
    )
    assert result.outcomes.deviation == 0
    errors = [each.error for each in result.trials if each.error is not None]
    assert {each.kind for each in errors} == {"bad-request"}
    assert all(said in each.message for each in errors), errors
    if said:
        assert len(errors) == (1 if said.startswith("It was") else 5)


@pytest.mark.parametrize("form", ["whole", "stream"])
def test_a_refusal_within_an_answer_of_status_200_is_an_error(server, form):
    server.reset()
    server.fail(
        KINDS["overloaded"](label="invalid_request_error", message="No.", times=None), when=hits("three")
    )
    case = matrix.Case("overloaded", "chat", "sync", form, "catches", "")
    settings = {"mutations": 4, "session": session(), "stop": "never", "shrink": "off", "controls": 0}
    result = evaluate(matrix.PROMPT, matrix.application(server, case), **settings)
    assert [each.error.kind for each in result.trials if each.error] == ["refused"] * 3
    assert (result.verdict, result.outcomes.deviation, server.calls) == ("inconclusive", 0, 5)


@pytest.mark.parametrize("api", matrix.APIS)
def test_a_stream_of_an_end_marker_alone_is_no_answer(api):
    class Host(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Host) as host, intercepting():
        threading.Thread(target=host.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{host.server_port}"
        place = SimpleNamespace(openai_url=f"{base}/v1", anthropic_url=base)
        with watching(Watch()) as watch:
            matrix.application(place, matrix.Case("", api, "sync", "stream", "catches", ""))("Hi")
        host.shutdown()
    assert watch.unrecovered()


def test_an_account_that_runs_dry_during_the_repeats_proves_nothing(server):
    # Two mutations change the answer, so that they are asked again; from then on nothing is answered.
    server.reset()
    asked = itertools.count()
    server.fail(BadRequest(times=None), when=lambda _: next(asked) >= 9)
    turns = itertools.count()

    def answers(prompt):
        case = matrix.Case("400", "chat", "sync", "whole", "catches", "")
        said = matrix.application(server, case)(prompt)
        return said if next(turns) not in {3, 5} or said == matrix.SORRY else "ACCOUNT"

    result = evaluate(matrix.PROMPT, answers, mutations=8, threshold=0.9, session=session(), stop="never")
    assert server.calls > 9
    assert result.verdict == "inconclusive"


def test_the_unmutated_prompt_is_asked_again_and_not_looked_up():
    """What was stored of an earlier run says nothing of the account of today."""
    store = MemoryStore()
    with ModelServer() as server:
        target = f"compatible:any@{server.openai_url}"
        original = str(matrix.PROMPT).replace("\n", "\\n")
        hits = {6: lambda body: original not in body, 0: lambda _: True}
        for outcome, hit in hits.items():
            server.reset()
            server.fail(BadRequest(times=None), when=hit)
            settings = {"mutations": 6, "stop": "never", "shrink": "off"}
            result = evaluate(matrix.PROMPT, target, session=session(store), **settings)
            assert result.outcomes.deviation == outcome


DRY = """
import openai

@robust(TRIAGE, mutations=4, threshold=0.9)
def test_reply(prompt):
    try:
        with openai.OpenAI(api_key="any") as client:
            messages = [{"role": "user", "content": str(prompt.format(ticket=TICKET))}]
            return client.chat.completions.create(model="any", messages=messages).choices[0].message.content
    except openai.APIStatusError:
        return "Sorry, try later."
"""


def test_an_account_that_runs_dry_is_told_apart_from_a_failure(project, promptfuzz_server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_server.openai_url)
    asked = itertools.count()
    dry = BadRequest(times=None, message="Your credit balance is too low to access the API.")
    promptfuzz_server.fail(dry, when=lambda _: next(asked) >= 2)
    result = project(DRY, "-o", "promptfuzz_target=", "-o", "promptfuzz_stop=never")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*credit balance is too low*", "*Add credit to the account*"])
    promptfuzz_server.reset()
    promptfuzz_server.fail(dry)
    result = project(DRY, "-o", "promptfuzz_target=", "--promptfuzz-mode=live")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ConfigurationError*credit balance is too low*Check the account's credit*"])


def test_a_provider_that_refuses_every_call_holds_a_test_no_longer_than_is_set(
    project, promptfuzz_server, monkeypatch
):
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_server.openai_url)
    asked = itertools.count()
    promptfuzz_server.fail(RateLimited(times=None, retry_after=2.0), when=lambda _: next(asked) >= 1)
    result = project(
        DRY.replace("mutations=4", "mutations=6"), "-o", "promptfuzz_target=", "--promptfuzz-max-wait=3"
    )
    result.assert_outcomes(errors=1)
    said = result.stdout.str()
    assert said.count("promptfuzz: waiting 2 s for 127.0.0.1") == 1
    assert "no call has been answered for nearly 3 s (--promptfuzz-max-wait)" in said
    assert promptfuzz_server.calls <= 14


def test_retry_after_is_honoured():
    arrived = []
    with ModelServer(on_request=lambda _, status: arrived.append((time.monotonic(), status))) as server:
        server.fail(RateLimited(retry_after=1.2), next=1)
        result = evaluate(
            matrix.PROMPT, f"compatible:any@{server.openai_url}", mutations=2, session=session(), controls=0
        )
    assert result.verdict == "pass"
    (first, refused), (second, answered), *others = arrived
    assert (refused, answered) == (429, 200)
    assert second - first >= 1.2  # the SDK's own first wait is below a second
    assert [status for _, status in others] == [200] * 2


def test_a_fault_is_not_stored_and_what_was_answered_is_not_lost(server):
    store, asked = MemoryStore(), itertools.count()

    def again():
        case = matrix.Case("500", "chat", "sync", "whole", "catches", "")
        settings = {"mutations": 4, "session": session(store), "stop": "never", "controls": 0}
        return evaluate(matrix.PROMPT, matrix.application(server, case), **settings)

    server.reset()
    server.fail(ServerError(times=None), when=lambda _: next(asked) >= 2)
    assert again().verdict == "inconclusive"
    assert server.answered == 2
    server.reset()
    assert again().verdict == "pass"
    assert server.calls == 3
    server.reset()
    assert again().verdict == "pass"
    assert server.calls == 0


def test_a_baseline_that_is_never_answered_is_no_failure_of_the_test(server):
    for status in (402, 422, 451):
        server.reset()
        server.fail(StatusFault(status=status, times=None))
        case = matrix.Case("402", "chat", "sync", "whole", "catches", "")
        with pytest.raises((ConfigurationError, BaselineFailed)) as raised:
            evaluate(matrix.PROMPT, matrix.application(server, case), mutations=2, session=session())
        assert isinstance(raised.value, ConfigurationError)
        assert f"HTTP {status}" in str(raised.value)
        assert server.calls == 1
