"""Structured logs: a sentence with named values."""

from __future__ import annotations

import logging


class Log:
    """A logger that takes facts as named arguments: `log.info("cleaning", rows=7)`.

    The facts travel in the record's `facts` attribute, for formatters that show them apart.
    """

    __slots__ = ("_facts", "_logger")

    def __init__(self, logger: logging.Logger, **facts: object) -> None:
        self._logger = logger
        self._facts = facts

    def bind(self, **facts: object) -> Log:
        """The same log with more facts on each line."""
        return Log(self._logger, **{**self._facts, **facts})

    def debug(self, sentence: str, **facts: object) -> None:
        self._write(logging.DEBUG, sentence, facts)

    def info(self, sentence: str, **facts: object) -> None:
        self._write(logging.INFO, sentence, facts)

    def warning(self, sentence: str, **facts: object) -> None:
        self._write(logging.WARNING, sentence, facts)

    def error(self, sentence: str, **facts: object) -> None:
        self._write(logging.ERROR, sentence, facts)

    def exception(self, sentence: str, **facts: object) -> None:
        """Log an error, with the traceback of the exception being handled."""
        self._write(logging.ERROR, sentence, facts, traceback=True)

    def _write(
        self, level: int, sentence: str, facts: dict[str, object], *, traceback: bool = False
    ) -> None:
        if self._logger.isEnabledFor(level):
            extra = {"facts": {**self._facts, **facts}}
            self._logger.log(level, "%s", sentence, extra=extra, exc_info=traceback, stacklevel=3)
