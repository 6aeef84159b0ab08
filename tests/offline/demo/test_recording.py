"""Recordings on disk: the same twice, labels that agree with the frames."""

from __future__ import annotations

import csv
from pathlib import Path

import av
import numpy as np

from offline.demo.recording import Recording, write_recording
from offline.demo.script import RATE_HZ

SHORT = Recording(seed=1, kind="live", number=2, scale=0.03)


def test_the_same_recording_twice_is_the_same_bytes(tmp_path: Path) -> None:
    one, other = (write_recording(SHORT, tmp_path / name) for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()
    assert one.with_suffix(".csv").read_bytes() == other.with_suffix(".csv").read_bytes()


def test_video_and_labels_agree(tmp_path: Path) -> None:
    video = write_recording(SHORT, tmp_path)
    with av.open(str(video)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        times = [frame.time for frame in container.decode(stream)]
    assert np.allclose(times, np.arange(len(times)) / RATE_HZ)
    assert len(times) == round(SHORT.script.duration * RATE_HZ)
    text = video.with_suffix(".csv").read_text(encoding="utf-8")
    rows = list(csv.reader(text.splitlines()))
    assert all(line.endswith('"') for line in text.splitlines())
    assert [int(name.split()[0]) for _, _, name in rows] == list(SHORT.script.order)
    assert all(0 <= float(start) < float(end) <= len(times) / RATE_HZ for start, end, _ in rows)


def test_people_differ_and_frames_are_drawn() -> None:
    one, other = (next(Recording(1, "train", number, 0.05).pictures()) for number in (1, 2))
    assert one.shape == other.shape == (240, 320, 3)
    assert one.std() > 10
    assert np.abs(one.astype(int) - other.astype(int)).mean() > 10
