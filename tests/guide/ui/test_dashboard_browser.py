"""The dashboard in a real browser: the app as `make dashboard` starts it, and Debian's Chromium."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.dashboard import browse, end, serve

HOSTILE = "<img src=x onerror=alert(1)>"

MakeBundle = Callable[..., Path]

pytestmark = pytest.mark.browser


def test_a_newcomer_sees_the_steps_and_a_hostile_name_stays_text(make_bundle: MakeBundle, tmp_path: Path) -> None:
    make_bundle(tmp_path / "exported" / "box", names=(HOSTILE, "open case", "fit board", "close lid"))
    with serve(tmp_path) as address, browse() as page:
        page.goto(f"{address}/bundles")
        expect(page.get_by_role("heading", name="Learned procedures")).to_be_visible()
        for name in (HOSTILE, "open case", "fit board", "close lid"):
            expect(page.get_by_text(name, exact=False).first).to_be_visible()
        expect(page.get_by_alt_text("2 open case, as it was done")).to_be_visible()
        page.get_by_role("tab", name="Orders").click()
        expect(page.locator("svg g.node")).to_have_count(4)
        assert page.locator("img[src='x']").count() == 0


def test_a_server_that_does_not_end_is_killed_and_named() -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    server = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", deaf],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert server.stdout is not None
    assert server.stderr is not None
    server.stdout.readline()  # from here on it is deaf
    with pytest.raises(pytest.fail.Exception, match="did not end"):
        end(server, patience_s=0.5)
    assert server.returncode is not None
    assert b"time.sleep" in server.stderr.read() or server.returncode == -signal.SIGABRT
    server.stdout.close()
    server.stderr.close()
