"""Entailment by a real cross-encoder in ONNX that is made here: loading, labels, batches, folders, installing, checking."""

from __future__ import annotations

import json
import shutil

import pytest

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.comparing.meaning import LABELS, nine_cases
from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.judging import models
from pytest_promptfuzz.judging.encoders import OnnxCrossEncoder, TorchCrossEncoder, entailment_of
from pytest_promptfuzz.judging.installation import install_entailment
from pytest_promptfuzz.judging.meaning import check_entailment, claim_pairs
from pytest_promptfuzz.judging.models import find_entailment, label_order
from tests.judging.tiny_entailment import make_tiny, tiny_tokenizer

HUB_ORDER = ("contradiction", "entailment", "neutral")
PAIRS = [(each.first, each.second) for each in claim_pairs()]


@pytest.fixture(autouse=True)
def no_models(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PROMPTFUZZ_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv("PROMPTFUZZ_ENTAILMENT", raising=False)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("tiny") / "words")


def test_loads_and_tells_the_pairs_it_knows(tiny) -> None:
    model = OnnxCrossEncoder(tiny)
    assert model.name == "words"
    for pair, one, two in zip(
        claim_pairs(), model.scores(PAIRS), model.scores([pair[::-1] for pair in PAIRS]), strict=True
    ):
        assert one.entailment + one.neutral + one.contradiction == pytest.approx(1)
        assert (one.label(), two.label()) == (pair.forward, pair.backward)
        assert nine_cases(one, two) == pair.case


def test_a_verdict_does_not_depend_on_the_pairs_beside_it(tiny) -> None:
    model = OnnxCrossEncoder(tiny)
    together = model.scores(PAIRS)
    assert len({(each.entailment, each.neutral) for each in together}) == len(PAIRS)
    for pair, verdict in zip(PAIRS, together, strict=True):
        (alone,) = model.scores([pair])
        assert alone.entailment == pytest.approx(verdict.entailment, abs=1e-6)
        assert alone.contradiction == pytest.approx(verdict.contradiction, abs=1e-6)
    assert model.scores([]) == []
    assert len(model.scores([("", ""), ("\ud800 \x00", "日本語")])) == 2


def test_pairs_are_run_in_batches_of_about_one_length(tiny, monkeypatch) -> None:
    model = OnnxCrossEncoder(tiny)
    network = model._load()
    lengths, run = [], network.logits

    def logits(ids, mask, types):
        lengths.append((len(ids), {len(row) for row in (*ids, *mask, *types)}))
        return run(ids, mask, types)

    monkeypatch.setattr(network, "logits", logits)
    model.scores(PAIRS[::-1] + PAIRS)
    assert sum(rows for rows, _ in lengths) == 2 * len(PAIRS)
    assert max(rows for rows, _ in lengths) == 16
    longest = [max(each) for _, each in lengths]
    assert longest == sorted(longest)
    assert all(len(each) == 1 for _, each in lengths)


def test_what_is_cut_off_is_noticed(tmp_path) -> None:
    model = OnnxCrossEncoder(make_tiny(tmp_path / "short", tokens=16))
    # Three tokens are those around the two texts.
    for premise, hypothesis, cut in ((6, 7, False), (7, 7, True), (40, 2, True), (2, 40, True)):
        (found,) = model.scores([("plan " * premise, "key " * hypothesis)])
        assert found.truncated == cut
    assert model.scores([("plan " * 40, "key")])[0].label() != "entailment"
    long = OnnxCrossEncoder(make_tiny(tmp_path / "long", tokens=10_000))
    assert [each.truncated for each in long.scores([("plan " * 508, "key"), ("plan " * 509, "key")])] == [
        False,
        True,
    ]


