"""What `drumbeat dev` says when a node starts: its store, its dashboard, and other ways to look."""

from __future__ import annotations

from drumbeat.cli.session.target import IN_MEMORY
from drumbeat.config import Config, Level
from drumbeat.config.kinds import host_and_port

SAMPLE = "drumbeat.cli.running.sample_app:app"
ANY_PORT = ":0"


def where_it_runs(path: str, config: Config, *, serves_http: bool) -> str:
    """Which app runs on which store, and a command that looks at it from another terminal."""
    store, page = config.shown("store"), _dashboard(config) if serves_http else ""
    if path == SAMPLE:
        return (
            f"Running sample tasks on {store}. {page}In another terminal: drumbeat schedule list; "
            f"drumbeat job submit greet name=Anna --wait"
        )
    return f"Running {path} on {store}. {page}{_way(path, config, serves_http=serves_http)}"


def _dashboard(config: Config) -> str:
    if config.http_addr.endswith(ANY_PORT):
        return "The dashboard is at the address that is logged below. "
    host, port = host_and_port(config.http_addr)
    return f"Dashboard: http://{host or 'localhost'}:{port}/. "


def _way(path: str, config: Config, *, serves_http: bool) -> str:
    if not (config.store or "").startswith(IN_MEMORY):
        given = config.origins["store"].level is Level.COMMAND_LINE
        store = f" --store {config.shown('store')}" if given else ""
        return f"In another terminal: drumbeat --app {path}{store} schedule list"
    if not serves_http:
        return "Its store is in memory, so no other terminal can look at it."
    address = config.http_addr
    if address.endswith(ANY_PORT):
        return "In another terminal: drumbeat --server with the address that is logged below."
    return f"In another terminal: drumbeat --server http://{address} schedule list"
