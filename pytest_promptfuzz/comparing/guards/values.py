"""Guards for numbers, dates, units, addresses, versions and quoted text: 14 that became 41, kilograms, pounds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.comparison import Observation
from pytest_promptfuzz.comparing.guards.pair import Finding, contradiction, doubt
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.text import strip_fence
from pytest_promptfuzz.comparing.values import same_values
from pytest_promptfuzz.data.tables import when_used
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.reading.text import Text


_CONTEXT = 4
_MOST = 200
"""Changed numbers looked at in one pair of statements: a table of thousands is not read to its end."""

_SIGNED = expression(r"(?<![\w.)])[-−](?=[$€£]?\d)")
_OPERATOR = expression(r"[<>≤≥≠=]=?")
_ROLES = frozenset({"from", "to", "between", "by", "over", "under", "than", "until", "since"})


def _numbers(tokens: Iterable[str]) -> list[str]:
    return [token for token in tokens if token[0].isdigit()]


def _positions(tokens: Sequence[str]) -> list[int]:
    return [index for index, token in enumerate(tokens) if token[0].isdigit() or token == _HALF]


def _amounts(tokens: Iterable[str]) -> list[str]:
    """The tokens that are numbers; 50 % is read as a half."""
    return [token for token in tokens if token[0].isdigit() or token == _HALF]


_HALF = "half"


def _context(tokens: list[str], index: int) -> set[str]:
    near = tokens[max(0, index - _CONTEXT) : index] + tokens[index + 1 : index + 1 + _CONTEXT]
    return {token for token in near if token not in word_lists.FUNCTION_WORDS and not token[0].isdigit()}


def check_numbers(pair: Pair) -> Finding | None:
    """Whether a number of the baseline is another one in the response."""
    from pytest_promptfuzz.comparing.guards.negations import written

    found = _symbols(pair) or _other_day(pair)
    if found:
        return found
    gone, come = map(_amounts, pair.changed)
    if not gone and not come:
        return _moved(pair)
    if gone and come:
        for side in pair.sides:
            found = _replaced(side)
            if found:
                return found
    lost = next((token for token in pair.middle_a if token in pair.only_a and _counts(token, pair.a)), None)
    if lost is not None:
        if pair.short and _refilled(pair, lost):
            return contradiction("numbers", "number-gave-way", written(pair, lost))
        return doubt("numbers", "number-missing", written(pair, lost))
    new = next((token for token in pair.middle_b if token in pair.only_b and _counts(token, pair.b)), None)
    if new is None:
        return None
    return doubt("numbers", "number-added", written(pair, new, response=True))


def _other_day(pair: Pair) -> Finding | None:
    """A day for another one, where one of the texts writes it in digits."""
    one, two = pair.a.clean, pair.b.clean
    if not (pair.a.once(same_values.in_digits) or pair.b.once(same_values.in_digits)):
        return None
    here, there = (
        {day for day, _, _ in days} for days in (same_values.days(one, two), same_values.days(two, one))
    )
    if here - there and there - here:
        old, new = (min(days).date() for days in (here - there, there - here))
        return contradiction("numbers", "day-became", old, new)
    return None


_ARTICLE_LIKE = frozenset({"1"})


def _counts(token: str, text: Text) -> bool:
    """Whether a token is a number whose absence is news; "one day" and "a day" are the same."""
    return token[0].isdigit() and not (token in _ARTICLE_LIKE and "one" in text.words)


def _replaced(pair: Pair) -> Finding | None:

    from pytest_promptfuzz.comparing.guards.negations import written

    fewer, more = map(_amounts, pair.changed)
    if not fewer or not more:
        return None
    gone = [index for index, token in enumerate(pair.a.tokens) if token in fewer]
    come = [index for index, token in enumerate(pair.b.tokens) if token in more]
    whole = len(_positions(pair.a.tokens)) == 1 == len(_positions(pair.b.tokens))
    places = [(index, _context(pair.b.tokens, index)) for index in come[:_MOST]]
    for index_a in gone[:_MOST]:
        around = _context(pair.a.tokens, index_a)
        for index_b, there in places:
            shared = around & there
            unit_a, unit_b = _unit(pair.a.tokens, index_a), _unit(pair.b.tokens, index_b)
            if unit_a != unit_b and (unit_a in _KNOWN_UNITS or unit_b in _KNOWN_UNITS) and not pair.short:
                continue
            if shared or (whole and pair.short) or not around:
                old, new = pair.a.tokens[index_a], pair.b.tokens[index_b]
                words = written(pair, old), written(pair, new, response=True)
                return contradiction("numbers", "number-became", *words)
    return None


_KNOWN_UNITS = when_used(lambda: frozenset({*word_lists.UNITS.values(), "day", "month", "minute", "hour"}))


def _unit(tokens: Sequence[str], index: int) -> str:
    return tokens[index + 1] if index + 1 < len(tokens) else ""


def _refilled(pair: Pair, number: str) -> bool:
    """Whether words of meaning stand where the number stood."""
    for gone, come in pair.edits:
        if number in gone:
            return any(token not in word_lists.FUNCTION_WORDS for token in come) and pair.similarity >= 0.5
    return False


def _moved(pair: Pair) -> Finding | None:
    """The same numbers, each now in the other's place: "from 18 % to 22 %" against "from 22 % to 18 %"."""
    if _numbers(pair.middle_a) == _numbers(pair.middle_b):
        return None
    for side in pair.sides:
        first, second = side.a.tokens, side.b.tokens
        places_a, places_b = _places(first), _places(second)
        if len(places_a) < 2:
            continue
        for number, place in places_a.items():
            other = places_b.get(number)
            if other is None or other == place:
                continue
            holder = next(
                (each for each, where in places_b.items() if where == place and each != number), None
            )
            if holder is not None and places_a.get(holder) == other:
                return contradiction("numbers", "numbers-changed-places", number, holder)
    return None


