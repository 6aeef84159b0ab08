"""Watching live sources: notices aside, drops counted, a proper end on loss, Ctrl-C and SIGTERM."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from guide.commands import watch
from guide.commands.entry import entry
from guide.commands.watch import WatchOptions
from guide.domain import Image
from tests.fake_camera import noisy
from tests.stream_server import mjpeg, mpegts, serving
from tests.synth import COLOURS
from tests.tiny import Learned

WORDS = ("--device", "cpu", "--confirm-s", "0.3", "--bridge-s", "0.3", "--lag-s", "0.4")


def pictures(count: int) -> list[Image]:
    """Noise on the colours of the steps, each for a while."""
    return [
        (image // 4 + [3 * part // 4 for part in COLOURS[1 + 3 * number // count]]).astype(image.dtype)
        for number, image in enumerate(noisy(count))
    ]


def follow(address: str, task: Learned, *more: str) -> None:
    entry(WatchOptions, watch.main, args=[address, "--bundle", str(task.folder), *WORDS, *more])


def test_a_stream_cut_off_and_brought_back_is_followed_to_its_end(
    frames_task: Learned, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(mpegts(pictures(60), rate=25.0, cut_after=25)) as address:
        follow(address.replace("//", "//user:secret@"), frames_task, "--jsonl", "--emit-labels", "--give-up-s", "1.5")
    said = capsys.readouterr()
    lines: list[dict[str, Any]] = [json.loads(line) for line in said.out.splitlines()]
    times = [line["at"] for line in lines if line["type"] == "label"]
    assert times == sorted(set(times))
    assert times[-1] > 2.0
    assert lines[-1]["type"] == "summary"
    assert lines[-1]["frames"] == len(times)
    kinds = [line.split("! ")[1].split(":")[0] for line in said.err.splitlines() if "! " in line]
    assert kinds == ["lost", "reopened", "lost", "gone"]
    assert "were processed" in said.err.splitlines()[-1]
    assert "secret" not in said.out + said.err


def test_the_terminal_view_tells_notices_and_totals(frames_task: Learned, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(mjpeg(pictures(20), rate=25.0)) as address:
        follow(address, frames_task, "--give-up-s", "0.3")
    told = capsys.readouterr().out
    assert "! lost: http://127.0.0.1" in told
    assert "! gone: " in told
    assert "20 frames came" in told
    assert "timeline: " in told


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/x", "0", "name:None", "headset:helmet", "ftp://x/y"])
def test_a_source_that_is_not_there_is_one_sentence(
    frames_task: Learned, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    if address == "0" and Path("/dev/video0").exists():
        pytest.skip("there is a camera")
    with pytest.raises(SystemExit) as left:
        follow(address, frames_task, "--jsonl")
    said = capsys.readouterr()
    assert left.value.code == 2
    assert (said.out, said.err.count("\n")) == ("", 1)


@pytest.fixture
def watched(frames_task: Learned) -> Iterator[subprocess.Popen[str]]:
    """The command on an endless stream, in a process of its own."""
    stream = mjpeg(pictures(3000), rate=20.0, stays_up=True)
    with serving(stream) as address:
        command = [sys.executable, "-m", "guide", "watch", address, "--bundle", str(frames_task.folder), *WORDS]
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([*command, "--jsonl", "--emit-labels"], **more) as process:  # type: ignore[call-overload]
            yield process
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_session_properly(watched: subprocess.Popen[str], number: signal.Signals) -> None:
    assert watched.stdout is not None
    assert json.loads(watched.stdout.readline())["type"] == "label"
    watched.send_signal(number)
    out, err = watched.communicate(timeout=20)
    assert watched.returncode == 0, err
    assert json.loads(out.splitlines()[-1])["type"] == "summary"
    assert "Traceback" not in err
