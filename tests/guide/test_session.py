"""The rooms wired together: live labels are the offline ones, a replay says the same, forged bundles are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from guide.bundle import Bundle, read_bundle
from guide.domain import Alert, Frame, Resolution, Update
from guide.errors import BundleError, InputError
from guide.ingest.files import VideoFile
from guide.label.confidence import Calibration
from guide.label.cut import settle
from guide.label.energy import LinkSettings, build_links
from guide.label.prototypes import Prototypes
from guide.label.steps import StepSettings, StepTrack
from guide.manifest import perception_settings
from guide.networks import Networks, start_networks
from guide.perceive import embedder
from guide.perceive.perceiver import Percept
from guide.perceive.region import RegionSettings
from guide.procedure.actions import Action
from guide.session import Session, follow, follow_features
from guide.settings import LiveSettings
from tests.tiny import FEATURE_RATE, FEATURE_WIDTH, Learned, altered

WHOLE = LiveSettings(lag_s=1e4, window_frames=10_000)
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


def test_a_window_as_long_as_the_recording_gives_the_cut_of_the_whole(
    frames_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the clock, and with nothing impossible, labels are those of the memberships' cut."""
    monkeypatch.setattr("guide.label.labeller.LEAST_POSSIBLE", 0.0)
    bundle = altered(frames_task.bundle, tmp_path)
    arrays = {key: each for key, each in bundle.arrays("prototypes.npz").items() if not key.startswith("clock")}
    np.savez(bundle.folder / "prototypes.npz", **arrays)  # type: ignore[arg-type]
    prototypes, rate = Prototypes.from_arrays(arrays), float(bundle.facts["rate"])
    links = LinkSettings(**bundle.facts["links"])
    for each in all_percepts(frames_task):
        live = session(bundle, WHOLE)
        assert [update for percept in each for update in live.perceived(percept)] == []
        times = np.array([percept.at for percept in each])
        memberships = prototypes.memberships(np.stack([percept.embedding for percept in each]))
        unary = 1.0 - np.column_stack([memberships, np.zeros(len(each))])
        expected = settle(unary, build_links(times, rate, links))
        assert [update.label.step for update in live.finish()] == [prototypes.steps[column] for column in expected]


def test_a_replay_says_the_same(frames_task: Learned) -> None:
    assert replay(frames_task) == replay(frames_task)


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
    live = session(bundle)
    live.perceived(live.perceiver.take(np.ones(FEATURE_WIDTH, np.float32), 0.0))
    live.finish()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("input", "width"), 0),
        (("input", "width"), 10**9),
        (("input", "width"), str(FEATURE_WIDTH)),
        (("rate",), 0),
        (("rate",), 1e-308),
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
        (("input", "region"), 2),
        (("input", "region"), {"side": 0.0}),
        (("input", "region"), {"side": "0.5"}),
        (("input", "region"), {"detail": 1.5}),
        (("input", "region"), {"smoothing_s": 0}),
        (("input", "region"), {"colour": 1.0}),
        (("links", "weight"), -1.0),
        (("links", "weight"), 10**400),
        (("links", "radius_s"), True),
        (("links", "decay_s"), "2.5"),
        (("links", "decay_s"), 1e-308),
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


@pytest.mark.parametrize(
    "arrays",
    [
        {"centres": np.zeros((4, 3))},
        {"centres": np.zeros((0, 13))},
        {"centres": np.zeros(5)},
        {"centres": np.array([["a"]])},
        {"centres": np.full((4, 13), np.nan)},
        {"centres": np.zeros((5, 13))},
        {"centres": np.zeros((4, 12)), "metric": np.eye(12)},
        {"metric": np.eye(12)},
        {"numbers": np.array([1, 2, 3, 9])},
        {"numbers": np.array([1, 2, 2, 3])},
        {"scalars": np.array([1.0])},
        {"scalars": np.array([1.0, -1.0, 1.0, 0.0])},
        {"clock": np.ones((3, 9))},
        {"clock_scalars": np.array([1.0, 0.0])},
    ],
    ids=lambda arrays: str({name: each.shape for name, each in arrays.items()}),
)
def test_arrays_that_do_not_fit_are_refused(features_task: Learned, tmp_path: Path, arrays: dict[str, Any]) -> None:
    with pytest.raises(BundleError, match=r"again\.$"):
        run_one_frame(altered(features_task.bundle, tmp_path, {"prototypes.npz": arrays}))


def test_a_bundle_of_the_schema_before_is_refused_in_one_sentence(features_task: Learned, tmp_path: Path) -> None:
    altered(features_task.bundle, tmp_path, facts=lambda facts: facts.update(schema=1))
    with pytest.raises(
        BundleError, match=r"^[^\n]* has bundle schema 1, this program reads 2: learn the procedure again"
    ):
        read_bundle(tmp_path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -3e38])
def test_a_network_that_gives_no_numbers_is_refused(features_task: Learned, value: float) -> None:
    live = session(features_task.bundle)
    percept = live.perceiver.take(np.ones(FEATURE_WIDTH, np.float32), 0.0)
    percept.embedding[3] = value
    with pytest.raises(BundleError, match="numbers that are not finite: try --precision float"):
        live.perceived(percept)


