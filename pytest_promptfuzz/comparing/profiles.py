"""Task profiles (``task=``, ``profile=``): what counts as the same answer; profiles that a project names."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from pytest_promptfuzz.comparing import labels
from pytest_promptfuzz.comparing.formats import data_text
from pytest_promptfuzz.comparing.reading.text import (
    NORMALISERS,
    analyse,
    looks_like_program,
    looks_like_query,
)
from pytest_promptfuzz.errors import UsageError, nearest, not_among

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from typing_extensions import Unpack


Kind = Literal["label", "json", "sql", "code", "text"]
ListOrder = Literal["strict", "minor", "free"]
LIST_ORDERS: tuple[ListOrder, ...] = ("strict", "minor", "free")
QUIRX = "quirx"
"""The profile that is no task's: the formula of the tool of that name, which ``metrics`` reproduces."""
GUARDS = (
    "refusal",
    "yes-no",
    "negation",
    "identifiers",
    "numbers",
    "choices",
    "modality",
    "conditions",
    "fields",
    "roles",
    "sequence",
    "names",
    "literal",
    "particles",
    "wording",
    "stakes",
)
"""Every guard, in the order in which they are asked; the last one only where meaning alone would pass an answer."""

TIERS = ("structure", "label", "token", "semantic")
"""The tiers that run by default and can be switched off. Identical answers are equivalent whatever is chosen."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How answers to one kind of task are compared.

    Attributes:
        name: What ``task=`` calls it.
        kind: The form of the answer, which picks the tiers: a label, JSON, SQL, a program, or text.
        equivalent_at: Similarity (words, or meaning) from which answers are equivalent, 0..1.
        minor_at: Similarity of meaning below which answers are about different things, 0..1: a deviation. For measures
            and tiers of one's own, the similarity from which a difference is minor.
        words_minor_at: Share of words from which an answer that only says more, or less, is minor, and from which no
            meaning makes a deviation, 0..1.
        guards: The guards that run, by name.
        normalisers: What is set aside before texts are held to be equal: ``case``, ``space``, ``punctuation`` at the
            ends, ``markup``. A difference in nothing but another one of these is minor, in a label a deviation.
        tiers: The tiers that run, by name: ``TIERS``, and measures of ``tiers.TIERS``, which are asked where only words
            or meaning could tell, before them.
        list_order: What lists in another order are: ``strict``, a deviation; ``minor``; ``free``, the same.
        number_tolerance: How far numbers in JSON may lie apart and be equal, in their own unit, 0 or more.
        relative_tolerance: The same as a share of the baseline's number, 0 or more; the wider of both holds.
        date_tolerance: How many days dates in JSON may lie apart and be equal. From 0 on they are read, and the same
            date in two notations is equal; with ``None`` they are texts.
        check_formats: Whether a JSON Schema's ``format`` is checked.
        sql_dialect: In which dialect ``sqlglot`` reads queries; ``None`` takes what a query shows.
    """

    name: str
    kind: Kind
    equivalent_at: float
    minor_at: float
    words_minor_at: float = 0.6
    guards: tuple[str, ...] = GUARDS
    normalisers: tuple[str, ...] = NORMALISERS
    tiers: tuple[str, ...] = TIERS
    list_order: ListOrder = "minor"
    number_tolerance: float = 0.0
    relative_tolerance: float = 0.0
    date_tolerance: float | None = None
    check_formats: bool = False
    sql_dialect: str | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of likeness among the tiers."""
        return () if self.tiers == TIERS else tuple(name for name in self.tiers if name not in TIERS)

    def __post_init__(self) -> None:
        for field in fields(self):
            check = _CHECKS.get(field.name)
            if check:
                object.__setattr__(self, field.name, check(field.name, getattr(self, field.name)))
        if self.minor_at > self.equivalent_at:
            raise UsageError(
                f"minor_at={self.minor_at:g} must not be above equivalent_at={self.equivalent_at:g}"
            )


class Options(TypedDict, total=False):
    """What ``profile_for`` can be told; the attributes of ``Profile``."""

    equivalent_at: float | None
    minor_at: float | None
    words_minor_at: float
    guards: Collection[str]
    normalisers: Collection[str]
    tiers: Collection[str]
    list_order: ListOrder
    number_tolerance: float
    relative_tolerance: float
    date_tolerance: float | None
    check_formats: bool
    sql_dialect: str | None


def _number(low: float, high: float) -> Callable[[str, Any], float]:
    span = f"from {low:g} to {high:g}" if high < math.inf else f"of {low:g} or more"

    def check(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise UsageError(f"{name}={value!r:.80} is not a number {span}")
        if math.isinf(value):
            raise UsageError(f"{name}={value!r} is not a finite number")
        return float(value)

    return check


def _some(known: Callable[[], Collection[str]]) -> Callable[[str, Any], tuple[str, ...]]:
    def check(name: str, value: Any) -> tuple[str, ...]:
        if isinstance(value, str) or not isinstance(value, (list, tuple, set, frozenset)):
            raise UsageError(f"{name}={value!r:.80} is not a list of names. {nearest('', known())}")
        for each in value:
            if each not in known():
                raise UsageError(not_among(f"{name}: {each!r:.80}", each, known()))
        # In our own order: guards are asked, and tiers run, as they stand here.
        return tuple(each for each in known() if each in value)

    return check


def _one_of(known: Collection[str]) -> Callable[[str, Any], str]:
    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise UsageError(not_among(f"{name}={value!r:.80}", value, known))
        return value

    return check


def _all_tiers() -> Collection[str]:
    from pytest_promptfuzz.comparing import metrics

    return (*TIERS, *metrics.TIERS)


def _tiers(name: str, value: Any) -> tuple[str, ...]:
    """As ``_some`` checks names; the usual tiers need no measure loaded."""
    return TIERS if value == TIERS else _some(_all_tiers)(name, value)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{name}={value!r:.80} is not true or false")
    return value


def _dialect(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name}={value!r:.80} is not the name of an SQL dialect, such as 'postgres'")
    from pytest_promptfuzz.comparing.formats.sql import check_dialect

    return check_dialect(value)


def _optional(check: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    return lambda name, value: None if value is None else check(name, value)


_share, _size = _number(0, 1), _number(0, math.inf)
_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "equivalent_at": _share,
    "minor_at": _share,
    "words_minor_at": _share,
    "guards": _some(lambda: GUARDS),
    "normalisers": _some(lambda: NORMALISERS),
    "tiers": _tiers,
    "list_order": _one_of(LIST_ORDERS),
    "number_tolerance": _size,
    "relative_tolerance": _size,
    "date_tolerance": _optional(_size),
    "check_formats": _flag,
    "sql_dialect": _optional(_dialect),
}


# 0.95 for classification and 0.85 for generation: the adaptive similarity thresholds of the Quirx paper. The lower
# ones are a choice, checked against tests/comparing/data but not fitted to it.
_PROFILES = {
    profile.name: profile
    for profile in (
        Profile("classification", "label", 0.95, 0.60),
        Profile("extraction", "json", 0.95, 0.70),
        Profile("json", "json", 0.95, 0.70),
        Profile("sql", "sql", 0.95, 0.75),
        Profile("code", "code", 0.95, 0.75),
        Profile("summarization", "text", 0.85, 0.60),
        Profile("generation", "text", 0.85, 0.60),
        Profile("translation", "text", 0.85, 0.60),
        Profile("free", "text", 0.85, 0.60),
    )
}
OTHER_NAMES = {
    "generation/chat": "generation",
    "chat": "generation",
    "summarisation": "summarization",
    "summary": "summarization",
}
TASKS = tuple(_PROFILES)
"""The names ``task=`` takes."""


def profile_for(task: str, **options: Unpack[Options]) -> Profile:
    """The profile of a task, with options of one's own.

    Args:
        task: One of ``TASKS``.
        options: Attributes of ``Profile`` that are otherwise. ``minor_at`` holds for words as well as for meaning.

    Raises:
        UsageError: The task or an option is unknown, or a value is wrong.

    >>> profile_for("extraction", number_tolerance=0.01, list_order="free").list_order
    'free'
    """
    if not isinstance(task, str):
        raise UsageError(not_among(f"task={task!r:.80}", task, TASKS))
    known = _PROFILES.get(OTHER_NAMES.get(task, task))
    if known is None:
        raise UsageError(not_among(f"task={task!r}", task, TASKS))
    return with_options(known, options) if options else known


def with_options(profile: Profile, options: Options) -> Profile:
    """A profile with options of one's own; see ``profile_for``."""
    for name in options:
        if name not in _CHECKS:
            raise UsageError(f"option {name!r} is unknown. {nearest(name, _CHECKS)}")
    given: dict[str, Any] = {
        name: value
        for name, value in options.items()
        if value is not None or name not in {"equivalent_at", "minor_at"}
    }
    low, high = given.get("minor_at"), given.get("equivalent_at")
    if low is not None:
        given.setdefault("words_minor_at", _share("minor_at", low))
    elif high is not None and profile.minor_at > _share("equivalent_at", high):
        given["minor_at"] = high
    return replace(profile, **given) if given else profile


