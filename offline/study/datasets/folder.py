"""Step sequences from a folder, whichever data set lies in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from guide.errors import InputError
from offline.study.datasets import captaincook, crosstask, egoprocel_folder, egoprocel_json, label_folder, procel
from offline.study.datasets.captaincook_annotations import ERRORS_FILE
from offline.study.datasets.label_folder import ReadOptions
from offline.study.datasets.sequence import TaskSequences

Item = TypeVar("Item")


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


def choose(tasks: dict[str, Item], words: Sequence[str], name: Callable[[Item], str]) -> list[tuple[str, Item]]:
    """The tasks that `words` call by key or name, in that order, or all; raises InputError for one there is not."""
    by_name = {name(task).lower(): word for word, task in tasks.items()}
    keys = [word if word in tasks else by_name.get(word.lower(), "") for word in words] or list(tasks)
    if "" in keys:
        unknown = words[keys.index("")]
        known = ", ".join(word if word == name(task) else f"{word} ({name(task)})" for word, task in tasks.items())
        raise InputError(f"there is no task {unknown!r} here, there are {known}: choose some of them.")
    return [(key, tasks[key]) for key in dict.fromkeys(keys)]
