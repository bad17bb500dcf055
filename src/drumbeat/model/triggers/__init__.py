"""The kinds of triggers, one per file, and the functions that make them."""

from drumbeat.model.time.calendar import Calendar as Calendar
from drumbeat.model.time.duration import parse_duration as parse_duration
from drumbeat.model.time.zones import DstGap as DstGap
from drumbeat.model.time.zones import DstRepeat as DstRepeat
from drumbeat.model.triggers.any_of import AnyOf as AnyOf
from drumbeat.model.triggers.any_of import any_of as any_of
from drumbeat.model.triggers.cron.cron import Cron as Cron
from drumbeat.model.triggers.cron.cron import cron as cron
from drumbeat.model.triggers.daily import Daily as Daily
from drumbeat.model.triggers.daily import daily as daily
from drumbeat.model.triggers.every import Every as Every
from drumbeat.model.triggers.every import every as every
from drumbeat.model.triggers.every_between import EveryBetween as EveryBetween
from drumbeat.model.triggers.every_between import every_between as every_between
from drumbeat.model.triggers.monthly import Monthly as Monthly
from drumbeat.model.triggers.monthly import monthly as monthly
from drumbeat.model.triggers.once import Once as Once
from drumbeat.model.triggers.once import once as once
from drumbeat.model.triggers.trigger import Excluding as Excluding
from drumbeat.model.triggers.trigger import Trigger as Trigger
from drumbeat.model.triggers.trigger import trigger_from_json as trigger_from_json
from drumbeat.model.triggers.weekly import Weekly as Weekly
from drumbeat.model.triggers.weekly import weekly as weekly
