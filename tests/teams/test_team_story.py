"""A team's year with twelve robust tests: what is claimed after each step, beside what the step truly changed.

Each chapter plants its changes in prompts, in the files of tests or in the provider, runs pytest as a person or a CI
would, and reads what the JSON report, the terminal, ``promptfuzz compare`` and git say. A claim without a planted
change is false; a planted change without a claim is missed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_promptfuzz.providers.requests import Response, Usage
from pytest_promptfuzz.server import faults
from pytest_promptfuzz.server.model_server import ModelServer
from tests import warm
from tests.git_story import HEAD, PROMPTS, SNAPSHOTS, Story, outcome, said
from tests.in_process import Done, promptfuzz

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_promptfuzz.providers.requests import Request

    Facts = set[tuple[str, str]]

PAGE = Path(__file__).parents[2] / "docs" / "teams.md"
TICKET = "I was charged twice for my subscription this month."
OTHER_TICKET = "The app crashes when I upload a photo."
TASKS = {
    **PROMPTS,
    "task9": (
        "Read the ticket of team 9 and return a JSON object with the keys team and days.\n\n"
        "Return only the JSON object.\n\nTicket:\n{ticket}"
    ),
    "task10": "Say in one sentence when the customer of team 10 is paid back.\n\nTicket:\n{ticket}",
    "task11": "Say in one sentence what the customer of team 11 pays for.\n\nTicket:\n{ticket}",
}
ANSWERS = {
    **dict.fromkeys(range(9), "BILLING"),
    9: '{"team": "BILLING", "days": 5}',
    10: "The customer is paid back within 5 days.",
    11: "The customer pays 20 dollars for a subscription.",
}
OTHERWISE = {
    **dict.fromkeys(range(9), "ACCOUNT"),
    9: '{"team": "BILLING", "days": 9}',
    10: "The customer is paid back within 9 days.",
    11: "The customer pays 35 dollars for a subscription.",
}
SAME_IN_OTHER_WORDS = {
    **dict.fromkeys(range(9), "Billing."),
    9: '{\n  "days": 5,\n  "team": "BILLING"\n}',
    10: "The customer is paid back within five days.",
    11: "**The customer pays 20 dollars for a subscription.**",
}


class Provider:
    """The model behind it: an answer for each team; a ``fragile`` one is told by any other wording than the accepted."""

    def __init__(self) -> None:
        self.answers, self.fragile = dict(ANSWERS), set[int]()
        self.model = "tiny"
        self.unmutated: set[str] = set()
        self.odd: dict[int, int] = {}  # how many of the next unmutated prompts get an odd answer
        self.as_before: dict[
            int, int
        ] = {}  # each how many of the unmutated prompts get the answer of the first day
        self.asked = Counter[int]()

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        text = request.messages[-1]["content"]
        number = number_of(text)
        answer = self.answers[number]
        if text in self.unmutated and self.odd.get(number):
            self.odd[number] -= 1
            answer = OTHERWISE[number]
        elif text in self.unmutated and number in self.as_before:
            self.asked[number] += 1
            if self.asked[number] % self.as_before[number] == 4:
                answer = ANSWERS[number]
        elif number in self.fragile and text not in self.unmutated:
            answer = OTHERWISE[number] if answer != OTHERWISE[number] else ANSWERS[number]
        if control := re.search(r"answer with the single word ([A-Z]+)", text):
            answer = control[1]
        return Response(answer, usage=Usage(10, 2), model=self.model, finish_reason="stop")


def number_of(text: str) -> int:
    return int(re.search(r"\d+", text)[0])


class Case(NamedTuple):
    """What there is to know of a test: what it asks, and how the provider takes it."""

    prompt: str
    ticket: str = TICKET
    answer: str = ""
    fragile: bool = False


World = dict[str, Case]


def facts(before: Mapping[str, Case], now: Mapping[str, Case], former: Mapping[str, str]) -> Facts:
    """What changed between two worlds, as a reader would say it; ``former`` has the former names of tests."""
    found: Facts = set()
    for test, case in now.items():
        then = before.get(former.get(test, test))
        if then is None:
            found.add(("new", test))
            continue
        if test in former:
            found.add(("renamed", test))
        if then.prompt != case.prompt:
            found.add(("prompt", test))
        if then.answer != case.answer:
            found.add(("answer", test))
        if then.fragile != case.fragile:
            found.add(("worse" if case.fragile else "better", test))
    return found | {("gone", test) for test in before if test not in {*former.values()} and test not in now}


class Team:
    """The repository, the provider, and what was claimed so far."""

    def __init__(self, root: Path, provider: Provider, server: ModelServer) -> None:
        self.provider, self.server = provider, server
        self.files = {"test_it.py": dict(TASKS)}
        self.tickets: dict[str, dict[str, str]] = {}
        self.story = Story(root)
        (root / "pytest.ini").write_text("[pytest]\npromptfuzz_target = openai:tiny\n")
        with (root / ".gitignore").open("a") as file:
            file.write("*.report.json\n")
        self.write()
        assert outcome(self.story.record()) == "12 passed"
        self.story.commit("adopt")
        self.adopted = self.world()
        self.rows: list[Row] = []

    def afresh(self) -> None:
        """As main has it, the provider as on the first day, and no run is kept on this machine."""
        self.story.afresh()
        self.files, self.tickets = {"test_it.py": dict(TASKS)}, {}
        self.provider.__init__()
        self.write()

    def write(self) -> None:
        """The files of tests as they are to be; what they ask unmutated."""
        for module, tests in self.files.items():
            parts = [HEAD]
            for name, prompt in tests.items():
                tickets = self.tickets.get(name)
                mark = (
                    f"@pytest.mark.parametrize('said', {[*tickets.values()]!r}, ids={[*tickets]!r})\n"
                    if tickets
                    else ""
                )
                argument, value = (", said", "said") if tickets else ("", "TICKET")
                parts.append(
                    f"\n{mark}@robust(Prompt({prompt!r}), mutations=6)\ndef test_{name}(prompt, llm{argument}):\n"
                    f"    return llm(prompt.format(ticket={value}))\n"
                )
            (self.story.root / module).write_text("".join(parts))
        for path in self.story.root.glob("test_*.py"):
            if path.name not in self.files:
                path.unlink()
        self.provider.unmutated = {
            case.prompt.replace("{ticket}", case.ticket) for case in self.world().values()
        }

    def world(self) -> World:
        """All tests as they are today, and what the provider says today."""
        found: World = {}
        for module, tests in self.files.items():
            for name, prompt in tests.items():
                number = number_of(prompt)
                answer = self.provider.answers[number]
                answer = ANSWERS[number] if answer == SAME_IN_OTHER_WORDS[number] else answer
                for key, ticket in self.tickets.get(name, {"": TICKET}).items():
                    test = f"{module}::test_{name}" + (f"[{key}]" if key else "")
                    found[test] = Case(prompt, ticket, answer, number in self.provider.fragile)
        return found

    def edit(self, *names: str, answered: bool = False) -> None:
        """Change the prompts of some tests, and whether the provider answers them otherwise for it."""
        for tests in self.files.values():
            for name in names:
                if name in tests:
                    tests[name] = tests[name].replace("\n\nTicket:", " Be brief.\n\nTicket:")
                    if answered:
                        self.provider.answers[number_of(tests[name])] = OTHERWISE[number_of(tests[name])]
        self.write()

    def run(self, *arguments: str, base: str = "") -> Done:
        """pytest with a report, beside a base."""
        compared = (f"--promptfuzz-compare={base}",) if base else ()
        return self.story.run("-v", "--promptfuzz-report=json:run.report.json", *compared, *arguments)

    def live(self, *arguments: str, base: str = "") -> Done:
        """Today's answers."""
        return self.run("--promptfuzz-mode=live", *arguments, base=base)

    def replay(self, *arguments: str, base: str = "") -> Done:
        """The recorded answers."""
        return self.run("--promptfuzz-mode=replay", *arguments, base=base)

    def accept(self, *arguments: str) -> Done:
        """Record what is missing and accept it, in one run."""
        return self.story.run("--promptfuzz-mode=record-missing", "--promptfuzz-update", *arguments)

    def document(self, name: str = "run.report.json") -> dict[str, Any]:
        return json.loads((self.story.root / name).read_text())

    def check(
        self,
        step: str,
        claims: Mapping[str, Facts],
        truths: Mapping[str, Facts],
    ) -> None:
        """Hold what was claimed, by where it was claimed, against what is true there."""
        assert claims.keys() == truths.keys()
        false = [
            f"{place}: {what} {test}"
            for place in claims
            for what, test in sorted(claims[place] - truths[place])
        ]
        missed = [
            f"{place}: {what} {test}"
            for place in claims
            for what, test in sorted(truths[place] - claims[place])
        ]
        planted = set().union(*truths.values())
        self.rows.append(Row(step, len(planted), sum(map(len, claims.values())), false, missed))
        print(self.rows[-1])


