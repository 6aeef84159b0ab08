"""Pictures go when their days are over; everything else stays."""

from __future__ import annotations

from pathlib import Path

from guide.record.retention import DAY_S, REPORT, drop_old_pictures
from guide.record.store import Store
from guide.record.values import SessionFacts, StoredPicture

NAMES = [f"20300102-030405-00{number:02x}" for number in range(4)]


def test_pictures_go_when_their_days_are_over(tmp_path: Path) -> None:
    days = (7.0, 30.0, None, 7.0)
    with Store(tmp_path) as store:
        for name, keep_days in zip(NAMES, days, strict=True):
            store.begin(SessionFacts(name, started=0.0, keep_days=keep_days))
            store.write(name, [StoredPicture(0.0, "video", 1, "video-1.mp4")], 1, 0.0, 0.0)
            (tmp_path / name).mkdir()
            for file in ("video-1.mp4", "still-1-step-1.jpg", "seen.bin", "lock"):
                (tmp_path / name / file).write_bytes(b"x")
            if name != NAMES[3]:  # the last one is still open
                store.end(name, "finished", 1.0)
        assert drop_old_pictures(store, now=6 * DAY_S) == ()
        assert drop_old_pictures(store, now=8 * DAY_S) == (NAMES[0],)
        assert drop_old_pictures(store, now=8 * DAY_S) == ()
        assert store.contents(NAMES[0]).pictures == ()
        assert len(store.contents(NAMES[1]).pictures) == 1
    assert sorted(path.name for path in (tmp_path / NAMES[0]).iterdir()) == ["lock", "seen.bin"]
    assert all(len(list((tmp_path / name).iterdir())) == 4 for name in NAMES[1:])


def test_a_report_beside_them_goes_with_its_stills(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.begin(SessionFacts(NAMES[0], started=0.0, keep_days=7.0))
        store.end(NAMES[0], "finished", 1.0)
        report = tmp_path / NAMES[0] / REPORT
        report.mkdir(parents=True)
        for file in ("report.html", ".report.html.new", "session.csv", "session.vtt"):
            (report / file).write_text("x")
        assert drop_old_pictures(store, now=8 * DAY_S) == (NAMES[0],)
    assert sorted(path.name for path in report.iterdir()) == ["session.csv", "session.vtt"]
