"""`manage.py drumbeat ...`: Drumbeat's command line with the app of the project."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.main import command
from drumbeat.cli.session.session import Session
from drumbeat.django.project_app import SETUP, is_made

if TYPE_CHECKING:
    from drumbeat.app import Drumbeat

PROJECT = f"{SETUP}:app"
DJANGOS = ("--settings", "--pythonpath")
"""Options that Django has handled already."""


class Command(BaseCommand):
    """Passes everything to the command line."""

    help = "Run Drumbeat's command line, such as: manage.py drumbeat run"

    def run_from_argv(self, argv: list[str]) -> None:
        os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        command.main(
            without_djangos_options(argv[2:]),
            prog_name=f"{os.path.basename(argv[0])} {argv[1]}",  # noqa: PTH119 - a name and no path
            obj=_Session(app_path=PROJECT),
        )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("arguments", nargs=argparse.REMAINDER)

    def handle(self, *args: Any, **options: Any) -> None:
        """For `call_command("drumbeat", "job", "list")`."""
        arguments = [*args, *options["arguments"]]
        try:
            command.main(arguments, prog_name="drumbeat", obj=Session(app_path=PROJECT))
        except SystemExit as ended:
            if ended.code not in (None, Exit.OK):
                raise CommandError(
                    f"drumbeat {' '.join(arguments)} failed", returncode=int(ended.code)
                ) from ended


def without_djangos_options(arguments: Sequence[str]) -> list[str]:
    """The arguments for our command line."""
    kept: list[str] = []
    given = iter(arguments)
    for each in given:
        if each in DJANGOS:
            next(given, None)
        elif not each.startswith(tuple(f"{name}=" for name in DJANGOS)):
            kept.append(each)
    return kept


class _Session(Session):
    """A session of `manage.py`, in which the app may have been made before the options are known.

    Then the process starts again with the options in its environment: an app keeps the settings
    that it was made with.
    """

    def app(self, *, or_server: bool = False) -> Drumbeat:
        if is_made():
            _settle(self.settings)
        return super().app(or_server=or_server)


def _settle(settings: Mapping[str, str]) -> None:
    variables = {f"DRUMBEAT_{name.upper()}": value for name, value in settings.items()}
    if all(os.environ.get(name) == value for name, value in variables.items()):
        return
    os.environ.update(variables)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - no shell
    except OSError as error:
        raise Problem(f"the command cannot be started again: {error}", Exit.FAILED) from error
