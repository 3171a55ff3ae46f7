"""The arithmetic of limits and budget, by a clock of our own, and the gate between threads."""

from __future__ import annotations

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_promptfuzz.errors import TargetError, UsageError
from pytest_promptfuzz.providers.formats import output_bound
from pytest_promptfuzz.providers.requests import Usage
from pytest_promptfuzz.running.limits.budget import (
    Budget,
    Caps,
    Price,
    Prices,
    Reserved,
    SharedLedger,
    missing_price,
)
from pytest_promptfuzz.running.limits.lanes import Lane, LaneRule, ReportedLimit, retry_after, told_limits
from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings, prices_from, rules_from
from pytest_promptfuzz.wire.calls import Outgoing
from pytest_promptfuzz.wording.sentences import sentence

NOON = 1_700_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def outgoing(model="m", *, size=100, bound=None, words=80):
    return Outgoing("http://host/v1/chat/completions", "host", model, size, bound, words)


def alive(_):
    return True


# Headers


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, 30.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-5"}, None),
        ({}, None),
    ],
)
def test_retry_after_in_every_form(headers, seconds):
    assert retry_after(headers, NOON) == seconds


def test_limits_told_by_openai():
    headers = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-limit-tokens": "150000",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "6m0s",
    }
    assert told_limits(headers, NOON) == {
        "requests": ReportedLimit(60, 59, 1.0),
        "tokens": ReportedLimit(150_000, 149_984, 360.0),
    }


def test_limits_told_by_anthropic():
    headers = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2023-11-14T22:14:20Z",
        "anthropic-ratelimit-tokens-limit": "nonsense",
    }
    assert told_limits(headers, NOON) == {"requests": ReportedLimit(50, 0, 60.0)}


# A lane


def test_no_minute_holds_more_requests_than_set():
    lane, left = Lane(), []
    now = 1000.0
    for number in range(40):
        while (wait := lane.wait(LaneRule(rpm=10), 1, now, alive)) > 0:
            now += wait
        lane.leave(str(number), 1, now, 1)
        lane.land(str(number), 1)
        left.append(now)
        now += 0.5
    assert all(later - earlier > 60 for earlier, later in zip(left, left[10:], strict=False))
    assert left[9] - left[0] < 10  # and no fewer
    assert left[10] - left[0] < 63


def test_no_minute_holds_more_tokens_than_set_and_a_long_call_gets_a_minute_to_itself():
    lane, rule, now = Lane(), LaneRule(tpm=100), 1000.0
    assert lane.wait(rule, 60, now, alive) == 0
    lane.leave("a", 60, now, 1)
    assert lane.wait(rule, 60, now, alive) > 59
    lane.land("a", 30)  # it took fewer than reckoned
    assert lane.wait(rule, 60, now, alive) == 0
    assert lane.wait(rule, 1000, now, alive) > 59
    assert lane.wait(rule, 1000, now + 62, alive) == 0


def test_a_refusal_halves_what_is_on_its_way_once_a_round_and_success_adds_one_a_round():
    lane = Lane()
    for number in range(8):
        lane.leave(str(number), 1, 1000.0, 1)
    assert lane.refused("0", 1001.0) == 1
    assert lane.refused("1", 1001.5) == 0  # it left before the cut: no news
    assert lane.concurrency == 4
    for number in range(4):
        lane.land(str(number), 1)
    assert lane.wait(LaneRule(), 1, 1002.0, alive) > 0
    lane.land("4", 1)
    assert lane.wait(LaneRule(), 1, 1002.0, alive) == 0
    for _ in range(5):
        lane.accepted()
    assert lane.concurrency > 5


def test_a_dead_process_holds_no_place():
    lane = Lane()
    lane.leave("a", 1, 1000.0, process=7)
    assert lane.wait(LaneRule(concurrency=1), 1, 1000.0, alive) > 0
    assert lane.wait(LaneRule(concurrency=1), 1, 1000.0, lambda process: process != 7) == 0


def test_what_the_provider_says_is_left_is_kept_to():
    lane = Lane()
    lane.leave("a", 1, 1000.0, 1)
    lane.told("requests", ReportedLimit(10, 1, 9.0), "a", 1000.0)  # one comes back each second
    lane.land("a", 1)
    assert lane.wait(LaneRule(), 1, 1000.0, alive) == 0
    lane.leave("b", 1, 1000.0, 1)
    assert lane.wait(LaneRule(), 1, 1000.0, alive) == pytest.approx(1.0)
    assert lane.wait(LaneRule(), 1, 1001.0, alive) == 0


