"""The entry of `INSTALLED_APPS`."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks


class DrumbeatConfig(AppConfig):
    """Registers the checks. The app of the project is made when it is first used."""

    name = "drumbeat.django"
    label = "drumbeat"
    verbose_name = "Drumbeat"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from drumbeat.django.checks import check_settings  # noqa: PLC0415 - once apps are loaded

        checks.register(check_settings)
