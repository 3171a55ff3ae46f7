"""How GitHub's runner reads a step's log and its files of output values (actions/runner: ActionCommand, FileCommandManager)."""

from __future__ import annotations

import re
from typing import NamedTuple

OLD = {
    "set-env",
    "set-output",
    "add-path",
    "add-mask",
    "add-matcher",
    "remove-matcher",
    "save-state",
    "echo",
} | {
    "debug",
    "notice",
    "warning",
    "error",
    "group",
    "endgroup",
    "stop-commands",
    "command",
    "section",
}


class Command(NamedTuple):
    name: str
    properties: dict[str, str]
    message: str


def commands(log: str) -> list[Command]:
    """What the runner would do on reading these lines."""
    return [each for line in re.split(r"\r\n|\r|\n", log) if (each := _command(line)) is not None]


def _command(line: str) -> Command | None:
    text = line.lstrip()
    if text.startswith("::") and "::" in text[2:]:
        head, _, data = text[2:].partition("::")
        name, _, rest = head.partition(" ")
        properties = dict(each.split("=", 1) for each in rest.split(",") if "=" in each)
        decoded = {key.strip(): _read(each, ":,") for key, each in properties.items()}
        return Command(name, decoded, _read(data))
    old = re.search(r"##(?:vso|teamcity)?\[([\w.-]+)", line)
    return Command(old[1], {}, line) if old else None


def _read(text: str, also: str = "") -> str:
    for each in ("\r", "\n", *also):
        text = text.replace(f"%{ord(each):02X}", each)
    return text.replace("%25", "%")


def values(file: str) -> dict[str, str]:
    """The output values of a step."""
    found: dict[str, str] = {}
    lines = iter(file.split("\n"))
    for line in lines:
        if "<<" in line and ("=" not in line or line.index("<<") < line.index("=")):
            name, delimiter = line.split("<<", 1)
            value = []
            for each in lines:
                if each == delimiter:
                    break
                value.append(each)
            else:
                raise AssertionError(f"{name} does not end")
            found[name] = "\n".join(value)
        elif line:
            name, _, found[name] = line.partition("=")
    return found
