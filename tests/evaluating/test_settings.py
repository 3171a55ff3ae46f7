"""The table of settings, beside what is made of it and beside the code that has its values."""

from __future__ import annotations

import inspect
from collections import Counter
from dataclasses import fields
from typing import Any, get_args

import pytest

from pytest_promptfuzz import aevaluate, evaluate, search
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.contract import (
    DRIFTS,
    ComparisonSettings,
    Contract,
    PlanSettings,
    VerdictSettings,
)
from pytest_promptfuzz.evaluating.search_settings import ChangeLimits, SearchSettings
from pytest_promptfuzz.evaluating.setting_kinds import SettingKind, whole
from pytest_promptfuzz.evaluating.settings import (
    CHOICES,
    CONTRACT_KEYS,
    LIMITS,
    OVERRIDABLE,
    PROJECT_TABLES,
    PYPROJECT_KEYS,
    RUN_KEYS,
    RUN_SETTINGS,
    SEARCH_KEYS,
    SETTINGS,
    Place,
    Setting,
    read_tool,
)
from pytest_promptfuzz.plugin.options import read_settings
from pytest_promptfuzz.running.limits.limits import Settings
from pytest_promptfuzz.stats.stopping import Stop
from pytest_promptfuzz.stats.verdict import GateName

NONSENSE = "none of these"


def test_no_two_settings_of_a_place_have_one_name() -> None:
    for place in Place:
        names = Counter(each.name for each in SETTINGS if place in each.places)
        assert names, place
        assert [name for name, times in names.items() if times > 1] == [], place


def test_a_contract_is_made_of_what_the_table_says() -> None:
    for group, kind in (
        ("plan", PlanSettings),
        ("comparison", ComparisonSettings),
        ("verdict", VerdictSettings),
    ):
        of_group = {name for name, each in CONTRACT_KEYS.items() if each.group == group}
        assert set(kind._fields) == of_group, group
    assert {each.group for each in CONTRACT_KEYS.values()} == set(Contract._fields)
    assert Contract.of({name: each.default for name, each in CONTRACT_KEYS.items()}, where="t") == Contract()
    assert set(RUN_KEYS) | {each.name for each in CHOICES} == {
        name for name, each in CONTRACT_KEYS.items() if Place.RUN in each.places
    }
    assert {name for name in CONTRACT_KEYS if name.endswith("_drift")} == set(DRIFTS)


def test_names_are_those_that_the_code_knows() -> None:
    assert CONTRACT_KEYS["gate"].kind.names == get_args(GateName)
    assert CONTRACT_KEYS["stop"].kind.names == get_args(Stop)


def test_functions_have_the_defaults_of_the_table() -> None:
    for function in (evaluate, aevaluate):
        parameters = inspect.signature(function).parameters
        assert {name: parameters[name].default for name in ("mutations", "threshold", "seed")} == {
            name: CONTRACT_KEYS[name].default for name in ("mutations", "threshold", "seed")
        }
    parameters = inspect.signature(search).parameters
    for name, setting in SEARCH_KEYS.items():
        if name != "search":
            assert parameters[name].default == setting.default, name
    defaults = {each.name: each.default for kind in (SearchSettings, ChangeLimits) for each in fields(kind)}
    assert defaults["queries"] == SEARCH_KEYS["queries"].default
    assert defaults["change_rate"] == SEARCH_KEYS["max_change_rate"].default
    unset = {name: each.default for name, each in LIMITS.items()}
    assert Settings.of(unset, rules={}, prices={}, prefix="--").attempts == Settings().attempts
    assert unset["max_wait"] == Settings().max_wait


@pytest.mark.parametrize(
    "setting", [*RUN_SETTINGS.values(), *CHOICES], ids=lambda each: f"{each.name} of {each.group}"
)
def test_the_default_of_a_run_can_be_written(setting: Setting) -> None:
    assert setting.help
    assert setting.kind.expected
    if setting.default is None or setting.default == ():
        return
    text = "on" if setting.default is True else str(setting.default)
    assert setting.kind.read(text) == setting.default


