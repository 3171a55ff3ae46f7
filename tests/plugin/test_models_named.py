"""``promptfuzz_model`` and ``promptfuzz_entailment`` in a run: the header names them, the Python API uses them."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.judging.models import configured
from tests.judging.tiny_entailment import make_tiny

BODY = """
from pytest_promptfuzz.judging.encoders import chosen_embedder, chosen_entailment
from pytest_promptfuzz.plugin.state import State

def test_named(request):
    assert chosen_entailment().name == ENTAILMENT
    assert State.of(request.config).session.entailment.name == ENTAILMENT
    assert chosen_embedder() is None or ENTAILMENT in {chosen_embedder().name}
    found = chosen_entailment().scores([("The claim is false.", "The claim is not true.")])
    assert found[0].label() == "entailment"
"""


@pytest.fixture(autouse=True)
def no_models(monkeypatch, tmp_path) -> None:
    for name in ("PROMPTFUZZ_MODEL", "PROMPTFUZZ_ENTAILMENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PROMPTFUZZ_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr("pytest_promptfuzz.judging.models.trained_minilm", lambda: None)


@pytest.fixture
def tiny(tmp_path):
    return make_tiny(tmp_path / "mine")


def test_the_option_the_variable_and_the_ini_value(project, pytester, tiny, tmp_path, monkeypatch) -> None:
    other = make_tiny(tmp_path / "other")
    monkeypatch.setenv("PROMPTFUZZ_ENTAILMENT", str(other))
    before = configured()
    named = f"--promptfuzz-entailment={tiny}", f"--promptfuzz-model={tiny}"
    result = project("ENTAILMENT = 'mine'\n" + BODY, *named)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["promptfuzz: entailment comparison by mine (onnxruntime)"])
    assert configured() == before
    assert (pytester.path / ".promptfuzz" / "vectors" / "vectors.db").is_file()
    result = project("ENTAILMENT = 'other'\n" + BODY)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["promptfuzz: entailment comparison by other (onnxruntime)"])
    monkeypatch.delenv("PROMPTFUZZ_ENTAILMENT")
    result = project("ENTAILMENT = 'mine'\n" + BODY, "-o", f"promptfuzz_entailment={tiny}")
    result.assert_outcomes(passed=1)


def test_a_folder_without_a_model_is_an_error(project, tiny, tmp_path) -> None:
    result = project("def test_nothing():\n    pass\n", f"--promptfuzz-entailment={tmp_path / 'nowhere'}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            (
                "ERROR: --promptfuzz-entailment: '*nowhere' is not the folder of an entailment model. There is no "
                "folder *nowhere. Name *; `promptfuzz model install entailment` downloads a model."
            )
        ]
    )
    (tiny / "config.json").write_text('{"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}}')
    result = project("def test_nothing():\n    pass\n", "-o", f"promptfuzz_entailment={tiny}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the ini value promptfuzz_entailment: *calls the labels LABEL_0,*"])


def test_a_library_that_is_missing_is_a_line_of_the_header(project, tiny, monkeypatch) -> None:
    monkeypatch.setattr("pytest_promptfuzz.judging.models.has_onnx", lambda: False)
    result = project("def test_nothing():\n    pass\n", f"--promptfuzz-entailment={tiny}")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["promptfuzz: no comparison by entailment: the library that runs the model is not installed *"]
    )


def test_the_header_names_what_settles_paragraphs(project, tiny, tmp_path) -> None:
    nothing = f"--promptfuzz-model={tmp_path / 'nowhere'}"
    header = " ".join(project("def test_nothing():\n    pass\n", nothing).stdout.str().split())
    assert "; for paragraphs of prose: promptfuzz model install entailment" in header
    header = " ".join(
        project("def test_nothing():\n    pass\n", nothing, f"--promptfuzz-entailment={tiny}")
        .stdout.str()
        .split()
    )
    assert "answers are not compared by meaning" in header
    assert "for paragraphs of prose" not in header
    result = project("def test_nothing():\n    pass\n")
    assert "entailment" not in result.stdout.str()
