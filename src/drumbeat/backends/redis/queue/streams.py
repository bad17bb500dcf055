"""Streams: the keys of a Redis queue, and which tickets go into which stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Ticket

URGENT = 50
"""The priority from which on a ticket is urgent."""
BANDS = ("urgent", "normal")


@dataclass(frozen=True, slots=True)
class StreamNames:
    """What the settings say about the keys."""

    namespace: str = "drumbeat"
    stream: str = "jobs"
    group: str = "workers"


class Streams:
    """The keys of a queue. One hash tag puts all of them on one server."""

    def __init__(self, names: StreamNames) -> None:
        self._prefix = prefix = f"{{{names.namespace}}}:{names.stream}:"
        self.all = f"{prefix}streams"
        """The set of the streams that have had tickets."""
        self.trial = (f"{prefix}trial:stream", f"{prefix}trial:set")
        """Exist only while the rights of the user are tried."""

    def of(self, queues: Sequence[str]) -> Mapping[str, str]:
        """The queue of each stream to receive from, by key; those with urgent tickets first."""
        return {self._key(queue, band): queue for band in BANDS for queue in queues}

    def by_priority(self, tickets: Iterable[Ticket]) -> Iterable[tuple[str, int, Sequence[JobId]]]:
        """Key of the stream, priority and jobs, for each queue and priority of the tickets."""
        groups: dict[tuple[str, int], list[JobId]] = {}
        for ticket in tickets:
            groups.setdefault((ticket.queue, ticket.priority), []).append(ticket.job_id)
        for (queue, priority), jobs in groups.items():
            yield self._key(queue, BANDS[priority < URGENT]), priority, jobs

    def by_stream(self, tickets: Iterable[Ticket]) -> Mapping[str, Sequence[Ticket]]:
        """The tickets by the key of their stream."""
        streams: dict[str, list[Ticket]] = {}
        for ticket in tickets:
            key = self._key(ticket.queue, BANDS[ticket.priority < URGENT])
            streams.setdefault(key, []).append(ticket)
        return streams

    def _key(self, queue: str, band: str) -> str:
        return f"{self._prefix}{queue}:{band}"
