"""Where a node serves HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drumbeat.api.application import Api
from drumbeat.api.desk import Desk
from drumbeat.api.gate import Gate
from drumbeat.api.peer import is_loopback
from drumbeat.api.table import OF_WORKERS, TABLE
from drumbeat.backends import extra
from drumbeat.config import Config
from drumbeat.model.node import Role

if TYPE_CHECKING:
    from drumbeat.api.doors import Doors


def api_of(desk: Desk) -> Api:
    """The whole API, to be mounted into another app. Who reaches that, nobody here can tell."""
    return Api(desk, Gate(desk), TABLE)


def wants_doors(config: Config, roles: frozenset[Role]) -> bool:
    """Whether the node can be reached over HTTP."""
    return Role.API in roles or (Role.WORKER in roles and config.worker_http_addr is not None)


def doors_of(desk: Desk, roles: frozenset[Role]) -> Doors:
    """Where the node can be reached over HTTP: the API, and what a worker tells of itself."""
    with extra("The HTTP API", "api", "uvicorn"):
        from drumbeat.api.doors import Door, Doors  # noqa: PLC0415 - only when it is used
        from drumbeat.api.server import Server  # noqa: PLC0415 - as above

    config = desk.config
    doors: list[Door] = []
    if Role.API in roles:
        api = Api(desk, Gate(desk, local=is_loopback(config.http_addr)), TABLE)
        doors.append(Door(Server(api, config.http_addr), api))
    address = config.worker_http_addr
    if Role.WORKER in roles and address is not None:
        api = Api(desk, Gate(desk, local=is_loopback(address)), OF_WORKERS)
        doors.append(Door(Server(api, address, "worker_http_addr"), api, guarded=False))
    return Doors(doors)
