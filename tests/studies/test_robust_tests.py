"""Robust tests as the body of a study: processes of their own, through the real SDK and the local model server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import Study, StudyModel, StudyTests, study
from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.errors import PromptfuzzWarning, UsageError
from pytest_promptfuzz.evaluating.session import Session
from pytest_promptfuzz.server.faults import BadRequest
from pytest_promptfuzz.storage.disk_store import ResponseStore
from pytest_promptfuzz.studies.cells import read_cells
from pytest_promptfuzz.studies.robust_tests import collected
from pytest_promptfuzz.studies.study import read_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_promptfuzz.server.model_server import ModelServer

TESTS = '''
import pytest

from pytest_promptfuzz import robust

TRIAGE = """Classify the support ticket as billing, shipping or other. Answer with one word only.

Ticket: {ticket}"""


@pytest.mark.parametrize("ticket", ["I was charged twice.", "Where is my parcel?"], ids=["charge", "parcel"])
@robust(TRIAGE, mutations=3, threshold=1.0)
def test_body(prompt, llm, ticket):
    answer = llm(prompt.format(ticket=ticket)).text
    assert answer in ("billing", "shipping", "other")
    return answer


@robust(TRIAGE, inputs={"twice": "I was charged twice.", "love": "I love your shop!"},
        expected={"twice": "billing", "love": "shipping"})
def test_labels(response):
    assert response.text in ("billing", "other")


def test_of_something_else():
    raise SystemExit("no robust test: it must not run")
'''
STUDY = """
name = "bodies"
runs = 2
operators = ["again", "upper-case", "keyboard-typo:2", "numbered-to-bulleted"]

[[task]]
tests = "test_bodies.py"

[[model]]
name = "small"
target = "openai:gpt-5-mini"
"""


@pytest.fixture
def command(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    (folder / "test_bodies.py").write_text(TESTS, encoding="utf-8")

    def run(*argv: str) -> tuple[int, str, str]:
        code = main(["study", *argv])
        done = capsys.readouterr()
        return code, done.out, done.err

    return run


def test_from_a_price_to_a_table(folder: Path, server: ModelServer, command) -> None:
    # 2 runs × (2 parametrized + 2 declarative inputs) × (unmutated, again, 2 changes)
    code, said, _ = command("study.toml", "--dry-run")
    assert (code, server.calls) == (0, 0)
    assert said.startswith("bodies: at least 32 calls; 0 answers stored; about ")
    code, said, told = command("study.toml", "--out", "cells.csv", "--table", "operators,gold")
    assert (code, told, server.calls) == (0, "", 24)  # both tests ask about the same charge
    assert "| upper-case | 100.0 ± 0.0 |" in said
    assert "| numbered-to-bulleted | N/A |" in said
    assert "| small | 50.0 ± 0.0 | 50.0 ± 0.0 | 0.0 [0.0, 0.0] |" in said
    cells = read_cells(folder / "cells.csv")
    assert len(cells) == 40
    first = [each for each in cells if each.task == "test_body" and each.input == "charge" and each.run == 0]
    assert [(each.operator, each.outcome, each.answer) for each in first] == [
        ("", "baseline", "billing"),
        ("again", "equivalent", "billing"),
        ("upper-case", "equivalent", "billing"),
        ("keyboard-typo:2", "equivalent", "billing"),
        ("numbered-to-bulleted", "not-applicable", ""),
    ]
    assert all(each.spent.latency and each.spent.input_tokens for each in first[:4])
    labels = [each for each in cells if each.task == "test_labels" and not each.operator and not each.run]
    assert [(each.input, each.gold, each.grades.expected) for each in labels] == [
        ("'twice'", True, "billing"),
        ("'love'", False, "shipping"),
    ]
    code, said, _ = command("study.toml", "--dry-run")
    assert said.startswith("bodies: 0 calls; 32 answers stored; ")
    assert command("study.toml", "--out", "again.csv")[:2] == (
        0,
        "Wrote 40 cells to again.csv.\nbodies: 40 cells, 0 errors.\n",
    )
    assert server.calls == 24
    assert (folder / "again.csv").read_bytes() == (folder / "cells.csv").read_bytes()


def test_an_assertion_that_fails_is_a_deviation_and_the_prompts_alone_an_error(folder: Path, command) -> None:
    (folder / "test_bodies.py").write_text(
        TESTS
        + """

