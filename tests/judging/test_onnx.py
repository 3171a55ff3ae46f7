"""The exported MiniLM: the same vectors as sentence-transformers, checked before it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.judging import encoders, installation, models
from pytest_promptfuzz.judging.encoders import OnnxEmbedder, SentenceTransformerEmbedder, embedder_of
from pytest_promptfuzz.judging.installation import TEXTS as CHECKED
from pytest_promptfuzz.judging.installation import export, install
from pytest_promptfuzz.judging.models import MeaningModel, find_model, packaged

pytestmark = pytest.mark.minilm

TEXTS = [
    "",
    "ok",
    "The parcel is lost; we will send another one soon.",
    "Grüße aus Köln: 3,50 € — 日本語 😀 \ud800 \x00",
    "a\nb\tc " * 10,
    "ORDER-4711/b is late, isn't it?",
    *(
        f"The committee considered proposal {number} of the harbour town. " * number
        for number in range(1, 40, 6)
    ),
    "word " * 253,
    "word " * 254,
    "word " * 255,
    "word " * 2000,
]


@pytest.fixture(autouse=True)
def own_models(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PROMPTFUZZ_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(models, "PACKAGE", "no_package_of_this_name")


@pytest.fixture(scope="module")
def torch_embedder(minilm_folder) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(minilm_folder)


def test_equal_to_sentence_transformers(exported_minilm, torch_embedder) -> None:
    embedder = OnnxEmbedder(exported_minilm)
    assert embedder.name == "all-MiniLM-L6-v2"
    clean = [text.replace("\ud800", "?") for text in TEXTS]
    for found, expected in zip(embedder.embed(TEXTS), torch_embedder.embed(clean), strict=True):
        assert len(found) == len(expected) == 384
        assert max(abs(one - other) for one, other in zip(found, expected, strict=True)) < 1e-5
    assert [embedder.truncates(text) for text in TEXTS] == [torch_embedder.truncates(text) for text in clean]
    assert [embedder.truncates("word " * number) for number in (254, 255)] == [False, True]


def test_a_vector_does_not_depend_on_the_texts_beside_it(exported_minilm) -> None:
    embedder = OnnxEmbedder(exported_minilm)
    together = embedder.embed(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        (alone,) = embedder.embed([text])
        assert max(abs(one - other) for one, other in zip(alone, vector, strict=True)) < 1e-6
    assert embedder.embed([]) == []


def test_a_last_hidden_state_is_averaged_over_the_tokens(exported_minilm, tmp_path) -> None:
    """Published models end there. This one says of each token its number, and 1."""
    import onnx
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("Cast", ["input_ids"], ["number"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["number", "last"], ["column"]),
        helper.make_node("Sub", ["column", "column"], ["zero"]),
        helper.make_node("Add", ["zero", "unit"], ["one"]),
        helper.make_node("Concat", ["column", "one"], ["last_hidden_state"], axis=2),
    ]
    graph = helper.make_graph(
        nodes,
        "numbers",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"])],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", 2])],
        [
            helper.make_tensor("last", TensorProto.INT64, [1], [2]),
            helper.make_tensor("unit", TensorProto.FLOAT, [1], [1.0]),
        ],
    )
    (tmp_path / "onnx").mkdir()
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(tmp_path / "onnx" / "model.onnx"))
    shutil.copy(exported_minilm / "tokenizer.json", tmp_path)
    embedder = OnnxEmbedder(tmp_path, name="numbers")
    assert embedder.name == "numbers"
    # [CLS] is 101, "ok" 7929, [SEP] 102; beside a longer text it is padded.
    mean = (101 + 7929 + 102) / 3
    found, _ = embedder.embed(["ok", "one two three four"])
    assert found == pytest.approx([mean / (mean**2 + 1) ** 0.5, 1 / (mean**2 + 1) ** 0.5], rel=1e-5)


def test_install_from_folder_and_archives(exported_minilm, tmp_path) -> None:
    assert find_model().backend is None
    target = install(exported_minilm)
    assert target == tmp_path / "models" / "all-MiniLM-L6-v2"
    assert sorted(each.name for each in target.iterdir()) == [
        "model.onnx",
        "promptfuzz-model.json",
        "tokenizer.json",
    ]
    assert find_model().label == "all-MiniLM-L6-v2 (onnxruntime)"
    packed, zipped = tmp_path / "packed.tar.gz", tmp_path / "packed.zip"
    with tarfile.open(packed, "w:gz", compresslevel=0) as archive:
        archive.add(exported_minilm, "minilm")
    with zipfile.ZipFile(zipped, "w") as archive:
        for each in exported_minilm.iterdir():
            archive.write(each, each.name)
    for source in (packed, zipped):
        shutil.rmtree(target)
        assert install(source) == target
        assert find_model().backend == "onnx"
    assert [each.name for each in target.parent.iterdir()] == ["all-MiniLM-L6-v2"]


def test_another_model_is_not_installed_and_the_old_one_stays(exported_minilm, tmp_path) -> None:
    target = install(exported_minilm)
    changed = tmp_path / "changed"
    shutil.copytree(exported_minilm, changed)
    manifest = json.loads((changed / "promptfuzz-model.json").read_text())
    manifest["check"][1][200] += 0.001
    (changed / "promptfuzz-model.json").write_text(json.dumps(manifest))
    with pytest.raises(ConfigurationError, match="makes another vector of 'Expect a replacement"):
        install(changed)
    manifest = {"name": "model"}  # the folder that it was once exported from
    (changed / "promptfuzz-model.json").write_text(json.dumps(manifest))
    install(changed)
    assert OnnxEmbedder(target).name == "all-MiniLM-L6-v2"
    (changed / "promptfuzz-model.json").unlink()
    install(changed)  # as published copies are, without a manifest
    install(exported_minilm)
    text = (changed / "tokenizer.json").read_text(encoding="utf-8")
    (changed / "tokenizer.json").write_text(text.replace('"parcel"', '"lost!!"'), encoding="utf-8")
    with pytest.raises(
        ConfigurationError, match="is not all-MiniLM-L6-v2: it makes another vector of 'The parcel"
    ):
        install(changed)
    own = {"name": "all-MiniLM-L6-v2", "check": OnnxEmbedder(changed).embed(CHECKED)}
    (changed / "promptfuzz-model.json").write_text(json.dumps(own))
    with pytest.raises(
        UsageError, match=r"changed is not all-MiniLM-L6-v2, the only .* promptfuzz_model = .*changed"
    ):
        install(changed)
    (changed / "model.onnx").write_bytes(b"\x00" * 100)
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        install(changed)
    assert [each.name for each in target.parent.iterdir()] == ["all-MiniLM-L6-v2"]
    assert len(OnnxEmbedder(target).embed(["still there"])) == 1


def test_what_is_no_model_is_named(exported_minilm, tmp_path, monkeypatch) -> None:
    with pytest.raises(UsageError, match="there is no file or folder"):
        install(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="holds no exported model"):
        install(tmp_path)
    (tmp_path / "text.zip").write_text("no archive")
    with pytest.raises(UsageError, match=r"text\.zip is no archive"):
        install(tmp_path / "text.zip")
    with tarfile.open(tmp_path / "twice.tar", "w") as packed:
        for folder in ("a", "b"):
            packed.add(exported_minilm / "tokenizer.json", f"{folder}/tokenizer.json")
    with pytest.raises(UsageError, match=r"holds tokenizer\.json twice"):
        install(tmp_path / "twice.tar")
    with pytest.raises(ConfigurationError, match="no all-MiniLM-L6-v2 on this machine to install"):
        install()
    monkeypatch.setattr(installation, "has_onnx", lambda: False)
    with pytest.raises(ConfigurationError, match=r"pytest-promptfuzz\[onnx\]"):
        install(exported_minilm)


def test_an_archive_cannot_write_elsewhere(exported_minilm, tmp_path) -> None:
    with tarfile.open(tmp_path / "sly.tar", "w") as packed:
        for name in ("model.onnx", "tokenizer.json"):
            packed.add(exported_minilm / name, f"../../{name}")
        packed.add(exported_minilm / "tokenizer.json", "../../evil.py")
    install(tmp_path / "sly.tar")
    assert not list(tmp_path.parent.rglob("evil.py"))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["models", "sly.tar"]


def test_export_asks_for_an_empty_folder(tmp_path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(UsageError, match="is not empty"):
        export(SentenceTransformerEmbedder(), tmp_path)


def test_the_command(exported_minilm, tmp_path, monkeypatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("PROMPTFUZZ_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    carried = packaged()

    def promptfuzz(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "pytest_promptfuzz.cli", "model", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    code, text = promptfuzz()
    found = "are compared by meaning with all-MiniLM-L6-v2 (sentence-transformers)"
    assert (code, f"Answers {found if carried else 'are not compared by meaning:'}" in text) == (0, True)
    assert promptfuzz("install", str(tmp_path))[0] == 2
    code, text = promptfuzz("install", str(exported_minilm))
    assert (code, text.replace(" ", "")) == (0, f"Installedin{tmp_path}/models/all-MiniLM-L6-v2.")
    code, text = promptfuzz()
    assert text.startswith("Answers are compared by meaning with all-MiniLM-L6-v2 (onnxruntime), in")
    code, text = promptfuzz("--json")
    assert json.loads(text)["backend"] == "onnx"


def test_loading_needs_no_torch(exported_minilm) -> None:
    script = (
        "import sys; from pathlib import Path; from pytest_promptfuzz.judging.encoders import OnnxEmbedder; "
        f"print(len(OnnxEmbedder(Path({str(exported_minilm)!r})).embed(['x'])[0])); "
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["384", "[]"]


def test_the_embedder_of_a_model(exported_minilm, minilm_folder) -> None:
    assert embedder_of(MeaningModel(None, None, "nothing")) is None
    one = embedder_of(MeaningModel("onnx", exported_minilm, name="other"))
    two = embedder_of(MeaningModel("torch", exported_minilm, name="other"))
    assert (type(one).__name__, one.name) == ("OnnxEmbedder", "all-MiniLM-L6-v2")
    assert (type(two).__name__, two.name) == ("SentenceTransformerEmbedder", "other")
    assert one.stamp != two.stamp
    with pytest.raises(ConfigurationError, match="answers cannot be compared by meaning: the model is not"):
        encoders.default_embedder()
