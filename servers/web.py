"""HTTP requests to a server on this machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

PATIENCE = 30.0
BRIEF = 2.0
"""The time-out of repeated queries to a server that may not be ready."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of a server."""

    status: int
    text: str

    @property
    def document(self) -> Any:
        """The text as JSON."""
        return json.loads(self.text)


def get(port: int, path: str, patience: float = PATIENCE) -> Answer:
    """Send a GET. Raises an OSError if the server cannot be reached or is not ready."""
    return _ask(_connection(port, patience), "GET", path, None)


def post(port: int, path: str, document: object, patience: float = PATIENCE) -> Answer:
    """POST a JSON document. Raises an OSError if the server cannot be reached or is not ready."""
    return _ask(_connection(port, patience), "POST", path, json.dumps(document))


def put(port: int, path: str, document: object) -> Answer:
    """PUT a JSON document. Raises an OSError if the server cannot be reached or is not ready."""
    return _ask(_connection(port, PATIENCE), "PUT", path, json.dumps(document))


def _connection(port: int, patience: float) -> HTTPConnection:
    return HTTPConnection("127.0.0.1", port, timeout=patience)


def _ask(connection: HTTPConnection, method: str, path: str, body: str | None) -> Answer:
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return Answer(response.status, response.read().decode())
    except HTTPException as error:
        raise ConnectionError(f"port {connection.port} does not speak HTTP: {error!r}") from error
    finally:
        connection.close()
