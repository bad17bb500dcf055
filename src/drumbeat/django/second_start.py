"""The second start of `manage.py drumbeat`, whose options came too late for the app.

An app keeps the settings that it was made with. If a module of the project makes it while Django
is loading, the options of the command are not known yet. Then the process starts again with them
in its environment.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from drumbeat.model.errors import ConfigurationError

_allowed: list[bool] = []


def allow_second_start() -> None:
    """This process is `manage.py drumbeat`, and may be replaced by itself."""
    _allowed.append(True)


def start_again_with(settings: Mapping[str, str]) -> None:
    """Start this process again with these settings, unless its environment has them already."""
    variables = {f"DRUMBEAT_{name.upper()}": value for name, value in settings.items()}
    if all(os.environ.get(name) == value for name, value in variables.items()):
        return
    if not _allowed:
        raise ConfigurationError(
            f"the app of the project was made before {', '.join(settings)} was given: "
            f"use `manage.py drumbeat`, or set {', '.join(variables)}"
        )
    os.environ.update(variables)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - no shell
