"""Known counterexamples through real runs: kept, replayed first, retired, pinned in git."""

from __future__ import annotations

import json

import pytest

from pytest_promptfuzz.history.snapshots import read
from tests.plugin.conftest import summary_of

TESTS = """
import os

TEAMS = Prompt(os.environ.get("TEXT", "Read the support ticket carefully before you answer, and think about what the "
    "customer needs. Kindly name one of these teams: billing, shipping.\\n\\nTicket: {ticket}"))
ASKED = []

def application(text):
    ASKED.append(text)
    with open("asked.txt", "a") as file:
        file.write(json.dumps(text) + "\\n")
    if os.environ.get("FLAKY") and "carefully" not in text:
        return "billing" if sum(each == text for each in ASKED) % 2 else "shipping"
    return "billing" if "carefully" in text or os.environ.get("FIXED") else "shipping"

@robust(TEAMS, mutations=20, threshold=float(os.environ.get("LEAST", 0.99)))
def test_teams(prompt):
    return application(prompt.format(ticket="I was charged twice."))

@robust(TEAMS, mutations=3, operators=["double-space"])
def test_steady(prompt):
    assert "ticket" in str(prompt)
    return "billing"
"""
TESTS = "import json\n" + TESTS
NODE = "test_it.py::test_teams"
FOLDER = "__promptfuzz__/test_it.snap"
FILE = f"{FOLDER}/test_teams.json"
WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["plain", "xdist"])


