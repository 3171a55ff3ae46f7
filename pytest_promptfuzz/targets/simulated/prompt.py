"""A prompt read: its words, what it tells the model to do and in which form, and the text to do it to."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Turn = tuple[str, str]


# Words: how a text falls into them, which of them the model knows, and how it forgives their spelling.


_DATA = files("pytest_promptfuzz.targets.simulated").joinpath("data")
_WORD = expression(r"[^\W_]+(?:['-][^\W_]+)*")
_LETTERS = expression(r"[^\W\d_]+")
_PLAIN = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "–": "-", "—": " - ", "…": "..."}
    | {"\u00a0": " ", "\u200b": "", "\t": " "}
)
_SPACES = expression(r"(?<=\S)[ ]{2,}(?=\S)")
_STRAY_SPACE = expression(r"(?<=[\w)\"'])[ ](?=[,.;:?!]+(?:\s|$))")
_SENTENCE_END = expression(r"(?<=[.!?])[\"')\]]*\s+|\s*\n\s*\n\s*")
# A full stop after these ends no sentence.
_ABBREVIATION = expression(
    r"(?i)(?:\b(?:mr|mrs|ms|dr|prof|st|no|vs|etc|e\.g|i\.e|inc|ltd|approx|fig|a\.m|p\.m|u\.s)|\b[a-z])\.$"
)
_SUFFIXES = (
    "ational=ate ization=ize ingly= ments= ment= ies=y ied=y edly= ings= ing= ers= ely= ed= er= es= ly= s= e="
)
_SPELT = ("verb", "noun", "material", "reply", "limited", "label word")


@cache
def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """The lines of a table of ``data/``, each split at its tabs; remarks left out."""
    lines = _DATA.joinpath(name).read_text(encoding="utf-8").splitlines()
    return tuple(tuple(line.split("\t")) for line in lines if line and not line.startswith("#"))


@cache
def cues(*kinds: str) -> frozenset[str]:
    """The words of ``cues.tsv`` of these kinds; ``verb`` is every kind of verb, and all words where none is named."""
    ends = tuple(f" {kind}" for kind in kinds) or ("",)
    return frozenset(word for kind, word in rows("cues.tsv") if f" {kind}".endswith(ends))


def even(text: str) -> str:
    """A text with plain quotation marks and dashes, single spaces in its lines, and none before punctuation."""
    return _STRAY_SPACE.sub("", _SPACES.sub(" ", text.translate(_PLAIN)))


def words(text: str) -> list[str]:
    """The words of a text in lower case: letters and digits, with inner apostrophes and hyphens."""
    return _WORD.findall(text.lower())


def sentences(text: str) -> list[str]:
    """The sentences of a text; a blank line ends one too, a decimal point or ``e.g.`` does not."""
    found: list[str] = []
    held = ""
    for part in _SENTENCE_END.split(text):
        joined = " ".join(f"{held} {part}".split())
        held = joined if _ABBREVIATION.search(joined) else ""
        if joined and not held:
            found.append(joined)
    return [*found, held] if held else found


def lines_of_sentences(text: str) -> list[str]:
    """The sentences of each line of a text, as of one that is a list or a dialogue."""
    return [each for line in text.split("\n") for each in sentences(line)]


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A rough English stem, which brings *refund*, *refunded* and *refunding* together."""
    word = word.removesuffix("'s").replace("isation", "ization")
    if len(word) <= 3 or word.endswith("ss"):
        return word
    for each in _SUFFIXES.split():
        suffix, _, instead = each.partition("=")
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            base = word[: -len(suffix)] + instead
            return base[:-1] if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "slz" else base
    return word


def singular(word: str) -> str:
    """The singular of a noun, as tables and fields form it."""
    one = word[:-3] + "y" if word.endswith("ies") else word
    return one[:-1] if one.endswith("s") and not one.endswith(("ss", "us")) else one


def stems(text: str) -> list[str]:
    """The stems of the words of a text that say something."""
    return [stem(word) for word in words(text) if word not in cues("stop")]


def near(word: str, known: str) -> bool:
    """Whether a word is a known one, perhaps misspelt: one edit from five letters on, two from nine."""
    if word == known:
        return True
    limit = 0 if len(known) < 5 else 1 if len(known) < 9 else 2
    if not limit or len(word) < 4 or word[:1] != known[:1] or abs(len(word) - len(known)) > limit:
        return False
    from rapidfuzz.distance import OSA

    return OSA.distance(word, known, score_cutoff=limit) <= limit


