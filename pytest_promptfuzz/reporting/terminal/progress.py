"""One line of progress while trials run, on a terminal only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.clocks import monotonic
from pytest_promptfuzz.reporting.terminal.styled_text import columns, shorten_middle, shorten_start
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Callable


_LEAST_NAME = 8
_LEAST_ROOM = 16


class Progress:
    """A line that is written over and over, and leaves nothing behind, not even where something stands before it.

    Args:
        write: Writes to the terminal, and flushes.
        enabled: Whether there is a terminal; if not, nothing is ever written.
        width: Columns of the terminal, read anew for each line.
        column: Where the cursor stands, 0 at the left: what stands before it is kept. Read anew for each line.
        clock: Seconds, monotonic.
        interval: The least seconds between two lines; a test's first and last trial and a search's find are always
            shown.
    """

    __slots__ = ("_clock", "_column", "_enabled", "_interval", "_last", "_shown", "_when", "_width", "_write")

    def __init__(
        self,
        write: Callable[[str], object],
        *,
        enabled: bool,
        width: Callable[[], int] = lambda: 80,
        column: Callable[[], int] = lambda: 0,
        clock: Callable[[], float] = monotonic,
        interval: float = 0.05,
    ) -> None:
        self._write = write
        self._enabled = enabled
        self._width = width
        self._column = column
        self._clock = clock
        self._interval = interval
        self._shown = 0
        self._last = ("", "")
        self._when = 0.0

    def trial(self, test: str, done: int, total: int, deviations: int, calls: int) -> None:
        """Say how far a test has come: trials done of all, deviations so far, model calls sent so far."""
        state = f" {done}/{total} trials"
        if deviations:
            state += f", {deviations} deviate" if deviations > 1 else ", 1 deviates"
        self._show(test, f"{state}, {counted(calls, 'call')}", ended=done >= total)

    def search(
        self, name: str, queries: int, budget: int, *, best: float, reached: bool, cost: float
    ) -> None:
        """Say how far a search has come: queries of the budget, how near the best came (0 to 1), US dollars."""
        state = f" {queries:,}/{budget:,} queries, " + (
            "found, making it smaller" if reached else f"best {best:.2f}"
        )
        shown = f"{state}, ${cost:.4f}" if cost else state
        self._show(name, shown, ended=queries >= budget, stage="found" if reached else "")

    def study(self, name: str, done: int, total: int, left: float) -> None:
        """Say how far a study is: answers of all, and seconds that the rest takes at the pace so far."""
        self._show(name, f" {done:,}/{total:,} answers, {_lasting(left)} left", ended=done >= total)

    def _show(self, name: str, state: str, *, ended: bool, stage: str = "") -> None:
        if not self._enabled:
            return
        now = self._clock()
        if (name, stage) == self._last and not ended and now - self._when < self._interval:
            return
        self._last, self._when = (name, stage), now
        # One column stays free: a full row would make some terminals begin a new one.
        column = self._column()
        gap = " " if column else ""
        room = self._width() - 1 - column - len(gap)
        if room < _LEAST_ROOM:
            return
        name = shorten_start(
            safe(name).replace("\n", "⏎").replace("\t", " "), max(room - len(state), _LEAST_NAME)
        )
        line = gap + shorten_middle(name + state, room)
        taken = columns(line)
        left_over = max(self._shown - taken, 0)
        self._write("\b" * self._shown + line + " " * left_over + "\b" * left_over)
        self._shown = taken

    def clear(self) -> None:
        """Take the line away, so that something else can be written in its place."""
        if self._shown:
            self._write("\b" * self._shown + " " * self._shown + "\b" * self._shown)
            self._shown = 0


# Progress while the trials of a test run: on a terminal only, and gone when the test is done.


def _lasting(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
