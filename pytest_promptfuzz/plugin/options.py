"""Options, ini values and environment variables, and one place that reads them.

Run-wide settings come from the command line, else ``PROMPTFUZZ_…`` in the environment, else the ini file, else the
default.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_promptfuzz.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REDACT = "promptfuzz_redact"
INCONCLUSIVE = ("error", "skip", "xfail", "pass")


@dataclass(frozen=True, slots=True)
class Setting:
    """One run-wide setting: its name in all three places, its reader, its default and its help."""

    name: str
    read: Callable[[str], Any]
    default: Any
    help: str
    metavar: str | None = None
    ini_type: Literal["string", "int", "float"] = "string"

    @property
    def option(self) -> str:
        """On the command line."""
        return "--promptfuzz-" + self.name.replace("_", "-")

    @property
    def ini(self) -> str:
        """In the ini file."""
        return "promptfuzz_" + self.name

    @property
    def environment(self) -> str:
        """In the environment."""
        return "PROMPTFUZZ_" + self.name.upper()


def _whole(low: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text)
        if number < low:
            raise ValueError(f"a whole number of {low} or more")
        return number

    read.__doc__ = "a whole number" if low < 0 else f"a whole number of {low} or more"
    return read


def _seed(text: str) -> int:
    """A whole number."""
    return int(text)


def _share(text: str) -> float:
    """A number from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError("a number from 0 to 1")
    return number


def _amount(text: str) -> float:
    """A number of 0 or more."""
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError("a number of 0 or more")
    return number


def _one_of(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError(nearest(text, names))
        return text

    read.__doc__ = "one of " + ", ".join(names)
    return read


def _text(text: str) -> str:
    """A text."""
    return text


def _endpoints(text: str) -> Any:
    """Endpoints, one a line: GLOB text=$.path system=$.path answer=$.path."""
    from pytest_promptfuzz.wire.custom import parse_endpoints

    return parse_endpoints(text)


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "target",
        _text,
        None,
        "model that `llm` calls: openai:…, anthropic:…, compatible:…@URL, simulated",
        "NAME",
    ),
    Setting("mutations", _whole(1), 8, "mutations of a test whose mark does not say", "N", "int"),
    Setting(
        "threshold", _share, 0.85, "score a test must reach whose mark does not say, 0 to 1", "X", "float"
    ),
    Setting("task", _text, None, "task profile of a test whose mark does not say", "NAME"),
    Setting("seed", _seed, 0, "seed of the plans of mutations", "N", "int"),
    Setting(
        "mode",
        _one_of("auto", "record", "replay", "live"),
        "auto",
        "auto: stored answers, calls for the rest; record: call, and write recordings beside the tests; replay: "
        "recordings only; live: always call",
        "MODE",
    ),
    Setting(
        "cache_dir", _text, ".promptfuzz", "folder of stored answers, from the root of the project", "DIR"
    ),
    Setting(
        "store",
        _text,
        None,
        "store of answers that several machines share, beside the local one: redis://HOST:PORT/DATABASE?ttl=30d",
        "URL",
    ),
    Setting(
        "concurrency",
        _whole(1),
        8,
        "calls made at once: of an async test, or of all declarative tests",
        "N",
        "int",
    ),
    Setting(
        "lookahead",
        _whole(0),
        20,
        "declarative tests after the running one whose calls are made ahead",
        "N",
        "int",
    ),
    Setting(
        "inconclusive",
        _one_of(*INCONCLUSIVE),
        "error",
        "what an inconclusive or noisy test is: error, skip, xfail or pass",
        "OUTCOME",
    ),
    Setting(
        "max_runs",
        _whole(1),
        1000,
        "most runs of one test's body (hypothesis multiplies examples by trials)",
        "N",
        "int",
    ),
    Setting(
        "endpoints",
        _endpoints,
        (),
        "more URLs that are models', one a line: a glob of host and path, then text=$.path system=$.path answer=$.path",
        "LINES",
    ),
    Setting("attempts", _whole(1), 4, "times a model call is made at the most, if it fails", "N", "int"),
    Setting("rpm", _whole(1), None, "most requests in a minute to each host and model", "N", "int"),
    Setting("tpm", _whole(1), None, "most tokens in a minute of each host and model", "N", "int"),
    Setting("max_calls", _whole(0), None, "most model calls of the whole run; 0: ask nothing", "N", "int"),
    Setting("max_tokens", _whole(0), None, "most tokens of the whole run, in and out", "N", "int"),
    Setting("max_cost", _amount, None, "most that the whole run may cost, US dollars", "X", "float"),
    Setting("model", _text, None, "folder of the sentence-transformers model for the semantic tier", "DIR"),
)


