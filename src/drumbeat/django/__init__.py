"""Drumbeat in a Django project: put `drumbeat.django` into `INSTALLED_APPS`.

```python
# shop/tasks.py
from drumbeat.django import task

@task
def send_receipt(order_id: int) -> None: ...
```
The app of the project is made of the settings when `app`, `task` or `scheduled` is first imported.
Django's settings have to be known by then, but its apps need not be loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drumbeat.django.django_task import DjangoTask
    from drumbeat.django.project import app

    task = app.task
    scheduled = app.scheduled

__all__ = ["DjangoTask", "app", "scheduled", "task"]

if not TYPE_CHECKING:  # else every name would seem to exist

    def __getattr__(name: str) -> object:
        if name == "DjangoTask":
            from drumbeat.django.django_task import DjangoTask  # noqa: PLC0415 - the engine, when needed

            return DjangoTask
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from drumbeat.django.project_app import app_of_the_project  # noqa: PLC0415 - as above

        app = app_of_the_project()
        return app if name == "app" else getattr(app, name)
