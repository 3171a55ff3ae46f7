"""Operators that add text: a persona, an appeal, context, worked examples, quotes and spaces around a prompt.

No sentence here asks for anything, names a number, a person or a label, or speaks of the form of the answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_promptfuzz.data.tables import listed
from pytest_promptfuzz.errors import UsageError, not_among
from pytest_promptfuzz.mutations.analysis.answer_format import beginning, instructions_end
from pytest_promptfuzz.mutations.analysis.draft import BLANK, sections_of
from pytest_promptfuzz.mutations.engine.edits import Edit, insert
from pytest_promptfuzz.mutations.engine.operator import Operator, operator
from pytest_promptfuzz.prompts.messages import article
from pytest_promptfuzz.prompts.slots import Slots
from pytest_promptfuzz.text.expressions import LETTER, expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.randomness import Rng


_SENTENCES = listed("mutations/additions.tsv")
_HAS_PERSONA = expression(
    r"\b(?:you are an? |you['’]re an? |you are the |act as|acting as|pretend|imagine|assume the role|play the role"
    r"|your role|persona|role-?play|i want you to be|as an? [\w -]{0,30}(?:expert|professional|specialist|assistant"
    r"|editor|lawyer|doctor|engineer|teacher|analyst|agent|writer|translator)|you are (?-i:[A-Z]))|^\W*role\b",
    re.IGNORECASE | re.MULTILINE,
)
_HAS_APPEAL = expression(
    r"\b(?:important to (?:me|my|us|our)|my career|counting on|depends on|grateful)\b", re.IGNORECASE
)
_MINDS_ASIDES = expression(
    r"\b(?:irrelevant|relevant|unrelated|off[- ]topic|belongs?|distract\w*|odd one|noise|every sentence|each sentence"
    r"|first sentence|how many)\b",
    re.IGNORECASE,
)
_LONG_WORD = expression(r"[a-z]{4,}")


def _chosen(sentences: Sequence[str], rng: Rng) -> Iterator[str]:
    """One sentence after another in a random order; several at a time when an intensity is set."""
    if rng.intensity is None:
        yield from rng.shuffled(sentences)
        return
    while sentences:
        yield " ".join(rng.some(sentences, 0.0))


def _before(draft: Draft, rng: Rng, sentences: Sequence[str]) -> Iterator[list[Edit]]:
    at, joint = beginning(draft)
    for each in _chosen(sentences, rng):
        yield [insert(at, each + joint)]


@operator(
    "persona",
    dimension="augmentation",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    sources=("S4",),
    example=("Classify the ticket.", "You are a knowledgeable assistant. Classify the ticket."),
    trusted=True,
    default=False,
)
def persona(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A sentence that gives the model a role is put first, if the prompt gives none; labels and extracted facts stay.

    The intensity is how many sentences; one by default.
    """
    if _HAS_PERSONA.search(draft.text) is None:
        yield from _before(draft, rng, _SENTENCES["persona"])


