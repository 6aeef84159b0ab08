"""Results on disk: CSV for programs, Markdown for documents, a page for people."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

from guide.errors import OutputError
from offline.study.evaluation.evaluation_report import ReportTable


def make_csv(sheets: Sequence[ReportTable]) -> str:
    """One line for each table, row and figure: fractions with six digits, mean and spread over seeds.

    In rows `n labelled` choices of the labelled recordings stand in the place of seeds.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["task", "view", "k", "title", "method", "source", "figure", "seeds", "mean", "spread"])
    for sheet in sheets:
        for row in sheet.table.ordered:
            for figure, summary in zip(sheet.table.headings()[1:], sheet.table.summaries(row), strict=True):
                if summary is not None and not math.isnan(summary.mean):
                    spread = "" if math.isnan(summary.spread) else f"{summary.spread:.6f}"
                    place = [sheet.word, sheet.view, sheet.count, sheet.table.title, row.method, row.note or "ours"]
                    writer.writerow([*place, figure, summary.seeds, f"{summary.mean:.6f}", spread])
    return out.getvalue()


def make_markdown(sheets: Sequence[ReportTable], command: str) -> str:
    """All tables with their notes, and the command that made them."""
    parts = [
        f"Percent; mean ± standard deviation over seeds, over choices in rows `n labelled`.\n\n```\n{command}\n```\n"
    ]
    for sheet in sheets:
        notes = "".join(f"- {note}\n" for note in sheet.notes)
        parts.append(f"## {sheet.table.title}\n\n{notes + chr(10) if notes else ''}{sheet.table.markdown()}")
    return "\n".join(parts)


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Writes each file aside and renames it, so that none is ever half there; raises OutputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            aside = folder / f".{name}.part"
            aside.write_text(text, encoding="utf-8")
            aside.replace(folder / name)
    except OSError as error:
        raise OutputError(
            f"results cannot be written to {folder} ({error.strerror or error}): free space or choose another --out."
        ) from error
