"""YAML as models answer with it, read by PyYAML where that is installed (the extra ``yaml``).

An answer is hostile input: anchors, aliases and tags are refused, nothing is constructed but mappings, lists and
scalars, and depth and length are bounded.
"""

from __future__ import annotations

import importlib.util
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable


YAML_EXTRA = "pip install 'pytest-promptfuzz[yaml]'"

_NUMBER = expression(r"[-+]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?\Z")
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
_LONGEST = 50_000  # characters; PyYAML without its C library reads some 80,000 a second
_DEEPEST = 100
_MOST_DIGITS = 300


class YamlError(ValueError):
    """The text is not YAML, or more of it than is read here; the message says where."""


class YamlMissingError(YamlError):
    """PyYAML is not installed."""


@lru_cache(maxsize=1)
def installed() -> bool:
    """Whether PyYAML is there."""
    return importlib.util.find_spec("yaml") is not None


def load(text: str) -> Any:
    r"""The value that a YAML document holds; JSON is YAML as well, and is read without PyYAML.

    Raises:
        YamlError: It does not parse.
        YamlMissingError: It is not JSON, and PyYAML is not installed.

    >>> load("name: Ada\ntags:\n  - urgent")
    {'name': 'Ada', 'tags': ['urgent']}
    """
    if len(text) > _LONGEST:
        raise YamlError(f"it is longer than {_LONGEST:,} characters")
    stripped = text.strip()
    if stripped[:1] in {"{", "["}:
        try:
            return json.loads(stripped)
        except (ValueError, RecursionError):
            pass
    if not installed():
        raise YamlMissingError(f"it is read by PyYAML: {YAML_EXTRA}")
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        _check(yaml.parse(text, Loader=loader))
        return _value(yaml.compose(text, Loader=loader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or getattr(error, "reason", "it cannot be read")
        raise YamlError(f"line {mark.line + 1}: {said}" if mark else str(said)) from None
    except UnicodeError:
        raise YamlError("it holds half of a surrogate pair") from None


def _check(events: Iterable[Any]) -> None:
    """Refuse what could grow when it is read, before it is."""
    depth = 0
    for event in events:
        kind = type(event).__name__
        line = f"line {event.start_mark.line + 1}"
        if getattr(event, "anchor", None) is not None:
            raise YamlError(f"{line}: anchors and aliases are not read")
        if getattr(event, "tag", None) is not None:
            raise YamlError(f"{line}: tags are not read")
        depth += kind in {"MappingStartEvent", "SequenceStartEvent"}
        depth -= kind in {"MappingEndEvent", "SequenceEndEvent"}
        if depth > _DEEPEST:
            raise YamlError(f"{line}: it is nested too deeply")


def _value(node: Any) -> Any:
    if node is None:
        return None
    if node.id == "scalar":
        return _scalar(node.value, node.style)
    if node.id == "sequence":
        return [_value(each) for each in node.value]
    found: dict[str, Any] = {}
    for key, value in node.value:
        line = f"line {key.start_mark.line + 1}"
        if key.id != "scalar":
            raise YamlError(f"{line}: a key that is no text is not read")
        if key.value in found:
            raise YamlError(f"{line}: the key {key.value!r} stands there twice")
        found[key.value] = _value(value)
    return found


def _scalar(text: str, style: str | None) -> Any:
    """A scalar with its type: of what stands without quotation marks, the types that JSON has."""
    if style in {"|", ">"}:
        return text.rstrip("\n")
    if style:  # in quotation marks
        return text
    if text in {text.lower(), text.upper(), text.capitalize()} and text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    if len(text) > _MOST_DIGITS or not _NUMBER.match(text):
        return text
    return int(text) if text.lstrip("+-").isdigit() else float(text)