def infer_task(value: Any) -> str:
    """The task an answer looks like: ``json``, ``sql``, ``code``, ``classification`` (≤ 3 words) or ``generation``.

    Args:
        value: A baseline as ``plain`` returns it.
    """
    return _task_of_text(value) if isinstance(value, str) else "json"


@lru_cache(maxsize=16)
def _task_of_text(value: str) -> str:
    """As ``infer_task``; all answers of a test are compared with one baseline."""
    if data_text.parse(value) is not data_text.MISSING:
        return "json"
    if looks_like_query(value):
        return "sql"
    if looks_like_program(value):
        return "code"
    if len(value) > labels.LONGEST:
        return "generation"
    text = analyse(value)
    few = len(text.tokens) <= _TOKENS * labels.MAX_WORDS and len(text.words) <= labels.MAX_WORDS
    return "classification" if few and "\n" not in text.clean else "generation"


_TOKENS = 3
"""Tokens that one word is at most: no others need be counted."""


# Profiles that a project names in its configuration.


def profiles_from(table: Any, where: str) -> dict[str, Profile]:
    """Named profiles, as a configuration file has them: a table each, with ``task`` and options.

    Args:
        table: Name to table.
        where: What holds them, for messages, such as ``[tool.promptfuzz.profiles]``.

    Raises:
        UsageError: A name is a task's, or a table or an option is wrong.

    >>> profiles_from({"invoices": {"task": "json", "number_tolerance": 0.01}}, "here")["invoices"].kind
    'json'
    """
    if not isinstance(table, dict):
        raise UsageError(f"{where}: {table!r:.80} is no table; write [tool.promptfuzz.profiles.NAME].")
    found = {}
    for name, options in table.items():
        place = f"{where}.{name}"
        if name in TASKS or name in OTHER_NAMES or name == QUIRX:
            raise UsageError(f"{place}: {name!r} is a profile of its own; give yours another name.")
        if not isinstance(options, dict):
            raise UsageError(
                f"{place}: {options!r:.80} is no table; write [tool.promptfuzz.profiles.{name}]."
            )
        rest = {key: value for key, value in options.items() if key != "task"}
        if "task" not in options:
            raise UsageError(
                f"{place}: task is missing. Write the task that the profile is based on. {nearest('', TASKS)}"
            )
        try:
            found[name] = replace(profile_for(options["task"], **cast("Options", rest)), name=name)
        except UsageError as error:
            raise UsageError(f"{place}: {error}") from None
    return found


