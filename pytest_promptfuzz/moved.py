"""Old names of modules: importing a place that documentation once named gives the module of today."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_PACKAGE = __package__ + "."
_PACKAGES = {
    "assisting": "assistance",
    "embedding": "judging",
    "mutations.lexicon": "mutations.analysis",
    "scoring": "stats",
    "testing": "server",
}
_MODULES = {
    "comparing.compare": "judging.compare",
    "embedding.embedder": "comparing.meaning",
    "embedding.entailment": "comparing.meaning",
    "judging.judge": "judging.model_judge",
    "judging.model": "judging.ratings",
    "judging.registry": "judging.model_judge",
    "mutations.draft": "mutations.analysis.draft",
    "mutations.edits": "mutations.engine.edits",
    "mutations.lexicon.lexicon": "mutations.analysis.lexicon",
    "mutations.mutation": "mutations.engine.mutation",
    "mutations.operator": "mutations.engine.operator",
    "mutations.planner": "mutations.engine.planner",
    "mutations.registry": "mutations.engine.registry",
    "mutations.rng": "randomness",
    "reporting.formats": "reporting.report_files",
    "scoring.adjusting": "stats.intervals",
    "scoring.counterexample": "results.counterexamples",
    "scoring.intervals": "stats.intervals",
    "scoring.robustness": "results.robustness",
    "scoring.trial": "results.trials",
    "targets.function": "targets.resolution",
    "targets.model": "providers.requests",
    "targets.serving": "providers.bodies",
    "server.fixtures": "plugin.fixtures",
    "testing.faults": "server.faults",
    "testing.fixtures": "plugin.fixtures",
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


class _MovedPackage(Loader):
    """Makes a package that has what the one of today has, but no folder: any other finder would load copies from it."""

    def __init__(self, now: str) -> None:
        self._now = now

    def create_module(self, spec: ModuleSpec) -> None:
        """A module like any other."""

    def exec_module(self, module: ModuleType) -> None:
        """Its names are looked up in the package of today."""

        def attribute(name: str) -> Any:
            if name.startswith("__") and name != "__all__":
                raise AttributeError(name)
            return getattr(import_module(self._now), name)

        vars(module)["__getattr__"] = attribute


class MovedModules(MetaPathFinder):
    """Finds modules under old names."""

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
        if name in _PACKAGES:
            return ModuleSpec(fullname, _MovedPackage(_PACKAGE + _PACKAGES[name]), is_package=True)
        parent, _, last = name.rpartition(".")
        now = _MODULES.get(name) or (f"{_PACKAGES[parent]}.{last}" if parent in _PACKAGES else None)
        return ModuleSpec(fullname, _Moved(_PACKAGE + now)) if now else None


def find_moved_modules() -> None:
    """Let old names be imported in this process, once however often the package is loaded."""
    if not any(type(each).__module__ == __name__ for each in sys.meta_path):
        sys.meta_path.append(MovedModules())
