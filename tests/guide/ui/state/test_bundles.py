"""View models: what a bundle shows, and that a damaged or hostile one shows itself as such."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.bundle import write_manifest
from guide.commands.steps import write_list_bundle
from guide.errors import InputError
from guide.procedure.scores import learn_names
from guide.procedure.sequences import parse_sequences
from guide.procedure.written_list import read_list
from guide.teach.review_store import ReviewStore
from guide.ui.state.bundles import BundleView, DamagedBundle, rename_bundle, view_bundle
from guide.ui.state.folders import list_bundles, plain, stamp

MakeBundle = Callable[..., Path]


def sound(folder: Path) -> BundleView:
    view = view_bundle(folder)
    assert isinstance(view, BundleView), view
    return view


def rewrite(folder: Path, name: str, content: bytes) -> None:
    """Changes a file of a bundle and its manifest with it, as someone who means harm would."""
    facts = json.loads((folder / "manifest.json").read_text())
    (folder / name).write_bytes(content)
    write_manifest(folder, {key: value for key, value in facts.items() if key not in ("schema", "files")})


def test_a_bundle_shows_steps_orders_and_facts(make_bundle: MakeBundle, tmp_path: Path) -> None:
    view = sound(make_bundle(tmp_path / "box"))
    assert view.name == "box"
    assert view.summary == "4 key-steps learned from 6 demonstrations, 5 frames a second"
    assert [step.label for step in view.steps] == ["1 lay mat", "2 open case", "3 fit board", "4 close lid"]
    assert [len(step.stills) for step in view.steps] == [2, 2, 2, 2]
    assert (view.steps[0].seen, view.steps[0].lasts) == ("in 6 of 6 demonstrations", "about 4 s")
    assert [([step.number for step in one.steps], one.count) for one in view.orderings] == [
        ([1, 2, 3, 4], 4),
        ([2, 1, 3, 4], 2),
    ]
    kept = {(edge.first, edge.then): (edge.support, edge.total) for edge in view.edges}
    assert kept == {
        ("1 lay mat", "3 fit board"): (6, 6),
        ("2 open case", "3 fit board"): (6, 6),
        ("3 fit board", "4 close lid"): (6, 6),
    }
    assert {edge.when_broken for edge in view.edges} <= {"alert", "question", "nothing"}
    facts = dict(view.facts)
    assert facts["Training"] == "240 iterations"
    assert facts["Exported networks"] == "agree with training to a cosine of 0.999990"
    assert view.notes == ("only 3 of the 4 steps asked for were found: ask for fewer",)


def test_iterations_of_several_networks_do_not_contradict_why_training_ended(
    make_bundle: MakeBundle, tmp_path: Path
) -> None:
    training = {"iterations": 1500, "why_ended": "did its 300 iterations"}
    facts = dict(sound(make_bundle(tmp_path / "box", facts={"training": training, "recipe": {"heads": 5}})).facts)
    assert facts["Training"] == "1500 iterations in all"
    assert facts["Why it ended"] == "each of 5 networks did its 300 iterations"


def test_a_step_without_a_name_of_its_own_is_not_numbered_twice(make_bundle: MakeBundle, tmp_path: Path) -> None:
    view = sound(make_bundle(tmp_path / "box", names=("step 1", "step 3", "fit board", "step 4")))
    assert [step.label for step in view.steps] == ["step 1", "2 step 3", "3 fit board", "step 4"]


def test_the_graph_quotes_names(make_bundle: MakeBundle, tmp_path: Path) -> None:
    view = sound(make_bundle(tmp_path / "box", names=('say "hi"', "back\\slash\\n", 'x"]; evil [label="', "<b>d</b>")))
    assert '1 [label="1 say \\"hi\\""];' in view.graph
    assert '2 [label="2 back\\\\slash\\\\n"];' in view.graph
    assert '3 [label="3 x\\"]; evil [label=\\""];' in view.graph
    assert "3 -> 4;" in view.graph


def test_a_manifest_that_tells_nothing_or_nonsense_is_no_obstacle(make_bundle: MakeBundle, tmp_path: Path) -> None:
    silent = sound(make_bundle(tmp_path / "silent", facts={}))
    assert silent.summary == "4 key-steps learned from 6 demonstrations"
    nonsense = {"rate": True, "notes": 3, "training": [], "recipe": "x", "parity": {"a": 1}}
    assert "Training" not in dict(sound(make_bundle(tmp_path / "odd", facts=nonsense)).facts)


def test_the_watch_command_survives_a_strange_folder_name(make_bundle: MakeBundle, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path / "a b; rm -rf x")
    assert sound(folder).watch == f"python -m guide watch VIDEO --bundle '{folder}'"


def test_bundles_are_listed_ones_own_first_and_none_in_the_making(make_bundle: MakeBundle, tmp_path: Path) -> None:
    for name in ("lamp", "demo", "box"):
        make_bundle(tmp_path / name)
    (tmp_path / ".box.new").mkdir()
    (tmp_path / "README.md").write_text("no bundle")
    assert [path.name for path in list_bundles(tmp_path)] == ["box", "lamp", "demo"]
    assert list_bundles(tmp_path / "nowhere") == ()


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("procedure.json", b"{", "not the file its manifest describes"),
        ("manifest.json", b"[]", "no readable JSON object"),
        ("stills/01_1.jpg", b"", "not the file its manifest describes"),
    ],
)
def test_a_damaged_bundle_keeps_its_sentence(
    name: str, content: bytes, problem: str, make_bundle: MakeBundle, tmp_path: Path
) -> None:
    folder = make_bundle(tmp_path / "box")
    (folder / name).write_bytes(content)
    view = view_bundle(folder)
    assert isinstance(view, DamagedBundle)
    assert view.name == "box"
    assert problem in view.problem


def test_an_empty_folder_is_a_damaged_bundle(tmp_path: Path) -> None:
    (tmp_path / "box").mkdir()
    view = view_bundle(tmp_path / "box")
    assert isinstance(view, DamagedBundle)
    assert "is no bundle" in view.problem


def test_a_hostile_procedure_is_refused(make_bundle: MakeBundle, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path / "box")
    rewrite(folder, "procedure.json", b'{"schema": 1}')
    view = view_bundle(folder)
    assert isinstance(view, DamagedBundle)
    assert "the procedure" in view.problem


@pytest.mark.parametrize("content", [b"", b"<svg onload=alert(1)>", b"\xff\xd8\xff\xe0 torn"])
def test_a_bad_picture_is_left_out(content: bytes, make_bundle: MakeBundle, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path / "box")
    rewrite(folder, "stills/02_1.jpg", content)
    assert [len(step.stills) for step in sound(folder).steps] == [2, 1, 2, 2]


def test_an_enormous_picture_is_left_out(make_bundle: MakeBundle, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path / "box")
    is_encoded, data = cv2.imencode(".jpg", np.zeros((3000, 3000), np.uint8))
    assert is_encoded
    rewrite(folder, "stills/03_2.jpg", data.tobytes())
    assert [len(step.stills) for step in sound(folder).steps] == [2, 2, 1, 2]


def test_the_stamp_follows_every_file(make_bundle: MakeBundle, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path / "box")
    before = stamp(folder)
    assert stamp(folder) == before
    (folder / "stills" / "01_1.jpg").write_bytes(b"other")
    assert stamp(folder) != before


@settings(derandomize=True, deadline=None)
@given(st.text(max_size=40))
def test_plain_text_keeps_its_letters_and_no_markup(text: str) -> None:
    escaped = plain(text)
    assert "\n" not in escaped
    assert re.sub(r"\\(.)", r"\1", escaped) == " ".join(text.split())
    assert not re.search(r"(?<!\\)[<>\[\]`*_$:!|]", re.sub(r"\\\\", "", escaped))


def test_the_view_models_need_no_streamlit() -> None:
    code = "import sys, guide.ui.state.bundles; sys.exit('streamlit' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_procedure_is_renamed_with_its_review(make_bundle: MakeBundle, tmp_path: Path) -> None:
    for name in ("pump", "hose"):
        make_bundle(tmp_path / name)
    (ReviewStore(tmp_path / "pump").folder / "labels").mkdir(parents=True)
    place = rename_bundle(tmp_path / "pump", "water pump")
    assert isinstance(view_bundle(place), BundleView)
    assert (ReviewStore(place).folder / "labels").is_dir()
    assert not (tmp_path / "pump").exists()
    for name, why in (("", "letters or digits"), (".hidden", "letters or digits"), ("hose", "already")):
        with pytest.raises(InputError, match=why):
            rename_bundle(place, name)
    assert isinstance(view_bundle(place), BundleView)


def test_a_written_list_is_shown_as_what_it_is(tmp_path: Path) -> None:
    write_list_bundle(read_list("cut\nfold (optional)", "a list"), tmp_path / "kite")
    view = view_bundle(tmp_path / "kite")
    assert isinstance(view, BundleView)
    assert view.summary == "2 steps, written down; guided by hand"
    assert [step.label for step in view.steps] == ["1 cut", "2 fold"]
    assert [(step.marks, step.seen) for step in view.steps] == [((), ""), (("optional",), "")]
    assert [(edge.first, edge.then, edge.when_broken) for edge in view.edges] == [("1 cut", "2 fold", "alert (given)")]
    assert view.watch == f"python -m guide watch none --bundle {tmp_path / 'kite'}"
    assert [name for name, _ in view.facts] == ["Program", "Version"]


def test_what_was_learned_from_sequences_is_shown_as_what_it_is(tmp_path: Path) -> None:
    lines = [json.dumps({"id": "a", "steps": [{"name": "cut", "start": 0, "end": 1}]})] * 3
    procedure = learn_names(parse_sequences(lines, "lines"))
    write_list_bundle(procedure, tmp_path / "kite")
    view = view_bundle(tmp_path / "kite")
    assert isinstance(view, BundleView)
    assert view.summary == "1 step, from 3 sequences; guided by hand"
    assert view.watch.startswith("python -m guide watch none")
    assert "Trunk" not in dict(view.facts)
