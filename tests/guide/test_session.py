"""The rooms wired together: live labels are the offline ones, a replay says the same, forged bundles are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from guide.bundle import Bundle
from guide.domain import Alert, Frame, Resolution, Update
from guide.errors import BundleError, InputError
from guide.ingest.files import VideoFile
from guide.label.confidence import Calibration
from guide.label.energy import LinkSettings
from guide.label.steps import StepSettings, StepTrack
from guide.perceive import embedder
from guide.perceive.perceiver import Percept
from guide.procedure.actions import Action
from guide.session import Session, follow, follow_features, make_unaries, perception_settings, start_networks
from guide.settings import LiveSettings
from guide.teach.collection import Collection
from offline.keysteps.fcm import FuzzySettings
from offline.keysteps.pcm import ProCut, shortest_s
from tests.tiny import FEATURE_RATE, FEATURE_WIDTH, Learned, altered

K = 4
WHOLE = LiveSettings(recogniser="embedding", lag_s=1e4, window_frames=10_000)
QUICK = LiveSettings(confirm_s=0.3, bridge_s=0.3)


def session(bundle: Bundle, settings: LiveSettings = QUICK) -> Session:
    return Session(bundle, start_networks(bundle, "cpu", threads=1), settings)


def videos(task: Learned) -> list[Path]:
    return sorted(Path(task.options.inputs[0]).glob("*.mp4"))


def replay(task: Learned, settings: LiveSettings = QUICK, number: int = 1) -> list[Update]:
    return list(follow(VideoFile(videos(task)[number]), session(task.bundle, settings)))


def all_percepts(task: Learned) -> list[list[Percept]]:
    found = []
    for video in videos(task):
        live = session(task.bundle).perceiver
        found.append([live.see(frame) for frame in VideoFile(video) if live.is_due(frame.at)])
    return found


def test_a_wanted_accelerator_that_is_not_there_is_told_once(
    frames_task: Learned, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("guide.perceive.embedder._lack_of_cuda", lambda: "this machine has no CUDA driver")
    networks = start_networks(frames_task.bundle, "cuda", threads=1)
    assert [record.getMessage() for record in caplog.records] == [networks.reason]
    assert "this machine has no CUDA driver" in networks.reason
    assert not start_networks(frames_task.bundle, "cpu", threads=1).reason


def test_times_arrive_as_they_were_set(features_task: Learned, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session waits as long for steps and unknown activity as the rehearsals that silence its rules."""
    caught: list[StepSettings] = []

    def catch(settings: StepSettings, calibration: Calibration) -> StepTrack:
        caught.append(settings)
        return StepTrack(settings, calibration)

    monkeypatch.setattr("guide.session.StepTrack", catch)
    for settings in (LiveSettings(), LiveSettings(confirm_s=0.4, bridge_s=0.7)):
        session(features_task.bundle, settings)
    assert caught == [StepSettings(), StepSettings(confirm_s=0.4, bridge_s=0.7)]


def test_a_window_as_long_as_the_recording_gives_the_offline_labels(frames_task: Learned, tmp_path: Path) -> None:
    seen = all_percepts(frames_task)
    collection = Collection(
        tuple(np.stack([percept.embedding for percept in each]) for each in seen),
        tuple(np.array([percept.at for percept in each]) for each in seen),
        float(frames_task.bundle.facts["rate"]),
    )
    found = ProCut().find(collection, K, seed=0)
    links = LinkSettings().capped(shortest_s(collection) / K)

    def link(facts: dict[str, Any]) -> None:
        facts["links"] = {name: getattr(links, name) for name in links.__dataclass_fields__}

    prototypes = {"centres": found.centres, "fuzzifier": FuzzySettings().fuzzifier}
    bundle = altered(frames_task.bundle, tmp_path, {"prototypes.npz": prototypes}, link)
    for each, labels in zip(seen, found.labels, strict=True):
        live = session(bundle, WHOLE)
        assert [update for percept in each for update in live.perceived(percept)] == []
        updates = live.finish()
        np.testing.assert_array_equal([update.label.step for update in updates], labels)


@pytest.mark.parametrize("kind", ["embedding", "appearance", "both"])
def test_a_replay_says_the_same(frames_task: Learned, kind: Any) -> None:
    settings = LiveSettings(recogniser=kind, confirm_s=0.3, bridge_s=0.3)
    assert replay(frames_task, settings) == replay(frames_task, settings)


@pytest.mark.parametrize("lag_s", [0.0, 0.5, 2.0, 100.0])
def test_every_frame_gets_one_label_whatever_the_lag(frames_task: Learned, lag_s: float) -> None:
    times = frames_task.bundle.arrays("demonstrations.npz")["times_1"]
    updates = replay(frames_task, LiveSettings(lag_s=lag_s, confirm_s=0.3, bridge_s=0.3))
    released = [update.label.at for update in updates]
    assert sorted(set(released)) == pytest.approx(times.tolist())
    assert released == sorted(released)
    assert len(released) - len(set(released)) == (1 if lag_s == 0 else 0), "only the closing update repeats a label"


