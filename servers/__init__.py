"""Real servers for tests and benchmarks, started on free ports of this machine.

Each can be killed, paused and restarted, and none outlives the process that started it. A server
that is not installed raises `Missing`, which names the command that installs it.
"""

from servers.cluster import Cluster
from servers.consul import Consul
from servers.etcd import Etcd
from servers.faultproxy import FaultProxy
from servers.mongo import GivenMongo, Mongo, MongoInMemory
from servers.packages import Missing
from servers.pgbouncer import Pgbouncer
from servers.postgres import Postgres, Standby
from servers.redis import Redis
from servers.sentinel import Sentinel
from servers.server import Server, ServerFailed
from servers.valkey import Valkey

__all__ = [
    "Cluster",
    "Consul",
    "Etcd",
    "FaultProxy",
    "GivenMongo",
    "Missing",
    "Mongo",
    "MongoInMemory",
    "Pgbouncer",
    "Postgres",
    "Redis",
    "Sentinel",
    "Server",
    "ServerFailed",
    "Standby",
    "Valkey",
]
