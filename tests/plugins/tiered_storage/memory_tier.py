"""A stand-in for the daemon that keeps checkpoints in the memory of the nodes. AWS runs it on HyperPod only.

Its requests are those that PyPI amzn-sagemaker-checkpointing 1.1.3 makes, with the meaning that its client
gives them. There is one daemon, no replication, and no share of memory that could be full.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

_NAMESPACE = re.compile(r"/v1/cp/namespaces/(?P<namespace>[^/?]+)")
_LATEST = re.compile(r"/v1/cp/checkpoints/(?P<namespace>[^/?]+)/latest")
_SHARD = re.compile(r"/v1/cp/checkpoints/(?P<namespace>[^/?]+)/(?P<rank>\d+)/(?P<step>\d+)")
_META = "Shard-Meta"

Shard = tuple[str, int, int]


class MemoryTier:
    """The daemon, at a port of its own while it is a context."""

    def __init__(self) -> None:
        self.shards: dict[Shard, tuple[str, bytes]] = {}
        self.namespaces: set[str] = set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def steps(self) -> set[int]:
        """Return the steps that it has any part of."""
        return {step for _, _, step in self.shards}

    def lose_all(self) -> None:
        """Lose what all nodes have in memory, as when all are replaced."""
        self.shards.clear()
        self.namespaces.clear()


def _handler(tier: MemoryTier) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if match := _NAMESPACE.match(self.path):
                known = match["namespace"] in tier.namespaces
                self._answer(200 if known else 404, b'{"ok": true}' if known else b"")
            elif match := _LATEST.match(self.path):
                steps = {step for name, _, step in tier.shards if name == match["namespace"]}
                self._answer(200, json.dumps(sorted(steps, reverse=True)).encode())
            elif (match := _SHARD.match(self.path)) and (found := tier.shards.get(_shard(match))):
                self._answer(200, found[1], {_META: found[0]})
            else:
                self._answer(404)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if match := _NAMESPACE.match(self.path):
                tier.namespaces.add(match["namespace"])
                self._answer(200)
            elif (match := _SHARD.match(self.path)) and match["namespace"] in tier.namespaces:
                tier.shards[_shard(match)] = (self.headers[_META], body)
                self._answer(200)
            else:
                self._answer(404)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing to the log of the tests."""

        def _answer(self, code: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
            self.send_response(code)
            for name, value in ({} if headers is None else headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


def _shard(match: re.Match[str]) -> Shard:
    return match["namespace"], int(match["rank"]), int(match["step"])
