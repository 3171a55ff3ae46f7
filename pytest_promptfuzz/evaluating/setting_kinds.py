"""What a setting may be: how its text is read (options, variables, ini files) and how its value is checked (marks)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_promptfuzz.errors import UsageError, nearest, not_among

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from pytest_promptfuzz.comparing.formats.data_text import Schema
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.mutations.engine.selection import PlanRequest
    from pytest_promptfuzz.prompts.messages import MutatedPart

Check = Callable[[str, Any, str], Any]
"""Gives the value of a setting as it is used, from its name, what was given, and what it belongs to (for messages)."""
IniType = Literal["string", "int", "float", "count", "linelist"]
"""What an ini value is; a count is a number, or a word in its place."""


def _as_it_is(name: str, value: Any, where: str) -> Any:  # noqa: ARG001 (whoever uses the value checks it)
    return value


class SettingKind(NamedTuple):
    """What a setting may be.

    Attributes:
        typed: The type of its value in a mark, as type checkers read it.
        check: Checks such a value; ``UsageError`` says what is wrong with it.
        expected: What messages say of a text that is something else.
        read: Reads a text; ``ValueError`` if it is something else.
        parse: Reads a text that ``check`` still has to see; ``None``: as ``read``.
        ini_type: What the ini file holds.
        names: All that it may be, where that is one of a few names.
    """

    typed: str
    check: Check = _as_it_is
    expected: str = ""
    read: Callable[[str], Any] = str
    parse: Callable[[str], Any] | None = None
    ini_type: IniType = "string"
    names: tuple[str, ...] = ()


# Numbers.


def whole(low: int, high: int | None = None) -> SettingKind:
    """A whole number from ``low``, and to ``high`` if there is one."""
    span = f"from {low} to {high:,}" if high is not None else f"of {low} or more"
    expected = f"a whole number {span}"

    def fits(number: int) -> bool:
        return low <= number and (high is None or number <= high)

    def read(text: str) -> int:
        number = int(text)
        if not fits(number):
            raise ValueError(expected)
        return number

    def check(name: str, value: Any, where: str) -> int:
        number = _whole_number(name, value, where)
        if not fits(number):
            raise UsageError(f"{where}: {name}={value} is out of range. Write a whole number {span}.")
        return number

    return SettingKind("int", check, expected, read, int, "int")


def _whole_number(name: str, value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(
            f"{where}: {name}={value!r:.80} is not a whole number. {_without_quotes(name, value)}".rstrip()
        )
    return value


def _without_quotes(name: str, value: Any) -> str:
    """A hint for a number that was written as a text.

    >>> _without_quotes("seed", "8")
    'Did you mean seed=8?'
    """
    return f"Did you mean {name}={value}?" if isinstance(value, str) and _is_number(value) else ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_count(text: str) -> int:
    return 0 if text == "off" else int(COUNT.read(text))


def _check_queries(name: str, value: Any, where: str) -> int:
    if value == "off":
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError(
            f"{where}: {name}={value!r:.80} is not a number of queries. Write a whole number of 0 or more; 0 or 'off' "
            "shrinks nothing."
        )
    return value


def _read_controls(text: str) -> int:
    if text not in {"0", "1", "off"}:
        raise ValueError("1, or 0 or off")
    return int(text == "1")


def _check_controls(name: str, value: Any, where: str) -> int:
    if value == "off":
        return 0
    if isinstance(value, bool) or value not in (0, 1):
        raise UsageError(
            f"{where}: {name}={value!r:.80} is not one of 1, 0, 'off'. For more controls, name them in mutations=."
        )
    return int(value)


def _read_share(text: str) -> float:
    percents = text.strip().endswith("%")
    number = float(text.strip().removesuffix("%"))
    if percents or not 0 <= number <= 1:
        raise ValueError(_of_percents(number, least=0 if percents else 10))
    return number


def _of_percents(number: float, least: float = 10) -> str:
    """A hint for a share that was written in percents; 2 is hardly one.

    >>> _of_percents(85)
    'Did you mean 0.85?'
    """
    return f"Did you mean {number / 100:g}?" if least <= number <= 100 else ""


def _is_fraction(value: Any) -> bool:
    from fractions import Fraction

    return isinstance(value, Fraction)


def _given_share(name: str, value: Any, where: str) -> float | Fraction:
    if isinstance(value, bool) or not (isinstance(value, int | float) or _is_fraction(value)):
        raise UsageError(
            f"{where}: {name}={value!r:.80} is not a number from 0 to 1. {_without_quotes(name, value)}".rstrip()
        )
    if not 0 <= value <= 1:  # NaN fails this too
        hint = f"Write a number from 0 to 1. {_of_percents(float(value))}".rstrip()
        raise UsageError(f"{where}: {name}={value} is out of range. {hint}")
    share: float | Fraction = value
    return share


def _check_share(name: str, value: Any, where: str) -> float:
    return float(_given_share(name, value, where))


def _check_exact_share(name: str, value: Any, where: str) -> Fraction:
    from pytest_promptfuzz.stats.scores import exact

    return exact(_given_share(name, value, where))


def _read_amount(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError("a number of 0 or more")
    return number


WHOLE = SettingKind("int", _whole_number, "a whole number", int, int, "int")
COUNT = whole(0)
COUNT_OR_OFF = SettingKind(
    'int | Literal["off"]', _check_queries, "a whole number of 0 or more, or off", _read_count, None, "count"
)
CONTROLS = SettingKind(
    'int | Literal["off"]', _check_controls, "1, or 0 or off", _read_controls, None, "count"
)
SHARE = SettingKind("float", _check_share, "a number from 0 to 1", _read_share, float, "float")
EXACT_SHARE = SHARE._replace(check=_check_exact_share)
"""A share that is compared as it is written, not as the nearest number of the machine."""
AMOUNT = SettingKind("float", expected="a number of 0 or more", read=_read_amount, ini_type="float")


# Names.


def choice(*names: str) -> SettingKind:
    """One of ``names``."""

    def read(text: str) -> str:
        if text not in names:
            hint = nearest(text, names)
            raise ValueError("" if hint.startswith("Known") else hint)  # what is expected is said with it
        return text

    return SettingKind("str", _one_of(lambda: names), "one of " + ", ".join(names), read, str, names=names)


def _one_of(known: Callable[[], Sequence[str]]) -> Check:
    def check(name: str, value: Any, where: str) -> str:
        names = known()
        if not isinstance(value, str) or value not in names:
            raise UsageError(f"{where}: {not_among(f'{name}={value!r:.80}', value, names)}")
        return value

    return check


def _tasks() -> Sequence[str]:
    from pytest_promptfuzz.comparing.profiles import TASKS

    return TASKS


def _check_flag(name: str, value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{where}: {name}={value!r:.80} is not True or False.")
    return value


def _check_parameters(name: str, value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value):
        raise UsageError(
            f'{where}: {name}={value!r:.60} is no mapping of names; write {name}={{"temperature": 0}}.'
        )
    for own in ("model", "messages", "stream"):
        if own in value:
            raise UsageError(f"{where}: {name} has {own!r}, which is not for the test to say; leave it out.")
    return dict(value)


_ON_OR_OFF = choice("on", "off")

TEXT = SettingKind("str", expected="a text")


MOST_REASON = 300
"""Characters of the reason why a test is accepted as brittle."""


def _check_reason(name: str, value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{where}: {name}={value!r:.80} is no reason. Write a sentence that says why.")
    reason = " ".join(value.split())
    if len(reason) > MOST_REASON:
        raise UsageError(
            f"{where}: {name}= has {len(reason):,} characters. Write at most {MOST_REASON}: it is shown with every run."
        )
    return reason


def _check_day(name: str, value: Any, where: str) -> str:
    from datetime import date, datetime

    try:
        day = date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        day = None
    # Later versions of Python read other ways to write a day, too.
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        day = None
    if not isinstance(day, date) or isinstance(day, datetime):
        raise UsageError(
            f"{where}: {name}={value!r:.80} is not a day. Write year-month-day, such as '2027-03-01'."
        )
    return day.isoformat()


REASON = SettingKind("str", _check_reason)
DAY = SettingKind("str | date", _check_day)
"""As text, year first: such days are in order as they are written."""
TARGET = TEXT._replace(typed="str | Callable[..., Any]")
PARAMETERS = SettingKind("Mapping[str, Any]", _check_parameters)
TASK = TEXT._replace(check=_one_of(_tasks))
FLAG = SettingKind("bool", _check_flag)
SWITCH = SettingKind("bool", expected="either on or off", read=lambda text: _ON_OR_OFF.read(text) == "on")


# What is mutated, and how.


def _read_mutations(text: str) -> Any:
    from pytest_promptfuzz.mutations.engine.selection import read_mutations

    return read_mutations(text)


def _check_mutations(name: str, value: Any, where: str) -> int | PlanRequest:
    if isinstance(value, str):
        raise UsageError(
            f"{where}: mutations={value!r:.80} is not a number. Write mutations=8, "
            '{"lexical": 3} or ["synonym"].'
        )
    if not isinstance(value, Mapping | list | tuple):
        return int(_MUTATION_COUNT.check(name, value, where))
    from pytest_promptfuzz.mutations.engine.selection import wanted

    try:
        return wanted(value)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def _read_operators(text: str) -> Any:
    from pytest_promptfuzz.mutations.engine.selection import read_operators

    return read_operators(text)


def _check_operators(_: str, value: Any, where: str) -> Any:
    from pytest_promptfuzz.mutations.engine.selection import strata_of

    try:
        strata_of(value)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    return value


def _check_part(_: str, value: Any, where: str) -> MutatedPart:
    from pytest_promptfuzz.prompts.messages import parse_part

    try:
        return parse_part(value)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


_MUTATION_COUNT = whole(1, 10_000)

MUTATIONS = SettingKind(
    "Mutations",
    _check_mutations,
    "a count such as 8, counts such as lexical=3,synonym=2, or names such as lexical,synonym",
    _read_mutations,
    ini_type="count",
)
OPERATORS = SettingKind(
    "Selection",
    _check_operators,
    "names such as lexical,synonym, or weights such as lexical=3,synonym=1",
    _read_operators,
)
PART = SettingKind("str | Sequence[str]", _check_part)


# How answers are compared.


def _check_profile(_: str, value: Any, where: str) -> Profile | str:
    from pytest_promptfuzz.comparing.profiles import Profile

    if isinstance(value, Profile):
        return value
    if not isinstance(value, str):
        raise UsageError(
            f"{where}: profile={value!r:.80} is not a profile. Write 'quirx', the name of a profile in pyproject.toml, "
            "or what profile_for() returns."
        )
    if value != "quirx":
        from pytest_promptfuzz.comparing.profiles import unknown_profile

        raise UsageError(f"{where}: {unknown_profile(value)}")
    return "quirx"


def _check_schema(_: str, value: Any, where: str) -> Schema:
    from pytest_promptfuzz.comparing.formats.data_text import read_schema

    try:
        return read_schema(value)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def _check_paths(_: str, value: Any, where: str) -> tuple[str, ...]:
    from pytest_promptfuzz.text.json_paths import parse_paths

    try:
        return parse_paths(value)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def _check_tiers(name: str, value: Any, where: str) -> tuple[Any, ...]:
    from pytest_promptfuzz.comparing.custom_checks import TIERS as KNOWN

    return tuple(KNOWN.several(value, f"{where}: {name}"))


def _check_guards(name: str, value: Any, where: str) -> tuple[Any, ...]:
    from pytest_promptfuzz.comparing.custom_checks import GUARDS as KNOWN

    return tuple(KNOWN.several(value, f"{where}: {name}"))


def _check_judge(_: str, value: Any, __: str) -> Any:
    return None if value is False else value  # read with what belongs to it, in Contract.of


def _check_measures(name: str, value: Any, where: str) -> tuple[str, ...]:
    from pytest_promptfuzz.judging.model_judge import check_measure

    if not isinstance(value, list | tuple):
        raise UsageError(f"{where}: {name}={value!r:.80} is not a list. Write {name}=['faithfulness'].")
    try:
        return tuple(dict.fromkeys(check_measure(each) for each in value))
    except UsageError as error:
        raise UsageError(f"{where}: {name}: {error}") from None


def _check_path(name: str, value: Any, where: str) -> str:
    import os

    if not isinstance(value, str | os.PathLike):
        raise UsageError(f"{where}: {name}={value!r:.80} must be the path of a file.")
    return str(os.fspath(value))


def _read_embedder(text: str) -> str:
    from pytest_promptfuzz.targets.sdk_clients import embeddings

    embeddings(text)
    return text


def _read_model(text: str) -> str:
    if not Path(text).expanduser().is_dir():
        raise UsageError(f"there is no folder {text!r}. Name the folder of a model, or leave the option out.")
    return text


def _read_entailment(text: str) -> str:
    from pytest_promptfuzz.judging.models import check_entailment_folder

    return check_entailment_folder(text)


PROFILE = SettingKind("Profile | str", _check_profile)
SCHEMA = SettingKind("Mapping[str, Any] | str | os.PathLike[str]", _check_schema)
PATHS = SettingKind("str | Sequence[str]", _check_paths)
TIERS = SettingKind("Sequence[SimilarityTier | str]", _check_tiers)
GUARDS = SettingKind("Sequence[Guard | str]", _check_guards)
JUDGE = TEXT._replace(typed="AnyJudge | Literal[False]", check=_check_judge)
FILE_PATH = SettingKind("str | os.PathLike[str]", _check_path, "the path of a file")
MEASURES = SettingKind("Sequence[str]", _check_measures)
EMBEDDER = SettingKind(
    "str",
    expected="a provider of embeddings such as openai:text-embedding-3-small or compatible:MODEL@URL",
    read=_read_embedder,
)
MODEL = SettingKind("str", expected="the folder of a model", read=_read_model)
ENTAILMENT = SettingKind("str", expected="the folder of an entailment model", read=_read_entailment)


# What a run knows and does.


def _read_endpoints(text: str) -> Any:
    from pytest_promptfuzz.providers.custom_protocol import parse_endpoints

    return parse_endpoints(text)


def _read_hosts(text: str) -> Any:
    from pytest_promptfuzz.wire.network import AllowedHosts

    return AllowedHosts.parse(text)


def _read_conditions(text: str) -> Any:
    from pytest_promptfuzz.history.changes import read_conditions

    return tuple(read_conditions(text))


DRIFT = choice("fail", "warn", "ignore")
"""What it may do to a test that it is not as its snapshot says."""
EFFECT = choice("fail", "error", "skip", "xfail", "pass")
"""What a verdict other than ``pass`` may be in pytest's sense."""
ENDPOINTS = SettingKind(
    "str",
    expected="endpoints, one a line: GLOB text=$.path system=$.path answer=$.path",
    read=_read_endpoints,
)
HOSTS = SettingKind(
    "str",
    expected="a host such as db.internal, db.internal:5432 or *.internal, or several with commas",
    read=_read_hosts,
)
CONDITIONS = SettingKind(
    "str",
    expected="a condition such as score drop > 0.05, or several with commas",
    read=_read_conditions,
)
LINES = SettingKind("str", ini_type="linelist")
