"""The app of a Django project, made of its settings."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import django
from django.apps import apps
from django.utils.module_loading import module_has_submodule

from drumbeat.app import Drumbeat
from drumbeat.django.connections import around_in_thread, around_on_loop
from drumbeat.django.django_task import DjangoTask, DjangoTaskDecorator
from drumbeat.django.project_settings import NAME, ProjectSettings
from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.hooks import Hooks
from drumbeat.engine.tasks.task import Place
from drumbeat.model.errors import ConfigurationError

T = TypeVar("T")
SETUP = "drumbeat.django.project"
"""The module that loads Django's apps, for processes that only import handlers."""


class DjangoDrumbeat(Drumbeat):
    """A `Drumbeat` whose handlers have fresh connections, and whose tasks know transactions."""

    task: DjangoTaskDecorator
    _task_class = DjangoTask

    def __init__(self, project: ProjectSettings) -> None:
        super().__init__(include=project.include, **project.app)
        self.task = DjangoTaskDecorator(self._register_task)
        self._tasks_module = project.tasks_module
        self._registry.process_modules |= {SETUP}

    def load_modules(self) -> None:
        """Import the module `tasks` of each installed app, and the modules of `INCLUDE`."""
        if self._tasks_module:
            found = [
                f"{config.name}.{self._tasks_module}"
                for config in apps.get_app_configs()
                if config.module and module_has_submodule(config.module, self._tasks_module)
            ]
            self._modules.add(found)
            self._tasks_module = ""
        super().load_modules()

    def wait_for(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of a coroutine of this app, for code without an event loop."""
        return self._state.sync_bridge.call(work)

    def _surround(self, hooks: Hooks) -> None:
        hooks.add_middleware(self._around)
        hooks.add_middleware(around_in_thread)

    async def _around(self, ctx: Context, call_next: Callable[[], Awaitable[Any]]) -> Any:
        if self._place_of(ctx) is Place.LOOP:
            return await around_on_loop(call_next)
        return await call_next()


_MAKING = threading.RLock()
_made: list[DjangoDrumbeat] = []


def app_of_the_project() -> DjangoDrumbeat:
    """The one app of this process; made, with Django's apps loaded, when it is first asked for."""
    with _MAKING:
        if not apps.ready and not apps.loading:
            django.setup()  # a script, or a process that runs handlers
        if not _made:
            project = ProjectSettings.read()
            if project.unknown:
                raise ConfigurationError(f"{NAME} has an unknown key {project.unknown[0]!r}")
            _made.append(DjangoDrumbeat(project))
        return _made[0]


def is_made() -> bool:
    """Whether the app exists already."""
    return bool(_made)
