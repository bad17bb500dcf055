"""Names the parameter at fault in errors that code below the fleet raises."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from drumbeat.model.errors import InvalidInput


@contextmanager
def fault_of(parameter: str) -> Generator[None]:
    """Blame this parameter for an `InvalidInput` raised within, unless it names another."""
    try:
        yield
    except InvalidInput as error:
        error.parameter = error.parameter or parameter
        raise
