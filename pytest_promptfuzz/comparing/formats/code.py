"""Programs compared by what they do: syntax trees, tokens, comments, and names that a prompt changed."""

from __future__ import annotations

import ast
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from rapidfuzz.distance import Indel

from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Outcome, Tier
from pytest_promptfuzz.comparing.formats import python_code
from pytest_promptfuzz.comparing.guards import checks
from pytest_promptfuzz.comparing.guards.pair import Pair
from pytest_promptfuzz.comparing.reading.asides import declines
from pytest_promptfuzz.comparing.reading.text import analyse, looks_like_program, shared_ends, strip_fence
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.providers.requests import Response
from pytest_promptfuzz.text.expressions import expression

_SHOWN = 12

_MOST = 5000
"""Tokens between what two programs share at both ends up to which they are aligned."""

Change = tuple[tuple[str, ...], tuple[str, ...]]


def compare_code(first: str, second: str) -> Comparison | None:
    """Compare two programs as ``_programs`` does, and where they are the same what their comments oblige one to.

    A comment that contradicts its counterpart is a deviation where one of them says what must or must not be, else
    minor; such an obligation that only one program has is minor too.

    Returns:
        ``None`` where one of the answers is a sentence, and the other no more than a line: these are compared as texts.
    """
    declined = _declines(first), _declines(second)
    if declined[0] != declined[1]:
        which, text = ("baseline", first) if declined[0] else ("response", second)
        return answer("deviation", 0.0, "guard:refusal", Observation("only-declines", which, text))
    broken = cut_off(block(first), block(second))
    if broken:
        return broken
    if any(map(_is_prose, (first, second))) and "\n" not in first.strip() + second.strip():
        return None
    found = _programs(first, second)
    if found.outcome != "equivalent":
        return found
    one, two = (" ".join(comments(block(each))) for each in (first, second))
    if one == two or not (_OBLIGES.search(one) or _OBLIGES.search(two)):
        return found
    if not one or not two:
        which = "baseline" if one else "response"
        return answer("minor", 0.9, "code-comment", Observation("only-comments", which, one or two))
    pair = Pair(analyse(one), analyse(two))
    findings = checks.run(pair, checks.CHECKS)
    if findings and findings[-1].kind == "contradiction":
        observed = Observation("comments-contradict", findings[-1].observed)
        return answer("deviation", 0.0, "code-comment", observed)
    if findings:
        return answer("minor", 0.9, "code-comment", Observation("comments-differ", findings[-1].observed))
    return found


_OBLIGES = expression(
    r"\b(?:must|mustn't|shall|should|shouldn't|never|always|only|required?|requires|forbidden|allowed|do not|don't"
    r"|cannot|can't|may not|not safe|unsafe|thread-?safe|deprecated|not|no|mandatory|optional"
    r"|muss|darf|nicht|nie|doit|jamais|debe|nunca)\b",
    re.IGNORECASE,
)


def _programs(first: str, second: str) -> Comparison:
    """Compare two programs: by syntax tree and canonical form where both are Python, else token by token.

    Names that changed alike throughout are minor. What is sure to do something else is a deviation; programs written
    otherwise are undecided, as they may do the same.
    """
    one, two = block(first), block(second)
    tree = python_code.dumped(one)
    if tree is not None and tree == python_code.dumped(two):
        return answer("equivalent", 1.0, "code", Observation("same-syntax-tree"))
    tokens_a, tokens_b = tokens(one), tokens(two)
    if tokens_a == tokens_b:
        return answer("equivalent", 1.0, "code", Observation("same-tokens"))
    form = python_code.canonical_form(one)
    if form is not None and form == python_code.canonical_form(two):
        return answer("equivalent", 1.0, "code-canonical", Observation("same-program"))
    (numbered_a, names_a), (numbered_b, names_b) = _numbered(tokens_a), _numbered(tokens_b)
    renamed = [pair for pair in zip(names_a.values(), names_b.values(), strict=False) if pair[0] != pair[1]]
    if numbered_a == numbered_b:
        names = tuple(Observation("became", old, new) for old, new in renamed[:3])
        return answer("minor", 0.95, "code", Observation("program-names-differ", names))
    likeness = likeness_of(tokens_a, tokens_b, changes_between(tokens_a, tokens_b))
    changes = changes_between(numbered_a, numbered_b)
    moved = sorted(lines(one)) == sorted(lines(two))  # statements in another order may do the same
    framed = likeness > _SAME_FRAME and not moved
    if framed and (sides_exchanged(numbered_a, numbered_b) or _all_proven(changes)):
        old, new = (
            tuple(names.get(word, word) for word in side)
            for names, side in zip((names_a, names_b), changes[0], strict=True)
        )
        return answer("deviation", likeness, "code", Observation("programs-differ", what_changed((old, new))))
    argument = _other_argument(one, two)
    if argument:
        return answer("deviation", likeness, "code", Observation("commands-differ", *argument))
    by_line = changes_between(lines(one), lines(two))
    difference = by_line[0] if by_line else changes[0]
    observed = Observation("programs-may-do-the-same", *map(" ".join, difference))
    return answer("undecided", likeness, "code-form", observed)


