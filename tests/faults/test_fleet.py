"""A replica of a fleet is killed: its headsets come back to another one, and their sessions go on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

import pytest

from guide.record.percepts import PERCEPTS_FILE, read_percepts
from guide.record.shipping import opened
from tests.fleet import replicas as known
from tests.postgres import Cluster
from tests.ray_cluster import RayCluster, require_ray
from tests.server import TOKEN, Served, running, settled
from tests.tiny import Learned
from tests.waiting import until

ROOT = Path(__file__).parents[2]
QUICK = ("--device", "cpu", "--lag-s", "0.4", "--confirm-s", "0.3", "--bridge-s", "0.3", "--threads", "1", "--no-video")


@contextmanager
def replica_killed_at_the_end(bundle: Path, data: Path) -> Iterator[Served]:
    """A server of a fleet in a process of its own, which is killed at the end."""
    program = (
        "import sys, time; from pathlib import Path; from tests.server import running\n"
        "with running(Path(sys.argv[1]), Path(sys.argv[2]), is_fleet=True) as served:\n"
        "    print(served.port, flush=True); time.sleep(600)\n"
    )
    command = [sys.executable, "-c", program, str(bundle), str(data)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Served(int(process.stdout.readline()), data)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(10.0)


def where(state: dict[str, Any]) -> dict[str, Any]:
    names = ("session", "at", "step", "next", "progress", "timeline", "questions", "actions", "paused")
    return {name: state[name] for name in names}


@pytest.mark.parametrize("is_same", [True, False], ids=["the same machine", "another machine"])
def test_a_session_goes_on_at_a_replica_that_has_run_for_long(
    frames_task: Learned, tmp_path: Path, postgres: Cluster, monkeypatch: pytest.MonkeyPatch, is_same: bool
) -> None:
    """Machines share nothing but the database; replicas of one machine share its folder."""
    monkeypatch.setenv("CNC_RECORDS", postgres.database())
    monkeypatch.setattr("guide.serve.runs.RESUME_S", 0.0)  # as if it had been started long ago
    here, there = tmp_path / "here", tmp_path / ("here" if is_same else "there")
    with running(frames_task.folder, there, is_fleet=True) as other:
        with replica_killed_at_the_end(frames_task.folder, here) as served, served.connect() as headset:
            session = headset.wait_for("hello", 30.0)["session"]
            headset.send({"kind": "mark_done", "step": 2})
            headset.show((1, 4), 1.2)
            left = where(settled(served, headset, os.environ["CNC_RECORDS"]))
        with other.connect() as headset:
            state = headset.wait_for("hello", 30.0)["state"]
            assert where(state) == left
            assert [one["kind"] for one in state["health"]["notices"]] == ["resumed"]
            headset.show((2,), 0.6)
            headset.finish()
    with opened(there, os.environ["CNC_RECORDS"]) as store:
        (kept,) = store.sessions()
        ats = [one.at for one in store.contents(session).labels]
    assert (kept.id, kept.state) == (session, "finished")
    assert ats == sorted(set(ats))
    assert [one.number for one in read_percepts(there / session / PERCEPTS_FILE)] == list(range(kept.frames))


def serve_fleet(bundle: Path, data: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "guide", "serve", "--fleet", "--bundle", str(bundle), "--port", "0",
            "--data", str(data), *QUICK, *more]  # fmt: skip


@contextmanager
def fleet(
    bundle: Path, data: Path, *more: str, replicas: int = 2, tmp: str = ""
) -> Iterator[tuple[Served, subprocess.Popen[str]]]:
    """`guide serve --fleet` with so many replicas that answer, as a user starts it."""
    command = serve_fleet(bundle, data, "--replicas", str(replicas), *more)
    environment = {**os.environ, "CNC_TOKEN": TOKEN, "PYTHONPATH": str(ROOT), **({"RAY_TMPDIR": tmp} if tmp else {})}
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r":(\d+)/\?token=", line)
        assert found, line + process.stdout.read()
        served = Served(int(found[1]), data)
        try:
            until(lambda: sum(one["answers"] for one in known(served)) >= replicas, 90.0)
            yield served, process
        finally:
            process.terminate()
            try:
                process.wait(60.0)
            finally:
                process.kill()


def listened_on(pid: int) -> Iterator[IPv4Address | IPv6Address]:
    """The addresses on which a process listens, or any that it started."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from listened_on(int(child))
    links = [os.readlink(one) for one in Path(f"/proc/{pid}/fd").iterdir() if one.is_symlink()]
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            parts = line.split()
            if parts[3] == "0A" and f"socket:[{parts[9]}]" in links:
                words = parts[1].partition(":")[0]
                number = b"".join(bytes.fromhex(words[at : at + 8])[::-1] for at in range(0, len(words), 8))
                found = ip_address(number)
                yield getattr(found, "ipv4_mapped", None) or found


