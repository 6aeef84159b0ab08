"""ELAN's XML: slots, chains, references, and everything a file can have wrong."""

from __future__ import annotations

import time

import pytest

from guide.errors import InputError
from guide.record.elan_document import Document, Entry, parse


def eaf(body: str, header: str = '<HEADER TIME_UNITS="milliseconds"/>', before: str = "") -> bytes:
    return f"{before}<ANNOTATION_DOCUMENT>{header}\n{body}</ANNOTATION_DOCUMENT>".encode()


def slots(*values: int | None) -> str:
    rows = (
        f'<TIME_SLOT TIME_SLOT_ID="s{number}"' + (f' TIME_VALUE="{value}"' if value is not None else "") + "/>"
        for number, value in enumerate(values)
    )
    return f"<TIME_ORDER>{''.join(rows)}</TIME_ORDER>\n"


def aligned(name: str, first: str, last: str, value: str = "") -> str:
    return (
        f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="{name}" TIME_SLOT_REF1="{first}" TIME_SLOT_REF2="{last}">'
        f"<ANNOTATION_VALUE>{value}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>\n"
    )


def reference(name: str, to: str, value: str = "") -> str:
    return (
        f'<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="{name}" ANNOTATION_REF="{to}">'
        f"<ANNOTATION_VALUE>{value}</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>\n"
    )


def tier(name: str, *rows: str) -> str:
    return f'<TIER TIER_ID="{name}" LINGUISTIC_TYPE_REF="t">\n{"".join(rows)}</TIER>\n'


def test_values_lines_and_offsets() -> None:
    header = '<HEADER TIME_UNITS="milliseconds"><MEDIA_DESCRIPTOR MEDIA_URL="x" TIME_ORIGIN="1200"/></HEADER>'
    document = parse(eaf(slots(0, 1500) + tier("steps", aligned("a", "s0", "s1", "cut &amp; glue")), header), "a.eaf")
    assert document.tiers == {"steps": [Entry("a", 4, ("s0", "s1"), "", "cut & glue")]}
    assert document.offsets_s == [1.2]
    assert document.times() == {"a": (0.0, 1.5)}


def test_a_chain_without_times_shares_its_stretch() -> None:
    rows = (aligned("a", "s0", "s1"), aligned("b", "s1", "s2"), aligned("c", "s2", "s3"))
    times = parse(eaf(slots(1000, None, None, 4000) + tier("t", *rows)), "a.eaf").times()
    assert times == {"a": (1.0, 2.0), "b": (2.0, 3.0), "c": (3.0, 4.0)}


def test_references_take_the_times_they_refer_to() -> None:
    """One reference has the whole stretch, two in a tier share it, and a reference to a reference follows."""
    body = slots(0, 4000) + tier("deep", reference("d", "c1")) + tier("base", aligned("a", "s0", "s1"))
    body += tier("one", reference("b", "a")) + tier("two", reference("c1", "a"), reference("c2", "a"))
    times = parse(eaf(body), "a.eaf").times()
    assert times == {"a": (0.0, 4.0), "b": (0.0, 4.0), "c1": (0.0, 2.0), "c2": (2.0, 4.0), "d": (0.0, 2.0)}


BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x SYSTEM "file:///etc/passwd">'

FAULTS = [
    (b"", "cannot be read as XML"),
    (b"not xml", "cannot be read as XML"),
    (b"<ANNOTATION_DOCUMENT>", "cannot be read as XML"),
    (b'<?xml version="1.0" encoding="no-such"?><ANNOTATION_DOCUMENT/>', "cannot be read as XML"),
    (b"<html/>", "line 1: an ELAN file starts with ANNOTATION_DOCUMENT, this one with html"),
    (eaf("", before=BOMB), "line 1: a document type is declared"),
    (eaf("", before=OUTSIDE), "line 1: a document type is declared"),
    (eaf("", header='<HEADER TIME_UNITS="PAL-frames"/>'), "times in PAL-frames are not read"),
    (eaf('<TIME_SLOT TIME_VALUE="1"/>'), "line 2: TIME_SLOT_ID is missing"),
    (eaf('<TIME_SLOT TIME_SLOT_ID="a" TIME_VALUE="1.5"/>'), "'1.5' is no time in whole milliseconds"),
    (eaf('<TIME_SLOT TIME_SLOT_ID="a" TIME_VALUE="' + "9" * 5000 + '"/>'), "is no time in whole milliseconds"),
    (eaf('<TIME_SLOT TIME_SLOT_ID="a" TIME_VALUE="-4"/>'), "-4 ms is before the recording's start"),
    (eaf(slots(0) + tier("t", aligned("a", "s0", "s9"))), "line 4: an annotation refers to the time slot 's9'"),
    (eaf(slots(0, 1) + aligned("a", "s0", "s1")), "lies outside a tier or comes twice"),
    (eaf(slots(0, 1) + tier("t", *[aligned("a", "s0", "s1")] * 2)), "lies outside a tier or comes twice"),
    (eaf(tier("t") + tier("t")), "the tier 't' comes twice"),
    (eaf(slots(5, 1) + tier("t", aligned("a", "s0", "s1"))), "line 4: annotation a .* ends at 1 ms, before it starts"),
    (eaf(slots(5, None) + tier("t", aligned("a", "s0", "s1"))), "line 4: annotation a .* times cannot be told"),
    (eaf(tier("t", reference("a", "b"), reference("b", "a"))), "line 3: annotation a .* refers to 'b'"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "sentence"), FAULTS, ids=[sentence[:40] for _, sentence in FAULTS])
def test_each_fault_is_named(content: bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=f"a.eaf.*{sentence}"):
        parse(content, "a.eaf").times()


def test_a_long_chain_of_references_costs_no_more_than_its_length() -> None:
    rows = [Entry(f"r{number}", 1, None, f"r{number + 1}") for number in range(20_000)]
    document = Document("a.eaf", {"s": 0, "e": 9}, {"t": rows, "b": [Entry("r20000", 1, ("s", "e"))]})
    began = time.process_time()
    assert document.times()["r0"] == (0.0, 0.009)
    assert time.process_time() - began < 2.0
