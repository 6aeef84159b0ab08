"""Who may do what: the server's own token opens everything; others have a name and a role, and can be revoked.

Of named tokens only hashes are kept, in a file beside the sessions that is read anew when it changes.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import logging
import secrets
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlsplit

import msgspec

from guide.errors import InputError, OutputError
from guide.ingest.base import NO_PICTURES, is_camera_number
from guide.ingest.streams import is_address
from guide.serve.schemas import HEADSET
from guide.serve.tls import write_private

log = logging.getLogger(__name__)

FILE = "tokens.json"
LONGEST_NAME = 64
UNICAST = ipaddress.ip_network("2000::/3")  # of IPv6

Role = Literal["camera", "watch", "operate", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Identity:
    """Whoever brought a token: a name, if the token has one, and what it allows.

    >>> Identity("watch").may("watch"), Identity("watch").may("operate"), Identity("camera").may("watch")
    (True, False, False)
    """

    role: Role
    name: str = ""

    def may(self, role: Role) -> bool:
        """Whether this allows what `role` does; each role allows what those before it do, but cameras see nothing."""
        return role == self.role or (self.role != "camera" and ROLES.index(role) <= ROLES.index(self.role))

    def signed(self, person: str) -> str:
        """A person as it is stored with an action, with the name of the token.

        >>> Identity("operate", "line 2").signed("shift 1"), Identity("admin").signed("shift 1")
        ('shift 1 (line 2)', 'shift 1')
        """
        return f"{person} ({self.name})" if person and self.name else person or self.name


class NamedToken(msgspec.Struct, frozen=True):
    """What is kept of a named token; `made` is in seconds since 1970."""

    name: str
    role: Role
    sha256: str
    made: float


class Tokens:
    """Recognises tokens.

    >>> tokens = Tokens("secret")
    >>> tokens.identify("secret"), tokens.identify(camera_token("secret")).role, tokens.identify("other")
    (Identity(role='admin', name=''), 'camera', None)
    """

    def __init__(self, token: str, file: Path | None = None) -> None:
        self.token = token
        self._own = {token: Identity("admin"), camera_token(token): Identity("camera")}
        self._file = file
        self._stamp: tuple[int, int] | None = None
        self._named: tuple[NamedToken, ...] = ()

    def identify(self, given: object) -> Identity | None:
        """Whose token this is; compared in constant time."""
        text = (given if isinstance(given, str) else "").encode("utf-8", "replace")
        for token, identity in self._own.items():
            if hmac.compare_digest(text, token.encode()):
                return identity
        digest = hashlib.sha256(text).hexdigest()
        return next(
            (Identity(one.role, one.name) for one in self._read() if hmac.compare_digest(one.sha256, digest)), None
        )

    def of_cookie(self, given: str) -> Identity | None:
        """What a page's cookie allows."""
        roles = (role for role in ROLES if hmac.compare_digest(given.encode(), self.cookie(role).encode()))
        return next((Identity(role) for role in roles), None)

    def cookie(self, role: Role) -> str:
        """The value of the page's cookie. Browsers send it to every port of a machine, so it is weaker than a token."""
        return hmac.new(self.token.encode(), f"cookie {role}".encode(), hashlib.sha256).hexdigest()[:32]

    def _read(self) -> tuple[NamedToken, ...]:
        if self._file is None:
            return ()
        try:
            found = self._file.stat()
        except OSError:
            return ()
        stamp = found.st_mtime_ns, found.st_ino
        if stamp != self._stamp:
            self._stamp, self._named = stamp, ()
            try:
                self._named = read_tokens(self._file)
            except InputError as error:  # nobody gets in by a damaged file
                log.warning("%s", error)
        return self._named


def camera_token(token: str) -> str:
    """A token that sends pictures and hears guidance and nothing else, for the code that phones scan.

    >>> camera_token("secret") == camera_token("other")
    False
    """
    return hmac.new(token.encode(), b"camera", hashlib.sha256).hexdigest()[:32]


def read_tokens(file: Path) -> tuple[NamedToken, ...]:
    """The named tokens, none where there is no file; raises InputError where it is damaged."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=tuple[NamedToken, ...])
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.MsgspecError) as cause:
        raise InputError(
            f"{file} should list tokens and cannot be read ({cause}): delete it, and make new ones."
        ) from cause


def add_token(file: Path, name: str, role: Role) -> str:
    """A new token of that name; it is shown once, and only its hash is kept."""
    known = read_tokens(file)
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"a token has a name of up to {LONGEST_NAME} characters that can be shown, got {name!r:.80}.")
    if any(one.name == name for one in known):
        raise InputError(f"there is a token named {name} already: revoke it first, or choose another name.")
    token = secrets.token_urlsafe(24)
    _write(file, (*known, NamedToken(name, role, hashlib.sha256(token.encode()).hexdigest(), time.time())))
    return token


def revoke_token(file: Path, name: str) -> None:
    """Takes a token's rights away, at once; raises InputError where there is none of that name."""
    known = read_tokens(file)
    left = tuple(one for one in known if one.name != name)
    if left == known:
        names = ", ".join(one.name for one in known) or "none"
        raise InputError(f"there is no token named {name!r:.80}; there are: {names}.")
    _write(file, left)


def _write(file: Path, tokens: tuple[NamedToken, ...]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(file, msgspec.json.encode(tokens))
    except OSError as cause:
        raise OutputError(f"{file} cannot be written ({cause.strerror}): choose another folder with --data.") from cause


def require_reachable(source: str) -> str | None:
    """The number of the machine that an address names; it is to be asked by that, for names may change their meaning.

    Raises InputError where only an administrator may open a source: files, and addresses of private networks.

    >>> require_reachable("headset:helmet"), require_reachable("0")
    (None, None)
    >>> require_reachable("http://127.0.0.1:8765/")
    Traceback (most recent call last):
    ...
    guide.errors.InputError: 127.0.0.1 lies in a private network: only an administrator's token opens it.
    """
    if is_camera_number(source) or source == NO_PICTURES or source.startswith((HEADSET, "name:")):
        return None
    if not is_address(source):
        raise InputError(
            "a camera, a headset or a public stream was expected: only an administrator's token opens files."
        )
    host = urlsplit(source).hostname or ""
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, None)]
    except (OSError, UnicodeError) as cause:
        raise InputError(f"{host!r:.80} cannot be found: check the address.") from cause
    if not all(_is_public(one) for one in found):
        raise InputError(f"{host:.80} lies in a private network: only an administrator's token opens it.")
    return found[0]


def _is_public(number: str) -> bool:
    """Whether a number is one machine's of the public network; those of IPv6 that stand for one of IPv4 are not.

    >>> [_is_public(number) for number in ("8.8.8.8", "224.0.0.1", "2001:4860:4860::8888", "64:ff9b::10.0.0.1")]
    [True, False, True, False]
    """
    machine = ipaddress.ip_address(number.partition("%")[0])
    if isinstance(machine, ipaddress.IPv6Address) and (machine not in UNICAST or machine.sixtofour is not None):
        return False
    return machine.is_global and not machine.is_multicast
