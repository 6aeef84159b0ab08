"""Bundles and label files changed at random, opened as the programs open them: python -m tests.fuzz_files BUNDLE COUNT.

A process of its own, for a network that is spoilt may take the process with it. It ends with 0 and one line where every
input was either used or refused in a sentence, nothing outside its folder was written, and memory stayed below 1 GB.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from guide.benchmarks.figures import peak_mb
from guide.bundle import Bundle, read_bundle, write_manifest
from guide.domain import Frame
from guide.errors import GuideError
from guide.networks import start_networks
from guide.record.elan import Annotation, Tier, write_elan
from guide.session import Session, follow
from guide.settings import LiveSettings
from guide.teach.annotations import read_labels
from guide.teach.reading import read_demonstrations

MOST_MB = 1000.0
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 1e308, 1e-308, 0.5, "", "x", "../../x", "\0", "1" * 999,
    [], {}, [[]], [None], {"a": 1},
)  # fmt: skip
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
LABELS = '0.000,1.250,"1 open"\n1.500,2.000,"2 close, well"\n2.000,9.5,"3 step 3"\n'


def spoil_bytes(data: bytes, chance: random.Random) -> bytes:
    """A few places changed, cut out or doubled."""
    spoilt = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        place, length = chance.randrange(len(spoilt) + 1), chance.choice((1, 1, 4, 8, 100, 3000))
        match chance.randrange(4):
            case 0:
                spoilt[place : place + length] = chance.randbytes(length)
            case 1:
                del spoilt[place : place + length]
            case 2:
                spoilt[place:place] = spoilt[place : place + length]
            case _:
                spoilt[place : place + 1] = chance.choice((b"\0", b"\xff", b"-", b"9", b'"', b",", b"\n", b"<", b"{"))
    return bytes(spoilt)


def spoil_json(data: bytes, chance: random.Random) -> bytes:
    """One value anywhere replaced, removed or renamed."""
    plain = json.loads(data)
    place: Any = plain
    while isinstance(place, dict | list) and place:
        key = chance.choice(list(place)) if isinstance(place, dict) else chance.randrange(len(place))
        if not isinstance(place[key], dict | list) or not place[key] or chance.random() < 0.2:
            match chance.randrange(4):
                case 0:
                    del place[key]
                case 1 if isinstance(place, dict):
                    place[str(chance.choice(ODD))] = place.pop(key)
                case _:
                    place[key] = chance.choice(ODD)
            break
        place = place[key]
    return json.dumps(plain).encode()


def spoil_arrays(data: bytes, chance: random.Random) -> bytes:
    """One array of another shape, kind or with numbers that are none."""
    with np.load(io.BytesIO(data)) as loaded:
        arrays = {name: loaded[name] for name in loaded.files}
    name = chance.choice(list(arrays))
    array = arrays[name]
    changes: list[Callable[[], Any]] = [
        lambda: array[..., :-1] if array.ndim else array, lambda: array.ravel(), lambda: array[None],
        lambda: array.astype(np.complex64), lambda: array.astype(str), lambda: np.full_like(array, -1),
        lambda: array * np.float32(1e30), lambda: np.where(array == array.flat[0], np.nan, array),
        lambda: np.zeros(0), lambda: np.repeat(array, 3, axis=0) if array.ndim else array,
    ]  # fmt: skip
    arrays[name] = chance.choice(changes)()
    if chance.random() < 0.2:
        del arrays[name]
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()


def spoil(name: str, data: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.6:
        if name.endswith(".json"):
            return spoil_json(data, chance)
        if name.endswith(".npz"):
            return spoil_arrays(data, chance)
    return spoil_bytes(data, chance)


class Opened:
    """A bundle that is spoilt a file at a time, and put right again."""

    def __init__(self, source: Path, place: Path) -> None:
        self._place = Path(shutil.copytree(source, place))
        self._facts = {key: value for key, value in read_bundle(place).facts.items() if key != "files"}
        self._whole = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
        self._networks = start_networks(read_bundle(place), "cpu", 1)

    def try_one(self, chance: random.Random) -> None:
        path = chance.choice(list(self._whole))
        name = path.relative_to(self._place).as_posix()
        spoilt = spoil(name, self._whole[path], chance)
        try:
            path.write_bytes(spoilt)
            if name != "manifest.json" and chance.random() < 0.8:
                write_manifest(self._place, self._facts)  # what a forger does
            self._use(read_bundle(self._place), name)
        finally:
            path.write_bytes(self._whole[path])
            (self._place / "manifest.json").write_bytes(self._whole[self._place / "manifest.json"])

    def _use(self, bundle: Bundle, name: str) -> None:
        networks = start_networks(bundle, "cpu", 1) if name.endswith(".onnx") else self._networks
        session = Session(bundle, networks, LiveSettings())
        image = np.zeros((48, 64, 3), np.uint8)
        for _ in follow((Frame(number, number / 5, image) for number in range(4)), session):
            pass
        read_demonstrations(bundle)


def try_labels(folder: Path, chance: random.Random) -> None:
    path = folder / chance.choice(("a.csv", "a.eaf"))
    if path.suffix == ".csv":
        path.write_text(LABELS, encoding="utf-8")
    else:
        write_elan(path, [Tier("steps", (Annotation(0.0, 2.0, "1 a"), Annotation(2.0, 3.0, "2 b")))])
    path.write_bytes(spoil_bytes(path.read_bytes(), chance))
    read_labels(path, chance.choice((None, 5.0)), lenient=chance.random() < 0.5)


def main(source: Path, count: int, seed: int = 0) -> int:
    written, ends = list[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        opened = Opened(source, folder / "bundle")

        def note(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING:
                written.append(str(arguments[0]))

        sys.addaudithook(note)
        for number in range(count):
            chance = random.Random(f"{seed}-{number}")
            kind = "bundle" if number % 2 else "labels"
            try:
                opened.try_one(chance) if number % 2 else try_labels(folder, chance)
                ends[f"{kind} used"] += 1
            except GuideError as error:
                ends[f"{kind} refused"] += 1
                if "\n" in str(error).strip():
                    sys.stdout.write(f"input {number}: more than one line: {error}\n")
                    return 1
            except Exception:
                sys.stdout.write(f"input {number} of seed {seed}:\n")
                raise
        outside = [one for one in written if not Path(one).resolve().is_relative_to(folder) and one != os.devnull]
    sys.stdout.write(f"{dict(ends)}, peak {peak_mb():.0f} MB, written outside: {outside[:3]}\n")
    return 0 if not outside and peak_mb() < MOST_MB else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0))