def scalars(bundle: Bundle, far: float, slope: float = 1.0) -> dict[str, Any]:
    temperature = bundle.arrays("prototypes.npz")["scalars"][0]
    return {"prototypes.npz": {"scalars": np.array([temperature, far, slope, 0.0])}}


def test_what_is_far_from_everything_for_a_while_is_unknown(frames_task: Learned, tmp_path: Path) -> None:
    near = altered(frames_task.bundle, tmp_path, scalars(frames_task.bundle, far=1e-3))
    updates = list(follow(VideoFile(videos(frames_task)[1]), session(near)))
    assert {update.label.step for update in updates} == {-1}
    told = [said.kind for update in updates for said in update.guidance if isinstance(said, Alert)]
    is_flagged = session(near).procedure.rules.is_unknown_flagged
    assert ("unknown" in told) == is_flagged


def test_the_confidence_of_steps_is_calibrated_as_the_bundle_says(frames_task: Learned, tmp_path: Path) -> None:
    found = []
    for slope in (1.0, 2.0):
        bundle = altered(frames_task.bundle, tmp_path / str(slope), scalars(frames_task.bundle, 1e5, slope))
        updates = follow(VideoFile(videos(frames_task)[1]), session(bundle))
        found.append(np.array([event.confidence for update in updates for event in update.events]))
    plain = np.clip(found[0], 1e-3, 1 - 1e-3)
    odds = (plain / (1 - plain)) ** 2
    np.testing.assert_allclose(found[1], odds / (1 + odds), rtol=1e-6)


class Disturbed:
    """A head whose embeddings are turned: the right numbers in the wrong places."""

    def __init__(self, head: Any) -> None:
        self._head = head

    def embed(self, features: Any) -> Any:
        return np.roll(self._head.embed(features), 1, axis=1)


def steps_seen(rows: Any, live: Session) -> list[tuple[int, str, float]]:
    updates = follow_features(rows, FEATURE_RATE, live)
    return [(event.step, event.state, event.at) for update in updates for event in update.events]