def test_the_longest_wait_goes_first_and_who_has_gone_is_forgotten():
    lane = Lane()
    assert lane.turn("one", 1000.0, 1001.0)
    assert not lane.turn("two", 1000.5, 1001.0)
    assert lane.turn("two", 1000.5, 1005.0)


# The budget


def reserve(budget, name, tokens, cost=0.0):
    budget.reserve(name, Reserved(1000.0, 1, tokens, cost), again=False)


def test_a_call_waits_for_those_on_their_way_before_it_is_refused():
    budget, caps = Budget(), Caps(tokens=100)
    assert not budget.must_wait(caps, 60, 0, 1000.0, alive)
    reserve(budget, "a", 60)
    assert budget.must_wait(caps, 60, 0, 1000.0, alive)
    budget.spend("a", 20, 0.0)
    assert not budget.must_wait(caps, 60, 0, 1000.0, alive)
    reserve(budget, "b", 60)
    budget.spend("b", 60, 0.0)
    with pytest.raises(
        TargetError, match="max-tokens is 100, 80 are spent, and this call may take 60"
    ) as error:
        budget.must_wait(caps, 60, 0, 1000.0, alive)
    assert error.value.kind == "budget"


@pytest.mark.parametrize(
    ("caps", "said"),
    [(Caps(calls=1), "max-calls is 1"), (Caps(cost=0.01), r"max-cost is \$0.01"), (Caps(tokens=0), "is 0")],
)
def test_each_cap_is_named(caps, said):
    budget = Budget()
    reserve(budget, "a", 10, 0.01)
    budget.spend("a", 10, 0.01)
    with pytest.raises(TargetError, match=said) as error:
        budget.must_wait(caps, 10, 0.001, 1000.0, alive)
    assert error.value.kind == "budget"


def test_no_calls_at_all():
    with pytest.raises(TargetError, match="Nothing may be asked") as error:
        Budget().must_wait(Caps(calls=0), 1, 0, 1000.0, alive)
    assert error.value.kind == "not-allowed"


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ({"max_tokens": 100, "max_completion_tokens": 50}, 50),
        ({"max_tokens": 5}, 5),
        ({"max_completion_tokens": 5, "n": 3}, 15),
        ({"max_output_tokens": 5}, 5),
        ({"max_tokens": "5"}, None),
        ({"max_tokens": True}, None),
        ({}, None),
    ],
)
def test_bounds_of_the_answer(body, bound):
    assert output_bound(body) == bound


# Prices and tables


def test_own_prices_come_first_and_unknown_ones_are_unknown():
    prices = Prices({"gpt-5*": Price(1.0, 2.0)})
    assert prices.of("gpt-5-mini", "https://api.openai.com/v1").cost(1_000_000, 500_000) == 2.0
    assert prices.of("mine", "http://127.0.0.1:1/v1") is None


def test_listed_prices():
    pytest.importorskip("genai_prices")
    price = Prices().of("gpt-4o", "https://api.openai.com/v1/chat/completions")
    assert (price.input, price.output) == pytest.approx((2.5, 10.0))


@pytest.mark.parametrize(
    ("read", "table", "said"),
    [
        (rules_from, {"a": {"rmp": 1}}, "Did you mean 'rpm'"),
        (rules_from, {"a": {"rpm": 0}}, "whole number of 1 or more"),
        (rules_from, {"a": {"rpm": True}}, "not a number"),
        (rules_from, {"a": 3}, "must be a table"),
        (rules_from, [], "must be a table"),
        (prices_from, {"a": {"input": 1}}, "output = None"),
        (prices_from, {"a": {"input": -1, "output": 1}}, "0 or more"),
        (prices_from, {"a": {"input": "1", "output": 1}}, "US dollars"),
    ],
)
def test_wrong_tables_are_named(read, table, said):
    with pytest.raises(UsageError, match=said):
        read(table, "[tool.promptfuzz.x]")


def test_the_first_pattern_that_matches_rules():
    settings = Settings(rule=LaneRule(rpm=5, tpm=9), rules=rules_from({"host/*": {"rpm": 3}}, ""))
    assert settings.rule_of("host/m") == LaneRule(3, 9, None)
    assert settings.rule_of("other/m") == LaneRule(5, 9, None)


# The gate


def test_calls_leave_in_the_order_in_which_they_came():
    clock = Clock()
    gate = SessionLimits(Settings(rule=LaneRule(concurrency=1)), clock=clock)
    tickets = [gate.enter(outgoing()) for _ in range(3)]
    assert tickets[0].delay() == 0
    assert tickets[1].delay() > 0
    assert tickets[2].delay() > 0
    tickets[0].settled(Usage(1, 1), 1)
    assert tickets[2].delay() > 0  # it looks first, and lets the other out
    assert tickets[1].delay() == 0
    tickets[1].left()
    clock.now += 1
    assert tickets[2].delay() == 0