def test_a_replica_killed_is_replaced_and_its_headsets_go_on_at_the_other(frames_task: Learned, tmp_path: Path) -> None:
    require_ray()
    data = tmp_path / "data"
    with ExitStack() as held:
        short = held.enter_context(tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True))
        served, process = held.enter_context(fleet(frames_task.folder, data, tmp=short))  # paths of sockets are short
        assert {one for one in listened_on(process.pid) if not one.is_loopback} == set(), "nobody else may reach Ray"
        headsets = {name: held.enter_context(served.connect(name)) for name in ("one", "two")}
        sessions = {name: one.wait_for("hello", 30.0)["session"] for name, one in headsets.items()}
        for one in headsets.values():
            one.show((1, 4), 0.8)
        before = {name: settled(served, one) for name, one in headsets.items()}
        listed = served.ask("/sessions").json["sessions"]
        homes = {one["client"]: one["replica"] for one in listed}
        assert len({*homes.values()}) == 2, "one each"
        (pid,) = (one["pid"] for one in known(served) if one["name"] == homes["one"])
        os.kill(pid, signal.SIGKILL)
        while headsets["one"].hear(10.0) is not None:
            pass
        assert headsets["one"].code == 1012
        again = held.enter_context(served.connect("one"))
        state = again.wait_for("hello", 30.0)["state"]
        assert where(state) == where(before["one"])
        assert served.ask("/sessions").json["sessions"][-1]["replica"] == homes["two"]
        headsets["two"].show((2,), 0.4)
        again.show((2,), 0.4)
        until(lambda: sum(one["answers"] for one in known(served)) == 2, 60.0)
        process.send_signal(signal.SIGINT)
        assert process.wait(60.0) == 0
    with opened(data) as store:
        assert sorted(one.id for one in store.sessions()) == sorted(sessions.values())
        assert {one.state for one in store.sessions()} == {"finished"}


def test_a_second_gateway_is_refused_and_one_killed_and_started_with_other_options_ends_no_session(
    frames_task: Learned, tmp_path: Path
) -> None:
    cluster = RayCluster()
    place, data = ("--ray", cluster.address, "--give-up-s", "600"), tmp_path / "data"
    with ExitStack() as held:
        held.callback(cluster.close)
        cluster.add_node()
        served, gateway = held.enter_context(fleet(frames_task.folder, data, *place, replicas=1))
        headset = held.enter_context(served.connect("early"))
        session = headset.wait_for("hello", 30.0)["session"]
        headset.show((1,), 0.8)
        second = subprocess.run(  # by mistake, and with a token of its own
            serve_fleet(frames_task.folder, tmp_path / "second", *place, "--token", "a-token-of-the-second"),
            cwd=ROOT, capture_output=True, text=True, check=False, timeout=120.0,
        )  # fmt: skip
        assert second.returncode == 2
        assert "a gateway runs already on this Ray cluster" in " ".join(second.stderr.split())
        headset.show((1,), 0.4)
        assert [one["name"] for one in known(served)] == ["replica-1"]
        gateway.kill()
        gateway.wait(10.0)
        served, gateway = held.enter_context(fleet(frames_task.folder, data, *place, "--confirm-s", "0.4", replicas=1))
        until(lambda: {one["state"] for one in known(served) if one["answers"]} == {"draining", "running"}, 90.0)
        with served.connect("early") as back, served.connect("late") as late:
            assert back.wait_for("hello", 30.0)["session"] == session
            late.wait_for("hello", 30.0)
            homes = {one["client"]: one["replica"] for one in served.ask("/sessions").json["sessions"]}
            assert homes == {"early": "replica-1", "late": "replica-2"}
            for one in (back, late):
                one.show((4,), 0.8)
                assert one.finish()["state"] == "finished"
        until(lambda: [one["name"] for one in known(served)] == ["replica-2"], 60.0)
        gateway.send_signal(signal.SIGINT)
        assert gateway.wait(60.0) == 0
    with opened(data) as store:
        kept = {one.id: one for one in store.sessions()}
    assert (len(kept), {one.state for one in kept.values()}) == (2, {"finished"})
    assert kept[session].frames > 0


def test_without_ray_a_fleet_is_one_sentence(frames_task: Learned, tmp_path: Path) -> None:
    program = "import sys; sys.modules['ray'] = None; from guide.__main__ import main; main()"
    command = [sys.executable, "-c", program, "serve", "--fleet", "--bundle", str(frames_task.folder),
               "--data", str(tmp_path)]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "a fleet needs Ray, which is not installed: pip install -e '.[fleet]'." in " ".join(done.stderr.split())
