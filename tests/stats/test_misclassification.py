"""A judge's errors in a score: Rogan and Gladen's formulas, worked examples, and a simulation."""

from __future__ import annotations

from math import inf, sqrt

import pytest

from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.stats.intervals import score_interval
from pytest_promptfuzz.stats.misclassification import Confusion, correction_of
from pytest_promptfuzz.stats.scores import CREDITS
from pytest_promptfuzz.stats.verdict import Sampled


def confusion(*pairs: tuple[int, int, int]) -> Confusion:
    """Of people's rating, the judge's, and how often."""
    return Confusion.of([(true, said) for true, said, count in pairs for _ in range(count)])


def test_pairs_are_counted_by_what_people_say() -> None:
    found = confusion((1, 1, 5), (1, 3, 2), (3, 2, 1))
    assert found.counts == ((5, 0, 2), (0, 0, 0), (0, 1, 0))
    assert found.items == 8


def test_two_ratings_are_rogan_and_gladen() -> None:
    # Sensitivity (people and judge say 3) 0.9 of 2000, specificity 0.8 of 1000; the judge says 3 in 60 of 100.
    found = correction_of({3: 60, 1: 40}, [], confusion((3, 3, 1800), (3, 1, 200), (1, 1, 800), (1, 3, 200)))
    assert found is not None
    youden = 0.9 + 0.8 - 1
    true = (0.6 + 0.8 - 1) / youden
    # One item of each rating counts as rated alike: hardly anything of so many.
    assert found.score == pytest.approx(true, rel=1e-3)
    assert found.shift == pytest.approx(true - 0.6, rel=1e-2)
    assert found.slope == pytest.approx(1 / youden, rel=1e-3)
    error = sqrt(true**2 * 0.9 * 0.1 / 2000 + (1 - true) ** 2 * 0.8 * 0.2 / 1000) / youden
    assert found.error == pytest.approx(error, rel=5e-3)  # half an item of each kind is added


def test_three_ratings_solve_for_credits_that_are_right_on_average() -> None:
    rows = ((15, 2, 2), (1, 7, 1), (2, 4, 33))  # and one of each rated alike
    measured = Confusion(rows)
    # If the judge says of a test's pairs just what M makes of 10, 20 and 70 % true ratings, these come back.
    true = (0.1, 0.2, 0.7)
    whole = [[count + (at == of) for at, count in enumerate(row)] for of, row in enumerate(rows)]
    seen = [
        sum(share * row[at] / sum(row) for share, row in zip(true, whole, strict=True)) for at in range(3)
    ]
    judged = {rating: round(share * 400_000) for rating, share in zip((1, 2, 3), seen, strict=True)}
    found = correction_of(judged, [], measured)
    assert found is not None
    assert found.score == pytest.approx(0.2 * 0.7 + 0.7, abs=1e-5)


def test_a_judge_without_errors_corrects_nothing_but_is_not_certain() -> None:
    perfect = confusion((1, 1, 20), (2, 2, 20), (3, 3, 20))
    found = correction_of({3: 6, 1: 2}, [1.0, 0.0], perfect)
    assert found is not None
    assert (found.decided, found.trials, found.items) == (8, 10, 60)
    assert (found.score, found.shift, found.slope) == (
        pytest.approx(0.7),
        pytest.approx(0.0),
        pytest.approx(1.0),
    )
    assert 0.01 < found.error < 0.1
    more = correction_of({3: 6, 1: 2}, [1.0, 0.0], confusion((1, 1, 200), (2, 2, 200), (3, 3, 200)))
    assert more is not None
    assert more.error < found.error / 3


def test_only_what_the_judge_decided_moves() -> None:
    measured = confusion((3, 3, 18), (3, 1, 2), (1, 1, 16), (1, 3, 4))
    whole = correction_of({3: 5, 1: 5}, [], measured)
    half = correction_of({3: 5, 1: 5}, [1.0] * 10, measured)
    assert whole is not None
    assert half is not None
    assert half.shift == pytest.approx(whole.shift / 2)
    assert half.error == pytest.approx(whole.error / 2)
    # Distances to the limits add as squares: 0.05 times the slope, and 1.96 errors, around 0.75 and the shift.
    reach = sqrt((half.slope * 0.05) ** 2 + (1.959964 * half.error) ** 2)
    assert half.span(0.75, 0.7, 0.8, 0.95) == (
        pytest.approx(min(0.75, 0.75 + half.shift - reach)),
        pytest.approx(max(0.75, 0.75 + half.shift + reach)),
    )
    assert correction_of({}, [1.0], measured) is None
    assert correction_of({3: 1}, [], Confusion(((0, 0, 0),) * 3)) is None


