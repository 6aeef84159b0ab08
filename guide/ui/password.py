"""An optional password for the dashboard on a network; only its hash is ever kept.

`python -m guide.ui.password` asks for one and keeps its hash beside the sessions; or CNC_PASSWORD holds the hash.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import functools
import getpass
import hashlib
import hmac
import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from guide.errors import InputError, OutputError
from guide.serve.guard import FailureDelays
from guide.ui.server import FOLDER, data_folder

VARIABLE = "CNC_PASSWORD"
FILE = "password"
HOW = "make one with: python -m guide.ui.password"
COST, BLOCK, LANES = 2**14, 8, 1  # scrypt: 16 MB and about 50 ms for each try
MOST_COST = 2**17
SHORTEST = 8
STAY_S = 12 * 3600.0
MOST_STAYING = 1_000
MOST_TRIES = 16
"""That wait to be looked at."""


@dataclass(frozen=True, slots=True)
class PasswordHash:
    """What is kept of a password.

    >>> kept = PasswordHash.of("correct horse", salt=b"0123456789abcdef")
    >>> kept.matches("correct horse"), kept.matches("wrong horse")
    (True, False)
    >>> PasswordHash.read(kept.line()) == kept
    True
    """

    cost: int
    block: int
    lanes: int
    salt: bytes
    key: bytes

    @classmethod
    def of(cls, password: str, salt: bytes | None = None) -> PasswordHash:
        salt = secrets.token_bytes(16) if salt is None else salt
        return cls(COST, BLOCK, LANES, salt, _derive(password, salt, COST, BLOCK, LANES))

    @classmethod
    def read(cls, line: str) -> PasswordHash:
        """The hash that a line holds; InputError where it holds something else, such as the password itself."""
        try:
            kind, cost, block, lanes, salt, key = line.strip().split("$")
            made = cls(int(cost), int(block), int(lanes), _bytes(salt), _bytes(key))
        except (ValueError, binascii.Error) as cause:
            raise InputError(
                f"a hashed password was expected in {VARIABLE} or its file, this is none: {HOW}"
            ) from cause
        if kind != "scrypt" or not 2**12 <= made.cost <= MOST_COST or made.block > 16 or made.lanes > 4:
            raise InputError(f"a hashed password was expected in {VARIABLE} or its file, this is none: {HOW}")
        return made

    def line(self) -> str:
        salt, key = (base64.b64encode(part).decode() for part in (self.salt, self.key))
        return f"scrypt${self.cost}${self.block}${self.lanes}${salt}${key}"

    def matches(self, password: str) -> bool:
        """Whether this is the password, compared in constant time."""
        return hmac.compare_digest(_derive(password, self.salt, self.cost, self.block, self.lanes), self.key)


class BusyError(InputError):
    """So many passwords are being tried that this one was not looked at.

    >>> str(BusyError("try again."))
    'try again.'
    """


class Turns:
    """One at a time. Of those who wait, the newest of the smallest crowd comes next, so that whoever comes once is not
    held up by an address that tries again and again; where too many wait, the oldest of the largest crowd is sent away.

    >>> turns = Turns()
    >>> async def work() -> str:
    ...     async with turns.turn("192.0.2.7"):
    ...         return "done"
    >>> asyncio.run(work())
    'done'
    """

    def __init__(self) -> None:
        self._is_taken = False
        self._waiting: list[tuple[str, asyncio.Future[bool]]] = []  # oldest first

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Within it nobody else has a turn; raises BusyError where it is sent away."""
        if self._is_taken and not await self._wait(address):
            raise BusyError("Too many passwords are being tried just now: wait a moment, then try again.")
        self._is_taken = True
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, address: str) -> bool:
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting = [one for one in self._waiting if not one[1].cancelled()] + [(address, turn)]
        if len(self._waiting) > MOST_TRIES:
            self._take(max(self._crowds().values()), is_oldest=True).set_result(False)
        try:
            return await turn
        except asyncio.CancelledError:
            if not turn.cancelled() and turn.result():  # it was our turn already
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        self._waiting = [one for one in self._waiting if not one[1].cancelled()]
        self._is_taken = bool(self._waiting)
        if self._waiting:
            self._take(min(self._crowds().values()), is_oldest=False).set_result(True)

    def _crowds(self) -> Counter[str]:
        return Counter(address for address, _ in self._waiting)

    def _take(self, size: int, is_oldest: bool) -> asyncio.Future[bool]:
        """The oldest or newest of those whose address has so many."""
        crowds = self._crowds()
        found = [place for place, (address, _) in enumerate(self._waiting) if crowds[address] == size]
        return self._waiting.pop(found[0] if is_oldest else found[-1])[1]


