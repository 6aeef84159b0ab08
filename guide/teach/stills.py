"""The pictures of a bundle's steps: which moment each shows, and which step that is after a review."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from guide.bundle import Bundle
from guide.domain import BACKGROUND, Labels
from guide.errors import InputError
from guide.ingest.files import VideoFile
from guide.teach.demonstrations import Demonstrations
from guide.teach.moments import STILLS_PER_STEP, Moment, choose_moments, pictures_at, to_jpeg

FOLDER = "stills"
ENOUGH = 2  # pictures a step should have; fewer are drawn anew where the videos are at hand


@dataclass(frozen=True, slots=True)
class Still:
    """A picture (JPEG) of a moment.

    >>> Still(Moment(1, 0, 2.0), b"").moment.at
    2.0
    """

    moment: Moment
    picture: bytes


def read_stills(bundle: Bundle, demonstrations: Demonstrations, labels: Sequence[Labels]) -> list[Still]:
    """The bundle's pictures and what they show; a bundle that does not say took them where training does."""
    told = _told(bundle, demonstrations) or _named(_chosen(demonstrations, labels))
    found = [(moment, f"{FOLDER}/{name}") for name, moment in sorted(told.items())]
    return [Still(moment, bundle.path(name).read_bytes()) for moment, name in found if bundle.has(name)]


def relabelled(stills: Iterable[Still], demonstrations: Demonstrations, labels: Sequence[Labels]) -> list[Still]:
    """The pictures under the steps that the labels now give their moments; those of background are left out."""
    kept = []
    for still in stills:
        moment = still.moment
        place = int(np.searchsorted(demonstrations.items[moment.recording].times, moment.at, side="right")) - 1
        step = int(labels[moment.recording][max(place, 0)])
        if step > BACKGROUND:
            kept.append(Still(Moment(step, moment.recording, moment.at), still.picture))
    return kept


def completed(
    stills: Sequence[Still], demonstrations: Demonstrations, labels: Sequence[Labels], videos: Mapping[str, Path]
) -> list[Still]:
    """The pictures, with new ones from the videos for steps that have few; videos that cannot be read give none."""
    wanted: dict[int, list[Moment]] = defaultdict(list)
    for moment in lacking(stills, _chosen(demonstrations, labels)):
        if demonstrations.items[moment.recording].id in videos:
            wanted[moment.recording].append(moment)
    more = [
        still for place, moments in wanted.items() for still in _drawn(videos[demonstrations.items[place].id], moments)
    ]
    return [*stills, *more]


def lacking(stills: Iterable[Still], moments: Iterable[Moment]) -> list[Moment]:
    """Those of the moments that should be drawn: of steps that have few pictures, and none that is there already.

    >>> lacking([Still(Moment(1, 0, 2.0), b"")], [Moment(1, 0, 2.0), Moment(1, 1, 3.0)])
    [Moment(step=1, recording=1, at=3.0)]
    """
    known = [still.moment for still in stills]
    count = Counter(moment.step for moment in known)
    return [moment for moment in moments if count[moment.step] < ENOUGH and moment not in known]


def named_stills(stills: Iterable[Still]) -> dict[str, Still]:
    """At most a few pictures a step by their file names, `03_1.jpg` being the first of step 3."""
    count: dict[int, int] = defaultdict(int)
    named = {}
    for still in sorted(stills, key=lambda one: (one.moment.step, one.moment.recording, one.moment.at)):
        step = still.moment.step
        if count[step] < STILLS_PER_STEP:
            count[step] += 1
            named[f"{step:02d}_{count[step]}.jpg"] = still
    return named


def _named(moments: Iterable[Moment]) -> dict[str, Moment]:
    return {name: still.moment for name, still in named_stills(Still(moment, b"") for moment in moments).items()}


def _chosen(demonstrations: Demonstrations, labels: Sequence[Labels]) -> list[Moment]:
    return choose_moments(demonstrations.segments(labels))


def _told(bundle: Bundle, demonstrations: Demonstrations) -> dict[str, Moment]:
    """What the manifest of a reviewed bundle says of its pictures; nothing where it makes no sense."""
    review = bundle.facts.get("review")
    plain = review.get("stills") if isinstance(review, dict) else None
    told = {}
    for name, facts in plain.items() if isinstance(plain, dict) else ():
        match facts:
            case [int(step), int(place), int() | float() as at] if 0 <= place < len(demonstrations.items) and step > 0:
                told[name] = Moment(step, place, float(at))
    return told


def _drawn(video: Path, moments: Sequence[Moment]) -> list[Still]:
    in_time = sorted(moments, key=lambda moment: moment.at)
    try:
        pictures = pictures_at(VideoFile(video), [moment.at for moment in in_time])
    except (InputError, OSError):  # a video that is gone or damaged: the step keeps what it has
        return []
    return [Still(moment, to_jpeg(image)) for moment, image in zip(in_time, pictures, strict=False)]
