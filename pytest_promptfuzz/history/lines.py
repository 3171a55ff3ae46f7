"""JSON that people review: a text of several lines is a list of them, so that a diff shows the line that changed.

Such a text becomes ``{"lines": ["first", "second"]}``. A dictionary that has this form by itself gets a backslash
before its key, so that everything comes back as it was.
"""

from __future__ import annotations

from typing import Any

_KEY = "lines"


def folded(value: Any) -> Any:
    """A JSON value, its texts of several lines as lists of lines; :func:`unfolded` is the inverse.

    >>> folded({"answer": chr(10).join(["one", "two"])})
    {'answer': {'lines': ['one', 'two']}}
    """
    if isinstance(value, str):
        return {_KEY: value.split("\n")} if "\n" in value else value
    if isinstance(value, list):
        return [folded(each) for each in value]
    if isinstance(value, dict):
        if _is_form(value):
            ((key, inner),) = value.items()
            return {f"\\{key}": folded(inner)}
        return {key: folded(each) for key, each in value.items()}
    return value


def unfolded(value: Any) -> Any:
    """What :func:`folded` was given.

    Raises:
        ValueError: ``lines`` holds something other than texts.
    """
    if isinstance(value, list):
        return [unfolded(each) for each in value]
    if isinstance(value, dict):
        if _is_form(value):
            ((key, inner),) = value.items()
            if key != _KEY:
                return {key[1:]: unfolded(inner)}
            if not isinstance(inner, list) or not all(isinstance(each, str) for each in inner):
                raise ValueError(f"{_KEY!r} is a list of texts, not {inner!r:.60}")
            return "\n".join(inner)
        return {key: unfolded(each) for key, each in value.items()}
    return value


def _is_form(value: dict[str, Any]) -> bool:
    return len(value) == 1 and next(iter(value)).lstrip("\\") == _KEY
