"""What a comparison of two runs comes to, as plain data for reports; the conditions of ``--promptfuzz-fail-on``."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from pytest_promptfuzz.errors import UsageError, close_names, nearest
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.history.entries import HistoryEntry


Status = Literal["worse", "lower", "same", "higher", "better", "unpaired", "unjudged", "new", "gone"]
"""How a test compares with its base. ``worse`` and ``better`` are more than noise, ``lower`` and ``higher`` within it,
or alike but for the verdict; ``unpaired`` has no trial in common that was decided; ``new`` and ``gone`` stand in one of
the runs only."""


Finding = Literal["newly brittle", "worse", "better", "the same", "cannot tell", "new", "gone"]
"""What a reader is told of a test: ``newly brittle`` passed and is brittle; ``cannot tell`` is every difference within
noise, and what cannot be compared."""
_FINDINGS: Mapping[str, Finding] = {
    "worse": "worse",
    "better": "better",
    "same": "the same",
    "new": "new",
    "gone": "gone",
}


_COMPARED_AS = frozenset({"worse", "lower", "unpaired", "higher", "better"})


class BaseReport(TypedDict):
    """What was compared with: ``label`` as a person named it, ``kind`` of ``last``, ``name``, ``file`` and ``ref``.

    ``run``, ``started``, ``commit`` and ``branch`` are of the run; empty where its tests come from several.
    """

    label: str
    kind: str
    run: str
    started: str
    commit: str
    branch: str


AnswerFinding = Literal["the same", "changed", "minor", "cannot tell", "not compared"]
"""What an answer to an unmutated prompt is beside the base's. ``minor``: data that differ a little; ``cannot
tell``: both are known, and neither a difference nor that there is none is proven; ``not compared``: one of them is not
known."""


class AnswerChange(TypedDict):
    """An answer to an unmutated prompt that is not the same as in the base, or of which nothing can be told.

    ``input`` is the input's name, empty where the test has only one. ``finding`` is ``changed``, ``minor``,
    ``cannot tell`` or ``not compared``; of the last two ``reason`` is a code of why, and ``explanation`` the sentence.
    ``diff`` goes from ``before`` to ``after``, word by word: ``=``, ``-`` and ``+``; it is empty where one of them is
    not known.
    """

    test: str
    target: str
    input: str
    finding: AnswerFinding
    before: Any
    after: Any
    diff: list[tuple[str, str]]
    reason: str
    explanation: str
    prompt_changed: bool
    model_before: str
    model: str


class ChangeReport(TypedDict):
    """One test beside its base.

    ``pairs`` trials were decided in both runs: in ``worse`` the outcome is worse now, in ``better`` better. ``p`` is
    the probability of such a difference, or a larger one, from noise alone, and ``adjusted_p`` the same among all tests
    that are compared; ``None`` where nothing can be told. ``new_deviations`` and ``mended`` are IDs of trials.
    ``baseline`` says whether the answer to the unmutated prompt is the same: ``same``, ``changed`` or ``unknown``.
    ``target`` is what was asked, of one that is gone in the base. ``finding`` says the same as ``status`` and verdicts,
    as a reader sees it; ``missing`` says of a test that is lower what a proof of that lacks. ``answer`` says of the
    answers to the unmutated prompt, repeats included, what ``answers`` of the whole comparison has one by one: the
    first of ``changed``, ``cannot tell``, ``minor``, ``not compared`` and ``the same`` that any input has.
    ``outcome_before`` and ``drift_before`` are pytest's outcome in the base, empty where it is not known, and the kinds
    of drift that the base had from its snapshot. ``prompt_diff`` is what changed in the prompt, word by word: ``=``,
    ``-`` and ``+``; empty where one of the texts is not known. An older version wrote none of the last six.
    """

    test: str
    target: str
    status: Status
    verdict_before: str
    verdict: str
    score_before: float | None
    score: float | None
    difference: float | None
    pairs: int
    worse: int
    better: int
    p: float | None
    adjusted_p: float | None
    new_deviations: list[str]
    mended: list[str]
    prompt_changed: bool
    baseline: str
    model_before: str
    model: str
    cost_before: float | None
    cost: float | None
    explanation: str
    finding: Finding
    missing: str
    answer: str
    outcome_before: str
    drift_before: list[str]
    prompt_diff: list[tuple[str, str]]


def finding_of(status: str, before: str, now: str) -> Finding:
    """What a reader is told of a test.

    Args:
        status: How it compares.
        before: Its verdict in the base; empty where it has none.
        now: Its verdict in the run.

    >>> finding_of("lower", "pass", "brittle"), finding_of("lower", "pass", "pass")
    ('newly brittle', 'cannot tell')
    """
    if before == "pass" and now == "brittle" and status in _COMPARED_AS:
        return "newly brittle"
    return _FINDINGS.get(status, "cannot tell")


class ConditionReport(TypedDict):
    """One condition of ``--promptfuzz-fail-on``, and the tests that meet it."""

    expression: str
    tests: list[str]


class ChangesReport(TypedDict):
    """A run beside its base, the tests that changed most first.

    ``answers`` are those to unmutated prompts that changed, then those of which nothing can be told, with minor
    variations before those that are not compared; an older version wrote none.
    """

    base: BaseReport
    tests: list[ChangeReport]
    conditions: list[ConditionReport]
    answers: list[AnswerChange]


class PastRunReport(TypedDict):
    """An earlier run, in a trend."""

    id: str
    name: str
    started: str
    commit: str
    branch: str
    dirty: bool | None


class PointReport(TypedDict):
    """A test in an earlier run; ``run`` is a place in the list of runs."""

    run: int
    score: float | None
    verdict: str
    cost: float | None


class TrendsReport(TypedDict):
    """Earlier runs, the oldest first, and each test's results in them."""

    runs: list[PastRunReport]
    tests: dict[str, list[PointReport]]


