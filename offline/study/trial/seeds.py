"""Drawn worlds as the command line names them."""

from __future__ import annotations

import re
from typing import Final

from guide.errors import InputError

DEMONSTRATIONS: Final = 12
"""Of a drawn world."""
MOST_WORLDS: Final = 1000  # more is a slip of the finger: each takes minutes
_SEEDS: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def read_seeds(text: str, option: str) -> list[int]:
    """The seeds in the order they are named, each once; raises InputError for anything but numbers and ranges.

    >>> read_seeds("1033, 1021-1023", "--seed")
    [1033, 1021, 1022, 1023]
    """
    matches = [_SEEDS.fullmatch(word.strip()) for word in text.split(",")]
    ranges = [(int(match[1]), int(match[2] or match[1])) for match in matches if match is not None]
    is_read = len(ranges) == len(matches) and all(first <= last for first, last in ranges)
    if not is_read or sum(last - first + 1 for first, last in ranges) > MOST_WORLDS:
        raise InputError(
            f"{option} takes at most {MOST_WORLDS} worlds, whole numbers from 0 up and ranges with commas between, "
            f"such as 1021-1025,1031, got {text!r:.80}: change it."
        )
    return list(dict.fromkeys(seed for first, last in ranges for seed in range(first, last + 1)))
