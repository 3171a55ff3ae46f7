"""The semantic tier: asked last, cached, and honest about what it did not read."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.comparing.meaning import cosine
from pytest_promptfuzz.errors import ConfigurationError
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.judging.encoders import SentenceTransformerEmbedder
from pytest_promptfuzz.judging.meaning import CachedEmbedder

FAR = "The parcel went astray; another one comes soon.", "Expect a replacement, since it got mislaid."


class Letters:
    """Counts letters: enough to be an embedder, and to see what is asked of it."""

    name = "letters"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts):
        self.asked += texts
        return [[text.count(letter) for letter in "aeiou"] for text in texts]


def test_cheap_tiers_never_ask() -> None:
    embedder = Letters()
    for first, second in (
        ("same", "Same."),
        ("You have 3 days.", "You have 4 days."),
        ('{"a": 1}', '{"a": 2}'),
    ):
        compare(first, second, semantic=embedder)
    assert embedder.asked == []
    compare(*FAR, semantic=embedder)
    assert embedder.asked == list(FAR)


def test_texts_are_embedded_once() -> None:
    embedder = Letters()
    cached = CachedEmbedder(embedder)
    compare(*FAR, semantic=cached)
    compare(*FAR, semantic=cached)
    assert embedder.asked == list(FAR)
    assert cached.embed([FAR[0], "new", FAR[0], "new"])[2] == cached.embed(FAR)[0]
    assert embedder.asked == [*FAR, "new"]


def test_cosine() -> None:
    assert cosine([1, 0], [2, 0]) == 1.0
    assert cosine([1, 0], [-1, 0]) == 0.0
    assert cosine([1, 1], [1, 0]) == pytest.approx(0.5**0.5)
    assert cosine([0, 0], [1, 0]) == 0.0


def test_a_guard_overrides_meaning() -> None:
    class Always(Letters):
        def embed(self, texts):
            return [[1.0] for _ in texts]

    assert (
        compare("The refund is approved.", "The refund is not approved.", semantic=Always()).outcome
        == "deviation"
    )
    assert compare(*FAR, semantic=Always()).outcome == "equivalent"
    buyer = compare("The invoice goes to the buyer.", "The invoice goes to the neighbour.", semantic=Always())
    assert buyer.outcome == "undecided"
    assert "'buyer' in the baseline became 'neighbour'" in buyer.explanation


def test_meaning_lifts_no_other_arrangement_and_makes_nothing_minor() -> None:
    class Close(Letters):
        def embed(self, texts):
            return [[1.0, 0.0] if index % 2 else [0.9, 0.436] for index, _ in enumerate(texts)]

    turned = (
        "The team that wrote the plan praised the board.",
        "The plan praised the team that the board wrote.",
    )
    for pair in (turned, FAR, ("The museum opens early.", "The museum sells postcards.")):
        found = compare(*pair, semantic=Close(), equivalent_at=0.8 if pair is turned else 0.95)
        assert found.outcome == "undecided", found.explanation


@pytest.mark.minilm
def test_minilm_tells_rewordings_from_other_answers(minilm) -> None:
    same = compare(
        "The shop is closed on public holidays.", "On bank holidays we do not open.", semantic=minilm
    )
    other = compare(
        "Hold the button for a while to reset it.", "Our office is closed on holidays.", semantic=minilm
    )
    assert same.outcome != "deviation"
    assert (other.outcome, other.reason) == ("deviation", "semantic")


@pytest.mark.minilm
def test_minilm_says_when_it_truncates(minilm) -> None:
    text = "The committee considered another proposal from the harbour town. " * 40
    assert minilm.truncates(text)
    assert not minilm.truncates("A short text.")
    found = compare(
        text, text.replace("considered", "examined at length") + "It then rested.", semantic=minilm
    )
    if found.reason == "semantic":
        assert "256 tokens" in found.explanation


@pytest.mark.minilm
def test_a_missing_model_is_named(minilm, tmp_path) -> None:
    with pytest.raises(ConfigurationError, match="nowhere"):
        SentenceTransformerEmbedder(str(tmp_path / "nowhere")).embed(["x"])
