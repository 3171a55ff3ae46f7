"""Examples put before or after the task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.edits import Edit, insert
from pytest_promptfuzz.mutations.formats_place import beginning, instructions_end
from pytest_promptfuzz.mutations.operator import Operator
from pytest_promptfuzz.mutations.tfidf import TfIdf
from pytest_promptfuzz.prompts.reading import article
from pytest_promptfuzz.prompts.slots import Slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.rng import Rng

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
        raise UsageError(f"few_shot: position={position!r}. {nearest(str(position), _POSITIONS)}")
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
