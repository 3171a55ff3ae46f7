"""A cross-encoder of a few kilobytes, made here: it counts words, and knows the pairs of claims of the package."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.judging.meaning import claim_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def make_tiny(folder: Path, *, order: Sequence[str] = LABELS, config: Any = None, tokens: int = 64) -> Path:
    """Write the model as ONNX.

    Its logits are sums of weights of words, other ones in the premise and in the hypothesis.

    Args:
        folder: Made if it is not there.
        order: Of its outputs.
        config: What ``config.json`` holds; by default the labels in their order.
        tokens: How many it reads.
    """
    numpy = pytest.importorskip("numpy")
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, kinds = onnx.helper, onnx.TensorProto
    tokenizer = tiny_tokenizer()
    weights = _learned()[:, [LABELS.index(each) for each in order]]
    weights[0] = (9, -9, 5)  # padding, if it were read
    size = tokenizer.get_vocab_size()
    nodes = [
        helper.make_node("Mul", ["token_type_ids", "size"], ["shift"]),
        helper.make_node("Add", ["input_ids", "shift"], ["feature"]),
        helper.make_node("Gather", ["weights", "feature"], ["each"], axis=0),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=kinds.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["each", "column"], ["seen"]),
        helper.make_node("ReduceSum", ["seen", "second"], ["logits"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "words",
        [
            helper.make_tensor_value_info(name, kinds.INT64, ["batch", "sequence"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [helper.make_tensor_value_info("logits", kinds.FLOAT, ["batch", 3])],
        [
            onnx.numpy_helper.from_array(weights.astype(numpy.float32), "weights"),
            onnx.numpy_helper.from_array(numpy.array(size, dtype=numpy.int64), "size"),
            onnx.numpy_helper.from_array(numpy.array([2], dtype=numpy.int64), "last"),
            onnx.numpy_helper.from_array(numpy.array([1], dtype=numpy.int64), "second"),
        ],
    )
    folder.mkdir(parents=True, exist_ok=True)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    tokenizer.save(str(folder / "tokenizer.json"))
    said = {"id2label": dict(enumerate(order))} if config is None else config
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": tokens, **said}))
    return folder


def tiny_tokenizer() -> Any:
    """Words in lower case, those of the pairs of claims; others are unknown."""
    tokenizers = pytest.importorskip("tokenizers")
    split = tokenizers.pre_tokenizers.Whitespace()
    texts = [text for pair in claim_pairs() for text in (pair.first, pair.second)]
    words = sorted({word for text in texts for word, _ in split.pre_tokenize_str(text.lower())})
    vocabulary = {word: index for index, word in enumerate((*SPECIAL, *words))}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = split
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(each, vocabulary[each]) for each in ("[CLS]", "[SEP]")],
    )
    return tokenizer


@cache
def _learned() -> Any:
    """Weights by which the pairs get their labels: softmax regression, by hand."""
    numpy, tokenizer = pytest.importorskip("numpy"), tiny_tokenizer()
    size = tokenizer.get_vocab_size()
    rows: list[Any] = []
    labels: list[int] = []
    for pair in claim_pairs():
        for one, two, label in (
            (pair.first, pair.second, pair.forward),
            (pair.second, pair.first, pair.backward),
        ):
            found = tokenizer.encode(one, two)
            row = numpy.zeros(2 * size)
            for token, kind in zip(found.ids, found.type_ids, strict=True):
                row[token + size * kind] += 1
            rows.append(row)
            labels.append(LABELS.index(label))
    seen, wanted = numpy.array(rows), numpy.eye(3)[labels]
    weights = numpy.zeros((2 * size, 3))
    for _ in range(300):
        scores = numpy.exp(seen @ weights - (seen @ weights).max(axis=1, keepdims=True))
        weights += 0.1 * seen.T @ (wanted - scores / scores.sum(axis=1, keepdims=True)) / 4
    return weights
