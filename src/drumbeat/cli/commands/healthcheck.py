"""`drumbeat healthcheck`: asks the node of this container how it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

import click

from drumbeat.cli.checks.probe import Deadline, ProbeName, ProbeResult, probe, url_of
from drumbeat.cli.command import make_command
from drumbeat.cli.exit_codes import Exit
from drumbeat.cli.options.option import choice, seconds
from drumbeat.cli.session.session import Session
from drumbeat.config import Config
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import ConfigurationError


class Served(StrEnum):
    """The roles that name the setting of their address."""

    SCHEDULER = "scheduler"
    WORKER = "worker"
    API = "api"


@make_command(
    "healthcheck",
    click.argument("url", metavar="URL", required=False),
    choice("--role", Served, "Whose address to take from the settings."),
    choice("--probe kind", ProbeName, "What to ask.", default=ProbeName.READY.value),
    seconds("--timeout", "The longest time to wait.", least=0.1, most=300.0, default=5.0),
)
def command(session: Session, url: str | None, role: str | None, kind: str, timeout: float) -> int:
    """Ask the node on this machine whether it is well; exit with 0 if it is, else with 1.

    For containers and supervisors: it needs no curl, no token and no store. Without a URL it asks
    at WORKER_HTTP_ADDR for a worker, and at HTTP_ADDR for the other roles; without --role where
    somebody listens.

    Example:
      drumbeat healthcheck
      drumbeat healthcheck --role worker --probe live --timeout 2
      drumbeat healthcheck http://127.0.0.1:8080 --probe startup
    """
    deadline = Deadline(SystemClock(), timeout)
    try:
        urls = (url,) if url else _urls(Config.load(command_line=session.settings), role)
    except ConfigurationError as error:
        result = ProbeResult("", ok=False, found=str(error))
    else:
        results = (probe(each, ProbeName(kind), deadline) for each in urls)
        result = _first_reached(results)
    data = {"url": result.url, "ok": result.ok, "found": result.found}
    session.output.show(data, f"{result.url}: {result.found}" if result.url else result.found)
    return Exit.OK if result.ok else Exit.FAILED


def _first_reached(results: Iterable[ProbeResult]) -> ProbeResult:
    """The first answer of somebody who listens; if nobody does, the first refusal."""
    refused: list[ProbeResult] = []
    for result in results:
        if not result.refused:
            return result
        refused.append(result)
    return refused[0]


def _urls(config: Config, role: str | None) -> Sequence[str]:
    """Where a node of this role listens; without a role, where any node does."""
    worker = config.worker_http_addr
    if role == Served.WORKER and worker is None:
        raise ConfigurationError(
            "a worker serves its health only at WORKER_HTTP_ADDR, which is not set: set it, such "
            "as WORKER_HTTP_ADDR=:9090"
        )
    addresses = {Served.WORKER: (worker,), None: (config.http_addr, worker)}
    asked = addresses.get(None if role is None else Served(role), (config.http_addr,))
    return [url_of(address) for address in asked if address is not None]