def test_whoever_goes_away_leaves_no_hole():
    clock = Clock()
    gate = SessionLimits(Settings(rule=LaneRule(concurrency=1)), clock=clock)
    first, second, third = (gate.enter(outgoing()) for _ in range(3))
    first.delay(), second.delay(), third.delay()
    second.left()
    first.settled(None, 8)
    clock.now += 1
    assert third.delay() == 0
    third.left()
    third.left()
    budget = gate.budget()
    assert (budget.calls, budget.reserved) == (2, {})


@pytest.mark.parametrize("shared", [False, True])
def test_crowded_threads_never_exceed_the_concurrency(tmp_path, shared):
    ledger = SharedLedger(tmp_path / "books.db", print) if shared else None
    gate = SessionLimits(Settings(rule=LaneRule(concurrency=3)), ledger=ledger)
    lock, now, peak = threading.Lock(), [0], [0]

    def call(_):
        ticket = gate.enter(outgoing())
        while (delay := ticket.delay()) > 0:
            time.sleep(delay)
        with lock:
            now[0] += 1
            peak[0] = max(peak[0], now[0])
        time.sleep(0.002)
        with lock:
            now[0] -= 1
        ticket.answered(200, {})
        ticket.settled(Usage(1, 1), 1)

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(call, range(60)))
    budget = gate.budget()
    gate.close()
    assert peak[0] == 3
    assert (budget.calls, budget.tokens, budget.reserved) == (60, 120, {})


def test_a_stopped_session_lets_nobody_wait():
    gate = SessionLimits(Settings(rule=LaneRule(concurrency=1)))
    gate.enter(outgoing()).delay()
    waiting = gate.enter(outgoing())
    assert waiting.delay() > 0
    gate.stop()
    with pytest.raises(TargetError, match="interrupted"):
        waiting.delay()


def test_a_bounded_call_never_overshoots_and_an_unbounded_one_by_itself_only():
    gate = SessionLimits(Settings(caps=Caps(tokens=300)))
    for _ in range(2):
        ticket = gate.enter(outgoing(size=50, bound=50))
        assert ticket.delay() == 0
        ticket.settled(Usage(40, 50), 0)
    ticket = gate.enter(outgoing(size=50, bound=100))
    with pytest.raises(TargetError, match="spent"):
        ticket.delay()
    assert gate.budget().tokens == 180


def test_tokens_are_counted_from_when_a_call_leaves_and_corrected_when_it_ends():
    clock = Clock()
    gate = SessionLimits(Settings(rule=LaneRule(tpm=100)), clock=clock)
    first, second = (gate.enter(outgoing(bound=40, words=80)) for _ in range(2))  # 60 tokens each
    assert first.delay() == 0
    assert second.delay() > 0
    first.settled(Usage(5, 5), 0)
    clock.now += 1
    assert second.delay() == 0


def test_a_model_without_a_price_is_refused_before_the_call():
    gate = SessionLimits(Settings(caps=Caps(cost=1.0)))
    with pytest.raises(
        TargetError, match=r"no price is known of the model 'm' at host.*Write .*tool.promptfuzz.prices"
    ) as error:
        gate.enter(outgoing()).delay()
    assert error.value.kind == "unpriced"
    assert gate.budget().calls == 0


@pytest.mark.parametrize(
    ("installed", "python", "url", "said"),
    [
        (
            False,
            (3, 13),
            "https://api.openai.com/v1",
            r"Install .*: pip install '.*\[prices\]'. Or write its price ",
        ),
        (
            False,
            (3, 10),
            "https://api.openai.com/v1",
            r"The list .* needs Python 3.11 or later. Write its price ",
        ),
        (True, (3, 13), "https://api.openai.com/v1", "Write its price "),
        (False, (3, 13), "http://127.0.0.1:11434/v1", "Write its price "),
    ],
)
def test_a_missing_price_names_what_helps_here(monkeypatch, installed, python, url, said):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object() if installed else None)
    monkeypatch.setattr("sys.version_info", python)
    text = sentence(missing_price("m", url))
    assert re.match(said, text), text
    assert text.endswith('"m" = { input = 0.25, output = 2.0 } (US dollars for a million tokens).')


