"""Which entailment model this machine has, told from the disk: its labels are read, its weights are not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.embedding import models
from pytest_promptfuzz.embedding.models import (
    MODEL_FILE,
    ONNX_EXTRA,
    SEMANTIC_EXTRA,
    TOKENIZER_FILE,
    Model,
    model_folder,
    onnx_file,
    read_manifest,
)
from pytest_promptfuzz.errors import ConfigurationError, UsageError, unstopped

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def find_entailment(folder: str | None = None) -> Model:
    """The entailment model that a run uses. An exported one comes first: it loads in a second.

    Looks at the disk only: a model is never downloaded by a test run.

    Args:
        folder: What the user configured; ``None`` takes what the run or ``PROMPTFUZZ_ENTAILMENT`` names, or the
            installed one.

    Returns:
        The model; without a folder and a ``mend`` where none is named and none is installed.
    """
    folder = folder or models.configured().entailment or os.environ.get(ENTAILMENT_VARIABLE) or None
    if folder is not None:
        return _in_folder(Path(folder).expanduser(), " (promptfuzz_entailment)")
    installed = installed_entailment_folder()
    return _in_folder(installed, "") if installed.is_dir() else Model(None, None)


def check_entailment_folder(named: str) -> str:
    """The folder of an entailment model, as it was named. A library that is missing is no fault of the folder.

    Raises:
        UsageError: There is no such folder, or it holds no entailment model.
    """
    folder = Path(named).expanduser()
    found = _in_folder(folder, "")
    if found.folder is None and not found.name:
        wrong = found.mend.removesuffix(".")
        wrong = f"T{wrong[1:]}" if wrong.startswith("the") else wrong  # others begin with a path
        raise UsageError(
            f"{wrong}. Name the folder of an entailment model, or leave the setting out; "
            f"{GET_MODEL} downloads a model."
        )
    return named


def _in_folder(folder: Path, source: str) -> Model:
    if not folder.is_dir():
        return Model(None, None, f"there is no folder {folder}{source}")
    exported, trained = onnx_file(folder) is not None, (folder / WEIGHTS_FILE).is_file()
    if not exported and not trained:
        wanted = f"neither {MODEL_FILE} with {TOKENIZER_FILE}, nor {WEIGHTS_FILE}"
        found = f"the folder {folder}{source} holds no model: {wanted}"
        if (folder / _PICKLE).is_file():
            found += f". {_PICKLE} is a pickle, which is not read"
        return Model(None, None, found)
    try:
        label_order(folder)
    except ConfigurationError as problem:
        return Model(None, None, unstopped(problem))
    name = str(read_manifest(folder).get("name") or folder.resolve().name)
    if exported and models.has_onnx():
        return Model("onnx", folder, name=name)
    if trained and models.has_torch():
        return Model("torch", folder, name=name)
    extra = ONNX_EXTRA if exported else SEMANTIC_EXTRA
    return Model(None, None, f"the library that runs the model is not installed ({extra})", name=name)


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
