"""Answers to unmutated prompts that changed since the base: which, how, and what cannot be compared, with the reason.

An answer is changed where the tiers that find a deviation find one between what the base was answered and what this
run was. Where the answer that came most often to one of them is the other's too, nothing changed. Where answers of one
of them vary, or some of both are alike, a permutation test tells change from noise; without a proof nothing is claimed.
Data that differ a little, such as in a key that says nothing, are told as a minor variation; wordings are the same.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.history.changes import AnswerChange
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.stats.regressions import ALPHA
from pytest_promptfuzz.stats.scores import CREDITS
from pytest_promptfuzz.text.safe_text import DIGEST, is_digest
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.history.changes import AnswerFinding, BaseReport
    from pytest_promptfuzz.history.entries import HistoryEntry

    Given = Sequence[tuple[Any, int]]
    Credit = Callable[[int, int], int | None]
    Semantic = Callable[[], Embedder | None]
    Beside = Mapping[str, Mapping[str, Any]]


_MOST_DRAWN = 16  # answers of each side that noise is told by: all that are ever asked
_VARYING = frozenset({"not-repeatable", "baseline-mixed"})
"""Reasons of verdicts on tests whose answer varies with the same prompt and the same answers of the model."""
_SETTINGS = ("equivalent_at", "minor_at", "ignore")


class AnswerFound(NamedTuple):
    """What today's answers to one prompt are beside the base's.

    Attributes:
        finding: ``the same``, ``changed``, ``minor``, ``cannot tell`` or ``not compared``.
        why: Why nothing can be told; ``None`` where something can.
    """

    finding: AnswerFinding
    why: Note | None = None


def found_between(then: Given, now: Given, credit: Credit) -> AnswerFound:
    """What some answers are beside others.

    Args:
        then: The base's, each with how often it came; at least one.
        now: Today's, likewise.
        credit: Of two answers by their places, the base's counted first: in tenths; ``None`` where nothing tells.
    """
    first, deviation = len(then), CREDITS["deviation"]
    values = [each for each, _ in (*then, *now)]

    def between(one: int, other: int) -> int | None:
        return CREDITS["equivalent"] if is_equal(values[one], values[other]) else credit(one, other)

    usual = between(_most(then), first + _most(now))
    if usual is not None and usual > deviation:
        return AnswerFound("minor" if _is_minor(usual, then, now, between) else "the same")
    across = [between(one, other) for one in range(first) for other in range(first, len(values))]
    if None in across:
        return AnswerFound("cannot tell", Note.of("history:answers-untold"))
    within = [*combinations(range(first), 2), *combinations(range(first, len(values)), 2)]
    varies = any(each != deviation for each in across) or any(between(*pair) == deviation for pair in within)
    if varies and _p(then, now, between) > ALPHA:
        amounts = {"before": _amount(then), "now": _amount(now)}
        return AnswerFound("cannot tell", Note.of("history:answers-vary", **amounts))
    return AnswerFound("changed")


def _is_minor(usual: int, then: Given, now: Given, between: Credit) -> bool:
    """Whether the commonest answers are data that differ a little, and neither run gave the other's as well."""
    first = len(then)
    data = [_data(commonest(each)) for each in (then, now)]
    if usual == CREDITS["equivalent"] or None in data or is_equal(*data):
        return False
    others = [
        *(between(place, first + _most(now)) for place in range(first)),
        *(between(_most(then), first + place) for place in range(len(now))),
    ]
    return CREDITS["equivalent"] not in others


def _data(answer: Any) -> Any:
    """The object or array that an answer is, or holds in its text; tools that are called are data, too."""
    from pytest_promptfuzz.comparing.formats import data_text

    if isinstance(answer, dict) and answer.keys() == {"text", "tool_calls"}:
        return [_data(answer["text"]), answer["tool_calls"]]
    if not isinstance(answer, str):
        return answer if isinstance(answer, dict | list) else None
    read = data_text.parse(answer)
    read = data_text.embedded(answer) if read is data_text.MISSING else read
    return None if read is data_text.MISSING else read


