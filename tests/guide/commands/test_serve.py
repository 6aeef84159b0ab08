"""The command: says where it listens, keeps to itself unless told otherwise, and ends all sessions properly."""

from __future__ import annotations

import json
import re
import signal
import ssl
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from guide.commands.serve import TOKEN_VARIABLE, choose_token, qr_code, serving
from guide.errors import InputError, OutputError
from guide.record.store import Store
from guide.recording import RecordingOptions
from guide.serve.options import ServeOptions
from guide.serve.tokens import camera_token
from tests.server import TOKEN, Headset, step_picture
from tests.tiny import Learned

ROOT = Path(__file__).parents[3]


def test_sigterm_ends_the_sessions_as_finished(frames_task: Learned, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "guide", "serve", "--bundle", str(frames_task.folder), "--port", "0",
               "--token", TOKEN, "--data", str(tmp_path), "--no-video", "--device", "cpu"]  # fmt: skip
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(rf"http://127\.0\.0\.1:(\d+)/\?token={camera_token(TOKEN)}", line)
        assert found, line
        with Headset(int(found[1]), {"token": TOKEN, "client": "helmet"}) as headset:
            session = headset.wait_for("hello")["session"]
            headset.frame(step_picture(1))
            headset.wait_for("ack")
            process.send_signal(signal.SIGTERM)
            rest = process.stdout.read()
    assert process.returncode == 0, rest
    assert "Traceback" not in rest
    assert "--tls auto" in rest
    with Store(tmp_path) as store:
        assert store.find(session).state == "finished"


def test_tls_auto_serves_https_and_prints_a_code(frames_task: Learned, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "guide", "serve", "--bundle", str(frames_task.folder), "--port", "0",
               "--tls", "auto", "--data", str(tmp_path), "--device", "cpu"]  # fmt: skip
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"https://127\.0\.0\.1:(\d+)/", process.stdout.readline())
        assert found
        context = ssl.create_default_context(cafile=str(tmp_path / "tls" / "certificate.pem"))
        with urllib.request.urlopen(f"https://127.0.0.1:{found[1]}/health", context=context, timeout=20) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert "█" in rest or "▀" in rest
    assert process.returncode == 0


def test_a_port_in_use_is_told_in_a_sentence(frames_task: Learned, tmp_path: Path) -> None:
    first = ServeOptions(frames_task.folder, port=0, device="cpu")
    with (
        serving(first) as (_, sock, _),
        pytest.raises(InputError, match=r"port \d+ of 127.0.0.1 is taken.* --port \d+, or --port 0"),
        serving(ServeOptions(frames_task.folder, port=sock.getsockname()[1], device="cpu")),
    ):
        pass


def test_a_certificate_that_cannot_be_used_is_told_before_anything_is_served(
    frames_task: Learned, tmp_path: Path
) -> None:
    options = ServeOptions(frames_task.folder, port=0, device="cpu", certificate=tmp_path / "c", key=tmp_path / "k")
    with pytest.raises(InputError, match="is none"), serving(options):
        pass


@pytest.mark.parametrize(
    "wrong", [{"port": 70_000}, {"certificate": Path("x")}, {"most_frame_mb": 0.0}, {"most_frame_mb": 100.0}]
)
def test_options_that_make_no_sense_are_told(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        ServeOptions(**wrong)  # type: ignore[arg-type]


def test_the_token_is_given_or_of_the_environment_or_new(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_token("x" * 16) == "x" * 16
    assert choose_token(None) != choose_token(None)
    assert len(choose_token(None)) >= 32
    monkeypatch.setenv(TOKEN_VARIABLE, "y" * 20)
    assert choose_token(None) == "y" * 20
    with pytest.raises(InputError):
        choose_token("with a blank in it")


def test_a_code_grows_with_its_text() -> None:
    assert len(qr_code("https://192.0.2.7:8765/?token=" + "x" * 32).splitlines()) > len(qr_code("x").splitlines())


def test_a_note_says_where_it_listens_and_goes_with_it(frames_task: Learned, tmp_path: Path) -> None:
    recording = RecordingOptions(record=False, data=tmp_path)
    options = ServeOptions(frames_task.folder, port=0, token=TOKEN, note=tmp_path / "d" / "n.json", recording=recording)
    with serving(options) as (_, sock, _):
        told = json.loads((tmp_path / "d" / "n.json").read_text())
        assert told["port"] == told["local_port"] == sock.getsockname()[1]
        assert (told["token"], told["host"], told["is_secure"]) == (TOKEN, "127.0.0.1", False)
        assert (tmp_path / "d" / "n.json").stat().st_mode & 0o077 == 0
    assert not (tmp_path / "d" / "n.json").exists()


def test_a_note_that_a_later_server_wrote_is_left_alone(frames_task: Learned, tmp_path: Path) -> None:
    recording = RecordingOptions(record=False, data=tmp_path)
    options = ServeOptions(frames_task.folder, port=0, token=TOKEN, note=tmp_path / "n.json", recording=recording)
    with serving(options):
        (tmp_path / "n.json").write_text("later")
    assert (tmp_path / "n.json").read_text() == "later"
    with pytest.raises(OutputError, match="--note"), serving(replace(options, note=tmp_path / "n.json" / "x")):
        pass


def test_with_tls_this_machine_may_be_served_without_it_too(frames_task: Learned, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "guide", "serve", "--bundle", str(frames_task.folder), "--port", "0",
               "--device", "cpu", "--tls", "auto", "--local", "--data", str(tmp_path),
               "--note", str(tmp_path / "n.json")]  # fmt: skip
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        assert "https://" in process.stdout.readline()
        told = json.loads((tmp_path / "n.json").read_text())
        with urllib.request.urlopen(f"http://127.0.0.1:{told['local_port']}/health", timeout=20) as answer:
            assert answer.status == 200
        context = ssl.create_default_context(cafile=str(tmp_path / "tls" / "certificate.pem"))
        with urllib.request.urlopen(f"https://127.0.0.1:{told['port']}/health", context=context, timeout=20) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
    assert process.returncode == 0, rest
    assert "Traceback" not in rest
