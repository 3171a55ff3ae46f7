"""How requests follow from a prompt: learned from two runs of real requests, foretold for a third."""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.evaluating.evaluate import evaluate
from pytest_promptfuzz.evaluating.session import Session
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.prompts.slots import Slots
from pytest_promptfuzz.running.run import Crew
from pytest_promptfuzz.running.speculation import Filled, Shown, Wording, learn, learned, told, told_fillings
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.wire.traces import Borrowing, Trace
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import Watch, watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SORT = "Sort the ticket into BILLING or OTHER. {ticket} Answer with the label only."
OTHERS = (
    "SORT the ticket into BILLING or OTHER. {ticket} Answer with the label only.",
    "Sort the ticket into BILLING or OTHER.  {ticket} Answer with the label only.",
)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def shown(server: ModelServer, prompt: Prompt, body: Callable[[httpx2.Client, Prompt], None]) -> Shown:
    """A run of a body, as a driver would have it seen."""
    watch = Watch()
    watch.route.trace = Trace(Borrowing())
    values: list[Any] = []
    with intercepting(), watching(watch), httpx2.Client(base_url=server.openai_url) as client:
        body(client, prompt.observed(lambda found: values.append(found) if found else None))
    watch.route.trace.borrowing.give_back()
    return Shown(prompt, watch, tuple(watch.route.trace.passed), tuple(values))


def ask(client: httpx2.Client, text: str, **headers: str) -> str:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    answer = client.post("/chat/completions", json=body, headers=headers)
    return str(answer.json()["choices"][0]["message"]["content"])


def foretold(
    server: ModelServer, body: Callable[[httpx2.Client, Prompt], None], base: str = SORT, *others: str
) -> list[bool] | None:
    """Whether each request of a third run was foretold to the letter; ``None`` where no rule was learned."""
    one, two = (Prompt(each) for each in others or OTHERS)
    rule = learn(shown(server, Prompt(base), body), shown(server, one, body))
    if rule is None:
        return None
    real = shown(server, two, body)
    found = []
    for number in range(len(rule.requests)):
        answers = {at: answer for at, answer in real.answers.items() if at < number}
        told = rule.foretell(number, two, answers, Watch())
        found.append(told is not None and told.digest == real.passed[number].exchange.digest)
    return found


def quoting(client: httpx2.Client, prompt: Prompt) -> None:
    first = ask(client, prompt.format(ticket="The invoice is wrong."))
    ask(client, f"You said: {first}. Sure? {prompt.text}")


def chatting(client: httpx2.Client, prompt: Prompt) -> None:
    ask(client, "Once more: " + prompt.format(ticket="A {brace} and the word ticket."))
    ask(client, prompt.format(ticket="Where is it?").strip().join(["<", ">"]))


def test_requests_that_follow_are_foretold(server):
    assert foretold(server, chatting) == [True, True]
    assert foretold(server, quoting) == [True, True]
    assert foretold(server, lambda client, prompt: ask(client, str(prompt).replace("{ticket}", "x y"))) == [
        True
    ]


def test_what_does_not_follow_is_not_learned(server):
    numbers = itertools.count()
    assert foretold(server, lambda client, prompt: ask(client, f"{prompt} {next(numbers)}")) is None
    assert foretold(server, lambda client, prompt: ask(client, str(prompt).upper()[::-1])) is None
    assert foretold(server, lambda client, prompt: ask(client, str(prompt), trace=str(next(numbers)))) is None
    cookie = foretold(server, lambda client, prompt: ask(client, str(prompt), cookie=f"a={next(numbers)}"))
    assert cookie == [True]

    def half(client: httpx2.Client, prompt: Prompt) -> None:
        ask(client, str(prompt))
        ask(client, f"{prompt} {next(numbers)}")

    assert foretold(server, half) == [True]


def test_where_a_value_may_end_too_late_nothing_is_foretold(server):
    """The application fills the prompt itself, and adds a word behind it."""
    ends, moved = "Sort this.  {ticket}", "{ticket} Sort this."

    def body(client: httpx2.Client, prompt: Prompt) -> None:
        ask(client, str(prompt).replace("{ticket}", "My parcel is lost.") + " Thanks.")

    assert foretold(server, body, "Sort this. {ticket}", "SORT this. {ticket}", ends) == [True]
    assert foretold(server, body, "Sort this. {ticket}", "SORT this. {ticket}", moved) == [False]
    rule = learn(
        shown(server, Prompt("Sort this. {ticket}"), body), shown(server, Prompt("SORT this. {ticket}"), body)
    )
    assert rule is not None
    assert rule.foretell(0, Prompt(moved), {}, Watch()) is None
    assert not rule.confirmed(shown(server, Prompt(moved), body)).sure


def test_an_answer_of_which_nothing_like_it_was_seen_is_left_to_the_body(server):
    rule = learn(shown(server, Prompt(SORT), quoting), shown(server, Prompt(OTHERS[0]), quoting))
    assert rule is not None
    real = shown(server, Prompt(OTHERS[1]), quoting)
    seen = real.answers[0]
    alike = rule.foretell(1, Prompt(OTHERS[1]), {0: seen}, Watch())
    assert alike is not None
    other = dataclasses.replace(seen, text=seen.text + "!")
    assert (rule.seen[0][0].text == rule.seen[1][0].text) == (
        rule.foretell(1, Prompt(OTHERS[1]), {0: other}, Watch()) is None
    )
    assert rule.foretell(1, Prompt(OTHERS[1]), {}, Watch()) is None


