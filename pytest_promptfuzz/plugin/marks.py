"""``@robust``: how marks are merged, what a project's hooks offer by name, and the run's own mutations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import pytest

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.evaluating.settings import CHOICES, MARK_KEYS
from pytest_promptfuzz.plugin.options import OVERRIDE, GivenSetting, given_places, read_value

if TYPE_CHECKING:
    import os
    import re
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from typing_extensions import Unpack

    from pytest_promptfuzz.comparing.custom_checks import Guard, SimilarityTier
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.evaluating.settings import Setting
    from pytest_promptfuzz.judging.model_judge import AnyJudge
    from pytest_promptfuzz.mutations.engine.selection import Mutations, Selection
    from pytest_promptfuzz.searching.search_loop import Method
    from pytest_promptfuzz.storage.redaction import Redactor

    # Written by docs/settings_tables.py from evaluating/settings.py.

    class PromptKeys(TypedDict, total=False):
        """Keys of ``@robust``: the prompt and the model."""

        inputs: Sequence[Any] | Mapping[str, Any] | str | os.PathLike[str]
        expected: Any
        mutate: str
        call: int
        match: str | re.Pattern[str]
        target: str | Callable[..., Any]
        parameters: Mapping[str, Any]
        fixtures: str

    class PlanKeys(TypedDict, total=False):
        """Keys of ``@robust``: the mutations."""

        mutations: Mutations
        operators: Selection
        part: str | Sequence[str]
        stop: str
        shrink: int | Literal["off"]
        controls: int | Literal["off"]
        samples: int
        baseline_runs: int
        seed: int

    class ComparisonKeys(TypedDict, total=False):
        """Keys of ``@robust``: how answers are compared."""

        task: str
        profile: Profile | str
        equivalent_at: float
        minor_at: float
        schema: Mapping[str, Any] | str | os.PathLike[str]
        compare: bool
        ignore: str | Sequence[str]
        tiers: Sequence[SimilarityTier | str]
        guards: Sequence[Guard | str]
        judge: AnyJudge | Literal[False]
        judge_when: str
        judge_repeats: int
        judge_min_agreement: float
        judge_agreement: str | os.PathLike[str]
        quality: Sequence[str]

    class VerdictKeys(TypedDict, total=False):
        """Keys of ``@robust``: how a test is judged."""

        threshold: float
        gate: str
        pinned: str
        accept_brittle: str
        until: str | date
        model_drift: str
        prompt_drift: str
        comparator_drift: str
        max_deviations: int

    class SearchKeys(TypedDict, total=False):
        """Keys of ``@robust``: tests that search."""

        search: bool | str | Method | Mapping[str, Any]
        queries: int
        objective: str | Callable[[Any, Any], Any]
        max_words: int
        max_change_rate: float

    # End of what docs/settings_tables.py writes.

    class RobustOptions(PromptKeys, PlanKeys, ComparisonKeys, VerdictKeys, SearchKeys, total=False):
        """The keys of ``@robust``; docs/reference.md describes each."""

    _Forget = Callable[[], None]


MARK = "robust"
KEYS_OVER = pytest.StashKey["Callable[[dict[str, Any]], dict[str, Any]]"]()
"""What makes the keys of every test's marks into those that a study wants."""


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


def names_target(item: pytest.Item) -> bool:
    """Whether a mark of the item names who is asked, so that the run's target does not matter."""
    return any(mark.kwargs.get("target") is not None for mark in item.iter_markers(MARK))


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
            raise UsageError(f"@robust takes one prompt, not {len(mark.args)}: {mark.args!r:.80}.")
        if mark.args:
            given["prompt"] = mark.args[0]
        for key, value in given.items():
            if key != "prompt" and key not in MARK_KEYS:
                raise UsageError(f"@robust has no key {key!r}. {nearest(key, MARK_KEYS)}")
            if seen.get(key) is node:
                on = "" if node is item else f" on {node.name!r}"
                raise UsageError(f"@robust gives {key}={on} twice. Keep one of them.")
            if key in seen:
                continue
            seen[key] = node
            if key == "prompt":
                prompt = value
            else:
                keys[key] = value
    over = item.config.stash.get(KEYS_OVER, None)
    return prompt, keys if over is None else over(keys)


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
    from pytest_promptfuzz.evaluating.role_prompts import PREFIX, unknown_role

    if isinstance(mutate, str) and mutate.startswith(PREFIX) and (wrong := unknown_role(mutate)):
        raise UsageError(f"{item.nodeid}: {wrong}")
    raise UsageError(
        f"{item.nodeid}: @robust has both a prompt and mutate={mutate!r:.80}, but the test takes no argument `prompt`. "
        "Leave the prompt out. To mutate the prompt, take it as the argument `prompt` and leave mutate= out."
    )


