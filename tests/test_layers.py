"""Who may import whom: read from the source for every module, and tried in a fresh process."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("ingest", "perceive", "label", "procedure", "record", "teach", "serve", "fleet", "ui")
GROUND = ("domain", "errors", "bundle", "fading", "words", "validation", "whole_file", "memory_limit")
SHARED = ("guide", *(f"guide.{name}" for name in GROUND))
ABOVE_ROOMS = ("teach", "ui", "serve", "fleet")  # these look at everything below them, like the commands
FORBIDDEN_LIVE = ("torch", "torchvision", "skfuzzy", "onnx", "onnxscript", "offline")
HOMES = {  # a heavy library and the only files that may import it
    "maxflow": ("guide/label/cut.py", "offline/study/benchmarks/naive_procut.py"),
    "onnxruntime": ("guide/perceive/embedder.py", "offline/quantize.py"),
    "streamlit": ("guide/ui/", "streamlit_app.py"),
    "prometheus_client": ("guide/serve/metrics.py",),
    "sqlite3": ("guide/record/sqlite.py",),
    "psycopg": ("guide/record/postgres.py",),
    "fsspec": ("guide/record/picture_address.py",),
    "ray": ("guide/fleet/cluster.py", "offline/ray_back.py", "offline/study/benchmarks/ray_nodes.py"),
}

NEEDS_RAY = ("offline.ray_back", "offline.study.benchmarks.ray_nodes")


def modules() -> list[Path]:
    """Every file of ours that is imported or run, relative to the root."""
    found = [*ROOT.glob("guide/**/*.py"), *ROOT.glob("offline/**/*.py"), ROOT / "streamlit_app.py"]
    return sorted(path.relative_to(ROOT) for path in found if path.exists())


def imports(path: Path) -> set[str]:
    """The modules a file names in its imports, inside functions too; relative ones spelt out."""
    package = path.with_suffix("").parts[:-1]
    names: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*start, *([node.module] if node.module else [])])
            names |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return names


def is_inside(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def room_of(path: Path) -> str | None:
    return path.parts[1] if path.parts[0] == "guide" and path.parts[1] in ROOMS else None


@pytest.mark.parametrize("path", [path for path in modules() if path.parts[0] == "guide"], ids=str)
def test_the_live_side_never_names_the_workshop(path: Path) -> None:
    assert not [name for name in imports(path) for package in FORBIDDEN_LIVE if is_inside(name, package)]


@pytest.mark.parametrize("path", [path for path in modules() if room_of(path)], ids=str)
def test_a_room_imports_no_other_room(path: Path) -> None:
    room = room_of(path)
    if room in ABOVE_ROOMS:
        return
    ours = {name for name in imports(path) if is_inside(name, "guide")}
    allowed = (*SHARED, f"guide.{room}")
    strange = {name for name in ours if not any(name == one or is_inside(name, one) for one in allowed[1:])} - {"guide"}
    assert not strange


@pytest.mark.parametrize("path", [path for path in modules() if room_of(path) == "teach"], ids=str)
def test_teaching_knows_neither_pages_nor_servers(path: Path) -> None:
    assert not [name for name in imports(path) if is_inside(name, "guide.ui") or is_inside(name, "guide.serve")]


@pytest.mark.parametrize("name", GROUND)
def test_the_ground_floor_imports_nothing_above_it(name: str) -> None:
    below = ("guide.errors", "guide.domain") if name == "bundle" else ()
    ours = {one for one in imports(Path("guide") / f"{name}.py") if is_inside(one, "guide")} - {"guide"}
    assert not [one for one in ours if not any(is_inside(one, package) for package in below)]


@pytest.mark.parametrize("path", [path for path in modules() if room_of(path)], ids=str)
def test_no_room_knows_a_command(path: Path) -> None:
    if room_of(path) != "ui":  # its pages start and name commands
        assert not [name for name in imports(path) if is_inside(name, "guide.commands")]


@pytest.mark.parametrize("path", [path for path in modules() if path.parts[0] == "offline"], ids=str)
def test_learning_never_needs_what_judges_it(path: Path) -> None:
    if path.parts[1] != "study":
        assert not [name for name in imports(path) if is_inside(name, "offline.study")]


@pytest.mark.parametrize("library", HOMES)
def test_a_heavy_library_has_one_home(library: str) -> None:
    users = [path.as_posix() for path in modules() if any(is_inside(name, library) for name in imports(path))]
    assert [user for user in users if not user.startswith(HOMES[library])] == []


def test_importing_every_live_module_loads_nothing_of_the_workshop() -> None:
    live = [path for path in modules() if path.parts[0] == "guide" and "ui" not in path.parts]
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in live]
    program = (
        "import importlib, sys\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(name)\n"
        f"loaded = [name for name in {(*FORBIDDEN_LIVE, 'streamlit')!r} if name in sys.modules]\n"
        "sys.exit(f'loaded {loaded}' if loaded else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_without_the_extra_fleet_everything_but_rays_home_is_imported() -> None:
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in modules()]
    program = (
        "import importlib, sys\n"
        "sys.modules.update(dict.fromkeys(('ray', 'psycopg', 'fsspec')))\n"
        f"for name in {[name for name in names if name not in NEEDS_RAY]!r}:\n"
        "    importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("room", ["label", "perceive", "procedure", "ingest"])
def test_importing_a_room_loads_no_other_room(room: str) -> None:
    names = [
        ".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in modules() if room_of(path) == room
    ]
    others = [other for other in ROOMS if other != room]
    program = (
        "import importlib, sys\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(name)\n"
        f"loaded = [name for name in {others!r} if f'guide.{{name}}' in sys.modules]\n"
        "sys.exit(f'loaded {loaded}' if loaded else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
