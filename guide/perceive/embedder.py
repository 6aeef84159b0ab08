"""Running the exported networks: the only home of ONNX Runtime. Says which provider really runs, and why."""

from __future__ import annotations

import ctypes
import logging
import platform
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from guide.errors import BundleError, InputError

log = logging.getLogger(__name__)

Device = Literal["auto", "cpu", "cuda"]
Floats: TypeAlias = NDArray[np.float32]

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"
SMALL_PX = 32  # side of a picture that any trunk takes
MOST_BYTES = 2**30
"""Memory for all networks of the process on the processor, weights and results: a file of 150 bytes can ask for any.

ResNet-50 needs 400 MB for sixteen pictures.
"""
MOST_ROWS = 8_192
"""Rows of one run of a head: a long recording has more than fit at once."""

_RUNTIME_ERROR_NAMES = (
    "EPFail", "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoModel", "NoSuchFile", "NotImplemented",
    "RuntimeException",
)  # fmt: skip
# ONNX Runtime's own errors derive from Exception directly and share no base class.
_RUNTIME_ERRORS: tuple[type[Exception], ...] = (
    RuntimeError,
    ValueError,
    *(getattr(ort.capi.onnxruntime_pybind11_state, name) for name in _RUNTIME_ERROR_NAMES),
)


@dataclass(frozen=True, slots=True)
class TrunkOutput:
    """What a trunk gives for N frames: maps (N, C, H, W) and pooled features (N, P), float32.

    >>> TrunkOutput(np.zeros((1, 8, 4, 4), np.float32), np.zeros((1, 8), np.float32)).pooled.shape
    (1, 8)
    """

    maps: Floats
    pooled: Floats


class OnnxModel:
    """An ONNX file ready to run. `provider` is what really runs it; `reason` says why a wanted one does not.

    >>> OnnxModel("missing.onnx")
    Traceback (most recent call last):
    ...
    guide.errors.BundleError: a network was expected in missing.onnx, but the file does not exist: export again.
    """

    def __init__(self, path: str | Path, device: Device = "auto", threads: int = 0) -> None:
        self.path = Path(path)
        providers, self.reason = _choose_providers(device)
        self._session = _start(self.path, providers, threads)
        self.provider: str = self._session.get_providers()[0]
        if self.provider != providers[0]:
            self.reason = f"{providers[0]} was asked for but could not start: {self.path.name} runs on {self.provider}."
        self.metadata: dict[str, str] = dict(self._session.get_modelmeta().custom_metadata_map)
        self.input_shape: tuple[int | str | None, ...] = tuple(self._session.get_inputs()[0].shape)
        self._input: str = self._session.get_inputs()[0].name
        self._outputs: list[str] = [output.name for output in self._session.get_outputs()]

    def run(self, inputs: Floats, outputs: list[str]) -> list[Floats]:
        """The outputs of those names; raises BundleError when the network does not take such input."""
        try:
            results: list[Floats] = self._session.run(outputs, {self._input: inputs})
        except _RUNTIME_ERRORS as error:
            raise BundleError(
                f"{self.path.name} takes {self.input_shape} and failed on {inputs.shape} ({_first_line(error)}): "
                "the bundle was made for other features, or is damaged."
            ) from error
        return results

    def shrink(self) -> None:
        """Gives back what larger runs took of the memory that all networks on the processor share.

        The runtime does that after a run alone, so one row of nothing is run.
        """
        options = ort.RunOptions()
        options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        sizes = (size if isinstance(size, int) else SMALL_PX for size in self.input_shape[1:])
        row = np.zeros([1, *sizes], np.float32)
        try:
            self._session.run(self._outputs[:1], {self._input: row}, options)
        except _RUNTIME_ERRORS as error:  # nothing that anybody asked for
            log.debug("%s does not give memory back: %s", self.path, error)

    def require_outputs(self, *names: str) -> None:
        """Raises BundleError unless the network has these outputs."""
        if lacking := [name for name in names if name not in self._outputs]:
            raise BundleError(
                f"{self.path.name} must give {', '.join(names)}, but has no {lacking[0]}: export the bundle again."
            )


