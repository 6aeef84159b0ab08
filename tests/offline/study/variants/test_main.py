from random import Random

import pytest

from guide.errors import InputError
from offline.study.variants.__main__ import Config, run, try_world
from offline.study.variants.world import make_world


def test_a_world_without_variants_is_scored() -> None:
    tried = try_world(make_world(6, 1, Random(1)), demonstrations=6, rate=0.2, seed=1)
    assert 0 < tried.right_flags <= tried.flags
    assert 0 < sum(tried.found.values()) <= sum(tried.planted.values())
    assert tried == try_world(make_world(6, 1, Random(1)), 6, 0.2, 1)


def test_the_table_has_a_row_for_each_number(capsys: pytest.CaptureFixture[str]) -> None:
    run(Config(seeds=1, demonstrations=(2, 3)))
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert [row.split("│")[1].strip() for row in rows] == ["2", "3"]


def test_no_worlds_are_refused() -> None:
    with pytest.raises(InputError, match="from 1 up"):
        run(Config(seeds=0))
