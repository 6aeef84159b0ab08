"""A certificate of our own: kept while it serves, made anew when it does not, readable by its owner alone."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from guide.errors import OutputError
from guide.serve.tls import address_on_the_network, own_certificate


def test_it_is_kept_while_it_covers_what_is_wanted(tmp_path: Path) -> None:
    first = own_certificate(tmp_path / "tls", ["localhost", "192.0.2.7"])
    print_of_it = first.fingerprint
    assert own_certificate(tmp_path / "tls", ["192.0.2.7"]).fingerprint == print_of_it
    assert own_certificate(tmp_path / "tls", ["192.0.2.8"]).fingerprint != print_of_it
    assert first.key.stat().st_mode & 0o077 == 0


def test_a_damaged_one_is_made_anew_and_can_be_used(tmp_path: Path) -> None:
    made = own_certificate(tmp_path, ["localhost"])
    made.certificate.write_bytes(b"no certificate")
    made = own_certificate(tmp_path, ["localhost", "::1"])
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(made.certificate, made.key)
    assert len(made.fingerprint) == 95


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        own_certificate(tmp_path / "file" / "tls", ["localhost"])


def test_there_is_always_an_address() -> None:
    assert address_on_the_network().count(".") == 3
