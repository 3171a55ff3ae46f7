"""Labels within JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import jsontext, labels, stated
from pytest_promptfuzz.comparing.structured import compare_json_texts
from pytest_promptfuzz.comparing.text import analyse
from pytest_promptfuzz.comparing.textual import compare_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.comparing.comparison import Comparison
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.embedding.embedder import Embedder


def compare_label_data(
    first: str, second: str, profile: Profile, ignored: Sequence[str], *, semantic: Embedder | None
) -> Comparison | None:
    """Compare two answers of which at least one is JSON with a member named for its label.

    Another label is a deviation. Of the same label, other members that differ (a confidence, a reason) are minor, and
    so is a label alone where the baseline was JSON, since what reads JSON cannot read it.

    Returns:
        ``None`` where neither holds such JSON: that is compared as any other answer.
    """
    one, two = stated.in_data(first), stated.in_data(second)
    if one is None or two is None:
        if one is None and two is None:
            is_data = jsontext.parse(first) is not jsontext.MISSING
            return compare_json_texts(first, second, profile, ignored, semantic=semantic) if is_data else None
        pair = first if one is None else one, second if two is None else two
        return _unwrapped(compare_texts(*pair, profile, semantic=None, named=True), one, two)
    found = compare_json_texts(first, second, profile, ignored, semantic=semantic)
    if (
        found is None
        or found.outcome in {"equivalent", "minor"}
        or not labels.same(analyse(one), analyse(two))
    ):
        return found
    said = f"both answers give the label {labels.bare(analyse(one))!r}; {found.explanation}"
    return replace(found, outcome="minor", similarity=0.8, reason="label", explanation=said)


def _unwrapped(found: Comparison, one: str | None, two: str | None) -> Comparison:
    """What is found between a label and one within JSON, ``one`` of the baseline or ``two`` of the response."""
    if found.outcome != "equivalent":
        return found
    label = repr(labels.bare(analyse(one or two or "")))
    if two is None:
        said = f"the baseline gives the label {label} within JSON, the response without"
        return replace(found, outcome="minor", similarity=0.8, reason="label", explanation=said)
    return replace(found, reason="label", explanation=f"the response gives the label {label} within JSON")