@pytest.fixture
def suite(project, pytester, monkeypatch):
    """Runs the suite; says what was asked with a changed prompt."""
    for name in ("FIXED", "FLAKY", "LEAST", "TEXT", "PROMPTFUZZ_SHRINK"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        asked = pytester.path / "asked.txt"
        asked.unlink(missing_ok=True)
        result = project(TESTS, *arguments)
        for name in environment:
            monkeypatch.delenv(name)
        lines = asked.read_text().splitlines() if asked.exists() else []
        return result, [json.loads(line) for line in lines]

    return run


def local(pytester):
    found = {}
    for path in (pytester.path / ".promptfuzz" / "counterexamples").glob("*.json"):
        content = json.loads(path.read_text())
        found[content["test"]] = content
    return found


def pinned_ids(pytester):
    """The IDs of what is pinned, which follow from prompt and change."""
    return [each.id for each in read(pytester.path / FILE).counterexamples]


def pinned(pytester):
    return json.loads((pytester.path / FILE).read_text())["counterexamples"]


@WORKERS
def test_what_breaks_a_test_is_kept_replayed_first_and_retired(suite, pytester, workers):
    first, asked = suite(*workers)
    first.assert_outcomes(passed=1, failed=1)
    kept = local(pytester)
    assert set(kept) == {NODE}
    (one,) = kept[NODE]["counterexamples"]
    assert one["mutation"]["edits"]
    assert one["target"] == "simulated"
    assert one["failure"] in first.stdout.str()
    assert kept[NODE]["trials"]
    assert all(each in first.stdout.str() for each in kept[NODE]["trials"][:1])

    again, asked_again = suite(*workers)
    again.assert_outcomes(passed=1, failed=1)
    assert "known counterexample" not in again.stdout.str(), "it is what the failure shows first"
    third, _ = suite(*workers)
    shown = [[line for line in each.outlines if "from trial" in line] for each in (first, again, third)]
    assert shown[0] == shown[1] == shown[2]
    assert local(pytester)[NODE]["counterexamples"][0]["repeats"] > one["repeats"], "kept over all runs"
    lines = again.outlines
    head = next(
        number for number, line in enumerate(lines) if line.startswith("The smallest change that breaks it")
    )
    assert all(not line.startswith("Brittle") for line in lines[:head])
    assert "carefully" in lines[head + 1]
    # After the baseline and its repetition, before any mutation of the plan; and it is not made smaller again.
    assert len(set(asked_again[:2])) == 1
    changed = [edit for edit in asked_again if edit != asked_again[0]]
    assert "carefully" not in changed[0]
    assert set(asked_again) <= set(asked)
    assert local(pytester)[NODE]["counterexamples"][0]["mutation"] == one["mutation"]

    mended, _ = suite(*workers, FIXED="1")
    mended.assert_outcomes(passed=2)
    mended.stdout.fnmatch_lines([f"note {NODE}: 1 known counterexample no longer fails and was removed"])
    assert local(pytester) == {}
    last, _ = suite(FIXED="1")
    assert "known counterexample" not in last.stdout.str()


def test_a_pin_is_no_part_of_score_and_verdict(suite, pytester):
    before, _ = suite("-k", "teams", "-v", LEAST="0.5")
    before.assert_outcomes(passed=1, deselected=1)
    suite("-k", "teams")
    after, _ = suite("-k", "teams", "-v", LEAST="0.5")
    after.assert_outcomes(passed=1, deselected=1)
    assert len(local(pytester)[NODE]["counterexamples"]) == 1
    rows = [next(line for line in each.outlines if line.startswith(f"{NODE} ")) for each in (before, after)]
    assert rows[0].split()[:7] == rows[1].split()[:7]
    after.stdout.fnmatch_lines([f"note {NODE}: 1 known counterexample still breaks the test *"])


@pytest.mark.parametrize("place", ["option", "ini", "environment"])
def test_a_pin_fails_a_test_that_says_so(suite, pytester, place):
    suite("-k", "teams")
    arguments = {
        "option": ("--promptfuzz-pinned=fail",),
        "ini": ("-o", "promptfuzz_pinned=fail"),
        "environment": (),
    }[place]
    more = {"PROMPTFUZZ_PINNED": "fail"} if place == "environment" else {}
    failed, asked = suite("-k", "teams", *arguments, LEAST="0.5", **more)
    failed.assert_outcomes(failed=1, deselected=1)
    assert summary_of(failed) == {"test_teams": "brittle"}
    failed.stdout.fnmatch_lines(
        [
            "The smallest change that breaks it",
            "*carefully*",
            "Brittle: a known counterexample still breaks it (*pinned='fail'.",
            "FAILED *test_teams - brittle: a known counterexample still breaks it (pinned='fail')*",
        ]
    )
    change = next(each for each in asked if each != asked[0])
    assert asked[:6].count(change) == 2, "confirmed by a repeat"
    mended, _ = suite("-k", "teams", *arguments, LEAST="0.5", FIXED="1", **more)
    mended.assert_outcomes(passed=1, deselected=1)


def test_what_breaks_now_and_then_fails_no_test_and_is_not_retired(suite, pytester):
    suite("-k", "teams")
    varied, _ = suite("-k", "teams", "--promptfuzz-pinned=fail", LEAST="0.1", FLAKY="1")
    varied.assert_outcomes(passed=1, deselected=1)
    varied.stdout.fnmatch_lines(
        [f"note {NODE}: 1 known counterexample sometimes breaks the test (1 of 3 times)"]
    )
    assert len(local(pytester)[NODE]["counterexamples"]) == 1


def test_an_edited_prompt_takes_its_counterexamples_along(suite, pytester):
    suite("-k", "teams")
    text = "You are a clerk. Read every support ticket carefully, please. Name one team: billing, shipping.\n\n{ticket}"
    moved, asked = suite("-k", "teams", LEAST="0.1", TEXT=text)
    moved.stdout.fnmatch_lines([f"note {NODE}: 1 known counterexample still breaks the test *"])
    (one,) = local(pytester)[NODE]["counterexamples"]
    assert one["mutation"]["original"] == text
    assert "carefully" not in next(each for each in asked if each != asked[0])
    gone, _ = suite(
        "-k", "teams", LEAST="0.1", TEXT="Name the team for this ticket: billing, shipping.\n\n{ticket}"
    )
    gone.stdout.fnmatch_lines(
        [
            f"note {NODE}: 1 known counterexample no longer fits the prompt and was removed (the prompt has changed: 'c*"
        ]
    )
    assert not local(pytester).get(NODE, {}).get("counterexamples")


@WORKERS
def test_update_pins_in_git_and_takes_out_what_is_retired(suite, pytester, workers):
    suite()
    assert not (pytester.path / FILE).exists()
    update, _ = suite("--promptfuzz-update", *workers)
    update.stdout.fnmatch_lines([f"promptfuzz: wrote 2 snapshots in {FOLDER} (1 pinned counterexample)"])
    (row,) = pinned(pytester)
    (name,) = pinned_ids(pytester)
    assert row["before"] != row["after"]
    suite("--promptfuzz-update")
    assert pinned(pytester) == [row], "that it was asked more often is no news"
    # Somebody else's checkout, or a new one: what is pinned is enough.
    for path in (pytester.path / ".promptfuzz" / "counterexamples").glob("*"):
        path.unlink()
    other, _ = suite(LEAST="0.5")
    other.stdout.fnmatch_lines([f"note {NODE}: 1 known counterexample still breaks the test *"])
    before = (pytester.path / FILE).read_bytes()
    mended, _ = suite(*workers, FIXED="1")
    mended.stdout.fnmatch_lines(
        [
            f"note {NODE}: 1 known counterexample no longer fails and was removed",
            f"promptfuzz: removed here, but still pinned in git: {name} of {NODE}; --promptfuzz-update removes it there too",
        ]
    )
    assert (pytester.path / FILE).read_bytes() == before
    # A test that was not selected loses nothing.
    suite("-k", "steady", "--promptfuzz-update", FIXED="1")
    assert (pytester.path / FILE).read_bytes() == before
    taken, _ = suite("--promptfuzz-update", *workers, FIXED="1")
    taken.stdout.fnmatch_lines([f"promptfuzz: wrote 1 snapshot in {FOLDER} (1 unchanged)"])
    assert pinned(pytester) == []


def test_another_target_retires_nothing(suite, pytester):
    suite("-k", "teams", "--promptfuzz-target=openai:gpt-5-mini")
    elsewhere, _ = suite("-k", "teams", "--promptfuzz-target=simulated", FIXED="1")
    elsewhere.stdout.fnmatch_lines(
        [
            f"note {NODE}: 1 known counterexample of another target does not fail here (it was found on openai:gpt-5-mini)"
        ]
    )
    (one,) = local(pytester)[NODE]["counterexamples"]
    assert one["target"] == "openai:gpt-5-mini"
    again, _ = suite("-k", "teams", "--promptfuzz-target=simulated", LEAST="0.5")
    again.stdout.fnmatch_lines([f"note {NODE}: 1 known counterexample still breaks the test *"])
    (one,) = local(pytester)[NODE]["counterexamples"]
    assert one["target"] == "simulated"


def test_one_trial_alone_changes_nothing_that_is_kept(suite, pytester):
    suite("-k", "teams")
    before = local(pytester)
    trial = before[NODE]["trials"][0]
    alone, _ = suite("-k", "teams", f"--promptfuzz-trial={trial}", FIXED="1")
    alone.assert_outcomes(passed=1, deselected=1)
    assert "known counterexample" not in alone.stdout.str()
    assert local(pytester) == before


def test_a_counterexample_is_run_alone_by_its_id(suite, pytester):
    suite("-k", "teams")
    before = local(pytester)
    (row,) = before[NODE]["counterexamples"]
    suite("-k", "teams", "--promptfuzz-update")
    (name,) = pinned_ids(pytester)
    alone, asked = suite("-k", "teams", f"--promptfuzz-trial={name}")
    alone.assert_outcomes(failed=1, deselected=1)
    assert len(set(asked)) == 2
    mended, _ = suite("-k", "teams", f"--promptfuzz-trial={name}", FIXED="1")
    mended.assert_outcomes(passed=1, deselected=1)
    assert row["mutation"] in [each["mutation"] for each in local(pytester)[NODE]["counterexamples"]]


def test_damaged_files_are_said_and_lose_nothing(suite, pytester):
    suite("-k", "teams")
    suite("-k", "teams", "--promptfuzz-update")
    file = pytester.path / FILE
    file.write_text(f"<<<<<<< HEAD\n{file.read_text()}", encoding="utf-8")
    damaged = file.read_text(encoding="utf-8")
    (kept,) = (pytester.path / ".promptfuzz" / "counterexamples").glob("*.json")
    kept.write_text("{}", encoding="utf-8")
    result, _ = suite("-k", "teams", "--promptfuzz-update")
    result.assert_outcomes(failed=1, deselected=1)
    shown = result.stdout.str()
    assert f"{file}, line 1: a merge left conflict markers" in shown
    assert f"no snapshot written for {NODE}: {file}" in shown
    assert f"{kept} is not a file of counterexamples" in shown
    assert f"It was put aside as {kept.name}.damaged" in shown
    assert file.read_text(encoding="utf-8") == damaged
    assert (kept.parent / f"{kept.name}.damaged").read_text() == "{}"
    assert json.loads(kept.read_text())["counterexamples"]
    strict, _ = suite("-k", "teams", "--promptfuzz-pinned=fail")
    strict.assert_outcomes(errors=1, deselected=1)
    assert "a merge left conflict markers" in strict.stdout.str()
    assert summary_of(strict) == {}


def test_updating_is_refused_in_ci(suite, monkeypatch):
    result, _ = suite("--promptfuzz-update", CI="true")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--promptfuzz-update does not run in CI*"])


def test_secrets_are_not_kept(suite, pytester):
    secret = "sk-live-0123456789abcdefghijklmnop"
    text = f"My key is {secret}. Read it carefully. Name one team: billing, shipping.\n\n{{ticket}}"
    result, _ = suite("-k", "teams", TEXT=text)
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        [f"promptfuzz: not kept: counterexample * of {NODE}, whose prompt holds what looks like a *"]
    )
    stored = "".join(
        each.read_text(errors="replace")
        for each in (pytester.path / ".promptfuzz").rglob("*")
        if each.is_file()
    )
    assert secret not in stored
    assert local(pytester)[NODE]["counterexamples"] == []


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("pinned='break'", "pinned='break' is not one of warn, fail"),
        ("pinned=True", "pinned=True is not one of warn, fail"),
    ],
)
def test_a_wrong_effect_is_named(project, mark, said):
    result = project(
        f"@robust(TRIAGE, mutations=2, {mark})\ndef test_it(prompt, llm):\n    return llm(prompt)\n"
    )
    result.assert_outcomes(errors=1)
    assert said in result.stdout.str()


