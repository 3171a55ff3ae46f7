"""Bad input, through real pytest runs: one message that names the test, the value and the mend; nothing else is lost."""

from __future__ import annotations

import os
import re
import sys
import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from tests import warm
from tests.plugin.conftest import PROMPT, summary_of

INI = "[pytest]\npromptfuzz_target = simulated\nfilterwarnings = error\n"
ASK = "def test_bad(prompt, llm): return llm(prompt.format(ticket=TICKET))"
SEND = "def test_bad(prompt, llm): return llm(prompt)"

# What stands in front of `test_bad`, the test, and what its one message must say.
MARKS: dict[str, list[str]] = {
    "operators=['tyop']": [
        "operators: there is no operator or dimension 'tyop'",
        "`promptfuzz operators` lists them",
    ],
    "operators=['uper-case']": ["'uper-case'", "Did you mean 'upper-case'"],
    "operators=[]": ["operators: nothing is selected", "Name at least one"],
    "operators=3": ["operators=3 is not a list of names", "Write names in a list"],
    "operators={'keyboard-typo': -1}": ["the weight of 'keyboard-typo' is -1"],
    "task='clasification'": ["task='clasification' is not one of", "Did you mean 'classification'?"],
    "threshold=85": ["threshold=85", "from 0 to 1", "Did you mean 0.85?"],
    "threshold=-0.1": ["threshold=-0.1", "from 0 to 1"],
    "threshold=float('nan')": ["threshold=nan", "from 0 to 1"],
    "threshold='0.85'": ["threshold='0.85'", "number from 0 to 1"],
    "threshold=True": ["threshold=True", "not a number from 0 to 1"],
    "mutations=0": ["mutations=0", "from 1 to 10,000"],
    "mutations=True": ["mutations=True", "whole number"],
    "mutations='8'": ["mutations='8'", "is not a number. Write mutations=8"],
    "mutations=10001": ["mutations=10001", "from 1 to 10,000"],
    "mutations=8.0": ["mutations=8.0", "whole number"],
    "seed='x'": ["seed='x'", "whole number"],
    "treshold=0.9": ["no key 'treshold'", "Did you mean 'threshold'?"],
    "ignore=['$[']": ["ignore='$['", "steps are .name"],
    "compare='no'": ["compare='no'", "True or False"],
    "max_deviations=-1": ["max_deviations=-1", "0 or more"],
    "equivalent_at=0.5, minor_at=0.9": ["minor_at=0.9", "equivalent_at=0.5", "Swap them"],
    "profile='quirks'": ["unknown profile 'quirks'", "'quirx'"],
    "fixtures='new'": ["fixtures='new'", "is not one of shared, fresh"],
    "target='gpt-5'": ["'gpt-5'", "Did you mean 'openai:gpt-5'"],
    "target='opnai:gpt-5'": ["'opnai:gpt-5'", "Did you mean 'openai:gpt-5'"],
    "target='openai:'": ["names no model", "'openai:gpt-5-mini'"],
    "target='compatible:llama'": ["needs a model and a base URL", "'compatible:llama3.2@http://"],
    "target=7": ["target=7", "neither the name of a model", "'openai:MODEL'"],
    "target=lambda prompt: 'x'": ["`llm` cannot call target=", "Call the function in the test's body"],
    "mutate='promt'": ["mutate='promt'", "Its arguments: llm, prompt", "Did you mean 'prompt'?"],
    "mutate='nowhere.at.all'": ["mutate='nowhere.at.all'", "no module 'nowhere'"],
    "mutate='os.path.joyn'": ["mutate='os.path.joyn'", "os.path has no 'joyn'", "Did you mean 'join'?"],
    "mutate=3": ["mutate=3", "an argument of the test or a dotted path"],
    "mutate='os.path.sep'": ["nothing to mutate", "protected"],
}
PROMPTS: dict[str, list[str]] = {
    "''": ["the prompt is empty", "give it some text"],
    "' \\n '": ["the prompt is empty"],
    "'{x}'": ["nothing to mutate", "holds only the slot {x}", "part='input'"],
    "'https://example.org/a {x} 12-18%'": ["nothing to mutate", "protected"],
    "42": ["not an int: 42", "list of chat messages"],
    "[]": ["the prompt is empty"],
    "['hi']": ["message 0 is a str", "{'role': 'user', 'content': 'text'}"],
    "[{'role': 'usr', 'content': 'hello'}]": [
        "message 0",
        "the role 'usr' is not one of",
        "Did you mean 'user'?",
    ],
    "[{'role': 'user'}]": ["message 0", "NoneType for its content", "give a str"],
    "[{'content': 'hello there'}]": ["message 0", "role None", "system"],
    "TRIAGE, 'another'": ["one prompt, not 2", "'another'"],
}
UNPROMPTED = "def test_bad(llm): return llm('hi')"
TESTS: dict[str, tuple[str, list[str]]] = {
    "the same key twice": (
        f"@robust(TRIAGE, mutations=3)\n@robust(mutations=4)\n{ASK}",
        ["mutations= twice", "Keep one of them"],
    ),
    "no prompt": (f"@robust\n{SEND}", ["the test has no prompt", "@robust(PROMPT)"]),
    "no argument": ("@robust\ndef test_bad(): assert 1", ["It has no arguments", "Add 'prompt'"]),
    "numbers parametrized": (
        f"@pytest.mark.parametrize('prompt', [7])\n@robust\n{SEND}",
        ["test_bad[7]", "the argument 'prompt'", "not an int: 7"],
    ),
    "no prompt file": (
        """
@pytest.fixture
def text(): return Prompt.from_file('prompts/triage.txt')
@robust(mutate='text')
def test_bad(text, llm): return llm(text)""",
        ["no prompt file 'prompts/triage.txt'", "relative paths start at"],
    ),
    "a prompt and a role": (
        f"@robust('Sort this ticket into one of two queues, please.', mutate='role:system')\n{UNPROMPTED}",
        [
            "@robust has both a prompt and mutate='role:system'",
            "Leave the prompt out. To mutate the prompt, take it as the argument `prompt`",
        ],
    ),
    "a prompt and a path": (
        f"@robust(TRIAGE)\n@robust(mutate='os.path.sep')\n{UNPROMPTED}",
        ["@robust has both a prompt and mutate='os.path.sep'"],
    ),
    "a slot without a value": (
        "@robust(TRIAGE)\ndef test_bad(prompt, llm): return llm(prompt.format())",
        ["no value for the slot 'ticket'", "format(ticket=…)"],
    ),
    "a slot that is not there": (
        "@robust(TRIAGE)\ndef test_bad(prompt, llm): return llm(prompt.format(tickett='x'))",
        ["no slot 'tickett'", "Did you mean 'ticket'?"],
    ),
    "no text to ask": (
        "@robust(TRIAGE)\ndef test_bad(prompt, llm): return llm(None)",
        ["type NoneType", "Give text, a Prompt, or messages"],
    ),
    "a response that is not text": (
        "@robust(TRIAGE)\ndef test_bad(prompt, llm):\n    llm('hi')\n    return {'a': object()}",
        ["return value cannot be compared", "$.a", "object", "return text, a Response"],
    ),
    "nothing awaited": (
        "async def reply(prompt): return 'x'\n@robust(TRIAGE)\ndef test_bad(prompt): return reply(prompt)",
        ["returned a coroutine", "`async def`"],
    ),
    "unittest": (
        "class TestCase(unittest.TestCase):\n    @robust(TRIAGE)\n    def test_bad(self): pass",
        ["TestCase::test_bad", "unittest.TestCase", "plain class"],
    ),
}
TESTS |= {each: (f"@robust(TRIAGE, {each})\n{ASK}", wanted) for each, wanted in MARKS.items()}
TESTS |= {f"prompt {each}": (f"@robust({each})\n{SEND}", wanted) for each, wanted in PROMPTS.items()}
GOOD = f"\n\ndef test_plain(): assert 1\n\n@robust(TRIAGE, mutations=3)\n{ASK.replace('test_bad', 'test_good')}\n"