class Row(NamedTuple):
    """A step of the story: how many changes it planted, how many claims were made of it, which are wrong."""

    step: str
    planted: int
    claims: int
    false: list[str]
    missed: list[str]


# What is claimed, by place.


def told_by_comparison(changes: Mapping[str, Any]) -> Facts:
    """The comparison with a base, as the JSON report and ``promptfuzz compare --json`` have it."""
    found: Facts = set()
    for row in changes["tests"]:
        test = row["test"]
        if row["status"] in {"new", "gone", "worse", "better"}:
            found.add((row["status"], test))
        if row["finding"] == "newly brittle":
            found.add(("worse", test))
        if row["prompt_changed"]:
            found.add(("prompt", test))
        if "its former name is" in row["explanation"]:
            found.add(("renamed", test))
        if row["baseline"] == "changed":
            found.add(("answer", test))
    return found


def told_by_answers(changes: Mapping[str, Any]) -> Facts:
    """The answers that are listed as changed since the base."""
    return {("answer", each["test"]) for each in changes["answers"] if each["finding"] == "changed"}


def told_by_drift(document: Mapping[str, Any]) -> Facts:
    """The comparison with snapshots."""
    found: Facts = set()
    for test in document["tests"]:
        for each in test.get("drift", []):
            if each["kind"] == "comparator" or each["undecided"]:
                found.add((each["message"], test["test"]))
            elif each["kind"] == "model":
                found.add(("answer", test["test"]))
            else:
                found.add(("prompt", test["test"]))
                if "so did the answer" in each["message"]:
                    found.add(("answer", test["test"]))
    return found


