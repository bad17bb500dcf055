"""What `drumbeat dev` says when a node starts: its store, and how to look at it meanwhile."""

from __future__ import annotations

from drumbeat.cli.session.target import IN_MEMORY
from drumbeat.config import Config, Level

SAMPLE = "drumbeat.cli.running.sample_app:app"
ANY_PORT = ":0"


def where_it_runs(path: str, config: Config, *, serves_http: bool) -> str:
    """Which app runs on which store, and a command that looks at it from another terminal."""
    store = config.shown("store")
    if path == SAMPLE:
        return (
            f"Running sample tasks on {store}. In another terminal: drumbeat schedule list; "
            f"drumbeat job submit greet name=Anna --wait"
        )
    return f"Running {path} on {store}. {_way(path, config, serves_http=serves_http)}"


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
