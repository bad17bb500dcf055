"""The scripts of the Redis coordinator; `common.lua` stands in front of each."""