@pytest.mark.parametrize(
    "setting", [each for each in SETTINGS if Place.MARK in each.places], ids=lambda each: each.name
)
def test_a_key_of_the_mark_is_documented(setting: Setting) -> None:
    assert setting.mark
    assert setting.kind.typed


@pytest.mark.parametrize(
    "name", sorted(set(CONTRACT_KEYS) - {"judge"})
)  # which may be any object with a method
def test_a_wrong_value_is_told_with_its_place_and_its_name(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        Contract.of({name: object()}, where="test_x.py::test_it")
    assert str(caught.value).startswith("test_x.py::test_it: ")
    assert name.removesuffix("s") in str(caught.value)


@pytest.mark.parametrize(
    "setting",
    [each for each in RUN_SETTINGS.values() if each.kind.names or each.kind.ini_type != "string"],
    ids=lambda each: each.name,
)
def test_a_wrong_text_is_told_with_its_place_and_what_is_expected(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, setting: Setting
) -> None:
    expected = f"{NONSENSE!r} is not {setting.kind.expected}."
    config = pytester.parseconfig(f"{setting.option}={NONSENSE}")
    with pytest.raises(pytest.UsageError) as caught:
        read_settings(config, {})
    assert str(caught.value) == f"{setting.option}: {expected}"
    monkeypatch.setenv(setting.environment, NONSENSE)
    with pytest.raises(pytest.UsageError) as caught:
        read_settings(pytester.parseconfig(), {})
    assert str(caught.value) == f"the environment variable {setting.environment}: {expected}"


def test_pyproject_takes_what_the_table_says(tmp_path) -> None:
    file = tmp_path / "pyproject.toml"
    for name in PYPROJECT_KEYS:
        file.write_text(f"[tool.promptfuzz]\n{name} = 1\n")
        assert read_tool(tmp_path) == {name: 1}
    for name in {each.name for each in SETTINGS} - set(PYPROJECT_KEYS) - set(PROJECT_TABLES):
        file.write_text(f"[tool.promptfuzz]\n{name} = 1\n")
        with pytest.raises(UsageError, match=f"unknown key '{name}'"):
            read_tool(tmp_path)


def test_an_override_is_read_before_it_is_checked() -> None:
    read: dict[str, Any] = {}
    for name, text in {
        "threshold": "2",
        "gate": "x",
        "seed": "3",
        "max_deviations": "-1",
        "task": "y",
    }.items():
        kind = OVERRIDABLE[name].kind
        read[name] = (kind.parse or kind.read)(text)
    assert read == {"threshold": 2.0, "gate": "x", "seed": 3, "max_deviations": -1, "task": "y"}


def test_none_is_a_value_only_where_it_is_the_default() -> None:
    assert Setting("x", "plan", whole(1), None, Place.MARK).check(None, "here") is None
    with pytest.raises(UsageError, match=r"here: x=None is not a whole number"):
        Setting("x", "plan", whole(1), 1, Place.MARK).check(None, "here")


def test_a_whole_number_keeps_its_range() -> None:
    kind = whole(1, 1_000)
    assert (kind.check("n", 1, "here"), kind.check("n", 1_000, "here")) == (1, 1_000)
    for value in (0, 1_001):
        with pytest.raises(
            UsageError, match=rf"here: n={value} is out of range. Write a whole number from 1 to 1,000\."
        ):
            kind.check("n", value, "here")
    with pytest.raises(UsageError, match="here: n=True is not a whole number"):
        kind.check("n", True, "here")
    assert SettingKind("Any").check("n", "anything", "here") == "anything"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("threshold", "lowest score that passes, 0 to 1 (0.85)"),
        ("judge_repeats", "how often the judge rates the same answers; the median counts (1)"),
        ("samples", ""),
    ],
)
def test_a_command_says_the_default(setting: str, said: str) -> None:
    assert CONTRACT_KEYS[setting].command_help == said
