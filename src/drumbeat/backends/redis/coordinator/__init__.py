"""The Redis coordinator: coordinates through one primary, by its clock.

A term is a key that expires by itself, with a holder and a token in it. It is acquired, renewed
and released by Lua scripts, which compare holder *and* token and run alone on the primary.

**Tokens** and revisions are one number that only rises: the next is one above the last, and never
below the server's clock in milliseconds. So the number rises on even if the server loses its last
writes, as it may when it is killed, or when a replica is promoted that had not got them yet.

**The domain** is written with the first term, if it does not exist. A server that lost its data
gets another domain, in which no earlier term can be renewed.

**The pause.** Redis answers before its data is safe. A server that was just started, or a replica
that was just promoted, may have lost terms whose holders still trust in them. So it grants nothing
until a whole TTL has passed; terms that it still has can be renewed. It is recognised by the
identity of its replication history, which is new at each start and each promotion. This makes two
holders at once unlikely, not impossible: a primary that is cut off together with its leader goes on
for a while. That costs only time, since the store refuses the older epoch.

**Hints** are published by the scripts. A term that expires sends none, so a waiter sets an alarm at
its end, and looks again after a few seconds in any case.
"""

from drumbeat.backends.redis.coordinator.coordinator import RedisCoordinator

__all__ = ["RedisCoordinator"]
