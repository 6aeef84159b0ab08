"""The documents: links lead somewhere, commands exist, nothing is left to fill in, every dependency has its line."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from guide import __version__

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "exported" / "README.md"])
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MODULE = re.compile(r"python3? -m ([A-Za-z_][\w.]*\w)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def anchors(text: str) -> set[str]:
    """The anchors of a document's headings, as they are made from the words."""
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(FENCED.sub("", text)))
    return {heading.strip().replace(" ", "-") for heading in words}


def dependencies() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    return [re.split(r"[\s<>=!~;\[]", line, maxsplit=1)[0] for line in lines]


def test_the_documents_that_must_be_there_are() -> None:
    wanted = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "exported/README.md"}
    wanted |= {f"docs/{word}.md" for word in ("architecture", "method", "dependencies", "results")}
    assert wanted <= {name(path) for path in DOCUMENTS}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for link in LINK.findall(FENCED.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        target = (path.parent / place).resolve() if place else path
        assert target.is_relative_to(ROOT), f"{link} leads outside the project"
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{link}: no such heading"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_command_named_is_a_module_that_runs(path: Path) -> None:
    for module in set(MODULE.findall(path.read_text(encoding="utf-8"))):
        spec = importlib.util.find_spec(module)
        assert spec is not None, f"python -m {module}: no such module"
        if spec.submodule_search_locations is not None:
            assert importlib.util.find_spec(f"{module}.__main__") is not None, f"python -m {module} cannot be run"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_no_figure_is_left_to_fill_in(path: Path) -> None:
    assert re.findall(r"\{\{.*?\}\}", path.read_text(encoding="utf-8")) == []


def test_every_dependency_has_one_line_and_no_other_has() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| ([A-Za-z][\w\-]*) \|", text, re.MULTILINE)
    assert sorted(word for word in told if word != "package") == sorted(dependencies())


def test_anchors_are_made_as_a_reader_expects() -> None:
    text = "# Why headless OpenCV, why GPL\n```\n# no heading\n```\n## Caches and runs\n"
    assert anchors(text) == {"why-headless-opencv-why-gpl", "caches-and-runs"}


def test_every_test_that_the_threat_table_names_is_there() -> None:
    told = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "security.md").read_text(encoding="utf-8")))
    found = {one for path in ROOT.glob("tests/**/test_*.py") for one in re.findall(r"def (test_\w+)", path.read_text())}
    assert len(told) > 20
    assert told <= found


def test_citation_and_changelog_know_the_version() -> None:
    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {__version__} - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
