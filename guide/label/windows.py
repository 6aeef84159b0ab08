"""The live window over a recording that is at hand as a whole: the same labels, many windows cut together."""

from __future__ import annotations

import numpy as np

from guide.domain import SettledLabel, Times
from guide.label.cut import settle_all
from guide.label.energy import Links, LinkSettings, Unaries, build_links
from guide.label.window import Delay, WindowSettings, margin


def released(
    unary: Unaries, times: Times, steps: tuple[int, ...], settings: WindowSettings, links: LinkSettings, rate: float
) -> list[SettledLabel]:
    """What a `WindowCut` gives for unaries (T, K) at times (T,), one after another, in a fraction of the time.

    >>> costs = np.array([[0.1, 0.9], [0.2, 0.8], [0.9, 0.1]])
    >>> [one.step for one in released(costs, np.arange(3.0), (1, 2), WindowSettings(), LinkSettings(weight=0.5), 1.0)]
    [1, 1, 2]
    """
    delay = Delay(settings)
    every = [*(delay.push(float(at)) for at in times), delay.finish()]
    dues = [due for due in every if due.frames]
    whole = build_links(times, rate, links.capped(settings.shortest_s))
    labels = settle_all((unary[due.window.start : due.window.stop], within(whole, due.window)) for due in dues)
    found = []
    for (frames, window, at), own in zip(dues, labels, strict=True):
        costs, begin = unary[window.start : window.stop], window.start
        found += [
            SettledLabel(one, steps[int(own[frame - begin])], margin(costs, own, frame - begin))
            for frame, one in zip(frames, at, strict=True)
        ]
    return found


def within(links: Links, frames: range) -> Links:
    """The links between these frames of a recording, as if there were no others.

    >>> within(Links(3, np.array([0, 1]), np.array([1, 2]), np.array([0.5, 0.25])), range(1, 3)).weight.tolist()
    [0.25]
    """
    nearby = slice(*np.searchsorted(links.first, [frames.start, frames.stop]))
    inside = links.second[nearby] < frames.stop
    first, second = links.first[nearby][inside] - frames.start, links.second[nearby][inside] - frames.start
    return Links(len(frames), first, second, links.weight[nearby][inside])
