"""One test's answers carried from one machine's cache to another's."""

from __future__ import annotations

from tests.in_process import promptfuzz

SUITE = """
@robust(TRIAGE, mutations=2, threshold=0.0)
def test_chain(prompt, llm):
    return llm("Why " + llm(prompt.format(ticket=TICKETS[0])).text).text

@robust(TRIAGE, inputs=TICKETS[1:3], mutations=2, threshold=0.0)
def test_declared(response):
    assert response.text

@robust(TRIAGE, mutations=2, threshold=0.0, seed=7)
def test_other(prompt, llm):
    return llm(prompt.format(ticket=TICKETS[3])).text
"""


def cache(*arguments):
    done = promptfuzz("cache", *arguments, together=True)
    return done.returncode, done.stdout


def test_the_answers_of_one_test_are_exported_and_found(pytester, suite, models):
    suite(SUITE)
    pytester.runpytest().assert_outcomes(passed=3)
    paid = models.calls
    for test in ("test_chain", "test_declared"):
        status, out = cache("export", f"{test}.jsonl", "--test", f"test_it.py::{test}")
        assert status == 0, out
        assert "Exported" in out
        status, out = cache("import", f"{test}.jsonl", "--cache-dir", test)
        assert status == 0, out
    assert models.calls == paid
    for test in ("test_chain", "test_declared"):
        result = pytester.runpytest(f"--promptfuzz-cache-dir={test}", f"test_it.py::{test}")
        result.assert_outcomes(passed=1)
    assert models.calls == paid, "all that they ask was carried"
    pytester.runpytest("--promptfuzz-cache-dir=test_chain", "test_it.py::test_other")
    assert models.calls == paid + 3, "and nothing of other tests"


def test_what_is_missing_of_a_test_is_said(pytester, suite, models):
    suite(SUITE)
    status, out = cache("export", "out.jsonl", "--test", "test_it.py::test_other")
    assert status == 2, out
    assert "3 calls without a stored answer" in " ".join(out.split())
    assert models.calls == 0
    pytester.runpytest("test_it.py::test_other").assert_outcomes(passed=1)
    status, out = cache("export", "out.jsonl", "--test", "test_it.py")
    assert status == 1, out
    assert "Exported 3 answers" in out
    assert "left out: " in out


def test_what_jobs_exported_makes_one_cache(pytester, suite, models):
    suite(SUITE)
    for number, test in enumerate(("test_chain", "test_declared", "test_other")):
        folder = f"--promptfuzz-cache-dir=job{number}"
        pytester.runpytest(folder, f"test_it.py::{test}").assert_outcomes(passed=1)
        status, out = cache(
            "export", f"answers-{number}.jsonl.gz", "--newer-than", "1h", "--cache-dir", f"job{number}"
        )
        assert status == 0, out
        assert cache("import", f"answers-{number}.jsonl.gz")[0] == 0
    paid = models.calls
    pytester.runpytest().assert_outcomes(passed=3)
    assert models.calls == paid