def _p(then: Given, now: Given, credit: Credit) -> float:
    """The probability of answers that differ so much, were the two runs' answers of one kind."""
    from pytest_promptfuzz.stats.significance import Labelled, p_value

    places = [
        [start + place for place, (_, times) in enumerate(given) for _ in range(times)][:_MOST_DRAWN]
        for start, given in ((0, then), (len(then), now))
    ]
    places.sort(key=len, reverse=True)  # one answer alone is no floor
    every = [*places[0], *places[1]]

    def between(one: int, other: int) -> int | None:
        return credit(*sorted((every[one], every[other])))

    if any(between(*pair) is None for pair in combinations(range(len(every)), 2)):
        return 1.0
    size = len(places[0])
    return p_value([Labelled(between, tuple(range(size)), tuple(range(size, len(every))))], both=True)


def _most(given: Given) -> int:
    """The place of the answer that came most often; the first of several."""
    return max(range(len(given)), key=lambda place: given[place][1])


def commonest(given: Given) -> Any:
    """The answer that came most often, the first of several; ``None`` without any."""
    return given[_most(given)][0] if given else None


def _amount(given: Given) -> int:
    return sum(times for _, times in given)


def is_equal(one: Any, other: Any) -> bool:
    """Whether two answers are equal; ``True`` is not 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def answers_of(entry: HistoryEntry, name: str) -> list[tuple[Any, int]]:
    """The answers to the unmutated prompt of an input that are kept, each with how often it came, the first first."""
    if name in entry["answers"]:
        return [(answer, times) for answer, times in entry["answers"][name]]
    answer = entry["baselines"].get(name)
    return [] if answer is None else [(answer, 1)]


def answer_changes(
    base: BaseReport,
    before: HistoryEntry | None,
    now: HistoryEntry,
    *,
    beside: Beside,
    semantic: Semantic | None = None,
) -> list[AnswerChange]:
    """The answers of a test that changed, and what of it cannot be compared, by input.

    Args:
        base: What the run is compared with.
        before: The test in the base; ``None`` where that does not have it.
        now: The same in this run.
        beside: By input, what the run itself found, with the test's own comparison.
        semantic: Gives what tells whether two answers in other words mean the same.
    """
    why = _not_compared(base, before, now)
    if before is None or why is not None:
        return [_change(now, before, "", AnswerFound("not compared", why), [], [])]
    varies = any(each["reason"] in _VARYING for each in (before, now))
    rows: list[AnswerChange] = []
    names = dict.fromkeys([*now["trials"], *now["baselines"], *now["answers"]])
    for name in names:
        then, given = answers_of(before, name), answers_of(now, name)
        found = _recorded(beside.get(name), then)
        if found is None:
            found = _compared(then, given, before, now, semantic)
        if varies and found.finding == "changed":
            found = AnswerFound("cannot tell", Note.of("history:answers-not-repeatable"))
        if found.finding != "the same":
            rows.append(_change(now, before, name if len(names) > 1 else "", found, then, given))
    return rows


def _recorded(told: Mapping[str, Any] | None, then: Given) -> AnswerFound | None:
    """What the run itself found; ``None`` where it was compared with other answers, or with none."""
    if told is None or [list(each) for each in told["answers"]] != [list(each) for each in then]:
        return None
    why = Note.of(told["why"]["code"], **told["why"]["values"]) if told["why"] else None
    return AnswerFound(told["finding"], why)


def _not_compared(base: BaseReport, before: HistoryEntry | None, now: HistoryEntry) -> Note | None:
    """Why no answer of a test can be compared."""
    if before is None:
        return Note.of("history:answers-new-test")
    if base["kind"] == "last" and before["target"] and now["target"] and before["target"] != now["target"]:
        return Note.of("history:another-target", before=before["target"], now=now["target"])
    if now["oracle_only"] or before["oracle_only"]:
        return Note.of("history:answers-own-checks")
    if not any(answers_of(before, name) for name in (*before["baselines"], *before["answers"])):
        return Note.of("history:answers-not-stored")
    return None


def _compared(
    then: Given, given: Given, before: HistoryEntry, now: HistoryEntry, semantic: Semantic | None
) -> AnswerFound:
    """What two runs that are over tell: without the test's own parts and judge, which only a run can ask."""
    if not then or not given:
        code = "history:answers-new-input" if not then else "history:answers-none-today"
        return AnswerFound("not compared", Note.of(code))
    if is_equal(commonest(then), commonest(given)):
        return AnswerFound("the same")
    if any(is_digest(each) for each, _ in (*then, *given)):
        return AnswerFound("cannot tell", Note.of("history:answers-digest"))
    if own := sorted({*now["compared"]} - {*_SETTINGS, "meaning"}):
        return AnswerFound("cannot tell", Note.of("history:answers-own-comparison", names=own))
    values = [each for each, _ in (*then, *given)]
    found = found_between(then, given, _Comparing(values, now, semantic))
    meant = before["compared"].get("meaning", "")
    if found.finding == "cannot tell" and meant and meant != now["compared"].get("meaning", ""):
        return found._replace(why=Note.of("history:answers-other-embedder", model=meant))
    return found


