from __future__ import annotations

from pytest_promptfuzz.reporting.terminal.progress import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_nothing_is_written_where_there_is_no_terminal() -> None:
    written: list[str] = []
    progress = Progress(written.append, enabled=False)
    progress.trial("test_a", 1, 8, 0, 2)
    progress.clear()
    assert written == []


def test_a_line_is_written_over_and_taken_away() -> None:
    written: list[str] = []
    clock = Clock()
    progress = Progress(written.append, enabled=True, clock=clock)
    progress.trial("test_a", 1, 8, 2, 12)
    clock.now = 1.0
    progress.trial("test_a", 8, 8, 1, 1)
    progress.clear()
    progress.clear()
    assert written == [
        "test_a 1/8 trials, 2 deviate, 12 calls",
        "\b" * 38 + "test_a 8/8 trials, 1 deviates, 1 call" + " \b",
        "\b" * 37 + " " * 37 + "\b" * 37,
    ]


def test_what_stands_before_the_line_is_kept() -> None:
    written: list[str] = []
    clock = Clock()
    progress = Progress(written.append, enabled=True, column=lambda: 12, width=lambda: 60, clock=clock)
    for done in range(9):
        clock.now += 1
        progress.trial("test_with_a_rather_long_name_for_it", done, 8, done % 3, 10 - done)
    progress.clear()
    row, cursor = list("test_it.py .".ljust(80)), 12
    furthest = cursor
    for character in "".join(written):
        if character == "\b":
            cursor -= 1
            continue
        row[cursor] = character
        cursor += 1
        furthest = max(furthest, cursor)
    assert "".join(row).rstrip() == "test_it.py ."
    assert cursor == 12
    assert 30 < furthest < 60


def test_nothing_is_written_where_there_is_no_room() -> None:
    written: list[str] = []
    progress = Progress(written.append, enabled=True, column=lambda: 70, width=lambda: 80)
    progress.trial("test_a", 1, 8, 0, 2)
    progress.clear()
    assert written == []


def test_lines_do_not_follow_too_fast_but_the_last_is_shown() -> None:
    written: list[str] = []
    progress = Progress(written.append, enabled=True, clock=Clock())
    for done in range(1, 9):
        progress.trial("test_a", done, 8, 0, done)
    assert [line.split()[1] for line in written] == ["1/8", "8/8"]


def test_a_row_never_reaches_the_last_column_nor_holds_a_control_character() -> None:
    for width in (20, 40, 80):
        written: list[str] = []
        progress = Progress(written.append, enabled=True, width=lambda width=width: width)
        progress.trial("tests/\x1b[31m\n" + "x" * 200, 3, 8, 1, 1234)
        (line,) = written
        assert len(line) < width
        assert "\x1b" not in line
        assert "\n" not in line


def test_a_search_shows_queries_the_best_and_money() -> None:
    written: list[str] = []
    clock = Clock()
    progress = Progress(written.append, enabled=True, clock=clock)
    progress.search("p.txt", 9, 1200, best=0.25, reached=False, cost=0.0)
    clock.now = 0.01
    progress.search("p.txt", 17, 1200, best=0.5, reached=False, cost=0.0)
    clock.now = 1.0
    progress.search("p.txt", 25, 1200, best=1.0, reached=True, cost=0.01234)
    assert [each.strip("\b ") for each in written] == [
        "p.txt 9/1,200 queries, best 0.25",
        "p.txt 25/1,200 queries, found, making it smaller, $0.0123",
    ]
