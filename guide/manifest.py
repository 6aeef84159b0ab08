"""What a bundle's manifest says of perception and labelling, checked before it is used."""

from __future__ import annotations

from dataclasses import asdict

from guide.bundle import Bundle
from guide.errors import BundleError
from guide.label.energy import LinkSettings
from guide.perceive.appearance import AppearanceSettings
from guide.perceive.perceiver import PerceptionSettings
from guide.perceive.region import RegionSettings

LIST = "list"  # the kind of input of a procedure from a written list or sequences of steps
LARGEST = 1e6  # no rate, width, span of time or weight in a manifest is larger; beyond it arithmetic would overflow


def is_list(bundle: Bundle) -> bool:
    """Whether a bundle was made from a written list or sequences of steps: there is nothing to recognise them by."""
    return bundle.facts.get("input") == {"kind": LIST}


def perception_settings(bundle: Bundle) -> PerceptionSettings:
    """What the manifest says of perception; raises BundleError where it says too little."""
    try:
        settings = PerceptionSettings(
            rate=_number(bundle.facts["rate"]),
            width=_count(bundle.facts["input"]["width"]),
            appearance=AppearanceSettings(**bundle.facts["appearance"]),
            region=_region(bundle.facts["input"].get("region")),
        )
        spans = (settings.rate, *asdict(settings.appearance).values())
        if not all(_number(span) >= 1 / LARGEST for span in spans) or not 0 < settings.width <= LARGEST:
            raise ValueError("a rate, a width or a span of time is not above 0, or out of all proportion")
        return settings
    except (KeyError, TypeError, ValueError) as cause:
        raise BundleError(f"{bundle.folder} does not say how to perceive ({cause}): export it again.") from cause


def _region(said: object) -> RegionSettings | None:
    """How the second look finds its place; bundles from before there was one say nothing of it."""
    if said is None:
        return None
    if not isinstance(said, dict):
        raise ValueError(f"a region is an object with numbers, not {said!r:.80}")
    settings = RegionSettings(**{name: _number(value) for name, value in said.items()})
    are_parts = 0 < settings.side <= 1 and 0 < settings.detail <= 1
    if not (are_parts and settings.apart_s >= 0 and settings.smoothing_s > 0 and settings.hold >= 0):
        raise ValueError(f"the region's numbers are out of all proportion: {said!r:.120}")
    return settings


def link_settings(bundle: Bundle) -> LinkSettings:
    """What the manifest says of the links between frames; raises BundleError where it says too little."""
    try:
        links = LinkSettings(**bundle.facts["links"])
        for value in (links.weight, links.radius_s, links.decay_s, _count(links.most)):
            _number(value)
        if links.decay_s < 1 / LARGEST:
            raise ValueError("links that fade at once")
        return links
    except (KeyError, TypeError, ValueError) as cause:
        raise BundleError(f"{bundle.folder} has no usable link settings ({cause}): export it again.") from cause


def _number(value: object) -> float:
    """A number of a manifest; raises ValueError for texts, truth values and numbers out of all proportion."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        raise ValueError(f"a number up to {LARGEST:.0f} was expected, not {value!r:.80}")
    return float(value)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"a whole number was expected, not {value!r:.80}")
    return value
