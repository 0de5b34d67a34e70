"""Tells requests to the double from those that other tests of the same process send to plain moto."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

_SERVING: ContextVar[bool] = ContextVar("serving", default=False)


class Serving:
    """A server's application, whose requests are the double's.

    Args:
        application: WSGI application of the server.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request, as WSGI asks to."""
        token = _SERVING.set(True)
        try:
            answer: Iterable[bytes] = self._application(environ, start_response)
        finally:
            _SERVING.reset(token)
        return answer


def serving() -> bool:
    """Tell whether a request to the double is answered."""
    return _SERVING.get()