@robust(TRIAGE)
def test_shouting(prompt):
    asked = prompt.format(ticket="Hello.")
    assert not asked.startswith("CLASSIFY"), "the prompt is shouted"
    return "other"


@robust(TRIAGE)
def test_unmutated(prompt):
    assert prompt.format(ticket="Hello.") == "something else"


@robust(TRIAGE, inputs=["I was charged twice.", "I love your shop!"])
def test_one_of_two(response):
    assert response.text == "other"


@robust(TRIAGE)
@pytest.mark.skip(reason="not today")
def test_skipped(prompt, llm):
    llm(prompt.format(ticket="Hello."))


@robust(TRIAGE)
def test_without_fixture(prompt, nowhere):
    pass


@robust(TRIAGE, search="sweep")
def test_search(prompt, llm):
    return llm(prompt.format(ticket="Hello.")).text
""",
        encoding="utf-8",
    )
    study_file = STUDY.replace("openai:gpt-5-mini", "simulated").replace("runs = 2", "runs = 1")
    (folder / "study.toml").write_text(study_file, encoding="utf-8")
    code, _, told = command("study.toml", "--out", "cells.jsonl")
    cells = read_cells(folder / "cells.jsonl")
    assert code == 3
    assert "test_bodies.py::test_search is left out: it searches" in told
    assert "test_search" not in {each.task for each in cells}
    by_place = {(each.task, each.input, each.operator): each for each in cells}
    shouted = by_place["test_shouting", "", "upper-case"]
    assert (shouted.outcome, shouted.similarity) == ("deviation", 0.0)
    assert shouted.reason.startswith("oracle: AssertionError: the prompt is shouted")
    assert by_place["test_shouting", "", "keyboard-typo:2"].outcome == "equivalent"
    unmutated = by_place["test_unmutated", "", "upper-case"]
    assert unmutated.outcome == "error"
    assert unmutated.error.startswith("the unmutated prompt fails: AssertionError: ")
    one, two = "1 ('I was charged twice.')", "2 ('I love your shop!')"
    assert by_place["test_one_of_two", one, ""].error.startswith(
        f"the unmutated prompt fails on input {one}: AssertionError"
    )
    assert by_place["test_one_of_two", two, "upper-case"].outcome == "equivalent"
    assert {each.error for each in cells if each.task == "test_skipped"} == {"skipped: not today"}
    assert {each.error for each in cells if each.task == "test_without_fixture"} == {
        "fixture 'nowhere' not found"
    }


def test_an_input_that_is_refused_leaves_those_after_it_alone(
    folder: Path, server: ModelServer, command
) -> None:
    server.fail(BadRequest(times=None, when="charged twice", message="content_filter"))
    text = STUDY.replace("runs = 2", "runs = 1").replace(
        '["again", "upper-case", "keyboard-typo:2", "numbered-to-bulleted"]', '["again"]'
    )
    (folder / "study.toml").write_text(text.replace(".py", ".py::test_labels"), encoding="utf-8")
    assert command("study.toml", "--out", "cells.csv")[0] == 3
    said = "We could not get the baseline of input 'twice': HTTP 400: content_filter"
    found = [(each.input, each.operator, each.outcome) for each in read_cells(folder / "cells.csv")]
    assert found == [
        ("'twice'", "", "error"),
        ("'twice'", "again", "error"),
        ("'love'", "", "baseline"),
        ("'love'", "again", "equivalent"),
    ]
    assert all(each.error.startswith(said) for each in read_cells(folder / "cells.csv")[:2])


def test_a_measure_that_does_not_fit_a_test_is_refused_before_anything_is_asked(
    folder: Path, server: ModelServer, command
) -> None:
    text = STUDY.replace("[[model]]", 'measures = ["entity-match"]\n\n[[model]]').replace(
        "runs = 2", "runs = 1"
    )
    (folder / "study.toml").write_text(text.replace(".py", ".py::test_labels"), encoding="utf-8")
    assert command("study.toml", "--out", "cells.csv")[0] == 3
    assert server.calls == 0
    (why,) = {each.error for each in read_cells(folder / "cells.csv") if each.error}
    assert "entity-match needs expected= as a mapping of slots; 'billing' is none" in why


APPLICATION = """
import functools
import os

