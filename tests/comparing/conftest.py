"""What the comparison's tests share."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.judging.encoders import SentenceTransformerEmbedder
from pytest_promptfuzz.judging.meaning import CachedEmbedder


@pytest.fixture(scope="session")
def minilm(minilm_folder: str) -> CachedEmbedder:
    """The real MiniLM."""
    return CachedEmbedder(SentenceTransformerEmbedder(minilm_folder))