# What a project's hooks offer by name: operators, tiers, guards, judges, formats of reports.


def register_offered(config: pytest.Config, *, reporters: bool = False) -> None:
    """Make known what the hooks offer, until the run ends: another may follow in the same process, or go on around it.

    Args:
        config: The run's.
        reporters: Formats of reports alone, which are asked for before the first test; otherwise all else.

    Raises:
        UsageError: A hook failed, or offered something else.
    """
    for kind, add in ({"reporters": _reporter} if reporters else _KINDS).items():
        hook = f"pytest_promptfuzz_{kind}"
        try:
            found = getattr(config.hook, hook)(config=config)
        except Exception as error:
            raise UsageError(f"A {hook} hook raised {type(error).__name__}: {error}") from error
        for offered in found:
            if isinstance(offered, str) or not isinstance(offered, Iterable):
                raise UsageError(f"{hook} returned {type(offered).__name__}; return a list of {kind}.")
            for each in offered:
                config.add_cleanup(add(each, hook))


def offered_redactors(config: pytest.Config) -> tuple[Redactor, ...]:
    """What a project's ``pytest_promptfuzz_redactors`` hooks return, in their order.

    Raises:
        UsageError: A hook failed, or offered something else than functions.
    """
    hook = "pytest_promptfuzz_redactors"
    try:
        offered = config.hook.pytest_promptfuzz_redactors(config=config)
    except Exception as error:
        raise UsageError(f"A {hook} hook raised {type(error).__name__}: {error}") from error
    for several in offered:
        if isinstance(several, str) or not isinstance(several, Iterable):
            raise UsageError(f"{hook} returned {type(several).__name__}; return a list of functions.")
    found = tuple(each for several in offered for each in several)
    for each in found:
        if not callable(each):
            raise UsageError(
                f"{hook} returned {each!r:.60} among the functions; return functions of (text, name)."
            )
    return found


def _operator(value: Any, hook: str) -> _Forget:
    from pytest_promptfuzz.mutations.engine.operator import Operator
    from pytest_promptfuzz.mutations.engine.registry import lend

    if not isinstance(value, Operator):
        raise UsageError(
            f"{hook} returned {value!r:.60} among the operators; decorate it with @operator first."
        )
    return lend(value)


def _tier(value: Any, hook: str) -> _Forget:
    from pytest_promptfuzz.comparing.custom_checks import TIERS

    return TIERS.lend(value, hook)


def _guard(value: Any, hook: str) -> _Forget:
    from pytest_promptfuzz.comparing.custom_checks import GUARDS

    return GUARDS.lend(value, hook)


def _judge(value: Any, hook: str) -> _Forget:
    from pytest_promptfuzz.judging.model_judge import JUDGES

    return JUDGES.lend(value, hook)


def _reporter(value: Any, hook: str) -> _Forget:
    from pytest_promptfuzz.reporting.report_files import reporters

    return reporters().lend(value, hook)


_KINDS: dict[str, Callable[[Any, str], _Forget]] = {
    "operators": _operator,
    "tiers": _tier,
    "guards": _guard,
    "judges": _judge,
}


# What mutations a test gets whose mark does not say: the run's ``mutations`` and ``operators``, from four places.
#
# They go together: a mapping or a list in ``mutations`` says what to draw on, as ``operators`` does. Of two places that
# say it, the one nearer to the test counts, as of two that say how many.


_DEFAULT: dict[str, Any] = {setting.name: setting.default for setting in CHOICES}


class Chosen(NamedTuple):
    """What one place says: its name in messages, the setting, and the value as a mark would have it."""

    place: str
    name: str
    value: Any


@dataclass(slots=True)
class PlanChoice:
    """The run's mutations and operators.

    Attributes:
        config: Its hooks bring operators of the project.
        chosen: What was given, from the farthest place to the nearest.
        overriding: What overrides the marks: no part of the run's choice, but looked up with it.
    """

    config: pytest.Config
    chosen: Sequence[Chosen]
    overriding: Sequence[Chosen] = ()
    _known: bool = False
    _contract: dict[str, Any] = field(default_factory=dict)

    @property
    def contract(self) -> Mapping[str, Any]:
        """``mutations`` and ``operators`` of a test that says nothing.

        Raises:
            UsageError: A name in them is unknown, or the project's own operators are wrong.
        """
        if not self._contract:
            self.register()
            for each in (*self.chosen, *self.overriding):
                _look_up(each)
            contract = _DEFAULT
            for each in self.chosen:
                contract = laid_over(contract, {each.name: each.value})
            self._contract = contract
        return self._contract

    def check(self) -> None:
        """Look up what the run names, if it names any.

        Raises:
            pytest.UsageError: As `contract`; a worker of pytest-xdist leaves it to each test, which can say so.
        """
        if (self.chosen or self.overriding) and not hasattr(self.config, "workerinput"):
            try:
                _ = self.contract
            except UsageError as error:
                raise pytest.UsageError(str(error)) from None

    def register(self) -> None:
        """Make the operators, tiers, guards and judges known that the project's hooks offer.

        Raises:
            UsageError: A hook failed, or offered something else.
        """
        if not self._known:
            register_offered(self.config)
            self._known = True


