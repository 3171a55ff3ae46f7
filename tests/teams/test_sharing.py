"""Work spread over processes and hosts is neither lost nor paid for twice."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from pytest_promptfuzz.server.faults import Slow
from pytest_promptfuzz.storage.disk_store import ResponseStore
from tests import warm

SUITE = """
import pytest

@pytest.mark.parametrize("ticket", TICKETS)
@robust(TRIAGE, mutations=3, threshold=0.0)
def test_call(prompt, llm, ticket):
    return llm(prompt.format(ticket=ticket))

@robust(TRIAGE, inputs=TICKETS, mutations=3, threshold=0.0, seed=5)
def test_declared(response):
    assert response.text
"""
SHARED = 4 * 2  # both tests ask the same baselines, and one mutation in common
CALLS = 2 * 4 * (1 + 3) - SHARED


def bodies(server):
    return Counter(each.text for each in server.requests)


def host(folder, test_file, *arguments):
    """A pytest of its own, with a cache of its own, as another machine would have."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test_file), *arguments]
    command += [f"--promptfuzz-cache-dir={folder}"]
    return warm.Popen(
        command, cwd=test_file.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def ended(process):
    out, _ = process.communicate(timeout=300)
    return process.returncode, out


def test_two_workers_share_the_local_store(pytester, suite, models):
    pytest.importorskip("xdist")
    suite(SUITE)
    result = pytester.runpytest("-n", "2")
    result.assert_outcomes(passed=5)
    # What the tests share, two workers may want at the same moment: one of them asks.
    assert len(bodies(models)) == models.calls == CALLS
    paid = models.calls
    store = ResponseStore(pytester.path / ".promptfuzz")
    assert store.stats().entries == CALLS
    store.close()
    pytester.runpytest("-n", "2").assert_outcomes(passed=5)
    pytester.runpytest().assert_outcomes(passed=5)
    assert models.calls == paid


def test_two_hosts_that_share_a_redis_pay_once(pytester, suite, models, redis_server):
    suite(SUITE)
    test_file = pytester.path / "test_it.py"
    shared = f"--promptfuzz-store={redis_server.url}"
    running = [host("one", test_file, shared, "-k", "call"), host("two", test_file, shared, "-k", "declared")]
    for status, out in map(ended, running):
        assert status == 0, out
    assert len(bodies(models)) == models.calls == CALLS
    paid = models.calls
    # Each now runs what the other did, and a third host knows neither.
    running = [
        host("one", test_file, shared),
        host("two", test_file, shared),
        host("three", test_file, shared),
    ]
    for status, out in map(ended, running):
        assert status == 0, out
    assert models.calls == paid
    # What was found in Redis is kept near: without it, a warm run still makes no call.
    redis_server.stop()
    status, out = ended(host("three", test_file, shared))
    assert (status, models.calls) == (0, paid), out
    assert "is not used" not in out


def test_two_hosts_that_run_the_same_tests_at_once_pay_once(pytester, suite, models, redis_server):
    suite(SUITE)
    test_file = pytester.path / "test_it.py"
    models.fail(Slow(times=None, seconds=0.3))
    running = [host(name, test_file, f"--promptfuzz-store={redis_server.url}") for name in ("one", "two")]
    for status, out in map(ended, running):
        assert status == 0, out
    assert len(bodies(models)) == models.calls == CALLS
    with redis_server.client() as client:
        assert len(client.keys("promptfuzz:1:*")) == CALLS
        assert client.keys("promptfuzz:claim:*") == [], "nothing stays claimed"


def test_a_redis_that_is_killed_in_the_middle_costs_no_test(pytester, suite, models, redis_server):
    suite(
        f"""
import os, pytest

@pytest.mark.parametrize("ticket", TICKETS)
@robust(TRIAGE, mutations=3, threshold=0.0)
def test_call(prompt, llm, ticket):
    if ticket == TICKETS[2]:
        os.kill({redis_server.process.pid}, 9)
    return llm(prompt.format(ticket=ticket))
""".replace("os.kill(", "kill(").replace(
            "import os, pytest",
            """
import contextlib, os, pytest

def kill(pid, signal):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal)
""",
        )
    )
    result = pytester.runpytest(f"--promptfuzz-store={redis_server.url}")
    result.assert_outcomes(passed=4)
    shown = " ".join(result.stdout.str().split())
    assert shown.count("is not used from here on") == 1
    assert models.calls == 16
    pytester.runpytest().assert_outcomes(passed=4)
    assert models.calls == 16, "all was kept on this machine"


def test_a_password_is_in_no_output_and_no_file(pytester, suite, models, redis_servers):
    password = "the-team-s-own-password"
    server = redis_servers(password="another")
    suite(
        """
@robust(TRIAGE, inputs=TICKETS[:1], mutations=2, threshold=0.0)
def test_label(response, request):
    print(request.config.getoption("promptfuzz_store"))
    raise AssertionError(request.config.getoption("promptfuzz_store"))
"""
    )
    url = f"redis://:{password}@127.0.0.1:{server.port}"
    result = pytester.runpytest(f"--promptfuzz-store={url}", "--junitxml=out.xml", "-rA")
    shown = result.stdout.str() + result.stderr.str()
    assert f"and redis://127.0.0.1:{server.port}/0" in shown
    assert "does not accept the user or password" in " ".join(shown.split())
    assert password not in shown
    for path in pytester.path.rglob("*"):
        assert not path.is_file() or password.encode() not in path.read_bytes(), path


def test_a_wrong_store_is_refused_before_anything_runs(pytester, suite, models):
    suite(SUITE)
    result = pytester.runpytest("--promptfuzz-store=redis//:s3cr3t@host")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    shown = result.stdout.str() + result.stderr.str()
    assert "--promptfuzz-store: " in shown
    assert "Traceback" not in shown
    assert models.calls == 0


def test_a_replay_asks_no_shared_store(pytester, suite, models, redis_server):
    suite(SUITE)
    redis_server.stop()
    result = pytester.runpytest(
        "--promptfuzz-mode=replay", f"--promptfuzz-store={redis_server.url}", "-k", "declared"
    )
    assert "is not used" not in result.stdout.str()
    assert "NotRecordedError" in result.stdout.str()
    assert models.calls == 0
