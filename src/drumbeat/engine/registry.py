"""The registry: the tasks that this node knows. Nothing else is ever run."""

from __future__ import annotations

from drumbeat.engine.task import TaskDefinition
from drumbeat.model.errors import DuplicateTask, UnknownTask


class Registry:
    """Tasks by name."""

    def __init__(self) -> None:
        self._tasks: dict[str, TaskDefinition] = {}
        self._names: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The names of all tasks."""
        return self._names

    def add(self, definition: TaskDefinition) -> None:
        """Register a task; a name is given once."""
        if definition.name in self._tasks:
            raise DuplicateTask(definition.name)
        self._tasks[definition.name] = definition
        self._names = frozenset(self._tasks)

    def get(self, name: str) -> TaskDefinition:
        """The task of that name; `UnknownTask` if there is none."""
        try:
            return self._tasks[name]
        except KeyError:
            raise UnknownTask(name, tuple(self._names)) from None