def answer(outcome: Outcome, likeness: float, reason: str, observed: Observation) -> Comparison:
    """A comparison that the structure of two answers decides."""
    similarity = None if outcome == "undecided" else likeness
    return Comparison(outcome, similarity, reason, observed, (Tier("structure", likeness),))


def likeness_of(one: list[str], two: list[str], changes: list[Change]) -> float:
    """Indel similarity, 0..1: the share of the tokens that no change touches."""
    whole = len(one) + len(two)
    return 1 - sum(len(old) + len(new) for old, new in changes) / whole if whole else 1.0


def what_changed(change: Change) -> Observation:
    """A change of tokens, for a person."""
    old, new = (_line([token for token in each if token[0] != "\n"]) for each in change)
    if not old and not new:
        return Observation("indentation-changed")
    if not old or not new:
        return Observation("in-one", old or new, "baseline" if old else "response")
    return Observation("became", old, new)


def changes_between(one: list[str], two: list[str]) -> list[Change]:
    """The shortest list of changes that turns one sequence into another."""
    start, end = shared_ends(one, two)
    one, two = one[start : len(one) - end], two[start : len(two) - end]
    if max(len(one), len(two)) > _MOST:
        return [(tuple(one), tuple(two))]
    changes: list[Change] = []
    before_a = before_b = 0
    for block in Indel.opcodes(one, two).as_matching_blocks():
        gone, come = tuple(one[before_a : block.a]), tuple(two[before_b : block.b])
        if gone or come:
            changes.append((gone, come))
        before_a, before_b = block.a + block.size, block.b + block.size
    return changes


def _line(tokens: list[str]) -> str:
    return " ".join(tokens[:_SHOWN]) + (" …" if len(tokens) > _SHOWN else "")


def cut_off(one: str, two: str) -> Comparison | None:
    """That one of two programs is the beginning of the other and breaks off within a statement or a bracket."""
    for which, whole, start in (("response", one, two), ("baseline", two, one)):
        begun = start.rstrip()
        if not begun or len(begun) >= len(whole.rstrip()) or not whole.startswith(begun):
            continue
        if python_code.dumped(whole) is not None:
            broken = python_code.dumped(begun) is None
        else:
            broken = bool(_DANGLING.search(begun)) or any(
                begun.count(left) > begun.count(right) for left, right in ("()", "[]", "{}")
            )
        if broken:
            observed = Observation("breaks-off", which, start[-_SHOWN_END:])
            return answer("deviation", len(start) / len(whole), "guard:sequence", observed)
    return None


_SHOWN_END = 40


def _declines(text: str) -> bool:
    """Whether an answer declines to give a program: a refusal, and no program that prints one."""
    return declines(analyse(text)) and python_code.tree_of(text) is None and not looks_like_program(text)


def _is_prose(text: str) -> bool:
    """Whether an answer to a task about programs is a sentence about one."""
    return (
        len(text.split()) >= _SENTENCE and bool(_PROSE.match(text.strip())) and not looks_like_program(text)
    )


_DANGLING = expression(
    r"(?:\b(?:by|where|and|or|from|select|on|join|set|values|in|not)|[=,.+(\[{&|<>])\Z", re.IGNORECASE
)
"""What no program in any language ends with."""
_SENTENCE = 4
_PROSE = expression(r"\A[A-Z\"'`][^{};=<>\n]*[.!?]\Z")


_FENCED = expression(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)


def block(text: str) -> str:
    """The program in an answer: the only fenced block, else the whole text."""
    inner = strip_fence(text)
    if inner is not text:
        return inner
    found = _FENCED.findall(text)
    if found:
        return found[0] if len(found) == 1 else text
    return _without_talk(text)


