"""The page in Streamlit's own test runner: its empty state, a bundle, a damaged one, hostile names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

MakeBundle = Callable[..., Path]


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], Any]:
    """Runs the app on the bundles in tmp_path."""

    def run() -> AppTest:
        monkeypatch.setenv("CNC_EXPORTED", str(tmp_path))
        page = AppTest.from_string("from guide.ui import bundles\nbundles.page()", default_timeout=30).run()
        assert not page.exception, page.exception
        return page

    return run


def texts(page: AppTest) -> str:
    parts = [*page.header, *page.markdown, *page.caption, *page.info, *page.warning]
    return "\n".join([*(str(part.value) for part in parts), *(str(one.proto.body) for one in page.get("html"))])


def codes(page: AppTest) -> list[str]:
    return [code.value for code in page.code]


def test_without_a_bundle_the_page_says_how_to_make_one(open_page: Callable[[], AppTest]) -> None:
    page = open_page()
    assert page.header[0].value == "Learned procedures"
    assert "make demo-bundle" in codes(page)


def test_a_bundle_is_drawn(open_page: Callable[[], AppTest], make_bundle: MakeBundle, tmp_path: Path) -> None:
    make_bundle(tmp_path / "box")
    page = open_page()
    assert page.selectbox[0].value == "box"
    assert ">1 lay mat</span>" in texts(page)
    assert "<b>4 ×</b>" in texts(page)
    assert [tab.label for tab in page.tabs] == ["Steps", "Orders", "Quality", "How it was learned"]
    assert list(page.dataframe[0].value["seen so"]) == ["6 of 6"] * 3
    assert f"python -m guide watch VIDEO --bundle {tmp_path / 'box'}" in codes(page)


def test_a_damaged_bundle_leaves_the_others(
    open_page: Callable[[], AppTest], make_bundle: MakeBundle, tmp_path: Path
) -> None:
    make_bundle(tmp_path / "box")
    (make_bundle(tmp_path / "bad") / "procedure.json").write_text("{}")
    page = open_page()
    assert page.selectbox[0].value == "box"
    assert len(page.warning) == 1
    assert page.warning[0].value.startswith("**bad** cannot be used:")


def test_a_bundle_damaged_while_the_page_is_open_is_noticed(
    open_page: Callable[[], AppTest], make_bundle: MakeBundle, tmp_path: Path
) -> None:
    make_bundle(tmp_path / "box")
    page = open_page()
    (tmp_path / "box" / "stills" / "01_1.jpg").write_bytes(b"x")
    page.run()
    assert not page.selectbox
    assert page.warning[0].value.startswith("**box** cannot be used:")
    assert page.info[0].value.startswith("There is no other procedure in")


def test_another_bundle_can_be_chosen(
    open_page: Callable[[], AppTest], make_bundle: MakeBundle, tmp_path: Path
) -> None:
    make_bundle(tmp_path / "a")
    make_bundle(tmp_path / "b", names=("one", "two", "three", "four"))
    page = open_page()
    page.selectbox[0].set_value("b").run()
    assert page.selectbox[0].value == "b"
    assert ">2 two</span>" in texts(page)


def test_names_are_never_markup(open_page: Callable[[], AppTest], make_bundle: MakeBundle, tmp_path: Path) -> None:
    make_bundle(tmp_path / "box", names=("<img src=x onerror=alert(1)>", "![a](http://h/x)", ":red[b]", "$c$"))
    page = open_page()
    for part in [*page.markdown, *page.caption]:
        assert not part.proto.allow_html
    shown = texts(page)
    assert "<img" not in shown.replace("\\<img", "")
    assert ">1 &lt;img src=x onerror=alert(1)&gt;</span>" in shown


def press(page: AppTest, label: str) -> None:
    next(one for one in page.button if one.label == label).click().run()
    assert not page.exception, page.exception


def test_a_procedure_is_renamed_with_its_review(
    open_page: Callable[[], AppTest], make_bundle: MakeBundle, tmp_path: Path
) -> None:
    for name in ("box", "other"):
        make_bundle(tmp_path / name)
    (tmp_path / ".review" / "box" / "labels").mkdir(parents=True)
    page = open_page()
    page.text_input[0].set_value("other").run()
    press(page, "Rename it")
    assert "there is a procedure other already" in str(page.error[0].value)
    page.text_input[0].set_value("../the lamp").run()
    press(page, "Rename it")
    assert page.selectbox[0].value == "the-lamp"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".review", "other", "the-lamp"]
    assert (tmp_path / ".review" / "the-lamp" / "labels").is_dir()


def test_a_procedure_is_deleted_with_its_review(
    open_page: Callable[[], AppTest], make_bundle: MakeBundle, tmp_path: Path
) -> None:
    make_bundle(tmp_path / "box")
    make_bundle(tmp_path / "other")
    (tmp_path / ".review" / "box").mkdir(parents=True)
    page = open_page()
    press(page, "Yes, delete it")
    assert page.selectbox[0].value == "other"
    assert not (tmp_path / "box").exists()
    assert not (tmp_path / ".review" / "box").exists()
