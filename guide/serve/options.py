"""What `python -m guide serve` can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from guide.errors import InputError
from guide.perceive.embedder import Device
from guide.recording import RecordingOptions
from guide.serve.limits import Limits
from guide.serve.picture import PictureLimits
from guide.settings import LiveSettings


@dataclass(frozen=True)
class ScaleOptions:
    """How large a fleet is."""

    ray: str | None = None
    """The address of the Ray cluster whose machines run the replicas, `auto` for the one of this machine; without it
    one is started here and ends with the command."""
    replicas: int = 2
    """The smallest number of replicas."""
    most_replicas: int = 0
    """The largest number of replicas, started when there are enough sessions; 0 means as many as --replicas."""
    sessions_per_replica: int = 12
    """Sessions per replica above which another replica is started."""
    gpus: float = 0.0
    """GPUs per replica; may be a fraction."""

    def __post_init__(self) -> None:
        if self.replicas < 1 or self.sessions_per_replica < 1:
            raise InputError(f"at least one replica and one session for it were expected, got {self}.")
        if not 0 <= self.gpus <= 64 or (self.gpus > 1 and self.gpus % 1):
            raise InputError(f"--gpus is a fraction of one GPU or a whole number up to 64, got {self.gpus}.")
        if self.most_replicas and self.most_replicas < self.replicas:
            raise InputError(f"--most-replicas {self.most_replicas} is fewer than --replicas {self.replicas}.")


@dataclass(frozen=True)
class ServeOptions:
    """Serve headsets, phones and dashboards: frames in, guidance out."""

    bundle: Path = Path("exported/demo")
    """The learned bundle; clients may also choose those beside it."""
    host: str = "127.0.0.1"
    """The address to listen on: by default this machine only; 0.0.0.0 admits the network."""
    port: int = 8765
    """The port; 0 takes a free one."""
    token: str | None = None
    """The server's own token, which permits everything (or set CNC_TOKEN); without it made anew at each start."""
    tls: Literal["off", "auto"] = "off"
    """auto makes a certificate, since browsers give their camera to HTTPS pages only."""
    certificate: Path | None = None
    """A certificate of your own (PEM), with --key."""
    key: Path | None = None
    """Its key."""
    local: bool = False
    """With TLS, also listen without it on a free port that only this machine reaches, for its dashboard."""
    note: Path | None = None
    """Write where the server listens, with its token, to this file for programs of this user; removed at the end."""
    end_with_input: bool = False
    """End when standard input ends, that is with the program that started this one, however that ends."""
    give_up_s: float = 60.0
    """A session ends when its client or camera has been gone for this long."""
    most_clients: int = 32
    """The largest number of clients at the same time; sessions may be twice as many."""
    most_rate: float = 15.0
    """Frames per second of one client; more are refused."""
    most_frame_mb: float = 4.0
    """The size of the largest frame that is accepted."""
    threads: int = 0
    """Threads for the networks; 0 uses every core; with --fleet one."""
    device: Device = "auto"
    """Where to compute: auto, cpu or cuda."""
    fleet: bool = False
    """Serve with replicas on a Ray cluster (extra `fleet`), for more headsets than one machine can hold."""
    scale: Annotated[ScaleOptions, tyro.conf.arg(name="")] = field(default_factory=ScaleOptions)
    """How large the fleet is."""
    live: Annotated[LiveSettings, tyro.conf.arg(name="")] = field(default_factory=LiveSettings)
    """How to recognise and when to speak."""
    recording: Annotated[RecordingOptions, tyro.conf.arg(name="")] = field(
        default_factory=lambda: RecordingOptions(record=True)
    )
    """What to keep of the sessions."""

    def __post_init__(self) -> None:
        if not 0 <= self.port < 65536:
            raise InputError(f"a port is a number up to 65535, 0 for a free one, got {self.port}.")
        if (self.certificate is None) != (self.key is None):
            raise InputError("a certificate needs its key and a key its certificate: give --certificate and --key.")
        if not 0 < self.most_frame_mb <= 64:
            raise InputError(f"frames of up to 64 MB can be taken, got {self.most_frame_mb}.")
        if self.fleet and self.device == "cuda" and not self.scale.gpus:
            raise InputError(
                "with --fleet, --device cuda needs a GPU or a share of one for each replica: add --gpus 1."
            )

    @property
    def limits(self) -> Limits:
        picture = PictureLimits(most_bytes=int(self.most_frame_mb * 2**20))
        # A client that was lost has its session kept for a while: that must not keep others out.
        return Limits(self.most_clients, 2 * self.most_clients, most_rate=self.most_rate, picture=picture)
