"""Blind sheets, on which people rate pairs of answers: drawn from results, written beside a key, and read again."""

from __future__ import annotations

import csv
import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.comparing.formats.data_text import text_of
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.datasets import Dataset
from pytest_promptfuzz.files import encoded, read_text
from pytest_promptfuzz.judging.ratings import RATINGS
from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.reporting.document import KIND as REPORT
from pytest_promptfuzz.reporting.report_files import LINES, latest, read_document
from pytest_promptfuzz.stats.misclassification import RATING_OUTCOMES
from pytest_promptfuzz.storage.recordings.files import write_whole
from pytest_promptfuzz.studies.cells import BASELINE, read_cells
from pytest_promptfuzz.text.csv_rows import cells_up_to, csv_rows, csv_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.study import Study

    Prompts = Mapping[tuple[str, str], str]
    """The unmutated prompt of a study, by task and input."""


SCALE = "3 the same | 2 minor differences | 1 different"
COLUMNS = ("item", "prompt", "answer_a", "answer_b", "scale", "rating")
KIND = "judge-key"
FORMAT = 1
RATED = {outcome: rating for rating, outcome in RATING_OUTCOMES.items()}
"""The rating that an outcome stands for."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_DECIDED = {*RATED, "undecided"}


class SheetItem(NamedTuple):
    """A pair of answers, and what is known of it; the sheet shows its ID and its texts alone.

    Attributes:
        id: Made of its texts.
        prompt: What was asked, unmutated; empty where nobody knows.
        baseline: The answer to the unmutated prompt.
        response: The answer to the mutated one.
        outcome: What the comparison found.
        reason: What decided it.
        model: Who answered.
        operator: What was changed.
        swapped: Whether the sheet shows the response first.
    """

    id: str
    prompt: str
    baseline: str
    response: str
    outcome: str
    reason: str
    model: str
    operator: str
    swapped: bool = False

    @property
    def answers(self) -> tuple[str, str]:
        """Both answers in the sheet's order."""
        return (self.response, self.baseline) if self.swapped else (self.baseline, self.response)


# Where pairs come from: files of cells, reports of a run, what `promptfuzz run --json` writes.


def items_of(source: Path, study: Study | None = None, *, judged: bool = False) -> list[SheetItem]:
    """The pairs of different answers that results hold, each once.

    Args:
        source: Cells of a study, a JSON report, what ``promptfuzz run --json`` wrote, or a folder of stored answers.
        study: The study of the cells, for its prompts.
        judged: Only those that a judge decided.

    Raises:
        UsageError: It cannot be read, or holds no such pair.
        StoreError: It is a damaged report.
    """
    prompts = {} if study is None else _prompts(study)
    found: dict[tuple[str, ...], SheetItem] = {}
    for each in _pairs(source, prompts):
        if each.baseline != each.response and (not judged or each.reason == "judge"):
            # A pair that was also answered the other way round is the same question to whoever rates it.
            found.setdefault((each.prompt, *sorted((each.baseline, each.response))), each)
    kept = list(found.values())
    if not kept:
        which = "that a judge decided" if judged else "whose texts differ"
        raise UsageError(f"{source} holds no two answers to a prompt and its mutation {which}.")
    return kept


def _pairs(source: Path, prompts: Prompts) -> Iterator[SheetItem]:
    if source.is_dir():
        report = latest(source)
        if report is None:
            raise UsageError(f"{source} holds no report: run pytest first, or name a file.")
        source = report
    elif source.suffix.lower() in {".csv", ".parquet"}:
        yield from _of_cells(read_cells(source), prompts)
        return
    content = _json_of(source)
    if isinstance(content, dict) and content.get("promptfuzz") in {REPORT, LINES}:
        yield from _of_tests(read_document(source)["tests"])
    elif isinstance(content, dict) and "trials" in content:
        yield from _of_tests([content])
    elif isinstance(content, list) and content and isinstance(content[0], dict) and "trials" in content[0]:
        yield from _of_tests(content)
    else:
        yield from _of_cells(read_cells(source), prompts)


def _json_of(source: Path) -> Any:
    """What a file of JSON is, or its first line; ``None`` for anything else."""
    try:
        text = read_text(source)
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{source} cannot be read: it is not UTF-8 (byte {error.start}).") from None
    for part in (text, text.partition("\n")[0]):
        try:
            return json.loads(part)
        except (ValueError, RecursionError):
            continue
    return None


def _prompts(study: Study) -> Prompts:
    return {
        (task.name, each.cell_name): each.put_into(task.prompt).text
        for task in study.tasks
        for each in task.inputs
    }


def _of_cells(cells: Iterable[Cell], prompts: Prompts) -> Iterator[SheetItem]:
    every = list(cells)
    before = {
        (each.task, each.model, each.input, each.run): each for each in every if each.outcome == BASELINE
    }
    for cell in every:
        baseline = before.get((cell.task, cell.model, cell.input, cell.run))
        if baseline is not None and cell.operator and cell.outcome in _DECIDED:
            if prompts and (cell.task, cell.input) not in prompts:
                raise UsageError(
                    f"--study: it has no task {cell.task!r} with the input {cell.input or '-'}, which the cells have. "
                    "Name the study that they are of."
                )
            prompt = prompts.get((cell.task, cell.input), "")
            texts = (prompt, baseline.answer, cell.answer)
            yield SheetItem(_id(*texts), *texts, cell.outcome, cell.reason, cell.model, cell.operator)


