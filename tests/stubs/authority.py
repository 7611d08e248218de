"""A certificate authority of our own, for servers on this machine."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """It signs, and its certificate is the one to trust."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named("storeproof tests")
        self._number = 0
        authority = self._builder(self._name, self._key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.certificate = folder / "authority.pem"
        self._write(self.certificate, authority.sign(self._key, hashes.SHA256()))

    def sign(self, host: str) -> tuple[Path, Path]:
        """A certificate for a host's name or address, and its key: both as PEM files."""
        self._number += 1
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.IPAddress(ipaddress.ip_address(host)) if host[0].isdigit() else x509.DNSName(host)
        signed = self._builder(_named(host), key).add_extension(x509.SubjectAlternativeName([name]), critical=False)
        certificate, secret = self._folder / f"{self._number}.pem", self._folder / f"{self._number}.key"
        self._write(certificate, signed.sign(self._key, hashes.SHA256()))
        secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        return certificate, secret

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
        )

    @staticmethod
    def _write(path: Path, certificate: x509.Certificate) -> None:
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
