"""ELAN files: what is written reads back the same, and nothing half-written is left."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.errors import InputError, OutputError
from guide.record import elan
from guide.record.elan import Annotation, Tier, read_elan, to_elan, write_elan

STEPS = Tier("steps", (Annotation(0.5, 2.0, "1 open <box> & look"), Annotation(2.0, 3.25, '2 say "go"')))
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=12)


def without_lines(tiers: tuple[Tier, ...]) -> list[Tier]:
    return [
        Tier(tier.name, tuple(Annotation(one.start, one.end, one.value) for one in tier.annotations)) for tier in tiers
    ]


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "a.eaf"
    write_elan(path, [STEPS, Tier("alerts", ())], media="/home/somebody/a.mp4")
    file = read_elan(path)
    assert without_lines(file.tiers) == [STEPS, Tier("alerts", ())]
    assert file.offsets_s == (0.0,)
    assert all(one.line > 0 for one in file.tiers[0].annotations)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.eaf"]
    assert "somebody" not in path.read_text(encoding="utf-8")


def test_the_form_is_elans() -> None:
    root = ElementTree.fromstring(to_elan([STEPS], "a.mp4"))
    assert [child.tag for child in root] == ["HEADER", "TIME_ORDER", "TIER", "LINGUISTIC_TYPE"]
    assert {"AUTHOR", "DATE", "VERSION", "FORMAT"} <= set(root.attrib)
    values = [int(slot.attrib["TIME_VALUE"]) for slot in root.iter("TIME_SLOT")]
    assert values == sorted(values) == [500, 2000, 2000, 3250]
    assert root.find("HEADER/MEDIA_DESCRIPTOR").attrib["MIME_TYPE"] == "video/mp4"  # type: ignore[union-attr]


def test_equal_content_gives_equal_bytes() -> None:
    assert to_elan([STEPS]) == to_elan([STEPS])


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    names=st.lists(TEXT, max_size=3, unique=True),
    rows=st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**5), TEXT | st.just("a\tb\r\nc")), max_size=6),
)
def test_any_text_and_times_survive(
    names: list[str], rows: list[tuple[int, int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    annotations = tuple(Annotation(at / 1000, (at + length) / 1000, value) for at, length, value in rows)
    tiers = [Tier(name, annotations) for name in names]
    path = tmp_path_factory.getbasetemp() / "any.eaf"
    write_elan(path, tiers)
    assert without_lines(read_elan(path).tiers) == tiers


@pytest.mark.parametrize(
    ("tiers", "sentence"),
    [
        ([Tier("a", ()), Tier("a", ())], "'a' comes twice"),
        ([Tier("a", (Annotation(0.0, 1.0, "x\x00"),))], "control character"),
        ([Tier("a\ud800", ())], "control character"),
    ],
)
def test_what_xml_cannot_hold_is_refused(tmp_path: Path, tiers: list[Tier], sentence: str) -> None:
    with pytest.raises(OutputError, match=sentence):
        write_elan(tmp_path / "a.eaf", tiers)
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written_or_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be written"):
        write_elan(tmp_path / "file" / "a.eaf", [STEPS])
    with pytest.raises(InputError, match="does not exist"):
        read_elan(tmp_path / "a.eaf")
    with pytest.raises(InputError, match="cannot be read"):
        read_elan(tmp_path)
    write_elan(tmp_path / "a.eaf", [STEPS])
    monkeypatch.setattr(elan, "LARGEST_BYTES", 100)
    with pytest.raises(InputError, match="is larger than"):
        read_elan(tmp_path / "a.eaf")
