"""Real servers for tests and benchmarks, started here and now on free ports.

Each can be killed, paused and started again, and none outlives the process that started it. What
the machine does not have raises `Missing`, which says how to install it.
"""

from servers.cluster import Cluster
from servers.consul import Consul
from servers.etcd import Etcd
from servers.faultproxy import FaultProxy
from servers.missing import Missing
from servers.pgbouncer import Pgbouncer
from servers.postgres import Postgres, Standby
from servers.redis import Redis
from servers.sentinel import Sentinel
from servers.server import Broken, Server
from servers.valkey import Valkey

__all__ = [
    "Broken",
    "Cluster",
    "Consul",
    "Etcd",
    "FaultProxy",
    "Missing",
    "Pgbouncer",
    "Postgres",
    "Redis",
    "Sentinel",
    "Server",
    "Standby",
    "Valkey",
]
