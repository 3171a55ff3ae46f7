"""The commands as a person runs them: real processes where the process matters, ``main`` where it does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.mutations.engine.registry import get
from pytest_promptfuzz.reporting.terminal.styled_text import columns
from tests.in_process import Done, promptfuzz

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = """\
Classify the sentiment of the following text as either POSITIVE, NEGATIVE, or NEUTRAL. \
Consider the overall tone. Return only one word.

Text: {text}
"""
TEXT = "text=I love this phone, it is great."
URGENCY = """\
Classify the urgency of the support ticket into exactly one of these levels: high, medium, low.

- high: outages, lost payments, stolen accounts
- medium: late parcels, broken products
- low: questions, wishes, thanks

Answer with the level only.

Ticket: {ticket}
"""
TICKET = "ticket=My payment is lost, and my parcel is late."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.txt").write_text(PROMPT, encoding="utf-8")
    return tmp_path


def command(*argv: str, stdin: str = "", **environment: str) -> Done:
    return promptfuzz(*argv, stdin=stdin, environment={**os.environ, **environment})


def process(*argv: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "pytest_promptfuzz.cli", *argv],
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_version() -> None:
    done = process("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"promptfuzz {_version()}\n".encode(), b"")


def _version() -> str:
    from importlib.metadata import version

    return version("pytest-promptfuzz")


# mutate


def test_mutate_shows_word_diffs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            [
                "mutate",
                "p.txt",
                "-n",
                "3",
                "--operators",
                "upper-case,synonym,sentence-shuffle",
                "--width",
                "80",
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    named = [line.split()[1].partition("@")[0] for line in out.split("\n") if line[:2] in {"1.", "2.", "3."}]
    assert named == ["upper-case", "synonym", "sentence-shuffle"]
    assert "[-" in out
    assert "{+CLASSIFY" in " ".join(out.split())
    assert "moved: " in out or "reordered: " in out
    assert "\x1b" not in out
    assert all(columns(row) <= 80 for row in out.split("\n"))


def test_mutate_json_is_the_plan(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_promptfuzz.mutations.engine.planner import mutate

    assert main(["mutate", "p.txt", "-n", "5", "--seed", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = mutate(PROMPT, 5, seed=3)
    assert [each["id"] for each in found["mutations"]] == [each.id for each in expected]
    assert [each["text"] for each in found["mutations"]] == [each.text for each in expected]
    assert (found["prompt"], found["seed"], found["requested"], found["format"]) == (PROMPT, 3, 5, 1)
    for each in found["mutations"]:
        assert "".join(text for kind, text in each["diff"] if kind != "-") == each["text"]
        assert "".join(text for kind, text in each["diff"] if kind != "+") == PROMPT


def test_mutate_reads_standard_input() -> None:
    done = command("mutate", "-", "-n", "2", stdin="Sort the tickets below by topic and be brief.")
    assert done.returncode == 0
    assert done.stdout.startswith("1. ")
    assert done.stderr == ""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_no_encoding_makes_it_crash(folder: Path, encoding: str) -> None:
    (folder / "wide.txt").write_text(
        "Classify the text “日本語” now and then be brief, please.\nReturn a label.", encoding="utf-8"
    )
    done = process("mutate", "wide.txt", "-n", "6", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    done.stdout.decode(encoding)
    assert ("日本語" if encoding == "utf-8" else "\\u65e5") in done.stdout.decode(encoding)


def test_colour_is_forced_and_refused(folder: Path) -> None:
    assert "\x1b[" in command("mutate", "p.txt", FORCE_COLOR="1").stdout
    assert "\x1b" not in command("mutate", "p.txt", "--no-color", FORCE_COLOR="1").stdout


@pytest.mark.skipif(os.name == "nt", reason="a shell pipe")
def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    command = f"'{sys.executable}' -m pytest_promptfuzz.cli mutate p.txt -n 100 --json; echo code $? >&2"
    done = subprocess.run(["sh", "-c", f"({command}) | head -c 5"], capture_output=True, check=False)
    assert done.stderr == b"code 0\n"


def test_mutate_takes_counts_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [
        "mutate",
        "p.txt",
        "-n",
        "double-space:2=1,sentence-shuffle+keyboard-typo:3=2,lexical=1",
        "--json",
    ]
    assert main(argv) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["requested"] == 4
    names = [each["operators"] for each in found["mutations"]]
    assert names[:3] == [
        [get("double-space").id + ":2"],
        *[[get("sentence-shuffle").id, get("keyboard-typo").id + ":3"]] * 2,
    ]
    assert len(found["mutations"][0]["edits"]) == 2
    assert main(["mutate", "p.txt", "-n", "double-space,double-space", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["mutations"]) == 2


@pytest.mark.parametrize("width", [40, 80, 120])
def test_mutate_shows_two_columns(folder: Path, capsys: pytest.CaptureFixture[str], width: int) -> None:
    argv = ["mutate", "p.txt", "-n", "sentence-shuffle+double-space=1,keyboard-typo=1", "--side-by-side"]
    assert main([*argv, "--width", str(width)]) == 0
    rows = capsys.readouterr().out.split("\n")
    assert all(columns(row) <= width for row in rows)
    room = (width - 3) // 2
    table = [row for row in rows if row[room : room + 2] == " |"]
    assert [row.split() for row in table if "mutated" in row] == [["original", "|", "mutated"]] * 2
    halves = [(row[:room].strip(), row[room + 2 :].strip()) for row in table]
    left, right = (" ".join(filter(None, side)) for side in zip(*halves, strict=True))
    for mark in ("[-", "-]"):
        assert mark in left
        assert mark not in right
    for mark in ("{+", "+}"):
        assert mark in right
        assert mark not in left
    # However the lines above were wrapped, the last ones stand beside each other.
    assert [("Text:" in one, "Text:" in other) for one, other in halves].count((True, True)) == 2


def test_two_columns_of_a_chat_stand_under_its_roles(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = [
        {"role": "system", "content": "Classify the message as good or bad. Answer with one word only."},
        {"role": "user", "content": "Please read the following message carefully before you answer."},
    ]
    (folder / "chat.json").write_text(json.dumps(messages), encoding="utf-8")
    argv = ["mutate", "chat.json", "-n", "upper-case=1", "--side-by-side", "--width", "100"]
    for more, roles in (([], ["system", "user"]), (["--part", "user"], ["user"])):
        assert main([*argv, *more]) == 0
        rows = capsys.readouterr().out.split("\n")
        heads = [row.split() for row in rows if "mutated" in row]
        assert heads == [[role, "original", "|", role, "mutated"] for role in roles]
        left, right = (
            " ".join(row.partition(" |")[half].strip() for row in rows if " |" in row) for half in (0, 2)
        )
        assert ("Classify the" in " ".join(left.split())) is ("system" in roles)
        assert "PLEASE" in right
        assert "PLEASE" not in left


def test_two_columns_are_coloured_and_long_prompts_shortened(folder: Path) -> None:
    (folder / "long.txt").write_text(
        "Sort the items.\n" + "".join(f"- item {number} of the list\n" for number in range(40)),
        encoding="utf-8",
    )
    done = command("mutate", "long.txt", "-n", "synonym=1", "--side-by-side", FORCE_COLOR="1")
    assert done.returncode == 0
    assert "\x1b[31;9m" in done.stdout
    assert "\x1b[32;1m" in done.stdout
    assert "[-" not in done.stdout
    assert "… 34 lines are the same …" in done.stdout
    assert "item 2 " in done.stdout
    assert "item 20 " not in done.stdout


def test_wide_and_long_words_fit_their_column(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "wide.txt").write_text(
        f"Classify the text 日本語の文章を分類してください、短く答えてください now. Keep {'x' * 200} please.",
        encoding="utf-8",
    )
    assert main(["mutate", "wide.txt", "-n", "4", "--side-by-side", "--width", "80"]) == 0
    assert all(columns(row) <= 80 for row in capsys.readouterr().out.split("\n"))


def test_control_characters_are_shown_and_never_obeyed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bidi.txt").write_text(
        "Classify \u202ethe text\u202c below. Please be brief. \u2067Return one word\u2069 only.",
        encoding="utf-8",
    )
    for more in ([], ["--side-by-side"]):
        assert main(["mutate", "bidi.txt", "-n", "6", *more]) == 0
        out = capsys.readouterr().out
        assert not set("\u202e\u202c\u2067\u2069") & set(out)
    assert "<U+202E>" in out
    assert main(["mutate", "bidi.txt", "-n", "6", "--json"]) == 0
    for each in json.loads(capsys.readouterr().out)["mutations"]:
        assert all(each["text"].count(mark) == 1 for mark in "\u202e\u202c\u2067\u2069")


@pytest.mark.timeout(300)  # seconds on a quiet machine; benchmarks/growth.py measures how it grows
def test_a_prompt_of_a_megabyte_is_planned() -> None:
    from pytest_promptfuzz.mutations.engine.planner import plan

    line = "Please read the message below and choose the most relevant label; do not guess. Keep it short.\n"
    assert len(plan("Message.\n" + line * (1_000_000 // len(line)), 8).mutations) == 8


def test_mutate_shows_a_chat_with_its_roles_and_one_part_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Sort the words."}]
    (folder / "c.json").write_text(json.dumps(chat), encoding="utf-8")
    assert main(["mutate", "c.json", "-n", "1", "--operators", "upper-case"]) == 0
    shown = capsys.readouterr().out
    assert "\n   system " in shown
    assert "\n   user " in shown
    assert main(["mutate", "c.json", "-n", "1", "--operators", "upper-case", "--part", "user"]) == 0
    shown = capsys.readouterr().out
    assert "\n   user " in shown
    assert "system" not in shown
    assert main(["mutate", "c.json", "--part", "sytem"]) == 2
    assert "sytem" in capsys.readouterr().err


# operators


def test_operators_of_a_dimension(capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_promptfuzz.mutations.engine.mutation import DIMENSIONS
    from pytest_promptfuzz.mutations.engine.registry import all_operators

    for dimension in DIMENSIONS:
        assert main(["operators", "--dimension", dimension, "--json"]) == 0
        found = [each["name"] for each in json.loads(capsys.readouterr().out)]
        assert found == [each.name for each in all_operators().values() if each.dimension == dimension]
        assert main(["operators", "--dimension", dimension]) == 0
        shown = capsys.readouterr().out
        assert all(name in shown for name in found)
        assert shown.startswith(f"{dimension} (") or shown == "No operator has this dimension.\n"
    assert main(["operators", "--dimension", "lexicl"]) == 2
    assert "invalid choice: 'lexicl'" in capsys.readouterr().err
    assert main(["operators", "synonym", "--dimension", "lexical"]) == 2
    assert "name an operator or a dimension, not both" in capsys.readouterr().err


def test_a_composition_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["operators", "double-space:2+sentence-shuffle"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("double-space:2+sentence-shuffle  double-space:2, then sentence-shuffle")
    assert "only if named" in shown
    assert main(["operators", "double-space:2+sentence-shuffle", "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described["parts"] == [get("double-space").id + ":2", get("sentence-shuffle").id]
    assert described["preserves"] == "conditional"


def test_operators_lists_all_and_describes_one(capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_promptfuzz.mutations.engine.registry import all_operators

    assert main(["operators", "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == list(all_operators())
    assert main(["operators", "--width", "100"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n  {name} " in listed for name in all_operators())
    assert main(["operators", "synonym"]) == 0
    assert "  dimension  semantic\n" in capsys.readouterr().out


def test_an_unknown_operator_is_a_clear_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["operators", "synonim"]) == 2
    assert "'synonim'. Did you mean 'synonym'" in capsys.readouterr().err


# run


def test_run_passes_on_a_robust_prompt_and_calls_only_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["run", "p.txt", "--target", "simulated", "--set", TEXT, "-n", "6", "--json"]
    assert main(argv) == 0
    cold = json.loads(capsys.readouterr().out)
    assert (cold["verdict"], cold["score"], cold["baseline"], cold["target"]) == (
        "pass",
        1.0,
        "POSITIVE",
        "simulated",
    )
    assert len(cold["trials"]) == 6 + 1
    assert (cold["trials"][-1]["relation"], cold["trials"][-1]["outcome"]) == ("must-change", "equivalent")
    assert all("I love this phone, it is great." in trial["prompt"] for trial in cold["trials"])
    assert (cold["spent"]["calls"], cold["spent"]["controls"]) == (8, 1)
    assert main(argv) == 0
    warm = json.loads(capsys.readouterr().out)
    assert warm["spent"]["calls"] == 0
    assert [trial["response"] for trial in warm["trials"]] == [trial["response"] for trial in cold["trials"]]


def test_run_says_what_is_brittle_and_how_to_see_it_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "p.txt").write_text(URGENCY, encoding="utf-8")
    common = ["run", "p.txt", "--target", "simulated", "--set", TICKET, "-n", "bullet-reorder=4"]
    assert main([*common, "--width", "100"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("The smallest change that breaks it\n   prompt ")
    assert "\nBrittle: the score " in out
    assert "Answers are simulated: no real model was called." in out
    again = f"promptfuzz run p.txt --target simulated -n bullet-reorder=4 --seed 0 --threshold 0.85 --set '{TICKET}' --trial "
    assert again in out
    trial = out.partition(again)[2].split()[0]
    capsys.readouterr()
    assert main([*common, "--trial", trial]) == 1
    assert f"only trial {trial} was run" in capsys.readouterr().out
    assert "   baseline   " in out


def test_run_takes_counts_by_name_and_says_how_to_see_it_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = "upper-case=1,double-space:2=2"
    command = [
        "run",
        "p.txt",
        "--target",
        "simulated",
        "-n",
        counts,
        "--set",
        TEXT,
        "--controls=off",
        "--json",
    ]
    assert main(command) == 0
    report = json.loads(capsys.readouterr().out)
    assert [each["operators"] for each in report["trials"]] == [
        ["upper-case@2"],
        ["double-space@1:2"],
        ["double-space@1:2"],
    ]
    assert f" -n {counts} " in report["trials"][0]["reproduce"]


def test_run_has_meaning_compared_by_a_provider(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    from pytest_promptfuzz.server.model_server import ModelServer

    (folder / "s.txt").write_text(
        "Summarize the text in one sentence.\n\nText: The tram takes four years. It will reach the airport.",
        encoding="utf-8",
    )
    command = ["run", "s.txt", "--target", "simulated?noise=0.5&seed=4", "-n", "6", "--threshold", "0"]
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none-is-needed-here")
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        assert main([*command, "--embedder", "openai:text-embedding-3-small", "--json"]) == 0
        asked = [each for each in server.requests if each.path.endswith("/embeddings")]
    report = json.loads(capsys.readouterr().out)
    assert asked
    assert "semantic" in {name for each in report["trials"] for name, *_ in each["tiers"]}
    assert "--embedder openai:text-embedding-3-small" in report["trials"][0]["reproduce"]
    assert main([*command, "--embedder", "nobody:x"]) == 2
    assert "nobody:x" in capsys.readouterr().err


def test_run_has_answers_judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "s.txt").write_text(
        "Summarize the text in one sentence.\n\nText: It takes four years. The tram will reach the airport.",
        encoding="utf-8",
    )
    command = ["run", "s.txt", "--target", "simulated?noise=0.5&seed=4", "-n", "6", "--threshold", "0"]
    judged = ["--judge", "simulated", "--judge-when", "always", "--judge-repeats", "2"]
    assert main([*command, *judged, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["judge"] == report["judging"]["judge"] == "simulated"
    assert report["spent"]["judge_calls"] % 4 == 0 < report["spent"]["judge_calls"]
    assert {"judge"} <= {each["reason"] for each in report["trials"]}
    again = next(each["reproduce"] for each in report["trials"])
    assert "--judge simulated --judge-when always --judge-repeats 2" in again
    assert main([*command, "--judge", "nobody"]) == 2
    assert "judge='nobody' is no model and no judge of this project" in capsys.readouterr().err


def test_run_compares_models_on_the_same_mutations(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    targets = "simulated,simulated?noise=0.9&seed=1"
    argv = ["run", "p.txt", "--target", targets, "--set", TEXT, "-n", "5"]
    assert main([*argv, "--json"]) == 3  # the second varies too widely to tell
    reports = json.loads(capsys.readouterr().out)
    assert [each["test"] for each in reports] == ["p.txt [simulated]", "p.txt [simulated?noise=0.9&seed=1]"]
    assert [t["id"] for t in reports[0]["trials"]] == [t["id"] for t in reports[1]["trials"]]
    assert main([*argv, "--width", "120"]) == 3
    out = capsys.readouterr().out
    assert "verdict" in out
    rows = [
        row.split()
        for row in out.split("\n")
        if any(t["id"][:6] in row.split() for t in reports[0]["trials"])
    ]
    shown = [
        [one["outcome"], other["outcome"]]
        for one, other in zip(reports[0]["trials"], reports[1]["trials"], strict=True)
    ]
    assert reports[0]["trials"][-1]["relation"] == "must-change"
    assert [row[2:] for row in rows] == [*shown[:-1], ["(control)", "changed", "changed"]]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["run", "p.txt"],
            "no target. Add --target openai:MODEL, anthropic:MODEL, compatible:MODEL@URL or simulated",
        ),
        (
            ["run", "p.txt", "--target", "simulated"],
            "p.txt has slots without a value: text. Add --set text=VALUE, or --inputs FILE.",
        ),
        (["run", "no.txt", "--target", "simulated"], "there is no prompt file 'no.txt'"),
        (["run", "p.txt", "--target", "simulated,", "--set", TEXT], "no target. Add --target"),
        (["run", "p.txt", "--target", "simulated,simulated", "--set", TEXT], "names simulated twice"),
        (["run", "p.txt", "--target", "opnai:x", "--set", TEXT], "opnai"),
        (["run", "p.txt", "--target", "simulated,opnai:x", "--set", TEXT], "opnai"),
        (["run", "p.txt", "--target", "openai:gpt-5-mini", "--set", TEXT], "OPENAI_API_KEY"),
        (["run", "p.txt", "--target", "simulated", "--set", TEXT, "--threshold", "85"], "Did you mean 0.85?"),
        (
            ["run", "p.txt", "--target", "simulated", "--set", TEXT, "--gate", "confident"],
            "promptfuzz run: gate='confident'",
        ),
        (["run", "p.txt", "--target", "simulated", "--set", TEXT, "--task", "sqll"], "Did you mean 'sql'?"),
        (["run", "p.txt", "--target", "simulated", "--set", TEXT, "--operators", "tyop"], "tyop"),
        (["mutate", "p.txt", "-n", "0"], "mutations=0 is out of range"),
        (["mutate", "p.txt", "-n", "two"], "'two' is not a number such as 8, and there is no operator"),
        (["mutate", "p.txt", "-n", "8.5"], "'8.5' is not a whole number. Write a count such as 8"),
        (["mutate", "p.txt", "--badoption"], "usage: promptfuzz mutate "),
        (["run", "p.txt", "--badoption"], "promptfuzz run: error: unrecognized arguments: --badoption"),
        (
            ["operators", "SYNONYM"],
            "promptfuzz operators: there is no operator or dimension 'SYNONYM'. Did you mean 'synonym'",
        ),
        (["operators", "synonim"], "promptfuzz operators: there is no operator or dimension 'synonim'."),
        (["mutate", "p.txt", "-n", "synonim=2"], "Did you mean 'synonym'"),
        (["mutate", "p.txt", "-n", "synonym=2,lexical=0.5"], "mixes counts and weights"),
        (["mutate", "p.txt", "-n", "synonym="], "'' is not a count. Write synonym=2"),
        (["mutate", "p.txt", "-n", "lexical=20000"], "20,000 mutations are too many. Write 1 to 10,000"),
        (["mutate", "p.txt", "-n", "10001"], "10,000"),
        (["mutate", "p.txt", "-n", "synonym=2", "--operators", "synonym"], "Keep one of them"),
        (
            ["mutate", "p.txt", "--operators", "synonym+dobule-space:3"],
            "'dobule-space' in 'synonym+dobule-space:3'",
        ),
        (["mutate", "p.txt", "--operators", "double-space:0"], "the intensity 0 changes nothing"),
        (["mutate", "p.txt", "--operators", "upper-case:2"], "'upper-case' has no intensity"),
        (["mutate", "nul.txt"], "holds a NUL character in line 2 (character 12)"),
        (
            ["mutate", "protected.txt"],
            "protected.txt: nothing to mutate: everything in the prompt is protected",
        ),
        (["mutate", "p.txt", "--width", "20"], "'20' is not a number of columns from 40"),
        (["mutate", "p.txt", "--operators", "a,,b"], "'a,,b': a name is missing"),
        (["mutate", "p.txt", "--operators", "3"], "'3' is not a name. Write A,B"),
        (["mutate", "p.txt", "--operators", "lexical=x"], "'x' is not a weight"),
        (["mutate", "empty.txt"], "empty"),
        (["mutate", "latin.txt"], "not UTF-8"),
        (["seek", "p.txt"], "invalid choice: 'seek'"),
    ],
)
def test_what_is_wrong_is_one_message_and_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], message: str
) -> None:
    (folder / "empty.txt").write_text(" \n", encoding="utf-8")
    (folder / "latin.txt").write_bytes("Schön".encode("latin-1"))
    (folder / "nul.txt").write_bytes(b"Classify it\n\0 now.")
    (folder / "protected.txt").write_text('{a} "quoted words" 123 `code` https://x.org', encoding="utf-8")
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert "Traceback" not in captured.err
    if not captured.err.startswith("usage"):
        assert captured.err.count("\n") == 1


def test_errors_of_the_provider_leave_the_verdict_open(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_promptfuzz.server.faults import NotFound
    from pytest_promptfuzz.server.model_server import ModelServer

    def mutated(body: str) -> bool:
        return "Consider the overall tone. Return only one word" not in body

    with ModelServer(faults=[NotFound(times=None, when=mutated)]) as server:
        target = f"compatible:simulated@{server.openai_url}"
        code = main(
            [
                "run",
                "p.txt",
                "--target",
                target,
                "--set",
                TEXT,
                "-n",
                "4",
                "--operators",
                "sentence-shuffle,upper-case",
            ]
        )
    out = capsys.readouterr().out
    assert code == 3
    assert out.startswith("Inconclusive: ")
    assert "errors: these trials say nothing about the prompt" in out


def test_run_keeps_within_the_budget(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_promptfuzz.server.model_server import ModelServer

    with ModelServer() as server:
        target = f"compatible:simulated@{server.openai_url}"
        argv = ["run", "p.txt", "--target", target, "--set", TEXT, "-n", "4", "--json"]
        assert main([*argv, "--max-calls=3"]) == 3
        report = json.loads(capsys.readouterr().out)
        assert (report["verdict"], report["reason"], server.calls) == ("inconclusive", "budget-spent", 3)
        assert "--max-calls is 3, and 3 calls were made" in str(report["trials"])
        assert main([*argv, "--max-calls=2"]) == 0
        assert server.calls == 5  # what was answered is stored
        assert main([*argv, "--mode=live", "--max-calls=0"]) == 2
        assert "--max-calls is 0" in capsys.readouterr().err
        assert server.calls == 5


def test_run_tries_as_often_as_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_promptfuzz.server.faults import ServerError
    from pytest_promptfuzz.server.model_server import ModelServer

    with ModelServer(faults=[ServerError(times=None)]) as server:
        target = f"compatible:simulated@{server.openai_url}"
        assert main(["run", "p.txt", "--target", target, "--set", TEXT, "-n", "2", "--attempts=1"]) == 3
        assert server.calls == 1


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--max-calls=-1", "'-1' is not a whole number of 0 or more"),
        ("--attempts=0", "'0' is not a whole number of 1 or more"),
        ("--rpm=many", "'many' is not a whole number of 1 or more"),
        ("--max-cost=nan", "'nan' is not a number of 0 or more"),
    ],
)
def test_limits_that_cannot_be_read(
    folder: Path, capsys: pytest.CaptureFixture[str], option: str, expected: str
) -> None:
    assert main(["run", "p.txt", "--target", "simulated", option]) == 2
    assert f"{option.partition('=')[0]}: {expected}" in " ".join(capsys.readouterr().err.split())


def test_serve_reads_its_own_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help"]) == 0
    assert "--port" in capsys.readouterr().out


@pytest.mark.parametrize("part", ["template", "input"])
def test_run_mutates_the_part_that_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], part: str
) -> None:
    (folder / "part.txt").write_text("Is the mood good or bad? One word.\n\nText: {text}", encoding="utf-8")
    value = "It was a wonderful evening with friends"
    argv = ["run", "part.txt", "--target", "simulated", "--set", f"text={value}", "-n", "upper-case=1"]
    assert main([*argv, "--part", part, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    trial, *controls = report["trials"]
    assert len(controls) == (part == "template")
    text = json.dumps(trial)
    assert ("WONDERFUL EVENING" in text) is (part == "input")
    assert ("IS THE MOOD" in text) is (part == "template")
    assert f"--part {part}" in trial["reproduce"]


def test_run_says_which_parts_there_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "none.txt").write_text("Is the mood good or bad?", encoding="utf-8")
    for part, message in (
        ("inptu", "is not one of template, input, both, or a role. Did you mean 'input'?"),
        ("input", "has no slots"),
    ):
        assert main(["run", "none.txt", "--target", "simulated", "--part", part]) == 2
        assert message in capsys.readouterr().err


def test_run_fills_the_slots_from_a_data_file(folder: Path) -> None:
    (folder / "moods.csv").write_text(
        "id;text;expected;polarity\nlove;I love this phone, it is great.;POSITIVE;NEGATIVE\n"
        "hate;I hate it, it is awful.;NEGATIVE;NEGATIVE\n",
        encoding="utf-8",
    )
    given = ("run", "p.txt", "--target", "simulated", "-n", "2", "--inputs", "moods.csv", "--json")
    done = command(*given)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [each["relation"] for each in report["trials"]].count("invariance") == 4
    assert (report["gold"]["inputs"], report["gold"]["accuracy"]) == (2, 1.0)
    assert all("--inputs moods.csv" in each["reproduce"] for each in report["trials"])
    report = json.loads(command(*given, "--expected", "column:polarity").stdout)
    assert (report["gold"]["inputs"], report["gold"]["accuracy"]) == (2, 0.5)
    wrong = command(*given, "--expected", "POSITIVE")
    assert wrong.returncode == 2
    assert "--inputs moods.csv: the header has the column 'expected'" in wrong.stderr
    done = command(*given[:-2], "mood.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'moods.csv'?" in done.stderr


def test_a_row_wins_over_what_is_set_for_all(folder: Path) -> None:
    (folder / "two.txt").write_text("For {who}: " + PROMPT, encoding="utf-8")
    (folder / "rows.jsonl").write_text(
        '{"text": "I love it."}\n{"text": "I hate it.", "who": "Bob"}\n', encoding="utf-8"
    )
    given = (
        "run",
        "two.txt",
        "--target",
        "simulated",
        "-n",
        "2",
        "--inputs",
        "rows.jsonl",
        "--part",
        "input",
    )
    done = command(*given, "--set", "who=Ann", "--json")
    assert done.returncode in {0, 1, 3}, done.stderr
    trials = json.loads(done.stdout)["trials"]
    prompts = ["".join(text for kind, text in each["diff"] if kind != "+") for each in trials]
    assert {each[:9] for each in prompts} == {"For Ann: ", "For Bob: "}
    unknown = command(*given, "--set", "whom=Ann")
    assert unknown.returncode == 2
    assert "two.txt has no slot 'whom'. Did you mean 'who'?" in unknown.stderr
