from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

from guide.errors import InputError
from offline.study.variants.__main__ import ANY, OURS, PLAIN, Config, run, try_world
from offline.study.variants.growth import HEIGHT
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


def test_the_picture_has_a_curve_for_each_measure_of_two_checkers(tmp_path: Path) -> None:
    run(Config(seeds=1, demonstrations=(2, 4, 8), picture=tmp_path / "growth.svg"))
    drawn = ElementTree.parse(tmp_path / "growth.svg").getroot()
    points = [
        [tuple(map(float, point.split(","))) for point in one.attrib["points"].split()]
        for one in drawn.iter("{http://www.w3.org/2000/svg}polyline")
    ]
    assert [len(one) for one in points] == [3] * 6
    for left, middle, right in (sorted(one) for one in points):
        assert middle[0] - left[0] == pytest.approx(right[0] - middle[0], abs=0.2), "doubling is a step of one width"
    assert all(0 <= y <= HEIGHT for one in points for _, y in one)


def test_no_worlds_are_refused() -> None:
    with pytest.raises(InputError, match="from 1 up"):
        run(Config(seeds=0))


def test_an_unknown_shape_is_refused() -> None:
    with pytest.raises(InputError, match="mixed, toys, tent"):
        run(Config(shape="round"))
