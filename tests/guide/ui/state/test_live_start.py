"""What can be started: the demo's recordings in the order in which they show most, and running sessions in words."""

from __future__ import annotations

from pathlib import Path

from guide.ui.state.live_start import demo_recordings, demo_stills, session_words


def test_the_recording_with_a_step_left_out_comes_first_and_the_faultless_last(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    for name in ("01_none.mp4", "02_missed.mp4", "03_out_of_order.mp4", "02_missed.csv", "99_strange.mp4"):
        (tmp_path / "live" / name).write_bytes(b"")
    found = demo_recordings({"CNC_DEMO": str(tmp_path)})
    assert [one.path.name for one in found] == ["02_missed.mp4", "03_out_of_order.mp4", "01_none.mp4"]


def test_a_few_stills_of_different_steps(tmp_path: Path) -> None:
    (tmp_path / "stills").mkdir()
    for step in range(1, 7):
        for number in (1, 2):
            (tmp_path / "stills" / f"{step:02d}_{number}.jpg").write_bytes(b"")
    assert [path.name for path in demo_stills(tmp_path)] == ["02_1.jpg", "03_1.jpg", "04_1.jpg"]


def test_a_running_session_in_a_line() -> None:
    brief = {"bundle": "demo", "source": "a/b.mp4", "person": "", "at": 65.0, "step": {"name": "fit board"}}
    assert session_words(brief) == "demo · b.mp4 · 1:05 · fit board"
    assert session_words({**brief, "step": None}) == "demo · b.mp4 · 1:05"
