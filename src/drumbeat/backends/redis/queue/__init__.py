"""The Redis queue: carries tickets through streams of one primary.

Each queue has a stream for urgent tickets and one for the others, and all workers are one consumer
group of it. A ticket names a job and nothing else: the store has the job, and decides who runs it.
So whatever happens to this server, no job is lost and none runs twice. If it loses tickets, or all
its data, workers find the jobs by the hints of the store, and the promoter publishes again.

**One round trip** acknowledges the last tickets and delivers the next. Only if there are none, the
receiver waits, with a blocking command on a connection of its own. A worker that can do nothing
with a ticket does not receive one, so a ticket waits until some worker is free.

**Urgent tickets** are delivered first, so that they do not wait behind the worthless tickets that a
backlog leaves. This decides who wakes, not what is run: a worker that wakes claims in the order of
the store. So no job starves because of its ticket.

**A cancelled receiver** closes its connection. What the server delivered to it meanwhile is
delivered again to others, in the same way as what a node leaves when it stops. A node that dies
leaves tickets too: the leader reclaims those after half a minute.

**Memory is bounded.** What was acknowledged is removed, and a stream that nobody reads loses its
oldest tickets at a hundred thousand.
"""

from drumbeat.backends.redis.queue.queue import RedisQueue
from drumbeat.backends.redis.queue.streams import StreamNames

__all__ = ["RedisQueue", "StreamNames"]
