"""Recordings and modes, in real pytest processes against the local model server."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.server.faults import BadRequest, Unauthorized
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.recordings.checks import check
from pytest_promptfuzz.storage.recordings.entries import (
    REFUSAL_SAMPLES,
    PlanEntry,
    RecordedExchange,
    from_line,
)
from tests.plugin.conftest import PROMPT, RECORDED_INI, summary_of

if TYPE_CHECKING:
    from pathlib import Path

LLM = """
@robust(TRIAGE, mutations=4, threshold=0.0)
def test_triage(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""
SDK = """
import openai

client = openai.OpenAI(max_retries=0)

@robust(TRIAGE, mutations=4, threshold=0.0)
def test_sdk(prompt):
    return client.chat.completions.create(
        model="gpt-5-mini", temperature=0, messages=[{"role": "user", "content": prompt.format(ticket=TICKET)}]
    ).choices[0].message.content
"""


@pytest.fixture
def server(monkeypatch):
    for name in ("CI", "PROMPTFUZZ_MODE", "PROMPTFUZZ_TARGET", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-no-known-shape-17")
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        yield server


@pytest.fixture
def run(pytester: pytest.Pytester, server):
    pytester.makefile(".ini", pytest=RECORDED_INI)

    def run(source: str | None = None, *arguments: str, alone: bool = False, **env: str) -> pytest.RunResult:
        if source is not None:
            pytester.makepyfile(test_it=PROMPT + source)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in env.items():
                patch.setenv(name, value)
            start = pytester.runpytest_forked if alone else pytester.runpytest
            return start("-p", "no:cacheprovider", *arguments)

    return run


@pytest.fixture
def recording(pytester: pytest.Pytester) -> Path:
    return pytester.path / "__promptfuzz__" / "test_it.calls.jsonl"


def entries(path: Path) -> list[RecordedExchange | PlanEntry]:
    return [from_line(line) for line in path.read_bytes().splitlines(keepends=True)[1:]]


def said(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())


def forget_cache(pytester: pytest.Pytester) -> None:
    import shutil

    shutil.rmtree(pytester.path / ".promptfuzz")


ADDED_UP = """
@robust(TRIAGE, mutations=2, threshold=0.0, controls=0)
def test_asks_one_thing_each_time(prompt, llm):
    llm("Say hello.")
    return llm(prompt.format(ticket=TICKET))

@robust(TRIAGE, mutations=2)
def test_fails_unmutated(prompt, llm):
    assert llm(prompt.format(ticket=TICKET)).text == "NOTHING"

@robust(TRIAGE, mutations=2, threshold=0.0, controls=0)
def test_cannot_be_recorded(prompt, llm):
    answer = llm(prompt.format(ticket=TICKET), user="someone").text
    urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/models").close()
    return answer
"""


def test_calls_and_recorded_answers_add_up(run, recording, server):
    recorded = run("import os\nimport urllib.request\n" + ADDED_UP, "--promptfuzz-mode=record")
    shown = said(recorded)
    assert "recorded 2 tests, 10 answers: __promptfuzz__/test_it.calls.jsonl" in shown
    assert len([each for each in entries(recording) if isinstance(each, RecordedExchange)]) == 10
    assert "13 calls made; 2 equal requests not asked again; " in shown
    assert (
        "13 calls made, 10 answers recorded: 5 calls were made by 1 test that is not recorded; "
        "2 answers belong to 1 test that fails unmutated" in shown
    )


@pytest.mark.parametrize("source", [LLM, SDK], ids=["llm", "sdk"])
def test_what_is_recorded_is_replayed_without_key_cache_or_server(run, recording, pytester, server, source):
    recorded = run(source, "--promptfuzz-mode=record")
    recorded.assert_outcomes(passed=1)
    assert server.calls == 1 + 2 + 4, "three samples of the baseline, and the mutations"
    assert "recorded 1 test, 7 answers: __promptfuzz__/" in said(recorded)
    plan, *calls = entries(recording)
    assert isinstance(plan, PlanEntry)
    assert [each.place.sample for each in calls[:3]] == [0, 1, 2]
    assert [each.place.trial for each in calls[3:]] == [each["id"] for each in plan.plan["mutations"]]
    assert not list((pytester.path / ".promptfuzz" / "recording").glob("*.jsonl")), "nothing waits"
    forget_cache(pytester)
    server.stop()
    before = recording.read_bytes()
    replayed = run(None, "--promptfuzz-mode=replay", OPENAI_API_KEY="none" if source is SDK else "")
    replayed.assert_outcomes(passed=1)
    assert "0 calls made; 7 answers from the recording" in said(replayed)
    assert recording.read_bytes() == before


KEYLESS = """
import os
import anthropic
import openai

@robust(TRIAGE, mutations=4, threshold=0.0)
def test_openai(prompt):
    client = openai.OpenAI(max_retries=0)
    assert client.api_key == os.environ.get("EXPECTED_KEY", client.api_key)
    return client.chat.completions.create(
        model="gpt-5-mini", messages=[{"role": "user", "content": prompt.format(ticket=TICKET)}]
    ).choices[0].message.content

@robust(TRIAGE, mutations=4, threshold=0.0)
def test_anthropic(prompt):
    client = anthropic.Anthropic(max_retries=0)
    return client.messages.create(
        model="claude-sonnet-5", max_tokens=50, messages=[{"role": "user", "content": prompt.format(ticket=TICKET)}]
    ).content[0].text

def test_without_a_model():
    assert "none-in-replay" not in os.environ.values()
"""


def test_in_replay_sdks_need_no_key_and_other_tests_see_none(run, monkeypatch, server):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    run(KEYLESS, "--promptfuzz-mode=record", ANTHROPIC_API_KEY="any").assert_outcomes(passed=3)
    asked = server.calls
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    run(None, "--promptfuzz-mode=replay", EXPECTED_KEY="a-key-of-no-known-shape-17").assert_outcomes(passed=3)
    monkeypatch.delenv("OPENAI_API_KEY")
    run(None, "--promptfuzz-mode=replay").assert_outcomes(passed=3)
    run(None, "--promptfuzz-mode=replay", "--promptfuzz=off").assert_outcomes(passed=3)
    assert server.calls == asked


EARLY = """
import openai
import pytest

@pytest.fixture
def client():
    return openai.OpenAI()

@robust(TRIAGE, mutations=4, threshold=0.0)
def test_early(prompt, client):
    raise AssertionError

def test_plain():
    pass
"""


def test_in_replay_what_wants_a_key_too_early_is_named(run, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    wants = "wants OPENAI_API_KEY before the body of a test runs, and only there a replay needs none."
    collected = run(SDK, "--promptfuzz-mode=replay")
    collected.assert_outcomes(errors=1)
    assert f"promptfuzz: test_it.py {wants} Make the client where it is first used" in said(collected)
    assert wants not in said(run(None, "--promptfuzz-mode=live"))
    set_up = run(EARLY, "--promptfuzz-mode=replay")
    set_up.assert_outcomes(passed=1, errors=1)
    assert f"promptfuzz: test_it.py::test_early {wants}" in said(set_up)


def test_recording_again_asks_everything_anew_and_keeps_other_tests(run, recording, server):
    other = LLM.replace("test_triage", "test_other").replace("TICKET)", "'The app crashes.')")
    run(LLM + other, "--promptfuzz-mode=record").assert_outcomes(passed=2)
    assert server.calls == 14
    first = recording.read_bytes().splitlines()
    run(None, "--promptfuzz-mode=record", "-k", "test_triage").assert_outcomes(passed=1)
    assert server.calls == 21
    second = recording.read_bytes().splitlines()
    assert [line for line in first if b'"test_other"' in line] == [
        line for line in second if b'"test_other"' in line
    ]
    assert len(first) == len(second) == 1 + 2 * 8


def test_a_changed_request_is_refused_with_what_differs(run, recording, server):
    run(SDK, "--promptfuzz-mode=record")
    asked = server.calls
    result = run(SDK.replace("temperature=0", "temperature=1"), "--promptfuzz-mode=replay")
    result.assert_outcomes(errors=1)
    text = said(result)
    assert "NotRecordedError" in text
    assert (
        "the request of the baseline differs from the recording at $.body.temperature "
        "(recorded 0, now 1)." in text
    )
    assert "test_it.py::test_sdk" in text
    assert server.calls == asked


def test_a_recording_that_answers_nothing_is_named_with_what_differs(run, recording, server):
    run(SDK, "--promptfuzz-mode=record")
    same = run(SDK)
    assert "its recording was not used" not in said(same)
    assert "answers from the recording; " in said(same)
    other = run(SDK.replace("temperature=0", "temperature=1"))
    other.assert_outcomes(passed=1)
    assert (
        "note test_it.py::test_sdk: its recording was not used: the request of the baseline differs from the "
        "recording at $.body.temperature (recorded 0, now 1). Record what is missing: --promptfuzz-mode=record-missing"
    ) in said(other)
    assert "from the recording; " not in said(other)
    assert "recording were used" not in said(other)


def test_a_recording_for_another_model_is_refused(run, recording, server):
    run(SDK, "--promptfuzz-mode=record")
    asked = server.calls
    (model,) = {each.answer.request["model"] for each in entries(recording)[1:]}
    result = run(SDK.replace(f'"{model}"', '"another-model"'), "--promptfuzz-mode=replay")
    result.assert_outcomes(errors=1)
    differs = f"the request of the baseline differs from the recording at $.body.model (recorded '{model}', now 'another-model')."
    assert differs in said(result)
    assert server.calls == asked


def test_of_what_differs_both_values_are_shown_shortened_and_without_secrets(run, recording, server):
    asking = """
import os
import openai

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_sdk(prompt):
    more = {MORE}
    messages = [{"role": "user", "content": prompt.format(ticket=TICKET)}, {"role": "user", "content": more.pop("said")}]
    return openai.OpenAI().chat.completions.create(model="m", messages=messages, **more).choices[0].message.content
"""
    long = "'The same at its beginning. ' * 9"
    run(
        asking.replace("{MORE}", f"dict(said={long} + 'One', seed=1, user={long})"),
        "--promptfuzz-mode=record",
    )
    secret = "'Key ' + os.environ['OPENAI_API_KEY'] + ' and more' * 20"
    changed = f"dict(said={long} + {secret}, user={long} + '!', tools=[dict(type='function', function=dict(name='f'))])"
    result = run(asking.replace("{MORE}", changed), "--promptfuzz-mode=replay")
    result.assert_outcomes(errors=1)
    text = said(result)
    assert (
        "$.body.messages[1].content (recorded '… beginning. One', now '… beginning. Key [redacted] and more and…')"
        in text
    )
    assert "$.body.user (recorded '… beginning. ', now '… beginning. !')" in text
    assert "$.body.seed (recorded 1, now without it)" in text
    assert """$.body.tools (recorded without it, now [{"type": "function", "function": {"name…)""" in text
    assert "a-key-of" not in result.stdout.str()


def test_a_recording_of_another_format_version_is_refused_and_left(run, recording, server):
    run(LLM, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    asked = server.calls
    newer = recording.read_bytes().replace(b'"version": 1', b'"version": 2', 1)
    recording.write_bytes(newer)
    result = run(None, "--promptfuzz-mode=replay", "--promptfuzz-cache-dir=none")
    result.assert_outcomes(errors=1)
    assert "the recording has format version 2; this release reads 1." in said(result)
    assert server.calls == asked
    result = run(None, "--promptfuzz-mode=record")
    assert "format version 2" in said(result)
    assert recording.read_bytes() == newer


def test_a_missing_trial_is_named_with_its_operator(run, recording, server):
    run(SDK, "--promptfuzz-mode=record")
    asked = server.calls
    lines = recording.read_bytes().splitlines(keepends=True)
    gone = from_line(lines.pop())
    plan = from_line(lines[1])
    recording.write_bytes(b"".join(lines))
    (operator,) = plan.plan["mutations"][-1]["operators"]
    result = run(None, "--promptfuzz-mode=replay", "--promptfuzz-cache-dir=none")
    result.assert_outcomes(errors=1)
    assert f"trial {gone.place.trial} ({operator})" in said(result)
    assert "$.body.messages[0].content" in said(result)
    result = run(None, "--promptfuzz-mode=replay")
    assert (
        f"the recording has no answer for trial {gone.place.trial} ({operator}); only the local cache has one"
        in said(result)
    )
    assert server.calls == asked


def test_an_unrecorded_test_is_an_error_whatever_its_verdict_would_be(run, server):
    result = run(LLM, "--promptfuzz-mode=replay")
    result.assert_outcomes(errors=1)
    assert "the test has no recording" in said(result) or "has no plan in" in said(result)
    assert server.calls == 0


def test_a_test_outside_the_mark_replays_too(run, server):
    source = """
def test_plain(llm, promptfuzz):
    assert llm("Say hello.").text
    assert promptfuzz.evaluate(TRIAGE.format(ticket=TICKET), mutations=2, threshold=0.0).passed
"""
    run(source, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    asked = server.calls
    assert asked == 1 + 3 + 2
    server.stop()
    run(None, "--promptfuzz-mode=replay").assert_outcomes(passed=1)
    result = run(source.replace("hello", "goodbye"), "--promptfuzz-mode=replay")
    result.assert_outcomes(failed=1)
    assert "$.body.messages[0].content" in said(result)


def test_ci_replays_where_there_are_recordings_and_says_so(run, recording, server):
    result = run(LLM, CI="true")
    assert "mode auto" in said(result)
    assert server.calls == 5
    run(None, "--promptfuzz-mode=record")
    asked = server.calls
    result = run(None, CI="true")
    result.assert_outcomes(passed=1)
    assert "promptfuzz: mode replay (CI is set and there are recordings)" in said(result)
    assert "mode replay (CI" in said(run(None, "test_it.py::test_triage", CI="1"))
    for off in ("false", "0", ""):
        assert "mode auto" in said(run(None, CI=off))
    assert "mode live" in said(run(None, "--co", "--promptfuzz-mode=live", CI="true"))
    assert "mode auto" in said(run(None, "--co", CI="true", PROMPTFUZZ_MODE="auto"))
    assert server.calls == asked


def test_in_ci_what_stands_in_a_recordings_place_and_cannot_be_read_is_an_error_and_asks_nobody(
    run, recording, server
):
    recording.mkdir(parents=True)
    for arguments in ((), ("test_it.py",)):
        result = run(LLM, *arguments, CI="true")
        result.assert_outcomes(errors=1)
        assert "mode replay (CI is set and there are recordings)" in said(result)
        assert "__promptfuzz__/test_it.calls.jsonl cannot be used: " in said(result)
        assert (
            sum("recording cannot be read" in line for line in result.outlines if "promptfuzz: " in line) == 1
        )
        assert "can no longer be read" not in said(result)
    assert server.calls == 0


def test_workers_hand_their_answers_to_one_writer(run, recording, server):
    tests = "".join(
        LLM.replace("test_triage", f"test_{n}").replace("TICKET)", f"'Ticket {n}')") for n in range(6)
    )
    run(tests, "--promptfuzz-mode=record", "-n", "2").assert_outcomes(passed=6)
    assert server.calls == 42
    found = [each.test for each in entries(recording)]
    assert found == sorted(found)
    assert len(found) == 6 * 8
    server.stop()
    result = run(None, "-n", "2", CI="true")
    result.assert_outcomes(passed=6)
    assert "0 calls made; 42 answers from the recording" in said(result)


def test_auto_reads_recordings_before_the_cache_and_asks_for_the_rest(run, recording, pytester, server):
    run(LLM, "--promptfuzz-mode=record")
    forget_cache(pytester)
    lines = recording.read_bytes().splitlines(keepends=True)
    recording.write_bytes(b"".join(lines[:-1]))
    asked = server.calls
    result = run(None)
    result.assert_outcomes(passed=1)
    assert server.calls == asked + 1
    assert re.search(r"different times: 6 from its recording of \d{4}-\d\d-\d\d, 1 asked now", said(result))
    result = run(None)
    assert server.calls == asked + 1
    assert "1 from the local cache only (missing in CI)" in said(result)


def test_the_recorded_plan_is_executed_whatever_the_operators_have_become(run, recording, pytester):
    operator = """
from pytest_promptfuzz import Edit, operator

@operator("sign-off", dimension="augmentation", severity=0.1, preserves="yes", version={version})
def sign_off(draft, rng):
    "A closing phrase."
    yield [Edit(len(draft.text), len(draft.text), ({phrase!r},))]

def pytest_promptfuzz_operators(config):
    return [sign_off]
"""
    test = LLM.replace("mutations=4", "mutations=1, operators=['sign-off']")
    pytester.makeconftest(operator.format(version=1, phrase=" Thanks!"))
    run(test, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    pytester.makeconftest(operator.format(version=2, phrase=" Thank you."))
    result = run(None, "--promptfuzz-mode=replay")
    result.assert_outcomes(passed=1)
    run(None).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("mutations=4", "mutations=5"), "asks for mutations=5 and was recorded with 4"),
        (("mutations=4", "mutations=4, seed=3"), "asks for seed=3 and was recorded with 0"),
        (("mutations=4", "mutations=4, operators=['lexical']"), "asks for operators={'lexical': 1}"),
        (("TRIAGE,", "TRIAGE.text + ' Be quick.',"), "{ticket} Be quick.')"),
    ],
    ids=["mutations", "seed", "operators", "prompt"],
)
def test_a_plan_for_another_test_is_refused(run, change, why):
    run(LLM.replace("prompt.format(ticket=TICKET)", "str(prompt)"), "--promptfuzz-mode=record")
    result = run(
        LLM.replace("prompt.format(ticket=TICKET)", "str(prompt)").replace(*change),
        "--promptfuzz-mode=replay",
    )
    result.assert_outcomes(errors=1)
    assert why in said(result)


def test_a_prompt_of_the_application_that_changed_is_shown_against_what_was_recorded(run, pytester):
    source = """
import prompts

@robust(mutate="prompts.MOOD", mutations=2)
def test_it(llm):
    return llm(prompts.MOOD)
"""
    pytester.makepyfile(prompts='MOOD = "Classify the mood of: What a lovely day! Answer good or bad."')
    run(source, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    pytester.makepyfile(prompts='MOOD = "Classify the tone of: What a lovely day! Answer good or bad."')
    result = run(source, "--promptfuzz-mode=replay")
    result.assert_outcomes(errors=1)
    assert (
        "the request of the baseline differs from the recording at $.body.messages[0].content (recorded '…"
        in said(result)
    )
    assert "mood of" in said(result)
    assert "tone of" in said(result)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--promptfuzz=off",), "--promptfuzz=off, which runs no mutations"),
        (("--promptfuzz-trial=abc",), "--promptfuzz-trial, which runs one trial"),
        (("--promptfuzz-override", "mutations=2"), "mutations=2: a replay makes the test's own mutations"),
    ],
    ids=["off", "trial", "override"],
)
def test_contradictions_are_refused_before_anything_runs(run, server, arguments, why):
    result = run(LLM, "--promptfuzz-mode=record", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert why in " ".join((result.stderr.str() + result.stdout.str()).split())
    assert server.calls == 0


def test_an_unknown_mode_is_refused(run):
    result = run(LLM, "--promptfuzz-mode=rekord")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "Did you mean 'record'?" in result.stderr.str() + result.stdout.str()


def test_an_interrupted_recording_goes_on_where_it_stopped(run, recording, pytester, server):
    broken = (
        LLM.replace("    return llm", "    broken(prompt)\n    return llm")
        + """
import os

seen = []

def broken(prompt):
    seen.append(1)
    if len(seen) == 5 and os.environ.get("BREAK"):
        os._exit(9)
"""
    )
    run(broken, "--promptfuzz-mode=record", alone=True, BREAK="1")
    assert server.calls == 3, "baseline, (control,) a second and a third sample"
    assert not recording.exists()
    result = run(None, "--promptfuzz-mode=record")
    result.assert_outcomes(passed=1)
    assert server.calls == 7
    assert re.search(r"an interrupted recording of [\d-]+ goes on: 3 answers of it are kept", said(result))
    assert len(entries(recording)) == 8


def test_a_failed_call_leaves_the_old_recording_until_it_is_complete(run, recording, server):
    run(LLM, "--promptfuzz-mode=record")
    before = recording.read_bytes()
    server.fail(Unauthorized(), when=lambda body: "support ticket below into exactly one" not in body)
    result = run(None, "--promptfuzz-mode=record")
    assert "not recorded: test_it.py::test_triage" in said(result)
    assert recording.read_bytes() == before


@pytest.mark.parametrize(
    "body", ["assert llm(str(prompt)).text == 'no'", "raise RuntimeError('no credentials')"]
)
def test_a_baseline_that_fails_now_leaves_the_old_recording(run, recording, body):
    run(LLM, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    before = recording.read_bytes()
    failing = LLM.replace("return llm(prompt.format(ticket=TICKET))", body)
    result = run(failing, "--promptfuzz-mode=record")
    result.assert_outcomes(failed=1)
    assert "what was recorded of it before stays" in said(result)
    assert recording.read_bytes() == before


def test_a_test_that_asked_nothing_is_not_recorded(run, recording):
    result = run(
        LLM.replace("return llm(prompt.format(ticket=TICKET))", "raise RuntimeError('no credentials')"),
        "--promptfuzz-mode=record",
    )
    result.assert_outcomes(failed=1)
    assert "and nothing was answered" in said(result)
    assert not recording.exists()


def test_what_cannot_be_written_is_said_and_kept(run, recording, pytester, server):
    recording.parent.write_text("in the way")
    result = run(LLM, "--promptfuzz-mode=record")
    result.assert_outcomes(passed=1)
    assert "cannot be written" in said(result)
    assert "waits in" in said(result)
    recording.parent.unlink()
    asked = server.calls
    run(None, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    assert server.calls == asked
    assert len(entries(recording)) == 8


def test_a_folder_of_answers_that_cannot_be_made_is_an_error_of_the_test(run, pytester, server):
    (pytester.path / "file").write_text("")
    result = run(LLM, "--promptfuzz-mode=record", "--promptfuzz-cache-dir=file")
    result.assert_outcomes(errors=1)
    assert "cannot be recorded" in said(result)
    assert server.calls == 0


def test_damage_is_named_with_file_and_line_and_the_rest_is_used(run, recording, server):
    other = LLM.replace("test_triage", "test_other").replace("TICKET)", "'The app crashes.')")
    run(LLM + other, "--promptfuzz-mode=record")
    lines = recording.read_bytes().splitlines(keepends=True)
    recording.write_bytes(b"".join([*lines[:5], b"<<<<<<< HEAD\n", *lines[5:-1], lines[-1][:200]]))
    result = run(None, "--promptfuzz-mode=replay", "--promptfuzz-cache-dir=none")
    result.assert_outcomes(passed=1, errors=1)
    text = result.stdout.str().replace("\n", " ")
    assert "__promptfuzz__/test_it.calls.jsonl:6: a merge conflict" in text
    assert f"__promptfuzz__/test_it.calls.jsonl:{len(lines) + 1}: this line is cut off" in text


def test_an_edited_answer_is_not_replayed(run, recording):
    run(LLM, "--promptfuzz-mode=record")
    text = recording.read_text(encoding="utf-8")
    assert '"content": "BILLING"' in text
    recording.write_text(
        text.replace('"content": "BILLING"', '"content": "OTHER"'), encoding="utf-8", newline="\n"
    )
    result = run(None, "--promptfuzz-mode=replay", "--promptfuzz-cache-dir=none")
    result.assert_outcomes(errors=1)
    line = 1 + next(
        n for n, each in enumerate(recording.read_text(encoding="utf-8").splitlines()) if "OTHER" in each
    )
    told = f"NotRecordedError: the baseline has no answer: __promptfuzz__/{recording.name}:{line} was edited after"
    assert f"{told} it was recorded and is not used." in said(result)
    assert "only the local cache" not in said(result)


def test_an_edited_plan_is_named(run, recording):
    run(LLM, "--promptfuzz-mode=record")
    text = recording.read_text(encoding="utf-8")
    recording.write_text(text.replace('"dimension"', '"dimensions"', 1), encoding="utf-8", newline="\n")
    result = run(None, "--promptfuzz-mode=replay")
    result.assert_outcomes(errors=1)
    edited = f"__promptfuzz__/{recording.name}:2 was edited after it was recorded"
    assert f"NotRecordedError: the test has a plan that cannot be used: {edited}" in said(result)


def test_a_compressed_recording_is_replayed_and_stays_compressed(run, recording, server):
    import gzip

    run(LLM, "--promptfuzz-mode=record")
    zipped = recording.with_name(recording.name + ".gz")
    zipped.write_bytes(gzip.compress(recording.read_bytes()))
    recording.unlink()
    asked = server.calls
    run(None, "--promptfuzz-mode=replay").assert_outcomes(passed=1)
    assert server.calls == asked
    run(None, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    assert server.calls == asked + 7
    assert not recording.exists()
    assert len(gzip.decompress(zipped.read_bytes()).splitlines()) == 9


def test_ignored_paths_are_left_out_of_the_key_and_kept_in_the_recording(run, recording, server):
    source = SDK.replace("threshold=0.0", "threshold=0.0, ignore='$.user'").replace(
        "temperature=0", "user=__import__('uuid').uuid4().hex"
    )
    run(source, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    calls = [each for each in entries(recording) if isinstance(each, RecordedExchange)]
    assert {each.answer.ignore for each in calls} == {("$.user",)}
    server.stop()
    run(None, "--promptfuzz-mode=replay").assert_outcomes(passed=1)


def test_a_failing_baseline_is_replayed_as_such(run, server):
    source = LLM.replace(
        "    return llm(prompt.format(ticket=TICKET))", "    assert llm(str(prompt)).text == 'no'"
    )
    run(source, "--promptfuzz-mode=record").assert_outcomes(failed=1)
    server.stop()
    result = run(None, "--promptfuzz-mode=replay")
    result.assert_outcomes(failed=1)
    assert "NotRecordedError" not in result.stdout.str()


def test_async_tests_are_recorded_and_replayed(run, recording, server):
    source = """
import pytest

@pytest.mark.asyncio
@robust(TRIAGE, mutations=4, threshold=0.0)
async def test_triage(prompt, llm):
    return await llm(prompt.format(ticket=TICKET))
"""
    run(source, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    assert server.calls == 7
    server.stop()
    run(None, "--promptfuzz-mode=replay").assert_outcomes(passed=1)


def test_the_verdict_of_a_replay_is_that_of_the_recording(run):
    source = LLM.replace("threshold=0.0", "threshold=1.0, max_deviations=0")
    recorded = run(source, "--promptfuzz-mode=record")
    replayed = run(None, "--promptfuzz-mode=replay")
    assert summary_of(recorded) == summary_of(replayed) != {}


def test_a_request_that_a_mutation_makes_the_provider_refuse_is_replayed_as_refused(run, recording, server):
    server.fail(BadRequest(times=None), when=lambda body: "support ticket below into exactly one" not in body)
    recorded = run(SDK.replace("threshold=0.0", "threshold=1.0"), "--promptfuzz-mode=record")
    assert summary_of(recorded) == {"test_sdk": "brittle"}
    assert {each.answer.status for each in entries(recording) if isinstance(each, RecordedExchange)} == {
        200,
        400,
    }
    checked = check(recording)
    assert not checked.problems
    assert max(each.place.sample or 0 for each in checked.entries) > REFUSAL_SAMPLES
    server.stop()
    replayed = run(None, "--promptfuzz-mode=replay")
    assert summary_of(replayed) == {"test_sdk": "brittle"}
    assert "not-recorded" not in said(replayed)
    assert "0 calls made; 21 answers from the recording" in said(replayed)


@pytest.mark.parametrize(
    "beside",
    [
        "client.models.list()",
        "client.files.create(file=('a.txt', b'a'), purpose='batch')",
        "client.responses.cancel('resp_1')",
    ],
)
def test_what_else_the_models_host_is_asked_bars_recording_and_is_said(run, recording, server, beside):
    wrapped = f"    try:\n        {beside}\n    except openai.OpenAIError:\n        pass\n"
    result = run(SDK.replace("    return client", f"{wrapped}    return client"), "--promptfuzz-mode=record")
    assert not recording.exists()
    address = server.url.removeprefix("http://")
    assert re.search(
        rf"not recorded: test_it\.py::test_sdk: a request to {address} \([^)]*httpx2\) is not", said(result)
    )
    assert "a model is asked at that address" in said(result)
    # Whoever names the host wants it so.
    allowed = f"promptfuzz_allow_hosts={address}"
    run(None, "--promptfuzz-mode=record", "-o", allowed).assert_outcomes(passed=1)
    assert recording.exists()


BESIDE_CHAT = {
    "compact": "client.responses.compact(model='m', input=str(prompt)).output[0].encrypted_content",
    "background": "client.responses.create(model='m', input=str(prompt), background=True).status",
    "byte order mark": (
        "client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': str(prompt)}])"
        ".choices[0].message.content"
    ),
    "thinking": (
        "str([each.choices[0].delta.content for each in "
        "client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': str(prompt)}], stream=True)])"
    ),
}
TURN = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": []}
THOUGHT = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]
ANSWERS = {
    "compact": {
        **TURN,
        "object": "response.compaction",
        "output": [{"type": "compaction", "encrypted_content": "A"}],
    },
    "byte order mark": "\ufeff" + json.dumps({"choices": [{"index": 0, "message": {"content": "Good."}}]}),
    "background": {**TURN, "status": "queued", "background": True},
    "thinking": "".join(
        f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': each}}]})}\n\n"
        for each in (THOUGHT, "Good.")
    )
    + "data: [DONE]\n\n",
}


@pytest.mark.parametrize("kind", BESIDE_CHAT)
def test_what_hosts_answer_in_forms_of_their_own_is_recorded_and_replayed(run, recording, monkeypatch, kind):
    sent = ANSWERS[kind]
    body = (sent if isinstance(sent, str) else json.dumps(sent)).encode()

    class Host(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header(
                "content-type", "Text/Event-Stream" if kind == "thinking" else "application/json"
            )
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    source = f"""
import openai

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_host(prompt):
    with openai.OpenAI(max_retries=0) as client:
        said = {BESIDE_CHAT[kind]}
    with open("said.txt", "a") as file:
        file.write(said + "\\n")
    return said
"""
    place = recording.parent.parent / "said.txt"
    host = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{host.server_port}/v1")
    try:
        run(source, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    finally:
        host.shutdown()
        host.server_close()
    first = set(place.read_text().splitlines())
    place.unlink()
    run(None, "--promptfuzz-mode=replay").assert_outcomes(passed=1)
    assert first == set(place.read_text().splitlines())


def test_a_replayed_test_reaches_this_machine_only(run, server, promptfuzz_server, monkeypatch):
    monkeypatch.setenv("SERVICE", promptfuzz_server.url)
    elsewhere = "    import httpx2\n    try:\n        httpx2.get('http://192.0.2.1/telemetry?key=s3cr3t-query-key')\n    except httpx2.ConnectError:\n        pass\n"
    here = "    assert httpx2.get(__import__('os').environ['SERVICE'] + '/health')\n"
    source = SDK.replace("    return client", f"    import httpx2\n    away(prompt)\n{here}    return client")
    run(source + "\ndef away(prompt): pass\n", "--promptfuzz-mode=record").assert_outcomes(passed=1)
    result = run(source + f"\ndef away(prompt):\n{elsewhere}", "--promptfuzz-mode=replay", "-rA")
    result.assert_outcomes(passed=1)
    assert re.search(
        r"GET http://192\.0\.2\.1/telemetry \(test_it\.py:\d+, by httpx2\) was refused: .*reaches this machine only",
        said(result),
    )


def test_declarative_tests_are_recorded_and_replayed(run, recording, server):
    source = """
@robust(TRIAGE, inputs=[TICKET, "The app crashes."], mutations=3, threshold=0.0)
def test_labels(response):
    assert response.text
"""
    run(source, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    assert server.calls == 2 * (3 + 3)
    found = entries(recording)
    assert [isinstance(each, PlanEntry) for each in found] == [True] + [False] * 12, "one prompt has one plan"
    assert [each.place.case for each in found[1:]] == [0] * 6 + [1] * 6
    server.stop()
    result = run(None, CI="true")
    result.assert_outcomes(passed=1)
    assert "0 calls made; 12 answers from the recording" in said(result)


def test_a_snapshot_of_what_was_recorded_asks_nothing_and_both_are_made_in_one_run(run, pytester, server):
    """The order that docs/ci.md has, and the two options in one run."""
    import shutil

    run(LLM, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    asked = server.calls
    updated = run(None, "--promptfuzz-update")
    updated.assert_outcomes(passed=1)
    assert server.calls == asked
    assert "wrote 1 snapshot" in said(updated)
    assert "different times" not in said(updated)
    shutil.rmtree(pytester.path / "__promptfuzz__")
    both = run(None, "--promptfuzz-mode=record", "--promptfuzz-update")
    both.assert_outcomes(passed=1)
    assert "wrote 1 snapshot" in said(both)
    asked = server.calls
    run(None, "--promptfuzz-mode=replay").assert_outcomes(passed=1)
    unchanged = run(None, "--promptfuzz-update")
    unchanged.assert_outcomes(passed=1)
    assert "different times" not in said(unchanged)
    assert server.calls == asked
