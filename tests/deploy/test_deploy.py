"""The files in deploy/: what they name exists, so that who copies them is not led astray."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import tyro

from guide.serve.options import ScaleOptions, ServeOptions
from tests.fleet import fleet
from tests.server import step_picture
from tests.tiny import Learned

DEPLOY = Path(__file__).parents[2] / "deploy"
NAMED = re.compile(r"\b(?:guide|process)_[a-z_]+\b")
LABELS = re.compile(r"\{\{(\w+)\}\}|by \(([\w, ]+)\)")
EARLY = {"guide_alerts_total", "guide_refusals_total", "guide_frames_dropped_total"}  # told once there is one


def test_the_dashboard_asks_for_what_a_fleet_tells(frames_task: Learned, tmp_path: Path) -> None:
    with fleet(frames_task.folder, tmp_path, ScaleOptions()) as (served, _), served.connect() as headset:
        headset.wait_for("hello", 20.0)
        for number in range(3):
            headset.frame(step_picture(1, number))
            headset.wait_for("ack")
        lines = served.ask("/metrics").body.decode().splitlines()
    told = {NAMED.match(line)[0] for line in lines if NAMED.match(line)} | EARLY  # type: ignore[index]
    board = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    asked = [target for panel in board["panels"] for target in panel["targets"]]
    for target in asked:
        names = set(NAMED.findall(target["expr"]))
        assert names, target["expr"]
        assert names <= told, names - told
        known = set(re.findall(r'(\w+)="', "".join(line for line in lines if line.startswith(tuple(names)))))
        wanted = {one.strip() for pair in LABELS.findall(target["legendFormat"] + target["expr"]) for part in pair
                  for one in part.split(",") if one.strip()}  # fmt: skip
        assert wanted <= known or names & EARLY, (target["expr"], wanted - known)
    assert {one["id"] for one in board["panels"]} == set(range(1, len(board["panels"]) + 1))


def test_the_gateway_is_started_with_options_that_there_are(tmp_path: Path) -> None:
    unit = (DEPLOY / "guide-fleet.service").read_text(encoding="utf-8")
    (command,) = re.findall(r"^ExecStart=(.+)$", unit, re.MULTILINE)
    _, module, package, name, *arguments = shlex.split(command)
    assert (module, package, name) == ("-m", "guide", "serve")
    options = tyro.cli(ServeOptions, args=arguments)
    assert (options.fleet, options.scale.ray, options.tls) == (True, "auto", "auto")
