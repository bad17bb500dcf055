"""Checks that a server accepts writes and does not evict keys."""

from __future__ import annotations

import logging

from drumbeat.backends.redis.connection.address import Address
from drumbeat.backends.redis.connection.client import Client
from drumbeat.model.errors import ConfigurationError

LOG = logging.getLogger("drumbeat.backends.redis.connection")

KEEPS = "noeviction"


async def reject_replica(client: Client, address: Address) -> None:
    """Reject a replica, which accepts no writes."""
    replication = await client.command("INFO", "replication")
    if replication.get("role") == "slave" and address.primary is None:
        raise ConfigurationError(
            f"Redis at {address.shown} is a read-only replica of "
            f"{replication.get('master_host')}:{replication.get('master_port')}; "
            f"name the primary, or its Sentinels with redis+sentinel://"
        )


async def check(client: Client, address: Address) -> None:
    """Reject a replica, and a server that may evict keys."""
    await reject_replica(client, address)
    policy = (await client.command("INFO", "memory")).get("maxmemory_policy", KEEPS)
    if policy == KEEPS:
        return
    danger = (
        f"Redis at {address.shown} has maxmemory-policy {policy}: when its memory is full it drops "
        f"keys, and with them leases that are still held"
    )
    if not address.allow_eviction:
        raise ConfigurationError(
            f"{danger}; set maxmemory-policy to {KEEPS}, or use a server of its own for Drumbeat, "
            f"or accept the danger by adding ?allow_eviction=true to the address"
        )
    LOG.warning("%s; this was accepted by allow_eviction=true", danger)
