"""Logged electors: changes of leadership become log lines."""

from __future__ import annotations

import logging

from drumbeat.electors.wrapped import WrappedElector
from drumbeat.model.log_message import LogMessage
from drumbeat.ports.elector import Elector
from drumbeat.telemetry.log_lines import LOGGER


def logged(
    elector: Elector, instance_id: str = "", *, logger: logging.Logger | None = None
) -> WrappedElector:
    """Write a line when the answer changes, and when a question fails.

    "Became the leader" and "Lost leadership", as an app writes them. One line per change: in an app
    the app writes it, and an elector inside of this one does not.
    """
    return _Logged(elector, instance_id, logger or LOGGER)


class _Logged(WrappedElector):
    def __init__(self, elector: Elector, instance_id: str, logger: logging.Logger) -> None:
        super().__init__(elector)
        self._facts = {"instance_id": instance_id} if instance_id else {}
        self._logger = logger
        self._led = False
        self._failing = False
        self._logs_changes = True
        super().leave_logging()  # this one logs in its place

    def leave_logging(self) -> None:
        self._logs_changes = False

    async def is_leader(self) -> bool:
        try:
            leads = await self._elector.is_leader()
        except Exception as error:
            if not self._failing:  # once, however often it is asked
                self._write(logging.WARNING, "Leadership check failed", error=error)
            self._failing = True
            raise
        self._failing = False
        if leads != self._led:
            self._led = leads
            if self._logs_changes:
                self._write(logging.INFO, "Became the leader" if leads else "Lost leadership")
        return leads

    def _write(self, level: int, sentence: str, **facts: object) -> None:
        if self._logger.isEnabledFor(level):
            message = LogMessage(sentence, {**self._facts, **facts})
            self._logger.log(level, message.template, *message.arguments, extra=message.attributes)
