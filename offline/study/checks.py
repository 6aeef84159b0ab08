"""Checks of options that several commands have."""

from __future__ import annotations

from typing import Final

from guide.errors import InputError

MOST_WORKERS: Final = 256  # each takes hundreds of megabytes: more is a slip of the finger


def require_from(name: str, value: int, least: int) -> None:
    """Raises InputError where the option is smaller than it can be."""
    if value < least:
        raise InputError(f"--{name} is a whole number from {least} up, got {value}: give a larger one.")


def require_workers(workers: int) -> None:
    """Raises InputError where there are none, or more than any machine has use for."""
    require_from("workers", workers, 1)
    if workers > MOST_WORKERS:
        raise InputError(f"--workers is at most {MOST_WORKERS}, got {workers}: give fewer.")
