"""``promptfuzz serve``: the simulated model behind the providers' protocols, on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Name the command in the help; it reads its own options."""
    commands.add_parser(
        "serve", help="serve the simulated model on this machine, in the providers' protocols", add_help=False
    )


def execute(argv: Sequence[str]) -> int:
    """Serve until interrupted; returns the exit code."""
    from pytest_promptfuzz.testing.serve import serve

    return serve(argv)
