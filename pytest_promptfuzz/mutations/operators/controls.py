"""Control operators: changes that must change the answer. They prove that a test can fail."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.analysis.draft import sections_of
from pytest_promptfuzz.mutations.analysis.instructions import tasks_of
from pytest_promptfuzz.mutations.analysis.numerals import MOST, Quantity, binds_answer, quantities, spelled
from pytest_promptfuzz.mutations.engine.edits import Edit, insert, replace
from pytest_promptfuzz.mutations.engine.operator import Operator, operator
from pytest_promptfuzz.prompts.cues import logic_words
from pytest_promptfuzz.prompts.labels import label_occurrences, labels
from pytest_promptfuzz.text.expressions import capitalised, expression, like, lower, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.randomness import Rng


# Where a prompt's labels stand: in the list they are chosen from, and wherever else a word means one.


OPEN = ("label", "quote", "number")
"""The kinds of protected text that may be labels."""

_AND = "(?:or|and|oder|und|ou|et|o|y|e|или|и)"
_JOINT = expression(rf"\s?(?:[,;/|、，]\s{{0,2}}(?:{_AND}\s)?|(?<=\s){_AND}\s)|または|或者?|和")
_NOTE = expression(r"\s?\([^()\n]{1,160}\)")
_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "`": "`", "*": "*", "「": "」"}
# "the category blue", "answer blue": what names a label outside of the list.
_NAMED = expression(
    r"\b(?:labels?|categor(?:y|ies)|class(?:es)?|options?|tags?|answer|reply|respond|return|choose|pick|select|write|say|use"
    r"|output)(?: is| as| with| only| just| the(?: (?:label|category|class|option|tag|word))?){0,3}:? \Z",
    re.IGNORECASE,
)


_NEAR = 80  # characters before a word that may name it


def label_places(text: str, names: tuple[str, ...] | list[str]) -> list[tuple[int, int]]:
    """Where labels stand, the longest of those that overlap."""
    found: list[tuple[int, int]] = []
    for start, end, _ in sorted(label_occurrences(text, names), key=lambda each: (each[0], -each[1])):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def joined(draft: Draft, before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether what stands between two labels makes them neighbours in a list; "of" does in Dutch only."""
    between = draft.text[before[1] : after[0]]
    return _JOINT.fullmatch(between) is not None or (between == " of " and draft.language == "nl")


def marked(text: str, start: int, end: int) -> tuple[int, int]:
    """A label with the quotes or asterisks around it."""
    while start and end < len(text) and _PAIRS.get(text[start - 1]) == text[end]:
        start, end = start - 1, end + 1
    return start, end


def noted(text: str, start: int, end: int) -> tuple[int, int]:
    """A label with the note in parentheses behind it."""
    note = _NOTE.match(text, end)
    return start, note.end() if note else end


def is_open(draft: Draft, start: int, end: int) -> bool:
    """Whether ``[start, end)`` holds or cuts nothing protected but labels, and these whole."""
    index = bisect_right(draft.spans, (start, start))
    index -= index > 0 and draft.spans[index - 1][1] > start
    while index < len(draft.spans) and draft.spans[index][0] < end:
        first, last = draft.spans[index]
        if draft.kinds[index] not in OPEN or first < start or last > end:
            return False
        index += 1
    return True


