"""Step sequences from a folder, whichever data set lies in it."""

from __future__ import annotations

from pathlib import Path

from guide.errors import InputError
from offline.study.datasets import captaincook, crosstask, egoprocel_folder, egoprocel_json, label_folder, procel
from offline.study.datasets.captaincook_annotations import ERRORS_FILE
from offline.study.datasets.label_folder import ReadOptions
from offline.study.datasets.sequence import TaskSequences


def read_all(folder: Path, clean_only: bool = False, options: ReadOptions | None = None) -> dict[str, TaskSequences]:
    """Every task of the data set by the word that chooses it: EgoProceL's task, CaptainCook's recipe number, ...

    `clean_only` leaves out recordings the data set marks as holding a mistake. Raises InputError where the folder
    holds no data set we know, or one with faults.
    """
    options = options or ReadOptions()
    if not folder.is_dir():
        raise InputError(f"a data set folder was expected, {folder} is none: check the path.")
    if options.steps is not None and names_its_steps(folder):
        raise InputError(f"--steps is for label files, but {folder} names its steps itself: leave --steps out.")
    if (folder / egoprocel_json.JSON_FILE).is_file():
        return egoprocel_json.read_tasks(folder)
    if any(folder.glob(ERRORS_FILE)):
        recipes = captaincook.list_recipes(folder)
        return {str(number): captaincook.read_sequences(folder, number, clean_only) for number in recipes}
    if crosstask.find_release(folder):
        return crosstask.read_tasks(folder, options)
    if procel.find_tasks(folder):
        return procel.read_tasks(folder, options)
    if egoprocel_folder.find_subsets(folder):
        return egoprocel_folder.read_tasks(folder, options)
    tasks = label_folder.read_tasks(folder, options)
    if not tasks:
        raise InputError(
            f"{folder} holds no data set we know ({egoprocel_json.JSON_FILE}, EgoProceL's folders, {ERRORS_FILE}, "
            f"{crosstask.TASKS_FILE}, ProceL's {procel.DATA_FILE}, label files .csv or .eaf): check the path."
        )
    return tasks


def names_its_steps(folder: Path) -> bool:
    """Whether the folder holds a data set with a list of its steps, and not label files alone."""
    return (
        (folder / egoprocel_json.JSON_FILE).is_file()
        or any(folder.glob(ERRORS_FILE))
        or bool(crosstask.find_release(folder) or procel.find_tasks(folder))
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