def test_the_mark_wins_over_the_run(suite, project, pytester):
    suite("-k", "teams")
    source = TESTS.replace("mutations=20,", "mutations=20, pinned='warn',")
    result = project(
        source, "-k", "teams", "--promptfuzz-pinned=fail", "--promptfuzz-override", "threshold=0.5"
    )
    result.assert_outcomes(passed=1, deselected=1)


REPLAYED = """
import openai

@robust(TRIAGE, mutations=6, threshold=0.99)
def test_wire(prompt):
    answer = openai.OpenAI().chat.completions.create(
        model="gpt-5-mini", messages=[{"role": "user", "content": prompt.format(ticket=TICKET)}]
    ).choices[0].message.content
    assert answer
    return "BILLING" if "support ticket" in str(prompt) else "OTHER"
"""


def test_a_replay_without_an_answer_says_so_and_fails_nothing(
    project, pytester, promptfuzz_server, monkeypatch
):
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_server.openai_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdefghij")
    monkeypatch.delenv("PROMPTFUZZ_SHRINK")
    project(
        REPLAYED,
        "--promptfuzz-mode=record",
        "--promptfuzz-shrink=0",
        "--promptfuzz-override",
        "threshold=0.1",
    )
    project(REPLAYED, "--promptfuzz-override", "threshold=0.999")
    assert local(pytester)["test_it.py::test_wire"]["counterexamples"]
    asked = promptfuzz_server.calls
    replay = project(REPLAYED, "--promptfuzz-mode=replay", "--promptfuzz-override", "threshold=0.1")
    replay.assert_outcomes(passed=1)
    replay.stdout.fnmatch_lines(
        ["note *: 1 known counterexample could not be asked (the recording has no answer for it; record *"]
    )
    assert promptfuzz_server.calls == asked


