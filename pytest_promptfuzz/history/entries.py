"""`HistoryEntry`: what is kept of one test of a run, enough to compare a later run with it, trial by trial.

``trials`` has, for each input by its name (by its number where it has none), the outcome of each trial by its ID, a
letter for each sample, as ``letters_of`` writes them; ``baselines`` the answer to the unmutated prompt of each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict, cast

from pytest_promptfuzz.text.safe_text import DIGEST, is_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.stats.scores import TrialOutcome

    Key = tuple[str, str, int]
    Outcomes = Mapping[Key, TrialOutcome]


# Outcomes of a run's trials, a letter each: equivalent, minor, deviation, or ``?`` without an outcome.
#
# ``{"0": {"07ebbef8af45": "EE"}}`` has for each input, by its name (by its number where it has none), the outcome of
# each trial by its ID, a letter for each sample.


Letters = Mapping[str, Mapping[str, str]]
"""By input and trial."""

_OUTCOMES: Mapping[str, TrialOutcome] = {
    "E": "equivalent",
    "M": "minor",
    "D": "deviation",
    "?": "undecided",
}
_LETTERS: Mapping[str, str] = {outcome: letter for letter, outcome in _OUTCOMES.items()}


def letter_of(outcome: str) -> str:
    """The letter of an outcome."""
    return _LETTERS.get(outcome, "?")


def letters_of(outcomes: Iterable[tuple[Key, str]]) -> dict[str, dict[str, str]]:
    """Outcomes by input, trial and sample, in order, as letters.

    >>> letters_of([(("0", "07ebbef8af45", 0), "equivalent"), (("0", "07ebbef8af45", 1), "error")])
    {'0': {'07ebbef8af45': 'E?'}}
    """
    found: dict[str, dict[str, str]] = {}
    for (case, trial, _), outcome in outcomes:
        of = found.setdefault(case, {})
        of[trial] = of.get(trial, "") + letter_of(outcome)
    return found


def outcomes_of(letters: Letters) -> Outcomes:
    """The outcomes that letters stand for, by input, trial and sample."""
    return {
        (case, trial, sample): _OUTCOMES[letter]
        for case, trials in letters.items()
        for trial, found in trials.items()
        for sample, letter in enumerate(found)
    }


def are_letters(value: Any) -> bool:
    """Whether a value has the shape of them."""
    return isinstance(value, Mapping) and all(
        isinstance(trials, Mapping)
        and all(isinstance(found, str) and set(found) <= set(_OUTCOMES) for found in trials.values())
        for trials in value.values()
    )


LONGEST = 20_000
"""The most characters of an answer, as JSON, that are kept; of a longer one its digest."""


class HistoryEntry(TypedDict):
    """One test of one run.

    ``operators`` names those of the trials that deviated, by ID. ``unconfirmed`` are trials that deviated, and did not
    when they were asked again, by input. ``drift`` are kinds of drift from the snapshot that are not ignored.
    ``seconds`` are of all runs of the test's body, added up; ``cost`` is in US dollars. ``controls`` are those that
    were asked by default.
    ``again`` has the outcomes of trials that were asked again, in order, as ``trials`` has the first ones. ``reasked``
    says why no more of them were asked, where the run was compared with a base (``stats.flips.FlipEnd``). ``odd`` are
    inputs whose first answer was a rare one: trials were compared with the base's answer, which ``baselines`` has.
    ``answers`` has, of each input whose unmutated prompt was asked more than once, each answer and how often it came,
    the first one first. ``compared`` are settings of the test by which its answers are compared
    (``evaluating.contract.ComparisonSettings.own``). ``accepted`` says whether it was accepted as brittle.
    """

    test: str
    outcome: str
    verdict: str
    reason: str
    score: float | None
    adjusted_score: float | None
    interval: list[float] | None
    threshold: float
    counts: dict[str, int]
    cost: float | None
    calls: int
    hits: int
    controls: int
    seconds: float
    model: str
    target: str
    task: str
    relation: str
    oracle_only: bool
    prompt: str
    baselines: dict[str, Any]
    trials: dict[str, dict[str, str]]
    operators: dict[str, str]
    unconfirmed: dict[str, list[str]]
    drift: list[str]
    again: dict[str, dict[str, str]]
    reasked: str
    odd: list[str]
    answers: dict[str, list[list[Any]]]
    compared: dict[str, Any]
    accepted: bool


def entry(test: Mapping[str, Any]) -> HistoryEntry:
    """What is kept of a test.

    Args:
        test: Its report, whole (``reporting.document.DocumentTest``).
    """
    trials = [each for each in test["trials"] if each["relation"] == test["relation"]]
    names = test["inputs"]
    outcomes = [
        ((named(each["case"], names), each["id"], each["sample"]), each["outcome"])
        for each in sorted(trials, key=lambda each: each["sample"])
    ]
    interval, spent = test["interval"], test["spent"]
    # As compared with the base's answer, where the first of this run was an odd one.
    against: Mapping[str, Any] = test.get("against_base") or {}
    baselines = {named(case, names): kept_answer(each) for case, each in enumerate(test["baselines"])}
    return HistoryEntry(
        test=test["test"],
        outcome=test.get("outcome", ""),
        verdict=test["verdict"],
        reason=test["reason"],
        score=_rounded(test["score"]),
        adjusted_score=_rounded(test["adjusted_score"]),
        interval=None if interval is None else [interval["low"], interval["high"], interval["level"]],
        threshold=test["threshold"],
        counts=dict(test["counts"]),
        cost=test["cost"],
        calls=spent["calls"],
        hits=spent["hits"],
        controls=spent["controls"],
        seconds=spent["seconds"],
        model=test["model"],
        target=test["target"],
        task=test["task"],
        relation=test["relation"],
        oracle_only=test["oracle_only"],
        prompt=digest(test["prompt"]),
        baselines={**baselines, **{name: each["baseline"] for name, each in against.items()}},
        trials={} if test["searched"] else {**letters_of(outcomes), **_each(against, "trials")},
        operators={
            each["id"]: " + ".join(name.partition("@")[0] for name in each["operators"])
            for each in trials
            if each["outcome"] == "deviation"
        },
        unconfirmed=_unconfirmed(trials, names),
        drift=list(dict.fromkeys(each["kind"] for each in test["drift"] if each["policy"] != "ignore")),
        again={} if test["searched"] else {**_again(trials, names), **_each(against, "again")},
        reasked=test.get("reasked", ""),
        odd=list(against),
        answers={
            name: [[kept_answer(answer), times] for answer, times in found]
            for name, found in test.get("answers", {}).items()
        },
        compared=dict(test.get("compared") or {}),
        accepted=(test.get("accepted") or {}).get("status") == "accepted",
    )


def _each(against: Mapping[str, Any], key: str) -> dict[str, dict[str, str]]:
    return {name: dict(each[key]) for name, each in against.items()}


def _again(trials: Iterable[Mapping[str, Any]], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """The later outcomes of trials that were asked again; all samples of a trial have the same."""
    first = [each for each in trials if each["again"] and not each["sample"]]
    return letters_of(
        ((named(each["case"], names), each["id"], place), outcome)
        for each in first
        for place, outcome in enumerate(each["again"])
    )


def is_entry(found: Any) -> bool:
    """Whether this has what a comparison needs of a test; other keys may be missing in what an older version wrote."""
    return (
        isinstance(found, dict)
        and all(isinstance(found.get(key), str) for key in ("test", "verdict"))
        and all(
            _is_of_kind(found[key], default)
            for key, default in _EMPTY.items()
            if key in found and key != "unconfirmed"
        )
        and are_letters(found.get("trials"))
        and are_letters(found.get("again", {}))
        and _are_ids(found.get("unconfirmed", {}))
        and all(map(_are_answers, found.get("answers", {}).values()))
    )


def _are_answers(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, list) and len(each) == 2 and type(each[1]) is int for each in value)
    )


def _are_ids(value: Any) -> bool:
    """Whether this names trials by input; an older version wrote their IDs alone."""
    lists = [*value.values()] if isinstance(value, dict) else [value]
    return all(isinstance(ids, list) and all(isinstance(each, str) for each in ids) for ids in lists)


_HUGE = 10**100


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number, and one that can be reckoned with."""
    return isinstance(value, float | int) and not isinstance(value, bool) and -_HUGE < value < _HUGE


