"""A run beside its base, test by test: what is worse, what is better, and what is within noise.

A drop is proven by the first answers of all trials (``stats.regressions``) or by what the trials that flipped were
answered when they were asked again (``stats.flips``); both share the error, and so do all tests.

Trials are paired by input, ID and sample, and only where the two runs compared them with the same answer to the
unmutated prompt: where that answer changed, every trial of its input is compared with something else, which tells
nothing of robustness. Where it changed a little (``minor``), what is equivalent to one answer may be a minor variation
of the other, so that only deviations are told from the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.history.answer_changes import answer_changes, answers_of, commonest, is_equal
from pytest_promptfuzz.history.changes import ChangeReport, ChangesReport, finding_of
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.stats.flips import FIRST_SHARE, FLIP_SHARE, FlipShape, least_p, needed, p_of
from pytest_promptfuzz.stats.regressions import ALPHA, CreditDifference, adjusted, paired, unpaired
from pytest_promptfuzz.stats.scores import CREDITS, EQUIVALENT_CREDIT, MINOR_CREDIT
from pytest_promptfuzz.text.safe_text import is_digest
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.history.changes import AnswerFinding, BaseReport, Status
    from pytest_promptfuzz.history.entries import HistoryEntry

    Semantic = Callable[[], Embedder | None]


_CREDITS = {"E": EQUIVALENT_CREDIT, "M": MINOR_CREDIT, "D": 0}
_ORDER: tuple[Status, ...] = (
    "worse",
    "lower",
    "unpaired",
    "unjudged",
    "gone",
    "new",
    "better",
    "higher",
    "same",
)
_ANSWER_ORDER: tuple[AnswerFinding, ...] = ("changed", "cannot tell", "minor", "not compared")
SAME, CHANGED, UNKNOWN = "same", "changed", "unknown"
_ALIKE, _NEARLY = 2, 1  # how far two baseline answers agree
_NO_TRIALS = FlipShape(0)


@dataclass(slots=True)
class _Pairs:
    """The trials of a test beside those of its base.

    Attributes:
        worse: How many that both runs decided have less credit now.
        better: How many have more.
        count: How many both decided.
        difference: Of their credits; of all trials where none is in both runs; ``None`` where nothing can be told.
        new: IDs of trials that deviate now, and did not.
        mended: IDs of trials that do not, and did.
        baseline: Whether the answers to the unmutated prompt are the same.
        left_out: Inputs whose answer is another.
        nearly: Inputs whose answer is a minor variation of what it was.
        flips: Input and ID of each trial that held whenever the base asked it, and failed whenever this run did.
        shape: What their answers are judged by when they are asked again.
        later: What those answers say; ``None`` where no trial is in both runs.
    """

    worse: int = 0
    better: int = 0
    count: int = 0
    difference: CreditDifference | None = None
    new: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    baseline: str = UNKNOWN
    left_out: int = 0
    nearly: set[str] = field(default_factory=set)
    flips: list[tuple[str, str]] = field(default_factory=list)
    shape: FlipShape = _NO_TRIALS
    later: CreditDifference | None = None


class Flips(NamedTuple):
    """The trials of a test that may be asked again to prove that it is worse.

    Attributes:
        places: Input and ID of each.
        shape: What their answers are judged by.
        first: How often chance makes the first answers of all trials so bad.
        nearly: The inputs in which a minor variation holds as well.
    """

    places: Sequence[tuple[str, str]]
    shape: FlipShape
    first: float
    nearly: Collection[str]

    def failed(self, name: str, letter: str) -> bool:
        """Whether an answer to a trial of an input fails."""
        return letter == "D" or (letter == "M" and name not in self.nearly)


def changed_answers(
    before: HistoryEntry, now: HistoryEntry, semantic: Semantic | None = None
) -> frozenset[str]:
    """The inputs of both runs whose answer to the unmutated prompt is another one.

    Args:
        before: The test in the base.
        now: The same in this run.
        semantic: As for ``changes``.
    """
    if before["oracle_only"] and now["oracle_only"]:
        return frozenset()
    return frozenset(
        name
        for name in now["trials"]
        if name in before["trials"]
        and _agreement(before["baselines"], now["baselines"], name, now["task"], semantic) == 0
    )


def flips_of(before: HistoryEntry, now: HistoryEntry, semantic: Semantic | None = None) -> Flips | None:
    """The trials of a test that flipped; ``None`` where it is not lower than in its base, or cannot be compared.

    Args:
        before: The test in the base.
        now: The same in this run, as far as it is known.
        semantic: As for ``changes``.
    """
    found = _pairs(before, now, semantic)
    if found.difference is None or not found.count or found.difference.net >= 0:
        return None
    return Flips(found.flips, found.shape, found.difference.p_worse, found.nearly)


def changes(
    base: BaseReport,
    before: Mapping[str, HistoryEntry],
    now: Mapping[str, HistoryEntry],
    *,
    gone: Collection[str] = (),
    unjudged: Mapping[str, str] | None = None,
    former: Mapping[str, str] | None = None,
    semantic: Semantic | None = None,
    beside: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None,
) -> ChangesReport:
    """A run beside its base, the tests that changed most first.

    Args:
        base: What it is compared with.
        before: The base's tests, by name.
        now: The run's.
        gone: Tests of the base that are no longer there. Others that the run lacks were not asked for.
        unjudged: Tests that the run could not judge, each with the reason.
        former: The names that tests of the run had in the base.
        semantic: Gives what tells whether two answers in other words mean the same; called where nothing else does.
        beside: By test and input, what the run itself found of answers to unmutated prompts beside those of the base.
    """
    found = {
        test: _Pairs() if _apart(base, before[test], entry) else _pairs(before[test], entry, semantic)
        for test, entry in now.items()
        if test in before
    }
    p = _p_among_all(found)
    rows = [_row(before.get(test), entry, found.get(test), p) for test, entry in now.items()]
    for row in rows:
        row["finding"] = finding_of(row["status"], row["verdict_before"], row["verdict"])
        pairs = found.get(row["test"])
        if row["status"] == "lower" and pairs is not None and pairs.difference is not None:
            row["missing"] = _missing(pairs, now[row["test"]], ALPHA * FLIP_SHARE / len(found))
    answers = [
        one
        for test, entry in now.items()
        for one in answer_changes(
            base, before.get(test), entry, beside=(beside or {}).get(test, {}), semantic=semantic
        )
    ]
    answers.sort(key=lambda each: (_ANSWER_ORDER.index(each["finding"]), each["test"]))
    findings = {each["test"]: each["finding"] for each in reversed(answers)}
    for row in rows:
        row["answer"] = findings.get(row["test"], "the same")
        if former and row["test"] in former:
            said = sentence(Note.of("history:former-name", test=former[row["test"]]))
            row["explanation"] = "; ".join(filter(None, [row["explanation"], said]))
    missed: list[tuple[str, Status, str]] = [
        (test, "gone", sentence(Note.of("history:gone"))) for test in gone
    ]
    missed += [(test, "unjudged", why) for test, why in (unjudged or {}).items()]
    rows += [
        _missed(before[test], status, why)
        for test, status, why in missed
        if test in before and test not in now
    ]
    rows.sort(
        key=lambda each: (
            each["finding"] != "newly brittle",
            _ORDER.index(each["status"]),
            each["difference"] or 0.0,
            each["test"],
        )
    )
    return ChangesReport(base=base, tests=rows, conditions=[], answers=answers)


def _p_among_all(found: Mapping[str, _Pairs]) -> dict[bool, dict[str, float]]:
    """The p of each test among all of them, for worse (``True``) and for better.

    What became worse has two tests, each with its share of the error.
    """
    first = {test: each.difference for test, each in found.items() if each.difference is not None}
    later = {test: each.later for test, each in found.items() if each.later is not None}
    worse, better = (adjusted(first, worse=side) for side in (True, False))
    flipped = adjusted(later, worse=True)
    return {
        True: {
            test: min(1.0, worse[test] / FIRST_SHARE, flipped.get(test, 1.0) / FLIP_SHARE) for test in first
        },
        False: better,
    }


def _apart(base: BaseReport, before: HistoryEntry, now: HistoryEntry) -> bool:
    """Whether nobody asked for a comparison of two targets, and these are."""
    return base["kind"] == "last" and _is_other(before["target"], now["target"])


def _is_other(before: str, now: str) -> bool:
    return bool(before and now) and before != now


def _pairs(before: HistoryEntry, now: HistoryEntry, semantic: Semantic | None) -> _Pairs:
    found = _Pairs()
    agreement = {
        name: _ALIKE  # no trial was compared with an answer
        if before["oracle_only"] and now["oracle_only"]
        else _agreement(before["baselines"], now["baselines"], name, now["task"], semantic)
        for name in now["trials"]
        if name in before["trials"]
    }
    told = [each for each in agreement.values() if each is not None]
    found.left_out = sum(not each for each in agreement.values())
    changed = [name for name, each in agreement.items() if each == 0 and not _is_odd(before, now, name)]
    found.baseline = UNKNOWN if not told else CHANGED if changed else SAME
    clusters: dict[tuple[str, str], int] = {}
    every: tuple[list[int], list[int]] = ([], [])
    for name, agreed in agreement.items():
        if not agreed:
            continue
        one, other = before["trials"][name], now["trials"][name]
        if agreed == _NEARLY:
            found.nearly.add(name)
        for trial, letters in other.items():
            for was, is_now in zip(one.get(trial, ""), letters, strict=False):
                if was in _CREDITS and is_now in _CREDITS:
                    key = (name, trial)
                    clusters[key] = clusters.get(key, 0) + _tell(found, key, was, is_now, agreed, now)
        for trials, kept in ((one, every[0]), (other, every[1])):
            kept += [each for letters in trials.values() if (each := _mean(letters, agreed)) is not None]
    found.difference = paired(list(clusters.values())) if clusters else unpaired(*every)
    if clusters:
        _find_flips(found, before, now, [name for name, agreed in agreement.items() if agreed])
    found.new, found.mended = list(dict.fromkeys(found.new)), list(dict.fromkeys(found.mended))
    return found


def _is_odd(before: HistoryEntry, now: HistoryEntry, name: str) -> bool:
    """Whether the answer that came most often is the same in both runs, though their first ones differ."""
    given = [answers_of(each, name) for each in (before, now)]
    return all(given) and is_equal(*map(commonest, given))


def _find_flips(found: _Pairs, before: HistoryEntry, now: HistoryEntry, names: Collection[str]) -> None:
    """The trials that flipped, and what they were answered when they were asked again."""
    both = [
        (name, trial, before["trials"][name][trial], letters)
        for name in names
        for trial, letters in now["trials"][name].items()
        if trial in before["trials"][name]
    ]
    # Of the plan, not of what came out: trials that were not needed have a letter, too.
    found.shape = FlipShape(
        len(both), max(len(was) for *_, was, _ in both), max(len(letters) for *_, letters in both)
    )
    again: list[list[bool]] = []
    for name, trial, was, letters in both:
        fails = "D" if name in found.nearly else "MD"
        held = len(was) == found.shape.held and set(was) <= {*"EMD"} - {*fails}
        if held and len(letters) == found.shape.failed and set(letters) <= {*fails}:
            found.flips.append((name, trial))
            again.append([each in fails for each in now["again"].get(name, {}).get(trial, "")])
    lower = found.difference is not None and found.difference.net < 0
    p = p_of(again, found.shape) if lower and any(again) else 1.0
    found.later = CreditDifference(-1, p, 1.0, least=least_p(found.shape))


def _tell(
    found: _Pairs, place: tuple[str, str], was: str, is_now: str, agreed: int, now: HistoryEntry
) -> int:
    """Count a pair of an input and trial; how its credits differ."""
    name, trial = place
    difference = _credit(is_now, agreed) - _credit(was, agreed)
    found.count += 1
    found.worse += difference < 0
    found.better += difference > 0
    if is_now == "D" != was and trial not in now["unconfirmed"].get(name, ()):
        found.new.append(trial)
    if was == "D" != is_now:
        found.mended.append(trial)
    return difference


def _credit(letter: str, agreed: int) -> int:
    return EQUIVALENT_CREDIT if letter == "M" and agreed == _NEARLY else _CREDITS[letter]


def _mean(letters: str, agreed: int) -> int | None:
    """The credit of a mutation's answers, rounded to tenths; ``None`` where none was decided."""
    decided = [_credit(each, agreed) for each in letters if each in _CREDITS]
    return round(sum(decided) / len(decided)) if decided else None