def told_by_verdicts(document: Mapping[str, Any]) -> Facts:
    """Tests that do not pass."""
    return {(each["verdict"], each["test"]) for each in document["tests"] if each["verdict"] != "pass"} | {
        ("unjudged", each["test"]) for each in document["unjudged"]
    }


DRIFT = re.compile(r"Drift: (\S+): (.*)")
SINCE = re.compile(
    r"^(newly brittle|worse|better|gone|passes now|changed) (test_\S+\.py::[^\s:,]+)", re.MULTILINE
)


TOLD = {"newly brittle": "worse", "passes now": "better", "changed": "answer"}


def told_in_the_terminal(done: Done) -> Facts:
    """What the terminal says of drift, and of tests beside their base."""
    found: Facts = set()
    for test, message in DRIFT.findall(done.stdout):
        if message.startswith("the model changed"):
            found.add(("answer", test))
        else:
            found.add(("prompt", test))
            if "so did the answer" in message:
                found.add(("answer", test))
    for what, test in SINCE.findall(done.stdout):
        found.add((TOLD.get(what, what), test))
    return found


def of(truth: Facts, *kinds: str) -> Facts:
    """Those of some kinds."""
    return {each for each in truth if each[0] in kinds}


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    provider = Provider()
    with ModelServer(provider, key="k") as server, pytest.MonkeyPatch.context() as patched:
        patched.setenv("OPENAI_BASE_URL", server.openai_url)
        patched.setenv("OPENAI_API_KEY", "k")
        yield Team(tmp_path_factory.mktemp("team") / "repo", provider, server)


