"""Worlds as the command line names them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.errors import InputError
from offline.study.trial.seeds import MOST_WORLDS, read_seeds


@settings(derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 20)), min_size=1, max_size=5))
def test_ranges_are_written_out_and_each_seed_comes_once(ranges: list[tuple[int, int]]) -> None:
    text = " , ".join(f"{first}-{first + more}" if more else str(first) for first, more in ranges)
    written_out = [seed for first, more in ranges for seed in range(first, first + more + 1)]
    assert read_seeds(text, "--seed") == list(dict.fromkeys(written_out))


def test_as_many_as_are_allowed() -> None:
    assert len(read_seeds(f"1-{MOST_WORLDS}", "--seed")) == MOST_WORLDS


@pytest.mark.parametrize(
    "text",
    [
        "", ",", "1,", "some", "-1", "5-3", "1.5", "1;2", "1-2-3", "²", "٣", f"0-{MOST_WORLDS}",
        f"0-{MOST_WORLDS - 1},5000", "9" * 5000,
    ],
)  # fmt: skip
def test_anything_else_gets_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"--drawn takes at most 1000 worlds, whole numbers from 0 up and ranges"):
        read_seeds(text, "--drawn")