@pytest.fixture(scope="module")
def sections(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What one pytest run says of each bad test, by file; every file also holds two good tests."""
    root = tmp_path_factory.mktemp("bad")
    (root / "pytest.ini").write_text(INI, encoding="utf-8")
    for number, (source, _) in enumerate(TESTS.values()):
        text = f"import unittest\nimport pytest\n{PROMPT}\n{source}\n{GOOD}"
        (root / f"test_{number:02}.py").write_text(text, encoding="utf-8")
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PROMPTFUZZ", "PYTEST"))
    }
    options = (
        "-p",
        "no:asyncio",
        "-p",
        "no:anyio",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        "-rA",
        "--junitxml=junit.xml",
    )
    process = warm.run(
        [sys.executable, "-m", "pytest", *options],
        check=False,
        cwd=root,
        env={**environment, "COLUMNS": "400"},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 1, process.stdout
    assert "INTERNALERROR" not in process.stdout + process.stderr
    # The terminal shows what several tests say alike once; the JUnit report has it of each.
    found = {
        case.get("classname", "").partition(".")[0]: f"{error.get('message')}\n{error.text}"
        for case in ET.parse(root / "junit.xml").iter("testcase")
        for error in case.iter("error")
    }
    return {"": process.stdout} | {name: found[f"test_{number:02}"] for number, name in enumerate(TESTS)}


@pytest.mark.parametrize("name", TESTS)
def test_one_message_names_the_test_the_value_and_the_mend(sections, name):
    said = [line for line in sections[name].splitlines() if line.strip()]
    number = list(TESTS).index(name)
    (message,) = [line for line in said if line.startswith(("UsageError: ", "ConfigurationError: "))]
    assert f"test_{number:02}.py::" in message
    assert "test_bad" in message
    for wanted in TESTS[name][1]:
        assert wanted in message
    assert not any("site-packages" in line or "pytest_promptfuzz" in line for line in said), said


def test_the_other_tests_of_the_file_run_and_pass(sections):
    outcomes = Counter(
        re.findall(r"^(PASSED|FAILED|ERROR|INCONCLUSIVE) test_\d+\.py", sections[""], flags=re.MULTILINE)
    )
    assert outcomes == {"ERROR": len(TESTS), "PASSED": 2 * len(TESTS)}


# Settings of the whole run are read before any test runs.
OPTIONS: dict[str, tuple[list[str], list[str]]] = {
    "mutations": (
        ["--promptfuzz-mutations=many"],
        ["--promptfuzz-mutations: there is no operator or dimension 'many'", "`promptfuzz operators` lists"],
    ),
    "no mutations": (
        ["--promptfuzz-mutations=0"],
        ["--promptfuzz-mutations: 0 is out of range. Write a number from 1 to 10,000"],
    ),
    "counts and weights": (
        ["--promptfuzz-mutations=lexical=1,semantic=0.5"],
        ["--promptfuzz-mutations: {'lexical': 1, 'semantic': 0.5} mixes counts and weights"],
    ),
    "operators": (
        ["--promptfuzz-operators=synonim"],
        ["--promptfuzz-operators: there is no operator", "Did you mean 'synonym'?"],
    ),
    "operators number": (
        ["--promptfuzz-operators=8"],
        ["--promptfuzz-operators: '8' is not a name", "Write A,B"],
    ),
    "operators ini": (
        ["-o", "promptfuzz_operators=a,,b"],
        ["the ini value promptfuzz_operators: 'a,,b'", "missing"],
    ),
    "operators environment": (
        ["PROMPTFUZZ_OPERATORS=a,,b"],
        ["variable PROMPTFUZZ_OPERATORS: 'a,,b'", "missing"],
    ),
    "operators twice": (
        ["--promptfuzz-operators=synonym,synonym"],
        ["--promptfuzz-operators: 'synonym' is named twice"],
    ),
    "both name": (
        ["--promptfuzz-mutations=lexical=3", "--promptfuzz-operators=synonym"],
        ["--promptfuzz-mutations and --promptfuzz-operators both name operators. Keep one of them."],
    ),
    "threshold": (["--promptfuzz-threshold=85"], ["--promptfuzz-threshold", "'85'", "a number from 0 to 1"]),
    "mode": (["--promptfuzz-mode=lve"], ["--promptfuzz-mode", "'lve'", "Did you mean 'live'?"]),
    "inconclusive": (["--promptfuzz-inconclusive=skp"], ["'skp'", "Did you mean 'skip'?"]),
    "concurrency": (["--promptfuzz-concurrency=0"], ["--promptfuzz-concurrency", "'0'", "1 or more"]),
    "override": (["--promptfuzz-override=mutations"], ["--promptfuzz-override", "'mutations'", "KEY=VALUE"]),
    "override key": (["--promptfuzz-override=mutation=3"], ["'mutation'", "Did you mean 'mutations'"]),
    "override value": (
        ["--promptfuzz-override=mutations=x"],
        ["--promptfuzz-override mutations: there is no operator", "'x'"],
    ),
    "override names": (
        ["--promptfuzz-override=operators=a,,b"],
        ["--promptfuzz-override operators=a,,b:", "missing"],
    ),
    "override count": (
        ["--promptfuzz-override=mutations=0"],
        ["--promptfuzz-override mutations: 0 is out of range"],
    ),
    "override share": (
        ["--promptfuzz-override=threshold=85"],
        ["--promptfuzz-override: threshold=85.0", "from 0 to 1", "Did you mean 0.85?"],
    ),
    "override nothing": (["--promptfuzz-override=threshold=nan"], ["--promptfuzz-override: threshold=nan"]),
    "override deviations": (
        ["--promptfuzz-override=max_deviations=-1"],
        ["--promptfuzz-override: max_deviations=-1", "0 or more"],
    ),
    "override task": (
        ["--promptfuzz-override=task=clasification"],
        ["--promptfuzz-override: task='clasification' is not one of", "Did you mean 'classification'?"],
    ),
    "store parameter": (
        ["--promptfuzz-store=redis://:s3@host/1?foo=1"],
        ["--promptfuzz-store: redis://host/1 has 'foo'. Known: ttl, prefix, lease"],
    ),
    "store scheme": (
        ["-o", "promptfuzz_store=mongodb://me:s3@host:27017/x"],
        [
            "the ini value promptfuzz_store: 'mongodb://host:27017/x' is not a URL of a store. Write redis://HOST:PORT",
            "Known: redis://",
        ],
    ),
    "store database": (
        ["PROMPTFUZZ_STORE=redis://host/main"],
        [
            "environment variable PROMPTFUZZ_STORE: redis://host/main has no host, or its database is not a number"
        ],
    ),
    "override number": (["--promptfuzz-override=seed=x"], ["seed=x", "'x' is not a number"]),
    "ini int": (["-o", "promptfuzz_mutations=-8"], ["promptfuzz_mutations: -8 is out of range"]),
    "ini float": (["-o", "promptfuzz_threshold=2"], ["promptfuzz_threshold", "2", "a number from 0 to 1"]),
    "ini choice": (
        ["-o", "promptfuzz_mode=never"],
        ["promptfuzz_mode", "'never'", "auto, record, record-missing, replay, live"],
    ),
    "environment": (["PROMPTFUZZ_SEED=x"], ["PROMPTFUZZ_SEED", "'x'", "a whole number"]),
    "environment share": (
        ["PROMPTFUZZ_THRESHOLD=2"],
        ["PROMPTFUZZ_THRESHOLD", "'2'", "a number from 0 to 1"],
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_setting_that_cannot_be_read_ends_the_run_before_it_starts(pytester, monkeypatch, name):
    arguments, wanted = OPTIONS[name]
    if arguments[0].startswith("PROMPTFUZZ_"):
        monkeypatch.setenv(*arguments[0].split("="))
        arguments = []
    result = pytester.runpytest_inprocess("-p", "no:asyncio", "-p", "no:anyio", *arguments)
    said = [line for line in result.errlines if line.strip()]
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert len(said) == 1, said
    assert said[0].startswith("ERROR: ")
    for each in wanted:
        assert each in said[0]


def test_the_same_in_a_process_of_its_own(project):
    result = project(GOOD, "--promptfuzz-mode=lve")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [
        "ERROR: --promptfuzz-mode: 'lve' is not one of auto, record, record-missing, replay, live. Did you mean 'live'?"
    ]


def test_an_unknown_target_of_the_run_is_one_usage_error(project):
    result = project(GOOD, "--promptfuzz-target=gpt-5")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [
        "ERROR: --promptfuzz-target: 'gpt-5' names no provider. Did you mean 'openai:gpt-5'?"
    ]


def test_a_wrong_setting_of_the_simulated_model_is_one_usage_error(project):
    result = project(GOOD, "--promptfuzz-target=simulated?nois=0.4")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [
        "ERROR: --promptfuzz-target: 'simulated?nois=0.4': no setting 'nois'. Did you mean 'noise'?"
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "--promptfuzz-threshold=85",
            "--promptfuzz-threshold: '85' is not a number from 0 to 1. Did you mean 0.85?",
        ),
        (
            "--promptfuzz-threshold=5%",
            "--promptfuzz-threshold: '5%' is not a number from 0 to 1. Did you mean 0.05?",
        ),
        ("--promptfuzz-threshold=1.5", "--promptfuzz-threshold: '1.5' is not a number from 0 to 1."),
        (
            "--promptfuzz-override=threshold=85",
            "--promptfuzz-override: threshold=85.0 is out of range. Write a number from 0 to 1. Did you mean 0.85?",
        ),
    ],
)
def test_a_share_in_percents_is_guessed(project, given, said):
    result = project(GOOD, given)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [f"ERROR: {said}"]


def test_an_unknown_target_of_the_run_is_no_error_where_no_test_needs_it(project):
    named = GOOD.replace("mutations=3", "mutations=3, target='simulated'")
    project(named, "--promptfuzz-target=gpt-5").assert_outcomes(passed=2)


def test_no_target(project):
    result = project(GOOD, "-o", "promptfuzz_target=")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["ConfigurationError: *test_good: no model to call. Add --promptfuzz-target=openai:gpt-5-mini*"]
    )


BOTH = f"""
@robust(TRIAGE, target="openai:any")
{ASK.replace("test_bad", "test_openai")}

@robust(TRIAGE, target="anthropic:any")
{ASK.replace("test_bad", "test_anthropic")}
{GOOD}"""


def test_no_key(project, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    result = project(BOTH)
    result.assert_outcomes(passed=2, errors=2)
    for name in ("openai", "anthropic"):
        wanted = f"*test_{name}: *'{name}:any' needs a key, and {name.upper()}_API_KEY is not set.*"
        result.stdout.fnmatch_lines_random([f"ConfigurationError: {wanted}"])


def test_no_extra(project_process, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
    blocker = """
        import sys

        class Blocked:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in {"openai", "anthropic"}:
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, Blocked())
        """
    result = project_process(BOTH, conftest=blocker)
    result.assert_outcomes(passed=2, errors=2)
    for name in ("openai", "anthropic"):
        wanted = f"*test_{name}: *needs the package {name!r}*pip install 'pytest-promptfuzz?{name}?'*"
        result.stdout.fnmatch_lines_random([f"ConfigurationError: {wanted}"])


def test_an_async_test_without_an_async_plugin(project):
    source = f"@robust(TRIAGE)\nasync {ASK.replace('return llm', 'return await llm')}\n{GOOD}"
    result = project(source, "-p", "no:asyncio", "-p", "no:anyio", "-o", "filterwarnings=default")
    result.assert_outcomes(passed=2, failed=1, warnings=1)
    result.stdout.fnmatch_lines(["async def functions are not natively supported.", "*pytest-asyncio*"])
    assert "INTERNALERROR" not in result.stdout.str()
    assert summary_of(result) == {"test_good": "pass"}


def test_a_mark_on_what_is_no_test_function(project):
    source = f"""
