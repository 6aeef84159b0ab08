"""Checks of options: the limits themselves pass."""

from __future__ import annotations

import pytest

from guide.errors import InputError
from offline.study.checks import require_from, require_workers


def test_what_is_allowed_passes() -> None:
    require_from("each", 1, 1)
    require_workers(1)
    require_workers(256)


@pytest.mark.parametrize(
    ("workers", "words"),
    [(0, "--workers is a whole number from 1 up, got 0: give a larger one."),
     (257, "--workers is at most 256, got 257: give fewer.")],
)  # fmt: skip
def test_anything_else_gets_one_sentence(workers: int, words: str) -> None:
    with pytest.raises(InputError) as caught:
        require_workers(workers)
    assert str(caught.value) == words
