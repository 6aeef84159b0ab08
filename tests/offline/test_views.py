"""Other views are what they are said to be, and who learns from them knows recordings that are seen otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from guide.domain import Image, Labels
from guide.errors import InputError
from guide.label.prototypes import Prototypes
from guide.perceive.region import RegionSettings
from guide.teach.prototypes import learn_prototypes
from guide.teach.reading import read_demonstrations
from offline.backbones import load_trunk
from offline.extraction import Extractor
from offline.features import FeatureCache
from offline.fleet import Seeing, features_folder
from offline.videos import Recording
from offline.views import VIEWS, View
from tests.synth import steady, write_video
from tests.tiny import FEATURE_RATE, ORDERS, RECIPE, STEP_S, Learned, learn, learn_again, write_features

RATE = 5.0
OTHERWISE = View(hue=30, saturation=0.7, angle=18.0)  # none of those that are learned from


def picture() -> Image:
    made = np.full((60, 80, 3), (90, 120, 200), np.uint8)
    made[5:15, 10:30] = (210, 150, 120)
    return made


def test_hues_are_turned_and_colours_fade() -> None:
    red = np.full((4, 4, 3), (200, 0, 0), np.uint8)
    assert View(60, 1.0, 0.0).of(red)[0, 0].tolist() == [0, 200, 0]
    assert View(-60, 1.0, 0.0).of(red)[0, 0].tolist() == [0, 0, 200]
    assert View(0, 0.0, 0.0).of(red)[0, 0].tolist() == [200, 200, 200]


def test_a_picture_is_turned_about_its_middle_without_holes() -> None:
    seen = View(0, 1.0, 90.0).of(picture()).astype(int)
    middle, spot = np.array([40, 30]), np.array([20, 10])  # column and row
    column, row = np.rint(middle + 1.1 * (spot - middle)[[1, 0]] * [1, -1]).astype(int)  # against the clock
    np.testing.assert_allclose(seen[row, column], picture()[10, 20], atol=3)
    assert (View(0, 1.0, 24.0).of(np.full((60, 80, 3), 255, np.uint8)) == 255).all()


def test_every_view_is_another_and_leaves_its_source() -> None:
    source = picture()
    seen = [view.of(source) for view in VIEWS]
    assert len({each.tobytes() for each in (source, *seen)}) == len(seen) + 1
    assert {(each.shape, each.dtype) for each in seen} == {(source.shape, source.dtype)}
    np.testing.assert_array_equal(source, picture())


def stripes(step: int, at: float, rng: np.random.Generator) -> Image:
    """Reddish stripes that move, the darker the higher the step's number."""
    wave = np.sin(np.arange(96) / 2.5 + 2 * at)[:, None, None]
    levels = (230 - 40 * step + 15 * wave) * np.array((1.0, 0.7, 0.5)) + rng.normal(0, 6, (96, 96, 3))
    return np.asarray(np.clip(levels, 0, 255), np.uint8)


def write_striped(path: Path, number: int, view: View | None = None) -> Labels:
    """A recording of stripes, its labels beside it; gives what is done in each frame at the working rate."""
    times, rng = steady(int(len(ORDERS[number]) * STEP_S * RATE), RATE), np.random.default_rng(number)
    steps = np.array([ORDERS[number][int(at / STEP_S)] for at in times], np.int64)
    images = [stripes(int(step), at, rng) for step, at in zip(steps, times, strict=True)]
    write_video(path, images if view is None else [view.of(image) for image in images], times)
    rows = [f'{n * STEP_S},{(n + 1) * STEP_S},"{step} step"' for n, step in enumerate(ORDERS[number]) if step]
    path.with_suffix(".csv").write_text("\n".join(rows) + "\n")
    return steps


@pytest.fixture(scope="module")
def striped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Learned, Learned]:
    """Learned from recordings as they are, and from other views of them too."""
    work = tmp_path_factory.mktemp("striped")
    (work / "videos").mkdir()
    for number in range(3):
        write_striped(work / "videos" / f"{number}.mp4", number)
    plain = learn(work / "videos", work / "plain", labels=work / "videos")
    recipe = f"{RECIPE}views = {len(VIEWS)}\n"
    return plain, learn(work / "videos", work / "viewed", recipe, labels=work / "videos", cache=plain.options.cache)


def accuracy(task: Learned, view: View | None, folder: Path) -> float:
    """The share of frames of steps that prototypes name right in a new recording that is seen so."""
    truth = write_striped(folder / "new.mp4", 3, view)
    extractor = Extractor(load_trunk("random-tiny"), folder, "cpu", threads=1)
    seen = FeatureCache(folder / "cache").features(Recording("new", folder / "new.mp4", "video"), extractor, RATE)
    demonstrations, _ = read_demonstrations(task.bundle)
    prototypes = Prototypes.from_arrays(task.bundle.arrays("prototypes.npz"))
    found = prototypes.memberships(demonstrations.embed(seen.pooled, seen.times)).argmax(1)
    return float((np.array(prototypes.steps)[found] == truth)[truth > 0].mean())


