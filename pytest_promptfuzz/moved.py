"""Modules under the names that documentation once gave them: importing an old place gives the module itself."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_PACKAGE = __package__ + "."
_NOW = {
    "assisting": "assistance",
    "comparing.compare": "judging.compare",
    "embedding": "judging",
    "embedding.embedder": "comparing.meaning",
    "embedding.entailment": "comparing.meaning",
    "judging.judge": "judging.model_judge",
    "judging.model": "judging.ratings",
    "mutations.edits": "mutations.engine.edits",
    "mutations.lexicon": "mutations.analysis",
    "mutations.lexicon.lexicon": "mutations.analysis.lexicon",
    "mutations.mutation": "mutations.engine.mutation",
    "mutations.operator": "mutations.engine.operator",
    "mutations.planner": "mutations.engine.planner",
    "mutations.registry": "mutations.engine.registry",
    "scoring": "stats",
    "scoring.adjusting": "stats.intervals",
    "scoring.intervals": "stats.intervals",
    "scoring.robustness": "results.robustness",
    "scoring.trial": "results.trials",
    "targets.model": "providers.requests",
    "testing": "server",
    "testing.faults": "server.faults",
    "testing.server": "server.model_server",
    "wire.answers": "storage.answers",
    "wire.store": "storage.disk_store",
    "wire.stores": "storage.stores",
}


class _Moved(Loader):
    """Puts the module of today where an old name is imported."""

    def __init__(self, now: str) -> None:
        self._now = now
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002 - the protocol of loaders
        """The module of today, imported where it was not."""
        module = import_module(self._now)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run again; the module keeps the name and the place it has today."""
        module.__spec__ = self._spec


class MovedModules(MetaPathFinder):
    """Finds modules under old names. It is asked first: a moved package would find copies of its modules."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - the protocol of finders
        target: ModuleType | None = None,  # noqa: ARG002 - likewise
    ) -> ModuleSpec | None:
        """The spec of a module that has moved, ``None`` for any other name."""
        if not fullname.startswith(_PACKAGE):
            return None
        name = fullname.removeprefix(_PACKAGE)
        parent, _, last = name.rpartition(".")
        now = _NOW.get(name) or (f"{_NOW[parent]}.{last}" if parent in _NOW else None)
        return ModuleSpec(fullname, _Moved(_PACKAGE + now)) if now else None


def find_moved_modules() -> None:
    """Let old names be imported in this process, once however often the package is loaded."""
    if not any(type(each).__module__ == __name__ for each in sys.meta_path):
        sys.meta_path.insert(0, MovedModules())
