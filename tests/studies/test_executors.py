"""A study on a Dask cluster of this machine: the same cells, no call twice, a killed worker's share done again."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.running.limits.budget import Budget, Caps, runs
from pytest_promptfuzz.running.limits.lanes import LaneRule
from pytest_promptfuzz.running.limits.limits import Settings
from pytest_promptfuzz.studies.executors import digest_of, divided, worker_limits
from pytest_promptfuzz.studies.study import read_study
from tests.in_process import promptfuzz
from tests.studies.conftest import STUDY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_promptfuzz.server.model_server import ModelServer

CLUSTER = """
import sys
import distributed

if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1",
        silence_logs=50,
    ) as cluster, distributed.Client(cluster) as client:
        print(cluster.scheduler_address, *client.run(__import__("os").getpid).values(), flush=True)
        sys.stdin.read()
"""


class Cluster:
    """Two workers in processes of their own, which find the keys and addresses of the test's environment."""

    def __init__(self, folder: Path) -> None:
        (folder / "cluster.py").write_text(CLUSTER, encoding="utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "cluster.py"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "DASK_TEMPORARY_DIRECTORY": str(folder),
            },
        )
        assert self._process.stdout is not None
        address, *workers = self._process.stdout.readline().decode().split()
        self.executor = f"dask:{address}"
        self.workers = [*map(int, workers)]

    def end(self) -> None:
        self._process.communicate(timeout=30)