def held(
    team: Team,
    step: str,
    done: Done,
    *,
    base: Mapping[str, Case],
    now: Mapping[str, Case],
    accepted: Mapping[str, Case] | None = None,
    former: Mapping[str, str] | None = None,
    verdicts: Facts = frozenset(),
    document: str = "run.report.json",
) -> None:
    """Hold a run against its truth: beside a base, beside the snapshots in the checkout, and by its verdicts."""
    whole = team.document(document)
    since = facts(base, now, former or {})
    drift = of(facts(base if accepted is None else accepted, now, former or {}), "prompt", "answer")
    print(done.stdout[-6000:], done.stderr)
    team.check(
        step,
        {
            "comparison": told_by_comparison(whole["changes"]),
            "answers": told_by_answers(whole["changes"]),
            "drift": told_by_drift(whole),
            "verdicts": told_by_verdicts(whole),
            "terminal": told_in_the_terminal(done),
        },
        {
            "comparison": since,
            "answers": of(since, "answer"),
            "drift": drift,
            "verdicts": {("brittle", test) for test, case in now.items() if case.fragile} | set(verdicts),
            "terminal": drift | of(since, "answer", "worse", "better", "gone"),
        },
    )


def adopting(team: Team) -> None:
    """Twelve tests adopted; replayed and recorded again, unchanged."""
    now = team.world()
    held(team, "a replay of what was adopted", team.replay(base="main"), base=team.adopted, now=now)
    again = team.story.record()
    assert outcome(again) == "12 passed"
    team.check("recorded again, unchanged", {"git": changed_snapshots(team)}, {"git": set()})


def changed_snapshots(team: Team, against: str = "HEAD") -> Facts:
    """Snapshots that git shows as changed, by test."""
    team.story.git("add", "-A")
    names = team.story.git("diff", "--name-only", "--no-renames", against, "--", SNAPSHOTS).splitlines()
    found: Facts = set()
    for name in names:
        path = Path(name)
        found.add(("snapshot", f"{path.parent.name.removesuffix('.snap')}.py::{path.stem}"))
    return found


def changing_prompts(team: Team) -> None:
    """Prompts changed, with and without their answers; recorded and accepted; replayed."""
    team.edit("task3", "task9")
    team.edit("task4", "task10", answered=True)
    now = team.world()
    done = team.live(base="main")
    held(team, "four prompts changed, two of them with their answers", done, base=team.adopted, now=now)
    accepted = team.accept()
    assert outcome(accepted) == "12 passed", accepted.stdout
    truth = {("snapshot", test) for test in now if now[test] != team.adopted[test]}
    team.check("the same, recorded and accepted in one run", {"git": changed_snapshots(team)}, {"git": truth})
    team.story.commit()
    done = team.replay(base="main")
    held(team, "the same, replayed", done, base=team.adopted, now=now, accepted=now)


def drifting(team: Team) -> None:
    """The provider answers other than before; accepted; replayed."""
    for number in (5, 9, 11):
        team.provider.answers[number] = OTHERWISE[number]
    now = team.world()
    held(
        team, "the provider answers three tests otherwise", team.live(base="main"), base=team.adopted, now=now
    )
    told = json.loads(promptfuzz("compare", "main", "--json", folder=team.story.root).stdout)
    since = facts(team.adopted, now, {})
    team.check(
        "the same, by promptfuzz compare",
        {"comparison": told_by_comparison(told), "answers": told_by_answers(told)},
        {"comparison": since, "answers": of(since, "answer")},
    )
    accepted = team.story.record()
    assert outcome(accepted) == "12 passed", accepted.stdout
    truth = {("snapshot", test) for test in now if now[test] != team.adopted[test]}
    team.check("the same, recorded and accepted in one run", {"git": changed_snapshots(team)}, {"git": truth})
    held(team, "the same, replayed", team.replay(base="main"), base=team.adopted, now=now, accepted=now)


def the_same_in_other_words(team: Team) -> None:
    """The same answers in another form, by a model of another name, and one odd answer."""
    team.provider.model = "tiny-june"
    team.provider.answers = dict(SAME_IN_OTHER_WORDS)
    team.provider.odd = {2: 1}
    now = team.world()
    done = team.live(base="main")
    held(team, "the same answers in another form, and an odd one", done, base=team.adopted, now=now)


