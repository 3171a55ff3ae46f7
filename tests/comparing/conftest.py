"""What the comparison's tests share."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.embedding.embedder import CachedEmbedder
from pytest_promptfuzz.embedding.transformer import SentenceTransformerEmbedder


@pytest.fixture(scope="session")
def minilm(minilm_folder: str) -> CachedEmbedder:
    """The real MiniLM."""
    return CachedEmbedder(SentenceTransformerEmbedder(minilm_folder))
