"""A certificate of our own: kept while it serves, made anew when it does not, readable by its owner alone."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from guide.errors import InputError, OutputError
from guide.serve.tls import Certificate, address_on_the_network, own_certificate, require_certificate, write_private


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


def test_one_that_was_given_is_taken_or_refused_in_a_sentence(tmp_path: Path) -> None:
    good, other = own_certificate(tmp_path / "a", ["localhost"]), own_certificate(tmp_path / "b", ["localhost"])
    assert require_certificate(good) is good
    with pytest.raises(InputError, match="is none: check the path"):
        require_certificate(Certificate(good.certificate, tmp_path / "missing"))
    with pytest.raises(InputError, match="no certificate with its key"):
        require_certificate(Certificate(good.certificate, other.key))
    (tmp_path / "text").write_text("no certificate")
    with pytest.raises(InputError, match="no certificate with its key"):
        require_certificate(Certificate(tmp_path / "text", good.key))


def test_there_is_always_an_address() -> None:
    assert address_on_the_network().count(".") == 3


def test_a_private_file_is_nobody_elses_whatever_lay_there(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("kept")
    (tmp_path / "note.json").symlink_to(tmp_path / "elsewhere")
    write_private(tmp_path / "note.json", b"secret")
    assert (tmp_path / "elsewhere").read_text() == "kept"
    assert (tmp_path / "note.json").stat().st_mode & 0o077 == 0


def test_a_private_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_private(tmp_path / "note.json", "no bytes")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
