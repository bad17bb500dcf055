"""The Lua scripts of the Redis coordinator; `common.lua` is prepended to each."""