def breaking(team: Team) -> None:
    """The provider breaks two tests, as the next run says again, and mends one."""
    team.provider.fragile = {0, 6}
    broken = team.world()
    done = team.live(base="main")
    held(team, "the provider breaks two tests", done, base=team.adopted, now=broken)
    done = team.live(base="main")
    held(team, "the same, in the next run", done, base=team.adopted, now=broken)
    team.provider.fragile = {6}
    now = team.world()
    done = team.live(base="last")
    held(team, "it mends one of them", done, base=broken, now=now, accepted=team.adopted)


def renaming(team: Team) -> None:
    """Tests renamed and moved; accepted."""
    tests = team.files["test_it.py"]
    moved = {name: tests.pop(name) for name in ("task7", "task8", "task9")}
    moved["group"] = moved.pop("task7")
    team.files["test_moved.py"] = moved
    tests["job"] = tests.pop("task1")
    team.write()
    now = team.world()
    former = {
        "test_moved.py::test_group": "test_it.py::test_task7",
        "test_moved.py::test_task8": "test_it.py::test_task8",
        "test_moved.py::test_task9": "test_it.py::test_task9",
        "test_it.py::test_job": "test_it.py::test_task1",
    }
    done = team.replay(base="main")
    held(team, "tests renamed and moved", done, base=team.adopted, now=now, former=former)
    team.accept()
    done = team.replay(base="main")
    held(team, "the same, accepted", done, base=team.adopted, now=now, former=former)
    team.check(
        "the same, in git",
        {"git": changed_snapshots(team)},
        {"git": {("snapshot", test) for pair in former.items() for test in pair}},
    )


def parametrising(team: Team) -> None:
    """A test parametrised; accepted; its parameters renamed and swapped."""
    team.tickets["task8"] = {"charged": TICKET, "crashes": OTHER_TICKET}
    team.write()
    now = team.world()
    former = {"test_it.py::test_task8[charged]": "test_it.py::test_task8"}
    done = team.run("--promptfuzz-mode=record-missing", base="main")
    held(team, "a test parametrised", done, base=team.adopted, now=now, former=former)
    team.accept()
    done = team.replay(base="main")
    held(team, "the same, accepted", done, base=team.adopted, now=now, accepted=now, former=former)
    team.story.commit()
    team.tickets["task8"] = {"photo": OTHER_TICKET, "twice": TICKET}
    team.write()
    before, now = now, team.world()
    former = {
        "test_it.py::test_task8[twice]": "test_it.py::test_task8[charged]",
        "test_it.py::test_task8[photo]": "test_it.py::test_task8[crashes]",
    }
    done = team.replay(base="HEAD")
    held(team, "its parameters renamed and swapped", done, base=before, now=now, former=former)


def merging(team: Team) -> None:
    """Branches merged that recorded different tests, the same test, the same prompt with other answers."""
    story = team.story
    for branch, names in (("one", ("task0", "task1")), ("two", ("task6", "task7"))):
        team.afresh()
        story.git("checkout", "-q", "-B", branch)
        team.edit(names[0])
        team.edit(names[1], answered=True)
        team.accept("-k", " or ".join(names))
        story.commit()
    story.git("merge", "-q", "one")
    team.edit("task0")
    team.edit("task1", answered=True)
    now = team.world()
    assert story.git("status", "--porcelain") == "", "the merge has what both wrote"
    done = team.replay(base="main")
    held(team, "two branches that recorded, merged", done, base=team.adopted, now=now, accepted=now)
    # Both change the same test.
    team.afresh()
    story.git("checkout", "-q", "-B", "three")
    for name in ("task1", "task2"):
        team.files["test_it.py"][name] = TASKS[name].replace("ticket of", "message to")
    team.write()
    team.accept("-k", "task1 or task2")
    story.commit()
    conflict = story.git("merge", "-q", "one", ok=False)
    assert conflict.count("CONFLICT") == 2, "the file of tests and a snapshot; the recording is a union"
    story.git("checkout", "--ours", "--", ".")
    team.files["test_it.py"]["task0"] = team.files["test_it.py"]["task0"].replace(
        "\n\nTicket:", " Be brief.\n\nTicket:"
    )
    team.write()
    now = team.world()
    done = team.replay(base="main")
    held(team, "the same test on both, ours kept", done, base=team.adopted, now=now, accepted=now)
    # Both accept another answer to the same prompt.
    for branch, answer in (("four", "TECHNICAL"), ("five", "OTHER")):
        team.afresh()
        story.git("checkout", "-q", "-B", branch)
        team.provider.answers[5] = answer
        assert outcome(story.record("-k", "task5")).startswith("1 passed")
        story.commit()
    assert story.git("merge", "-q", "four", ok=False).count("CONFLICT") == 1
    story.git("checkout", "--ours", "--", ".")
    now = team.world()
    told = [line for line in said(team.replay()) if "two different answers" in line]
    assert len(told) == 1
    assert "test_task5" in told[0]
    assert outcome(story.record("-k", "task5")).startswith("1 passed")
    done = team.replay(base="main")
    held(
        team, "two answers to the same prompt, recorded again", done, base=team.adopted, now=now, accepted=now
    )
    assert not [line for line in said(done) if "two different answers" in line]


