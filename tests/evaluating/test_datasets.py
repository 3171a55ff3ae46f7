"""Data files as inputs: what is read from real files, and what each bad one is refused with."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_promptfuzz import Prompt, Session, UsageError, evaluate
from pytest_promptfuzz.evaluating.datasets import Dataset
from pytest_promptfuzz.evaluating.evaluate import read_inputs
from pytest_promptfuzz.storage.answers import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

TICKET = Prompt("Sort the ticket as BILLING or OTHER.\n\nTicket:\n{ticket}")
TWO = Prompt("Is {one} larger than {two}? Answer yes or no.")
ROWS = [
    {"id": "charged", "ticket": "I was charged twice; help!", "expected": "BILLING", "lang": "en"},
    {"id": "two lines", "ticket": 'Crash,\n"again"', "expected": "OTHER", "lang": "de"},
]
HEADER = "id,ticket,expected,lang\n"
TABLE = HEADER + 'charged,I was charged twice; help!,BILLING,en\ntwo lines,"Crash,\n""again""",OTHER,de\n'
FILES = {
    "a.csv": TABLE,
    "windows.csv": TABLE.replace("\n", "\r\n"),
    "bom.csv": "\ufeff" + TABLE,
    "empty-lines.csv": "\n" + TABLE.replace("two lines", "\n,,,\ntwo lines") + "\n \n,,,\n\n",
    "spaces.csv": TABLE.replace(HEADER, "id, ticket , expected,lang\n"),
    "pandas.csv": ",id,ticket,expected,lang\n"
    '0,charged,I was charged twice; help!,BILLING,en\n1,two lines,"Crash,\n""again""",OTHER,de\n',
    "a.tsv": "id\tticket\texpected\tlang\ncharged\tI was charged twice; help!\tBILLING\ten\n"
    'two lines\t"Crash,\n""again"""\tOTHER\tde',
    "semicolon.CSV": "id;ticket;expected;lang\n"
    'charged;"I was charged twice; help!";BILLING;en\ntwo lines;"Crash,\n""again""";OTHER;de\n',
    "quoted-header.csv": 'id;ticket;expected;"lang"\n'
    'charged;"I was charged twice; help!";BILLING;en\ntwo lines;"Crash,\n""again""";OTHER;de\n',
    "tab.csv": "id\tticket\texpected\tlang\ncharged\tI was charged twice; help!\tBILLING\ten\n"
    'two lines\t"Crash,\n""again"""\tOTHER\tde',
    "a.jsonl": "\n".join(map(json.dumps, ROWS)),
    "a.ndjson": "\ufeff" + "".join(f"{json.dumps(each)} \r\n\n" for each in ROWS),
    "a.json": json.dumps(ROWS, indent=2) + "\n",
    "small.json": json.dumps(ROWS, separators=(",", ":")),
}


