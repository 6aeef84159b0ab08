"""What the Learn page shows, as plain values: how a training stands, what it found, and what is doubtful about it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import av

from guide.bundle import Bundle, read_bundle
from guide.domain import KeyStep
from guide.errors import GuideError
from guide.ingest.files import open_video
from guide.ingest.stills import STILL_SUFFIXES
from guide.procedure.model import Procedure
from guide.procedure.reading import from_plain
from guide.teach.moments import to_jpeg
from guide.teach.videos import picture_at
from guide.ui.state.bundles import BundleView, DamagedBundle, view_bundle
from guide.ui.state.live_start import DEFAULT_DEMO, DEMO_VARIABLE
from guide.ui.training import TrainingJob, last_line
from guide.ui.uploads import SUFFIXES

STAGES = (
    "Check the recordings",
    "Look at the frames",
    "Train",
    "Find the steps",
    "Write the procedure",
)
MINUTE_S: Mapping[str, float] = {"default": 30.0}
"""A first guess by preset: seconds for a minute of video. The drawn demo took about 27 s of processor time."""
FEW_RECORDINGS = 5
RARE = 0.5  # a step in no more than this share of the recordings is doubtful
BRIEF_S = 1.0
MOST_POINTS = 2000
LARGEST_PICTURE_BYTES = 8 * 2**20
_LINE = re.compile(r"(features|training \([^)]*\)): (\d+) %(?:, (.+?) left)? ?(.*)")
_COUNT = re.compile(r"(\d+) recordings, ([\d.]+) minutes")
_RUN = re.compile(r"^run (.+)$", re.MULTILINE)
_RATE = re.compile(r"([\d.]+) a second$")


@dataclass(frozen=True, slots=True)
class LossPoint:
    """What one look at the held-out frames showed.

    >>> LossPoint(20, 1.5, 1.75, 30.0).iteration
    20
    """

    iteration: int
    training: float
    held_out: float
    rate: float


@dataclass(frozen=True, slots=True)
class ProgressView:
    """How far a training has come: the stage (a place in STAGES), its share if known, time left, words, the curve."""

    stage: int
    share: float | None
    left: str
    words: str
    points: tuple[LossPoint, ...]


@dataclass(frozen=True, slots=True)
class RecordingView:
    """A recording that was dropped.

    >>> RecordingView(Path("recordings/box/one.mp4"), 2_500_000, 62.0).facts
    '1:02, 2.5 MB'
    """

    path: Path
    size: int
    seconds: float | None

    @property
    def facts(self) -> str:
        length = "" if self.seconds is None else f"{int(self.seconds) // 60}:{int(self.seconds) % 60:02d}, "
        return f"{length}{self.size / 1e6:.1f} MB"


@dataclass(frozen=True, slots=True)
class ScoreView:
    """How far the steps agree with labels, as shares of 1, beside what no look at the recordings would give.

    >>> ScoreView(2, 0.5, 0.4, 0.1).words
    'Agrees with the labels of 2 recordings better than equal time slices would.'
    """

    recordings: int
    ours: float
    equal: float
    random: float

    @property
    def values(self) -> tuple[float, float, float]:
        return self.ours, self.equal, self.random

    @property
    def is_good(self) -> bool:
        return self.ours > max(self.equal, self.random)

    @property
    def words(self) -> str:
        labelled = f"the labels of {self.recordings} recording{'s' if self.recordings > 1 else ''}"
        if self.is_good:
            return f"Agrees with {labelled} better than equal time slices would."
        return (
            f"Agrees with {labelled} no better than equal time slices would: do not guide with this; "
            "learn from the labels instead, or add recordings."
        )


@dataclass(frozen=True, slots=True)
class ResultView:
    """What was learned: the bundle, its pictures (PNG), and what is doubtful, in plain words."""

    bundle: BundleView
    pictures: tuple[tuple[str, bytes], ...]
    warnings: tuple[str, ...]


def demo_folder(environment: Mapping[str, str]) -> Path | None:
    """The recordings that the demo learns from, with their labels, where it was drawn.

    >>> demo_folder({"CNC_DEMO": "no/such/folder"})
    """
    folder = Path(environment.get(DEMO_VARIABLE) or DEFAULT_DEMO) / "train"
    return folder if count_videos(folder) > 1 else None


def list_recordings(folder: Path) -> tuple[RecordingView, ...]:
    """The videos in a procedure's folder, by name."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower()[1:] in SUFFIXES and path.is_file())
    except OSError:  # nothing was dropped yet
        return ()
    return tuple(
        RecordingView(path, path.stat().st_size, _seconds(path)) for path in paths if not path.name.startswith(".")
    )


