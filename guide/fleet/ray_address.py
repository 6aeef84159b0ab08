"""The address of a Ray cluster, found and tried before Ray is, which would try for many minutes; what to say of one."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Final

from guide.errors import InputError

ANSWER_S: Final = 10.0  # by when a cluster takes a connection


def find_cluster(address: str) -> str:
    """The cluster at HOST:PORT, or with `auto` the one this machine belongs to; raises InputError where none answers.

    >>> find_cluster("nonsense")
    Traceback (most recent call last):
    ...
    guide.errors.InputError: --ray takes auto, or HOST:PORT of a Ray cluster such as 10.0.0.1:6379, but nothing \
answers at nonsense (no HOST:PORT): look at ray status there.
    """
    place = _own_cluster() if address == "auto" else address
    host, colon, port = place.rpartition(":")
    try:
        if not colon or not port.isdecimal():
            raise OSError("no HOST:PORT")
        socket.create_connection((host, int(port)), ANSWER_S).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"--ray takes auto, or HOST:PORT of a Ray cluster such as 10.0.0.1:6379, but nothing answers at {place} "
            f"({error}): look at ray status there."
        ) from error
    return place


def refusal(place: str, cause: Exception) -> InputError:
    """What is said of a cluster that Ray cannot join."""
    words = " ".join(str(cause).split())
    return InputError(
        f"the Ray cluster at {place} cannot be joined ({words:.160}): RAY_AUTH_MODE and RAY_AUTH_TOKEN must be those "
        "it was started with, and this machine one of its nodes (ray start --address HOST:PORT)."
    )


def _own_cluster() -> str:
    """The cluster that this machine was last made part of; Ray itself would take any that runs here, whoever's."""
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"
    try:
        found = os.environ.get("RAY_ADDRESS") or (Path(folder) / "ray" / "ray_current_cluster").read_text().strip()
    except OSError:
        found = ""
    if not found:
        raise InputError(
            "--ray auto takes the Ray cluster that this machine belongs to, but it belongs to none: start a node here "
            "with ray start, or give HOST:PORT."
        )
    return found
