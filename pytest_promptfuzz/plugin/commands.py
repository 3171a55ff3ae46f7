"""The command that reproduces one trial, to be copied into the shell that pytest was started from."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

# What decides which mutations there are, who answers them and how they are judged.
_KEPT = (
    *(
        f"--promptfuzz-{name}"
        for name in (
            "target",
            "mutations",
            "operators",
            "threshold",
            "task",
            "stop",
            "seed",
            "override",
            "cache-dir",
            "model",
        )
    ),
    "--rootdir",
    "--config-file",
    "--override-ini",
    "-c",
    "-o",
)


def reproduce(item: pytest.Item) -> str:
    """The command, with ``{id}`` in the place of the trial's ID."""
    invocation = item.config.invocation_params
    path, separator, rest = item.nodeid.partition("::")
    # A node ID is relative to pytest's root, which need not be where the command is typed.
    try:
        path = os.path.relpath(item.config.rootpath / path, invocation.dir).replace(os.sep, "/")
    except ValueError:  # another drive
        path = str(item.config.rootpath / path)
    quoted = f"{path}{separator}{rest}".replace("'", "'\"'\"'")
    return " ".join([f"pytest '{quoted}'", "--promptfuzz-trial={id}", *kept([*map(str, invocation.args)])])


def kept(arguments: Sequence[str]) -> list[str]:
    """The arguments of a pytest command line without which a trial would not be the same, quoted for a shell.

    >>> kept(["-q", "--promptfuzz-target=simulated", "-o", "a=b c", "tests", "-cother.ini"])
    ['--promptfuzz-target=simulated', '-o', "'a=b c'", '-cother.ini']
    """
    found: list[str] = []
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        index += 1
        if argument in _KEPT:
            found += arguments[index - 1 : index + 1]
            index += 1
        elif argument.partition("=")[0] in _KEPT or argument[:2] in {"-c", "-o"}:
            found.append(argument)
    return [shlex.quote(each) for each in found]
