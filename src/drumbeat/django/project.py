"""The app of the project, for the command line: `drumbeat run drumbeat.django.project:app`.

`DJANGO_SETTINGS_MODULE` names the settings. `manage.py drumbeat` uses this too.
"""

from __future__ import annotations

import django

django.setup()

from drumbeat.config.command_line import command_line  # noqa: E402 - once apps are loaded
from drumbeat.django.project_app import app_of_the_project, is_made  # noqa: E402 - as above
from drumbeat.django.second_start import start_again_with  # noqa: E402 - as above

if is_made():
    start_again_with(command_line().settings)
app = app_of_the_project()
