"""A stand-in for the Kubernetes API of an EKS cluster: HTTPS on this machine, with objects by path."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class KubernetesStandIn:
    """What the stand-in serves, and what it was asked.

    Attributes:
        objects: By path. A list is served as one, in pages; of pods, those of the phase that is asked for.
        page: Items of a page.
        status: Answered in the place of objects, unless 200.
        refused: Paths that are answered with another status.
        asked: Method, path and token of each request.
        endpoint: Its address.
        authority: Its certificate as EKS says it.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.page = 1
        self.status = 200
        self.refused: dict[str, int] = {}
        self.asked: list[tuple[str, str, str | None]] = []
        self.endpoint = ""
        self.authority = ""

    def answer(self, path: str) -> tuple[int, Any]:
        parts = urlparse(path)
        status = self.refused.get(parts.path, self.status)
        if status != 200:
            return status, {}
        found = self.objects.get(parts.path)
        if found is None:
            return 404, {}
        if not isinstance(found, list):
            return 200, found
        query = parse_qs(parts.query)
        if "fieldSelector" in query:
            phase = query["fieldSelector"][0].removeprefix("status.phase=")
            found = [one for one in found if one["status"]["phase"] == phase]
        at = int(query.get("continue", ["at 0"])[0].removeprefix("at "))
        end = at + self.page
        more = {"continue": f"at {end}"} if end < len(found) else {}
        return 200, {"items": found[at:end], "metadata": more}


@contextmanager
def serving(folder: Path) -> Iterator[KubernetesStandIn]:
    """Serve on a free port of this machine, as long as the block runs."""
    kept = KubernetesStandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kept.asked.append((self.command, self.path, self.headers["Authorization"]))
            status, found = kept.answer(self.path)
            body = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    certificate, kept.authority = self_signed(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    kept.endpoint = f"https://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield kept
    server.shutdown()
    server.server_close()
    thread.join()


def self_signed(folder: Path) -> tuple[Path, str]:
    """A certificate for 127.0.0.1 that signs itself: its file, and what EKS would say of it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "server.pem"
    path.write_bytes(private + public)
    return path, base64.b64encode(public).decode()