@pytest.mark.parametrize("order", [LABELS, HUB_ORDER, ("neutral", "contradiction", "entailment")])
@pytest.mark.parametrize("form", ["id2label", "label2id", "upper case"])
def test_the_order_of_labels_is_that_of_the_folder(tiny, tmp_path, order, form) -> None:
    named = [each.upper() for each in order] if form == "upper case" else order
    by_name = {label: index for index, label in enumerate(named)}
    config = {"label2id": by_name} if form == "label2id" else {"id2label": dict(enumerate(named))}
    folder = make_tiny(tmp_path / "other", order=order, config=config)
    assert [order[index] for index in label_order(folder)] == list(LABELS)
    for one, two in zip(
        OnnxCrossEncoder(folder).scores(PAIRS), OnnxCrossEncoder(tiny).scores(PAIRS), strict=True
    ):
        assert one.neutral == pytest.approx(two.neutral, abs=1e-5)
        assert one.label() == two.label()


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            None,
            r"has no config\.json, which says .* Put the model's own there, or one with \{\"id2label\": \{\"0\"",
        ),
        ("[]", r"is not a JSON object"),
        ("{", r"config\.json cannot be read"),
        ("{}", r"names no labels\. Write .* \"id2label\": \{\"0\": \"contradiction\""),
        ('{"id2label": "no"}', r"names no labels"),
        (
            '{"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}}',
            r"calls the labels LABEL_0, LABEL_1, LABEL_2, .* model card says it\), for instance \"id2label\"",
        ),
        (
            '{"id2label": {"0": "entailment", "1": "not_entailment"}}',
            r"has the labels entailment, not_entailment\.",
        ),
        ('{"id2label": {"0": "entailment", "1": "neutral"}}', r"exactly the three labels"),
        ('{"id2label": {"0": "entailment", "1": "neutral", "2": "neutral"}}', r"exactly the three labels"),
        (
            '{"id2label": {"0": "neutral", "1": "entailment", "5": "contradiction"}}',
            r"exactly the three labels",
        ),
        (
            '{"label2id": {"1": 0, "2": 1, "3": 2, "4": 3, "5": 4, "6": 5}}',
            r"has the labels 1, 2, 3, 4, 5, …\.",
        ),
    ],
)
@pytest.mark.usefixtures("needs_onnx")
def test_labels_that_do_not_tell_are_refused(tmp_path, config, said, monkeypatch, capsys) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"")
    (folder / "tokenizer.json").write_text("{}")
    if config is not None:
        (folder / "config.json").write_text(config)
    with pytest.raises(ConfigurationError, match=said):
        label_order(folder)
    found = find_entailment(str(folder))
    assert (found.backend, found.folder) == (None, None)
    with pytest.raises(UsageError, match=said):
        install_entailment(folder)
    monkeypatch.setenv("PROMPTFUZZ_ENTAILMENT", str(folder))
    assert main(["model"]) == 0
    assert "Entailment is not checked: " in flat(capsys)
    assert main(["model", "check"]) == 2
    assert "there is no entailment model to check: " in capsys.readouterr().err


