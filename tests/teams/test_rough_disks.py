"""Disks that take no more and folders that take nothing: a run with shared and local store goes on, and says so once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pytest_promptfuzz.storage.claims import FileClaim
from tests import warm

pytest.importorskip("resource", reason="POSIX only")

SUITE = """
@pytest.mark.parametrize("ticket", TICKETS)
@robust(TRIAGE, mutations=3, threshold=0.0)
def test_call(prompt, llm, ticket):
    return llm(prompt.format(ticket=ticket))
"""


PYTEST = ("pytest", "-q", "-p", "no:cacheprovider")
PREFILL = ("pytest_promptfuzz.cli", "prefill", "--poll", "0.05")


def limited(pytester, size, *arguments, command=PYTEST):
    """A run whose files may not grow beyond ``size`` bytes, as on a full disk."""
    program = f"""
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
sys.argv = {[*command, *arguments]}
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
    return warm.run(
        [sys.executable, "-c", program],
        cwd=pytester.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize("size", [4096, 40_000])
def test_a_full_disk_costs_no_test(pytester, suite, models, size):
    suite("import pytest\n" + SUITE)
    done = limited(pytester, size)
    assert done.returncode == 0, done.stdout
    assert "The local cache" in done.stdout
    assert models.calls == 4 * 4
    again = pytester.runpytest()
    again.assert_outcomes(passed=4)
    assert models.calls <= 2 * 4 * 4


def test_what_a_full_disk_does_not_keep_redis_does(pytester, suite, models, redis_server):
    suite("import pytest\n" + SUITE)
    shared = f"--promptfuzz-store={redis_server.url}"
    assert limited(pytester, 4096, shared).returncode == 0
    assert models.calls == 4 * 4
    pytester.runpytest(shared, "--promptfuzz-cache-dir=other").assert_outcomes(passed=4)
    assert models.calls == 4 * 4


def test_what_a_full_disk_does_not_keep_of_a_batch_is_not_lost(pytester, suite, models):
    suite("import pytest\n" + SUITE)
    done = limited(pytester, 4096, command=PREFILL)
    assert done.returncode == 2, done.stdout
    assert "the local cache" in done.stdout
    assert "`promptfuzz prefill --resume` stores what it holds" in " ".join(done.stdout.split())
    done = limited(pytester, 2**30, "--resume", command=PREFILL)
    assert done.returncode == 0, done.stdout
    assert "16 answers stored" in done.stdout
    assert models.batches.submitted == [16]
    pytester.runpytest().assert_outcomes(passed=4)
    assert models.calls == 0


@pytest.mark.skipif(os.name != "posix", reason="POSIX only")
def test_a_claim_where_its_file_cannot_be_made(tmp_path):
    failures: list[OSError] = []
    (tmp_path / "file").write_text("")
    claim = FileClaim(tmp_path / "file" / "claims", "a-0-0", failures.append)
    other = FileClaim(tmp_path / "file" / "claims", "a-0-0", failures.append)
    assert claim.take()
    assert not other.take()
    claim.release()
    assert other.take()
    other.release()
    assert len(failures) == 2
