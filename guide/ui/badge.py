"""A step as a badge in its own colour, the same on every page: HTML, whatever the step is called."""

from __future__ import annotations

from html import escape


def badge(label: str, colour: str) -> str:
    """The badge; `colour` is one of ours, `label` may be anything.

    >>> badge("1 <b>fold</b>", "#5ea2ed")
    '<span class="guide-badge" style="background: #5ea2ed">1 &lt;b&gt;fold&lt;/b&gt;</span>'
    """
    return f'<span class="guide-badge" style="background: {colour}">{escape(" ".join(label.split()))}</span>'
