"""A few pictures of each key-step, taken from the middle of its longest segments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from guide.domain import Image, Segment
from guide.teach.moments import Moment, choose_moments, pictures_at, to_jpeg
from offline.videos import Recording, open_frames


def draw_stills(recordings: Sequence[Recording], segments: Sequence[Sequence[Segment]]) -> dict[str, bytes]:
    """JPEG pictures by file name, `03_1.jpg` being the first of step 3; from different recordings where possible."""
    wanted: dict[int, list[Moment]] = defaultdict(list)
    for moment in choose_moments(segments):
        wanted[moment.recording].append(moment)
    pictures: dict[tuple[int, int], bytes] = {}
    for number, moments in wanted.items():
        in_time = sorted(moments, key=lambda moment: moment.at)
        for moment, image in zip(in_time, _pictures(recordings[number], in_time), strict=False):
            pictures[(moment.step, moment.recording)] = to_jpeg(image)
    counts: dict[int, int] = defaultdict(int)
    named = {}
    for (step, _), picture in sorted(pictures.items()):
        counts[step] += 1
        named[f"{step:02d}_{counts[step]}.jpg"] = picture
    return named


def _pictures(recording: Recording, moments: Sequence[Moment]) -> list[Image]:
    return pictures_at(open_frames(recording), [one.at for one in moments])
