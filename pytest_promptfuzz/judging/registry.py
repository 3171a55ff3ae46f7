"""Judges of one's own, by name and as functions; from what ``judge=`` is given to a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.custom_checks import Registry, asked_of, check_name
from pytest_promptfuzz.errors import PartError, UsageError, nearest
from pytest_promptfuzz.judging.judge import ModelJudge
from pytest_promptfuzz.judging.model import RATINGS, Grader, Judge, JudgedPair, Rating

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_promptfuzz.targets.model import Target

    Rate = Callable[[str, str], Rating | int | None]
    AnyJudge = str | Judge | Target | Callable[..., Any]


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
        close = nearest(value, JUDGES.names()) if isinstance(value, str) else ""
        if close.startswith("Did"):
            raise UsageError(f"{where}: unknown judge {value!r}. {close}") from None
        names = ", ".join(JUDGES.names())
        known = f" Judges by name: {names}." if names else ""
        raise UsageError(f"{where}: {error}{known}") from None


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
