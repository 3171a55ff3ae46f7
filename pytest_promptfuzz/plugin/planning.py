"""``--promptfuzz-dry-run``: what the robust tests would ask, without asking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.evaluating.forecast import Forecast, forecast, unknown
from pytest_promptfuzz.evaluating.searched import SearchedTest
from pytest_promptfuzz.plugin.engine import Engine
from pytest_promptfuzz.plugin.limiting import prices_of
from pytest_promptfuzz.plugin.marks import merged
from pytest_promptfuzz.plugin.placing import find
from pytest_promptfuzz.plugin.prefilling import A_SEARCH, PLANNED
from pytest_promptfuzz.plugin.progress import ItemProgress
from pytest_promptfuzz.plugin.state import State
from pytest_promptfuzz.reporting.text import named
from pytest_promptfuzz.targets.function import CallableTarget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.reporting.text import Line

DRY = pytest.StashKey[Forecast]()
_OURS = frozenset({"llm", "response"})


def plan_only(item: pytest.Item) -> None:
    """Keep what a robust test would ask on its item, and skip it.

    Raises:
        UsageError: The test is set up wrongly, as it would be found when it runs.
    """
    if not isinstance(item, pytest.Function):
        pytest.skip("dry run")
    state = State.of(item.config)
    engine = Engine(item, ItemProgress(item))
    target = state.target(merged(item)[1].get("target"))
    arguments = {name: item.funcargs[name] for name in item.funcargs}
    contract = engine.job.contract
    before = max(engine.job.session.baseline_runs, contract.baseline_runs)
    queries = engine.job.budget if isinstance(engine.job, SearchedTest) else 0
    shows_later = unknown(
        item.nodeid,
        queries or before + contract.mutations * contract.samples + contract.controls,
        most=queries > 0,
    )
    try:
        plans, controls, exact = _prompts(engine, arguments)
    except PromptfuzzError as error:
        if engine.declared is not None or isinstance(arguments.get("prompt"), str):
            raise
        planned = item.config.stash.get(PLANNED, None)
        if planned is not None:
            planned.unplanned(item.nodeid, str(error))
        item.stash[DRY] = shows_later
        pytest.skip(f"dry run: what it asks shows only when its body runs ({error})")
    planned = item.config.stash.get(PLANNED, None)
    if planned is not None and queries:
        planned.unplanned(item.nodeid, A_SEARCH)
    elif planned is not None:
        planned.add(
            engine, [*(each for plan in plans for each in plan), *controls], target if exact else None
        )
    if isinstance(target, CallableTarget) and exact:
        before = max(
            before, 2
        )  # its own calls are not seen: it is called again in place of the control trial
    runs = [(plan[0], repeat) for plan in plans for repeat in range(before)]
    runs += [(each, sample) for plan in plans for each in plan[1:] for sample in range(contract.samples)]
    runs += [(each, 0) for each in controls]
    if queries:  # as long as the prompt is, which no change of it alters much
        exact, share = False, queries // max(1, len(plans))
        runs = [(plan[0], repeat) for plan in plans for repeat in range(share)]
    asks_ours = engine.declared is not None or bool(_OURS & set(item.fixturenames))
    item.stash[DRY] = (
        forecast(
            item.nodeid,
            runs,
            target if asks_ours else None,
            state.session_of(item),
            prices_of(state),
            exact=exact,
            ignore=contract.ignore,
            most=queries > 0,
        )
        if runs
        else shows_later
    )
    pytest.skip("dry run")


def _prompts(engine: Engine, arguments: dict[str, Any]) -> tuple[list[list[Prompt]], list[Prompt], bool]:
    """What the test sends of each input, unmutated first, and its control, as far as that shows without its body.

    Of what is mutated on the wire nothing does.
    """
    job = engine.job
    controls: list[Prompt] = []
    if job.on_wire is not None:
        return [], controls, False
    if engine.declared is None:
        prompt = find(engine.mutate, arguments, engine.where).prompt(arguments, engine.where)
        controls = [each.prompt for each in job.controls(prompt)[:1]]
        return [[prompt, *(each.prompt for each in job.plan(prompt))]], controls, False
    cases = engine.declared.cases(arguments, job.contract.part)
    sent: list[list[Prompt]] = []
    for given in cases.inputs:
        prompt = cases.prompt_of(given)
        if not sent:
            controls = [cases.sent(each.prompt, given) for each in job.controls(prompt)[:1]]
        sent.append([cases.sent(each, given) for each in (prompt, *(m.prompt for m in job.plan(prompt)))])
    return sent, controls, True


def lines(forecasts: Sequence[Forecast]) -> list[Line]:
    """The forecast for people: a line a test, and the sum."""
    told = [_line(each["test"], each) for each in forecasts]
    stored = [each["stored"] for each in forecasts]
    tokens = [each["tokens"] for each in forecasts if each["tokens"] is not None]
    lows, highs = [each["low"] for each in forecasts], [each["high"] for each in forecasts]
    whole = Forecast(
        test=f"{len(forecasts)} robust tests" if len(forecasts) != 1 else "1 robust test",
        calls=sum(each["calls"] for each in forecasts),
        stored=None if None in stored else sum(each or 0 for each in stored),
        tokens=sum(tokens) if tokens else None,
        low=None if None in lows else sum(each or 0 for each in lows),
        high=None if None in highs else sum(each or 0 for each in highs),
        exact=all(each["exact"] for each in forecasts),
        function=False,
        most=all(each["exact"] or each["most"] for each in forecasts),
    )
    besides = ", others not known" if len(tokens) < len(forecasts) else ""
    mixed = not whole["exact"] and not whole["most"] and any(each["most"] for each in forecasts)
    searches = sum(each["calls"] for each in forecasts if each["most"]) if mixed else 0
    told.append(_line(whole["test"], whole, besides, searches))
    told.append(
        _prose(
            "No call was made. Tokens in are estimates, four characters each; the cost is for answers of 1 to 1,000 "
            "tokens each where max_tokens does not say otherwise."
        )
    )
    if any(each["most"] for each in forecasts):
        told.append(_prose('"at most": a search ends when it has found something.'))
    if not whole["exact"] and not whole["most"]:
        told.append(
            _prose(
                '"at least": the body decides what is asked, so one call is reckoned for each run of it, and what the '
                "store holds cannot be told."
            )
        )
    return told


def _prose(text: str) -> Line:
    return [(text, "dim")]


def _line(name: str, each: Forecast, besides: str = "", searches: int = 0) -> Line:
    """What a test asks, or all of them.

    Args:
        name: Of the test.
        each: Its forecast.
        besides: What is to be said of the tokens.
        searches: How many of the calls are those of searches, of which there may be fewer, beside others of which there
            may be more; 0 where all are of one kind.
    """
    at_least = "" if each["exact"] else "at most " if each["most"] else "at least "
    stored = "" if each["stored"] is None else f", {each['stored']:,} of them in the store"
    low, high = each["low"], each["high"]
    cost = (
        "cost not known" if low is None or high is None else f"${low:.4f} to ${high:.4f}" if high else "free"
    )
    noun = ("call" if each["calls"] == 1 else "calls") + (" of the function" if each["function"] else "")
    tokens = (
        "tokens in not known" if each["tokens"] is None else f"about {each['tokens']:,} tokens in{besides}"
    )
    calls = f"{at_least}{each['calls'] - searches:,} {noun}"
    if searches:
        calls += f", and at most {searches:,} of searches"
    said = f"{calls}{stored}; {tokens}; {cost}"
    return named(name, said)
