"""Which model a run finds, told from the disk, and what is said where there is none."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.judging import models
from pytest_promptfuzz.judging.models import find_model, model_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def empty_home(monkeypatch, tmp_path) -> None:
    for name in ("HF_HOME", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PROMPTFUZZ_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv("PROMPTFUZZ_MODEL", raising=False)
    monkeypatch.setattr(models, "PACKAGE", "no_package_of_this_name")


def libraries(monkeypatch, *, onnx: bool, torch: bool) -> None:
    monkeypatch.setattr(models, "has_onnx", lambda: onnx)
    monkeypatch.setattr(models, "has_torch", lambda: torch)


def exported(folder: Path, *, inner: str = "") -> Path:
    (folder / inner).mkdir(parents=True)
    (folder / inner / "model.onnx").write_bytes(b"")
    (folder / "tokenizer.json").write_text("{}")
    return folder


def trained(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "modules.json").write_text("[]")
    return folder


def downloaded(tmp_path: Path) -> Path:
    hub = tmp_path / "cache" / "huggingface" / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2"
    (hub / "refs").mkdir(parents=True)
    (hub / "refs" / "main").write_text("c9745e\n")
    return trained(hub / "snapshots" / "c9745e")


@pytest.mark.parametrize(
    ("onnx", "torch", "said"),
    [
        (
            False,
            False,
            r"no model is installed \(pip install 'pytest-promptfuzz\[semantic\]', or \[onnx\] without torch\)",
        ),
        (True, False, "the model is not on this machine (promptfuzz model install minilm)"),
        (False, True, "the model is not on this machine (hf download"),
        (True, True, "the model is not on this machine (hf download"),
    ],
)
def test_nothing_there(monkeypatch, onnx, torch, said) -> None:
    libraries(monkeypatch, onnx=onnx, torch=torch)
    found = find_model()
    assert (found.backend, found.folder, found.label) == (None, None, "")
    assert found.mend.startswith(said.replace("\\", ""))


def test_an_exported_model_comes_before_a_downloaded_one(monkeypatch, tmp_path) -> None:
    snapshot = downloaded(tmp_path)
    libraries(monkeypatch, onnx=True, torch=True)
    assert (find_model().backend, find_model().folder) == ("torch", snapshot)
    assert find_model().label == "all-MiniLM-L6-v2 (sentence-transformers)"
    installed = exported(tmp_path / "models" / "all-MiniLM-L6-v2")
    assert (find_model().backend, find_model().folder) == ("onnx", installed)
    exported(snapshot, inner="onnx")
    assert find_model().folder == installed
    libraries(monkeypatch, onnx=False, torch=True)
    assert find_model().backend == "torch"


def test_the_exported_model_of_a_download_needs_no_installing(monkeypatch, tmp_path) -> None:
    snapshot = downloaded(tmp_path)
    exported(snapshot, inner="onnx")
    libraries(monkeypatch, onnx=True, torch=False)
    assert (find_model().backend, find_model().folder) == ("onnx", snapshot)
    libraries(monkeypatch, onnx=False, torch=False)
    assert "pytest-promptfuzz[onnx]" in find_model().mend


def test_a_folder_of_ones_own(monkeypatch, tmp_path) -> None:
    libraries(monkeypatch, onnx=True, torch=True)
    both = trained(exported(tmp_path / "mine"))
    assert (find_model(str(both)).backend, find_model(str(both)).label) == ("onnx", "mine (onnxruntime)")
    libraries(monkeypatch, onnx=False, torch=True)
    assert find_model(str(both)).backend == "torch"
    libraries(monkeypatch, onnx=False, torch=False)
    assert "[onnx]" in find_model(str(both)).mend
    assert "[semantic]" in find_model(str(trained(tmp_path / "other"))).mend


def test_a_folder_without_a_model_is_named(monkeypatch, tmp_path) -> None:
    libraries(monkeypatch, onnx=True, torch=True)
    (tmp_path / "model.onnx").write_bytes(b"")
    assert f"the folder {tmp_path} (promptfuzz_model) holds no model" in find_model(str(tmp_path)).mend
    assert "there is no folder" in find_model(str(tmp_path / "nowhere")).mend


def test_the_name_is_that_of_the_manifest(monkeypatch, tmp_path) -> None:
    libraries(monkeypatch, onnx=True, torch=False)
    folder = exported(tmp_path / "mine")
    (folder / "promptfuzz-model.json").write_text('{"name": "ours-2"}')
    assert find_model(str(folder)).label == "ours-2 (onnxruntime)"
    (folder / "promptfuzz-model.json").write_text("[not json")
    assert find_model(str(folder)).label == "mine (onnxruntime)"


def test_where_models_are_installed(monkeypatch, tmp_path) -> None:
    assert model_folder() == tmp_path / "models"
    monkeypatch.delenv("PROMPTFUZZ_MODELS")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    if sys.platform not in {"win32", "darwin"}:
        assert model_folder() == tmp_path / "data" / "promptfuzz" / "models"


def test_a_library_that_cannot_be_imported_is_not_there(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert not models.has_onnx()


def test_the_variable_of_a_run_counts_for_the_command_too(monkeypatch, tmp_path, capsys) -> None:
    libraries(monkeypatch, onnx=True, torch=False)
    monkeypatch.setenv("PROMPTFUZZ_MODEL", str(exported(tmp_path / "mine")))
    assert find_model().folder == tmp_path / "mine"
    assert main(["model"]) == 0
    assert f"Answers are compared by meaning with mine (onnxruntime), in {tmp_path / 'mine'}." in " ".join(
        capsys.readouterr().out.split()
    ).replace("- ", "-")
    assert find_model(str(exported(tmp_path / "other"))).folder == tmp_path / "other", (
        "the configuration wins"
    )


def test_a_package_that_carries_the_model_is_found(monkeypatch, tmp_path) -> None:
    libraries(monkeypatch, onnx=True, torch=True)
    package = tmp_path / "site" / "carries_a_model"
    folder = trained(package / "model")
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(models, "PACKAGE", "carries_a_model")
    assert (find_model().backend, find_model().folder) == ("torch", folder)
    assert find_model().name == "all-MiniLM-L6-v2"
    assert find_model().folder != downloaded(tmp_path), "what was downloaded comes first"
    assert find_model().folder == models.hub_snapshot()
    (folder / "modules.json").unlink()
    assert models.packaged() is None
