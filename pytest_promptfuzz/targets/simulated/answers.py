"""One answer for each task, in the form asked for."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.simulated import cues, sql
from pytest_promptfuzz.targets.simulated.classify import STOP, implied, ranked
from pytest_promptfuzz.targets.simulated.extract import extract
from pytest_promptfuzz.targets.simulated.fields import find_fields, types_of
from pytest_promptfuzz.targets.simulated.formats import Format, format_of
from pytest_promptfuzz.targets.simulated.instructions import opening
from pytest_promptfuzz.targets.simulated.labels import find_labels
from pytest_promptfuzz.targets.simulated.summarise import summarise
from pytest_promptfuzz.targets.simulated.tasks import task_of
from pytest_promptfuzz.targets.simulated.words import listed, sentences, stem, words

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.simulated.listings import Label
    from pytest_promptfuzz.targets.simulated.reading import Reading

LOST = (
    (
        "Thanks for your message! I am not quite sure what you would like me to do with it. Could you tell me"
        " a little more?"
    ),
    "Happy to help! Could you tell me what you would like me to do?",
    "I see. What should I do with this? A little more detail would help me.",
)
NO_DATA = "Of course. Please share the text you would like me to work with."
NO_TRANSLATION = (
    "I am sorry, but I cannot translate. I am a simulated model that classifies, summarises,"
    " extracts and writes SQL."
)
QUESTION = re.compile(
    (
        r"(?:^|[.!:]\s+)(?:what|which|is|are|does|do|did|how|who|has|have|was|were|can you|could you"
        r"|would you)\b[^.!]*\?"
    ),
    re.IGNORECASE,
)
ANSWER_VERBS = frozenset(listed("answer respond reply return output say write give choose pick select"))
SUBJECTS = listed(
    "sentiment language emotion topic priority urgency intent tone category team queue department"
)


def answer(reading: Reading, variant: int = 0) -> str:
    """The answer to what was read; ``variant`` above 0 gives another that is plausible as well."""
    form = format_of(reading)
    labels = find_labels(reading)
    fields = find_fields(reading)
    task = task_of(reading, labels=bool(labels), fields=bool(fields))
    if task == cues.CLASSIFY:
        text = _classified(reading, form, labels, variant)
    elif task == cues.SUMMARISE:
        summary = _shout(reading, summarise(reading, form, variant) or NO_DATA)
        text = _json(form, {"summary": summary}, "summary")
    elif task == cues.SQL:
        text = _sql(reading, form, variant)
    elif task == cues.EXTRACT and fields:
        text = _extracted(reading, form, fields, variant)
    elif task == cues.TRANSLATE:
        text = _shout(reading, NO_TRANSLATION)
    elif task in {cues.ANSWER, cues.EXTRACT} and reading.data:
        text = _answered(reading, form, variant)
    else:
        text = _shout(reading, LOST[variant % len(LOST)])
    return text.upper() if form.upper else text.lower() if form.lower else text


def _shout(reading: Reading, text: str) -> str:
    """Free text in capitals when the instructions were."""
    return text.upper() if reading.shouting else text


def _json(form: Format, values: dict[str, Any], one: str) -> str:
    return json.dumps(values, ensure_ascii=False) if form.json else str(values[one])


def _classified(reading: Reading, form: Format, labels: list[Label], variant: int) -> str:
    labels = labels or implied(reading)
    if not labels:
        return _shout(reading, LOST[variant % len(LOST)])
    if not reading.data.strip():
        return _shout(reading, NO_DATA)
    order = ranked(labels, reading)
    name = order[variant % len(order) if variant else 0].name
    if variant and len(order) > 1 and name == order[0].name:
        name = order[1].name
    subject = next(
        (word for word in SUBJECTS if any(word in each.lower() for each in reading.instructions)), ""
    )
    reason = _reason(reading)
    if form.json:
        return json.dumps(_record(reading, name, subject, reason), ensure_ascii=False)
    asks = any(QUESTION.search(each) for each in reading.instructions)
    if form.explain and not form.bare:
        return f"{name}\n\n" + _shout(reading, f"Reason: {reason}")
    if form.bare or not asks or reading.examples or _spelt_out(reading, labels):
        return name
    if name.lower() in {"yes", "no"}:
        return _shout(reading, f"{name.capitalize()}, judging by the text.")
    return _shout(reading, f"The {subject or 'answer'} is ") + f"{name}."


def _spelt_out(reading: Reading, labels: list[Label]) -> bool:
    """Whether an instruction gives the words to answer with: *answer yes or no*."""
    for sentence in reading.instructions:
        begins = opening(sentence)
        lower = sentence.lower()
        if begins and begins[0] in ANSWER_VERBS and sum(label.name.lower() in lower for label in labels) > 1:
            return True
    return False


def _reason(reading: Reading) -> str:
    first = sentences(reading.data)[0]
    return f'The text says "{first}"'


def _record(reading: Reading, name: str, subject: str, reason: str) -> dict[str, Any]:
    """The JSON object for a label: keys from a schema, an example or the prose, else the subject's name."""
    keys = find_fields(reading)
    if not keys:
        prose = " ".join(reading.instructions)
        keys = re.findall(
            r"(?:key|field|property|attribute)s?\s+(?:named |called )?[\"'`]?(\w+)[\"'`]?", prose
        )
        keys += re.findall(r"[\"'`](\w+)[\"'`]\s+(?:key|field|property|and)", prose)
        keys = [key for key in dict.fromkeys(keys) if key.lower() not in STOP]
    keys = keys or [subject or "label"]
    record: dict[str, Any] = {}
    given = False
    for key in keys:
        lower = key.lower()
        if "confidence" in lower or "score" in lower or "probability" in lower:
            record[key] = 0.9
        elif re.search(r"reason|explanation|rationale|justification", lower):
            record[key] = reason
        elif lower == "summary":
            record[key] = sentences(reading.data)[0]
        elif not given:
            record[key], given = name, True
        else:
            record.update(extract([key], reading.data))
    if not given:
        record = {subject or "label": name, **record}
    return record


