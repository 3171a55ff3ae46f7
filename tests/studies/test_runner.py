"""Studies that are run: real calls over HTTP, answers kept for the next time, models that fail."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest

from pytest_promptfuzz import Prompt, Session, UsageError, evaluate, study
from pytest_promptfuzz.evaluating.evaluate import read_inputs
from pytest_promptfuzz.running.limits.budget import Caps, Price, Prices
from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings
from pytest_promptfuzz.server.faults import BadRequest, RateLimited, ServerError, Unauthorized
from pytest_promptfuzz.storage.disk_store import ResponseStore
from pytest_promptfuzz.studies.cells import merged
from pytest_promptfuzz.studies.runner import MOST_FAILURES, price_of
from pytest_promptfuzz.studies.study import Study, StudyModel, StudyTask, read_study

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.server.faults import Fault
    from pytest_promptfuzz.server.model_server import ModelServer

PRICES = Prices({"gpt-5-mini": Price(1.0, 2.0)})


@pytest.fixture
def tickets(folder: Path) -> Study:
    return read_study(folder / "study.toml")


def test_every_cell_is_asked(tickets: Study, server: ModelServer) -> None:
    seen: list[tuple[int, int]] = []
    cells = study(tickets, prices=PRICES, progress=lambda done, total: seen.append((done, total)))
    assert server.calls == 16  # 2 runs × 2 inputs × (the prompt and 3 changes)
    assert seen[-1] == (16, 16)
    assert len(cells) == 20
    assert len({each.place for each in cells}) == 20
    outcomes = [each.outcome for each in cells[:5]]
    assert outcomes == ["baseline", "equivalent", "equivalent", "equivalent", "not-applicable"]
    first = cells[0]
    assert (first.answer, first.gold, first.model, first.run) == ("billing", True, "small", 0)
    assert {each.spent.target for each in cells} == {"openai:gpt-5-mini"}
    assert all(each.spent.latency > 0 for each in cells if each.outcome != "not-applicable")
    assert first.spent.cost == pytest.approx((first.spent.input_tokens + 2 * first.spent.output_tokens) / 1e6)
    assert {each.change.dimension for each in cells} == {"", "lexical"}


def test_a_second_time_nothing_is_asked_and_the_figures_are_those_of_the_first(
    tickets: Study, server: ModelServer, folder: Path
) -> None:
    found = []
    for _ in range(2):
        store = ResponseStore(folder / "answers")
        found.append(study(tickets, session=Session(store=store), prices=PRICES))
        store.close()
    assert server.calls == 16
    first, second = (
        [each._replace(spent=each.spent._replace(latency=None)) for each in cells] for cells in found
    )
    assert first == second
    assert [each.spent.latency for each in found[1]] == pytest.approx(
        [each.spent.latency for each in found[0]], abs=1e-6
    )


def test_what_was_answered_before_an_interruption_is_kept(
    tickets: Study, server: ModelServer, folder: Path
) -> None:
    store = ResponseStore(folder / "answers")

    def interrupt(done: int, _: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(tickets, session=Session(store=store), concurrency=1, progress=interrupt)
    asked = server.calls
    assert 5 <= asked < 16
    cells = study(tickets, session=Session(store=store))
    store.close()
    assert server.calls == 16
    assert not [each for each in cells if each.outcome == "error"]


def test_runs_are_answers_of_their_own(folder: Path) -> None:
    task = read_study(folder / "study.toml").tasks[0]
    noisy = Study("noise", (task,), (StudyModel("noisy", "simulated?noise=0.5"),), runs=4)
    cells = study(noisy)
    answers = {(each.operator, each.run): each.answer for each in cells if each.input == cells[0].input}
    assert len({answers["", run] for run in range(4)} | {answers["upper-case", run] for run in range(4)}) > 1
    again = study(noisy)
    assert [each.answer for each in again] == [each.answer for each in cells]


def test_the_first_run_shares_its_answers_with_tests(
    tickets: Study, server: ModelServer, folder: Path
) -> None:
    store = ResponseStore(folder / "answers")
    session = Session(store=store)
    given = [each.value for each in tickets.tasks[0].inputs]
    evaluate(
        tickets.tasks[0].prompt,
        "openai:gpt-5-mini",
        inputs=given,
        mutations=["upper-case"],
        controls=0,
        session=session,
    )
    assert server.calls == 4
    study(tickets, session=session)
    store.close()
    assert server.calls == 16  # instead of 20


def test_shards_together_are_the_study(tickets: Study, server: ModelServer) -> None:
    parts = [study(tickets, shard=(number, 2)) for number in (1, 2)]
    whole = study(tickets)
    joined = merged([("one", parts[0]), ("two", parts[1])])
    assert sorted(each.place for each in joined) == sorted(each.place for each in whole)
    assert server.calls == 32


def test_a_model_that_fails_throughout_leaves_the_others_alone(tickets: Study, server: ModelServer) -> None:
    server.fail(Unauthorized(times=None))
    both = Study(tickets.name, tickets.tasks, (*tickets.models, StudyModel("here", "simulated")))
    cells = study(both)
    failed = [each for each in cells if each.model == "small" and each.outcome != "not-applicable"]
    assert {each.outcome for each in failed} == {"error"}
    assert all("401" in each.error or "key" in each.error for each in failed)
    assert {each.outcome for each in cells if each.model == "here"} == {
        "baseline",
        "equivalent",
        "not-applicable",
    }


def many(tickets: Study, count: int) -> Study:
    """The study with so many inputs, in one run."""
    task = tickets.tasks[0]
    given = [f"I was charged {number} times." for number in range(count)]
    inputs = read_inputs(given, task.prompt, "study", ["billing"] * count)
    return replace(tickets, tasks=(replace(task, inputs=inputs, operators=("upper-case", "again")),), runs=1)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            BadRequest(times=None, when="charged 3 times", message="content_filter"),
            "HTTP 400: content_filter",
        ),
        (BadRequest(times=None, when="charged 3 times", status=422), "HTTP 422: "),
        (ServerError(times=None, when="charged 3 times"), "HTTP 500: "),
    ],
)
def test_an_input_that_is_refused_leaves_the_others_alone(
    tickets: Study, server: ModelServer, fault: Fault, said: str
) -> None:
    server.fail(fault)
    cells = study(many(tickets, 12))
    failed = [each for each in cells if each.outcome == "error"]
    name = "4 ('I was charged 3 times.')"
    assert {each.input for each in failed} == {name}
    assert [each.operator for each in failed] == ["", "upper-case", "again"]
    (why,) = {each.error for each in failed}
    assert why.startswith(f"We could not get the baseline of input {name}: {said}")
    assert len(cells) == 12 * 3
    assert all(each.gold for each in cells if each not in failed)


def test_each_input_that_fails_says_why_itself(tickets: Study, server: ModelServer) -> None:
    for number in (1, 3):
        server.fail(BadRequest(times=None, when=f"charged {number} times", message=f"refused {number}"))
    failed = [each for each in study(many(tickets, 5)) if each.outcome == "error"]
    assert len(failed) == 2 * 3
    for each in failed:
        number = each.input.split()[4]
        assert each.error.startswith(f"We could not get the baseline of input {each.input}: HTTP 400: ")
        assert f"refused {number}" in each.error


def test_an_input_on_which_a_function_fails_leaves_the_others_alone(tickets: Study) -> None:
    def broken(prompt: str) -> str:
        if "charged 0 times" in prompt:
            raise ValueError("no number")
        return "billing"

    given = many(tickets, 3)
    cells = study(replace(given, models=(StudyModel("mine", broken),)))
    failed = [each for each in cells if each.outcome == "error"]
    name = "1 ('I was charged 0 times.')"
    assert [(each.input, each.operator) for each in failed] == [
        (name, ""),
        (name, "upper-case"),
        (name, "again"),
    ]
    assert {each.error for each in failed} == {
        f"the unmutated prompt fails on input {name}: ValueError: no number"
    }


@pytest.mark.parametrize(
    ("fault", "most"),
    [(Unauthorized(times=None), 1), (BadRequest(times=None), MOST_FAILURES)],
)
def test_a_model_that_fails_throughout_is_not_asked_for_every_input(
    tickets: Study, server: ModelServer, fault: Fault, most: int
) -> None:
    server.fail(fault)
    cells = study(many(tickets, 60), concurrency=4)
    assert server.calls < most + 4  # those that were under way
    assert {each.outcome for each in cells} == {"error"}
    if most > 1:
        asked = [each for each in cells if each.error.startswith("We could not get the baseline of input ")]
        assert len(asked) == 3 * server.calls
        (why,) = {each.error for each in cells if each not in asked}
        assert why.startswith(
            "not asked, because the model answered none of 16 other inputs. The last error: "
        )
        assert "400" in why


def test_a_function_that_fails_throughout_is_not_asked_for_every_input(tickets: Study) -> None:
    asked: list[str] = []

    def broken(prompt: str) -> str:
        asked.append(prompt)
        raise ValueError("no number")

    cells = study(replace(many(tickets, 60), models=(StudyModel("mine", broken),)), concurrency=4)
    assert len(asked) < 2 * (MOST_FAILURES + 4)  # each twice
    assert {each.outcome for each in cells} == {"error"}
    assert sum("the unmutated prompt fails on input" in each.error for each in cells) == 3 * len({*asked})


def test_where_the_budget_is_spent_stored_answers_are_still_found(
    tickets: Study, server: ModelServer, folder: Path
) -> None:
    given, store = many(tickets, 20), ResponseStore(folder / "answers")
    (task,) = given.tasks
    study(replace(given, tasks=(replace(task, inputs=task.inputs[-2:]),)), session=Session(store=store))
    assert server.calls == 6
    server.fail(BadRequest(when="charged 0 times"))
    limits = SessionLimits(Settings(caps=Caps(calls=1)))
    cells = study(given, session=Session(store=store, gate=limits), concurrency=1)
    store.close()
    assert server.calls == 7
    kept = [each.input for each in cells if each.outcome != "error"]
    assert kept == [each.name for each in task.inputs[-2:] for _ in range(3)]
    assert sum("The budget is spent" in each.error for each in cells) == 17 * 3


def test_a_task_that_only_asks_again_needs_no_place(tickets: Study, server: ModelServer) -> None:
    given = many(tickets, 2)
    for number, operators in enumerate((("again",), ("again", "numbered-to-bulleted")), 1):
        cells = study(replace(given, tasks=(replace(given.tasks[0], operators=operators),)))
        assert [(each.outcome, each.gold) for each in cells if each.operator in {"", "again"}] == [
            ("baseline", True),
            ("equivalent", True),
        ] * 2
        assert server.calls == 4 * number


def test_a_rate_limit_is_waited_for(tickets: Study, server: ModelServer) -> None:
    server.fail(RateLimited(retry_after=0.01), next=3)
    cells = study(tickets)
    assert not [each for each in cells if each.outcome == "error"]
    assert server.calls == 19


def test_a_function_of_the_application_is_a_model_too() -> None:
    prompt = Prompt("How loud is this text? Answer with one word.")
    task = StudyTask("volume", prompt, operators=("upper-case", "double-space"))
    cells = study(Study("volume", (task,), (StudyModel("mine", _volume),)))
    assert [(each.operator, each.outcome) for each in cells] == [
        ("", "baseline"),
        ("upper-case", "deviation"),
        ("double-space", "equivalent"),
    ]
    assert cells[1].reason


def _volume(prompt: str) -> str:
    return "loud" if "TEXT" in prompt else "quiet"


def test_a_task_without_a_place_for_any_operator_asks_nothing(tickets: Study, server: ModelServer) -> None:
    task = StudyTask("triage", tickets.tasks[0].prompt, tickets.tasks[0].inputs, ("numbered-to-bulleted",))
    cells = study(Study("none", (task,), tickets.models))
    assert server.calls == 0
    assert {(each.operator, each.outcome) for each in cells} == {
        ("", "error"),
        ("numbered-to-bulleted", "not-applicable"),
    }
    assert cells[0].error == "no operator of this task finds a place in its prompt"


def test_the_price_is_known_before(tickets: Study, server: ModelServer, folder: Path) -> None:
    store = ResponseStore(folder / "answers")
    session = Session(store=store)
    before = price_of(tickets, session, PRICES)
    assert (before.calls, before.stored) == (16, 0)
    assert before.tokens > 0
    assert 0 < before.low < before.high
    study(tickets, session=session, shard=(2, 2))
    assert price_of(tickets, session, PRICES)[:2] == (8, 8)
    study(tickets, session=session)
    assert price_of(tickets, session, PRICES) == (0, 16, 0, 0, 0, True)
    store.close()
    assert price_of(tickets, Session(), Prices()).low is None
    assert server.calls == 16


@pytest.mark.parametrize(
    ("mode", "kept", "calls", "then"),
    [
        ("auto", True, 3, (0, 3)),
        ("live", True, 36, (36, 0)),  # stored answers are not read
        ("auto", False, 36, (36, 0)),
    ],
)
def test_equal_requests_are_priced_as_often_as_they_are_made(
    tickets: Study,
    server: ModelServer,
    folder: Path,
    mode: Literal["auto", "live"],
    kept: bool,
    calls: int,
    then: tuple[int, int],
) -> None:
    task = replace(
        tickets.tasks[0], inputs=tickets.tasks[0].inputs[:1] * 3, operators=("upper-case", "again")
    )
    tasks, models = (
        (task, replace(task, name="other")),
        (*tickets.models, replace(tickets.models[0], name="b")),
    )
    given = replace(tickets, tasks=tasks, models=models, runs=1)
    session = Session(store=ResponseStore(folder / "answers") if kept else None, mode=mode)
    assert price_of(given, session, PRICES)[:2] == (calls, 0)
    study(given, session=session)
    assert server.calls == calls
    assert price_of(given, session, PRICES)[:2] == then
    if session.store is not None:
        session.store.close()


def test_a_concurrency_of_nothing_is_refused(tickets: Study) -> None:
    with pytest.raises(UsageError, match="concurrency=0; give a whole number of 1 or more"):
        study(tickets, concurrency=0)


def test_a_share_of_the_cells_is_asked_of_every_model_alike(tickets: Study, server: ModelServer) -> None:
    models = (*tickets.models, StudyModel("other", tickets.models[0].target, {"temperature": 0}))
    whole = replace(tickets, models=models, runs=1)
    half = replace(whole, cells=0.5)
    assert price_of(half, Session(), PRICES).calls == 2 * (2 + 3)  # 2 models × (2 unmutated + half of 6)
    seen: list[tuple[int, int]] = []
    cells = study(half, progress=lambda done, total: seen.append((done, total)))
    assert server.calls == 10
    assert seen[-1] == (10, 10)
    assert not [each for each in cells if each.outcome == "error"]
    drawn = [
        {(each.input, each.operator) for each in cells if each.model == name and each.change.mutation}
        for name in ("small", "other")
    ]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 3
    assert sorted(sum(place[1] == name for place in drawn[0]) for name in tickets.tasks[0].operators) == [
        0,
        1,
        1,
        1,
    ]
    everything = {each.place: each.answer for each in study(whole)}
    assert all(everything[each.place] == each.answer for each in cells)


def test_an_input_without_a_drawn_change_is_asked_unmutated(tickets: Study, server: ModelServer) -> None:
    cells = study(replace(tickets, runs=1, cells=0.1))
    assert server.calls == 3
    assert [each.outcome for each in cells if not each.operator] == ["baseline", "baseline"]
    assert sum(bool(each.change.mutation) for each in cells) == 1
    assert not [each for each in cells if each.outcome == "error"]
