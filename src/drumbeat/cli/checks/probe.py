"""A probe: one request to a node, by the standard library, within a time that is bounded."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from drumbeat.config.kinds import host_and_port
from drumbeat.ports.clock import Clock

LONGEST_ANSWER = 65_536
WILDCARDS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - where nodes listen, and not where we do
OK = 200


class Deadline:
    """How long all steps of a probe may take together."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.seconds = seconds
        self._clock = clock
        self._until = clock.elapsed() + seconds

    @property
    def left(self) -> float:
        """The seconds that are left; `TimeoutError` if there are none."""
        left = self._until - self._clock.elapsed()
        if left <= 0:
            raise TimeoutError
        return left


class ProbeName(StrEnum):
    """What a probe asks a node."""

    LIVE = "live"
    """Does the process answer?"""
    STARTUP = "startup"
    """Has the node started?"""
    READY = "ready"
    """Does it run, does it not drain, and does its store answer?"""
    HEALTH = "health"
    """The same, and does its coordinator answer?"""

    @property
    def path(self) -> str:
        return "/health" if self is ProbeName.HEALTH else f"/{self.value}z"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The answer to a probe, or why there is none."""

    url: str
    ok: bool
    found: str
    refused: bool = False
    """Whether nobody listens there."""


def url_of(address: str) -> str:
    """The URL at which a node that listens at this address is asked from its own machine."""
    host, port = host_and_port(address)
    host = "127.0.0.1" if host in WILDCARDS else host
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def probe(url: str, name: ProbeName, deadline: Deadline) -> ProbeResult:
    """Ask a node, and give up at the deadline, however slowly it answers."""
    whole = url.rstrip("/") + name.path
    try:
        status, body = _get(whole, deadline)
    except TimeoutError:
        return ProbeResult(whole, ok=False, found=f"no answer within {deadline.seconds:g} s")
    except ConnectionRefusedError as error:
        return ProbeResult(whole, ok=False, found=str(error), refused=True)
    except (OSError, ValueError) as error:
        return ProbeResult(whole, ok=False, found=str(error) or type(error).__name__)
    return ProbeResult(whole, status == OK, _reason(status, body))


def _get(url: str, deadline: Deadline) -> tuple[int, bytes]:
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname is None:
        raise ValueError("a node is asked by plain HTTP, at a URL such as http://127.0.0.1:8080")
    address = (parts.hostname, parts.port or 80)
    request = f"GET {parts.path} HTTP/1.1\r\nhost: {parts.netloc}\r\nconnection: close\r\n\r\n"
    with socket.create_connection(address, deadline.left) as connection:
        connection.settimeout(deadline.left)
        connection.sendall(request.encode("ascii"))
        answer = _read(connection, deadline)
    head, _, body = answer.partition(b"\r\n\r\n")
    words = head.split(b"\r\n", 1)[0].split(b" ", 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        raise ValueError("what answers there does not speak HTTP")
    return int(words[1]), body


def _read(connection: socket.socket, deadline: Deadline) -> bytes:
    """All that comes until the end; each part may take only the time that is left for all."""
    answer = b""
    while len(answer) < LONGEST_ANSWER:
        connection.settimeout(deadline.left)
        part = connection.recv(LONGEST_ANSWER)
        if not part:
            break
        answer += part
    return answer


def _reason(status: int, body: bytes) -> str:
    """What the node says of itself, in a few words."""
    try:
        said = json.loads(body)
        words = said.get("reason") or said.get("status")
    except (ValueError, AttributeError):
        words = None
    return str(words) if isinstance(words, str) else f"status {status}"
