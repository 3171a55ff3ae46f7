"""History in sentences: what changed since an earlier run, which run that is, and files that cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import unstopped

if TYPE_CHECKING:
    from collections.abc import Sequence


# A test in two runs.


def not_in_base() -> str:
    """The base does not have the test."""
    return "not in the base"


def gone() -> str:
    """Only the base has the test."""
    return "in the base, and no longer there"


def former_name(test: str) -> str:
    """The base has the test under another name."""
    return f"its former name is {test}"


def search_as_before() -> str:
    """The test is a search in both runs."""
    return "a search, whose verdict is as before"


def pairs_differ(pairs: int, worse: int, better: int) -> str:
    """Trials came out otherwise."""
    return f"of {pairs} trials in both runs {worse} came out worse and {better} better"


def pairs_alike(pairs: int) -> str:
    """All trials came out as before."""
    return f"{pairs} trials in both runs came out alike"


def scores_compared() -> str:
    """The runs have no trial in common."""
    return "no trial is in both runs, so their scores were compared"


def asked_again(flips: int, answers: int, failed: int) -> str:
    """Trials that held in the base and failed now were asked again."""
    trials, were = ("trial", "was") if flips == 1 else ("trials", "were")
    return f"the {trials} that failed anew {were} asked {answers} times more, and {failed} of these answers failed"


def more_than_noise() -> str:
    """The difference is significant."""
    return "more than noise"


def within_noise() -> str:
    """The difference is not significant."""
    return "within noise"


def within_noise_of_two() -> str:
    """The difference is not significant, and the verdicts differ: each has a test of its own."""
    return "between the two runs alone this is within noise"


def verdict_turned(before: str, now: str) -> str:
    """The trials came out alike, and the verdicts differ."""
    return f"the verdict was {before} and is {now}"


def inputs_left_out(amount: int) -> str:
    """Trials of some inputs were not compared."""
    inputs, answers = ("input", "answer") if amount == 1 else ("inputs", "answers")
    return f"{amount} {inputs} left out: the baseline {answers} changed, or cannot be compared"


def odd_answers(amount: int) -> str:
    """Today's first answer to the unmutated prompt is seldom given."""
    if amount == 1:
        return "the first answer to the unmutated prompt is a rare one, so trials are compared with the base's answer"
    return (
        f"the first answers to {amount} unmutated prompts are rare ones, so their trials are compared with the base's "
        "answers"
    )


def no_control() -> str:
    """The test passes now, without the control of the run before."""
    return "no control was asked this time, so nothing shows that the test can fail"


def prompt_changed() -> str:
    """The prompt is another one."""
    return "the prompt was changed"


def model_changed(before: str, now: str) -> str:
    """Another model answered."""
    return f"answered by {now} instead of {before}"


def target_changed(before: str, now: str) -> str:
    """Another target was asked."""
    return f"asked of {now} instead of {before}"


# Answers to unmutated prompts beside those of the base.


def answers_untold() -> str:
    """The comparison leaves it undecided."""
    return "no installed comparison can tell whether the two answers mean the same"


def answers_vary(before: int, now: int) -> str:
    """The answers vary among repeats, so that a difference may be noise."""
    return (
        f"the answer varies from run to run, and so few answers ({before} in the base, {now} now) do not tell a change "
        "from noise"
    )


def answers_not_repeatable() -> str:
    """The test is not repeatable, in one of the runs."""
    return "the test does not repeat its own result with the same prompt, so a difference may be noise"


def answers_digest() -> str:
    """Long answers are kept as a digest."""
    return "the answer is so long that only a digest of it is kept: the texts differ somewhere"


def answers_own_comparison(names: list[str]) -> str:
    """What compares the answers is not there outside of a run."""
    return (
        f"the test sets its own comparison ({', '.join(names)}), which only a run can apply: run the test with "
        "--promptfuzz-compare"
    )


def answers_other_embedder(model: str) -> str:
    """The base's answers were compared by an embedding model that is not used here."""
    return f"the base compares answers by the embedding model {model}, which this run does not use"


def answers_new_test() -> str:
    """The base does not have the test."""
    return "the test is not in the base"


def answers_new_input() -> str:
    """The base does not have the input, or no answer to it."""
    return "the base has no answer to this input"


def answers_none_today() -> str:
    """Nothing was answered in this run."""
    return "this run has no answer to compare"


def answers_own_checks() -> str:
    """The test returns nothing that is compared."""
    return "the test's own assertions decide, and no answer is compared"


def answers_not_stored() -> str:
    """The base has the test without answers."""
    return "the base has no answer of this test stored"


# What is missing to prove that a test is worse.


def other_trials() -> str:
    """The runs have no trial in common."""
    return "the base has none of these trials, so asking again proves nothing: more mutations can prove a smaller drop"


def too_few_flips(flips: int, trials: int, needed: int | None) -> str:
    """So few trials flipped that asking them again proves nothing."""
    failing = f"{flips} of {trials} trials failed anew"
    if needed is None:
        return f"{failing}, and so few trials prove no drop: give the test more mutations or inputs"
    return (
        f"{failing}, and {needed} are needed for a proof: more mutations or inputs can prove a smaller drop"
    )


