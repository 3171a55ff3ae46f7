"""Tiers and guards of a project, named in marks."""

from __future__ import annotations

CONFTEST = """
from pytest_promptfuzz import guard, tier

@tier("moods")
def moods(baseline, response):
    return 1.0 if "fine" in response else None

@guard("greets")
def greets(baseline, response):
    return None if response.startswith("Hello") else "the greeting is gone"

@guard("crashes")
def crashes(baseline, response):
    raise ValueError("no model here")

def pytest_promptfuzz_tiers(config):
    return [moods]

def pytest_promptfuzz_guards(config):
    return [greets, crashes]
"""
# Another answer to each mutation, and two that words cannot tell are the same.
BODY = """
@robust("How are you doing on this day?", mutations=2, operators=["upper-case", "lower-case"]{keys})
def test_mood(prompt, llm):
    llm(prompt)
    if str(prompt) == "How are you doing on this day?":
        return "Hello there, we all are well and kicking."
    return "Hello, everything is fine, and thanks for asking me." if {greets} else "All fine over here, thank you so much."
"""


def body(keys: str = "", *, greets: bool = True) -> str:
    return BODY.replace("{keys}", keys and f", {keys}").replace("{greets}", str(greets))


def test_without_them_words_cannot_tell(project):
    result = project(body(), "-p", "no:cacheprovider", conftest=CONFTEST)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*undecided*"])


def test_a_tier_of_the_project_decides(project):
    project(body("tiers=['moods'], guards=['greets']"), conftest=CONFTEST).assert_outcomes(passed=1)
    project(body("tiers=['moods']"), "-n1", conftest=CONFTEST).assert_outcomes(passed=1)


def test_a_guard_of_the_project_objects(project):
    result = project(body("tiers=['moods'], guards=['greets']", greets=False), conftest=CONFTEST)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the greeting is gone*"])


def test_a_guard_that_crashes_is_an_error_of_the_trials(project):
    result = project(body("tiers=['moods'], guards=['crashes']"), conftest=CONFTEST)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*The guard 'crashes' raised ValueError: no model here.*"])


def test_a_name_that_nobody_offers_is_said(project):
    result = project(body("tiers=['mood']"), conftest=CONFTEST)
    result.stdout.fnmatch_lines(["*tiers: unknown tier 'mood'. Did you mean 'moods'*"])


def test_a_hook_that_offers_something_else_is_said(project):
    hook = "def pytest_promptfuzz_tiers(config):\n    return [len]\n"
    result = project(body(), conftest=hook)
    result.stdout.fnmatch_lines(["*pytest_promptfuzz_tiers: <built-in function len> is no tier*"])
    hook = "def pytest_promptfuzz_guards(config):\n    return 3\n"
    result = project(body(), conftest=hook)
    result.stdout.fnmatch_lines(["*pytest_promptfuzz_guards returned int; return a list of guards.*"])
    hook = "def pytest_promptfuzz_guards(config):\n    raise OSError('gone')\n"
    result = project(body(), conftest=hook)
    result.stdout.fnmatch_lines(["* a pytest_promptfuzz_guards hook raised OSError: gone*"])
