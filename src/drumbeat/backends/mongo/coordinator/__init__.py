"""The MongoDB coordinator: coordinates through the documents of one collection.

A term is one document, which also stays while nobody holds it. It is acquired, renewed and released
by updates of that document, which compare holder *and* token, and which the primary applies one
after the other.

**The server's clock decides.** A renewal writes `$currentDate`, and the term is live while that
instant plus the TTL is after `$$NOW`. Both are computed on the primary as it applies the operation,
so no node's clock matters, and a delayed renewal of an expired term changes nothing. Both are in
whole milliseconds, so a term lasts one millisecond longer than its TTL, and never shorter.

**Tokens and revisions** only rise: the next is one above the last, and the first of a document is
the primary's clock in milliseconds. So they rise on after a document was deleted, by its TTL index
or by hand, and for terms also after the database was restored from a backup.

**The domain** is a document of its own, and each term remembers the domain in which it was
acquired. A database that was emptied has neither, so it gets another domain, in which no earlier
term can be renewed, and for which nodes that knew the old one wait first; see `backends.settling`.

**Majorities.** A term is granted when a majority of the replica set has it on disk, so it survives
the election of another primary. An error of the write concern has an unknown outcome. A primary
that is cut off acknowledges no write any more; its reads may be old, and reads decide nothing. The
clock of a new primary may differ from that of the old one, and then a term ends earlier or later by
the difference. That costs only time, since the store refuses the older epoch.

**The TTL index** only cleans up: it deletes, after a day, what nobody has used for that long. No
decision depends on it.

**Hints** come from change streams, where the server has them; elsewhere everybody looks twice a
second. A term that expires changes nothing, so a waiter sets an alarm at its end.
"""

from drumbeat.backends.mongo.coordinator.coordinator import MongoCoordinator

__all__ = ["MongoCoordinator"]
