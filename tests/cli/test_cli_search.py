"""``promptfuzz search`` as a person runs it: real processes, a model server over HTTP, a real Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.providers.requests import Request, Response
from pytest_promptfuzz.reporting.terminal.styled_text import columns
from pytest_promptfuzz.server.faults import NotFound, ServerError
from pytest_promptfuzz.server.model_server import ModelServer
from tests import warm
from tests.in_process import Done, promptfuzz

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROMPT = """\
Provide a concise overview of the ticket and classify it as spam or not spam. Give the main reason.

Ticket: {ticket}
"""
TICKET = "ticket=I cannot log in."
KEY = "sk-test-0123456789abcdefghij"


class Own:
    """A model whose answer is a function of the text that it is asked."""

    def __init__(self, answer: Callable[[str, int], str]) -> None:
        self._answer = answer

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        return Response(self._answer(str(request.messages[-1]["content"]), sample), model="own-1")


def brittle(text: str, sample: int) -> str:
    return "not spam" if "concise" in text else "spam"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / "p.txt").write_text(PROMPT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(Own(brittle)) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        yield running


def searched(*argv: str, stdin: str = "", **environment: str) -> Done:
    return promptfuzz("search", *argv, stdin=stdin, environment={**os.environ, **environment})


GIVEN = ("p.txt", "--target", "openai:gpt-5-mini", "--set", TICKET, "--operators", "synonym")


def test_the_change_that_breaks_it_comes_first(folder: Path, server: ModelServer) -> None:
    done = searched(*GIVEN, "--width", "100")
    assert (done.returncode, done.stderr) == (1, "")
    rows = done.stdout.splitlines()
    assert rows[0] == "p.txt on openai:gpt-5-mini: found: a harmless change breaks the answer"
    assert re.match(r"   prompt     Provide a \[-concise-\]\{\+\w+\+\} overview of the ticket", rows[1])
    said = {row[3:13].strip(): row[14:] for row in rows[1:] if row[3:13].strip()}
    assert (said["baseline"], said["response"]) == ("not spam", "spam")
    assert said["why"] == "'not spam' became 'spam'"
    assert said["again"] == "broke it 6 of 6 times; no smaller part of it breaks it"
    assert said["changed"].startswith("1 word, ")
    assert re.match(rf"\d+ of 200 queries \({server.calls} calls\); found by query \d+$", said["asked"])
    assert re.match(r"method sweep, \d+ places, objective deviation, seed 0$", said["how"])


def test_widths_and_colours(folder: Path, server: ModelServer) -> None:
    searched(*GIVEN)
    for width in (40, 80, 120):
        done = searched(*GIVEN, "--width", str(width))
        assert max(map(columns, done.stdout.splitlines())) <= width
        assert "\x1b" not in done.stdout
    coloured = searched(*GIVEN, FORCE_COLOR="1").stdout
    assert "\x1b[31;9mconcise" in coloured
    assert "[-" not in coloured


def test_a_rerun_asks_nothing_and_needs_no_network(folder: Path, server: ModelServer) -> None:
    first = json.loads(searched(*GIVEN, "--json").stdout)["searches"][0]
    asked = server.calls
    server.stop()
    done = searched(*GIVEN, "--json", "--max-calls", "0")
    again = json.loads(done.stdout)["searches"][0]
    assert done.returncode == 1
    assert (first["calls"], again["calls"], again["hits"]) == (asked, 0, asked)
    assert [first[key] for key in ("counterexample", "trace", "queries")] == [
        again[key] for key in ("counterexample", "trace", "queries")
    ]


def test_nothing_found_is_said_with_what_was_asked(folder: Path, server: ModelServer) -> None:
    done = searched(*GIVEN[:-2], "--operators", "double-space", "--queries", "40")
    assert done.returncode == 0
    assert done.stdout.startswith("p.txt on openai:gpt-5-mini: no change found that breaks the answer\n")
    assert re.search(r"\d+ of 40 queries", done.stdout)
    assert KEY not in done.stdout + done.stderr


def test_the_nearest_is_shown_where_nothing_breaks(folder: Path) -> None:
    done = searched(
        "p.txt", "--target", "simulated", "--set", TICKET, "--objective", "rouge-l<0.01", "--queries", "40"
    )
    assert done.returncode == 0
    assert "   nearest    " in done.stdout
    assert "of the way there" in " ".join(done.stdout.split())


def test_a_prompt_may_be_text_or_standard_input(folder: Path, server: ModelServer) -> None:
    text = PROMPT.replace("{ticket}", "I cannot log in.")
    given = ("--target", "openai:gpt-5-mini", "--operators", "synonym")
    named = searched(text, *given)
    assert (named.returncode, named.stdout.splitlines()[0].partition(" on ")[0]) == (1, "the prompt")
    piped = searched("-", *given, stdin=text)
    assert (piped.returncode, piped.stdout.splitlines()[0].partition(" on ")[0]) == (1, "standard input")
    missing = searched("my prompt.txt", *given)
    assert missing.returncode == 2
    assert "my prompt.txt" in missing.stderr


def test_inputs_are_searched_each_and_shown_in_a_table(folder: Path, server: ModelServer) -> None:
    (folder / "inputs.jsonl").write_text(
        '"I cannot log in."\n\n{"ticket": "Win a prize!"}\n', encoding="utf-8"
    )
    given = ("p.txt", "--target", "openai:gpt-5-mini", "--inputs", "inputs.jsonl", "--operators", "synonym")
    done = searched(*given)
    assert done.returncode == 1
    assert " ".join(done.stdout.split()).count("a harmless change breaks the answer") == 2
    table = done.stdout.partition("\nsearch")[2].splitlines()
    assert table[0].split() == ["result", "words", "changed", "queries", "found", "at", "cost"]
    assert [row.split()[0] for row in table[1:3]] == ["1", "2"]
    assert all(" found " in row for row in table[1:3])
    found = json.loads(searched(*given, "--json").stdout)
    assert [each["name"] for each in found["searches"]] == [
        "1 ('I cannot log in.')",
        "2 (ticket='Win a prize!')",
    ]


def test_inputs_take_what_is_set_for_all(folder: Path, server: ModelServer) -> None:
    (folder / "two.txt").write_text("For {who}: " + PROMPT, encoding="utf-8")
    (folder / "inputs.jsonl").write_text('"I cannot log in."\n{"ticket": "Help!"}', encoding="utf-8")
    done = searched(
        *("two.txt", "--target", "openai:gpt-5-mini", "--inputs", "inputs.jsonl", "--set", "who=Ann"),
        *("--operators", "synonym", "--no-prune", "--json"),
    )
    assert done.returncode == 1, done.stderr
    for each in json.loads(done.stdout)["searches"]:
        assert each["counterexample"]["mutation"]["original"].startswith("For Ann: ")


def test_an_input_that_cannot_be_searched_is_left_out_and_said(folder: Path, server: ModelServer) -> None:
    (folder / "q.txt").write_text("{text}", encoding="utf-8")
    lines = ['"Provide a concise overview of the ticket."', '"17"']
    (folder / "inputs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    given = ("q.txt", "--target", "openai:gpt-5-mini", "--inputs", "inputs.jsonl", "--part", "input")
    done = searched(*given, "--operators", "synonym")
    assert done.returncode == 1
    assert "2 ('17') was left out: no operator finds anything to change" in done.stderr
    (folder / "inputs.jsonl").write_text('"17"\n"18"', encoding="utf-8")
    done = searched(*given, "--operators", "synonym")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no prompt can be searched: 1 ('17'): no operator" in done.stderr


def test_an_input_of_another_shape_is_refused_with_its_line_before_anything_is_asked(
    folder: Path, server: ModelServer
) -> None:
    given = ("p.txt", "--target", "openai:gpt-5-mini", "--inputs", "inputs.jsonl", "--operators", "synonym")
    for lines, message in (
        (['{"ticket": "Help!"}', "17"], "--inputs inputs.jsonl: line 2 is no object: 17."),
        (['"Help!"', "", '{"ticet": "x"}'], "line 3 has no column 'ticket' for the slot of the prompt."),
    ):
        (folder / "inputs.jsonl").write_text("\n".join(lines), encoding="utf-8")
        done = searched(*given)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in " ".join(done.stderr.split())
    assert server.calls == 0


def test_a_value_of_a_row_comes_before_that_for_all(folder: Path, server: ModelServer) -> None:
    lines = ['{"ticket": "Help!"}', '{"ticet": "x"}']
    (folder / "inputs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    given = ("p.txt", "--target", "openai:gpt-5-mini", "--inputs", "inputs.jsonl", "--operators", "synonym")
    found = json.loads(searched(*given, "--set", "ticket=Never mind.", "--json").stdout)["searches"]
    assert [each["name"] for each in found] == ["1 (ticket='Help!')", "2 (ticket='Never mind.')"]
    assert "Ticket: Help!" in found[0]["counterexample"]["mutation"]["original"]


def test_a_table_is_searched_row_by_row(folder: Path, server: ModelServer) -> None:
    (folder / "inputs.csv").write_text("id;ticket;lang\nlogin;I cannot log in.;en\n", encoding="utf-8-sig")
    given = ("p.txt", "--target", "openai:gpt-5-mini", "--inputs", "inputs.csv", "--operators", "synonym")
    found = json.loads(searched(*given, "--json").stdout)["searches"]
    assert [each["name"] for each in found] == ["'login'"]
    assert "Ticket: I cannot log in." in found[0]["counterexample"]["mutation"]["original"]


def test_inputs_may_be_piped(folder: Path, server: ModelServer) -> None:
    given = ("p.txt", "--target", "openai:gpt-5-mini", "--inputs", "-", "--operators", "synonym", "--json")
    found = json.loads(searched(*given, stdin='"I cannot log in."\n').stdout)["searches"]
    assert [each["name"] for each in found] == ["1 ('I cannot log in.')"]


def test_piped_inputs_are_for_every_prompt(folder: Path, server: ModelServer) -> None:
    (folder / "q.txt").write_text("Provide an overview of the ticket.\n\nTicket: {ticket}", encoding="utf-8")
    given = ("--target", "openai:gpt-5-mini", "--inputs", "-", "--operators", "synonym", "--json")
    found = json.loads(searched("p.txt", "q.txt", *given, stdin='"I cannot log in."\n').stdout)["searches"]
    assert [each["name"] for each in found] == [
        f"{name}, input 1 ('I cannot log in.')" for name in ("p.txt", "q.txt")
    ]
    done = searched("-", *given, stdin='"I cannot log in."\n')
    assert (done.returncode, server.calls) == (2, server.calls)
    assert (
        "--inputs -: the prompt is read from standard input, too. Put one of them into a file." in done.stderr
    )


def test_several_prompts(folder: Path, server: ModelServer) -> None:
    (folder / "q.txt").write_text("Provide an overview of the ticket.\n\nTicket: {ticket}", encoding="utf-8")
    done = searched("p.txt", "q.txt", *GIVEN[1:])
    assert done.returncode == 1
    table = done.stdout.partition("\nsearch")[2].splitlines()
    assert [row.split()[:2] for row in table[1:3]] == [["p.txt", "found"], ["q.txt", "nothing"]]


def test_hostile_answers_are_shown_and_do_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = "\x1b[2J\x1b]0;pwned\x07::error::spam \u202e"
    with ModelServer(Own(lambda text, _: "not spam" if "concise" in text else hostile)) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        done = searched(*GIVEN)
        assert done.returncode == 1
        assert not set("\x1b\x07\u202e") & set(done.stdout)
        assert "␛[2J" in done.stdout
        assert not re.search(r"^\s*::", done.stdout, re.MULTILINE)
        assert "\x1b" not in searched(*GIVEN, "--json").stdout


def test_a_noisy_target_is_inconclusive(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(Own(lambda text, sample: ["not spam", "not spam", "spam"][sample % 3])) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        done = searched(*GIVEN, "--baseline-runs", "6")
        assert done.returncode == 3
        assert "inconclusive (noisy)" in done.stdout
        assert "No change of the prompt is needed for that" in " ".join(done.stdout.split())
        assert "place" not in done.stdout  # it has not come to what could change


def test_a_target_that_fails_is_inconclusive(folder: Path, server: ModelServer) -> None:
    server.fail(
        NotFound(
            times=None, when=lambda body: "Provide a concise overview of the ticket and classify" not in body
        )
    )
    done = searched(*GIVEN, "--operators", "lexical", "--queries", "60")
    assert done.returncode == 3
    assert "inconclusive (target-failed)" in done.stdout
    assert "8 queries in a row got no answer" in " ".join(done.stdout.split())
    server.reset()
    server.fail(ServerError(times=None))
    done = searched(*GIVEN, "--mode", "live", "--attempts", "1")
    assert done.returncode == 3
    assert "p.txt was left out: " in done.stderr


def test_too_small_a_budget_is_inconclusive_and_says_what_it_buys(folder: Path, server: ModelServer) -> None:
    done = searched(*GIVEN, "--method", "pwws", "--queries", "5")
    assert done.returncode == 3
    assert "which is too few to try a change" in " ".join(done.stdout.split())


def test_a_budget_of_the_run_ends_the_search_with_what_is_known(folder: Path, server: ModelServer) -> None:
    done = searched(*GIVEN[:-2], "--operators", "double-space,keyboard-typo", "--max-calls", "9")
    assert server.calls == 9
    assert "--max-calls is 9" in " ".join(done.stdout.split())
    assert done.returncode == 3


def test_a_transfer_without_a_key_leaves_what_was_found(
    folder: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    done = searched(*GIVEN, "--transfer", "anthropic:claude-haiku-4-5", "--transfer", "openai:gpt-5")
    assert done.returncode == 1
    assert "a harmless change breaks the answer" in done.stdout
    assert "openai:gpt-5" in done.stdout
    assert done.stderr.startswith(
        "promptfuzz search: the transfer to anthropic:claude-haiku-4-5 was left out: target 'anthropic:claude-haiku-4-5'"
    )


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait as long as the slowest machine may take; a test that hangs is seen."""
    for _ in range(12_000):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never happened")


