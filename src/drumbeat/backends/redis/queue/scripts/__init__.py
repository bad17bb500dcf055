"""The Lua scripts of the Redis queue, by name; `common.lua` is prepended to each."""

from __future__ import annotations

from drumbeat.backends.redis.connection.scripts import read_scripts

SCRIPTS = read_scripts(__name__)