def _sql(reading: Reading, form: Format, variant: int) -> str:
    query = sql.write(reading, variant)
    if query is None:
        return _shout(reading, "Which tables and columns should the query use?")
    if form.json:
        return json.dumps({"query": query})
    if form.fenced:
        return f"```sql\n{query}\n```"
    asks = any(QUESTION.search(each) for each in reading.instructions)
    if form.explain or (asks and not form.bare):
        return _shout(reading, "Here is a query that does this:") + f"\n\n```sql\n{query}\n```"
    return query


def _extracted(reading: Reading, form: Format, fields: list[str], variant: int) -> str:
    if not reading.data.strip():
        return _shout(reading, NO_DATA)
    found = extract(fields, reading.data, variant, types_of(reading), many=form.array)
    if form.array and len(found) == 1:
        value = next(iter(found.values()))
        return json.dumps(value if isinstance(value, list) else [value], ensure_ascii=False)
    if form.json:
        return json.dumps(found, ensure_ascii=False)
    lines = {
        key: ", ".join(map(str, value)) if isinstance(value, list) else value for key, value in found.items()
    }
    if len(lines) == 1:
        value = next(iter(lines.values()))
        return str(value) if value not in {None, ""} else "none"
    mark = "- " if form.bullets else ""
    return "\n".join(
        f"{mark}{key}: {value if value not in {None, ''} else 'none'}" for key, value in lines.items()
    )


def _answered(reading: Reading, form: Format, variant: int) -> str:
    """The sentence of the data that shares most words with the question."""
    asked = (
        reading.question or " ".join(each for each in reading.instructions if "?" in each) or reading.prose
    )
    wanted = {stem(word) for word in words(asked) if word not in STOP}
    found = [each for line in reading.data.split("\n") for each in sentences(line)]
    if not found:
        return _shout(reading, NO_DATA)
    order = sorted(range(len(found)), key=lambda i: (-len(wanted & {stem(w) for w in words(found[i])}), i))
    best = found[order[variant % len(order) if variant else 0]]
    if not wanted & {stem(word) for word in words(best)} and not variant:
        return _shout(reading, "The text does not say.")
    return _shout(reading, _json(form, {"answer": best}, "answer"))