def test_what_is_found_and_where(tiny, tmp_path, monkeypatch) -> None:
    assert (find_entailment().folder, find_entailment().mend) == (None, "")
    installed, _ = install_entailment(tiny)
    assert (find_entailment().folder, find_entailment().label) == (installed, "words (onnxruntime)")
    assert installed == tmp_path / "models" / "entailment"
    other = make_tiny(tmp_path / "mine")
    monkeypatch.setenv("PROMPTFUZZ_ENTAILMENT", str(other))
    assert find_entailment().name == "mine"
    assert find_entailment(str(tiny)).name == "words"
    assert find_entailment(str(tmp_path / "nowhere")).mend == (
        f"there is no folder {tmp_path / 'nowhere'} (promptfuzz_entailment)"
    )
    (other / "model.onnx").unlink()
    assert (
        f"the folder {other} (promptfuzz_entailment) holds no model: neither model.onnx"
        in find_entailment().mend
    )
    (other / "pytorch_model.bin").write_bytes(b"")
    assert "pytorch_model.bin is a pickle, which is not read" in find_entailment().mend
    (other / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr(models, "has_torch", lambda: True)
    assert find_entailment().label == "mine (sentence-transformers)"
    assert isinstance(entailment_of(find_entailment()), TorchCrossEncoder)
    monkeypatch.setattr(models, "has_torch", lambda: False)
    assert "pytest-promptfuzz[semantic]" in find_entailment().mend
    monkeypatch.setattr(models, "has_onnx", lambda: False)
    assert "pytest-promptfuzz[onnx]" in find_entailment(str(tiny)).mend


@pytest.mark.parametrize("flag", [(), ("--entailment",)])
def test_a_damaged_model_is_named_as_it_was_given(flag, tmp_path, capsys) -> None:
    damaged = make_tiny(tmp_path / "damaged")
    (damaged / "tokenizer.json").write_text("")
    assert main(["model", "install", *flag, str(damaged)]) == 2
    said = flat(capsys, err=True)
    assert f"model in {damaged} cannot be loaded" in said
    assert ".installing-" not in said


@pytest.mark.parametrize("flag", [(), ("--entailment",)])
def test_a_wrong_folder_is_told_before_a_missing_library(flag, tmp_path, monkeypatch, capsys) -> None:
    for module in ("models", "installation"):
        monkeypatch.setattr(f"pytest_promptfuzz.judging.{module}.has_onnx", lambda: False)
        monkeypatch.setattr(f"pytest_promptfuzz.judging.{module}.has_torch", lambda: False)
    (tmp_path / "empty").mkdir()
    for folder in ("nowhere", "empty"):
        assert main(["model", "install", *flag, str(tmp_path / folder)]) == 2
        said = flat(capsys, err=True)
        assert folder in said
        assert "pip install" not in said


def test_the_command_line_names_a_model_for_one_run(tiny, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.txt").write_text(
        "Classify the ticket as red or blue. Answer with one word only.\n\nTicket: sea"
    )
    run = ["run", "p.txt", "--target", "simulated", "-n", "2", "--entailment"]
    assert main([*run, "nowhere"]) == 2
    assert "argument --entailment: there is no folder nowhere." in flat(capsys, err=True)
    assert main([*run, str(tiny), "--json"]) == 0
    assert f"--entailment {tiny}" in capsys.readouterr().out


def test_installing_leaves_the_old_one_where_the_new_one_is_bad(tiny, tmp_path) -> None:
    target, errors = install_entailment(tiny)
    assert (errors[-1].kind, errors[-1].wrong_directions) == ("all", 0)
    assert sorted(each.name for each in target.iterdir()) == [
        "config.json",
        "model.onnx",
        "promptfuzz-model.json",
        "tokenizer.json",
    ]
    swapped = make_tiny(tmp_path / "swapped", config={"id2label": dict(enumerate(LABELS[::-1]))})
    with pytest.raises(
        UsageError, match=r"swapped errs on \d+ of 126 known questions.* labels in another order"
    ):
        install_entailment(swapped)
    broken = shutil.copytree(tiny, tmp_path / "broken")
    (broken / "model.onnx").write_bytes(b"\0" * 100)
    with pytest.raises(ConfigurationError, match=r"cannot be loaded: .* Get its files anew"):
        install_entailment(broken)
    shutil.copy(tiny / "model.onnx", broken)
    (broken / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        install_entailment(broken)
    with pytest.raises(UsageError, match="there is no folder"):
        install_entailment(tmp_path / "nowhere")
    assert [each.name for each in target.parent.iterdir()] == ["entailment"]
    assert check_entailment(OnnxCrossEncoder(target))[-1].wrong_directions == 0


def test_outputs_that_are_no_verdict_are_refused(tmp_path) -> None:
    onnx = pytest.importorskip("onnx")
    folder = make_tiny(tmp_path / "odd")
    model = onnx.load(str(folder / "model.onnx"))
    weights = onnx.numpy_helper.to_array(model.graph.initializer[0]).copy()
    for shown, change in (("nan", float("nan")), ("inf", float("inf"))):
        weights[:, 1] = change
        model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weights, "weights"))
        onnx.save(model, str(folder / "model.onnx"))
        with pytest.raises(
            ConfigurationError, match=rf"odd gives \(.*{shown}.*where three finite numbers are"
        ):
            OnnxCrossEncoder(folder).scores([("a", "b")])
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weights[:, :1].copy() * 0, "weights"))
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 1
    onnx.save(model, str(folder / "model.onnx"))
    with pytest.raises(ConfigurationError, match="those of another kind of model"):
        OnnxCrossEncoder(folder).scores([("a", "b")])


