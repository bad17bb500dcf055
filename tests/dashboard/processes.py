"""A fleet of real processes for the browser to look at."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.support.processes import PATIENCE, Node

INSIDE = Path(__file__).parent / "inside"
LISTENING = "Listening at http://"
QUEUES = "default,mail,reports,slow"
"""All queues of the shop: a worker takes only jobs of `default` if it is not told."""


class Fleet:
    """Nodes on one store. The first one serves the API, at an address that stays."""

    def __init__(self, folder: Path, store: str, settings: Mapping[str, str]) -> None:
        self._folder = folder
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self._environment = {
            **kept,
            "DRUMBEAT_STORE": store,
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": str(INSIDE),
            **settings,
        }
        self.nodes: dict[str, Node] = {}
        self.address = ""

    def start(
        self, label: str, roles: str, app: str = "shop:app", says: str = "Node started"
    ) -> Node:
        """Start a node and wait until it listens; one without the API, until it says this."""
        arguments = [sys.executable, "-m", "drumbeat", "run", app, "--roles", roles]
        arguments += ["--instance-id", label, "--log-format", "text"]
        if "api" in roles:
            arguments += ["--http-addr", self.address or "127.0.0.1:0"]
        process = subprocess.Popen(
            arguments,
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        node = self.nodes[label] = Node(process)
        if "api" in roles:
            node.says(LISTENING)
            self.address = node.seen[-1].split(LISTENING)[1].split()[0]
        else:
            node.says(says)
        return node

    def kill(self, label: str) -> None:
        """End a node as a crash does."""
        node = self.nodes.pop(label)
        node.signal(signal.SIGKILL)
        node.ended()

    def get(self, path: str, token: str | None = None) -> Any:
        """What the API answers to a GET."""
        return self._asked("GET", path, None, token)

    def post(self, path: str, body: Any = None, token: str | None = None) -> Any:
        """What the API answers to a POST."""
        return self._asked("POST", path, {} if body is None else body, token)

    def _asked(self, method: str, path: str, body: Any, token: str | None) -> Any:
        headers = {"content-type": "application/json"}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        asked = Request(f"{self.url}/{path}", data, headers, method=method)
        with urlopen(asked, timeout=PATIENCE) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def close(self) -> None:
        for node in self.nodes.values():
            if node.process.poll() is None:
                node.process.kill()
            node.process.wait()
            node.reading.join(PATIENCE)


@contextmanager
def fleet_of(folder: Path, store: str = "", **settings: str) -> Generator[Fleet]:
    """A fleet without nodes yet, on a file of its own if no store is given."""
    fleet = Fleet(folder, store or f"sqlite:///{folder / 'shop.db'}", settings)
    try:
        yield fleet
    finally:
        fleet.close()
