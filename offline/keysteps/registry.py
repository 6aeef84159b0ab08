"""The key-step finders by the names that commands take."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from guide.errors import InputError
from offline.keysteps.base import Finder

# Imported on demand: asking for the equal split should not load scikit-fuzzy.
FINDERS = {
    "random": ("offline.keysteps.blind", "Random"),
    "uniform": ("offline.keysteps.blind", "Uniform"),
    "equal": ("offline.keysteps.blind", "Equal"),
    "hc": ("offline.keysteps.kmeans", "HardClusters"),
    "ss": ("offline.keysteps.ss", "SubsetSelection"),
    "cte": ("offline.keysteps.cte", "TemporalEmbedding"),
    "pcm": ("offline.keysteps.pcm", "ProCut"),
    "correspond": ("offline.keysteps.correspond", "CorrespondAndCut"),
}


def finder(name: str) -> Finder:
    """The finder called `name`, with its default settings.

    >>> type(finder("equal")).__name__
    'Equal'
    """
    if name not in FINDERS:
        raise InputError(f"a key-step finder is one of {', '.join(FINDERS)}, got {name!r}: choose one of them.")
    module, class_name = FINDERS[name]
    make = cast(Callable[[], Finder], getattr(import_module(module), class_name))
    return make()