class _Comparing:
    """Credits of kept answers, by place."""

    def __init__(self, values: Sequence[Any], now: HistoryEntry, semantic: Semantic | None) -> None:
        self._values, self._semantic = values, semantic
        self._task = now["task"].partition(" ")[0]
        self._settings = {name: now["compared"][name] for name in _SETTINGS if name in now["compared"]}
        self._known: dict[tuple[int, int], int | None] = {}

    def __call__(self, one: int, other: int) -> int | None:
        pair = (one, other)
        if pair not in self._known:
            self._known[pair] = CREDITS.get(self._outcome(self._values[one], self._values[other]))
        return self._known[pair]

    def _outcome(self, one: Any, other: Any) -> str:
        from pytest_promptfuzz.comparing.profiles import TASKS
        from pytest_promptfuzz.judging.compare import compare

        settings = {**self._settings, "task": self._task if self._task in TASKS else None}
        try:
            outcome = compare(one, other, semantic=False, entailment=False, **settings).outcome
            if outcome != "undecided" or self._semantic is None or (embedder := self._semantic()) is None:
                return outcome
            return compare(one, other, semantic=embedder, entailment=False, **settings).outcome
        except (PromptfuzzError, TypeError, ValueError):  # settings are read from a file
            return "undecided"


def show_texts(changes: Iterable[AnswerChange], texts: Mapping[str, Any]) -> None:
    """Put long answers of the run where its entries keep their digests only.

    Args:
        changes: Beside its base.
        texts: The answers, by digest (``entries.long_answers``).
    """
    for each in changes:
        if is_digest(each["after"]):
            each["after"] = texts.get(each["after"][DIGEST], each["after"])


def _change(
    now: HistoryEntry,
    before: HistoryEntry | None,
    name: str,
    found: AnswerFound,
    then: Given,
    now_given: Given,
) -> AnswerChange:
    # Most runs have no change to show.
    from pytest_promptfuzz.text.word_diffs import word_diff
    from pytest_promptfuzz.wording.diffs import plain_text

    one, other = commonest(then), commonest(now_given)
    known = bool(then and now_given) and not (is_digest(one) or is_digest(other))
    return AnswerChange(
        test=now["test"],
        target=now["target"],
        input=name,
        finding=found.finding,
        before=one,
        after=other,
        diff=word_diff(plain_text(one), plain_text(other)) if known else [],
        reason="" if found.why is None else found.why.code.partition(":")[2],
        explanation="" if found.why is None else sentence(found.why),
        prompt_changed=bool(before and before["prompt"]) and before["prompt"] != now["prompt"],  # type: ignore[index]  # there is one
        model_before=before["model"] if before else "",
        model=now["model"],
    )
