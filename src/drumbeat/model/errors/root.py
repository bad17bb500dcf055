"""The root of all errors."""

from __future__ import annotations

from typing import ClassVar

PACKAGE = "drumbeat.model.errors"


class DrumbeatError(Exception):
    """The root of every error that Drumbeat raises."""

    __module__ = PACKAGE

    kind: ClassVar[str] = "error"
    """The word for this kind of error in the audit log and in the problems of the HTTP API."""
    parameter: str | None = None
    """The parameter or field at fault, as the HTTP API names it."""
    rule: str | None = None
    """What that parameter has to satisfy."""

    def __init_subclass__(cls) -> None:
        if cls.__module__.startswith(PACKAGE):
            cls.__module__ = PACKAGE  # tracebacks show the name that users import


class NamedError(DrumbeatError):
    """The base of errors about one name."""

    sentence: ClassVar[str]
    """The message, with `{!r}` in place of the name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(self.sentence.format(name))
