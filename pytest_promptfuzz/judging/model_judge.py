"""A model as a judge: what it is asked, how its answer is read, repeats, measures of quality; ``@judge``."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pytest_promptfuzz.comparing.custom_checks import Registry, asked_of, check_name
from pytest_promptfuzz.data.tables import listed
from pytest_promptfuzz.errors import (
    ConfigurationError,
    PartError,
    TargetError,
    UsageError,
    close_names,
    nearest,
    not_among,
    unstopped,
)
from pytest_promptfuzz.judging.ratings import RATINGS, Grader, Judge, JudgedPair, Rating
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.providers.requests import Request, Response
from pytest_promptfuzz.targets.resolution import CallableTarget, how_to_name, is_unknown, resolve
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.wire.target_calls import ask
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import Watch, current, watching
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pytest_promptfuzz.providers.requests import Target

    Rate = Callable[[str, str], Rating | int | None]
    AnyJudge = str | Judge | Target | Callable[..., Any]


# A judge's answer, read strictly: one JSON object with the fields that were asked for.


_FENCE = expression(r"\A```(?:json)?[ \t]*\n(.*)\n?```\Z", re.DOTALL | re.IGNORECASE)
_SHOWN = 60
_LONGEST = 300


class UnusableAnswerError(Exception):
    """A judge's answer cannot be used; the message says what is wrong with it."""


def read_rating(answer: str) -> tuple[int, str]:
    """The rating and its explanation.

    Raises:
        UnusableAnswerError: It is no such JSON, or the rating is not 1, 2 or 3.
    """
    return _read(answer, "rating", RATINGS)


def read_preference(answer: str) -> tuple[str, str]:
    """Which answer is better, and why.

    Raises:
        UnusableAnswerError: It is no such JSON.
    """
    return _read(answer, "better", ("first", "second", "neither"))


def _read(answer: str, key: str, known: Collection[Any]) -> tuple[Any, str]:
    value = _object(answer)
    if set(value) != {key, "explanation"}:
        names = ", ".join(sorted(map(str, value))) or "none"
        raise UnusableAnswerError(f"its fields must be explanation and {key}, and are {_short(names)}")
    found, explanation = value[key], value["explanation"]
    if not any(type(found) is type(each) and found == each for each in known):
        options = " or ".join(json.dumps(each) for each in known)
        raise UnusableAnswerError(f"{key} must be {options}, and is {_short(json.dumps(found))}")
    if not isinstance(explanation, str) or not explanation.strip():
        raise UnusableAnswerError("explanation must be a sentence")
    return found, " ".join(explanation.split())[:_LONGEST]


def _object(answer: str) -> dict[str, Any]:
    text = answer.strip()
    fenced = _FENCE.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        if isinstance(error, _TwiceError):
            raise UnusableAnswerError(str(error)) from None
        raise UnusableAnswerError(f"it is no JSON object: {_short(text) or 'it is empty'}") from None
    if not isinstance(value, dict):
        raise UnusableAnswerError(f"it is no JSON object: {_short(text)}")
    return value


