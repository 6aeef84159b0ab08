"""The curves of training: a line per evaluation in `metrics.jsonl`, and the same points as TensorBoard's events."""

from __future__ import annotations

import importlib.util
import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from guide.whole_file import write_whole

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

log = logging.getLogger(__name__)

METRICS = "metrics.jsonl"
EVENTS = "events.out.tfevents.*"  # how TensorBoard knows its files


@dataclass(frozen=True, slots=True)
class Point:
    """What one look at the held-out frames showed.

    >>> Point(20, loss=1.5, held_out=1.75, iterations_per_second=30.0).iteration
    20
    """

    iteration: int
    loss: float
    held_out: float
    iterations_per_second: float


class Curves:
    """Writes the points of a run into `folder`; a run that goes on neither loses nor repeats one.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with Curves(folder, has_board=False) as curves:
    ...     curves.go_on_from(0)
    ...     curves.push(Point(20, 1.5, 1.75, 30.0))
    >>> [point.iteration for point in read_points(folder)]
    [20]
    """

    def __init__(self, folder: Path, has_board: bool = True) -> None:
        self._folder, self._has_board = folder, has_board
        self._board: SummaryWriter | None = None

    def __enter__(self) -> Curves:
        return self

    def __exit__(self, *_: object) -> None:
        if self._board is not None:
            self._board.close()

    def go_on_from(self, iteration: int) -> None:
        """Drops what was written after the checkpoint that is continued from; the event files are written anew.

        Events cannot be taken back one by one, and a killed run may not have written its last: the lines are the truth.
        """
        kept = [point for point in read_points(self._folder) if point.iteration <= iteration]
        write_whole(self._folder / METRICS, "".join(_line(point) for point in kept))
        for old in self._folder.glob(EVENTS):
            old.unlink()
        self._board = _open_board(self._folder) if self._has_board else None
        for point in kept:
            self._draw(point)

    def push(self, point: Point) -> None:
        """Writes a point; it is on disk when this returns."""
        with (self._folder / METRICS).open("a", encoding="utf-8") as stream:
            stream.write(_line(point))
        self._draw(point)

    def _draw(self, point: Point) -> None:
        if self._board is not None:
            self._board.add_scalar("loss/training", point.loss, point.iteration)
            self._board.add_scalar("loss/held out, smoothed", point.held_out, point.iteration)
            self._board.add_scalar("iterations a second", point.iterations_per_second, point.iteration)
            self._board.flush()


def read_points(folder: Path) -> list[Point]:
    """The points of a run's `metrics.jsonl`; a line that a killed run left half written is left out."""
    path = folder / METRICS
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    return [point for point in map(_read, lines) if point is not None]


def has_tensorboard() -> bool:
    """Whether event files can be written here."""
    return importlib.util.find_spec("tensorboard") is not None


def _open_board(folder: Path) -> SummaryWriter | None:
    if not has_tensorboard():
        return None
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder))


def _read(line: str) -> Point | None:
    try:
        return Point(**json.loads(line))
    except (ValueError, TypeError):
        return None


def _line(point: Point) -> str:
    return json.dumps(asdict(point)) + "\n"
