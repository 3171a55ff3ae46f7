"""``promptfuzz judge``: blind sheets, the agreement of raters, and what is kept of a judge."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import evaluate, judge
from pytest_promptfuzz.cli.judge import _median
from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.judging.measurements import FILE, read_measurements
from pytest_promptfuzz.judging.model_judge import VERSION
from pytest_promptfuzz.reporting.model import report_test
from pytest_promptfuzz.studies.cells import write_cells
from tests.studies.conftest import PROMPT
from tests.studies.test_cells import cell

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., tuple[int, str, str]]

ANSWERS = [
    ("Returns are free for 14 days.", "You can return it free of charge for 14 days."),
    ("Returns are free for 14 days.", "Returns are free for 30 days."),
    ("Returns are free for 14 days.", "=Returns are free"),
    ("We open at nine.", "We open at nine o'clock."),
    ("We open at nine.", "We open at ten."),
    ("We open at nine.", "On Sundays we stay closed."),
]
OUTCOMES = ["equivalent", "deviation", "minor", "equivalent", "deviation", "undecided"]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in a folder with cells of a study."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    cells = []
    for number, (before, after) in enumerate(ANSWERS):
        name = str(number)
        cells.append(cell(operator="", outcome="baseline", input=name, answer=before, model="secret-model"))
        cells.append(
            cell(input=name, answer=after, model="secret-model", outcome=OUTCOMES[number], reason="judge")
        )
        cells.append(cell(input=name, answer=before, model="secret-model", operator="same"))
    write_cells(Path("cells.csv"), cells)

    def run(*argv: str) -> tuple[int, str, str]:
        code = main(["judge", *argv])
        done = capsys.readouterr()
        return code, done.out, done.err

    return run


def sheet(path: str = "sheet.csv") -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def key() -> dict[str, dict[str, object]]:
    return {each["id"]: each for each in json.loads(Path("sheet.key.json").read_text("utf-8"))["items"]}


def rate(name: str, ratings: dict[str, object], *, delimiter: str = ",", encoding: str = "utf-8") -> None:
    with Path(name).open("w", encoding=encoding, newline="") as file:
        rows = csv.writer(file, delimiter=delimiter)
        rows.writerow(["item", "rating", "why"])
        rows.writerows([item, rating, ""] for item, rating in ratings.items())


def test_a_sheet_is_blind_and_its_key_is_not(command: Run) -> None:
    code, said, _ = command("sample", "cells.csv")
    assert code == 0
    assert said.startswith("Wrote 6 of 6 pairs to sheet.csv, and the key to sheet.key.json.")
    raw = Path("sheet.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    for hidden in ("secret-model", "synonym", "deviation", "baseline", "judge"):
        assert hidden.encode() not in raw
    rows, known = sheet(), key()
    assert [*rows[0]] == ["item", "prompt", "answer_a", "answer_b", "scale", "rating"]
    assert {each["rating"] for each in rows} == {""}
    assert {known[each["item"]]["model"] for each in rows} == {"secret-model"}
    first = [known[each["item"]]["baseline"] == each["answer_a"] for each in rows]
    assert {*first} == {True, False}
    assert [{each["answer_a"].lstrip("'"), each["answer_b"].lstrip("'")} for each in rows] != [
        {*pair} for pair in ANSWERS
    ]
    # What begins like a formula is none.
    assert [each for each in rows if "'=Returns are free" in each.values()]


def test_a_seed_draws_the_same_items_and_another_seed_others(command: Run) -> None:
    drawn = {}
    for seed in ("0", "0", "1"):
        for each in (Path("sheet.csv"), Path("sheet.key.json")):
            each.unlink(missing_ok=True)
        assert command("sample", "cells.csv", "-n", "4", "--seed", seed)[0] == 0
        drawn.setdefault(seed, []).append(sheet())
    assert drawn["0"][0] == drawn["0"][1] != drawn["1"][0]
    assert len(drawn["0"][0]) == 4


def test_ratings_are_not_overwritten(command: Run) -> None:
    assert command("sample", "cells.csv")[0] == 0
    path = Path("sheet.csv")
    path.write_bytes(path.read_bytes().replace(b",\r\n", b",3\r\n", 1))
    rated = path.read_bytes()
    code, _, why = command("sample", "cells.csv")
    assert (code, path.read_bytes()) == (2, rated)
    assert "sheet.csv has ratings, which a new sheet would replace. Name another one with --out." in why
    assert command("sample", "cells.csv", "--out", "other.csv")[0] == 0


def test_what_a_sheet_that_was_handed_out_needs_is_not_overwritten(command: Run) -> None:
    assert command("sample", "cells.csv", "--out", "first.csv")[0] == 0
    held = {name: Path(name).read_bytes() for name in ("first.csv", "first.key.json", "cells.csv")}
    for argv, said in (
        (("--out", "first.csv"), "first.csv is another sheet, of which raters may have copies."),
        (
            ("--out", "second.csv", "--key", "first.key.json"),
            "first.key.json is there already, and is not the key of",
        ),
        (("--out", "second.csv", "--key", "cells.csv"), "cells.csv is there already, and is not the key of"),
        (("--out", "cells.csv"), "cells.csv is there already, and is no sheet of these pairs."),
    ):
        code, _, why = command("sample", "cells.csv", "--seed", "1", *argv)
        assert (code, said in why) == (2, True)
        assert {name: Path(name).read_bytes() for name in held} == held
        assert not Path("second.csv").exists()


def test_the_same_sheet_may_be_drawn_again_and_a_lost_key_with_it(command: Run) -> None:
    assert command("sample", "cells.csv")[0] == 0
    held = (Path("sheet.csv").read_bytes(), Path("sheet.key.json").read_bytes())
    assert command("sample", "cells.csv")[0] == 0
    Path("sheet.key.json").unlink()
    assert command("sample", "cells.csv")[0] == 0
    assert (Path("sheet.csv").read_bytes(), Path("sheet.key.json").read_bytes()) == held


def test_the_prompts_of_a_study_are_on_its_sheet(command: Run) -> None:
    Path("triage.txt").write_text(PROMPT, encoding="utf-8")
    rows = "".join(f"{at},I was charged {at + 2} times.,billing\n" for at in range(4))
    Path("tickets.csv").write_text("id,ticket,expected\n" + rows, encoding="utf-8")
    Path("study.toml").write_text(
        'name = "tickets"\nruns = 3\noperators = ["upper-case"]\n[[task]]\nname = "triage"\n'
        'prompt = "triage.txt"\ninputs = "tickets.csv"\n[[model]]\ntarget = "simulated?noise=0.6"\n',
        encoding="utf-8",
    )
    assert main(["study", "study.toml", "--out", "asked.csv"]) == 0
    assert command("sample", "asked.csv", "--study", "study.toml")[0] == 0
    prompts = {each["prompt"].rpartition("Ticket: ")[2].strip() for each in sheet()}
    assert len(prompts) > 1
    assert prompts <= {f"I was charged {at} times." for at in range(2, 6)}
    code, _, why = command("sample", "cells.csv", "--study", "study.toml")
    assert (code, "it has no task 'triage' with the input" in why) == (2, True)


def test_a_report_is_a_source_too(command: Run) -> None:
    @judge("kind")
    def kind(baseline: str, response: str) -> int:
        return 2

    def answer(prompt: str) -> str:
        return (
            "All is well, and we are fine." if prompt.isupper() else "Nothing to complain about here today."
        )

    result = evaluate("How are you?", answer, operators=["upper-case"], mutations=1, judge=kind)
    report = report_test(result, test="test_mood")
    for content in (report, [report]):
        Path("run.json").write_text(json.dumps(content), encoding="utf-8")
        assert command("sample", "run.json", "--judged")[0] == 0
        ((item, found),) = key().items()
        assert (found["reason"], found["outcome"], found["prompt"]) == ("judge", "minor", "How are you?")
        assert item == sheet()[0]["item"]


def test_raters_agree_with_each_other_and_with_what_was_found(command: Run) -> None:
    command("sample", "cells.csv")
    known = key()
    true = {item: {"equivalent": 3, "minor": 2}.get(str(each["outcome"]), 1) for item, each in known.items()}
    rate("anna.csv", true)
    changed = next(item for item, rating in true.items() if rating == 3)
    left_out = next(item for item, rating in true.items() if rating == 2)
    rate("ben.csv", {**true, changed: 2, left_out: ""}, delimiter=";", encoding="utf-8-sig")
    code, said, _ = command("agree", "anna.csv", "ben.csv", "--json")
    found = json.loads(said)
    assert code == 0
    assert [each["raters"] for each in found["agreement"]] == [["anna", "ben"], ["outcomes", "people"]]
    assert (found["agreement"][0]["items"], found["agreement"][0]["exact"]["value"]) == (5, 0.8)
    assert found["agreement"][0]["difference"]["value"] == pytest.approx(0.2)
    code, said, _ = command("agree", "anna.csv", "ben.csv", "--level", "nominal", "--weights", "linear")
    assert (
        "| raters | items | equal % | kappa (linear) | alpha (nominal) | Spearman | mean difference |" in said
    )
    assert "| anna - ben | 5 | 80.0 [" in said
    assert "| outcomes - people | 5 |" in said  # of the six items that were rated
    assert "It left 1 item undecided, so the row outcomes is without it." in said
    assert "with 95 % confidence" in said


@pytest.mark.parametrize("answer", ["one\rtwo", "very " * 30_000], ids=["cr", "long"])
def test_a_sheet_with_any_answer_is_filled_in_and_read(command: Run, answer: str) -> None:
    pair = [cell(operator="", outcome="baseline", answer=answer), cell(answer="other", outcome="deviation")]
    write_cells(Path("cells.csv"), pair)
    assert command("sample", "cells.csv")[0] == 0
    write_cells(Path("others.csv"), [pair[0], pair[1]._replace(answer="something else")])
    assert "sheet.csv is another sheet, of which" in command("sample", "others.csv", "--out", "sheet.csv")[2]
    path = Path("sheet.csv")
    path.write_bytes(path.read_bytes().removesuffix(b"\r\n") + b"1\r\n")
    code, said, why = command("agree", "sheet.csv", "--json")
    assert (code, why) == (0, "")
    assert json.loads(said)["agreement"][0]["items"] == 1


def test_a_judge_is_measured_and_kept(command: Run) -> None:
    command("sample", "cells.csv")
    rate("anna.csv", {item: 3 if at % 2 else 1 for at, item in enumerate(key())})
    code, said, why = command("agree", "anna.csv", "--judge", "simulated", "--save")
    assert (code, why) == (0, "")
    assert "| simulated - people | 6 |" in said
    assert "**What simulated said, by what people said**" in said
    kept = read_measurements(Path(FILE))["simulated"]
    assert (kept.items, kept.raters, kept.questions, kept.errors.items) == (6, 1, VERSION, 6)
    assert command("agree", "anna.csv", "--judge", "simulated", "--save", "other.json", "--json")[0] == 0
    assert read_measurements(Path("other.json")) == read_measurements(Path(FILE))
    # What is kept is of one kind, whatever is shown.
    command("agree", "anna.csv", "--judge", "simulated", "--level", "nominal", "--save")
    assert read_measurements(Path(FILE))["simulated"] == kept


def test_people_are_one_by_their_median() -> None:
    people = {"a": {"x": 3, "y": 1}, "b": {"x": 2, "y": 3}, "c": {"x": 3}}
    assert _median(people) == {"x": 3, "y": 1}


WRONG = {
    "an item of another sheet": (
        lambda items: {**dict.fromkeys(items, 3), "p0000000": 1},
        "which is not on the sheet",
    ),
    "a rating out of range": (lambda items: {items[0]: 4}, "line 2 rates {first} '4'. Write 3, 2 or 1"),
    "a word": (lambda items: {items[0]: "same"}, "rates {first} 'same'"),
    "no ratings": (lambda items: dict.fromkeys(items, ""), "it has no rating"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_ratings_are_refused(command: Run, kind: str) -> None:
    command("sample", "cells.csv")
    make, said = WRONG[kind]
    items = [*key()]
    rate("anna.csv", make(items))
    code, shown, why = command("agree", "anna.csv", "--judge", "simulated")
    assert (code, shown) == (2, "")
    assert said.format(first=items[0]) in why
    assert why.startswith("promptfuzz judge agree: anna.csv: ")
    assert len(why.splitlines()) == 1


FILES = {
    "twice": ("item,rating\n{0},3\n{0},3\n", "line 3 rates {0} again (line 2). Leave one of both"),
    "ragged": ("item,rating\n{0},3,4\n", "line 2 has 3 cells and the header 2 columns"),
    "no column": ("item,score\n{0},3\n", "line 2 has no columns item and rating"),
    "another encoding": ("item,rating,why\n{0},3,schön\n", "which is not UTF-8. Save the file as UTF-8"),
    "empty": ("", "it is empty"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_no_filled_sheet_is_refused(command: Run, kind: str) -> None:
    command("sample", "cells.csv")
    item = next(iter(key()))
    content, said = FILES[kind]
    Path("anna.csv").write_bytes(content.format(item).encode("latin-1"))
    code, _, why = command("agree", "anna.csv", "--judge", "simulated")
    assert code == 2
    assert said.format(item) in why
    assert len(why.splitlines()) == 1


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["sample", "none.csv"], "there is no file of cells 'none.csv'"),
        (["sample", "none.json"], "none.json cannot be read"),
        (["sample", "."], ". holds no report"),
        (["sample", "cells.csv", "--out", "sheet.xlsx"], "--out sheet.xlsx: a sheet is a .csv file"),
        (
            ["sample", "same.csv"],
            "same.csv holds no two answers to a prompt and its mutation whose texts differ",
        ),
        (["sample", "cells.csv", "-n", "0"], "'0' is not a whole number of 1 or more"),
        (["agree", "none.csv", "--key", "none.json"], "none.json cannot be read"),
        (["agree", "anna.csv", "--key", "cells.csv"], "cells.csv is no key of a sheet"),
        (["agree", "anna.csv"], "--key: name the key of the sheet; beside anna.csv there is none"),
        (["agree", "anna.csv", "--save"], "--save keeps a judge's agreement: name it"),
        (["agree", "anna.csv", "--judge", "nobody:x", "--key", "k"], "judge='nobody:x' is no model"),
    ],
)
def test_wrong_usage_is_told(command: Run, argv: list[str], said: str) -> None:
    write_cells(Path("same.csv"), [cell(operator="", outcome="baseline", answer="x"), cell(answer="x")])
    rate("anna.csv", {"p0": 3})
    code, _, why = command(*argv)
    assert code == 2
    assert said in why


def test_one_rater_alone_agrees_with_nobody(command: Run) -> None:
    cells = [cell(operator="", outcome="baseline", answer="x"), cell(answer="y", outcome="undecided")]
    write_cells(Path("open.csv"), cells)
    command("sample", "open.csv")
    (item,) = key()
    rate("anna.csv", {item: 3})
    code, _, why = command("agree", "anna.csv")
    assert (code, "one rater agrees with nobody" in why) == (2, True)
    code, _, why = command("agree", "anna.csv", "anna.csv")
    assert (code, "anna.csv is named twice" in why) == (2, True)
