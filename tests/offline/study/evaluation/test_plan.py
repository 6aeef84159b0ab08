"""Options that make no sense are refused with one sentence before any work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from guide.errors import InputError
from offline.features import RecordingFeatures
from offline.study.evaluation.plan import EvaluateOptions, fitted, make_plan, require_fit
from offline.study.evaluation.task import LabelledTask

OPTIONS = EvaluateOptions(features=Path("data"))
SEEN = RecordingFeatures("a", 1.0, np.arange(4.0), np.zeros((4, 2), np.float32))
TASK = LabelledTask("1", "tea", {1: "boil", 2: "pour"}, (SEEN,), (np.array([0, 1, 1, 2]),))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"features": None}, "neither came"),
        ({"videos": Path("x")}, "both came"),
        ({"labels": Path("x")}, "--labels goes with --videos"),
        ({"seeds": 0}, "--seeds"),
        ({"choices": 0}, "--choices"),
        ({"labelled": "-1"}, "--labelled"),
        ({"labelled": "one"}, "--labelled"),
        ({"labelled": "1,"}, "--labelled"),
        ({"k": "seven"}, "--k is true, auto"),
        ({"k": "0"}, "--k is true, auto"),
        ({"k": "7,"}, "--k is true, auto"),
        ({"protocols": "A,Z"}, "'Z'"),
        ({"losses": "best"}, "'best'"),
        ({"dataset": "our kitchen"}, "'our kitchen'"),
    ],
)
def test_nonsense_is_refused(changes: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        make_plan(replace(OPTIONS, **changes))  # type: ignore[arg-type]


def test_the_loss_is_the_recipe_s_where_none_is_named() -> None:
    plan = make_plan(OPTIONS)
    assert {method.loss for method in plan.methods} == {None, plan.recipe.loss}
    assert plan.counts == ("true",)


@pytest.mark.parametrize(("folder", "dataset"), [("a/CMU-MMAC/Brownie", "CMU-MMAC"), ("a/b", None)])
def test_the_data_set_is_seen_from_the_folder(folder: str, dataset: str | None) -> None:
    assert make_plan(EvaluateOptions(videos=Path(folder))).dataset == dataset


def test_more_steps_than_frames_are_refused() -> None:
    with pytest.raises(InputError, match=r"between 1 and the number of frames \(4 in 1 tea\), got 5"):
        require_fit(make_plan(replace(OPTIONS, k="2,5")), [TASK])


def test_labels_without_pictures_can_only_be_scored_blind() -> None:
    blind = replace(TASK, is_seen=False)
    require_fit(make_plan(replace(OPTIONS, cluster="random,uniform,equal")), [blind])
    with pytest.raises(InputError, match="no pictures, so cte, tc3i"):
        require_fit(make_plan(OPTIONS), [blind])


def test_where_no_finder_is_named_labels_alone_get_the_blind_ones() -> None:
    blind, plan = replace(TASK, is_seen=False), make_plan(OPTIONS)
    assert [method.name for method in fitted(plan, [blind], is_named=False).methods] == ["random", "equal", "uniform"]
    assert fitted(plan, [blind], is_named=True) == plan
    assert fitted(plan, [TASK, blind], is_named=False) == plan


def test_somebody_must_be_left_to_score() -> None:
    with pytest.raises(InputError, match="no task has more than 1 and 1 were asked for: choose fewer"):
        require_fit(make_plan(replace(OPTIONS, labelled="1,2")), [TASK])
    pair = replace(TASK, recordings=(SEEN, SEEN), truth=TASK.truth * 2)
    require_fit(make_plan(replace(OPTIONS, labelled="1,2")), [TASK, pair])


@pytest.mark.parametrize(("changes", "word"), [({"k": "auto"}, "--k auto"), ({"labelled": "1"}, "--labelled")])
def test_what_looks_needs_pictures(changes: dict[str, object], word: str) -> None:
    blind = replace(TASK, recordings=(SEEN, SEEN), truth=TASK.truth * 2, is_seen=False)
    with pytest.raises(InputError, match=f"no pictures, so {word} cannot"):
        require_fit(make_plan(replace(OPTIONS, cluster="equal", **changes)), [blind])  # type: ignore[arg-type]


def test_the_number_of_key_steps_is_chosen_in_an_embedding_that_is_there() -> None:
    recipe = make_plan(OPTIONS).recipe
    assert make_plan(replace(OPTIONS, losses="raw")).loss == "raw"
    assert make_plan(replace(OPTIONS, losses=f"cidm,{recipe.loss}")).loss == recipe.loss
    assert make_plan(replace(OPTIONS, cluster="equal")).loss == recipe.loss


def test_views_are_taken_once_and_in_order() -> None:
    assert make_plan(replace(OPTIONS, view="top, ego,top")).views == ("top", "ego")
    assert make_plan(OPTIONS).views == ()