def test_who_learned_from_other_views_knows_what_is_seen_otherwise(
    striped: tuple[Learned, Learned], tmp_path: Path
) -> None:
    plain, viewed = striped
    assert accuracy(plain, OTHERWISE, tmp_path) < 0.5
    assert accuracy(viewed, OTHERWISE, tmp_path) > 0.9
    assert min(accuracy(plain, None, tmp_path), accuracy(viewed, None, tmp_path)) > 0.9


def test_a_bundle_holds_other_views_to_be_taught_again(striped: tuple[Learned, Learned]) -> None:
    plain, viewed = striped
    assert [task.bundle.facts["recipe"]["views"] for task in striped] == [0, len(VIEWS)]
    assert read_demonstrations(plain.bundle)[0].copies == ()
    demonstrations, _ = read_demonstrations(viewed.bundle)
    shapes = [[each.shape for each in own] for own in demonstrations.copies]
    assert shapes == [[one.pooled.shape] * len(VIEWS) for one in demonstrations.items]
    assert not np.allclose(demonstrations.copies[0][0], demonstrations.copies[0][1])
    np.testing.assert_allclose(demonstrations.items[0].pooled, read_demonstrations(plain.bundle)[0].items[0].pooled)


def test_taught_again_a_bundle_learns_from_other_views_too(striped: tuple[Learned, Learned]) -> None:
    bundle = striped[1].bundle
    demonstrations, labels = read_demonstrations(bundle)
    before = Prototypes.from_arrays(bundle.arrays("prototypes.npz")).centres
    again, without = (
        learn_prototypes(each, labels).prototypes.centres
        for each in (demonstrations, replace(demonstrations, copies=()))
    )
    atol = 5e-3 * np.abs(before).max()
    np.testing.assert_allclose(again, before, atol=atol)
    assert not np.allclose(without, before, atol=atol)


def test_heads_see_recordings_as_they_are(striped: tuple[Learned, Learned]) -> None:
    plain, viewed = striped
    assert plain.bundle.facts["training"] == viewed.bundle.facts["training"]


def test_other_views_are_seen_once(striped: tuple[Learned, Learned]) -> None:
    kept = striped[1].options.cache / "features"
    before = {path: path.stat().st_mtime_ns for path in kept.rglob("*")}
    again = learn_again(striped[1].options)
    assert {path: path.stat().st_mtime_ns for path in kept.rglob("*")} == before
    assert again.bundle.facts["files"]["prototypes.npz"] == striped[1].bundle.facts["files"]["prototypes.npz"]


def test_other_views_have_second_looks_too(striped: tuple[Learned, Learned], tmp_path: Path) -> None:
    options = striped[0].options
    recipe = RECIPE.replace("looks = 1", "looks = 2") + "views = 1\n"
    demonstrations, _ = read_demonstrations(
        learn(Path(options.inputs[0]), tmp_path, recipe, cache=options.cache).bundle
    )
    for one, [view] in zip(demonstrations.items, demonstrations.copies, strict=True):
        assert view.shape == one.pooled.shape


def test_machines_of_a_cluster_put_other_views_where_they_are_looked_for(tmp_path: Path) -> None:
    write_striped(tmp_path / "0.mp4", 0)
    recording, trunk, region = Recording("0", tmp_path / "0.mp4", "video"), load_trunk("random-tiny"), RegionSettings()
    Seeing(recording, trunk, RATE, False, tmp_path, "cpu", region, view=VIEWS[0])()
    cache, kept = FeatureCache(features_folder(tmp_path)), [*features_folder(tmp_path).iterdir()]
    extractor = Extractor(trunk, tmp_path, "cpu", threads=1)
    seen = cache.features(recording, extractor, RATE, view=VIEWS[0])
    twice = cache.look_twice(seen, recording, extractor, region, view=VIEWS[0])
    assert [*features_folder(tmp_path).iterdir()] == kept
    np.testing.assert_array_equal(twice.pooled[:, : seen.pooled.shape[1]], seen.pooled)


def test_features_have_no_other_views(tmp_path: Path) -> None:
    inputs = write_features(tmp_path / "task")
    learned = learn(inputs, tmp_path / "work", rate=FEATURE_RATE)
    assert read_demonstrations(learned.bundle)[0].copies == ()
    with pytest.raises(InputError, match="--views 1 is for pictures, but features were given"):
        learn(inputs, tmp_path / "work", f"{RECIPE}views = 1\n", rate=FEATURE_RATE)


def test_there_are_only_so_many_views(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"a whole number from 0 to {len(VIEWS)}"):
        learn(tmp_path, tmp_path / "work", f"{RECIPE}views = {len(VIEWS) + 1}\n")
