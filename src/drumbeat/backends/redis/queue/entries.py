"""Entries: what the server delivers, and the tickets in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Ticket

Entry: TypeAlias = tuple[bytes, Sequence[bytes]]
"""An id, then names and values of its fields."""


class Delivered(NamedTuple):
    """The tickets, and what else was found."""

    tickets: list[Ticket]
    foreign: dict[str, list[str]]
    """By stream: the ids of entries that are no tickets."""


def read_entries(
    streams: Iterable[tuple[bytes, Iterable[Entry]]], queues: Mapping[str, str]
) -> Delivered:
    """Read what was delivered from these streams."""
    delivered = Delivered([], {})
    for name, entries in streams:
        key = name.decode()
        for entry_id, fields in entries:
            ticket = _ticket(entry_id, fields, queues[key])
            if ticket is None:
                delivered.foreign.setdefault(key, []).append(entry_id.decode())
            else:
                delivered.tickets.append(ticket)
    return delivered


def _ticket(entry_id: bytes, fields: Sequence[bytes], queue: str) -> Ticket | None:
    match fields:
        case [b"job", job, b"priority", priority] if job.isdigit() and priority.isdigit():
            return Ticket(JobId(int(job)), queue, int(priority), entry_id.decode())
        case _:
            return None
