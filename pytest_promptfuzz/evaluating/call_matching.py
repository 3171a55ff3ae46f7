"""Which answers of a run are compared where its body returns nothing: the last one, or several, matched.

The calls of the body's own thread or task are made one after the other, and the last one's answer is what they come
to. Calls of other threads and tasks finish in any order, which says nothing: each of them is compared with the call
of the unmutated prompt that asks the same, unless a later request holds its answer.
"""

from __future__ import annotations

import contextlib
import json
import weakref
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_promptfuzz.comparing.comparison import Comparison, decided
from pytest_promptfuzz.comparing.formats.data_text import plain
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.providers.formats import texts_of
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.json_paths import strings, without
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.providers.requests import Response
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.wire.calls import Call
    from pytest_promptfuzz.wire.watch import Watch

NOT_MATCHED = "calls-not-matched"
_WORD = expression(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")  # a CJK sign is a word
_QUOTED = 20  # characters of an answer that no other request holds by chance
_ALIKE = 0.5  # the share of the words by which calls differ that a changed request must keep
_MOST = 32  # changed requests that are held against each other
_SHOWN = 60
_RANKS = {"equivalent": 0, "minor": 1, "undecided": 2, "deviation": 3}


class ParallelAnswer(NamedTuple):
    """One of several answers.

    Attributes:
        response: The answer.
        name: What its request says that the others do not, for messages.
        digest: The ``request_digest`` of the request.
        prompt: All texts of the request.
    """

    response: Response
    name: str
    digest: str
    prompt: str


@dataclass(frozen=True, slots=True)
class ParallelAnswers:
    """The answers of calls that may have been made at once, in the order of the baseline's requests.

    Attributes:
        each: The answers.
        matched: Whether they are those of the baseline's calls.
        known: Where they are not: those that are, by their place among the baseline's.
    """

    each: tuple[ParallelAnswer, ...]
    matched: bool = True
    known: Mapping[int, ParallelAnswer] = field(default_factory=dict)

    @property
    def value(self) -> list[Any]:
        """The answers as plain data."""
        return [plain(one.response) for one in self.each]


Subject: TypeAlias = Any
"""What a run is compared by: a ``Response``, ``ParallelAnswers``, plain data, or ``None`` for nothing."""


def answer_of(run: Run, baseline: Run | None = None) -> Response | ParallelAnswers | None:
    """What the calls of a run came to: an answer, or several where calls may have been made at once.

    Neither the order in which calls are made nor that in which they are answered makes a difference, but for those
    of the body's own thread or task.

    Args:
        run: The run.
        baseline: The unmutated prompt's run; ``None`` where ``run`` is it.
    """
    mine = _made(run)
    its = mine if baseline is None else _made(baseline)
    if len(its.ends) < 2 and len(mine.ends) < 2:
        return mine.ends[0].call.response if mine.ends else None
    pairs, matched = ({each: each for each in its.ends}, True) if its is mine else _pairs(mine.ends, its.ends)
    if not matched and (len(its.ends) < len(its.tails) or len(mine.ends) < len(mine.tails)):
        # What is a step on the way in one of the runs may be an end of the other's.
        pairs, matched = _pairs(mine.tails, its.tails)
    chosen = [pairs[each] for each in its.ends] if matched else mine.ends
    if matched and len(chosen) == 1:
        return chosen[0].call.response
    answered = {} if matched else {n: pairs[each] for n, each in enumerate(its.ends) if each in pairs}
    known = {place: each for place, each in answered.items() if each in mine.ends}
    return ParallelAnswers(
        tuple(_answered(each, mine.tails) for each in chosen),
        matched,
        {place: _answered(each, mine.tails) for place, each in known.items()},
    )


def calls_of(run: Run) -> list[Call]:
    """The calls whose answers a run is compared by, where it returns nothing."""
    return [each.call for each in _made(run).ends]


_Paired: TypeAlias = "tuple[Any, Any, ParallelAnswer | None, bool]"


def pairs_of(one: Subject, other: Subject) -> list[_Paired] | None:
    """The answers that are compared with each other; ``None`` where that cannot be told.

    Args:
        one: Answers, or the values of some that were stored.
        other: Likewise.

    Returns:
        Two answers, the first one's request where it is known, and whether the requests differ.
    """
    if not all(each.matched for each in (one, other) if isinstance(each, ParallelAnswers)):
        return None
    first, second = ([*each.each] if isinstance(each, ParallelAnswers) else each for each in (one, other))
    if not isinstance(first, list) or not isinstance(second, list) or len(first) != len(second):
        return None
    return _paired(zip(first, second, strict=True))


def known_pairs_of(baseline: Subject, subject: Subject) -> list[_Paired]:
    """The answers that are compared though not all can be: a deviation among them is one whatever the others say."""
    if not isinstance(baseline, ParallelAnswers) or not isinstance(subject, ParallelAnswers):
        return []
    return _paired((baseline.each[place], each) for place, each in subject.known.items())


def _paired(pairs: Iterable[tuple[Any, Any]]) -> list[_Paired]:
    found: list[_Paired] = []
    for left, right in pairs:
        known = [each for each in (left, right) if isinstance(each, ParallelAnswer)]
        values = [each.response if isinstance(each, ParallelAnswer) else each for each in (left, right)]
        differ = len({each.digest for each in known}) > 1
        found.append((values[0], values[1], known[0] if known else None, differ))
    return found


def worst_of(
    found: Iterable[tuple[Comparison, ParallelAnswer | None]], *, must_change: bool = False
) -> Comparison:
    """What the comparisons of several answers come to: the worst; the best where only some change is wanted."""
    ranked = sorted(found, key=lambda each: (_RANKS[each[0].outcome], -(each[0].similarity or 0.0)))
    comparison, asked = ranked[0] if must_change else ranked[-1]
    if comparison.outcome == "equivalent" or asked is None or not asked.name:
        return comparison
    note = Note.of("trials:one-of-several", request=asked.name, explanation=comparison.explanation)
    return replace(comparison, explanation=sentence(note))


def not_matched(*, checked: bool) -> Comparison:
    """The comparison of answers that cannot be matched: the test's own checks have passed, if it has some."""
    if checked:
        return decided("equivalent", NOT_MATCHED, sentence(Note.of("trials:only-checked")))
    return Comparison("undecided", None, NOT_MATCHED, sentence(Note.of("trials:calls-not-matched")))


def matching_notes(comparisons: Iterable[Comparison | None]) -> list[Note]:
    """The note on trials whose answers could not be matched; nothing where there is none."""
    known = [each for each in comparisons if each is not None]
    lost = [each for each in known if each.reason == NOT_MATCHED]
    if not lost:
        return []
    checked = lost[0].outcome == "equivalent"
    return [Note.of("evaluations:calls-not-matched", lost=len(lost), known=len(known), checked=checked)]


class _CallRequest:
    """What one call asks, read when somebody wants to know.

    Attributes:
        call: The call.
        texts: What it says, with what was mutated in flight undone.
        rest: What it holds beside its texts and the names of tool calls.
        frame: Of that, its parameters alone.
        key: All that it asks.
        words: Its words, without those of the prompt.
    """

    def __init__(self, call: Call, run: Run) -> None:
        watch = run.watch
        body = without(call.body, watch.settings.ignore)
        texts = texts_of(call.url, body) if watch.settings.ignore else call.texts
        said, outside = frozenset(texts), watch.route.in_flight is None and run.prompt is not None
        self.rest = json.dumps([call.url, _unsaid(body, said)], sort_keys=True, default=repr)
        self.call = call
        self.texts = texts if watch.route.in_flight is None else watch.route.in_flight.undone(texts)
        self.frame = json.dumps(
            [call.url, {name: value for name, value in body.items() if said.isdisjoint(strings(value))}],
            sort_keys=True,
            default=repr,
        )
        self.key = (self.rest, self.texts)
        self.all = tuple(_words("\n".join(self.texts)))
        left = Counter(_words(run.prompt.text) if outside and run.prompt is not None else ())
        words = []
        for word in self.all:
            if left[word]:
                left[word] -= 1
            else:
                words.append(word)
        self.words = tuple(words)
        self.redacted = watch.settings.redaction.text


class _Made(NamedTuple):
    """The calls of a run that were answered in words.

    Attributes:
        tails: Those that the program does not follow by another, by what they ask.
        ends: Those of them whose answers no other request holds.
    """

    tails: list[_CallRequest]
    ends: list[_CallRequest]


_known: weakref.WeakKeyDictionary[Watch, _Made] = weakref.WeakKeyDictionary()


def _made(run: Run) -> _Made:
    if run.watch not in _known:
        calls = [call for call in list(run.watch.calls) if call.response is not None]
        tails = [call for call in calls if not any(_follows(other, call) for other in calls)]
        steps = _steps(calls, tails) if len(tails) > 1 else set()
        ends = [call for call in tails if id(call) not in steps] or tails
        requests = [_CallRequest(call, run) for call in tails]
        if len(requests) > 1:
            requests.sort(key=lambda each: (each.key, json.dumps(plain(each.call.response), sort_keys=True)))
        _known[run.watch] = _Made(
            requests, [each for each in requests if any(each.call is end for end in ends)]
        )
    return _known[run.watch]


def _follows(later: Call, call: Call) -> bool:
    """Whether the program makes one call after the other, whatever the clock says."""
    if not call.order.on_line:
        return False
    if later.order.on_line:
        return later.order.number > call.order.number
    return later.order.after >= call.order.number


def _steps(calls: Sequence[Call], tails: Sequence[Call]) -> set[int]:
    """The calls whose answers a later request holds, by identity.

    A request that goes on with a call (it holds all that the call says) need not hold the equal answer of another.
    Without that, an answer has to be long, and the only one of its kind: else the request may hold another's, or an
    example.
    """
    alike = Counter(_answer_of(call) for call in tails)
    wanted = [(call, _answer_of(call), frozenset(call.texts), _forms(call)) for call in tails]
    steps: set[int] = set()
    for later in calls:
        said = frozenset(strings(later.body))
        texts = "\n".join(later.texts)
        whole = {each.strip() for each in later.texts}
        held = [
            (call, asked <= said, alike[answer] == 1)
            for call, answer, asked, forms in wanted
            if call is not later
            and (
                (answer[1] and not said.isdisjoint(answer[1]))
                or answer[0] in whole
                or any(each in texts for each in forms)
            )
            and not _repeats(call)
        ]
        goes_on = {id(call) for call, continued, _ in held if continued}
        steps |= goes_on or {
            id(call)
            for call, _, alone in held
            if alone and (_answer_of(call)[1] or len(_answer_of(call)[0]) >= _QUOTED)
        }
    return steps


def _answer_of(call: Call) -> tuple[str, tuple[str, ...]]:
    """The text of an answer, and the names of its tool calls."""
    if call.response is None:
        return "", ()
    return call.response.text.strip(), tuple(each.id for each in call.response.tool_calls if each.id)


def _forms(call: Call) -> tuple[str, ...]:
    """How a later request may hold a long answer; a part of it where it is JSON."""
    text = _answer_of(call)[0]
    parts = [text]
    if text.startswith(("{", "[")):
        with contextlib.suppress(ValueError):
            parts += strings(json.loads(text))
    long = [each.strip() for each in parts if len(each.strip()) >= _QUOTED]
    return tuple(
        dict.fromkeys(
            form
            for each in long
            for form in (each, json.dumps(each)[1:-1], json.dumps(each, ensure_ascii=False)[1:-1])
        )
    )


def _repeats(call: Call) -> bool:
    """Whether an answer says what its own request says already."""
    text, names = _answer_of(call)
    if names:
        return not {*names}.isdisjoint(strings(call.body))
    return not text or any(text in each for each in call.texts)


def _pairs(
    mine: Sequence[_CallRequest], its: Sequence[_CallRequest]
) -> tuple[dict[_CallRequest, _CallRequest], bool]:
    """The baseline's requests that a run asks as well, each with that of the run; whether these are all of both."""
    ours, theirs = _groups(mine), _groups(its)
    matched: list[tuple[_Group, _Group]] = []
    for what in (
        lambda each: each.key,
        lambda each: (each.rest, each.words),
        lambda each: (each.frame, each.words),
    ):
        matched += _alike(ours, theirs, what)
    if len(ours) == len(theirs):
        found = [*_nearest(ours, theirs, [_common(mine), _common(its)])]
        matched += found
        complete = len(found) == len(theirs)
    else:
        complete = False
    return dict(pair for group, other in matched for pair in _interchangeable(group, other)), complete


def _groups(requests: Sequence[_CallRequest]) -> list[list[_CallRequest]]:
    """Identical requests together: which of them has which answer is not determined."""
    found: dict[Any, list[_CallRequest]] = {}
    for each in requests:
        found.setdefault(each.key, []).append(each)
    return [*found.values()]


_Group: TypeAlias = "list[_CallRequest]"
_Nearness: TypeAlias = "tuple[bool, float, float, float]"


def _alike(
    ours: list[_Group], theirs: list[_Group], what: Callable[[_CallRequest], Any]
) -> list[tuple[_Group, _Group]]:
    """The groups that are the same by one measure, and by it differ from all others; they are taken out."""
    found = []
    by_ours, by_theirs = (_by(what, groups) for groups in (ours, theirs))
    for value, group in by_ours.items():
        other = by_theirs.get(value)
        if group is not None and other is not None:
            found.append((group, other))
            ours.remove(group)
            theirs.remove(other)
    return found


def _by(what: Callable[[_CallRequest], Any], groups: Sequence[_Group]) -> dict[Any, _Group | None]:
    found: dict[Any, _Group | None] = {}
    for group in groups:
        value = what(group[0])
        found[value] = None if value in found else group
    return found


def _nearest(
    ours: list[_Group], theirs: list[_Group], common: Sequence[Counter[str]]
) -> Iterator[tuple[_Group, _Group]]:
    """The groups of which each is nearer to the other than to any else, and near enough."""
    if max(len(ours), len(theirs)) > _MOST:
        return
    near = {
        (one, other): _nearness(ours[one][0], theirs[other][0], common)
        for one in range(len(ours))
        for other in range(len(theirs))
    }
    while clear := [pair for pair, score in near.items() if score[1] >= _ALIKE and _stands_out(pair, near)]:
        for one, other in clear:
            yield ours[one], theirs[other]
        taken = {one for one, _ in clear}, {other for _, other in clear}
        near = {pair: near[pair] for pair in near if pair[0] not in taken[0] and pair[1] not in taken[1]}


def _stands_out(pair: tuple[int, int], near: Mapping[tuple[int, int], _Nearness]) -> bool:
    """Whether a pair is nearer than all others of which one side is the same."""
    lines = [(pair[0], other) for _, other in near] + [(one, pair[1]) for one, _ in near]
    return all(near[each] < near[pair] for each in {*lines} if each != pair and each in near)


def _nearness(one: _CallRequest, other: _CallRequest, common: Sequence[Counter[str]]) -> _Nearness:
    """How near two requests are: by model and parameters, the words by which calls differ, and all words."""
    first, second = Counter(one.words), Counter(other.words)
    return (
        one.frame == other.frame,
        _shared(first - common[0], second - common[1]),
        _shared(first, second),
        _shared(Counter(one.all), Counter(other.all)),
    )


def _common(requests: Sequence[_CallRequest]) -> Counter[str]:
    """The words that all requests of a run hold."""
    first, *rest = (Counter(each.words) for each in requests)
    for each in rest:
        first &= each
    return first if rest else Counter()


def _shared(one: Counter[str], other: Counter[str]) -> float:
    both = one.total() + other.total()
    return 2 * (one & other).total() / both if both else 1.0


def _interchangeable(mine: _Group, its: _Group) -> Iterator[tuple[_CallRequest, _CallRequest]]:
    """Identical requests in pairs: first those that were answered the same, then the others by their answers.

    How often something was asked makes no difference: it may have been asked again because an answer was late.
    """
    left = [*mine]
    rest = []
    for each in its:
        same = next((one for one in left if _answer_of(one.call) == _answer_of(each.call)), None)
        if same is None:
            rest.append(each)
        else:
            left.remove(same)
            yield each, same
    for number, each in enumerate(rest):
        again = next((one for one in mine if _answer_of(one.call) == _answer_of(each.call)), mine[-1])
        yield each, left[number] if number < len(left) else again


def _answered(request: _CallRequest, tails: Sequence[_CallRequest]) -> ParallelAnswer:
    call = request.call
    if call.response is None:
        raise AssertionError("a call that was not answered in words is compared with nothing")
    return ParallelAnswer(call.response, _name(request, tails), call.digest, "\n\n".join(call.texts))


def _name(request: _CallRequest, tails: Sequence[_CallRequest]) -> str:
    """What a request says that the others do not, in a few words; empty where it says nothing of its own."""
    others = [each for each in tails if each is not request and each.key != request.key]
    own = [text for text in request.texts if all(text not in each.texts for each in others)]
    if not own:
        return f"the model {request.call.model}" if request.call.model else ""
    words = own[-1].split()
    compared = [each.texts[-1].split() for each in others if each.texts]
    start = max((_begin_alike(words, each) for each in compared), default=0)
    said = " ".join(request.redacted(" ".join(words[start:] or words)).split())
    return repr(said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…")


def _begin_alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words at the beginning are the same."""
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


def _unsaid(value: Any, said: frozenset[str]) -> Any:
    """Plain data without the texts, and without names that a provider makes up (``call_id``)."""
    if isinstance(value, dict):
        return {
            name: _unsaid(each, said)
            for name, each in value.items()
            if not (isinstance(each, str) and (name == "id" or name.endswith("_id")))
        }
    if isinstance(value, list):
        return [_unsaid(each, said) for each in value]
    return None if isinstance(value, str) and value in said else value


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
