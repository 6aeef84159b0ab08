"""Settings: the preset, then the file, then the command line; what is no setting is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from guide.errors import InputError
from offline.config import PRESETS, resolve


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text('loss = "tcc"\nfps = 3\nk = "auto"\n')
    return path


def test_the_command_line_overrules_the_file_and_the_file_the_preset(file: Path) -> None:
    recipe = resolve("default", file, {"fps": 4.0, "loss": None, "backbone": None})
    assert recipe == replace(PRESETS["default"], loss="tcc", fps=4.0, k="auto")


def test_without_file_and_overrides_the_preset_stands() -> None:
    assert resolve("paper", None, {}) == PRESETS["paper"]


def test_the_paper_weighs_tc3i_its_own_way() -> None:
    """Ours asks TCC only about frames with a close counterpart, and weighs C-IDM more: docs/departures.md says why."""
    ours, papers = PRESETS["default"], PRESETS["paper"]
    assert (ours.loss, ours.xi, ours.trust, ours.heads) == ("tc3i", 3.0, "close", 5)
    assert (papers.loss, papers.xi, papers.trust, papers.heads) == ("tc3i", 1.0, "all", 1)


def test_every_preset_passes_its_own_checks() -> None:
    for name, recipe in PRESETS.items():
        values = {field: getattr(recipe, field) for field in recipe.__dataclass_fields__}
        assert resolve(name, None, values) == recipe  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("k = 0", "sets k to 0"),
        ("k = true", "sets k to True"),
        ('k = "many"', "sets k to 'many'"),
        ("fps = -1", "sets fps to -1"),
        ("fps = 0", "sets fps to 0, a number above 0 was expected"),
        ('backbone = "vgg"', "one of efficientnet_lite0, resnet50"),
        ("fps = nan", "sets fps to nan"),
        ('fps = "5"', "sets fps to '5'"),
        ("batch_videos = 2.5", "sets batch_videos to 2.5"),
        ("most_iterations = 0", "sets most_iterations to 0"),
        ("fuzzifier = 1.0", "sets fuzzifier to 1.0"),
        ("dropout = 1", "sets dropout to 1, a number from 0 to below 1 was expected"),
        ("dropout = -0.1", "sets dropout to -0.1, a number from 0 to below 1 was expected"),
        ("pool = 15", "sets pool to 15, a whole number from 1 to 14 was expected"),
        ("pool = 0", "sets pool to 0, a whole number from 1 to 14 was expected"),
        ("head_width = 100000", "a whole number from 1 to 8192 was expected"),
        ("bottleneck = 100000", "a whole number from 0 to 8192 was expected"),
        ('head = "square"', "one of conv, pooled was expected"),
        ('loss = "hinge"', "one of tc3i"),
        ('clusterer = "dice"', "one of random"),
        ('trust = "some"', "one of all, close was expected"),
        ("colour = 1", "sets 'colour', which is no setting"),
        ("k = ", "is no readable TOML file"),
    ],
)
def test_what_cannot_be_is_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(line)
    with pytest.raises(InputError) as told:
        resolve("default", path, {})
    assert words in str(told.value)
    assert str(path) in str(told.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no readable TOML file"):
        resolve("default", tmp_path / "none.toml", {})


def test_a_whole_number_does_for_a_fraction(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("fps = 3\nbottleneck = 0\n")
    assert resolve("default", path, {}).fps == 3


def test_the_largest_values_allowed_pass() -> None:
    recipe = resolve("default", None, {"dropout": 0.99, "pool": 14, "bottleneck": 8192})
    assert (recipe.dropout, recipe.pool, recipe.bottleneck) == (0.99, 14, 8192)