@pytest.mark.skipif(os.name == "nt", reason="a terminal")
@pytest.mark.parametrize(("breaks", "code"), [(True, 1), (False, 3)])
def test_ctrl_c_shows_what_is_known(
    folder: Path, monkeypatch: pytest.MonkeyPatch, breaks: bool, code: int
) -> None:
    import pty

    # The find comes early; what would make it smaller takes until the interrupt.
    model = Own(brittle if breaks else lambda text, _: "not spam")
    with ModelServer(model, latency=0.2) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        terminal, side = pty.openpty()
        limits = ("--queries", "5000", "--batch", "4", "--operators", "synonym,lexical")
        process = warm.Popen(
            [
                *(sys.executable, "-m", "pytest_promptfuzz.cli", "search", "p.txt"),
                *("--target", "openai:gpt-5-mini", "--set", TICKET, *limits),
            ],
            stdout=subprocess.PIPE,
            stderr=side,
            text=True,
            encoding="utf-8",
        )
        os.close(side)
        shown: list[str] = []
        reader = threading.Thread(target=read_all, args=(terminal, shown), daemon=True)
        reader.start()
        wait_for(lambda: "making it smaller" in "".join(shown) if breaks else running.answered > 12)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
        reader.join()
        os.close(terminal)
        assert "Traceback" not in "".join(shown)
        assert process.returncode == code, out
        assert ("a harmless change breaks the answer" if breaks else "inconclusive (interrupted)") in out


