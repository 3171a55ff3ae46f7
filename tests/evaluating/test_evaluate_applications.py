"""``evaluate(…, mutate="role:…")`` of unchanged applications, and inputs at once: real SDKs, a real server."""

from __future__ import annotations

import asyncio

import openai
import pytest

from pytest_promptfuzz import ConfigurationError, Session, UsageError, aevaluate, evaluate
from pytest_promptfuzz.running.run import together
from pytest_promptfuzz.server.faults import BadRequest
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore

SYSTEM = "Classify the message as billing, shipping or technical. Answer with one word only."
OTHER = "Answer the question of the user politely, in two sentences."
ASKED = {"parcel": "Where is my parcel? I ordered it in May.", "crash": "The app crashes with an error."}


@pytest.fixture
def server():
    with ModelServer(latency=0.02) as running:
        yield running


@pytest.fixture
def app(server):
    return App(server)


class App:
    """An application that keeps its prompt to itself."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.given: list[str] = []
        self.at_once = self.most_at_once = 0

    def reply(self, question: str, system: str = SYSTEM) -> str:
        self.given.append(question)
        with openai.OpenAI(api_key="none", base_url=self.server.openai_url) as client:
            answer = client.chat.completions.create(model="m", messages=said(system, question))
        return answer.choices[0].message.content or ""

    async def areply(self, question: str) -> str:
        self.given.append(question)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        async with openai.AsyncOpenAI(api_key="none", base_url=self.server.openai_url) as client:
            answer = await client.chat.completions.create(model="m", messages=said(SYSTEM, question))
        self.at_once -= 1
        return answer.choices[0].message.content or ""

    def both(self, question: str) -> list[str]:
        return [self.reply(question), self.reply(question, OTHER)]


def said(system: str, user: str) -> list:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def quiet(**more) -> Session:
    return Session(store=MemoryStore(), gate=None, **more)


def asked(server: ModelServer, role: str) -> list[str]:
    return [
        message["content"]
        for each in server.requests
        for message in each.body["messages"]
        if message["role"] == role
    ]


def test_the_system_text_of_a_function_is_mutated_and_what_it_is_given_is_not(app, server) -> None:
    result = evaluate(
        ASKED["parcel"], app.reply, mutate="role:system", mutations=4, session=quiet(), controls=0
    )
    assert (result.verdict, result.baseline, result.calls) == ("pass", "shipping", 5)
    assert set(app.given) == {ASKED["parcel"]} == set(asked(server, "user"))
    systems = asked(server, "system")
    assert systems[0] == SYSTEM
    # The trials' calls may have been made ahead, all at once.
    assert sorted(systems[1:]) == sorted(trial.mutation.text for trial in result.trials)
    assert all(trial.mutation.original == SYSTEM for trial in result.trials)


def test_every_input_has_the_same_mutations_of_the_text_on_the_wire(app, server) -> None:
    session = quiet()
    result = evaluate(
        "{text}", app.reply, inputs=ASKED, mutate="role:system", mutations=3, session=session, controls=0
    )
    assert (result.calls, result.baselines) == (8, ("shipping", "technical"))
    assert [trial.case for trial in result.trials] == [0, 0, 0, 1, 1, 1]
    assert len(set(asked(server, "system"))) == 4
    again = evaluate(
        "{text}", app.reply, inputs=ASKED, mutate="role:system", mutations=3, session=session, controls=0
    )
    assert (again.calls, len(server.requests)) == (0, 8)


def test_pins_say_which_text_is_meant(app, server) -> None:
    with pytest.raises(
        UsageError, match=r"evaluate: mutate='role:system': .* 2 different system texts(.|\n)*call 1"
    ):
        evaluate(ASKED["parcel"], app.both, mutate="role:system", mutations=2, session=quiet(), controls=0)
    for pin in ({"call": 1}, {"match": "politely"}):
        before = len(server.requests)
        result = evaluate(
            ASKED["parcel"], app.both, mutate="role:system", mutations=2, session=quiet(), **pin, controls=0
        )
        # The other text stays as it is, so that in a trial it is answered as in the baseline.
        first, meant, *mutated = asked(server, "system")[before:]
        assert (first, meant, len(mutated)) == (SYSTEM, OTHER, 2)
        assert sorted(trial.mutation.text for trial in result.trials) == sorted(mutated)


def test_inputs_of_an_async_function_run_at_once(app) -> None:
    async def main(*, concurrency: int):
        session = quiet(concurrency=concurrency)
        return await aevaluate(
            "{text}",
            app.areply,
            inputs=ASKED,
            mutate="role:system",
            mutations=3,
            stop="never",
            session=session,
        )

    one = evaluate(
        "{text}", app.reply, inputs=ASKED, mutate="role:system", mutations=3, stop="never", session=quiet()
    )
    for concurrency, most in ((1, 1), (4, 3)):  # an input has three mutations
        app.most_at_once = 0
        result = asyncio.run(main(concurrency=concurrency))
        assert (result.score, result.baselines, result.calls) == (one.score, one.baselines, one.calls)
        assert [(each.case, each.id, each.value) for each in result.trials] == [
            (each.case, each.id, each.value) for each in one.trials
        ]
        assert app.most_at_once == most


def test_inputs_of_a_model_are_all_asked_at_once() -> None:
    inputs = [f"Text {number}" for number in range(3)]
    with ModelServer(latency=0.3) as server:
        target = f"compatible:m@{server.openai_url}"
        result = asyncio.run(
            aevaluate(
                "Is this good or bad? {text}", target, inputs=inputs, mutations=2, session=quiet(), controls=0
            )
        )
        assert server.peak > 2, "one input alone has two mutations"
    assert (result.calls, result.cases) == (9, tuple(f"{n} ({text!r})" for n, text in enumerate(inputs, 1)))
    assert [trial.case for trial in result.trials] == [0, 0, 1, 1, 2, 2]


def test_calls_from_threads_without_context_run_in_sequence_and_are_told(app) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:

        async def reply(question: str) -> str:
            return await asyncio.wrap_future(pool.submit(app.reply, question))

        result = asyncio.run(
            aevaluate(
                "{text}", reply, inputs=ASKED, mutate="role:system", mutations=2, session=quiet(), controls=0
            )
        )
    assert (result.verdict, result.outcomes.error, result.calls) == ("pass", 0, 6)
    assert [note for note in result.notes if "ran in sequence" in note]


def test_an_input_that_is_not_repeatable_is_not_forgotten_for_one_that_is(app) -> None:
    numbers = iter(range(99))

    def reply(question: str) -> str:
        return app.reply(question, f"{next(numbers)} {SYSTEM}" if question == ASKED["parcel"] else SYSTEM)

    result = evaluate("{text}", reply, inputs=ASKED, mutate="role:system", mutations=2, session=quiet())
    assert (result.verdict, result.reason) == ("inconclusive", "not-exercised")
    assert "$.messages[0].content" in result.explanation


@pytest.mark.parametrize(
    ("target", "more", "error", "message"),
    [
        ("simulated", {"mutate": "role:system"}, UsageError, "is for a function .* part='system'"),
        ("function", {"mutate": "app.SYSTEM"}, UsageError, "is not a role of the application's requests"),
        ("function", {"mutate": "role:tool"}, UsageError, "is not one of role:system"),
        ("function", {"call": 1}, UsageError, "call=1 says which request is meant"),
        ("function", {"mutate": "role:system", "match": "["}, UsageError, "is no regular expression"),
        ("function", {"mutate": "role:system"}, ConfigurationError, "No model call was seen"),
    ],
)
def test_what_cannot_be_meant_is_said(target, more, error, message) -> None:
    given = (lambda prompt: "fine " + prompt[:0]) if target == "function" else target
    with pytest.raises(error, match=message):
        evaluate("Where is it?", given, session=quiet(), **more)


def by_bedrock(server: ModelServer) -> None:
    import httpx2

    httpx2.post(f"{server.url}/model/nova-lite/converse", json={"prompt": SYSTEM})


def by_realtime(server: ModelServer) -> None:
    pytest.importorskip("websockets")
    client = openai.OpenAI(api_key="none", websocket_base_url=server.url.replace("http", "ws") + "/v1")
    with pytest.raises(Exception, match="HTTP"), client.realtime.connect(model="m", max_retries=0):
        pass


def by_requests(server: ModelServer) -> None:
    requests = pytest.importorskip("requests")
    requests.post(f"{server.openai_url}/responses", json={"model": "m", "input": SYSTEM}, timeout=30)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            by_bedrock,
            r"httpx2 \(POST 127.0.0.1/model/nova-lite/converse\)(?s:.*)promptfuzz_endpoints =\n    127.0.0.1/model/\*/converse text=",
        ),
        (
            by_realtime,
            r"WebSocket 127.0.0.1/v1/realtime\).*A WebSocket cannot be followed, by a proxy neither",
        ),
        (
            by_requests,
            r"requests \(POST 127.0.0.1/v1/responses\).*a base URL of the fixture promptfuzz_proxy",
        ),
    ],
)
def test_models_that_are_asked_unseen_are_refused_with_the_way_out(server, ask, message) -> None:
    def application(prompt: str) -> str:
        ask(server)
        return prompt[:0] + "fine"

    with pytest.raises(ConfigurationError, match=message):
        evaluate("Where is it?", application, session=quiet())


def test_plans_that_take_turns_are_sent_their_own_runs_and_closed() -> None:
    told: list = []

    def plan(name: str, *batches: int):
        try:
            for number, size in enumerate(batches):
                runs = yield [f"{name}{number}{each}" for each in range(size)]
                told.append((name, runs))
        finally:
            told.append((name, "closed"))

    merged = together([plan("a", 1, 2), plan("b"), plan("c", 2, 0, 1)])
    asked = [next(merged)]
    while True:
        try:
            asked.append(merged.send([each.upper() for each in asked[-1]]))
        except StopIteration:
            break
    assert asked == [["a00", "c00", "c01"], ["a10", "a11"], ["c20"]]
    assert [each for each in told if each[0] == "c"] == [
        ("c", ["C00", "C01"]),
        ("c", []),
        ("c", ["C20"]),
        ("c", "closed"),
    ]
    told.clear()
    merged = together([plan("a", 1), plan("b", 1)])
    next(merged)
    merged.close()
    assert told == [("a", "closed"), ("b", "closed")]


def test_a_gate_that_cannot_pass_is_refused_before_the_application_asks(app, server):
    with pytest.raises(UsageError, match="cannot pass with 8 mutations: it needs at least mutations=19"):
        evaluate("Where is my parcel?", app.reply, mutate="role:system", gate="confident", session=quiet())
    assert server.calls == 0


def test_what_a_provider_refused_is_told_of_an_answer_given_in_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prompt = (
        "Is the ticket about billing or shipping? Answer with one word only.\n\nTicket: My parcel is lost."
    )
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ModelServer() as server:
        client = openai.OpenAI(base_url=server.openai_url, max_retries=0)

        def application(text: str) -> str:
            try:
                client.chat.completions.create(
                    model="gpt-5-mini", messages=[{"role": "user", "content": text}]
                )
            except openai.BadRequestError:
                return "sorry, try later"
            return "shipping"

        server.fail(
            BadRequest(times=None),
            when=lambda text: "Answer with one word only.\\n\\nTicket: My parcel is lost." not in text,
        )
        result = evaluate(prompt, application, mutations=4, session=Session(store=MemoryStore()), controls=0)
    explanations = [trial.comparison.explanation for trial in result.trials if trial.comparison]
    assert explanations
    for said in explanations:
        assert said.startswith("'shipping' became 'sorry, try later', after the provider refused a request: ")
        assert "400" in said
