"""All that was measured as one report; the machine in words, with its GPU."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import torch

from guide.benchmarks.figures import Part, processor


def report(parts: Sequence[Part]) -> dict[str, Any]:
    """Everything that was measured, with the machine it was measured on."""
    return {"machine": machine(), "parts": [part.as_json() for part in parts]}


def machine() -> str:
    """The machine in words: processor and cores, GPU, versions."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return f"{processor()}, {gpu}, torch {torch.__version__}, Python {platform.python_version()}"
