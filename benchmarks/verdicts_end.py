"""How often verdicts err, end to end: the simulated model behind ``evaluate``, beside ``verdicts.py``.

    python benchmarks/verdicts_end.py [--tests 300] [--stop certain] [--json FILE]

Every test is a whole evaluation: a prompt that asks for one of two labels, its mutations as the planner makes them, the
simulated model with seeded noise, the comparison of answers, what is asked again, the verdict. The truth is known,
since the noise is set so that two answers to the same prompt agree with probability A, and a share f of the mutations
(drawn from a hash of test and text) is answered with other words altogether. Everything else is that of the plugin.

Beside each cell stands what the parametric simulator says of it (world ``two``: there is one other answer), and
whether the shares of the four verdicts differ by more than chance would have it (chi-squared, 1 %).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdicts import VERDICTS, Cell, of_cell

from pytest_promptfuzz import Session, evaluate
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.targets.simulated.target import SimulatedTarget

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.providers.requests import Request

AGREEMENTS, BROKEN, SIZES = (1.0, 0.9, 0.7), (0.0, 0.30, 0.45), (8, 16)
PROMPT = """Classify the ticket below as billing or shipping. Decide by what the customer wants.
Answer with the label only.

Ticket:
{ticket}"""
TICKET = "I was charged twice for order {number} and want the money back."
OTHER_WORDS = {"billing": "red", "shipping": "green"}


class Planted(SimulatedTarget):
    """The simulated model, with a share of all other prompts than the unmutated one broken."""

    def __init__(self, unmutated: str, cell: Cell, seed: int) -> None:
        super().__init__(seed=seed, noise=noise_for(cell.agreement))
        self.unmutated, self.broken = unmutated, cell.broken

    def breaks(self, text: str) -> bool:
        """Whether this prompt is answered with other words; always the same for the same text."""
        digest = hashlib.sha256(f"{self.model.seed} {text}".encode()).digest()
        return text != self.unmutated and int.from_bytes(digest[:8], "big") / 2**64 < self.broken

    def send(self, request: Request, *, sample: int | None = None) -> dict[str, Any]:
        """The model's answer, or what stands in its place."""
        body = super().send(request, sample=sample)
        if self.breaks(request.messages[-1]["content"]):
            message = body["choices"][0]["message"]
            message["content"] = OTHER_WORDS[message["content"]]
        return body


def noise_for(agreement: float) -> float:
    """The share of odd answers, of one kind, with which two answers agree so often."""
    return (1 - math.sqrt(2 * agreement - 1)) / 2


def one_test(cell: Cell, number: int, stop: str) -> Any:
    """One evaluation; its result."""
    prompt = PROMPT.replace("{ticket}", TICKET.replace("{number}", str(1000 + number)))
    target = Planted(prompt, cell, number)
    return evaluate(
        prompt,
        target,
        mutations=cell.mutations,
        threshold=cell.threshold,
        seed=number,
        stop=stop,
        shrink=0,
        session=Session(store=MemoryStore()),
    )


def end_to_end(cell: Cell, tests: int, stop: str) -> tuple[Counter[str], float]:
    """The verdicts of a cell, and the mean number of calls."""
    found = [one_test(cell, number, stop) for number in range(tests)]
    return Counter(each.verdict for each in found), sum(each.calls for each in found) / tests


def p_of(one: Counter[str], shares: dict[str, float], of: int) -> float:
    """That two samples of verdicts are of one kind: chi-squared over the verdicts that occur in either."""
    first = sum(one.values())
    statistic, kinds = 0.0, 0
    for verdict in VERDICTS:
        seen = one[verdict], shares[verdict] * of
        both = sum(seen)
        if both:
            kinds += 1
            for count, total in zip(seen, (first, of), strict=True):
                expected = both * total / (first + of)
                statistic += (count - expected) ** 2 / expected
    return upper_tail(statistic, kinds - 1)


def upper_tail(statistic: float, degrees: int) -> float:
    """Of the chi-squared distribution, for 0 to 3 degrees of freedom."""
    if degrees == 0:
        return 1.0
    root = math.sqrt(statistic)
    if degrees == 2:
        return math.exp(-statistic / 2)
    tail = math.erfc(root / math.sqrt(2))
    return tail if degrees == 1 else tail + math.sqrt(2 / math.pi) * root * math.exp(-statistic / 2)


def shown(shares: Iterable[float]) -> str:
    return " | ".join(f"{each:.3f}" for each in shares)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", type=int, default=300, help="of each cell, end to end")
    parser.add_argument("--parametric", type=int, default=2000, help="of each cell, by verdicts.py")
    parser.add_argument("--stop", default="never", help="as on the mark; verdicts.py asks every plan in full")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    print(
        "| A | f | n | pass | brittle | noisy | inconclusive | calls | `verdicts.py`: pass | brittle | noisy |",
        end="",
    )
    print(" inconclusive | p |\n" + "| ---: " * 13 + "|")
    rows, apart = [], 0
    started = time.process_time()
    for agreement in AGREEMENTS:
        for broken in BROKEN:
            for size in SIZES:
                cell = Cell(agreement, broken, size, world="two")
                verdicts, calls = end_to_end(cell, args.tests, args.stop)
                expected = of_cell((cell, args.parametric))["with"]
                p = p_of(verdicts, expected, args.parametric)
                apart += p < 0.01
                shares = [verdicts[each] / args.tests for each in VERDICTS]
                rows.append({"cell": repr(cell), "of": args.tests, "with": shares, "calls": calls, "p": p})
                print(
                    f"| {agreement:g} | {broken:.2f} | {size} | {shown(shares)} | {calls:.1f} "
                    f"| {shown(expected[each] for each in VERDICTS)} | {p:.2f} |",
                    flush=True,
                )
    spent = time.process_time() - started
    print(f"\n{args.tests} tests a cell, {spent:.0f} s; {apart} of {len(rows)} cells differ at 1 %")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return int(apart > 1)


if __name__ == "__main__":
    sys.exit(main())
