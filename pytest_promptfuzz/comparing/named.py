"""Profiles that a project names in its configuration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from pytest_promptfuzz.comparing import quirx
from pytest_promptfuzz.comparing.profiles import OTHER_NAMES, TASKS, Profile, profile_for
from pytest_promptfuzz.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_promptfuzz.comparing.profiles import Options


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
        if name in TASKS or name in OTHER_NAMES or name == quirx.NAME:
            raise UsageError(f"{place}: {name!r} is a profile of its own; give yours another name.")
        if not isinstance(options, dict):
            raise UsageError(
                f"{place}: {options!r:.80} is no table; write [tool.promptfuzz.profiles.{name}]."
            )
        rest = {key: value for key, value in options.items() if key != "task"}
        if "task" not in options:
            raise UsageError(
                f"{place}: task is missing; write which task it is based on. {nearest('', TASKS)}"
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
    if isinstance(profile, str) and profile != quirx.NAME:
        raise UsageError(f"{where}: {unknown_profile(profile, profiles)}")
    if not isinstance(task, str) or task in TASKS or task in OTHER_NAMES:
        return dict(settings)
    if task not in profiles:
        raise UsageError(f"{where}: unknown task {task!r}. {nearest(task, [*TASKS, *profiles])}")
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
    hint = nearest(name, [quirx.NAME, *profiles])
    if hint.startswith("Known"):
        task = nearest(name, TASKS)
        hint = (
            task.replace("'", "task='", 1)
            if not task.startswith("Known")
            else f"{hint.rstrip('.')}, or what profile_for() makes."
        )
    return f"unknown profile {name!r:.80}. {hint}"
