"""``@robust(search=…)``: a test that looks for the worst change, in the place of a plan of mutations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.evaluating.settings import SEARCH_KEYS
from pytest_promptfuzz.mutations.engine.selection import PlanRequest
from pytest_promptfuzz.plugin.marks import MARK

if TYPE_CHECKING:
    import pytest

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.evaluate import Cases
    from pytest_promptfuzz.evaluating.search_settings import SearchSettings
    from pytest_promptfuzz.evaluating.search_tests import SearchedTest
    from pytest_promptfuzz.results.robustness import Robustness


# What a search has no use for, and what its contract holds in its place.
_OF_PLANS: dict[str, Any] = {"gate": "point", "max_deviations": None, "samples": 1, "stop": "never"}


_UNUSED = ("mutations", "threshold", *_OF_PLANS, "shrink", "controls")


_RARE = {
    "method": "method",
    "batch": "batch",
    "repeats": "repeats",
    "prune": "prune",
    "top": "top",
    "any_sense": "any_sense",
    "min_cosine": "cosine",
    "allows": "allows",
    "max_cost": "cost",
    "max_seconds": "seconds",
}


def is_search(item: pytest.Item, keys: Mapping[str, Any]) -> bool:
    """Whether a test is a search; ``search=False`` nearer to it takes back what a class or module says.

    Raises:
        UsageError: A mark says search= and what only a plan has a use for; or the test's own says what only a search
            has a use for, and it is none.
    """
    asked = _asked(keys.get("search"))
    for node, mark in item.iter_markers_with_node(MARK):
        given = mark.kwargs
        if _asked(given.get("search")):
            unused = [name for name in _UNUSED if name in given]
            if unused:
                drawn = " To say what may be done to the prompt, write operators=." * ("mutations" in unused)
                raise UsageError(
                    f"{item.nodeid}: {unused[0]}= is for tests that try a plan of mutations, and search= looks for "
                    f"one change that breaks the test, with queries=. Keep one of them.{drawn}"
                )
        elif node is item and not asked:
            idle = [name for name in SEARCH_KEYS if name != "search" and name in given]
            if idle:
                raise UsageError(
                    f"{item.nodeid}: {idle[0]}= says how to search, and the test is no search; add search=True, or "
                    f"leave {idle[0]}= out."
                )
    return asked


def _asked(search: object) -> bool:
    return search is not None and search is not False


def as_search(contract: Mapping[str, Any], keys: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The settings of a contract as a search has them.

    Raises:
        UsageError: The judge is the objective, and there is none.
    """
    settings = {**contract, **_OF_PLANS}
    if keys.get("objective") == "judge":
        if not settings.get("judge"):
            raise UsageError(f"{where}: objective='judge' needs judge=, which names who rates the answers.")
        if "judge_when" not in keys:
            settings["judge_when"] = "always"
    return settings


def without_unused(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """What the command line overrides of a test that is a search."""
    return {key: value for key, value in overrides.items() if key not in _UNUSED}


def search_settings_of(
    keys: Mapping[str, Any], contract: Contract, queries: int, where: str
) -> SearchSettings:
    """How a test searches.

    Args:
        keys: Of its marks.
        contract: Its settings.
        queries: Of a test that does not say.
        where: The test, for messages.

    Raises:
        UsageError: An unknown method, objective or setting, or a value that is out of range.
    """
    from pytest_promptfuzz.evaluating.search_settings import SearchSettings
    from pytest_promptfuzz.searching.methods import DEFAULT

    chosen = keys["search"]
    rare: Mapping[str, Any] = chosen if isinstance(chosen, Mapping) else {}
    for name in rare:
        if name not in _RARE:
            where_else = f" Write {name}= beside search=." if name in SEARCH_KEYS else ""
            raise UsageError(
                f"{where}: search= has no key {name!r}.{where_else or ' ' + nearest(name, _RARE)}"
            )
    method = rare.get("method", DEFAULT) if rare or isinstance(chosen, Mapping) else chosen
    search_settings = SearchSettings.of(
        DEFAULT if method is True else method,
        keys.get("objective", "deviation"),
        where=where,
        queries=keys.get("queries", queries),
        words=keys.get("max_words"),
        change_rate=keys.get("max_change_rate", 1.0),
        operators=_operators(contract),
        seed=contract.plan.seed,
        baseline_runs=max(2, contract.plan.baseline_runs),
        **{_RARE[name]: value for name, value in rare.items() if name != "method"},
    )
    _refuse_too_few(search_settings, 1, where)
    return search_settings


def _operators(contract: Contract) -> Any:
    """What may be done to the prompt; of a plan that says how much of each, the operators that keep the answer."""
    operators = contract.plan.operators
    if not isinstance(operators, PlanRequest):
        return operators
    drawn = [each for stratum in operators.strata for each in stratum.operators]
    return [*dict.fromkeys(each for each in drawn if each.relation == "invariance")] or None


def share_budget(search: SearchedTest, cases: Cases) -> None:
    """Have a search know how many inputs share its budget.

    Raises:
        UsageError: It holds no changed prompt for each of them.
    """
    assert search.search_settings is not None
    search.inputs = len(cases.inputs)
    _refuse_too_few(search.search_settings, search.inputs, search.settings.where)


def _refuse_too_few(search_settings: SearchSettings, inputs: int, where: str) -> None:
    least = (search_settings.baseline_runs + 1) * inputs
    if search_settings.queries < least:
        of = f" for {inputs} inputs" if inputs > 1 else ""
        raise UsageError(
            f"{where}: queries={search_settings.queries} buys no changed prompt{of}: each unmutated prompt is asked "
            f"{search_settings.baseline_runs} times first. Give at least {least}, and far more to find anything."
        )


def refuse_other(result: Robustness, trial: str, where: str) -> None:
    """Refuse to search for one trial, and to come to another.

    Raises:
        UsageError: The search found nothing, or something else.
    """
    found = None if result.searched is None else result.searched.found
    if result.searched is None or (found is not None and found.id == trial):
        return
    what = f"found trial {found.id}" if found is not None else f"found nothing ({result.reason})"
    raise UsageError(
        f"{where}: --promptfuzz-trial={trial} was searched for again, and the search {what}. A test that is a search "
        "finds the same while its prompt, its settings and the stored answers are the same."
    )