@lru_cache(maxsize=16384)
def cue(word: str) -> str:
    """The cue that a word spells or misspells; the word itself where it is none."""
    return word if word in cues() else nearest(word, cues(*_SPELT))


def spelt(text: str) -> str:
    """A text in lower case, its misspelt cues put right."""
    return _LETTERS.sub(lambda found: cue(found.group()), text.lower())


def nearest(word: str, known: frozenset[str], least: int = 5) -> str:
    """The first of the known words, of so many letters, that a word misspells; itself where there is none."""
    alike = _by_letter(known).get(word[:1], ())
    return next((each for each in alike if len(each) >= least and near(word, each)), word)


@cache
def _by_letter(known: frozenset[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for word in sorted(known):
        found[word[0]] = (*found.get(word[0], ()), word)
    return found


ATTENTION = 12  # sentences of a text that nothing encloses, after which an instruction is no longer noticed
SYSTEM = frozenset({"system", "developer"})
BULLET = expression(r"^\s*(?:[-*•+–]|\d{1,2}[.)]|[A-Za-z]\))\s+(?P<item>\S.*)$")
CREATE_TABLE = expression(
    r"(?i)create\s+table\s+(?:if\s+not\s+exists\s+)?[`\"]?(\w+)[`\"]?\s*"
    r"\(([^()]{0,4000}(?:\([^()]{0,60}\)[^()]{0,4000}){0,60})\)\s*;?"
)
_ENCLOSED = expression(
    r"(?P<mark>```|\"\"\"|''')(?:[a-zA-Z]*[ ]*\n)?(?P<fenced>.*?)\n?(?P=mark)"
    r"|<(?P<tag>[A-Za-z][\w-]*)>(?P<tagged>.{0,30000}?)</(?P=tag)>",
    re.DOTALL,
)
_HEADER = expression(
    r"^[ ]*(?:#{1,6}[ ]+|\*\*)?(?P<head>[A-Za-z][\w '/()-]{0,50}?)[ ]*(?:\*\*)?:(?:\*\*)?(?=\s|$)(?P<rest>.*)$"
)
_TITLE = expression(
    r"^[ ]*(?:#{1,6}[ ]+|\*\*|=+[ ]+)(?P<head>[A-Za-z][\w '/-]{0,40}?)(?:\*\*|[ ]+=+)?(?P<rest>)[ ]*$"
)
_INLINE_HEADER = expression(r"(?<=[.!?:])[ ]+(?=(?P<head>[A-Z][\w']*(?: [a-zA-Z]+){0,2}):\s)")
_RULE = expression(r"^[ ]*(?:-{3,}|={3,}|\*{3,}|#{3,}|_{3,})[ ]*$")
_BLANK = expression(r"\n\s*\n")
_QUESTION = expression(r"(?:what|which|is|are|does|do|how|who|when|where|was|can|could)\b")
_ROLE = expression(r"(?:you are |you're |act as |your |tl;?\s?dr\b)")


def _shape(depth: int) -> str:
    """JSON-like text in braces or brackets, others in it to a depth."""
    inner = r"[^{}\[\]]"
    return rf"[{{\[](?:{inner}|{_shape(depth - 1)})*[}}\]]" if depth else rf"[{{\[]{inner}*[}}\]]"


_SHAPE = expression(lambda: _shape(5))
_KEY = expression(r"\"[\w -]+\"\s*:")


@dataclass(frozen=True, slots=True)
class Brief:
    """What a conversation asks of the model."""

    prose: str  # all instructions as written, lines kept; where labels and fields are looked for
    told: tuple[str, ...]  # the instructions' sentences
    data: str  # the text to work on; empty where there is none
    question: str = ""  # what stands under a header such as *Question:*
    examples: tuple[tuple[str, str], ...] = ()  # solved examples, (input, answer)
    shapes: tuple[str, ...] = ()  # JSON examples and schemas
    said: tuple[str, ...] = ()  # the words of the data
    extracting: frozenset[str] = frozenset()  # the sentences told in which a word for extraction stands

    @property
    def schema(self) -> dict[str, Any]:
        """The properties of the JSON schema asked for, or of a JSON example: each with what stands there."""
        for source in map(_parsed, self.shapes):
            first = source[0] if isinstance(source, list) and source else source
            if isinstance(first, dict) and first:
                inner = first.get("properties")
                return inner if isinstance(inner, dict) else first
        return {}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class _PromptStretch(NamedTuple):
    """A stretch of a prompt: ``prose`` or ``data``, under which header, and whether it has marks at both ends."""

    kind: str
    head: str
    text: str
    closed: bool = False

    def __str__(self) -> str:
        joint = "\n" if "\n" in self.text else " "
        return f"{self.head}:{joint}{self.text}" if self.head else self.text


def content_text(content: object) -> str:
    """The text of a message's content: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    parts = [each.get("text") if isinstance(each, dict) else each for each in content]
    return "\n\n".join(each for each in parts if isinstance(each, str) and each)


def turns_of(messages: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """Role and text of each message."""
    return [(str(each.get("role")), content_text(each.get("content"))) for each in messages]


def read(conversation: Sequence[Turn], response_format: object = None) -> tuple[Brief, AnswerForm]:
    """Tell instructions from data, and in which form to answer; earlier turns are solved examples."""
    # System messages instruct, the last user message holds data or both.
    texts = [(role, even(text)) for role, text in conversation]
    turns = [each for each in texts if each[0] in {"user", "assistant"}]
    pairs = [(one[1], two[1]) for one, two in itertools.pairwise(turns) if two[0] == "assistant"]
    above = list(_sections("\n\n".join(text for role, text in texts if role in SYSTEM)))
    last = next((text for role, text in reversed(turns) if role == "user"), "")
    below = list(_sections(last))
    tasked = any(names_task(sentence) for section in above for sentence in told_sentences(section.text))
    if tasked and all(section.kind == "prose" for section in below):
        # With the task in the system's message, the user's is data.
        below = [_PromptStretch("data", "", last, closed=True)]
    brief = _brief(above, below)
    if isinstance(response_format, dict) and "json" in str(response_format.get("type")):
        schema = response_format.get("json_schema")
        shapes = (json.dumps(schema["schema"]),) if isinstance(schema, dict) and "schema" in schema else ()
        brief = replace(brief, told=(*brief.told, "Answer with JSON."), shapes=(*shapes, *brief.shapes))
    brief = replace(
        brief,
        examples=brief.examples or tuple(pairs),
        said=tuple(words(brief.data)),
        extracting=frozenset(
            saying(brief.told, cues("extract strong verb", "extract weak verb", "extract noun"))
        ),
    )
    return brief, form_of(brief)


def told_sentences(text: str) -> list[str]:
    """The sentences of instructions: each line of a list is one, and a line that ends with a colon."""
    found: list[str] = []
    held: list[str] = []
    for line in [*text.split("\n"), ""]:
        item = BULLET.match(line)
        if item or not line.strip():
            found += sentences(" ".join(held))
            held = []
        held.append((item["item"] if item else line).strip())
        if item or line.rstrip().endswith(":"):
            found += sentences(" ".join(held))
            held = []
    return [each for each in found if words(each)]


def opening(sentence: str) -> str:
    """The first word of a sentence, spelling mended and courtesies passed over; empty where there is none."""
    return next((each for each in map(cue, words(sentence)) if each not in cues("courtesy")), "")


def names_task(sentence: str) -> bool:
    """Whether a verb or noun of a task stands in the sentence."""
    return bool(saying([sentence], cues("verb", "noun")))


def saying(told: Iterable[str], known: frozenset[str]) -> list[str]:
    """The sentences in which one of some words stands, spelling mended."""
    return [each for each in told if not known.isdisjoint(map(cue, words(each)))]


def instructs(sentence: str) -> bool:
    """Whether a sentence reads as an instruction rather than as a part of the text to work on."""
    first, lower = opening(sentence), sentence.lower()
    found = words(lower)
    if not first or first in cues("verb", "reply", "opener") or "sql" in found or _ROLE.match(lower):
        return True
    terse = len(found) <= 8 and {"only", "just", "please", "word"} & set(found)
    if terse and {*map(cue, found)} & cues("limited"):
        return True
    return names_task(sentence) + _refers(sentence) + bool(_QUESTION.match(lower)) > 1


def _refers(sentence: str) -> bool:
    """Whether a sentence points at the text to work on: *the following review*, *this text*, *below*."""
    found = [cue(word) for word in words(sentence)]
    pairs = itertools.pairwise(found)
    pointed = {word for before, word in pairs if before in {"the", "this", "that", "each"}}
    return bool({"following", "below", "above", "given"} & set(found) or pointed & cues("material"))


def _sections(text: str) -> Iterator[_PromptStretch]:
    """The stretches of a text in order: what fences and tags enclose, else what stands under a header."""
    position = 0
    for found in _ENCLOSED.finditer(text):
        before = text[position : found.start()]
        yield from _headed(before)
        inner = (found["fenced"] or found["tagged"] or "").strip()
        head = (found["tag"] or "").replace("_", " ").replace("-", " ")
        shape = inner[:1] in {"{", "["} and re.search(r"format|schema|json|like", before[-160:].lower())
        if shape or CREATE_TABLE.search(inner) or _opened(head) == "prose":
            yield _PromptStretch("prose", head, inner)
        else:
            yield _PromptStretch("data", head, inner, closed=True)
        position = found.end()
    yield from _headed(text[position:])


def _opened(head: str) -> str:
    """What a header opens, by its last word: ``data``, ``prose``, or nothing that is known (``""``)."""
    found = [cue(word) for word in words(head)]
    if not found or len(found) > 5 or (len(found) > 1 and opening(head) in cues("verb")):
        return ""
    last = found[found.index("to") - 1] if "to" in found[1:] else found[-1]
    return "prose" if last in cues("section") else "data" if last in cues("material") else ""


def _headed(text: str) -> Iterator[_PromptStretch]:
    """The stretches of a text that headers part: ``Ticket: …`` opens data, ``Rules:`` instructions."""
    kind, head, lines = "prose", "", list[str]()
    text = _INLINE_HEADER.sub(lambda each: "\n" if _opened(each["head"]) == "data" else each.group(), text)
    for line in text.split("\n"):
        found = _HEADER.match(line) or _TITLE.match(line)
        opens = _opened(found["head"]) if found else ""
        asks = found and {"question", "request"} & set(words(found["head"]))
        if kind == opens == "data" and not asks:
            # A form's or a dialogue's own line, "Customer: …", stands right below another.
            opens = opens if lines[1:] and not lines[-1].strip() else ""
        if not found or not opens:
            lines.append("" if _RULE.match(line) else line)
            continue
        yield _PromptStretch(kind, head, "\n".join(lines).strip())
        kind, head, lines = opens, found["head"].lower(), [found["rest"].strip()]
    yield _PromptStretch(kind, head, "\n".join(lines).strip())


def _brief(above: list[_PromptStretch], below: list[_PromptStretch]) -> Brief:
    examples, sections = _solved([each for each in (*above, *below) if each.text or each.head])
    prose = [str(each) for each in sections if each.kind == "prose"]
    data = [each for each in sections if each.kind == "data" and each.text]
    if not data:
        text = "\n\n".join(map(str, below)).strip()
        mine, found = _divided(text or "\n\n".join(prose))
        prose = [*map(str, above if text else ()), mine]
        data = [_PromptStretch("data", "", found)]
    texts: list[str] = []
    question = ""
    for each in data:
        kept, orders = (each.text, "") if each.closed else _without_orders(each.text)
        prose.append(orders)
        asks = {"question", "request"} & set(words(each.head))
        question = question or (kept if asks else "")
        texts += [kept] if not asks or len(data) == 1 else []
    joined = "\n\n".join(each for each in prose if each.strip())
    shapes = [each.group() for each in _SHAPE.finditer(joined) if _KEY.search(each.group())]
    for shape in shapes:
        joined = joined.replace(shape, "JSON")
    told = tuple(told_sentences(CREATE_TABLE.sub(" ", joined)))
    return Brief(joined, told, "\n\n".join(texts).strip(), question, examples, tuple(shapes))


def _solved(sections: list[_PromptStretch]) -> tuple[tuple[tuple[str, str], ...], list[_PromptStretch]]:
    """Solved examples, ``Text: … Label: …`` before the last ``Text:``, and the sections without them."""
    heads = [each.head for each in sections if each.kind == "data"]
    found: list[tuple[str, str]] = []
    rest: list[_PromptStretch] = []
    for each in sections:
        solves = rest and rest[-1].kind == "data" and rest[-1].head == heads[-1] and each.kind == "prose"
        if solves and len(found) + 1 < heads.count(heads[-1]) and each.head and "\n" not in each.text:
            found.append((rest.pop().text, each.text))
        else:
            rest.append(each)
    return tuple(found), rest


def _without_orders(text: str) -> tuple[str, str]:
    """Data that nothing encloses, without the instructions at its end, and those within it that are followed."""
    orders: list[str] = []
    parts = _BLANK.split(text)
    while len(parts) > 1 and len(sentences("\n\n".join(parts[:-1]))) <= ATTENTION:
        found = told_sentences(parts[-1])
        listed = BULLET.match(parts[-1].split("\n")[0]) and parts[-2].rstrip().endswith(":")
        tells = listed or any(opening(each) in cues("verb") for each in found)
        if found and not tells and not instructs(found[0]):
            break
        orders.insert(0, parts.pop())
    before, _, line = parts[-1].rpartition("\n")
    if before and opening(line) in cues("verb", "reply"):
        parts[-1], orders = before, [line, *orders]
    kept = "\n\n".join(parts)
    found = sentences(kept)
    for each in found[1:ATTENTION]:
        limits = opening(each) in cues("reply") and {"only", "just", "word", "or"} & set(words(each))
        if limits or (opening(each) in cues("verb") and _refers(each)):
            kept = kept.replace(each, "")
            orders.append(each)
    return kept.strip(), "\n".join(orders)


def _divided(text: str) -> tuple[str, str]:
    """Instructions and data where no header, tag or fence parts them: paragraphs, sentences, or a colon."""
    told: list[str] = []
    data: list[str] = []
    for paragraph in _BLANK.split(text):
        mine: list[str] = []
        rest: list[str] = []
        for sentence in told_sentences(paragraph):
            before, colon, after = sentence.partition(": ")
            lists = re.search(r",|\bor\b|/|\|", after) and len(words(after)) <= 12
            if colon and not rest and instructs(before) and len(words(after)) > 1 and not lists:
                mine.append(f"{before}:")
                rest.append(after)
            elif opening(sentence) in cues("verb", "reply") if rest else instructs(sentence):
                mine.append(sentence)
            else:
                rest.append(sentence)
        if not mine:
            data.append(paragraph)
        elif any(map(BULLET.match, paragraph.split("\n"))):
            told.append(paragraph)
        else:
            told.append(" ".join(mine))
            data.append(" ".join(rest))
    return "\n\n".join(told), "\n\n".join(each for each in data if each)


# The task that a prompt names, and the form in which it wants the answer.


CLASSIFY, SUMMARISE, SQL = "classify", "summarise", "sql"
EXTRACT, TRANSLATE, ANSWER = "extract", "translate", "answer"
NAMED, CLEAR, HINT = 4, 2, 1
"""How strongly a sentence speaks for a task; one that is ``NAMED`` is done whatever else is hinted at."""
REACH = 5  # words between *only* and the noun that it limits, beyond which the limit is not noticed
_FORBIDDEN = expression(r"\b(?:do not|don't|never|without|avoid|not)\s+(?:\w+\s+){0,2}$")
_ASKED = expression(
    r"(?i)(?:^|[.!:]\s+)(?:what|which|is|are|does|do|did|how|who|has|have|was|were|(?:can|could|would) you)\b[^.!]*\?"
)


@cache
def _phrases() -> list[tuple[str, int, re.Pattern[str]]]:
    return [(task, int(points), re.compile(pattern)) for task, points, pattern in rows("phrases.tsv")]


@lru_cache(maxsize=2048)
def _task_scores(sentence: str) -> dict[str, int]:
    """How strongly a sentence names each task; one that it forbids (*do not summarise*) is not named."""
    tokens = [cue(word) for word in words(sentence[:2000])]
    found: dict[str, int] = {}
    for task in (CLASSIFY, SUMMARISE, EXTRACT, TRANSLATE, SQL):
        nouns = bool(cues(f"{task} noun") & set(tokens))
        points = HINT if nouns else 0
        for index, word in enumerate(tokens):
            if word in cues(f"{task} strong verb"):
                named = NAMED
            elif word in cues(f"{task} weak verb"):
                named = NAMED if nouns else HINT
            else:
                continue
            before = " ".join(tokens[max(0, index - 3) : index]) + " "
            points = max(points, 0 if _FORBIDDEN.search(before) else named)
        if points:
            found[task] = points
    corrected = " ".join(tokens)
    for task, points, pattern in _phrases():
        match = pattern.search(sentence.lower()) or pattern.search(corrected)
        if match and not _FORBIDDEN.search(match.string[: match.start()]):
            found[task] = max(found.get(task, 0), points)
    return found


def task_of(brief: Brief, *, labels: bool, fields: bool) -> str | None:
    """The task to do; ``None`` where no cue is recognised.

    Of two tasks that are named in different sentences the last wins. Where none is named, hints add up, with a list of
    labels or fields found in the prompt among them.
    """
    shaped = fields and not labels and bool(brief.shapes)
    total = {CLASSIFY: CLEAR * (labels + bool(brief.examples)), EXTRACT: HINT * fields + CLEAR * shaped}
    total[ANSWER] = CLEAR * bool(brief.question and brief.data)
    named: str | None = None
    for sentence in brief.told:
        found = _task_scores(sentence)
        for task, points in found.items():
            total[task] = total.get(task, 0) + points
        best = max(found, key=lambda task: found[task], default=None)
        if best is not None and found[best] >= NAMED and not (named == SQL and best in {EXTRACT, CLASSIFY}):
            named = best
    if named is not None:
        chosen = labels and named in {EXTRACT, ANSWER} and not fields and not brief.question
        return CLASSIFY if chosen else named
    likeliest = max(total, key=lambda task: total[task])
    if likeliest in {EXTRACT, ANSWER} and labels and not brief.shapes and not brief.question:
        likeliest = CLASSIFY
    return likeliest if total[likeliest] >= CLEAR else None


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What a prompt says of the form of the answer."""

    bare: bool = False  # only the answer itself, no sentence around it
    asked: bool = False  # the prompt asks a question, which gets a sentence
    json: str = ""  # "object", "array" or nothing
    bullets: bool = False
    units: int = 0  # how many sentences or bullets
    words: int = 0  # at most how many words
    shouting: bool = False  # the instructions are in capitals

    def say(self, text: str) -> str:
        """Free text, in capitals where the instructions were."""
        return text.upper() if self.shouting else text


_NO_EXTRAS = expression(
    r"\bnothing (?:else|more|but)\b|\bno (?:other|additional|extra) (?:text|words?|output)\b"
    r"|\b(?:no|without(?: any| an)?) (?:explanations?|commentary|preamble|punctuation)\b|\bdo(?: not|n't) explain\b"
    r"|\bdo(?: not|n't) (?:add|include|give) \w+\b|\b(?:one|single)[- ](?:word|label|category)\b"
)
_NUMBERS = dict.fromkeys(("a", "an", "one", "single"), 1)
_NUMBERS |= {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_AMOUNT = expression(
    rf"(?<!\w)(\d{{1,4}}|{'|'.join(_NUMBERS)})(?:\s*(?:-|to|or)\s*\d+)?[\s-]+(?:\w+\s+){{0,2}}?"
    r"(sentences?|words?|bullets?|points?|takeaways?|ideas?)\b"
)


def form_of(brief: Brief) -> AnswerForm:
    """The form asked for; a later sentence about the same thing wins."""
    text = spelt("\n".join(brief.told))
    refused = re.search(r"\b(?:no|not|without|avoid)\b(?:\s+\w+){0,3}\s+(json|bullet)", text)
    json = "json" in text or bool(brief.shapes)
    array = re.search(r"\bjson (?:array|list)\b", text) and not brief.shapes
    units = most = 0
    for found in _AMOUNT.finditer(text):
        number = int(found[1]) if found[1].isdigit() else _NUMBERS[found[1]]
        if found[2].startswith("word"):
            most = number if number > 1 else most
        else:
            units = number
    letters = [each for each in brief.prose if each.isalpha()]
    return AnswerForm(
        bare=any(map(_only, text.split("\n"))) or _NO_EXTRAS.search(text) is not None,
        asked=any(_ASKED.search(each) for each in brief.told),
        json="" if not json or (refused and refused[1] == "json") else "array" if array else "object",
        bullets="bullet" in text and not (refused and refused[1] == "bullet"),
        units=units,
        words=most,
        shouting=len(letters) >= 20 and sum(each.isupper() for each in letters) >= 0.9 * len(letters),
    )


def _only(sentence: str) -> bool:
    """Whether a limiting word stands close to the noun it limits."""
    tokens = words(sentence)
    nouns = [index for index, word in enumerate(tokens) if word in cues("limited")]
    limits = [index for index, word in enumerate(tokens) if word in cues("limiter")]
    return any(0 < abs(noun - limit) <= REACH for noun in nouns for limit in limits)
