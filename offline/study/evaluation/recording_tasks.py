"""Tasks of a folder of recordings with label files: one task a folder, or one for each folder in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from guide.domain import Segment
from guide.errors import InputError
from guide.teach.annotations import LabelOptions, find_label_file, read_label_files, segments_to_labels
from offline.config import Recipe
from offline.features import FeatureCache, RecordingFeatures
from offline.gather import see_task
from offline.study.datasets import phases
from offline.study.datasets.egoprocel_folder import CMU_FILE, TENT_SUFFIX, cmu_video
from offline.study.datasets.egoprocel_json import read_names
from offline.study.datasets.folder import choose
from offline.study.datasets.label_folder import folders, label_files, read_leniently, usual_names, usual_steps
from offline.study.datasets.sequence import StepSequence, TaskSequences
from offline.study.datasets.views import choose_view
from offline.study.evaluation.task import LabelledTask, require_steps
from offline.videos import Recording, RecordingFacts, ends_of, examine_all, find_recordings

if TYPE_CHECKING:  # what only reads features starts neither trunk nor ONNX Runtime
    from offline.extraction import ExtractionDevice
    from offline.fleet import Fleet


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """Where labels lie and how they are read."""

    folder: Path | None = None
    """Beside the recordings where it is not given."""
    steps: Path | None = None
    """A file of lines `number name`: steps that are not in it are unknown."""
    lenient: bool = False
    view: str = ""
    """Only recordings of that camera, which CMU-MMAC's file names tell."""
    tier: str | None = None
    """The tier of ELAN files that holds the steps."""
    skip_bad: bool = False
    """Leave out recordings that cannot be read or give too few frames, and name them."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A task whose labels hold: what to look at, what was done in it, and what was said of the labels."""

    word: str
    facts: tuple[RecordingFacts, ...]
    segments: tuple[tuple[Segment, ...], ...]
    names: Mapping[int, str]
    notes: tuple[str, ...]
    view: str = ""
    skip_bad: bool = False
    """As asked for: how many frames a recording gives is seen only when it is looked at."""


def check_tasks(folder: Path, words: Sequence[str], rate: float | None, labels: LabelRequest) -> list[Checked]:
    """The tasks called `words`, labels read before anything is looked at; raises InputError with all that is wrong."""
    checked: list[Checked] = []
    problems: list[str] = []
    for word, place in choose(task_folders(folder), words, lambda path: path.name):
        try:
            checked.append(_check(word, place, folder, rate, labels))
        except InputError as error:
            problems.append(str(error))
    if problems:
        raise InputError(" ".join(problems))
    return checked


def task_folders(folder: Path) -> dict[str, Path]:
    """Task folders by their names: the folder itself where it holds recordings, else the folders in it that do.

    Where none of these does, those that have recordings one folder deeper, as CMU-MMAC keeps its performances.
    """
    if not folder.is_dir():
        raise InputError(f"--videos must name a folder of recordings, but {folder} is none: check the path.")
    inner = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    tasks = {path.name: path for path in inner if _has_recordings(path)}
    tasks = tasks or {path.name: path for path in inner if any(map(_has_recordings, folders(path)))}
    if _has_recordings(folder) or not tasks:
        return {folder.resolve().name: folder}
    return tasks


def see_all(
    tasks: Sequence[Checked],
    recipe: Recipe,
    cache: Path,
    console: Console,
    weights: Path | None = None,
    device: ExtractionDevice = "auto",
    fleet: Fleet | None = None,
) -> list[LabelledTask]:
    """The tasks as the trunk sees them, here or on a fleet, with the label of every frame."""
    extractor = None
    if any(fact.recording.kind != "features" for each in tasks for fact in each.facts):
        from offline.extraction import open_extractor  # only who looks at pictures needs ONNX Runtime

        extractor = open_extractor(recipe.backbone, cache / "trunks", weights, device=device)
    features = FeatureCache(cache / "features")
    return [
        _with_labels(each, see_task(each.facts, extractor, recipe, features, console, each.skip_bad, fleet))
        for each in tasks
    ]


def _with_labels(checked: Checked, seen: Sequence[RecordingFeatures]) -> LabelledTask:
    segments = dict(zip((fact.recording.id for fact in checked.facts), checked.segments, strict=True))
    truth = tuple(segments_to_labels(segments[recording.id], recording.times) for recording in seen)
    unseen = [id_ for id_ in segments if id_ not in {recording.id for recording in seen}]
    notes = (*checked.notes, *_absent(unseen, "too few frames"))
    return require_steps(
        LabelledTask(checked.word, checked.word, checked.names, tuple(seen), truth, notes, view=checked.view)
    )


def _has_recordings(folder: Path) -> bool:
    try:
        found = find_recordings([str(path) for path in sorted(folder.iterdir()) if path.is_file()], rate=1.0)
    except InputError:
        return True  # of two kinds, say: to be complained of when they are read
    return bool(found.recordings)


