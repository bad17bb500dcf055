"""The app of the project, for the command line: `drumbeat run drumbeat.django.project:app`.

`DJANGO_SETTINGS_MODULE` names the settings. `manage.py drumbeat` uses this too.
"""

from __future__ import annotations

import django

django.setup()

from drumbeat.django.project_app import app_of_the_project  # noqa: E402 - once apps are loaded

app = app_of_the_project()