# Conditions that fail a run: ``score drop > 0.05``, ``any new deviation``, ``new brittle``, ``cost rise > 20%``.
#
# ::
#
#     conditions = condition {"," condition}
#     condition  = ["any"] "score drop" [bound]
#                | ["any"] "new deviation"
#                | "new" ("brittle" | "noisy" | "inconclusive" | "failure")
#                | "cost rise" bound
#                | ["model" | "prompt" | "comparator"] "drift"
#                | "answer change"
#                | "gone"
#     bound      = (">" | ">=") number ["%"]
#
# Without ``any``, only what is more than noise counts.


_TOKEN = expression(
    r"\s*(?:(?P<word>[^\W\d_]+)|(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<sign>>=|>|%|,)|(?P<other>\S))"
)
_KINDS = ("model", "prompt", "comparator")
_VERDICTS = ("brittle", "noisy", "inconclusive")
_FIRST = ("any", "score", "new", "cost", "drift", *_KINDS, "answer", "gone")
_COMPARED: Mapping[str, Callable[[float, float], bool]] = {">": operator.gt, ">=": operator.ge}


class _ConditionToken(NamedTuple):
    kind: str
    text: str
    at: int


class Condition(NamedTuple):
    """One condition.

    Attributes:
        text: As it is written, with single spaces.
        what: ``drop``, ``deviation``, ``verdict``, ``cost``, ``drift``, ``answer`` or ``gone``.
        any: Whether what is within noise counts, too.
        which: Of a verdict or a kind of drift, which; empty for all.
        sign: ``>`` or ``>=``.
        bound: What is compared with; a share where it was written in percent.
        percent: Whether it was.
    """

    text: str
    what: str
    any: bool = False
    which: str = ""
    sign: str = ">"
    bound: float = 0.0
    percent: bool = False

    def is_met(self, change: ChangeReport, entry: HistoryEntry | None) -> bool:
        """Whether a test meets it.

        Args:
            change: The test beside its base.
            entry: What is kept of it; ``None`` of one that is gone.
        """
        beyond = self.any or change["status"] == "worse"
        if self.what == "drop":
            difference = change["difference"]
            if difference is None:  # trials that are open leave its size unknown
                return change["status"] == "worse" and not self.bound
            return beyond and difference < 0 and self._over(-difference)
        if self.what == "deviation":
            return beyond and bool(change["new_deviations"])
        if self.what == "verdict":
            if entry and entry["accepted"]:
                return False
            failing = _VERDICTS if self.which == "failure" else (self.which,)
            return change["verdict"] in failing and change["verdict_before"] not in {"", *failing}
        if self.what == "cost":
            return self._dearer(change["cost_before"], change["cost"])
        if self.what == "drift":
            return bool(entry) and any(self.which in {"", kind} for kind in entry["drift"])  # type: ignore[index]  # there is one
        if self.what == "answer":
            return change.get("answer") == "changed"
        return change["status"] == "gone"

    def _dearer(self, before: float | None, now: float | None) -> bool:
        if not before or now is None:
            return False
        return self._over((now - before) / before if self.percent else now - before)

    def _over(self, amount: float) -> bool:
        return _COMPARED[self.sign](round(amount, 9), self.bound)


def met(
    conditions: Iterable[Condition], changes: ChangesReport, now: Mapping[str, HistoryEntry]
) -> list[ConditionReport]:
    """The conditions that any test meets, and which do.

    Args:
        conditions: All.
        changes: The run beside its base.
        now: The run's tests.
    """
    found = [
        ConditionReport(
            expression=each.text,
            tests=[row["test"] for row in changes["tests"] if each.is_met(row, now.get(row["test"]))],
        )
        for each in conditions
    ]
    return [each for each in found if each["tests"]]


def unproven(
    conditions: Iterable[Condition], changes: ChangesReport, now: Mapping[str, HistoryEntry]
) -> list[ChangeReport]:
    """Tests that meet none of the conditions only because their drop is not proven.

    Args:
        conditions: All.
        changes: The run beside its base.
        now: The run's tests.
    """
    each_drop = [each._replace(any=True) for each in conditions if each.what == "drop" and not each.any]
    return [
        row
        for row in changes["tests"]
        if row["status"] != "worse" and any(each.is_met(row, now.get(row["test"])) for each in each_drop)
    ]


