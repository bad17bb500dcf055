"""Redis with Sentinels: a primary, a replica and three Sentinels."""

from __future__ import annotations

import time
from typing import Self

from servers.cluster import Cluster
from servers.redis import BRIEF, Redis
from servers.server import ServerFailed

GROUP = "mymaster"
"""The name of the primary and its replicas in the Sentinels."""
QUORUM = 2
PORT = 4
"""The line of a Sentinel's answer that has the port."""
PATIENCE = 150.0
"""Seconds. A Sentinel that was suspended for two seconds does nothing for thirty, and a busy
machine may suspend it more than once."""
PAUSE = 0.05


class Replica(Redis):
    """A Redis server that starts as a replica of another."""

    name = "Redis-replica"

    def __init__(self, primary: Redis) -> None:
        super().__init__({"replicaof": f"127.0.0.1 {primary.port}"})

    def _answers(self) -> bool:
        return super()._answers() and "master_link_status:down" not in self.ask(
            "INFO", "replication", patience=BRIEF
        )


class SentinelServer(Redis):
    """One Sentinel."""

    name = "Sentinel"

    def __init__(self, primary: Redis, down_after: float) -> None:
        super().__init__()
        self._settings = {
            f"sentinel monitor {GROUP}": f"127.0.0.1 {primary.port} {QUORUM}",
            f"sentinel down-after-milliseconds {GROUP}": f"{down_after * 1000:.0f}",
            f"sentinel failover-timeout {GROUP}": "5000",
        }

    def primary_port(self) -> int:
        """The port of the primary, as this Sentinel knows it."""
        answer = self.ask("SENTINEL", "get-master-addr-by-name", GROUP, patience=BRIEF).split(
            "\r\n"
        )
        if len(answer) <= PORT:
            raise ConnectionError(f"A Sentinel does not know the primary: {answer}")
        return int(answer[PORT])

    def sees_all(self) -> bool:
        """Whether it has found the replica and the other two Sentinels."""
        known = self.ask("SENTINEL", "master", GROUP, patience=BRIEF).split("\r\n")
        facts = dict(zip(known[2::4], known[4::4], strict=False))
        return (facts.get("num-slaves"), facts.get("num-other-sentinels")) == ("1", "2")

    def _command(self) -> list[str]:
        return [*super()._command(), "--sentinel"]


class Sentinel(Cluster[Redis]):
    """A primary, a replica and three Sentinels; a dead primary is replaced in 2 to 3 seconds."""

    def __init__(self, down_after: float) -> None:
        first = Redis()
        self.servers: list[Redis] = [first, Replica(first)]
        self.watchers = [SentinelServer(first, down_after) for _ in range(3)]
        super().__init__([*self.servers, *self.watchers])

    @classmethod
    def start(cls, down_after: float = 1.0) -> Self:
        """Start them, and wait until the Sentinels know each other and the replica.

        A primary that is silent for `down_after` seconds counts as dead.
        """
        return cls(down_after).begin()

    @property
    def address(self) -> str:
        """The URL of the Sentinels with the name of the primary."""
        watchers = ",".join(f"127.0.0.1:{watcher.port}" for watcher in self.watchers)
        return f"redis+sentinel://{watchers}/{GROUP}"

    def start_again(self) -> None:
        """Start stopped servers. Waits until the Sentinels know each other and the replica.

        The replica starts first: a Sentinel that does not find it checks again only after 10 s.
        """
        self._start(self.servers)
        self._start(self.watchers)
        deadline = time.monotonic() + PATIENCE
        while not self._know_all():
            self._pause_until(deadline, "The Sentinels do not find each other.")

    def primary(self) -> Redis:
        """The primary on which all running Sentinels and itself agree. Waits for a failover."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found = self._elected()
            if found is not None:
                return found
            self._pause_until(deadline, "The Sentinels agree on no primary.")

    def _know_all(self) -> bool:
        try:
            return all(watcher.sees_all() for watcher in self.watchers)
        except OSError:  # a Sentinel is too busy to answer
            return False

    def _elected(self) -> Redis | None:
        try:
            ports = {watcher.primary_port() for watcher in self.watchers if watcher.running}
            for server in self.servers:
                if ports == {server.port} and server.running and server.leads():
                    return server
        except OSError:  # a Sentinel is too busy to answer
            pass
        return None

    def _pause_until(self, deadline: float, complaint: str) -> None:
        if time.monotonic() > deadline:
            raise ServerFailed(f"{complaint} Their logs:\n{self.log()}")
        time.sleep(PAUSE)
