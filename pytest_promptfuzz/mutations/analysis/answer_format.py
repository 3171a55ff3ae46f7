"""What a prompt says about the format of its answer, and where a sentence may be added to its instructions.

"The letter and nothing else" is no JSON, and SQL has no French. A prompt that may rule out another format or language
counts as one that does: a prompt that is left alone costs less than one that contradicts itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.data.tables import alternatives, word_sets, words_in
from pytest_promptfuzz.mutations.analysis.instructions import tasks_of
from pytest_promptfuzz.mutations.engine.edits import Edit, insert
from pytest_promptfuzz.mutations.operators.tone import instructions
from pytest_promptfuzz.prompts.spans import labels
from pytest_promptfuzz.text.expressions import expression, words
from pytest_promptfuzz.text.languages import surely

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Line


# Where a sentence may be added to the instructions of a prompt, and never to the text they speak of.


class InstructionsEnd(NamedTuple):
    """Where instructions end.

    Attributes:
        at: The offset after their last character.
        joint: What parts the last instruction from what is added: a space, or a blank line.
    """

    at: int
    joint: str

    def added(self, sentence: str) -> Edit:
        """The edit that adds a sentence."""
        return insert(self.at, self.joint + sentence)


_EVERY_WORD = expression(r"[^\W\d_]+")
_TOLD = words(
    "note important rule rules format task instruction instructions role goal tone style remember hint tip requirements"
    " constraints guidelines language length aufgabe wichtig tâche importante tarea taak compito nota hinweis"
)
_ENDS = (".", "!", "?", "。", "！", "？", ".)", '."', ".”")
_DATA_HEADING = expression(
    r"(?:text|input|article|document|documents|context|question|review|message|email|ticket|data|example|examples|source"
    r"|conversation|transcript|content)\b",
    re.IGNORECASE,
)
# "Courriel : {courriel}", which is no field to the layout since a space parts the colon.
_SLOT_FIELD = expression(r"[^\W\d_][^:：.,\x00\n]{0,30}[:：]\s*\x00\W*\Z")
_GOES_ON = expression(
    r"[-*•#\d.) \t]*(?:do not|don['’]t|never|always|then|also|finally|otherwise|lastly|include|rules|make sure)\b",
    re.IGNORECASE | re.ASCII,
)
# A line that ends so goes on in the next one, whatever that holds: "The rule is", "it holds that".
_UNENDED = expression(
    r"\b(?:that|is|are|was|be|equals?|as|where|with|of|and|or|but|the|an?|to|for|by|in|from|than|which|if|when|because"
    r"|est|sont|que|qui|de|et|ist|sind|dass|und|oder|es|son|y|è|sono|che|e|dat|zijn|en|é|são)\Z"
)
_SAYS_WHAT = expression(
    r"\b(?:must|should|you are|you will|your task|your job|needs? to|is to)\b", re.IGNORECASE | re.ASCII
)


def words_of(draft: Draft) -> frozenset[str]:
    """The distinct words of the text in lower case, protected or not; use with ``draft.once``."""
    return frozenset(_EVERY_WORD.findall(draft.text.lower()))


def instructions_end(draft: Draft) -> InstructionsEnd | None:
    """Where a sentence can be added after the instructions; ``None`` where it cannot be told where they end.

    The first message or text that has instructions is taken. They end before the first line that holds what they
    speak of (a slot on its own, ``Text: ...``, a tag), or before the first paragraph that instructs no one.
    """
    sections: dict[int, list[Line]] = {}
    for line in draft.lines:
        sections.setdefault(line.section, []).append(line)
    for lines in sections.values():
        place = _end_in(draft, lines)
        if place is not None:
            return place
    return None


def beginning(draft: Draft) -> tuple[int, str]:
    """Where a sentence can be put before the prompt, and what parts the two."""
    line = next((each for each in draft.lines if each.kind != "blank"), None)
    if line is None:
        return 0, "\n\n"
    return line.start + line.indent, " " if line.kind == "prose" and not line.indent else "\n\n"


def repeats_fields(draft: Draft) -> bool:
    """Whether a field such as ``Text:``, or an arrow, stands there more than once, as among examples."""
    arrows = sum(
        "=>" in draft.text[line.start : line.end] or "->" in draft.text[line.start : line.end]
        for line in draft.lines
    )
    if arrows > 1:
        return True
    names = Counter(
        draft.text[line.content : line.end].partition(":")[0].strip("* ").lower()
        for line in draft.lines
        if line.kind in {"field", "lead"}
    )
    return any(count > 1 for count in names.values())


def _openings(draft: Draft) -> list[int]:
    """Where the sentences that instruct begin, ascending; none where they are not known."""
    return [each.sentence.start for each in draft.once(instructions)] if draft.language == "en" else []


def _end_in(draft: Draft, lines: list[Line]) -> InstructionsEnd | None:
    openings = draft.once(_openings)
    last: Line | None = None
    instructs = False
    for chunk in _chunks(lines):
        told = _told(draft, chunk)
        if told:
            start, end = told[0].start, told[-1].end
            text = draft.text[start:end]
            first = bisect_left(openings, start)
            opens = first < len(openings) and openings[first] < end if openings else True
            body = next((line.start for line in told if line.kind != "heading"), end)
            listed = told[0].kind == "lead" and len(told) > 1
            if opens or (
                instructs and (listed or _GOES_ON.match(draft.text, body) or _SAYS_WHAT.search(text))
            ):
                last, instructs = told[-1], True
            elif instructs:
                break
        if instructs and len(told) < len(chunk):
            break
    if last is None or (not openings and not _sure(draft, lines, last)):
        return None
    content = draft.text[last.start : last.end].rstrip()
    end = last.start + len(content)
    before = bisect_left(draft.spans, (end,)) - 1  # the last protected span that begins before the place
    if before >= 0 and end < draft.spans[before][1]:
        return None
    joins = last.kind == "prose" and content.endswith(_ENDS) and draft.is_free(end - 1, end)
    if (
        last.kind == "prose"
        and not joins
        and (content.endswith((":", ",", ";", "：")) or _UNENDED.search(content))
    ):
        return None
    return InstructionsEnd(end, " " if joins else "\n\n")


def _chunks(lines: list[Line]) -> Iterator[list[Line]]:
    """Runs of lines between blank ones; a heading belongs to what it heads."""
    chunk: list[Line] = []
    for line in lines:
        if line.kind != "blank":
            chunk.append(line)
        elif chunk and chunk[-1].kind not in {"heading", "lead"}:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _told(draft: Draft, chunk: list[Line]) -> list[Line]:
    """The lines of a chunk up to the first that holds data; none where it is data from the start."""
    told: list[Line] = []
    for index, line in enumerate(chunk):
        if line.kind == "heading" and _DATA_HEADING.match(draft.text, line.content):
            break
        if line.kind in {"block", "table"}:
            break
        if _is_field(draft, line):
            label = draft.text[line.content : line.end].partition(":")[0].strip("* ").lower()
            if _TOLD.isdisjoint(label.split()):
                break
        if line.kind == "lead" and (
            index + 1 == len(chunk) or chunk[index + 1].kind not in {"bullet", "number"}
        ):
            break
        told.append(line)
    while told and told[-1].kind in {"heading", "lead"}:
        told.pop()
    return told


def _is_field(draft: Draft, line: Line) -> bool:
    """Whether a line is a field, such as ``Text: ...`` or ``Texte : {texte}``."""
    return line.kind == "field" or (
        line.kind == "prose" and _SLOT_FIELD.match(draft.free[line.content : line.end]) is not None
    )


def _sure(draft: Draft, lines: list[Line], last: Line) -> bool:
    """Whether instructions that no imperative tells are still known to end here: data follows, or nothing does."""
    rest = [line for line in lines if line.start > last.start and line.kind != "blank"]
    return not rest or rest[0].kind in {"block", "lead", "heading", "table"} or _is_field(draft, rest[0])


_FLAGS = re.IGNORECASE | re.ASCII
_FORMS = "mutations/answer_forms.tsv"
_KEYED = expression(r"\b(?:json|ya?ml|xml)\b", _FLAGS)

# --- any answer that is one bare thing ---------------------------------------------------------------------------
_BARE = expression(lambda: alternatives(_FORMS, "bare"), _FLAGS)
_BARE_WORDS = words_in(_FORMS, "bare word")

_SHAPED = expression(lambda: alternatives(_FORMS, "shaped"), _FLAGS)
# One of these stands in whatever the pattern finds.
_SHAPED_WORDS = words_in(_FORMS, "shaped word")
_LITERAL = expression(
    r"\b(?:[Aa]nswer|[Rr]espond|[Rr]eply|[Rr]eturn|[Oo]utput|ANSWER|RESPOND|REPLY|RETURN|OUTPUT)"
    r"(?: with| only| just| exactly| simply| WITH| ONLY| the| text| words?| phrase| two| one| line){0,5}:?"
    r" (?:[\"“”'‘`«*]+\w|[A-Z]{2,}[A-Z_]*\b(?<!JSON)(?<!YAML)(?<!XML)(?<!HTML)(?<!CSV)(?<!SQL)|[A-Z]\d)"
)
_MARKED = expression(
    r"(?<=[\w,:;] )(?:\*\*|__)\w|^[-*•\d.) \t]*(?:\*\*|__)[^*_\n]+(?:\*\*|__)(?! *:?[ \t\r]*$)", re.MULTILINE
)
_TITLE = expression(
    r"^[#*_ \t]*(?:(?:output|answer|response|reply|required|expected|desired|the|your|use this) )*"
    r"(?:format|form|structure|layout|template|outline|sections|headings)\b[ \w]{0,20}:?[*_ \t\r]*$",
    _FLAGS | re.MULTILINE,
)
_HEADINGS = expression(r"^(#{1,6}) [^\n]*\n(?:[ \t\r]*\n){0,3}?\1 ", re.MULTILINE)


def formed(draft: Draft, text: str) -> bool:
    """Whether a prompt gives the answer a form that another format would break.

    Args:
        draft: The prompt.
        text: What of it is looked at: a request that the format is joined to is left out.
    """
    known = draft.once(words_of)
    return bool(
        (not known.isdisjoint(_BARE_WORDS) and _BARE.search(text))
        or (not known.isdisjoint(_SHAPED_WORDS) and _SHAPED.search(text))
        or _LITERAL.search(text)
        or outlined(text)
    )


def outlined(text: str) -> bool:
    """Whether a prompt shows the outline of its answer, or Markdown that may be meant for it."""
    if "#" in text and _HEADINGS.search(text):
        return True
    return bool((("**" in text or "__" in text) and _MARKED.search(text)) or _TITLE.search(text))


# --- what leaves no room for another language ---------------------------------------------------------------------
_WORDED = word_sets("mutations/fixed_wording.tsv")
_OWN = expression(
    r"\b(?:vouvoy|tutoy|siez|duz|ort(?:h)?ogra[fp]|recht?schreib|fonction|requête|programme python|funktion|skript"
    r"|abfrage|funci[oó]n|consulta sql|funzione|função|functie|script)\w*"
    r"|\bnicht (?:ver|ge|um)?änder|\bn[e']\s?(?:change|modifi)\w* (?:pas|rien)"
    r"|\bno (?:cambi|modifi)|\bnon (?:cambi|modific)"
    r"|\bnão (?:alter|mud|modifi)|\bniet (?:wijzig|verander)",
    re.IGNORECASE,
)
_OWN_SORTING = expression(
    r"\b(?:klassifizier|kategorisier|ordne|classifie|classez|catégoris|clasific|categori[cz]|classific|sorteer|classificeer)"
    r"\w*",
    re.IGNORECASE,
)
_OWN_REASONS = expression(
    r"\b(?:warum|wieso|weshalb|begründ|pourquoi|justifi|por qu[eéê]|motiv|perché|waarom|erkl|expli|spieg)",
    re.IGNORECASE,
)
_SORTING = words(
    "answer assign categorise categorize choose classify decide detect determine identify label pick predict rank rate"
    " select sort route tell output return"
)
_REASONED = expression(
    r"(?<!not )(?<!n['’]t )(?<!never )(?<!without )(?<!no )"
    r"\b(?:why|reason(?:s|ing)?|because|expla(?:in|nation)|justif\w+|summary|sentences?|describe)\b",
    _FLAGS,
)
_OWN_BARE = expression(
    r"\b(?:nur|ausschließlich|solo|sólo|solamente|únicamente|uniquement|seulement|soltanto|unicamente|apenas|somente|só"
    r"|alleen|slechts) (?:mit|die|der|das|den|eine?[nr]?|con|el|la|las|los|una?|il|lo|le|les|par|une|com|uma?|met"
    r"|het|de|een)\b",
    re.IGNORECASE,
)
_WORDED_JA = expression(
    "敬語|敬体|丁寧語|常体|です・ます|ですます|である調|漢字|ひらがな|カタカナ|表記|誤字|脱字|原文|例[:：]|形式|フォーマット|そのまま|字以内"
    "|文字|コード|SQL|CSV|件名|項目|俳句|短歌|書き直|言い換え|校正"
)
_EXACT = expression(lambda: alternatives(_FORMS, "exact"), _FLAGS)
# What is copied stays in the language it is in; and no Japanese sentence begins with its verb.
_COPIED = expression(lambda: alternatives(_FORMS, "copied"), _FLAGS)
_WRAPPED = expression(r"(?<!\n)\r?\n(?!\r?\n)")
_ONLY_LITERAL = expression(
    lambda: (
        rf"\b{alternatives(_FORMS, 'ANSWERED')} (?:only |just |exactly |strictly |nothing but )+"
        r"(?:with )?(?:the (?:words?|text) )?[\"“'‘`«]"
    ),
    _FLAGS,
)
_TAKEN = expression(
    r"(?:^|[.!?:]\s)[^\w\n]{0,8}(?:please |kindly |now |then |can you |could you )*(?:extract|pull|copy|collect|convert"
    r"|transcribe|tokeni[sz]e|split|sort|reorder|merge|find all|identify all)\b"
    r"|\bfields?\b|\bname: value\b|\bkey: value\b",
    _FLAGS | re.MULTILINE,
)
_SHOWN = expression(
    r"\b(?:examples?|beispiele?|exemples?|ejemplos?|esempi|esempio|exemplos?|voorbeeld(?:en)?)\b[^.:\n]{0,20}[:>]",
    _FLAGS,
)
_CUE = expression(r"\b(?:sql|csv|code|query|regex|formula|command|html)[ \t]*:\s*\Z", _FLAGS)


def wordless(draft: Draft) -> bool:
    """Whether the words of the answer are fixed, or it has none, so that it can be in no other language."""
    text, free, known = draft.text, draft.free, draft.once(words_of)
    if draft.language == "ja":
        return _WORDED_JA.search(text) is not None
    if not known.isdisjoint(_WORDED.get(draft.language, ())):
        return True
    shown = _SHOWN.search(free) or repeats_fields(draft) or any(text[a:b].strip() for a, b in draft.walls)
    if shown and (draft.language != "en" or not labels(text)):
        return True
    if draft.language != "en":
        if surely(free) != draft.language:
            return True  # asked in the wrong language, it would be worse than not asked
        if _OWN.search(text) or (_OWN_BARE.search(text) and not _kept_keys(text)):
            return True
        return (
            _OWN_SORTING.search(text) is not None and _OWN_REASONS.search(text) is None and bool(labels(text))
        )
    if (
        _EXACT.search(text)
        or _COPIED.search(_WRAPPED.sub(" ", text))
        or _ONLY_LITERAL.search(text)
        or _HEADINGS.search(text)
        or _TITLE.search(free)
        or _CUE.search(text)
    ):
        return True
    if _TAKEN.search(free) and not _KEYED.search(text):
        return True
    return (_bare(known, text) and not _kept_keys(text)) or _labelling(draft)


def _kept_keys(text: str) -> bool:
    """Whether the answer is an object whose keys and labels stay and whose other values are words."""
    return _KEYED.search(text) is not None and bool(labels(text))


def _labelling(draft: Draft) -> bool:
    """Whether the answer is one label of a list, and no word more."""
    tasks = draft.once(tasks_of)
    return (
        bool(tasks)
        and all(draft.text[each.start : each.end].lower() in _SORTING for each in tasks)
        and _REASONED.search(draft.text) is None
        and _KEYED.search(draft.text) is None
        and bool(labels(draft.text))
    )


def _bare(known: Iterable[str], text: str) -> bool:
    return not _BARE_WORDS.isdisjoint(known) and _BARE.search(text) is not None


@cache
def _banned() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:not|never|avoid|forbidden|prohibited|banned|limits|restrictions|don['’]ts?|no|nicht|verboten|interdit"
        r"|prohibido|vietato|proibido|niet)\b|禁止",
        re.IGNORECASE,
    )


def under_ban(draft: Draft, place: InstructionsEnd) -> bool:
    """Whether a place lies under a title such as "What you may not do", where a demand would read as forbidden."""
    title = ""
    for line in draft.lines:
        if line.start >= place.at:
            break
        if line.kind in {"heading", "lead"}:
            title = draft.text[line.content : line.end]
    return _banned().search(title) is not None
