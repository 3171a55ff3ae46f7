"""Whether a changed prompt still means about the same, by its embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.embedding.embedder import cosine
from pytest_promptfuzz.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.embedding.embedder import Embedder
    from pytest_promptfuzz.mutations.mutation import Mutation


def alike(
    embedder: Embedder | None,
    original: str,
    least: float,
    allows: Callable[[Mutation], bool] | None,
    where: str,
) -> Callable[[Mutation], bool]:
    """A predicate: the changed prompt's embedding is as like the original's as is wanted.

    Args:
        embedder: What embeds both.
        original: The prompt.
        least: The cosine that is enough.
        allows: A predicate that must hold as well, and is asked first.
        where: Who wants it, for messages.

    Raises:
        ConfigurationError: There is no embedder.
    """
    if embedder is None:
        raise ConfigurationError(
            f"{where}: min_cosine= needs an embedder, and none is installed: pip install 'pytest-promptfuzz[onnx]', "
            "then promptfuzz model install."
        )
    (vector,) = embedder.embed([original])

    def holds(mutation: Mutation) -> bool:
        if allows is not None and not allows(mutation):
            return False
        (other,) = embedder.embed([mutation.text])
        return cosine(vector, other) >= least

    return holds
