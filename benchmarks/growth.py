"""How time grows with the length of a prompt: `python benchmarks/growth.py`.

For floods of one unit (hostile or merely dull text) and for plain prose: seconds of processor time at two lengths, and
the exponent between them. 1 is linear, 2 a square. Span detection, a plan of 8, and the guards that compare answers.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import TYPE_CHECKING

from pytest_promptfuzz import compare
from pytest_promptfuzz.mutations.planner import plan
from pytest_promptfuzz.prompts.spans import logic_spans, protected_spans

if TYPE_CHECKING:
    from collections.abc import Callable

PROSE = "Please read the message below and choose the most relevant label; do not guess. Keep it short.\n"
UNITS = [
    PROSE, "x", "a\n", "1 ", "1,", '"a ', '"a "b" "c" ', "{", "[{", '{"a":', "(", "<a ", "`", "$", "\\a ",
    "\\frac{", "a@", "://", "one-aa-", "a_", "A, ", "5 mg/ml/", "|a|\n|-|\n", "x = y ", "- a\n", "- a: b\n",
    "def f(", "SELECT ", "one of: ", "either a or ", "Answer A if ", "labels:\n- a\n", "分为a、", "'x ", "not ",
    "<document>\nA line of text.\n</document>\n",
]  # fmt: skip


def planned(text: str) -> None:
    for mutation in plan(text, 8).mutations:
        len(mutation.text)


def spanned(text: str) -> None:
    protected_spans(text)
    logic_spans(text)


def compared(text: str) -> None:
    middle = len(text) // 2
    compare(text, text[:middle] + " not " + text[middle:])


JOBS: dict[str, Callable[[str], None]] = {"spans": spanned, "plan": planned, "compare": compared}


def seconds(job: Callable[[str], None], unit: str, length: int, turn: int) -> float:
    text = f"Please give a summary of text {turn}. " + unit * (length // len(unit))
    begin = time.process_time()
    job(text)
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=16_000, help="characters of the longer text")
    parser.add_argument("--ratio", type=int, default=4, help="how many times the shorter one it is")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for name, job in JOBS.items():
        rows = []
        for unit in UNITS:
            seconds(job, unit, 500, 0)
            short, long = (
                min(seconds(job, unit, length, turn) for turn in range(options.rounds))
                for length in (options.length // options.ratio, options.length)
            )
            rows.append((math.log(long / short, options.ratio), long, unit))
        rows.sort(reverse=True)
        print(f"{name}, {options.length:,} characters: the steepest of {len(rows)} floods")
        for exponent, long, unit in rows[:6]:
            print(f"  {exponent:5.2f}  {long * 1e3:9.1f} ms  {unit[:24]!r}")


if __name__ == "__main__":
    main()
