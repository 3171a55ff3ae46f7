"""Solved examples within a prompt, told from the text to work on."""

from __future__ import annotations

import itertools
import re

from pytest_promptfuzz.targets.simulated.blocks import Block


def find_examples(
    blocks: list[Block], data: list[Block]
) -> tuple[tuple[tuple[str, str], ...], list[Block], set[str]]:
    """Solved examples, ``Text: ... Label: ...`` before the last ``Text:``; the last one is the data.

    Returns:
        The examples, (input, answer); the data without them; texts of instructions that were answers.
    """
    found: list[tuple[str, str]] = []
    used: set[str] = set()
    solved: list[Block] = []
    for one, two in itertools.pairwise(blocks):
        match = re.match(r"\s*[\w ]+:\s*(\S.*)$", two.text) if two.kind == "prose" else None
        if one.kind == "data" and match and two.head:
            found.append((one.text, match[1].strip()))
            used.add(two.text)
            solved.append(one)
        elif one.kind == "data" and two.kind == "shape" and (lead := OPEN_END.search(one.text)):
            found.append((one.text[: lead.start()].strip(), two.text))
            solved.append(one)
    for one, two, three in zip(blocks, blocks[1:], blocks[2:], strict=False):
        if (
            one.kind == "data"
            and two.kind == "prose"
            and three.kind == "shape"
            and OPEN_END.fullmatch(two.text.strip())
        ):
            found.append((one.text, three.text))
            solved.append(one)
    if not found:
        return _solved_within(data)
    rest = [block for block in data if not any(block is each for each in solved)]
    if not rest:
        return (), data, set()
    return tuple(found), [_without_end(block) for block in rest], used


OPEN_END = re.compile(r"(?:^|\n)[ ]*(?P<head>[A-Za-z][\w ]{0,24}):[ ]*$")
LAST_LINE = re.compile(r"\n[ ]*(?P<head>[A-Za-z][\w ]{0,24}):[ ]*(?P<answer>\S[^\n]{0,80})$")


def _solved_within(
    data: list[Block],
) -> tuple[tuple[tuple[str, str], ...], list[Block], set[str]]:
    """Examples whose answers stand in the data's last lines, all under the same word, ``Intent: ...``."""
    ends = [LAST_LINE.search(block.text.rstrip()) for block in data[:-1]]
    heads = {match["head"].lower() if match else "" for match in ends}
    if len(heads) != 1 or "" in heads or data[0].head != data[-1].head:
        return (), data, set()
    found = [
        (block.text[: match.start()].strip(), match["answer"].strip())
        for block, match in zip(data, ends, strict=False)
        if match
    ]
    return tuple(found), [_without_end(data[-1])], set()


def _without_end(block: Block) -> Block:
    """The block without an open ``Label:`` at its end."""
    match = OPEN_END.search(block.text.rstrip())
    return (
        Block(block.kind, block.head, block.text[: match.start()].rstrip(), block.closed)
        if match and match.start()
        else block
    )
