"""Equations as MathML, which browsers draw by themselves: no script and no font has to be fetched."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
TAG = re.compile(r"\\tag\{(\w+)\}")


def on_page_content(content: str, **_: Any) -> str:
    return INLINE.sub(_inline, BLOCK.sub(_block, content))


def _inline(match: re.Match[str]) -> str:
    return str(convert(html.unescape(match[1])))


def _block(match: re.Match[str]) -> str:
    """An equation on a line of its own, its number behind it.

    >>> _block(BLOCK.match('<div class="arithmatex">\\\\[a \\\\tag{1}\\\\]</div>'))[-20:]
    '<span>(1)</span></p>'
    """
    latex = html.unescape(match[1])
    number = "".join(f"<span>({tag})</span>" for tag in TAG.findall(latex))
    return f'<p class="equation">{convert(TAG.sub("", latex), display="block")}{number}</p>'
