"""``@robust`` and the merging of marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

import pytest

from pytest_promptfuzz.errors import UsageError, nearest

if TYPE_CHECKING:
    import os
    import re
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Unpack

    from pytest_promptfuzz.comparing.custom_checks import Guard, SimilarityTier
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.judging.registry import AnyJudge
    from pytest_promptfuzz.mutations.selection import Mutations
    from pytest_promptfuzz.mutations.strata import Selection
    from pytest_promptfuzz.searching.searching import Method

    class RobustOptions(TypedDict, total=False):
        """The keys of ``@robust``; docs/reference.md describes each."""

        mutations: Mutations
        threshold: float
        gate: str
        inputs: Sequence[Any] | Mapping[str, Any]
        expected: Any
        mutate: str
        call: int
        match: str | re.Pattern[str]
        target: str | Callable[..., Any]
        task: str
        part: str | Sequence[str]
        operators: Selection
        seed: int
        equivalent_at: float
        minor_at: float
        profile: Profile | str
        schema: Mapping[str, Any] | str | os.PathLike[str]
        max_deviations: int
        compare: bool
        ignore: str | Sequence[str]
        tiers: Sequence[SimilarityTier | str]
        guards: Sequence[Guard | str]
        judge: AnyJudge | Literal[False]
        judge_when: str
        judge_repeats: int
        quality: Sequence[str]
        samples: int
        baseline_runs: int
        stop: str
        shrink: int | Literal["off"]
        controls: int | Literal["off"]
        pinned: str
        model_drift: str
        prompt_drift: str
        comparator_drift: str
        fixtures: str
        search: bool | str | Method | Mapping[str, Any]
        queries: int
        objective: str | Callable[[Any, Any], Any]
        max_words: int
        max_change_rate: float


MARK = "robust"
# What the mark holds beside the contract of evaluating/contract.py.
PLACEMENT_KEYS = ("inputs", "expected", "mutate", "call", "match", "target", "fixtures")
# How a test searches that is a search.
SEARCH_KEYS = ("search", "queries", "objective", "max_words", "max_change_rate")
CONTRACT_KEYS = (
    "mutations",
    "threshold",
    "gate",
    "task",
    "part",
    "operators",
    "seed",
    "equivalent_at",
    "minor_at",
    "profile",
    "schema",
    "max_deviations",
    "compare",
    "ignore",
    "tiers",
    "guards",
    "judge",
    "judge_when",
    "judge_repeats",
    "quality",
    "samples",
    "baseline_runs",
    "stop",
    "shrink",
    "controls",
    "pinned",
    "model_drift",
    "prompt_drift",
    "comparator_drift",
)
KEYS = (*CONTRACT_KEYS, *PLACEMENT_KEYS, *SEARCH_KEYS)


def robust(*args: Any, **options: Unpack[RobustOptions]) -> Any:
    """Mark a test, class or module as a robustness test: the same as ``pytest.mark.robust``.

    Use it bare or with keys; a positional argument is the prompt that the ``prompt`` fixture gives::

        @robust(mutations=8, threshold=0.85)
        def test_triage(prompt, llm): ...

    The keys are checked when the test runs, so that a mistake in one test fails that test only.
    """
    return getattr(pytest.mark, MARK)(*args, **options)


def is_robust(item: pytest.Item) -> bool:
    """Whether an item carries the mark."""
    return item.get_closest_marker(MARK) is not None


def merged(item: pytest.Item) -> tuple[Any, dict[str, Any]]:
    """The prompt (or ``None``) and the keys of an item's marks: key by key, the nearest wins.

    Raises:
        UsageError: An unknown key, more than one positional argument, or a key twice at one level.
    """
    prompt: Any = None
    keys: dict[str, Any] = {}
    seen: dict[str, object] = {}
    for node, mark in item.iter_markers_with_node(MARK):
        given = dict(mark.kwargs)
        if len(mark.args) > 1:
            raise UsageError(
                f"@robust takes one prompt, not {len(mark.args)} positional arguments: {mark.args!r}."
            )
        if mark.args:
            given["prompt"] = mark.args[0]
        for key, value in given.items():
            if key != "prompt" and key not in KEYS:
                raise UsageError(f"@robust has no key {key!r}. {nearest(key, KEYS)}")
            if seen.get(key) is node:
                raise UsageError(f"@robust is given {key}= twice on {node.name!r}; keep one of them.")
            if key in seen:
                continue
            seen[key] = node
            if key == "prompt":
                prompt = value
            else:
                keys[key] = value
    return prompt, keys


def refuse_unused_prompt(item: pytest.Function) -> None:
    """Refuse a prompt that nobody would see: the marks name something else as what is mutated, and no one takes it.

    A mark nearer to the test than the prompt's may name something else: the prompt is then for other tests.

    Raises:
        UsageError: Naming both.
    """
    prompt, keys = merged(item)
    mutate = keys.get("mutate", "prompt")
    if prompt is None or mutate == "prompt" or "prompt" in item.fixturenames:
        return
    marks = list(item.iter_markers_with_node(MARK))
    nodes = [node for node, _ in marks]
    prompted = next(node for node, mark in marks if mark.args or "prompt" in mark.kwargs)
    naming = next(node for node, mark in marks if "mutate" in mark.kwargs)
    if nodes.index(naming) < nodes.index(prompted):
        return
    short = (
        repr(prompt)
        if not isinstance(prompt, str)
        else repr(prompt if len(prompt) <= 40 else prompt[:39] + "…")
    )
    raise UsageError(
        f"{item.nodeid}: @robust is given the prompt {short}, which nothing takes, and mutate={mutate!r}, which names "
        "what is mutated instead. Leave the prompt out; or take it as the argument `prompt`, and leave mutate= out if "
        "it is what to mutate."
    )
