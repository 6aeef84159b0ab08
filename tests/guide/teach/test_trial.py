"""A version tried on a recording says what a session would."""

from __future__ import annotations

from pathlib import Path

from guide.networks import start_networks
from guide.teach.reading import read_demonstrations
from guide.teach.trial import try_demonstration, try_video
from tests.tiny import Learned


def test_a_demonstration_is_followed_from_what_was_seen_in_it(features_task: Learned) -> None:
    demonstrations, _ = read_demonstrations(features_task.bundle)
    trial = try_demonstration(features_task.bundle, start_networks(features_task.bundle, "cpu", 1), demonstrations, 0)
    assert trial.lasted_s > 0.8 * demonstrations.items[0].duration_s
    assert {segment.step for segment in trial.steps} <= {1, 2, 3, 4}
    assert trial.steps
    assert not set(trial.alerts) & set(trial.withdrawn)


def test_a_video_is_followed_too(frames_task: Learned) -> None:
    video = sorted(Path(frames_task.options.inputs[0]).glob("*.mp4"))[0]
    trial = try_video(frames_task.bundle, start_networks(frames_task.bundle, "cpu", 1), video)
    assert trial.lasted_s > 5