def _agreement(
    before: Mapping[str, Any], now: Mapping[str, Any], name: str, task: str, semantic: Semantic | None
) -> int | None:
    """How far the answers to the unmutated prompt agree: 2, 1 (minor), 0; ``None`` where nothing can tell."""
    if name not in before or name not in now:
        return None
    one, other = before[name], now[name]
    if is_equal(one, other):
        return _ALIKE
    if is_digest(one) or is_digest(other):
        return None
    from pytest_promptfuzz.comparing.profiles import TASKS
    from pytest_promptfuzz.judging.compare import compare

    name = task.partition(" ")[0]
    named = name if name in TASKS else None
    try:
        outcome = compare(one, other, task=named, semantic=False, entailment=False).outcome
        if outcome == "undecided" and semantic is not None and (embedder := semantic()) is not None:
            outcome = compare(one, other, task=named, semantic=embedder, entailment=False).outcome
    except PromptfuzzError:
        return None
    return {"equivalent": _ALIKE, "minor": _NEARLY, "deviation": 0}.get(outcome)


def _row(
    before: HistoryEntry | None,
    now: HistoryEntry,
    found: _Pairs | None,
    p: Mapping[bool, Mapping[str, float]],
) -> ChangeReport:
    row = _plain(now["test"], before, now)
    if before is None or found is None:
        row["explanation"] = sentence(Note.of("history:not-in-base"))
        return row
    row["pairs"], row["worse"], row["better"] = found.count, found.worse, found.better
    row["new_deviations"], row["mended"] = found.new, found.mended
    row["prompt_changed"] = bool(before["prompt"]) and before["prompt"] != now["prompt"]
    row["baseline"] = found.baseline
    status: Status = "unpaired"
    difference = found.difference
    if difference is not None:
        down = difference.net < 0
        if difference.net:
            row["p"], row["adjusted_p"] = _p_alone(found, down=down), p[down][now["test"]]
            beyond = p[down][now["test"]] <= ALPHA
            status = ("worse" if beyond else "lower") if down else ("better" if beyond else "higher")
        else:
            row["p"] = row["adjusted_p"] = 1.0
            status = _alike(before["verdict"], now["verdict"])
    row["status"] = status
    notes = _notes(row, found, before, now)
    if not before["trials"] and not now["trials"] and before["verdict"] == now["verdict"]:
        row["status"], notes = "same", [Note.of("history:search-as-before")]
    row["explanation"] = "; ".join(map(sentence, notes))
    return row


