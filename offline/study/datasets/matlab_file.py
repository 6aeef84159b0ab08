"""MATLAB files of version 5 to 7: tables of numbers, texts, and cells of these.

scipy reads them in a process of its own, bounded in memory and time: a damaged file can crash it.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec import msgpack
from numpy.typing import NDArray
from scipy.io import loadmat

from guide.errors import InputError
from guide.memory_limit import limit_memory

Value: TypeAlias = "NDArray[np.float64] | str | list[Value] | None"
"""A table (column by column as MATLAB counts), a text, cells as a list, or None for what is not read (structures)."""

LARGEST_BYTES: Final = 256 * 2**20
MEMORY_BYTES: Final = 4 * LARGEST_BYTES  # what reading may take: the file, its content, and both packed
LONGEST_S: Final = 60.0


def read_matlab(path: Path) -> dict[str, Value]:
    """The variables of a file by name; raises InputError where it is no such file or damaged."""
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            head = stream.read(128)
    except OSError as error:
        raise InputError(f"{path} should be a MATLAB file and cannot be read ({error.strerror}).") from error
    if size > LARGEST_BYTES:
        raise InputError(f"{path} is larger than {LARGEST_BYTES // 2**20} MB, no file of labels is: check it.")
    if head[:10] == b"MATLAB 7.3" or head[124:126] in {b"\x00\x02", b"\x02\x00"}:
        raise InputError(f"{path} is of MATLAB's newest form, which is not read: save it with -v7.")
    found = _read_apart(path) if head[126:] in {b"IM", b"MI"} else "its first bytes are another's"
    if isinstance(found, str):
        raise InputError(f"{path} should be a MATLAB file and cannot be read ({found}): fetch it again.")
    return {name: _unpacked(value) for name, value in found.items()}


def _read_apart(path: Path) -> dict[str, Any] | str:
    """The packed variables, or what is wrong."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__])
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(sender, path, MEMORY_BYTES), daemon=True)
    child.start()
    sender.close()
    try:
        answer = receiver.recv_bytes(LARGEST_BYTES) if receiver.poll(LONGEST_S) else b""
        return msgpack.decode(answer, type=dict[str, Any] | str) if answer else "reading it takes too long"
    except EOFError:
        return "the reader crashed"
    except OSError:
        return "its content grows too large"
    finally:
        child.kill()
        child.join()
        receiver.close()


def _send(sender: Connection, path: Path, memory_bytes: int) -> None:
    """In the process apart: sends the variables, or what scipy says of the damage."""
    limit_memory(memory_bytes)
    try:
        content = loadmat(path, verify_compressed_data_integrity=True)
        answer = msgpack.encode({name: _packed(value) for name, value in content.items() if name[:2] != "__"})
    except Exception as error:  # damage shows as almost any
        answer = msgpack.encode(f"{error!r:.200}")
    sender.send_bytes(answer)


def _packed(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "OUbiuf":
        return None
    if value.dtype.kind == "O":
        return [_packed(one) for one in value.ravel(order="F")]
    if value.dtype.kind == "U":
        return "".join(value.ravel())
    return {"shape": value.shape, "numbers": value.astype(np.float64).tobytes()}


def _unpacked(value: Any) -> Value:
    if isinstance(value, list):
        return [_unpacked(one) for one in value]
    if isinstance(value, dict):
        return np.frombuffer(value["numbers"]).reshape(value["shape"])
    return str(value) if value is not None else None