SEARCHED = '''
import os

URGENCY = """You sort the tickets of a shop.

Rate the urgency of the ticket. Write the answer as one word: high, medium or low. Do not explain it."""

@robust(URGENCY, search=True, queries=100, operators=["upper-case", "synonym"])
def test_search(prompt):
    with open("asked.txt", "a") as file:
        file.write(ascii(str(prompt)) + "\\n")
    return "low" if "SHOP" in str(prompt) and not os.environ.get("FIXED") else "high"
'''


@WORKERS
def test_a_search_is_over_with_a_counterexample_that_still_breaks(project, pytester, monkeypatch, workers):
    monkeypatch.delenv("PROMPTFUZZ_SHRINK")
    node, asked = "test_it.py::test_search", pytester.path / "asked.txt"
    project(SEARCHED, *workers).assert_outcomes(failed=1)
    (found,) = local(pytester)[node]["counterexamples"]
    asked.unlink()
    known = project(SEARCHED, *workers)
    known.assert_outcomes(failed=1)
    known.stdout.fnmatch_lines(
        [
            "The smallest change that breaks it",
            "*SHOP*",
            "Brittle: a known counterexample still breaks the test; nothing more was searched.",
        ]
    )
    prompts = asked.read_text().splitlines()
    assert len(set(prompts)) == 2
    assert sum("SHOP" in each for each in prompts) == 2, "confirmed by a repeat"
    assert local(pytester)[node]["counterexamples"][0]["mutation"] == found["mutation"]
    monkeypatch.setenv("FIXED", "1")
    mended = project(SEARCHED, *workers)
    mended.assert_outcomes(passed=1)
    mended.stdout.fnmatch_lines([f"note {node}: 1 known counterexample no longer fails and was removed"])
    assert local(pytester) == {}


FIRST_RECORDING = """
LABELS = Prompt("Classify the ticket as BILLING, TECHNICAL, ACCOUNT or OTHER. Answer with the label only.\\n\\nTicket: {ticket}")

@robust(LABELS, max_deviations=0)
def test_labels(prompt, llm):
    text = prompt.format(ticket="I was charged twice and the page is broken.")
    answer = llm(text)
    return answer if "Kindly" not in text else "NOTHING"
"""


def test_a_pinned_mutation_of_the_plan_leaves_the_first_recording_complete(project, monkeypatch):
    monkeypatch.delenv("PROMPTFUZZ_SHRINK", raising=False)
    recorded = project(FIRST_RECORDING, "--promptfuzz-mode=record", "--promptfuzz-update")
    recorded.assert_outcomes(failed=1)
    recorded.stdout.fnmatch_lines(["*(1 pinned*"])
    replayed = project(FIRST_RECORDING, "--promptfuzz-mode=replay", "-v")
    replayed.assert_outcomes(failed=1)
    replayed.stdout.no_fnmatch_line("*too few to measure noise*")
    again = project(FIRST_RECORDING, "--promptfuzz-mode=record")
    assert "24 answers (24 answered as before)" in again.stdout.str(), "no more than the first time"
