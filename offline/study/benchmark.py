"""`python -m offline.study.benchmark`: the speed figures, each ratio measured in one run on one machine."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import torch
import tyro
from rich.console import Console

from guide.benchmarks.figures import Part, processor, tell
from guide.commands.entry import entry
from guide.errors import InputError
from offline.config import PAPER
from offline.study.benchmarks.extraction import ExtractionSizes, measure_extraction
from offline.study.benchmarks.live import LiveSizes, measure_live
from offline.study.benchmarks.losses import measure_losses
from offline.study.benchmarks.procut import ProCutSizes, measure_procut
from offline.study.benchmarks.training import StepSizes, measure_training

PartName = Literal["losses", "train", "extraction", "procut", "live", "all"]

QUICK_TRAINING = StepSizes(2, 64, (4, 4, 4), replace(PAPER, head_width=8, sampled_frames=4), steps=1)
QUICK_PROCUT = ProCutSizes(frames=2000, few=1000, many=4000, width=16, k=4, repeats=1)


@dataclass(frozen=True, slots=True)
class StudyBenchmarkOptions:
    """Measure losses, the training step, extraction, ProCut and the live loop, and hold them against their limits."""

    part: Annotated[PartName, tyro.conf.Positional] = "all"
    """What to measure."""
    video: Path | None = None
    """A video to extract features from; without one a recording of the demo world is drawn."""
    backbone: str = "efficientnet_lite0"
    """The trunk that extracts them."""
    backbone_weights: Path | None = None
    """A file of weights for it."""
    fps: float = 5.0
    """Working rate of the video."""
    bundle: Path = Path("exported/demo")
    """The bundle whose live loop is held against the plain way."""
    json: Path | None = None
    """Write all figures to this file as well."""
    quick: bool = False
    """Sizes so small that the figures mean nothing, to see that everything runs."""


def measure(options: StudyBenchmarkOptions) -> dict[str, Callable[[], list[Part]]]:
    """Every part by its name, not yet run."""
    if options.video is not None and not options.video.is_file():
        raise InputError(f"a video was expected, but {options.video} does not exist: check the path.")
    extraction = ExtractionSizes(options.video, options.backbone, options.backbone_weights, options.fps)
    live = LiveSizes(options.bundle, options.backbone_weights, options.video)
    if options.quick:
        return {
            "losses": lambda: measure_losses(videos=2, frames=4, width=8, repeats=1),
            "train": lambda: measure_training(QUICK_TRAINING),
            "extraction": lambda: measure_extraction(
                replace(extraction, backbone="random-tiny", scale=0.03, repeats=1)
            ),
            "procut": lambda: measure_procut(QUICK_PROCUT),
            "live": lambda: measure_live(replace(live, minutes=0.5, moments=2, frames=1)),
        }
    return {
        "losses": measure_losses,
        "train": measure_training,
        "extraction": lambda: measure_extraction(extraction),
        "procut": lambda: measure_procut(ProCutSizes()),
        "live": lambda: measure_live(live),
    }


def machine() -> str:
    """The machine in words: processor and cores, GPU, versions."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return f"{processor()}, {gpu}, torch {torch.__version__}, Python {platform.python_version()}"


def main(options: StudyBenchmarkOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    chosen = (act for name, act in measure(options).items() if options.part in (name, "all"))
    tell(machine(), (part for act in chosen for part in act()), console, options.json)


if __name__ == "__main__":
    entry(StudyBenchmarkOptions, main)
