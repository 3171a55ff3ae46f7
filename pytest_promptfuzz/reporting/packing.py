"""Reports without what can be told from the rest of them, as they lie on disk; and whole again.

A trial's diff holds its whole prompt: packed, it is edits ``[start, end, text]`` over one of its test's ``prompts``, in
characters. What is empty, zero or as its test's is left out, and filled in again: a key that is missing in a document
of an older version is read as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.reporting.document import DocumentTest

SPENT: dict[str, Any] = {
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
}
COUNTS = dict.fromkeys(("equivalent", "minor", "deviation", "undecided", "error", "not-needed"), 0)
TRIAL: dict[str, Any] = {
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
    "spent": SPENT,
}
TEST: dict[str, Any] = {
    "format": 1,
    "test": "",
    "outcome": "",
    "location": None,
    "verdict": "",
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
    "spent": SPENT,
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
_ID = "{id}"
_ATOMS = (str, int, float)
_TRIALS_OF_SEARCHES = ("found", "nearest")


def packed(test: Mapping[str, Any]) -> dict[str, Any]:
    """A test's report without what :func:`unpacked` can tell."""
    prompts: list[str] = []
    commands = {each["reproduce"].replace(each["id"], _ID) for each in test["trials"]}
    command = commands.pop() if len(commands) == 1 else None
    short = _shortened(test, TEST)
    short["trials"] = [_packed(each, prompts, test["baselines"], command) for each in test["trials"]]
    if test["searched"] is not None:
        alone = {
            key: test["searched"][key] and _packed(test["searched"][key], prompts, test["baselines"], None)
            for key in _TRIALS_OF_SEARCHES
        }
        short["searched"] = {**test["searched"], **alone}
    short["spent"] = _shortened(test["spent"], SPENT)
    short["counts"] = dict(test["counts"])
    if prompts:
        short["prompts"] = prompts
    if command is not None:
        short["reproduce"] = command
    return short


def unpacked(short: Mapping[str, Any]) -> DocumentTest:
    """A test's report, whole; keys that nobody knows stay."""
    test = _whole(short, TEST)
    prompts, command = test.pop("prompts", []), test.pop("reproduce", "")
    test["spent"], test["counts"] = _whole(test["spent"], SPENT), _whole(test["counts"], COUNTS)
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
    short = _shortened(trial, TRIAL)
    short["spent"] = _shortened(trial["spent"], SPENT)
    if not short["spent"]:
        del short["spent"]
    original, edits = edits_of(trial["diff"])
    if original not in prompts:
        prompts.append(original)
    del short["diff"]
    short["edits"] = edits
    if at := prompts.index(original):
        short["original"] = at
    if trial["prompt"] == "".join(text for kind, text in trial["diff"] if kind != "-"):
        del short["prompt"]
    if trial["case"] < len(baselines) and trial["baseline"] == baselines[trial["case"]]:
        del short["baseline"]
    if command is not None:
        del short["reproduce"]
    return short


def _unpacked(
    short: Mapping[str, Any], prompts: Sequence[str], baselines: Sequence[Any], command: str
) -> dict[str, Any]:
    trial = _whole(short, TRIAL)
    trial["spent"] = _whole(trial["spent"], SPENT)
    at, edits = trial.pop("original", 0), trial.pop("edits", [])
    trial["diff"] = diff_of(prompts[at] if at < len(prompts) else "", edits)
    trial.setdefault("prompt", "".join(text for kind, text in trial["diff"] if kind != "-"))
    case = trial["case"]
    trial.setdefault("baseline", baselines[case] if case < len(baselines) else None)
    trial.setdefault("reproduce", command.replace(_ID, trial["id"]))
    return trial


def _shortened(found: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in found.items()
        if key in _ALWAYS or key not in defaults or value != defaults[key]
    }


def _whole(short: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """With what is missing filled in; each list and dictionary is a new one."""
    return {
        **{
            key: value if value is None or isinstance(value, _ATOMS) else value.copy()
            for key, value in defaults.items()
        },
        **short,
    }
