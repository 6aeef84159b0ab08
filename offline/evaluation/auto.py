"""The number of key-steps chosen without labels: the same choice as training makes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from guide.errors import InputError
from offline.evaluation.finding import Search
from offline.evaluation.task import LabelledTask

MODULE: Final = "offline.keysteps.choose"


def load_choice() -> Callable[..., Any]:
    """What chooses: `choose_k(collection, seed)`; raises InputError while there is none."""
    try:
        return import_module(MODULE).choose_k  # type: ignore[no-any-return]
    except ModuleNotFoundError as error:
        if error.name != MODULE:
            raise
        raise InputError(
            "--k auto needs a choice of the number of key-steps, which is not built: give --k true or a number."
        ) from error


def chosen_count(search: Search, task: LabelledTask) -> tuple[int, tuple[str, ...]]:
    """The number chosen in the embedding of the recipe's own loss, and why: one for all methods, so that they compare.

    The choice may be a number, or a value with `k` and `reason`.
    """
    collection = search.collection(task, search.recipe.loss, search.recipe.steps, 0, lambda *_: None)
    choice = load_choice()(collection, 0)
    k, reason = int(getattr(choice, "k", choice)), str(getattr(choice, "reason", ""))
    return k, (f"K = {k} chosen: {reason}" if reason else f"K = {k} chosen without labels",)
