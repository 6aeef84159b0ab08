"""The benchmark of records runs, counts rightly, and refuses a database that is in use."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.benchmarks.records import RecordsBenchmarkOptions, measure
from guide.errors import InputError
from tests.postgres import Cluster


def test_all_that_was_given_is_counted_and_a_database_in_use_is_refused(postgres: Cluster, tmp_path: Path) -> None:
    options = RecordsBenchmarkOptions(postgres.database(), sessions=5, rate=20.0, seconds=1.5)
    figures = {figure.name: figure for figure in measure(options, tmp_path).figures}
    assert figures["records given"].value == 150
    assert [figures[name].value for name in ("lost", "stored twice", "spool files left")] == [0, 0, 0]
    assert figures["writes to the database"].value >= 5
    with pytest.raises(InputError, match="holds sessions already"):
        measure(options, tmp_path)


def test_without_an_address_it_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give --records"):
        measure(RecordsBenchmarkOptions(), tmp_path)
