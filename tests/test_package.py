"""Wheel and sdist: what they hold, and whether what they ask for is all that they need.

New environments hold links to the files of just those packages that the wheel's metadata asks for, and of what these
ask for in turn: as if pip had installed them, in a second. `make wheel-test` lets pip do it.
"""

from __future__ import annotations

import sys
import sysconfig
import tarfile
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.installed import ROOT, build, ran, try_out
from tests.tiny import Learned


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.mark.parametrize("extra", ["", "train"])
def test_an_installed_wheel_checks_a_bundle(
    built: dict[str, Path], frames_task: Learned, tmp_path: Path, extra: str
) -> None:
    folder = tmp_path / "environment"
    ran(sys.executable, "-m", "venv", "--without-pip", str(folder), at=tmp_path)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder / "bin" / "python"))
    ran(*pip, "install", "--no-index", "--no-deps", str(built["wheel"]), at=tmp_path)
    library = folder / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    link_needed(Distribution.at(next(library.glob("cnc_guide-*.dist-info"))), extra, library)
    assert (library / "torch").exists() == (extra == "train")
    ran(*pip, "check", at=tmp_path)
    try_out(folder, frames_task.folder, tmp_path, extra)


def link_needed(dist: Distribution, extra: str, library: Path) -> None:
    """Links the files of all that `dist` needs, and of what that needs in turn, into the library."""
    waiting, seen = [(dist, extra)], {("cnc-guide", extra)}
    while waiting:
        one, chosen = waiting.pop()
        for requirement in map(Requirement, one.requires or ()):
            if requirement.marker and not requirement.marker.evaluate({"extra": chosen}):
                continue
            for further in ("", *requirement.extras):
                if (key := (canonicalize_name(requirement.name), further)) not in seen:
                    seen.add(key)
                    needed = distribution(requirement.name)
                    waiting.append((needed, further))
                    _link(needed, library)


def _link(dist: Distribution, library: Path) -> None:
    for file in dist.files or ():
        target = library / file
        if ".." not in file.parts and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(Path(str(dist.locate_file(file))))


def test_the_wheel_holds_both_packages_and_nothing_else(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = wheel.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"guide", "offline", "cnc_guide"}
    assert not [name for name in names if name.startswith("offline/study") or "site_build" in name]
    assert {"guide/serve/page/page.js", "guide/ui/live.css", "guide/ui/film.html"} <= set(names)


def test_the_sdist_gives_the_same_wheel(built: dict[str, Path], tmp_path: Path) -> None:
    with tarfile.open(built["sdist"]) as archive:
        archive.extractall(tmp_path, filter="data")
    source = next(tmp_path.iterdir())
    assert (source / "docs" / "tutorial.md").is_file()
    again = build(source, tmp_path / "dist", ("wheel",))["wheel"]
    with zipfile.ZipFile(built["wheel"]) as one, zipfile.ZipFile(again) as other:
        assert {(file.filename, file.CRC) for file in one.infolist()} == {
            (file.filename, file.CRC) for file in other.infolist()
        }
