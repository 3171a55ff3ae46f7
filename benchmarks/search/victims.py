"""What is attacked: two classifiers trained here, and the simulated model. Needs scikit-learn; MiniLM for the second.

A victim answers each text once; what it said is kept in memory, and in a file if one is named, since all searches
ask much the same. That is no part of how queries are counted.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sentences import Labelled

    from pytest_promptfuzz.comparing.meaning import Embedder


class Victim(Protocol):
    """A classifier."""

    name: str
    labels: Sequence[str]

    def shares(self, texts: Sequence[str]) -> list[list[float]]:
        """How sure it is of each label, for each text."""
        ...


class Linear:
    """TF-IDF of words and pairs of words, logistic regression."""

    name = "linear"

    def __init__(self, learnt: Sequence[Labelled]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        self._model = make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(C=10, max_iter=1000)
        )
        self._model.fit([each.text for each in learnt], [each.label for each in learnt])
        self.labels = [str(each) for each in self._model.classes_]

    def shares(self, texts: Sequence[str]) -> list[list[float]]:
        return [list(map(float, row)) for row in self._model.predict_proba(list(texts))]


class Bent:
    """Embeddings of sentences, and a perceptron with a hidden layer over them: no word has a weight of its own."""

    name = "minilm"

    def __init__(self, learnt: Sequence[Labelled], embedder: Embedder) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.neural_network import MLPClassifier

        self._embedder = embedder
        self._model = MLPClassifier(hidden_layer_sizes=(32,), alpha=0.1, max_iter=300, random_state=0)
        vectors = [list(each) for each in embedder.embed([each.text for each in learnt])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._model.fit(vectors, [each.label for each in learnt])
        self.labels = [str(each) for each in self._model.classes_]

    def shares(self, texts: Sequence[str]) -> list[list[float]]:
        vectors = [list(each) for each in self._embedder.embed(list(texts))]
        return [list(map(float, row)) for row in self._model.predict_proba(vectors)]


class Remembered:
    """A victim that answers each text once.

    Args:
        victim: Who is asked.
        file: Where answers are kept between runs, a line each; ``None`` for nowhere.
    """

    def __init__(self, victim: Victim, file: Path | None = None) -> None:
        self.name, self.labels = victim.name, victim.labels
        self.asked = 0
        self._victim = victim
        self._file = file
        self._known: dict[str, list[float]] = {}
        if file is not None and file.exists():
            with file.open(encoding="utf-8") as lines:
                self._known = dict(map(json.loads, lines))

    def shares(self, texts: Sequence[str]) -> list[list[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self.asked += len(new)
            fresh = dict(zip(new, self._victim.shares(new), strict=True))
            self._known.update(fresh)
            if self._file is not None:
                with self._file.open("a", encoding="utf-8") as lines:
                    lines.writelines(json.dumps(each) + "\n" for each in fresh.items())
        return [self._known[text] for text in texts]


class Simulated:
    """The simulated model on prompts that classify: it says a label, and nothing of how sure it is."""

    name = "simulated"

    def __init__(self) -> None:
        from pytest_promptfuzz.targets.simulated import SimulatedModel

        self._model = SimulatedModel()

    def says(self, texts: Sequence[str]) -> list[str]:
        """What it answers to each prompt, in lower case and without a full stop."""
        from pytest_promptfuzz.providers.requests import Request

        return [
            self._model.answer(Request(({"role": "user", "content": text},))).text.strip(" .\n").lower()
            for text in texts
        ]