import openai

MODEL = os.environ["APP_MODEL"]


@functools.lru_cache
def reply(prompt):
    with openai.OpenAI() as client:
        said = [{"role": "user", "content": prompt}]
        return client.chat.completions.create(model=MODEL, messages=said).choices[0].message.content
"""
OWN = """
import application
from pytest_promptfuzz import robust


@robust("Classify the ticket as billing or shipping. Answer with one word.\\n\\nTicket: Where is my parcel?")
def test_own(prompt):
    return application.reply(str(prompt))
"""


def test_an_application_that_reads_whom_to_ask_from_its_environment(
    folder: Path, server: ModelServer, command
) -> None:
    (folder / "application.py").write_text(APPLICATION, encoding="utf-8")
    (folder / "test_bodies.py").write_text(OWN, encoding="utf-8")
    models = "".join(
        f'[[model]]\nname = "{each}"\nenvironment = {{ APP_MODEL = "{each}" }}\n' for each in ("one", "two")
    )
    text = STUDY[: STUDY.index("[[model]]")] + models
    (folder / "study.toml").write_text(text.replace('"again", ', ""), encoding="utf-8")
    code, _, told = command("study.toml", "--out", "cells.csv")
    assert (code, told) == (0, "")
    # 2 models × 2 runs × (unmutated, 2 changes): a cache of the application outlives neither.
    assert server.calls == 12
    assert [each.body["model"] for each in server.requests].count("two") == 6
    cells = read_cells(folder / "cells.csv")
    assert "error" not in {each.outcome for each in cells}
    assert {each.model for each in cells} == {"one", "two"}
    # A target would have no effect, and two models would have the same figures.
    wrong = STUDY.replace("runs = 2", "runs = 1")
    (folder / "study.toml").write_text(wrong, encoding="utf-8")
    os.environ["APP_MODEL"] = "one"
    try:
        code, _, told = command("study.toml")
    finally:
        del os.environ["APP_MODEL"]
    assert (code, server.calls) == (2, 12)
    assert "test_own makes its own requests, and target = 'openai:gpt-5-mini' does not change" in told
    assert "environment = { NAME = 'value' }" in told


def test_parameters_and_factors_reach_the_requests(folder: Path, server: ModelServer, command) -> None:
    text = STUDY.replace("runs = 2", "runs = 1") + "\n[factors]\ntemperature = [0, 0.5]\n"
    (folder / "study.toml").write_text(text, encoding="utf-8")
    code, _, _ = command("study.toml", "--out", "cells.csv")
    assert code == 0
    assert {each.body["temperature"] for each in server.requests} == {0, 0.5}
    assert {each.parameters for each in read_cells(folder / "cells.csv")} == {
        '{"temperature": 0}',
        '{"temperature": 0.5}',
    }


def test_a_budget_holds_over_all_processes_and_shares_make_the_whole(
    folder: Path, server: ModelServer, command
) -> None:
    code, _, told = command("study.toml", "--max-calls", "14", "--out", "cells.csv")
    assert (code, server.calls) == (3, 14)
    assert "max-calls is 14" in told
    for number in (1, 2):
        assert command("study.toml", "--shard", f"{number}/2", "--out", f"part-{number}.csv")[0] == 0
    assert server.calls == 24  # nothing was paid twice
    assert command("merge", "part-1.csv", "part-2.csv", "--out", "whole.csv")[0] == 0
    assert {each.run for each in read_cells(folder / "part-1.csv")} == {0}
    assert len(read_cells(folder / "whole.csv")) == 40


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_after_ctrl_c_nothing_is_asked_twice(folder: Path, server: ModelServer, command) -> None:
    server.delay = 0.2
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest_promptfuzz.cli", "study", "study.toml", "--concurrency", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while server.calls < 4 and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    before = server.calls
    assert 4 <= before < 24
    server.delay = 0.0
    assert command("study.toml")[0] == 0
    assert server.calls <= 25  # at most the call that was on its way


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"test_bodies.py"', '"nowhere.py"'), "study.toml: [[task]] 1: there are no tests 'nowhere.py'"),
        (('"test_bodies.py"', '"test_bodies.py::test_gone"'), "not found: "),
        (('"test_bodies.py"', '"test_bodies.py::test_of_something_else"'), "selects no robust test"),
        (
            (
                '"test_bodies.py"',
                '["test_bodies.py", "test_bodies.py::test_labels"]\n[[task]]\ntests = "test_bodies.py"',
            ),
            "stands in it twice",
        ),
        (('"test_bodies.py"', "7"), "tests=7; give a file, a folder or a node ID of pytest"),
        (
            ('"test_bodies.py"', '"test_bodies.py"\nfactorial = ["upper-case"]'),
            "factorial= is for prompts that the study asks",
        ),
        (('"test_bodies.py"', '"test_bodies.py"\njudge = "simulated"'), "write it in @robust"),
        (
            ('"openai:gpt-5-mini"', '"openai:gpt-5-mini"\n[factors]\nprompting = ["cot"]'),
            "robust tests ask their own",
        ),
        (('target = "openai:gpt-5-mini"', ""), "has no target; write target="),
        (('"openai:gpt-5-mini"', '"openai:gpt-5-mini"\nenvironment = { A = 1 }'), "give a table of texts"),
    ],
)
def test_bad_studies(
    folder: Path, server: ModelServer, command, change: tuple[str, str], message: str
) -> None:
    (folder / "study.toml").write_text(STUDY.replace(*change), encoding="utf-8")
    code, _, told = command("study.toml")
    assert (code, server.calls) == (2, 0)
    assert message in told
    assert told.count("\n") == 1 or "pytest could not run the tests" in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sample", "2"], "a sample is of inputs, and robust tests have their own"),
        (["--mitigate", "cot"], "--mitigate edits prompts that the study asks itself"),
        (
            ["--executor", "dask:tcp://127.0.0.1:9"],
            "--executor runs prompts, and this study has robust tests",
        ),
        (["--table", "sentiment-factors"], "a factorial study"),
        (["--table", "enterprise"], "measures of quality"),
        (["--table", "models"], "at least two models"),
    ],
)
def test_what_goes_with_prompts_only(
    folder: Path, server: ModelServer, command, options: list[str], message: str
) -> None:
    code, _, told = command("study.toml", *options)
    assert (code, server.calls) == (2, 0)
    assert message in told


def test_a_module_that_cannot_be_imported_is_shown(folder: Path, server: ModelServer, command) -> None:
    (folder / "test_bodies.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    code, _, told = command("study.toml")
    assert (code, server.calls) == (2, 0)
    assert "No module named 'nothing_of_that_name'" in told


def test_a_process_that_dies_leaves_the_other_answers_and_reports_of_the_project_alone(
    folder: Path, command
) -> None:
    (folder / "test_dying.py").write_text(
        "import os\n\nfrom pytest_promptfuzz import robust\n\n\n"
        '@robust("Say whether the sky is blue.")\ndef test_first(prompt, llm):\n    return llm(prompt).text\n\n\n'
        '@robust("Say whether the sky is blue.")\ndef test_then(prompt, llm):\n    os._exit(7)\n',
        encoding="utf-8",
    )
    (folder / "pytest.ini").write_text(
        "[pytest]\naddopts = -x --junitxml=junit.xml\npromptfuzz_report = json:report.json\n",
        encoding="utf-8",
    )
    text = STUDY.replace("openai:gpt-5-mini", "simulated").replace("test_bodies.py", "test_dying.py")
    (folder / "study.toml").write_text(text, encoding="utf-8")
    assert command("study.toml", "--out", "cells.csv")[0] == 3
    cells = read_cells(folder / "cells.csv")
    assert {each.outcome for each in cells if each.task == "test_first" and each.operator == "again"} == {
        "equivalent"
    }
    assert {each.run for each in cells if each.task == "test_then"} == {0, 1}
    died = "the process that runs the tests ended with exit code 7: "
    assert all(each.error.startswith(died) for each in cells if each.task == "test_then")
    assert not (folder / "junit.xml").exists()
    assert not (folder / "report.json").exists()


def test_from_python_beside_a_prompt(folder: Path, server: ModelServer, command) -> None:
    text = STUDY.replace("runs = 2", "runs = 1") + (
        '\n[[task]]\nname = "triage"\nprompt = "triage.txt"\ninputs = [{ ticket = "I was charged twice." }]\n'
    )
    (folder / "study.toml").write_text(text, encoding="utf-8")
    session = Session(store=ResponseStore(folder / "answers"))
    cells = study("study.toml", session=session)
    assert [*dict.fromkeys(each.task for each in cells)] == ["triage", "test_body", "test_labels"]
    assert server.calls == 12 + 4  # the file's prompt ends with a line feed
    assert study(read_study(folder / "study.toml"), session=session) == cells
    assert server.calls == 16
    session.store.close()
    own = Study(
        "own", (), (StudyModel("m", "simulated"),), tests=(StudyTests(("test_bodies.py::test_labels",)),)
    )
    assert {each.task for each in study(own)} == {"test_labels"}
    with pytest.raises(UsageError, match="no task; write"):
        Study("own", (), (StudyModel("m", "simulated"),))
    with pytest.raises(UsageError, match="environment is for robust tests"):
        Study(
            "own",
            read_study(folder / "study.toml").tasks,
            (StudyModel("m", "simulated", environment={"A": "b"}),),
        )


def test_names_of_tests_in_two_files(folder: Path, command) -> None:
    (folder / "test_others.py").write_text(TESTS, encoding="utf-8")
    text = STUDY.replace('"test_bodies.py"', '["test_bodies.py", "test_others.py::test_labels"]')
    (folder / "study.toml").write_text(text.replace("openai:gpt-5-mini", "simulated"), encoding="utf-8")
    said: list[str] = []
    found = collected(read_study(folder / "study.toml"), said.append)
    assert [each for tests in found.tests for each in tests.tasks] == [
        "test_body",
        "test_bodies.py::test_labels",
        "test_others.py::test_labels",
    ]
    assert said == []


def test_from_python_what_is_left_out_is_a_warning(folder: Path) -> None:
    (folder / "test_mixed.py").write_text(
        'from pytest_promptfuzz import robust\n\n\n@robust("Say yes.", search="sweep")\ndef test_search(prompt, llm):\n'
        '    return llm(prompt).text\n\n\n@robust("Say whether the sky is blue.")\ndef test_plain(prompt, llm):\n'
        "    return llm(prompt).text\n",
        encoding="utf-8",
    )
    own = Study(
        "own",
        (),
        (StudyModel("m", "simulated"),),
        tests=(StudyTests(("test_mixed.py",), operators=("upper-case",)),),
    )
    with pytest.warns(PromptfuzzWarning, match="test_search is left out"):
        cells = study(own)
    assert [(each.operator, each.outcome) for each in cells] == [
        ("", "baseline"),
        ("upper-case", "equivalent"),
    ]