def rebasing(team: Team) -> None:
    """A branch rebased on one that recorded."""
    story = team.story
    team.edit("task3", answered=True)
    team.accept("-k", "task3")
    story.commit()
    story.git("checkout", "-q", "-B", "ahead", "main")
    team.provider.__init__()
    team.files = {"test_it.py": dict(TASKS)}
    team.edit("task10", answered=True)
    team.accept("-k", "task10")
    story.commit()
    ahead = team.world()
    story.git("rebase", "-q", "ahead", "work")
    team.edit("task3", answered=True)
    now = team.world()
    assert story.git("status", "--porcelain") == ""
    done = team.replay(base="ahead")
    held(team, "rebased on a branch that recorded", done, base=ahead, now=now, accepted=now)
    done = team.replay(base="main")
    held(team, "the same, beside where it began", done, base=team.adopted, now=now, accepted=now)


def sharding(team: Team) -> None:
    """Two shards, merged by `promptfuzz report merge`."""
    team.edit("task2", "task4")
    team.edit("task5", "task11", answered=True)
    now = team.world()
    del now["test_it.py::test_task0"]
    del team.files["test_it.py"]["task0"]
    team.write()
    halves = " or ".join(f"task{number}" for number in (1, 2, 3, 4))
    texts = ""
    for name, choice in (("one", halves), ("two", f"not ({halves})")):
        done = team.story.run(
            "-v",
            "--promptfuzz-mode=live",
            "--promptfuzz-compare=main",
            f"--promptfuzz-report=json:{name}.report.json",
            "-k",
            choice,
        )
        texts += done.stdout
    merged = promptfuzz(
        *("report", "merge", "one.report.json", "two.report.json", "--to", "json:run.report.json"),
        folder=team.story.root,
    )
    assert merged.returncode == 0, merged.stderr
    partial = {**team.adopted}
    del partial["test_it.py::test_task0"]  # a run of a part cannot know that it is gone
    held(team, "two shards, merged", Done(0, texts, ""), base=partial, now=now)


def with_workers(team: Team) -> None:
    """Two workers of pytest-xdist."""
    team.edit("task2")
    team.edit("task5", answered=True)
    now = team.world()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-n",
        "2",
        "-p",
        "no:cacheprovider",
        "--promptfuzz-mode=live",
    ]
    command += ["--promptfuzz-compare=main", "--promptfuzz-report=json:run.report.json"]
    environment = {key: value for key, value in os.environ.items() if key != "CI" and "PROMPTFUZZ" not in key}
    done = warm.run(
        command,
        cwd=team.story.root,
        env={**environment, "COLUMNS": "400"},
        capture_output=True,
        text=True,
        children=True,
    )
    held(team, "two workers", Done(done.returncode, done.stdout, done.stderr), base=team.adopted, now=now)


