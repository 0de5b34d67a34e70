"""Stands for the memory daemon of managed tiered checkpointing, which exists on AWS only. A stand-in.

It speaks the HTTP interface that AWS's public client, PyPI amzn-sagemaker-checkpointing 1.1.3, asks for:
namespaces, parts by rank and step, the latest steps. It is one process: nothing is copied to neighbours, and
no memory is limited but by the number of steps that a namespace keeps.
"""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

_NAMESPACE = re.compile(r"/v1/cp/namespaces/([^/]+)")
_LATEST = re.compile(r"/v1/cp/checkpoints/([^/]+)/latest")
_PART = re.compile(r"/v1/cp/checkpoints/([^/]+)/([0-9]+)/([0-9]+)")


class MemoryDaemonStandIn:
    """Serves on 127.0.0.1 while it is a context.

    Attributes:
        parts: By namespace, rank and step: bytes, and the header with their checksum.
        namespaces: By name: what the client said when it made them.
        url: Where it serves.
    """

    def __init__(self) -> None:
        self.parts: dict[tuple[str, int, int], tuple[bytes, str]] = {}
        self.namespaces: dict[str, dict[str, int]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def keep(self, namespace: str, rank: int) -> None:
        """Forget the oldest steps of a rank, as many as are too many."""
        most = self.namespaces[namespace]["steps_retained"]
        steps = sorted(step for name, of, step in self.parts if (name, of) == (namespace, rank))
        for step in steps[:-most]:
            del self.parts[namespace, rank, step]


def _handler_of(daemon: MemoryDaemonStandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *words: Any) -> None:
            pass

        def answer(self, code: int, content: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(code)
            for name, value in ({} if headers is None else headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def answer_json(self, code: int, said: Any) -> None:
            self.answer(code, json.dumps(said).encode())

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            if match := _NAMESPACE.fullmatch(url.path):
                found = daemon.namespaces.get(match[1])
                self.answer_json(404 if found is None else 200, found)
            elif match := _LATEST.fullmatch(url.path):
                limit = int(parse_qs(url.query)["limit"][0])
                steps = {step for name, _, step in daemon.parts if name == match[1]}
                known = match[1] in daemon.namespaces
                self.answer_json(200 if known else 404, sorted(steps, reverse=True)[:limit])
            elif match := _PART.fullmatch(url.path):
                part = daemon.parts.get((match[1], int(match[2]), int(match[3])))
                if part is None:
                    self.answer_json(404, None)
                else:
                    self.answer(200, part[0], {"Shard-Meta": part[1]})
            else:
                self.answer_json(400, f"GET {url.path}")

        def do_POST(self) -> None:
            url = urlsplit(self.path)
            content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            if match := _NAMESPACE.fullmatch(url.path):
                asked = parse_qs(url.query)
                daemon.namespaces[match[1]] = {name: int(values[0]) for name, values in asked.items()}
                self.answer_json(200, None)
            elif (match := _PART.fullmatch(url.path)) and match[1] in daemon.namespaces:
                key = match[1], int(match[2]), int(match[3])
                daemon.parts[key] = content, self.headers.get("Shard-Meta", "{}")
                daemon.keep(match[1], key[1])
                self.answer_json(200, None)
            else:
                self.answer_json(404, None)

    return Handler
