"""How searches go about it, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.searching.methods.annealed import BeamAnnealing
from pytest_promptfuzz.searching.methods.greedy import Beam, Pwws, Ranked, TextFooler
from pytest_promptfuzz.searching.methods.random import Random
from pytest_promptfuzz.searching.methods.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.searching.searching import Method

METHODS: Mapping[str, Method] = {
    "sweep": Sweep(),
    "beam-annealing": BeamAnnealing(),
    "greedy": Beam(1),
    "deletion-greedy": Ranked(),
    "pwws": Pwws(),
    "textfooler": TextFooler(),
    "beam": Beam(),
    "random": Random(),
}
DEFAULT = "sweep"


def method_of(method: str | Method, where: str) -> Method:
    """The method of a name, or one of the user's own.

    Raises:
        UsageError: There is none of that name, or it cannot be called.
    """
    if isinstance(method, str):
        known = METHODS.get(method)
        if known is None:
            raise UsageError(f"{where}: there is no search method {method!r}. {nearest(method, METHODS)}")
        return known
    if not callable(method):
        raise UsageError(f"{where}: the search method {method!r:.80} is neither a name nor a method.")
    return method
