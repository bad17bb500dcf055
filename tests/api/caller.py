"""A caller: asks the API of an app in this process, as ASGI does, without a socket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec

from drumbeat import Drumbeat
from drumbeat.api.access.access_control import AccessControl
from drumbeat.api.http.application import Api
from drumbeat.api.http.route import AnyRoute
from drumbeat.api.table import TABLE
from drumbeat.engine.plumbing.token_secrets import new_token
from drumbeat.model.fleet.token import NewToken, Scope, TokenRecord
from drumbeat.rules.tokens import digest_of
from drumbeat.testing import FakeClock, FakeRuntime, inside

JSON = "application/json"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def kind(self) -> str:
        """The word of the problem."""
        return str(self.data["type"]).rpartition(":")[2]


@dataclass
class Caller:
    """Asks, each time from the same address and with the same headers."""

    api: Any
    headers: dict[str, str] = field(default_factory=dict[str, str])
    address: str = "127.0.0.1"
    scheme: str = "http"

    async def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        said = {"host": "localhost:8080"} | self.headers
        said |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = b"" if body is None else msgspec.json.encode(body)
        if body is not None:
            said.setdefault("content-type", JSON)
        parts = urlsplit(path)
        connection = {
            "type": "http",
            "method": method,
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in said.items()],
            "client": (self.address, 50_000),
            "server": ("127.0.0.1", 8080),
            "scheme": self.scheme,
            "root_path": "",
        }
        return await asked(self.api, connection, sent)


async def asked(api: Any, connection: dict[str, Any], body: bytes) -> Answer:
    """Put one request."""
    got: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        got.append(message)

    await api(connection, receive, send)
    return Answer(
        got[0]["status"],
        {name.decode(): value.decode("latin-1") for name, value in got[0]["headers"]},
        b"".join(message.get("body", b"") for message in got[1:]),
    )


@dataclass
class House:
    """An app in memory on a clock that stands still, with the gate of a door."""

    app: Drumbeat
    api: Api
    clock: FakeClock

    def caller(self, token: str | None = None, **settings: Any) -> Caller:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return Caller(self.api, headers, **settings)

    async def token(self, scope: Scope, name: str = "", **more: Any) -> str:
        """A new token."""
        token = new_token()
        added = await self.app.store.tokens.add(
            NewToken(name or f"the {scope}", digest_of(token), scope, **more)
        )
        assert isinstance(added, TokenRecord)
        return token


def house(*, local: bool = True, routes: tuple[AnyRoute, ...] = TABLE, **settings: Any) -> House:
    """An app that serves the API, as a door of its own or (`local=False`) to the world."""
    clock = FakeClock()
    app = Drumbeat("memory://", runtime=FakeRuntime(clock), environment={}, **settings)

    @app.task
    async def greet(name: str = "world") -> str:
        return f"Hello, {name}!"

    fleet = inside.measured_fleet(app)
    return House(app, Api(fleet, AccessControl(fleet, local=local), routes), clock)
