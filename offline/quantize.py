"""An 8-bit trunk beside the other: calibrated on the user's own frames, and measured as the live side runs it."""

from __future__ import annotations

import contextlib
import io
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from guide.bundle import Bundle
from guide.domain import Frame
from guide.networks import Networks, network_name, start_networks
from guide.perceive.embedder import Floats
from guide.perceive.pace import Pace
from guide.perceive.preprocess import Preprocessing, to_network_input
from guide.session import Session
from guide.settings import LiveSettings
from guide.teach.moments import pictures_at
from offline.features import RecordingFeatures
from offline.onnx_export import INPUT_NAME, Parity
from offline.videos import Recording, open_frames

CALIBRATION_FRAMES = 32  # spread over the recordings: more change the ranges no longer
MOST_RECORDINGS = 4  # that the 8-bit trunk is compared on
MOST_FRAMES = 300  # of each of them


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the 8-bit trunk agrees with the other on demonstrations, and what a frame costs with either.

    >>> Agreement(120, 2, 0.998, 0.97, 0.99, 30.0, 10.0).speed
    '3.0 times as fast here'
    """

    frames: int
    recordings: int
    cosine: float
    least_cosine: float
    same_labels: float
    float_ms: float
    int8_ms: float

    @property
    def speed(self) -> str:
        """What 8 bits bring on this machine, in words."""
        ratio = self.float_ms / max(self.int8_ms, 1e-9)
        if ratio > 1.1:
            return f"{ratio:.1f} times as fast here"
        return "no faster here" if ratio > 0.9 else f"{1 / ratio:.1f} times SLOWER here, leave --precision as it is"


def quantize(path: Path, samples: Sequence[Floats], exact_from: str = "") -> Path:
    """Writes the 8-bit variant of a network beside it, its ranges taken from `samples`, each (1, ...).

    Nodes of the kind `exact_from` and all that follows from them stay as they are.
    """
    prepared, small = path.with_name(f".{path.name}.prepared"), path.with_name(network_name(path.name, "int8"))
    metadata = {prop.key: prop.value for prop in onnx.load(path).metadata_props}
    try:
        with _quiet():
            quant_pre_process(path, prepared, skip_symbolic_shape=True)  # it stumbles over products of maps
            quantize_static(
                prepared, small, _Samples(samples), quant_format=QuantFormat.QDQ, per_channel=True,
                activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                nodes_to_exclude=_following(onnx.load(prepared), exact_from),
                calibrate_method=CalibrationMethod.MinMax,  # percentiles agree no better and take gigabytes
            )  # fmt: skip
    finally:
        prepared.unlink(missing_ok=True)
    model = onnx.load(small)
    onnx.helper.set_model_props(model, metadata)  # the live side reads the preprocessing from it
    onnx.save(model, small)
    return small


def _following(model: onnx.ModelProto, kind: str) -> list[str]:
    """The names of the nodes of a kind, and of all that depend on them."""
    names: list[str] = []
    reached: set[str] = set()
    for node in model.graph.node:  # each comes after those it depends on
        if node.op_type == kind or reached & set(node.input):
            names.append(node.name)
            reached |= set(node.output)
    return names


def trunk_samples(
    recordings: Sequence[Recording], seen: Sequence[RecordingFeatures], how: Preprocessing
) -> list[Floats]:
    """Network inputs (1, 3, S, S) of frames spread over all recordings."""
    chosen = _spread(len(recordings), CALIBRATION_FRAMES)
    each = -(-CALIBRATION_FRAMES // len(chosen))
    pictures = [
        image
        for number in chosen
        for image in pictures_at(
            open_frames(recordings[number]), [float(at) for at in np.quantile(seen[number].times, _middles(each))]
        )
    ]
    return [to_network_input(image, how)[None] for image in pictures]


def compare(bundle: Bundle, recordings: Sequence[Recording], seen: Sequence[RecordingFeatures]) -> Agreement:
    """Follows demonstrations with both trunks side by side, as the live side would."""
    networks = (start_networks(bundle, "cpu", precision="float"), start_networks(bundle, "cpu", precision="int8"))
    pairs = []
    for number in _spread(len(seen), MOST_RECORDINGS):
        pair = _Pair(bundle, networks)
        pace = Pace(seen[number].rate)
        for frame in islice(open_frames(recordings[number]).frames(pace.push), MOST_FRAMES):
            pair.push(frame)
        pair.finish()
        pairs.append(pair)
    cosines = np.concatenate([pair.cosines for pair in pairs])
    same = np.concatenate([np.equal(*pair.labels) for pair in pairs])
    float_ms, int8_ms = np.median(np.concatenate([pair.took_ms for pair in pairs]), axis=0)
    return Agreement(
        len(cosines), len(pairs), float(cosines.mean()), float(cosines.min()), float(same.mean()),
        float(float_ms), float(int8_ms),
    )  # fmt: skip


class _Pair:
    """Two sessions on one demonstration, the first with the full trunk, the second with the 8-bit one."""

    def __init__(self, bundle: Bundle, networks: tuple[Networks, Networks]) -> None:
        self._sessions = [Session(bundle, each, LiveSettings()) for each in networks]
        self.labels: tuple[list[int], list[int]] = ([], [])
        self.cosines: list[float] = []
        self.took_ms: list[list[float]] = []

    def push(self, frame: Frame) -> None:
        embeddings, took_ms = [], []
        for session, labels in zip(self._sessions, self.labels, strict=True):
            began = time.perf_counter()
            percept = session.perceiver.see(frame)
            took_ms.append(1000 * (time.perf_counter() - began))
            labels.extend(update.label.step for update in session.perceived(percept))
            embeddings.append(percept.embedding)
        self.took_ms.append(took_ms)
        self.cosines.append(Parity.of(embeddings[0][None], embeddings[1][None]).cosine)

    def finish(self) -> None:
        for session, labels in zip(self._sessions, self.labels, strict=True):
            labels.extend(update.label.step for update in session.finish())


class _Samples(CalibrationDataReader):  # type: ignore[misc]
    """Hands the samples to the calibration one by one."""

    def __init__(self, samples: Sequence[Floats]) -> None:
        self._left = iter(samples)

    def get_next(self) -> dict[str, Floats] | None:
        sample = next(self._left, None)
        return None if sample is None else {INPUT_NAME: sample}


def _spread(count: int, most: int) -> list[int]:
    """At most so many of the numbers below `count`, spread evenly.

    >>> _spread(12, 4)
    [1, 4, 7, 10]
    """
    return sorted({int(number) for number in _middles(min(count, most)) * count})


def _middles(count: int) -> NDArray[np.float64]:
    """The middles of equal parts of 0..1."""
    return (np.arange(count) + 0.5) / count


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The library speaks of its own inner workings, which no user can act on; its errors still come through."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(before)