def add_options(parser: pytest.Parser) -> None:
    """Declare everything."""
    group = parser.getgroup("promptfuzz", "prompt robustness (pytest-promptfuzz)")
    group.addoption(
        "--promptfuzz",
        choices=("on", "off"),
        default="on",
        help="off: run the body of robust tests once, unmutated",
    )
    for setting in SETTINGS:
        group.addoption(
            setting.option, dest=setting.ini, metavar=setting.metavar, default=None, help=setting.help
        )
        parser.addini(setting.ini, setting.help, type=setting.ini_type, default=None)
    parser.addini(
        REDACT,
        "regular expressions of what is never stored or shown, one a line",
        type="linelist",
        default=[],
    )
    group.addoption(
        "--promptfuzz-dry-run",
        action="store_true",
        help="ask nothing: print the calls, tokens and cost that the robust tests need, and skip them",
    )
    group.addoption(
        "--promptfuzz-trial",
        metavar="ID",
        default=None,
        help="run one trial of a test and let its failure through as it is (for --pdb)",
    )
    group.addoption(
        "--promptfuzz-override",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="override mutations, threshold, task or seed, marks included; verdicts say so",
    )


def read_settings(config: pytest.Config) -> dict[str, Any]:
    """Every run-wide setting by name.

    Raises:
        pytest.UsageError: A value that cannot be read, named with where it came from.
    """
    return {setting.name: _value(setting, config, os.environ) for setting in SETTINGS}


def given(name: str, config: pytest.Config) -> bool:
    """Whether a setting was set anywhere."""
    setting = next(each for each in SETTINGS if each.name == name)
    return _source(setting, config, os.environ)[1] is not None


def _source(setting: Setting, config: pytest.Config, environment: Mapping[str, str]) -> tuple[str, Any]:
    value = config.getoption(setting.ini)
    if value is not None:
        return setting.option, value
    value = environment.get(setting.environment)
    if value:
        return f"the environment variable {setting.environment}", value
    source = f"the ini value {setting.ini}"
    try:
        return source, config.getini(setting.ini)
    except (TypeError, ValueError, pytest.UsageError) as error:  # pytest 9.2 makes one of the other
        raise pytest.UsageError(f"{source} is not {_expected(setting)}: {error}") from None


def _value(setting: Setting, config: pytest.Config, environment: Mapping[str, str]) -> Any:
    source, value = _source(setting, config, environment)
    if value is None or value == "":
        return setting.default
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise pytest.UsageError(f"{source}: {value!r} is not {_expected(setting)}")
    try:
        return setting.read(str(value))
    except ValueError as error:
        told = isinstance(error, UsageError) or str(error).startswith(("Did", "Known"))
        detail = str(error) if told else ""
        raise pytest.UsageError(
            f"{source}: {value!r} is not {_expected(setting)}. {detail}".rstrip()
        ) from None


def _expected(setting: Setting) -> str:
    doc = (setting.read.__doc__ or "valid").strip().rstrip(".")
    return doc[0].lower() + doc[1:]


def read_patterns(config: pytest.Config) -> tuple[str, ...]:
    """The patterns of what is hidden before anything is stored, shown or hashed.

    Raises:
        pytest.UsageError: One that cannot be read, or that would hide everything.
    """
    patterns = tuple(config.getini(REDACT))
    if patterns:
        from pytest_promptfuzz.wire.redact import Redaction

        try:
            Redaction(patterns)
        except UsageError as error:
            raise pytest.UsageError(f"the ini value {REDACT}: {error}") from None
    return patterns


def read_overrides(config: pytest.Config) -> dict[str, Any]:
    """The contract's keys that the command line overrides.

    Raises:
        pytest.UsageError: Not ``KEY=VALUE``, an unknown key, or a value that cannot be read.
    """
    readers: dict[str, Callable[[str], Any]] = {
        "mutations": int,
        "threshold": float,
        "seed": int,
        "task": str,
        "max_deviations": int,
    }
    overrides: dict[str, Any] = {}
    for text in config.getoption("promptfuzz_override"):
        key, equals, value = text.partition("=")
        if not equals:
            raise pytest.UsageError(f"--promptfuzz-override {text!r}: write KEY=VALUE, such as mutations=2")
        if key not in readers:
            raise pytest.UsageError(
                f"--promptfuzz-override {text!r}: unknown key {key!r}. {nearest(key, readers)}"
            )
        try:
            overrides[key] = readers[key](value)
        except ValueError:
            raise pytest.UsageError(f"--promptfuzz-override {text!r}: {value!r} is not a number") from None
    return overrides
