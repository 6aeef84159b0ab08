"""A PostgreSQL of the tests' own: Debian's programs, a cluster in a temporary folder, a fresh database a test."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import pytest

PROGRAMS = Path("/usr/lib/postgresql")
USER, PASSWORD = "guide", "Geheim%21wort"
SECRET = "Geheim!wort"


def require_postgres() -> Path:
    """The folder of its programs; without one, or without a driver, the test is left out, or fails where
    REQUIRE_POSTGRES=1 asks for it."""
    found = sorted(PROGRAMS.glob("*/bin/initdb"))
    if found and find_spec("psycopg") is not None:
        return found[-1].parent
    reason = "no PostgreSQL was found: install the package postgresql, and the extra fleet."
    if os.environ.get("REQUIRE_POSTGRES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


class Cluster:
    """A server on a port of its own, which asks for the password; it can be stopped, killed and started again."""

    def __init__(self) -> None:
        self._programs = require_postgres()
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._user: dict[str, str] = {}
        if os.geteuid() == 0:  # it refuses to be run by root
            shutil.chown(self._folder, "postgres", "postgres")
            self._user = {"user": "postgres", "group": "postgres"}
        (self._folder / "password").write_text(SECRET)
        (self._folder / "password").chmod(0o644)
        auth = ("--auth=scram-sha-256", f"--pwfile={self._folder / 'password'}")
        self._run("initdb", "-D", str(self._folder / "data"), "-U", USER, "--no-sync", "-E", "UTF8", *auth)
        self._databases = 0
        self.start()

    def start(self) -> None:
        settings = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._folder} -c fsync=off"
        )
        log = str(self._folder / "log")
        self._run("pg_ctl", "start", "-w", "-D", str(self._folder / "data"), "-l", log, "-o", settings)

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        self._run("pg_ctl", "stop", "-w", "-D", str(self._folder / "data"), "-m", mode)

    def is_running(self) -> bool:
        return (self._folder / "data" / "postmaster.pid").exists()

    def freeze(self) -> None:
        """Stops every process of it without a word: connections stay open and nobody answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        first = int((self._folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for process in (first, *map(int, children)):
            os.kill(process, number)

    def close(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self._folder)

    def database(self) -> str:
        """The address of a new, empty database."""
        self._databases += 1
        name = f"records{self._databases}"
        self.ask(f"CREATE DATABASE {name}", "postgres")
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{name}"

    def ask(self, query: str, database: str) -> str:
        """What psql answers."""
        command = ("-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d", database, "-Atc", query)
        return self._run("psql", *command).strip()

    def dump(self, address: str) -> str:
        """Everything in a database, as pg_dump writes it, less the random word that it puts around."""
        name = address.rpartition("/")[2]
        lines = self._run("pg_dump", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, name).splitlines(True)
        return "".join(line for line in lines if not line.startswith(("\\restrict", "\\unrestrict")))

    def restore(self, dump: str) -> str:
        """The address of a new database with what a dump holds."""
        address = self.database()
        file = self._folder / "dump.sql"
        file.write_text(dump)
        file.chmod(0o644)
        where = ("-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d", address.rpartition("/")[2])
        self._run("psql", *where, "-q", "-v", "ON_ERROR_STOP=1", "-f", str(file))
        return address

    def _run(self, program: str, *arguments: str) -> str:
        environment = {**os.environ, "PGPASSWORD": SECRET, "LC_ALL": "C"}
        with tempfile.TemporaryFile("w+") as said:  # a server that goes on would hold a pipe open
            done = subprocess.run(
                [self._programs / program, *arguments], env=environment, cwd=self._folder, check=False,
                stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, **self._user,  # type: ignore[call-overload]
            )  # fmt: skip
            said.seek(0)
            text = said.read()
        assert done.returncode == 0, f"{program}: {text}"
        return text
