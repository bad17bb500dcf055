"""`drumbeat run`: a node of the fleet, or several; `scheduler`, `worker`, `api` are short forms."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from drumbeat.cli.command import STORE, make_command, together
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.options.option import switch, text, whole
from drumbeat.cli.options.settings import as_options, given, setting_options
from drumbeat.cli.session.session import DEVELOPMENT_STORE, Session
from drumbeat.model.fleet.node import Role

if TYPE_CHECKING:
    from drumbeat.app import Drumbeat
    from drumbeat.cli.running.burst import Burst

DEFAULT_ROLES = f"{Role.SCHEDULER},{Role.WORKER}"
MOST_PROCESSES = 256
ONE_ADDRESS = (
    "several processes cannot listen at one address: leave --processes out, or start each API "
    "node by itself with its own --http-addr"
)


_NODE_OPTIONS = together(
    click.argument("path", metavar="APP", required=False),
    whole(
        "--processes count",
        "Run this many nodes, each in a process of its own.",
        most=MOST_PROCESSES,
        default=1,
    ),
    setting_options,
    click.option(
        "--supervised",
        "supervisor_pipe",
        type=int,
        hidden=True,
        help="The file descriptor whose end means that the supervisor is gone.",
    ),
    click.option("--development", is_flag=True, hidden=True, help="`drumbeat dev` started it."),
    click.option("--open-dashboard", is_flag=True, hidden=True, help="Open the dashboard."),
)


@make_command(
    "run",
    text(
        "--roles",
        "ROLES",
        "What the node does: scheduler, worker, api, or several of them.",
        default=DEFAULT_ROLES,
    ),
    _NODE_OPTIONS,
)
def command(session: Session, /, path: str | None, roles: str, **options: Any) -> None:
    """Run a node of the fleet until a signal stops it. APP is MODULE:NAME.

    The first SIGTERM or SIGINT drains: no more work is taken, leadership is given up, and running
    jobs may finish within the grace. A second one cuts the grace short, a third ends at once.
    SIGQUIT drains without any limit.

    Example:
      drumbeat run shop.jobs:app
      drumbeat run shop.jobs:app --roles worker --queues mail,default --processes 4
    """
    _run(session, path, [role.strip() for role in roles.split(",") if role.strip()], options)


@make_command("scheduler", _NODE_OPTIONS)
def scheduler(session: Session, /, path: str | None, **options: Any) -> None:
    """Run a node that only schedules: `drumbeat run APP --roles scheduler`.

    It also serves the HTTP API if --http-addr or HTTP_ADDR gives an address.

    Example:
      drumbeat scheduler shop.jobs:app
      HTTP_ADDR=127.0.0.1:8080 drumbeat scheduler shop.jobs:app
    """
    _run(session, path, [Role.SCHEDULER], options)


@make_command(
    "worker",
    switch("--burst", "Stop once no job is left that this node could run."),
    _NODE_OPTIONS,
)
def worker(session: Session, /, path: str | None, *, burst: bool, **options: Any) -> None:
    """Run a node that only works: `drumbeat run APP --roles worker`.

    With --burst it runs the jobs that are queued, stops, and exits with 1 if one of them failed.
    Jobs whose time or retry is still to come are left for later.

    Example:
      drumbeat worker shop.jobs:app --queues mail --concurrency 20
      drumbeat worker shop.jobs:app --burst
    """
    _run(session, path, [Role.WORKER], options, burst=burst)


@make_command("api", _NODE_OPTIONS)
def api(session: Session, /, path: str | None, **options: Any) -> None:
    """Run a node that only serves HTTP: `drumbeat run APP --roles api`.

    It listens at 127.0.0.1:8080 unless --http-addr says otherwise. From other machines it can be
    reached once there is a token: `drumbeat token create`, or DRUMBEAT_API_TOKEN.

    Example:
      drumbeat api shop.jobs:app
      drumbeat api shop.jobs:app --http-addr :8080
    """
    _run(session, path, [Role.API], options)


def _run(
    session: Session,
    path: str | None,
    roles: list[str],
    options: dict[str, Any],
    *,
    burst: bool = False,
) -> None:
    path = path or session.app_path
    if path is None:
        raise Problem("no app is given; write its path, such as shop.jobs:app", Exit.USAGE)
    count, pipe, development = map(options.pop, ("count", "supervisor_pipe", "development"))
    opens = options.pop("open_dashboard")
    session.settings |= given(options)
    if count > 1:
        if Role.API in roles:
            raise Problem(ONE_ADDRESS, Exit.USAGE)
        if burst:
            raise Problem("--burst runs in one process: leave --processes out", Exit.USAGE)
        from drumbeat.cli.running.supervisor import Supervisor  # noqa: PLC0415 - for those who want many

        arguments = ["run", path, "--roles", ",".join(roles), *as_options(session.settings)]
        raise SystemExit(asyncio.run(Supervisor(arguments, count, session.output.say).run()))
    if pipe is not None:
        threading.Thread(target=_stop_at_end_of, args=(pipe,), daemon=True).start()
    app = _load(session, path, roles, development=development)
    if opens:
        _open_dashboard(app)
    _export(session.settings)
    ending = _begin_burst(app) if burst else None
    try:
        app.run(
            [*roles, Role.API] if roles == [Role.SCHEDULER] and _has_http_address(app) else roles
        )
    except SystemExit as ended:
        if session.debug and ended.__cause__ is not None:
            traceback.print_exception(ended.__cause__)
        raise
    if ending is not None:
        session.output.say(ending.summary)
        raise SystemExit(Exit.FAILED if ending.failed else Exit.OK)


def _begin_burst(app: Drumbeat) -> Burst:
    from drumbeat.cli.running.burst import Burst  # noqa: PLC0415 - for those who want one

    return Burst(app)


def _load(session: Session, path: str, roles: list[str], *, development: bool) -> Drumbeat:
    from drumbeat.cli.running.other_terminal import where_it_runs  # noqa: PLC0415 - the help needs none
    from drumbeat.cli.session.app_path import load_app  # noqa: PLC0415 - slow to import
    from drumbeat.config import CommandLine  # noqa: PLC0415 - the settings, when needed

    if not development:
        return load_app(path, CommandLine(session.settings))
    app = load_app(path, CommandLine(session.settings, DEVELOPMENT_STORE, DEVELOPMENT_STORE))
    store = app.settings.store or ""
    if not store.startswith("<"):  # for processes of handlers, which create the same app
        session.settings[STORE] = store
    session.output.say(where_it_runs(path, app.settings, serves_http=Role.API in roles))
    return app


def _open_dashboard(app: Drumbeat) -> None:
    from drumbeat.cli.running.browser import open_when_it_listens  # noqa: PLC0415 - seldom needed
    from drumbeat.config.kinds import host_and_port  # noqa: PLC0415 - seldom needed

    host, port = host_and_port(app.settings.http_addr)
    if port:  # else the system chooses one
        open_when_it_listens(host, port)


def _has_http_address(app: Drumbeat) -> bool:
    """Whether the address of the HTTP API is set, and not only the default."""
    from drumbeat.config import Level  # noqa: PLC0415 - the settings, when needed

    origin = app.settings.origins.get("http_addr")
    return origin is not None and origin.level is not Level.DEFAULT


def _stop_at_end_of(pipe: int) -> None:
    """Drain when the supervisor has died, since nobody else would stop this node."""
    while os.read(pipe, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _export(settings: Mapping[str, str]) -> None:
    """Export the settings, so that processes of `process=True` handlers create the same app."""
    os.environ.update({f"DRUMBEAT_{name.upper()}": value for name, value in settings.items()})