def _p_alone(found: _Pairs, *, down: bool) -> float:
    """The p of one test, were it the only one."""
    assert found.difference is not None
    first, later = found.difference.p(worse=down), found.later
    if not down:
        return first
    return min(1.0, first / FIRST_SHARE, (1.0 if later is None else later.p_worse) / FLIP_SHARE)


def _alike(before: str, now: str) -> Status:
    """Of a test whose trials are as good as they were: another verdict is a change all the same."""
    return "same" if before == now else "higher" if now == "pass" else "lower"


def _missed(before: HistoryEntry, status: Status, why: str) -> ChangeReport:
    """A test of the base of which this run knows nothing."""
    row = _plain(before["test"], before, None)
    row["status"], row["explanation"] = status, why
    row["finding"] = finding_of(status, before["verdict"], "")
    return row


def _difference(before: HistoryEntry | None, now: HistoryEntry | None) -> float | None:
    """By how much the score changed at the least; ``None`` where open trials leave that unknown."""
    if before is None or now is None or before["score"] is None or now["score"] is None:
        return None
    then, today = _bounds(before), _bounds(now)
    rise, fall = today[0] - then[1], today[1] - then[0]
    if then[0] == then[1] and today[0] == today[1]:
        return round(rise, 4)
    return round(rise, 4) if rise > 0 else round(fall, 4) if fall < 0 else None


