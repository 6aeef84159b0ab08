"""README, CHANGELOG and the like as pages of the site; they stay in the root, where people look for them."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "reporting.md",
}
LINK = re.compile(r"\]\(([^()\s#]+)((?:#[^()\s]*)?)\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages of the root."""
    root = Path(config.config_file_path).parent
    for name, page in PAGES.items():
        text = moved_links((root / name).read_text(encoding="utf-8"), name, "")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links of the pages in docs/ to those of the root lead to where these stand in the site."""
    source = page.file.src_uri
    return markdown if source in PAGES.values() else moved_links(markdown, f"docs/{source}", posixpath.dirname(source))


def moved_links(text: str, source: str, folder: str) -> str:
    """The text with its links as they must be in the site.

    `source` is the file in the project, `folder` that of its page in the site. What is no page of the site, such as a
    file of the code, is named without a link.

    >>> moved_links("[m](docs/method.md#a), [c](CHANGELOG.md), [code](guide/bundle.py)", "README.md", "")
    '[m](method.md#a), [c](changelog.md), code'
    """

    def move(match: re.Match[str]) -> str:
        target, anchor = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if place in PAGES:
            place = PAGES[place]
        elif place.startswith("docs/"):
            place = place.removeprefix("docs/")
        else:
            return "]()"
        return f"]({posixpath.relpath(place, folder or '.')}{anchor})"

    return re.sub(r"(?<!!)\[([^\]\[]*)\]\(\)", r"\1", LINK.sub(move, text))