def test_every_step_that_starts_also_ends(frames_task: Learned) -> None:
    events = [event for update in replay(frames_task) for event in update.events]
    running: int | None = None
    for event in events:
        if event.state == "started":
            assert running is None
            running = event.step
        elif event.state == "ended":
            assert event.step == running
            assert event.end is not None
            assert event.start <= event.end <= event.at
            running = None
    assert running is None
    assert sum(event.state == "confirmed" for event in events) >= 3


def test_the_end_judges_the_whole(frames_task: Learned) -> None:
    live = session(frames_task.bundle)
    frames = list(VideoFile(videos(frames_task)[1]))
    for frame in frames[: len(frames) // 3]:
        live.push(frame)
    said = [said for update in live.finish() for said in update.guidance]
    assert live.tracker.state.is_finished
    assert live.tracker.state.current is None
    required = set(live.procedure.rules.required) - set(live.tracker.state.done)
    assert {one.step for one in said if isinstance(one, Alert) and one.kind == "missed"} >= required


def test_without_a_lag_the_last_look_back_is_still_heard(frames_task: Learned, monkeypatch: pytest.MonkeyPatch) -> None:
    live, word = session(frames_task.bundle, LiveSettings(lag_s=0.0)), Resolution(7, 1.0, is_withdrawn=True)
    for frame in list(VideoFile(videos(frames_task)[1]))[:30]:
        live.push(frame)
    monkeypatch.setattr(live.tracker, "review", lambda belief: (word,))
    (update,) = live.finish()
    assert word in update.guidance


def test_an_action_finds_said_what_waited_for_a_label(frames_task: Learned, monkeypatch: pytest.MonkeyPatch) -> None:
    live = session(frames_task.bundle, LiveSettings(lag_s=100.0))
    word = Resolution(7, 0.0, is_withdrawn=True)
    monkeypatch.setattr(live.tracker, "review", lambda belief: (word,))
    live.push(next(iter(VideoFile(videos(frames_task)[1]))))
    with pytest.raises(InputError):
        live.act(Action("acknowledge", target=99))
    assert live.act(Action("pause")) == (word,)
    assert live.act(Action("resume")) == ()


def test_without_a_frame_nothing_is_said(frames_task: Learned) -> None:
    assert session(frames_task.bundle).finish() == ()


def test_times_that_go_back_and_tiny_pictures_are_lived_through(frames_task: Learned) -> None:
    live = session(frames_task.bundle)
    times = (0.0, 0.2, 0.1, 0.2, 0.4, 0.0, 0.6, 5.0, 1.0)
    for number, at in enumerate(times):
        live.push(Frame(number, at, np.zeros((1, 1, 3), np.uint8)))
    assert [update.label.at for update in live.finish()] == [5.0]  # the others were old enough before


def test_names_can_be_given_afterwards(frames_task: Learned) -> None:
    live = session(frames_task.bundle)
    live.rename({2: "fit board"})
    assert live.procedure.name(2) == live.tracker.procedure.name(2) == "fit board"
    assert live.procedure.name(1) == "step 1"


def test_features_are_followed(features_task: Learned) -> None:
    rows = np.load(Path(features_task.options.inputs[0]) / "a.npy")
    once, twice = (list(follow_features(rows, FEATURE_RATE, session(features_task.bundle))) for _ in range(2))
    assert once == twice
    assert len(once) == len(rows)
    assert {event.step for update in once for event in update.events if event.state == "confirmed"} >= {1, 2, 3}


def test_features_at_a_higher_rate_are_thinned_to_the_working_rate(features_task: Learned) -> None:
    rows = np.load(Path(features_task.options.inputs[0]) / "a.npy")
    many = follow_features(np.repeat(rows, 3, axis=0), 3 * FEATURE_RATE, session(features_task.bundle))
    assert list(many) == list(follow_features(rows, FEATURE_RATE, session(features_task.bundle)))


def test_features_of_another_width_are_refused(features_task: Learned) -> None:
    with pytest.raises(InputError, match="9 came: use the same network"):
        list(follow_features(np.zeros((3, 9), np.float32), FEATURE_RATE, session(features_task.bundle)))


def test_a_video_is_refused_where_features_were_learned(features_task: Learned, frames_task: Learned) -> None:
    with pytest.raises(InputError, match="learned from features, not from pictures"):
        list(follow(VideoFile(videos(frames_task)[0]), session(features_task.bundle)))


def run_one_frame(bundle: Bundle) -> None:
    for kind in ("embedding", "appearance", "both"):
        live = session(bundle, LiveSettings(recogniser=kind))
        live.perceived(live.perceiver.take(np.ones(FEATURE_WIDTH, np.float32), 0.0))
        live.finish()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("head",), {}),
        (("head", "context_count"), 0),
        (("head", "context_count"), 10**9),
        (("head", "context_count"), "two"),
        (("head", "context_stride_s"), -1.0),
        (("head", "context_count"), "2"),
        (("head", "context_count"), True),
        (("head", "context_count"), 2.5),
        (("head", "context_stride_s"), "nan"),
        (("head", "context_stride_s"), "1.0"),
        (("head", "width"), 0),
        (("head", "width"), FEATURE_WIDTH + 1),
        (("head", "width"), "1"),
        (("input", "width"), 0),
        (("input", "width"), str(FEATURE_WIDTH)),
        (("rate",), 0),
        (("rate",), "inf"),
        (("rate",), None),
        (("rate",), True),
        (("rate",), "5.0"),
        (("rate",), 10**400),
        (("rate",), -(10**400)),
        (("appearance", "smoothing_s"), "0.6"),
        (("appearance", "memory_s"), True),
        (("appearance", "memory_s"), 10**400),
        (("appearance", "memory_s"), 0.0),
        (("appearance", "colour"), 1.0),
        (("appearance",), None),
        (("links", "weight"), -1.0),
        (("links", "weight"), 10**400),
        (("links", "radius_s"), True),
        (("links", "decay_s"), "2.5"),
        (("links", "most"), 2.5),
        (("links",), []),
    ],
    ids=lambda part: str(part)[:40],
)
def test_a_manifest_that_makes_no_sense_is_refused(
    features_task: Learned, tmp_path: Path, path: tuple[str, ...], value: object
) -> None:
    def spoil(facts: dict[str, Any]) -> None:
        for key in path[:-1]:
            facts = facts[key]
        facts[path[-1]] = value

    with pytest.raises(BundleError, match=r"export it again\.$"):
        run_one_frame(altered(features_task.bundle, tmp_path, facts=spoil))


