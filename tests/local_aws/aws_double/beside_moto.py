"""Services that moto does not have at all, whose requests its server would not know whom to give to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from moto.moto_server.werkzeug_app import BackendRequest
from werkzeug.wrappers import Response

from aws_double.service_api import ServiceApi

_SIGNED_FOR = re.compile(r"Credential=[^/]+/\d+/[^/]+/(?P<service>[^/]+)/")
_APIS: dict[str, ServiceApi] = {}


def answers_itself(api: ServiceApi) -> None:
    """Let an API answer whatever is signed for its service.

    Args:
        api: API of a service whose signing name is its name.
    """
    _APIS[api.service] = api


class BesideMoto:
    """A server's application that gives such requests to the double's APIs, and all others to moto.

    Args:
        application: Moto's WSGI application.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request, as WSGI asks to."""
        signed = _SIGNED_FOR.search(environ.get("HTTP_AUTHORIZATION", ""))
        api = _APIS.get(signed["service"]) if signed is not None else None
        if api is None:
            answer: Iterable[bytes] = self._application(environ, start_response)
            return answer
        request = BackendRequest(environ)
        status, headers, body = api.answer(request, request.url, request.headers)
        return Response(body, status=status, headers=headers)(environ, start_response)
