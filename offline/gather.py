"""The recordings a task is learned from: found, checked for what learning needs, and seen by the trunk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from guide.errors import InputError
from guide.perceive.region import RegionSettings
from offline.batches import FEWEST_FRAMES
from offline.config import Recipe
from offline.features import FeatureCache, RecordingFeatures
from offline.progress import progress
from offline.videos import Examined, RecordingFacts, examine_all, find_recordings, require_enough, working_rate
from offline.views import View

if TYPE_CHECKING:  # what only reads features starts neither trunk nor ONNX Runtime
    from offline.extraction import Extractor
    from offline.fleet import Fleet

LEAST_CHANGE = 1e-8  # of any feature; below it the directions of change drown in rounding


def find_task(
    inputs: Sequence[str], rate: float | None, skip_bad: bool, console: Console
) -> tuple[RecordingFacts, ...]:
    """The recordings that can be learned from; raises InputError for those that cannot, unless `skip_bad`."""
    if not inputs:
        raise InputError("recordings of one task were expected, none were given: name videos or a folder of them.")
    found = find_recordings(inputs, rate)
    if not found.recordings:
        raise InputError(
            f"recordings were expected, but {', '.join(inputs)} gave none ({found.ignored} other files were ignored): "
            "name videos (mp4, mkv, mov, avi, webm), folders of them, folders of stills, or features (.npy, .npz)."
        )
    require_enough(len(found.recordings), found.ignored)
    facts = _without_short(examine_all(found.recordings, skip_bad), skip_bad)
    for problem in facts.problems:
        console.print(f"skipped: {problem}", soft_wrap=True)
    require_enough(len(facts.good), found.ignored)
    minutes = sum(fact.duration_s for fact in facts.good) / 60
    ignored = f", {found.ignored} other files ignored" if found.ignored else ""
    console.print(f"{len(facts.good)} recordings, {minutes:.1f} minutes{ignored}")
    if rate is not None and not any(fact.recording.rate for fact in facts.good):
        console.print("note: --rate is not used: these recordings have timestamps of their own")
    return facts.good


def see_task(
    facts: Sequence[RecordingFacts],
    extractor: Extractor | None,
    recipe: Recipe,
    cache: FeatureCache,
    console: Console,
    skip_bad: bool = False,
    fleet: Fleet | None = None,
) -> tuple[RecordingFeatures, ...]:
    """The features of each recording, from the cache where they were made before, or a fleet has just made them.

    What a file promises and what can be decoded may differ: a recording that gives too few frames is an InputError
    too, unless `skip_bad`, which leaves it out.
    """
    if extractor is None:
        return tuple(cache.features(fact.recording, None, fact.rate) for fact in facts)
    rate = _told_rate(facts, recipe, console)
    total, done = sum(fact.duration_s for fact in facts), 0.0
    features = []
    words = f"working rate {rate:g} a second"
    if fleet is not None:
        fleet.see(facts, extractor.trunk, rate, console, recipe.head == "conv")
    with progress(console if fleet is None else Console(quiet=True), "features", total) as advance:
        for fact in facts:
            try:
                seen = cache.features(
                    fact.recording, extractor, rate, recipe.head == "conv",
                    lambda count, at, before=done: advance(before + at, words),  # type: ignore[misc]
                )  # fmt: skip
                _require_frames(fact, seen)
                features.append(seen)
            except InputError as error:
                if not skip_bad:
                    raise InputError(f"{error} Or give --skip-bad to go on without it.") from error
                console.print(f"skipped: {error}", soft_wrap=True)
            done += fact.duration_s
            advance(done, words)
    require_enough(len(features))
    return tuple(features)


def _told_rate(facts: Sequence[RecordingFacts], recipe: Recipe, console: Console) -> float:
    """The working rate, which is told where it is not the recipe's."""
    rate = working_rate(facts, recipe.fps, recipe.least_frames)
    if not math.isclose(rate, recipe.fps, rel_tol=0.01):
        too_few = f"the shortest recording would give too few (wanted: {recipe.least_frames})"
        why = too_few if rate > recipe.fps else "no recording holds more"
        console.print(f"note: {rate:g} frames a second are taken instead of {recipe.fps:g}: {why}", soft_wrap=True)
    return rate


