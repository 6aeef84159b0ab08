"""A certificate of our own: browsers give a camera to HTTPS only, and on a factory floor there is no other."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import os
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from guide.errors import InputError, OutputError
from guide.whole_file import whole_file

DAYS = 365
CERTIFICATE, KEY = "certificate.pem", "key.pem"


@dataclass(frozen=True, slots=True)
class Certificate:
    """The files of a certificate and its key.

    >>> Certificate(Path("certificate.pem"), Path("key.pem")).key.name
    'key.pem'
    """

    certificate: Path
    key: Path

    @property
    def fingerprint(self) -> str:
        """What a browser shows of it, SHA-256, so that a person can compare."""
        read = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        return read.fingerprint(hashes.SHA256()).hex(":").upper()


def own_certificate(folder: Path, names: Iterable[str]) -> Certificate:
    """A certificate for these names and addresses; an earlier one is kept while it covers them.

    A phone asks once whether to trust it, so it should not change at every start.
    """
    wanted = sorted(set(names))
    found = Certificate(folder / CERTIFICATE, folder / KEY)
    if _covers(found, wanted):
        return found
    key = ec.generate_private_key(ec.SECP256R1())
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(found.key, _key_bytes(key))
        write_private(found.certificate, _signed(key, wanted).public_bytes(serialization.Encoding.PEM))
    except OSError as cause:
        raise OutputError(
            f"the certificate cannot be written to {folder} ({cause.strerror}): choose another folder with --data."
        ) from cause
    return found


def require_certificate(given: Certificate) -> Certificate:
    """A certificate that was given, if a server can use it; InputError with one sentence otherwise."""
    for path in (given.certificate, given.key):
        if not path.is_file():
            raise InputError(
                f"a certificate and its key were expected as PEM files, but {path} is none: check the path."
            )
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(given.certificate, given.key, lambda: "")
    except (OSError, ValueError) as cause:  # what OpenSSL refuses is an OSError too; no password is asked for
        raise InputError(
            f"{given.certificate} and {given.key} are no certificate with its key that can be read without a password "
            f"({getattr(cause, 'reason', None) or getattr(cause, 'strerror', None) or cause}): give others."
        ) from cause
    return given


def address_on_the_network() -> str:
    """This machine's address as others see it; the local one where there is no network. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # an address for documents: only the route to it is asked for
        return str(probe.getsockname()[0])
    return "127.0.0.1"


def _covers(found: Certificate, wanted: list[str]) -> bool:
    try:
        read = x509.load_pem_x509_certificate(found.certificate.read_bytes())
        serialization.load_pem_private_key(found.key.read_bytes(), None)
        names = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, TypeError, x509.ExtensionNotFound):
        return False
    known = {*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))}
    left = read.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    return set(wanted) <= known and left > datetime.timedelta(days=7)


def _signed(key: ec.EllipticCurvePrivateKey, names: list[str]) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "CnC Guide")])
    now = datetime.datetime.now(datetime.UTC)
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))  # clocks of phones differ
        .not_valid_after(now + datetime.timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName([_general(one) for one in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=False)
        .sign(key, hashes.SHA256())
    )


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _key_bytes(key: ec.EllipticCurvePrivateKey) -> bytes:
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)


def write_private(path: Path, data: bytes) -> None:
    """Writes a file that only its owner may read, aside and then in place."""
    with whole_file(path) as unfinished:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