def count_videos(folder: Path) -> int:
    """How many files in `folder` and one level below it are videos by their names."""
    try:
        paths = [path for depth in ("*", "*/*") for path in folder.glob(depth) if not path.name.startswith(".")]
        return sum(path.suffix.lower()[1:] in SUFFIXES for path in paths)
    except OSError:
        return 0


def count_other_recordings(folder: Path) -> int:
    """How many recordings there seem to be that are no videos: tables of features, and folders of stills."""
    try:
        paths = [path for depth in ("*", "*/*") for path in folder.glob(depth) if not path.name.startswith(".")]
        tables = sum(path.suffix.lower() in (".npy", ".npz") for path in paths)
        return tables + len({path.parent for path in paths if path.suffix.lower() in STILL_SUFFIXES})
    except OSError:
        return 0


def count_minutes(folder: Path) -> float:
    """How long the videos in `folder` and one level below it are together; those that nobody can read count nothing."""
    try:
        paths = [path for depth in ("*", "*/*") for path in folder.glob(depth) if path.suffix.lower()[1:] in SUFFIXES]
    except OSError:
        return 0.0
    return sum(_seconds(path) or 0.0 for path in paths) / 60


def thumbnail(path: Path) -> bytes | None:
    """A small JPEG from the middle of a video; none where it has none."""
    image = picture_at(path, (_seconds(path) or 0.0) / 2)
    return None if image is None else to_jpeg(image)


def expected_s(minutes: float, preset: str, jobs: Iterable[TrainingJob]) -> float | None:
    """How long learning from so many minutes of video will take, by what earlier trainings took, else a guess."""
    rate = measured_rate(preset, jobs) or MINUTE_S.get(preset)
    return None if rate is None else rate * minutes


def measured_rate(preset: str, jobs: Iterable[TrainingJob]) -> float | None:
    """How many seconds earlier trainings took for a minute of video, the middle one; None without any."""
    rates = [
        (job.ended - job.started) / float(count[2])
        for job in jobs
        if job.state == "finished" and job.ended is not None and job.request.preset == preset
        if (count := _COUNT.search(job.said)) is not None and float(count[2]) > 0
    ]
    return median(rates) if rates else None


def left_s(job: TrainingJob, jobs: Iterable[TrainingJob], now: float) -> float | None:
    """How long a training that runs will take yet, all stages together; None where nobody can tell."""
    count = _COUNT.search(job.said)
    whole = None if count is None else expected_s(float(count[2]), job.request.preset, jobs)
    return None if whole is None or now - job.started >= whole else whole - (now - job.started)


def _seconds(path: Path) -> float | None:
    try:
        with open_video(str(path)) as container:
            return None if container.duration is None else float(container.duration) / av.time_base
    except (av.FFmpegError, OSError, ValueError):
        return None


def view_progress(job: TrainingJob) -> ProgressView:
    """How far a training has come, from what it said and from the curve that it writes."""
    said = job.said
    points = read_points(_run_folder(said))
    stage = _stage(said)
    if stage >= 3:
        return ProgressView(stage, None, "", ("this takes a while" if stage == 3 else ""), points)
    begins = ("features", "training")[stage - 1] if stage else "nothing"
    lines = [match for line in said.splitlines() if (match := _LINE.match(line)) and line.startswith(begins)]
    if stage == 0 or not lines:
        return ProgressView(stage, None, "", _first_words(said, stage), points)
    _, percent, left, words = lines[-1].groups()
    return ProgressView(stage, int(percent) / 100, left or "", _words(stage, words), points)


def _stage(said: str) -> int:
    marks = ("writing the bundle", "finding key-steps", "\nrun ", " minutes")
    place = next((place for place, mark in enumerate(marks) if mark in said), len(marks))
    return len(marks) - place


def _first_words(said: str, stage: int) -> str:
    count = _COUNT.search(said)
    if stage == 1 and count is not None:
        return f"{count[1]} recordings, {count[2]} minutes in all"
    return ""


def _words(stage: int, words: str) -> str:
    rate = _RATE.search(words)
    if rate is None:
        return words
    return f"{rate[1]} rounds a second" if stage == 2 else f"{rate[1]} frames of every second of video"


