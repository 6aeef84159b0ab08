"""The bundle check: a sound one is described, a damaged or hostile one refused in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from guide.commands import check
from guide.commands.check import CheckOptions
from guide.commands.entry import entry
from guide.errors import BundleError
from guide.settings import Precision
from tests.tiny import Learned, altered


@pytest.fixture
def refuse(capsys: pytest.CaptureFixture[str]) -> Callable[[Path], str]:
    """The one sentence with which a bundle is refused."""

    def run(folder: Path) -> str:
        with pytest.raises(SystemExit) as left:
            entry(CheckOptions, check.main, args=[str(folder), "--device", "cpu"])
        said = capsys.readouterr().err
        assert left.value.code == 2
        assert said.count("\n") == 1
        return said

    return run


def test_a_sound_bundle_is_described(features_task: Learned, capsys: pytest.CaptureFixture[str]) -> None:
    entry(CheckOptions, check.main, args=[str(features_task.folder), "--device", "cpu"])
    said = capsys.readouterr().out
    assert "4 key-steps from 3 demonstrations, version " in said
    assert "runs on CPUExecutionProvider" in said
    assert "ms a frame here" in said


def test_rules_come_in_groups_under_their_counts(features_task: Learned, capsys: pytest.CaptureFixture[str]) -> None:
    entry(CheckOptions, check.main, args=[str(features_task.folder), "--device", "cpu"])
    lines = capsys.readouterr().out.splitlines()
    [total] = [line for line in lines if line.startswith("rules: ")]
    counts = [part.split(maxsplit=1) for part in total.removeprefix("rules: ").split(", ")]
    assert [words for _, words in counts] == ["raise an alarm", "ask", "stay silent"]
    for count, words in counts:
        heads = [at for at, line in enumerate(lines) if line.startswith(f"{count} rule") and line.endswith(words)]
        assert len(heads) == (1 if count != "0" else 0)
        for at in heads:
            assert all(line.startswith("  ") for line in lines[at + 1 : at + 1 + int(count)])
            assert lines[at + 1 + int(count)] == ""


def test_a_folder_that_is_no_bundle(tmp_path: Path, refuse: Callable[[Path], str]) -> None:
    assert "is no bundle" in refuse(tmp_path)


@pytest.mark.parametrize("name", ["head.onnx", "prototypes.npz", "procedure.json", "segments/a.csv"])
def test_a_changed_file(features_task: Learned, tmp_path: Path, refuse: Callable[[Path], str], name: str) -> None:
    altered(features_task.bundle, tmp_path)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + b" ")
    assert "is not the file its manifest describes" in refuse(tmp_path)


def edit_manifest(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    facts = json.loads((folder / "manifest.json").read_text())
    change(facts)
    (folder / "manifest.json").write_text(json.dumps(facts))


def test_a_path_that_leads_outside(features_task: Learned, tmp_path: Path, refuse: Callable[[Path], str]) -> None:
    altered(features_task.bundle, tmp_path / "bundle")
    (tmp_path / "secret").write_text("x")
    edit_manifest(tmp_path / "bundle", lambda facts: facts["files"].update({"../secret": {"bytes": 1, "sha256": ""}}))
    assert "names a file that is not allowed" in refuse(tmp_path / "bundle")


@pytest.mark.parametrize("schema", [1, 99])
def test_another_schema(features_task: Learned, tmp_path: Path, refuse: Callable[[Path], str], schema: int) -> None:
    altered(features_task.bundle, tmp_path)
    edit_manifest(tmp_path, lambda facts: facts.update(schema=schema))
    assert f"has bundle schema {schema}, this program reads 2: learn the procedure again" in refuse(tmp_path)


@pytest.mark.parametrize(
    "arrays",
    [
        {"centres": np.full((5, 13), np.nan)},
        {"centres": np.zeros((5, 12))},
        {"metric": np.zeros((3, 3))},
        {"scalars": np.ones((4, 1, 2))},
        {"scalars": np.array([1.0, 1.0, -1.0, 0.0])},
        {"scalars": np.array([1.0, np.nan, 1.0, 0.0])},
        {"clock": np.zeros((2, 5))},
    ],
    ids=["nan", "narrow", "shapes", "rank", "falling confidence", "nan limit", "no chance"],
)
def test_arrays_that_cannot_be(
    features_task: Learned, tmp_path: Path, refuse: Callable[[Path], str], arrays: dict[str, Any]
) -> None:
    altered(features_task.bundle, tmp_path, {"prototypes.npz": arrays})
    assert refuse(tmp_path).endswith("again.\n")


def test_a_network_that_is_none(features_task: Learned, tmp_path: Path, refuse: Callable[[Path], str]) -> None:
    forged = altered(features_task.bundle, tmp_path / "one")
    (forged.folder / "head.onnx").write_bytes(b"no network")
    altered(forged, tmp_path / "two")
    assert "cannot be read as a network" in refuse(tmp_path / "two")


def test_a_head_of_other_width(
    features_task: Learned, frames_task: Learned, tmp_path: Path, refuse: Callable[[Path], str]
) -> None:
    forged = altered(features_task.bundle, tmp_path / "one")
    (forged.folder / "head.onnx").write_bytes(frames_task.bundle.path("head.onnx").read_bytes())
    altered(forged, tmp_path / "two")
    assert "made for other features" in refuse(tmp_path / "two")


@pytest.mark.parametrize("width", [0, 7, 10**9])
def test_a_width_that_is_not_the_networks(
    features_task: Learned, tmp_path: Path, refuse: Callable[[Path], str], width: int
) -> None:
    altered(features_task.bundle, tmp_path, facts=lambda facts: facts["input"].update(width=width))
    assert refuse(tmp_path).endswith((".\n",))


@pytest.mark.parametrize("precision", ["float", "mixed"])
def test_the_precision_is_told(mixed_task: Learned, capsys: pytest.CaptureFixture[str], precision: Precision) -> None:
    check.main(check.CheckOptions(mixed_task.folder, "cpu", precision))
    assert f" in {check.PRECISIONS[precision]}, " in capsys.readouterr().out


@pytest.mark.parametrize("precision", ["float", "mixed"])
@pytest.mark.parametrize("name", ["trunk.onnx", "trunk.mixed.onnx"])
@pytest.mark.parametrize("is_head", [True, False])
def test_what_runs_elsewhere_is_tried_too(
    mixed_task: Learned, tmp_path: Path, name: str, precision: Precision, is_head: bool
) -> None:
    forged = altered(mixed_task.bundle, tmp_path / "one")
    other = mixed_task.bundle.path("head.onnx").read_bytes() if is_head else b"no network"
    (forged.folder / name).write_bytes(other)
    with pytest.raises(BundleError, match=name.replace(".", r"\.")):
        check.main(check.CheckOptions(altered(forged, tmp_path / "two").folder, "cpu", precision))