def test_in_a_bundle_of_before_the_embedding_sees_all_features(features_task: Learned, tmp_path: Path) -> None:
    def forget(facts: dict[str, Any]) -> None:
        del facts["head"]["width"]

    bundle = altered(features_task.bundle, tmp_path, facts=forget)
    run_one_frame(bundle)
    assert perception_settings(bundle).head_width == FEATURE_WIDTH


@pytest.mark.parametrize(
    ("name", "arrays"),
    [
        ("prototypes.npz", {"centres": np.zeros((K, 3))}),
        ("prototypes.npz", {"centres": np.zeros((0, 128))}),
        ("prototypes.npz", {"centres": np.zeros(5)}),
        ("prototypes.npz", {"centres": np.array([["a"]])}),
        ("prototypes.npz", {"centres": np.full((K, 128), np.nan)}),
        ("prototypes.npz", {"centres": np.zeros((K + 1, 128))}),
        ("prototypes.npz", {"centres": np.zeros((K - 1, 128))}),
        ("prototypes.npz", {"fuzzifier": 1.0}),
        ("prototypes.npz", {"fuzzifier": np.array([1.2, 1.3])}),
        ("recogniser.npz", {"mean": np.zeros(5), "projection": np.zeros((5, 2)), "centres": np.zeros((4, 2))}),
        ("recogniser.npz", {"numbers": np.array([1, 2, 3, 9])}),
        ("recogniser.npz", {"scalars": np.array([1.0])}),
        ("recogniser.npz", {"confidence": np.zeros((2, 2))}),
        ("recogniser.npz", {"far": np.array([-1.0])}),
        ("recogniser.npz", {"scale": np.ones(3)}),
        ("recogniser.npz", {"own": np.array([[99.0, 1.0]])}),
    ],
    ids=str,
)
def test_arrays_that_do_not_fit_are_refused(
    features_task: Learned, tmp_path: Path, name: str, arrays: dict[str, Any]
) -> None:
    with pytest.raises(BundleError, match=r"again\.$"):
        run_one_frame(altered(features_task.bundle, tmp_path, {name: arrays}))


def test_each_recogniser_has_its_columns(frames_task: Learned) -> None:
    steps = {
        kind: make_unaries(frames_task.bundle, LiveSettings(recogniser=kind)).steps
        for kind in ("embedding", "appearance", "both")
    }
    assert steps["embedding"] == (1, 2, 3, 4)
    assert steps["appearance"] == steps["both"]
    assert steps["appearance"][-1] == -1


def limits(bundle: Bundle, far: float, own: float) -> dict[str, Any]:
    """Arrays of a recogniser with such limits on distances, the same for all steps."""
    arrays = bundle.arrays("recogniser.npz")
    steps = [int(number) for number in arrays["numbers"] if number > 0]
    return {
        "scale": np.ones_like(arrays["mean"]),
        "far": np.array([far]),
        "own": np.array([(step, own) for step in steps], np.float64),
    }


