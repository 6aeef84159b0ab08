"""What an ELAN file says, before its times are worked out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NoReturn
from xml.parsers import expat

from guide.errors import InputError

ROOT: Final = "ANNOTATION_DOCUMENT"
UNITS: Final = "milliseconds"
LATEST_MS: Final = 10**9
"""Eleven days: a later time is damage."""

WHOLE: Final = re.compile(r"-?[0-9]{1,12}")

Span = tuple[float, float]


@dataclass(slots=True)
class Entry:
    """One annotation: between two slots, or referring to another annotation.

    >>> Entry("a1", line=7, slots=("ts1", "ts2")).value
    ''
    """

    id: str
    line: int
    slots: tuple[str, str] | None = None
    refers_to: str = ""
    value: str = ""


@dataclass(slots=True)
class Document:
    """Slots (milliseconds, None where the file leaves them open) and the annotations of each tier, as listed.

    >>> document = Document("a.eaf", slots={"s": 0, "m": None, "e": 3000})
    >>> document.tiers["steps"] = [Entry("a", 1, ("s", "m")), Entry("b", 2, ("m", "e"))]
    >>> document.times()
    {'a': (0.0, 1.5), 'b': (1.5, 3.0)}
    """

    place: str
    slots: dict[str, int | None] = field(default_factory=dict)
    tiers: dict[str, list[Entry]] = field(default_factory=dict)
    offsets_s: list[float] = field(default_factory=list)

    def times(self) -> dict[str, Span]:
        """Start and end in seconds of every annotation by its id; raises InputError where there is no telling."""
        aligned = [entry for entries in self.tiers.values() for entry in entries if entry.slots is not None]
        for entries in self.tiers.values():
            self._fill([entry for entry in entries if entry.slots is not None])
        spans = {entry.id: self._span(entry) for entry in aligned}
        self._follow(spans)
        return spans

    def _fill(self, entries: list[Entry]) -> None:
        """Share the stretch between two known slots evenly among the annotations chained between them."""
        chain: list[str] = []
        for entry in entries:
            assert entry.slots is not None
            first, last = entry.slots
            if not chain or chain[-1] != first:
                chain = [first]
            chain.append(last)
            if self.slots.get(last) is not None:
                self._share(chain)
                chain = [last]

    def _share(self, chain: list[str]) -> None:
        start, end = self.slots.get(chain[0]), self.slots.get(chain[-1])
        if start is None or end is None:
            return
        for number, slot in enumerate(chain[1:-1], start=1):
            self.slots[slot] = round(start + (end - start) * number / (len(chain) - 1))

    def _span(self, entry: Entry) -> Span:
        assert entry.slots is not None
        start, end = (self.slots.get(slot) for slot in entry.slots)
        if start is None or end is None:
            self._refuse(entry, "its times cannot be told")
        if end < start:
            self._refuse(entry, f"it ends at {end} ms, before it starts at {start} ms")
        return start / 1000, end / 1000

    def _follow(self, spans: dict[str, Span]) -> None:
        """Give annotations that refer to others their times; references may lead to references."""
        groups: dict[str, dict[str, list[Entry]]] = {}  # by the annotation referred to, then by tier
        for name, entries in self.tiers.items():
            for entry in entries:
                if entry.slots is None:
                    groups.setdefault(entry.refers_to, {}).setdefault(name, []).append(entry)
        known = [id_ for id_ in spans if id_ in groups]
        while known:
            referred = known.pop()
            for entries in groups.pop(referred).values():
                spans |= _shares(spans[referred], entries)
                known += [entry.id for entry in entries if entry.id in groups]
        for referred, tiers in groups.items():
            self._refuse(next(iter(tiers.values()))[0], f"it refers to {referred!r}, which has no times")

    def _refuse(self, entry: Entry, what: str) -> NoReturn:
        raise InputError(f"{self.place} line {entry.line}: annotation {entry.id} cannot be used, {what}: correct it.")


def _shares(span: Span, entries: list[Entry]) -> dict[str, Span]:
    """A stretch cut evenly among annotations, in their order."""
    start, end = span
    cuts = [start + (end - start) * number / len(entries) for number in range(len(entries))] + [end]
    return {entry.id: (cuts[number], cuts[number + 1]) for number, entry in enumerate(entries)}


def parse(content: bytes, place: str) -> Document:
    """The document in the bytes of an `.eaf` file; `place` names it in messages."""
    return _Reader(place).read(content)


class _Reader:
    """Collects slots, tiers and annotations while the parser walks through the file once."""

    def __init__(self, place: str) -> None:
        self._document = Document(place)
        self._ids: set[str] = set()
        self._tier: list[Entry] | None = None
        self._entry: Entry | None = None
        self._text: list[str] | None = None
        self._depth = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._starts: dict[str, Callable[[dict[str, str]], None]] = {
            "HEADER": self._header,
            "MEDIA_DESCRIPTOR": self._media,
            "TIME_SLOT": self._slot,
            "TIER": self._open_tier,
            "ALIGNABLE_ANNOTATION": self._aligned,
            "REF_ANNOTATION": self._reference,
        }

    def read(self, content: bytes) -> Document:
        try:
            self._parser.Parse(content, True)
        except (expat.ExpatError, LookupError, ValueError) as error:  # the last two: encodings nobody knows
            raise InputError(
                f"{self._document.place} should be an ELAN file and cannot be read as XML ({error}): "
                "save it again with ELAN."
            ) from error
        return self._document

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._depth == 0 and name != ROOT:
            self._refuse(f"an ELAN file starts with {ROOT}, this one with {name}")
        self._depth += 1
        if name in self._starts:
            self._starts[name](attributes)
        elif name == "ANNOTATION_VALUE":
            self._text = []

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "ANNOTATION_VALUE" and self._entry is not None:
            self._entry.value = "".join(self._text or [])
            self._text = None
        elif name in {"ALIGNABLE_ANNOTATION", "REF_ANNOTATION"}:
            self._entry = None
        elif name == "TIER":
            self._tier = None

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _header(self, attributes: dict[str, str]) -> None:
        units = attributes.get("TIME_UNITS", UNITS)
        if units != UNITS:
            self._refuse(f"times in {units} are not read, only in {UNITS}")

    def _media(self, attributes: dict[str, str]) -> None:
        self._document.offsets_s.append(self._number(attributes.get("TIME_ORIGIN", "0")) / 1000)

    def _slot(self, attributes: dict[str, str]) -> None:
        value = attributes.get("TIME_VALUE")
        at = None if value is None else self._number(value)
        if at is not None and at < 0:
            self._refuse(f"{at} ms is before the recording's start")
        self._document.slots[self._need(attributes, "TIME_SLOT_ID")] = at

    def _open_tier(self, attributes: dict[str, str]) -> None:
        name = self._need(attributes, "TIER_ID")
        if name in self._document.tiers:
            self._refuse(f"the tier {name!r} comes twice")
        self._tier = self._document.tiers[name] = []

    def _aligned(self, attributes: dict[str, str]) -> None:
        slots = (self._need(attributes, "TIME_SLOT_REF1"), self._need(attributes, "TIME_SLOT_REF2"))
        for slot in slots:
            if slot not in self._document.slots:
                self._refuse(f"an annotation refers to the time slot {slot!r}, which does not exist")
        self._add(attributes, slots, "")

    def _reference(self, attributes: dict[str, str]) -> None:
        self._add(attributes, None, self._need(attributes, "ANNOTATION_REF"))

    def _add(self, attributes: dict[str, str], slots: tuple[str, str] | None, refers_to: str) -> None:
        name = self._need(attributes, "ANNOTATION_ID")
        if self._tier is None or name in self._ids:
            self._refuse(f"the annotation {name!r} lies outside a tier or comes twice")
        self._ids.add(name)
        self._entry = Entry(name, self._parser.CurrentLineNumber, slots, refers_to)
        self._tier.append(self._entry)

    def _need(self, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            self._refuse(f"{name} is missing")
        return attributes[name]

    def _number(self, text: str) -> int:
        if not WHOLE.fullmatch(text) or abs(int(text)) > LATEST_MS:
            self._refuse(f"{text[:40]!r} is no time in whole milliseconds")
        return int(text)

    def _doctype(self, *_: object) -> None:
        self._refuse("a document type is declared, which ELAN never does and which can hide an attack")

    def _refuse(self, what: str) -> NoReturn:
        raise InputError(
            f"{self._document.place} line {self._parser.CurrentLineNumber}: {what}: save the file again with ELAN."
        )
