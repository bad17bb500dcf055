"""Connections to a Redis or Valkey server.

An address names one primary, directly or through Sentinels. Every decision is a Lua script, which
the primary runs alone and by its own clock, so a decision and its write are one step. There is no
quorum of several servers, and none is needed: the store is safe without it, and a wrong decision
here only costs time.

**Nothing is sent twice.** The client library would repeat a command that was not answered. Such a
script may have run, so it is not repeated here: the caller gets `Unavailable` and reads the state
again. The next call replaces a lost connection.

**A client for each event loop.** Connections belong to the loop they were made on. A `Server` may
be used from the loops of several threads, and keeps a client for each.

**Hints** are published by the scripts and received on a separate connection, which has no time-out
and is pinged from time to time. Hints may be lost, so waiters also look again without one.
"""