def alerts(task: Learned, bundle: Bundle) -> list[Alert]:
    updates = follow(VideoFile(videos(task)[1]), session(bundle))
    return [said for update in updates for said in update.guidance if isinstance(said, Alert)]


def test_a_step_beyond_its_limit_differs_once_and_one_within_does_not(frames_task: Learned, tmp_path: Path) -> None:
    wide, narrow = (
        altered(frames_task.bundle, tmp_path / name, {"recogniser.npz": limits(frames_task.bundle, 1e5, own)})
        for name, own in (("wide", 1e5), ("narrow", 1e-3))
    )
    assert not [alert for alert in alerts(frames_task, wide) if alert.kind == "differs"]
    told = [alert for alert in alerts(frames_task, narrow) if alert.kind == "differs"]
    assert len(told) >= 3
    assert len({alert.step for alert in told}) == len(told)
    assert {alert.severity for alert in told} == {"warning"}


def test_what_is_far_from_everything_for_a_while_is_unknown(frames_task: Learned, tmp_path: Path) -> None:
    near = altered(frames_task.bundle, tmp_path, {"recogniser.npz": limits(frames_task.bundle, 1e-3, 1e5)})
    updates = list(follow(VideoFile(videos(frames_task)[1]), session(near)))
    assert {update.label.step for update in updates} == {-1}
    told = [said.kind for update in updates for said in update.guidance if isinstance(said, Alert)]
    is_flagged = session(near).procedure.rules.is_unknown_flagged
    assert ("unknown" in told) == is_flagged


def test_a_bundle_of_before_says_what_it_said(frames_task: Learned, tmp_path: Path) -> None:
    """Without calibrations and limits, confidence is the plain margin and nothing differs."""
    old = altered(frames_task.bundle, tmp_path / "old")
    kept = {"mean", "projection", "centres", "numbers", "scalars"}
    arrays = {key: value for key, value in old.arrays("recogniser.npz").items() if key in kept}
    np.savez(old.folder / "recogniser.npz", **arrays)  # type: ignore[arg-type]
    plain = altered(old, tmp_path / "plain")
    same = {"confidence": np.array([[1.0, 0.0], [1.0, 0.0]])}
    named = altered(plain, tmp_path / "named", {"recogniser.npz": same})
    video = videos(frames_task)[1]
    assert list(follow(VideoFile(video), session(plain))) == list(follow(VideoFile(video), session(named)))
    sharper = altered(plain, tmp_path / "sharper", {"recogniser.npz": {"confidence": np.array([[2.0, 0.0]] * 2)}})
    before, after = (
        np.array([update.label.confidence for update in follow(VideoFile(video), session(bundle))])
        for bundle in (plain, sharper)
    )
    kept_raw = np.clip(before, 1e-3, 1 - 1e-3)
    odds = (kept_raw / (1 - kept_raw)) ** 2
    np.testing.assert_allclose(after, odds / (1 + odds), rtol=1e-9)


@pytest.mark.parametrize("is_quick", [True, False])
def test_mixed_precision_is_taken_where_it_is_quick(
    mixed_task: Learned, monkeypatch: pytest.MonkeyPatch, is_quick: bool
) -> None:
    monkeypatch.setattr(embedder, "_has_half", lambda: is_quick)
    networks = start_networks(mixed_task.bundle, "cpu", 1)
    assert networks.precision == ("mixed" if is_quick else "float")
    assert networks.trunk is not None
    assert networks.trunk.path.name == ("trunk.mixed.onnx" if is_quick else "trunk.onnx")
    assert networks.head.path.name == "head.onnx"
    assert Session(mixed_task.bundle, networks, LiveSettings()).precision == networks.precision
    assert start_networks(mixed_task.bundle, "cpu", 1, "float").precision == "float"


def test_mixed_precision_that_a_bundle_lacks(frames_task: Learned, features_task: Learned) -> None:
    for task in (frames_task, features_task):
        assert start_networks(task.bundle, "cpu", 1).precision == "float"
        with pytest.raises(BundleError, match=r"has no network in mixed precision, .*: use --precision auto"):
            start_networks(task.bundle, "cpu", 1, "mixed")


def test_a_mixed_trunk_alone_is_none(
    features_task: Learned, mixed_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "_has_half", lambda: True)
    (tmp_path / "trunk.mixed.onnx").write_bytes(mixed_task.bundle.path("trunk.mixed.onnx").read_bytes())
    forged = altered(features_task.bundle, tmp_path)
    assert forged.has("trunk.mixed.onnx")
    assert start_networks(forged, "cpu", 1).precision == "float"
