"""What stands before every page: a password where one is set, nothing where none is."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from guide.ui import shell
from guide.ui.password import PasswordHash

PAGE = 'import streamlit as st\nfrom guide.ui import shell\nshell.require_login()\nst.header("inside")'


@pytest.fixture(autouse=True)
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CNC_DATA", str(tmp_path))
    monkeypatch.delenv("CNC_PASSWORD", raising=False)
    monkeypatch.setattr(shell, "is_open", lambda: False)


def headers(page: AppTest) -> list[str]:
    assert not page.exception, page.exception
    return [header.value for header in page.header]


def test_without_a_password_the_page_is_drawn() -> None:
    page = AppTest.from_string(PAGE).run()
    assert headers(page) == ["inside"]
    assert not page.warning


def test_an_open_dashboard_without_a_password_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "is_open", lambda: True)
    page = AppTest.from_string(PAGE).run()
    assert headers(page) == ["inside"]
    assert "set a password" in page.warning[0].value


def test_a_page_whose_login_is_over_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNC_PASSWORD", PasswordHash.of("correct horse").line())
    page = AppTest.from_string(PAGE, default_timeout=20).run()
    assert headers(page) == []
    assert "log in again" in page.warning[0].value


def test_a_password_kept_unhashed_keeps_everybody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNC_PASSWORD", "hunter2")
    page = AppTest.from_string(PAGE).run()
    assert headers(page) == []
    assert "hunter2" not in page.error[0].value


def test_a_page_leads_to_another() -> None:
    lead = 'from guide.ui import shell\nshell.page_link("learn", "Learn a procedure", ":material/school:")'
    page = AppTest.from_string(lead).run()
    assert not page.exception, page.exception
    [link] = page.get("page_link")
    assert (link.proto.page, link.proto.label) == ("learn", "Learn a procedure")
