"""Returns memory that sessions freed to the system; the C library would keep it for the next ones."""

from __future__ import annotations

import ctypes
import gc
from functools import cache

POOLS = 2
MAPPED_BYTES = 2**18  # a picture is more
_M_ARENA_MAX, _M_MMAP_THRESHOLD = -8, -3  # of glibc's malloc.h


@cache
def share_pools() -> None:
    """Lets all threads share two pools of memory: each session has threads, and one for each would stay with it.

    What is large is taken from the system and given back at once: gaps in the pools would stay.
    """
    if (library := _glibc()) is not None:
        library.mallopt(_M_ARENA_MAX, POOLS)
        library.mallopt(_M_MMAP_THRESHOLD, MAPPED_BYTES)


def give_back() -> None:
    """Gives free memory back to the system; does nothing where the C library has no way to."""
    gc.collect()  # what a session held in circles is not free before
    if (library := _glibc()) is not None:
        library.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