class Login:
    """Checks the password and gives out login tokens that replace it for a while; each wrong try waits longer.

    >>> login = Login(PasswordHash.of("correct horse", salt=b"0123456789abcdef"))
    >>> token = asyncio.run(login.log_in("correct horse", "192.0.2.7"))
    >>> login.is_valid(token), login.is_valid("another"), login.is_valid(None)
    (True, False, False)
    """

    def __init__(self, kept: PasswordHash, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept, self._clock = kept, clock
        self._turns = Turns()  # one try at a time: each takes memory, and guessing in parallel gains nothing
        self._delays = FailureDelays(clock)
        self._tokens: dict[str, float] = {}

    async def log_in(self, password: str, address: str) -> str | None:
        """A login token that holds for a while; None, after a delay, for a wrong password.

        A right one never waits for the delays of wrong ones: behind a proxy all come from the same address. Raises
        BusyError where too many are tried at once.
        """
        async with self._turns.turn(address):
            is_right = await asyncio.to_thread(self._kept.matches, password[:1_000])
        if is_right:
            return self._new_token()
        await self._delays.wait_after_failure(address)
        return None

    def is_valid(self, token: str | None) -> bool:
        """Whether a login token was given out here and still holds."""
        now = self._clock()
        held = [one for one, until in list(self._tokens.items()) if until > now]
        return any(hmac.compare_digest(one.encode(), (token or "").encode("utf-8", "replace")) for one in held)

    def _new_token(self) -> str:
        now = self._clock()
        self._tokens = {one: until for one, until in list(self._tokens.items())[-MOST_STAYING:] if until > now}
        token = secrets.token_urlsafe(32)
        self._tokens[token] = now + STAY_S
        return token


def current_login(environment: Mapping[str, str]) -> Login | None:
    """The login for the password that is set now; None where none is."""
    line = kept_line(environment)
    return _login(line) if line else None


@functools.lru_cache(maxsize=4)
def _login(line: str) -> Login:
    return Login(PasswordHash.read(line))


def kept_line(environment: Mapping[str, str]) -> str:
    """The line that is kept of the password, or nothing: the variable's, else the file's."""
    if environment.get(VARIABLE):
        return environment[VARIABLE]
    try:
        return (data_folder(environment) / FOLDER / FILE).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as cause:
        raise InputError(f"the password's file cannot be read: {HOW}") from cause


def main(args: Sequence[str] = ()) -> None:
    """Asks for a password twice and keeps its hash."""
    from guide.serve.tls import write_private  # here, as below: every page reads this file, and none needs it

    if args:
        raise InputError(
            "this command takes no options: it asks for a password twice and keeps its hash; run it alone."
        )
    first = _ask("Password for the dashboard: ")
    if len(first) < SHORTEST:
        raise InputError(f"a password of at least {SHORTEST} letters was expected, {len(first)} came.")
    if _ask("Once more: ") != first:
        raise InputError("the two were not the same: run it again.")
    path = data_folder(os.environ) / FOLDER / FILE
    try:
        for folder in (path.parent.parent, path.parent):
            folder.mkdir(exist_ok=True, mode=0o700)
        write_private(path, (PasswordHash.of(first).line() + "\n").encode())
    except OSError as cause:
        raise OutputError(f"{path} cannot be written ({cause.strerror}): check the folder.") from cause
    sys.stdout.write(f"Its hash is kept in {path}; the dashboard asks for the password from now on.\n")


def _ask(question: str) -> str:
    try:
        return getpass.getpass(question)
    except EOFError as cause:
        raise InputError("a password was expected, but the input ended: run the command in a terminal.") from cause


def _derive(password: str, salt: bytes, cost: int, block: int, lanes: int) -> bytes:
    words = password.encode("utf-8", "replace")
    return hashlib.scrypt(words, salt=salt, n=cost, r=block, p=lanes, maxmem=512 * cost * block, dklen=32)


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


if __name__ == "__main__":
    from guide.commands.entry import run

    run(lambda: main(sys.argv[1:]))
