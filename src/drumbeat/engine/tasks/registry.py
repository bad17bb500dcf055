"""The task registry: the tasks that this node knows. Nothing else is ever run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from drumbeat.engine.tasks.defaults import Defaults
from drumbeat.engine.tasks.limits import SharedLimits
from drumbeat.engine.tasks.options import LONGEST_NAME
from drumbeat.engine.tasks.task import BUILT_IN, Place, TaskDefinition
from drumbeat.model.errors import DuplicateTask, InvalidHandler, InvalidOption, UnknownTask


class TaskRegistry:
    """Tasks by name: those of the app, and those that every node has built in."""

    def __init__(
        self, built_in: Iterable[TaskDefinition] = (), defaults: Defaults | None = None
    ) -> None:
        self.defaults = defaults or Defaults()
        self.limits = SharedLimits()
        self._built_in = {definition.name: definition for definition in built_in}
        self._tasks: dict[str, TaskDefinition] = {}
        self._aliases = {
            alias: definition
            for definition in self._built_in.values()
            for alias in definition.options.aliases
        }
        """Tasks by their earlier names."""
        self.names: frozenset[str] = frozenset()
        """The names of the app's tasks."""
        self.runnable = frozenset((*self._built_in, *self._aliases))
        """All names of tasks that this node can run: with aliases, and with the built-in ones."""
        self._by_place: dict[frozenset[Place], frozenset[str]] = {}
        self.process_modules = frozenset(
            definition.handler.__module__
            for definition in self._built_in.values()
            if definition.place is Place.PROCESS
        )
        """The modules of the handlers that run in processes."""

    def runnable_in(self, places: frozenset[Place]) -> frozenset[str]:
        """The names of the tasks that run in one of these places."""
        names = self._by_place.get(places)
        if names is None:
            names = frozenset(name for name in self.runnable if self.get(name).place in places)
            self._by_place[places] = names
        return names

    def add(self, definition: TaskDefinition) -> None:
        """Register a task; `DuplicateTask` if its name or an alias is taken."""
        self._check_names((definition.name, *definition.options.aliases))
        if definition.name.startswith(BUILT_IN) and definition.name not in self._built_in:
            raise InvalidHandler(
                f"task {definition.name!r} needs another name: those that begin with {BUILT_IN!r} "
                f"are Drumbeat's own"
            )
        self._tasks[definition.name] = definition
        self._aliases |= dict.fromkeys(definition.options.aliases, definition)
        self.names = frozenset(self._tasks)
        self.runnable = frozenset((*self._tasks, *self._aliases, *self._built_in))
        self._by_place.clear()
        if definition.place is Place.PROCESS:
            self.process_modules |= {definition.handler.__module__}

    def discard_earlier(self, definition: TaskDefinition) -> bool:
        """Remove the task that this one replaces, as a notebook's cell does when it is run again.

        Both are the same function of `__main__`. Returns whether there was one.
        """
        earlier = self._tasks.get(definition.name)
        places = [
            (getattr(each.handler, "__module__", None), getattr(each.handler, "__qualname__", None))
            for each in (earlier, definition)
            if each is not None
        ]
        if earlier is None or places[0] != places[1] or places[0][0] != "__main__":
            return False
        del self._tasks[earlier.name]
        for alias in earlier.options.aliases:
            del self._aliases[alias]
        return True

    def knows(self, name: str) -> bool:
        """Whether a task of the app has this name, or had it earlier."""
        return name in self._tasks or name in self._aliases

    def get(self, name: str) -> TaskDefinition:
        """The task, by its name or an alias; `UnknownTask` if there is none."""
        definition = self._tasks.get(name) or self._aliases.get(name) or self._built_in.get(name)
        if definition is None:
            raise UnknownTask(name, tuple(self.names))
        return definition

    def definitions(self) -> tuple[TaskDefinition, ...]:
        """The app's tasks, in the order in which they were registered."""
        return tuple(self._tasks.values())

    def secrets(self, task: str) -> tuple[str, ...]:
        """The arguments of a task whose values are never shown; none if the task is unknown."""
        definition = self._tasks.get(task) or self._aliases.get(task)
        return () if definition is None else definition.options.secret

    def _check_names(self, names: Sequence[str]) -> None:
        for number, name in enumerate(names):
            if self.knows(name) or name in names[:number]:
                raise DuplicateTask(name)
        for alias in names[1:]:
            if not alias or len(alias) > LONGEST_NAME or alias.startswith(BUILT_IN):
                raise InvalidOption(
                    f"an alias of task {names[0]!r} must be a name of 1 to {LONGEST_NAME} "
                    f"characters that does not begin with {BUILT_IN!r}, not {alias!r}"
                )

    def only_built_in(self) -> TaskRegistry:
        """The registry of a node that runs no task of the app."""
        return TaskRegistry(self._built_in.values())