@pytest.fixture
def cluster(server: ModelServer, folder: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    found = Cluster(folder)
    yield found
    found.end()


def rows(path: Path) -> list[dict[str, str]]:
    """The cells of a file, but for the time that they took."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{**each, "latency": ""} for each in csv.DictReader(file)]


def asked(server: ModelServer) -> Counter[str]:
    return Counter(str(each.body) for each in server.requests if each.method == "POST")


def test_a_cluster_gives_the_same_cells_and_asks_nothing_twice(
    cluster: Cluster, server: ModelServer, folder: Path
) -> None:
    done = promptfuzz(
        "study", "study.toml", "--executor", cluster.executor, "--out", "far.csv", folder=folder
    )
    assert done.returncode == 0, done
    calls = server.calls
    assert max(asked(server).values()) == 2  # two runs
    done = promptfuzz("study", "study.toml", "--out", "near.csv", folder=folder)
    assert done.returncode == 0, done
    assert server.calls == calls  # one cache for both
    assert rows(folder / "far.csv") == rows(folder / "near.csv")
    done = promptfuzz("study", "study.toml", "--cache-dir", "other", "--out", "alone.csv", folder=folder)
    assert done.returncode == 0, done
    assert rows(folder / "alone.csv") == rows(folder / "near.csv")


def test_a_killed_worker_s_share_is_done_again_and_nothing_twice(
    cluster: Cluster, server: ModelServer, folder: Path
) -> None:
    server.latency = 0.1
    command = [
        "study",
        "study.toml",
        "--executor",
        cluster.executor,
        "--concurrency",
        "4",
        "--out",
        "cells.csv",
    ]
    (folder / "study.toml").write_text(STUDY.replace("runs = 2", "runs = 4"), encoding="utf-8")
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest_promptfuzz.cli", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    until(lambda: server.calls >= 6)
    os.kill(cluster.workers[0], signal.SIGKILL)
    shown, _ = run.communicate(timeout=120)
    assert run.returncode == 0, shown.decode()
    cells = rows(folder / "cells.csv")
    assert not [each for each in cells if each["outcome"] == "error"]
    expected = len(
        {
            (each["input"], each["mutation"], each["run"])
            for each in cells
            if each["outcome"] != "not-applicable"
        }
    )
    # What was on its way in the killed worker, two calls at once, is asked again; nothing else is.
    assert expected <= server.calls <= expected + 2


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_workers_with_another_study_are_refused(cluster: Cluster, server: ModelServer, folder: Path) -> None:
    from pytest_promptfuzz.studies.executors import StudyOrder, run_on_dask

    order = StudyOrder(
        str(folder),
        str(folder / "study.toml"),
        "0" * 64,
        (),
        None,
        1.0,
        2,
        "auto",
        str(folder / "cache"),
        4,
        {},
    )
    with pytest.raises(UsageError, match=r"a worker has another study in .*study\.toml: give all workers"):
        run_on_dask(cluster.executor.removeprefix("dask:"), order, Settings())
    assert server.calls == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--executor", "ray:x"],
            "--executor 'ray:x'; write dask:ADDRESS, such as dask:tcp://127.0.0.1:8786.",
        ),
        (["--executor", "dask:"], "--executor 'dask:'; write dask:ADDRESS"),
        (
            ["--executor", "dask:tcp://127.0.0.1:8786", "--shard", "1/2"],
            "--shard and --executor both divide the study",
        ),
        (["--executor", "dask:nonsense"], "--executor: no Dask scheduler answers at nonsense"),
    ],
)
def test_executors_that_cannot_be(folder: Path, arguments: list[str], message: str) -> None:
    pytest.importorskip("distributed")
    done = promptfuzz("study", "study.toml", *arguments, folder=folder)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_limits_are_divided_among_workers_and_units() -> None:
    whole = Settings(
        rule=LaneRule(rpm=100),
        rules={"*/small": LaneRule(tpm=9, concurrency=4)},
        caps=Caps(calls=10, cost=2.0),
    )
    part = divided(whole, 4, 5)
    assert part.rule == LaneRule(rpm=25)
    assert part.rules == {"*/small": LaneRule(tpm=2, concurrency=1)}
    assert (part.caps.calls, part.caps.tokens, part.caps.cost) == (2, None, 0.4)
    with pytest.raises(UsageError, match=r"max-calls 10 is less than one call for each of the 11 units"):
        divided(whole, 4, 11)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(rule=LaneRule(rpm=3)), "--rpm 3 is less than one for each of the 4 workers of the cluster"),
        (
            Settings(rules={"*/small": LaneRule(rpm=9, concurrency=2)}),
            '[tool.promptfuzz.limits] "*/small": concurrency 2 is less than one for each of the 4 workers',
        ),
    ],
)
def test_a_rate_that_cannot_be_divided_is_refused(settings: Settings, said: str) -> None:
    given = replace(settings, caps=Caps(prefix="--"))
    with pytest.raises(UsageError, match=re.escape(said)):
        divided(given, 4, 5)
    parts = divided(given, 2, 5)
    assert 2 * (parts.rule.rpm or 0) <= 3


def test_a_cluster_with_more_workers_than_calls_at_once_is_refused(
    cluster: Cluster, server: ModelServer, folder: Path
) -> None:
    done = promptfuzz(
        "study", "study.toml", "--executor", cluster.executor, "--concurrency", "1", folder=folder
    )
    assert done.returncode == 2
    assert "--concurrency 1 is less than one for each of the 2 workers of the cluster" in done.stderr
    assert "Set at least 2, or start fewer workers." in done.stderr
    assert server.calls == 0


def test_a_worker_s_rate_goes_on_from_share_to_share() -> None:
    settings = Settings(rule=LaneRule(rpm=2), caps=Caps(calls=2))

    def waits(command: str) -> float:
        gate = worker_limits(settings, command)
        with gate.ledger.open("api.openai.com/gpt-5-mini") as books:
            assert books.budget == Budget()
            return books.lane.wait(settings.rule, 10, gate.clock(), runs)

    for _ in range(2):
        assert waits("a") == 0
        gate = worker_limits(settings, "a")
        with gate.ledger.open("api.openai.com/gpt-5-mini") as books:
            books.lane.leave("x", 10, gate.clock(), os.getpid())
            books.budget.calls += 1
    assert waits("a") > 50
    assert waits("b") == 0


def test_each_part_of_a_study_is_in_its_digest(folder: Path) -> None:
    seen = {digest_of(read_study(folder / "study.toml"))}
    changes = (
        ("runs = 2", "runs = 3"),
        ('"upper-case", ', ""),
        ("charged twice", "charged"),
        ("gpt-5-mini", "gpt-5"),
    )
    for old, new in (
        *changes,
        ('"billing", ', '"other", '),
        ('task = "class', 'minor_at = 0.9\ntask = "class'),
    ):
        text = STUDY.replace(old, new)
        assert text != STUDY
        (folder / "study.toml").write_text(text, encoding="utf-8")
        seen.add(digest_of(read_study(folder / "study.toml")))
    assert len(seen) == 7