def read_all(terminal: int, shown: list[str]) -> None:
    """Take in what a terminal is shown, until nobody writes to it any more."""
    with contextlib.suppress(OSError):
        while data := os.read(terminal, 4096):
            shown.append(data.decode("utf-8", "replace"))


def test_ctrl_c_before_the_first_answer_ends_with_130(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(Own(brittle), latency=60) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        process = warm.Popen(
            [sys.executable, "-m", "pytest_promptfuzz.cli", "search", *GIVEN],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(lambda: running.calls > 0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, out) == (130, "")
        assert err == "promptfuzz search: interrupted\n"


@pytest.mark.skipif(os.name == "nt", reason="a terminal")
def test_a_terminal_sees_progress_on_one_line(folder: Path, server: ModelServer) -> None:
    import pty

    main, side = pty.openpty()
    process = warm.Popen(
        [sys.executable, "-m", "pytest_promptfuzz.cli", "search", *GIVEN, "--width", "80"],
        stdout=subprocess.PIPE,
        stderr=side,
        text=True,
    )
    out, _ = process.communicate()
    os.close(side)
    shown = os.read(main, 65536).decode()
    os.close(main)
    assert "p.txt on openai" in out
    assert re.search(r"p\.txt \d+/200 queries, found, making it smaller\b", shown)
    assert "\n" not in shown
    assert shown.endswith("\b")
    assert shown.rstrip("\b").endswith(" ")


WRONG = [
    (("p.txt", "--set", TICKET), "no target. Add --target"),
    (("p.txt", "--target", "simulated"), "slots without a value: ticket"),
    (("none.txt", "--target", "simulated"), "none.txt"),
    ((*GIVEN, "--method", "pws"), "the search method 'pws' is unknown"),
    ((*GIVEN, "--objective", "labl"), "objective='labl' is unknown"),
    ((*GIVEN, "--objective", "rouge-l<x"), "'x' is no number"),
    ((*GIVEN, "--objective", "judge"), "needs judge="),
    ((*GIVEN, "--objective", "confidence"), "is no mapping of labels to confidences"),
    ((*GIVEN, "--queries", "0"), "queries=0 is not a whole number from 1"),
    ((*GIVEN, "--max-words", "0"), "max_words=0"),
    ((*GIVEN, "--max-change-rate", "2"), "max_change_rate=2.0"),
    ((*GIVEN[:-1], "nonsense"), "nonsense"),
    ((*GIVEN, "--lexicon", "oewn:1900"), "oewn:1900"),
    ((*GIVEN, "--part", "middle"), "middle"),
    (
        (*GIVEN, "--inputs", "none.jsonl"),
        "--inputs none.jsonl: there is no such file or folder. We looked in ",
    ),
    ((*GIVEN[:3], "--inputs", "p.txt"), "--inputs p.txt: the ending '.txt' is no format that can be read"),
    ((*GIVEN[:3], "--inputs", "empty.jsonl"), "--inputs empty.jsonl: it is empty"),
    ((*GIVEN[:3], "--inputs", "wrong.jsonl"), "ticet"),
    ((*GIVEN, "--max-cost", "0.5", "--target", "compatible:unknown@http://127.0.0.1:9/v1"), "price"),
]


@pytest.mark.parametrize(("given", "said"), WRONG, ids=[said[:30] for _, said in WRONG])
def test_bad_input_is_named(folder: Path, server: ModelServer, given: tuple[str, ...], said: str) -> None:
    (folder / "empty.jsonl").write_text("\n", encoding="utf-8")
    (folder / "wrong.jsonl").write_text('{"ticet": "x"}', encoding="utf-8")
    done = searched(*given)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("width", ["80", "200"])
def test_the_help_names_methods_objectives_and_exit_codes(width: str) -> None:
    done = searched("--help", COLUMNS=width)
    assert done.returncode == 0
    shown = " ".join(done.stdout.split())
    for name in ("sweep", "beam-annealing", "rouge-l<0.5", "--lexicon", "--inputs", "3: inconclusive"):
        assert name in shown


def test_several_searches_have_metrics(folder: Path, server: ModelServer) -> None:
    lines = ['"I cannot log in."', '"Win a prize!"']
    (folder / "inputs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    given = ("p.txt", "--target", "openai:gpt-5-mini", "--inputs", "inputs.jsonl", "--operators", "synonym")
    shown = searched(*given).stdout
    assert "\nsuccess rate   2 of 2 (100%; 95 %: 34% to 100%)\n" in shown
    assert re.search(r"\nwords changed  1\.0 on average, median 1\.0; \d\.\d% of the prompt", shown)
    metrics = json.loads(searched(*given, "--json").stdout)["metrics"]
    assert (metrics["searches"], metrics["found"], metrics["success_rate"]) == (2, 2, 1.0)
    assert metrics["quality"] == {}
    assert set(found := json.loads(searched(*given, "--json").stdout)) == {
        "format",
        "searches",
        "left_out",
        "metrics",
        "transfers",
    }
    assert (found["format"], found["left_out"], found["transfers"]) == (1, [], [])


def test_finds_are_carried_to_other_models(folder: Path, server: ModelServer) -> None:
    with (
        ModelServer(Own(lambda text, _: "not spam" if "concise" in text else "spam")) as same,
        ModelServer(Own(lambda text, _: "not spam")) as steady,
        ModelServer(Own(lambda text, sample: "spam" if sample % 2 else "not spam")) as noisy,
    ):
        others = [f"compatible:m@{each.openai_url}" for each in (same, steady, noisy)]
        done = searched(*GIVEN, *(word for each in others for word in ("--transfer", each)), "--width", "120")
        assert done.returncode == 1
        rows = done.stdout.partition("Do they break other models as well?\n")[2].splitlines()
        assert rows[0] == f"   {others[0]}  1 of 1 (100%; 95 %: 21% to 100%)"
        assert rows[1] == f"   {others[1]}  0 of 1 (0%; 95 %: 0% to 79%)"
        assert rows[2] == f"   {others[2]}  not known"
        assert rows[3].startswith(
            "   left out: p.txt: the model answered the unmutated prompt first 'not spam' and then 'spam'."
        )
        # Two of the unmutated prompt, what breaks the answer six times, and the unmutated prompt five times more.
        assert (same.calls, steady.calls, noisy.calls) == (13, 3, 2)
        found = json.loads(searched(*GIVEN, "--transfer", others[0], "--json").stdout)
        assert [(each["broke"], each["of"]) for each in found["transfers"]] == [(1, 1)]
        assert same.calls == 13
    done = searched(*GIVEN, "--transfer", "openia:x")
    assert done.returncode == 2
    assert "openia" in done.stderr


def test_what_says_how_fluent_prompts_are_is_checked_before_anything_is_asked(
    folder: Path, server: ModelServer
) -> None:
    for given, said in (
        (("--perplexity", "gpt2"), "'gpt2' is no folder of a model"),
        (("--grammar", "localhost"), "is no address of a LanguageTool server"),
        (("--grammar", "http://127.0.0.1:9"), "Start it, or leave it out."),
    ):
        done = searched(*GIVEN, *given)
        assert done.returncode == 2
        assert said in done.stderr
    assert server.calls == 0


WORDS = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">
<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">
  <Lexicon id="mine" label="Mine" language="en" email="me@example.org" license="CC0" version="1">
    <LexicalEntry id="e1"><Lemma writtenForm="concise" partOfSpeech="a"/><Sense id="s1" synset="mine-1-a"/></LexicalEntry>
    <LexicalEntry id="e2"><Lemma writtenForm="brief" partOfSpeech="a"/><Sense id="s2" synset="mine-1-a"/></LexicalEntry>
    <Synset id="mine-1-a" ili="" partOfSpeech="a"/>
  </Lexicon>
</LexicalResource>
"""


def test_words_of_a_wordnet_are_searched(folder: Path, server: ModelServer) -> None:
    pytest.importorskip("wn")
    (folder / "words.xml").write_text(WORDS, encoding="utf-8")
    lexicons = {"PROMPTFUZZ_LEXICONS": str(folder / "lexicons")}
    done = searched(*GIVEN[:-2], "--lexicon", "./words.xml", "--any-sense", **lexicons)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "[-concise-]{+brief+}" in done.stdout
    assert "method sweep, 1 place, " in done.stdout
    beside = json.loads(searched(*GIVEN, "--lexicon", "./words.xml", "--json", **lexicons).stdout)
    assert beside["searches"][0]["places"] > 1


def test_chats_and_their_roles_are_searched(folder: Path, server: ModelServer) -> None:
    chat = [
        {"role": "system", "content": "Be terse."},
        {"role": "user", "content": "Provide a concise overview."},
    ]
    (folder / "chat.json").write_text(json.dumps(chat), encoding="utf-8")
    given = ("chat.json", "--target", "openai:gpt-5-mini", "--operators", "synonym")
    assert searched(*given).returncode == 1
    assert (server.requests[-1].body or {})["messages"][0]["content"] == "Be terse."
    done = searched(*given, "--part", "system")
    assert done.returncode == 2
    assert "no operator finds anything to change" in done.stderr


def test_a_judge_may_say_what_is_another_answer(folder: Path, server: ModelServer) -> None:
    done = searched(*GIVEN, "--objective", "judge", "--judge", "simulated", "--queries", "30")
    assert done.returncode in {0, 1}, done.stderr
    assert "objective judge" in done.stdout


def test_nothing_found_by_too_few_queries_is_inconclusive(folder: Path) -> None:
    done = searched("p.txt", "--target", "simulated", "--set", TICKET, "--queries", "3")
    assert (done.returncode, "inconclusive (too few queries)" in done.stdout) == (3, True)
