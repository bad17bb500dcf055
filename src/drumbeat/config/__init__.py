"""Configuration: settings from code, `.env`, the environment and the command line.

Each is stronger than the one before it, and every value knows where it came from. All faults are
found before anything starts, each reported in one sentence.
"""

from drumbeat.config.command_line import (
    CommandLine,
    given_on_command_line,
    refuse_while_loading,
)
from drumbeat.config.config import SETTING, SETTINGS, Config, shown
from drumbeat.config.loaded_settings import LoadedSettings, Sources
from drumbeat.config.mask import masked
from drumbeat.config.origin import Level, SettingOrigin
from drumbeat.config.settings import Settings

__all__ = [
    "SETTING",
    "SETTINGS",
    "CommandLine",
    "Config",
    "Level",
    "LoadedSettings",
    "SettingOrigin",
    "Settings",
    "Sources",
    "given_on_command_line",
    "masked",
    "refuse_while_loading",
    "shown",
]
