"""The labelling of least energy by alpha-expansion, from the chain's optimum. The only home of PyMaxflow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import maxflow
import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.label.chain import chain, chains
from guide.label.energy import Links, Unaries, check_unary, energy

# Expansions settle in two to four sweeps; the limit only bounds the time of an unlucky recording.
MAX_SWEEPS = 20
# A move must gain more than rounding, or two labellings of equal energy would be exchanged for ever.
LEAST_GAIN = 1e-12
# Frames cut at once, and frames that two neighbouring spans share: a graph of this size stays in the cache, and the
# overlap is longer than any link and than most steps. At 2 frames a second a span is 34 minutes.
SPAN = 4096
OVERLAP = 512
# Frames of several recordings whose chains are solved together: memory stays bounded.
CHAIN_FRAMES = 2**17
# Frames of short recordings, such as windows, that are expanded together: one call for many, and a graph that stays in
# the cache. Longer ones need several sweeps, and each its own number: together they take longer.
JOINT_FRAMES = 4096
SHORT = 128


def settle_all(recordings: Iterable[tuple[Unaries, Links]]) -> list[Labels]:
    """Labels (T_i,) of several recordings, of the energies that `settle` gives one by one, in less time.

    Their chains are solved together, many recordings at a time, and those of short ones are improved together.
    """
    labels: list[Labels] = []
    for some in _groups(recordings, CHAIN_FRAMES):
        starts = iter(chains([unary for unary, _ in some], [links.change_costs() for _, links in some]))
        for few in _groups(some, JOINT_FRAMES):
            labels += _improve_all(few, [next(starts) for _ in few])
    return labels


def settle(unary: Unaries, links: Links) -> Labels:
    """Labels (T,) of one recording: the chain's optimum where that is exact, else improved by expansions.

    The chain charges a link once for every change it spans, the energy once at most: so the chain's optimum is an upper
    bound that is tight where stretches are longer than the links, and a start that saves most moves. A recording
    longer than SPAN is improved span by span, the labels around it held: the energy still never rises, so it ends no
    higher than the best chain's, and the time grows with the length and no faster.
    """
    return _improve(unary, links, chain(unary, links.change_costs()))


def expand(unary: Unaries, links: Links, start: Labels | None = None) -> Labels:
    """Labels (T,) no alpha-expansion can improve, from `start` or from each frame's best unary.

    The energy never rises. With two labels the result is optimal: the energy is submodular, and a labelling that
    neither growing nor shrinking one label improves is then its minimum. With more labels the links cost at most
    twice what they cost in the optimum: E <= E_unary(optimum) + 2 E_links(optimum).
    """
    check_unary(unary, links.size)
    labels = unary.argmin(axis=1) if start is None else np.array(start, dtype=np.int64)
    best, moves_without_gain = energy(unary, links, labels), 0
    label_count, ground = unary.shape[1], Ground.of(unary, links, labels)
    is_idle = _idle(unary, links, ground)
    for move in range(MAX_SWEEPS * label_count):
        grown = None if is_idle[move % label_count] else grow(unary, links, ground, move % label_count)
        found = best if grown is None else energy(unary, links, grown)
        if grown is not None and found < best - LEAST_GAIN * max(1.0, abs(best)):
            labels, best, moves_without_gain = grown, found, 0
            ground = Ground.of(unary, links, labels)
            is_idle = _idle(unary, links, ground)
        else:
            moves_without_gain += 1
        if moves_without_gain == label_count:
            break
    return labels


def expand_all(recordings: Sequence[tuple[Unaries, Links]], starts: Sequence[Labels]) -> list[Labels]:
    """What `expand` gives for each of several recordings of equally many labels, by moves that all make at once.

    No link leads from one to another, so a cut of all is a cut of each; whether a move gains is asked of each alone.
    """
    labels, active = list(starts), list(range(len(starts)))
    without_gain = np.zeros(len(starts), np.int64)  # moves since the last that gained, of each
    label_count = recordings[0][0].shape[1] if recordings else 0
    for _ in range(MAX_SWEEPS if label_count else 0):
        some = [recordings[number] for number in active]
        swept = _sweep(_Joint.of(some), [labels[number] for number in active], without_gain[active])
        for number, (each, count) in zip(active, swept, strict=True):
            labels[number], without_gain[number] = each, count
        active = [number for number in active if without_gain[number] < label_count]
        if not active:
            break
    return labels


class _Joint(NamedTuple):
    """Several recordings as one: their frames and links one after another."""

    unary: Unaries
    links: Links
    owner: NDArray[np.int64]  # (T,), the recording of each frame
    recordings: int

    @staticmethod
    def of(recordings: Sequence[tuple[Unaries, Links]]) -> _Joint:
        sizes = [links.size for _, links in recordings]
        starts = np.cumsum([0, *sizes])
        first, second = (
            np.concatenate([getattr(links, end) + start for (_, links), start in zip(recordings, starts, strict=False)])
            for end in ("first", "second")
        )
        weight = np.concatenate([links.weight for _, links in recordings])
        unary = np.concatenate([unary for unary, _ in recordings])
        owner = np.repeat(np.arange(len(sizes)), sizes)
        return _Joint(unary, Links(int(starts[-1]), first, second, weight), owner, len(sizes))

    def energies(self, labels: Labels) -> NDArray[np.float64]:
        """E of the labels (T,) of each recording."""
        alone = np.bincount(self.owner, self.unary[np.arange(len(labels)), labels], self.recordings)
        cut = np.flatnonzero(labels[self.links.first] != labels[self.links.second])
        together = np.bincount(self.owner[self.links.first[cut]], self.links.weight[cut], self.recordings)
        return np.asarray(alone + together)


def _sweep(
    joint: _Joint, starts: Sequence[Labels], without_gain: NDArray[np.int64]
) -> Iterator[tuple[Labels, np.int64]]:
    """Labels (T,) of each recording after a move to every label, and how many moves in a row then gained nothing."""
    labels, without_gain = np.concatenate(starts), without_gain.copy()
    best, label_count = joint.energies(labels), joint.unary.shape[1]
    ground = Ground.of(joint.unary, joint.links, labels)
    for alpha in range(label_count):
        is_open = without_gain < label_count
        without_gain[is_open] += 1
        grown = grow(joint.unary, joint.links, ground, alpha)
        if grown is None:
            continue
        found = joint.energies(grown)
        is_better = is_open & (found < best - LEAST_GAIN * np.maximum(1.0, np.abs(best)))
        if is_better.any():
            labels = np.where(is_better[joint.owner], grown, labels)
            best, without_gain = np.where(is_better, found, best), np.where(is_better, 0, without_gain)
            ground = Ground.of(joint.unary, joint.links, labels)
    return zip(np.split(labels, np.cumsum([len(each) for each in starts[:-1]])), without_gain, strict=True)


class Ground(NamedTuple):
    """What all moves from one labelling have in common."""

    labels: Labels  # (T,)
    keeps: NDArray[np.float64]  # (T,), what it costs a frame to keep its label
    one: Labels  # (L,), of the earlier frame of each link
    other: Labels  # (L,), of the later one
    back: NDArray[np.float64]  # (L,), what a link costs if the earlier frame takes and the later one keeps

    @staticmethod
    def of(unary: Unaries, links: Links, labels: Labels) -> Ground:
        one, other = labels[links.first], labels[links.second]
        cost = np.where(one != other, links.weight, 0.0)
        keeps = unary[np.arange(len(labels)), labels] + np.bincount(links.second, cost, len(labels))
        return Ground(labels, keeps, one, other, links.weight - cost)


def _idle(unary: Unaries, links: Links, ground: Ground) -> NDArray[np.bool_]:
    """Labels (K,) that no frame holds and that no set of frames gains by taking: of many labels most.

    Taking one saves a link only between two frames that both take it: half of it for each.
    """
    frames, cost = np.arange(len(ground.labels)), links.weight - ground.back
    saved = np.bincount(links.first, cost, len(frames)) + np.bincount(links.second, cost, len(frames))
    is_idle: NDArray[np.bool_] = np.all(unary >= (unary[frames, ground.labels] + saved / 2)[:, None], axis=0)
    is_idle[ground.labels] = False
    return is_idle


def grow(unary: Unaries, links: Links, ground: Ground, alpha: int) -> Labels | None:
    """The best labelling in which any frames of the ground's labels (T,) changed to `alpha`; None if no frame should.

    A minimum cut over x_t = 1 (take alpha): a pair costs w where one keeps and one takes, and, where both keep
    different labels, w [x_j = 0] + w [x_i = 0, x_j = 1]; frames that hold alpha only bias their neighbours.
    """
    keeps, edges = ground.keeps, (links.first, links.second, links.weight, ground.back)
    has_one, has_other = ground.one == alpha, ground.other == alpha
    holds = has_one | has_other
    if holds.any():  # frames that hold alpha are in no link then: what they pay to keep it does not matter
        bias = np.where(has_other, links.weight, 0.0)
        keeps = keeps + np.bincount(links.first, bias, len(keeps))
        first, second, weight, back = (each[~holds] for each in edges)
        edges = first, second, weight, back
    is_taken = _minimum_cut(keeps, unary[:, alpha], edges)
    is_taken &= ground.labels != alpha
    return np.where(is_taken, alpha, ground.labels) if is_taken.any() else None


def _minimum_cut(
    keeps: NDArray[np.float64],
    takes: NDArray[np.float64],
    edges: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]],
) -> NDArray[np.bool_]:
    """Which nodes (T,) take: keeps, takes (T,) are the costs of either side, edges (from, to, capacity, back)."""
    graph = maxflow.Graph[float](len(keeps), len(edges[0]))
    nodes = graph.add_nodes(len(keeps))
    graph.add_edges(*edges)
    least = np.minimum(keeps, takes)
    # Sink side takes, so the arc from the source is cut when a node takes. Undecided nodes stay with the source: keep.
    graph.add_grid_tedges(nodes, takes - least, keeps - least)
    graph.maxflow()
    taken: NDArray[np.bool_] = graph.get_grid_segments(nodes)
    return taken


def _groups(recordings: Iterable[tuple[Unaries, Links]], most: int) -> Iterator[list[tuple[Unaries, Links]]]:
    """Neighbouring recordings, together of little more than so many frames."""
    some: list[tuple[Unaries, Links]] = []
    frames = 0
    for recording in recordings:
        some.append(recording)
        frames += len(recording[0])
        if frames >= most:
            yield some
            some, frames = [], 0
    yield some


def _improve_all(recordings: Sequence[tuple[Unaries, Links]], starts: Sequence[Labels]) -> list[Labels]:
    """What `_improve` gives for each; several that are short are improved together."""
    is_short = all(len(unary) <= SHORT for unary, _ in recordings)
    if is_short and len(recordings) > 1 and not all(links.is_chain for _, links in recordings):
        return expand_all(recordings, starts)
    return [_improve(*each, start) for each, start in zip(recordings, starts, strict=True)]


def _improve(unary: Unaries, links: Links, start: Labels) -> Labels:
    if links.is_chain:
        return start
    improve = expand if len(unary) <= SPAN else _expand_spans
    return improve(unary, links, start)


def _expand_spans(unary: Unaries, links: Links, labels: Labels) -> Labels:
    """Labels (T,) after expansions within overlapping spans, each taken up again while a span next to it changes."""
    begins = range(0, len(unary) - OVERLAP, SPAN - OVERLAP)
    due, reach = set(range(len(begins))), links.reach
    for _ in range(MAX_SWEEPS):
        for number in sorted(due):
            due.discard(number)
            span = slice(begins[number], min(begins[number] + SPAN, len(unary)))
            found = expand(*_held(unary, links, labels, span, reach), labels[span])
            if (found != labels[span]).any():
                labels[span] = found
                due |= {number - 1, number + 1} & set(range(len(begins)))
        if not due:
            break
    return labels


def _held(unary: Unaries, links: Links, labels: Labels, span: slice, reach: int) -> tuple[Unaries, Links]:
    """The energy of the frames in `span` when all others keep labels (T,): links to those become unaries."""
    begin, end = span.start, span.stop
    nearby = slice(*np.searchsorted(links.first, [begin - reach, end]))
    first, second, weight = links.first[nearby], links.second[nearby], links.weight[nearby]
    has_first, has_second = first >= begin, (second >= begin) & (second < end)
    leaves, enters, inner = has_first & ~has_second, has_second & ~has_first, has_first & has_second
    biased = unary[span].copy()
    # Agreeing with a held frame saves the link; the same constant less for every labelling.
    np.subtract.at(biased, (first[leaves] - begin, labels[second[leaves]]), weight[leaves])
    np.subtract.at(biased, (second[enters] - begin, labels[first[enters]]), weight[enters])
    return biased, Links(end - begin, first[inner] - begin, second[inner] - begin, weight[inner])
