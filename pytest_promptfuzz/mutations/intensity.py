"""How much an operator does: a count of places or a share of them, and how that is written."""

from __future__ import annotations

from pytest_promptfuzz.errors import UsageError


def check_intensity(value: object, where: str) -> float:
    """An intensity as it was given.

    Args:
        value: An int from 1 (places to change) or a float above 0 to 1 (the share of them).
        where: What has it, for the message.

    Raises:
        UsageError: It is neither.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise UsageError(f"{where}: the intensity {value} changes nothing; give a count from 1.")
        return value
    if isinstance(value, float):
        if not 0 < value <= 1:
            raise UsageError(
                f"{where}: the intensity {value:g} ({value:.0%}) is no share; give one above 0 up to 1 (100%)."
            )
        return value
    raise UsageError(
        f"{where}: the intensity {value!r} is {type(value).__name__}; give a count (3) or a share (0.2)."
    )


def read_intensity(text: str, where: str) -> float:
    """The intensity that ``text`` writes: ``3`` is a count, ``20%`` a share.

    Raises:
        UsageError: It is neither.
    """
    share = text.endswith("%")
    digits = text[:-1] if share else text
    # isdecimal() and float() take digits of any script; a specification is written in ASCII.
    whole, _, decimals = digits.partition(".")
    if not digits.isascii() or not whole.isdecimal() or (decimals and not decimals.isdecimal()):
        raise UsageError(f"{where}: the intensity {text!r} is neither a count like 3 nor a share like 20%.")
    if share:
        return check_intensity(float(digits) / 100, where)
    if decimals or "." in digits:
        raise UsageError(f"{where}: the intensity {text!r} is no count; write a share in percent, like 20%.")
    return check_intensity(int(digits), where)


def shown(intensity: float) -> str:
    """An intensity as it is written behind a name: ``:3`` or ``:20%``."""
    return f":{intensity}" if isinstance(intensity, int) else f":{intensity * 100:.10g}%"
