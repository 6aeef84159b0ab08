"""Asks `guide serve` over HTTP, for the dashboard: sessions, their state, actions, and addresses of pictures."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from guide.errors import GuideError, InputError
from guide.serve.guard import view_token
from guide.serve.tokens import camera_token

LOCAL = "127.0.0.1"
ASK_S = 5.0
START_S = 20.0  # a bundle may have to be read and its networks started
END_S = 30.0  # the recording is closed properly

Plain = dict[str, Any]


class LostError(GuideError):
    """The server does not answer, or is not the one we know.

    >>> str(LostError("the server does not answer."))
    'the server does not answer.'
    """


class NoSessionError(GuideError):
    """The server knows no such session.

    >>> str(NoSessionError("there is no such session."))
    'there is no such session.'
    """


@dataclass(frozen=True, slots=True)
class Client:
    """A server that runs, and the token that opens it.

    >>> Client(8765, "secret").stream("20300102-030405-00ff", "127.0.0.1")[:62]
    'http://127.0.0.1:8765/sessions/20300102-030405-00ff/stream?loo'
    """

    port: int
    """Where it listens on this machine, without TLS."""
    token: str = field(repr=False)
    outside: str = ""
    """How others reach it: scheme and port, as `https:8765`; nothing where only this machine can."""

    def answers(self) -> bool:
        """Whether the server answers just now."""
        try:
            self.sessions()
        except GuideError:
            return False
        return True

    def sessions(self) -> list[Plain]:
        """Running and newly finished sessions in brief, oldest first."""
        return list(self._ask("/sessions")["sessions"])

    def replicas(self) -> list[Plain]:
        """The replicas of a fleet; NoSessionError where the server is none."""
        return list(self._ask("/fleet")["replicas"])

    def state(self, session: str) -> Plain:
        """Where a session stands; NoSessionError where there is none."""
        return self._ask(f"/sessions/{quote(session, safe='')}")

    def start(self, request: Mapping[str, object]) -> Plain:
        """A new session; InputError with one sentence where it cannot be."""
        return self._ask("/sessions", request, timeout_s=START_S)

    def act(self, session: str, action: Mapping[str, object]) -> Plain:
        """Takes an operator's action; InputError with one sentence where it makes no sense."""
        return self._ask(f"/sessions/{quote(session, safe='')}/actions", action)

    def end(self, session: str, is_cut: bool = False) -> Plain:
        """Ends a session properly and gives its last state; one that is cut is not judged."""
        return self._ask(
            f"/sessions/{quote(session, safe='')}{'?cut' if is_cut else ''}", method="DELETE", timeout_s=END_S
        )

    def stream(self, session: str, host: str) -> str:
        """The address of the moving picture, for a browser that knows this machine as `host`; it opens nothing else."""
        return self._look(session, "stream", host) + "&bare"

    def live_numbers(self, session: str, host: str) -> str:
        """The address of the live numbers, an event stream for the page's own script."""
        return self._look(session, "beats", host)

    def still(self, session: str, step: int, number: int, host: str) -> str:
        """The address of a demonstration's picture of a step."""
        return self._look(session, f"stills/{step}/{number}", host)

    def snapshot(self, session: str, alert: int, host: str) -> str:
        """The address of the picture kept of an alert's moment."""
        return self._look(session, f"alerts/{alert}/picture", host)

    def phone_page(self, host: str, client: str, bundle: str) -> str:
        """The address of the page that sends a camera's pictures, with a token that opens nothing else."""
        query = urlencode({"token": camera_token(self.token), "client": client, "bundle": bundle})
        return f"{self._place(host)}/?{query}"

    def _look(self, session: str, what: str, host: str) -> str:
        name = quote(session, safe="")
        return f"{self._place(host)}/sessions/{name}/{what}?look={view_token(self.token, session)}"

    def _place(self, host: str) -> str:
        if host == LOCAL or not self.outside:
            return f"http://{LOCAL}:{self.port}"
        scheme, _, port = self.outside.partition(":")
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def _ask(
        self, path: str, sent: Mapping[str, object] | None = None, method: str | None = None, timeout_s: float = ASK_S
    ) -> Plain:
        data = None if sent is None else json.dumps(sent).encode()
        headers = {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"http://{LOCAL}:{self.port}{path}", data, headers, method=method)
        try:
            with open_directly(request, timeout_s) as answer:
                return _object(answer.read())
        except urllib.error.HTTPError as error:
            raise _refusal(error) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise LostError("the guide's server does not answer just now: wait a moment and try again.") from error


def open_directly(request: urllib.request.Request, timeout_s: float) -> Any:
    """Asks a server of this machine. No proxy is asked, whatever the environment says: it would learn the token."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=timeout_s)


def _object(data: bytes) -> Plain:
    plain = json.loads(data)
    if not isinstance(plain, dict):
        raise ValueError("a JSON object was expected")
    return plain


def _refusal(error: urllib.error.HTTPError) -> GuideError:
    """The server's own sentence, as the error it means here."""
    try:
        words = str(_object(error.read())["error"])
    except (OSError, ValueError, KeyError):
        words = f"the guide's server answered with {error.code}: try again."
    if error.code == http.HTTPStatus.UNAUTHORIZED:
        return LostError("the guide's server knows another token: it is looked for again.")
    return NoSessionError(words) if error.code == http.HTTPStatus.NOT_FOUND else InputError(words)
