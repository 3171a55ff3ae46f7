"""Options, ini values and environment variables: declared, and read in one place; the mode of a run.

Run-wide settings come from the command line, else ``PROMPTFUZZ_…`` in the environment, else the ini file, else the
default.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_promptfuzz.errors import UsageError, continued, not_among, unstopped
from pytest_promptfuzz.evaluating.settings import CHOICES, GROUPS, INI_ONLY, OVERRIDABLE, RUN_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.evaluating.settings import Setting


REDACT = INI_ONLY["redact"].ini
OVERRIDE = "--promptfuzz-override"
UPDATE = "--promptfuzz-update"
UPDATES = {
    "all": "write a new snapshot of each robust test that runs, beside the test; review and commit it (not in CI)",
    "failed": "write a new snapshot only for tests that failed, drifted or got worse",
    "new": "write a snapshot only for tests without one",
}
"""Which tests' snapshots are written, and what ``pytest --help`` says of it."""

_NO_SETTINGS = (
    "PROMPTFUZZ_API_KEY",
    "PROMPTFUZZ_BEDROCK_KEY",
    "PROMPTFUZZ_COLLECTED",
    "PROMPTFUZZ_LEXICONS",
    "PROMPTFUZZ_MODELS",
)


def unknown_variables() -> list[str]:
    """A sentence for each environment variable that is named like a setting and is none."""
    known = {each.environment for each in (*RUN_SETTINGS.values(), *CHOICES)}
    unknown = sorted(
        name for name in os.environ if name.startswith("PROMPTFUZZ_") and name not in {*known, *_NO_SETTINGS}
    )
    suffixes = [each.removeprefix("PROMPTFUZZ_") for each in known]
    sentences = []
    for name in unknown:  # compared without what all have in common, which would make any two alike
        close = get_close_matches(name.removeprefix("PROMPTFUZZ_"), sorted(suffixes), n=1)
        hint = f" Did you mean PROMPTFUZZ_{close[0]}?" if close else ""
        sentences.append(f"the environment variable {name} is no setting, and is not used.{hint}")
    return sentences


def refuse_other_updates(arguments: Iterable[str]) -> None:
    """Refuse ``--promptfuzz-update=VALUE`` for values that are no option, before pytest's parser stumbles over them.

    Raises:
        pytest.UsageError: There is one.
    """
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if option == UPDATE and equals and value not in UPDATES:
            raise pytest.UsageError(f"{UPDATE}: {not_among(repr(value), value, UPDATES)}")


def add_options(parser: pytest.Parser) -> None:
    """Declare everything."""
    group = parser.getgroup("promptfuzz", "pytest-promptfuzz: robustness of prompts")
    group.addoption(
        "--promptfuzz",
        choices=("on", "off"),
        default="on",
        help="off: robust tests run once, with the unmutated prompt (default: on)",
    )
    _add_run_options(group)
    for name, title in GROUPS.items():
        about = parser.getgroup(f"promptfuzz-{name}", f"pytest-promptfuzz: {title[0].lower()}{title[1:]}")
        for setting in (*CHOICES, *RUN_SETTINGS.values()):
            if setting.group == name:
                _add_setting(parser, about, setting)
    for setting in INI_ONLY.values():
        parser.addini(setting.ini, setting.help, type=_type_of(setting), default=[*setting.default])


def _add_setting(parser: pytest.Parser, group: Any, setting: Setting) -> None:
    """A setting of a run, as an option and as an ini value."""
    group.addoption(
        setting.option,
        dest=setting.ini,
        metavar=setting.metavar,
        default=None,
        help=setting.option_help,
        action="append" if setting.several else "store",
    )
    parser.addini(setting.ini, setting.help.replace("%%", "%"), type=_type_of(setting), default=None)


def _add_run_options(group: Any) -> None:
    """What holds for one run only, and is no setting."""
    group.addoption(
        "--promptfuzz-dry-run",
        action="store_true",
        help="make no calls: print the calls, tokens and cost that the robust tests need, and skip them",
    )
    for each, said in UPDATES.items():  # no optional value, which would take a path that follows for it
        group.addoption(
            *([UPDATE] if each == "all" else []),
            f"{UPDATE}={each}",
            action="store_const",
            const=each,
            default=None,
            dest="promptfuzz_update",
            help=said,
        )
    group.addoption(
        "--promptfuzz-save",
        metavar="NAME",
        default=None,
        help="keep this run under a name, for later comparison; NAME! moves the name from the run that has it",
    )
    group.addoption(
        "--promptfuzz-trial",
        metavar="ID",
        default=None,
        help="run only this trial of the selected tests, and show its failure as it is (for --pdb)",
    )
    group.addoption(
        OVERRIDE,
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help=f"replace a setting of all tests, even if a test sets its own: {_either(OVERRIDABLE)}; the report says so",
    )