_BLANK = expression(r"\n[ \t]*\n")
_LEADING = expression(r"\A[A-Z][\w' ,’-]{2,120}:\Z")
_CLOSING = expression(r"\A[A-Z][a-z'’]*(?:[ ,'’-]+[\w'’-]+){2,30}[.!?]\Z")


def _without_talk(text: str) -> str:
    """A program without a line such as "This does it:" above it and "Hope that helps!" below it, each a paragraph."""
    parts = _BLANK.split(text.strip())
    if len(parts) == 1 or len(parts[-1]) > _TALK < len(parts[0]):
        return text
    start = 1 if len(parts[0]) <= _TALK and _LEADING.match(parts[0]) else 0
    end = len(parts) - 1 if len(parts[-1]) <= _TALK and _CLOSING.match(parts[-1]) else len(parts)
    return "\n\n".join(parts[start:end]) if start < end and end - start < len(parts) else text


_TALK = 200
"""Characters up to which a paragraph beside a program is taken for talk."""


def lines(program: str) -> list[str]:
    """The lines of a program without trailing space and blank lines."""
    return [line.rstrip() for line in program.strip("\n").splitlines() if line.strip()]


_TOKEN = expression(
    r"(?P<comment>/\*.*?\*/|(?<![:\w])//[^\n]*|(?:(?<=\s)|\A)#(?![\w\[])[^\n]*)"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<word>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<line>\n[ \t]*)"
    r"|(?P<sign>=>|->|[=!]==?|[<>]=|&&|\|\||\+\+|--|\*\*|//|::|[+*/%&|^-]=|[^\s\w])",
    re.DOTALL,
)


def tokens(program: str) -> list[str]:
    """The tokens of a program in any language, without comments; strings in one style of quotes.

    Where indentation has a meaning, a token that begins with a line feed stands for the depth of the next line. In
    languages with braces, semicolons, the parentheses of a sole arrow parameter and trailing commas say nothing.
    """
    tree = python_code.tree_of(program)
    if tree is not None:
        program = ast.unparse(tree)
    indented = tree is not None or not _BRACES.search(program)
    found: list[str] = []
    depths = [0]
    for each in _TOKEN.finditer(program.strip()):
        kind, text = each.lastgroup, each[0]
        if kind == "comment":
            continue
        if kind == "line":
            if indented:
                if found and found[-1][0] == "\n":
                    found.pop()
                width = len(text.expandtabs(4)) - 1
                while width < depths[-1]:
                    depths.pop()
                if width > depths[-1]:
                    depths.append(width)
                found.append("\n" + "  " * (len(depths) - 1))
        elif kind == "string" and (text[0] == "'" and '"' not in text and "\\" not in text):
            found.append(f'"{text[1:-1]}"')
        elif kind == "number":
            found.append(plain_decimal(text))
        else:
            found.append(text)
    return found if tree is not None else _plainer(found)


def comments(program: str) -> list[str]:
    """What the comments and the docstrings of a program say, in order, each without its signs."""
    if not any(sign in program for sign in _SIGNS):
        return []
    found = []
    for each in _REMARK.finditer(program):
        if each["doc"] is not None or each["remark"] is not None:
            said = " ".join(line.strip(" \t*/#\"'") for line in (each["doc"] or each["remark"]).splitlines())
            found.append(said.strip())
    return found