def written(folder: Path, name: str, content: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return file


def rows(file: Path) -> list[Any]:
    return [each.value for each in Dataset.find(file, "here").rows()]


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_inputs(tmp_path: Path, name: str) -> None:
    found = read_inputs(written(tmp_path, name, FILES[name]), TICKET, "here")
    assert [each.name for each in found] == ["'charged'", "'two lines'"]
    assert [each.values for each in found] == [{"ticket": each["ticket"]} for each in ROWS]
    assert [each.value for each in found] == ROWS, "further columns are kept"
    assert [each.expected for each in found] == ["BILLING", "OTHER"]


def test_a_folder_has_an_input_a_file(tmp_path: Path) -> None:
    for name, text in (("b.txt", "Second\r\nletter"), ("a.md", "First ü"), (".hidden", "\0")):
        written(tmp_path, name, text)
    found = read_inputs(tmp_path, TICKET, "here", {"b": "OTHER"})
    assert [(each.name, each.value, each.values, each.expected) for each in found] == [
        ("'a'", "First ü", {"ticket": "First ü"}, None),
        ("'b'", "Second\nletter", {"ticket": "Second\nletter"}, "OTHER"),
    ]


def test_without_ids_rows_are_numbered_as_those_of_a_list(tmp_path: Path) -> None:
    table = written(tmp_path, "a.csv", "two,one,note\nan ant,a cat,x\na house,a cat,y\n")
    texts = written(tmp_path, "a.jsonl", '"one text"\n{"ticket": "another"}\n')
    listed = read_inputs([{"one": "a cat", "two": "an ant"}, {"one": "a cat", "two": "a house"}], TWO, "here")
    assert [each.name for each in read_inputs(table, TWO, "here")] == [each.name for each in listed]
    assert [each.put_into(TWO).text for each in read_inputs(table, TWO, "here")] == [
        each.put_into(TWO).text for each in listed
    ]
    assert [each.name for each in read_inputs(texts, TICKET, "here")] == [
        "1 ('one text')",
        "2 (ticket='another')",
    ]


@pytest.mark.parametrize(
    ("template", "value", "shown"),
    [
        ("{x}", {"paid": True, "note": "ä"}, '{"paid": true, "note": "ä"}'),
        ("{x}", [1, None], "[1, null]"),
        ("{x}", True, "true"),
        ("{x}", None, "null"),
        ("{x}", 3, "3"),
        ("{x:.2f}", 1.5, "1.50"),
        ("{x[note]}", {"note": "hi"}, "hi"),
        ("{{ x.note }}", {"note": "hi"}, "hi"),
        ("%(x)s", {"a": []}, '{"a": []}'),
    ],
)
def test_values_of_json_are_shown_as_json(tmp_path: Path, template: str, value: object, shown: str) -> None:
    prompt = Prompt(f"Look: {template}")
    (found,) = read_inputs(written(tmp_path, "a.jsonl", json.dumps({"x": value})), prompt, "here")
    assert found.put_into(prompt).text == f"Look: {shown}"
    assert found.value == {"x": value}


def test_only_slots_are_filled_and_no_tag(tmp_path: Path) -> None:
    prompt = Prompt("Answer as <label> for $label: {ticket}")
    (found,) = read_inputs(written(tmp_path, "a.csv", "ticket,label\nHelp!,SECRET\n"), prompt, "here")
    assert found.put_into(prompt).text == "Answer as <label> for $label: Help!"


# Gold answers.


@pytest.mark.parametrize(
    ("content", "expected", "golds"),
    [
        ("ticket,expected\na,yes\nb,\n", None, ["yes", None]),
        ("ticket,expected,label\na,yes,no\n", "column:label", ["no"]),
        ("ticket,expected,label\na,yes,no\n", "column: expected ", ["yes"]),
        ("ticket\na\nb\n", "yes", ["yes", "yes"]),
        ("ticket\na\nb\n", ["yes", None], ["yes", None]),
        ("ticket,id\na,1\nb,2\n", {"2": "no"}, [None, "no"]),
        ("ticket,id\na,1\nb,2\n", ["yes", "no"], ["yes", "no"]),
    ],
)
def test_gold_answers_stand_in_a_column_or_are_given(
    tmp_path: Path, content: str, expected: Any, golds: list[Any]
) -> None:
    found = read_inputs(written(tmp_path, "a.csv", content), TICKET, "here", expected)
    assert [each.expected for each in found] == golds


def test_gold_answers_of_json_may_be_any_json(tmp_path: Path) -> None:
    lines = (
        '{"ticket": "a", "expected": {"city": "Lyon"}}\n{"ticket": "b", "expected": null}\n{"ticket": "c"}\n'
    )
    found = read_inputs(written(tmp_path, "a.jsonl", lines), TICKET, "here")
    assert [each.expected for each in found] == [{"city": "Lyon"}, None, None]


def test_a_slot_named_expected_is_filled_and_no_gold_answer(tmp_path: Path) -> None:
    prompt = Prompt("Is {ticket} the same as {expected}?")
    file = written(tmp_path, "a.csv", "ticket,expected,gold\na,b,no\n")
    (found,) = read_inputs(file, prompt, "here")
    assert (found.values, found.expected) == ({"ticket": "a", "expected": "b"}, None)
    assert read_inputs(file, prompt, "here", "no")[0].expected == "no"
    assert read_inputs(file, prompt, "here", "column:gold")[0].expected == "no"


# Bad files: each is refused in one message.


BAD = {
    "ragged": (
        "a.csv",
        "ticket,lang\na,en\nb,en,more\n",
        "line 3 has 3 cells and the header 2 columns: 'b, en, more'.",
    ),
    "short": ("a.csv", 'ticket,lang\n"a\nb",en\nc\n', "line 4 has 1 cell and the header 2 columns: 'c'. Add"),
    "latin 1": (
        "a.csv",
        "ticket\nfine\nüber\n".encode("latin-1"),
        (
            "line 3 holds the byte 0xFC at position 1, which is not UTF-8. Save the file as UTF-8 (in Excel: CSV UTF-8), or "
            "convert it, here from WINDOWS-1252: iconv -f WINDOWS-1252 -t UTF-8 a.csv > utf8-a.csv"
        ),
    ),
    "utf-16": ("a.csv", "ticket\na\n".encode("utf-16"), "line 1 holds the byte 0x"),
    "utf-16 named": ("a.csv", b"\xff\xfet\0i\0", "iconv -f UTF-16 "),
    "nul": ("a.jsonl", '"a"\n"b\0"\n', "line 2 holds a NUL byte at position 3"),
    "same id": ("a.csv", "id,ticket\n7,a\n8,b\n7,c\n", "line 4 has the ID '7', and so has line 2."),
    "same id in JSON": (
        "a.json",
        '[{"id": 7, "ticket": "a"},\n{"id": "7"}]',
        "item 2 (line 2) has the ID '7'",
    ),
    "empty id": ("a.csv", "id,ticket\n,a\n", "line 2 has an empty ID. Write"),
    "id that is a list": ("a.jsonl", '{"id": [1], "ticket": "a"}', "line 1 has the ID [1]. Write a text"),
    "id that is true": ("a.jsonl", '{"id": true, "ticket": "a"}', "line 1 has the ID true. Write a text"),
    "later without id": (
        "a.jsonl",
        '{"id": 1, "ticket": "a"}\n{"ticket": "a"}',
        "line 2 has no ID, and the rows before it have one.",
    ),
    "later with id": (
        "a.jsonl",
        '{"ticket": "a"}\n{"ticket": "a"}\n{"id": 1, "ticket": "a"}',
        "line 3 has the ID '1', and the rows before it have none.",
    ),
    "same columns": (
        "a.csv",
        "ticket,a, ticket\n",
        "line 1 names the columns 1 and 3 alike, 'ticket'. Rename",
    ),
    "same keys": ("a.jsonl", '{"ticket": "a", "ticket": "b"}', "line 1 names 'ticket' twice in one object."),
    "empty table": ("a.csv", "\n\n", "it is empty. Write a header"),
    "empty bytes": ("a.tsv", "", "it is empty. Write a header"),
    "header only": ("a.csv", "ticket\n\n", "it has a header and no rows. Write a row"),
    "empty lines": ("a.jsonl", "\n \n", "it is empty. Write an object for each input"),
    "empty list": ("a.json", "[\n]\n", "its list is empty."),
    "empty JSON": ("a.json", " ", "it is empty. Write a list of objects"),
    "no JSON": (
        "a.jsonl",
        '{"ticket": "a"}\n{"ticket" "b"}\n',
        "line 2 is no JSON (Expecting ':' delimiter at column 11)",
    ),
    "bare text": (
        "a.jsonl",
        "help\n",
        """line 1 is no JSON (Expecting value at column 1): 'help'. Write an object""",
    ),
    "no object": ("a.jsonl", "17\n", "line 1 is no object: 17. Write an object"),
    "list in a line": ("a.jsonl", "[1, 2]\n", "line 1 is a list: [1, 2]."),
    "list in lines": ("a.jsonl", '[\n{"ticket": "a"}\n]', "Name a file that holds a list .json."),
    "two in a line": ("a.jsonl", '{"ticket": "a"} {"ticket": "b"}', "line 1 has more behind its JSON: "),
    "nan": ("a.jsonl", '{"ticket": NaN}', "line 1 holds NaN, which is no JSON."),
    "deep": ("a.jsonl", "[" * 200_000, "line 1 is no JSON (too large)"),
    "long number": ("a.jsonl", '{"ticket": ' + "9" * 5000 + "}", "line 1 is no JSON (too large)"),
    "object in place of a list": (
        "a.json",
        '{"ticket": "a"}',
        """it begins with '{"ticket": "a"}'. Write a list""",
    ),
    "lines in place of a list": ("a.json", '{"ticket": "a"}\n{"ticket": "b"}', "or name the file .jsonl"),
    "no comma": ("a.json", '[{"ticket": "a"}\n{"ticket": "b"}]', "item 1 (line 1) is followed by"),
    "list left open": ("a.json", '[{"ticket": "a"}', "item 1 (line 1) is followed by the end of the file."),
    "comma at the end": ("a.json", '[{"ticket": "a"},\n]', "item 2 (line 2) is no JSON (Expecting value"),
    "two lists": ("a.json", '[{"ticket": "a"}]\n[]', "it goes on behind its list with '[]'"),
    "number in a list": ("a.json", '[{"ticket": "a"}, 3]', "item 2 (line 1) is no object: 3."),
    "open quote": ("a.csv", 'ticket\na\n"b\nc\n', "line 3 begins a row with a quote that is never closed."),
    "text behind a quote": (
        "a.csv",
        'ticket\n"a" b\n',
        "line 2 has text behind the closing quote of a cell.",
    ),
    "long cell": (
        "a.csv",
        f"ticket\n{'x' * 140_000}\n",
        "line 2 begins a row with a cell of more than 131,072 characters",
    ),
    "old line ends": ("a.csv", "ticket\ra\rb\r", "line 1 has a carriage return outside quotes."),
    "missing column": (
        "a.csv",
        "id,tiket,lang\n1,a,en\n",
        (
            "the header has no column 'ticket' for the slot of the prompt. Columns: 'id', 'tiket', 'lang'. Did you mean "
            "'tiket'?"
        ),
    ),
    "missing key": (
        "a.jsonl",
        '{"ticket": "a"}\n{"text": "b"}',
        "line 2 has no column 'ticket' for the slot of the prompt. Columns: 'text'.",
    ),
    "no keys": ("a.jsonl", "{}", "line 1 has no column 'ticket' for the slot of the prompt. It has none."),
    "spreadsheet": (
        "a.xlsx",
        b"PK\3\4",
        "the ending '.xlsx' is no format that can be read. Save the data as one of .csv",
    ),
    "control character": ("a.jsonl", '{"ticket": "a\\u0000"}', "line 1: "),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_refused_before_anything_is_asked(tmp_path: Path, kind: str) -> None:
    name, content, message = BAD[kind]
    asked: list[str] = []
    with pytest.raises(UsageError) as caught:
        evaluate(TICKET, asked.append, inputs=written(tmp_path, name, content))
    said = str(caught.value)
    assert asked == []
    assert said.startswith("evaluate: inputs=")
    assert name in said.partition(": ")[2]
    assert message in said
    assert "\n" not in said


def test_a_bad_slot_is_named_with_its_row(tmp_path: Path) -> None:
    prompt = Prompt("Costs {price:.2f}.")
    file = written(tmp_path, "a.csv", "price\n3\n")
    with pytest.raises(UsageError, match=r"line 2: the slot \{price:\.2f\} cannot show the value '3'"):
        read_inputs(file, prompt, "here")


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (
            "column:lable",
            "names a column that is not there. Columns: 'ticket', 'expected', 'label'. Did you mean 'label'",
        ),
        ("yes", "the header has the column 'expected', and expected= is given as well."),
        (["yes"], "the header has the column 'expected', and expected= is given as well."),
    ],
)
def test_gold_answers_that_do_not_fit_are_refused(tmp_path: Path, expected: Any, message: str) -> None:
    file = written(tmp_path, "a.csv", "ticket,expected,label\na,yes,no\n")
    with pytest.raises(UsageError, match=re.escape(message)):
        read_inputs(file, TICKET, "here", expected)