def _either(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"


def _type_of(setting: Setting) -> Any:
    """What pytest reads an ini value as. pyproject.toml may have a count as a number where pytest knows unions."""
    if setting.kind.ini_type == "count":
        return int | str if pytest.version_tuple >= (9, 2) else "string"
    return setting.kind.ini_type


def read_settings(config: pytest.Config, table: Mapping[str, Any]) -> dict[str, Any]:
    """Every run-wide setting by name.

    Args:
        config: The run's.
        table: ``[tool.promptfuzz]`` of pyproject.toml.

    Raises:
        pytest.UsageError: A value that cannot be read, named with where it came from.
    """
    return {name: _value(setting, config, table) for name, setting in RUN_SETTINGS.items()}


def given(name: str, config: pytest.Config) -> bool:
    """Whether a setting was set anywhere."""
    return bool(place_of(name, config))


def place_of(name: str, config: pytest.Config) -> str:
    """Where a setting was set, as messages name it; empty where it is the default."""
    written = next(given_places(RUN_SETTINGS[name], config), None)
    return "" if written is None else written.place


class GivenSetting(NamedTuple):
    """What stands in one place, not read yet; of the places, the one of the highest rank wins."""

    rank: int
    place: str
    value: Any


IN_FILE = 0
"""The rank of what stands in the project's files."""


def given_places(
    setting: Setting, config: pytest.Config, table: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[GivenSetting]:
    """Where a setting is given, the place that wins first.

    Args:
        setting: Which.
        config: The run's.
        table: ``[tool.promptfuzz]`` of pyproject.toml, of equal rank as the ini file.

    Raises:
        pytest.UsageError: The ini file has it in a wrong type.
    """
    value = config.getoption(setting.ini)
    if value is not None:
        yield GivenSetting(2, setting.option, ",".join(value) if setting.several else value)
    if value := os.environ.get(setting.environment):
        yield GivenSetting(1, f"the environment variable {setting.environment}", value)
    source = f"the ini value {setting.ini}"
    try:
        value = config.getini(setting.ini)
    except (TypeError, ValueError, pytest.UsageError) as error:  # pytest 9.2 makes one of the other
        raise pytest.UsageError(f"{source} is not {setting.kind.expected}: {unstopped(error)}.") from None
    if value is not None:
        yield GivenSetting(IN_FILE, source, _unquoted(value) if isinstance(value, str) else value)
    if setting.name in table:
        yield GivenSetting(
            IN_FILE, f"{setting.name} in [tool.promptfuzz] of pyproject.toml", table[setting.name]
        )


def _unquoted(text: str) -> str:
    """A text without quotes around it: TOML takes them off, an ini file keeps them."""
    bare = text.strip()
    for quote in ("'''", '"""', "'", '"'):
        if len(bare) >= 2 * len(quote) and bare.startswith(quote) and bare.endswith(quote):
            return bare[len(quote) : -len(quote)].strip()
    return text


def _value(setting: Setting, config: pytest.Config, table: Mapping[str, Any]) -> Any:
    every = list(given_places(setting, config, table))
    for one, other in pairwise(every):
        if one.rank == other.rank:
            raise pytest.UsageError(
                f"{one.place} and {other.place} both set {setting.name}. Keep one of them."
            )
    written = every[0] if every else None
    return setting.default if written is None or written.value == "" else read_value(setting, written)


def read_value(setting: Setting, written: GivenSetting) -> Any:
    """A setting, read.

    Raises:
        pytest.UsageError: It cannot be read; the message names the place.
    """
    _, source, value = written
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise pytest.UsageError(f"{source}: {value!r} is not {setting.kind.expected}.")
    try:
        return setting.kind.read(str(value))
    except UsageError as error:  # it names the value, and says what to write
        raise pytest.UsageError(f"{source}: {continued(error)}") from None
    except ValueError as error:
        hint = str(error) if str(error).startswith("Did you mean") else ""
        raise pytest.UsageError(
            f"{source}: {value!r} is not {setting.kind.expected}. {hint}".rstrip()
        ) from None


def read_patterns(config: pytest.Config) -> tuple[str, ...]:
    """The patterns of what is hidden before anything is stored, shown or hashed.

    Raises:
        pytest.UsageError: One that cannot be read, or that would hide everything.
    """
    patterns = tuple(config.getini(REDACT))
    if patterns:
        from pytest_promptfuzz.storage.redaction import Redaction

        try:
            Redaction(patterns)
        except UsageError as error:
            raise pytest.UsageError(f"the ini value {REDACT}: {continued(error)}") from None
    return patterns


def read_overrides(config: pytest.Config) -> dict[str, Any]:
    """The contract's keys that the command line overrides.

    Raises:
        pytest.UsageError: Not ``KEY=VALUE``, an unknown key, or a value that cannot be read.
    """
    overrides: dict[str, Any] = {}
    for text in config.getoption("promptfuzz_override"):
        key, equals, value = text.partition("=")
        if not equals:
            raise pytest.UsageError(
                f"{OVERRIDE}: {text!r} has no value. Write KEY=VALUE, such as mutations=2."
            )
        if key not in OVERRIDABLE:
            raise pytest.UsageError(f"{OVERRIDE}: {not_among(repr(key), key, OVERRIDABLE)}")
        kind = OVERRIDABLE[key].kind
        try:
            overrides[key] = (kind.parse or kind.read)(value)
        except UsageError as error:
            raise pytest.UsageError(f"{OVERRIDE} {text}: {continued(error)}") from None
        except ValueError as error:
            hint = str(error) if str(error).startswith("Did you mean") else ""
            raise pytest.UsageError(
                f"{OVERRIDE} {text}: {value!r} is not a number. {hint}".rstrip()
            ) from None
    return overrides


def check_overrides(overrides: Mapping[str, Any], profiles: Mapping[str, Profile]) -> None:
    """Refuse values that no test could have; what mutations they name is looked up with the run's own.

    Args:
        overrides: The contract's keys that the command line overrides.
        profiles: The project's own profiles, one of which may be a task.

    Raises:
        pytest.UsageError: A value out of range, or a task that is not known.
    """
    contract = {key: value for key, value in overrides.items() if key not in {each.name for each in CHOICES}}
    if not contract:
        return
    from pytest_promptfuzz.evaluating.contract import Contract

    try:
        Contract.of(contract, where=OVERRIDE, profiles=profiles)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


# Which mode a run is in, and why; what cannot be asked for together.


# Handed by the process that runs the workers to each of them: they need not find out for themselves.
WORKER_KEY = "promptfuzz_mode"
CI_WITH_RECORDINGS = "CI is set and there are recordings"


def chosen_mode(config: pytest.Config, settings: Mapping[str, Any]) -> tuple[str, str]:
    """The mode of a run, and why where nobody named it.

    An explicit mode wins. In CI, recordings are replayed where there are any, so that no test needs a key; a dry run,
    which tells what would be asked, is never a replay by itself.
    """
    worker = getattr(config, "workerinput", {}).get(WORKER_KEY)
    if worker is not None:
        return worker, ""
    dry = config.getoption("promptfuzz_dry_run")
    if not given("mode", config) and not dry and in_ci() and _has_recordings(config):
        return "replay", CI_WITH_RECORDINGS
    return settings["mode"], ""


def in_ci() -> bool:
    """Whether the environment says that this is continuous integration: ``CI`` is set, and not to no."""
    return os.environ.get("CI", "").strip().lower() not in {"", "0", "false", "no", "off"}


def check_mode(config: pytest.Config, mode: str, overrides: Mapping[str, Any]) -> None:
    """Refuse what contradicts the mode.

    Raises:
        pytest.UsageError: A recording of less than the tests ask for, or a forecast of a replay.
    """
    if mode == "replay" and config.getoption("promptfuzz_dry_run"):
        raise pytest.UsageError(
            "--promptfuzz-mode=replay calls no model, so --promptfuzz-dry-run has nothing to count. Leave it out, or "
            "add --promptfuzz-mode=auto."
        )
    if not mode.startswith("record"):
        return
    reason = ""
    if config.getoption("promptfuzz") == "off":
        reason = "with --promptfuzz=off, which runs no mutations. Leave one of them out"
    elif config.getoption("promptfuzz_trial"):
        reason = "with --promptfuzz-trial, which runs one trial of a test. Leave one of them out"
    elif changed := [key for key in ("mutations", "operators", "seed") if key in overrides]:
        reason = (
            f"with {OVERRIDE} {changed[0]}={overrides[changed[0]]}: a replay makes the test's own mutations. Change "
            "the test, or leave the option out"
        )
    if reason:
        raise pytest.UsageError(f"--promptfuzz-mode={mode} cannot record {reason}.")


def check_shared(config: pytest.Config, store: str | None) -> None:
    """Refuse a shared store that cannot be had, naming where it was set; nothing is connected.

    Raises:
        pytest.UsageError: A URL that cannot be read, or a package that is missing.
    """
    if not store:
        return
    from pytest_promptfuzz.errors import PromptfuzzError
    from pytest_promptfuzz.storage.stores import check_store

    try:
        check_store(store)
    except PromptfuzzError as error:
        raise pytest.UsageError(f"{place_of('store', config)}: {continued(error)}") from None


def _has_recordings(config: pytest.Config) -> bool:
    from pytest_promptfuzz.storage.recordings.places import recordings_below

    roots = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
    return bool(recordings_below(map(Path, roots), config.getini("norecursedirs")))
