"""The house: which room may import which, and the rules by which modules are cut and named (docs/architecture.md)."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pytest_promptfuzz

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(pytest_promptfuzz.__file__).parent
TABLE = PACKAGE.parent / "docs" / "architecture.md"
PURE = {"prompts", "mutations", "comparing", "stats", "searching", "results"}
IMPURE_MODULES = {
    "pytest",
    "_pytest",
    "openai",
    "anthropic",
    "random",
    "time",
    "socket",
    "subprocess",
    "httpx",
    "httpx2",
}
HEAVY = {
    "openai",
    "anthropic",
    "torch",
    "numpy",
    "jsonschema",
    "diskcache",
    "sentence_transformers",
    "onnxruntime",
    "tokenizers",
    "sacrebleu",
}


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            found.add(module)
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return found


def top_level_imports(tree: ast.Module) -> set[str]:
    body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return imports(ast.Module(body=list(body), type_ignores=[]))


@cache
def rooms() -> dict[str, set[str]]:
    """The table of docs/architecture.md: for each room those that it may import, whatever they import included."""
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in TABLE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    for_all = {
        name.strip("/").removesuffix(".py") for row in rows[:3] for name in re.findall(r"`([\w./]+)`", row[0])
    }
    may = {row[0].strip("`/"): set(row[2].split()) for row in rows[3:]}
    reach = closure(may)
    assert [name for name in may if name in reach[name]] == [], "the table itself has a circle"
    return {name: found | for_all for name, found in reach.items()} | dict.fromkeys(for_all, for_all)


def closure(of: dict[str, set[str]]) -> dict[str, set[str]]:
    """For each name those that it reaches."""
    reached = {name: set(targets) for name, targets in of.items()}
    for middle in of:
        for targets in reached.values():
            if middle in targets:
                targets.update(reached[middle])
    return reached


def test_imports_point_one_way() -> None:
    unknown = {room(path) for path in trees()} - {"__init__", *rooms()}
    assert not unknown, f"not rooms of docs/architecture.md: {sorted(unknown)}"
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path, tree in trees().items()
        if room(path) != "__init__"
        for name in sorted(imports(tree))
        if (parts := name.split("."))[0] == "pytest_promptfuzz" and len(parts) > 1 and parts[1] in rooms()
        if parts[1] not in {room(path), *rooms()[room(path)]}
    ]
    assert wrong == [], (
        "move what is needed to a room that both may import, or hand it in (docs/architecture.md)"
    )


def test_rooms_keep_to_themselves() -> None:
    wrong = []
    for path, tree in trees().items():
        here, where = room(path), path.relative_to(PACKAGE)
        roots = {name.split(".")[0] for name in imports(tree)}
        if here != "plugin" and roots & {"pytest", "_pytest"}:
            wrong.append(f"{where}: only plugin/ imports pytest")
        if here in PURE and roots & IMPURE_MODULES:
            wrong.append(f"{where}: {here}/ does no I/O and reads no clock")
        if heavy := {name.split(".")[0] for name in top_level_imports(tree)} & HEAVY:
            wrong.append(f"{where}: import {', '.join(sorted(heavy))} where it is used, not at the top")
    assert wrong == []


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


@cache
def graph() -> dict[str, set[str]]:
    """For each module the modules that it imports, for types as well."""
    names = {name_of(path): path for path in trees()}
    found: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for node in ast.walk(trees()[path]):
            if isinstance(node, ast.ImportFrom) and node.module in names:
                for alias in node.names:
                    module = f"{node.module}.{alias.name}"
                    found[name].add(module if module in names else node.module)
        found[name] -= {name}
    return found


def circles(of: dict[str, set[str]]) -> list[list[str]]:
    """Modules that reach each other, smallest circles first."""
    reach = closure(of)
    found = {
        frozenset({each for each in reach[name] if name in reach[each]}) for name in of if name in reach[name]
    }
    return sorted((sorted(each) for each in found), key=len)


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]
    assert circles(graph()) == [], (
        "imports for types count: move what both need to a third module, or hand it in"
    )


# Small, and imported by one neighbour, for a reason: what pytest finds by its module, and what is registered.
OF_THEIR_OWN = {"plugin/hookspecs.py", "plugin/fixtures.py"}
REGISTERED = ("cli/", "mutations/operators/", "comparing/guards/", "comparing/formats/")


def test_a_small_module_is_part_of_the_one_that_uses_it() -> None:
    users: dict[str, set[str]] = {}
    for name, targets in graph().items():
        for target in targets:
            users.setdefault(target, set()).add(name)
    wrong = []
    for path in trees():
        where, name = path.relative_to(PACKAGE).as_posix(), name_of(path)
        if path.name == "__init__.py" or where in OF_THEIR_OWN or where.startswith(REGISTERED):
            continue
        near = [each for each in users.get(name, ()) if each.rpartition(".")[0] == name.rpartition(".")[0]]
        if (
            len(users.get(name, ())) == 1
            and near
            and len(path.read_text(encoding="utf-8").splitlines()) < 150
        ):
            wrong.append(f"{where}: only {near[0]} imports it")
    assert wrong == [], "put it there: a module under 150 lines with one user in its folder is part of that"


def test_a_folder_has_at_most_twenty_entries() -> None:
    folders = [each for each in PACKAGE.rglob("*") if each.is_dir() and "__pycache__" not in each.parts]
    entries = {
        folder.relative_to(PACKAGE).as_posix(): sum(each.name[0] not in "._" for each in folder.iterdir())
        for folder in folders
    }
    assert {name: count for name, count in entries.items() if count > 20} == {}, "make subfolders by subject"


def test_a_public_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = {}
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert twice == {}, "give each a name of its own"


def test_package_files_hold_only_the_public_api() -> None:
    wrong = [
        path.relative_to(PACKAGE).as_posix()
        for path, tree in trees().items()
        if path.name == "__init__.py" and path.parent not in {PACKAGE, PACKAGE / "plugin"}
        if len(tree.body) > 1 and not any(isinstance(each, ast.Assign) for each in tree.body)
    ]
    assert wrong == [], "an __init__.py is a docstring, or exports public names with __all__"


LONGEST_TABLE = 20


@cache
def names_in_code() -> set[str]:
    """Every name of a variable, field, argument or module: a text that is one stands for that, and is no word."""
    found: set[str] = set()
    for path, tree in trees().items():
        found.update(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.walk(tree):
            bound = (getattr(node, kind, None) for kind in ("id", "attr", "arg"))
            found.update(name for name in bound if isinstance(name, str))
    return found


def is_word(text: str) -> bool:
    """Whether a text is a word, a phrase or a pattern: no sentence that explains, and no name of the code."""
    explains = len(text.split()) > 6 and "|" not in text and re.search(r"\w[,.:;?]\s", f"{text} ")
    return not explains and not all(part in names_in_code() for part in text.split("."))


def tables_in(source: str) -> list[str]:
    """The names bound to values of more than twenty lines that are words, phrases or patterns for the most part."""
    found = []
    for node in ast.walk(ast.parse(source)):
        value = getattr(node, "value", None)
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not value or isinstance(value, ast.Subscript):
            continue
        if (node.end_lineno or 0) - node.lineno < LONGEST_TABLE:
            continue
        inner = list(ast.walk(value))
        constants = [each for each in inner if isinstance(each, ast.Constant | ast.JoinedStr)]
        longest = max(((each.end_lineno or 0) - each.lineno for each in constants), default=0)
        texts = [each.value for each in constants if isinstance(getattr(each, "value", None), str)]
        size = len("".join((ast.get_source_segment(source, value) or "").split()))
        share = sum(len("".join(text.split())) for text in texts if is_word(text)) / size
        few_names = sum(isinstance(each, ast.Name) for each in inner) <= len(texts)
        if longest >= LONGEST_TABLE or share > 0.9 or (share > 0.4 and few_names):
            found.append(ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target))
    return found


def word_tables(path: Path) -> list[str]:
    where = path.relative_to(PACKAGE).as_posix()
    return [f"{where}:{name}" for name in tables_in(path.read_text(encoding="utf-8"))]


LINES = range(LONGEST_TABLE + 1)


def lines(before: str, line: str, after: str) -> str:
    """Source with a line for each number."""
    return "\n".join([before, *(line.replace("#", str(number)) for number in LINES), after])


TABLES = {
    "a text": lines('WORDS = words("""', "oak# elm#", '""")'),
    "pairs": lines("PAIRS = {", "'oak #': 'elm #',", "}"),
    "rows": lines("ROWS = (", "Row('oak|elm #', 'fir+', True),", ")"),
    "in a function": lines("def read():\n    ROWS = [", "        'oak #',", "    ]"),
}
NO_TABLES = {
    "a short one": "PAIRS = {\n'oak': 'elm',\n'fir': 'yew',\n}",
    "names of the code": lines("FIELDS = (", "'baseline', 'evaluating.evaluation',", ")"),
    "a type": lines("Kind = Literal[", "'oak #',", "]"),
    "what explains": lines(
        "HELP = {", "#: 'how often a failing call is tried, the first time included',", "}"
    ),
    "calls": lines("FOUND = (", "read(one, two, three, 'oak #'),", ")"),
}


@pytest.mark.parametrize("kind", [*TABLES, *NO_TABLES])
def test_a_table_of_words_is_told_from_other_values(kind: str) -> None:
    assert bool(tables_in({**TABLES, **NO_TABLES}[kind])) == (kind in TABLES)


def test_a_table_of_words_is_a_file() -> None:
    found = [each for path in trees() for each in word_tables(path)]
    assert found == [], (
        "put it into a file of pytest_promptfuzz/data, one entry a line, and read it with data/tables.py"
    )


MOST_FIELDS = 15
# Classes with more fields, and why they are one thing: at most five.
MANY_FIELDS = {
    "history/changes.py:ChangeReport": "a part of the JSON report: its keys are a public format",
    "history/entries.py:HistoryEntry": "a line of the history's files: its keys are a public format",
    "mutations/engine/operator.py:Operator": "a public description: its attributes are the keywords of @operator",
    "results/robustness.py:Robustness": "a public result: its attributes are documented one by one",
    "searching/search_result.py:Search": "a public result: its attributes are documented one by one",
}


def test_a_class_has_at_most_fifteen_fields() -> None:
    large = {}
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                count = sum(isinstance(each, ast.AnnAssign) for each in node.body)
                if count > MOST_FIELDS:
                    large[f"{path.relative_to(PACKAGE).as_posix()}:{node.name}"] = count
    wrong = {where: count for where, count in large.items() if where not in MANY_FIELDS}
    assert wrong == {}, "a class of more than fifteen fields is two things"
    assert set(MANY_FIELDS) <= set(large), "take out of MANY_FIELDS what has fewer fields now"
    assert len(MANY_FIELDS) <= 5


# Functions of SILENT rooms that write sentences, and why.
SILENT = {"comparing", "stats", "results"}
SAYING = {
    "comparing/profiles.py:unknown_profile": "its callers raise it",
    "stats/variance.py:_notes": "Variance.notes is public, and variance_of() is called without an evaluation",
}


EXPRESSION = re.compile(r"\\|\(\?")


def sentences_of(function: ast.FunctionDef) -> list[str]:
    """The texts of five words or more that a function has, but for its docstring."""
    doc = ast.get_docstring(function, clean=False)
    found = [
        "".join(part.value for part in node.values if isinstance(part, ast.Constant))
        if isinstance(node, ast.JoinedStr)
        else node.value
        for node in ast.walk(function)
        if isinstance(node, ast.JoinedStr | ast.Constant)
    ]
    return [
        each
        for each in found
        if isinstance(each, str) and each != doc and len(each.split()) > 4 and not EXPRESSION.search(each)
    ]


def test_decisions_return_codes_and_figures() -> None:
    saying = set()
    for path, tree in trees().items():
        for node in ast.walk(tree) if room(path) in SILENT else ():
            if not isinstance(node, ast.FunctionDef) or any(isinstance(n, ast.Raise) for n in ast.walk(node)):
                continue  # what raises says why
            if sentences_of(node):
                saying.add(f"{path.relative_to(PACKAGE).as_posix()}:{node.name}")
    assert saying - set(SAYING) == set(), "return a code and figures, and write the sentence in wording/"
    assert set(SAYING) <= saying


# Rooms and modules whose findings are worded in wording/: no other sentence stands there than those of errors.
WORDED = ("evaluating/", "history/", "judging/", "running/", "searching/")
# Modules with texts that are no findings, and sentences that stay; each with its reason.
OTHER_TEXTS = {
    "evaluating/datasets.py": "what is wrong with a data file: functions put the text of an error together",
    "evaluating/settings.py": "the help of settings stands in their table",
    "evaluating/setting_kinds.py": "what values of settings must be is part of their errors",
    "judging/models.py": "what to install is said in the header of every run, which loads no wording",
    "judging/installation.py": "copies of models are tried on known texts",
}
STAYING = {
    "the test's own checks": "a value that snapshots hold",
    "a tool call differs": "takes the place of words of comparing/",
}
FEWEST_WORDS = 4
SQL = re.compile(r"(?:SELECT|INSERT|REPLACE|CREATE|PRAGMA) ")


class SentenceFinder(ast.NodeVisitor):
    """Collects the texts of four words or more, but for docstrings, patterns, types, SQL and what errors say.

    Attributes:
        texts: The texts, each with the name that it is bound to; empty for none.
        used: Names that are read elsewhere than in errors.
    """

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []
        self.used: set[str] = set()
        self._bound = ""

    @property
    def found(self) -> list[str]:
        """The sentences; a text with a name that only errors use is theirs."""
        return [text for name, text in self.texts if not name or name in self.used]

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """What raises says why."""

    def visit_Assign(self, node: ast.Assign) -> None:
        self._bound = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
        self.generic_visit(node)
        self._bound = ""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and ast.unparse(node.annotation) != "TypeAlias":
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.returns is None or not ast.unparse(node.returns).endswith("Error"):
            self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not any(ast.unparse(base).endswith("Error") for base in node.bases):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        if not name.endswith("Error") and name not in {"expression", "re.compile"}:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.used.add(node.id)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._take(" ".join(str(each.value) for each in node.values if isinstance(each, ast.Constant)))
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                self.visit(each.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._take(node.value)

    def _take(self, text: str) -> None:
        words = re.findall(r"\S*\w\S*", text)
        if len(words) >= FEWEST_WORDS and not SQL.match(text):
            self.texts.append((self._bound, text))


def sentences_in(source: str) -> list[str]:
    finder = SentenceFinder()
    finder.visit(ast.parse(source))
    return finder.found


NO_FINDINGS = {
    "a docstring": 'def f():\n    """Say how many there are."""',
    "an error": "raise UsageError(f'{where}: there is no such {name}.')",
    "an error that is returned": "def f() -> UsageError:\n    return UsageError(f'{a} is not what {b} is')",
    "what errors share": "MEND = 'Delete it and try again.'\nraise StoreError(f'{path}: {MEND}')",
    "an error's class": "class NoRunError(StoreError):\n    text = 'it holds no run at all'",
    "a pattern": "X = expression(r'one two three four')",
    "a query": "connection.execute('SELECT name FROM books WHERE name')",
    "few words": "label = f'operator {name}'",
}
FINDINGS = {
    "a text": "return 'the answers vary too much'",
    "a text with values": "notes.append(f'{a} of {b} trials came out worse')",
    "a text with a name": "WHY = 'the answers vary too much'\nreturn WHY",
    "a default": "def f(why: str = 'the answers vary too much'): ...",
}


@pytest.mark.parametrize("kind", [*FINDINGS, *NO_FINDINGS])
def test_a_finding_in_words_is_told_from_other_texts(kind: str) -> None:
    source = {**FINDINGS, **NO_FINDINGS}[kind]
    inside = "\n".join(f"    {line}" for line in source.splitlines())
    assert bool(sentences_in(f"def outer():\n{inside}")) == (kind in FINDINGS)


def test_findings_are_worded_in_wording() -> None:
    found = {
        where: sentences
        for path in trees()
        if (where := path.relative_to(PACKAGE).as_posix()).startswith(WORDED) and where not in OTHER_TEXTS
        if (sentences := set(sentences_in(path.read_text(encoding="utf-8"))) - set(STAYING))
    }
    assert found == {}, (
        "make a Note of a code and values (notes.py), and write its sentence in a module of wording/; "
        "what an error says stands in its raise"
    )


SUBJECTS = "|".join(path.stem for path in sorted((PACKAGE / "wording").glob("*.py")))
NOTE_CODE = re.compile(rf"(?:{SUBJECTS}):[a-z]+(?:-[a-z]+)*")


def notes_in(tree: ast.AST) -> Iterator[tuple[str, set[str] | None]]:
    """Each note that code makes: its code, and the names of its values; ``None`` where they are known only later."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and NOTE_CODE.fullmatch(node.value):
            yield node.value, None
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "Note.of" or not node.args:
            continue
        names = {each.arg for each in node.keywords if each.arg is not None}
        if isinstance(node.args[0], ast.Constant) and len(names) == len(node.keywords):
            yield str(node.args[0].value), names


