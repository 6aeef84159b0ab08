"""Step sequences from a folder, whichever data set lies in it."""

from __future__ import annotations

from pathlib import Path

from guide.errors import InputError
from offline.datasets import captaincook, egoprocel_json
from offline.datasets.captaincook_annotations import ERRORS_FILE
from offline.datasets.sequence import TaskSequences


def read_all(folder: Path, clean_only: bool = False) -> dict[str, TaskSequences]:
    """Every task of the data set by the word that chooses it: EgoProceL's task name, CaptainCook's recipe number.

    `clean_only` leaves out recordings the data set marks as holding a mistake. Raises InputError where the folder
    holds neither data set.
    """
    if (folder / egoprocel_json.JSON_FILE).is_file():
        return egoprocel_json.read_tasks(folder)
    if folder.is_dir() and any(folder.glob(ERRORS_FILE)):
        recipes = captaincook.list_recipes(folder)
        return {str(number): captaincook.read_sequences(folder, number, clean_only) for number in recipes}
    raise InputError(
        f"{folder} should hold {egoprocel_json.JSON_FILE} or {ERRORS_FILE} and holds neither: check the path."
    )


def choose_task(tasks: dict[str, TaskSequences], task: str) -> TaskSequences:
    """The task called `task`, by its word or its name; raises InputError naming those there are."""
    if task in tasks:
        return tasks[task]
    named = next((found for found in tasks.values() if found.name.lower() == task.lower()), None)
    if named is None:
        known = ", ".join(word if word == found.name else f"{word} ({found.name})" for word, found in tasks.items())
        raise InputError(f"there is no task {task!r} here, there are {known}: choose one of them.")
    return named
