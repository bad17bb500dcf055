"""Configuration: settings from code, `.env`, the environment and the command line.

Each is stronger than the one before it, and every value knows where it came from. All that is
wrong is found before anything starts, and said in one sentence each.
"""

from drumbeat.config.command_line import given_on_command_line
from drumbeat.config.config import SETTING, SETTINGS, Config, shown
from drumbeat.config.masking import masked
from drumbeat.config.origin import Level, Origin
from drumbeat.config.settings import Duration, Settings
from drumbeat.config.survey import Sources, Survey

__all__ = [
    "SETTING",
    "SETTINGS",
    "Config",
    "Duration",
    "Level",
    "Origin",
    "Settings",
    "Sources",
    "Survey",
    "given_on_command_line",
    "masked",
    "shown",
]
