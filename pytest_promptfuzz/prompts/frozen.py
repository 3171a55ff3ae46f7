"""What keeps a `Prompt` as it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from typing_extensions import Self


class Frozen:
    """Refuses what would change an instance, or take it for something else; copies are the instance itself."""

    __slots__ = ()

    def __call__(self, *_args: object, **_values: object) -> NoReturn:
        """Always a `TypeError`: a prompt is rendered with `format` or ``str()``."""
        raise TypeError(
            "A Prompt is not callable; write prompt.format(slot=value), or str(prompt) if it has no slots."
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"A Prompt is immutable; make another one instead of setting {name!r}.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"A Prompt is immutable; {name!r} cannot be deleted.")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("A Prompt is not pickled; send its text or messages instead.")
