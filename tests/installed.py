"""`make wheel-test`: wheel and sdist, each installed with all it needs into a new environment, check a bundle there.

`--extra train` installs that as well. Slow, and packages are fetched: tests/test_package.py is the quick way.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build(source: Path, place: Path, kinds: Sequence[str] = ("wheel", "sdist")) -> dict[str, Path]:
    """Wheel and sdist of a source tree, built by the environment's own hatchling: nothing is fetched."""
    targets = [part for kind in kinds for part in ("-t", kind)]
    ran(sys.executable, "-m", "hatchling", "build", *targets, "-d", str(place), at=source)
    endings = {"wheel": "*.whl", "sdist": "*.tar.gz"}
    return {kind: next(place.glob(endings[kind])) for kind in kinds}


def try_out(folder: Path, bundle: Path, at: Path, extra: str = "") -> None:
    """The commands that a new user types first, in the environment in `folder`; with `train` those of learning too."""
    for command in (["--version"], ["check", str(bundle)], ["show", str(bundle)]):
        ran(str(folder / "bin" / "guide"), *command, at=at)
    if extra == "train":
        ran(str(folder / "bin" / "python"), "-m", "offline.train", "--dry-run", at=at)
        ran(str(folder / "bin" / "python"), "-c", "import offline.export, offline.curves, skfuzzy, onnxscript", at=at)


def ran(*command: str, at: Path) -> str:
    """What a command printed; AssertionError with all of it where it failed."""
    place = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # else this tree would be run
    done = subprocess.run(command, cwd=at, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=place)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout


def main(extra: str) -> None:
    from tests.tiny import learn, write_task

    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        bundle = learn(write_task(place / "videos"), place).folder
        for kind, path in build(ROOT, place / "dist").items():
            folder = place / kind
            ran(sys.executable, "-m", "venv", str(folder), at=place)
            wanted = f"{path}[{extra}]" if extra else str(path)
            pip = (str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check")
            ran(*pip, "install", "-c", str(ROOT / "constraints.txt"), wanted, at=place)
            ran(*pip, "check", at=place)
            try_out(folder, bundle, place, extra)
            sys.stdout.write(f"{path.name}: installs into an empty environment and checks a bundle there\n")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extra", default="", help="an extra to install as well, such as train")
    main(parser.parse_args().extra)
