"""Redis: what every backend on a Redis or Valkey server shares.

An address names one primary, directly or through Sentinels that know who it is. Everything that
decides is a Lua script: it runs alone on the primary, by the primary's clock, so a decision and
its write are one step. There is no quorum of several servers here, and none is needed: the store
decides what counts, and a wrong answer from here costs time only.

**Nothing is sent twice.** The client library likes to repeat a command that was not answered. A
script that was not answered may have run, so here it is not repeated: the caller is told
`Unavailable`, and looks again. A connection that was lost is replaced at the next call.

**A client for each event loop.** Connections belong to the loop they were made on. A `Server` may
be used from the loops of several threads, and keeps a client for each.

**Hints** are published by the scripts and heard on a connection of their own, which has no
time-out and is asked from time to time whether it still lives. A hint may get lost: whoever waits
looks again after a while without one.
"""
