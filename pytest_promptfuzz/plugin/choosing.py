"""What mutations a test gets whose mark does not say: the run's ``mutations`` and ``operators``, from four places.

They go together: a mapping or a list in ``mutations`` says what to draw on, as ``operators`` does. Of two places that
say it, the one nearer to the test counts, as of two that say how many.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.plugin.offering import register_offered
from pytest_promptfuzz.plugin.options import OVERRIDE, Written, places, read_value
from pytest_promptfuzz.plugin.settings import CHOICES, MUTATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.plugin.settings import Setting

_DEFAULT: dict[str, Any] = {setting.name: setting.default for setting in CHOICES}


class Chosen(NamedTuple):
    """What one place says: its name in messages, the setting, and the value as a mark would have it."""

    place: str
    name: str
    value: Any


@dataclass(slots=True)
class Choice:
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
        from pytest_promptfuzz.mutations.selection import count_of

        return {**both, "mutations": count_of(both["mutations"])}
    return both  # one place contradicts itself: whoever reads it says so


def read_choice(config: pytest.Config, table: Mapping[str, Any], overrides: Mapping[str, Any]) -> Choice:
    """What the run says: on the command line, in the environment, in the ini file or in ``[tool.promptfuzz]``.

    Args:
        config: The run's.
        table: ``[tool.promptfuzz]`` of pyproject.toml.
        overrides: What overrides the marks.

    Raises:
        pytest.UsageError: A value that cannot be read, or two that contradict each other in places of one rank.
    """
    written = [
        (setting, each) for setting in CHOICES for each in places(setting, config, table) if each.value != ""
    ]
    ranks: dict[int, dict[str, Chosen]] = {}
    for setting, each in sorted(written, key=lambda pair: pair[1].rank):
        level = ranks.setdefault(each.rank, {})
        if setting.name in level:
            raise pytest.UsageError(
                f"{level[setting.name].place} and {each.place} both say {setting.name}; keep one of them."
            )
        level[setting.name] = Chosen(each.place, setting.name, _read(setting, each))
    for level in ranks.values():
        if len(level) == len(CHOICES) and _names_operators(level["mutations"].value):
            raise pytest.UsageError(
                f"{level['mutations'].place} names what to draw on, and so does {level['operators'].place}; keep one of"
                " them."
            )
    return Choice(
        config,
        [each for level in ranks.values() for each in level.values()],
        [Chosen(f"{OVERRIDE} {key}", key, overrides[key]) for key in _DEFAULT if key in overrides],
    )


def _read(setting: Setting, written: Written) -> Any:
    """The value of a setting as a mark would have it; what it names is not looked up."""
    from pytest_promptfuzz.mutations.selection import count_of
    from pytest_promptfuzz.mutations.strata import weights_of

    # Tables and lists of TOML are values already.
    value = written.value if isinstance(written.value, dict | list) else read_value(setting, written)
    try:
        if setting is MUTATIONS:
            count_of(value)
        else:
            weights_of(value)
    except UsageError as error:
        raise pytest.UsageError(f"{written.place}: {str(error).removeprefix('operators: ')}") from None
    return value


def _look_up(chosen: Chosen) -> None:
    from pytest_promptfuzz.mutations.selection import wanted
    from pytest_promptfuzz.mutations.strata import strata_of

    try:
        if chosen.name == "operators":
            strata_of(chosen.value)
        else:
            wanted(chosen.value)
    except UsageError as error:
        raise UsageError(f"{chosen.place}: {str(error).removeprefix('operators: ')}") from None


def _names_operators(mutations: Any) -> bool:
    """Whether ``mutations=`` is no count, and so says what to draw on."""
    return not isinstance(mutations, int | str | None)
