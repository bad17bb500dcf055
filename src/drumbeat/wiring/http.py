"""The HTTP servers of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drumbeat.api.access.access_control import AccessControl
from drumbeat.api.access.peer import is_loopback
from drumbeat.api.http.application import Api
from drumbeat.api.table import OF_WORKERS, TABLE
from drumbeat.backend_factory import extra
from drumbeat.config import Config
from drumbeat.dashboard.site import Site
from drumbeat.fleet.local.fleet import LocalFleet
from drumbeat.model.fleet.node import Role

if TYPE_CHECKING:
    from drumbeat.api.http.listeners import HttpListeners


def api_of(fleet: LocalFleet) -> Site[Api]:
    """The API and the dashboard, to be mounted into another app of unknown addresses."""
    return Site(Api(fleet, AccessControl(fleet), TABLE))


def serves_http(config: Config, roles: frozenset[Role]) -> bool:
    """Whether the node has an HTTP server."""
    return Role.API in roles or (Role.WORKER in roles and config.worker_http_addr is not None)


def http_listeners(fleet: LocalFleet, roles: frozenset[Role]) -> HttpListeners:
    """The servers of the node: for the API, and for the probes and metrics of a worker."""
    with extra("The HTTP API", "api", "uvicorn"):
        from drumbeat.api.http.listeners import HttpListener, HttpListeners  # noqa: PLC0415 - only when it is used
        from drumbeat.api.http.server import Server  # noqa: PLC0415 - as above

    config = fleet.services.config
    listeners: list[HttpListener] = []
    if Role.API in roles:
        api = Api(fleet, AccessControl(fleet, local=is_loopback(config.http_addr)), TABLE)
        listeners.append(HttpListener(Server(Site(api), config.http_addr), api))
    address = config.worker_http_addr
    if Role.WORKER in roles and address is not None:
        api = Api(fleet, AccessControl(fleet, local=is_loopback(address)), OF_WORKERS)
        listeners.append(HttpListener(Server(api, address, "worker_http_addr"), api, guarded=False))
    return HttpListeners(listeners)
