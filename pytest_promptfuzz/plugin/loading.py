"""How the package's own modules are loaded during a pytest run: as they are installed.

pytest rewrites the ``assert`` statements of every distribution that holds a plugin, so that a failing one shows its
operands. This package checks nothing by ``assert``, and a run with robust tests loads some 300 modules of it: through
the rewriting they take about twice as long, and are compiled anew wherever pytest's own bytecode is not there yet
(the first run after an installation, which is each run of a CI job) or cannot be written.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_PACKAGE = __name__.partition(".")[0] + "."


class AsInstalled:
    """A finder of this package's modules, by their path alone."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module's spec as Python makes it without pytest; None for all other packages'."""
        return PathFinder.find_spec(name, path, target) if name.startswith(_PACKAGE) else None


def load_as_installed() -> None:
    """Have modules of this package that are imported from now on found without pytest's rewriting."""
    if AsInstalled not in sys.meta_path:
        sys.meta_path.insert(0, AsInstalled)