def sentences_by_code() -> dict[str, inspect.Signature]:
    """What each module of wording/ that notes name has for them."""
    found = {}
    for subject in {code.partition(":")[0] for tree in trees().values() for code, _ in notes_in(tree)}:
        module = importlib.import_module(f"pytest_promptfuzz.wording.{subject}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                found[f"{subject}:{name.replace('_', '-')}"] = inspect.signature(function)
    return found


def test_each_note_has_its_sentence_and_each_sentence_its_note() -> None:
    made = [(path, *each) for path, tree in trees().items() for each in notes_in(tree)]
    sentences = sentences_by_code()
    wrong = []
    for path, code, names in made:
        found = sentences.get(code)
        needed = (
            set()
            if found is None
            else {name for name, each in found.parameters.items() if each.default is inspect.Parameter.empty}
        )
        if found is None or (names is not None and not needed <= names <= set(found.parameters)):
            wrong.append(f"{path.relative_to(PACKAGE)}: {code} {sorted(names or ())}")
    assert wrong == [], "a note SUBJECT:FINDING is worded by wording/SUBJECT.py:FINDING(its values)"
    assert set(sentences) - {code for _, code, _ in made} == set(), (
        "take out the sentences that no note needs"
    )


BY_NAME = {"python", "python3", "pip", "pytest", "promptfuzz"}
STARTING = {"run", "Popen", "call", "check_call", "check_output", "create_subprocess_exec", "spawn"}


def started_by_name(tree: ast.AST) -> list[int]:
    """The lines that start a program by a name that only an activated environment has on its path."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = node.args[0]
        first = first.elts[0] if isinstance(first, ast.List | ast.Tuple) and first.elts else first
        if name in STARTING and isinstance(first, ast.Constant) and first.value in BY_NAME:
            found.append(node.lineno)
    return found


def test_no_test_starts_a_program_by_its_bare_name() -> None:
    assert started_by_name(ast.parse("pytester.run('python', '-m', 'pip')\nsubprocess.run(['pytest'])")) == [
        1,
        2,
    ]
    tests = Path(__file__).parent
    found = [
        f"{path.relative_to(tests)}:{line}"
        for path in sorted(tests.rglob("*.py"))
        for line in started_by_name(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == [], "start it as sys.executable -m …"


def test_no_two_test_modules_have_one_name() -> None:
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []  # pytest imports them by that name
