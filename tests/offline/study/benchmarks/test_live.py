"""The live loop beside the plain way: both are measured at every moment, and figures say what they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from guide.benchmarks.frames import frames_of
from guide.errors import InputError
from guide.label.prototypes import Prototypes
from guide.networks import start_networks
from guide.session import Session
from guide.settings import LiveSettings
from offline.backbones import load_trunk
from offline.study.benchmarks.live import LiveSizes, PlainWay, measure_live, measure_moments
from tests.tiny import Learned


def test_the_plain_way_sees_what_a_session_sees(frames_task: Learned) -> None:
    bundle, networks = frames_task.bundle, start_networks(frames_task.bundle, "cpu", 1)
    assert networks.head is not None
    plain = PlainWay(bundle, load_trunk("random-tiny"), networks.head, longest=30)
    perceiver = Session(bundle, networks, LiveSettings()).perceiver
    prototypes = Prototypes.from_arrays(bundle.arrays("prototypes.npz"))
    for frame in frames_of(None, 5.0, 3, lambda at: True):
        nearest = prototypes.memberships(perceiver.see(frame).embedding[None]).argmax()
        assert plain.see(frame, past=0) == prototypes.steps[nearest]
    assert plain.see(replace(frame, at=9.0), past=30) in prototypes.numbers


def test_both_ways_are_measured(frames_task: Learned) -> None:
    sizes = LiveSizes(frames_task.folder, minutes=0.2, moments=2, frames=1, cores=1)
    moments = measure_moments(frames_task.bundle, sizes, 1)
    assert [one.past for one in moments] == [6, 60]
    assert all(one.plain.wall_s > 0 and one.ours.wall_s > 0 for one in moments)


def test_the_part_has_its_limit(frames_task: Learned) -> None:
    part = measure_live(LiveSizes(frames_task.folder, minutes=0.2, moments=1, frames=1, cores=1))[0]
    assert [figure.least for figure in part.figures if figure.least is not None] == [5.0]


def test_without_a_bundle_it_is_said(tmp_path: Path) -> None:
    part = measure_live(LiveSizes(tmp_path))[0]
    assert part.figures == ()
    assert "is no bundle" in part.notes[0]


def test_a_bundle_of_features_is_refused(features_task: Learned) -> None:
    with pytest.raises(InputError, match="learned from features"):
        measure_live(LiveSizes(features_task.folder))
