"""Tiny tasks, and bundles learned from them on the spot by the real command: seconds of video, a network of nothing."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from guide.bundle import Bundle, read_bundle, write_manifest
from guide.domain import Image
from offline.config import resolve
from offline.train import TrainOptions, learn_task
from tests.synth import COLOURS, plain, steady, write_video

STEP_S = 2.0
FEATURE_RATE = 4.0
FEATURE_WIDTH = 6
ORDERS = ((1, 2, 3, 0, 4), (1, 3, 2, 0, 4), (1, 2, 3, 4, 0), (1, 2, 0, 3, 4))
RECIPE = """
backbone = "random-tiny"
fps = 5
least_frames = 16
heads = 2
head_width = 16
sampled_frames = 8
most_iterations = 6
evaluate_every = 2
k = 4
clusterer = "pcm"
looks = 1
"""
_listeners: list[set[str]] = []
_is_listening = False


@dataclass(frozen=True, slots=True)
class Learned:
    """A bundle that was learned, from what, what the command said, and every file that was opened meanwhile."""

    bundle: Bundle
    options: TrainOptions
    said: str = field(repr=False)
    opened: frozenset[str] = field(repr=False)

    @property
    def folder(self) -> Path:
        return self.bundle.folder


def varying(count: int, rate: float, seed: int = 0) -> list[float]:
    """Times that waver by up to 40 % of a frame about a rate, the first at 0."""
    jitter = np.random.default_rng(seed).uniform(-0.4, 0.4, count)
    times = (np.arange(count) + jitter) / rate
    return [float(at) for at in np.round(times - times[0], 3)]


def write_steps(path: Path, steps: tuple[int, ...], times: list[float], seed: int = 0) -> Path:
    """A video whose steps last STEP_S each, every one in its colour with a moving patch and noise."""
    rng = np.random.default_rng(seed)
    write_video(path, [_picture(steps, at, rng) for at in times], times)
    return path


def _picture(steps: tuple[int, ...], at: float, rng: np.random.Generator) -> Image:
    step = steps[min(int(at / STEP_S), len(steps) - 1)]
    image = plain(COLOURS[step]).astype(np.float64)
    left = int(20 * (1 + np.sin(3 * at)))
    image[10:30, left : left + 12] = 255 - np.array(COLOURS[step])
    return np.clip(image + rng.normal(0, 6, image.shape), 0, 255).astype(np.uint8)


def write_task(folder: Path) -> Path:
    """Four demonstrations: at 5, 10 and 29.97 frames a second and at a varying rate; beside each a CSV of garbage."""
    folder.mkdir(parents=True)
    length_s = len(ORDERS[0]) * STEP_S
    clocks = (steady(int(length_s * 5), 5), steady(int(length_s * 10), 10), steady(int(length_s * 29.97), 29.97))
    for number, times in enumerate((*clocks, varying(int(length_s * 12), 12))):
        path = folder / f"{number + 1:02d}.mp4"
        write_steps(path, ORDERS[number], times, number)
        path.with_suffix(".csv").write_bytes(b"\xff\xfe not a label file \x00")
    return folder


def write_features(folder: Path, count: int = 3) -> Path:
    """Demonstrations as features: one prototype a step, and a random walk about it."""
    folder.mkdir(parents=True)
    prototypes = np.random.default_rng(7).normal(0, 3, (5, FEATURE_WIDTH))
    for number in range(count):
        np.save(folder / f"{'abcdefg'[number]}.npy", feature_rows(ORDERS[number], prototypes, number))
    return folder


def feature_rows(steps: tuple[int, ...], prototypes: NDArray[np.float64], seed: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    each = int(2 * STEP_S * FEATURE_RATE)
    walk = 0.1 * np.cumsum(rng.normal(size=(each * len(steps), FEATURE_WIDTH)), axis=0)
    return (np.repeat(prototypes[list(steps)], each, axis=0) + walk).astype(np.float32)


def learn(inputs: Path, work: Path, recipe: str = RECIPE, name: str = "task", **options: Any) -> Learned:
    """Learns a bundle as the command does, its settings from a TOML file."""
    work.mkdir(parents=True, exist_ok=True)
    config = work / "recipe.toml"
    config.write_text(recipe)
    chosen = TrainOptions((str(inputs),), work / name, config=config, cache=work / "cache", device="cpu")
    return learn_again(replace(chosen, **options))


def learn_again(options: TrainOptions) -> Learned:
    """The same command once more."""
    assert options.out is not None
    said = io.StringIO()
    with opened_files() as opened:
        learn_task(options, resolve("default", options.config, {}), options.out, Console(file=said, width=200))
    return Learned(read_bundle(options.out), options, said.getvalue(), frozenset(opened))


@contextmanager
def opened_files() -> Iterator[set[str]]:
    """The path of every file that Python opens inside the block."""
    global _is_listening
    if not _is_listening:
        sys.addaudithook(_hear)  # cannot be taken back, so it is added once and asks whether anyone listens
        _is_listening = True
    heard: set[str] = set()
    _listeners.append(heard)
    try:
        yield heard
    finally:
        _listeners.remove(heard)


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _listeners:
        for heard in _listeners:
            heard.add(str(arguments[0]))


def requiring_all(bundle: Bundle, place: Path, arrays: Mapping[str, Mapping[str, Any]] | None = None) -> Bundle:
    """A copy of a bundle all of whose steps are required, in the order of their numbers.

    So few demonstrations let nothing alarm by themselves.
    """

    def require(_: dict[str, Any]) -> None:
        procedure = json.loads((place / "procedure.json").read_text())
        numbers = [step["number"] for step in procedure["steps"]]
        order = {"edges": [*pairwise(numbers)], "asked_edges": [], "needs": [], "asked_needs": []}
        procedure["rules"] |= {"required": numbers, "asked_steps": [], **order}
        (place / "procedure.json").write_text(json.dumps(procedure))

    return altered(bundle, place, arrays, require)


def altered(
    bundle: Bundle,
    place: Path,
    arrays: Mapping[str, Mapping[str, Any]] | None = None,
    facts: Callable[[dict[str, Any]], None] | None = None,
) -> Bundle:
    """A copy of a bundle with other arrays or facts, its manifest made to fit: what a forger could hand us."""
    for name in bundle.facts["files"]:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(bundle.path(name).read_bytes())
    for name, changed in (arrays or {}).items():
        np.savez(place / name, **{**bundle.arrays(name), **changed})
    told = json.loads(json.dumps({key: value for key, value in bundle.facts.items() if key != "files"}))
    if facts is not None:
        facts(told)
    write_manifest(place, told)
    return Bundle(place, json.loads((place / "manifest.json").read_text()))
