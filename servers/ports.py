"""Free ports for servers, which a killed server can use again.

The ports are below the kernel's range for outgoing connections. Within that range a client could
get the port of a killed server, so that the server cannot restart; and a client that connects to
that port could even connect to itself.

A port is reserved for the process that requested it until that process ends, even while no server
listens: several processes share the tests, and the port of a killed server looks free to the
others. The reservation is a Unix socket with an abstract name, which Linux removes with its
process.
"""

from __future__ import annotations

import socket
from random import SystemRandom

LOWEST = 15_000
HIGHEST = 32_000
TRIES = 200


def free_port() -> int:
    """A loopback port without a listener that no live process has reserved."""
    random = SystemRandom()
    for _ in range(TRIES):
        port = random.randint(LOWEST, HIGHEST)
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
    """Reserve the port until this process ends; False if another process has it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
        try:
            claim.bind(f"\0drumbeat-port-{port}")
        except OSError:
            return False
        claim.detach()  # keeps it open
        return True