class OnnxTrunk(OnnxModel):
    """The picture network: run once for each frame, its outputs are kept for the context.

    Without maps wanted they are not even copied out, for heads that work on pooled features.

    >>> OnnxTrunk("trunk.onnx")
    Traceback (most recent call last):
    ...
    guide.errors.BundleError: a network was expected in trunk.onnx, but the file does not exist: export again.
    """

    def __init__(self, path: str | Path, device: Device = "auto", threads: int = 0) -> None:
        super().__init__(path, device, threads)
        self.require_outputs("map", "pooled")

    def forward(self, inputs: Floats) -> TrunkOutput:
        """Maps and pooled features of (N, 3, S, S) network inputs."""
        maps, pooled = self.run(inputs, ["map", "pooled"])
        return TrunkOutput(maps, pooled)

    def pool(self, inputs: Floats) -> Floats:
        """The pooled features (N, P) alone."""
        return self.run(inputs, ["pooled"])[0]

    def seconds_a_picture(self, size_px: int) -> float:
        """How long a picture takes on this machine, after a first one that warms it up."""
        blank = np.zeros((1, 3, size_px, size_px), np.float32)
        self.pool(blank)
        began = time.perf_counter()
        self.pool(blank)
        return time.perf_counter() - began


class OnnxHead(OnnxModel):
    """The embedding network: order-free features (N, 2P) -> (N, D).

    >>> OnnxHead("head.onnx")
    Traceback (most recent call last):
    ...
    guide.errors.BundleError: a network was expected in head.onnx, but the file does not exist: export again.
    """

    def embed(self, features: Floats) -> Floats:
        """The embeddings of N rows of features."""
        parts = range(0, max(len(features), 1), MOST_ROWS)
        return np.concatenate([self.run(features[at : at + MOST_ROWS], self._outputs[:1])[0] for at in parts])


def is_quick_in_half(device: Device) -> bool:
    """Whether networks run on a processor for which ONNX Runtime has kernels in half precision.

    On any other it computes in single precision and only rounds in between, which takes longer. Accelerators keep
    full precision: they have time to spare.
    """
    return _choose_providers(device)[0][0] == CPU and _has_half()


@cache
def _has_half() -> bool:
    """Whether this is a 64-bit Arm under Linux that computes in half precision; other systems are not known."""
    if sys.platform != "linux" or platform.machine() != "aarch64":
        return False
    try:
        return "asimdhp" in Path("/proc/cpuinfo").read_text(errors="replace").split()
    except OSError:
        return False


def _choose_providers(device: Device) -> tuple[list[str], str]:
    """The providers to ask for, best first, and why the wanted accelerator is not among them (or nothing)."""
    if device not in get_args(Device):
        raise InputError(f"the device must be one of {', '.join(get_args(Device))}, got {device}.")
    if device == "cpu":
        return [CPU], ""
    if CUDA not in ort.get_available_providers():
        lack = "this ONNX Runtime was built without CUDA; install onnxruntime-gpu"
    else:
        lack = _lack_of_cuda()
    if not lack:
        return [CUDA, CPU], ""
    return [CPU], f"CUDA was asked for, but {lack}: running on the CPU." if device == "cuda" else ""


def _lack_of_cuda() -> str:
    """Why no CUDA device can be used, or nothing.

    Asked of the driver, because ONNX Runtime lists CUDA wherever its package was built with it.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "this machine has no CUDA driver"
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return "the CUDA driver sees no device"
    return ""


def _start(path: Path, providers: list[str], threads: int) -> ort.InferenceSession:
    if not path.is_file():
        raise BundleError(f"a network was expected in {path}, but the file does not exist: export again.")
    if CUDA in providers and hasattr(ort, "preload_dlls"):
        ort.preload_dlls()  # finds the CUDA libraries that came as Python packages
    _limit_memory()
    options = ort.SessionOptions()
    options.add_session_config_entry("session.use_env_allocators", "1")
    options.intra_op_num_threads = threads  # 0 lets the runtime use every core
    # Threads that wait by spinning take the cores from decoding and from other sessions: measured at a third less.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return ort.InferenceSession(str(path), options, providers=providers)
    except _RUNTIME_ERRORS as error:
        raise BundleError(
            f"{path} cannot be read as a network ({_first_line(error)}): the bundle is damaged; export it again."
        ) from error


@cache
def _limit_memory() -> None:
    """Gives all networks of the process one memory of MOST_BYTES; shared, it is also less than one for each."""
    memory = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    ort.create_and_register_allocator(memory, ort.OrtArenaCfg(MOST_BYTES, -1, -1, -1))


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
