"""`manage.py drumbeat ...`: Drumbeat's command line with the app of the project."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from drumbeat.cli.exit_codes import Exit
from drumbeat.cli.main import command
from drumbeat.cli.session.session import Session
from drumbeat.django.project_app import SETUP
from drumbeat.django.second_start import allow_second_start

PROJECT = f"{SETUP}:app"
DJANGOS = ("--settings", "--pythonpath")
"""Options that Django has handled already."""


class Command(BaseCommand):
    """Passes everything to the command line."""

    help = "Run Drumbeat's command line, such as: manage.py drumbeat run"

    def run_from_argv(self, argv: list[str]) -> None:
        allow_second_start()
        os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        command.main(
            without_djangos_options(argv[2:]),
            prog_name=f"{os.path.basename(argv[0])} {argv[1]}",  # noqa: PTH119 - a name and no path
            obj=Session(app_path=PROJECT),
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