class _TwiceError(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object, unless it has a field twice: which one is meant, nobody can tell."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _TwiceError("it has a field twice")
    return found


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


# What a model that judges is told. The wording has a version, which is in the request and so in its key.


VERSION = 1
"""Of what is in ``data/judging/questions.tsv``: any change there is another version."""

_LINES = listed("judging/questions.tsv")
MEASURES = ("faithfulness", "completeness", "relevance", "citations", "conciseness")
"""The measures of quality."""
_RELATIONS = frozenset({"format", "language", "renaming"})


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """What a judge is asked: ``orders`` as the system's message, ``material`` as the user's."""

    orders: str
    material: str


def alignment(pair: JudgedPair, *, swapped: bool = False) -> JudgeQuestion:
    """How far two answers agree: 3, 2 or 1."""
    task = _text_of("alignment")
    if pair.relation in _RELATIONS:
        task = f"{task}\n{_text_of(pair.relation)}"
    return JudgeQuestion(_orders("alignment", task, "alignment"), _two_answers(pair, swapped=swapped))


def pairwise(pair: JudgedPair, *, swapped: bool = False) -> JudgeQuestion:
    """Which of two answers is better: the first, the second or neither."""
    orders = _orders("pairwise", _text_of("pairwise"), "pairwise")
    return JudgeQuestion(orders, _two_answers(pair, swapped=swapped, task=True))


def grading(measure: str, prompt: str, answer: str) -> JudgeQuestion:
    """How good one answer is by one measure: 3, 2 or 1.

    Raises:
        UsageError: There is no such measure.
    """
    task = f"{_text_of('grade')} {_text_of(check_measure(measure))}"
    orders = _orders(measure, task, "grade")
    return JudgeQuestion(orders, _tagged((("task", prompt), ("answer", answer))))


def check_measure(name: object) -> str:
    """The name of a measure.

    Raises:
        UsageError: There is none of that name.
    """
    if not isinstance(name, str) or name not in MEASURES:
        raise UsageError(not_among(f"the measure {name!r:.60}", name, MEASURES))
    return name


def again(problem: str) -> str:
    """What a model is told whose answer could not be used."""
    return _text_of("again").replace("{problem}", problem)


def _text_of(kind: str) -> str:
    return "\n".join(_LINES[kind])


def _orders(kind: str, task: str, answer: str) -> str:
    """What the system's message says: the question's kind and text, and the kind of answer that is wanted."""
    parts = [task, _text_of("data"), f"{_text_of('json')}\n{_text_of(f'shape of {answer}')}"]
    signature = _text_of("signature").replace("{kind}", kind).replace("{version}", str(VERSION))
    return "\n\n".join([*parts, signature])


def _two_answers(pair: JudgedPair, *, swapped: bool, task: bool = False) -> str:
    first, second = (pair.response, pair.baseline) if swapped else (pair.baseline, pair.response)
    asked = (("task", pair.prompt),) if task and pair.prompt else ()
    return _tagged((*asked, ("first", first), ("second", second)))


def _tagged(texts: tuple[tuple[str, str], ...]) -> str:
    """Texts between tags that none of them can close: part of a tag's name is a hash that stands in no text."""
    together = "\0".join(text for _, text in texts)
    number = 0
    while (mark := _mark(f"{number}\0{together}")) in together:
        number += 1
    return "\n\n".join(f"<{name}-{mark}>\n{text}\n</{name}-{mark}>" for name, text in texts)


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


# A model asked to judge: through the watch that goes on, once more if its answer cannot be used.


Read = TypeVar("Read")
_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete"})
_MISCONFIGURED = {"authentication", "not-found"}


class JudgeAsker:
    """Asks a model, or a function that stands for one.

    Args:
        target: A target's name, a ``Target``, or a function that takes the question as text and returns text.
        parameters: More for the request body; for models only.

    Raises:
        UsageError: A target or parameters of the wrong kind.
        ConfigurationError: No target, or one that cannot be loaded.
    """

    def __init__(
        self, target: str | Target | Callable[..., Any], parameters: Mapping[str, Any] | None
    ) -> None:
        self._named = isinstance(target, str)
        self._target = resolve(target)
        self._parameters = dict(parameters or {})
        if self._parameters and isinstance(self._target, CallableTarget):
            raise UsageError("a judge's parameters= are for models; a function takes none.")

    @property
    def name(self) -> str:
        """The target's name."""
        return self._target.name

    def ask(self, question: JudgeQuestion, read: Callable[[str], Read]) -> Read:
        """What is read of the answer to a question.

        The call is seen by the watch that goes on, so that store, recordings, limits and budget serve it; without one
        it is just made.

        Raises:
            PartError: Neither the first answer nor the second can be used.
            TargetError: The call failed.
            ConfigurationError: The model lacks a key, an extra or a name, or refuses the key.
        """
        messages = [
            {"role": "system", "content": question.orders},
            {"role": "user", "content": question.material},
        ]
        problems: list[str] = []
        for _ in range(2):
            answer = self._answer(messages)
            try:
                return read(_text(answer))
            except UnusableAnswerError as problem:
                problems.append(str(problem))
                said = answer.text if isinstance(answer, Response) else str(answer)
                messages += [
                    {"role": "assistant", "content": said or "(nothing)"},
                    {"role": "user", "content": again(str(problem))},
                ]
        told = "; then, asked again: ".join(problems)
        raise PartError(
            f"the judge {self.name!r} gave no answer that can be used: {told}", part="judge-answer"
        )

    def close(self) -> None:
        """Close the target's clients, if the target was made here; it can be asked again."""
        close = getattr(self._target, "close", None)
        if self._named and close is not None:
            close()

    def _answer(self, messages: list[dict[str, Any]]) -> Any:
        watch = current.get() or Watch()
        try:
            if not isinstance(self._target, CallableTarget):
                return ask(self._target, Request(tuple(messages), self._parameters), watch)
            text = "\n\n".join(each["content"] for each in messages)
            # Its own calls of a model are seen as any others.
            with intercepting(), watching(watch):
                return _called(self._target, text)
        except TargetError as error:
            if error.kind not in _MISCONFIGURED:
                raise
            mend = sentence(Note.of("calls:judge", kind=error.kind))
            raise ConfigurationError(f"the judge {self.name!r}: {error} {mend}") from error


def _called(function: CallableTarget, text: str) -> Any:
    try:
        if function.is_async:
            import asyncio

            return asyncio.run(function.acall(text))
        return function.call(text)
    except (TargetError, ConfigurationError, UsageError):
        raise
    except Exception as error:
        raise PartError(
            f"the judge {function.name!r} raised {type(error).__name__}: {unstopped(error)}", part="judge"
        ) from error


def _text(answer: Any) -> str:
    if isinstance(answer, Response):
        if answer.finish_reason in _CUT_OFF:
            raise UnusableAnswerError("it was cut off at its token limit")
        return answer.text
    if not isinstance(answer, str):
        raise UnusableAnswerError(f"it is {type(answer).__name__}, not text")
    return answer


MOST_REPEATS = 15
_Said = TypeVar("_Said", int, str)
_SWAPPED = {"first": "second", "second": "first", "neither": "neither"}


class ModelJudge:
    """A judge that asks a model.

    Each pair is asked about in both orders, since models favour a place. Ratings that are one apart count as the worse;
    3 in one order and 1 in the other decide nothing. Under the relation ``not-worse`` the model is asked which answer
    is better.

    Args:
        target: ``"openai:…"``, ``"anthropic:…"``, ``"compatible:…"``, ``"simulated"``, a ``Target``, or a function,
            sync or async, that takes the question as text and returns the answer as text.
        repeats: How often each question is asked, 1 to 15; the median counts, of an even number the worse one.
        parameters: More for the request body, e.g. ``{"temperature": 0}``.

    Raises:
        UsageError: An argument out of range or of the wrong kind.
        ConfigurationError: No target, or one that cannot be loaded.
    """

    def __init__(
        self,
        target: str | Target | Callable[..., Any],
        *,
        repeats: int = 1,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(repeats, bool) or not isinstance(repeats, int) or not 1 <= repeats <= MOST_REPEATS:
            raise UsageError(f"a judge's repeats={repeats!r} is not a whole number from 1 to {MOST_REPEATS}.")
        self.repeats = repeats
        self._asker = JudgeAsker(target, parameters)

    def __repr__(self) -> str:
        return f"ModelJudge({self.name!r}, repeats={self.repeats})"

    @property
    def name(self) -> str:
        """The target's name."""
        return self._asker.name

    def rate(self, pair: JudgedPair) -> Rating:
        """How far the response agrees with the baseline.

        Returns:
            3 (the same), 2 (minor differences) or 1 (different); under ``not-worse`` 3 (as good or better) or 1.
            ``None`` where the two orders contradict each other.

        Raises:
            PartError: The model's answers cannot be used.
            TargetError: A call failed.
            ConfigurationError: The model lacks a key, an extra or a name.
        """
        return self._not_worse(pair) if pair.relation == "not-worse" else self._aligned(pair)

    def grade(self, measure: str, prompt: str, answer: str) -> int:
        """How good an answer is by one measure of ``judging.model_judge.MEASURES``: 3 (good), 2 or 1 (poor).

        Raises:
            UsageError: There is no such measure.
            PartError, TargetError, ConfigurationError: As for ``rate``.
        """
        question = grading(measure, prompt, answer)
        return _median([self._asker.ask(question, read_rating)[0] for _ in range(self.repeats)])

    def close(self) -> None:
        """Close what it holds open; it can be asked again."""
        self._asker.close()

    def _aligned(self, pair: JudgedPair) -> Rating:
        shown, swapped = self._both(pair, alignment, read_rating)
        one, two = _median(shown.said), _median(swapped.said)
        orders = (tuple(shown.said), tuple(swapped.said))
        if abs(one - two) > 1:
            note = Note.of("judges:orders-contradict", one=one, two=two)
            return Rating(None, sentence(note), orders)
        worse = min(one, two)
        why = (shown if one == worse else swapped).why(worse)
        if one != two:
            why = sentence(Note.of("judges:orders-differ", why=why, one=one, two=two))
        return Rating(worse, why, orders)

    def _not_worse(self, pair: JudgedPair) -> Rating:
        """3 where the response is as good or better, 1 where it is worse, in both orders."""
        shown, swapped = self._both(pair, pairwise, read_preference)
        seen = [_majority(shown.said), _SWAPPED[_majority(swapped.said)]]
        points = {"first": 1, "neither": 3, "second": 3}
        orders = (
            tuple(points[each] for each in shown.said),
            tuple(points[_SWAPPED[each]] for each in swapped.said),
        )
        if set(seen) == {"first"}:
            return Rating(1, sentence(Note.of("judges:baseline-better", why=shown.why("first"))), orders)
        if "first" not in seen:
            code = "judges:response-better" if "second" in seen else "judges:equally-good"
            return Rating(3, sentence(Note.of(code, why=shown.why(_majority(shown.said)))), orders)
        return Rating(None, sentence(Note.of("judges:better-in-one-order")), orders)

    def _both(
        self,
        pair: JudgedPair,
        question: Callable[..., JudgeQuestion],
        read: Callable[[str], tuple[_Said, str]],
    ) -> tuple[_Order[_Said], _Order[_Said]]:
        first, second = (
            _Order([self._asker.ask(question(pair, swapped=swapped), read) for _ in range(self.repeats)])
            for swapped in (False, True)
        )
        return first, second


@dataclass(frozen=True, slots=True)
class _Order(Generic[_Said]):
    """What was said in one order, a repeat each, with its explanation."""

    answers: list[tuple[_Said, str]]

    @property
    def said(self) -> list[_Said]:
        return [said for said, _ in self.answers]

    def why(self, said: _Said) -> str:
        """The explanation of what was said; of a tie, the first."""
        return next((why for each, why in self.answers if each == said), self.answers[0][1])


def _median(ratings: Sequence[int]) -> int:
    """The middle one; of an even number the worse of the two in the middle."""
    return sorted(ratings)[(len(ratings) - 1) // 2]


def _majority(preferences: Sequence[str]) -> str:
    """What was said most often; where that is a tie, ``neither``."""
    counts = sorted((preferences.count(each), each) for each in set(preferences))
    tied = len(counts) > 1 and counts[-1][0] == counts[-2][0]
    return "neither" if tied else counts[-1][1]


# Judges of one's own, by name and as functions; from what ``judge=`` is given to a judge.


@dataclass(frozen=True, slots=True)
class FunctionJudge:
    """A judge made of a function of two texts."""

    name: str
    function: Rate

    def rate(self, pair: JudgedPair) -> Rating | int | None:
        """What the function says."""
        return self.function(pair.baseline, pair.response)


def judge(name: str) -> Callable[[Rate], FunctionJudge]:
    """Make a judge of a function of baseline and response, which returns 3, 2, 1, ``None`` or a ``Rating``.

    Args:
        name: What reports call it.
    """
    check_name(name, "judge")
    return lambda function: FunctionJudge(name, function)


def _as_judge(value: Any) -> Judge:
    if not isinstance(value, type) and isinstance(value, Judge):
        return value
    raise UsageError(
        f"{value!r:.80} is no judge: decorate a function of baseline and response with @judge('name'), or give an "
        "object with a name and rate(pair)."
    )


JUDGES: Registry[Judge] = Registry("judge", "promptfuzz.judges", _as_judge, dict)


def judge_of(value: AnyJudge, *, repeats: int, where: str) -> Judge:
    """The judge that is meant.

    Args:
        value: A judge, the name of one that is known, or what a ``ModelJudge`` asks: a target, its name, or a function
            that takes the question and returns text.
        repeats: How often a model is asked; a judge that is one already knows for itself.
        where: What names it, for messages.

    Raises:
        UsageError: It is none of these, or an unknown target.
        ConfigurationError: A target that cannot be loaded.
    """
    if isinstance(value, str) and value in JUDGES.names():
        return JUDGES.one(value, where)
    if not isinstance(value, str | type) and isinstance(value, Judge):
        return value
    try:
        return ModelJudge(value, repeats=repeats)
    except UsageError as error:
        if isinstance(value, str) and is_unknown(value):
            known = JUDGES.names()
            hint = nearest(value, known) if close_names(value, known) else how_to_name(*known)
            raise UsageError(f"{where}={value!r} is no model and no judge of this project. {hint}") from None
        raise UsageError(f"{where}: {str(error).removeprefix('target=')}") from None


def read_judge(settings: Mapping[str, Any], where: str) -> Judge:
    """The judge of a test's settings ``judge``, ``judge_repeats`` and ``quality``.

    Raises:
        UsageError: There is none although answers are to be graded, it is none, or it cannot grade.
        ConfigurationError: A target that cannot be loaded.
    """
    given, quality = settings.get("judge"), settings.get("quality", ())
    if given is None:
        raise UsageError(
            f"{where}: quality={list(quality)} needs a judge: name one, judge='openai:gpt-5-mini'."
        )
    found = judge_of(given, repeats=settings.get("judge_repeats", 1), where=f"{where}: judge")
    if quality and not isinstance(found, Grader):
        raise UsageError(
            f"{where}: the judge {found.name!r} grades no quality: it has no grade(measure, prompt, answer). Leave "
            "quality= out, or name a model."
        )
    return found


def rated(judge: Judge, pair: JudgedPair) -> Rating:
    """What a judge says of a pair.

    Raises:
        PartError: It raised, or returned something else than a rating.
        TargetError, ConfigurationError: As a model's.
    """
    value = asked_of("judge", judge.name, lambda: judge.rate(pair))
    if isinstance(value, Rating):
        return value
    if value is None:
        return Rating(None)
    if isinstance(value, bool) or not isinstance(value, int) or value not in RATINGS:
        raise PartError(
            f"the judge {judge.name!r} returned {value!r:.80}; rate() returns 3, 2 or 1, a Rating, or None where it "
            "cannot tell",
            part="judge",
        )
    return Rating(value)