import pytest
pytestmark = robust(TRIAGE, mutations=3)

class TestNothing:
    pass

def helper():
    \"\"\"
    >>> 1 + 1
    2
    \"\"\"

{ASK}
"""
    result = project(source, "--doctest-modules")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["UsageError: *test_it.helper: *is for Python test functions, not for DoctestItem*"]
    )


EVALUATE = """
import pytest
from pytest_promptfuzz import UsageError

def raises(prompt):
    raise RuntimeError("the database is away")

def number(prompt):
    return object()

FILLED = TRIAGE.format(ticket=TICKET)

def test_raises(promptfuzz):
    promptfuzz.evaluate(FILLED, raises)

def test_not_text(promptfuzz):
    result = promptfuzz.evaluate(FILLED, number)
    assert (result.verdict, result.reason) == ("inconclusive", "baseline-error")
    assert "test_it.number" in result.explanation
    assert "not text" in result.explanation
    assert "Return text, a Response, or plain data" in result.explanation

@pytest.mark.parametrize(("settings", "wanted"), [
    ({"treshold": 1}, "unknown setting 'treshold'. Did you mean 'threshold'?"),
    ({"mutations": 0}, "mutations=0 is out of range"),
    ({"task": "clasification"}, "Did you mean 'classification'?"),
])
def test_settings(promptfuzz, settings, wanted):
    with pytest.raises(UsageError, match="evaluate: ") as caught:
        promptfuzz.evaluate(FILLED, "simulated", **settings)
    assert wanted in str(caught.value)