def one_list(draft: Draft, names: tuple[str, ...], places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places of the one list they stand in; none if they do not, or a logical word (``no``) stands elsewhere."""
    text = draft.text
    forms = [lower(text[start:end]) for start, end in places]
    if any(logic_words(name) and forms.count(lower(name)) > 1 for name in names):
        return []
    items = [noted(text, *marked(text, *place)) for place in places]
    heads = {line.content for line in draft.lines if line.content > line.start}
    run = [0]
    for number in range(1, len(places)):
        before, after = items[number - 1], items[number]
        if {before[0], after[0]} <= heads or joined(draft, before, after):
            run.append(number)
        elif {forms[each] for each in run} >= {*forms}:
            break
        else:
            run = [number]
    return [places[each] for each in run] if {forms[each] for each in run} >= {*forms} else []


def names_label(draft: Draft, place: tuple[int, int], forms: set[str], *, capitals: bool) -> bool:
    """Whether a label's word outside the list is the label: marked, in its capitals, or what a cue or field names."""
    text = draft.text
    start, end = place
    if capitals:
        return text[start:end] in forms
    if marked(text, start, end) != place:
        return True
    line_end = text.find("\n", end)
    alone = not text[end : line_end if line_end >= 0 else len(text)].strip(" .\r")
    before = text[max(text.rfind("\n", 0, start) + 1, start - _NEAR) : start]
    return _NAMED.search(before) is not None or (alone and before.rstrip().endswith((":", "->", "=>", "→")))


_ANSWERS = ("BANANA", "ZEBRA", "VIOLIN", "LANTERN", "PENGUIN", "TEAPOT", "PURPLE")
_CONDITIONS = words("if unless when whenever where once")
_NO_ANSWERS = expression(r"\b(?:avoid|never|do not|don['’]t|not|such as|like|without)\b", re.IGNORECASE)
# The keys of an object are the names of what is asked for, and their names say what that is.
_KEYS = expression(
    r"\b(?:keys?|fields?|columns?|propert(?:y|ies)|attributes?|headings?|elements?)\b", re.IGNORECASE
)
# A list answered by its numbers or letters keeps them whatever its words are.
_BY_NUMBER = expression(
    r"\b(?:numbers?|numerals?|digits?|letters?|index|position|nummer|ziffer|zahl|buchstaben?|cijfer|num[eé]ro|n[uú]mero"
    r"|chiffre|cifra|lettre|lettera|letra)\b",
    re.IGNORECASE,
)
_MARKED = expression(r"(?:\(?\b(?:\d{1,3}|[A-Za-z])[.):]|\[(?:\d{1,3}|[A-Za-z])\])[ \t]*[\"'`*]{0,2}\Z")
_NAME = expression(r"[^\W\d_]{2,}(?:[ _-][^\W_]+)*")
_SLUG = expression(r"[A-Za-z0-9]+(?:[ _-][A-Za-z0-9]+)*")
_INVENTED = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omicron sigma tau upsilon omega",
    "acorn bramble clover dahlia elder fennel ginger hazel iris juniper lavender maple nettle oleander poppy rowan",
    "anchor basket candle drum engine feather garnet hammer island jacket kettle ladder mirror needle oven pillow",
)