_SIGNS = ("#", "//", "/*", '"""', "'''", "--")
_REMARK = expression(
    r"(?:(?<=:\n)|\A|(?<=\n))[ \t]*(?P<doc>\"{3}.*?\"{3}|'{3}.*?'{3})"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|(?P<remark>/\*.*?\*/|(?<![:\w])//[^\n]*|(?:(?<=\s)|\A)(?:#(?![\w\[])|--[ \t])[^\n]*)",
    re.DOTALL,
)


_BRACES = expression(r"[{};]\s*$|=>", re.MULTILINE)


def plain_decimal(number: str) -> str:
    """A number as a program writes it, without the zeros at its end: ``2.50`` is ``2.5``, and ``1.00`` is ``1.0``."""
    whole, point, rest = number.partition(".")
    if not point or not whole.isdigit() or not rest.isdigit():
        return number
    return f"{whole}.{rest.rstrip('0') or '0'}"


def _plainer(found: list[str]) -> list[str]:
    result: list[str] = []
    loops = "for" in found
    for index, word in enumerate(found):
        following = found[index + 1] if index + 1 < len(found) else ""
        if word == ";" and following[:1] in {"", "\n", "}"}:
            continue
        if word == ";" and not loops:
            continue
        if word == "," and following in {"}", "]", ")"}:
            continue
        if word == "=>" and len(result) > 2 and result[-1] == ")" and result[-3] == "(":
            result[-3:] = [result[-2]]
        result.append(word)
    return result


_BINDING = frozenset(
    {"def", "function", "func", "fn", "const", "let", "var", "for", "lambda", "class", "as", "mut"}
)
_CONTROL = frozenset({"if", "for", "while", "switch", "catch", "return"})


def _numbered(sequence: list[str]) -> tuple[list[str], dict[str, str]]:
    """A program's tokens with the names it binds itself numbered, and these names by their numbers.

    What it calls or reads from elsewhere keeps its name.
    """
    bound = _bound(sequence)
    numbers: dict[str, str] = {}

    def number(name: str) -> str:
        return numbers.setdefault(name, f"${len(numbers) + 1}") if name in bound else name

    found = []
    for at, (word, following) in enumerate(pairwise([*sequence, ""])):
        if word[0] in _QUOTES:
            found.append(_INSERTED.sub(lambda match: match[1] + number(match[2]), word))
        elif (at and sequence[at - 1] == ".") or following[:1] in {*_QUOTES}:
            found.append(word)
        else:
            found.append(number(word))
    return found, {each: name for name, each in numbers.items()}


_INSERTED = expression(r"([{$]\{?)([^\W\d]\w*)")


def _bound(sequence: list[str]) -> set[str]:
    """The names that a program binds: parameters, variables, loops, its own functions and classes."""
    closing = _partners(sequence)
    padded = ["", "", "", *sequence, "", ""]
    found: set[str] = set()
    opened: list[str] = []
    leading = ""  # the word that a list of names follows: for, lambda
    for at, word in enumerate(sequence):
        before, previous, following, next_but_one = (padded[at + place] for place in (1, 2, 4, 5))
        if word in {"(", "[", "{"}:
            after = sequence[closing[at] + 1] if closing.get(at, -1) + 1 in range(1, len(sequence)) else ""
            named = previous.isidentifier() and previous not in _CONTROL
            if word == "(" and (before in _BINDING or previous in _BINDING):
                opened.append("parameters")
            elif word == "(" and (after == "=>" or (after == "{" and named)):
                opened.append("typed")
            else:
                opened.append(word)
        elif word in {")", "]", "}"} and opened:
            opened.pop()
        if word in {"for", "lambda"}:
            leading = word
        elif word in {"in", "of", ":", "=", ";", "{"} or word[0] == "\n":
            leading = ""
        if not word.isidentifier() or previous == ".":
            continue
        inside = opened[-1] if opened else ""
        if (
            previous in _BINDING
            or following == "=>"
            or (following == "=" and inside != "(")
            or (following, next_but_one) == (":", "=")
            or (leading and (previous in {",", "("} or previous == leading))
            or (inside == "parameters" and previous in {"(", ",", "*", "**"})
            or (inside == "typed" and following in {",", ")", "="})
            or (following == ":" and padded[at : at + 2] == ["for", "("])
            or (previous == "|" and following in {"|", ","})
        ):
            found.add(word)
    return found - _BINDING


def _partners(sequence: list[str]) -> dict[int, int]:
    """Where each opening bracket is closed."""
    found, opened = {}, []
    for at, word in enumerate(sequence):
        if word in {"(", "[", "{"}:
            opened.append(at)
        elif word in {")", "]", "}"} and opened:
            found[opened.pop()] = at
    return found


_RIVALS = """
    break continue | True False | true false | and or | && || | < <= > >= == != | + - * / // % ** | += -= *= /=
"""
"""Words and signs of which one for another does something else."""
_ALIKE = """
    let const var | int long short Integer | float double | substr substring slice | public private protected
    | info log debug | print println printf puts echo | String string str | list List Sequence Iterable Array
"""
"""Words of which one may stand for another in a program that does the same."""
_NEGATIONS = ({"not"}, {"!"}, {"-"})
_QUOTES = "\"'"
_ORDERED = frozenset({"-", "/", "//", "%", "**", "<", "<=", ">", ">=", "<<", ">>"})
_COMPARED = frozenset({"<", "<=", ">", ">="})
_FEW = 2
_SAME_FRAME = 0.5


def _all_proven(changes: list[Change]) -> bool:
    """Whether small changes in an equal frame cannot leave a program doing the same.

    One operator, number, text or name from elsewhere for another, a negation more or less, a line indented otherwise.
    ``x += 1`` for ``x = x + 1`` is none of these, nor are two names for two others: they may go together.
    """
    kinds = {_kind(old, new) for old, new in changes}
    distinct = {*changes}
    mirrored = distinct == {(new, old) for old, new in changes}
    most = 1 if kinds == {"name"} and not mirrored else _FEW
    return len(distinct) <= most and len(kinds) == 1 and "" not in kinds and not shifted_bound(changes)


def shifted_bound(changes: list[Change]) -> bool:
    """Whether a comparison and its number changed together: ``> 17`` may be ``>= 18``."""
    both = {side[0] for change in changes for side in change if len(side) == 1}
    return not _COMPARED.isdisjoint(both) and any(word[0].isdigit() for word in both)


def sides_exchanged(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether all that differs is that ``a - b`` became ``b - a``."""
    apart = [at for at, (old, new) in enumerate(zip(first, second, strict=False)) if old != new]
    if len(first) != len(second) or len(apart) != 2 or apart[1] != apart[0] + 2:
        return False
    one, two = apart
    return first[one + 1] in _ORDERED and (first[one], first[two]) == (second[two], second[one])


def _kind(old: Sequence[str], new: Sequence[str]) -> str:
    """What kind of change is sure to do something else; empty where it is not."""
    if not old or not new:
        return "negation" if len(old) + len(new) == 1 and {*old, *new} in _NEGATIONS else ""
    if len(old) != 1 or len(new) != 1:
        return ""
    one, two = old[0], new[0]
    if one[0] == "\n" == two[0]:
        return "indentation"
    if _together(one, two, _RIVALS):
        return "value"
    if one[0].isdigit() and two[0].isdigit():
        return "value"
    if one[0] in _QUOTES and two[0] in _QUOTES:
        return "value" if _other_text(one, two) else ""
    if one[0] == "$" == two[0]:
        return "name"
    alike = (
        one.casefold() in two.casefold() or two.casefold() in one.casefold() or _together(one, two, _ALIKE)
    )
    return "name" if one.isidentifier() and two.isidentifier() and not alike else ""


def _together(one: str, two: str, groups: str) -> bool:
    return any(one in group and two in group for group in map(str.split, groups.split(" | ")))


def _other_text(one: str, two: str) -> bool:
    """Whether two texts in a program differ in more than the words of a message, its case or its marks."""
    words_a, words_b = ([*_WORD.findall(each.casefold())] for each in (one, two))
    most = max(len(words_a), len(words_b))
    return most < _SENTENCE or (words_a != words_b and len({*words_a} & {*words_b}) * 2 >= most)


def _other_argument(first: str, second: str) -> tuple[str, str] | None:
    """The argument that stands for another in command lines, in whatever order; no option and no program is one."""
    if any(python_code.tree_of(each) is not None or not _COMMANDS.match(each) for each in (first, second)):
        return None
    one, two = _arguments(first), _arguments(second)
    if min(one.total(), two.total()) < _SHORTEST:
        return None
    gone, come = [*(one - two).elements()], [*(two - one).elements()]
    same_options = {option for option, _ in gone} == {option for option, _ in come}
    calls = {word for each in (first, second) for line in each.splitlines() for word in line.split()[:2]}
    programs = {line.split()[0] for each in (first, second) for line in each.splitlines() if line.strip()}
    for option in dict.fromkeys(option for option, _ in gone):
        old, new = ([word for named, word in side if named == option] for side in (gone, come))
        if len(old) != 1 or len(new) != 1 or old[0] in new[0] or new[0] in old[0]:
            continue
        if {old[0], new[0]}.isdisjoint(programs if same_options else calls):
            return old[0], new[0]
    return None


_SHORTEST = 3
_COMMANDS = expression(
    r"\A(?:#!.*\n)?(?!(?:const|let|var|function|public|import|from|func|fn|def|class|return)\b)[a-z][\w.-]* +[^=\s(:]"
)


def _arguments(program: str) -> Counter[tuple[str, str]]:
    """The words of command lines and the option before each, without quotes and what a path may have at its ends."""
    try:
        words = shlex.split(program.replace("\\\n", " "), comments=True)
    except ValueError:
        words = program.split()
    words = [word.removeprefix("./").rstrip("/;") or word for word in words if word]
    options = ["", *(word if word[0] == "-" else "" for word in words)]
    return Counter((option, word) for option, word in zip(options, words, strict=False) if word[0] != "-")


_WORD = expression(r"\w+")
_CODE = expression(r"```[^\n`]*\n(.*?)(?:```|\Z)|(`{1,2})([^`\n]+)\2", re.DOTALL)
_TEXTS = expression(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*")
_KEYWORD = expression(r"\s*=(?!=)")
_OPENS_ARGUMENT = expression(r"[(,]\s*\Z")
_LEAD = 24


def under_renaming(baseline: str, response: str, renaming: Mapping[str, str]) -> str:
    """The response with the changed names mapped back, so that it can be compared with the baseline.

    A new name is mapped back wherever it stands as a whole word. Where the response's code uses an old name for
    something of its own beside the new one, that gets a number, so that two variables never fall together.

    Args:
        baseline: What was answered to the prompt with the old names.
        response: What was answered to the prompt with the new ones.
        renaming: Old name to new name, each an identifier; no new name twice.

    Raises:
        UsageError: ``renaming`` is no such mapping.

    >>> under_renaming("total is the sum", "my_total is the sum", {"total": "my_total"})
    'total is the sum'
    """
    back = _inverse(renaming)
    found = {*_WORD.findall(response)}
    present = back.keys() & found
    if not present:
        return response
    clashing = {back[new] for new in present} & (found - back.keys())
    taken = found | back.keys() | {*back.values(), *_WORD.findall(baseline)}
    apart = {name: _fresh(name, taken) for name in sorted(clashing)}
    free = _code_in(response) if apart else []

    def restored(match: re.Match[str]) -> str:
        word = match[0]
        if word in back:
            return back[word]
        own = word in apart and any(start <= match.start() < end for start, end in free)
        return apart[word] if own and _is_variable(response, *match.span()) else word

    return _WORD.sub(restored, response)


def answer_under_renaming(baseline: Any, answer: Any, renaming: Mapping[str, str]) -> Any:
    """Any answer with the names mapped back: text, a ``Response``, or lists and mappings that hold text.

    Args:
        baseline: What it will be compared with.
        answer: What came back for the changed prompt. It is not modified; what is no text stays as it is.
        renaming: As for :func:`under_renaming`; empty gives the answer itself.

    Raises:
        UsageError: As :func:`under_renaming`.
    """
    if not renaming:
        return answer
    text = baseline if isinstance(baseline, str) else baseline.text if isinstance(baseline, Response) else ""
    return _restored(text, answer, renaming)


def _restored(baseline: str, value: Any, renaming: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return under_renaming(baseline, value, renaming)
    if isinstance(value, Response):
        calls = tuple(
            replace(call, arguments=_restored(baseline, call.arguments, renaming))
            for call in value.tool_calls
        )
        return replace(value, text=under_renaming(baseline, value.text, renaming), tool_calls=calls)
    if type(value) in {list, tuple}:
        return type(value)(_restored(baseline, each, renaming) for each in value)
    if type(value) is dict:
        keys = [_restored(baseline, key, renaming) for key in value]
        keys = keys if len({*keys}) == len(keys) else list(value)
        return {
            key: _restored(baseline, each, renaming) for key, each in zip(keys, value.values(), strict=True)
        }
    return value


def _inverse(renaming: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(renaming, Mapping):
        raise UsageError(f"renaming is {type(renaming).__name__}; give a mapping of old names to new ones.")
    back: dict[str, str] = {}
    for old, new in renaming.items():
        for name in (old, new):
            if not (isinstance(name, str) and name.isidentifier()):
                raise UsageError(f"renaming: {name!r} is no identifier; give a mapping of names to names.")
        if new in back:
            raise UsageError(f"renaming: {back[new]!r} and {old!r} would both be {new!r}; give each its own.")
        back[new] = old
    return back


def _fresh(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    taken.add(f"{name}_{number}")
    return f"{name}_{number}"


def _code_in(response: str) -> list[tuple[int, int]]:
    """Where code stands in an answer, without its strings and comments."""
    spans = [match.span(1 if match[1] is not None else 3) for match in _CODE.finditer(response)]
    if not spans and looks_like_program(response):
        spans = [(0, len(response))]
    found: list[tuple[int, int]] = []
    for start, end in spans:
        position = start
        for text in _TEXTS.finditer(response, start, end):
            found.append((position, text.start()))
            position = text.end()
        found.append((position, end))
    return found


def _is_variable(text: str, start: int, end: int) -> bool:
    """Whether a name is neither an attribute nor a keyword argument."""
    lead = text[max(0, start - _LEAD) : start]
    return not lead.endswith(".") and not (_KEYWORD.match(text, end) and _OPENS_ARGUMENT.search(lead))
