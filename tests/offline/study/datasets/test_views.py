"""Views: one camera's recordings, the performances it missed, and names the paper's table knows."""

from __future__ import annotations

import pytest

from guide.errors import InputError
from offline.study.datasets.sequence import StepSequence, TaskSequences
from offline.study.datasets.views import CMU_VIEWS, PAPER_VIEWS, choose_view, choose_views, views_of
from offline.study.published import VIEWS


def view(recording: str, name: str) -> StepSequence:
    return StepSequence(f"{recording}-{name}", 1.0, (), view=name, recording=recording)


SEEN = (view("a", "ego"), view("a", "top"), view("b", "top"))
TASK = TaskSequences(
    "eggs", (), (StepSequence("a", 1.0, ()), StepSequence("b", 1.0, ())), SEEN, 2, ("b has no view ego",)
)
HEAD = TaskSequences("tent", (), (StepSequence("c", 1.0, (), view="ego"),))
SILENT = TaskSequences("soup", (), (StepSequence("d", 1.0, ()),))


def test_one_camera() -> None:
    assert views_of(TASK) == ("ego", "top")
    ego, top = choose_view(TASK, "ego"), choose_view(TASK, "top")
    assert ([one.id for one in ego.recordings], ego.views, ego.videos) == (["a-ego"], (), 1)
    assert ego.missing == ("b has no view ego",)
    assert (top.videos, top.missing) == (2, ())
    assert [one.id for one in choose_view(TASK, "third").recordings] == ["a-top", "b-top"]
    assert choose_view(HEAD, "ego") == HEAD


@pytest.mark.parametrize(
    ("task", "name", "answer"),
    [
        (TASK, "lhs", "the views are ego, top: choose one of them"),
        (HEAD, "third", "the views are ego: choose one of them"),
        (SILENT, "ego", "and nothing here says which camera is which: leave --view out"),
    ],
)
def test_a_view_that_is_not_there_is_answered_with_those_that_are(task: TaskSequences, name: str, answer: str) -> None:
    with pytest.raises(InputError, match=f"has no view '{name}', {answer}"):
        choose_view(task, name)


def test_tasks_without_the_view_drop_out_unless_none_has_it() -> None:
    tasks = {"eggs": TASK, "tent": HEAD, "soup": SILENT}
    assert set(choose_views(tasks, "ego")) == {"eggs", "tent"}
    assert choose_views(tasks, None) is tasks
    with pytest.raises(InputError, match="no task here has a view 'lhs', the views are ego, top: choose"):
        choose_views(tasks, "lhs")


def test_the_papers_table_has_a_row_for_every_camera() -> None:
    assert set(CMU_VIEWS.values()) == set(PAPER_VIEWS)
    assert set(PAPER_VIEWS.values()) == {row for row, _ in VIEWS.rows}
