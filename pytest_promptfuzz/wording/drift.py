"""Drift in sentences: how a test differs from its snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    Change = tuple[str, Any, Any]


_NOTHING_TELLS = "no installed comparison can tell"
_MENDS = (
    "install 'pytest-promptfuzz[semantic]', or compare with tiers= of your own",
    "compare with tiers= of your own",
)


# Why nothing is known of the answers.


def too_few_answers() -> str:
    """So few answers could differ by chance."""
    return "too few answers are known to tell a change from noise"


def nothing_tells(*, judged: bool, embedded: bool) -> str:
    """No comparison tells whether the answers differ.

    Args:
        judged: Whether the test has a judge, who is not asked here.
        embedded: Whether meaning was compared.
    """
    rest = _rest(judged=judged, embedded=embedded)
    return f"{_NOTHING_TELLS} whether today's answer means the same as the snapshot's{rest}"


def _rest(*, judged: bool, embedded: bool) -> str:
    return f"{' (a judge is not asked about it)' if judged else ''}; {_MENDS[embedded]}"


def drift_unknown(why: str) -> str:
    """Nothing is known of the model's drift."""
    return f"we cannot tell whether the model drifted: {why}"


# The model.


def model_changed(old: str, new: str, name: str) -> str:
    """The same prompt is answered otherwise."""
    return f"the model changed{_models(old, new)}: the same prompt has another answer{_on(name)}"


def model_unknown(old: str, new: str, name: str, why: str) -> str:
    """Answers could not be compared."""
    return f"we cannot tell whether the model changed{_models(old, new)}{_on(name)}: {why}"


def model_untold(old: str, new: str, name: str, *, judged: bool, embedded: bool) -> str:
    """No comparison tells whether the answers differ."""
    rest = _rest(judged=judged, embedded=embedded)
    return f"{_NOTHING_TELLS} whether the model changed{_models(old, new)}{_on(name)}{rest}"


def _models(old: str, new: str) -> str:
    return f" from {old} to {new}" if old and new and old != new else f" ({new})" if new else ""


def _on(name: str) -> str:
    return f" on input {name}" if name else ""


def another_model(old: str, new: str, *, same: bool) -> str:
    """Another model has another name, and answers as the old one did, where that is known."""
    as_before = "; it answers as before" if same else ""
    return f"the model is {new}; it was {old} when the snapshot was stored{as_before}"


# The prompt.


def prompt_changed(answers: str, old: str, new: str) -> str:
    """The prompt is another one."""
    return f"the prompt changed since the snapshot{answers}{_renamed(old, new)}"


def request_changed(answers: str, old: str, new: str) -> str:
    """The prompt is the same, and what is sent with it is not."""
    what = "what is sent with the prompt changed since the snapshot (an input, or other texts of the request)"
    return f"{what}{answers}{_renamed(old, new)}"


def _renamed(old: str, new: str) -> str:
    return f"; the model is {new}, and was {old}" if old and new and old != new else ""


def answers_untold() -> str:
    """No comparison tells whether the answers differ."""
    return f"; {_NOTHING_TELLS} whether the answer changed"


def answers_unknown(why: str) -> str:
    """Answers could not be compared."""
    return f"; we cannot tell whether the answer changed: {why}"


def answers_few() -> str:
    """So few answers could differ by chance."""
    return "; too few answers are known to tell whether the answer changed"


def answers_changed() -> str:
    """The answers differ as well."""
    return ", and so did the answer"


def answers_minor() -> str:
    """The answers differ a little."""
    return "; the answer is a minor variation of the snapshot's"


def answers_same() -> str:
    """The answers are as before."""
    return "; the answer is the same"


# How answers are compared, and mutations made.


def comparison_changed(changes: Sequence[Change], operators: Sequence[Change]) -> str:
    """Answers are compared otherwise, and operators may have other versions as well."""
    return f"answers are compared in another way: {_changes(changes, operators)}"


def operators_changed(operators: Sequence[Change]) -> str:
    """Operators have other versions."""
    return f"mutations are made in another way: {_changes((), operators)}"


def _changes(changes: Sequence[Change], operators: Sequence[Change]) -> str:
    named = [*changes, *((f"operator {name}", then, now) for name, then, now in operators)]
    return ", ".join(f"{name} {_value(then)} → {_value(now)}" for name, then, now in named)


def _value(value: Any) -> str:
    if value is None:
        return "none"
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