def see_twice(
    facts: Sequence[RecordingFacts],
    seen: Sequence[RecordingFeatures],
    extractor: Extractor,
    region: RegionSettings,
    cache: FeatureCache,
    console: Console,
    is_trial: bool = False,
    fleet: Fleet | None = None,
) -> tuple[RecordingFeatures, ...]:
    """What was seen of recordings, with a second look at where things move: at all frames, or some for a trial."""
    if fleet is not None:
        fleet.see(facts, extractor.trunk, seen[0].rate, console, False, region, is_trial)
    twice = []
    total, done = sum(fact.duration_s for fact in facts), 0.0
    with progress(console if fleet is None else Console(quiet=True), "second look", total) as advance:
        for fact, one in zip(facts, seen, strict=True):
            twice.append(
                cache.look_twice(
                    one,
                    fact.recording,
                    extractor,
                    region,
                    is_trial,
                    lambda count, at, before=done: advance(before + at, ""),  # type: ignore[misc]
                )
            )
            done += fact.duration_s
            advance(done, "")
    return tuple(twice)


def see_views(
    facts: Sequence[RecordingFacts],
    seen: Sequence[RecordingFeatures],
    views: Sequence[View],
    extractor: Extractor,
    region: RegionSettings | None,
    cache: FeatureCache,
    console: Console,
    fleet: Fleet | None = None,
) -> tuple[tuple[NDArray[Any], ...], ...]:
    """Of each recording that was `seen` what the trunk pools (T, P) in these views of it, by one look or by two."""
    if fleet is not None:
        fleet.see(facts, extractor.trunk, seen[0].rate, console, region=region, views=views)
    pooled, done = [], 0
    with progress(console if fleet is None else Console(quiet=True), "other views", len(facts) * len(views)) as advance:
        for fact, one in zip(facts, seen, strict=True):
            own = []
            for view in views:
                copy = cache.features(fact.recording, extractor, one.rate, view=view)
                if region is not None:
                    copy = cache.look_twice(copy, fact.recording, extractor, region, view=view)
                own.append(copy.pooled)
                done += 1
                advance(done, fact.recording.id)
            pooled.append(tuple(own))
    return tuple(pooled)


def seen_of(recordings: Sequence[RecordingFeatures], facts: Sequence[RecordingFacts]) -> tuple[RecordingFacts, ...]:
    """The facts of those recordings that were seen, in the same order."""
    seen = {recording.id for recording in recordings}
    return tuple(fact for fact in facts if fact.recording.id in seen)


def _require_frames(fact: RecordingFacts, seen: RecordingFeatures) -> None:
    if len(seen) < FEWEST_FRAMES:
        raise InputError(
            f"a recording needs at least {FEWEST_FRAMES} frames, but {fact.recording.path} gives {len(seen)} of its "
            f"{fact.frames} at {seen.rate:g} per second: it may be damaged; copy it again, raise --fps or leave it out."
        )


def require_change(recordings: Sequence[RecordingFeatures]) -> None:
    """Raises InputError where nothing happens in any recording."""
    if not any(np.ptp(recording.pooled, axis=0).max() > LEAST_CHANGE for recording in recordings):
        raise InputError(
            "recordings in which something is done were expected, but nothing changes in any of them: "
            "check the camera, or the features."
        )


def require_k(recordings: Sequence[RecordingFeatures], recipe: Recipe) -> None:
    """Raises InputError where more key-steps were asked for than there are frames."""
    frames = sum(len(recording) for recording in recordings)
    if isinstance(recipe.k, int) and recipe.k > frames:
        raise InputError(
            f"the number of key-steps must lie between 1 and the number of frames ({frames}), got {recipe.k}: "
            "choose another --k or add recordings."
        )


def _without_short(facts: Examined, skip_bad: bool) -> Examined:
    """Leaves out what is too short to train on and to hold frames out of; without `skip_bad` that is an error."""
    problems = tuple(
        f"a recording needs at least {FEWEST_FRAMES} frames, but {fact.recording.path} has {fact.frames}: leave it out."
        for fact in facts.good
        if fact.frames < FEWEST_FRAMES
    )
    if problems and not skip_bad:
        raise InputError(f"{problems[0]} Or give --skip-bad to go on without it.")
    good = tuple(fact for fact in facts.good if fact.frames >= FEWEST_FRAMES)
    return Examined(good, facts.problems + problems)
