"""Failed starts: exit with one line and an exit code, without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.visible_text import visible

BAD_SETTING = 2
STORE_AWAY = 5
"""Exit codes; those of the command line for the same errors."""


@contextmanager
def exit_on_failed_start(hide: Callable[[str], str]) -> Generator[None]:
    """Turn errors of a start into one line on standard error and `SystemExit`.

    `hide` removes secrets from the line. The error is the cause of the `SystemExit`.
    """
    try:
        yield
    except (ConfigurationError, Unavailable) as error:
        for line in str(error).splitlines():
            sys.stderr.write(f"Error: {visible(hide(line))}\n")
        code = STORE_AWAY if isinstance(error, Unavailable) else BAD_SETTING
        raise SystemExit(code) from error
