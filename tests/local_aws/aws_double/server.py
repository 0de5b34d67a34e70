"""Serves the double on one port of this machine.

This must set up the process before moto is imported, which reads its settings then.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterable
from threading import Thread
from types import ModuleType

from aws_double import ACCOUNT, LIMITS

HOST = "127.0.0.1"


def serve(*, port: int, pace: float, stops_with_input: bool = False) -> None:
    """Serve until the process ends.

    Prints one line when ready: the address, and what the double does not show.

    Args:
        port: Port to listen on; 0 for a free one.
        pace: Seconds to wait before each resource of a stack.
        stops_with_input: Whether to end when standard input does, and so with the process that began this.
    """
    _prepare()
    from moto.moto_server.werkzeug_app import (
        DomainDispatcherApplication,
        MotoRequestHandler,
        create_backend_app,
    )
    from werkzeug.serving import make_server

    from aws_double.beside_moto import BesideMoto
    from aws_double.gate import Gate
    from aws_double.serving import Serving

    server = make_server(
        HOST,
        port,
        Gate(Serving(BesideMoto(DomainDispatcherApplication(create_backend_app)))),
        threaded=True,
        request_handler=MotoRequestHandler,
    )
    endpoint = f"http://{HOST}:{server.server_port}"
    os.environ["MOTO_PORT"] = str(server.server_port)
    _install(endpoint=endpoint, pace=pace)
    if stops_with_input:
        Thread(target=_stop_after_input, daemon=True).start()
    print(f"A double of AWS, not AWS, at {endpoint} does not show: {'; '.join(LIMITS)}", flush=True)
    server.serve_forever()


def _prepare() -> None:
    # The double's own calls carry their endpoint; settings of the user's must not send them elsewhere.
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ |= {
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "MOTO_ACCOUNT_ID": ACCOUNT,
        "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",
    }


def _install(*, endpoint: str, pace: float) -> None:
    from aws_double import resources, services
    from aws_double.cloudformation import api

    for module in _modules(resources):
        importlib.import_module(module)
    for module in _modules(services):
        installs = getattr(importlib.import_module(module), "install", None)
        if installs is not None:
            installs()
    api.install(endpoint=endpoint, pace=pace)


def _modules(package: ModuleType) -> Iterable[str]:
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        yield found.name


def _stop_after_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)