def flips_not_asked(flips: int) -> str:
    """The run was not compared with a base while it ran."""
    return f"{_anew(flips)} not asked again: --promptfuzz-compare=BASE lets the run ask"


def flips_of_new_name(flips: int) -> str:
    """The test's former name was found only when all tests had run."""
    return (
        f"{_anew(flips)} not asked again, since its former name was not known before all tests had run: save a run "
        "with the names of today, and compare with that"
    )


def asking_off(flips: int) -> str:
    """The user switched it off."""
    return f"{_anew(flips)} not asked again: --promptfuzz-compare-calls is off"


def flips_unanswered(flips: int) -> str:
    """Calls failed."""
    return f"{_anew(flips)} asked again, and not all calls were answered: run the test again"


def flips_unrecorded(flips: int) -> str:
    """A replay cannot ask."""
    return (
        f"{_anew(flips)} not asked again often enough when the test was recorded: record it with "
        "--promptfuzz-compare=BASE"
    )


def calls_used_up(flips: int) -> str:
    """The test's bound is reached."""
    return (
        f"{_anew(flips)} not asked again often enough, since the test's calls were used up: a higher "
        "--promptfuzz-compare-calls lets it ask more"
    )


def session_calls_used_up(flips: int) -> str:
    """The session's bound is reached."""
    return (
        f"{_anew(flips)} not asked again often enough, since the run's calls were used up: run fewer tests, or raise "
        "--promptfuzz-compare-calls"
    )


def flips_held(flips: int) -> str:
    """They were asked, and that proves nothing."""
    again = f"{_anew(flips)} asked again and did not fail often enough"
    return f"{again}: more mutations or inputs can prove a smaller drop"


def _anew(flips: int) -> str:
    """The beginning of a sentence about trials that held in the base and failed now."""
    return "the trial that failed anew was" if flips == 1 else f"the {flips} trials that failed anew were"


# Why no trials were compared.


def another_target(before: str, now: str) -> str:
    """Nobody asked for a comparison of two targets."""
    return f"this run asks {now}, the last one asked {before}: name a base to compare them"


def baseline_changed() -> str:
    """The trials of the two runs were compared with different answers."""
    return "the baseline answer changed, so trials cannot be compared one by one"


def baseline_odd() -> str:
    """The first answer of one run is a rare one, with which its trials were compared."""
    return (
        "the first baseline answer of one of the runs was a rare one, so trials cannot be compared one by one"
    )


def no_trials() -> str:
    """One of the runs has none."""
    return "one of the runs has no trials"


def nothing_decided() -> str:
    """One of the runs has no outcome."""
    return "one of the runs decided none of its trials"


def other_inputs() -> str:
    """The runs have no input in common."""
    return "the two runs have different inputs"


def baseline_missing() -> str:
    """The base lacks what trials were compared with."""
    return "the base does not hold the baseline answer"


def baseline_unknown() -> str:
    """Nothing tells whether trials were compared with the same answer."""
    return "no installed comparison can tell whether the baseline answer changed"


# Which run is the base.


def saved_run_taken(name: str, others: Sequence[str]) -> str:
    """A name means more than a saved run."""
    return f"{name!r} is a saved run and a {' and a '.join(others)}; the saved run was taken"


def run_incomplete(run: str) -> str:
    """The base ended early."""
    return f"run {run} ended before its last test; what it has is compared"


def run_set_aside(run: str, why: str) -> str:
    """The base is compared with only since it was named."""
    return f"run {run} is compared since it was named: {why}"


def snapshots_taken(commit: str, *, other: bool) -> str:
    """No run of a commit is kept, and its snapshots are."""
    return (
        f"no {'other ' if other else ''}run of commit {commit[:12]} is kept here, so its snapshots were taken"
    )


def nothing_at_commit(commit: str, *, other: bool) -> str:
    """Neither runs nor snapshots of a commit are kept."""
    return (
        f"no {'other ' if other else ''}run of commit {commit[:12]} is kept here, and it has no snapshots: nothing was "
        "compared"
    )


def snapshot_unreadable(commit: str, problem: str) -> str:
    """A snapshot of a commit cannot be read."""
    return f"of commit {commit[:12]}: {unstopped(problem)}"


# Files.


def files_without_runs(folder: object, names: Sequence[str]) -> str:
    """Files of the history are none."""
    those = ", ".join(names)
    return f"{len(names)} files in {folder} hold no run. They stay as they are and are not used: {those}"


def put_aside(problem: str, name: str) -> str:
    """A file that cannot be read has another name now."""
    return f"{problem} It was put aside as {name}."


def snapshot_claimed(test: str, paths: Sequence[str], name: str) -> str:
    """Several files claim to be a test's snapshot.

    Args:
        test: The test.
        paths: The files, two or more.
        name: The one that is read.
    """
    both, other = ("both", "other") if len(paths) == 2 else ("all", "others")
    return (
        f"{', '.join(paths[:-1])} and {paths[-1]} {both} claim to be the snapshot of {test}; it is read from {name}: "
        f"delete the {other}"
    )
