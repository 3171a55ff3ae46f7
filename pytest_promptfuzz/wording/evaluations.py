"""An evaluation in sentences: why there is no verdict, and what a person must know of one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import quoted
from pytest_promptfuzz.wording.sentences import as_expected, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.stats.agreement import Gold
    from pytest_promptfuzz.stats.stopping import EarlyStop


def _of_input(name: str) -> str:
    return f" of input {name}" if name else ""


# The prompt and its plan.


def slots_unfilled(names: Sequence[str]) -> str:
    """The prompt's slots had no values."""
    return (
        f"the prompt was sent with its slots unfilled: {', '.join(names)}; fill them with inputs= or format()"
    )


def plan_of_another_prompt() -> str:
    """The recording holds no plan of this prompt."""
    return "was recorded for another prompt"


def plan_of_other_settings(name: str, value: object, recorded: object) -> str:
    """A setting that the plan follows from is another one."""
    return f"asks for {name}={value!r:.80} and was recorded with {recorded!r:.80}"


def plan_edited(problem: str) -> str:
    """The recorded plan was changed by hand."""
    return f"has a plan that cannot be used: {problem}"


def plan_unreadable(problem: str) -> str:
    """The recorded plan cannot be read."""
    return f"has a recorded plan that cannot be used ({problem})"


def recording_unused(difference: str) -> str:
    """The recording answers nothing of the test."""
    return (
        f"its recording was not used: {difference}. Record what is missing: --promptfuzz-mode=record-missing"
    )


def planned_anew(why: str) -> str:
    """The recorded plan was not taken."""
    return f"this test {why}, so its mutations were made anew: record it again"


# The unmutated prompt.


def no_baseline(name: str, message: str, kind: str = "") -> str:  # noqa: ARG001 - for reports in JSON
    """The unmutated prompt has no answer."""
    return f"We could not get the baseline{_of_input(name)}: {message}"


def baseline_mixed(failure: str) -> str:
    """The test's own check failed on the unmutated prompt, and passed when it was asked again."""
    return (
        "The test's own check failed 1 of 2 times on the unmutated prompt, so a failure under mutation would prove "
        f"nothing. It failed with {failure}"
    )


def in_sequence() -> str:
    """Concurrent runs could not be told apart."""
    return "model calls came from threads that do not carry the test's context, so the trials ran in sequence"


def snapshot_renamed(test: str) -> str:
    """The snapshot of the test's former name is used."""
    return f"it uses the snapshot of {test}, which asked the same"


# The same prompt once more: what differs is not the mutations' doing.


def asks_otherwise(messages: Sequence[str]) -> str:
    """The unmutated body asks something else when it runs again."""
    paths = [_body_path(path) for each in messages for path in each.removesuffix(".").split(", ")]
    if not all(path.startswith("$") for path in paths) or not paths:
        return (
            f"each run sends another request ({'; '.join(paths) or 'more calls'}), so stored answers cannot be used. "
            "Let the test send the same requests each time."
        )
    paths = list(dict.fromkeys(paths))
    return (
        f"each run sends another request ({', '.join(paths)}), so stored answers cannot be used. Make that part "
        f"constant, or write ignore={paths!r}."
    )


def _body_path(path: str) -> str:
    """The path within a request's body, as ``ignore=`` takes it."""
    return f"${path.removeprefix('$.body')}" if path.startswith("$.body") else path


def asks_less(made: int, before: int) -> str:
    """The unmutated body makes fewer calls when it runs again."""
    return (
        f"with the same prompt, the test made {counted(made, 'model call')} in its second run and {before} in its "
        "first: the application keeps answers itself. A mutation that its cache answers does not reach the model."
    )


def body_raised(raised: str) -> str:
    """The unmutated body raises when it runs again."""
    return f": it raised {raised}"


def result_differs(paths: Sequence[str]) -> str:
    """The unmutated body returns something else when it runs again."""
    return f" at {', '.join(paths[:5]) or '$'}: it gave another result"


