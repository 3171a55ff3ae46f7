"""The JSON Schema of a report, checked when a report is read; how reports are packed on disk."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from pytest_promptfuzz.history import changes
from pytest_promptfuzz.reporting import document, model
from pytest_promptfuzz.text.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.reporting.document import DocumentTest


# Reports without what can be told from the rest of them, as they lie on disk; and whole again.
#
# A trial's diff holds its whole prompt: packed, it is edits ``[start, end, text]`` over one of its test's ``prompts``,
# in characters. What is empty, zero or as its test's is left out, and filled in again: a key that is missing in a
# document of an older version is read as such.


SPENT_DEFAULTS: dict[str, Any] = {
    "calls": 0,
    "retries": 0,
    "hits": 0,
    "seconds": 0.0,
    "input_tokens": None,
    "output_tokens": None,
    "unpriced": 0,
    "speculated": 0,
    "unused": 0,
    "judge_calls": 0,
    "judge_hits": 0,
    "saved": 0,
    "controls": 0,
    "recorded": 0,
}
COUNTS = dict.fromkeys(("equivalent", "minor", "deviation", "undecided", "error", "not-needed"), 0)
TRIAL_DEFAULTS: dict[str, Any] = {
    "id": "",
    "case": 0,
    "sample": 0,
    "again": [],
    "operators": [],
    "dimension": "",
    "severity": 0.0,
    "change_rate": 0.0,
    "preserves": "",
    "relation": "invariance",
    "outcome": "error",
    "similarity": None,
    "reason": "",
    "explanation": "",
    "tiers": [],
    "response": None,
    "error": None,
    "failure": None,
    "spent": SPENT_DEFAULTS,
}
TEST_DEFAULTS: dict[str, Any] = {
    "format": 1,
    "test": "",
    "outcome": "",
    "location": None,
    "verdict": "",
    "accepted": None,
    "reason": "",
    "explanation": "",
    "gate": "point",
    "paired": None,
    "score": None,
    "bounds": [0.0, 1.0],
    "threshold": 0.85,
    "gold": None,
    "adjusted_score": None,
    "interval": None,
    "noise": None,
    "reasked": "",
    "against_base": {},
    "answers": {},
    "beside_base": {},
    "compared": {},
    "variance": None,
    "counts": COUNTS,
    "planned": 0,
    "seed": 0,
    "task": "",
    "target": "",
    "judge": "",
    "model": "",
    "oracle_only": False,
    "relation": "invariance",
    "by_dimension": {},
    "by_operator": {},
    "by_relation": {},
    "prompt": "",
    "baseline": None,
    "baselines": [],
    "trials": [],
    "spent": SPENT_DEFAULTS,
    "cost": None,
    "notes": [],
    "inputs": [],
    "judging": None,
    "counterexamples": [],
    "searched": None,
    "replayed": [],
    "drift": [],
}
_ALWAYS = {"test", "outcome", "verdict", "score", "threshold", "id", "operators", "dimension"}
_ID_PLACE = "{id}"
# By table of defaults, the keys whose values are lists or dictionaries.
_MUTABLE = {
    id(each): tuple(key for key, value in each.items() if isinstance(value, (list, dict)))
    for each in (SPENT_DEFAULTS, COUNTS, TRIAL_DEFAULTS, TEST_DEFAULTS)
}
_TRIALS_OF_SEARCHES = ("found", "nearest")


def packed(test: Mapping[str, Any]) -> dict[str, Any]:
    """A test's report without what :func:`unpacked` can tell."""
    prompts: list[str] = []
    commands = {each["reproduce"].replace(each["id"], _ID_PLACE) for each in test["trials"]}
    command = commands.pop() if len(commands) == 1 else None
    short = _shortened(test, TEST_DEFAULTS)
    short["trials"] = [_packed(each, prompts, test["baselines"], command) for each in test["trials"]]
    if test["searched"] is not None:
        alone = {
            key: test["searched"][key] and _packed(test["searched"][key], prompts, test["baselines"], None)
            for key in _TRIALS_OF_SEARCHES
        }
        short["searched"] = {**test["searched"], **alone}
    short["spent"] = _shortened(test["spent"], SPENT_DEFAULTS)
    short["counts"] = {**COUNTS, **test["counts"]}
    if prompts:
        short["prompts"] = prompts
    if command is not None:
        short["reproduce"] = command
    return short


