"""JSON as files of what was have it."""

from __future__ import annotations

import json
from typing import Any


def encoded(row: Any, *, indent: int | None = None) -> bytes:
    """JSON as people read it, or in ASCII where it holds what UTF-8 cannot; without a line feed at its end."""
    try:
        return json.dumps(row, ensure_ascii=False, indent=indent).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(row, indent=indent).encode("ascii")
