"""What is kept of sessions in a folder, as the dashboard was told: a small file beside them that servers heed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from guide.errors import InputError, OutputError
from guide.whole_file import write_whole

FILE = "retention.json"
DEFAULT_DAYS = 30.0
MOST = 1e6


@dataclass(frozen=True, slots=True)
class Keeping:
    """For how long, how much, and whether pictures at all; 0 days are for good, 0 gigabytes no limit.

    >>> Keeping(keep_days=-1)
    Traceback (most recent call last):
    ...
    guide.errors.InputError: pictures are kept for a number of days, 0 for good, got -1.
    """

    keep_days: float = DEFAULT_DAYS
    keep_gb: float = 0.0
    pictures: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.keep_days < MOST:
            raise InputError(f"pictures are kept for a number of days, 0 for good, got {self.keep_days}.")
        if not 0 <= self.keep_gb < MOST:
            raise InputError(f"sessions take a number of gigabytes, 0 without limit, got {self.keep_gb}.")

    @property
    def most_bytes(self) -> float:
        return self.keep_gb * 1e9


def read_keeping(folder: Path) -> Keeping | None:
    """What was set for a folder; None where nothing was, or the file is damaged."""
    try:
        plain = json.loads((folder / FILE).read_text(encoding="utf-8"))
        days, gigabytes = plain.get("keep_days", DEFAULT_DAYS), plain.get("keep_gb", 0.0)
        if any(isinstance(one, bool) or not isinstance(one, int | float) for one in (days, gigabytes)):
            return None
        return Keeping(float(days), float(gigabytes), plain.get("pictures", True) is not False)
    except (OSError, ValueError, AttributeError, InputError):
        return None


def write_keeping(folder: Path, keeping: Keeping) -> None:
    """Sets it; raises OutputError where the folder cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(folder / FILE, json.dumps(asdict(keeping)))
    except OSError as cause:
        raise OutputError(f"{folder} cannot be written ({cause.strerror}): check who may write there.") from cause
