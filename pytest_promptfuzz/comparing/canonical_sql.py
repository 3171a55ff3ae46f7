"""Queries in a canonical form by ``sqlglot``, in which what provably returns the same rows is written the same.

Each rule holds for three-valued logic and whatever the tables hold. What would need to be known of them, such as whose
column an unqualified name is among several tables, is left as it is.
"""

from __future__ import annotations

import importlib.util
import re
from functools import lru_cache

from pytest_promptfuzz.errors import ConfigurationError, UsageError, nearest
from pytest_promptfuzz.expressions import expression

_LONGEST = 4_000  # characters: a sum of as many terms takes the library the square of its length
_TOP = expression(r"\bselect\s+(?:distinct\s+)?top\b", re.IGNORECASE)
_NULLS = expression(r"\bnulls\s+(?:first|last)\b", re.IGNORECASE)
_STRINGS = expression(r"'(?:[^']|'')*'")
_VOLATILE = expression(
    r"\b(?:rand|random|newid|uuid|gen_random_uuid|nextval|now|clock_timestamp)\b", re.IGNORECASE
)


def installed() -> bool:
    """Whether ``sqlglot`` is there."""
    return importlib.util.find_spec("sqlglot") is not None


def check_dialect(name: str) -> str:
    """The name of a dialect that ``sqlglot`` reads.

    Raises:
        UsageError: It knows none of that name.
        ConfigurationError: It is not installed.
    """
    if not installed():
        raise ConfigurationError(
            "sql_dialect= needs the library sqlglot: pip install 'pytest-promptfuzz[sql]'"
        )
    from sqlglot.dialects.dialect import Dialects

    known = [each.value for each in Dialects if each.value]
    if name not in known:
        raise UsageError(f"sql_dialect={name!r:.80} is unknown. {nearest(name, known)}")
    return name


@lru_cache(maxsize=256)
def canonical(query: str, *, dialect: str | None, names: bool) -> str | None:
    """A query in canonical form, as text for comparison only.

    Args:
        query: One statement.
        dialect: In which dialect it is read; ``None`` takes what its quotes and its ``TOP`` show.
        names: Whether the names that it gives to the columns of its result count.

    Returns:
        ``None`` where ``sqlglot`` is missing or cannot read it.
    """
    if not installed() or len(query) > _LONGEST:
        return None
    import sqlglot
    from sqlglot.errors import SqlglotError

    from pytest_promptfuzz.comparing.sql_tree import Form

    try:
        statements = [each for each in sqlglot.parse(query, read=dialect or _dialect_of(query)) if each]
        if len(statements) != 1 or not isinstance(statements[0], sqlglot.exp.Query):
            return None
        form = Form(statements[0], nulls=bool(_NULLS.search(query)), volatile=bool(_VOLATILE.search(query)))
        return form.written(names=names)
    except (SqlglotError, RecursionError, ValueError, KeyError, TypeError, AttributeError):
        return None  # what another release of the library cannot read is not told apart


def _dialect_of(query: str) -> str | None:
    bare = _STRINGS.sub("''", query)
    if "`" in bare:
        return "mysql"
    return "tsql" if "[" in bare or _TOP.search(bare) else None
