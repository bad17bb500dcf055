"""Ports: where a server may listen, today and again after it was killed.

They lie below the range from which the kernel takes the ports of outgoing connections. From inside
that range a client could be given the port of a killed server, so that the server cannot come back;
and a client that tries to reach it could even end up connected to itself.
"""

from __future__ import annotations

import socket
from random import SystemRandom

LOWEST = 15_000
HIGHEST = 32_000
TRIES = 200

_given: set[int] = set()


def free_port() -> int:
    """A loopback port on which nobody listens, and that was given to nobody in this process."""
    dice = SystemRandom()
    for _ in range(TRIES):
        port = dice.randint(LOWEST, HIGHEST)
        if port not in _given and _is_free(port):
            _given.add(port)
            return port
    raise OSError(f"No free port was found between {LOWEST} and {HIGHEST} in {TRIES} tries.")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
