"""Which lines of a prompt are instructions, and which may be data; the tasks that a prompt sets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.data.english_words import IMPERATIVES
from pytest_promptfuzz.mutations.analysis.draft import TOKENS, LineIndex, in_sections, tokens_of
from pytest_promptfuzz.mutations.analysis.spared_text import data_spans, inside
from pytest_promptfuzz.text.expressions import expression, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Line, Sentence


# What a heading is called whose text instructs; under any other there may be data.
_INSTRUCTING = words(
    """
    task tasks rule rules instruction instructions role output format formatting style guideline guidelines requirement
    requirements constraint constraints goal goals objective objectives answer answers answering response responses
    reply replies tone language you your how do don must may policy limits important
    """
)
_MARKED_TITLE = expression(r"(?:\*\*|__)[^*_.!?\n]{1,60}(?:\*\*|__)|={2,}[^=.!?\n]{1,60}={2,}")
_TAG = expression(r"<(/?)([A-Za-z][\w-]*)(?:\s[^<>\n]*)?>", re.ASCII)


def titles(draft: Draft) -> frozenset[int]:
    """The starts of the lines of prose that head what is under them: ``**Letter**``, ``=== Letter ===``, ``LETTER``.

    A title without a mark stands between blank lines, in three words at most, a capital first and no stop at the end.
    """
    lines = draft.lines
    found: set[int] = set()
    for number, line in enumerate(lines):
        if line.kind not in {"prose", "block"} or line.end - line.start > 70:
            continue
        text = draft.text[line.start : line.end].strip()
        if _MARKED_TITLE.fullmatch(text):
            found.add(line.start)
        elif (
            line.kind == "prose"
            and text[0].isupper()
            and text[-1].isalpha()
            and len(text.split()) < 4
            and (not number or lines[number - 1].kind == "blank")
            and number + 1 < len(lines)
            and lines[number + 1].kind == "blank"
        ):
            head = TOKENS.match(text.lower())
            if head is not None and head.group() not in IMPERATIVES:
                found.add(line.start)
    return frozenset(found)


def heading_above(draft: Draft, index: LineIndex, number: int) -> Line | None:
    """The heading or title right above a line of a section, blank lines aside."""
    line = index.before(number)
    titled = draft.once(titles)
    return line if line is not None and (line.kind == "heading" or line.start in titled) else None


def instruction_lines(draft: Draft, index: LineIndex, leads: set[int]) -> set[int]:
    """The starts of the lines that cannot be data: none in tags, none after or under what introduces literal text.

    Args:
        draft: The prompt.
        index: The lines of one section.
        leads: Where the sentences begin that ask for a form of the answer; such a lead introduces no data.
    """
    lines = index.lines
    safe: set[int] = set()
    tagged = [
        (match.start(), match[1], match[2].lower())
        for match in _TAG.finditer(draft.text, lines[0].start, lines[-1].end)
        if draft.free[match.start()] == "\x00"
    ]
    closed = {name for _, slash, name in tagged if slash}
    depth: list[str] = []
    data = False
    seen = 0
    titled = draft.once(titles)
    for number, line in enumerate(lines):
        while seen < len(tagged) and tagged[seen][0] < line.end:
            _, slash, name = tagged[seen]
            seen += 1
            if name in closed:
                if slash and name in depth:
                    depth.remove(name)
                elif not slash:
                    depth.append(name)
        if line.kind == "heading" or line.start in titled:
            title = TOKENS.findall(draft.free[line.content : line.end].lower())
            data = _INSTRUCTING.isdisjoint(title)
        elif line.kind == "field":
            rest = draft.free[line.content : line.end].partition(":")[2]
            data = data or any(map(str.isalpha, rest))
        elif line.kind == "lead" and line.content not in leads:
            following = index.after(number)
            data = data or (following is not None and following.kind in {"prose", "field", "lead", "heading"})
        if not data and not depth:
            safe.add(line.start)
    return safe


# Which paragraphs may become lists, and which lists may have their marks changed: those that instruct, not data.


_HEADS = words(
    """
    do don never always please kindly only make must if when unless you your no act attach behave condense design
    introduce map pay plan speak
    """
)
_RULED = words("do don never always return answer")
_BINDS = words("must should please you your")
_DATA = frozenset({"block", "field", "table"})
_STOPS = expression("[.!?…。！？؟][\"'”’»)\\]」』）]*$")
_ITEMS = frozenset({"bullet", "number"})
# What introduces the parts of an answer rather than rules for it.
_FORM = expression(
    r"\b(?:structur\w+|formats?|formatted|outputs?|templates?|outlines?|sections?|layout|parts?|answers?|respon\w+"
    r"|repl(?:y|ies)|reports?|return|write|produce|includ\w+|contain\w*|consist\w*|cover\w*|fill|headings?|titles?"
    r"|questions?|examples?|samples?|checklist|agenda|menu|options?|choices?|subtitles?|ha(?:ve|s)"
    r"|needs?|provide|give|deliver|describe|labels?|notes|minutes|categor\w+|class(?:es)?|tags?|one of)\b"
)
# Where a prompt speaks of its list, a second one would be mistaken for it.
_LIST = expression(
    r"\b(?:(?:the|this|that) lists?|(?:the|first|last|each) (?:bullets?|items?)|(?:der|die|dieser) liste"
    r"|(?:la|cette) liste|(?:la|nella|della) lista|(?:de|deze) lijst)\b",
    re.IGNORECASE,
)
_LIST_NOUNS = ("list", "bullet", "item", "lijst")  # one of them is in whatever speaks of a list
_RULES = expression(
    r"\b(?:rules?|guidelines?|requirements?|instructions?|constraints?|polic(?:y|ies)|limits|avoid)\b"
)


def kinds_of_lines(draft: Draft) -> frozenset[str]:
    """The kinds of line that a draft holds."""
    return frozenset([line.kind for line in draft.lines])


def told(draft: Draft) -> frozenset[int]:
    """The starts of the lines that cannot be data."""
    return frozenset(
        start
        for lines in in_sections(draft.lines)
        for start in instruction_lines(draft, LineIndex(lines), set())
    )


def line_index(draft: Draft) -> LineIndex:
    """The lines of a draft, of all its sections."""
    return LineIndex(draft.lines)


def listable(draft: Draft, run: Sequence[tuple[int, int]]) -> bool:
    """Whether the sentences of a paragraph instruct, so that a list may be made of them.

    The first paragraph of a prompt instructs if one of its sentences does, or if it is not English, where nothing else
    tells. Any other must instruct in each sentence, and the prompt must hold its data elsewhere.

    Args:
        draft: The prompt.
        run: The sentences ``(start, end)``.
    """
    text = draft.text
    if any("\n" in text[start:end] or not _STOPS.search(text[start:end]) for start, end in run):
        return False  # wrapped by hand, or no sentences
    if draft.once(_tells_of_a_list):
        return False
    index = draft.once(line_index)
    first, last = index.number(run[0][0]), index.number(run[-1][1])
    lines = index.lines
    before, after = index.before(first), index.after(last)
    if lines[first].start not in draft.once(told):
        return False
    if first and lines[first - 1].kind not in {"blank", "heading"}:
        return False  # it goes on from the line above
    if any(line is not None and line.kind in _ITEMS for line in (before, after)):
        return False  # the list would run on
    if last + 1 < len(lines) and lines[last + 1].kind == "prose":
        return False
    heads = [_instructs(draft, start, end) for start, end in run]
    if before is None:
        other = draft.language not in {"en", "und"} or not text[run[0][0] : run[-1][1]].isascii()
        return any(heads) or (draft.language != "en" and other)
    return all(heads) and (before.kind == "heading" or draft.once(_holds_data))


def _tells_of_a_list(draft: Draft) -> bool:
    text = draft.text.lower()
    return any(noun in text for noun in _LIST_NOUNS) and _LIST.search(draft.text) is not None


def _holds_data(draft: Draft) -> bool:
    """Whether a line of a prompt is a slot, a field or a table, and thus its data."""
    return any(line.kind in _DATA for line in draft.lines)


def _instructs(draft: Draft, start: int, end: int) -> bool:
    said = tokens_of(draft.free[start:end].lower())
    return bool(said) and (said[0] in IMPERATIVES or said[0] in _HEADS or not _BINDS.isdisjoint(said))


def remarkable(draft: Draft, items: Sequence[tuple[Line, int]]) -> bool:
    """Whether the marks of a list may change: it holds rules, neither data nor the parts of the answer.

    Args:
        draft: The prompt.
        items: The first line of each item, and where it ends.
    """
    index = draft.once(line_index)
    head = items[0][0]
    above = index.before(index.number(head.start))
    texts = [draft.free[line.content : end].lower() for line, end in items]
    if any(text.rstrip().endswith("?") for text in texts):
        return False  # questions: the answers go by their marks
    heads = [TOKENS.findall(text)[:1] for text in texts]
    instructing = all(said and (said[0] in IMPERATIVES or said[0] in _HEADS) for said in heads)
    if above is not None:
        intro = draft.free[above.start : above.end].lower()
        ruled = _RULES.search(intro) is not None
        if _FORM.search(intro) and not ruled and not instructing:
            return False
        if ruled:
            return True
        binding = any(said and said[0] in _RULED for said in heads)
        if above.kind not in {"lead", "heading"} and not binding and not draft.once(_holds_data):
            return False  # it may be what the prompt is about
    return instructing or (head.start in draft.once(told) and not inside(draft.once(data_spans), head.start))


# What a prompt asks for: the tasks it sets, apart from details and the form of the answer. English only.


_TASKS = words(
    """
    answer assign categorize categorise choose classify compare complete compute condense convert correct count
    create decide describe detect determine draft evaluate explain extract find generate give identify include label
    list mention name output paraphrase pick predict produce proofread provide rank rate rephrase reply respond
    return rewrite route select shorten simplify solve sort state suggest summarize summarise tell translate write
    """
)
_AFTER_TASK = words(
    """
    the a an this that these those each every with in only all to as by whether exactly your its it any me us at from
    for if my our his her their just up what which who how why both at about
    """
)
# They may only prepare another task: the answer need not show what was decided or counted.
_PREPARING = words(
    """
    choose compare compute convert count decide detect determine evaluate find give identify output pick predict provide
    return select solve sort state
    """
)
# They ask for a detail of the answer, not for the answer.
_DETAILS = words("include mention")
_ANSWERING = words("answer give output provide reply respond return say write")
# Behind those: how to answer, not what.
_HOW = words("with only in as just exactly by at from for whether about all each every")
_GIVING = words("give output provide return")  # "a list": the form of an answer
# Where to put it, or nothing but it; and what gives the answer to a question that was asked before.
_PLACED = expression(
    r"\bonly[.!]?$|\bnothing else\b|\b(?:on|in|at|as) (?:the|a|its|your) (?:own |very )?(?:(?:first|last|final|next|new"
    r"|single|separate|beginning|start|end|bottom|top)\b|line\b)",
    re.IGNORECASE,
)
_TELLING = _GIVING | words("name say state tell write")
_INSTRUCTION = expression(r"(?:Please |please )?(?P<verb>[A-Za-z]+) (?P<next>\x00|[A-Za-z]+)")
_CONDITION = expression(r"\b(?:if|unless|when|whenever|where|once|until|otherwise|in case)\b", re.IGNORECASE)
_QUOTES = frozenset("\"'`*“‘«„「")


class Task(NamedTuple):
    """The verb of a sentence that asks for something, and whether it may only prepare what another one asks for."""

    start: int
    end: int
    prepares: bool
    sentence: Sentence


def tasks_of(draft: Draft) -> list[Task]:
    """The tasks that a prompt sets, without details of the answer and its form."""
    found: list[Task] = []
    asked = False
    for sentence in draft.sentences:
        asked = asked or (
            sentence.kind == "prose" and draft.text.endswith(("?", '?"'), sentence.start, sentence.end)
        )
        match = _INSTRUCTION.match(draft.free, sentence.start, sentence.end)
        if match is None or sentence.kind == "bullet":
            continue
        verb, following = match["verb"].lower(), match["next"].lower()
        if verb not in _TASKS or verb in _DETAILS or following == "your":
            continue  # "Explain your reasoning" is not the task
        if following != "\x00" and following not in _AFTER_TASK:
            continue
        if sentence.kind == "number" and draft.text.startswith("one ", match.start("next")):
            continue  # "1. Write one step per line"
        if verb in _TELLING and (asked or _PLACED.search(draft.free, match.end("verb"), sentence.end)):
            continue
        if verb in _ANSWERING and (
            following in _HOW
            or (verb in _GIVING and following in {"a", "an"})
            or draft.text[match.start("next")] in _QUOTES
            or _CONDITION.search(draft.free, match.end("verb"), sentence.end)
        ):
            continue
        found.append(Task(*match.span("verb"), verb in _PREPARING, sentence))
    return found
