"""Code in a prompt, changed so that it does the same."""

from __future__ import annotations

import ast
import re
import symtable
from itertools import islice

import pytest
from code_samples import PROGRAMS
from hypothesis import HealthCheck, given, settings
from mutation_samples import TEXTS

from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine.edits import check_edits
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.mutations.engine.planner import mutate
from pytest_promptfuzz.mutations.operators.comments import (
    code_spacing,
    comment_change,
    comment_removal,
    tree_of,
)
from pytest_promptfuzz.mutations.operators.identifiers import (
    identifier_renaming,
    python_names,
    renaming_of,
    scopes,
)
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.randomness import Rng, root_key

OPERATORS = {each.name: each for each in (identifier_renaming, comment_change, comment_removal, code_spacing)}


def draft_of(prompt: str | Prompt) -> Draft:
    whole = as_prompt(prompt)
    return Draft(
        whole.text,
        [(start, end) for start, end, _ in whole.spans],
        walls=[(start, end) for start, end, kind in whole.spans if kind in {"separator", "message"}],
        kinds=[kind for _, _, kind in whole.spans],
    )


def mutations_by(name: str, prompt: str | Prompt, *, seeds: int = 6, most: int = 6) -> list[Mutation]:
    operator = OPERATORS[name]
    draft = draft_of(prompt)
    found = []
    for seed in range(seeds):
        for edits in islice(operator.proposals(draft, Rng(root_key(seed, draft.text), operator.id)), most):
            check_edits(edits, len(draft.text), draft.protected(operator.touches))
            mutation = Mutation(
                draft.text, edits, (operator.id,), "code", 0.1, operator.preserves, operator.relation
            )
            assert mutation.text != draft.text
            found.append(mutation)
    return found


def made_by(name: str, prompt: str | Prompt, *, seeds: int = 6, most: int = 6) -> set[str]:
    return {each.text for each in mutations_by(name, prompt, seeds=seeds, most=most)}


def prompt_of(program: str) -> str:
    return f"Explain the result.\n\n```python\n{program}```\n\nAnswer in one paragraph."


def program_in(text: str) -> str:
    found = re.search(r"```\w*\n(.*?)```", text, re.DOTALL)
    assert found
    return found[1]


class Renamed(ast.NodeTransformer):
    """The tree with names changed wherever Python binds or reads a variable."""

    def __init__(self, renaming: dict[str, str]) -> None:
        self.renaming = renaming

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("id", "arg", "name", "rest"):
            value = getattr(node, field, None)
            if isinstance(value, str) and not isinstance(node, ast.keyword | ast.alias):
                setattr(node, field, self.renaming.get(value, value))
        if isinstance(node, ast.Nonlocal):
            node.names = [self.renaming.get(each, each) for each in node.names]
        return super().generic_visit(node)