def _bounds(entry: HistoryEntry) -> tuple[float, float]:
    """The least and the highest that a score can be, if every trial that was not decided went so."""
    score, counts = entry["score"] or 0.0, entry["counts"]
    decided = sum(counts.get(each, 0) for each in CREDITS)
    unknown = sum(counts.get(each, 0) for each in ("undecided", "error"))
    if not unknown:
        return score, score
    whole = decided + unknown
    return score * decided / whole, (score * decided + unknown) / whole


def _plain(test: str, before: HistoryEntry | None, now: HistoryEntry | None) -> ChangeReport:
    score_before, score = before and before["score"], now and now["score"]
    return ChangeReport(
        test=test,
        target=(now or before or {"target": ""})["target"],
        status="new",
        verdict_before=before["verdict"] if before else "",
        verdict=now["verdict"] if now else "",
        score_before=score_before,
        score=score,
        difference=_difference(before, now),
        pairs=0,
        worse=0,
        better=0,
        p=None,
        adjusted_p=None,
        new_deviations=[],
        mended=[],
        prompt_changed=False,
        baseline=UNKNOWN,
        model_before=before["model"] if before else "",
        model=now["model"] if now else "",
        cost_before=before["cost"] if before else None,
        cost=now["cost"] if now else None,
        explanation="",
        finding="new" if before is None else "gone" if now is None else "cannot tell",
        missing="",
        answer="not compared",
        outcome_before=before["outcome"] if before else "",
        drift_before=[*before["drift"]] if before else [],
        prompt_diff=[],
    )


