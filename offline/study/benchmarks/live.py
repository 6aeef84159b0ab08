"""The live loop against the plain way: the trunk in torch, and with every frame the whole past labelled anew.

What the plain way costs grows with the recording: it is measured at several moments of one, and its rate over the
whole recording follows from their mean. Ours costs the same at every moment. Both see the same frames in turns, so a
busy machine slows both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from guide.benchmarks.clocks import Span, now, on_cores
from guide.benchmarks.figures import Figure, Part, processor
from guide.benchmarks.frames import frames_of
from guide.bundle import Bundle, read_bundle
from guide.domain import Frame
from guide.errors import InputError
from guide.label.cut import expand
from guide.label.energy import LinkSettings, build_links
from guide.label.prototypes import Prototypes
from guide.manifest import perception_settings
from guide.networks import choose_precision, start_networks
from guide.perceive.appearance import Appearance, Embedder
from guide.perceive.pace import Pace
from guide.perceive.preprocess import to_network_input
from guide.session import Session
from guide.settings import LiveSettings
from offline.backbones import Trunk, load_trunk

LEAST_TIMES_FASTER = 5.0


@dataclass(frozen=True, slots=True)
class LiveSizes:
    """What is played, and how much of it."""

    bundle: Path
    weights: Path | None = None
    """Of the trunk, where it was not trained with its own."""
    video: Path | None = None
    minutes: float = 10.0
    """How long the recording is."""
    moments: int = 5
    """Where in it the plain way is measured, the first at a tenth."""
    frames: int = 4
    """Frames measured at each moment."""
    cores: int = 2


@dataclass(frozen=True, slots=True)
class Moment:
    """What one frame cost in the mean, so many frames into the recording.

    >>> Moment(300, Span(0.02, 0.04), Span(0.2, 0.4)).times_faster(by_clock=False)
    10.0
    """

    past: int
    ours: Span
    plain: Span

    def times_faster(self, by_clock: bool) -> float:
        return self.plain.wall_s / self.ours.wall_s if by_clock else self.plain.cpu_s / self.ours.cpu_s


class PlainWay:
    """The loop as the method's text has it: a frame through the trunk in torch, its order-free features and embedding
    kept with all before it, then memberships of all frames so far, and expansions from the nearest prototype of each.
    """

    def __init__(self, bundle: Bundle, trunk: Trunk, head: Embedder, longest: int) -> None:
        self._rate, self._links = float(bundle.facts["rate"]), LinkSettings(**bundle.facts["links"])
        self._trunk, self._head = trunk, head
        self._appearance = Appearance(perception_settings(bundle).appearance)
        self._prototypes = Prototypes.from_arrays(bundle.arrays("prototypes.npz"))
        seen = _embeddings(bundle)
        self._past = np.resize(seen, (longest, seen.shape[1]))  # over and over, until they fill the recording

    def see(self, frame: Frame, past: int) -> int:
        """The step of a frame that `past` frames came before."""
        picture = to_network_input(frame.image, self._trunk.spec.preprocessing)[None]
        with torch.inference_mode():
            pooled = self._trunk(torch.from_numpy(picture))[1][0].numpy()
        embedding = self._head.embed(self._appearance.push(pooled, frame.at)[None])
        unary = 1.0 - self._prototypes.memberships(np.concatenate([self._past[:past], embedding]))
        labels = expand(unary, build_links(np.arange(past + 1) / self._rate, self._rate, self._links))
        return int(self._prototypes.steps[labels[-1]])


def measure_live(sizes: LiveSizes) -> list[Part]:
    """Ours over the plain way; a part without figures where there is no bundle to play with."""
    title = f"Live loop against the plain way, {sizes.minutes:g} min of recording, {sizes.bundle}"
    if not (sizes.bundle / "manifest.json").is_file():
        return [Part(title, processor(), (), (f"not measured: {sizes.bundle} is no bundle, train one first",))]
    bundle = read_bundle(sizes.bundle)
    if not bundle.has("trunk.onnx"):
        raise InputError(f"{sizes.bundle} was learned from features: give a bundle that was learned from pictures.")
    title += f", networks in {choose_precision(bundle, 'cpu', 'auto')} precision"
    with on_cores(sizes.cores) as cores, torch_threads(cores):
        moments = measure_moments(bundle, sizes, cores)
    return [Part(title, f"{sizes.cores} of {processor()}", _figures(moments, float(bundle.facts["rate"])), _notes())]


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """So many threads for torch; as before afterwards, since what is learned depends on it in the last digits."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def measure_moments(bundle: Bundle, sizes: LiveSizes, threads: int) -> list[Moment]:
    """Both ways at each moment, in turns."""
    rate = float(bundle.facts["rate"])
    networks = start_networks(bundle, "cpu", threads)
    assert networks.head is not None
    session = Session(bundle, networks, LiveSettings())
    total = round(sizes.minutes * 60 * rate)
    plain = PlainWay(bundle, load_trunk(bundle.facts["input"]["backbone"], sizes.weights), networks.head, total)
    warm = session.settings.window_frames
    frames = frames_of(sizes.video, rate, warm + sizes.moments * sizes.frames, Pace(rate).push)
    for _ in range(warm):
        session.see(next(frames))
    plain_start = next(frames_of(sizes.video, rate, 1, Pace(rate).push))
    plain.see(plain_start, 1)
    shares = np.linspace(0.1, 1.0, sizes.moments) if sizes.moments > 1 else np.ones(1)
    return [_moment(session, plain, [next(frames) for _ in range(sizes.frames)], int(s * total)) for s in shares]


def _moment(session: Session, plain: PlainWay, frames: list[Frame], past: int) -> Moment:
    ours, theirs = [], []
    for frame in frames:
        began = now()
        session.see(frame)
        middle = now()
        plain.see(frame, past)
        ours.append(middle - began)
        theirs.append(now() - middle)
    return Moment(past, _mean(ours), _mean(theirs))


def _figures(moments: list[Moment], rate: float) -> tuple[Figure, ...]:
    ours, plain = _mean([one.ours for one in moments]), _mean([one.plain for one in moments])
    whole = Moment(moments[-1].past, ours, plain)
    early = [
        Figure(f"plain way, {one.past / rate / 60:.1f} min in, processor", 1e3 * one.plain.cpu_s, "ms")
        for one in moments
    ]
    return (
        Figure("ours, a frame, processor", 1e3 * ours.cpu_s, "ms"),
        *early,
        Figure("times the frame rate at the start, processor", moments[0].times_faster(by_clock=False)),
        Figure("times the frame rate, processor", whole.times_faster(by_clock=False), least=LEAST_TIMES_FASTER),
        Figure("times the frame rate, clock", whole.times_faster(by_clock=True)),
    )


def _notes() -> tuple[str, ...]:
    return (
        "plain: the trunk in torch, memberships and expansions over the whole past with every frame",
        "the past of the plain way is the demonstrations' embeddings",
    )


def _embeddings(bundle: Bundle) -> NDArray[np.float32]:
    arrays = bundle.arrays("demonstrations.npz")
    return np.concatenate([np.asarray(arrays[name], np.float32) for name in arrays if name.startswith("embeddings_")])


def _mean(spans: list[Span]) -> Span:
    return Span(float(np.mean([one.wall_s for one in spans])), float(np.mean([one.cpu_s for one in spans])))
