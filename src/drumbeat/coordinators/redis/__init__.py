"""The Redis coordinator: appoints through one primary, by its clock.

A term is a key that runs out by itself, with a holder and a token in it. It is acquired, renewed
and released by Lua scripts, which compare holder *and* token and run alone on the primary.

**Tokens** and revisions are one number that only rises: the next is one above the last, and never
below the server's clock in milliseconds. So the number rises on even if the server loses its last
writes, as it may when it is killed, or when a replica is promoted that had not got them yet.

**The domain** is written at the first term, if it is not there. A server that was emptied, or
restarted without its data, gets another, and no term of before can be renewed in it.

**The pause.** Redis answers before its data is safe. A server that was just started, or a replica
that was just promoted, may have forgotten terms whose holders trust in them still. So it grants
nothing until a whole TTL after that; terms that it does remember are renewed as ever. It is known
by the identity of its replication history, which is new at each start and at each promotion. This
makes two holders at once unlikely, not impossible: a primary that is cut off together with its
leader goes on for a while. That costs nothing but time, since the store refuses the older epoch.

**Hints** are published by the scripts. For what nobody publishes, since a term ran out by itself,
whoever waits sets an alarm at its end; and looks again after a few seconds in any case.
"""

from drumbeat.coordinators.redis.coordinator import RedisCoordinator

__all__ = ["RedisCoordinator"]
