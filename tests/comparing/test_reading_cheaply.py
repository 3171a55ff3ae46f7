"""What spares the comparison work never changes what it finds."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.comparing.guards import values
from pytest_promptfuzz.comparing.guards.pair import Pair
from pytest_promptfuzz.comparing.reading.text import Text
from pytest_promptfuzz.comparing.values.same_values import agreed
from pytest_promptfuzz.judging.compare import compare


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("We met. It rained.", ["We met", "It rained"]),
        ("We met Dr. Silva. It rained.", ["We met Dr. Silva", "It rained"]),
        ("Is it late? It is. Go.", ["Is it late", "It is", "Go"]),
        ("See Fig. 2 (p. 3). Then stop.", ["See Fig", "2 (p", "3)", "Then stop"]),
    ],
)
def test_sentences_end_where_a_stop_ends_them(text: str, sentences: list[str]) -> None:
    assert Text(text).sentences == sentences


def test_a_phrase_may_go_on_in_the_next_line() -> None:
    assert Text("Bring at\nleast three.").tokens == Text("Bring at least three.").tokens


def test_a_word_that_stands_less_often_is_gone() -> None:
    first, second = "red, pink, red and green", "red, pink, green and pink"
    assert Pair(Text(first), Text(second)).changed == ({"red"}, {"pink"})


def test_a_share_in_words_agrees_with_its_percentage() -> None:
    made = agreed(Pair(Text("They refund 25 % of the price."), Text("They refund a quarter of the price.")))
    assert made.b.raw == "They refund 25 % of the price."


@pytest.mark.parametrize(("one", "two"), [("<", ">"), ("≤", "≥"), ("=", "≠")])
def test_a_sign_between_two_values_counts(one: str, two: str) -> None:
    first, second = f"Accept the batch if loss {one} 5.", f"Accept the batch if loss {two} 5."
    assert values.check_numbers(Pair(Text(first), Text(second))) is not None
    assert compare(first, second).outcome == "deviation"
