"""Duplicate keys in batches, and numbers that no document has."""

from __future__ import annotations

from collections.abc import Iterable

from pymongo.errors import BulkWriteError

from drumbeat.backends.mongo.connection.failures import is_duplicate

HIGHEST = 2**63 - 1
"""The highest number that a document can have."""


def refused_places(error: BulkWriteError) -> list[int]:
    """Which documents of a batch were refused for their keys; raises the error if others failed."""
    if not is_duplicate(error):
        raise error
    return [each["index"] for each in error.details["writeErrors"]]


def storable(numbers: Iterable[int]) -> list[int]:
    """Those of the numbers that a document may have; the client rejects a query for others."""
    return [number for number in numbers if -HIGHEST <= number <= HIGHEST]
