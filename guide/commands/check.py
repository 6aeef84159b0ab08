"""`python -m guide check`: is this bundle whole, unharmed and able to run here?"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.console import Console

from guide.bundle import Bundle, fingerprint, read_bundle
from guide.domain import Frame
from guide.errors import BundleError
from guide.ingest.base import NO_PICTURES
from guide.manifest import is_list
from guide.networks import Networks, has_networks, start_networks
from guide.perceive.embedder import Device
from guide.perceive.perceiver import Percept
from guide.procedure.explain import explain, watching
from guide.procedure.model import Procedure, Verdict
from guide.session import Session
from guide.settings import LiveSettings, Precision
from guide.words import count_of

RUNS = 5
PRECISIONS: Mapping[Precision, str] = {"float": "full precision", "mixed": "mixed precision", "int8": "8 bits"}

GROUPS: Mapping[str, tuple[Verdict, ...]] = {
    "raise an alarm": ("alarms",), "ask": ("asks",), "stay silent": ("silent", "off"),
}  # fmt: skip


@dataclass(frozen=True)
class CheckOptions:
    """Verify a bundle, run it once, and say how fast it is here and which rules it has."""

    bundle: Annotated[Path, tyro.conf.Positional]
    """The folder of the bundle."""
    device: Device = "auto"
    """Where to compute: auto, cpu or cuda."""
    precision: Precision = "auto"
    """Which networks to time: auto times those that `watch` takes; float, mixed or int8 those that are named. All that
    the bundle has are tried."""


def main(options: CheckOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False)
    bundle = read_bundle(options.bundle)
    if is_list(bundle):
        steps = count_of(len(Session(bundle, Networks(), LiveSettings()).procedure.steps), "step")
        console.print(f"{options.bundle} is sound: a written list of {steps}, guided by hand", soft_wrap=True)
        console.print(f"next: python -m guide watch {NO_PICTURES} --bundle {options.bundle}", soft_wrap=True)
        return
    networks = start_networks(bundle, options.device, precision=options.precision)
    session = Session(bundle, networks, LiveSettings())
    latency_ms = measure_latency_ms(session, bundle)
    _try(session, bundle)
    for precision in PRECISIONS:
        if precision != networks.precision and has_networks(bundle, precision):  # what runs on other machines
            _try(Session(bundle, start_networks(bundle, "cpu", precision=precision), LiveSettings()), bundle)
    procedure = session.procedure
    console.print(
        f"{options.bundle} is sound: {len(procedure.steps)} key-steps from {procedure.demonstrations} demonstrations, "
        f"version {fingerprint(bundle)}",
        soft_wrap=True,
    )
    console.print(
        f"runs on {networks.provider} in {PRECISIONS[networks.precision]}, {latency_ms:.1f} ms a frame here",
        soft_wrap=True,
    )
    for line in _rules(procedure):
        console.print(line, soft_wrap=True)
    console.print(f"next: python -m guide watch SOURCE --bundle {options.bundle}", soft_wrap=True)


def _rules(procedure: Procedure) -> list[str]:
    """How many rules alarm, ask and are silent, and below that why each of them, group by group."""
    rules = explain(procedure)
    if not rules:
        return ["this bundle does not say why its rules alarm: review it (python -m guide review) to learn them again"]
    groups = [(word, [one for one in rules if one.verdict in verdicts]) for word, verdicts in GROUPS.items()]
    words = watching(procedure)
    lines = [*([words] if words else []), f"rules: {', '.join(f'{len(found)} {word}' for word, found in groups)}"]
    for word, found in groups:
        if found:
            lines += ["", f"{count_of(len(found), 'rule')} {word}", *(f"  {one.rule}: {one.reason}" for one in found)]
    return [*lines, ""]


def measure_latency_ms(session: Session, bundle: Bundle) -> float:
    """The median time from frame to percept, after one warm-up."""
    took = []
    for number in range(RUNS + 1):
        began = time.perf_counter()
        _perceive(session, bundle, float(number))
        took.append(1000 * (time.perf_counter() - began))
    return float(np.median(took[1:]))


def _try(session: Session, bundle: Bundle) -> None:
    """Labels one frame and ends: whatever does not fit together shows here and not in front of an operator."""
    try:
        session.perceived(_perceive(session, bundle, RUNS + 1.0))
        session.finish()
    except (ValueError, LookupError, ArithmeticError) as cause:
        raise BundleError(f"{bundle.folder} cannot label a frame ({cause}): train or export it again.") from cause


def _perceive(session: Session, bundle: Bundle, at: float) -> Percept:
    if bundle.has("trunk.onnx"):
        return session.perceiver.see(Frame(0, at, np.full((240, 320, 3), 128, np.uint8)))
    return session.perceiver.take(np.zeros(int(bundle.facts["input"]["width"]), np.float32), at)
