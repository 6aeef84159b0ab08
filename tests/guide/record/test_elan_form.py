"""ELAN files against the structure of format 3.0: which elements in which order, which attributes, which references."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.record.elan import Annotation, Tier, to_elan
from guide.record.tables import _lanes


@dataclass(frozen=True, slots=True)
class Form:
    """What an element holds: children in this order (`?` at most one, `*` any number), and which attributes."""

    children: tuple[str, ...] = ()
    needed: frozenset[str] = frozenset()
    allowed: frozenset[str] = field(default=frozenset())


def form(children: str = "", needed: str = "", allowed: str = "") -> Form:
    return Form(tuple(children.split()), frozenset(needed.split()), frozenset(allowed.split()))


SCHEMA_PLACE = "{http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation"
FORMS = {
    "ANNOTATION_DOCUMENT": form(
        "LICENSE* HEADER TIME_ORDER TIER* LINGUISTIC_TYPE* LOCALE* LANGUAGE* CONSTRAINT* CONTROLLED_VOCABULARY* "
        "LEXICON_REF* REF_LINK_SET* EXTERNAL_REF*", "DATE AUTHOR VERSION", f"FORMAT {SCHEMA_PLACE}",
    ),
    "HEADER": form("MEDIA_DESCRIPTOR* LINKED_FILE_DESCRIPTOR* PROPERTY*", "", "MEDIA_FILE TIME_UNITS"),
    "MEDIA_DESCRIPTOR": form("", "MEDIA_URL MIME_TYPE", "RELATIVE_MEDIA_URL TIME_ORIGIN EXTRACTED_FROM"),
    "TIME_ORDER": form("TIME_SLOT*"),
    "TIME_SLOT": form("", "TIME_SLOT_ID", "TIME_VALUE"),
    "TIER": form(
        "ANNOTATION*", "TIER_ID LINGUISTIC_TYPE_REF",
        "PARTICIPANT ANNOTATOR DEFAULT_LOCALE PARENT_REF EXT_REF LANG_REF",
    ),
    "ANNOTATION": form("ALIGNABLE_ANNOTATION"),
    "ALIGNABLE_ANNOTATION": form(
        "ANNOTATION_VALUE", "ANNOTATION_ID TIME_SLOT_REF1 TIME_SLOT_REF2", "SVG_REF EXT_REF LANG_REF CVE_REF"
    ),
    "ANNOTATION_VALUE": form(),
    "LINGUISTIC_TYPE": form(
        "", "LINGUISTIC_TYPE_ID",
        "TIME_ALIGNABLE CONSTRAINTS GRAPHIC_REFERENCES CONTROLLED_VOCABULARY_REF EXT_REF LEXICON_REF",
    ),
}  # fmt: skip
NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)  # what XML takes as an identifier


def faults(text: str) -> list[str]:
    """All that is wrong with an ELAN file, a line each."""
    root = ElementTree.fromstring(text)
    found = [] if root.tag == "ANNOTATION_DOCUMENT" else [f"it begins with {root.tag}"]
    for element in root.iter():
        found += _misshapen(element)
    found = found or _references(root)  # each looks at what the one before it has found to be there
    return found or _times(root)


def _misshapen(element: Element) -> list[str]:
    wanted = FORMS.get(element.tag)
    if wanted is None:
        return [f"nobody knows {element.tag}"]
    names = " ".join(child.tag for child in element)
    pattern = "".join(f"(?:{one.rstrip('?*')} ){one[len(one.rstrip('?*')) :]}" for one in wanted.children)
    found = [] if re.fullmatch(pattern, f"{names} " if names else "") else [f"{element.tag} holds {names}"]
    given_names = set(element.attrib)
    found += [f"{element.tag} lacks {name}" for name in wanted.needed - given_names]
    return found + [f"{element.tag} has {name}" for name in given_names - wanted.needed - wanted.allowed]


def _references(root: Element) -> list[str]:
    slots = [slot.attrib["TIME_SLOT_ID"] for slot in root.iter("TIME_SLOT")]
    annotations = [one.attrib["ANNOTATION_ID"] for one in root.iter("ALIGNABLE_ANNOTATION")]
    kinds = [one.attrib["LINGUISTIC_TYPE_ID"] for one in root.iter("LINGUISTIC_TYPE")]
    tiers = [one.attrib["TIER_ID"] for one in root.iter("TIER")]
    found = [f"{name} comes twice" for names in (slots + annotations, kinds, tiers) for name in _twice(names)]
    found += [f"{name} is no identifier" for name in slots + annotations if not NAME.fullmatch(name)]
    found += [f"nobody knows the type of {one.attrib}" for one in root.iter("TIER")
              if one.attrib["LINGUISTIC_TYPE_REF"] not in kinds]  # fmt: skip
    for one in root.iter("ALIGNABLE_ANNOTATION"):
        ends = {one.attrib["TIME_SLOT_REF1"], one.attrib["TIME_SLOT_REF2"]}
        found += [f"nobody knows the slot {name}" for name in ends - set(slots)]
    return found


def _twice(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _times(root: Element) -> list[str]:
    found = []
    if root.attrib["VERSION"] != "3.0" or root.attrib["FORMAT"] != "3.0":
        found.append("it is of another version")
    datetime.fromisoformat(root.attrib["DATE"])
    if root.find("HEADER").attrib["TIME_UNITS"] != "milliseconds":  # type: ignore[union-attr]
        found.append("its units are unknown")
    values = {slot.attrib["TIME_SLOT_ID"]: slot.attrib["TIME_VALUE"] for slot in root.iter("TIME_SLOT")}
    found += [f"{value} is no time" for value in values.values() if not re.fullmatch(r"[0-9]{1,10}", value)]
    for tier in root.iter("TIER"):
        last = 0
        for one in tier.iter("ALIGNABLE_ANNOTATION"):
            start, end = (int(values[one.attrib[f"TIME_SLOT_REF{number}"]]) for number in (1, 2))
            if not last <= start <= end:
                found.append(f"{one.attrib['ANNOTATION_ID']} overlaps or runs backwards")
            last = end
    return found


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=12)
STRETCHES = st.lists(st.tuples(st.floats(0, 5000), st.floats(0, 9000), TEXT), max_size=12)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(steps=STRETCHES, alerts=STRETCHES, media=st.none() | TEXT)
def test_what_reports_write_is_of_elans_form(
    steps: list[tuple[float, float, str]], alerts: list[tuple[float, float, str]], media: str | None
) -> None:
    lanes = {"steps": _lanes(steps), "alerts": _lanes(alerts)}
    tiers = [Tier(f"{name} {number}", tuple(lane)) for name in lanes for number, lane in enumerate(lanes[name])]
    assert faults(to_elan(tiers, media)) == []


@settings(derandomize=True, deadline=None, max_examples=80)
@given(STRETCHES)
def test_lanes_hold_everything_and_never_overlap(found: list[tuple[float, float, str]]) -> None:
    lanes = _lanes(found)
    assert sorted((one.start, one.value) for lane in lanes for one in lane) == sorted(
        (at, text) for at, _, text in found
    )
    assert all(one.end <= other.start for lane in lanes for one, other in pairwise(lane))
    shortest = sorted(max(start, end) for start, end, _ in found)
    assert all(
        drawn >= end for drawn, end in zip(sorted(one.end for lane in lanes for one in lane), shortest, strict=True)
    )


GOOD = to_elan([Tier("steps", (Annotation(0.0, 1.0, "cut"), Annotation(1.0, 2.0, "fold")))], "video-1.mp4")


def test_a_good_file_has_no_faults() -> None:
    assert faults(GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('TIME_SLOT_REF2="ts2"', 'TIME_SLOT_REF2="ts9"', "nobody knows the slot"),
        ('ANNOTATION_ID="a2"', 'ANNOTATION_ID="a1"', "comes twice"),
        ('ANNOTATION_ID="a2"', 'ANNOTATION_ID="2"', "no identifier"),
        ('TIER_ID="steps"', 'TIER_ID="steps" COLOUR="red"', "TIER has COLOUR"),
        (' MIME_TYPE="video/mp4"', "", "lacks MIME_TYPE"),
        ('LINGUISTIC_TYPE_REF="default-lt"', 'LINGUISTIC_TYPE_REF="other"', "nobody knows the type"),
        ("</TIME_ORDER>", "<TIER/></TIME_ORDER>", "TIME_ORDER holds"),
        ('TIME_VALUE="2000"', 'TIME_VALUE="500"', "overlaps or runs backwards"),
        ('VERSION="3.0"', 'VERSION="2.8"', "another version"),
    ],
)
def test_the_check_sees_what_is_wrong(old: str, new: str, word: str) -> None:
    assert old in GOOD
    found = faults(GOOD.replace(old, new, 1))
    assert any(word in one for one in found), found