LITERALS = st.text(st.sampled_from("ab \n"), max_size=6)
VALUES = st.text(st.sampled_from("xy{}"), max_size=6)


@given(literals=st.lists(LITERALS, min_size=2, max_size=4), values=st.lists(VALUES, min_size=3, max_size=3))
def test_values_told_give_the_text_again(literals, values):
    template = "".join(f"{literal}{{s{at}}}" for at, literal in enumerate(literals[:-1])) + literals[-1]
    filling = {f"s{at}": values[at] for at in range(len(literals) - 1)}
    slots = Slots([template])
    text, _ = slots.fill(template, filling)
    found = slots.values_in(template, text)
    assert found is not None
    assert slots.fill(template, found)[0] == text


def test_values_that_cannot_be_told():
    assert told_fillings(Prompt("No slots."), ["No slots."]) == []
    assert told_fillings(Prompt("A {x} and {x}!"), ["A 1 and 2!"]) == []
    assert told_fillings(Prompt("A {x:>5} b"), ["A     1 b"]) == []
    assert told_fillings(Prompt("A {x} b"), ["A 1 b", "A 2 b", "none"]) == [{"x": "1"}, {"x": "2"}]
    chat = Prompt.from_messages(
        [{"role": "system", "content": "Be {how}."}, {"role": "user", "content": "{what}?"}]
    )
    assert told_fillings(chat, ["Be brief.", "Who?"]) == [{"how": "brief", "what": "Who"}]


@given(st.text(max_size=5), st.text(min_size=1, max_size=4), st.text(min_size=1, max_size=4))
def test_a_template_says_again_what_it_was_made_from(around, one, two):
    was, now = Wording({("prompt", 0, ""): one}), Wording({("prompt", 0, ""): two})
    value = {"a": [around + one, around], "b": 3, "c": None}
    template = learned(value, value, [(was, was)])
    assert told(template, was) == value
    if one.strip():
        assert isinstance(template["a"][0], Filled)
        assert told(learned({"a": one}, {"a": two}, [(was, now)]), now) == {"a": two}


class _Errand:
    def __init__(self, seconds: float = 0.0) -> None:
        self.done = threading.Event()
        self.begun, self.go = threading.Event(), threading.Event()
        self.abandoned = False
        if not seconds:
            self.go.set()

    def make(self) -> None:
        self.begun.set()
        self.go.wait(60)
        self.done.set()

    def abandon(self) -> None:
        self.abandoned = True


def crew_threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "promptfuzz-speculation"]


def gone(threads: Callable[[], list[threading.Thread]] = crew_threads) -> bool:
    limit = time.monotonic() + 300
    while threads() and time.monotonic() < limit:
        time.sleep(0.01)
    return not threads()


def test_a_crew_ends_with_its_work():
    crew, errands = Crew(), [_Errand() for _ in range(20)]
    for each in errands:
        crew.add(each, 3)
    assert all(each.done.wait(20) for each in errands)
    assert gone()
    slow = [_Errand(1.0) for _ in range(4)]
    for each in slow:
        crew.add(each, 2)
    assert all(each.begun.wait(20) for each in slow[:2])
    assert len(crew_threads()) == 2
    crew.stop()
    assert [each.abandoned for each in slow] == [True, True, False, False]
    for each in slow:
        each.go.set()
    assert gone()
    assert [each.done.is_set() for each in slow] == [True, True, False, False]


@pytest.mark.parametrize("ending", [None, AssertionError, KeyboardInterrupt])
def test_evaluate_speculates_and_leaves_no_thread(server, ending):
    server.reset()
    before = crew_threads()
    client = httpx2.Client(base_url=server.openai_url)
    runs = []

    def application(text: str) -> str:
        runs.append(text)
        answer = ask(client, text)
        if ending is not None and len(runs) == 4:
            raise ending
        return answer

    session = Session(store=MemoryStore())
    settings = {"mutations": 6, "threshold": 0.0, "session": session, "controls": 0}
    if ending is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            evaluate(SORT, application, **settings)
    else:
        result = evaluate(SORT, application, **settings)
        assert result.spent.speculated == 5
        assert result.spent.unused == 0
        assert server.calls == 7
        calls = len(server.requests)
        silent = evaluate(SORT, application, **{**settings, "session": Session(speculate=False)})
        assert len(server.requests) == 2 * calls
        assert silent.spent.speculated == 0
        if ending is None:
            assert [trial.outcome for trial in silent.trials] == [trial.outcome for trial in result.trials]
    client.close()
    assert gone(lambda: [each for each in crew_threads() if each not in before])


def test_a_transport_that_is_closed_meanwhile_is_closed_in_the_end(server):
    borrowing = Borrowing()
    transport = httpx2.HTTPTransport()
    borrowing.borrow(transport)
    with httpx2.Client(base_url=server.openai_url, transport=transport) as client:
        ask(client, "Hello.")
    assert transport._pool.connections
    borrowing.give_back()
    assert not transport._pool.connections
    assert "close" not in vars(transport)