def test_a_price_is_looked_up_when_it_is_asked_for_or_limited(monkeypatch):
    looked: list[str] = []

    def of(self: Prices, model: str, url: str) -> Price:
        del self, url
        looked.append(model)
        return Price(1.0, 2.0)

    monkeypatch.setattr(Prices, "of", of)
    gate = SessionLimits()
    ticket = gate.enter(outgoing())
    assert ticket.delay() == 0
    price = ticket.settled(Usage(1_000_000, 500_000), 0)
    assert (looked, gate.budget().cost) == ([], 0.0)
    assert (price(), price(), looked) == (2.0, 2.0, ["m"])
    unknown = gate.enter(outgoing())
    assert unknown.delay() == 0
    assert (unknown.settled(None, 8)(), looked) == (None, ["m"])

    limited = SessionLimits(Settings(caps=Caps(cost=5.0)))
    ticket = limited.enter(outgoing(bound=10))
    assert ticket.delay() == 0
    assert ticket.settled(Usage(1_000_000, 500_000), 0)() == 2.0
    assert limited.budget().cost == 2.0


def test_an_unusable_file_is_said_once_and_each_process_goes_on_alone(tmp_path):
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    said = []
    gate = SessionLimits(ledger=SharedLedger(tmp_path / "file" / "books.db", said.append))
    for _ in range(2):
        ticket = gate.enter(outgoing())
        assert ticket.delay() == 0
        ticket.settled(None, 4)
    assert len(said) == 1
    assert "each process by itself" in said[0]
    assert gate.budget().calls == 2


def played(answer, *, calls=6, settings=None, seconds_each=0.01, told=None):
    """Calls that all want to leave at once, against a provider; what became of each, and how long that took.

    ``answer`` takes the time since the start and the number of the request, and gives a status and headers.
    """
    clock = Clock()
    limits = SessionLimits(settings, clock=clock, told=told)
    waiting = [limits.enter(outgoing()) for _ in range(calls)]
    ended: list[str] = [""] * calls
    asked = 0
    while not all(ended):
        delays = []
        for number, ticket in enumerate(waiting):
            if ended[number]:
                continue
            try:
                delay = ticket.delay()
            except TargetError as error:
                ended[number] = str(error)
                continue
            if delay > 0:
                delays.append(delay)
                continue
            status, headers = answer(clock.now - 1000.0, asked)
            asked += 1
            clock.now += seconds_each
            if ticket.answered(status, headers):
                continue
            if status < 400:
                ticket.settled(None, 1)
            ended[number] = "200" if status == 200 else f"{status}{ticket.tries()}"
        clock.now += min(delays, default=0.0)
    return ended, clock.now - 1000.0, asked


@pytest.mark.parametrize("headers", [{}, {"retry-after": "0"}, {"retry-after": "20"}, {"retry-after": "7"}])
def test_a_provider_that_refuses_every_call_is_waited_for_no_longer_than_is_set(headers):
    ended, seconds, asked = played(lambda now, number: (429, headers), calls=40)
    assert seconds <= 60
    assert asked <= 60
    assert any(
        "(try 4 of 4)" in each or "no call has been answered for nearly 60 s" in each for each in ended
    )
    assert sum(each.startswith("Not asked: host/m refused the calls before") for each in ended) >= 20


GONE = {
    "x-ratelimit-limit-requests": "10",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "6m0s",
}


def in_turn(calls, status, headers=(), *, seconds_each=0.01, told=None):
    """Calls one after the other, none of which succeeds (a status of 0 is no answer); the refused ones, requests, seconds."""
    clock = Clock()
    limits = SessionLimits(clock=clock, told=told)
    asked, refused = 0, []
    for _ in range(calls):
        ticket = limits.enter(outgoing())
        try:
            again = True
            while again:
                while (delay := ticket.delay()) > 0:
                    clock.now += delay
                asked += 1
                clock.now += seconds_each
                again = ticket.answered(status, dict(headers)) if status else ticket.failed(passing=True)
        except TargetError as error:
            refused.append(error)
    seconds = clock.now - 1000.0
    clock.now += 60.0
    assert limits.enter(outgoing()).delay() == 0.0, "it is asked again later"
    return refused, asked, seconds


@pytest.mark.parametrize("headers", [{}, {"retry-after": "0"}, {"retry-after": "25"}, GONE])
@pytest.mark.parametrize("status", [429, 503, 529])
def test_no_call_waits_when_the_time_is_over(status, headers):
    said: list[str] = []
    refused, asked, seconds = in_turn(300, status, headers, told=said.append)
    assert seconds <= 60 + 0.01 * asked
    assert asked <= 250
    assert len(refused) >= 200
    assert all(each.kind == ("server" if status == 503 else "rate-limit") for each in refused)
    assert any(f"(HTTP {status}, try " in each for each in said)