def unpacked(short: Mapping[str, Any]) -> DocumentTest:
    """A test's report, whole; keys that nobody knows stay."""
    test = _whole(short, TEST_DEFAULTS)
    prompts, command = test.pop("prompts", []), test.pop("reproduce", "")
    test["spent"], test["counts"] = _whole(test["spent"], SPENT_DEFAULTS), _whole(test["counts"], COUNTS)
    test["trials"] = [_unpacked(each, prompts, test["baselines"], command) for each in test["trials"]]
    if test["searched"] is not None:
        alone = {
            key: each and _unpacked(each, prompts, test["baselines"], "")
            for key in _TRIALS_OF_SEARCHES
            for each in [test["searched"].get(key)]
        }
        test["searched"] = {**test["searched"], **alone}
    return cast("DocumentTest", test)


def edits_of(diff: Iterable[Sequence[str]]) -> tuple[str, list[list[Any]]]:
    """The text that a diff begins with, and its edits ``[start, end, text]`` in order.

    >>> edits_of([["=", "Is it "], ["-", "good"], ["+", "fine"], ["=", "?"]])
    ('Is it good?', [[6, 10, 'fine']])
    """
    original: list[str] = []
    edits: list[list[Any]] = []
    at, fresh = 0, True
    for kind, text in diff:
        if kind == "=":
            fresh = True
        else:
            if fresh:
                edits.append([at, at, ""])
            fresh = False
            if kind == "-":
                edits[-1][1] = at + len(text)
            else:
                edits[-1][2] += text
        if kind != "+":
            original.append(text)
            at += len(text)
    return "".join(original), edits


def diff_of(original: str, edits: Iterable[Sequence[Any]]) -> list[list[str]]:
    """The diff of edits: the inverse of :func:`edits_of`, but that what was removed stands before what was added."""
    diff: list[list[str]] = []
    at = 0
    for start, end, text in edits:
        diff += [["=", original[at:start]], ["-", original[start:end]], ["+", text]]
        at = end
    return [piece for piece in [*diff, ["=", original[at:]]] if piece[1]]


def _packed(
    trial: Mapping[str, Any], prompts: list[str], baselines: Sequence[Any], command: str | None
) -> dict[str, Any]:
    short = _shortened(trial, TRIAL_DEFAULTS)
    short["spent"] = _shortened(trial["spent"], SPENT_DEFAULTS)
    if not short["spent"]:
        del short["spent"]
    original, edits = edits_of(trial["diff"])
    if original not in prompts:
        prompts.append(original)
    del short["diff"]
    # The same order, whichever of them stay.
    prompt, baseline, reproduce = (short.pop(name) for name in ("prompt", "baseline", "reproduce"))
    if prompt != "".join(text for kind, text in trial["diff"] if kind != "-"):
        short["prompt"] = prompt
    if trial["case"] >= len(baselines) or baseline != baselines[trial["case"]]:
        short["baseline"] = baseline
    if command is None:
        short["reproduce"] = reproduce
    short["edits"] = edits
    if at := prompts.index(original):
        short["original"] = at
    return short


def _unpacked(
    short: Mapping[str, Any], prompts: Sequence[str], baselines: Sequence[Any], command: str
) -> dict[str, Any]:
    trial = _whole(short, TRIAL_DEFAULTS)
    trial["spent"] = _whole(trial["spent"], SPENT_DEFAULTS)
    at, edits = trial.pop("original", 0), trial.pop("edits", [])
    trial["diff"] = diff_of(prompts[at] if at < len(prompts) else "", edits)
    trial.setdefault("prompt", "".join(text for kind, text in trial["diff"] if kind != "-"))
    case = trial["case"]
    trial.setdefault("baseline", baselines[case] if case < len(baselines) else None)
    trial.setdefault("reproduce", command.replace(_ID_PLACE, trial["id"]))
    return trial


