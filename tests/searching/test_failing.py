"""Which failures are the same: no slippage to another one."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_promptfuzz.comparing.comparison import Comparison
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.mutations.engine.edits import replace
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.results.trials import OracleFailure, Trial, TrialError
from pytest_promptfuzz.searching.failures import by_kind, in_one_line, kind_of, same_failure

PROMPT = "Rate the urgency of the ticket."
PROSE = "Dear customer, your parcel is on its way and will be with you on Monday."
OTHER = "Dear customer, we are sorry that the parcel was late; it arrives this week."
TRACE = "    def test():\n>       assert x\nE       boom\n\ntests/test_a.py:{line}: AssertionError"


def mutated(severity: float = 0.3, word: str = "THE") -> Mutation:
    return Mutation(PROMPT, (replace(5, 8, word),), ("upper-case@1",), "lexical", severity, "yes")


def raised(
    message: str, value: Any = None, *, kind: str = "AssertionError", trace: str = "", **more: Any
) -> Trial:
    failure = OracleFailure(kind, message, trace)
    return Trial(mutated(), "deviation", value=value, failure=failure, **more)


def compared(baseline: Any, answer: Any) -> Trial:
    found = compare(baseline, answer)
    return Trial(mutated(), found.outcome, value=answer, comparison=found)


def reason(name: str, value: Any = PROSE, outcome: str = "deviation", explanation: str = "differs") -> Trial:
    return Trial(mutated(), outcome, value=value, comparison=Comparison(outcome, 0.0, name, explanation))  # type: ignore[arg-type]


SAME = {
    "the same message": (raised("assert 'low' == 'high'", "low"), raised("assert 'low' == 'high'", "low")),
    "only the first line counts": (raised("boom\n- a"), raised("\n  boom  \n+ b")),
    "a label's case and edges": (raised("wrong", "Low."), raised("wrong", "low")),
    "prose that a message quotes": (
        raised(f"assert 'sorry' in {PROSE!r}", PROSE),
        raised(f"assert 'sorry' in {OTHER!r}", OTHER),
    ),
    "prose that a message holds": (raised(f"got {PROSE}", PROSE), raised(f"got {OTHER}", OTHER)),
    "lengths": (
        raised(f"assert 72 < 20\n +  where 72 = len({PROSE!r})", PROSE),
        raised(f"assert 75 < 20\n +  where 75 = len({OTHER!r})", OTHER),
    ),
    "addresses": (raised("<A at 0x7f12ab34cd>"), raised("<A at 0x7f99ab34ff>")),
    "the same line": (
        raised("", trace=TRACE.format(line=12)),
        raised("", trace="tests/b.py:3: in helper\n" + TRACE.format(line=12)),
    ),
    "the same wrong label": (compared("high", "low"), compared("high", "low.")),
    "the same guard": (
        compared("The refund is approved within 14 days.", "The refund is approved within 20 days."),
        compared("The refund is approved within 14 days.", "The refund is approved within 40 days."),
    ),
    "the same path": (compared({"p": "high"}, {"p": "low"}), compared({"p": "high"}, {"p": "low"})),
    "the same path among others": (
        compared({"p": "high", "q": 1}, {"p": "low", "q": 1}),
        compared({"p": "high", "q": 1}, {"p": "low", "q": 2}),
    ),
    "the same reason": (
        reason("semantic", explanation="they mean different things (0.31)"),
        reason("semantic", OTHER, explanation="they mean different things (0.42)"),
    ),
}
OTHERS = {
    "another message": (raised("assert 1 == 2"), raised("assert 1 == 3")),
    "another type": (raised("x", kind="KeyError"), raised("x", kind="ValueError")),
    "another line": (raised("", trace=TRACE.format(line=12)), raised("", trace=TRACE.format(line=13))),
    "another line of a native traceback": (
        raised("", trace='  File "/a/test_a.py", line 3, in test\n    assert x\nAssertionError'),
        raised("", trace='  File "/a/test_a.py", line 4, in test\n    assert y\nAssertionError'),
    ),
    "another label, the same message": (raised("wrong", "low"), raised("wrong", "medium")),
    "a label and prose": (raised("wrong", "low"), raised("wrong", PROSE)),
    "another label in the message": (raised("assert 'low' == 'high'"), raised("assert 'mid' == 'high'")),
    "another number that is no length": (raised("assert 3 == 2", PROSE), raised("assert 4 == 2", OTHER)),
    "another wrong label": (compared("high", "low"), compared("high", "medium")),
    "a label of another kind": (compared("1", "2"), compared("1", "3")),
    "another path": (
        compared({"p": 1, "q": 1}, {"p": 2, "q": 1}),
        compared({"p": 1, "q": 1}, {"p": 1, "q": 2}),
    ),
    "another value at the path": (compared({"p": 1}, {"p": 2}), compared({"p": 1}, {"p": 3})),
    "another guard": (
        compared("The refund is approved within 14 days.", "The refund is approved within 20 days."),
        compared("The refund is approved within 14 days.", "The refund is not approved within 14 days."),
    ),
    "another reason": (reason("guard:refusal"), reason("semantic")),
    "an exception and a comparison": (raised("differs", PROSE), reason("semantic")),
    "a deviation and a minor variation": (reason("semantic"), reason("semantic", outcome="minor")),
    "another number": (Trial(mutated(), "deviation", value=1), Trial(mutated(), "deviation", value=2)),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_failure(name: str) -> None:
    one, other = SAME[name]
    assert kind_of(one) == kind_of(other)
    assert same_failure(one, other)
    assert same_failure(other, one)


@pytest.mark.parametrize("name", OTHERS)
def test_another_failure(name: str) -> None:
    one, other = OTHERS[name]
    assert not same_failure(one, other)
    assert not same_failure(other, one)
    assert same_failure(one, one)


@pytest.mark.parametrize("outcome", ["equivalent", "undecided", "not-needed"])
def test_what_does_not_fail_is_no_failure(outcome: Any) -> None:
    passes = Trial(mutated(), outcome)
    assert kind_of(passes) is None
    assert not same_failure(passes, passes)


def test_an_error_is_no_failure() -> None:
    error = Trial(mutated(), "error", error=TrialError("timeout", "x"))
    assert not same_failure(error, error)


def test_groups_are_by_size_and_in_them_by_severity() -> None:
    def one(severity: float, label: str) -> Trial:
        return Trial(
            mutated(severity, f"{severity}"), "deviation", value=label, comparison=compare("high", label)
        )

    trials = [one(0.1, "low"), one(0.5, "medium"), one(0.3, "medium"), Trial(mutated(), "equivalent")]
    groups = by_kind(trials)
    assert [[(each.value, each.mutation.severity) for each in group] for group in groups] == [
        [("medium", 0.3), ("medium", 0.5)],
        [("low", 0.1)],
    ]


def test_how_it_fails_is_one_line() -> None:
    assert (
        in_one_line(raised("assert 'low' == 'high'\n  - high\n  + low"))
        == "AssertionError: assert 'low' == 'high'"
    )
    assert in_one_line(raised("AssertionError: x")) == "AssertionError: x"
    assert in_one_line(raised("", kind="KeyError")) == "KeyError"
    assert in_one_line(reason("semantic", explanation="they\n differ")) == "they differ"
    assert in_one_line(Trial(mutated(), "deviation")) == ""