def value_of(program: str) -> object:
    names: dict[str, object] = {"__name__": "sample"}
    exec(compile(program, "sample", "exec"), names)
    return names["result"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_renamed_program_is_the_same_up_to_its_names(name: str) -> None:
    program = PROGRAMS[name]
    wanted = value_of(program)
    for mutation in mutations_by("identifier-renaming", prompt_of(program)):
        renaming = renaming_of(mutation)
        after = program_in(mutation.text)
        assert renaming
        assert len({*renaming.values()}) == len(renaming), "no two names fall together"
        assert not any(re.search(rf"\b{new}\b", mutation.original) for new in renaming.values()), (
            "all are fresh"
        )
        assert not any(re.search(rf"\b{old}\b", mutation.text) for old in renaming), "none is left"
        expected = Renamed(renaming).visit(ast.parse(program))
        assert ast.dump(ast.parse(after)) == ast.dump(expected)
        assert value_of(after) == wanted


# Names that would change what a program does or says, if they were renamed; and what else is there to rename.
SEEN = [
    ("plain", {"prices", "total", "price"}, {"total_of", "result"}),
    ("closure", {"start", "count", "step"}, {"counter", "next_one"}),
    ("shadowing", {"depth", "level", "inner"}, {"outer"}),
    ("module-comprehension", {"word"}, {"words", "len"}),
    ("global", {"amount"}, {"tally", "bump"}),
    ("global-and-local", {"number"}, {"limit", "clip"}),
    ("decorator", {"function", "wrapper", "options", "first", "left", "right"}, {"twice", "add"}),
    ("match", {"point", "height", "first", "others", "across", "rest"}, {"x", "kind", "_"}),
    ("match-class", {"place", "high", "wide"}, {"x", "y", "Point", "self"}),
    ("keyword-arguments", {"width", "product"}, {"height", "scale"}),
    ("keyword-only", {"width", "product"}, {"height"}),
    ("class-attributes", {"amount", "discount"}, {"rate", "items", "total", "self"}),
    ("class-scope", {"by", "grown"}, {"size", "double", "grow"}),
    ("f-string", {"tone", "mark", "greeting"}, {"person"}),
    ("f-string-debug", {"amount", "extra"}, {"doubled"}),
    ("f-string-nested", set(), {"content", "filler", "size"}),
    ("private-functions", {"_clean", "stripped", "title", "text"}, {"slug"}),
    ("recursion", {"_walk", "node", "depth", "child", "tree"}, {"height"}),
    ("locals", set(), {"first", "second", "third"}),
    ("eval", set(), {"first", "second", "formula"}),
    ("getattr", {"shape", "field", "corner"}, {"sides"}),
    ("format-map", set(), {"person", "day", "template"}),
    ("docstring", {"product"}, {"width", "height"}),
    ("strings", {"rows", "picked", "row"}, {"column"}),
    ("builtins", {"found"}, {"list", "id", "input"}),
    ("imports", {"number", "square"}, {"math", "lower", "floor"}),
    ("attribute", {"above"}, {"payload", "parent"}),
    ("mangled", {"opened"}, {"__key", "__secret"}),
    ("walrus-module", set(), {"half"}),
]


@pytest.mark.parametrize(("name", "free", "kept"), SEEN)
def test_which_names_are_free(name: str, free: set[str], kept: set[str]) -> None:
    renamed: set[str] = set()
    for mutation in mutations_by("identifier-renaming", prompt_of(PROGRAMS[name]), seeds=12):
        renamed |= renaming_of(mutation).keys()
    assert free <= renamed
    assert not kept & renamed


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_interpreters_own_tables_agree(name: str) -> None:
    """What is free here is no global and no attribute of a class to ``symtable``."""
    names = python_names(PROGRAMS[name])
    free = names.free - names.functions if names else set()
    tables = [symtable.symtable(PROGRAMS[name], "sample", "exec")]
    for table in tables:
        tables += table.get_children()
        if table.get_type() == "module":
            continue  # since 3.12 the variables of its comprehensions are listed there as well
        for symbol in table.get_symbols():
            if symbol.get_name() in free:
                assert table.get_type() == "function" or not symbol.is_local()
                assert not symbol.is_global()
                assert not symbol.is_imported()


NOT_FREE = [
    ("items", "def own(items):\n    return items\n\ndef seen():\n    return [each for each in items]"),
    ("half", "def own(half):\n    return half\n\nmade = [half := each for each in []]"),
    ("half", "def own(half):\n    return half\n\nclass Made:\n    half = 1"),
    ("tally", "def own(tally):\n    return tally\n\ndef seen():\n    global tally\n    tally = 1"),
    ("tally", "def own(tally):\n    return tally\n\ndef seen(base=tally):\n    return base"),
    ("tally", "def own(tally):\n    return tally\n\ndef seen(base: tally):\n    return base"),
    ("height", "def area(width, *, height):\n    return width * height"),
    (
        "across",
        "def look(across, place):\n    match place:\n        case Point(across=1):\n            return across",
    ),
    ("item", "class View(Base):\n    def get(self, item):\n        return item"),
    ("item", "@app.get\ndef page(item):\n    return item"),
    ("item", "def test_page(item):\n    assert item"),
    ("helper", "def helper():\n    return 1"),
    ("_helper", "def _helper():\n    return 1\n\n_helper = 3"),
    ("_Helper", "def own():\n    class _Helper:\n        pass"),
    ("reader", "def own():\n    import reader"),
    ("größe", "def own(größe):\n    return größe"),
]


@pytest.mark.parametrize(("name", "program"), NOT_FREE)
def test_a_name_that_is_anything_else_somewhere_is_not_free(name: str, program: str) -> None:
    names = python_names(program)
    assert names
    assert name not in names.free


def test_a_global_declaration_holds_for_the_functions_inside() -> None:
    program = "def f(n):\n    def g():\n        global n\n        def h():\n            return n"
    module, f, g, h = scopes(ast.parse(program))
    assert f.owner("n") is f
    assert [each.owner("n") for each in (module, g, h)] == [None] * 3


@pytest.mark.parametrize(
    "program",
    ['f"{x:#x}"', "f'{x!r:\\n}'", 'f"{x["a"]}"', "t'x'", "def f[T](x): pass", "try:\n    pass\nexcept* OSError:\n    pass", "a[*b]", "def f(*a: *B): pass", "def (", ""],
)  # fmt: skip
def test_what_only_some_pythons_parse_is_left_alone(program: str) -> None:
    assert tree_of(program) is None
    assert python_names(program) is None


FIBONACCI = "```python\ndef fib(count):\n    first, second = 0, 1\n    for _ in range(count):\n        first, second = second, first + second\n    return first\n```"  # fmt: skip
RENAMED_TOGETHER = [
    ("What does `count` mean here?\n\n" + FIBONACCI, {"count"}),
    ("Why does `first + second` come last?\n\n" + FIBONACCI, {"first", "second"}),
    (
        "Is this right?\n\n" + FIBONACCI + "\n\n```python\ndef double(count):\n    return count * 2\n```",
        {"count"},
    ),
    ("Explain it.\n\n" + FIBONACCI.replace("python", "py") + "\n", {"count", "first", "second"}),
    ("Explain it.\n\n" + FIBONACCI.replace("python", "") + "\n", {"count", "first", "second"}),
]
NEVER_RENAMED = [
    ("The parameter count is the number of steps.\n\n" + FIBONACCI, {"count"}),
    ("Explain it to {count} people.\n\n" + FIBONACCI, {"count"}),
    ("Call it with `fib(count=3)` at most.\n\n" + FIBONACCI, {"count"}),
    ("Use `self.first` in place of it.\n\n" + FIBONACCI, {"first"}),
    ('Expected: {"first": 3}.\n\n' + FIBONACCI, {"first"}),
    ("Explain.\n\n" + FIBONACCI + "\n\n```\n>>> first\n3\n```", {"first"}),
    ("Explain.\n\n" + FIBONACCI + "\n\n```python\nassert first == 3\n```", {"first"}),
    (
        "Explain.\n\n```python\ndef _help(x):\n    return x\n```\n\n```python\nassert _help(3) == 3\n```",
        {"_help"},
    ),
    ("Explain.\n\n" + FIBONACCI.replace("return first", "return first  # the first one"), {"first"}),
]
NOT_AT_ALL = [
    "Suggest better variable names.\n\n" + FIBONACCI,
    "Rename the variables to snake case.\n\n" + FIBONACCI,
    "List all identifiers in the code.\n\n" + FIBONACCI,
    "Which names are unclear?\n\n" + FIBONACCI,
    "Explain.\n\n```python\ndef broken(count:\n    return count\n```",
    "Explain.\n\n```python\ndef use(count):\n    print(count, inspect.currentframe())\n```",
    "Explain.\n\n```yaml\ncount: 3\n```",
    "Explain.\n\n```python\ndef test_it(tmp_path, monkeypatch):\n    pass\n```",
    "Explain.\n\n```python\n@app.get('/')\ndef page(user, item):\n    pass\n```",
    "There is no code here, and `count` is a word.",
    'Explain.\n\n```python\ndef f(\x0cx): return f"{x["a"]}"\n```'.replace("\x0c", ""),
    "Explain.\n\n```python\nx = 1\nprint(x)\n```",
]


@pytest.mark.parametrize(("text", "together"), RENAMED_TOGETHER)
def test_prose_and_other_code_follow(text: str, together: set[str]) -> None:
    renamed: set[str] = set()
    for mutation in mutations_by("identifier-renaming", text, seeds=10):
        renaming = renaming_of(mutation)
        renamed |= renaming.keys()
        for old, new in renaming.items():
            assert not re.search(rf"\b{old}\b", mutation.text)
            assert len(re.findall(rf"\b{new}\b", mutation.text)) == len(re.findall(rf"\b{old}\b", text))
    assert together <= renamed


@pytest.mark.parametrize(("text", "kept"), NEVER_RENAMED)
def test_names_that_somebody_else_sees_stay(text: str, kept: set[str]) -> None:
    for mutation in mutations_by("identifier-renaming", text, seeds=10):
        assert not kept & renaming_of(mutation).keys()


@pytest.mark.parametrize("text", NOT_AT_ALL)
def test_nothing_is_renamed(text: str) -> None:
    assert made_by("identifier-renaming", text) == set()


def test_a_name_in_an_assistants_message_stays() -> None:
    chat = [
        {"role": "user", "content": "Explain.\n\n" + FIBONACCI},
        {"role": "assistant", "content": "`count` is n."},
    ]
    prompt = Prompt.from_messages([*chat, {"role": "user", "content": "Go on."}])
    made = mutations_by("identifier-renaming", prompt, seeds=10)
    assert made
    assert not any("count" in renaming_of(each) for each in made)


JAVASCRIPT = "Explain.\n\n```js\nfunction sum(prices) {\n  let total = 0;\n  for (const price of prices) {\n    total += price;\n  }\n  return total;\n}\n```"  # fmt: skip
JAVASCRIPT_KEPT = [
    "Explain.\n\n```js\nfunction sum() {\n  let total = 0;\n  return { total };\n}\n```",
    "Explain.\n\n```js\nfunction sum() {\n  let total = 0;\n  return this.total;\n}\n```",
    "Explain.\n\n```js\nfunction sum() {\n  let total = 0;\n  return { ok: 1, total };\n}\n```",
    "Explain.\n\n```js\nfunction sum() {\n  let total = 0;\n  return { total: 1 };\n}\n```",
    "Explain.\n\n```js\nfunction sum() {\n  let total = 0;\n  return `${total}`;\n}\n```",
    "Explain.\n\n```js\nlet total = 0;\nexport default total;\n```",
    "Explain.\n\n```js\nfunction a() {\n  let total = 0;\n  return 1;\n}\nconsole.log(total);\n```",
    "Explain.\n\n```js\nfunction sum() {\n  let total = 0;\n  return eval('1');\n}\n```",
    "Explain.\n\n```js\nfunction sum() {\n  let total = 0;\n  return /total/.test('x');\n}\n```",
]


def test_locals_of_javascript_are_renamed() -> None:
    made = mutations_by("identifier-renaming", JAVASCRIPT, seeds=10)
    renamed = {old for each in made for old in renaming_of(each)}
    assert renamed == {"total", "price"}
    for each in made:
        for old, new in renaming_of(each).items():
            assert len(re.findall(rf"\b{new}\b", each.text)) == len(re.findall(rf"\b{old}\b", JAVASCRIPT))


@pytest.mark.parametrize("text", JAVASCRIPT_KEPT)
def test_javascript_that_is_not_plain_stays(text: str) -> None:
    assert made_by("identifier-renaming", text) == set()


COMMENTED = "```python\n#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport os\n\n\ndef load(path):\n    # read the whole file\n    data = open(path).read()  # noqa: SIM115\n    # type: ignore\n    # TODO: close it\n    text = '# not a comment'\n    return data.strip()  # without the space around\n```"  # fmt: skip
NO_COMMENTS = [
    "Add comments to the code.\n\n" + COMMENTED,
    "Are the comments right?\n\n" + COMMENTED,
    "Write a docstring.\n\n" + COMMENTED,
    "Document it.\n\n```text\n# a heading\n```",
    "Explain.\n\n```python\nx = '# nothing'\n```",
    "There is no code. # this is prose",
    "Explain.\n\n```python\n# {task}\n```",
    "Explain.\n\n```python\n# your code here\n```",
    "Explain.\n\n```python\nx = 1  # your code here\n```",
    "Explain.\n\n```python\nx = 1  # implement this function\n```",
    "Explain.\n\n```python\nx = 1  # TODO finish this part\n```",
    "Explain.\n\n```python\ndef broken(:\n    # a comment\n```",
]


@pytest.mark.parametrize(
    "text", [prompt_of(each) for each in PROGRAMS.values()] + ["Explain.\n\n" + COMMENTED]
)
@pytest.mark.parametrize("name", ["comment-change", "comment-removal", "code-spacing"])
def test_the_syntax_tree_stays(name: str, text: str) -> None:
    wanted = ast.dump(ast.parse(program_in(text)))
    for after in made_by(name, text, seeds=3):
        assert ast.dump(ast.parse(program_in(after))) == wanted


def test_comments_that_tools_read_stay() -> None:
    text = "Explain.\n\n" + COMMENTED
    for name in ("comment-change", "comment-removal"):
        made = made_by(name, text, seeds=10)
        assert made
        for after in made:
            for kept in (
                "#!/usr/bin/env python\n# -*- coding",
                "  # noqa: SIM115",
                "# type: ignore",
                "# TODO: close it",
            ):
                assert kept in after
            assert "'# not a comment'" in after


def test_comments_go() -> None:
    made = made_by("comment-removal", "Explain.\n\n" + COMMENTED, seeds=10)
    assert made == {"Explain.\n\n" + COMMENTED.replace("    # read the whole file\n", "")}
    two = "Explain.\n\n```python\n# Set the first value\nx = 1\n# set the second value\ny = 2\n```"
    assert len(made_by("comment-removal", two, seeds=10)) == 3


def test_comments_are_reworded_and_added() -> None:
    made = made_by("comment-change", "Explain.\n\n" + COMMENTED, seeds=20)
    assert any("# Read the whole file." in each for each in made)
    assert any("    # Return the result" in each for each in made)
    assert all("read the whole file" in each.lower() for each in made)


@pytest.mark.parametrize("text", NO_COMMENTS)
@pytest.mark.parametrize("name", ["comment-change", "comment-removal"])
def test_comments_stay(name: str, text: str) -> None:
    assert made_by(name, text) == set()


def test_comments_of_other_languages() -> None:
    text = 'Explain.\n\n```go\n// add the numbers up\nfunc sum() int {\n\turl := "http://x" // keep\n\treturn 1\n}\n```'
    assert made_by("comment-removal", text) == {text.replace("// add the numbers up\n", "")}
    assert made_by("comment-change", text) == {
        text.replace("// add the numbers up", "// Add the numbers up."),
        text.replace("// add the numbers up", "// Add the numbers up"),
        text.replace("// add the numbers up", "// add the numbers up."),
    }
    for unclear in (
        "```go\n/*\n// add the numbers up\n*/\n```",
        "```js\nlet x = `\n// add the numbers up\n`\n```",
    ):
        assert made_by("comment-removal", "Explain.\n\n" + unclear) == set()


def test_lines_keep_their_numbers_where_the_prompt_counts_them() -> None:
    text = "What is wrong in line 9?\n\n" + COMMENTED
    for name in OPERATORS:
        for after in made_by(name, text):
            assert after.count("\n") == text.count("\n"), name


def test_a_comment_is_added_where_a_line_can_be() -> None:
    made = made_by("comment-change", prompt_of(PROGRAMS["backslash-body"]))
    assert any("    # Return the result\n    return number" in each for each in made)
    assert not any("# Return the result\n        return" in each for each in made)


def test_a_sign_keeps_its_number() -> None:
    assert not any(
        "return -  number" in each or "return - number" in each
        for each in made_by("code-spacing", prompt_of(PROGRAMS["backslash-body"]))
    )


SPACED_CODE = [
    ("x=1", {"x = 1"}),
    ("x = 1", {"x=1"}),
    ("def f(a=1):\n    return a", {"def f(a = 1):\n    return a"}),
]
NOT_SPACED_CODE = [
    "Explain.\n\n```python\nf(lambda*a: a)\n```",
    "Explain.\n\n```python\nx=1" + "\n" * 30_000 + "y=2\n```",
    "Check the style of the code.\n\n```python\nx=1\n```",
    "Format the code with black.\n\n```python\nx=1\n```",
    "Fix the indentation.\n\n```python\nx=1\n```",
    "Explain.\n\n```\nx=1 or not\n  y\n```",
    "Explain.\n\n```js\nx=1\n```",
    "Explain.\n\n```python\nf'{x=}'\n```",
    "Explain.\n\n```python\nx={slot}\n```",
    "Explain `x=1` to me.",
]


@pytest.mark.parametrize(("before", "expected"), SPACED_CODE)
def test_code_is_spaced_otherwise(before: str, expected: set[str]) -> None:
    frame = "Explain.\n\n```python\n{}\n```"
    made = {program_in(each).rstrip("\n") for each in made_by("code-spacing", frame.replace("{}", before))}
    assert expected <= made


@pytest.mark.parametrize("text", NOT_SPACED_CODE)
def test_the_spacing_of_code_stays(text: str) -> None:
    assert made_by("code-spacing", text) == set()


@pytest.mark.parametrize("name", PROGRAMS)
def test_spacing_changes_white_space_only(name: str) -> None:
    text = prompt_of(PROGRAMS[name])
    for after in made_by("code-spacing", text, seeds=3):
        assert "".join(after.split()) == "".join(text.split())


@given(text=TEXTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_everything_but_code_stays_whatever_the_prompt(text: str) -> None:
    for name in OPERATORS:
        made_by(name, text, seeds=1, most=2)  # checks the edits
        made_by(name, f"{text}\n\n{FIBONACCI}\n", seeds=1, most=2)


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=lambda each: each.name)
def test_the_example_is_true(operator) -> None:
    before, after = operator.example
    assert after in made_by(operator.name, before, seeds=40, most=20)
    assert operator.dimension == "code"
    assert not operator.default


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=lambda each: each.name)
def test_without_known_kinds_nothing_is_touched(operator) -> None:
    spans = [(start, end) for start, end, _ in as_prompt(COMMENTED).spans]
    assert list(operator.proposals(Draft(COMMENTED, spans), Rng(b"key", "purpose"))) == []


