"""A place for a cluster that no other test process has: ports and loopback addresses of its own."""

from __future__ import annotations

import socket
from typing import Final

PORTS_A_PLACE: Final = 16
_FIRST_PORT: Final = 20480
_PLACES: Final = 500


class Place:
    """Ports and addresses, held until :meth:`release` or the end of this process.

    Attributes:
        ports: Free TCP ports.
    """

    def __init__(self) -> None:
        for number in range(_PLACES):
            # An abstract name goes with the process that has it, however it ends.
            claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                claim.bind(f"\0hyperpod-local-slurm-{number}")
            except OSError:
                claim.close()
                continue
            first = _FIRST_PORT + number * PORTS_A_PLACE
            self.ports = list(range(first, first + PORTS_A_PLACE))
            if all(_is_free(port) for port in self.ports):
                self._claim, self._number = claim, number
                return
            claim.close()
        raise RuntimeError(f"no {PORTS_A_PLACE} free TCP ports in a row from {_FIRST_PORT} on")

    def address(self, number: int) -> str:
        """Address of a machine: each has its own, as on a cluster, all on the loopback interface.

        Args:
            number: Which, 1 to 254.
        """
        return f"127.{64 + self._number // 250}.{self._number % 250}.{number}"

    def release(self) -> None:
        """Let others have it."""
        self._claim.close()


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
