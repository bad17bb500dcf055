"""Routes for probes: live, started, ready. Everybody has access."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct

from drumbeat.api.http.call import Call, Nothing
from drumbeat.api.http.problem import unauthorised
from drumbeat.api.http.response import Response, json_response
from drumbeat.api.http.route import AnyRoute, Route
from drumbeat.fleet.local.phase import Phase
from drumbeat.model.fleet.token import Scope
from drumbeat.wire.health import ProbeView

OK = "ok"
UNAVAILABLE = {503: ProbeView}


class ProbeQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """How much is wanted."""

    verbose: str | None = None
    """Give it, with or without a value, to be told each check. That needs the scope viewer."""


async def live(call: Call[Nothing, Any]) -> ProbeView:
    """Always ok: a process that answers is alive."""
    del call
    return ProbeView(status=OK)


async def started(call: Call[Nothing, Any]) -> Response:
    """Ok once the node has started."""
    phase = call.fleet.services.phase()
    return _probed(OK if phase is not Phase.STARTING else str(phase))


async def ready(call: Call[ProbeQuery, Any]) -> Response:
    """Ok while the node runs and its store answers."""
    verbose = call.query.verbose is not None
    if verbose and not call.caller.may(Scope.VIEWER):
        raise unauthorised(
            "the details need a token with the scope viewer; leave ?verbose out, or send one"
        )
    services = call.fleet.services
    phase, fault = services.phase(), await services.reachability.store_fault()
    status = OK
    if phase is not Phase.RUNNING:
        status = str(phase)
    elif fault is not None:
        status = "store-unavailable"
    if not verbose:
        return _probed(status)
    checks = {
        "node": OK if phase is Phase.RUNNING else str(phase),
        "store": fault or OK,
        "coordinator": await services.reachability.coordinator_fault() or OK,
        "queue": await services.reachability.queue_fault() or OK,
    }
    return _probed(status, checks)


def _probed(status: str, checks: dict[str, str] | None = None) -> Response:
    view = ProbeView(status=status, checks=UNSET if checks is None else checks)
    return json_response(view, 200 if status == OK else 503)


ROUTES: tuple[AnyRoute, ...] = (
    Route("GET", "/livez", None, live, "Does the process answer?", ProbeView),
    Route("GET", "/startupz", None, started, "Has the node started?", ProbeView, also=UNAVAILABLE),
    Route(
        "GET",
        "/readyz",
        None,
        ready,
        "Does the node accept requests?",
        ProbeView,
        also=UNAVAILABLE,
        refuses=(401,),
        query=ProbeQuery,
        tells_more=True,
        without_store=True,
    ),
)
