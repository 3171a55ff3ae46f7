"""ΔContent, ΔQuality and Overall: the source's example, and the edges."""

from __future__ import annotations

import json
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.stats.agreement import (
    Agreement,
    Deltas,
    Graded,
    Judging,
    content_delta,
    overall,
    quality_delta,
)
from pytest_promptfuzz.wording.judges import graded, rated


def example() -> list[Graded]:
    """Of 100 pairs 30 twos and 20 ones; in 15 of those 50 some measure of quality changed."""
    same = [Graded(3)] * 50
    changed = [Graded(2, {"faithfulness": True, "completeness": False})] * 9
    changed += [Graded(1, {"faithfulness": False, "completeness": True})] * 4
    changed += [Graded(1, {"faithfulness": True, "completeness": True})] * 2
    kept = [Graded(2, {"faithfulness": False, "completeness": False})] * 21
    kept += [Graded(1, {"faithfulness": False, "completeness": False})] * 14
    return same + changed + kept


def test_the_example_of_the_source() -> None:
    found = Deltas.of(example())
    assert found is not None
    assert (found.content, found.quality) == (Fraction(1, 2), Fraction(3, 10))
    assert found.overall == Fraction(85, 100)
    assert (found.pairs, found.shifted, found.changed) == (100, 50, 15)
    assert found.by_measure == {"faithfulness": 11, "completeness": 6}


@given(
    st.lists(
        st.builds(
            Graded,
            st.integers(1, 3),
            st.dictionaries(st.sampled_from(["faithfulness", "relevance"]), st.booleans()),
        ),
        min_size=1,
    )
)
def test_overall_is_one_minus_the_share_that_changed(pairs: list[Graded]) -> None:
    found = Deltas.of(pairs)
    assert found is not None
    changed = sum(each.rating < 3 and any(each.changed.values()) for each in pairs)
    assert found.overall == 1 - Fraction(changed, len(pairs))


def test_where_no_content_changed_quality_is_defined() -> None:
    found = Deltas.of([Graded(3)] * 4)
    assert found is not None
    assert (found.content, found.quality, found.overall) == (0, 1, 1)


def test_without_pairs_there_is_nothing_to_say() -> None:
    assert Deltas.of([]) is None
    assert content_delta([]) is None
    assert quality_delta([]) == 1
    assert overall(Fraction(1), Fraction(1)) == 0


def test_what_is_said_of_a_judge() -> None:
    judging = Judging(
        "openai:gpt-5-mini",
        {3: 4, 2: 2, 1: 1, None: 1},
        failed=2,
        orders=Agreement(7, 8, 0.714),
        repeats=Agreement(3, 3, None),
        quality=Deltas.of(example()),
        ungraded=3,
    )
    assert judging.pairs == 8
    assert rated(judging) == (
        "the judge openai:gpt-5-mini was shown 10 pairs of answers: 4 the same, 2 with minor differences, 1 different, "
        "1 undecided, 2 failed; both orders agreed in 7 of 8, kappa 0.71; repeats agreed in 3 of 3"
    )
    assert graded(judging.quality, judging.ungraded) == (
        "content changed in 50 of 100 answers (ΔContent 0.50), quality in 15 of those (ΔQuality 0.30: faithfulness in "
        "11, completeness in 6); overall 0.85; 3 left out, without outcome or grade"
    )
    assert not Judging("mine", {}, failed=0).asked
    shown = json.loads(json.dumps(judging.as_dict()))
    assert shown == judging.as_dict()
    assert shown["ratings"] == {"3": 4, "2": 2, "1": 1, "undecided": 1}
    assert shown["orders"] == {"equal": 7, "pairs": 8, "kappa": 0.714}
    assert (shown["quality"]["overall"], shown["quality"]["by_measure"]["completeness"]) == (0.85, 6)