def test_a_renaming_is_read_off_its_own_edits_only() -> None:
    text = "What does `count` mean here?\n\n" + FIBONACCI
    mutation = mutations_by("identifier-renaming", text)[0]
    assert renaming_of(Mutation.from_json(mutation.to_json())) == renaming_of(mutation)
    other = mutations_by("comment-change", "Explain.\n\n" + COMMENTED)[0]
    assert renaming_of(other) == {}


def test_a_plan_holds_them() -> None:
    prompt = Prompt("What does `count` mean?\n\n" + FIBONACCI, name="fibonacci")
    made = mutate(prompt, 4, operators="identifier-renaming")
    assert [each.relation for each in made] == ["renaming"] * 4
    assert all(renaming_of(each) for each in made)
    assert len(mutate("Explain.\n\n" + COMMENTED, 4, operators=["comment-change", "code-spacing"])) == 4


@pytest.mark.parametrize(
    "comment",
    [
        "price without tax",
        "precio sin impuesto",
        "ohne Steuer",
        "round before summing",
        "weekly wage",
        "in metres",
    ],
)
def test_a_comment_that_says_what_the_code_does_not_is_not_taken_out(comment: str) -> None:
    code = f"Explain.\n\n```python\n# {comment}\nx = 1\n# set the second value\ny = 2\n```"
    assert made_by("comment-removal", code) == {code.replace("# set the second value\n", "")}