def read_conditions(text: str) -> list[Condition]:
    """Conditions as they are written.

    Raises:
        UsageError: One cannot be read; the message says where, and what could stand there.

    >>> [each.what for each in read_conditions("score drop > 0.05, any new deviation")]
    ['drop', 'deviation']
    """
    tokens = _tokens(text)
    found: list[Condition] = []
    part: list[_ConditionToken] = []
    for each in [*tokens, _ConditionToken("sign", ",", len(text))]:
        if each.text != ",":
            part.append(each)
            continue
        if not part:
            raise _wrong(text, each.at, "a condition is missing. Write one such as score drop > 0.05")
        found.append(_ConditionReader(text, part, each.at).condition())
        part = []
    return found


class _ConditionReader:
    """Reads one condition.

    Args:
        text: All that was written.
        tokens: The condition's.
        end: Where it ends.
    """

    def __init__(self, text: str, tokens: Sequence[_ConditionToken], end: int) -> None:
        self._text, self._tokens, self._end = text, list(tokens), end
        self._written = " ".join(each.text for each in tokens).replace(" %", "%")

    def condition(self) -> Condition:
        first = self._word(_FIRST)
        whatever = first == "any"
        if whatever:
            first = self._word(("score", "new"))
        if first == "score":
            self._word(("drop",))
            found = self._bounded("drop", whatever=whatever)
        elif first == "new":
            which = self._word(("deviation", "deviations", *(() if whatever else (*_VERDICTS, "failure"))))
            deviation = which.startswith("deviation")
            found = (
                Condition(self._written, "deviation", any=whatever)
                if deviation
                else Condition(self._written, "verdict", which=which)
            )
        elif first == "cost":
            self._word(("rise",))
            if not self._tokens:
                raise self._expected("> or >= and a number, such as > 20%")
            found = self._bounded("cost")
        elif first == "answer":
            self._word(("change",))
            found = Condition(self._written, "answer")
        elif first == "gone":
            found = Condition(self._written, "gone")
        else:
            if first != "drift":
                self._word(("drift",))
            found = Condition(self._written, "drift", which="" if first == "drift" else first)
        if self._tokens:
            raise self._expected("the condition's end, or a comma before the next one")
        return found

    def _bounded(self, what: str, *, whatever: bool = False) -> Condition:
        if not self._tokens:
            return Condition(self._written, what, any=whatever)
        if self._tokens[0].text not in _COMPARED:
            raise self._expected("> or >=")
        sign = self._tokens.pop(0).text
        if not self._tokens or self._tokens[0].kind != "number":
            raise self._expected("a number, such as 0.05")
        bound, percent = float(self._tokens.pop(0).text), False
        if self._tokens and self._tokens[0].text == "%":
            self._tokens.pop(0)
            bound, percent = bound / 100, True
        return Condition(self._written, what, any=whatever, sign=sign, bound=bound, percent=percent)

    def _word(self, known: Sequence[str]) -> str:
        shown = [each for each in known if each != "deviations"]
        if not self._tokens:
            raise self._expected(" or ".join(shown))
        each = self._tokens[0]
        if each.text.lower() not in known:
            close = close_names(each.text, shown)
            hint = nearest(each.text, shown) if close else f"Write {_example(self._written, shown)}"
            raise _wrong(self._text, each.at, f"unknown word {each.text!r}. {hint}")
        return self._tokens.pop(0).text.lower()

    def _expected(self, what: str) -> UsageError:
        if not self._tokens:
            return _wrong(self._text, self._end, f"{what} is missing")
        each = self._tokens[0]
        return _wrong(self._text, each.at, f"expected {what}, not {each.text!r}")


def _tokens(text: str) -> list[_ConditionToken]:
    found: list[_ConditionToken] = []
    for each in _TOKEN.finditer(text):
        kind = str(each.lastgroup)
        if kind == "other":
            raise _wrong(
                text, each.start(kind), f"{each[kind]!r} has no meaning here. Separate conditions with commas"
            )
        found.append(_ConditionToken(kind, each[kind], each.start(kind)))
    return found


_LONG = 40  # characters of conditions, from which on a place in them is named


def _example(written: str, known: Sequence[str]) -> str:
    """A condition that begins as what was written, or the words that may stand there."""
    examples = (
        "score drop > 0.05",
        "any new deviation",
        "new brittle",
        "cost rise > 20%",
        "model drift",
        "answer change",
        "gone",
    )
    first = written.split(maxsplit=1)[0].lower()
    like = next((each for each in examples if each.split()[0] == first), "")
    return repr(like) if like else " or ".join(known)


def _wrong(text: str, at: int, why: str) -> UsageError:
    place = f", character {at + 1}" if "," in text or len(text) > _LONG else ""
    return UsageError(f"{text!r}{place}: {why}" + ("" if why.endswith(("?", ".")) else "."))