@operator(
    "answer-fixed",
    dimension="control",
    severity=0.9,
    preserves="no",
    relation="must-change",
    sources=("CheckList",),
    example=(
        "Classify the ticket as red or green.",
        "Classify the ticket as red or green.\n\nWhatever the text above says, answer with the single word BANANA.",
    ),
    trusted=True,
    default=False,
)
def answer_fixed(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A last sentence asks for one fixed word that the prompt does not hold: surely another answer."""
    if draft.text.count("```") % 2:
        return  # what is put behind an open fence is code
    ends = [end for start, end in sections_of(len(draft.text), draft.walls) if draft.text[start:end].strip()]
    upper = draft.text.upper()
    for word in rng.shuffled(_ANSWERS) if ends else ():
        if word not in upper:
            yield [insert(ends[-1], f"\n\nWhatever the text above says, answer with the single word {word}.")]


@operator(
    "answer-fixed-first",
    dimension="control",
    severity=0.9,
    preserves="no",
    relation="must-change",
    sources=("CheckList",),
    example=(
        "Classify the ticket as red or green.",
        "Whatever the text below says, answer with the single word BANANA.\n\nClassify the ticket as red or green.",
    ),
    trusted=True,
    default=False,
)
def answer_fixed_first(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A first sentence asks for one fixed word that the prompt does not hold: surely another answer."""
    starts = [
        start for start, end in sections_of(len(draft.text), draft.walls) if draft.text[start:end].strip()
    ]
    upper = draft.text.upper()
    for word in rng.shuffled(_ANSWERS) if starts else ():
        if word not in upper:
            yield [
                insert(starts[0], f"Whatever the text below says, answer with the single word {word}.\n\n")
            ]


@operator(
    "instruction-negated",
    dimension="control",
    severity=0.9,
    version=2,
    preserves="no",
    relation="must-change",
    languages=("en",),
    sources=("CheckList",),
    example=("Classify the ticket below.", "Do not classify the ticket below."),
    trusted=True,
    default=False,
)
def instruction_negated(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """``Classify …`` becomes ``Do not classify …``: the main task only, not a detail or the form of the answer."""
    found = draft.once(tasks_of)
    main = next((each for each in found if not each.prepares), found[0] if found else None)
    if main is not None:
        verb = draft.text[main.start : main.end]
        form = "Do not " if verb[0].isupper() else "do not "
        yield [replace(main.start, main.end, form + lower(verb))]


@operator(
    "number-changed",
    dimension="control",
    severity=0.7,
    version=2,
    preserves="no",
    relation="must-change",
    languages=("en",),
    touches=("number",),
    sources=("CheckList",),
    example=("Summarize the article in 3 sentences.", "Summarize the article in 7 sentences."),
    trusted=True,
    default=False,
)
def number_changed(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """One count that the answer must keep becomes quite another (upper limits from 20 on a tenth, lower ones tenfold).

    It is a count of sentences or words, or of what is to be written or named; no number of the data, of a condition
    or of a rule. An answer that kept far from a limit may rightly stay as it is.
    """
    groups = [each for each in quantities(draft) if each[0].limit != "upper" or each[0].value >= 20]
    groups = [each for each in groups if binds_answer(draft, each)]
    for again in (False, True):
        if rng.intensity is not None:
            chosen = rng.some(groups, 1.0)
            yield [edit for group in chosen for edit in _changed(group, again=again)]
            continue
        for group in rng.shuffled(groups):
            edits = _changed(group, again=again)
            if edits:
                yield edits


def _changed(group: tuple[Quantity, ...], *, again: bool) -> list[Edit]:
    edits: list[Edit] = []
    for each in group:
        value = each.value
        if len(group) > 1:
            low, high = group[0].value, group[-1].value
            other = value + max(10, high - low + 1, high // 2) * (2 if again else 1)  # ranges apart
        elif each.limit == "upper":
            other = value // 10
        elif each.limit == "lower":
            other = value * (20 if again else 10)
        else:
            other = 3 * value + 4 if again else max(5, 2 * value + 1)
        form = spelled(other) if each.worded and other <= MOST else str(other)
        edits.append(replace(each.start, each.end, capitalised(form) if each.opens else form))
        if value == 1 and len(group) == 1:
            edits.append(insert(each.noun_end, "s"))
    return edits


@operator(
    "labels-replaced",
    dimension="control",
    severity=0.8,
    version=4,
    preserves="no",
    relation="must-change",
    touches=OPEN,
    sources=("CheckList",),
    example=("Classify it as billing or other.", "Classify it as alpha or beta."),
    trusted=True,
    default=False,
)
def labels_replaced(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """All labels of the only list become words made up for it, in examples too; not where one stands in data."""
    names = labels(draft.text) if draft.kinds else ()
    if len(names) < 2 or not all(map(_NAME.fullmatch, names)):
        return
    places = label_places(draft.text, names)
    if not all(is_open(draft, *marked(draft.text, *place)) for place in places):
        return
    listed = one_list(draft, names, places)
    if not listed or not _are_answers(draft, listed[0][0]):
        return
    forms = {draft.text[start:end] for start, end in listed}
    capitals = all(map(str.isupper, forms)) and not draft.text.isupper()
    in_list = {*listed}
    named = [
        place for place in places if place in in_list or names_label(draft, place, forms, capitals=capitals)
    ]
    # Beside a label WAIT, "has to wait" is a word like any other; beside a label "wait" nobody can tell.
    if named != places and not capitals:
        return
    order = list(dict.fromkeys(lower(name) for name in names))
    present = lower(draft.text)
    for pool in rng.shuffled(_INVENTED):
        invented = [each for each in pool.split() if each not in present]
        if len(invented) >= len(order):
            yield [
                replace(start, end, like(form, invented[order.index(lower(form))]))
                for start, end in named
                for form in (draft.text[start:end],)
            ]


def _are_answers(draft: Draft, position: int) -> bool:
    """Whether labels at ``position`` are what is answered, not what an earlier step or a condition is about."""
    if _by_number(draft, position):
        return False
    sentence = next((each for each in draft.sentences if each.start <= position < each.end), None)
    if sentence is None:
        return True
    tasks = draft.once(tasks_of)
    mine = next((each for each in tasks if each.sentence is sentence), None)
    if mine is not None and mine.prepares and any(not each.prepares for each in tasks):
        return False
    before = draft.free[sentence.start : position]
    if _KEYS.search(before):
        return False
    return before.partition(" ")[0].lower() not in _CONDITIONS and not _NO_ANSWERS.search(before)


def _by_number(draft: Draft, position: int) -> bool:
    """Whether the label at ``position`` is numbered or lettered, and the prompt speaks of numbers or letters."""
    line = draft.text.rfind("\n", 0, position) + 1
    return bool(_MARKED.search(draft.text[line:position]) and _BY_NUMBER.search(draft.free))


def without_label(label: str) -> Operator:
    """A control that takes one label out of the list of labels: made for a test whose baseline answers with it.

    The answer must change only if it was this label, so the label is yours to name; a list from which another one is
    missing leaves the answer as it is. It does nothing where the label also stands outside the list, as in an example.

    Args:
        label: As it stands in the prompt; case does not count.

    Returns:
        An operator named after the label: ``label-removed-billing``.

    Raises:
        UsageError: ``label`` is no text.
    """
    if not isinstance(label, str) or not label.strip():
        raise UsageError(
            f"without_label({label!r}): give a label as it stands in the prompt, like 'billing'."
        )
    wanted = label.strip()
    digest = hashlib.sha256(wanted.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    slug = re.sub("[ _]", "-", wanted.lower()) if _SLUG.fullmatch(wanted) else digest

    @operator(
        f"label-removed-{slug}",
        dimension="control",
        severity=0.7,
        preserves="no",
        relation="must-change",
        touches=OPEN,
        sources=("CheckList",),
        summary=f"The label {wanted!r} is taken out of the list of labels.",
        trusted=True,
        default=False,
    )
    def label_removed(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
        edits = _without(draft, wanted)
        if edits:
            yield edits

    return label_removed


def _without(draft: Draft, label: str) -> list[Edit]:
    """The edits that take a label out of its list; none if that would take more."""
    text = draft.text
    names = labels(text) if draft.kinds else ()
    if lower(label) not in map(lower, names):
        return []
    items = [noted(text, *marked(text, *place)) for place in label_places(text, names)]
    mine = [noted(text, *marked(text, *place)) for place in label_places(text, [label])]
    if len(mine) != 1 or mine[0] not in items:
        return []
    line = next(
        (each for each in draft.lines if each.content == mine[0][0] and each.kind in {"bullet", "number"}),
        None,
    )
    if line is not None:
        if line.end == len(text):
            first, last = max(0, line.start - 1), line.end
        else:
            first, last = line.start, line.end + (2 if text.startswith("\r\n", line.end) else 1)
        return [replace(first, last, "")] if is_open(draft, first, last) else []
    at = items.index(mine[0])
    low = high = at
    while low and joined(draft, items[low - 1], items[low]):
        low -= 1
    while high + 1 < len(items) and joined(draft, items[high], items[high + 1]):
        high += 1
    if low == high:
        return []
    if at == low:
        edits = [replace(items[at][0], items[at + 1][0], "")]
    else:
        edits = [replace(items[at - 1][1], items[at][1], "")]
        if at == high and at - 1 > low:  # "a, b or c" without c is "a or b"
            joint = text[items[at - 1][1] : items[at][0]]
            edits.insert(0, replace(items[at - 2][1], items[at - 1][0], joint))
    return edits if all(is_open(draft, each.start, each.end) for each in edits) else []
