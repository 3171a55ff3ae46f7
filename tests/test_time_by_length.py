"""No text costs more than its length: thirty-two times the length takes far less than the square of that.

Processor time of this thread is what is compared, with a factor of ten to spare: a busy machine changes nothing.
`benchmarks/growth.py` has all floods and all that is done with a text, at 100,000 characters.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import growth

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT, TIMES = 1_000, 32
LEAST = 0.0005
"""Seconds: what takes less is taken for this long."""

FLOODS = {
    "compare with itself": ["1", "SELECT ("],
    "compare with one word more": [
        "1",
        "1.",
        "1e",
        "a.",
        "(",
        "'",
        "n't ",
        "SELECT (",
        "a@",
        "A/1",
        "yes, no ",
        "a\n",
    ],
    "compare as code": [";", "a\n"],
    "compare as another format": ["- a: b\n"],
    "compare as another language": ["1. ", "a\n"],
    "compare as SQL": ["SELECT (", "(", "SELECT a+"],
    "redact": ["access_token:", "-sk-", "eyJ", "-----BEGIN ", "bearer ", "..."],
    "redact a stream": ["access_token:", "sk-", "1"],
    "look for secrets": ["token is ", "secret:", "1"],
    "read a prompt": ["{", "(", '"', "|a|\n|-|\n"],
    "mutate": ["yes, no ", "A B "],
    "read answers": ["[", "data: a\n", "\r\n"],
    "store": ["\\", "[", "\u202e"],
    "show in a terminal": [":", "\u200b", "a "],
    "show word by word": [":", "\u2028", "a "],
}


def seconds(job: Callable[[str], object], text: str) -> float:
    gc.disable()  # a worker that has run thousands of tests has millions of objects to look through
    try:
        begin = time.thread_time()
        job(text)
        return time.thread_time() - begin
    finally:
        gc.enable()


@pytest.mark.filterwarnings("ignore::pytest_promptfuzz.errors.PromptfuzzWarning")
@pytest.mark.parametrize("name", FLOODS)
def test_time_grows_no_faster_than_length(name) -> None:
    job = growth.JOBS[name]
    job(growth.FLOODS["mixed"](SHORT))  # what is loaded and compiled once
    for unit in FLOODS[name]:
        job(unit * 20)
        short = max(LEAST, min(seconds(job, unit * (SHORT // len(unit)) + " " * turn) for turn in range(2)))
        long = seconds(job, unit * (TIMES * SHORT // len(unit)))
        assert long < 10 * TIMES * short, (
            f"{unit!r}: {short:.4f} s at {SHORT:,} characters, {long:.2f} s at {TIMES}"
        )