def _places(tokens: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Each number that stands once, with the words that say what it is: the preposition, else its neighbours."""
    places: dict[str, tuple[str, ...]] = {}
    positions = _positions(tokens)
    for index in positions:
        token = tokens[index]
        before = tokens[index - 1] if index else ""
        back = index - 1
        while back >= 0 and (tokens[back][0].isdigit() or tokens[back] in {"a", "an", "the", "dollar"}):
            back -= 1
        before = tokens[back] if back >= 0 else ""
        after = (
            next((each for each in tokens[index + 1 :] if each not in _PLAIN), "")
            if before not in _ROLES
            else ""
        )
        if token in places:
            places[token] = ("twice", token)
        else:
            places[token] = (before, after)
    return places


_PLAIN = frozenset({"%", "dollar", "euro", "and", "to", "in", "of", "the"})


_MARKS = "-<>=−≤≥≠"


def _marked(text: Text) -> bool:
    clean = text.clean
    for mark in _MARKS:  # noqa: SIM110  # asked of every text: a fifth of what an expression or any() takes
        if mark in clean:
            return True
    return False


def _symbols(pair: Pair) -> Finding | None:
    raw_a, raw_b = pair.a.clean, pair.b.clean
    if not pair.a.once(_marked) and not pair.b.once(_marked):
        return None
    if ("-" in raw_a or "-" in raw_b or "−" in raw_a or "−" in raw_b) and (
        len(_SIGNED.findall(raw_a)) != len(_SIGNED.findall(raw_b))
    ):
        same = [token for token in pair.a.tokens if token[0].isdigit() and token in pair.b.token_set]
        if same:
            return (contradiction if pair.short else doubt)("numbers", "sign-changed", same[0])
    if _OPERATOR.search(raw_a) and _OPERATOR.search(raw_b):
        here, there = _OPERATOR.findall(raw_a), _OPERATOR.findall(raw_b)
        if here != there and len(here) == len(there):
            return contradiction("numbers", "sign-became", " ".join(here), " ".join(there))
    return None


# Addresses, codes and pictures: what is one letter away from another one and never a synonym of it.


_ADDRESS = expression(r"https?://[^\s<>\"'`)\]]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CODE = expression(r"(?<![\w.-])(?=[\w./-]*\d)(?=[\w./-]*[A-Z])[A-Z\d]+(?:[-/.][A-Z\d]+)*(?![\w-])")
_LETTER = expression(
    r"[A-HJ-Z](?<![\w.'’&/°+-][A-Z])(?:(?<!A)|(?<=: A)|(?<=option A)|(?<=grade A)|(?<=type A)|(?<=class A)"
    r"|(?<=group A)|(?<=vitamin A)|(?<=hepatitis A)|(?<=plan A)|(?<=answer A))\d{0,3}(?![\w'’&]|\.\w|\. [A-Z]\w*, )"
)
"""A letter that stands for itself: vitamin D, option B, B12."""
_SPAN = expression(r"(?<!`)`([^`\n]{1,80})`(?!`)")
_FILE = expression(
    r"\b[\w-]+\.(?:docx?|xlsx?|pptx?|pdf|csv|json|ya?ml|py|js|ts|txt|md|html|xml|zip|png|jpe?g|sh|sql|ini|toml|log)\b",
    re.IGNORECASE,
)
_ENDING = expression(r"\.[a-zA-Z]")
"""What every file's name has, and few sentences: looked for first, as it costs little."""

_RUN = expression(r"[\w./-]+")
_CAPITAL = expression(r"[A-Z]")
_LONGEST = 200
"""Characters of a code: looking for one in a longer run would take the square of its length."""
_VERSION = expression(
    r"(?:\b(?:versions?|releases?|builds?|sections?|chapters?|clauses?|figures?|paragraphs?|python|node(?:\.?js)?|java|ruby|php|perl"
    r"|rust|golang|kotlin|scala|typescript|django|flask|rails|react|angular|vue|spring|numpy|pandas|pytorch|tensorflow"
    r"|ubuntu|debian|fedora|alpine|linux|kernel|android|ios|macos|windows|kubernetes|docker|postgres(?:ql)?|mysql|redis"
    r"|gcc|cuda|npm|pip)(?:\s(?:is|number))?[\s:=]{1,3}v?|\bv\.?\s?|§\s?)(\d+(?:\.\d+)+)",
    re.IGNORECASE,
)
_KEYS = expression(r"\b(?:ctrl|cmd|alt|shift|option)\s?\+\s?\w+(?:\s?\+\s?\w+)*", re.IGNORECASE)
_DIGIT = expression(r"\d")
_POINT = expression(r"\d\.\d")
_QUANTITY = expression(
    r"\d+(?:[.,]\d+)*(?:AM|PM|K|M|B|GB|MB|KB|TB|C|F|D|X|H|%)?|Q[1-4]|[A-Z]*\d*(?:ST|ND|RD|TH)"
)
_ENDS = ".,;:!?"

GLAD = frozenset("👍✅✔☑😀😃😄😁😊🙂😍🥳🟢💚❤🎉")
SORRY = frozenset("👎❌✖✗🚫😢😞😠😡🙁☹😭🔴💔⛔")


def check_identifiers(pair: Pair) -> Finding | None:
    """Whether an address, a code or a picture of approval became another one."""
    one, two = pair.a.clean, pair.b.clean
    if not one.isascii() or not two.isascii():
        found = _pictures(one, two)
        if found:
            return found
    found = None
    if "@" in one or "://" in one:
        found = _other(_addresses(one), _addresses(two))
    if not found and any(map(_DIGIT.search, pair.only_a)) and any(map(_DIGIT.search, pair.only_b)):
        found = _other(pair.a.once(_codes), pair.b.once(_codes))
    if not found and pair.a.once(_intricate):
        found = _other_intricate(pair)
    return found or _other_letter(pair)


def _other_intricate(pair: Pair) -> Finding | None:
    """Whether what is set as code, a file, a version or keys to press became another."""
    one, two = pair.a.clean, pair.b.clean
    found = None
    if "`" in pair.a.raw and "`" in pair.b.raw:
        found = _other(_spans(pair.a.raw), _spans(pair.b.raw))
    if not found and pair.a.once(_has_ending) and pair.b.once(_has_ending):
        found = _other(_files(one), _files(two))
    if not found and (("." in one and ("0" in one or "0" in two)) or "+" in one):
        found = _other(pair.a.once(_exact), pair.b.once(_exact))
    return found


def _other_letter(pair: Pair) -> Finding | None:
    if any(map(_is_short, pair.only_a)) and any(map(_is_short, pair.only_b)):
        return _other(pair.a.once(_letters), pair.b.once(_letters))
    return None


def _is_short(token: str) -> bool:
    return (len(token) <= _SHORT and token[0].isalpha()) or token in _UNITS


_SHORT = 3
_UNITS = frozenset({"celsius", "fahrenheit", "gram", "litre"})
"""What a single letter may be read as."""


def _letters(text: Text) -> dict[str, None]:
    return dict.fromkeys(found[0] for found in _LETTER.finditer(text.clean))


def _spans(text: str) -> dict[str, None]:
    """What a text sets as code within a line."""
    return dict.fromkeys(" ".join(found[1].split()) for found in _SPAN.finditer(text))


def _intricate(text: Text) -> bool:
    """Whether a text may name a file, a version, keys to press, or set anything as code."""
    clean = text.clean
    stops = clean.count(". ") + clean.endswith(".")
    return clean.count(".") > stops or "+" in clean or "`" in text.raw


def _has_ending(text: Text) -> bool:
    return bool(_ENDING.search(text.clean))


def _files(text: str) -> dict[str, None]:
    return dict.fromkeys(found[0].lower() for found in _FILE.finditer(text))


def _addresses(text: str) -> dict[str, None]:
    return dict.fromkeys(found[0].rstrip(_ENDS + "/").lower() for found in _ADDRESS.finditer(text))


def _codes(text: Text) -> dict[str, None]:
    clean = text.clean
    if not _DIGIT.search(clean) or not _CAPITAL.search(clean):
        return {}
    return dict.fromkeys(
        found[0]
        for run in _RUN.finditer(clean)
        if len(run[0]) <= _LONGEST and _DIGIT.search(run[0]) and _CAPITAL.search(run[0])
        for found in _CODE.finditer(clean, *run.span())
        if not _QUANTITY.fullmatch(found[0])
    )


def _exact(text: Text) -> dict[str, None]:
    """Versions, where 3.10 is not 3.1, and keys to press."""
    found = [each[1] for each in _VERSION.finditer(text.clean)] if _POINT.search(text.clean) else []
    if "+" in text.clean:
        found += [each[0].lower().replace(" ", "") for each in _KEYS.finditer(text.clean)]
    return dict.fromkeys(found)


def other_version(first: Text, second: Text) -> Observation | str | None:
    """What version, or key to press, of one short answer is another in the other one."""
    found = _other(first.once(_exact), second.once(_exact))
    return found.observed if found else None


def _other(here: dict[str, None], there: dict[str, None]) -> Finding | None:
    gone = [each for each in here if each not in there]
    come = [each for each in there if each not in here]
    if not gone or not come:
        return None
    return contradiction("identifiers", "word-became", gone[0], come[0])


def _pictures(one: str, two: str) -> Finding | None:
    here, there = set(one), set(two)
    for first, second in ((GLAD, SORRY), (SORRY, GLAD)):
        if here & first and there & second and not (here & second or there & first):
            old, new = (
                next(each for each in text if each in kind) for text, kind in ((one, first), (two, second))
            )
            return contradiction("identifiers", "name-became", old, new)
    return None


# What is read letter by letter: code, commands, paths and quotes, in which case, order and every mark count.


_MOST_LINES = 200
_LONGEST_LINE = 300
_COMMANDS = (
    "git|rm|cd|ls|mkdir|rmdir|npm|npx|pip|docker|sudo|apt|apt-get|brew|kubectl|helm|curl|wget|chmod|chown|ssh|scp|rsync"
    "|tar|unzip|cargo|yarn|pnpm|systemctl|terraform|cp|mv"
)
_LINE = expression(
    rf"\s*(?:\$ )?(?:(?:{_COMMANDS}) \S.*"
    r"|[A-Za-z_][\w.]*(?:\[[^\]\n]*\])? ?(?:[-+*/|&]?=) ?(?:[\"'\[({\d]|[A-Za-z_][\w.]*(?:\(|\s*(?:=|\Z))).*"
    r"|(?:await )?[A-Za-z_][\w.]*\([^\n]*\);?"
    r"|(?:for|if|elif|while|def|class|with|else|try|except|finally)\b.*(?::|\{)(?:\s*[a-z_][\w.]*\(.*\))?"
    r"|(?:import [\w.]+|from [\w.]+ import .+|return .+|(?:let|const|var) .+|[\])}]+[;,]?))\s*"
)
_PIECE = expression(r"\w+|[^\w\s]")
_QUOTED = expression(r"(?<![\w\"])\"([^\"\n]{1,200})\"|(?<![\w'])'([^'\n]{1,200})'(?!\w)|`([^`\n]{1,200})`")
_PATH = expression(
    r"(?:(?<![\w:/.])(?:~|\.{1,2})?/|\b[A-Za-z]:\\)[\w.\\/-]{0,200}\w|(?<!\S)--?[A-Za-z][\w-]{0,60}|(?<=://)[^\s<>\"'`)\]]{0,300}\w"
)
_ALSO_A_WORD = expression(r"\b(?:US|us|IT|it|WHO|who|AIDS|aids)\b")
_HINTS = "\"'`/\\-"
_CURLY = str.maketrans("“”„‘’", '"""\'\'')


def is_code(text: Text) -> bool:
    """Whether every line of a text is one of a program or a shell."""
    return text.once(_code)


def _code(text: Text) -> bool:
    lines = [line for line in strip_fence(text.raw).splitlines() if line.strip()]
    if not 0 < len(lines) <= _MOST_LINES or len(max(lines, key=len)) > _LONGEST_LINE:
        return False
    return all(map(_LINE.fullmatch, lines))


def _pieces(text: Text) -> list[str]:
    """The words and marks of a program, as they are written."""
    lines = (line.strip().rstrip(";.") for line in strip_fence(text.raw).splitlines())
    return [piece for line in lines if line for piece in (*_PIECE.findall(line), "\n")]


def _paths(text: Text) -> list[str]:
    """Paths and options, as they are written."""
    found: list[str] = _PATH.findall(text.raw)
    return found


def _literal_spans(text: Text) -> list[str]:
    """What stands in quotes, paths and options, as it is written."""
    quoted = _QUOTED.findall(text.raw.translate(_CURLY))
    return [mark for match in quoted for mark in match if mark] + text.once(_paths)


def other_case(first: Text, second: Text, *, quotes: bool = True) -> Observation | None:
    """What differs in case where case counts: within quotes, paths and options, and in "US" and "us".

    Args:
        first: The baseline.
        second: The response.
        quotes: Whether quotes are looked into: a label's own say nothing.
    """
    spans: list[list[str]] = [[], []]
    if any(hint in first.raw for hint in _HINTS) or "“" in first.raw or "‘" in first.raw:
        spans = [text.once(_literal_spans if quotes else _paths) for text in (first, second)]
    if not first.raw.isupper() or not second.raw.isupper():
        words = [_ALSO_A_WORD.findall(text.raw) for text in (first, second)]
        spans = [found + more for found, more in zip(spans, words, strict=True)]
    if len(spans[0]) != len(spans[1]):
        return None
    for one, two in zip(*spans, strict=True):
        if one != two and one.casefold() == two.casefold():
            return Observation("word-became", one, two)
    return None


def rewritten(first: Text, second: Text) -> Observation | None:
    """How two programs, or commands, differ in what is written; ``None`` where they do not or are none."""
    if not is_code(first) or not is_code(second):
        return None
    one, two = first.once(_pieces), second.once(_pieces)
    if one == two:
        return None
    if sorted(one) == sorted(two):
        return Observation("code-reordered")
    numbers = [sorted(each for each in pieces if each[0].isdigit()) for pieces in (one, two)]
    if numbers[0] != numbers[1]:
        return Observation(_OTHER_NUMBERS, *(tuple(each) or Observation("none") for each in numbers))
    return Observation("code-marks-differ")


_OTHER_NUMBERS = "code-numbers-became"


def check_literal(pair: Pair) -> Finding | None:
    """Whether what is read letter by letter is written otherwise."""
    found = rewritten(pair.a, pair.b)
    if found:
        return Finding("literal", "contradiction" if found.code == _OTHER_NUMBERS else "doubt", found)
    found = other_case(pair.a, pair.b)
    return Finding("literal", "doubt", found) if found else None