def _missing(found: _Pairs, now: HistoryEntry, alpha: float) -> str:
    """What is missing to prove that a test is worse."""
    flips, shape = len(found.flips), found.shape
    if not found.count:
        return sentence(Note.of("history:other-trials"))
    wanted = needed(shape, alpha)
    if wanted is None or flips < wanted:
        return sentence(Note.of("history:too-few-flips", flips=flips, trials=shape.trials, needed=wanted))
    codes = {
        "": "history:flips-not-asked",
        "off": "history:asking-off",
        "unanswered": "history:flips-unanswered",
        "unrecorded": "history:flips-unrecorded",
        "new": "history:flips-of-new-name",
        "calls": "history:calls-used-up",
        "session": "history:session-calls-used-up",
    }
    return sentence(Note.of(codes.get(now["reasked"], "history:flips-held"), flips=flips))


def _notes(row: ChangeReport, found: _Pairs, before: HistoryEntry, now: HistoryEntry) -> list[Note]:
    """Why a test has its status, and what else changed."""
    notes: list[Note] = []
    difference = found.difference
    turned = row["status"] in {"lower", "higher"}
    if found.count and found.worse + found.better:
        pairs = {"pairs": found.count, "worse": found.worse, "better": found.better}
        notes.append(Note.of("history:pairs-differ", **pairs))
    elif found.count:
        notes.append(Note.of("history:pairs-alike", pairs=found.count))
    elif difference is not None:
        notes.append(Note.of("history:scores-compared"))
    if row["adjusted_p"] is not None and difference is not None and difference.net:
        if (asked := _asked_again(found, now)) is not None and difference.net < 0:
            notes.append(asked)
        beyond = "history:more-than-noise" if row["adjusted_p"] <= ALPHA else "history:within-noise"
        if turned and before["verdict"] != now["verdict"]:
            beyond = "history:within-noise-of-two"  # the verdict of each has a test of its own
        notes.append(Note.of(beyond))
    if turned and difference is not None and not difference.net:
        notes.append(Note.of("history:verdict-turned", before=before["verdict"], now=now["verdict"]))
    if now["odd"]:
        notes.append(Note.of("history:odd-answers", amount=len(now["odd"])))
    if difference is None:
        notes.append(_why_unpaired(found, before, now))
    elif found.left_out:
        notes.append(Note.of("history:inputs-left-out", amount=found.left_out))
    if before["controls"] and not now["controls"] and before["verdict"] != "pass" == now["verdict"]:
        notes.append(Note.of("history:no-control"))
    return [*notes, *_changed_conditions(row, found, before, now)]


def _asked_again(found: _Pairs, now: HistoryEntry) -> Note | None:
    """What became of the trials that flipped when they were asked again."""
    again = [
        (letters, "D" if name in found.nearly else "MD")
        for name, trial in found.flips
        if (letters := now["again"].get(name, {}).get(trial))
    ]
    answers = sum(len(letters) for letters, _ in again)
    failed = sum(letter in fails for letters, fails in again for letter in letters)
    return Note.of("history:asked-again", flips=len(again), answers=answers, failed=failed) if again else None


def _changed_conditions(
    row: ChangeReport, found: _Pairs, before: HistoryEntry, now: HistoryEntry
) -> Iterator[Note]:
    """What else changed between the two runs: the prompt, the model, the target."""
    if row["prompt_changed"]:
        yield Note.of("history:prompt-changed")
    if row["model"] != row["model_before"] and row["model"] and row["model_before"]:
        yield Note.of("history:model-changed", before=row["model_before"], now=row["model"])
    elif _is_other(before["target"], now["target"]) and found.difference is not None:
        yield Note.of("history:target-changed", before=before["target"], now=now["target"])


def _why_unpaired(found: _Pairs, before: HistoryEntry, now: HistoryEntry) -> Note:
    if found.baseline == UNKNOWN and _is_other(before["target"], now["target"]):
        return Note.of("history:another-target", before=before["target"], now=now["target"])
    if found.baseline == CHANGED:
        return Note.of("history:baseline-changed")
    if found.baseline == SAME and found.left_out:
        return Note.of("history:baseline-odd")
    if not before["trials"] or not now["trials"]:
        return Note.of("history:no-trials")
    if not _decided(before) or not _decided(now):
        return Note.of("history:nothing-decided")
    if not set(before["trials"]) & set(now["trials"]):
        return Note.of("history:other-inputs")
    if not set(before["baselines"]) & set(now["baselines"]):
        return Note.of("history:baseline-missing")
    return Note.of("history:baseline-unknown")


def _decided(entry: HistoryEntry) -> bool:
    return any(
        letter in _CREDITS
        for trials in entry["trials"].values()
        for letters in trials.values()
        for letter in letters
    )
