"""Texts compared: the tiers in order of cost, the guards before meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import guards, labels
from pytest_promptfuzz.comparing.answer_kinds import kind_of_answer
from pytest_promptfuzz.comparing.by_meaning import by_meaning
from pytest_promptfuzz.comparing.by_words import JUDGE, by_words, undecided
from pytest_promptfuzz.comparing.claims.verdict import compare_claims, is_prose
from pytest_promptfuzz.comparing.comparison import Comparison, Tier, decided
from pytest_promptfuzz.comparing.guards import literal
from pytest_promptfuzz.comparing.guards.pair import Pair
from pytest_promptfuzz.comparing.guards.wording import FRAME
from pytest_promptfuzz.comparing.same_values import agreed
from pytest_promptfuzz.comparing.stated import declared
from pytest_promptfuzz.comparing.text import NORMALISERS, Text, analyse, kept_apart, shown
from pytest_promptfuzz.comparing.values import aliases

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.embedding.embedder import Embedder


_NOT_EXACT = Tier("exact", 0.0)
_DIFFERENT = (_NOT_EXACT, Tier("normalised", 0.0))


def compare_texts(
    first: str, second: str, profile: Profile, *, semantic: Embedder | None, named: bool
) -> Comparison:
    """Compare two texts.

    Args:
        first: The baseline.
        second: The response.
        profile: Thresholds and guards.
        semantic: Embeds texts where words cannot tell; ``None`` leaves such pairs undecided.
        named: Whether the user said that the answer is a label, rather than that it was inferred.
    """
    if first == second:
        return Comparison("equivalent", 1.0, "exact", "the answers are identical", (Tier("exact", 1.0),))
    one, two = analyse(first), analyse(second)
    # Texts of other words cannot be equal once normalised, and normalising both costs more than comparing words.
    if (
        one.tokens == two.tokens
        and one.normalised == two.normalised
        and (one.normalised or first.strip() == second.strip())
    ):
        tiers = (_NOT_EXACT, Tier("normalised", 1.0))
        if profile.normalisers != NORMALISERS:
            apart = kept_apart(first, second, profile.normalisers)
            if apart:
                return _apart(apart, one, profile)
        apart_in = _literally(one, two, profile)
        if apart_in:
            return decided("minor", "guard:literal", apart_in)
        return Comparison(
            "equivalent",
            1.0,
            "normalised",
            "the answers differ in case, space, punctuation or markup only",
            tiers,
        )
    tiers = _DIFFERENT
    pair = agreed(Pair(one, two))
    found = _empty(pair.a, pair.b)
    if found is None:
        pair, found = kind_of_answer(pair, profile)
    if found is None and "label" in profile.tiers and not named:
        found = _value(pair.a, pair.b)
    if found is None and "label" in profile.tiers and _may_be_label(pair.a, pair.b, profile):
        found = _label(pair.a, pair.b, named=named)
    if found is None and profile.kind == "text" and is_prose(pair.a, pair.b):
        return compare_claims(pair.a.raw, pair.b.raw, profile, semantic=semantic)
    if found is None:
        return _texts(pair, profile, semantic, tiers)
    return Comparison(found.outcome, found.similarity, found.reason, found.explanation, tiers + found.tiers)


def _apart(names: list[str], one: Text, profile: Profile) -> Comparison:
    """Answers that differ in nothing but what the profile does not set aside."""
    named = " and ".join(names)
    explanation = f"the answers differ in {named}, which the profile does not set aside"
    is_label = profile.kind == "label" or labels.is_label(one)
    return decided("deviation" if is_label else "minor", "normalised", explanation)


def _literally(one: Text, two: Text, profile: Profile) -> str | None:
    """What texts that are equal once normalised differ in where every letter counts; a label's case does not."""
    if "literal" not in profile.guards or one.raw.strip() == two.raw.strip():
        return None
    is_label = (profile.kind == "label" or labels.is_label(one)) and not literal.is_code(one)
    return literal.rewritten(one, two) or literal.other_case(one, two, quotes=not is_label)


def _empty(one: Text, two: Text) -> Comparison | None:
    if one.raw.strip() and two.raw.strip():
        return None
    if not one.raw.strip() and not two.raw.strip():
        return decided("equivalent", "normalised", "both answers are empty")
    which = "baseline" if not one.raw.strip() else "response"
    return decided("deviation", "empty", f"the {which} is empty")


def _value(one: Text, two: Text) -> Comparison | None:
    """What is known of two answers of which at least one is a value and no label that the user asked for."""
    if min(len(one.tokens), len(two.tokens)) > aliases.LONGEST:
        return None
    relation = aliases.related(one.clean, two.clean)
    if relation is None:
        for text, other in ((one, two), (two, one)):
            date = aliases.date_of(text.clean) if len(text.words) <= labels.MAX_WORDS else None
            if date and len(other.words) > labels.MAX_WORDS and len(other.sentences) == 1:
                relation = aliases.stated_date(date, other.clean)
    if relation is None:
        return None
    if relation.kind == "open":
        return _open(relation.said)
    return decided("equivalent" if relation.kind == "same" else "minor", "value", relation.said)


def _open(said: str) -> Comparison:
    explanation = f"words cannot tell whether the answers give the same value: {said}; {JUDGE}"
    return Comparison("undecided", None, "value", explanation, (Tier("value", None, said),))


def _may_be_label(one: Text, two: Text, profile: Profile) -> bool:
    return profile.kind == "label" or labels.is_label(one) or labels.is_label(two)


