"""Ports: where a server may listen, today and again after it was killed.

They lie below the range from which the kernel takes the ports of outgoing connections. From inside
that range a client could be given the port of a killed server, so that the server cannot come back;
and a client that tries to reach it could even end up connected to itself.

A port belongs to the process that asked for it until that process ends, also while nobody listens:
several processes share the tests, and the port of a server that one of them has killed looks free
to the others. A socket with a name that only Linux's kernel knows stands for each; it goes by
itself.
"""

from __future__ import annotations

import socket
from random import SystemRandom

LOWEST = 15_000
HIGHEST = 32_000
TRIES = 200


def free_port() -> int:
    """A loopback port on which nobody listens, and that was given to no process that lives."""
    dice = SystemRandom()
    for _ in range(TRIES):
        port = dice.randint(LOWEST, HIGHEST)
        if _is_free(port) and _claim(port):
            return port
    raise OSError(f"No free port was found between {LOWEST} and {HIGHEST} in {TRIES} tries.")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _claim(port: int) -> bool:
    """Whether the port is ours from now on, until this process ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
        try:
            claim.bind(f"\0drumbeat-port-{port}")
        except OSError:
            return False
        claim.detach()  # and so it stays open
        return True