def _of_tests(tests: Iterable[Mapping[str, Any]]) -> Iterator[SheetItem]:
    try:
        for test in tests:
            for trial in test["trials"]:
                if trial["relation"] != "invariance" or trial["outcome"] not in _DECIDED:
                    continue
                if trial["baseline"] is None or trial["response"] is None:
                    continue
                texts = (str(test["prompt"]), text_of(trial["baseline"]), text_of(trial["response"]))
                operator = "+".join(trial["operators"])
                yield SheetItem(
                    _id(*texts), *texts, trial["outcome"], trial["reason"], test["target"], operator
                )
    except (KeyError, TypeError) as error:
        raise UsageError(
            f"a test of the report lacks its answers ({type(error).__name__}: {error})."
        ) from None


def _id(*texts: str) -> str:
    """Begins with a letter: a spreadsheet would take 1234e567 for a number."""
    return "p" + hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:7]


def drawn(items: Sequence[SheetItem], count: int, seed: int) -> list[SheetItem]:
    """So many of the items at random, whatever was found of them, in a random order, each pair's order by lot."""
    rng = Rng(root_key(seed, "rating-sheet"), "items")
    ordered = sorted(items, key=lambda each: each.id)
    chosen = rng.shuffled(rng.sample(ordered, min(count, len(ordered))))
    return [each._replace(swapped=bool(rng.below(2))) for each in chosen]


# Sheet and key, as files.


def sheet_bytes(items: Iterable[SheetItem]) -> bytes:
    """The sheet, as CSV in UTF-8 with a mark that spreadsheets read."""
    rows = ([each.id, *map(_cell, (each.prompt, *each.answers)), SCALE, ""] for each in items)
    return csv_text([COLUMNS, *rows], "\r\n").encode("utf-8-sig", "replace")


def write_pair(sheet: Path, key: Path, items: Sequence[SheetItem], *, source: str, seed: int) -> None:
    """Write a sheet, and the key that says what the sheet does not; the same pair may be written again.

    Raises:
        UsageError: A file of one of the names holds something else: copies of that sheet may have been handed out.
        StoreError: One cannot be written.
    """
    content = sheet_bytes(items)
    _refuse_other_sheet(sheet, content)
    if key.exists() and not _is_key_of(key, items):
        raise UsageError(
            f"{key} is there already, and is not the key of this sheet. Without its key, the ratings of another sheet "
            "cannot be read. Name another one with --key, or another sheet with --out."
        )
    write_whole(
        key, _key_bytes(items, source=source, seed=seed), attributes=False
    )  # first: a sheet needs its key
    write_whole(sheet, content, attributes=False)


def _refuse_other_sheet(path: Path, content: bytes) -> None:
    try:
        known = path.read_bytes()
    except OSError:
        return  # not there, or no file: writing it says what is wrong
    if known == content:
        return
    try:
        rows = csv_rows(known.decode("utf-8-sig", "replace"))
    except csv.Error:
        rows = []
    what = "is there already, and is no sheet of these pairs"
    if rows and rows[0] == list(COLUMNS):
        what = "is another sheet, of which raters may have copies"
        if any(row[-1].strip() for row in rows[1:]):
            what = "has ratings, which a new sheet would replace"
    raise UsageError(f"{path} {what}. Name another one with --out.")


def _is_key_of(path: Path, items: Sequence[SheetItem]) -> bool:
    try:
        return list(read_key(path).values()) == list(items)
    except UsageError:
        return False


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula: models write what people open."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _key_bytes(items: Iterable[SheetItem], *, source: str, seed: int) -> bytes:
    content = {
        "promptfuzz": KIND,
        "format": FORMAT,
        "source": source,
        "seed": seed,
        "items": [each._asdict() for each in items],
    }
    return encoded(content, indent=1) + b"\n"


def read_key(path: Path) -> dict[str, SheetItem]:
    """The items of a sheet, by ID.

    Raises:
        UsageError: The file cannot be read, or is no key.
    """
    try:
        content = json.loads(read_text(path))
        if content["promptfuzz"] == KIND and content["format"] == FORMAT:
            return {each["id"]: SheetItem(**each) for each in content["items"]}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path} is no key of a sheet ({type(error).__name__}: {error}).") from None
    raise UsageError(f"{path} is no key of a sheet, or one of another version.")


def read_ratings(path: Path, key: Mapping[str, SheetItem]) -> dict[str, int]:
    """What one person rated: a sheet that was filled in; items without a rating are left out.

    Args:
        path: CSV, TSV, JSON or JSON Lines with the columns ``item`` and ``rating``.
        key: The items of the sheet.

    Raises:
        UsageError: It cannot be read, lacks a column, or rates something else; the message names the line.
    """
    data = Dataset.find(path, str(path))
    with cells_up_to(path.stat().st_size):  # a sheet has answers of any length
        rows = list(data.rows())
    found: dict[str, int] = {}
    places: dict[str, str] = {}
    for row in rows:
        if isinstance(row.value, str) or not {"item", "rating"} <= row.value.keys():
            data.refuse(
                "has no columns item and rating. Fill in the sheet that `judge sample` wrote", row.place
            )
        item = str(row.value["item"]).strip()
        if item not in key:
            data.refuse(
                f"rates {item!r:.40}, which is not on the sheet. Use the key of this sheet", row.place
            )
        if item in places:
            data.refuse(f"rates {item} again ({places[item]}). Leave one of both", row.place)
        places[item] = row.place
        rating = str("" if row.value["rating"] is None else row.value["rating"]).strip()
        if rating and rating not in map(str, RATINGS):
            data.refuse(f"rates {item} {rating!r:.40}. Write 3, 2 or 1, or leave it empty", row.place)
        if rating:
            found[item] = int(rating)
    if not found:
        data.refuse("it has no rating: the column rating is empty. Write 3, 2 or 1 into it")
    return found