def _label(one: Text, two: Text, *, named: bool) -> Comparison | None:
    first, second = labels.bare(one), labels.bare(two)
    if labels.is_label(one) and labels.is_label(two):
        written = literal.rewritten(one, two) or literal.other_case(one, two, quotes=False)
        if written and labels.same(one, two):
            return decided("minor", "guard:literal", written)
        if labels.separated(one, two):
            apart = f"{shown(first)} and {shown(second)} differ in what separates their digits"
            return decided("minor", "label", apart) if named else _open(apart)
        if labels.same(one, two) or labels.gives(one, two) or labels.gives(two, one):
            return decided("equivalent", "label", f"both answers are the label {first!r}")
        if labels.same_set(one, two):
            return decided("minor", "label", f"the items of {shown(first)} stand in another order")
        overlap = labels.extends(one, two)
        became = f"label {shown(first)} became {shown(second)}"
        if overlap == "longer":
            return decided("minor", "label", became) if named else _open(became)
        return decided("deviation", "label", became)
    if labels.is_label(one):
        label, answer, which = one, two, "response"
    elif labels.is_label(two) and (
        named
        or aliases.is_foreign(two.clean, one.clean)
        or labels.stands_in(two, one)
        or declared(one.clean)
        or labels.rejected(two, one)
    ):
        label, answer, which = two, one, "baseline"
    elif named and (both := labels.both_give(one, two)):
        first, second = (labels.bare(each) for each in both)
        if labels.same(*both) and _said_of_others(one, two):
            return None
        if labels.same(*both):
            return decided("equivalent", "label", f"both answers give the label {first!r}")
        return decided("deviation", "label", f"label {shown(first)} became {shown(second)}")
    else:
        return None
    start = label.clean.rstrip(" .:;,")
    begins = not named and answer.clean.lower().startswith(start.lower())
    if begins and (answer.clean[len(start) :][:1] in _GOES_ON or not labels.gives(label, answer)):
        return None  # the beginning of an answer is not its label
    name = labels.bare(label)
    if labels.breaks_off(label, answer):
        other = "baseline" if which == "response" else "response"
        return decided("deviation", "guard:sequence", f"the {other} stops after {shown(label.clean)}")
    match labels.found_in(label, answer):
        case "stated":
            return decided("equivalent", "label", f"the {which} states the label {name!r} in a sentence")
        case "named" if named:
            return decided("minor", "label", f"the {which} names the label {name!r} in a longer text")
        case "named":
            return _open(f"the {which} mentions {shown(label.clean)} in a longer text")
        case "qualified" | "denied":
            said = [each.casefold() for each in declared(answer.clean)]
            if len(said) == 1:
                first, second = (name, said[0]) if answer is two else (said[0], name)
            return decided("deviation", "label", f"label {shown(first)} became {shown(second)}")
        case _ if named or name[:1].isdigit() or aliases.is_foreign(label.clean, answer.clean):
            return decided(
                "deviation", "label", f"label {name!r} is not in the {which}: {shown(answer.clean)}"
            )
        case _:
            return None


def _said_of_others(one: Text, two: Text) -> bool:
    """Whether two answers give one label to all, and to some: "all six are rated as safe", "only two of the six"."""
    pair = Pair(one, two)
    found = guards.run(pair, ("choices", "numbers", "negation")) if pair.similarity >= FRAME / 2 else []
    return bool(found) and found[-1].kind == "contradiction"


_GOES_ON = frozenset(".!?;:")
"""What ends a first statement, to which others are added; a label is followed by its reason, or by a new line."""


def _guards(pair: Pair, profile: Profile) -> tuple[str, ...]:
    """The guards that are asked: a name that the other answer begins with is an answer, and not a part of one."""
    leads = pair.start >= min(len(pair.a.tokens), len(pair.b.tokens))
    if leads and any(aliases.is_name(text.clean) for text in (pair.a, pair.b)):
        return tuple(name for name in profile.guards if name != "sequence")
    return profile.guards


def _texts(pair: Pair, profile: Profile, semantic: Embedder | None, tiers: tuple[Tier, ...]) -> Comparison:
    one, two = pair.a, pair.b
    found = guards.run(pair, _guards(pair, profile))
    words = pair.similarity
    tiers += (Tier("token", words),)
    if found and found[-1].kind == "contradiction":
        last = found[-1]
        return Comparison(
            "deviation",
            0.0,
            f"guard:{last.guard}",
            last.explanation,
            (*tiers, Tier(f"guard:{last.guard}", 0.0, last.explanation)),
        )
    tiers += tuple(Tier(f"guard:{each.guard}", None, each.explanation) for each in found)
    if profile.kind == "label" and found and all(pair.residue) and words >= FRAME:
        # A label's sentence with another word in it is another label.
        return Comparison("deviation", 0.0, f"guard:{found[-1].guard}", found[-1].explanation, tiers)
    if not one.tokens and not two.tokens:
        return decided(
            "deviation", "token", f"{shown(one.raw)} became {shown(two.raw)}, and neither has words"
        )
    told = by_words(pair, profile, found, tiers) if "token" in profile.tiers else None
    if told:
        return told
    if semantic is not None:
        return by_meaning(pair, profile, semantic, found, tiers)
    if "token" not in profile.tiers:
        explanation = "the profile lets no tier tell by words, and there is none that tells by meaning"
        return Comparison("undecided", None, "no-tier", explanation, tiers)
    return undecided(pair, found, tiers, embeds=False)