def result_in_another_order() -> str:
    """The unmutated body returns the same in another order when it runs again."""
    return ": it gave the same items in another order (calls made at once finish in any order)"


def not_repeatable(what: str, paths: Sequence[str] = (), *, reordered: bool = False) -> str:
    """The repeat run differs from the baseline."""
    named = [*paths[:5]]
    mend = "Take the clock, random or unique part out" if named in ([], ["$"]) else f"Write ignore={named!r}"
    if reordered:
        mend = "Sort what the test returns"
    return (
        f"The test is not repeatable{what} when it ran again with the same prompt and the same answers. "
        f"A difference under mutation would prove nothing. {mend}."
    )


def result_varies(what: str, paths: Sequence[str]) -> str:
    """The repeat run differs from the baseline in a way that the model may have caused."""
    return (
        f"the test is not repeatable{what} when it ran again with the same prompt. If that is a clock, or a random "
        f"or unique part, write ignore={[*paths[:5]]!r}"
    )


def asked_no_model(paths: Sequence[str]) -> str:
    """The unmutated body asks no model when it runs again, and its requests were to be mutated."""
    return (
        "The test called no model when it ran again with the same prompt: the application keeps answers itself, so a "
        f"mutation of the text at {', '.join(paths)} would not reach a model."
    )


def asked_with_another_text(paths: Sequence[str]) -> str:
    """The unmutated body asks with another text when it runs again, and this text was to be mutated."""
    return (
        f"The test sent another text at {', '.join(paths)} when it ran again with the same prompt: the text holds a "
        "date, a random or a unique part, and a mutation cannot take its place. Make that part constant."
    )


# Models that change, or refuse.


def two_models(asked: str, answered: Sequence[str]) -> str:
    """One model answered as several."""
    return f"{asked or 'the model'} answered as {' and as '.join(answered)}"


def asked_anew(models: str) -> str:
    """Two models had answered."""
    return f"{models}, so every answer of this test was asked for again"


def mixed_models(models: str) -> str:
    """Two models answered, and asking anew did not help."""
    return f"{models}: they cannot be compared."


def refused_anyway(refusal: str) -> str:
    """The model refuses mutations, and the unmutated prompt as well."""
    return (
        "Mutations were refused, but the unmutated prompt was refused as well when it was asked again "
        f"({refusal.rstrip('.')})."
    )


def nothing_reached(message: str) -> str:
    """No mutation arrived at a model."""
    return f"No mutation reached a model. {message}"


# Answers that vary, and runs that tell noise from change.


def first_answer_odd(name: str, answers: int, alike: int) -> str:
    """The answer that trials are compared with is not the usual one."""
    return (
        f"{alike} of {answers} answers to the unmutated prompt{_of_input(name)} agree with each other; the first "
        "differs, and trials are compared with it"
    )


def check_noisy(name: str, answers: int, failed: int) -> str:
    """The test's own check fails on the unmutated prompt now and then."""
    return (
        f"the test's own check failed on {failed} of {answers} answers to the unmutated prompt{_of_input(name)}: the "
        "model is noisy"
    )


def not_recorded() -> str:
    """A run is not in the recording."""
    return "not recorded"


def body_skipped(reason: object) -> str:
    """A run skipped."""
    return f"the body skipped: {reason}"


def runs_lost(amount: int, why: str) -> str:
    """Runs that measure noise have no answer."""
    if why == not_recorded():
        return (
            f"the recording has {counted(amount, 'answer')} too few to measure noise; "
            "--promptfuzz-mode=record-missing asks for them"
        )
    have = "has" if amount == 1 else "have"
    return f"{counted(amount, 'run')} to measure noise {have} no answer ({why.rstrip('.')})"