def test_given_gold_answers_must_be_as_many_as_the_rows(tmp_path: Path) -> None:
    file = written(tmp_path, "a.csv", "ticket\na\nb\n")
    with pytest.raises(UsageError, match=r"1 gold answer for 2 inputs"):
        read_inputs(file, TICKET, "here", ["yes"])
    with pytest.raises(UsageError, match=r"is a mapping, and inputs= a list"):
        read_inputs(file, TICKET, "here", {"a": "yes"})


def test_one_text_does_not_fill_two_slots(tmp_path: Path) -> None:
    written(tmp_path, "a.txt", "an ant")
    with pytest.raises(
        UsageError, match=r"file 'a\.txt' is one text \('an ant'\), and the prompt has 2 slots"
    ):
        read_inputs(tmp_path, TWO, "here")
    with pytest.raises(UsageError, match="the prompt has no slot to put them in"):
        read_inputs(tmp_path, Prompt("Say hello."), "here")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((".gitkeep",), "the folder has no files. Put a text file into it for each input"),
        (("a.txt", "a.md"), "file 'a.txt' has the ID 'a', and so has file 'a.md'."),
        (("sub/a.txt",), "file 'sub' is a folder."),
    ],
)
def test_a_bad_folder_is_refused(tmp_path: Path, names: tuple[str, ...], message: str) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        written(tmp_path, name, "text")
    with pytest.raises(UsageError, match=re.escape(message)):
        read_inputs(tmp_path, TICKET, "here")


