"""`flask drumbeat ...`: Drumbeat's command line with the app of the site.

It replaces the process by a new one, since options such as `--concurrency` count when an app is
made, and the command `flask` has made it already.
"""

from __future__ import annotations

import os
import sys

import click
from flask.cli import ScriptInfo

SITES_APP = "drumbeat.flask.site:app"


@click.command(
    "drumbeat",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    short_help="Run Drumbeat's command line, such as: flask drumbeat run",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Run Drumbeat's command line with the app of this site."""
    site = context.ensure_object(ScriptInfo)
    if site.create_app is not None:
        raise click.UsageError(
            "this command line makes its Flask app by itself: use `drumbeat --app MODULE:NAME`"
        )
    if site.app_import_path:
        os.environ["FLASK_APP"] = site.app_import_path
    sys.stdout.flush()
    os.execv(  # noqa: S606 - the same Python, without a shell
        sys.executable, [sys.executable, "-m", "drumbeat", "--app", SITES_APP, *arguments]
    )
