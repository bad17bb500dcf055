"""Structured logs: a sentence with named values."""

from __future__ import annotations

import logging

from drumbeat.model.log_message import LogMessage


class Log:
    """A logger that takes facts as named arguments: `log.info("cleaning", rows=7)`.

    The facts are part of the message. The record has them in its attribute `facts` too, and the
    text before them in `sentence`. As with `logging`, `log.info("%d rows", 7)` formats the
    sentence, and `exc_info=` adds a traceback: of an exception, or with True of the one being
    handled.
    """

    __slots__ = ("_facts", "_logger")

    def __init__(self, logger: logging.Logger, **facts: object) -> None:
        self._logger = logger
        self._facts = facts

    def bind(self, **facts: object) -> Log:
        """The same log with more facts on each line."""
        bound = Log(self._logger)
        bound._facts = {**self._facts, **facts}
        return bound

    def debug(self, sentence: str, /, *args: object, **facts: object) -> None:
        self._write(logging.DEBUG, sentence, args, facts)

    def info(self, sentence: str, /, *args: object, **facts: object) -> None:
        self._write(logging.INFO, sentence, args, facts)

    def warning(self, sentence: str, /, *args: object, **facts: object) -> None:
        self._write(logging.WARNING, sentence, args, facts)

    def error(self, sentence: str, /, *args: object, **facts: object) -> None:
        self._write(logging.ERROR, sentence, args, facts)

    def critical(self, sentence: str, /, *args: object, **facts: object) -> None:
        self._write(logging.CRITICAL, sentence, args, facts)

    def exception(self, sentence: str, /, *args: object, **facts: object) -> None:
        """Log an error, with the traceback of the exception being handled."""
        self._write(logging.ERROR, sentence, args, {"exc_info": True, **facts})

    def _write(
        self, level: int, sentence: str, args: tuple[object, ...], facts: dict[str, object]
    ) -> None:
        if self._logger.isEnabledFor(level):
            error = facts.pop("exc_info", None)
            message = LogMessage(_formatted(sentence, args), {**self._facts, **facts})
            self._logger.log(
                level,
                message.template,
                *message.arguments,
                extra=message.attributes,
                exc_info=error if isinstance(error, BaseException) else bool(error),
                stacklevel=3,
            )


def _formatted(sentence: str, args: tuple[object, ...]) -> str:
    if not args:
        return sentence
    try:
        return sentence % (args[0] if isinstance(args[0], dict) and len(args) == 1 else args)
    except (TypeError, ValueError, KeyError):  # as in `logging`, a wrong format fails no handler
        return f"{sentence} {args!r}"