def test_a_file_of_a_folder_in_another_encoding_is_named(tmp_path: Path) -> None:
    written(tmp_path, "a.txt", b"fine\n\xe9")
    with pytest.raises(UsageError, match=r"file 'a\.txt': line 2 holds the byte 0xE9"):
        read_inputs(tmp_path, TICKET, "here")


def test_a_missing_file_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "cases.csv", "ticket\na\n")
    (tmp_path / "tests").mkdir()

    def said(given: Any, folder: Path | None = None) -> str:
        with pytest.raises(UsageError) as caught:
            read_inputs(given, TICKET, "here", None, folder)
        return str(caught.value)

    assert said("case.csv").startswith(
        "here: inputs='case.csv': there is no such file or folder. We looked in '"
    )
    assert said("case.csv").endswith("Did you mean 'cases.csv'?")
    assert "The folder 'none' does not exist either." in said("none/case.csv")
    assert "has no data files" in said("x.csv", tmp_path / "tests")
    moved = said("cases.csv", tmp_path / "tests")
    assert "A relative path starts at the folder of the test" in moved
    assert repr(os.path.join("..", "cases.csv")) in moved  # noqa: PTH118 - as people write it
    assert "If it is a text, write a list, ['hello']." in said("hello")
    assert "is one text; write a list" in said("hello you")
    assert "there is no such file" in said("x" * 5000 + ".csv")