def test_the_stamp_is_that_of_the_copy_and_of_its_labels(tiny, tmp_path) -> None:
    copy = shutil.copytree(tiny, tmp_path / "copy")
    before = OnnxCrossEncoder(copy).stamp
    assert before == OnnxCrossEncoder(copy).stamp != TorchCrossEncoder(copy).stamp
    (copy / "config.json").write_text(
        '{"id2label": {"0": "neutral", "1": "entailment", "2": "contradiction"}}'
    )
    assert OnnxCrossEncoder(copy).stamp != before


def test_the_commands(tiny, capsys, tmp_path) -> None:
    assert main(["model"]) == 0
    assert (
        "Entailment is not checked: no model is installed. Install one: promptfuzz model install entailment, or"
        in flat(capsys)
    )
    assert main(["model", "check"]) == 2
    assert "none is installed (promptfuzz model install entailment" in " ".join(
        capsys.readouterr().err.split()
    )
    assert main(["model", "check", str(tiny)]) == 0
    text = capsys.readouterr().out
    assert f"words (onnxruntime), in {tiny}, on 63 pairs of claims:" in " ".join(text.split()).replace(
        "- ", "-"
    )
    assert "quantifiers  0 of 18       0 of 8             0 of 1           0 of 9" in text
    assert "0 % (95 %: 0 to 3 %) of the labels are wrong." in " ".join(text.split())
    assert main(["model", "install", "--entailment", str(tiny)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Installed in")
    assert "quantifiers" in text
    assert main(["model", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entailment"]["model"] == "words"
    assert main(["model", "check", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["model"], found["errors"][-1]["wrong_directions"]) == ("words", 0)
    assert 0 < found["errors"][-1]["passed_interval"][1] < 0.15
    assert main(["model", "install", str(tiny), "--entailment", str(tiny)]) == 2
    assert "one at a time" in capsys.readouterr().err
    assert main(["model", "check", str(tmp_path)]) == 2
    assert "holds no model: neither model.onnx" in capsys.readouterr().err


def flat(capsys, *, err: bool = False) -> str:
    read = capsys.readouterr()
    return " ".join((read.err if err else read.out).split())


def test_loading_needs_no_torch(tiny, run_python) -> None:
    out = run_python(
        "import sys; from pathlib import Path; from pytest_promptfuzz.judging.encoders import OnnxCrossEncoder; "
        f"model = OnnxCrossEncoder(Path({str(tiny)!r})); "
        "print(sorted({'torch', 'transformers', 'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules))); "
        "model.scores([('a', 'b')]); print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert out == ["[]", "[]"]


@pytest.mark.minilm
def test_the_same_in_the_form_of_sentence_transformers(tmp_path) -> None:
    """Random weights: only that both forms read the folder alike is known."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizer = tiny_tokenizer()
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        num_labels=3,
        id2label=dict(enumerate(HUB_ORDER)),
        initializer_range=1.0,
    )
    folder = tmp_path / "bert"
    network = transformers.BertForSequenceClassification(config).eval()
    network.save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        model_max_length=24,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    ).save_pretrained(folder)
    model = entailment_of(find_entailment(str(folder)))
    assert isinstance(model, TorchCrossEncoder)
    found = model.scores(PAIRS)
    for pair, verdict in zip(PAIRS, found, strict=True):
        tokens = tokenizer.encode(*pair)
        cut = len(tokens.ids) > 24
        assert verdict.truncated == cut
        if cut:
            continue
        with torch.no_grad():
            said = network(
                input_ids=torch.tensor([tokens.ids]), token_type_ids=torch.tensor([tokens.type_ids])
            ).logits.softmax(dim=1)[0]
        assert [verdict.contradiction, verdict.entailment, verdict.neutral] == pytest.approx(
            said.tolist(), abs=1e-5
        )
    (folder / "model.safetensors").write_bytes(b"\0" * 50)
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        TorchCrossEncoder(folder).scores(PAIRS)