def laid_over(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with nearer ones in their place, key by key; what to draw on is the nearer one's.

    >>> laid_over({"mutations": {"lexical": 3}}, {"operators": ["synonym"]})
    {'mutations': 3, 'operators': ['synonym']}
    >>> laid_over({"mutations": 8, "operators": ["synonym"]}, {"mutations": {"lexical": 3}})
    {'mutations': {'lexical': 3}, 'operators': None}
    """
    both = {**under, **over}
    if not _names_operators(both.get("mutations")) or both.get("operators") is None:
        return both
    if "operators" not in over:
        return {**both, "operators": None}
    if "mutations" not in over:
        from pytest_promptfuzz.mutations.engine.selection import count_of

        return {**both, "mutations": count_of(both["mutations"])}
    return both  # one place contradicts itself: whoever reads it says so


def read_choice(config: pytest.Config, table: Mapping[str, Any], overrides: Mapping[str, Any]) -> PlanChoice:
    """What the run says: on the command line, in the environment, in the ini file or in ``[tool.promptfuzz]``.

    Args:
        config: The run's.
        table: ``[tool.promptfuzz]`` of pyproject.toml.
        overrides: What overrides the marks.

    Raises:
        pytest.UsageError: A value that cannot be read, or two that contradict each other in places of one rank.
    """
    written = [
        (setting, each)
        for setting in CHOICES
        for each in given_places(setting, config, table)
        if each.value != ""
    ]
    ranks: dict[int, dict[str, Chosen]] = {}
    for setting, each in sorted(written, key=lambda pair: pair[1].rank):
        level = ranks.setdefault(each.rank, {})
        if setting.name in level:
            raise pytest.UsageError(
                f"{level[setting.name].place} and {each.place} both set {setting.name}. Keep one of them."
            )
        level[setting.name] = Chosen(each.place, setting.name, _read(setting, each))
    for level in ranks.values():
        if len(level) == len(CHOICES) and _names_operators(level["mutations"].value):
            raise pytest.UsageError(
                f"{level['mutations'].place} and {level['operators'].place} both name operators. Keep one of them."
            )
    return PlanChoice(
        config,
        [each for level in ranks.values() for each in level.values()],
        [Chosen(f"{OVERRIDE} {key}", key, overrides[key]) for key in _DEFAULT if key in overrides],
    )


def _read(setting: Setting, written: GivenSetting) -> Any:
    """The value of a setting as a mark would have it; what it names is not looked up."""
    from pytest_promptfuzz.mutations.engine.selection import count_of, weights_of

    # Tables and lists of TOML are values already.
    value = written.value if isinstance(written.value, dict | list) else read_value(setting, written)
    try:
        if setting.name == "mutations":
            count_of(value)
        else:
            weights_of(value)
    except UsageError as error:
        raise pytest.UsageError(f"{written.place}: {_without_setting(error, setting.name)}") from None
    return value


def _look_up(chosen: Chosen) -> None:
    from pytest_promptfuzz.mutations.engine.selection import strata_of, wanted

    try:
        if chosen.name == "operators":
            strata_of(chosen.value)
        else:
            wanted(chosen.value)
    except UsageError as error:
        raise UsageError(f"{chosen.place}: {_without_setting(error, chosen.name)}") from None


def _without_setting(error: UsageError, name: str) -> str:
    """What is wrong with a setting, for a message that has named the place where it stands."""
    return str(error).removeprefix("operators: ").removeprefix(f"{name}: ").removeprefix(f"{name}=")


def _names_operators(mutations: Any) -> bool:
    """Whether ``mutations=`` is no count, and so says what to draw on."""
    return not isinstance(mutations, int | str | None)


def parameters_of(keys: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The parameters of the requests that the plugin makes for a test.

    Raises:
        UsageError: They are no mapping.
    """
    found: dict[str, Any] = MARK_KEYS["parameters"].check(keys.get("parameters"), where) or {}
    return found
