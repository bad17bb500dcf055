"""The view of a task."""

from __future__ import annotations

import inspect
from typing import Any

from drumbeat.engine.tasks.task import TaskDefinition
from drumbeat.wire.task import ParameterView, TaskView

NONE = inspect.Parameter.empty
MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def task_view(task: TaskDefinition) -> TaskView:
    """The task and its parameters."""
    secret = task.options.secret
    return TaskView(
        name=task.name,
        aliases=task.options.aliases,
        description=_first_line(task.handler.__doc__),
        queue=task.spec.queue,
        priority=task.spec.priority,
        timeout=task.spec.timeout,
        tags=task.spec.tags,
        parameters=tuple(
            ParameterView(
                name=each.name,
                type=_words(each.annotation),
                required=each.default is NONE and each.kind not in MANY,
                secret=each.name in secret,
            )
            for each in task.codec.signature.parameters.values()
        ),
    )


def _words(annotation: Any) -> str:
    return "" if annotation is NONE else inspect.formatannotation(annotation)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]
