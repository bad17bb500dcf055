"""Defaults: what an app says once for all of its tasks and schedules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.model.errors import InvalidOption


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The defaults of one app."""

    options: TaskOptions = TaskOptions()  # noqa: RUF009 - frozen
    """The options that a task has unless it says otherwise."""
    tz: str = "UTC"
    """The zone of cron expressions and triggers that are written without one."""

    @classmethod
    def of(cls, options: Mapping[str, Any] | None, tz: str) -> Defaults:
        """The defaults that an app is given; `InvalidOption` says what cannot be one."""
        if "aliases" in (options or {}):
            raise InvalidOption("task_defaults: aliases belong to one task: give them to @app.task")
        try:
            return cls(options=replace(TaskOptions.of(options or {}), given=frozenset()), tz=tz)
        except InvalidOption as error:
            raise InvalidOption(f"task_defaults: {error}") from None
