"""Figures with their limits, as a small table and as JSON; the machine in words."""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from guide.errors import OutputError

Verdict = Literal["", "ok", "MISSED"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number, and the limit it is held against where it has one.

    >>> Figure("times faster", 12.0, least=10.0).verdict
    'ok'
    """

    name: str
    value: float
    unit: str = ""
    least: float | None = None
    most: float | None = None
    digits: int = 4
    """Digits shown; all are in the JSON."""

    @property
    def wanted(self) -> str:
        """The limit in words."""
        if self.least is not None:
            return f"at least {self.least:g}" if self.most is None else f"{self.least:g} to {self.most:g}"
        return "" if self.most is None else f"at most {self.most:g}"

    @property
    def verdict(self) -> Verdict:
        if self.least is None and self.most is None:
            return ""
        is_high_enough = self.least is None or self.value >= self.least
        return "ok" if is_high_enough and (self.most is None or self.value <= self.most) else "MISSED"


@dataclass(frozen=True, slots=True)
class Part:
    """The figures of one part, measured in one run.

    >>> print(Part("Losses", "CPU", (Figure("batched", 1.5, "ms"), Figure("times faster", 12.0, least=10.0))).text())
    Losses, CPU
      batched                1.5 ms
      times faster            12        at least 10  ok
    """

    title: str
    where: str
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """The table as lines of text."""
        width = max([16, *(len(figure.name) for figure in self.figures)])
        rows = [
            f"  {f.name:<{width}}{f.value:>10.{f.digits}g} {f.unit:<7}{f.wanted}{'  ' if f.wanted else ''}{f.verdict}"
            for f in self.figures
        ]
        rows = [row.rstrip() for row in rows]
        return "\n".join([f"{self.title}, {self.where}", *rows, *(f"  {note}" for note in self.notes)])

    def as_json(self) -> dict[str, Any]:
        """The part for machines: each figure with its limit and verdict."""
        figures = [{**asdict(figure), "verdict": figure.verdict} for figure in self.figures]
        return {"title": self.title, "where": self.where, "figures": figures, "notes": list(self.notes)}


def tell(machine: str, parts: Iterable[Part], console: Console, path: Path | None) -> None:
    """Prints figures as they come, and writes them to a file where one is named."""
    console.print(machine)
    done = []
    for part in parts:
        console.print("\n" + part.text())
        done.append(part.as_json())
    write_figures({"machine": machine, "parts": done}, console, path)


def write_figures(figures: Mapping[str, object], console: Console, path: Path | None) -> None:
    """Writes figures as JSON where a file is named; raises OutputError where it cannot be."""
    if path is None:
        return
    try:
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"figures cannot be written to {path} ({error.strerror}): give another --json.") from error
    console.print(f"\nWrote {path}.")


def machine() -> str:
    """The machine in words: processor and cores, system, and how busy it is while figures are taken."""
    return f"{processor()}, {platform.system()}, Python {platform.python_version()}, {load()}"


def processor() -> str:
    """Cores this process may use, and their model where the system tells it."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text(encoding="utf-8", errors="replace").splitlines() if facts.is_file() else []
    models = {line.partition(":")[2].strip() for line in lines if line.startswith("model name")}
    named = f" ({', '.join(sorted(models))})" if models else ""
    return f"{core_count()} {platform.machine()} core{'s' if core_count() != 1 else ''}{named}"


def core_count() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> str:
    """How many programs want a core at once: above the number of cores, times of the clock say little."""
    try:
        return f"load {os.getloadavg()[0]:.1f}"
    except OSError:
        return "load unknown"


def peak_mb() -> float:
    """The most memory this process has held so far, in MB."""
    status = Path("/proc/self/status")
    if status.is_file():  # what getrusage says began in the process that started this one
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        peaks = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
        if peaks:
            return peaks[0] * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, others kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
