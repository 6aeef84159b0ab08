"""What is wrong with plain values that should have been typed ones, in words."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import msgspec


def misfit(error: msgspec.ValidationError, plain: Any) -> str:
    """What was expected of `plain`, where, and what came; fit to be shown, however hostile the values.

    >>> try:
    ...     msgspec.convert([1, "two"], list[int])
    ... except msgspec.ValidationError as error:
    ...     misfit(error, [1, "two"])
    "expected int at [1], got 'two'"
    """
    words, _, path = str(error).partition(" - at `$")
    found = plain
    with suppress(LookupError, TypeError):  # an unknown field may be named like anything, also like a path
        for name, place in re.findall(r"\.([^.\[`]+)|\[(\d+)\]", path):
            found = found[name or int(place)]
    place = path.strip(".`")
    wanted = words.partition(", got ")[0].replace("`", "") + (f" at {place}" if place else "")
    shown = wanted.encode("unicode_escape").decode()[:100]
    return f"{shown[0].lower()}{shown[1:]}, got {found!r:.40}"