@operator(
    "emotion-prompt",
    dimension="augmentation",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    sources=("S4",),
    example=("Classify the ticket.", "Classify the ticket. This is very important to my career."),
    trusted=True,
    default=False,
)
def emotion_prompt(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """An appeal to feelings is added after the instructions, if there is none; labels and extracted facts stay.

    The intensity is how many sentences; one by default.
    """
    if _HAS_APPEAL.search(draft.text) is not None:
        return
    place = instructions_end(draft)
    if place is None:
        return
    for each in _chosen(_SENTENCES["appeal"], rng):
        yield [place.added(each)]


@operator(
    "explanatory-context",
    dimension="augmentation",
    severity=0.4,
    preserves="conditional",
    relation="not-worse",
    languages=("en",),
    sources=("S4",),
    example=("Classify the ticket.", "This is one step of a larger workflow. Classify the ticket."),
    trusted=True,
    default=False,
)
def explanatory_context(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A sentence that says what the task is for is put first.

    The intensity is how many sentences; one by default.
    """
    yield from _before(draft, rng, _SENTENCES["explanation"])


@operator(
    "irrelevant-context",
    dimension="augmentation",
    severity=0.5,
    preserves="conditional",
    relation="not-worse",
    languages=("en",),
    sources=("S4", "NL-Augmenter"),
    example=("Classify the ticket.", "It rained a little during the night. Classify the ticket."),
    trusted=True,
    default=False,
)
def irrelevant_context(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A harmless sentence that shares no word with the prompt is put first, unless the prompt is about relevance.

    The intensity is how many sentences; one by default.
    """
    if _MINDS_ASIDES.search(draft.text) is not None:
        return
    known = set(_LONG_WORD.findall(draft.text.lower()))
    yield from _before(
        draft,
        rng,
        [each for each in _SENTENCES["aside"] if known.isdisjoint(_LONG_WORD.findall(each.lower()))],
    )


# How alike short texts are, by the words they share, rare ones weighing more.


_WORD = expression(r"[^\W_]+")


class TfIdf:
    """Texts as vectors of words, weighted ``tf * (1 + ln((1 + n) / (1 + df)))`` and of length 1.

    The weight is the smoothed TF-IDF in common use (Salton and Buckley, 1988).

    Args:
        texts: What is compared; ``n`` of them.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(_WORD.findall(text.lower())) for text in texts]
        documents: Counter[str] = Counter()
        for each in counts:
            documents.update(each.keys())
        total = 1 + len(texts)
        self._vectors: list[dict[str, float]] = []
        for each in counts:
            vector = {
                word: count * (1.0 + math.log(total / (1 + documents[word])))
                for word, count in sorted(each.items())
            }
            norm = math.sqrt(math.fsum(weight * weight for weight in vector.values()))
            self._vectors.append({word: weight / norm for word, weight in vector.items()})

    def similarity(self, first: int, second: int) -> float:
        """The cosine of two of the texts, 0 to 1, to nine places; 0 for a text without words."""
        one, two = self._vectors[first], self._vectors[second]
        return round(math.fsum(weight * two[word] for word, weight in one.items() if word in two), 9)


# Examples put before or after the task.


_POSITIONS = ("before", "after")
_SHORTEST, _LONGEST = 0.5, 2.0  # of the median length; what lies outside is taken last
_FIELD = expression(r"[ \t]*(?:\*\*)?(?P<name>[^\s:*][^:*\n]{0,30}?)(?:\*\*)?:")


class _Example(NamedTuple):
    """One example: what is given, what is answered, and the label its share is counted by."""

    given: str
    answer: str
    label: str


def few_shot(
    examples: Sequence[Sequence[str] | Mapping[str, str]],
    *,
    count: int = 3,
    position: Literal["before", "after"] = "before",
    exclude: Iterable[str] = (),
    format: str | None = None,  # noqa: A002  # what users call it
    name: str | None = None,
) -> Operator:
    """An operator that puts worked examples into a prompt.

    Each label gets the same share of the examples. Among those of usual length (half to twice the median) the ones that
    differ most by TF-IDF are taken; the seed picks where that begins. An example whose input stands in the prompt is
    left out. They are written in the style of the prompt's last block (``Review: ...`` and ``Label:``), else as
    ``Input: ...`` and ``Output: ...``. Source: the factorial study's few-shot variants (S5: 15 examples, 3 a label).

    Args:
        examples: Pairs ``(input, output)``, or mappings with ``input``, ``output`` and optionally ``label``.
        count: How many are shown, from 1; an intensity that is an int takes its place.
        position: ``before`` the instructions, or ``after`` them and before the text they speak of.
        exclude: Inputs that must not be shown: those of the test. Case and white space do not count.
        format: How one example is written, with ``{input}`` and ``{output}``.
        name: The operator's name; ``few-shot-before`` or ``few-shot-after`` by default.

    Returns:
        An operator under the relation ``not-worse``. It yields nothing where too few examples are left for a prompt, or
        where it cannot tell where the instructions end.

    Raises:
        UsageError: Too few examples, one without an input or an output or with a slot in it, or a bad argument.
    """
    if position not in _POSITIONS:
        raise UsageError(f"few_shot: {not_among(f'position={position!r}', position, _POSITIONS)}")
    if type(count) is not int or count < 1:
        raise UsageError(f"few_shot: count={count!r}; give an int from 1.")
    if isinstance(exclude, str):
        raise UsageError(f"few_shot: exclude is a list of texts; write exclude=[{exclude!r:.60}].")
    if format is not None and not (isinstance(format, str) and "{input}" in format and "{output}" in format):
        raise UsageError(f"few_shot: format={format!r:.60}; give a text with {{input}} and {{output}} in it.")
    every = _checked(examples)
    barred = {_folded(each) for each in exclude}
    kept = [each for each in every if _folded(each.given) not in barred]
    gone = len(every) - len(kept)
    if not kept:
        raise UsageError(
            "few_shot: every example is excluded; give some that are not among the test's inputs."
        )
    if len(kept) < count:
        left = f" ({gone} excluded)" if gone else ""
        raise UsageError(
            f"few_shot: count={count} examples are wanted and there are only {len(kept)}{left}; give more."
        )

    def propose(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        return _proposals(draft, rng, kept, count, position, format)

    return Operator(
        name or f"few-shot-{position}",
        propose,
        dimension="augmentation",
        severity=0.5,
        preserves="conditional",
        relation="not-worse",
        sources=("S5",),
        summary=f"Worked examples ({count} by default) are put {position} the instructions.",
        trusted=True,
        default=False,
    )


def _checked(examples: Any) -> list[_Example]:
    if isinstance(examples, str | Mapping) or not isinstance(examples, Sequence):
        raise UsageError(
            f"few_shot: examples is {article(examples)}; give a list of (input, output), or of dicts with these keys."
        )
    if not examples:
        raise UsageError("few_shot: there are no examples; give a list of (input, output).")
    found: list[_Example] = []
    seen: dict[str, int] = {}
    for number, each in enumerate(examples, 1):
        where = f"few_shot: example {number}"
        if isinstance(each, Mapping):
            missing = next((key for key in ("input", "output") if key not in each), None)
            if missing:
                raise UsageError(
                    f"{where} has no {missing!r}; its keys are {', '.join(map(repr, each)) or 'none'}."
                )
            parts = {
                "input": each["input"],
                "output": each["output"],
                "label": each.get("label", each["output"]),
            }
        elif isinstance(each, Sequence) and not isinstance(each, str) and len(each) == 2:
            parts = {"input": each[0], "output": each[1], "label": each[1]}
        else:
            raise UsageError(f"{where} is {each!r:.60}; give (input, output), or a dict with these keys.")
        for key, value in parts.items():
            if not isinstance(value, str):
                raise UsageError(f"{where} has {article(value)} for its {key!r}; give a str.")
            if not value.strip():
                raise UsageError(f"{where} has an empty {key!r}; leave it out or fill it in.")
            slots = Slots([value]).names
            if slots:
                raise UsageError(
                    f"{where} holds the slot {slots[0]!r}, which the prompt would ask a value for; write the value."
                )
        example = _Example(parts["input"].strip(), parts["output"].strip(), parts["label"])
        earlier = seen.setdefault(_folded(example.given), number)
        if earlier != number:
            raise UsageError(
                f"few_shot: examples {earlier} and {number} have the same input; keep one of them."
            )
        found.append(example)
    return found


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold().strip(" .!?。")


def _proposals(
    draft: Draft, rng: Rng, kept: list[_Example], count: int, position: str, form: str | None
) -> Iterator[list[Edit]]:
    wanted = rng.intensity if isinstance(rng.intensity, int) else count
    text = _folded(draft.text)
    usable = [each for each in kept if _folded(each.given) not in text]
    if len(usable) < wanted or wanted < 1:
        return
    shown = form if form is not None else _form_of(draft)
    if "{" in "".join(each.given + each.answer for each in usable) and (
        "{{" in draft.text or "}}" in draft.text
    ):
        return  # doubled braces in the prompt would no longer be read as they were
    similarity = TfIdf([each.given for each in usable]).similarity
    place = instructions_end(draft) if position == "after" else None
    if position == "after" and place is None:
        return
    while True:
        chosen = _diverse(usable, wanted, rng, similarity)
        block = "\n\n".join(_written(each, shown) for each in chosen)
        if place is not None:
            yield [insert(place.at, "\n\n" + block)]
        else:
            yield [insert(beginning(draft)[0], block + "\n\n")]


def _written(example: _Example, form: str) -> str:
    """An example in a form, whatever either of its texts holds."""
    parts = re.split(r"\{(input|output)\}", form)
    return "".join(
        (example.given if part == "input" else example.answer) if index % 2 else part
        for index, part in enumerate(parts)
    )


def _form_of(draft: Draft) -> str:
    """How the prompt's last block would write an example."""
    lines = [line for line in draft.lines if line.kind != "blank"]
    fields = [line for line in lines if line.kind == "field"]
    cue = lines[-1] if lines and lines[-1].kind == "lead" else None
    given = _FIELD.match(draft.text, fields[-1].start, fields[-1].end) if fields else None
    answer = _FIELD.match(draft.text, cue.start, cue.end) if cue is not None else None
    names = given["name"].strip() if given else "Input", answer["name"].strip() if answer else "Output"
    return f"{names[0]}: {{input}}\n{names[1]}: {{output}}"


def _diverse(examples: list[_Example], count: int, rng: Rng, similarity: Any) -> list[_Example]:
    """As many examples as asked, the labels in turn, each as unlike the ones before it as can be."""
    lengths = sorted(len(each.given) for each in examples)
    median = lengths[len(lengths) // 2]
    order = rng.shuffled(range(len(examples)))
    usual = {i for i in order if _SHORTEST * median <= len(examples[i].given) <= _LONGEST * median}
    names = dict.fromkeys(each.label for each in examples)
    if 2 * len(names) > len(examples) and len(names) > count:
        names = {"": None}  # outputs that do not repeat are no labels
    queues = {name: [i for i in order if examples[i].label == name or not name] for name in names}
    turns = rng.shuffled(list(queues))
    chosen: list[int] = []
    while len(chosen) < count:
        for name in turns:
            queue = queues[name]
            if queue and len(chosen) < count:
                best = min(
                    queue,
                    key=lambda i: (
                        i not in usual,
                        max((similarity(i, other) for other in chosen), default=0.0),
                    ),
                )
                queue.remove(best)
                chosen.append(best)
    return [examples[i] for i in chosen]


# Quotes, spaces, new lines and special characters around a prompt.
#
# In a chat, one message is padded. What is added never touches a word or protected text, but for spaces and quotes.


_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("«", "»"))
_BLOCK_QUOTES = ('"""', "'''")
_RULES = ("###", "***", "-----", "=====", "+++++", "_____", ".....")
_MOST_SPACES = 12
_MOST_LINES = 6
_MOST_PAIRS = 10
_DEEPEST = 3  # spaces before a line that begins a list or a heading: one more, and markdown reads code


def _sections(draft: Draft) -> tuple[tuple[int, int], ...]:
    """The text, or the messages of a chat; those without words of their own are left out where others have some."""
    found = tuple(sections_of(len(draft.text), draft.walls))
    return tuple([each for each in found if LETTER.search(draft.free, *each)]) or found


def _amount(rng: Rng, most: int) -> int:
    """How many characters are added: drawn, or the intensity (an int is a count, a float a share of ``most``)."""
    wanted = rng.intensity
    if wanted is None:
        return 1 + rng.below(most)
    return max(1, wanted if isinstance(wanted, int) else int(most * wanted + 0.5))


def _sides(rng: Rng) -> tuple[bool, bool]:
    """Whether to pad before, and after: one of them, or both."""
    drawn = rng.below(3)
    return drawn != 1, drawn != 0


def _newline(draft: Draft) -> str:
    return "\r\n" if "\r\n" in draft.text else "\n"


def _both(start: int, before: str, end: int, after: str) -> list[Edit]:
    """Insertions at the two ends of a section, which is not empty; an insertion of nothing is none."""
    return [insert(place, text) for place, text in ((start, before), (end, after)) if text]


@operator(
    "pad-quotes",
    dimension="padding",
    severity=0.2,
    preserves="yes",
    sources=("S4",),
    example=("Classify {text} now.", '"Classify {text} now."'),
    trusted=True,
    default=False,
)
def pad_quotes(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Quotation marks around the prompt or one message, on lines of their own where it ends in a slot or a colon.

    The intensity is how many pairs stand around it; one by default.
    """
    wanted = rng.intensity
    pairs = 1 if wanted is None else _amount(rng, _MOST_PAIRS)
    sections = draft.once(_sections)
    newline = _newline(draft)
    choices: list[list[Edit]] = []
    for start, end in sections:
        piece = draft.text[start:end]
        free = draft.free
        inline = BLANK not in (free[start], free[end - 1]) and not piece.rstrip().endswith((":", "："))
        if inline:
            choices += [
                _both(start, opening * pairs, end, closing * pairs)
                for opening, closing in _QUOTES
                if opening not in piece and closing not in piece
            ]
        if not inline or newline in piece:
            choices += [
                _both(start, (marks + newline) * pairs, end, (newline + marks) * pairs)
                for marks in _BLOCK_QUOTES
                if marks not in piece
            ]
    yield from rng.shuffled(choices)


@operator(
    "pad-spaces",
    dimension="padding",
    severity=0.1,
    preserves="yes",
    surface=True,
    sources=("S4",),
    example=("Classify {text}", "Classify {text} "),
    trusted=True,
    default=False,
)
def pad_spaces(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """One to twelve spaces before or after the prompt or one message, or on both sides (intensity: how many)."""
    sections = draft.once(_sections)
    opening = {line.start: line.kind for line in draft.lines}
    while sections:
        start, end = rng.choice(sections)
        before, after = _sides(rng)
        lead = _amount(rng, _MOST_SPACES)
        if opening.get(start) not in {"prose", "lead"}:
            lead = min(lead, _DEEPEST)
        yield _both(start, " " * lead * before, end, " " * _amount(rng, _MOST_SPACES) * after)


@operator(
    "pad-newlines",
    dimension="padding",
    severity=0.1,
    preserves="yes",
    surface=True,
    sources=("S4",),
    example=("Classify {text}", "\nClassify {text}"),
    trusted=True,
    default=False,
)
def pad_newlines(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """One to six line breaks before or after the prompt or one message, or on both sides (intensity: how many)."""
    sections = draft.once(_sections)
    newline = _newline(draft)
    while sections:
        start, end = rng.choice(sections)
        before, after = _sides(rng)
        yield _both(
            start,
            newline * _amount(rng, _MOST_LINES) * before,
            end,
            newline * _amount(rng, _MOST_LINES) * after,
        )


@operator(
    "pad-characters",
    dimension="padding",
    severity=0.2,
    preserves="yes",
    sources=("S4",),
    example=("Sort it.", "###\n\nSort it."),
    trusted=True,
    default=False,
)
def pad_characters(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A line of ``###``, ``-----`` or the like before or after the prompt or one message, or on both sides.

    Never one that the text uses itself, and none below a last line that waits for its answer (``Label:``).
    """
    sections = draft.once(_sections)
    newline = _newline(draft)
    while sections:
        start, end = rng.choice(sections)
        piece = draft.text[start:end]
        rule = rng.choice(_RULES)
        before, after = _sides(rng)
        if piece.rstrip().endswith((":", "：")):
            before, after = True, False
        if rule[:3] in piece:
            yield []
            continue
        yield _both(start, (rule + newline * 2) * before, end, (newline * 2 + rule) * after)
