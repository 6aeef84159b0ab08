"""The site: it builds strictly, needs nothing from elsewhere, and its reference pages hold what the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from site_build.from_code import MARK, PARTS, help_of
from tests.test_docs import ROOT

TOLD_ELSEWHERE = {"CNC_JOB_LOCK", "CNC_FUZZ"}  # one is for a process of ours alone, one for the tests


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(place), strict=True))
    return place


def text_of(site: Path, page: str) -> str:
    return (site / page).read_text(encoding="utf-8")


def test_every_document_is_a_page_and_every_page_is_in_the_navigation(site: Path) -> None:
    pages = {path.relative_to(site).with_suffix(".md").as_posix() for path in site.rglob("*.html")} - {"404.md"}
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages == written | {"index.md", "changelog.md", "contributing.md", "reporting.md"}


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    fetched = re.compile(r"<(?:script|img|link|iframe|source)\b[^>]*(?:src|href)=[\"']?(?:https?:)?//", re.IGNORECASE)
    styles = re.compile(r"(?:@import|url\()\s*[\"']?(?:https?:)?//")
    assert [path.name for path in site.rglob("*.html") if fetched.search(path.read_text(encoding="utf-8"))] == []
    assert [path.name for path in site.rglob("*.css") if styles.search(path.read_text(encoding="utf-8"))] == []


def test_equations_are_drawn_by_the_browser(site: Path) -> None:
    text = text_of(site, "method.html")
    assert text.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"') > 3
    assert "arithmatex" not in text
    assert "<span>(5)</span>" in text


def test_reference_pages_hold_what_the_code_has(site: Path) -> None:
    commands, study = text_of(site, "reference/commands.html"), text_of(site, "reference/study.html")
    assert "usage: python -m guide watch" in commands
    assert "usage: python -m offline.train" in commands
    assert "usage: python -m offline.study.trial" in study
    assert "guide_frame_age_seconds" in text_of(site, "reference/metrics.html")
    assert "<code>window_s</code>" in text_of(site, "reference/settings.html")


def test_every_part_from_the_code_stands_on_one_page() -> None:
    found = [name for path in (ROOT / "docs").rglob("*.md") for name in MARK.findall(path.read_text(encoding="utf-8"))]
    assert sorted(found) == sorted(PARTS)


def test_every_environment_variable_is_told() -> None:
    told = set(re.findall(r"CNC_[A-Z_]*[A-Z]", (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")))
    code = (path for folder in ("guide", "offline") for path in (ROOT / folder).rglob("*.py"))
    used = {name for path in code for name in re.findall(r"CNC_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8"))}
    assert told == used - TOLD_ELSEWHERE


def test_every_setting_has_words() -> None:
    for part in ("live_settings", "recipe"):
        assert not re.search(r"\|\s*\|$", PARTS[part](), re.MULTILINE)


@pytest.mark.parametrize("link", ["no-such-page.md", "other.md#no-such-heading", "#nothing"])
def test_a_link_that_leads_nowhere_ends_the_build(tmp_path: Path, link: str) -> None:
    """With the project's own settings, but for what is left out: hooks, and pages that are not there."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text(f"# One\n\n[there]({link})\n")
    (docs / "other.md").write_text("# Other\n")
    config = load_config(
        str(ROOT / "mkdocs.yml"), docs_dir=str(docs), site_dir=str(tmp_path / "site"), strict=True, hooks=[], nav=None,
        theme={"name": "mkdocs"}, plugins=[], extra_css=[], markdown_extensions=[],
    )  # fmt: skip
    with pytest.raises(Abort):
        build(config)


def test_help_is_plain_text() -> None:
    class Options:
        """What it does."""

        def __init__(self, count: int = 3) -> None: ...

    said = help_of(Options, "python -m x")
    assert said.startswith("usage: python -m x")
    assert "\x1b" not in said