def named(settings: Mapping[str, Any], profiles: Mapping[str, Profile], where: str) -> dict[str, Any]:
    """Settings in which ``task=`` or ``profile=`` that names one of these profiles is that profile.

    Raises:
        UsageError: ``task`` or ``profile`` is no name that is known.
    """
    task, profile = settings.get("task"), settings.get("profile")
    if profile is not None and isinstance(task, str) and task in profiles:
        raise UsageError(f"{where}: give task={task!r} or profile=, not both.")
    if isinstance(profile, str) and profile in profiles:
        return {**settings, "profile": profiles[profile]}
    if isinstance(profile, str) and profile != QUIRX:
        raise UsageError(f"{where}: {unknown_profile(profile, profiles)}")
    if not isinstance(task, str) or task in TASKS or task in OTHER_NAMES:
        return dict(settings)
    if task not in profiles:
        raise UsageError(f"{where}: {not_among(f'task={task!r}', task, [*TASKS, *profiles])}")
    return {**settings, "task": None, "profile": profiles[task]}


def unknown_profile(name: str, profiles: Iterable[str] = ()) -> str:
    """What to say of a name that is no profile's.

    Args:
        name: As it was written.
        profiles: The names of the project's own.

    >>> unknown_profile("quirks")
    "unknown profile 'quirks'. Did you mean 'quirx'?"
    >>> unknown_profile("clasification")
    "unknown profile 'clasification'. Did you mean task='classification'?"
    """
    hint = nearest(name, [QUIRX, *profiles])
    if hint.startswith("Known"):
        task = nearest(name, TASKS)
        hint = (
            task.replace("'", "task='", 1)
            if not task.startswith("Known")
            else f"{hint.rstrip('.')}, or what profile_for() returns."
        )
    return f"unknown profile {name!r:.80}. {hint}"
