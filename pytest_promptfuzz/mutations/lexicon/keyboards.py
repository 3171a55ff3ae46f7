"""Which keys lie side by side, on the keyboards of English, French and German."""

from __future__ import annotations

QWERTY: dict[str, str] = {
    "a": "qwsz", "b": "vghn", "c": "xdfv", "d": "serfcx", "e": "wsdr", "f": "drtgvc", "g": "ftyhbv", "h": "gyujnb",
    "i": "ujko", "j": "huikmn", "k": "jiolm", "l": "kop", "m": "njk", "n": "bhjm", "o": "iklp", "p": "ol",
    "q": "wa", "r": "edft", "s": "awedxz", "t": "rfgy", "u": "yhji", "v": "cfgb", "w": "qase", "x": "zsdc",
    "y": "tghu", "z": "asx",
}  # fmt: skip
"""A letter, and the letters around it."""


def _around(*rows: str) -> dict[str, str]:
    """The letters around each letter; a row stands half a key to the right of the one above."""
    found: dict[str, str] = {}
    for number, row in enumerate(rows):
        above = rows[number - 1] if number else ""
        below = rows[number + 1] if number + 1 < len(rows) else ""
        for place, key in enumerate(row):
            left = max(0, place - 1)
            found[key] = (
                row[left:place]
                + row[place + 1 : place + 2]
                + above[place : place + 2]
                + below[left : place + 1]
            )
    return found


AZERTY: dict[str, str] = _around("azertyuiop", "qsdfghjklm", "wxcvbn")
QWERTZ: dict[str, str] = _around("qwertzuiop", "asdfghjkl", "yxcvbnm")