def stopped(found: EarlyStop) -> str:
    """A plan was ended on evidence short of certainty, and how often that errs."""
    text = "the probability ratio suffices"
    if found.interval is not None:
        low, high = found.interval
        text = f"the score's interval that holds at every look is [{low:.2f}, {high:.2f}]"
    text = f"stopped on the evidence after {found.asked} of {found.planned} trials: {text}"
    if found.errors is None:
        return text
    allowed, broken = found.errors
    return (
        f"{text}. Of prompts that lose {allowed.share:.2f}, {allowed.stopped:.0%} are so called brittle "
        f"({allowed.whole:.0%} with every trial), of those that lose {broken.share:.2f}, {broken.stopped:.0%} pass "
        f"({broken.whole:.0%})"
    )


# The score and its gate.

_KEPT = {
    "deviation": "broken",
    "equivalent": "kept",
    "minor": "kept but for minor differences",
    "error": "in error",
}
_CHANGED = {"equivalent": "changed as it must", "deviation": "unchanged", "error": "in error"}


def only_one_trial(trial: str) -> str:
    """One trial alone was wanted."""
    return f"only trial {trial} was run: the verdict covers it alone"


def keep_a_result() -> str:
    """How to have a run to compare with."""
    return "Give one: before=, or --against FILE on the command line (a file that --json wrote)."


def no_run_before(store: str) -> str:
    """There is nothing that the gate could compare with."""
    return f"there is no earlier run to compare with, so gate='no-worse' acts as 'point'. {store}"


def no_trial_before(store: str) -> str:
    """The run that the gate compares with made other trials."""
    return (
        "the earlier run has none of these trials (another prompt, plan or seed), so gate='no-worse' acts as 'point'. "
        f"{store}"
    )


def too_few_pairs(pairs: int) -> str:
    """So few trials cannot be significantly worse."""
    are = "is" if pairs == 1 else "are"
    return f"{counted(pairs, 'trial')} {are} too few for gate='no-worse', so it acts as 'point'. Raise mutations."


def not_in_the_score(relation: str, outcomes: Mapping[str, int]) -> str:
    """What trials under another relation came to."""
    words = _CHANGED if relation == "must-change" else _KEPT
    counts = ", ".join(f"{amount} {words.get(name, name)}" for name, amount in outcomes.items() if amount)
    return f"not in the score: {counts} under the relation {relation!r}"


def ignored_nothing(paths: Iterable[str]) -> str:
    """Paths of ``ignore=`` lead nowhere."""
    lost = ", ".join(map(repr, paths))
    return f"ignore= left nothing out at {lost}: no request, answer or returned value has such a place"


def calls_not_matched(lost: int, known: int, *, checked: bool) -> str:
    """Answers of calls made at once could not be compared."""
    judged = "only the test's own checks judged them" if checked else "nothing judged them"
    return (
        f"on {lost} of {known} mutations the test made other calls at once than for the unmutated prompt: "
        f"their answers were not compared, and {judged}. Return what is to be compared"
    )


# Controls that the test does not name.


def controls_unnoticed(operators: Sequence[str], amount: int) -> str:
    """Controls changed the answer, and the test's assertions passed."""
    return _controls(operators, amount, "changed the answer, and no assertion of this test noticed")


def controls_passed(operators: Sequence[str], amount: int) -> str:
    """The test's assertions passed under controls; whether the answer changed is not known."""
    what = "should have changed the answer, and the assertions of this test passed all the same: they may be "
    return _controls(operators, amount, f"{what}unable to fail")


def controls_unchanged(operators: Sequence[str], amount: int) -> str:
    """Controls did not change the answer."""
    told = f"{'they tell' if amount > 1 else 'it tells'} the model to answer with another word"
    return _controls(operators, amount, f"should have changed the answer and did not: {told}")


def _controls(operators: Sequence[str], amount: int, what: str) -> str:
    return f"{counted(amount, 'control')} ({', '.join(operators)}) {what}; controls=0 asks for no control"


