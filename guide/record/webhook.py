"""Posts alerts to another program as JSON, in a thread of its own: the loop never waits for a network.

What cannot be delivered is tried again after growing pauses, in order, as long as the session runs and a little longer.
A name, a password or a token in the address goes to that address alone, never into a log.
"""

from __future__ import annotations

import base64
import http.client
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

from guide.errors import InputError

log = logging.getLogger(__name__)

AGAIN = frozenset({408, 425, 429})
"""Refusals that mean later, not never."""
_KEPT = "/?%:@!$&'()*+,;=~"
_NEEDED = "a webhook needs an address such as https://example.org/alerts"
MOST_ANSWER_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """How long is waited, and how much may wait.

    >>> WebhookSettings().first_pause_s
    1.0
    """

    timeout_s: float = 5.0
    first_pause_s: float = 1.0
    longest_pause_s: float = 60.0
    most_waiting: int = 1_000
    """Then the oldest is given up: an alert of an hour ago helps nobody."""
    patience_s: float = 5.0
    """For what is still to be delivered when the session ends."""


def check_address(url: str) -> SplitResult:
    """The parts of an address that alerts can be posted to; InputError, without its secrets, where they cannot."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises where it is no number
    except ValueError as cause:
        raise InputError(
            "a webhook needs an address such as https://example.org/alerts, got one without sense."
        ) from cause
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable() or " " in url:
        raise InputError(f"{_NEEDED}, got {redacted_origin(parts)!r:.80}: use http or https.")
    return parts


def redacted_origin(parts: SplitResult) -> str:
    """An address fit for logs: scheme, host and port; whatever else may be a secret.

    >>> redacted_origin(urlsplit("https://me:secret@example.org:8443/hook/T0K3N?key=abc"))
    'https://example.org:8443/…'
    """
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}/…" if host else f"{parts.scheme or 'no scheme'}:…"


class Webhook:
    """Posts what it is given, each as one JSON object.

    >>> hook = Webhook("http://localhost:9/alerts", WebhookSettings(patience_s=0.0), tell=print)
    >>> hook.close()
    """

    def __init__(
        self, url: str, settings: WebhookSettings | None = None, tell: Callable[[str], None] = log.warning
    ) -> None:
        self._address = check_address(url)
        self._name = redacted_origin(self._address)
        self._settings = settings or WebhookSettings()
        self._tell = tell
        self.delivered = self.given_up = 0
        self._trouble = ""
        self._waiting: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._end_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def post(self, thing: Mapping[str, Any]) -> None:
        """Takes an object to post. Never waits; where too many wait, the oldest is given up."""
        data = json.dumps(thing, ensure_ascii=False, allow_nan=False).encode()
        with self._changed:
            if len(self._waiting) >= self._settings.most_waiting:
                self._waiting.popleft()
                self.given_up += 1
            self._waiting.append(data)
            self._changed.notify()

    def close(self) -> None:
        """Tries a little longer to deliver what waits, then says what could not be."""
        with self._changed:
            self._end_at = time.monotonic() + self._settings.patience_s
            self._changed.notify()
        self._thread.join(self._settings.patience_s + self._settings.timeout_s + 1.0)
        left = len(self._waiting) + self.given_up
        if left:
            self._tell(
                f"webhook: {left} alert{'s' if left > 1 else ''} could not be delivered to {self._name} "
                f"({self._trouble or 'no answer'})."
            )

    def _run(self) -> None:
        pause_s = self._settings.first_pause_s
        while (data := self._next()) is not None:
            problem, is_final = self._deliver(data)
            if problem and not is_final:
                self._begin_trouble(problem)
                self._rest(pause_s)
                pause_s = min(2 * pause_s, self._settings.longest_pause_s)
                continue
            pause_s = self._settings.first_pause_s
            self._settle(data, problem)

    def _next(self) -> bytes | None:
        """The oldest that waits, awaited; nothing once the end has come."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._end_at is not None)
            is_over = self._end_at is not None and time.monotonic() >= self._end_at
            return self._waiting[0] if self._waiting and not is_over else None

    def _rest(self, pause_s: float) -> None:
        """Waits, but not past the end."""
        until = time.monotonic() + pause_s
        with self._changed:
            while (now := time.monotonic()) < min(until, self._end_at or until):
                self._changed.wait(min(until, self._end_at or until) - now)

    def _settle(self, data: bytes, problem: str) -> None:
        """Takes what is done with off the list; it may be gone already, given up for want of room."""
        with self._changed:
            if self._waiting and self._waiting[0] is data:
                self._waiting.popleft()
        if problem:
            self.given_up += 1
            self._trouble = problem
            self._tell(f"webhook: {self._name} refuses an alert ({problem}): check the address.")
            return
        self.delivered += 1
        if self._trouble:
            self._trouble = ""
            self._tell(f"webhook: {self._name} answers again.")

    def _begin_trouble(self, problem: str) -> None:
        if not self._trouble:
            self._tell(f"webhook: {self._name} cannot be reached ({problem}): alerts are kept and tried again.")
        self._trouble = problem

    def _deliver(self, data: bytes) -> tuple[str, bool]:
        """What was wrong, if anything, and whether trying again is vain."""
        try:
            status = self._send(data)
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            # Only the kind of error: its text could repeat the address.
            return getattr(error, "strerror", None) or type(error).__name__, False
        if 200 <= status < 300:
            return "", True
        return f"status {status}", 300 <= status < 500 and status not in AGAIN

    def _send(self, data: bytes) -> int:
        """The status of the answer. Nothing leads elsewhere: a redirection is a refusal."""
        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        connection = kind(str(self._address.hostname), self._address.port, timeout=self._settings.timeout_s)
        try:
            asked = (self._address.path or "/") + (f"?{self._address.query}" if self._address.query else "")
            connection.request("POST", quote(asked, safe=_KEPT), data, self._headers())
            answer = connection.getresponse()
            answer.read(MOST_ANSWER_BYTES)
            return answer.status
        finally:
            connection.close()

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "cnc-guide"}
        if self._address.username is not None:
            who = f"{unquote(self._address.username)}:{unquote(self._address.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(who.encode()).decode()
        return headers
