"""Namespaces in MongoDB, for tests without an event loop."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from pymongo import MongoClient

DATABASE = "drumbeat"
"""The database of an address that names none."""


@contextmanager
def namespace_in(address: str) -> Generator[str]:
    """A namespace of its own, whose collections are dropped in the end."""
    namespace = f"test-{uuid4().hex}"
    try:
        yield namespace
    finally:
        with MongoClient[dict[str, Any]](address) as client:
            for name in collections_of(address, namespace):
                client.get_default_database(DATABASE).drop_collection(name)


def collections_of(address: str, namespace: str) -> Sequence[str]:
    """The collections of a namespace."""
    with MongoClient[dict[str, Any]](address) as client:
        names = client.get_default_database(DATABASE).list_collection_names()
    return [name for name in names if name.startswith(f"{namespace}.")]
