"""Whether the semantic tier can run here, told from the disk: the header of every run asks, so nothing is loaded."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

MODEL_FOLDER = "models--sentence-transformers--all-MiniLM-L6-v2"


def semantic_mend(model: str | None = None) -> str:
    """What keeps the semantic tier from running, and its mend; empty if nothing does.

    Looks at the disk only: a model is never downloaded by a test run.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        return "not installed (pip install 'pytest-promptfuzz[semantic]')"
    if model is not None:
        return "" if Path(model).is_dir() else f"there is no folder {model} (promptfuzz_model)"
    if (_hub() / MODEL_FOLDER).is_dir():
        return ""
    return (
        "its model is not on this machine (hf download sentence-transformers/all-MiniLM-L6-v2, or "
        "promptfuzz_model=FOLDER)"
    )


def _hub() -> Path:
    """Where Hugging Face's libraries keep models."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()
