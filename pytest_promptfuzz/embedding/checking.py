"""Whether a copy of a model is what it says: known texts are embedded, and the vectors compared with known ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_promptfuzz.embedding.models import MINILM, read_manifest
from pytest_promptfuzz.embedding.onnx import OnnxEmbedder
from pytest_promptfuzz.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import TypeGuard

    from pytest_promptfuzz.embedding.embedder import Embedder

TEXTS = (
    "The parcel is lost; we will send another one soon.",
    "Expect a replacement, since ours went astray.",
    "Grüße aus Köln: 3,50 € — 日本語 😀",
)
CLOSE = 1e-4
"""By how much a number of a vector may differ from the known one; other builds of the runtime differ by about 1e-6."""

# The first numbers of MiniLM's vectors, for published copies, which have no manifest.
_MINILM = (
    (-0.02039, -0.01113, 0.07328, 0.01642, 0.05035, 0.01428, -0.06316, -0.02334),
    (-0.02793, -0.01567, 0.08035, -0.00251, -0.01137, -0.06816, -0.04967, -0.00311),
    (0.02774, 0.10767, 0.04981, -0.02351, -0.03856, 0.05046, 0.03113, 0.06942),
)


def check(folder: Path) -> None:
    """Embed known texts with an exported model.

    Raises:
        ConfigurationError: A library is missing, the files cannot be loaded, or the vectors are not those of the model.
    """
    known: Sequence[Sequence[float]] = _MINILM
    model, said = MINILM, read_manifest(folder).get("check")
    if _is_check(said):
        known, model = said, "what its manifest says"
    for text, expected, vector in zip(TEXTS, known, OnnxEmbedder(folder).embed(TEXTS), strict=True):
        if not _begins(vector, expected):
            raise ConfigurationError(
                f"the model in {folder} is not {model}: it makes another vector of {text!r}. Its files may be damaged, "
                "or of different models."
            )


def is_minilm(embedder: Embedder) -> bool:
    """Whether a model is MiniLM, told by what it makes of known texts."""
    return makes_minilm(embedder.embed(TEXTS))


def makes_minilm(vectors: Sequence[Sequence[float]]) -> bool:
    """Whether the vectors of ``TEXTS`` are those of MiniLM."""
    return all(_begins(vector, known) for vector, known in zip(vectors, _MINILM, strict=True))


def _begins(vector: Sequence[float], known: Sequence[float]) -> bool:
    return len(vector) >= len(known) and all(
        math.isclose(each, wanted, abs_tol=CLOSE) for each, wanted in zip(vector, known, strict=False)
    )


def _is_check(value: object) -> TypeGuard[list[list[float]]]:
    return (
        isinstance(value, list)
        and len(value) == len(TEXTS)
        and all(
            isinstance(row, list) and row and all(isinstance(each, float) for each in row) for row in value
        )
    )
