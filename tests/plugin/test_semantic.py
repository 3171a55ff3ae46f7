"""The semantic tier in a run: loaded only when words cannot tell, never downloaded, announced when missing."""

from __future__ import annotations

import pytest

BODY = """
import sys
REWORDED = [
    "The meeting was moved to Friday.",
    "They shifted the meeting to Friday.",
]

@robust(TRIAGE, mutations=4, task="generation", threshold=0.7)
def test_reply(prompt):
    return REWORDED[str(prompt) != TRIAGE.text]

@robust(TRIAGE, mutations=4)
def test_label(prompt, llm):
    return llm(prompt.format(ticket=TICKET))

def test_modules():
    assert ("torch" in sys.modules) == EXPECTED
"""


@pytest.mark.minilm
def test_meaning_decides_where_words_cannot(project_process, monkeypatch, minilm_folder):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    result = project_process(
        "EXPECTED = True\n" + BODY, f"--promptfuzz-model={minilm_folder}", "-W", "default"
    )
    result.assert_outcomes(passed=3)
    assert "undecided" not in result.stdout.str()
    assert "Loading weights" not in result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines(["promptfuzz: semantic comparison by * (sentence-transformers)"])


@pytest.mark.minilm
def test_an_exported_model_needs_no_torch(project_process, monkeypatch, exported_minilm):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    source = "EXPECTED = False\n" + BODY + "    assert 'sentence_transformers' not in sys.modules\n"
    result = project_process(source, f"--promptfuzz-model={exported_minilm}", "-W", "default")
    result.assert_outcomes(passed=3)
    assert "undecided" not in result.stdout.str()
    result.stdout.fnmatch_lines(["promptfuzz: semantic comparison by all-MiniLM-L6-v2 (onnxruntime)"])


@pytest.mark.minilm
def test_an_installed_model_is_chosen_by_itself(project_process, monkeypatch, exported_minilm, tmp_path):
    monkeypatch.setenv("PROMPTFUZZ_MODELS", str(tmp_path))
    (tmp_path / "all-MiniLM-L6-v2").symlink_to(exported_minilm)
    result = project_process("EXPECTED = False\n" + BODY)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["promptfuzz: semantic comparison by all-MiniLM-L6-v2 (onnxruntime)"])


@pytest.mark.minilm
def test_a_run_that_words_decide_loads_no_model(project_process, minilm_folder):
    source = "EXPECTED = False\n" + BODY
    result = project_process(source, f"--promptfuzz-model={minilm_folder}", "-k", "label or modules")
    result.assert_outcomes(passed=2, deselected=1)


def test_without_the_model_the_outcome_is_undecided_and_the_header_says_why(project_process, tmp_path):
    result = project_process("EXPECTED = False\n" + BODY, f"--promptfuzz-model={tmp_path}")
    result.assert_outcomes(errors=1, passed=2)
    result.stdout.fnmatch_lines(
        [
            "promptfuzz: answers are not compared by meaning: *",
            "Inconclusive: 4 of 4 trials are undecided: the score lies between 0.00 and 1.00, and the threshold is 0.70.",
        ]
    )


def test_a_folder_that_is_not_there_is_refused(project):
    refused = project("EXPECTED = False\n" + BODY, "--promptfuzz-model=nowhere")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(
        ["ERROR: --promptfuzz-model: *there is no folder 'nowhere'. Name the folder*"]
    )


@pytest.mark.minilm
@pytest.mark.parametrize("long", [False, True], ids=["short", "longer-than-the-model-reads"])
def test_a_warm_run_loads_no_model(project_process, monkeypatch, exported_minilm, minilm_folder, long):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    body = BODY
    if long:
        more = " ".join(f"Parcel {number} follows." for number in range(200))
        body = body.replace("[str(prompt) != TRIAGE.text]", f"[str(prompt) != TRIAGE.text] + {more!r}")
    libraries = "{'torch', 'transformers', 'sentence_transformers', 'onnxruntime', 'tokenizers', 'numpy'}"
    source = "EXPECTED = False\n" + body + f"    assert (not {libraries} & set(sys.modules)) == WARM\n"
    for folder, backend in ((exported_minilm, "onnx"), (minilm_folder, "torch")):
        cold = source if backend == "onnx" else source.replace("EXPECTED = False", "EXPECTED = True")
        first = project_process("WARM = False\n" + cold, f"--promptfuzz-model={folder}")
        second = project_process("WARM = True\n" + source, f"--promptfuzz-model={folder}")
        for result in (first, second):
            if long:  # a paragraph, which no likeness of meaning makes equivalent
                result.assert_outcomes(passed=2, errors=1)
            else:
                result.assert_outcomes(passed=3)
                assert "undecided" not in result.stdout.str()


def test_all_texts_of_a_test_are_embedded_in_one_call(project_process):
    result = project_process(
        """
        from pytest_promptfuzz import evaluate
        from pytest_promptfuzz.judging.meaning import CachedEmbedder
        from pytest_promptfuzz.evaluating.session import Session

        ANSWERS = [
            "Your parcel left our warehouse this morning and should arrive tomorrow.",
            "Expect delivery on the next day: dispatch happened at dawn.",
            "We sent it off already, so wait for the courier.",
            "It is under way, and the courier will ring soon.",
            "Your order has gone out; look for the van.",
        ]

        class Counting:
            name = "counting"
            calls = []

            def embed(self, texts):
                self.calls.append(list(texts))
                return [[1.0, len(text) / 1000] for text in texts]

        def test_batch():
            asked = []

            def target(prompt):
                asked.append(prompt)
                return ANSWERS[0] if prompt == "Where is my parcel?" else ANSWERS[1 + len(asked) % 4]

            found = evaluate("Where is my parcel?", target, mutations=6, task="generation", stop="never",
                             session=Session(embedder=CachedEmbedder(Counting())), controls=0)
            assert len(found.trials) == 6
            assert [sorted(each) for each in Counting.calls] == [sorted(ANSWERS)]
            assert all("semantic" in [tier.name for tier in trial.comparison.tiers] for trial in found.trials)
        """
    )
    result.assert_outcomes(passed=1)
