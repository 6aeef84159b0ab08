"""The exported networks of a bundle: which there are, how precise they are, and starting them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from guide.bundle import Bundle
from guide.errors import BundleError
from guide.manifest import is_list
from guide.perceive.embedder import Device, OnnxHead, OnnxTrunk, is_quick_in_half
from guide.settings import Precision

log = logging.getLogger(__name__)

LACKS: Mapping[Precision, str] = {
    "mixed": "no network in mixed precision, as only some backbones have: use --precision auto.",
    "int8": "no 8-bit network: use --precision auto, or learn it again from pictures with --quantize.",
}


@dataclass(frozen=True, slots=True)
class Networks:
    """The exported networks of a bundle, started once and shared by all sessions."""

    head: OnnxHead | None = None
    """Nothing where steps are not recognised, but marked as done by hand."""
    trunk: OnnxTrunk | None = None
    precision: Precision = "float"

    @property
    def provider(self) -> str:
        running = self.trunk or self.head
        return "nothing: steps are marked by hand" if running is None else running.provider

    @property
    def reason(self) -> str:
        """Why a wanted accelerator does not run them, or nothing."""
        return next((one.reason for one in (self.trunk, self.head) if one is not None and one.reason), "")


def start_networks(
    bundle: Bundle, device: Device = "auto", threads: int = 0, precision: Precision = "auto",
    trunk_type: type[OnnxTrunk] = OnnxTrunk, head_type: type[OnnxHead] = OnnxHead,
) -> Networks:  # fmt: skip
    """Loads the networks of a bundle as precise as asked for; a wanted accelerator that is not used is told."""
    if is_list(bundle):
        return Networks()
    used = choose_precision(bundle, device, precision)
    if not has_networks(bundle, used):
        raise BundleError(f"{bundle.folder} has {LACKS[used]}")
    trunk = None
    if bundle.has("trunk.onnx"):
        trunk = trunk_type(bundle.path(network_name("trunk.onnx", used)), device, threads)
    # The head is one product of matrices, a hundredth of the trunk's time: it is always whole.
    networks = Networks(head_type(bundle.path("head.onnx"), device, threads), trunk, used)
    if networks.reason:
        log.warning("%s", networks.reason)  # once for all networks: they share one fate
    return networks


def network_name(name: str, precision: Precision) -> str:
    """The file of a network's variant.

    >>> network_name("trunk.onnx", "int8"), network_name("trunk.onnx", "float")
    ('trunk.int8.onnx', 'trunk.onnx')
    """
    return name if precision == "float" else f"{name.removesuffix('.onnx')}.{precision}.onnx"


def choose_precision(bundle: Bundle, device: Device, wanted: Precision) -> Precision:
    """What `auto` comes to: mixed where the trunk runs on a processor that computes in half precision."""
    if wanted != "auto":
        return wanted
    return "mixed" if has_networks(bundle, "mixed") and is_quick_in_half(device) else "float"


def has_networks(bundle: Bundle, precision: Precision) -> bool:
    """Whether a bundle can run so precisely; one of features has no trunk that could be anything but whole."""
    return precision == "float" or (bundle.has("trunk.onnx") and bundle.has(network_name("trunk.onnx", precision)))
