"""How a test says that a request came over plain HTTP.

The double listens on the loopback address without TLS, which counts as TLS: a request is taken as one over
plain HTTP only if it says so itself.
"""

from __future__ import annotations

from typing import Any, Final

PLAIN_HTTP_HEADER: Final = "x-aws-double-plain-http"


def send_plainly(client: Any) -> None:
    """Have a boto3 client mark all its requests as sent over plain HTTP."""

    def mark(request: Any, **_: Any) -> None:
        request.headers[PLAIN_HTTP_HEADER] = "true"

    client.meta.events.register("before-send", mark)
