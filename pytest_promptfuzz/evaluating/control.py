"""The control trial: the unmutated body once more, given the same answers. What differs is not the prompt's doing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.evaluating.instability import not_repeatable
from pytest_promptfuzz.evaluating.judge import shown, subject_of
from pytest_promptfuzz.running.arrival import asks_less, asks_more
from pytest_promptfuzz.wire.paths import json_diff, without

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.evaluating.judge import Baseline, Judge
    from pytest_promptfuzz.evaluating.on_wire import OnWire
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.scoring.verdict import Judgement


def _sorted(value: Any) -> Any:
    """Plain data with all its lists sorted."""
    if isinstance(value, dict):
        return {name: _sorted(each) for name, each in value.items()}
    if isinstance(value, list):
        return sorted(map(_sorted, value), key=lambda each: json.dumps(each, sort_keys=True))
    return value


@dataclass(frozen=True, slots=True)
class Control:
    """What a control trial showed.

    Attributes:
        overruled: Why trials would be in vain; ``None`` where they would not.
        note: What the person must know; empty where there is nothing.
        repeatable: Whether the models were asked nothing that they were not asked before.
        answers: Whether the run is one more answer: a function's own calls are not seen, and so not served.
    """

    overruled: Judgement | None = None
    note: str = ""
    repeatable: bool = True
    answers: bool = False


def controlled(
    control: Run,
    baseline: Baseline,
    judge: Judge,
    planned: Sequence[Mutation],
    on_wire: OnWire | None,
) -> Control:
    """Compare a control trial with the baseline.

    Args:
        control: Its run.
        baseline: What it repeats.
        judge: Compares.
        planned: The mutations to come.
        on_wire: How requests are mutated in flight, if they are.
    """
    own = judge.counts_runs and not control.watch.calls
    overruled = None if on_wire is None else on_wire.unrepeated(planned, baseline.run, control)
    if asks_more(control, baseline.run):
        where = "; ".join(fault.message.removesuffix(".") for fault in control.watch.faults) or "more calls"
        note = (
            f"the unmutated test asks the model something else each time ({where}): answers will not be found in "
            "the store. Leave such parts out with ignore=['$.path'], or fix them in the test."
        )
        return Control(overruled, note, repeatable=False)
    note = ""
    kept = asks_less(control, baseline.run)
    if kept:
        made, before = len(control.watch.calls), len(baseline.run.watch.calls)
        note = (
            f"run again on the same prompt, the test made {made} model calls instead of {before}: the application "
            "keeps answers itself. A mutation that its cache answers is not exercised."
        )
    raised = control.exception
    if raised is not None:
        overruled = not_repeatable(f"it raised {type(raised).__name__}: {raised}")
    elif not judge.oracle_only and (control.returned is not None or not kept):
        # Without a return value the last answer is compared, and an application that keeps it asks for none.
        subject = subject_of(control, judge.where, baseline.run)
        if judge.compare(baseline.subject, subject).outcome != "equivalent":
            ignore = judge.contract.ignore
            before, after = without(baseline.value, ignore), without(shown(subject), ignore)
            paths = json_diff(before, after)
            what = f"its result differs at {', '.join(paths[:5]) or '$'}"
            if not own and _sorted(before) == _sorted(after):
                what = (
                    "its result holds the same items in another order: calls made at once finish in any order"
                )
                overruled = not_repeatable(what, mend="sort what the test returns")
            elif not own:
                overruled = not_repeatable(what, paths[:5])
            elif paths not in ([], ["$"]):
                note = (
                    f"run again on the same prompt, {what}. Where that is a clock, or a random or unique part, "
                    f"leave it out: ignore={paths[:5]!r}"
                )
    return Control(overruled, note, answers=own)
