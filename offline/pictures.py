"""The pictures of a bundle: stills of each key-step, the alignment of two recordings, and the embedding in 2D."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Features, Image, Labels, Segment, Times
from guide.label.directions import principal_directions
from guide.record.timeline import colour
from guide.teach.moments import Moment, choose_moments, pictures_at, to_jpeg
from offline.sheet import BLACK, GREY, Box, Colour, Sheet, shades
from offline.videos import Recording, open_frames

MOST_FRAMES = 360  # of each recording in the alignment: more than there are pixels show nothing
MOST_POINTS = 3000
STILLS_ALONG = 6
MAP_PX = 720
STRIP_PX = 16
THUMB_PX = (112, 84)
LEGEND_PX = 18
PATH: Colour = (230, 60, 50)


@dataclass(frozen=True, slots=True)
class EmbeddedRecording:
    """A recording as the pictures show it: embeddings (T, D), times (T,), the labels found (T,)."""

    name: str
    embeddings: Features
    times: Times
    labels: Labels

    def subsampled(self, most: int) -> EmbeddedRecording:
        """The recording with at most `most` frames, spread evenly."""
        kept = np.unique(np.linspace(0, len(self.times) - 1, most).astype(np.int64))
        return EmbeddedRecording(self.name, self.embeddings[kept], self.times[kept], self.labels[kept])


def draw_pictures(seen: Sequence[EmbeddedRecording], recordings: Sequence[Recording] = ()) -> dict[str, bytes]:
    """PNG pictures by file name; stills of the `recordings` stand beside the alignment where these have pictures."""
    pair = typical_pair(seen)
    chosen = [seen[number] for number in pair]
    stills = [
        pictures_at(open_frames(recordings[number]), still_moments(seen[number])) if recordings else []
        for number in pair
    ]
    return {
        "alignment.png": draw_alignment(chosen[0], chosen[1], (stills[0], stills[1])),
        "embedding.png": draw_embedding(seen),
    }


def draw_stills(recordings: Sequence[Recording], segments: Sequence[Sequence[Segment]]) -> dict[str, bytes]:
    """Stills from the middle of the longest segments, as JPEG by file name, `03_1.jpg` the first of step 3.

    They are from different recordings where possible.
    """
    wanted: dict[int, list[Moment]] = defaultdict(list)
    for moment in choose_moments(segments):
        wanted[moment.recording].append(moment)
    pictures: dict[tuple[int, int], bytes] = {}
    for number, moments in wanted.items():
        in_time = sorted(moments, key=lambda moment: moment.at)
        images = pictures_at(open_frames(recordings[number]), [one.at for one in in_time])
        for moment, image in zip(in_time, images, strict=False):
            pictures[(moment.step, moment.recording)] = to_jpeg(image)
    counts: dict[int, int] = defaultdict(int)
    named = {}
    for (step, _), picture in sorted(pictures.items()):
        counts[step] += 1
        named[f"{step:02d}_{counts[step]}.jpg"] = picture
    return named


def typical_pair(recordings: Sequence[EmbeddedRecording]) -> tuple[int, int]:
    """The two recordings whose lengths lie nearest to the median: a fair sight, neither the best nor the worst."""
    lengths = np.array([each.times[-1] - each.times[0] for each in recordings])
    nearest = np.argsort(np.abs(lengths - np.median(lengths)), kind="stable")[:2]
    return int(nearest.min()), int(nearest.max())


def still_moments(recording: EmbeddedRecording) -> list[float]:
    """The moments of which the alignment shows stills: the middles of equal parts of the recording."""
    start, end = float(recording.times[0]), float(recording.times[-1])
    return [start + (end - start) * (number + 0.5) / STILLS_ALONG for number in range(STILLS_ALONG)]


def monotone_path(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """The cheapest path (L, 2) from the first to the last cell of costs (N, M) that never goes back.

    >>> monotone_path(np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])).tolist()
    [[0, 0], [0, 1], [1, 2]]
    """
    rows, columns = costs.shape
    total = np.full((rows + 1, columns + 1), np.inf)
    total[0, 0] = 0.0
    for row in range(rows):
        for column in range(columns):
            before = min(total[row, column], total[row, column + 1], total[row + 1, column])
            total[row + 1, column + 1] = costs[row, column] + before
    path = [(rows - 1, columns - 1)]
    while path[-1] != (0, 0):
        row, column = path[-1]
        ways = [(row - 1, column - 1), (row - 1, column), (row, column - 1)]
        path.append(min(ways, key=lambda way: total[way[0] + 1, way[1] + 1]))
    return np.array(path[::-1])


def draw_alignment(
    first: EmbeddedRecording, second: EmbeddedRecording, stills: tuple[Sequence[Image], Sequence[Image]] = ((), ())
) -> bytes:
    """A PNG: the distances between the frames of two recordings, the path that aligns them, their stills and steps."""
    one, two = first.subsampled(MOST_FRAMES), second.subsampled(MOST_FRAMES)
    distances = np.linalg.norm(one.embeddings[:, None] - two.embeddings[None], axis=2).astype(np.float64)
    left = 90 + (THUMB_PX[0] + 10 if stills[0] else 0)
    below = 60 + (THUMB_PX[1] + 10 if stills[1] else 0)
    sheet = Sheet(left + MAP_PX + 150, 100 + MAP_PX + below)
    box = Box(left, 90, MAP_PX, MAP_PX)
    sheet.text("How two recordings align", (left, 34), size=0.8)
    sheet.text("bright: alike in the embedding;  red: the alignment;  strips: key-steps found", (left, 62), colour=GREY)
    _draw_distances(sheet, box, distances)
    _draw_axis(sheet, box, one, stills[0], is_across=False)
    _draw_axis(sheet, box, two, stills[1], is_across=True)
    _draw_legend(sheet, box, "alike", "unlike")
    return sheet.png()


def draw_embedding(recordings: Sequence[EmbeddedRecording]) -> bytes:
    """A PNG: every frame at its place along the two directions of most spread in the embedding, coloured by time."""
    each = max(MOST_POINTS // len(recordings), 2)
    shown = [recording.subsampled(each) for recording in recordings]
    rows = np.concatenate([one.embeddings for one in shown]).astype(np.float64)
    since = [one.times - one.times[0] for one in shown]
    when = np.concatenate([times / max(float(times[-1]), 1e-12) for times in since])
    places, shares = _flattened(rows, when)
    sheet = Sheet(1000, 860)
    box = Box(90, 90, MAP_PX, 680)
    frames = sum(len(one.times) for one in recordings)
    sheet.text("The embedding, coloured by time", (box.left, 34), size=0.8)
    count = f"{frames} frames" if len(rows) == frames else f"{len(rows)} of {frames} frames"
    words = f"{count} of {len(recordings)} recordings; near points look alike to the embedder"
    sheet.text(words, (box.left, 62), colour=GREY)
    sheet.frame(box)
    _scatter(sheet, box, places, when)
    sheet.text(f"first direction, {shares[0]:.0f} % of the spread", (box.centre[0], box.bottom + 36), anchor="middle")
    sheet.sideways(f"second direction, {shares[1]:.0f} % of the spread", (box.left - 30, box.centre[1]))
    _draw_legend(sheet, box, "end", "start")
    return sheet.png()


def _draw_distances(sheet: Sheet, box: Box, distances: NDArray[np.float64]) -> None:
    low, high = np.percentile(distances, (1, 99))
    alike = 1 - np.clip((distances - low) / max(high - low, 1e-12), 0, 1)
    sheet.spread(alike, box)
    rows, columns = distances.shape
    path = monotone_path(distances) + 0.5
    points = np.stack([path[:, 1] * box.width / columns, path[:, 0] * box.height / rows], axis=1)
    sheet.line(points + np.array([box.left, box.top]), PATH, width=2)
    sheet.frame(box)


def _draw_axis(sheet: Sheet, box: Box, seen: EmbeddedRecording, stills: Sequence[Image], is_across: bool) -> None:
    """Steps, seconds and stills along one side of the map; the first recording goes down, the second across."""
    length = box.width if is_across else box.height
    start, end = float(seen.times[0]), float(seen.times[-1])
    _draw_steps(sheet, box, seen.labels, is_across)
    for at in nice_ticks(start, end):
        along = round((at - start) / (end - start) * length)
        if is_across:
            sheet.text(f"{at:g} s", (box.left + along, box.bottom + STRIP_PX + 20), anchor="middle", colour=GREY)
        else:
            sheet.text(f"{at:g} s", (box.left - STRIP_PX - 8, box.top + along + 5), anchor="end", colour=GREY)
    for number, still in enumerate(stills):
        along = round((number + 0.5) / len(stills) * length)
        x, y = (box.left + along, box.bottom + STRIP_PX + 78) if is_across else (box.left - 132, box.top + along)
        sheet.paste(_thumb(still), (x - THUMB_PX[0] // 2, y - THUMB_PX[1] // 2))
    name = seen.name if len(seen.name) <= 40 else seen.name[:37] + "..."
    if is_across:
        sheet.text(name, (box.centre[0], box.bottom + STRIP_PX + (140 if stills else 44)), anchor="middle")
    else:
        sheet.sideways(name, (box.left - (204 if stills else 74), box.centre[1]))


def _draw_steps(sheet: Sheet, box: Box, labels: Labels, is_across: bool) -> None:
    """A strip along the map, a colour and a number for each key-step, blank for background."""
    length = box.width if is_across else box.height
    edges = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1, [len(labels)]])
    for begin, end in pairwise(edges):
        step = int(labels[begin])
        if step == BACKGROUND:
            continue
        low, high = (round(edge / len(labels) * length) for edge in (begin, end))
        strip = Box(box.left + low, box.bottom, high - low, STRIP_PX)
        if not is_across:
            strip = Box(box.left - STRIP_PX, box.top + low, STRIP_PX, high - low)
        sheet.fill(strip, step_colour(step))
        if high - low >= STRIP_PX + 4:
            sheet.text(str(step), (strip.centre[0], strip.centre[1] + 4), anchor="middle", colour=BLACK, size=0.38)


def _draw_legend(sheet: Sheet, box: Box, top: str, bottom: str) -> None:
    bar = Box(box.right + 30, box.top + 60, LEGEND_PX, 200)
    sheet.ramp(bar)
    sheet.frame(bar)
    sheet.text(top, (bar.right + 10, bar.top + 12))
    sheet.text(bottom, (bar.right + 10, bar.bottom))


def _scatter(sheet: Sheet, box: Box, places: NDArray[np.float64], when: NDArray[np.float64]) -> None:
    low, high = places.min(0), places.max(0)
    scaled = (places - low) / np.where(high > low, high - low, 1.0)
    colours = shades(when[:, None])[:, 0]
    order = np.random.default_rng(0).permutation(len(places))  # so that no recording lies over all others
    for number in order:
        x = box.left + 14 + scaled[number, 0] * (box.width - 28)
        y = box.bottom - 14 - scaled[number, 1] * (box.height - 28)
        sheet.dot((x, y), tuple(int(part) for part in colours[number]))


def _flattened(rows: NDArray[np.float64], when: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[float]]:
    """Places (N, 2) along the two main directions and the percent of spread in each; time runs to the right and up."""
    centred = rows - rows.mean(0)
    places = np.zeros((len(rows), 2))
    found = centred @ principal_directions(centred, 2)
    places[:, : found.shape[1]] = found
    signs = np.sign(places.T @ (when - when.mean()))
    shares = 100 * places.var(0) / max(float(centred.var(0).sum()), 1e-12)
    return places * np.where(signs == 0, 1, signs), [float(share) for share in shares]


def nice_ticks(start: float, end: float, most: int = 7) -> list[float]:
    """Round moments between start and end, at most so many and at least the first.

    >>> nice_ticks(0.0, 9.5)
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    rough = max((end - start) / most, 1e-9)
    unit = 10.0 ** np.floor(np.log10(rough))
    step = float(next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough))
    first = int(np.ceil(start / step))
    return [number * step for number in range(first, int(np.floor(end / step)) + 1)]


def step_colour(step: int) -> Colour:
    """The step's colour on every page of the dashboard, bright enough for dark numbers.

    >>> step_colour(1)
    (94, 162, 237)
    """
    red, green, blue = bytes.fromhex(colour(step).removeprefix("#"))
    return red, green, blue


def _thumb(image: Image) -> Image:
    """The picture as large as it goes into a thumbnail, on black."""
    scale = min(THUMB_PX[0] / image.shape[1], THUMB_PX[1] / image.shape[0])
    size = max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale))
    thumb = np.full((THUMB_PX[1], THUMB_PX[0], 3), BLACK, np.uint8)
    top, left = (THUMB_PX[1] - size[1]) // 2, (THUMB_PX[0] - size[0]) // 2
    thumb[top : top + size[1], left : left + size[0]] = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return thumb