def test_calls_that_nobody_answers_are_not_made_when_the_time_is_over():
    """Each of them takes the application's timeout."""
    said: list[str] = []
    refused, asked, seconds = in_turn(40, 0, seconds_each=20.0, told=said.append)
    assert seconds <= 60 + 2 * 20.0
    assert asked <= 6
    assert {each.kind for each in refused} == {"connection"}
    assert "host/m failed the calls before this one" in str(refused[0])
    assert re.fullmatch(r"waiting \d s for host/m \(no answer, try \d of 4, \d+ s so far\)", said[-1])


@pytest.mark.parametrize("max_wait", [0.0, 60.0])
def test_one_call_that_fails_shuts_nobody_out(max_wait):
    settings = Settings(max_wait=max_wait)
    ended, *_ = played(lambda now, number: (500 if number == 1 else 200, {}), calls=8, settings=settings)
    assert ended.count("200") == (8 if max_wait else 7)


def test_a_limit_that_recovers_within_the_time_recovers():
    for recovers, asked in ((3.0, "4"), (9.0, "4"), (20.0, "15"), (40.0, "15"), (55.0, "19")):
        ended, seconds, _ = played(
            lambda now, number, recovers=recovers, asked=asked: (
                (200, {}) if now >= recovers else (429, {"retry-after": asked})
            )
        )
        assert ended == ["200"] * 6, (recovers, ended)
        assert seconds < recovers + float(asked) + 1


def test_calls_that_get_through_now_and_then_are_waited_for_as_long_as_it_takes():
    """A limit of three calls a minute, say: it is not refused for good."""
    last = [-20.0]

    def answer(now, number):
        if now - last[0] < 20:
            return 429, {"retry-after": f"{20 - now + last[0]:.3f}"}
        last[0] = now
        return 200, {}

    ended, seconds, _ = played(answer, calls=8)
    assert ended == ["200"] * 8
    assert seconds > 120


def test_the_time_is_set_and_named():
    settings = Settings(max_wait=10.0, attempts=9)
    ended, seconds, _ = played(lambda now, number: (429, {"retry-after": "4"}), calls=1, settings=settings)
    assert seconds <= 10
    assert "no call has been answered for nearly 10 s (--promptfuzz-max-wait)" in ended[0]
    ended, seconds, _ = played(lambda now, number: (503, {"retry-after": "11"}), calls=1, settings=settings)
    assert "the provider asks to wait 11 s, longer than 10 s (--promptfuzz-max-wait)" in ended[0]
    assert seconds < 1
    ended, _, asked = played(lambda now, number: (429, {}), calls=3, settings=Settings(max_wait=0.0))
    assert asked == 3 or all(each.startswith(("429", "Not asked")) for each in ended)


def test_failures_long_ago_take_no_time_from_those_of_today():
    """Nobody waited between them."""
    clock = Clock()
    limits = SessionLimits(clock=clock)
    for _ in range(2):
        ticket = limits.enter(outgoing())
        tries = 0
        while True:
            while (delay := ticket.delay()) > 0:
                clock.now += delay
            tries += 1
            if not ticket.answered(503, {}):
                break
        assert tries == 4
        clock.now += 300.0


def test_what_headers_tell_holds_no_call_for_longer_than_is_set():
    gone = {
        "x-ratelimit-limit-requests": "200",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "8h",
    }
    ended, seconds, _ = played(lambda now, number: (200, gone), calls=3)
    assert ended == ["200"] * 3
    assert seconds <= 60


def test_a_long_wait_is_told_once():
    said: list[str] = []
    played(lambda now, number: (429, {"retry-after": "20"}), calls=6, told=said.append)
    assert 1 <= len(said) <= 4
    assert said[0].startswith("waiting 20 s for ")
    assert "HTTP 429, try 1 of 4" in said[0]
    said.clear()
    played(lambda now, number: (429, {}), calls=1, settings=Settings(attempts=1), told=said.append)
    assert said == []


def test_a_call_that_failed_goes_before_those_that_came_later():
    order: list[int] = []
    clock = Clock()
    limits = SessionLimits(clock=clock)
    tickets = [limits.enter(outgoing()) for _ in range(3)]
    assert tickets[0].delay() == 0.0
    assert tickets[0].answered(429, {"retry-after": "1"})
    for number in (1, 2):
        assert tickets[number].delay() > 0
    for _ in range(400):
        clock.now += 0.01
        for number, ticket in enumerate(tickets):
            if number not in order and ticket.delay() == 0.0:
                order.append(number)
                ticket.answered(200, {})
                ticket.settled(None, 1)
    assert order == [0, 1, 2]