def _check(word: str, place: Path, root: Path, rate: float | None, labels: LabelRequest) -> Checked:
    found = find_recordings([str(place)], rate)
    if not found.recordings:
        raise InputError(f"{place} should hold recordings and holds none: check the path.")
    chosen = of_view(word, found.recordings, labels.view) if labels.view else found.recordings
    facts, problems = _examined(chosen, labels.skip_bad)
    if (place / phases.FILE).is_file() and labels.folder is None:
        checked = _from_phases(word, place, facts)
    else:
        folder = _label_folder(place, root, labels)
        checked = _from_files(word, folder, facts, labels)
        checked = replace(checked, notes=checked.notes + _strays(folder, found.recordings))
    others = len(found.recordings) - len(chosen)
    notes = checked.notes + ((f"{others} recordings of other views left out",) if others else ())
    notes += (f"{len(problems)} left out that cannot be used: {' '.join(problems)}",) if problems else ()
    return replace(checked, view=labels.view, notes=notes, skip_bad=labels.skip_bad)


def _examined(chosen: Sequence[Recording], skip_bad: bool) -> tuple[tuple[RecordingFacts, ...], tuple[str, ...]]:
    """What can be used, and what is wrong with the rest; raises InputError where nothing is left."""
    examined = examine_all(chosen, skip_bad)
    if not examined.good:
        raise InputError(examined.problems[0])
    return examined.good, examined.problems


def of_view(word: str, recordings: Sequence[Recording], view: str) -> list[Recording]:
    """The recordings of one camera; raises InputError naming the cameras where none is of it."""
    videos = {one.id: cmu_video(Path(one.id)) for one in recordings if CMU_FILE.fullmatch(Path(one.id).stem)}
    sequences = tuple(StepSequence(id_, 0.0, (), view=video.view) for id_, video in videos.items())
    if not sequences:
        raise InputError(
            f"--view {view} takes cameras from names such as S07_Brownie_7150991-1431, but {word} has no such "
            "recordings: leave --view out."
        )
    ids = {one.id for one in choose_view(TaskSequences(word, (), sequences), view).recordings}
    return [one for one in recordings if one.id in ids]


def _label_folder(place: Path, root: Path, labels: LabelRequest) -> Path:
    """The given folder, or the one in it that is called like the task's; else beside the recordings."""
    if labels.folder is None:
        return place
    inner = labels.folder / place.name
    return inner if place != root and inner.is_dir() else labels.folder


def _from_phases(word: str, place: Path, facts: Sequence[RecordingFacts]) -> Checked:
    table = phases.read_phases(place)
    known = [fact for fact in facts if phases.episode_of(fact.recording.id) in table]
    segments = [
        phases.segments_of(table[phases.episode_of(fact.recording.id) or 0], fact.duration_s + 1 / fact.rate)
        for fact in known
    ]
    missing = [fact.recording.id for fact in facts if fact not in known]
    without = sorted(set(table) - {phases.episode_of(fact.recording.id) for fact in facts})
    notes = [f"true steps from {phases.FILE}: {', '.join(phases.STEPS.values())}"]
    notes += _absent(missing, f"no line in {phases.FILE}") + _absent(list(map(str, without)), "no recording")
    return Checked(word, tuple(known), tuple(segments), phases.STEPS, tuple(notes))


def _from_files(word: str, folder: Path, facts: Sequence[RecordingFacts], request: LabelRequest) -> Checked:
    known = None if request.steps is None else read_names(request.steps)
    files = find_labels(folder, [fact.recording.id for fact in facts])
    steps = set(known) if known else usual_steps(read_leniently(files, request.tier))
    read = read_label_files(files, ends_of(facts), LabelOptions(steps, request.lenient, request.tier))
    labelled = [fact for fact in facts if fact.recording.id in read]
    missing = [fact.recording.id for fact in facts if fact.recording.id not in read]
    names, renamed = usual_names(read)
    changes = [change for labels in read.values() for change in labels.changes]
    notes = [f"lenient reading changed {len(changes)} things in the labels"] if changes else []
    notes += [f"changed: {change}" for change in changes]
    notes += renamed + _absent(missing, f"no label file in {folder}")
    segments = tuple(read[fact.recording.id].segments for fact in labelled)
    return Checked(word, tuple(labelled), segments, names, tuple(notes))


def find_labels(folder: Path, ids: Sequence[str]) -> dict[str, Path]:
    """The label file of each recording that has one, in the folder or one of its folders; raises InputError for none.

    EgoProceL's tents have an ending of their own.
    """
    if not folder.is_dir():
        raise InputError(f"--labels must name a folder of label files, but {folder} is not a folder: check the path.")
    places = (folder, *folders(folder))
    found: dict[str, Path] = {}
    for id_ in ids:
        paths = [find_label_file(place, name) for place in places for name in (id_, id_ + TENT_SUFFIX)]
        for path in (path for path in paths if path is not None):
            if found.setdefault(id_, path) != path:
                raise InputError(f"a recording has one label file, but {found[id_]} and {path} both stand: keep one.")
    if not found:
        raise InputError(
            f"a CSV or ELAN file named like a recording was expected, such as {ids[0]}.csv, but {folder} has none: "
            "give --labels DIR."
        )
    return found


def _absent(names: Sequence[str], why: str) -> list[str]:
    return [f"{len(names)} left out, {why}: {', '.join(names)}"] if names else []


def _strays(folder: Path, recordings: Sequence[Recording]) -> tuple[str, ...]:
    """What to say of label files that lie beside those of recordings and are of none."""
    found = set(find_labels(folder, [recording.id for recording in recordings]).values())
    places = sorted({folder, *(path.parent for path in found)})
    files = [path for place in places for path in label_files(place)]
    return tuple(_absent([path.name for path in files if path not in found], "no recording"))
