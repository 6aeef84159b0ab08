"""Where a command's tasks are done: on this machine, or on a Ray cluster whose machines can do the work of this one."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import guide
import offline
from guide.errors import InputError
from offline.executor import Back, Here, Processes

if TYPE_CHECKING:
    from offline.ray_back import Device, RayBack


def open_back(workers: int, ray: str | None, shared: Path) -> Back:
    """So many processes of this machine, for one worker this process itself; or the Ray cluster at an address."""
    if ray is not None:
        return join_cluster(ray, shared)
    return Here() if workers == 1 else Processes(workers)


def join_cluster(address: str, shared: Path, device: Device = "auto") -> RayBack:
    """The Ray cluster at an address, whose machines all see the folder `shared`; raises InputError where not."""
    require_ray()
    from offline.ray_back import RayBack  # here: one machine needs no Ray

    shared.mkdir(parents=True, exist_ok=True)
    back = RayBack(address, device)
    try:
        with tempfile.NamedTemporaryFile(dir=shared.resolve(), prefix=".shared-") as mark:
            require_shared(back, [Path(mark.name)], shared.resolve())
    except BaseException:
        back.close()
        raise
    return back


def require_ray() -> None:
    """Raises InputError where Ray is not installed."""
    if find_spec("ray") is None:
        raise InputError(
            "a Ray cluster needs the package ray, which is not installed: install the project with its extra fleet "
            "(pip install -e '.[fleet]'), or leave --ray out."
        )


def require_shared(back: RayBack, paths: Sequence[Path], folder: Path) -> None:
    """Raises InputError where a machine has other code, cannot read a path or cannot write to the folder."""
    for machine, lack in back.on_each_node(partial(_lack, _code_hash(), paths, folder)).items():
        if lack:
            raise InputError(f"the machine {machine} of the Ray cluster {lack}")


def _lack(code: str, paths: Sequence[Path], folder: Path) -> str:
    """What this machine lacks to do the work of one with that code and these files; nothing where it lacks nothing."""
    unread = [path for path in paths if not os.access(path, os.R_OK)]
    if _code_hash() != code:
        return "has other code of this program: install the same version on all machines."
    if unread or not os.access(folder, os.W_OK):
        what = f"read {unread[0]}" if unread else f"write to {folder}"
        return f"cannot {what}: recordings and --cache must lie in a folder that all machines have under the same path."
    return ""


def _code_hash() -> str:
    """A hash of all code of this program: other code may give another bundle."""
    digest = hashlib.sha256()
    for root in (Path(guide.__file__).parent, Path(offline.__file__).parent):
        for path in sorted(root.rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()
