"""The JSON Schema of a run's report, made of the types that the code is held to."""

from __future__ import annotations

import inspect
import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from pytest_promptfuzz.history import changes
from pytest_promptfuzz.reporting import (
    counterexamples,
    document,
    drift,
    gold,
    model,
    packing,
    searched,
    varying,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ID = f"urn:pytest-promptfuzz:{document.KIND}:{document.FORMAT}"
_MODULES = (changes, counterexamples, document, drift, gold, model, searched, varying)
# A key that is left out when it is empty: what stands in a packed test or trial in every case.
_REQUIRED = {
    "DocumentTest": ("test", "verdict", "score", "threshold", "counts", "trials"),
    "TrialReport": ("id", "operators", "dimension", "edits"),
    "SpentReport": (),
    "Document": ("promptfuzz", "format", "run", "tests"),
    "RunReport": ("id", "started"),
    "DriftReport": ("kind", "policy", "message", "before", "after", "case", "p"),
    "ChangeReport": tuple(each for each in changes.ChangeReport.__annotations__ if each != "target"),
}
_PACKED: dict[str, dict[str, Any]] = {
    "DocumentTest": {
        "prompts": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The unmutated prompts of its trials.",
        },
        "reproduce": {"type": "string", "description": "A command with {id} in the place of a trial's ID."},
    },
    "TrialReport": {
        "original": {
            "type": "integer",
            "minimum": 0,
            "description": "Which of the test's prompts it changes, from 0; 0 where it is missing.",
        },
        "edits": {
            "type": "array",
            "description": "What is changed in that prompt, in order: start, end (in characters) and what stands "
            "there instead.",
            "items": {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "integer"}, {"type": "string"}],
                "minItems": 3,
                "maxItems": 3,
            },
        },
    },
}
_LEFT_OUT = {"TrialReport": {"diff"}}
_SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
}


def report_schema() -> dict[str, Any]:
    """The schema (2020-12) of what ``--promptfuzz-report=json:PATH`` writes.

    Keys that it does not name may be there: later versions add some under the same format.
    """
    namespace = {name: value for module in _MODULES for name, value in vars(module).items()}
    found: dict[str, dict[str, Any]] = {}
    _object(document.Document, namespace, found)
    root = found.pop("Document")
    root["properties"]["promptfuzz"] = {"const": document.KIND}
    root["properties"]["format"] = {"const": document.FORMAT}
    found["DocumentTest"]["properties"]["trials"]["items"] = {"$ref": "#/$defs/TrialReport"}
    return {"$schema": DIALECT, "$id": _ID, "title": "A run of pytest-promptfuzz", **root, "$defs": found}


def _object(kind: Any, namespace: dict[str, Any], found: dict[str, dict[str, Any]]) -> None:
    """Put the schema of a typed dictionary, and of all that it holds, into ``found``."""
    name = kind.__name__
    if name in found:
        return
    found[name] = {}  # it may hold itself
    hints = get_type_hints(kind, localns=namespace)
    left_out = _LEFT_OUT.get(name, set())
    properties = {key: _of(hint, namespace, found) for key, hint in hints.items() if key not in left_out}
    properties |= _PACKED.get(name, {})
    defaults = {"DocumentTest": packing.TEST, "TrialReport": packing.TRIAL, "SpentReport": packing.SPENT}
    for key, value in defaults.get(name, {}).items():
        if key in properties and not (value is None or value in ([], {}) or isinstance(value, dict)):
            properties[key] = {**properties[key], "default": value}
    found[name] = {
        "type": "object",
        "description": " ".join((inspect.getdoc(kind) or "").replace("``", "").split()),
        "properties": properties,
        "required": list(_REQUIRED.get(name, hints)),
    }


def _of(hint: Any, namespace: dict[str, Any], found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    if is_typeddict(hint):
        _object(hint, namespace, found)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        return {"anyOf": [_of(each, namespace, found) for each in arguments]}
    if origin is Literal:
        return {"type": "string"}  # later versions may know more
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(arguments[1], namespace, found)}
    if origin is tuple and Ellipsis not in arguments:
        inner = [_of(each, namespace, found) for each in arguments]
        return {"type": "array", "prefixItems": inner, "minItems": len(inner), "maxItems": len(inner)}
    if origin in {list, tuple}:
        return {"type": "array", "items": _of(arguments[0], namespace, found)}
    raise TypeError(f"no schema for {hint!r}")
