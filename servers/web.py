"""Web: one question over HTTP to a server on this machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What it said."""

    status: int
    text: str

    @property
    def document(self) -> Any:
        """The text as JSON."""
        return json.loads(self.text)


def get(port: int, path: str) -> Answer:
    """Read something. An OSError if it cannot be reached, or is not ready."""
    return _ask(port, "GET", path, None)


def post(port: int, path: str, document: object) -> Answer:
    """Send a JSON document. An OSError if it cannot be reached, or is not ready."""
    return _ask(port, "POST", path, json.dumps(document))


def put(port: int, path: str, document: object) -> Answer:
    """Replace something by a JSON document. An OSError if it cannot be reached, or is not ready."""
    return _ask(port, "PUT", path, json.dumps(document))


def _ask(port: int, method: str, path: str, body: str | None) -> Answer:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return Answer(response.status, response.read().decode())
    except HTTPException as error:
        raise ConnectionError(f"port {port} speaks no HTTP: {error!r}") from error
    finally:
        connection.close()
