"""Drawn worlds as the command line names them."""

from __future__ import annotations

import re

from guide.errors import InputError

_SEEDS = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)
MOST_WORLDS = 1000


def read_seeds(text: str, option: str) -> list[int]:
    """The seeds in the order they are named, each once; raises InputError for anything but numbers and ranges.

    >>> read_seeds("1033, 1021-1023", "--seed")
    [1033, 1021, 1022, 1023]
    """
    seeds: dict[int, None] = {}
    for word in (word.strip() for word in text.split(",") if word.strip()):
        match = _SEEDS.fullmatch(word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not 0 <= last - first < MOST_WORLDS:
            raise InputError(
                f"{option} takes whole numbers from 0 up and ranges such as 1021-1025 (at most {MOST_WORLDS}) with "
                f"commas between, got {text!r:.80}: change it."
            )
        seeds |= dict.fromkeys(range(first, last + 1))
    return list(seeds)
