"""Checks what a server is: its version, its topology, and what is at our names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pymongo.errors import OperationFailure

from drumbeat.backends.mongo.connection.address import Address
from drumbeat.backends.mongo.connection.client import Client, Collections, Document
from drumbeat.model.errors import ConfigurationError

LOWEST = (4, 4)
"""The first version with `$$NOW` in every place that is used, and majority reads everywhere."""
UNKNOWN_COMMAND = 59
OF_A_ROUTER = "isdbgrid"


class Topology(StrEnum):
    """How a deployment is made up."""

    STANDALONE = "standalone"
    REPLICA_SET = "replica set"
    SHARDED = "sharded cluster"


@dataclass(frozen=True, slots=True)
class ServerTraits:
    """What a server is."""

    version: tuple[int, ...]
    topology: Topology

    @property
    def change_streams(self) -> bool:
        """Whether it can report changes; else everybody has to look again."""
        return self.topology is not Topology.STANDALONE


def advice_on(traits: ServerTraits, address: Address) -> str | None:
    """A sentence about a server that keeps everything on a single disk."""
    if traits.topology is not Topology.STANDALONE:
        return None
    return (
        f"MongoDB at {address.shown} is a standalone server: if its disk is lost, so is "
        f"everything, and nothing runs while it is away. A replica set of three members is advised"
    )


async def check(client: Client, address: Address) -> ServerTraits:
    """Reject a server that is too old."""
    version = tuple((await client.library.admin.command("buildInfo"))["versionArray"][:2])
    if version < LOWEST:
        raise ConfigurationError(
            f"MongoDB at {address.shown} is version {_dotted(version)}; Drumbeat needs "
            f"{_dotted(LOWEST)} or later"
        )
    return ServerTraits(version, _topology(await describe(client)))


async def check_collections(
    collections: Collections, names: Sequence[str], address: Address
) -> None:
    """Reject a view, a time series or a capped collection at one of these names."""
    ours = {collections.full_name(name) for name in names}
    listed = await collections.database.list_collections(filter={"name": {"$in": sorted(ours)}})
    async for found in listed:
        kind = str(found.get("type", "collection"))
        if found.get("options", {}).get("capped"):
            kind = "capped collection"
        if found["name"] in ours and kind != "collection":
            raise foreign(str(found["name"]), address, f"is a {kind} and not Drumbeat's")


def foreign(name: str, address: Address, problem: str) -> ConfigurationError:
    """The error about a collection at one of our names that is not ours."""
    return ConfigurationError(
        f"the collection {name!r} at {address.shown} {problem}; nothing was "
        f"changed. Use another namespace (DRUMBEAT_NAMESPACE) or another database"
    )


async def describe(client: Client) -> Document:
    """How the server describes itself; some do not know the newer name of the question."""
    try:
        return await client.library.admin.command("hello")
    except OperationFailure as error:
        if error.code != UNKNOWN_COMMAND:
            raise
        return await client.library.admin.command("isMaster")


def _topology(hello: Document) -> Topology:
    if hello.get("msg") == OF_A_ROUTER:
        return Topology.SHARDED
    return Topology.REPLICA_SET if "setName" in hello else Topology.STANDALONE


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(number) for number in version)
