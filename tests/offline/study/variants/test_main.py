from random import Random

import pytest

from guide.errors import InputError
from offline.study.variants.__main__ import ANY, OURS, PLAIN, Config, run, try_world
from offline.study.variants.world import Shape, make_world

ONE = Shape((6, 6), (1, 1), ())


def test_a_world_without_variants_is_scored() -> None:
    tried = try_world(make_world(ONE, Random(1)), demonstrations=6, rate=0.2, seed=1)
    ours = tried[OURS]
    assert 0 < ours.right_flags <= ours.flags
    assert 0 < sum(ours.found.values()) <= sum(ours.planted.values())
    assert sum(tried["never flag"].found.values()) == 0
    assert tried[PLAIN].flags <= tried[ANY].flags, "what the plain rule finds is new"
    assert tried == try_world(make_world(ONE, Random(1)), 6, 0.2, 1)


def test_the_table_has_a_row_for_each_number(capsys: pytest.CaptureFixture[str]) -> None:
    run(Config(seeds=1, demonstrations=(2, 3)))
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert [number for row in rows if (number := row.split("│")[1].strip())] == ["2", "3"]


def test_no_worlds_are_refused() -> None:
    with pytest.raises(InputError, match="from 1 up"):
        run(Config(seeds=0))


def test_an_unknown_shape_is_refused() -> None:
    with pytest.raises(InputError, match="mixed, toys, tent"):
        run(Config(shape="round"))
