"""ELAN annotation files (`.eaf`): tiers of annotations with their times, read and written.

ELAN keeps times as whole milliseconds in numbered slots that annotations refer to. A file that declares a document
type (the way to entities that grow without end, and to files elsewhere) is refused, and so is one over 64 MB.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from guide.errors import InputError, OutputError
from guide.record.elan_document import parse
from guide.whole_file import write_whole

LARGEST_BYTES: Final = 64 * 2**20
"""An hour of dense annotation is about 2 MB."""
NO_DATE: Final = "1970-01-01T00:00:00+00:00"
"""The form asks for a date; equal content should give equal bytes."""
SCHEMA: Final = (
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd"'
)
"""Some readers stumble without it."""
MIME_TYPES: Final = {
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".mpg": "video/mpeg",
    ".mpeg": "video/mpeg",
    ".wav": "audio/x-wav",
}
UNFIT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML 1.0 cannot hold these


@dataclass(frozen=True, slots=True)
class Annotation:
    """A stretch of time in seconds and what was said of it; `line` is its place in the file, 0 when made by us.

    >>> Annotation(0.5, 2.0, "open box").value
    'open box'
    """

    start: float
    end: float
    value: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Tier:
    """A named row of annotations, in the file's order.

    >>> Tier("steps", (Annotation(0.5, 2.0, "open box"),)).name
    'steps'
    """

    name: str
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class ElanFile:
    """The tiers of a file, and by how many seconds each of its media is shifted against the annotations.

    >>> ElanFile((Tier("steps", ()),)).tiers[0].name
    'steps'
    """

    tiers: tuple[Tier, ...]
    offsets_s: tuple[float, ...] = ()


def read_elan(path: str | Path) -> ElanFile:
    """The tiers of an `.eaf` file, times in seconds.

    Annotations without times of their own get them from their neighbours (a chain shares its stretch evenly) or from
    the annotation they refer to (several share its stretch evenly, in the order listed). Raises InputError with the
    line where the file is no ELAN file, is damaged or hostile.
    """
    path = Path(path)
    document = parse(_read_bytes(path), str(path))
    times = document.times()
    tiers = tuple(
        Tier(name, tuple(Annotation(*times[entry.id], entry.value, entry.line) for entry in entries))
        for name, entries in document.tiers.items()
    )
    return ElanFile(tiers, tuple(document.offsets_s))


def write_elan(path: str | Path, tiers: Sequence[Tier], media: str | None = None, date: str = NO_DATE) -> None:
    """Write tiers as an `.eaf` file of format 3.0, rounded to milliseconds; `media` is a file lying beside it.

    Only the name of `media` is written, never its folder. Raises OutputError where it cannot be written: written
    aside first, so a half file never stands under the name.
    """
    path = Path(path)
    text = to_elan(tiers, media, date)
    try:
        write_whole(path, text, newline="\n")
    except OSError as error:
        raise OutputError(f"annotations cannot be written to {path} ({error.strerror}): free space there.") from error


def to_elan(tiers: Sequence[Tier], media: str | None = None, date: str = NO_DATE) -> str:
    """The text of an `.eaf` file."""
    _require_writable(tiers)
    slots = sorted(slot for place, tier in enumerate(tiers) for pair in _pairs(place, tier) for slot in pair)
    numbers = {slot: f"ts{number}" for number, slot in enumerate(slots, start=1)}
    order = "".join(f'<TIME_SLOT TIME_SLOT_ID="{numbers[slot]}" TIME_VALUE="{slot[0]}"/>\n' for slot in slots)
    rows = "".join(_tier_text(place, tier, numbers, tiers) for place, tier in enumerate(tiers))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<ANNOTATION_DOCUMENT AUTHOR="" DATE={quoteattr(date)} FORMAT="3.0" VERSION="3.0" {SCHEMA}>\n'
        f'<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds">{_media_text(media)}</HEADER>\n'
        f"<TIME_ORDER>\n{order}</TIME_ORDER>\n"
        f"{rows}"
        '<LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="default-lt" TIME_ALIGNABLE="true"/>\n'
        "</ANNOTATION_DOCUMENT>\n"
    )


Slot = tuple[int, int, int, int]
"""Milliseconds, then tier, annotation and which end: every annotation has slots of its own, as ELAN writes them."""


def _pairs(place: int, tier: Tier) -> list[tuple[Slot, Slot]]:
    return [
        ((_milliseconds(one.start), place, number, 0), (_milliseconds(one.end), place, number, 1))
        for number, one in enumerate(tier.annotations)
    ]


def _tier_text(place: int, tier: Tier, numbers: dict[Slot, str], tiers: Sequence[Tier]) -> str:
    first = 1 + sum(len(other.annotations) for other in tiers[:place])
    rows = "".join(
        f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a{number}" TIME_SLOT_REF1="{numbers[start]}" '
        f'TIME_SLOT_REF2="{numbers[end]}"><ANNOTATION_VALUE>{_escaped(one.value)}</ANNOTATION_VALUE>'
        "</ALIGNABLE_ANNOTATION></ANNOTATION>\n"
        for number, (one, (start, end)) in enumerate(
            zip(tier.annotations, _pairs(place, tier), strict=True), start=first
        )
    )
    return f'<TIER LINGUISTIC_TYPE_REF="default-lt" TIER_ID={_attribute(tier.name)}>\n{rows}</TIER>\n'


def _media_text(media: str | None) -> str:
    if media is None:
        return ""
    name = PurePath(media).name
    kind = MIME_TYPES.get(PurePath(name).suffix.lower(), "unknown")
    place = _attribute(f"./{name}")
    return f'<MEDIA_DESCRIPTOR MEDIA_URL={place} MIME_TYPE="{kind}" RELATIVE_MEDIA_URL={place}/>'


def _escaped(text: str) -> str:
    return escape(text, {"\r": "&#13;"})  # a bare one would come back as a line feed


def _attribute(text: str) -> str:
    return quoteattr(text, {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"})


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _require_writable(tiers: Sequence[Tier]) -> None:
    names = [tier.name for tier in tiers]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise OutputError(f"every tier needs a name of its own, but {twice[0]!r} comes twice: rename one.")
    for text in [*names, *(one.value for tier in tiers for one in tier.annotations)]:
        if UNFIT.search(text):
            raise OutputError(f"{text!r} holds a control character that ELAN files cannot hold: take it out.")


def _read_bytes(path: Path) -> bytes:
    try:
        is_small = path.stat().st_size <= LARGEST_BYTES
        content = path.read_bytes() if is_small else b""
    except FileNotFoundError as error:
        raise InputError(f"an ELAN file was expected, but {path} does not exist: check the path.") from error
    except OSError as error:
        raise InputError(f"an ELAN file was expected, but {path} cannot be read ({error.strerror}).") from error
    if not is_small:
        raise InputError(
            f"{path} is larger than {LARGEST_BYTES // 2**20} MB, no ELAN file of a recording is: check it."
        )
    return content
