"""Which methods are compared: names checked, floors always there, embeddings only where they are needed."""

from __future__ import annotations

import pytest

from guide.errors import InputError
from offline.study.evaluation.methods import Method, choose_methods


def names(losses: str, clusterers: str) -> list[str]:
    return [method.name for method in choose_methods(losses, clusterers)]


def test_finders_that_need_an_embedding_come_once_for_each_loss_others_once() -> None:
    assert names("tc3i,raw", "random,uniform,equal,cte,hc,pcm") == [
        "random", "equal", "uniform", "cte", "tc3i + hc", "tc3i + pcm", "raw + hc", "raw + pcm",
    ]  # fmt: skip


def test_random_and_equal_stand_in_every_table_and_names_given_twice_count_once() -> None:
    assert names("tc3i, tc3i", "hc,hc,") == ["random", "equal", "tc3i + hc"]


@pytest.mark.parametrize(
    ("losses", "clusterers", "word"),
    [("magic", "hc", "losses .*'magic'"), ("tc3i", "hc,best", "finders .*'best'"), ("tc3i", ",", "got nothing")],
)
def test_unknown_names_are_refused(losses: str, clusterers: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        choose_methods(losses, clusterers)


@pytest.mark.parametrize(("clusterer", "draws"), [("random", 3), ("equal", 1), ("uniform", 1), ("cte", 2)])
def test_chance_is_drawn_often_and_what_has_none_runs_once(clusterer: str, draws: int) -> None:
    assert len(Method(clusterer).seeds(2)) == draws
