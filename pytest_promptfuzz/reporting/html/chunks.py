"""Parts of the page that are built when they are looked at: nodes as JSON, deflated, in base64."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.html.markup import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.reporting.html.markup import Node

_LEVEL = 4  # a higher one takes twice as long for a tenth less


def chunk(name: str, nodes: Iterable[Node]) -> str:
    """A script element that holds data, which a browser does not run: base64 has no ``<`` that could end it."""
    packed = zlib.compress(to_json(nodes).encode(), _LEVEL)
    return (
        f'<script type="application/octet-stream" id="{name}">{base64.b64encode(packed).decode()}</script>\n'
    )
