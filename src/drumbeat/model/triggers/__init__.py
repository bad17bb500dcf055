"""The kinds of triggers, one per file, and the functions that make them."""

from drumbeat.model.time.calendar import Calendar
from drumbeat.model.time.duration import parse_duration
from drumbeat.model.time.zones import DstGap, DstRepeat
from drumbeat.model.triggers.any_of import AnyOf, any_of
from drumbeat.model.triggers.cron.cron import Cron, cron
from drumbeat.model.triggers.daily import Daily, daily
from drumbeat.model.triggers.every import Every, every
from drumbeat.model.triggers.every_between import EveryBetween, every_between
from drumbeat.model.triggers.monthly import Monthly, monthly
from drumbeat.model.triggers.once import Once, once
from drumbeat.model.triggers.trigger import Excluding, Trigger, trigger_from_json
from drumbeat.model.triggers.weekly import Weekly, weekly

__all__ = [
    "AnyOf",
    "Calendar",
    "Cron",
    "Daily",
    "DstGap",
    "DstRepeat",
    "Every",
    "EveryBetween",
    "Excluding",
    "Monthly",
    "Once",
    "Trigger",
    "Weekly",
    "any_of",
    "cron",
    "daily",
    "every",
    "every_between",
    "monthly",
    "once",
    "parse_duration",
    "trigger_from_json",
    "weekly",
]