def elsewhere(team: Team) -> None:
    """A fork: a shallow clone without a key; one test not recorded."""
    team.edit("task3")
    team.edit("task4", answered=True)
    team.accept("-k", "task3 or task4")
    team.edit("task9")  # and is not recorded
    team.story.commit()
    now = team.world()
    root, ours = team.story.root.parent / "fork", team.story
    shutil.rmtree(root, ignore_errors=True)
    ours.git("clone", "-q", "--depth=1", "--branch=work", f"file://{ours.root}", str(root))
    team.story = Story.at(root)
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.delenv("OPENAI_API_KEY")
            refused = team.replay(base="origin/main")
            assert refused.returncode == pytest.ExitCode.USAGE_ERROR
            assert "this clone is shallow" in refused.stderr
            team.story.git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*", "--unshallow")
            done = team.replay(base="origin/main")
            report = team.story.root / "run.report.json"
            shutil.copy(report, ours.root / report.name)
    finally:
        team.story = ours
    lost = "test_it.py::test_task9"
    base = {test: case for test, case in team.adopted.items() if test != lost}
    now.pop(lost)
    step = "a fork without a key, one test not recorded"
    held(team, step, done, base=base, now=now, accepted=now, verdicts={("unjudged", lost)})


def nights(team: Team) -> None:
    """Three nights: nothing new; three answers changed and a key refused; nothing new."""
    provider = team.provider
    done = team.live("-m", "robust", base="main")
    held(team, "a night, nothing new", done, base=team.adopted, now=team.adopted)
    provider.answers |= {number: SAME_IN_OTHER_WORDS[number] for number in (0, 10)}
    provider.answers |= {number: OTHERWISE[number] for number in (3, 9, 11)}
    provider.odd = {4: 1}
    now = team.world()
    lost = "test_it.py::test_task7"
    team.server.fail(faults.Unauthorized(), when="team 7 ", next=None)
    first = team.live("-m", "robust")
    team.server.reset()
    drift = of(facts(team.adopted, now, {}), "answer")
    document = team.document()
    step = "a night: three answers changed, one key refused"
    team.check(
        step,
        {
            "drift": told_by_drift(document),
            "verdicts": told_by_verdicts(document),
            "terminal": told_in_the_terminal(first),
        },
        {"drift": drift, "verdicts": {("unjudged", lost)}, "terminal": drift},
    )
    second = team.live("-m", "robust", base="last")
    step = "the next night, nothing new"
    held(team, step, second, base=now, now=now, accepted=team.adopted)


CHAPTERS: list[Callable[[Team], None]] = [
    adopting,
    changing_prompts,
    drifting,
    the_same_in_other_words,
    breaking,
    renaming,
    parametrising,
    merging,
    rebasing,
    sharding,
    with_workers,
    elsewhere,
    nights,
]


def lines(team: Team) -> Iterator[str]:
    """What each chapter came to, a row of a Markdown table."""
    for chapter in CHAPTERS:
        team.afresh()
        first = len(team.rows)
        chapter(team)
        rows = team.rows[first:]
        counts = (
            len(rows),
            sum(each.planted for each in rows),
            sum(each.claims for each in rows),
            sum(len(each.false) for each in rows),
            sum(len(each.missed) for each in rows),
        )
        yield f"| {chapter.__doc__.removesuffix('.')} | {' | '.join(map(str, counts))} |"


def test_a_year_of_a_team_has_no_false_claim_and_no_missed_change(team: Team) -> None:
    """The table is that of docs/teams.md."""
    table = list(lines(team))
    sums = [sum(int(row.split("|")[column]) for row in table) for column in range(2, 7)]
    table.append(f"| all | {' | '.join(map(str, sums))} |")
    print("\n".join(["", *table]))
    assert [(row.step, row.false, row.missed) for row in team.rows if row.false or row.missed] == []
    page = PAGE.read_text(encoding="utf-8")
    assert [row for row in table if row not in page] == [], "docs/teams.md has other figures"


def test_an_answer_that_is_seldom_what_it_was_is_told(team: Team) -> None:
    """Four answers then, and four now of which one is as before, prove nothing; the test is in the list all the same."""
    team.afresh()
    team.provider.answers[2] = OTHERWISE[2]
    team.provider.as_before = {2: 8}
    now = team.world()
    done = team.live(base="main")
    held(team, "an answer that is seldom what it was", done, base=team.adopted, now=now)
    row = team.rows.pop()
    assert (row.false, row.missed) == ([], ["answers: answer test_it.py::test_task2"])
    answers = team.document("run.report.json")["changes"]["answers"]
    assert [(each["test"], each["finding"], each["reason"]) for each in answers] == [
        ("test_it.py::test_task2", "cannot tell", "answers-vary")
    ]