def test_every_link_of_the_chain_counts(
    features_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Embedding, prototypes, links, clock and histories: the steps that come out change with each of them."""
    bundle = altered(features_task.bundle, tmp_path / "usual", scalars(features_task.bundle, far=1e5))
    rng, rows = np.random.default_rng(1), np.load(Path(features_task.options.inputs[0]) / "a.npy")
    rows = np.concatenate([rows[start : start + 8] for start in rng.integers(0, 72, 14)])  # two seconds of anything
    rows = (rows + rng.normal(0, 1.5, rows.shape)).astype(np.float32)
    usual = steps_seen(rows, session(bundle))
    assert usual == steps_seen(rows, session(bundle))
    assert len({step for step, _, _ in usual}) >= 3

    networks = start_networks(bundle, "cpu", threads=1)
    turned = Networks(Disturbed(networks.head), None)  # type: ignore[arg-type]
    assert steps_seen(rows, Session(bundle, turned, QUICK)) != usual

    arrays = bundle.arrays("prototypes.npz")
    changes: dict[str, dict[str, Any]] = {
        "prototypes": {"centres": arrays["centres"][::-1]},
        "metric": {"metric": arrays["metric"] * 0.01},
        "clock": {"clock": np.tile([1e-300, 1e-300, 1e-300, 1.0], (len(arrays["clock"]), 1))},
    }
    for name, changed in changes.items():
        assert steps_seen(rows, session(altered(bundle, tmp_path / name, {"prototypes.npz": changed}))) != usual, name

    loose = altered(bundle, tmp_path / "links", facts=lambda facts: facts["links"].update(weight=0.0))
    assert steps_seen(rows, session(loose)) != usual

    lax = LiveSettings(confirm_s=0.3, bridge_s=0.3, priors=())
    assert steps_seen(rows, session(bundle, lax)) != usual
    monkeypatch.setattr("guide.label.labeller.LEAST_POSSIBLE", 0.0)
    assert steps_seen(rows, session(bundle)) != usual


@pytest.mark.parametrize("is_quick", [True, False])
def test_mixed_precision_is_taken_where_it_is_quick(
    mixed_task: Learned, monkeypatch: pytest.MonkeyPatch, is_quick: bool
) -> None:
    monkeypatch.setattr(embedder, "_has_half", lambda: is_quick)
    networks = start_networks(mixed_task.bundle, "cpu", 1)
    assert networks.precision == ("mixed" if is_quick else "float")
    assert networks.trunk is not None
    assert networks.trunk.path.name == ("trunk.mixed.onnx" if is_quick else "trunk.onnx")
    assert networks.head is not None
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


def test_a_bundle_says_how_its_second_look_finds_its_place(looks_task: Learned, frames_task: Learned) -> None:
    assert perception_settings(looks_task.bundle).region == RegionSettings()
    assert perception_settings(looks_task.bundle).width == 2 * perception_settings(frames_task.bundle).width
    assert "region" not in frames_task.bundle.facts["input"]  # as in bundles from before there were two looks
    assert perception_settings(frames_task.bundle).region is None


def test_two_looks_are_followed_both_and_by_turns(looks_task: Learned) -> None:
    both, turns = (replay(looks_task, replace(QUICK, looks=looks)) for looks in ("both", "turns"))
    assert [one.label.at for one in both] == [one.label.at for one in turns]
    assert replay(looks_task, replace(QUICK, looks="turns")) == turns
    same = np.mean([one.label.step == other.label.step for one, other in zip(both, turns, strict=True)])
    assert same > 0.5


@pytest.mark.parametrize(
    ("took_s", "looks", "turns"), [(0.09, "auto", True), (0.07, "auto", False), (9.0, "both", False)]
)
def test_looks_take_turns_where_the_machine_has_no_time_for_both(
    looks_task: Learned, monkeypatch: pytest.MonkeyPatch, took_s: float, looks: Any, turns: bool
) -> None:
    monkeypatch.setattr(embedder.OnnxTrunk, "seconds_a_picture", lambda self, size_px: took_s)
    live = session(looks_task.bundle, LiveSettings(looks=looks))
    assert live.perceiver.rate == 5.0
    said = live.keep_up()
    assert live.perceiver.take_turns == turns == ("they take turns" in said)
    assert live.settings.looks == looks  # as asked: a session that is resumed was asked for the same


def test_one_look_always_keeps_up(frames_task: Learned, features_task: Learned) -> None:
    for task in (frames_task, features_task):
        assert session(task.bundle).keep_up() == ""


def take_all(live: Session, rows: Any, first: int = 0) -> list[Update]:
    found: list[Update] = []
    for number, row in enumerate(rows, first):
        found += live.perceived(live.perceiver.take(row, number / FEATURE_RATE))
    return found


def test_a_restart_begins_with_nothing_done(features_task: Learned) -> None:
    rows = np.load(Path(features_task.options.inputs[0]) / "a.npy")
    live, fresh = session(features_task.bundle), session(features_task.bundle)
    take_all(live, rows[:40])
    assert live.tracker.progress.done
    live.act(Action("restart", 40 / FEATURE_RATE))
    assert live.tracker.progress.done == ()
    assert live._recogniser.belief().visits == ()
    again = take_all(live, rows[:40], first=40)
    take_all(fresh, rows[:40])
    assert live.tracker.progress.done == fresh.tracker.progress.done
    events = [event for update in again for event in update.events]
    assert events[0].state == "ended"  # of the step that was open when the session began anew
    assert all(event.start >= 40 / FEATURE_RATE for event in events[1:])


@pytest.mark.parametrize("is_over", [False, True])
@pytest.mark.parametrize("is_brought_back", [False, True])
def test_a_restart_taken_back_leaves_the_session_as_if_it_had_never_been(
    features_task: Learned, is_brought_back: bool, is_over: bool
) -> None:
    """Histories and clock take what was seen before it, and since; an undo can be taken back too, all that at the end
    as well."""
    rows = np.load(Path(features_task.options.inputs[0]) / "a.npy")
    live, other = session(features_task.bundle), session(features_task.bundle)
    for one in (live, other):
        take_all(one, rows[:30])
    live.act(Action("restart", 7.4))
    if is_brought_back:
        other.act(Action("restart", 7.4))
    for one in (live, other):
        take_all(one, rows[30:50], first=30)
    if is_over:
        for one in (live, other):
            take_all(one, rows[50:], first=50)
            one.finish()
    live.act(Action("undo", 12.4, target=1))
    if is_brought_back:
        live.act(Action("undo", 12.4, target=2))
    if not is_over:
        for one in (live, other):
            take_all(one, rows[50:], first=50)
            one.finish()
        assert live._recogniser.belief() == other._recogniser.belief()
    assert [visit.step for visit in live.tracker.state.visits] == [visit.step for visit in other.tracker.state.visits]
    assert live.tracker.state.done == other.tracker.state.done
    assert [(one.step, type(one)) for one in live.tracker.standing] == [
        (one.step, type(one)) for one in other.tracker.standing
    ]


@pytest.mark.parametrize("is_over", [False, True])
def test_of_many_restarts_the_last_can_be_taken_back(features_task: Learned, is_over: bool) -> None:
    rows = np.load(Path(features_task.options.inputs[0]) / "a.npy")
    live = session(features_task.bundle)
    for number in range(3):
        take_all(live, rows[10 * number : 10 * number + 10], first=10 * number)
        live.act(Action("restart", 2.5 * number))
    if is_over:
        take_all(live, rows[30:], first=30)
        live.finish()
    live.act(Action("undo", 8.0, target=1))  # two later ones count: nothing depends on it
    live.act(Action("undo", 8.0, target=3))
    with pytest.raises(InputError, match=r"cannot be taken back any more: the last 2 of a session can be\.$"):
        live.act(Action("undo", 8.0, target=2))
    assert [action.target for action in live.tracker.actions] == [None, None, None, 1, 3]