"""


def test_a_callable_target_that_raises_or_answers_no_text(project):
    result = project(EVALUATE)
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(
        [
            '*raise RuntimeError("the database is away")',
            "E   *BaselineFailed: the unmutated prompt already fails: RuntimeError: the database is away",
        ]
    )


def test_a_damaged_cache_is_left_and_the_run_goes_on(project, pytester):
    project(GOOD).assert_outcomes(passed=2)
    (database,) = (pytester.path / ".promptfuzz").rglob("*.db")
    database.write_bytes(b"this is no database" * 100)
    result = project(GOOD)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["promptfuzz: *was damaged*left as it is*"])
    assert database.read_bytes() == b"this is no database" * 100
    again = project(GOOD)
    again.assert_outcomes(passed=2)
    again.stdout.fnmatch_lines(["*; 0 calls *"])
    assert "was damaged" not in again.stdout.str()


def test_a_cache_directory_that_is_a_file_costs_the_cache_only(project, pytester):
    pytester.path.joinpath("taken").write_text("mine", encoding="utf-8")
    result = project(GOOD, "--promptfuzz-cache-dir=taken")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["promptfuzz: *taken*"])
    assert pytester.path.joinpath("taken").read_text(encoding="utf-8") == "mine"


def test_bad_input_loses_nothing_that_is_stored(project):
    project(GOOD).assert_outcomes(passed=2)
    misspelt = GOOD.replace("mutations=3", "mutations=3, task='clasification'")
    project(misspelt).assert_outcomes(passed=1, errors=1)
    result = project(GOOD)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*; 0 calls *"])


def test_what_a_setting_may_be_is_said_once(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest("--promptfuzz-mode=foo")
    line = next(each for each in result.stderr.lines if "promptfuzz-mode" in each)
    assert line == "ERROR: --promptfuzz-mode: 'foo' is not one of auto, record, record-missing, replay, live."