def control_unanswered(operator: str, message: str) -> str:
    """A control has no answer."""
    return f"1 control ({operator}) has no answer: {message}"


# Gold answers.


def gold_of_several_calls() -> str:
    """There is one gold answer, and the test has several."""
    return (
        "expected= is one answer, and the test returns nothing and makes several calls at once, so nothing was "
        "compared with it. Return the answer that is expected"
    )


def gold_unknown() -> str:
    """Nothing tells whether answers are right."""
    return "expected= is given, and no installed comparison can tell whether the answers are as expected"


def gold_shares(gold: Gold) -> str:
    """How often answers are right."""
    return as_expected(gold.accuracy or 0.0, gold.mutated)


ROBUST_BUT_WRONG = "robust but wrong"


def robust_but_wrong(gold: Gold, names: Sequence[str]) -> str:
    """A test passes with answers that are not as expected: how often, and the first wrong one."""
    text = f"{ROBUST_BUT_WRONG}: {gold_shares(gold)}"
    if not gold.wrong:
        return text
    first, more = gold.wrong[0], len(gold.wrong) - 1
    name = f"input {names[first.case]}: " if names and names[first.case] else ""
    rest = f" and {more} more" if more else ""
    return f"{text} ({name}{_answer(first.answered)}, expected {_answer(first.expected)}{rest})"


def _answer(value: Any) -> str:
    return quoted(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


# Known counterexamples, and those that are made smaller.

_REPLAYED: dict[str, tuple[str, str]] = {
    "breaks": ("still breaks the test", "still break the test"),
    "varies": ("sometimes breaks the test", "sometimes break the test"),
    "passes": ("no longer fails and was removed", "no longer fail and were removed"),
    "gone": ("no longer fits the prompt and was removed", "no longer fit the prompt and were removed"),
    "elsewhere": ("of another target does not fail here", "of another target do not fail here"),
    "unanswered": ("could not be asked", "could not be asked"),
}


def replayed(found: Mapping[str, tuple[int, str]]) -> str:
    """What became of known counterexamples: of each status how many have it, and why the first one has."""
    parts: list[str] = []
    for status, words in _REPLAYED.items():
        amount, why = found.get(status, (0, ""))
        if amount:
            parts.append(f"{amount} {words[amount != 1]}" + (f" ({why.rstrip('.')})" if why else ""))
    number = counted(sum(amount for amount, _ in found.values()), "known counterexample")
    return f"{number} {parts[0].partition(' ')[2]}" if len(parts) == 1 else f"{number}: {', '.join(parts)}"


def broke_of(broke: int, asked: int) -> str:
    """How often a known counterexample broke the test."""
    return f"{broke} of {asked} times"


def found_elsewhere(target: str) -> str:
    """A known counterexample is of another target."""
    return f"it was found on {target or 'another target'}"


def replay_unrecorded() -> str:
    """The recording lacks a known counterexample."""
    return "the recording has no answer for it; record the test again"


def replay_undecided() -> str:
    """Nothing tells whether a known counterexample breaks the test."""
    return "nothing installed can tell whether its answer differs"


def pinned(name: str, failure: str, more: int) -> str:
    """A known counterexample decides the verdict."""
    named = f"{name}: {failure}".rstrip(".")
    others = f", and {more} more" if more else ""
    return f"A known counterexample still breaks it ({named}{others}), and pinned='fail'."


def not_shrunk(error: str) -> str:
    """Shrinking failed."""
    return f"what breaks the test was not made smaller: {error}"


def shrinking_unrecorded() -> str:
    """Shrinking asks what the recording lacks."""
    return "not shrunk: the recording has no answers for it; record the test again"


def shrinking_spent(queries: int) -> str:
    """Shrinking used up its queries."""
    return f"shrinking ended early: the {queries} queries of shrink={queries} are spent"


def shrinking_ended(why: str) -> str:
    """Shrinking ended before its time."""
    return f"shrinking ended early: {why}"
