"""Checks that a server can carry tickets."""

from __future__ import annotations

import logging

from drumbeat.backends.redis.connection.address import Address
from drumbeat.backends.redis.connection.client import Client
from drumbeat.backends.redis.connection.server_check import KEEPS, reject_replica
from drumbeat.model.errors import ConfigurationError

LOG = logging.getLogger("drumbeat.backends.redis.queue")

OLDEST = (6, 2)
"""The first version with XAUTOCLAIM."""


async def check(client: Client, address: Address) -> None:
    """Reject a replica, a cluster and an old version; warn of a server that may evict keys."""
    await reject_replica(client, address)
    server = await client.command("INFO", "server")
    version = str(server.get("redis_version", ""))
    numbers = tuple(int(each) for each in version.split(".")[:2] if each.isdigit())
    if numbers and numbers < OLDEST:
        raise ConfigurationError(
            f"Redis at {address.shown} is version {version}; as a queue it must be 6.2 or later, "
            f"or Valkey"
        )
    if (await client.command("INFO", "cluster")).get("cluster_enabled"):
        raise ConfigurationError(
            f"Redis at {address.shown} is a node of a Redis Cluster; name a single primary as the "
            f"queue, directly or by its Sentinels with redis+sentinel://"
        )
    policy = (await client.command("INFO", "memory")).get("maxmemory_policy", KEEPS)
    if policy != KEEPS:
        LOG.warning(
            "Redis at %s has maxmemory-policy %s: when its memory is full it may drop streams. No "
            "job is lost, but jobs then start later; set maxmemory-policy to %s for the queue",
            address.shown,
            policy,
            KEEPS,
        )
