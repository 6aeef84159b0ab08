"""The dashboard's server: the one that runs already, or a new one on a free port of this machine.

It is a process of its own, so that sessions go on whatever becomes of a page. Where it listens, and its token, stand in
a file that only this user may read; so a page that is loaded again, a second browser and a second dashboard find it.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from guide.errors import InputError, OutputError
from guide.record.lock import is_alive
from guide.ui.client import LOCAL, Client
from guide.ui.state.folders import HOW_TO_MAKE_ONE, own_first

DATA_VARIABLE = "CNC_DATA"
DEFAULT_DATA = "sessions"
FOLDER = "dashboard"
EVERYWHERE = "0.0.0.0"
READY_S = 60.0  # the first start of a machine reads everything from a cold disk
WARM_AFTER_S = 2.0
LOCKED_S = 1.5 * READY_S
POLL_S = 0.05
LEAVE_S = 30.0
LOG = "serve.log"
PACKAGE = Path(__file__).parents[2]


def data_folder(environment: Mapping[str, str]) -> Path:
    """Where sessions are kept: what CNC_DATA names, else sessions/.

    >>> data_folder({"CNC_DATA": "/srv/sessions"}), data_folder({})
    (PosixPath('/srv/sessions'), PosixPath('sessions'))
    """
    return Path(environment.get(DATA_VARIABLE) or DEFAULT_DATA)


def read_note(note: Path) -> Client | None:
    """The server that wrote where it listens to this file with `--note`, if it lives."""
    if not is_alive(note.parent, note.name):
        return None
    try:
        told = json.loads(note.read_text(encoding="utf-8"))
        scheme = "https" if told["is_secure"] else "http"
        outside = "" if told["host"] == LOCAL else f"{scheme}:{int(told['port'])}"
        return Client(int(told["local_port"]), str(told["token"]), outside)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def bundle_names(exported: Path) -> list[str]:
    """The bundles that can be asked for, the demo's last: one's own come first.

    >>> bundle_names(Path("no/such/folder"))
    []
    """
    found = (path.parent.name for path in exported.glob("*/manifest.json") if not path.parent.name.startswith("."))
    return sorted(found, key=own_first)


class ServerKeeper:
    """Finds the server or starts it; any thread may ask. What it started it ends when this process ends.

    >>> ServerKeeper(Path("exported"), Path("sessions")).note.parent.as_posix()
    'sessions/dashboard'
    """

    def __init__(self, exported: Path, data: Path, is_open: bool = False) -> None:
        self._exported, self._data = exported, data
        self._is_open = is_open  # whether the dashboard itself can be reached from the network
        self._takes_phones = False
        self._is_warm = False
        self._folder = data / FOLDER
        which = hashlib.sha256(str(exported.resolve()).encode()).hexdigest()[:12]
        self.note = self._folder / f"serve-{which}.json"
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def running(self) -> Client | None:
        """The server, if one lives, however slow it answers; none is started.

        Its note alone proves nothing: whoever listens on the port of a dead server would be told its token.
        """
        return read_note(self.note)

    def connect(self) -> Client:
        """The server, started where none runs. Raises InputError without a bundle, OutputError where it fails."""
        with self._lock, self._alone():
            return self.running() or self._start()

    def let_phones_in(self) -> Client:
        """A server that phones and headsets on the network reach, by HTTPS: browsers give no camera to anything less.

        Raises InputError while sessions run: they would end with the server they run in.
        """
        client = self.connect()
        if client.outside.startswith("https"):
            return client
        if any(one["state"] == "running" for one in client.sessions()):
            raise InputError("phones can be let in once no session runs: end the running sessions first.")
        if self._process is None:
            raise InputError(
                "the server was started by another dashboard: end that one first, then start this one anew."
            )
        self._takes_phones = True
        self.close()
        return self.connect()

    def warm_up(self) -> None:
        """Connects in the background, once, so that whoever starts a session soon does not wait.

        A little later: a server that starts takes a core for seconds, and the page is to be drawn first.
        """
        if self._is_warm:
            return
        self._is_warm = True
        timer = threading.Timer(WARM_AFTER_S, self._try)
        timer.name, timer.daemon = "dashboard's server", True
        timer.start()

    def forget(self) -> None:
        """The server was lost: it is to be looked for again."""
        self._is_warm = False

    def has_ended(self, client: Client) -> bool:
        """Whether the server behind `client` is gone for good, and not only slow to answer."""
        return self.running() != client

    def close(self) -> None:
        """Ends the server that was started here, and with it all its sessions, properly."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            process.kill()

    def _try(self) -> None:
        try:
            self.connect()
        except (InputError, OutputError):
            return  # said when somebody asks for a session

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else of this folder looks for a server or starts one meanwhile."""
        try:
            for folder in (self._data, self._folder):  # not `parents`: those would get the usual permissions
                folder.mkdir(exist_ok=True, mode=0o700)
            descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as cause:
            raise OutputError(
                f"{self._folder} cannot be written ({cause.strerror}): set {DATA_VARIABLE} to a folder that can."
            ) from cause
        try:
            self._wait_for(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _wait_for(self, descriptor: int) -> None:
        """Takes the lock; who holds it starts a server, so it is not waited for much longer than that takes."""
        until = time.monotonic() + LOCKED_S
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError as cause:
                if time.monotonic() > until:
                    raise OutputError(
                        f"another dashboard has been starting its server in {self._folder} for {LOCKED_S:.0f} s: "
                        "end that one, then try again."
                    ) from cause
            time.sleep(POLL_S)

    def _start(self) -> Client:
        names = bundle_names(self._exported)
        if not names:
            raise InputError(f"there is no learned procedure in {self._exported}: learn one, or run {HOW_TO_MAKE_ONE}.")
        problem = ""
        for name in names:  # a damaged bundle must not keep the others from being used
            try:
                return self._launch(name)
            except OutputError as error:
                problem = str(error)
        raise OutputError(problem)

    def _launch(self, name: str) -> Client:
        command = [sys.executable, "-m", "guide", "serve", "--bundle", str(self._exported / name), "--port", "0",
                   "--data", str(self._data), "--note", str(self.note), "--end-with-input",
                   *self._reach()]  # fmt: skip
        # The token never stands in the list of processes. The program is found wherever the dashboard was started.
        paths = os.pathsep.join(filter(None, (str(PACKAGE), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "CNC_TOKEN": secrets.token_urlsafe(24), "PYTHONPATH": paths}
        descriptor = os.open(self._folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, env=environment
            )
        self._process = process
        atexit.register(self.close)
        return self._wait(process)

    def _reach(self) -> list[str]:
        """Who can connect: this machine alone, those who reach the dashboard, or phones too."""
        if self._takes_phones:
            return ["--host", EVERYWHERE, "--tls", "auto", "--local"]
        return ["--host", EVERYWHERE] if self._is_open else []

    def _wait(self, process: subprocess.Popen[bytes]) -> Client:
        until = time.monotonic() + READY_S
        while time.monotonic() < until:
            ended = process.poll()
            client = self.running()
            if client is not None and client.answers():
                return client
            if ended is not None:
                raise OutputError(self._last_words())
            time.sleep(POLL_S)
        process.kill()
        raise OutputError(f"the guide's server did not start within {READY_S:.0f} s: see {self._folder / LOG}.")

    def _last_words(self) -> str:
        """Why the server could not start: it says so in its last line."""
        lines = (self._folder / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else f"the guide's server ended without a word: see {self._folder / LOG}."