def _is_of_kind(value: Any, default: Any) -> bool:
    """Whether a value is of the kind that this key of an entry has; ``None`` stands for a number that is not there."""
    if default is None:
        return value is None or is_number(value) or (isinstance(value, list) and all(map(is_number, value)))
    if isinstance(default, float | int) and not isinstance(default, bool):
        return is_number(value)
    return isinstance(value, type(default))


def whole(found: Mapping[str, Any]) -> HistoryEntry:
    """An entry with what it lacks filled in; an ID that an older version named alone stands for every input."""
    filled = cast("HistoryEntry", {**_EMPTY, **found})
    if isinstance(ids := found.get("unconfirmed"), list):
        filled["unconfirmed"] = {name: [*ids] for name in filled["trials"]} if ids else {}
    return filled


def named(case: int, names: Sequence[str]) -> str:
    """How an input is called, run after run.

    >>> named(1, ["", "late"]), named(0, [])
    ('late', '0')
    """
    return (names[case] if case < len(names) else "") or str(case)


def digest(text: str) -> str:
    """A short one of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def kept_answer(value: Any) -> Any:
    """An answer as it is kept: itself, or of a long one its digest."""
    text = json.dumps(value, sort_keys=True)
    return value if len(text) <= LONGEST else {DIGEST: digest(text)}


def long_answers(test: Mapping[str, Any]) -> dict[str, Any]:
    """The answers to unmutated prompts of which an entry keeps a digest only, by their digests.

    Args:
        test: Its report.
    """
    asked = [answer for found in test.get("answers", {}).values() for answer, _ in found]
    kept = [(kept_answer(each), each) for each in (*test["baselines"], *asked)]
    return {one[DIGEST]: each for one, each in kept if is_digest(one) and one is not each}


def _unconfirmed(trials: Iterable[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[str]]:
    """By input, the trials that deviated and did not when they were asked again."""
    found: dict[str, list[str]] = {}
    for each in trials:
        if _not_again(each) and each["id"] not in (of := found.setdefault(named(each["case"], names), [])):
            of.append(each["id"])
    return found


def _not_again(trial: Mapping[str, Any]) -> bool:
    """Whether a deviation was asked again and did not come again more often than not."""
    again = [each for each in trial["again"] if each in {"equivalent", "minor", "deviation"}]
    return trial["outcome"] == "deviation" and 2 * again.count("deviation") < len(again)


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


_EMPTY: HistoryEntry = HistoryEntry(
    test="",
    outcome="",
    verdict="",
    reason="",
    score=None,
    adjusted_score=None,
    interval=None,
    threshold=0.85,
    counts={},
    cost=None,
    calls=0,
    hits=0,
    controls=0,
    seconds=0.0,
    model="",
    target="",
    task="",
    relation="invariance",
    oracle_only=False,
    prompt="",
    baselines={},
    trials={},
    operators={},
    unconfirmed={},
    drift=[],
    again={},
    reasked="",
    odd=[],
    answers={},
    compared={},
    accepted=False,
)