def test_paths_start_at_the_folder_that_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "cases.csv", "ticket\na\n")
    monkeypatch.chdir(tmp_path)
    assert len(read_inputs("cases.csv", TICKET, "here")) == 1
    monkeypatch.chdir(tmp_path.parent)
    assert len(read_inputs("cases.csv", TICKET, "here", None, tmp_path)) == 1
    assert len(read_inputs(tmp_path / "cases.csv", TICKET, "here", None, tmp_path / "other")) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a named pipe")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(UsageError, match="it cannot be read"):
        read_inputs(tmp_path / "a.csv", TICKET, "here")


def test_rows_are_given_before_the_rest_is_read(tmp_path: Path) -> None:
    for name, begin in (("a.csv", "ticket\nfirst\n"), ("a.jsonl", '{"ticket": "first"}\n')):
        reading = Dataset.find(written(tmp_path, name, begin.encode() + b"\xff\n"), "here").rows()
        assert next(reading).value == {"ticket": "first"}
        with pytest.raises(UsageError, match="0xFF"):
            next(reading)


def test_evaluate_takes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "a.csv", TABLE)
    result = evaluate(
        TICKET,
        lambda prompt: "BILLING",
        inputs="a.csv",
        mutations=2,
        controls=0,
        session=Session(store=MemoryStore()),
    )
    assert result.cases == ("'charged'", "'two lines'")
    assert result.gold is not None
    assert result.gold.accuracy == 0.5


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)


@given(
    st.lists(st.tuples(CELLS, CELLS).filter(lambda each: any(map(str.strip, each))), min_size=1, max_size=5)
)
@settings(deadline=None)
def test_what_csv_and_json_write_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    import csv

    folder = tmp_path_factory.mktemp("data")
    records = [{"one": one, "two": two} for one, two in pairs]
    for separator in ",;\t":
        with (folder / "a.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["one", "two"], delimiter=separator)
            writer.writeheader()
            writer.writerows(records)
        assert rows(folder / "a.csv") == records
    written(folder, "a.json", json.dumps(records, ensure_ascii=False))
    assert rows(folder / "a.json") == records
    written(folder, "a.jsonl", "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records))
    assert rows(folder / "a.jsonl") == records