def test_a_judge_that_tells_nothing_apart_leaves_its_part_open() -> None:
    found = correction_of({3: 5}, [1.0] * 5, confusion((3, 3, 10), (3, 1, 10), (1, 1, 10), (1, 3, 10)))
    assert found is not None
    assert found.span(1.0, 0.8, 1.0, 0.95) == (pytest.approx(0.3), 1.0)
    always_wrong = correction_of({3: 5}, [1.0] * 5, confusion((3, 1, 1), (1, 3, 1)))
    assert always_wrong is not None  # with one of each rated alike it says the same of both
    assert (always_wrong.score, always_wrong.error) == (None, inf)
    assert always_wrong.span(1.0, 0.8, 1.0, 0.95) == (pytest.approx(0.3), 1.0)
    assert always_wrong.as_dict()["error"] is None


def test_one_odd_item_of_a_rare_rating_does_not_upset_all() -> None:
    most = ((1, 1, 30), (3, 3, 26), (1, 3, 4))
    plain = correction_of({3: 14, 1: 6}, [], confusion(*most))
    odd = correction_of({3: 14, 1: 6}, [], confusion(*most, (2, 3, 1)))
    assert plain is not None
    assert odd is not None
    assert odd.score == pytest.approx(plain.score, abs=0.05)


def test_the_interval_of_a_score_widens_and_holds_it() -> None:
    credited = [(str(at), 1.0 if at else 0.0) for at in range(12)]
    measured = confusion((3, 3, 18), (3, 1, 2), (1, 1, 16), (1, 3, 4))
    correction = correction_of({3: 11, 1: 1}, [], measured)
    plain, widened = Sampled(credited), Sampled(credited, correction=correction)
    before, after = score_interval(credited), widened.interval()
    assert after is not None
    assert plain.interval() == before
    assert after.low < before.low <= 11 / 12 <= after.high
    assert widened.least() < plain.least()


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Of 400 simulated tests of 40 pairs, 60 % the same, judged with sensitivity 0.85 and specificity 0.75."""
    rng = Rng(root_key(0, "misclassification"), "simulation")

    def happens(share: float) -> bool:
        return rng.below(10_000) < share * 10_000

    def judged(true: int) -> int:
        return (3 if happens(0.85) else 1) if true == 3 else (1 if happens(0.75) else 3)

    held = 0
    for _ in range(400):
        sheet = [3 if happens(0.6) else 1 for _ in range(60)]
        measured = Confusion.of((true, judged(true)) for true in sheet)
        said = [judged(3 if happens(0.6) else 1) for _ in range(40)]
        credited = [
            (str(at), CREDITS["equivalent"] / 10 if each == 3 else 0.0) for at, each in enumerate(said)
        ]
        correction = correction_of({3: said.count(3), 1: said.count(1)}, [], measured)
        interval = Sampled(credited, correction=correction).interval()
        assert interval is not None
        held += interval.low <= 0.6 <= interval.high
    assert held >= 376  # 94 %


def test_a_lenient_judge_is_seen_through() -> None:
    """Of 200 tests, 30 % the same, the judge lets half of the different answers pass."""
    rng = Rng(root_key(0, "lenient"), "simulation")
    held = plain_held = 0
    for _ in range(200):
        truth = [3 if rng.below(10) < 3 else 1 for _ in range(140)]
        said = [3 if each == 3 or rng.below(2) else 1 for each in truth]
        measured = Confusion.of(zip(truth[:80], said[:80], strict=True))
        test = said[80:]
        credited = [(str(at), 1.0 if each == 3 else 0.0) for at, each in enumerate(test)]
        correction = correction_of({3: test.count(3), 1: test.count(1)}, [], measured)
        interval, plain = Sampled(credited, correction=correction).interval(), score_interval(credited)
        assert interval is not None
        held += interval.low <= 0.3 <= interval.high
        plain_held += plain.low <= 0.3 <= plain.high
    assert held >= 190
    assert plain_held <= 10