def _run_folder(said: str) -> Path | None:
    found = _RUN.findall(said)
    return Path(found[-1]) if found else None


def read_points(folder: Path | None) -> tuple[LossPoint, ...]:
    """The newest points of the newest head's curve; a line that is not whole is left out."""
    curves = [] if folder is None else list(folder.glob("head-*/metrics.jsonl"))
    try:
        newest = max(curves, key=lambda path: path.stat().st_mtime)
        lines = newest.read_text("utf-8", "replace").splitlines()
    except (OSError, ValueError):  # training has not begun
        return ()
    return tuple(point for line in lines[-MOST_POINTS:] if (point := _point(line)) is not None)


def _point(line: str) -> LossPoint | None:
    try:
        plain = json.loads(line)
        values = [float(plain[name]) for name in ("iteration", "loss", "held_out", "iterations_per_second")]
    except (ValueError, TypeError, KeyError):
        return None
    return LossPoint(int(values[0]), *values[1:]) if all(map(math.isfinite, values)) else None


def why_it_ended(job: TrainingJob) -> str:
    """What became of a training that has not finished, and what to do, in a sentence or two."""
    if job.state == "cancelled":
        return "Learning was stopped. Its progress is kept: resume it whenever you like."
    if job.state == "interrupted":
        return "Learning was interrupted, for example by a shutdown. Its progress is kept: resume it."
    last = last_line(job.said)
    if job.code == 2 and last:
        return f"{last[:1].upper()}{last[1:]}"
    if job.code is not None and job.code < 0:
        return "The system ended it, probably because memory ran out: close other programs, then resume it."
    return "Learning failed; the log below says why. Resume it once that is fixed."


def view_result(folder: Path) -> ResultView | DamagedBundle:
    """What a training left in `folder`, with its doubts."""
    view = view_bundle(folder)
    if isinstance(view, DamagedBundle):
        return view
    try:
        bundle = read_bundle(folder)
        procedure = from_plain(bundle.json("procedure.json"))
        return ResultView(view, _pictures(bundle), tuple(warnings(procedure)))
    except GuideError as error:
        return DamagedBundle(folder, str(error))
    except OSError as error:
        return DamagedBundle(folder, f"{folder} cannot be read ({error.strerror}): check its permissions.")


def _pictures(bundle: Bundle) -> tuple[tuple[str, bytes], ...]:
    names = ("pictures/alignment.png", "pictures/embedding.png")
    found = [name for name in names if bundle.has(name) and bundle.path(name).stat().st_size <= LARGEST_PICTURE_BYTES]
    return tuple((Path(name).stem, bundle.path(name).read_bytes()) for name in found)


def warnings(procedure: Procedure) -> tuple[str, ...]:
    """What is doubtful about a procedure, in plain words, gravest first."""
    total = procedure.demonstrations
    said = []
    if total < FEW_RECORDINGS:
        said.append(
            f"Only {total} recordings: what one person does differently looks like a rule or a mistake. "
            "Ten or more, by different people, give steadier steps."
        )
    if len(procedure.steps) < 2:
        said.append("Only one key-step was found: give the number of steps, or record the task more uniformly.")
    return tuple(said + [line for step in procedure.steps for line in _doubts(procedure, step, total)])


def _doubts(procedure: Procedure, step: KeyStep, total: int) -> Sequence[str]:
    seen = procedure.statistics_of(step.number)
    name = f"step {step.number}" if step.name == f"step {step.number}" else f"step {step.number} ({step.name})"
    if seen is None or seen.present == 0:
        return [f"No recording contains {name}: try a smaller number of steps."]
    if seen.present / total <= RARE and total > 2:
        return [f"Only {seen.present} of {total} recordings contain {name}: check whether it is a step at all."]
    if seen.durations_s[2] < BRIEF_S:
        return [f"{name[:1].upper()}{name[1:]} lasts less than a second: it may be a part of its neighbour."]
    return []


def view_scores(job: TrainingJob) -> ScoreView | str | None:
    """How the result agrees with labels; a sentence where they could not be read, nothing where there are none."""
    plain = job.scores
    if "problem" in plain:
        return str(plain["problem"])
    try:
        f1 = [float(plain[name]["f1"]) for name in ("ours", "equal", "random")]
        return ScoreView(int(plain["recordings"]), *f1)
    except (KeyError, TypeError, ValueError):
        return None
