"""Which models this process uses where nothing is given: of the run, of the environment, of the machine."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.errors import ConfigurationError
from pytest_promptfuzz.evaluating.session import installed_embedder, installed_entailment
from pytest_promptfuzz.judging import models
from pytest_promptfuzz.judging.encoders import (
    chosen_embedder,
    chosen_entailment,
    default_embedder,
    default_entailment,
)
from pytest_promptfuzz.judging.models import Configured, configure, configured
from tests.judging.tiny_entailment import make_tiny


@pytest.fixture(autouse=True)
def nothing(monkeypatch, tmp_path):
    for name in ("PROMPTFUZZ_MODEL", "PROMPTFUZZ_ENTAILMENT", "HF_HOME", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PROMPTFUZZ_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(models, "PACKAGE", "no_package_of_this_name")
    monkeypatch.setattr(models, "has_onnx", lambda: True)
    before = configure(Configured())
    yield
    configure(before)


@pytest.fixture
def folder(tmp_path):
    """A folder that looks like both kinds of models; that it holds none shows only when it is loaded."""

    def make(name: str) -> str:
        made = tmp_path / name
        made.mkdir()
        (made / "model.onnx").write_bytes(b"")
        (made / "tokenizer.json").write_text("{}")
        (made / "config.json").write_text('{"label2id": {"entailment": 0, "neutral": 1, "contradiction": 2}}')
        return str(made)

    return make


def test_nothing_is_there(tmp_path) -> None:
    assert (chosen_embedder(), chosen_entailment()) == (None, None)
    assert (installed_embedder(), installed_entailment()) == (None, None)
    with pytest.raises(ConfigurationError, match="answers cannot be compared by meaning"):
        default_embedder()
    with pytest.raises(
        ConfigurationError, match=r"no model is installed \(promptfuzz model install entailment"
    ):
        default_entailment()


def test_the_run_comes_before_the_environment(monkeypatch, folder) -> None:
    monkeypatch.setenv("PROMPTFUZZ_MODEL", folder("of-environment"))
    monkeypatch.setenv("PROMPTFUZZ_ENTAILMENT", folder("of-environment-too"))
    assert (chosen_embedder().name, chosen_entailment().name) == ("of-environment", "of-environment-too")
    before = configure(Configured(folder("of-run"), folder("of-run-too")))
    assert (chosen_embedder().name, chosen_entailment().name) == ("of-run", "of-run-too")
    assert (default_embedder().name, installed_embedder().name) == ("of-run", "of-run")
    assert installed_entailment().name == "of-run-too"
    assert configure(before) != before
    assert chosen_embedder().name == "of-environment"


@pytest.mark.usefixtures("needs_onnx")
def test_what_is_chosen_is_one_object_whose_model_is_not_loaded(monkeypatch, folder) -> None:
    monkeypatch.setenv("PROMPTFUZZ_MODEL", folder("mine"))
    monkeypatch.setenv("PROMPTFUZZ_ENTAILMENT", folder("mine-too"))
    assert chosen_embedder() is chosen_embedder() is default_embedder()
    assert chosen_entailment() is chosen_entailment()
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        chosen_entailment().scores([("a", "b")])


def test_a_provider_is_asked_by_tests_only(folder) -> None:
    configure(Configured(folder("mine"), provider=True))
    assert chosen_embedder() is None
    assert default_embedder().name == "mine"


def test_verdicts_of_a_run_are_kept_on_disk(tmp_path) -> None:
    warned: list[str] = []
    tiny = make_tiny(tmp_path / "tiny")
    configure(Configured(None, str(tiny), folder=tmp_path / ".promptfuzz", warn=warned.append))
    (verdict,) = chosen_entailment().scores([("The device is not waterproof.", "Water can get in.")])
    assert (tmp_path / ".promptfuzz" / "vectors" / "vectors.db").is_file()
    assert verdict.entailment + verdict.neutral + verdict.contradiction == pytest.approx(1)
    assert warned == []
    assert configured().entailment == str(tiny)


def test_choosing_loads_no_library(tmp_path, run_python) -> None:
    tiny = make_tiny(tmp_path / "tiny")
    out = run_python(
        "import sys; from pytest_promptfuzz.judging import models; "
        f"models.configure(models.Configured({str(tiny)!r}, {str(tiny)!r})); "
        "from pytest_promptfuzz.judging.encoders import chosen_embedder, chosen_entailment; "
        "print(chosen_embedder().name, chosen_entailment().name); "
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers', 'torch', 'transformers'} & set(sys.modules)))"
    )
    assert out == ["tiny tiny", "[]"]
