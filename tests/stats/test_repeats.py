"""The noise floor, the permutation test, and asking again before a test fails."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_promptfuzz.stats.repeats import RepeatEvidence, escalate, known
from pytest_promptfuzz.stats.scores import Counts, Matrix, adjusted, floor_of
from pytest_promptfuzz.stats.significance import Labelled, p_value, smallest_p
from pytest_promptfuzz.stats.verdict import decide
from pytest_promptfuzz.wording.verdicts import explained

GATE = Fraction(85, 100)


class Credits:
    """The credit of two of some answers, in a list that may grow."""

    def __init__(self, answers):
        self.answers = answers

    def __call__(self, one, other):
        pair = self.answers[one], self.answers[other]
        return None if "?" in pair else 10 if pair[0] == pair[1] else 0


def matrix(baseline, mutated, repeated=None):
    """A matrix of answers that are equivalent when they are equal; ``?`` is undecided with everything."""
    answers = [*baseline]
    table = Matrix(Credits(answers))
    table.baseline.extend(range(len(baseline)))
    for each in mutated:
        table.mutated.append([len(answers) + place for place in range(len(each))])
        answers.extend(each)
    for place, each in (repeated or {}).items():
        table.repeated[place] = [len(answers) + number for number in range(len(each))]
        answers.extend(each)
    return table


def labelled(baseline, mutated):
    table = matrix(baseline, [[each] for each in mutated])
    return Labelled(
        table.between, tuple(table.baseline), tuple(each for one in table.mutated for each in one)
    )


def test_floor_and_adjusted_score_of_a_small_table() -> None:
    table = matrix("aab", [["a"], ["a"], ["b"], ["c"]])
    assert table.floor() == Fraction(1, 3)  # one pair of three agrees
    assert table.kept() == Fraction(5, 12)  # a, a: 2 of 3 each; b: 1 of 3; c: none
    assert adjusted([table]) == 1  # 5/12 is more than 1/3
    assert adjusted([matrix("aaaa", [["a"], ["b"]])]) == Fraction(1, 2)


def test_inputs_have_the_same_weight() -> None:
    one, other = matrix("aa", [["a"], ["a"]]), matrix("ab", [["a"], ["c"]])
    assert floor_of([one, other]) == Fraction(1, 2)
    assert adjusted([one, other]) == 1
    assert adjusted([one, matrix("bb", [["b"], ["c"]])]) == Fraction(3, 4)


@pytest.mark.parametrize("baseline", ["a", ""])
def test_without_two_answers_there_is_no_floor(baseline) -> None:
    table = matrix(baseline, [["a"]])
    assert table.floor() is None
    assert adjusted([table]) is None


def test_what_nobody_can_tell_is_no_floor() -> None:
    assert matrix("a??", [["a"]]).floor() is None


def test_the_adjusted_score_recovers_the_share_that_breaks() -> None:
    rng = random.Random(1)
    found = []
    for _ in range(300):
        broken = [rng.random() < 0.3 for _ in range(32)]
        draw = lambda bad: ("x" if bad else "a") if rng.random() < 0.84 else ("y" if bad else "b")  # noqa: E731
        table = matrix([draw(False) for _ in range(16)], [[draw(bad)] for bad in broken])
        value = adjusted([table])
        assert value is not None
        found.append(float(value))
    assert 0.66 < sum(found) / len(found) < 0.76


def brute(cases):
    """The permutation test by counting every labelling."""
    tables = []
    for case in cases:
        numbers = [*case.baseline, *case.mutated]
        values = []
        for chosen in itertools.combinations(numbers, len(case.baseline)):
            rest = [each for each in numbers if each not in chosen]
            pairs = [case.between(a, b) for a, b in itertools.combinations(chosen, 2)]
            across = [case.between(a, b) for a in chosen for b in rest]
            value = Fraction(sum(10 if x is None else x for x in pairs), len(pairs))
            values.append(value - Fraction(sum(10 if x is None else x for x in across), len(across)))
        tables.append(values)
    seen = sum(values[0] for values in tables)  # the first labelling is the real one
    all_of_them = [sum(each) for each in itertools.product(*tables)]
    return sum(value >= seen for value in all_of_them) / len(all_of_them)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.text("ab?", min_size=2, max_size=4), st.text("ab?", min_size=1, max_size=3)),
        min_size=1,
        max_size=2,
    )
)
def test_p_is_that_of_every_labelling(cases) -> None:
    tables = [labelled(*case) for case in cases]
    assert p_value(tables) == pytest.approx(brute(tables))


def test_the_smallest_p_is_reached_by_the_clearest_case() -> None:
    table = [labelled("aaaa", "xxx")]
    assert p_value(table) == pytest.approx(1 / 35) == pytest.approx(smallest_p(table))


def test_unlike_answers_are_drawn_and_agree_with_the_exact_test() -> None:
    rng = random.Random(3)
    shares = {pair: rng.choice([0, 7, 10]) for pair in itertools.combinations(range(9), 2)}
    case = Labelled(lambda a, b: shares[min(a, b), max(a, b)], (0, 1, 2, 3), (4, 5, 6, 7, 8))
    exact = brute([case])
    many = Labelled(case.between, case.baseline, case.mutated)
    assert p_value([many]) == pytest.approx(exact)  # 126 labellings: counted
    from pytest_promptfuzz.stats import significance

    table = significance.Table.of(case.between, case.baseline, case.mutated)
    drawn = significance._drawn([table], [1], table.value(range(table.k)), seed=0, enough=1.0)
    assert drawn == pytest.approx(exact, abs=0.02)


SHARE = {("a", "b"): 7, ("b", "a"): 7}  # "b" is a minor variation of "a"


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.text("abcd", min_size=2, max_size=4), st.text("abcd", min_size=1, max_size=3)),
        min_size=1,
        max_size=2,
    )
)
def test_p_is_that_of_every_labelling_with_minor_variations(cases) -> None:
    tables = []
    for baseline, mutated in cases:
        answers = baseline + mutated

        def between(one, other, answers=answers):
            pair = answers[one], answers[other]
            return 10 if pair[0] == pair[1] else SHARE.get(pair, 0)

        places = range(len(answers))
        tables.append(Labelled(between, (*places[: len(baseline)],), (*places[len(baseline) :],)))
    assert p_value(tables) == pytest.approx(brute(tables))


def test_many_answers_of_few_kinds_are_counted_and_not_drawn() -> None:
    # 15 and 32 answers of four kinds: 1.5e12 labellings, of 7,000 kinds.
    kinds = {"a": (12, 4), "b": (3, 8), "c": (0, 13), "d": (0, 7)}
    sizes = [sum(counts) for counts in kinds.values()]
    k, n = 15, 32

    def statistic(chosen):
        within = sum(math.comb(count, 2) for count in chosen)
        across = sum(count * (size - count) for count, size in zip(chosen, sizes, strict=True))
        return Fraction(within, math.comb(k, 2)) - Fraction(across, k * n)

    def ways(chosen):
        return math.prod(math.comb(size, count) for count, size in zip(chosen, sizes, strict=True))

    every = [each for each in itertools.product(*(range(size + 1) for size in sizes)) if sum(each) == k]
    assert sum(map(ways, every)) == math.comb(k + n, k)
    for moved in range(4):  # from a clear difference to a small one
        real = (12 - moved, 3, moved, 0)
        exact = sum(ways(each) for each in every if statistic(each) >= statistic(real)) / math.comb(k + n, k)
        baseline = "a" * (12 - moved) + "b" * 3 + "c" * moved
        mutated = "a" * (4 + moved) + "b" * 8 + "c" * (13 - moved) + "d" * 7
        assert p_value([labelled(baseline, mutated)]) == pytest.approx(exact, rel=1e-12)


def test_answers_that_are_all_minor_variations_of_each_other_are_counted() -> None:
    k, n, same, chosen = 15, 17, 14, 9  # 14 of 32 answers are the same, nine of them to the unmutated prompt

    def between(one, other):
        return 10 if usual(one) and usual(other) else 7

    def usual(number):
        return number < chosen or k <= number < k + same - chosen

    counts = range(max(0, k - (k + n - same)), same + 1)
    ways = {count: math.comb(same, count) * math.comb(k + n - same, k - count) for count in counts}
    # The more of the same are chosen, the more agree; what is left agrees less with them.
    exact = sum(ways[count] for count in counts if count >= chosen) / math.comb(k + n, k)
    assert p_value([Labelled(between, (*range(k),), (*range(k, k + n),))]) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("baseline", "mutated"), [("a", "x"), ("", "x"), ("aa", "")])
def test_too_few_answers_tell_nothing(baseline, mutated) -> None:
    assert p_value([labelled(baseline, mutated)]) == 1.0
    assert smallest_p([labelled(baseline, mutated)]) == 1.0


def below(evidence):
    return evidence.adjusted is None or evidence.adjusted < GATE


def asked_again(table, draw, alpha=0.05, proves=below):
    """Drive ``escalate`` with answers drawn for the unmutated prompt (``None``) or a mutation; evidence and calls."""
    looks = escalate([table], proves, alpha=alpha)
    answers, calls = table.credit.answers, 0
    try:
        wanted = next(looks)
        while True:
            for each in wanted:
                for _ in range(each.count):
                    place = table.baseline
                    if each.mutation is not None:
                        place = table.repeated.setdefault(each.mutation, [])
                    place.append(len(answers))
                    answers.append(draw(each.mutation))
                    calls += 1
            wanted = next(looks)
    except StopIteration as stop:
        return stop.value, calls


def test_a_mutation_that_breaks_for_good_is_told_by_few_answers() -> None:
    table = matrix("a", [["a"]] * 6 + [["x"], ["x"]])
    evidence, calls = asked_again(table, lambda mutation: "a" if mutation is None else "x")
    assert evidence.significant
    assert evidence.lasting == 2
    assert calls < 20
    verdict = decide(Counts(equivalent=6, deviation=2), GATE, evidence=evidence)
    assert (verdict.verdict, verdict.reason) == ("brittle", "score-below-threshold")


def test_what_does_not_come_again_passes() -> None:
    table = matrix("a", [["a"]] * 6 + [["x"], ["x"]])
    evidence, _ = asked_again(table, lambda mutation: "a")
    assert not evidence.significant
    assert evidence.lasting == 0
    assert evidence.confirmed == 1
    verdict = decide(Counts(equivalent=6, deviation=2), GATE, evidence=evidence)
    assert (verdict.verdict, verdict.reason) == ("pass", "not-repeated")


def test_an_odd_baseline_is_found_out() -> None:
    table = matrix("b", [["a"]] * 8)
    evidence, _ = asked_again(table, lambda mutation: "a")
    assert not evidence.significant
    assert decide(Counts(deviation=8), GATE, evidence=evidence).verdict == "pass"


def test_a_model_that_never_repeats_itself_is_noisy() -> None:
    number = itertools.count()
    table = matrix("a", [[each] for each in "qrstuvwx"])
    evidence, _ = asked_again(table, lambda mutation: f"answer {next(number)}")
    assert evidence.floor == 0
    verdict = decide(Counts(deviation=8), GATE, evidence=evidence)
    assert (verdict.verdict, verdict.reason) == ("noisy", "noise-floor")


def test_answers_that_cannot_be_had_end_it() -> None:
    table = matrix("a", [["x"]] * 8)
    looks = escalate([table], below)
    next(looks)
    with pytest.raises(StopIteration) as stop:
        next(looks)
    assert stop.value.value.p == 1.0
    assert decide(Counts(deviation=8), GATE, evidence=stop.value.value).verdict == "inconclusive"


def test_more_deviations_than_allowed_have_to_last() -> None:
    once = matrix("a", [["a"]] * 19 + [["x"]])
    evidence, _ = asked_again(once, lambda mutation: "a")
    counts = Counts(equivalent=19, deviation=1)
    assert decide(counts, GATE, max_deviations=0, evidence=evidence).verdict == "pass"
    lasting = matrix("a", [["a"]] * 19 + [["x"]])

    def proves(evidence):
        return decide(counts, GATE, max_deviations=0, evidence=evidence).verdict == "brittle"

    evidence, calls = asked_again(lasting, lambda mutation: "a" if mutation is None else "x", proves=proves)
    assert calls < 20
    assert decide(counts, GATE, max_deviations=0, evidence=evidence).reason == "too-many-deviations"


def test_a_floor_of_three_answers_excuses_nothing() -> None:
    # One odd answer of three makes the floor 1/3, and with it almost any score would be excused.
    evidence = known([matrix("aab", [["a"]] * 5 + [["x"]] * 3)])
    assert evidence.adjusted == 1
    counts = Counts(equivalent=5, deviation=3)
    assert decide(counts, GATE, evidence=evidence).verdict == "brittle"  # and is asked again
    spent, _ = asked_again(
        matrix("aab", [["a"]] * 5 + [["x"]] * 3), lambda mutation: "a" if mutation is None else "x"
    )
    assert decide(counts, GATE, evidence=spent).verdict == "brittle"


def test_three_answers_that_are_all_there_is_leave_it_open() -> None:
    looks = escalate([matrix("aab", [["a"]] * 6 + [["x"]] * 2)], below)
    next(looks)
    with pytest.raises(StopIteration) as stop:
        next(looks)
    verdict = decide(Counts(equivalent=6, deviation=2), GATE, evidence=stop.value.value)
    assert (verdict.verdict, verdict.reason) == ("inconclusive", "not-significant")


def nothing_more(table, alpha):
    looks = escalate([table], below, alpha=alpha)
    next(looks)
    with pytest.raises(StopIteration) as stop:
        next(looks)
    return stop.value.value


def test_three_answers_that_are_all_there_is_may_make_the_whole_error() -> None:
    # 4 of 165 labellings: those in which the three answers to the unmutated prompt are three of the four that agree.
    lost = [["a"]] + [["x"]] * 7
    evidence = nothing_more(matrix("aaa", lost), 0.025)
    assert (evidence.p, evidence.alpha) == (pytest.approx(4 / 165), 0.025)
    counts = Counts(equivalent=1, deviation=7)
    assert decide(counts, GATE, evidence=evidence).verdict == "brittle"
    many = decide(counts, GATE, evidence=nothing_more(matrix("aaa", lost), 0.024))
    assert (many.verdict, many.reason) == ("inconclusive", "not-significant")


def test_after_a_look_no_other_one_has_the_whole_error() -> None:
    table = matrix("a" * 8, [["a"]] * 6 + [["x"]] * 2, {6: "xxxx", 7: "xxxx"})
    looks = escalate([table], lambda _: False, alpha=0.05)
    next(looks)
    with pytest.raises(StopIteration) as stop:
        next(looks)
    assert stop.value.value.alpha < 0.05


def test_an_odd_first_answer_hides_nothing() -> None:
    # Four broken mutations agree with the odd first answer, so that only a sound one is asked again.
    table = matrix("x", [["x"]] * 4 + [["a"]])
    evidence, _ = asked_again(table, lambda mutation: "a")
    assert evidence.confirmed is not None
    assert evidence.confirmed < GATE
    assert decide(Counts(equivalent=4, deviation=1), GATE, evidence=evidence).verdict != "pass"


def test_a_score_that_only_an_odd_answer_reaches_is_explained() -> None:
    evidence, _ = asked_again(
        matrix("xaaaaaaa", [["x"]] * 5 + [["a"]]), lambda mutation: "a" if mutation is None else "x"
    )
    verdict = decide(Counts(equivalent=6), GATE, evidence=evidence)
    assert "may be an odd one" in explained(verdict)


def test_a_session_of_many_tests_asks_for_more() -> None:
    def draw(mutation):
        return "a" if mutation is None else "x"

    alone, few = asked_again(matrix("a", [["a"]] * 6 + [["x"], ["x"]]), draw)
    crowded, many = asked_again(matrix("a", [["a"]] * 6 + [["x"], ["x"]]), draw, alpha=0.05 / 1_000)
    assert alone.significant
    assert crowded.significant
    assert few < many
    assert crowded.p <= 0.05 / 1_000 / 1


def test_without_evidence_the_raw_score_decides() -> None:
    assert decide(Counts(equivalent=6, deviation=2), GATE, evidence=RepeatEvidence()).verdict == "brittle"
