"""Reads the prompts of ``data/``, and checks answers against what each expects."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pytest_promptfuzz.providers.requests import Request, Response
from pytest_promptfuzz.targets.simulated import SimulatedModel

DATA = Path(__file__).parent / "data"
SENTENCE = re.compile(r"[^.!?]+(?:[.!?](?=\w)[^.!?]*)*[.!?]*\s*")
BULLET = re.compile(r"^\s*[-*•]\s")
NUMBERED = re.compile(r"^\s*\d+[.)]\s")


def load(name: str) -> list[dict[str, Any]]:
    """The rows of a file of ``data/``: id, prompt (text or chat messages), expect, perhaps tools or response_format."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def ask(row: dict[str, Any], prompt: Any = None) -> Response:
    prompt = row["prompt"] if prompt is None else prompt
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    parameters = {key: row[key] for key in ("tools", "response_format") if key in row}
    return SimulatedModel().answer(Request(tuple(messages), parameters))


def faults(row: dict[str, Any], response: Response) -> list[str]:
    """What an answer lacks of what was expected; empty if it is right."""
    wanted: dict[str, Any] = row["expect"]
    found = []
    for key, value in wanted.items():
        if not CHECKS[key](response, value):
            found.append(f"{key}={value!r}")
    return found


def unfenced(text: str) -> str:
    match = re.fullmatch(r"```\w*\n(.*?)\n?```", text.strip(), re.DOTALL)
    return match[1] if match else text


def parsed(text: str) -> Any:
    try:
        return json.loads(unfenced(text))
    except ValueError:
        return ...


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def sentences(text: str) -> list[str]:
    return [each.strip() for each in SENTENCE.findall(text) if each.strip()]


def words(text: str) -> int:
    return len(text.split())


def is_extract(text: str, source: str) -> bool:
    for line in lines(text):
        body = NUMBERED.sub("", BULLET.sub("", line)).strip()
        if any(each.rstrip(".") not in source for each in sentences(body)):
            return False
    return True


def fields(text: str, wanted: dict[str, Any]) -> bool:
    value = parsed(text)
    return isinstance(value, dict) and value == wanted


def field_patterns(text: str, wanted: dict[str, str]) -> bool:
    value = parsed(text)
    if not isinstance(value, dict) or set(value) != set(wanted):
        return False
    texts = {key: each if isinstance(each, str) else json.dumps(each) for key, each in value.items()}
    return all(re.search(pattern, texts[key]) for key, pattern in wanted.items())


def flat(text: str) -> str:
    return " ".join(text.split())


def called(response: Response, wanted: dict[str, Any]) -> bool:
    return [(call.name, call.arguments) for call in response.tool_calls] == [
        (wanted["name"], wanted["arguments"])
    ]


CHECKS: dict[str, Any] = {
    "equals": lambda r, v: r.text == v,
    "regex": lambda r, v: re.search(v, r.text) is not None,
    "json": lambda r, v: fields(r.text, v),
    "json_equals": lambda r, v: parsed(r.text) == v,
    "json_regex": lambda r, v: field_patterns(r.text, v),
    "json_keys": lambda r, v: isinstance(parsed(r.text), dict) and list(parsed(r.text)) == v,
    "sql": lambda r, v: all(each in flat(unfenced(r.text)) for each in v),
    "sql_lacks": lambda r, v: not any(each in flat(unfenced(r.text)) for each in v),
    "only_sql": lambda r, v: unfenced(r.text).startswith(("SELECT", "WITH")),
    "sentences": lambda r, v: len(sentences(r.text)) == v,
    "min_sentences": lambda r, v: len(sentences(r.text)) >= v,
    "max_sentences": lambda r, v: len(sentences(r.text)) <= v,
    "min_words": lambda r, v: words(r.text) >= v,
    "max_words": lambda r, v: words(r.text) <= v,
    "single_line": lambda r, v: len(lines(r.text)) == 1,
    "extract": lambda r, v: is_extract(r.text, v),
    "bullets": lambda r, v: len(lines(r.text)) == v and all(BULLET.match(each) for each in lines(r.text)),
    "min_bullets": lambda r, v: sum(bool(BULLET.match(each)) for each in lines(r.text)) >= v,
    "max_bullets": lambda r, v: sum(bool(BULLET.match(each)) for each in lines(r.text)) <= v,
    "numbered": lambda r, v: len(lines(r.text)) == v and all(NUMBERED.match(each) for each in lines(r.text)),
    "tool": called,
}
