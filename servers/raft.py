"""Members and clusters of servers that decide by majority and have a leader."""

from __future__ import annotations

import socket
import time
from abc import abstractmethod
from collections.abc import Sequence

from servers.cluster import Cluster
from servers.server import Server, ServerFailed

PATIENCE = 120.0
PAUSE = 0.02


class RaftMember(Server):
    """One member, which is ready only together with a majority."""

    def __init__(self) -> None:
        super().__init__()
        self.peers: Sequence[RaftMember] = [self]

    @abstractmethod
    def leads(self) -> bool:
        """Whether it considers itself the leader; an OSError if it does not answer."""

    @abstractmethod
    def _has_majority(self) -> bool:
        """Whether it answers a query that needs a majority."""

    def _answers(self) -> bool:
        running = sum(peer.running for peer in self.peers)
        if running > len(self.peers) // 2:
            return self._has_majority()
        # Without a majority it answers no query, so check only that it listens.
        with socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True


class RaftCluster(Cluster[RaftMember]):
    """A cluster that decides by majority."""

    def __init__(self, members: Sequence[RaftMember]) -> None:
        super().__init__(members)
        for member in self.members:
            member.peers = self.members

    def leader(self) -> RaftMember:
        """The member that leads. Waits for an election to end."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for member in self.members:
                if member.running and _leads(member):
                    return member
            time.sleep(PAUSE)
        raise ServerFailed(
            f"{self.address} has no leader after {PATIENCE:g} s. The logs:\n{self.log()}"
        )


def _leads(member: RaftMember) -> bool:
    try:
        return member.leads()
    except OSError:
        return False