def _shortened(found: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """In the order that it has once it was whole again, so that it is packed in the same words."""
    short = {
        key: found[key]
        for key, default in defaults.items()
        if key in found and (key in _ALWAYS or found[key] != default)
    }
    short.update({key: value for key, value in found.items() if key not in defaults})
    return short


def _whole(short: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """With what is missing filled in; each list and dictionary is a new one."""
    whole = {**defaults, **short}
    for key in _MUTABLE[id(defaults)]:
        if key not in short:
            whole[key] = whole[key].copy()
    return whole


DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ID = f"urn:pytest-promptfuzz:{document.KIND}:{document.FORMAT}"
_MODULES = (changes, document, model)
# A key that is left out when it is empty: what stands in a packed test or trial in every case.
_REQUIRED = {
    "DocumentTest": ("test", "verdict", "score", "threshold", "counts", "trials"),
    "UnjudgedReport": ("test", "outcome", "message", "location"),
    "TrialReport": ("id", "operators", "dimension", "edits"),
    "SpentReport": (),
    "Document": ("promptfuzz", "format", "run", "tests"),
    "RunReport": ("id", "started"),
    "DriftReport": ("kind", "policy", "message", "before", "after", "case", "p"),
    "ChangeReport": tuple(
        each
        for each in changes.ChangeReport.__annotations__
        if each
        not in {"target", "finding", "missing", "answer", "outcome_before", "drift_before", "prompt_diff"}
    ),
    "ChangesReport": ("base", "tests", "conditions"),
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
    defaults = {"DocumentTest": TEST_DEFAULTS, "TrialReport": TRIAL_DEFAULTS, "SpentReport": SPENT_DEFAULTS}
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


# Whether what was read is a report: held to its JSON Schema, without a library, before anything renders it.


_Wrong = tuple[str, str]
_Check = Callable[[Any], "_Wrong | None"]
"""Where in a value something is wrong (``.trials[3].id``; empty for all of it), and what; ``None`` of a right one."""

# As json.loads has them: a truth value is no number.
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "a text"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
    "null": ((type(None),), "null"),
    "array": ((list,), "a list"),
    "object": ((dict,), "an object"),
}
_MOST_SHOWN = 40


def wrong(key: str, value: Any) -> str:
    """What is wrong with a part of a report, as it lies on disk; empty where nothing is.

    Args:
        key: Of the document: ``run``, ``unjudged`` and so on; ``test`` is one of its ``tests``.
        value: What was read.
    """
    found = _checks()[key](value)
    if found is None:
        return ""
    if key != "test":
        return f"{key}{found[0]} {found[1]}"
    name = value.get("test") if isinstance(value, dict) else None
    of = f"test {safe(name, limit=200)}: " if isinstance(name, str) else "a test: "
    return f"{of}{found[0].lstrip('.') or 'it'} {found[1]}"


@lru_cache(maxsize=1)
def _checks() -> Mapping[str, _Check]:
    schema = report_schema()
    made: dict[str, _Check] = {}
    parts = {"test": {"$ref": "#/$defs/DocumentTest"}, **schema["properties"]}
    return {key: _check(part, schema["$defs"], made) for key, part in parts.items()}


def _check(schema: Mapping[str, Any], kinds: Mapping[str, Any], made: dict[str, _Check]) -> _Check:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in made:  # no type of a report holds itself
            made[name] = _check(kinds[name], kinds, made)
        return made[name]
    if "anyOf" in schema:
        return _either([_check(each, kinds, made) for each in schema["anyOf"]], _said(schema))
    if "type" not in schema:
        return lambda _: None
    types, said = _TYPES[schema["type"]][0], _said(schema)
    if schema["type"] not in _INNER:
        return lambda value: None if type(value) in types else _is(value, said)
    inner = _INNER[schema["type"]](schema, kinds, made)
    return lambda value: inner(value) if type(value) in types else _is(value, said)


def _either(checks: list[_Check], said: str) -> _Check:
    def check(value: Any) -> _Wrong | None:
        found = []
        for each in checks:
            one = each(value)
            if one is None:
                return None
            found.append(one)
        return next((each for each in found if each[0]), _is(value, said))

    return check


def _object_check(schema: Mapping[str, Any], kinds: Mapping[str, Any], made: dict[str, _Check]) -> _Check:
    known = {key: _check(part, kinds, made) for key, part in schema.get("properties", {}).items()}
    required = schema.get("required", ())
    rest = _check(schema.get("additionalProperties", {}), kinds, made)

    def check(value: dict[str, Any]) -> _Wrong | None:
        for key in required:
            if key not in value:
                return f".{key}", "is missing"
        for key, one in value.items():
            found = known.get(key, rest)(one)
            if found is not None:
                return f".{safe(key, limit=_MOST_SHOWN)}{found[0]}", found[1]
        return None

    return check


def _array(schema: Mapping[str, Any], kinds: Mapping[str, Any], made: dict[str, _Check]) -> _Check:
    first = [_check(part, kinds, made) for part in schema.get("prefixItems", ())]
    rest = _check(schema.get("items", {}), kinds, made)

    def check(value: list[Any]) -> _Wrong | None:
        if first and len(value) != len(first):
            return _is(value, f"a list of {len(first)}")
        for index, one in enumerate(value):
            found = (first[index] if first else rest)(one)
            if found is not None:
                return f"[{index}]{found[0]}", found[1]
        return None

    return check


_INNER: dict[str, Callable[..., _Check]] = {"object": _object_check, "array": _array}


def _said(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(map(_said, schema["anyOf"]))
    return _TYPES[schema.get("type", "object")][1]


def _is(value: Any, said: str) -> _Wrong:
    return "", f"is {safe(repr(value), limit=_MOST_SHOWN)}, and has to be {said}"
